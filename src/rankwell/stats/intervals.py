"""Intervals that hold their level with few queries, percentiles, and the distributions behind
intervals and tests.
"""

import importlib
import math
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell._native.resamples import MANY
from rankwell.data.tables import Floats, exact_mean, exact_ratio, exact_sd, exact_sum, rounded

Interval = tuple[float, float]
RANGES = {
    "share": (0.0, 1.0),
    "percent": (0.0, 100.0),
    "rank": (1.0, math.inf),
    "count": (0.0, math.inf),
}
"""The least and the largest value of a unit."""


class Deviations(NamedTuple):
    """The distances of queries (or clusters) from the figure, for the studentised bootstrap.

    mean: the figure, Σ sums / Σ sizes.
    residuals: (n,) sums - mean · sizes.
    sizes: (n,) weight of each query or cluster; None where all weigh 1.
    error: standard error of the mean by linearisation, without the factor √(n / (n - 1)).
    """

    mean: float
    residuals: Floats
    sizes: Floats | None
    error: float

    @classmethod
    def of(cls, sums: Floats, sizes: Floats | None = None) -> "Deviations":
        """The deviations of values, or of a ratio of sums whose sizes are not all 0."""
        total = len(sums) if sizes is None else exact_sum(sizes)
        mean = exact_ratio(sums, sizes)
        residuals = sums - (mean if sizes is None else mean * sizes)
        return cls(mean, residuals, sizes, math.sqrt(float((residuals * residuals).sum())) / total)

    def columns(self) -> list[Floats]:
        """The columns that a resample adds up."""
        residuals, sizes = self.residuals, self.sizes
        columns = [residuals, residuals * residuals]
        return columns if sizes is None else [*columns, sizes, residuals * sizes, sizes * sizes]

    def studentised(self, sums: Iterator[Floats]) -> Floats:
        """The deviation of each resample's figure over its error; NaN where all its sizes are 0.

        sums: those of `columns`. The squared error counts the sample's own as one query's of n + 1,
        so that a resample of equal values has an error too.
        """
        n, offset, squares = len(self.residuals), next(sums), next(sums)
        if self.sizes is None:
            squares = squares - offset * offset / n
        else:
            with np.errstate(invalid="ignore", divide="ignore"):
                ratio = offset / next(sums)
            squares = squares - 2 * ratio * next(sums) + ratio * ratio * next(sums)
            offset = np.where(np.isnan(ratio), np.nan, offset)
        sample_squares = float((self.residuals * self.residuals).sum())
        if not sample_squares:
            return offset
        return offset / np.sqrt((n * np.maximum(squares, 0.0) + sample_squares) / (n + 1))

    @property
    def expands(self) -> bool:
        """Whether the interval needs no resamples: there are more than `MANY` queries, and no few
        of them decide the variance.

        Then what the expansion leaves out moves an end by less than 0.006 errors, a quarter of the
        chance in 10,000 resamples.
        """
        if len(self.residuals) <= MANY or self.sizes is not None:
            return False
        return not self.error or float((self._shares**4).sum()) <= 1e-3

    @property
    def _shares(self) -> Floats:
        """The residuals, scaled so that their squares add up to 1."""
        return self.residuals / (self.error * len(self.residuals))

    def interval(self, level: float, resampled_t: Floats | None = None) -> Interval | None:
        """The wider of the studentised bootstrap's reach and Student's on each side; None where
        nothing varies or a t is NaN.

        resampled_t: (resamples,) from `studentised`; None for the first order of the expansion that
        they approach. Source: Davison and Hinkley 1997, 5.2.1; Hall 1992, The bootstrap and
        Edgeworth expansion, 2.6 and 3.3; docs/adr/18-small-samples.md.
        """
        if self.error <= 1e-12 * abs(self.mean):
            return None
        n = len(self.residuals)
        student = student_quantile(level, n - 1) * math.sqrt(n / (n - 1))
        if resampled_t is None:
            shift = float((self._shares**3).sum()) * (2 * student * student + 1) / 6
            outer = -student - shift, student - shift
        else:
            outer = percentiles(resampled_t, level)
        if outer is None:
            return None
        low, high = max(outer[1], student) * self.error, max(-outer[0], student) * self.error
        return self.mean - low, self.mean + high


def unseen_share(n: int) -> float:
    """The largest share of values of another kind that n values without one do not exclude, at 95
    %.

    Source: Hanley and Lippman-Hand 1983, If nothing goes wrong, is everything all right?
    """
    return 1 - 0.05 ** (1 / n)


def skew_of(values: Floats, unit: str) -> Literal["end", "tail", ""]:
    """The reason why an interval of the mean is too narrow; empty where it is not.

    `end`: values of a unit with two ends are so close together, and far from an end, that unseen
    ones would decide the mean. So where `unseen_share`, times the distance to that end, is three
    times the reach of Student's interval.
    `tail`: values of another unit are so skewed that their number is small. Cochran's rule for the
    normal interval is n > 25 G₁². The studentised bootstrap follows the skewness; below 8 G₁² it
    covers less than 93 % of long tails. Source: Cochran 1977, Sampling
    techniques, 2.15.
    """
    low, high = RANGES.get(unit, (-math.inf, math.inf))
    n = len(values)
    if math.isfinite(high - low):
        distance = max(high - float(values.max()), float(values.min()) - low)
        reach = student_quantile(0.95, n - 1) * exact_sd(values) / math.sqrt(n)
        return "end" if reach < 0.35 * unseen_share(n) * distance else ""
    deviations = values - exact_mean(values)
    largest = float(np.abs(deviations).max())
    if not 0 < largest < math.inf:
        return ""
    deviations = deviations / largest  # powers of very large or small deviations stay in range
    skewness = float((deviations**3).mean()) / float((deviations * deviations).mean()) ** 1.5
    return "tail" if 8 * skewness**2 > n else ""


def clopper_pearson(successes: int, n: int, level: float) -> Interval:
    """The exact interval of a share: it holds the true one at least as often as the level says.
    Source: Clopper, Pearson 1934.
    """
    tail = (1 - level) / 2
    quantile = special_functions().betaincinv
    low = float(quantile(successes, n - successes + 1, tail)) if successes else 0.0
    high = float(quantile(successes + 1, n - successes, 1 - tail)) if successes < n else 1.0
    return low, high


def percentile_interval(figures: Floats, level: float) -> Interval | None:
    """The interval between the outer percentiles of resampled figures; None where a resample has no
    figure (NaN).
    """
    outer = percentiles(figures, level)
    return None if outer is None else (rounded(outer[0]), rounded(outer[1]))


def percentiles(figures: Floats, level: float) -> Interval | None:
    """The percentiles that leave a level between them; None where a value is NaN."""
    if np.isnan(figures).any():
        return None
    ordered = np.sort(figures)
    return _percentile(ordered, (1 - level) / 2), _percentile(ordered, (1 + level) / 2)


def _percentile(ordered: Floats, share: float) -> float:
    # The same as NumPy's quantile, whose first call loads masked arrays: that takes longer than a
    # small evaluation.
    position = share * (len(ordered) - 1)
    low = int(position)
    below, above = float(ordered[low]), float(ordered[min(low + 1, len(ordered) - 1)])
    return below + (above - below) * (position - low)


@cache
def special_functions() -> Any:
    """SciPy's compiled special functions, without the packages around them, which take 0.3 s more
    to import (ADR 4).
    """
    if "scipy.special" in sys.modules:
        return importlib.import_module("scipy.special")
    scipy = find_spec("scipy")
    folder = Path(scipy.origin or "").parent if scipy else Path()
    stand_ins = [
        name for name in ("scipy", "scipy._lib", "scipy.special") if name not in sys.modules
    ]
    for name in stand_ins:
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
    try:
        return importlib.import_module("scipy.special._ufuncs")
    except ImportError:  # A later SciPy may name the file differently.
        pass
    finally:
        # Whoever imports the packages gets the true ones.
        for name in stand_ins:
            del sys.modules[name]
    return importlib.import_module("scipy.special")


def student_quantile(level: float, freedom: int) -> float:
    """The t with P(-t < T < t) = level under Student's t distribution."""
    return float(special_functions().stdtrit(freedom, (1 + level) / 2))


def student_p(t: float, freedom: float) -> float:
    """The two-sided p-value of a t statistic; 0 below the smallest float64. freedom: degrees of
    freedom, above 0.
    """
    square = t * t
    if math.isinf(square):
        return 0.0
    special = special_functions()
    # One and the same function; each form keeps its digits where its argument is not near 1.
    if square > freedom:
        return float(special.betainc(freedom / 2, 0.5, freedom / (freedom + square)))
    return float(special.betaincc(0.5, freedom / 2, square / (freedom + square)))


def binomial_p(n: int, up: int) -> float:
    """The two-sided probability of a split of n coins at least as uneven as `up` of them; 1 where
    it is even.
    """
    low = min(up, n - up)
    if 2 * low == n:
        return 1.0
    # Integers all the way: the quotient is rounded once.
    coefficient, total = 1, 1
    for step in range(low):
        coefficient = coefficient * (n - step) // (step + 1)
        total += coefficient
    return 2 * total / (1 << n)
