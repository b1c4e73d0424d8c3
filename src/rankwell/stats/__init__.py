"""Statistics over queries: what the figures of a collection are made of, for every file of this folder."""

import math
from typing import Literal, get_args

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


def student_quantile(level: float, freedom: int) -> float:
    """The t with P(-t < T < t) = level for Student's distribution with a whole number of degrees of freedom, from 1.

    Accurate to 1e-10. Raises BadUsage for a level outside (0, 1).
    Source: Abramowitz and Stegun 1964, 26.7.3 and 26.7.4 (the finite series), 26.7.5 (the expansion for many degrees of freedom).
    """
    check_level(level)
    # Loading it takes longer than a small evaluation computes.
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    if freedom > 2000:
        return _expanded(z, freedom)
    log_peak = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    t = z
    # The central probability is concave in t and the normal quantile lies below the root, so that Newton's steps only climb.
    for _ in range(200):
        slope = 2 * math.exp(log_peak - (freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = (level - _central_probability(t, freedom)) / slope
        t += step
        if step <= 1e-15 * t:
            break
    return t


def student_p(t: float, freedom: float) -> float:
    """The two-sided p-value of a t statistic: the probability of one as far from 0 under Student's distribution.

    Accurate to 10 digits, however small it is; 0 where it lies below the smallest float64. freedom: above 0.
    Source: Abramowitz and Stegun 1964, 26.5.27 (through the incomplete beta function) and 26.5.8 (its continued fraction).
    """
    if math.isinf(t):
        return 0.0
    inside, outside = freedom / (freedom + t * t), t * t / (freedom + t * t)
    a, b = freedom / 2, 0.5
    # The fraction converges fast on this side of the mean only; on the other the complement is taken.
    if inside < (a + 1) / (a + b + 2):
        return _beta_share(a, b, inside, outside)
    return 1 - _beta_share(b, a, outside, inside)


def binomial_p(n: int, up: int) -> float:
    """The two-sided probability of a split of n coins at least as uneven as `up` of them; 1 where it is even."""
    low = min(up, n - up)
    if 2 * low == n:
        return 1.0
    # Whole numbers all the way: the quotient is rounded once.
    ways, total = 1, 0
    for place in range(low + 1):
        total += ways
        ways = ways * (n - place) // (place + 1)
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
        raise BadUsage(f"{options}: intervals are bootstrap, t or none; a seed is a whole number from 0.")


def check_level(level: float) -> None:
    """Raises BadUsage for a confidence level outside (0, 1)."""
    if not 0 < level < 1:
        raise BadUsage(f"the confidence level is {level}; it lies between 0 and 1, as 0.95 does.")


def _central_probability(t: float, freedom: int) -> float:
    angle = math.atan2(t, math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = (cosine, cosine) if odd else (1.0, 1.0)
    if freedom == 1:
        return 2 * angle / math.pi
    for order in range(2 + odd, freedom - 1, 2):
        term *= cosine * cosine * (order - 1) / order
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def _expanded(z: float, freedom: int) -> float:
    square = z * z
    terms = (
        (square + 1) / 4,
        ((5 * square + 16) * square + 3) / 96,
        (((3 * square + 19) * square + 17) * square - 15) / 384,
        ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    return z + z * sum(term / freedom**power for power, term in enumerate(terms, 1))


def _beta_share(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function at x, for x below (a + 1) / (a + b + 2); rest: 1 - x."""
    if x == 0:
        return 0.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    # Lentz's method: c and d are the ratios of neighbouring numerators and denominators of the fraction's approximants.
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for coefficient in (even, odd):
            d = 1 / (1 + coefficient * d)
            c = 1 + coefficient / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return math.exp(log_front) * fraction / a
