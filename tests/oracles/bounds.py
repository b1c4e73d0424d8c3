"""Bounds under unjudged items by trying every completion of the judgments."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import log2

Grades = Mapping[str, int]


def P(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """The share of the first k places with a grade from 1 on."""
    return sum(grades[item] >= 1 for item in ranking[:k]) / k


def RR(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """One over the first of the first k places with a grade from 1 on, else 0."""
    return next((1 / place for place, item in enumerate(ranking[:k], 1) if grades[item] >= 1), 0.0)


def SDCG(ranking: Sequence[str], grades: Grades, k: int, most: int) -> float:
    """Grades over log2(place + 1) over those of k items of the highest grade."""
    found = sum(grades[item] / most / log2(place + 1) for place, item in enumerate(ranking[:k], 1))
    return found / sum(1 / log2(place + 1) for place in range(1, k + 1))


def RBP(ranking: Sequence[str], grades: Grades, k: int, p: float) -> float:
    """The relevant ones of the first k places by their weight (1 - p) p^(place - 1)."""
    return sum(
        (1 - p) * p ** (place - 1) for place, item in enumerate(ranking[:k], 1) if grades[item] >= 1
    )


def completions(items: Sequence[str], judged: Grades, most: int) -> Iterator[dict[str, int]]:
    """Every way to give the unjudged items a grade from 0 to the highest."""
    unjudged = [item for item in items if item not in judged]
    for grades in product(range(most + 1), repeat=len(unjudged)):
        yield {**judged, **dict(zip(unjudged, grades, strict=True))}
