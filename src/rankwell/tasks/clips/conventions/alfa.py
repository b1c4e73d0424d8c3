"""ALFA: search over annotated driving clips, where a clip is relevant if it carries all keywords of the query."""

from rankwell.conventions import Convention, convention

convention(
    Convention(
        name="alfa",
        title="ALFA 0.1 embedding search, evaluation framework",
        source="ALFA 0.1 embedding search 2025, Retrieval_Evaluation_Framework.md and embedding_search/core/evaluate.py",
        no_relevant="skip",
        exclude_self=True,
        words={"Recall": "P", "Precision": "R", "MAP": "AP", "NDCG": "nDCG"},
        defaults=(
            *(f"{word}@{k}" for word in ("Recall", "Precision") for k in (1, 3, 5)),
            "MAP",
            *(f"NDCG@{k}" for k in (1, 3, 5)),
        ),
        notes=(
            "Recall@K is TP / K, elsewhere called precision, and Precision@K is TP / relevant, elsewhere called recall.",
            "Algorithm 2 of the source cuts to K and then removes the query (--self after), so that a perfect search has "
            "Recall@1 = 0; its evaluator removes the query first (--self before, the default).",
        ),
    )
)
