"""The settings of an engine side by side: what is chosen among them, and a row for each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.conventions import LabelledMeasure
from rankwell.data.frames import Heading
from rankwell.data.tables import Floats, Values, exact_mean, figure
from rankwell.stats.bounded_means import interval
from rankwell.tasks.retrieve import choices
from rankwell.tasks.retrieve.choices import BestSettings, CheapestSetting
from rankwell.tasks.retrieve.costs import COSTS, SettingCosts, label_of
from rankwell.tasks.retrieve.measuring import Measurement


def recall_names(k: int, by: str) -> tuple[str, str]:
    """The exact name and the label of the recall against exact search, by `distance` or by
    `ids`.
    """
    return (
        (f"Recall@{k}", f"Recall@{k}")
        if by == "distance"
        else (f"Recall@{k}(by='ids')", f"Recall@{k} (ids)")
    )


class SettingsChosen:
    """Choices among the settings of an engine: sentences, a table of all settings, and what they
    are made of.
    """

    def __init__(
        self,
        measures: Sequence[LabelledMeasure],
        measured: Measurement,
        names: Sequence[str],
        quality: Sequence[Values],
        recalls: Mapping[str, Sequence[Floats]],
        costs: Sequence[SettingCosts],
    ) -> None:
        self._measured, self._names, self._quality = measured, names, quality
        self._recalls, self._costs, self._options = recalls, costs, measured.options
        self._labels = [
            measured.settings.label(setting) or name for setting, name in enumerate(names)
        ]
        self.verdicts: list[str] = []
        self.best: BestSettings | None = None
        self.cheapest: CheapestSetting | None = None
        if self._options.recall is not None and recalls:
            self.cheapest = self._cheapest(self._options.recall)
            self.verdicts.append(self.cheapest.sentence)
        first = next(
            (
                labelled
                for labelled in measures
                if labelled.measure.entry.better in ("higher", "lower")
            ),
            None,
        )
        if first is not None and len(names) > 1:
            self.best = self._best(first)
            self.verdicts += [] if self.best is None else [self.best.sentence]
        if not self.verdicts and len(names) > 1:
            self.verdicts += self._range()

    def _cheapest(self, target: float) -> CheapestSetting:
        """The choice by recall."""
        settings, cost = self._measured.settings, self._options.cost
        cost_values = [
            setting_costs.by_name[cost].value if cost in setting_costs.by_name else None
            for setting_costs in self._costs
        ]
        grid = len(settings.varying) > 1
        recalls = self._recalls["distance"]
        return choices.cheapest(
            recalls, self._labels, cost_values, target, cost, grid=grid, seed=self._options.seed
        )

    def _best(self, first: LabelledMeasure) -> BestSettings | None:
        """The set of the best, and the gain of the best, by the first measure of quality."""
        setting_values = [
            values for values in self._quality if values.measure == str(first.measure)
        ]
        return choices.best_settings(
            np.column_stack([values.values for values in setting_values]),
            setting_values[0].queries,
            self._labels,
            first.label,
            setting_values[0].unit,
            self._baseline(),
            lower=first.measure.entry.better == "lower",
            seed=self._options.seed,
        )

    def _range(self) -> list[str]:
        """A sentence on the worst and the best setting where nothing is chosen."""
        rows, label = self.table(), next((values.label for values in self._quality), None)
        label = (
            recall_names(self._options.k, "distance")[1]
            if label is None and self._recalls
            else label
        )
        means = (
            [row[label] for row in rows if row.get(label) is not None] if label is not None else []
        )
        if not means:
            return []
        unit = next((values.unit for values in self._quality), "share")
        return [
            f"{label} is {figure(min(means), unit)} to {figure(max(means), unit)}, over "
            f"{len(rows)} settings."
        ]

    def _baseline(self) -> int:
        """The setting with the engine's defaults; the first where none has them."""
        settings = self._measured.settings
        defaults = {
            parameter.name: parameter.default for parameter in self._measured.family.parameters
        }
        for setting in range(len(settings.settings)):
            if all(defaults.get(name) == value for name, value in settings.values(setting).items()):
                return setting
        return 0

    @property
    def pair(self) -> tuple[str, str] | None:
        """The runs of the baseline and of the best setting; None where they are one, or none is
        chosen.
        """
        if self.best is None or self.best.gain["best"] == self.best.gain["baseline"]:
            return None
        return self._run(self.best.gain["baseline"]), self._run(self.best.gain["best"])

    def _run(self, label: str) -> str:
        return self._names[self._labels.index(label)]

    def marks(self) -> dict[str, Any]:
        """The rule by which a chart marks settings: the set of the best, the cheapest, and the
        recall that it reaches.
        """
        marks: dict[str, Any] = {}
        if self.best is not None:
            marks["best"] = [
                name
                for name, is_best in zip(self._names, self.best.is_best, strict=True)
                if is_best
            ]
        if self.cheapest is not None:
            marks["target"] = self._options.recall
            marks["cheapest"] = (
                [] if self.cheapest.setting is None else [self._names[self.cheapest.setting]]
            )
        return marks

    def parameters(self) -> list[dict[str, Any]]:
        """A row for each setting: its parameters, tried ones and those of its session, and the
        choices among all settings.

        choices: `best`, `accepted`, `cheapest`, `baseline`. others: processors that other processes
        used, where that is too much.
        """
        measured, rows = self._measured, list[dict[str, Any]]()
        baseline = None if self.best is None else self.best.gain["baseline"]
        for setting, name in enumerate(self._names):
            reports = measured.reports(setting, measured.rounds)
            described = reports[-1].described if reports else {}
            values = {
                "engine": measured.traits.name,
                **described.get("build", {}),
                **described.get("search", {}),
            }
            choices = {
                "best": self.best is not None and self.best.is_best[setting],
                "accepted": self.cheapest is not None
                and self.cheapest.words[setting] == "accepted",
                "cheapest": self.cheapest is not None and self.cheapest.setting == setting,
                "baseline": self._labels[setting] == baseline,
            }
            row = {
                "run": name,
                "tried": list(measured.settings.varying),
                "values": values | measured.settings.values(setting),
            }
            rows.append(
                row
                | {
                    "choices": [word for word, holds in choices.items() if holds],
                    "others": self._costs[setting].busy_processors,
                }
            )
        return rows

    def table(self) -> list[dict[str, Any]]:
        """A row for each setting: quality, recall with its lower bound, costs that are known, and
        whether it was chosen.
        """
        rows: list[dict[str, Any]] = []
        for setting, name in enumerate(self._names):
            row: dict[str, Any] = {"run": name}
            for values in self._quality:
                if values.run == name:
                    row[Heading(values.label)] = (
                        exact_mean(values.values[values.counted]) if values.counted.any() else None
                    )
            if self._recalls:
                recalls = self._recalls["distance"][setting]
                recalls = recalls[~np.isnan(recalls)]
                label = recall_names(self._options.k, "distance")[1]
                row[label] = exact_mean(recalls) if len(recalls) else None
                row[f"{label} at least"] = (
                    interval(recalls, seed=self._options.seed)[0] if len(recalls) else None
                )
            rows.append(row | self._cost_cells(setting) | self._choice_cells(setting))
        return rows

    def _cost_cells(self, setting: int) -> dict[str, Any]:
        """The costs of a setting, those that any setting has; beside percentiles what other
        processes took meanwhile.
        """
        cells: dict[str, Any] = {}
        for cost in COSTS:
            figures = [
                setting_costs.by_name[cost]
                for setting_costs in self._costs
                if cost in setting_costs.by_name
            ]
            # Settings that share a session have one first request.
            if len(figures) == len(self._costs) and any(
                cost_figure.value is not None for cost_figure in figures
            ):
                figure_of_setting = self._costs[setting].by_name.get(cost)
                cells[f"{label_of(cost, self._measured)} ({figures[0].unit})"] = (
                    None if figure_of_setting is None else figure_of_setting.value
                )
        if any(setting_costs.busy_processors is not None for setting_costs in self._costs):
            share = self._costs[setting].busy_processors
            cells["other processes (%)"] = None if share is None else 100 * share
        return cells

    def _choice_cells(self, setting: int) -> dict[str, str]:
        cells: dict[str, str] = {}
        if self.best is not None:
            cells["best"] = "best" if self.best.is_best[setting] else ""
        if self.cheapest is not None:
            cells["recall"] = self.cheapest.words[setting]
        return cells
