"""PIAF: what the code behind its article on retriever and reader metrics computes."""

from rankwell.conventions import Convention, Reading, convention

_MATCHES = {
    "accuracy": "AnswerAccuracy(no_answer='explicit'",
    "em": "AnswerEM(match='offset',no_answer='explicit'",
    "f1": "AnswerF1(unit='offset',no_answer='explicit'",
}
_LABELS = tuple(f"reader_{top}_{name}{part}" for name in _MATCHES for top in ("top1", "topk") for part in ("", "_has_answer"))
_NO_ANSWER = ("reader_top1_no_answer_accuracy", "reader_topk_no_answer_accuracy")


def _meaning(label: str) -> str:
    _, top, name, *rest = label.split("_")
    population = ",population='answerable'" if rest else ""
    return f"{_MATCHES[name]}{population})" + ("@1" if top == "top1" else "")


PIAF = convention(
    Convention(
        name="piaf",
        title="PIAF's evaluation of retriever and reader, as in its code",
        source="etalab-ia/piaf-ml 2021, PiafEvalRetriever and PiafEvalReader, over Haystack 0.9 eval.py",
        ties="input",
        words={
            "recall": "Success",
            "map": "AP",
            "mrr": "RR",
            **{label: _meaning(label) for label in _LABELS},
            "reader_top1_no_answer_accuracy": "AnswerAccuracy(no_answer='explicit',population='impossible')@1",
            "reader_topk_no_answer_accuracy": "AnswerAccuracy(no_answer='explicit',population='impossible')",
            "reader_top1_fk": "AnswerF1(unit='offset',no_answer='explicit')",
            "reader_top1_fk_has_answer": "AnswerF1(unit='offset',no_answer='explicit',population='answerable')",
        },
        defaults=("recall@10", "map@10", "mrr@10"),
        reading=Reading(
            labels=_LABELS + _NO_ANSWER,
            retriever=("recall", "map", "mrr"),
            impossible="flagged",
            duplicates="keep",
            other_words={
                "reader_top1_fk": "reader_topk_f1",
                "reader_top1_fk_has_answer": "reader_topk_f1_has_answer",
            },
        ),
        notes=(
            "`recall` is the share of questions with a relevant document among the first k, not set recall.",
            "A document listed twice counts twice, so that `map` may exceed 1.",
            "Accuracy, EM and F1 compare positions in the document, and divide by all questions, retrieved or not.",
            "An impossible question is right only if an answer is explicitly None; an empty list or text is wrong.",
            "The article's `reader_top1_fk` is the code's `reader_topk_f1`, the best of the first k answers.",
        ),
    )
)
