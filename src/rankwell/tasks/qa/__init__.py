"""Question answering: retriever and reader."""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "Predictions": "rankwell.tasks.qa.answer_pairs",
    "Questions": "rankwell.tasks.qa.answer_pairs",
    "evaluate_qa": "rankwell.tasks.qa.evaluation",
    "read_predictions": "rankwell.tasks.qa.formats",
    "read_questions": "rankwell.tasks.qa.formats",
    "answer_judge": "rankwell.tasks.qa.judges",
    "QaOptions": "rankwell.tasks.qa.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(
    is_keyed=True,
    may_skip=True,
    files=("results.csv", "top_k.csv", "no_answer_curves.csv"),
    grid="rankwell.tasks.qa.grid",
    tables={"failures": ("failed", "why", "questions", "share")},
)
