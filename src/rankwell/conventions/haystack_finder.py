"""Haystack 0.x Finder.eval: PIAF's rules, over the questions whose document was retrieved."""

from rankwell.conventions import Convention, Reading, convention

_MATCHES = {
    "accuracy": "AnswerAccuracy(no_answer='explicit',retrieval='only'",
    "em": "AnswerEM(match='offset',no_answer='explicit',retrieval='only'",
    "f1": "AnswerF1(unit='offset',no_answer='explicit',retrieval='only'",
}
_NO_ANSWER = f"{_MATCHES['accuracy']},population='impossible')"
_WORDS = {
    f"reader_{top}_{name}{part}": f"{meaning}{population}){at}"
    for name, meaning in _MATCHES.items()
    for top, at in (("top1", "@1"), ("topk", ""))
    for part, population in (("", ""), ("_has_answer", ",population='answerable'"))
}

HAYSTACK_FINDER = convention(
    Convention(
        name="haystack-finder",
        title="Haystack 0.x, Finder.eval",
        source="deepset 2021, Haystack 0.9, finder.py and eval.py",
        ties="input",
        words={
            "retriever_recall": "Success",
            "retriever_map": "AP",
            "retriever_mrr": "RR",
            **_WORDS,
            "reader_top1_no_answer_accuracy": f"{_NO_ANSWER}@1",
            "reader_topk_no_answer_accuracy": _NO_ANSWER,
        },
        defaults=("retriever_recall@10", "retriever_map@10", "retriever_mrr@10"),
        reading=Reading(
            labels=(*_WORDS, "reader_top1_no_answer_accuracy", "reader_topk_no_answer_accuracy"),
            retriever=("retriever_recall", "retriever_map", "retriever_mrr"),
            impossible="flagged",
        ),
        notes=(
            "Readers are judged on the questions with a relevant document retrieved; under piaf the same words divide by all.",
            "With open_domain=True Haystack's `map` divided by the documents found: that is the convention piaf-article.",
        ),
    )
)
