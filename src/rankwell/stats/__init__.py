"""Statistics over queries: what the figures of a collection are made of, for every file of this folder."""

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Literal

import numpy as np

from rankwell.errors import BadUsage
from rankwell.tables import Floats

Intervals = Literal["bootstrap", "t", "none"]

MIN_QUERIES = 10
"""Below this many counted queries an interval would look exact and mean nothing, so there is none."""

_BUFFER, _PIECE = 1 << 22, 1 << 18


def resampled_counts(n: int, resamples: int, *, seed: int, block: int | None = None) -> Iterator[tuple[int, Floats]]:
    """How often each of n queries is drawn in each bootstrap resample, a block of resamples at a time.

    Yields the number of the block's first resample and its counts, (block, n) float64, overwritten by the next block.
    Every row sums to n. The counts depend on n and the seed (PCG64) alone: measures and runs with n counted queries share them.
    block: resamples at a time; by default as many as fit 32 MiB.
    """
    rows = min(resamples, block or max(1, _BUFFER // n))
    # Drawing and counting stay in the processor's cache; the product with the values is the faster the more rows it gets at once.
    piece = min(rows, max(1, _PIECE // n))
    generator = np.random.Generator(np.random.PCG64(seed))
    counts = np.empty((rows, n))
    shift = (np.arange(piece, dtype=np.int64) * n)[:, None]
    for first in range(0, resamples, rows):
        size = min(rows, resamples - first)
        for start in range(0, size, piece):
            here = min(piece, size - start)
            drawn = generator.integers(0, n, size=(here, n), dtype=np.int64)
            drawn += shift[:here]
            counts[start : start + here] = np.bincount(drawn.ravel(), minlength=here * n).reshape(here, n)
        yield first, counts[:size]


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
