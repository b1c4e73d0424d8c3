"""Choices among settings: confidence bounds and tests of means of values between 0 and 1, by
betting and never of zero width; and the gain of choosing the best, as it appears on the queries
that chose, and on queries left out.
"""

import math
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Floats, Ints, exact_means
from rankwell.errors import BadInput

ERROR = 0.025
"""One-sided error of a bound, as of the lower end of a 95 % interval."""
_LOG_ERROR = math.log1p(ERROR - 1)
_LARGEST_BET = 0.75
_STEPS = 40
"""Halvings of the interval of candidate means: to 1e-12."""


def lower_bound(values: Floats, *, tests: int = 1, seed: int = 0) -> float:
    """The lower confidence bound of the mean of values between 0 and 1, one-sided; below 1 even
    where every value is 1.

    It is at most the mean with a chance of at least 1 - `ERROR`, for any number of independent
    values and whatever their distribution. A gambler bets on every value in turn that it is above a
    candidate mean; the bound is the least candidate against which the capital never reaches
    1 / `ERROR`, of several `tests` (Bonferroni) that number of times as much. values: (n,) in any
    order; they are drawn in one of the seed's.
    Without values it is 0. Raises BadInput for a value outside 0 to 1.
    Source: Waudby-Smith and Ramdas 2024, Estimating means of bounded random variables by betting,
    sections 4 and B.1.
    """
    shuffled, bets = _bets(values, seed)
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        is_below = _log_capital(shuffled, bets, middle) >= math.log(tests) - _LOG_ERROR
        low, high = (middle, high) if is_below else (low, middle)
    return low


def interval(values: Floats, *, seed: int = 0) -> tuple[float, float]:
    """The two-sided 95 % interval of the mean: the lower bound of the values, and that of their
    distances from 1.
    """
    high = 1 - lower_bound(1 - np.asarray(values), seed=seed)
    return lower_bound(values, seed=seed), high


def exceeds_p(values: Floats, target: float, *, seed: int = 0) -> float:
    """The p-value of the hypothesis that the mean is at most `target`: one over the largest capital
    that the bets reach.

    It is at most `ERROR` / tests exactly where `lower_bound` with these is at least the target,
    except for rounding.
    Raises as `lower_bound`.
    """
    return math.exp(-_log_capital(*_bets(values, seed), target))


def _bets(values: Floats, seed: int) -> tuple[Floats, Floats]:
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
    return shuffled, np.sqrt(-2 * _LOG_ERROR / (max(n, 1) * earlier_spreads))


def _log_capital(shuffled: Floats, bets: Floats, mean: float) -> float:
    """The largest logarithm of the capital on the way, at least that of the start; the higher the
    mean, the lower it is.
    """
    if mean <= 0:
        return math.inf if shuffled.any() else 0.0
    stakes = np.minimum(bets, _LARGEST_BET / mean)
    return max(0.0, float(np.cumsum(np.log1p(stakes * (shuffled - mean))).max(initial=0.0)))


class SelectionGain(NamedTuple):
    """The gain of choosing a setting by its values, over a baseline.

    apparent: mean of the best setting less that of the baseline, over the queries that chose it.
    out_of_fold: (queries,) the same difference for each query, with the setting that the other
        folds chose.
    best: index of the setting that is chosen on all queries.
    """

    apparent: float
    out_of_fold: Floats
    best: int


def selection_gain(values: Floats, folds: Ints, baseline: int) -> SelectionGain:
    """The gain of the best of several settings over a baseline. Of equal means the first setting is
    the best.

    values: (queries, settings) finite, higher is better. folds: (queries,) the fold of each query.
    baseline: index of a setting. Raises BadInput for fewer than two folds.
    Source: Stone 1974, Cross-validatory choice and assessment of statistical predictions; Varma and
    Simon 2006 on the bias.
    """
    names, fold_index = np.unique(folds, return_inverse=True)
    if len(names) < 2:
        raise BadInput(
            f"{len(names)} folds of {len(folds)} queries; expected at least two, so that "
            "others choose for each."
        )
    means = exact_means(values)
    best = int(np.argmax(means))
    best_by_fold = np.array(
        [int(np.argmax(exact_means(values[fold_index != fold]))) for fold in range(len(names))],
        dtype=np.int64,
    )
    gains = values[np.arange(len(values)), best_by_fold[fold_index]] - values[:, baseline]
    return SelectionGain(float(means[best] - means[baseline]), gains, best)
