"""sentence-transformers: the InformationRetrievalEvaluator, binary relevance throughout."""

from rankwell.conventions import Convention, convention

ST = convention(
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
