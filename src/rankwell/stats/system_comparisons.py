"""Several systems at once: corrections of p-values, fixed orders, the randomised Tukey HSD test and
letters; how alike two orders of systems are, what several add up to, and how far mean ranks must
lie apart.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Bools, Floats
from rankwell.errors import BadInput, BadUsage
from rankwell.stats import on_exact_grid
from rankwell.stats.intervals import special_functions


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values as they are after Holm's step-down correction, in the given order: at level α
    all that are at most α hold.

    The chance of even one wrong one among them is at most α, whatever the tests have in common.
    Each is at most 1, and never smaller than that of a smaller p-value. Raises BadUsage for a
    number that is not a probability.
    Source: Holm 1979, A simple sequentially rejective multiple test procedure.

    >>> holm([0.04, 0.01, 0.03])
    [0.06, 0.03, 0.06]
    """
    adjusted, reached = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(_ascending(p_values)):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = reached
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The p-values as they are after Benjamini and Hochberg's step-up correction, in the given
    order.

    At level α all that are at most α hold, and on average no more than a share of α of them is
    wrong, where the tests are independent or positively dependent. Raises BadUsage for a number
    that is not a probability.
    Source: Benjamini and Hochberg 1995, Controlling the false discovery rate.

    >>> benjamini_hochberg([0.04, 0.01, 0.03])
    [0.04, 0.03, 0.04]
    """
    adjusted, reached = [0.0] * len(p_values), 1.0
    for rank, index in reversed(list(enumerate(_ascending(p_values)))):
        reached = min(reached, len(p_values) * p_values[index] / (rank + 1))
        adjusted[index] = reached
    return adjusted


def fixed_sequence(p_values: Sequence[float]) -> list[float]:
    """The p-values as they are after testing in a fixed order until the first failure: at level α
    all that are at most α hold.

    The chance of even one wrong one among them is at most α, without a correction, if the order
    does not depend on the values that are tested. Raises BadUsage for a number that is not a
    probability.
    Source: Maurer, Hothorn and Lehmacher 1995, Multiple comparisons in drug clinical trials, with
    a-priori ordered hypotheses.

    >>> fixed_sequence([0.01, 0.04, 0.02])
    [0.01, 0.04, 0.04]
    """
    _ascending(p_values)
    return list(accumulate(p_values, max))


def _ascending(p_values: Sequence[float]) -> list[int]:
    wrong = next((p for p in p_values if not 0 <= p <= 1), None)
    if wrong is not None:
        raise BadUsage(f"{wrong!r} is not a p-value; expected a number from 0 to 1.")
    return sorted(range(len(p_values)), key=p_values.__getitem__)


_PIECE = 1 << 19


def randomised_tukey_hsd(
    values: Floats, *, resamples: int = 10_000, seed: int = 0
) -> tuple[Floats, Floats]:
    """Differences of means, row less column, and their p-values, 1 on the diagonal: two tables of
    (systems, systems).

    A resample shuffles the systems' values within every query; p is the share of resamples, the
    observed values counting as one, whose largest mean lies as far above their smallest as the two
    means lie apart. values: (queries, systems) finite, at least one query. Raises BadInput for
    fewer than two systems. Source: Carterette 2012, Multiple testing in statistical analysis of
    systems-based information retrieval experiments.
    """
    n, systems = values.shape
    if systems < 2 or not n:
        raise BadInput(
            f"{n} queries of {systems} systems; the test compares two systems or more on the "
            "same queries."
        )
    table = on_exact_grid(values)
    generator = np.random.Generator(np.random.PCG64(seed))
    size = max(1, min(resamples, _PIECE // table.size))
    ranges = np.empty(resamples)
    for start in range(0, resamples, size):
        n_drawn = min(size, resamples - start)
        rows = np.tile(table, (n_drawn, 1))
        sums = generator.permuted(rows, axis=1).reshape(n_drawn, n, systems).sum(axis=1)
        ranges[start : start + n_drawn] = sums.max(axis=1) - sums.min(axis=1)
    ranges.sort()
    sums = table.sum(axis=0)
    differences = np.subtract.outer(sums, sums)
    # Means that are equal as decimals may differ in their last bits.
    slack = 1e-12 * np.abs(table).sum()
    n_larger = resamples - np.searchsorted(ranges, np.abs(differences) - slack, side="left")
    p = (1 + n_larger) / (1 + resamples)
    np.fill_diagonal(p, 1.0)
    return differences / n, p


_PAIRS = 1 << 22
"""Pairs of systems that are compared at a time."""


class Friedman(NamedTuple):
    """Friedman's test of the ranks of systems, with Nemenyi's critical difference.

    ranks: (systems,) the mean rank of each over the blocks, 1 is best.
    chi_square: the statistic.
    p: the probability of a statistic at least as high where all systems are equal.
    critical_difference: the largest difference between two mean ranks that is due to chance, over
        all pairs of systems.
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
    rows = np.atleast_2d(values)
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
    p: above 0 and below 1. Source: Webber, Moffat and Zobel 2010, equation 32.
    """
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
    equal = (values[:, :, None] == values[:, None, :]).sum(axis=(0, 2))
    return below + (equal - (~np.isnan(values)).sum(axis=0)) / 2


def friedman(values: Floats, *, level: float = 0.95) -> Friedman | None:
    """Mean ranks with the test that all systems are alike, and the critical difference of two of
    them; None where none differ.

    values: (blocks, systems) finite, the higher the better: a block is a query, or a data set.
    Equal values share their ranks. Raises BadInput for fewer than two systems.
    Source: Friedman 1937, with the correction for ties of Conover 1999, 5.8; Nemenyi 1963; Demšar
    2006.
    """
    n, systems = values.shape
    if systems < 2:
        raise BadInput(f"{systems} systems; mean ranks are compared between two systems or more.")
    ranks = descending_ranks(values)
    spread = float((ranks * ranks).sum()) - n * systems * (systems + 1) ** 2 / 4
    if n == 0 or spread <= 0:
        return None
    sums = ranks.sum(axis=0)
    chi_square = (systems - 1) * float(((sums - n * (systems + 1) / 2) ** 2).sum()) / spread
    quantile = studentised_range_quantile(level, systems) / math.sqrt(2)
    apart = quantile * math.sqrt(systems * (systems + 1) / (6 * n))
    p = float(special_functions().chdtrc(systems - 1, chi_square))
    return Friedman(sums / n, chi_square, p, apart)


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
        if end > start and end >= reached + bool(groups):
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
