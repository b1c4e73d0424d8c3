"""Logged data: the value of policies from clicks on what another policy showed, and interleaved
lists.
"""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "evaluate_logs": "rankwell.tasks.logs.evaluation",
    "InterleavingOptions": "rankwell.tasks.logs.interleaving",
    "interleave": "rankwell.tasks.logs.interleaving",
    "LogOptions": "rankwell.tasks.logs.options",
    "InterleavingTestOptions": "rankwell.tasks.logs.preference",
    "evaluate_interleaving": "rankwell.tasks.logs.preference",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(noun=("impression", "impressions"))
