"""Question answering: retriever and reader."""

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
