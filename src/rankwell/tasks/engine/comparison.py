"""The settings of an engine side by side: the cheapest that reaches a recall, the set of the best,
the gain of the best out of fold, and a row for each.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import compress
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from rankwell.comparison.fusion.runs import draw_folds
from rankwell.conventions import LabelledMeasure
from rankwell.data.frames import Heading
from rankwell.data.tables import Floats, Values, exact_mean, format_value
from rankwell.stats.paired_bootstrap import Differences, paired_bootstrap
from rankwell.stats.paired_tests import set_of_best
from rankwell.stats.settings import ERROR, exceeds_p, interval, lower_bound, selection_gain
from rankwell.stats.system_comparisons import fixed_sequence, holm
from rankwell.tasks.engine.costs import COSTS, SettingCosts, label_of
from rankwell.tasks.engine.measuring import AskedSetting, Measurement

_FOLDS = 10
_LEAST = 20


def recall_names(k: int, by: str) -> tuple[str, str]:
    """The exact name and the label of the recall against exact search, by `distance` or by
    `ids`.
    """
    name = f"Recall@{k}"
    return (name, name) if by == "distance" else (f"{name}(by='ids')", f"{name} (ids)")


class SettingResult(NamedTuple):
    """The results of a setting.

    asked: the requests of the setting.
    quality: the values of every measure; empty without judgments.
    recalls: `distance` and `ids` -> (queries,) shares of the exact results, NaN for a query without
        any; empty where exact results are unknown.
    costs: times and other costs of the setting.
    """

    asked: AskedSetting
    quality: Sequence[Values]
    recalls: Mapping[str, Floats]
    costs: SettingCosts

    def counted_recalls(self, by: str) -> Floats:
        """The recall of the queries that have one."""
        return self.recalls[by][~np.isnan(self.recalls[by])]


class SettingsChosen:
    """Choices among the settings of an engine: sentences, a table of all settings, and what they
    are made of.
    """

    def __init__(
        self,
        measures: Sequence[LabelledMeasure],
        measured: Measurement,
        settings: Sequence[SettingResult],
    ) -> None:
        self._measured, self._settings, self._options = measured, settings, measured.options
        self._labels = [
            measured.settings.label(asked.setting) or asked.name for asked in measured.by_setting
        ]
        self.best: BestSettings | None = None
        self.cheapest: CheapestSetting | None = None
        options = self._options
        if options.recall is not None and settings[0].recalls:
            self.cheapest = cheapest(
                [setting.counted_recalls("distance") for setting in settings],
                self._labels,
                [setting.costs.value(options.cost) for setting in settings],
                options.recall,
                options.cost,
                grid=len(measured.settings.varying) > 1,
                seed=options.seed,
            )
        for number, labelled in enumerate(measures):
            better = labelled.measure.entry.better
            if better in ("higher", "lower"):
                values = [setting.quality[number] for setting in settings]
                self.best = best_settings(
                    np.column_stack([setting_values.values for setting_values in values]),
                    values[0].queries,
                    self._labels,
                    labelled.label,
                    values[0].unit,
                    self._baseline(),
                    lower=better == "lower",
                    seed=options.seed,
                )
                break
        choices = (self.cheapest, self.best)
        self.verdicts = [choice.sentence for choice in choices if choice is not None]
        if not self.verdicts and len(settings) > 1:
            self.verdicts += self._range()

    def _range(self) -> Iterator[str]:
        """A sentence on the worst and the best setting where nothing is chosen."""
        first, rows = self._settings[0], self.table()
        label, unit = recall_names(self._options.depth, "distance")[1], "share"
        if first.quality:
            label, unit = first.quality[0].label, first.quality[0].unit
        means = [row[label] for row in rows if row.get(label) is not None]
        if means:
            yield (
                f"{label} is {format_value(min(means), unit)} to "
                f"{format_value(max(means), unit)}, over {len(rows)} settings."
            )

    def _baseline(self) -> int:
        """The setting with the engine's defaults; the first where none has them."""
        defaults = {
            parameter.name: parameter.default for parameter in self._measured.family.parameters
        }
        for number, setting in enumerate(self._measured.settings.settings):
            if all(defaults.get(name) == value for name, value in setting.values.items()):
                return number
        return 0

    def _cheapest(self) -> int | None:
        """The cheapest setting that reaches the recall, or else of those as good as the best."""
        if self.cheapest is not None:
            return self.cheapest.setting
        costs = [setting.costs.value(self._options.cost) for setting in self._settings]
        is_best = () if self.best is None else self.best.is_best
        known = [
            (cost, number)
            for number, (cost, best) in enumerate(zip(costs, is_best, strict=False))
            if best and cost is not None
        ]
        return min(known)[1] if len(known) > 1 else None

    def marks(self) -> dict[str, Any]:
        """The rule by which a chart marks settings: the set of the best, the cheapest, and the
        recall that it reaches.
        """
        marks: dict[str, Any] = {}
        names = [setting.asked.name for setting in self._settings]
        if self.best is not None:
            marks["best"] = list(compress(names, self.best.is_best))
        if self.cheapest is not None:
            setting = self.cheapest.setting
            marks["target"] = self._options.recall
            marks["cheapest"] = [] if setting is None else [names[setting]]
        return marks

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The tables beside the summary: verdicts, with the runs of the baseline and of the best
        setting where they are two, settings, their parameters, and the gain of the best.
        """
        gain = None if self.best is None else self.best.gain
        pair: dict[str, str] = {}
        if gain is not None and gain["best"] != gain["baseline"]:
            for word, label in (("a", gain["baseline"]), ("b", gain["best"])):
                pair[word] = self._settings[self._labels.index(label)].asked.name
        return {
            "verdicts": [{"text": text} | pair for text in self.verdicts],
            "settings": self.table(),
            "parameters": [*map(self._parameters, self._settings)],
            "gain": [] if gain is None else [gain],
        }

    def _parameters(self, setting: SettingResult) -> dict[str, Any]:
        """The row of a setting: its parameters, tried ones and those of its session, and the
        choices among all settings.

        choices: `best`, `accepted`, `cheapest`, `baseline`. others: processors that other processes
        used, where that is too much.
        """
        asked, measured, choices = setting.asked, self._measured, list[str]()
        if self.best is not None and self.best.is_best[asked.number]:
            choices.append("best")
        if self.cheapest is not None and self.cheapest.words[asked.number] == "accepted":
            choices.append("accepted")
        if asked.number == self._cheapest():
            choices.append("cheapest")
        if self.best is not None and self.best.gain["baseline"] == self._labels[asked.number]:
            choices.append("baseline")
        values = {
            "engine": measured.traits.name,
            **asked.described.get("build", {}),
            **asked.described.get("search", {}),
        }
        return {
            "run": asked.name,
            "tried": list(measured.settings.varying),
            "values": {**values, **asked.setting.values},
            "choices": choices,
            "others": setting.costs.busy_processors,
        }

    def table(self) -> list[dict[str, Any]]:
        """A row for each setting: quality, recall with its lower bound, costs that are known, and
        whether it was chosen.
        """
        rows: list[dict[str, Any]] = []
        for setting in self._settings:
            row: dict[str, Any] = {"run": setting.asked.name}
            for values in setting.quality:
                counted = values.values[values.counted]
                row[Heading(values.label)] = exact_mean(counted) if len(counted) else None
            if setting.recalls:
                recalls = setting.counted_recalls("distance")
                label = recall_names(self._options.depth, "distance")[1]
                row[label] = exact_mean(recalls) if len(recalls) else None
                row[f"{label} at least"] = (
                    interval(recalls, seed=self._options.seed)[0] if len(recalls) else None
                )
            row |= self._cost_cells(setting.costs)
            if self.best is not None:
                row["best"] = "best" if self.best.is_best[setting.asked.number] else ""
            if self.cheapest is not None:
                row["recall"] = self.cheapest.words[setting.asked.number]
            rows.append(row)
        return rows

    def _cost_cells(self, setting_costs: SettingCosts) -> dict[str, Any]:
        """The costs of a setting, those that any setting has; beside percentiles what other
        processes took meanwhile.
        """
        all_costs, cells = [setting.costs for setting in self._settings], dict[str, Any]()
        for cost in COSTS:
            # Settings that share a session have one first request.
            if all(cost in costs.by_name for costs in all_costs) and any(
                costs.value(cost) is not None for costs in all_costs
            ):
                unit = setting_costs.by_name[cost].unit
                cells[f"{label_of(cost, self._measured)} ({unit})"] = setting_costs.value(cost)
        if any(costs.busy_processors is not None for costs in all_costs):
            share = setting_costs.busy_processors
            cells["other processes (%)"] = None if share is None else 100 * share
        return cells


class CheapestSetting(NamedTuple):
    """The cheapest setting that reaches a recall.

    setting: number of the setting; None where no setting reaches the recall, or where no such
        setting has a known cost.
    words: for each setting `accepted` or `rejected`.
    sentence: the result in words.
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
    """The cheapest setting whose recall exceeds the target.

    recalls: the recalls of queries that have one, by setting, in the order of the sweep.

    With one parameter the settings are tested from the last, the most expensive, down to the first
    failure; with several (`grid`) all of them, with Holm's correction.
    """
    p = [exceeds_p(setting_recalls, target, seed=seed) for setting_recalls in recalls]
    adjusted = holm(p) if grid else fixed_sequence(p[::-1])[::-1]
    passed = [p_value <= ERROR for p_value in adjusted]
    words = ["accepted" if is_accepted else "rejected" for is_accepted in passed]
    how = "Holm" if grid else "tested from the last setting down"

    def _bound(setting: int, tests: int) -> float:
        """The lower bound at the level of one of so many tests, which is on the same side of the
        target as that test.
        """
        return lower_bound(recalls[setting], tests=tests, seed=seed)

    if not any(passed):
        if grid or len(p) == 1:
            bound = max(_bound(setting, len(p)) for setting in range(len(p)))
            shortfall = f"the best lower bound is {bound:.4f}"
        else:
            # The sequence ends with the first failure, so that the settings before it are not
            # tested.
            shortfall = f"the lower bound of {names[-1]} is {_bound(len(p) - 1, 1):.4f}"
        sentence = f"No setting reaches a recall of {target:g}, {shortfall} ({how})."
        return CheapestSetting(None, words, sentence)
    known_costs = [
        (setting_cost, setting)
        for setting, (setting_cost, is_accepted) in enumerate(zip(costs, passed, strict=True))
        if is_accepted and setting_cost is not None
    ]
    if not known_costs:
        sentence = (
            f"{sum(passed)} of {len(names)} settings reach a recall of {target:g} ({how}), their "
            f"{cost} is not known."
        )
        return CheapestSetting(None, words, sentence)
    best = max if cost == "throughput" else min
    _, setting = best(known_costs, key=itemgetter(0))
    bound = _bound(setting, sum(p_value >= p[setting] for p_value in p) if grid else 1)
    sentence = (
        f"The cheapest setting with a recall of {target:g} by {cost} is {names[setting]}, its "
        f"lower bound is {bound:.4f} ({how})."
    )
    return CheapestSetting(setting, words, sentence)


class BestSettings(NamedTuple):
    """The settings that no other is significantly better than.

    is_best: whether each setting is one of them.
    gain: gain of the best setting over a baseline, apparent and out of fold with its interval, as a
        row of a table.
    sentence: the result in words.
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
    fold_of_row = np.array([folds[query] for query in complete_queries], dtype=np.int64)
    selection = selection_gain(counted, fold_of_row, baseline)
    (bounds,) = paired_bootstrap([Differences(selection.out_of_fold)], studentised=True, seed=seed)
    mean = exact_mean(selection.out_of_fold)
    low, high = bounds.interval or (None, None)
    gain = {
        "measure": label,
        "best": names[selection.best],
        "baseline": names[baseline],
        "apparent": selection.apparent,
        "out_of_fold": mean,
        "ci_low": low,
        "ci_high": high,
        "folds": _FOLDS,
    }
    sentence = (
        f"{sum(is_best)} of {len(names)} settings {'is' if sum(is_best) == 1 else 'are'} "
        f"indistinguishable from the best by {label}, {names[selection.best]}"
    )
    if selection.best == baseline:
        return BestSettings(is_best, gain, f"{sentence}, which is the baseline.")
    signed = partial(format_value, unit=unit, signed=True)
    ends = "" if low is None or high is None else f" [{signed(low)}, {signed(high)}]"
    sentence += (
        f": it gains {signed(mean)}{ends} over {names[baseline]} out of fold, "
        f"{signed(selection.apparent)} on the queries that chose it."
    )
    return BestSettings(is_best, gain, sentence)
