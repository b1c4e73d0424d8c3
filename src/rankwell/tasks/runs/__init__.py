"""Runs against judgments: the task behind `rankwell evaluate`."""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "evaluate": "rankwell.tasks.runs.evaluation",
    "EvaluateOptions": "rankwell.tasks.runs.options",
    "CheckOptions": "rankwell.tasks.runs.checks",
    "check": "rankwell.tasks.runs.checks",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(inputs=("judgments",), confidence="evaluate")
