"""Lists beyond accuracy: what the items that runs retrieve cover, and how novel, diverse,
calibrated and fair the lists are.
"""

PUBLIC_NAMES = {
    "evaluate_beyond": "rankwell.tasks.beyond.task",
    "BeyondOptions": "rankwell.tasks.beyond.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""
