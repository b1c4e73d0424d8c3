"""BEIR: the benchmark's own evaluator, pytrec_eval underneath."""

from rankwell.conventions import Convention, convention

BEIR = convention(
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
