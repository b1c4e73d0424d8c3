"""Statistics over queries: what the figures of a collection are made of, for every file of this folder."""

import importlib
import math
import sys
from functools import cache
from types import ModuleType
from typing import Any, Literal, get_args

import numpy as np

from rankwell.core.kernels.resamples import over_resamples
from rankwell.core.tables import Floats
from rankwell.errors import BadUsage

Intervals = Literal["bootstrap", "t", "none"]

MIN_QUERIES = 10
"""Below this many counted queries an interval would look exact and mean nothing, so there is none."""


def resampled_sums(table: Floats, resamples: int, *, seed: int, block: int | None = None) -> Floats:
    """(resamples, columns) the sums of each column over bootstrap resamples of its rows, which all columns share.

    table: (n, columns) finite. The sums depend neither on other columns nor on block, the resamples worked on at once.
    """
    exact = on_exact_grid(table)
    return np.concatenate(over_resamples(len(table), resamples, lambda counts: counts @ exact, seed=seed, block=block))


def on_exact_grid(columns: Floats) -> Floats:
    """The values rounded so that every sum of n of them, with repetition, is exact in float64 whatever the order of adding.

    columns: (n, columns) finite. A matrix product of whole counts that sum to n with the result therefore has the same bytes for
    any block size, number of threads, other columns and BLAS. Each value moves by at most n · 2⁻⁵² of its column's largest one:
    5e-13 for shares of 7,000 queries.
    """
    n = len(columns)
    largest = np.abs(columns).max(axis=0, initial=0.0)
    mantissa, exponent = np.frexp(largest)
    # The largest value is at most 2 ** (exponent or one less), so that n of them stay below 2⁵³ grid steps.
    shift = 53 - math.ceil(math.log2(max(n, 2))) - exponent + (mantissa == 0.5)
    return np.ldexp(np.rint(np.ldexp(columns, shift)), -shift)


def rounded(value: float) -> float:
    """The value with 10 significant digits, as every figure that comes out of a matrix product is written."""
    return float(f"{value:.10g}")


@cache
def special_functions() -> Any:
    """SciPy's compiled special functions, without the package around them, which takes 0.3 s more to import (ADR 4)."""
    import scipy

    if "scipy.special" not in sys.modules:
        package = ModuleType("scipy.special")
        package.__path__ = [f"{folder}/special" for folder in scipy.__path__]
        sys.modules["scipy.special"] = package
        try:
            return importlib.import_module("scipy.special._ufuncs")
        except ImportError:  # A later SciPy may name the file differently.
            pass
        finally:
            # Whoever imports the package gets the true one.
            del sys.modules["scipy.special"]
    return importlib.import_module("scipy.special")


def student_quantile(level: float, freedom: int) -> float:
    """The t with P(-t < T < t) = level under Student's t distribution. Raises BadUsage for a level outside (0, 1)."""
    check_level(level)
    return float(special_functions().stdtrit(freedom, (1 + level) / 2))


def student_p(t: float, freedom: float) -> float:
    """The two-sided p-value of a t statistic; 0 below the smallest float64. freedom: degrees of freedom, above 0."""
    square = t * t
    if math.isinf(square):
        return 0.0
    special = special_functions()
    # One and the same function; each form keeps its digits where its argument is not near 1.
    if square > freedom:
        return float(special.betainc(freedom / 2, 0.5, freedom / (freedom + square)))
    return float(special.betaincc(0.5, freedom / 2, square / (freedom + square)))


def binomial_p(n: int, up: int) -> float:
    """The two-sided probability of a split of n coins at least as uneven as `up` of them; 1 where it is even."""
    low = min(up, n - up)
    if 2 * low == n:
        return 1.0
    # Integers all the way: the quotient is rounded once.
    coefficient, total = 1, 0
    for place in range(low + 1):
        total += coefficient
        coefficient = coefficient * (n - place) // (place + 1)
    return 2 * total / (1 << n)


def percentile_interval(drawn: Floats, level: float) -> tuple[float, float] | None:
    """The interval between the outer percentiles of resampled figures; None where a resample has no figure (NaN)."""
    if np.isnan(drawn).any():
        return None
    ordered = np.sort(drawn)
    return rounded(_percentile(ordered, (1 - level) / 2)), rounded(_percentile(ordered, (1 + level) / 2))


def _percentile(ordered: Floats, share: float) -> float:
    # The same as NumPy's quantile, whose first call loads masked arrays: that takes longer than a small evaluation.
    place = share * (len(ordered) - 1)
    low = int(place)
    below, above = ordered[low : low + 2].tolist() if low + 1 < len(ordered) else (float(ordered[-1]),) * 2
    return below + (above - below) * (place - low)


def check_intervals(intervals: str, seed: int) -> None:
    """Raises BadUsage for intervals of no known kind, and for a seed below 0."""
    if intervals not in get_args(Intervals) or seed < 0:
        options = f"intervals={intervals!r}, seed={seed!r}"
        raise BadUsage(f"{options}: expected bootstrap, t or none, and a non-negative integer as the seed.")


def check_level(level: float) -> None:
    """Raises BadUsage for a confidence level outside (0, 1)."""
    if not 0 < level < 1:
        raise BadUsage(f"the confidence level is {level}; it lies between 0 and 1, as 0.95 does.")
