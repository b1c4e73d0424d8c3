"""MLQA: the official script, with rules for seven languages."""

from rankwell.conventions import Convention, Reading, convention

_RULES = "normalizer='mlqa-en',no_answer='refuse'"

MLQA = convention(
    Convention(
        name="mlqa",
        title="MLQA, mlqa_evaluation_v1.py",
        source="Lewis and others 2020, MLQA: Evaluating cross-lingual extractive question answering",
        words={"exact_match": f"AnswerEM({_RULES})@1", "f1": f"AnswerF1({_RULES})@1"},
        defaults=("exact_match", "f1"),
        unit="percent",
        reading=Reading(
            labels=("exact_match", "f1"),
            languages={language: f"mlqa-{language}" for language in ("en", "ar", "de", "es", "hi", "vi", "zh")},
        ),
        notes=(
            "The language is the answers', English unless it is set; there are no rules for French (the convention french has).",
            "Unicode punctuation is deleted, so that English values differ a little from SQuAD's.",
        ),
    )
)
