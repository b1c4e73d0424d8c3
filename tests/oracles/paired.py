"""Oracles for paired tests: every way to flip signs, written out. No NumPy, nothing of rankwell."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from math import sqrt


def midranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1, equal values sharing their mean."""
    return [
        sum(v < value for v in values) + (sum(v == value for v in values) + 1) / 2
        for value in values
    ]


def signed_ranks(differences: Sequence[float], pratt: bool = False) -> float:
    """Wilcoxon's exact p: the ranks' sums over all sign patterns of the differences that are
    not 0.
    """
    kept = list(differences) if pratt else [d for d in differences if d]
    ranks = [rank for rank, d in zip(midranks([abs(d) for d in kept]), kept, strict=True) if d]
    moved = [d for d in kept if d]
    smaller = min(
        sum(r for r, d in zip(ranks, moved, strict=True) if d > 0),
        sum(r for r, d in zip(ranks, moved, strict=True) if d < 0),
    )
    sums = [
        sum(r for r, up in zip(ranks, ups, strict=True) if up)
        for ups in product((0, 1), repeat=len(ranks))
    ]
    return min(1.0, 2 * sum(each <= smaller for each in sums) / len(sums))


def max_t(columns: Sequence[Sequence[float]]) -> list[float]:
    """Westfall and Young's step-down p-values over all sign patterns. columns: lists of differences
    over the same queries.
    """
    n = len(columns[0])

    def t(values: Sequence[float]) -> float:
        mean = sum(values) / n
        spread = sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) / n)
        return (
            abs(mean) / spread if spread > 1e-12 else (float("inf") if abs(mean) > 1e-12 else 0.0)
        )

    seen = [t(column) for column in columns]
    order = sorted(range(len(columns)), key=lambda place: -seen[place])
    counts = [0] * len(columns)
    patterns = list(product((1, -1), repeat=n))
    for signs in patterns:
        drawn = [t([s * d for s, d in zip(signs, column, strict=True)]) for column in columns]
        for step, place in enumerate(order):
            counts[place] += max(drawn[other] for other in order[step:]) >= seen[place] * (1 - 1e-9)
    p, reached = [0.0] * len(columns), 0.0
    for place in order:
        reached = max(reached, counts[place] / len(patterns))
        p[place] = reached
    return p


def tukey(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """The exact p-values of all pairs: every shuffle of every query's values. rows: lists of the
    systems' values by query.
    """
    systems = len(rows[0])
    exact = [[Fraction(str(v)) for v in row] for row in rows]
    means = [sum(row[s] for row in exact) for s in range(systems)]
    ranges = []
    for shuffled in product(*(list(permutations(row)) for row in exact)):
        sums = [sum(row[s] for row in shuffled) for s in range(systems)]
        ranges.append(max(sums) - min(sums))
    return [[sum(r >= abs(a - b) for r in ranges) / len(ranges) for b in means] for a in means]


def tau_ap(reference: Sequence[str], other: Sequence[str]) -> float:
    """Yilmaz, Aslam and Robertson's mean over ranks, read off the definition. Lists of systems,
    best first.
    """
    total = 0.0
    for place in range(1, len(other)):
        above = sum(reference.index(each) < reference.index(other[place]) for each in other[:place])
        total += above / place
    return 2 * total / (len(other) - 1) - 1


def rbo_ext(first: Sequence[str], second: Sequence[str], p: float) -> float:
    """Webber's extrapolated overlap of two full lists."""
    n = len(first)
    total = sum(len(set(first[:d]) & set(second[:d])) / d * p**d for d in range(1, n + 1))
    return (1 - p) / p * total + len(set(first) & set(second)) / n * p**n
