"""Choices among settings: the cheapest that reaches a recall, the set of the best, and the gain of
the best out of fold.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwell.comparison.fusion.trials import draw_folds
from rankwell.data.tables import Floats, exact_mean
from rankwell.data.tables import figure as figure_text
from rankwell.stats.bounded_means import exceeds_p, lower_bound
from rankwell.stats.multiple_comparisons import fixed_sequence, holm
from rankwell.stats.paired_bootstrap import Differences, paired_bootstrap
from rankwell.stats.paired_randomisation import set_of_best
from rankwell.stats.selection import selection_gain

ERROR = 0.025
"""One-sided error of all acceptances together: that of the lower end of a 95 % interval."""
_FOLDS = 10
_LEAST = 20


class CheapestSetting(NamedTuple):
    """The cheapest setting that reaches a recall, None where none does; by setting `accepted` or
    `rejected`; a sentence.
    """

    setting: int | None
    words: list[str]
    sentence: str


def cheapest(
    recalls: Sequence[Floats],
    names: Sequence[str],
    costs: Sequence[float | None],
    target: float,
    cost: str,
    *,
    grid: bool,
    seed: int,
) -> CheapestSetting:
    """The cheapest setting whose recall exceeds the target. recalls: (queries,) by setting, in the
    order of the sweep.

    Of one parameter the settings are tested from the last, the most expensive, down to the first
    failure; of several
    (`grid`) all of them, with Holm's correction.
    """
    p = [
        exceeds_p(setting_recalls[~np.isnan(setting_recalls)], target, level=1 - ERROR, seed=seed)
        for setting_recalls in recalls
    ]
    adjusted = holm(p) if grid else fixed_sequence(p[::-1])[::-1]
    passed = [p_value <= ERROR for p_value in adjusted]
    words = ["accepted" if is_accepted else "rejected" for is_accepted in passed]
    how = "Holm" if grid else "tested from the last setting down"

    def _bound(setting: int, tests: int) -> float:
        """The lower bound at the level of one of so many tests, which is on the same side of the
        target as that test.
        """
        return lower_bound(
            recalls[setting][~np.isnan(recalls[setting])], level=1 - ERROR, tests=tests, seed=seed
        )

    if not any(passed):
        if grid or len(p) == 1:
            shortfall = (
                "the best lower bound is "
                f"{max(_bound(setting, len(p)) for setting in range(len(p))):.4f}"
            )
        else:
            # The sequence ends with the first failure, so that the settings before it are not
            # tested.
            shortfall = f"the lower bound of {names[-1]} is {_bound(len(p) - 1, 1):.4f}"
        sentence = f"No setting reaches a recall of {target:g}, {shortfall} ({how})."
        return CheapestSetting(None, words, sentence)
    known_costs = [
        (costs[setting], setting)
        for setting, is_accepted in enumerate(passed)
        if is_accepted and costs[setting] is not None
    ]
    if not known_costs:
        sentence = (
            f"{sum(passed)} of {len(names)} settings reach a recall of {target:g} ({how}), their "
            f"{cost} is not known."
        )
        return CheapestSetting(None, words, sentence)
    least = (max if cost == "throughput" else min)(
        known_costs, key=lambda cost_and_setting: cost_and_setting[0] or 0.0
    )
    cheapest = f"The cheapest setting with a recall of {target:g} by {cost} is {names[least[1]]}"
    bound = _bound(least[1], sum(p_value >= p[least[1]] for p_value in p) if grid else 1)
    return CheapestSetting(least[1], words, f"{cheapest}, its lower bound is {bound:.4f} ({how}).")


class BestSettings(NamedTuple):
    """By setting whether it is indistinguishable from the best; the gain of the best over a
    baseline; a sentence on both.
    """

    is_best: list[bool]
    gain: dict[str, Any]
    sentence: str


def best_settings(
    values: Floats,
    queries: Sequence[str],
    names: Sequence[str],
    label: str,
    unit: str,
    baseline: int,
    *,
    lower: bool,
    seed: int,
) -> BestSettings | None:
    """The settings that no other is significantly better than, by all pairs, and the gain of the
    best, apparent and out of fold.

    values: (queries, settings). None for fewer than two settings, or than 20 queries with a value
    at every setting.
    """
    is_complete = ~np.isnan(values).any(axis=1)
    counted = (-1 if lower else 1) * values[is_complete]
    if len(counted) < _LEAST or values.shape[1] < 2:
        return None
    is_best = set_of_best(counted, seed=seed).tolist()
    complete_queries = [queries[row] for row in np.flatnonzero(is_complete).tolist()]
    folds: Mapping[str, int] = draw_folds(complete_queries, _FOLDS, seed)
    selection = selection_gain(
        counted, np.array([folds[query] for query in complete_queries], dtype=np.int64), baseline
    )
    (bounds,) = paired_bootstrap([Differences(selection.out_of_fold)], studentised=True, seed=seed)
    mean = exact_mean(selection.out_of_fold)
    low, high = bounds.interval or (None, None)
    row = {
        "measure": label,
        "best": names[selection.best],
        "baseline": names[baseline],
        "apparent": selection.apparent,
    }
    row |= {"out_of_fold": mean, "ci_low": low, "ci_high": high, "folds": _FOLDS}
    kept_best, among = (
        sum(is_best),
        f"indistinguishable from the best by {label}, {names[selection.best]}",
    )
    head = f"{kept_best} of {len(names)} settings {'is' if kept_best == 1 else 'are'} {among}"
    if selection.best == baseline:
        return BestSettings(is_best, row, f"{head}, which is the baseline.")
    ends = "" if low is None or high is None else f" [{_signed(low, unit)}, {_signed(high, unit)}]"
    gain = f"it gains {_signed(mean, unit)}{ends} over {names[baseline]} out of fold"
    return BestSettings(
        is_best,
        row,
        f"{head}: {gain}, {_signed(selection.apparent, unit)} on the queries that chose it.",
    )


def _signed(value: float, unit: str) -> str:
    return figure_text(value, unit, signed=True)
