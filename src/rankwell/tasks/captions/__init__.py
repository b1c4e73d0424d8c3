"""Text-video retrieval from a matrix of scores or from embeddings."""

PUBLIC_NAMES = {
    "captions": "rankwell.tasks.captions.evaluation",
    "eval_q2m": "rankwell.tasks.captions.hgr",
    "CaptionOptions": "rankwell.tasks.captions.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""
