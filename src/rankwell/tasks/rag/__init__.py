"""Retrieval for generation: retrieved chunks against gold passages, and citations against given
supports, without a model.
"""

PUBLIC_NAMES = {
    "evaluate_citations": "rankwell.tasks.rag.task",
    "evaluate_rag": "rankwell.tasks.rag.task",
    "CitationOptions": "rankwell.tasks.rag.task",
    "RagOptions": "rankwell.tasks.rag.task",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""
