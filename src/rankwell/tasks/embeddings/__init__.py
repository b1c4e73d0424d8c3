"""Agreement of the neighbours of one embedding model with those of another."""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "evaluate_embeddings": "rankwell.tasks.embeddings.evaluation",
    "compare_lists": "rankwell.tasks.embeddings.evaluation",
    "ranking_pairs": "rankwell.tasks.embeddings.ranking_pairs",
    "EmbeddingOptions": "rankwell.tasks.embeddings.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(is_keyed=True, leads_deepest=True, files=("*_results.csv",))
