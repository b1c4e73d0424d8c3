"""Instance search among pictures."""

from rankwell.data.catalogue import PERFORMANCE, ResultKind

PUBLIC_NAMES = {
    "evaluate_images": "rankwell.tasks.images.task",
    "read_images": "rankwell.tasks.images.images",
    "Images": "rankwell.tasks.images.images",
    "ImageOptions": "rankwell.tasks.images.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(
    files=("by_instance.csv", "encoding_errors.csv", PERFORMANCE, "sheets/*.png"),
    confidence="images",
    pictures="rankwell.tasks.images.images:read_images",
    published="rankwell.tasks.images.statistics:published_instances",
)
