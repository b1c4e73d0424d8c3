"""Tests of paired differences: Student's t, also for clusters of queries, the sign test, and
Wilcoxon's signed ranks.
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from rankwell.data.tables import Floats, exact_ratio, exact_sum
from rankwell.stats import check_level
from rankwell.stats.intervals import binomial_p, student_p, student_quantile


class PairedT(NamedTuple):
    """t: mean over its standard error. p: two-sided. error: the standard error. freedom: degrees of
    freedom, clusters less 1.
    """

    t: float
    p: float
    error: float
    freedom: int

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval of the mean. Raises BadUsage for a level outside (0, 1)."""
        check_level(level)
        reach = student_quantile(level, self.freedom) * self.error
        mean = 0.0 if self.t == 0 else self.t * self.error
        return mean - reach, mean + reach


def paired_t(sums: Floats, sizes: Floats | None = None) -> PairedT | None:
    """Student's test of the mean of differences; None for fewer than two of them, and where all are
    the same but 0.

    sums: (n,) the differences, or the sum of those of each cluster, with sizes: (n,) how many each
    cluster has; the mean is
    then Σ sums / Σ sizes and its error that of a ratio, by linearisation. Where every difference is
    0, p is 1.
    Source: Student 1908; for clusters Cochran 1977, Sampling Techniques, 6.4.
    """
    n = len(sums)
    if n < 2:
        return None
    total = n if sizes is None else exact_sum(sizes)
    mean = exact_ratio(sums, sizes)
    off = sums - mean * (1.0 if sizes is None else sizes)
    error = math.sqrt(n / (n - 1) * float((off * off).sum())) / total
    if not sums.any():
        return PairedT(0.0, 1.0, 0.0, n - 1)
    if error <= 1e-12 * abs(mean):
        return None
    return PairedT(mean / error, student_p(mean / error, n - 1), error, n - 1)


class Sign(NamedTuple):
    """Numbers of differences above, at and below 0, and the two-sided p-value."""

    wins: int
    ties: int
    losses: int
    p: float


def sign_test(differences: Floats) -> Sign:
    """The exact binomial test of wins against losses; differences of 0 are left out. p is 1 where
    there is no other.

    differences: (n,) finite. Source: Conover 1999, Practical Nonparametric Statistics, 3.4.
    """
    wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    return Sign(wins, len(differences) - wins - losses, losses, binomial_p(wins + losses, wins))


Zeros = Literal["drop", "pratt"]
Mode = Literal["auto", "exact", "approximate"]
_EXACT_TO = 50


class Wilcoxon(NamedTuple):
    """positive, negative: the sums of the ranks of differences above and below 0. p: two-sided.
    exact: whether p is.
    """

    positive: float
    negative: float
    p: float
    exact: bool


def wilcoxon(
    differences: Floats, *, zeros: Zeros = "drop", mode: Mode = "auto", continuity: bool = False
) -> Wilcoxon:
    """The test of differences; equal sizes share the mean of their ranks. p is 1 where every
    difference is 0, or there is none.

    differences: (n,) finite. zeros: `drop` leaves out differences of 0 before ranking, `pratt`
    after it.
    mode: `exact` counts, over all signs, the sums of these very ranks, so that it holds with ties
    too; `approximate` is a normal distribution with the variance that accounts for ties, moved by a
    half with `continuity`; `auto` is exact to 50 differences. Source: Wilcoxon 1945; Pratt 1959;
    for ties Hollander and Wolfe 1999, 3.1.
    """
    sample = differences if zeros == "pratt" else differences[differences != 0]
    _, group, sizes = np.unique(np.abs(sample), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[group]
    ranked = ranks[sample != 0]
    positive, negative = float(ranks[sample > 0].sum()), float(ranks[sample < 0].sum())
    exact = mode == "exact" or (mode == "auto" and len(ranked) <= _EXACT_TO)
    if not len(ranked):
        return Wilcoxon(0.0, 0.0, 1.0, exact)
    if exact:
        return Wilcoxon(positive, negative, _exact_p(ranked, min(positive, negative)), exact)
    # The variance of the sum is a quarter of the sum of squared ranks: with shared ranks this is
    # the correction for ties.
    error = math.sqrt(float((ranked * ranked).sum()) / 4)
    distance = abs(positive - negative) / 2
    if continuity:
        distance = max(distance - 0.5, 0.0)
    return Wilcoxon(positive, negative, math.erfc(distance / error / math.sqrt(2)), exact)


def _exact_p(ranks: Floats, smaller: float) -> float:
    """Twice the share of sign patterns whose sum of positive ranks is at most so large; means of
    two ranks are doubled first.
    """
    steps = np.rint(2 * ranks).astype(np.int64)
    shares = np.zeros(int(steps.sum()) + 1)
    shares[0] = 1.0
    for step in steps.tolist():
        shares[step:] = shares[step:] + shares[: len(shares) - step]
        shares /= 2
    return min(1.0, 2 * float(shares[: round(2 * smaller) + 1].sum()))
