"""Findings of vectors of two models."""

from rankwell.data.findings import finding


@finding("warning")
def odd_vectors(run: str, problem: str) -> str:
    """Some vectors are zero, not finite, identical, or from another model.

    Encode these items again, all with the same model.
    """
    return problem


@finding("info")
def change_without_interval(reference: str, labels: str) -> str:
    """A relative change has no interval, because the mean that it divides by may be 0."""
    return (
        f"no interval, because the mean of {reference} is 0 or less in a resample of the queries, "
        f"which leaves the change unbounded: {labels}"
    )
