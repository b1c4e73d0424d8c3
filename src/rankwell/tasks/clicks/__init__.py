"""Logged data: the value of policies from clicks on what another policy showed, and interleaved
lists.
"""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "evaluate_clicks": "rankwell.tasks.clicks.inputs",
    "InterleavedList": "rankwell.tasks.clicks.preference",
    "InterleavingOptions": "rankwell.tasks.clicks.preference",
    "interleave": "rankwell.tasks.clicks.preference",
    "ClickOptions": "rankwell.tasks.clicks.options",
    "InterleavingTestOptions": "rankwell.tasks.clicks.preference",
    "evaluate_interleaving": "rankwell.tasks.clicks.preference",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(noun=("impression", "impressions"))
