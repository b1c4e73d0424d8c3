"""SQuAD 1.1: the official script."""

from rankwell.conventions import Convention, Reading, convention

SQUAD1 = convention(
    Convention(
        name="squad1",
        title="SQuAD 1.1, evaluate-v1.1.py",
        source="Rajpurkar and others 2016, SQuAD: 100,000+ questions for machine comprehension of text",
        words={"exact_match": "AnswerEM(no_answer='refuse')@1", "f1": "AnswerF1(no_answer='refuse')@1"},
        defaults=("exact_match", "f1"),
        unit="percent",
        reading=Reading(labels=("exact_match", "f1")),
        notes=(
            "Answers that normalise to nothing on both sides have exact_match 100 and f1 0.",
            "A question without a right answer is an error; one without a prediction is 0.",
        ),
    )
)
