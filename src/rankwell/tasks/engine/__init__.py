"""Search engines as they are used: asked, measured and judged."""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "evaluate_engine": "rankwell.tasks.engine.evaluation",
    "EngineOptions": "rankwell.tasks.engine.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(
    files=("engine.json", "run.parquet", "timings.parquet"),
    timed=("per_query.parquet",),
    tables={
        "parameters": ("run", "tried", "values", "choices", "others"),
        "unanswered": ("run", "query", "round", "status", "error"),
    },
)
