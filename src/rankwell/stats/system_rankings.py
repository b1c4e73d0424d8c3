"""Orders of systems: how alike two of them are, what several add up to, and how far mean ranks must
lie apart.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Bools, Floats
from rankwell.errors import BadInput
from rankwell.stats import check_level
from rankwell.stats.intervals import special_functions

_PAIRS = 1 << 22
"""Pairs of systems that are compared at a time."""


class Friedman(NamedTuple):
    """ranks: (systems,) the mean rank of each over the blocks, 1 is best. chi_square, p: Friedman's
    test that all are alike.

    critical_difference: how far apart two mean ranks are by chance at most, over all pairs of
    systems (Nemenyi).
    """

    ranks: Floats
    chi_square: float
    p: float
    critical_difference: float


def descending_ranks(values: Floats) -> Floats:
    """Rank of each system in its row, 1 for the highest; equal values share the mean of their
    ranks.
    """
    systems = values.shape[-1]
    rows = values.reshape(-1, systems)
    ranks = np.empty(rows.shape)
    step = max(1, _PAIRS // max(1, systems * systems))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        higher = (part[:, None, :] > part[:, :, None]).sum(axis=-1)
        same = (part[:, None, :] == part[:, :, None]).sum(axis=-1)
        ranks[start : start + step] = higher + (same + 1) / 2
    return ranks.reshape(values.shape)


def tau_ap(reference: Floats, other: Floats) -> float | None:
    """The correlation of two orders of systems in which the top counts more; 1 for the same, -1 for
    the reverse.

    The mean, over the systems below the first of `other`, of the share of those above each that
    `reference` puts above it too, scaled to ±1. reference, other: (systems,) scores, the higher the
    better. None for fewer than two systems and where two scores of one side are equal. Source:
    Yilmaz, Aslam and Robertson 2008, A new rank correlation coefficient for information retrieval.

    >>> round(tau_ap(np.array([4.0, 3.0, 2.0, 1.0]), np.array([3.0, 4.0, 2.0, 1.0])), 4)
    0.3333
    """
    n = len(reference)
    if not _are_orders(reference, other):
        return None
    ordered = reference[np.argsort(-other)]
    right = np.triu(ordered[:, None] > ordered[None, :], 1).sum(axis=0)
    return float(2 * (right[1:] / np.arange(1, n)).mean() - 1)


def rank_biased_overlap(reference: Floats, other: Floats, *, p: float = 0.9) -> float | None:
    """Rank-biased overlap of two orders of the same systems: agreement depth by depth, weighted by
    p to the depth; at most 1.

    The extrapolated form, as if they agreed below their end, where both hold every system. None as
    for `tau_ap`.
    Raises BadUsage for p outside (0, 1). Source: Webber, Moffat and Zobel 2010, equation 32.
    """
    check_level(p)
    n = len(reference)
    if not _are_orders(reference, other):
        return None
    first, second = np.argsort(np.argsort(-reference)), np.argsort(np.argsort(-other))
    common = np.cumsum(np.bincount(np.maximum(first, second), minlength=n))
    depths = np.arange(1, n + 1)
    return float((1 - p) / p * (common / depths * p**depths).sum() + common[-1] / n * p**n)


def _are_orders(*scores: Floats) -> bool:
    """Whether there are two systems or more, and none are tied."""
    return all(1 < len(column) == len(np.unique(column)) for column in scores)


def borda_points(values: Floats) -> Floats:
    """Points of each system over all tasks: a point for every system below it in a task, half of
    one for a tie.

    values: (tasks, systems), the higher the better; NaN where a system has no value in a task,
    which brings no points.
    Source: de Borda 1781; for benchmarks Colombo and others 2022.
    """
    below = (values[:, :, None] > values[:, None, :]).sum(axis=(0, 2))
    equal = (values[:, :, None] == values[:, None, :]).sum(axis=(0, 2)) - (~np.isnan(values)).sum(
        axis=0
    )
    return below + equal / 2


def friedman(values: Floats, *, level: float = 0.95) -> Friedman | None:
    """Mean ranks with the test that all systems are alike, and the critical difference of two of
    them; None where none differ.

    values: (blocks, systems) finite, the higher the better: a block is a query, or a data set.
    Equal values share their ranks. Raises BadUsage for a level outside (0, 1), BadInput for fewer
    than two systems.
    Source: Friedman 1937, with the correction for ties of Conover 1999, 5.8; Nemenyi 1963; Demšar
    2006.
    """
    check_level(level)
    n, systems = values.shape
    if systems < 2:
        raise BadInput(f"{systems} systems; mean ranks are compared between two systems or more.")
    ranks = descending_ranks(values)
    spread = float((ranks * ranks).sum()) - n * systems * (systems + 1) ** 2 / 4
    if n == 0 or spread <= 0:
        return None
    sums = ranks.sum(axis=0)
    chi_square = (systems - 1) * float(((sums - n * (systems + 1) / 2) ** 2).sum()) / spread
    apart = (
        studentised_range_quantile(level, systems)
        / math.sqrt(2)
        * math.sqrt(systems * (systems + 1) / (6 * n))
    )
    return Friedman(
        sums / n, chi_square, float(special_functions().chdtrc(systems - 1, chi_square)), apart
    )


def connected_groups(ranks: Sequence[float], is_significant: Bools) -> list[tuple[int, ...]]:
    """The largest sets of neighbours by mean rank of which no two are apart, best first: the bars
    of a diagram.

    is_significant: (systems, systems) whether two differ significantly.
    """
    order = sorted(range(len(ranks)), key=lambda system: (ranks[system], system))
    groups: list[tuple[int, ...]] = []
    reached = 0
    for start in range(len(order)):
        end = start
        while (
            end + 1 < len(order)
            and not is_significant[order[end + 1], order[start : end + 1]].any()
        ):
            end += 1
        if end > start and end >= reached + (1 if groups else 0):
            groups.append(tuple(order[start : end + 1]))
            reached = end
    return groups


@lru_cache(maxsize=64)
def studentised_range_quantile(level: float, systems: int) -> float:
    """The q that the range of this many standard normal values stays below with this probability.
    Source: Tukey 1953.
    """
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, systems, math.inf))
