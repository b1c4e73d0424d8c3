"""Haystack 1.x: pipeline.eval and EvaluationResult."""

from rankwell.conventions import Convention, Reading, convention

_RULES = "no_answer='normalized'"

HAYSTACK_V1 = convention(
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
            "exact_match": f"AnswerEM({_RULES})",
            "f1": f"AnswerF1({_RULES})",
            "exact_match_top_1": f"AnswerEM({_RULES})@1",
            "f1_top_1": f"AnswerF1({_RULES})@1",
        },
        defaults=("recall_multi_hit@10", "recall_single_hit@10", "precision@10", "map@10", "mrr@10", "ndcg@10"),
        reading=Reading(
            labels=("exact_match", "f1", "exact_match_top_1", "f1_top_1"),
            retriever=("recall_multi_hit", "recall_single_hit", "precision", "map", "mrr", "ndcg"),
            missing="empty",
            nothing_to_find="right",
        ),
        notes=(
            "A question without an answer has 1 for every retriever metric, whatever was retrieved.",
            "Relevance is by document id; Haystack's default scope counts a document that holds the answer as well.",
        ),
    )
)
