"""Findings of measures beyond accuracy."""

from collections.abc import Sequence

from rankwell.data.findings import finding


@finding("warning")
def items_unseen(run: str, unseen: int, total: int, example: str) -> str:
    """A run lists items without interactions. Their self-information would be infinite."""
    return (
        f"{unseen} of {total} items have no interactions, for example {example!r}; Novelty counts "
        "each as having one"
    )


@finding("warning")
def items_ungrouped(bare: int, total: int, example: str, labels: Sequence[str]) -> str:
    """Some items of the catalogue belong to no group, so no group's target includes them."""
    return (
        f"{bare} of {total} items of the catalogue have no group, for example {example!r}; their "
        f"share is in no group's target ({', '.join(labels)})"
    )
