"""Confidence bounds and tests of means of values between 0 and 1, by betting: never of zero
width.
"""

import math

import numpy as np

from rankwell.data.tables import Floats
from rankwell.errors import BadInput
from rankwell.stats import check_level

_LARGEST_BET = 0.75
_STEPS = 40
"""Halvings of the interval of candidate means: to 1e-12."""


def lower_bound(values: Floats, *, level: float = 0.975, tests: int = 1, seed: int = 0) -> float:
    """The lower confidence bound of the mean of values between 0 and 1, one-sided; below 1 even
    where every value is 1.

    It is at most the mean with a chance of at least `level`, for any number of independent values
    and whatever their distribution. A gambler bets on every value in turn that it is above a
    candidate mean; the bound is the least candidate against which the capital never reaches 1 / (1
    - level), of several `tests` (Bonferroni) that number of times as much. values: (n,) in any
    order; they are drawn in one of the seed's.
    Without values it is 0. Raises BadInput for a value outside 0 to 1, BadUsage for a level outside
    (0, 1).
    Source: Waudby-Smith and Ramdas 2024, Estimating means of bounded random variables by betting,
    sections 4 and B.1.
    """
    check_level(level)
    shuffled, bets = _bets(values, level, seed)
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _log_capital(shuffled, bets, middle) >= math.log(tests) - math.log1p(-level):
            low = middle
        else:
            high = middle
    return low


def interval(values: Floats, *, level: float = 0.95, seed: int = 0) -> tuple[float, float]:
    """The two-sided interval of the mean: the lower bound of the values, and that of their
    distances from 1, each at half.
    """
    half = (1 + level) / 2
    return lower_bound(values, level=half, seed=seed), 1 - lower_bound(
        1 - np.asarray(values), level=half, seed=seed
    )


def exceeds_p(values: Floats, target: float, *, level: float = 0.975, seed: int = 0) -> float:
    """The p-value of the hypothesis that the mean is at most `target`: one over the largest capital
    that the bets reach.

    It is at most (1 - level) / tests exactly where `lower_bound` with these is at least the target,
    except for rounding.
    Raises as `lower_bound`.
    """
    check_level(level)
    return math.exp(-_log_capital(*_bets(values, level, seed), target))


def _bets(values: Floats, level: float, seed: int) -> tuple[Floats, Floats]:
    """The values in the order of the draw, and (n,) the bet on each, which depends on those before
    it alone.
    """
    ascending = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ascending)
    if n and not (ascending[0] >= 0 and ascending[-1] <= 1):
        wrong = ascending[0] if ascending[0] < 0 else ascending[-1]
        raise BadInput(
            f"a value is {wrong:g}; a bound of a mean by betting is for values from 0 to 1."
        )
    shuffled = np.random.Generator(np.random.PCG64(seed)).permutation(ascending)
    order = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(shuffled)) / (order + 1)
    spreads = (0.25 + np.cumsum((shuffled - means) ** 2)) / (order + 1)
    earlier_spreads = np.concatenate([[0.25], spreads[:-1]])[:n]
    return shuffled, np.sqrt(-2 * math.log1p(-level) / (max(n, 1) * earlier_spreads))


def _log_capital(shuffled: Floats, bets: Floats, mean: float) -> float:
    """The largest logarithm of the capital on the way, at least that of the start; the higher the
    mean, the lower it is.
    """
    if mean <= 0:
        return math.inf if shuffled.any() else 0.0
    stakes = np.minimum(bets, _LARGEST_BET / mean)
    return max(0.0, float(np.cumsum(np.log1p(stakes * (shuffled - mean))).max(initial=0.0)))
