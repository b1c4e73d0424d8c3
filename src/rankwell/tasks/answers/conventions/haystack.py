"""Haystack's evaluations of retriever and reader, and those of PIAF, which build on them."""

from collections.abc import Mapping

from rankwell.conventions import Convention, convention
from rankwell.tasks.answers.conventions import AnswerConvention


def _reader_words(meanings: Mapping[str, str]) -> dict[str, str]:
    """Words of the reader's measures: of the first answer and of the best of k, of all questions and of those with an answer.

    meanings: name -> measure with its bracket open.
    """
    return {
        f"reader_{top}_{name}{part}": f"{meaning}{population}){at}"
        for name, meaning in meanings.items()
        for top, at in (("top1", "@1"), ("topk", ""))
        for part, population in (("", ""), ("_has_answer", ",population='answerable'"))
    }


_NO_ANSWER = ("reader_top1_no_answer_accuracy", "reader_topk_no_answer_accuracy")
_PIAF = _reader_words(
    {
        "accuracy": "AnswerAccuracy(no_answer='explicit'",
        "em": "AnswerEM(match='offset',no_answer='explicit'",
        "f1": "AnswerF1(unit='offset',no_answer='explicit'",
    }
)

# PIAF, by the code behind its article on retriever and reader metrics.
convention(
    Convention(
        name="piaf",
        title="PIAF's evaluation of retriever and reader, as in its code",
        source="etalab-ia/piaf-ml 2021, PiafEvalRetriever and PiafEvalReader, over Haystack 0.9 eval.py",
        ties="input",
        words={
            "recall": "Success",
            "map": "AP",
            "mrr": "RR",
            **_PIAF,
            "reader_top1_no_answer_accuracy": "AnswerAccuracy(no_answer='explicit',population='impossible')@1",
            "reader_topk_no_answer_accuracy": "AnswerAccuracy(no_answer='explicit',population='impossible')",
            "reader_top1_fk": "AnswerF1(unit='offset',no_answer='explicit')",
            "reader_top1_fk_has_answer": "AnswerF1(unit='offset',no_answer='explicit',population='answerable')",
        },
        defaults=("recall@10", "map@10", "mrr@10"),
        tasks={
            "answers": AnswerConvention(
                labels=(*_PIAF, *_NO_ANSWER),
                retriever=("recall", "map", "mrr"),
                impossible="flagged",
                duplicates="keep",
                other_words={"reader_top1_fk": "reader_topk_f1", "reader_top1_fk_has_answer": "reader_topk_f1_has_answer"},
            )
        },
        notes=(
            "`recall` is the share of questions with a relevant document among the first k, not set recall.",
            "A document listed twice counts twice, so that `map` may exceed 1.",
            "Accuracy, EM and F1 compare positions in the document, and divide by all questions, retrieved or not.",
            "An impossible question is right only if an answer is explicitly None; an empty list or text is wrong.",
            "The article's `reader_top1_fk` is the code's `reader_topk_f1`, the best of the first k answers.",
        ),
    )
)

_F1 = "AnswerF1(unit='char',normalizer='none'"
_ARTICLE = {
    **_reader_words(
        {
            "accuracy": "AnswerAccuracy(match='either',normalizer='none',retrieval='only'",
            "em": "AnswerEM(normalizer='none',retrieval='only'",
            "f1": _F1,
        }
    ),
    "reader_top1_fk": f"{_F1},over='mean')",
    "reader_top1_fk_has_answer": f"{_F1},over='mean',population='answerable')",
}

# PIAF's article on retriever and reader metrics, word for word.
convention(
    Convention(
        name="piaf-article",
        title="PIAF's evaluation of retriever and reader, as its article words it",
        source="etalab-ia 2021, knowledge-base, docs/piaf/howtos/metrics.md",
        ties="input",
        words={"recall": "Success", "map": "AP(denom='found')", "mrr": "RR", **_ARTICLE},
        defaults=("recall@10", "map@10", "mrr@10"),
        tasks={"answers": AnswerConvention(labels=tuple(_ARTICLE), retriever=("recall", "map", "mrr"))},
        notes=(
            "`map` averages the precision over the relevant documents that were retrieved; those that were not cost nothing.",
            "Accuracy and EM count only questions for which a relevant document was retrieved; F1 counts all.",
            "The article does not say what a correct answer is: here one that contains, or is contained in, a right one.",
            "F1 compares the characters of both texts, regardless of their positions: 1909 for 1990 is 1.0.",
            "`reader_top1_fk` is the mean F1 of the first k answers; None, an empty text and an empty list are not answers.",
        ),
    )
)

_FINDER = _reader_words(
    {
        "accuracy": "AnswerAccuracy(no_answer='explicit',retrieval='only'",
        "em": "AnswerEM(match='offset',no_answer='explicit',retrieval='only'",
        "f1": "AnswerF1(unit='offset',no_answer='explicit',retrieval='only'",
    }
)

# Haystack 0.x Finder.eval: PIAF's rules, over the questions whose document was retrieved.
convention(
    Convention(
        name="haystack-finder",
        title="Haystack 0.x, Finder.eval",
        source="deepset 2021, Haystack 0.9, finder.py and eval.py",
        ties="input",
        words={
            "retriever_recall": "Success",
            "retriever_map": "AP",
            "retriever_mrr": "RR",
            **_FINDER,
            "reader_top1_no_answer_accuracy": "AnswerAccuracy(no_answer='explicit',retrieval='only',population='impossible')@1",
            "reader_topk_no_answer_accuracy": "AnswerAccuracy(no_answer='explicit',retrieval='only',population='impossible')",
        },
        defaults=("retriever_recall@10", "retriever_map@10", "retriever_mrr@10"),
        tasks={
            "answers": AnswerConvention(
                labels=(*_FINDER, *_NO_ANSWER),
                retriever=("retriever_recall", "retriever_map", "retriever_mrr"),
                impossible="flagged",
            )
        },
        notes=(
            "Readers are judged on the questions with a relevant document retrieved; under piaf the same words divide by all.",
            "With open_domain=True Haystack's `map` divided by the documents found: that is the convention piaf-article.",
        ),
    )
)

_V1 = "no_answer='normalized'"

# Haystack 1.x: pipeline.eval and EvaluationResult.
convention(
    Convention(
        name="haystack-v1",
        title="Haystack 1.26, EvaluationResult.calculate_metrics",
        source="deepset 2024, Haystack 1.26.4, schema.py",
        ties="input",
        words={
            "recall_single_hit": "Success",
            "recall_multi_hit": "R",
            "precision": "P(denom='retrieved')",
            "map": "AP",
            "mrr": "RR",
            "ndcg": "nDCG(dcg='binary-log2')",
            "exact_match": f"AnswerEM({_V1})",
            "f1": f"AnswerF1({_V1})",
            "exact_match_top_1": f"AnswerEM({_V1})@1",
            "f1_top_1": f"AnswerF1({_V1})@1",
        },
        defaults=("recall_multi_hit@10", "recall_single_hit@10", "precision@10", "map@10", "mrr@10", "ndcg@10"),
        tasks={
            "answers": AnswerConvention(
                labels=("exact_match", "f1", "exact_match_top_1", "f1_top_1"),
                retriever=("recall_multi_hit", "recall_single_hit", "precision", "map", "mrr", "ndcg"),
                missing="empty",
                nothing_to_find="right",
            )
        },
        notes=(
            "A question without an answer has 1 for every retriever metric, whatever was retrieved.",
            "Relevance is by document id; Haystack's default scope counts a document that holds the answer as well.",
        ),
    )
)
