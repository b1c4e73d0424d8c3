"""Question answering: retriever and reader."""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "Predictions": "rankwell.tasks.answers.answer_pairs",
    "Questions": "rankwell.tasks.answers.answer_pairs",
    "evaluate_answers": "rankwell.tasks.answers.evaluation",
    "read_predictions": "rankwell.tasks.answers.formats",
    "read_questions": "rankwell.tasks.answers.formats",
    "answer_judge": "rankwell.tasks.answers.judges",
    "AnswerOptions": "rankwell.tasks.answers.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(
    is_keyed=True,
    may_skip=True,
    files=("results.csv", "top_k.csv", "no_answer_curves.csv"),
    tables={"failures": ("failed", "why", "questions", "share")},
)
