"""Text-video retrieval from a matrix of scores or from embeddings."""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "captions": "rankwell.tasks.captions.evaluation",
    "eval_q2m": "rankwell.tasks.captions.hgr",
    "CaptionOptions": "rankwell.tasks.captions.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(is_keyed=True)
