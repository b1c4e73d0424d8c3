"""Distributions of test statistics to 30 digits, and the exact one of Kendall's tau by counting
orders.
"""

import math
from typing import Any

import mpmath

mpmath.mp.dps = 30


def t_p(t: float, freedom: float) -> float:
    """The two-sided p-value of a t statistic, by its incomplete beta function."""
    if math.isinf(t):
        return 0.0
    square, n = mpmath.mpf(t) ** 2, mpmath.mpf(freedom)
    return float(mpmath.betainc(n / 2, 0.5, 0, n / (n + square), regularized=True))


def t_quantile(level: float, freedom: float) -> float:
    """The t with P(-t < T < t) = level: the root of the incomplete beta function."""
    n = mpmath.mpf(freedom)

    def _off(t: Any) -> Any:
        return mpmath.betainc(0.5, n / 2, 0, t * t / (n + t * t), regularized=True) - mpmath.mpf(
            level
        )

    low, high = mpmath.mpf(0), mpmath.mpf(1)
    while _off(high) < 0:
        low, high = high, 2 * high
    return float(mpmath.findroot(_off, (low, high), solver="anderson", tol=1e-40, maxsteps=200))


def chi_square_p(value: float, freedom: float) -> float:
    """The probability of a value at least as high, by the upper incomplete gamma function."""
    return float(
        mpmath.gammainc(
            mpmath.mpf(freedom) / 2, mpmath.mpf(value) / 2, mpmath.inf, regularized=True
        )
    )


def studentised_range_p(q: float, systems: int) -> float:
    """The probability that the range of standard normal values is above q: one integral over the
    smallest of them.
    """

    def _density(z: Any) -> Any:
        return mpmath.npdf(z) * (mpmath.ncdf(z + q) - mpmath.ncdf(z)) ** (systems - 1)

    integral: Any = mpmath.quad(_density, range(-12, 13, 2))
    return float(1 - systems * integral)


def kendall_p(n: int, discordant: int) -> float:
    """The two-sided p-value of Kendall's tau of n rows without ties: orders counted by their
    inversions, from n = 1 up.
    """
    counts = [1]
    for size in range(2, n + 1):
        counts = [
            sum(counts[max(0, at - size + 1) : at + 1]) for at in range(len(counts) + size - 1)
        ]
    fewer = min(discordant, n * (n - 1) // 2 - discordant)
    return min(1.0, 2 * sum(counts[: fewer + 1]) / math.factorial(n))


def t_power(off: float, beyond: float, freedom: float) -> float:
    """P(|T| > beyond) where T's mean is off by so many standard errors: a Poisson mixture of
    incomplete beta functions.
    """
    half, x = (
        mpmath.mpf(off) ** 2 / 2,
        mpmath.mpf(beyond) ** 2 / (mpmath.mpf(beyond) ** 2 + freedom),
    )
    below, weight = mpmath.mpf(0), mpmath.exp(-half)
    for term in range(int(half + 12 * mpmath.sqrt(half)) + 60):
        below += weight * mpmath.betainc(
            mpmath.mpf(term) + 0.5, mpmath.mpf(freedom) / 2, 0, x, regularized=True
        )
        weight *= half / (term + 1)
    return float(1 - below)
