"""DPR: passages that hold the answer, and the reader's exact match."""

from rankwell.conventions import Convention, Reading, convention

DPR = convention(
    Convention(
        name="dpr",
        title="DPR, top-k retrieval accuracy and reader exact match",
        source="Karpukhin and others 2020, Dense passage retrieval for open-domain question answering",
        ties="input",
        words={"accuracy": "Success", "exact_match": "AnswerEM(no_answer='wrong')@1"},
        defaults=("accuracy@1", "accuracy@5", "accuracy@20", "accuracy@100"),
        reading=Reading(labels=("exact_match",), retriever=("accuracy",), relevance="dpr"),
        notes=(
            "A passage is relevant if it contains the tokens of an answer in a row, so some hits are accidental.",
            "`accuracy` is the share of questions with such a passage among the first k, not the share of passages.",
        ),
    )
)
