"""Agreement of the neighbours of one embedding model with those of another."""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "agree": "rankwell.tasks.agreement.evaluation",
    "compare_lists": "rankwell.tasks.agreement.evaluation",
    "ranking_pairs": "rankwell.tasks.agreement.ranking_pairs",
    "AgreementOptions": "rankwell.tasks.agreement.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(is_keyed=True, files=("*_results.csv",))
