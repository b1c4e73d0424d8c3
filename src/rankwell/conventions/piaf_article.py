"""PIAF's article on retriever and reader metrics, word for word."""

from rankwell.conventions import Convention, Reading, convention

_ACCURACY = "AnswerAccuracy(match='either',normalizer='none',retrieval='only'"
_EM = "AnswerEM(normalizer='none',retrieval='only'"
_F1 = "AnswerF1(unit='char',normalizer='none'"
_HAS_ANSWER = ",population='answerable'"

_WORDS = {
    "reader_top1_accuracy": f"{_ACCURACY})@1",
    "reader_top1_accuracy_has_answer": f"{_ACCURACY}{_HAS_ANSWER})@1",
    "reader_topk_accuracy": f"{_ACCURACY})",
    "reader_topk_accuracy_has_answer": f"{_ACCURACY}{_HAS_ANSWER})",
    "reader_top1_em": f"{_EM})@1",
    "reader_top1_em_has_answer": f"{_EM}{_HAS_ANSWER})@1",
    "reader_topk_em": f"{_EM})",
    "reader_topk_em_has_answer": f"{_EM}{_HAS_ANSWER})",
    "reader_top1_f1": f"{_F1})@1",
    "reader_top1_f1_has_answer": f"{_F1}{_HAS_ANSWER})@1",
    "reader_topk_f1": f"{_F1})",
    "reader_topk_f1_has_answer": f"{_F1}{_HAS_ANSWER})",
    "reader_top1_fk": f"{_F1},over='mean')",
    "reader_top1_fk_has_answer": f"{_F1},over='mean'{_HAS_ANSWER})",
}

PIAF_ARTICLE = convention(
    Convention(
        name="piaf-article",
        title="PIAF's evaluation of retriever and reader, as its article words it",
        source="etalab-ia 2021, knowledge-base, docs/piaf/howtos/metrics.md",
        ties="input",
        words={"recall": "Success", "map": "AP(denom='found')", "mrr": "RR", **_WORDS},
        defaults=("recall@10", "map@10", "mrr@10"),
        reading=Reading(labels=tuple(_WORDS), retriever=("recall", "map", "mrr")),
        notes=(
            "`map` averages the precision over the relevant documents that were retrieved; those that were not cost nothing.",
            "Accuracy and EM count only questions for which a relevant document was retrieved; F1 counts all.",
            "The article does not say what a correct answer is: here one that contains, or is contained in, a right one.",
            "F1 compares the characters of both texts, regardless of their positions: 1909 for 1990 is 1.0.",
            "`reader_top1_fk` is the mean F1 of the first k answers; None, an empty text and an empty list are not answers.",
        ),
    )
)
