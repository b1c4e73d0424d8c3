"""Choices among settings: the cheapest that reaches a recall, the set of the best, and the gain of the best out of fold."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables import Floats
from rankwell.core.tables import figure as figure_text
from rankwell.experiments.fusion.trials import draw_folds
from rankwell.stats.bounded_means import exceeds_p, lower_bound
from rankwell.stats.multiple_comparisons import fixed_sequence, holm
from rankwell.stats.paired_bootstrap import Differences, paired_bootstrap
from rankwell.stats.paired_randomisation import set_of_best
from rankwell.stats.selection import selection_gain

ERROR = 0.025
"""One-sided error of all acceptances together: that of the lower end of a 95 % interval."""
_FOLDS = 10
_LEAST = 20
_NAMED = 6


class SettingChoice(NamedTuple):
    """A choice in words, and by setting a word for the table: `accepted`, `rejected`, or `best`; "" for none."""

    sentences: list[str]
    words: list[str]


def cheapest(
    recalls: Sequence[Floats],
    names: Sequence[str],
    costs: Sequence[float | None],
    target: float,
    cost: str,
    *,
    grid: bool,
    seed: int,
) -> SettingChoice:
    """The cheapest setting whose recall exceeds the target. recalls: (queries,) by setting, in the order of the sweep.

    Of one parameter the settings are tested from the last, the most expensive, down to the first failure; of several
    (`grid`) all of them, with Holm's correction.
    """
    p = [exceeds_p(each[~np.isnan(each)], target, level=1 - ERROR, seed=seed) for each in recalls]
    adjusted = holm(p) if grid else fixed_sequence(p[::-1])[::-1]
    passed = [each <= ERROR for each in adjusted]
    words = ["accepted" if each else "rejected" for each in passed]
    how = "Holm" if grid else "tested from the last setting down"
    if not any(passed):
        reached = max(lower_bound(each[~np.isnan(each)], level=1 - ERROR, seed=seed) for each in recalls)
        sentence = f"no setting reaches a recall of {target:g}: the best lower bound is {reached:.4f} ({how})"
        return SettingChoice([sentence], words)
    known = [(costs[place], place) for place, each in enumerate(passed) if each and costs[place] is not None]
    if not known:
        return SettingChoice([f"{sum(passed)} settings reach a recall of {target:g} ({how}); their {cost} is not known"], words)
    least = (max if cost == "throughput" else min)(known, key=lambda each: each[0] or 0.0)
    bound = lower_bound(recalls[least[1]][~np.isnan(recalls[least[1]])], level=1 - ERROR, seed=seed)
    sentence = (
        f"the cheapest setting with a recall of {target:g} by {cost} is {names[least[1]]}: its lower bound is {bound:.4f} ({how})"
    )
    return SettingChoice([sentence], words)


def best_settings(values: Floats, names: Sequence[str], label: str, *, lower: bool, seed: int) -> SettingChoice:
    """The settings that no other is significantly better than, by all pairs. values: (queries, settings)."""
    counted = values[~np.isnan(values).any(axis=1)]
    if len(counted) < _LEAST or values.shape[1] < 2:
        return SettingChoice([], [""] * len(names))
    best = set_of_best(-counted if lower else counted, seed=seed)
    kept = [name for name, each in zip(names, best.tolist(), strict=True) if each]
    listed = ", ".join(kept[:_NAMED]) + (f" and {len(kept) - _NAMED} more" if len(kept) > _NAMED else "")
    sentence = f"{len(kept)} of {len(names)} settings are indistinguishable from the best by {label}: {listed}"
    return SettingChoice([sentence], ["best" if each else "" for each in best.tolist()])


def gain_of_best(
    values: Floats, queries: Sequence[str], names: Sequence[str], label: str, unit: str, baseline: int, *, lower: bool, seed: int
) -> tuple[list[str], dict[str, Any]]:
    """The gain of the best setting over a baseline, apparent and out of fold, as a sentence and as figures."""
    whole = ~np.isnan(values).any(axis=1)
    counted = (-1 if lower else 1) * values[whole]
    if len(counted) < _LEAST or values.shape[1] < 2:
        return [], {}
    kept = [queries[place] for place in np.flatnonzero(whole).tolist()]
    folds: Mapping[str, int] = draw_folds(kept, _FOLDS, seed)
    found = selection_gain(counted, np.array([folds[query] for query in kept], dtype=np.int64), baseline)
    (bounds,) = paired_bootstrap([Differences(found.out_of_fold)], studentised=True, seed=seed)
    mean = float(found.out_of_fold.mean())
    low, high = bounds.interval or (None, None)
    ends = f" [{figure_text(low, unit, signed=True)}, {figure_text(high, unit, signed=True)}]" if low is not None else ""
    sentence = (
        f"the best of {len(names)} settings by {label} is {names[found.best]}: its gain over {names[baseline]} is "
        f"{figure_text(found.apparent, unit, signed=True)} on the queries that chose it, and "
        f"{figure_text(mean, unit, signed=True)}{ends} on queries left out ({_FOLDS} folds)"
    )
    row = {"measure": label, "best": names[found.best], "baseline": names[baseline], "apparent": found.apparent}
    return [sentence], row | {"out_of_fold": mean, "ci_low": low, "ci_high": high, "folds": _FOLDS}
