"""Agreement of the neighbours of one embedding model with those of another."""

PUBLIC_NAMES = {
    "agree": "rankwell.tasks.agreement.evaluation",
    "compare_lists": "rankwell.tasks.agreement.evaluation",
    "AgreementOptions": "rankwell.tasks.agreement.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""
