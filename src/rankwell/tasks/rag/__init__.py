"""Retrieval for generation: retrieved chunks against gold passages, and citations against given
supports, without a model.
"""

PUBLIC_NAMES = {
    "evaluate_citations": "rankwell.tasks.rag.evaluation",
    "evaluate_rag": "rankwell.tasks.rag.evaluation",
    "RagOptions": "rankwell.tasks.rag.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""
