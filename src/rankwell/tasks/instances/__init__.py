"""Instance search among pictures."""

PUBLIC_NAMES = {
    "evaluate_instances": "rankwell.tasks.instances.evaluation",
    "read_images": "rankwell.tasks.instances.formats",
    "Images": "rankwell.tasks.instances.images",
    "InstanceOptions": "rankwell.tasks.instances.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""
