"""MTEB: the embedding benchmark's retrieval tasks."""

from rankwell.conventions import Convention, convention

MTEB = convention(
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
