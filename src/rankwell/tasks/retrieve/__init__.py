"""Search engines as they are used: asked, measured and judged."""

PUBLIC_NAMES = {
    "retrieve": "rankwell.tasks.retrieve.evaluation",
    "RetrieveOptions": "rankwell.tasks.retrieve.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""
