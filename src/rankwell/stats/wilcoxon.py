"""Wilcoxon's signed-rank test: whether paired differences lie evenly about 0, by their signs and the order of their sizes."""

import math
from typing import Literal, NamedTuple

import numpy as np

from rankwell.core.tables import Floats

Zeros = Literal["drop", "pratt"]
Mode = Literal["auto", "exact", "approximate"]
_EXACT_TO = 50


class Wilcoxon(NamedTuple):
    """positive, negative: the sums of the ranks of differences above and below 0. p: two-sided. exact: whether p is."""

    positive: float
    negative: float
    p: float
    exact: bool


def wilcoxon(differences: Floats, *, zeros: Zeros = "drop", mode: Mode = "auto", continuity: bool = False) -> Wilcoxon:
    """The test of differences; equal sizes share the mean of their ranks. p is 1 where every difference is 0, or there is none.

    differences: (n,) finite. zeros: `drop` leaves out differences of 0 before ranking, `pratt` after it.
    mode: `exact` counts, over all signs, the sums of these very ranks, so that it holds with ties too; `approximate` is a normal
    distribution with the variance that accounts for ties, moved by a half with `continuity`; `auto` is exact to 50 differences.
    Source: Wilcoxon 1945; Pratt 1959; for ties Hollander and Wolfe 1999, 3.1.
    """
    kept = differences if zeros == "pratt" else differences[differences != 0]
    _, group, sizes = np.unique(np.abs(kept), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[group]
    ranked = ranks[kept != 0]
    positive, negative = float(ranks[kept > 0].sum()), float(ranks[kept < 0].sum())
    exact = mode == "exact" or (mode == "auto" and len(ranked) <= _EXACT_TO)
    if not len(ranked):
        return Wilcoxon(0.0, 0.0, 1.0, exact)
    if exact:
        return Wilcoxon(positive, negative, _exact_p(ranked, min(positive, negative)), exact)
    # The variance of the sum is a quarter of the sum of squared ranks: with shared ranks this is the correction for ties.
    error = math.sqrt(float((ranked * ranked).sum()) / 4)
    off = abs(positive - negative) / 2
    if continuity:
        off = max(off - 0.5, 0.0)
    return Wilcoxon(positive, negative, math.erfc(off / error / math.sqrt(2)), exact)


def _exact_p(ranks: Floats, smaller: float) -> float:
    """Twice the share of sign patterns whose sum of positive ranks is at most so large; means of two ranks are doubled first."""
    steps = np.rint(2 * ranks).astype(np.int64)
    shares = np.zeros(int(steps.sum()) + 1)
    shares[0] = 1.0
    for step in steps.tolist():
        shares[step:] = shares[step:] + shares[: len(shares) - step]
        shares /= 2
    return min(1.0, 2 * float(shares[: round(2 * smaller) + 1].sum()))
