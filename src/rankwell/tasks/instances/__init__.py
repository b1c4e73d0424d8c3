"""Instance search among pictures."""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "evaluate_instances": "rankwell.tasks.instances.evaluation",
    "read_images": "rankwell.tasks.instances.images",
    "Images": "rankwell.tasks.instances.images",
    "InstanceOptions": "rankwell.tasks.instances.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

PERFORMANCE = "performance.json"
"""The file of what each run and the machine took."""

RESULTS = ResultKind(
    files=("by_instance.csv", "encoding_errors.csv", PERFORMANCE, "sheets/*.png"),
    confidence="instances evaluate",
)
