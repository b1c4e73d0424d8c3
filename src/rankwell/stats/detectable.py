"""Size of an effect, and whether a set of queries is large enough: the smallest difference that a
paired t-test would find.
"""

import math
from bisect import bisect_left
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from rankwell.data.tables import Floats, exact_mean, exact_sd
from rankwell.errors import BadUsage
from rankwell.stats import check_level
from rankwell.stats.intervals import student_quantile

_MOST = 10**9
_STEEP = 40
"""In so many steps of 1 standard error nodes are close enough; above, the fall of the conditional
power is integrated apart.
"""


def minimal_detectable_difference(
    sd: float, n: int, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """The true mean difference that a two-sided paired t-test at level alpha finds with this power;
    None below 2 queries.

    sd: of the differences, n: how many. Raises BadUsage for alpha or a power outside (0, 1), and
    for a power not above alpha. Source: Cohen 1988, chapter 2; Sakai 2018, Laboratory Experiments
    in Information Retrieval, 6.
    """
    _check(alpha, power)
    return None if n < 2 else _noncentrality(n - 1, alpha, power) * sd / math.sqrt(n)


def queries_needed(
    difference: float, sd: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """The smallest number of queries with which a true difference of this size is found with this
    power, at least 2.

    None where the difference is 0, or where it would take more than a thousand million. Errors and
    source as for `minimal_detectable_difference`.
    """
    _check(alpha, power)
    if difference == 0:
        return None
    effect = abs(difference) / sd if sd else math.inf

    def _is_enough(n: int) -> bool:
        return _power(effect * math.sqrt(n), n - 1, alpha) >= power

    # The normal distribution gives a number that is a few too small, and every step costs an
    # integral.
    root_n = (
        (NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)) / effect
        if effect
        else math.inf
    )
    start = max(2, math.ceil(root_n * root_n) - 2) if root_n < math.sqrt(_MOST) else _MOST
    for last in (min(start + 16, _MOST), _MOST):
        n = start + bisect_left(range(start, last + 1), True, key=_is_enough)
        if n <= last:
            return n
    return None


def _check(alpha: float, power: float) -> None:
    check_level(1 - alpha)
    if not alpha < power < 1:
        raise BadUsage(
            f"the power is {power}; expected a number between the level {alpha:g} and 1, such "
            "as 0.8."
        )


@lru_cache(maxsize=4096)
def _noncentrality(freedom: int, alpha: float, power: float) -> float:
    """The true mean, in standard errors, at which the test has this power."""
    low, high = 0.0, 1.0
    while _power(high, freedom, alpha) < power:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(middle, freedom, alpha) >= power else (middle, high)
    return (low + high) / 2


def _power(noncentrality: float, freedom: int, alpha: float) -> float:
    """The probability that |t| exceeds its quantile where the true mean is so many standard errors
    from 0.
    """
    if math.isinf(noncentrality):
        return 1.0
    # SciPy's own noncentral t, `nctdtr`, is NaN for some of these numbers, as for 5 degrees of
    # freedom and a mean of 10.
    beyond, reach, root = (
        student_quantile(1 - alpha, freedom),
        9 / math.sqrt(2 * freedom),
        math.sqrt(2),
    )
    edges = [max(0.0, 1 - reach), 1 + reach]
    if beyond * (edges[1] - edges[0]) > _STEEP:
        edges[1:1] = [
            edge
            for edge in ((noncentrality - 9) / beyond, (noncentrality + 9) / beyond)
            if edges[0] < edge < edges[1]
        ]
    return math.fsum(
        weight
        * (
            math.erfc((beyond * s - noncentrality) / root)
            + math.erfc((beyond * s + noncentrality) / root)
        )
        / 2
        for low, high in pairwise(edges)
        for s, weight in zip(*_spread(freedom, low, high), strict=True)
    )


@lru_cache(maxsize=256)
def _spread(freedom: int, low: float, high: float) -> tuple[list[float], list[float]]:
    """Nodes and weights that integrate over a sample's standard deviation, from low to high, in
    units of the true one.
    """
    nodes, weights = _nodes()
    sds = (low + high) / 2 + (high - low) / 2 * nodes
    constant = math.log(2) + freedom / 2 * math.log(freedom / 2) - math.lgamma(freedom / 2)
    density = np.exp(constant + (freedom - 1) * np.log(sds) - freedom / 2 * sds**2)
    scaled = (high - low) / 2 * weights * density
    return sds.tolist(), scaled.tolist()


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(120)


def cohen_dz(differences: Floats) -> float | None:
    """The mean of paired differences over their standard deviation; None for fewer than two, and
    where all are the same.

    differences: (n,) finite. Source: Cohen 1988, Statistical Power Analysis, 2.3.5.
    """
    if len(differences) < 2 or differences.min() == differences.max():
        return None
    return exact_mean(differences) / exact_sd(differences)
