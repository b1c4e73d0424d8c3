"""KILT: answers, pages of evidence, and answers that count only with their evidence."""

from rankwell.conventions import Convention, Reading, convention

_RULES = "no_answer='never'"
_PLAIN = f"normalizer='strip',{_RULES}"
_NEEDED = ",retrieval='required'"

KILT = convention(
    Convention(
        name="kilt",
        title="KILT, eval_downstream.py and eval_retrieval.py",
        source="Petroni and others 2021, KILT: a benchmark for knowledge intensive language tasks",
        ties="input",
        words={
            "accuracy": f"AnswerEM({_PLAIN})@1",
            "em": f"AnswerEM({_RULES})@1",
            "f1": f"AnswerF1({_RULES})@1",
            "KILT-accuracy": f"AnswerEM({_PLAIN}{_NEEDED})@1",
            "KILT-em": f"AnswerEM({_RULES}{_NEEDED})@1",
            "KILT-f1": f"AnswerF1({_RULES}{_NEEDED})@1",
            "Rprec": "EvidenceRprec",
            "precision": "EvidenceP",
            "recall": "EvidenceR",
            "success_rate": "EvidenceSuccess",
        },
        defaults=("Rprec", "recall@5"),
        reading=Reading(
            labels=("accuracy", "em", "f1", "KILT-accuracy", "KILT-em", "KILT-f1"),
            retriever=("Rprec", "precision@", "recall@", "success_rate@"),
        ),
        notes=(
            "A KILT- measure is 0 unless Rprec is 1, that is unless the first pages are just a set of evidence.",
            "KILT's ROUGE-L is not offered; its script refuses lists too short for a robust recall, ours does not.",
        ),
    )
)
