"""Findings of measures beyond accuracy."""

from collections.abc import Sequence

from rankwell.data.findings import finding


@finding("warning")
def items_unseen(run: str, unseen: int, total: int, example: str) -> str:
    """A run lists items that have no interactions, whose self-information is infinite."""
    return (
        f"{unseen} of {total} items have no interactions, for example {example!r}; Novelty counts "
        "each as having one"
    )


@finding("warning")
def items_ungrouped(bare: int, total: int, example: str, labels: Sequence[str]) -> str:
    """Items of the catalogue belong to no group, so their share is in no group's target."""
    return (
        f"{bare} of {total} items of the catalogue have no group, for example {example!r}; their "
        f"share is in no group's target ({', '.join(labels)})"
    )
