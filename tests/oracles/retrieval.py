"""Oracles of live engines: recall against exact search, and percentiles of times."""

import math


def exact(query: list[float], items: dict[str, list[float]]) -> dict[str, float]:
    """The dot product of every item, in whole arithmetic order."""
    return {
        item: math.fsum(a * b for a, b in zip(query, vector, strict=True))
        for item, vector in items.items()
    }


def recall(returned: list[str], scores: dict[str, float], k: int, *, by: str) -> float:
    """The share of the k best that a list has; by distance an item that scores as much as the k-th
    counts as one of them.
    """
    ranked = sorted(scores, key=lambda item: -scores[item])[:k]
    least = scores[ranked[-1]]
    right = (
        set(ranked) if by == "ids" else {item for item, score in scores.items() if score >= least}
    )
    return min(len(set(returned) & right), len(ranked)) / len(ranked)


def percentile(times: list[float], share: float) -> float:
    """The least time that at least this share of the times do not exceed."""
    return next(
        each
        for each in sorted(times)
        if sum(other <= each for other in times) >= share * len(times) - 1e-9
    )
