"""TriviaQA: the official script."""

from rankwell.conventions import Convention, Reading, convention

_RULES = "normalizer='triviaqa',no_answer='wrong'"

TRIVIAQA = convention(
    Convention(
        name="triviaqa",
        title="TriviaQA, triviaqa_evaluation.py",
        source="Joshi and others 2017, TriviaQA: A large scale distantly supervised challenge dataset",
        words={"exact_match": f"AnswerEM({_RULES})@1", "f1": f"AnswerF1({_RULES})@1"},
        defaults=("exact_match", "f1"),
        unit="percent",
        reading=Reading(labels=("exact_match", "f1")),
        notes=("Right answers are the aliases and the answers that people gave; punctuation becomes a blank.",),
    )
)
