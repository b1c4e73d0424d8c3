"""Natural Questions, open domain: the script of ORQA and EfficientQA."""

from rankwell.conventions import Convention, Reading, convention

NQ_OPEN = convention(
    Convention(
        name="nq-open",
        title="NQ-open exact match",
        source="Lee, Chang and Toutanova 2019, Latent retrieval for weakly supervised open domain question answering",
        words={"exact_match": "AnswerEM(normalizer='nq-open',no_answer='wrong')@1"},
        defaults=("exact_match",),
        reading=Reading(labels=("exact_match",)),
        notes=("The script joins by the text of the question; here questions have ids, and equal texts are not merged.",),
    )
)
