"""Intervals that hold their level with few queries: exact ones of 0/1 values, the studentised bootstrap; and percentiles."""

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from rankwell.core.kernels.resamples import MANY
from rankwell.core.tables import Floats, rounded

RANGES = {"share": (0.0, 1.0), "percent": (0.0, 100.0), "rank": (1.0, math.inf), "count": (0.0, math.inf)}
"""The least and the largest value of a unit."""


class Deviations(NamedTuple):
    """The distances of queries (or clusters) from the figure, for the studentised bootstrap.

    mean: Σ sums / Σ sizes. off: (n,) sums - mean · sizes. sizes: (n,) what each weighs; None where each weighs 1. error: of the
    mean by linearisation, except for the factor √(n / (n - 1)).
    """

    mean: float
    off: Floats
    sizes: Floats | None
    error: float

    @classmethod
    def of(cls, sums: Floats, sizes: Floats | None = None) -> "Deviations":
        """Those of values, or of a ratio of sums whose sizes are not all 0."""
        total = len(sums) if sizes is None else float(sizes.sum())
        mean = float(sums.sum()) / total
        off = sums - (mean if sizes is None else mean * sizes)
        return cls(mean, off, sizes, math.sqrt(float((off * off).sum())) / total)

    def columns(self) -> list[Floats]:
        """The columns that a resample adds up."""
        off, sizes = self.off, self.sizes
        return [off, off * off] if sizes is None else [off, off * off, sizes, off * sizes, sizes * sizes]

    def studentised(self, sums: Iterator[Floats]) -> Floats:
        """(resamples,) the deviation of each resample's figure over its error; NaN where all its sizes are 0.

        sums: those of `columns`. The squared error counts the sample's own as one query's of n + 1, so that a resample of equal
        values has an error too.
        """
        n, off, squares = len(self.off), next(sums), next(sums)
        if self.sizes is None:
            squares = squares - off * off / n
        else:
            with np.errstate(invalid="ignore", divide="ignore"):
                ratio = off / next(sums)
            squares = squares - 2 * ratio * next(sums) + ratio * ratio * next(sums)
            off = np.where(np.isnan(ratio), np.nan, off)
        own = float((self.off * self.off).sum())
        return off / np.sqrt((n * np.maximum(squares, 0.0) + own) / (n + 1)) if own else off

    @property
    def expands(self) -> bool:
        """Whether the interval needs no resamples: there are more than `MANY` queries, and no few of them decide the variance.

        Then what the expansion leaves out moves an end by less than 0.006 errors, a quarter of the chance in 10,000 resamples.
        """
        if len(self.off) <= MANY or self.sizes is not None:
            return False
        return not self.error or float((self._shares**4).sum()) <= 1e-3

    @property
    def _shares(self) -> Floats:
        """(n,) the deviations, scaled so that their squares add up to 1."""
        return self.off / (self.error * len(self.off))

    def interval(self, level: float, drawn: Floats | None = None) -> tuple[float, float] | None:
        """The wider of the studentised bootstrap's reach and Student's on each side; None where nothing varies or a t is NaN.

        drawn: (resamples,) from `studentised`; None for the first order of the expansion that they approach. Source: Davison and
        Hinkley 1997, 5.2.1; Hall 1992, The bootstrap and Edgeworth expansion, 2.6 and 3.3; docs/adr/18-small-samples.md.
        """
        if self.error <= 1e-12 * abs(self.mean):
            return None
        n = len(self.off)
        student = student_reach(level, n - 1) * math.sqrt(n / (n - 1))
        if drawn is None:
            shift = float((self._shares**3).sum()) * (2 * student * student + 1) / 6
            outer = -student - shift, student - shift
        else:
            outer = percentiles(drawn, level)
        if outer is None:
            return None
        return self.mean - max(outer[1], student) * self.error, self.mean + max(-outer[0], student) * self.error


def clopper_pearson(successes: int, n: int, level: float) -> tuple[float, float]:
    """The exact interval of a share: it holds the true one at least as often as the level says. Source: Clopper, Pearson 1934."""
    tail = (1 - level) / 2
    low = beta_quantile(successes, n - successes + 1, tail) if successes else 0.0
    high = beta_quantile(successes + 1, n - successes, 1 - tail) if successes < n else 1.0
    return low, high


@cache
def student_reach(level: float, freedom: int) -> float:
    """The t with P(-t < T < t) = level under Student's t distribution, without loading SciPy."""
    share = beta_quantile(0.5, freedom / 2, level)
    return math.sqrt(freedom * share / (1 - share))


@cache
def beta_quantile(a: float, b: float, p: float) -> float:
    """The x at which the regularised incomplete beta function I(a, b) is p, 0 < p < 1; Newton's steps within a bracket.

    SciPy has it too, but takes as long to load as a small evaluation (docs/adr/18-small-samples.md..
    """
    low, high, x = 0.0, 1.0, a / (a + b)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    for _ in range(200):
        front = math.exp(scale + a * math.log(x) + b * math.log1p(-x))
        below = x < (a + 1) / (a + b + 2)
        reached = front * _fraction(x, a, b) / a if below else 1 - front * _fraction(1 - x, b, a) / b
        low, high = (x, high) if reached < p else (low, x)
        step = (reached - p) * x * (1 - x) / front if front else math.inf
        moved = x - step if low < x - step < high else (low + high) / 2
        x, moved = moved, abs(moved - x)
        # Newton's next step would be about the square of this one.
        if moved <= 1e-11 * min(x, 1 - x):
            break
    return x


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method. Source: Numerical Recipes 2007, 6.4."""
    last, value = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    term = value
    for m in range(1, 100_000):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            term = 1 / (1 + factor * term)
            last = 1 + factor / last
            value *= term * last
        if abs(term * last - 1) < 1e-16:
            break
    return value


def percentile_interval(drawn: Floats, level: float) -> tuple[float, float] | None:
    """The interval between the outer percentiles of resampled figures; None where a resample has no figure (NaN)."""
    outer = percentiles(drawn, level)
    return None if outer is None else (rounded(outer[0]), rounded(outer[1]))


def percentiles(drawn: Floats, level: float) -> tuple[float, float] | None:
    """The percentiles that leave a level between them; None where a value is NaN."""
    if np.isnan(drawn).any():
        return None
    ordered = np.sort(drawn)
    return _percentile(ordered, (1 - level) / 2), _percentile(ordered, (1 + level) / 2)


def _percentile(ordered: Floats, share: float) -> float:
    # The same as NumPy's quantile, whose first call loads masked arrays: that takes longer than a small evaluation.
    place = share * (len(ordered) - 1)
    low = int(place)
    below, above = float(ordered[low]), float(ordered[min(low + 1, len(ordered) - 1)])
    return below + (above - below) * (place - low)
