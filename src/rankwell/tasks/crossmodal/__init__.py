"""Text-video retrieval from a matrix of scores or from embeddings."""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "evaluate_crossmodal": "rankwell.tasks.crossmodal.task",
    "eval_q2m": "rankwell.tasks.crossmodal.inputs",
    "CrossmodalOptions": "rankwell.tasks.crossmodal.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(
    is_keyed=True,
    parts={
        "t2v": "text to video",
        "v2t": "video to text",
        "v2t-videos": "video to text, among videos",
    },
)
