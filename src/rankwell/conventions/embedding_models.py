"""Evaluators of embedding models: BEIR, MTEB and sentence-transformers."""

from rankwell.conventions import Convention, convention

# BEIR: the benchmark's own evaluator, pytrec_eval underneath.
convention(
    Convention(
        name="beir",
        title="BEIR's EvaluateRetrieval",
        source="Thakur and others 2021, BEIR: a heterogeneous benchmark for zero-shot evaluation of information retrieval models",
        single_precision=True,
        queries="both",
        exclude_self=True,
        words={
            "NDCG": "nDCG",
            "MAP": "AP",
            "Recall": "R",
            "P": "P",
            "Precision": "P",
            "MRR": "RR",
            "R_cap": "R(denom='min')",
            "Accuracy": "Success",
            "top_k_accuracy": "Success",
        },
        defaults=("NDCG@10", "MAP@100", "Recall@100", "P@10", "MRR@10"),
        notes=(
            "BEIR averages MRR, R_cap and Accuracy over all judged queries and the rest over those that the run has; here all of "
            "them are averaged over the queries in both (--queries truth gives the other).",
        ),
    )
)

# MTEB: the embedding benchmark's retrieval tasks.
convention(
    Convention(
        name="mteb",
        title="MTEB 2 retrieval tasks",
        source="Muennighoff and others 2023, MTEB: Massive text embedding benchmark",
        single_precision=True,
        queries="both",
        no_relevant="skip",
        words={
            "ndcg": "nDCG",
            "map": "AP",
            "recall": "R",
            "precision": "P",
            "mrr": "RR",
            "hit_rate": "Success",
            "accuracy": "R@1",
            "cap_recall": "R(denom='min')",
        },
        defaults=("ndcg_at_10", "map_at_100", "recall_at_100", "precision_at_10", "mrr_at_10", "hit_rate_at_10"),
        notes=("MTEB's `accuracy` is recall at 1, which is accuracy only where every query has one relevant item.",),
    )
)

# sentence-transformers: the InformationRetrievalEvaluator, binary relevance throughout.
convention(
    Convention(
        name="st",
        title="sentence-transformers 6 InformationRetrievalEvaluator",
        source="Reimers and Gurevych 2019; sentence-transformers 6.0, information_retrieval.py",
        ties="id-asc",
        no_relevant="skip",
        words={
            "accuracy": "Success",
            "precision": "P",
            "recall": "R",
            "mrr": "RR",
            "map": "AP(denom='min')",
            "ndcg": "nDCG(dcg='binary-log2')",
        },
        defaults=("accuracy@1", "accuracy@10", "precision@10", "recall@10", "ndcg@10", "mrr@10", "map@100"),
        notes=("MAP divides by the smaller of the cut-off and the number relevant; grades count as relevant or not.",),
    )
)
