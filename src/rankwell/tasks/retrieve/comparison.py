"""The settings of an engine side by side: what is chosen among them, and a row for each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.conventions import LabelledMeasure
from rankwell.core.display import Heading
from rankwell.core.exact import exact_mean
from rankwell.core.tables import Floats, Values, figure
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
        self._labels = [measured.settings.label(place) or name for place, name in enumerate(names)]
        self.verdicts: list[str] = []
        self.best: BestSettings | None = None
        self.cheapest: CheapestSetting | None = None
        if self._options.recall is not None and recalls:
            self.cheapest = self._cheapest(self._options.recall)
            self.verdicts.append(self.cheapest.sentence)
        first = next(
            (each for each in measures if each.measure.entry.better in ("higher", "lower")), None
        )
        if first is not None and len(names) > 1:
            self.best = self._best(first)
            self.verdicts += [] if self.best is None else [self.best.sentence]
        if not self.verdicts and len(names) > 1:
            self.verdicts += self._range()

    def _cheapest(self, target: float) -> CheapestSetting:
        """The choice by recall."""
        settings, cost = self._measured.settings, self._options.cost
        known = [each.by_name[cost].value if cost in each.by_name else None for each in self._costs]
        grid = len(settings.varying) > 1
        recalls = self._recalls["distance"]
        return choices.cheapest(
            recalls, self._labels, known, target, cost, grid=grid, seed=self._options.seed
        )

    def _best(self, first: LabelledMeasure) -> BestSettings | None:
        """The set of the best, and the gain of the best, by the first measure of quality."""
        own = [each for each in self._quality if each.measure == str(first.measure)]
        return choices.best_settings(
            np.column_stack([each.values for each in own]),
            own[0].queries,
            self._labels,
            first.label,
            own[0].unit,
            self._baseline(),
            lower=first.measure.entry.better == "lower",
            seed=self._options.seed,
        )

    def _range(self) -> list[str]:
        """A sentence on the worst and the best setting where nothing is chosen."""
        rows, label = self.table(), next((each.label for each in self._quality), None)
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
        unit = next((each.unit for each in self._quality), "share")
        return [
            f"{label} is {figure(min(means), unit)} to {figure(max(means), unit)}, over "
            f"{len(rows)} settings."
        ]

    def _baseline(self) -> int:
        """The setting with the engine's defaults; the first where none has them."""
        settings = self._measured.settings
        defaults = {each.name: each.default for each in self._measured.family.parameters}
        for place in range(len(settings.settings)):
            if all(defaults.get(name) == value for name, value in settings.values(place).items()):
                return place
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
        found: dict[str, Any] = {}
        if self.best is not None:
            found["best"] = [
                name for name, each in zip(self._names, self.best.is_best, strict=True) if each
            ]
        if self.cheapest is not None:
            found["target"] = self._options.recall
            found["cheapest"] = (
                [] if self.cheapest.place is None else [self._names[self.cheapest.place]]
            )
        return found

    def parameters(self) -> list[dict[str, Any]]:
        """A row for each setting: its parameters, tried ones and those of its session, and the
        choices among all settings.

        choices: `best`, `accepted`, `cheapest`, `baseline`. others: processors that other processes
        used, where that is too much.
        """
        measured, rows = self._measured, list[dict[str, Any]]()
        baseline = None if self.best is None else self.best.gain["baseline"]
        for place, name in enumerate(self._names):
            reports = measured.reports(place, measured.rounds)
            described = reports[-1].described if reports else {}
            known = {
                "engine": measured.traits.name,
                **described.get("build", {}),
                **described.get("search", {}),
            }
            chosen = {
                "best": self.best is not None and self.best.is_best[place],
                "accepted": self.cheapest is not None and self.cheapest.words[place] == "accepted",
                "cheapest": self.cheapest is not None and self.cheapest.place == place,
                "baseline": self._labels[place] == baseline,
            }
            row = {
                "run": name,
                "tried": list(measured.settings.varying),
                "values": known | measured.settings.values(place),
            }
            rows.append(
                row
                | {
                    "choices": [word for word, each in chosen.items() if each],
                    "others": self._costs[place].others,
                }
            )
        return rows

    def table(self) -> list[dict[str, Any]]:
        """A row for each setting: quality, recall with its lower bound, costs that are known, and
        whether it was chosen.
        """
        rows: list[dict[str, Any]] = []
        for place, name in enumerate(self._names):
            row: dict[str, Any] = {"run": name}
            for each in self._quality:
                if each.run == name:
                    row[Heading(each.label)] = (
                        exact_mean(each.values[each.counted]) if each.counted.any() else None
                    )
            if self._recalls:
                known = self._recalls["distance"][place]
                known = known[~np.isnan(known)]
                label = recall_names(self._options.k, "distance")[1]
                row[label] = exact_mean(known) if len(known) else None
                row[f"{label} at least"] = (
                    interval(known, seed=self._options.seed)[0] if len(known) else None
                )
            rows.append(row | self._cost_cells(place) | self._choice_cells(place))
        return rows

    def _cost_cells(self, place: int) -> dict[str, Any]:
        """The costs of a setting, those that any setting has; beside percentiles what other
        processes took meanwhile.
        """
        cells: dict[str, Any] = {}
        for cost in COSTS:
            known = [each.by_name[cost] for each in self._costs if cost in each.by_name]
            # Settings that share a session have one first request.
            if len(known) == len(self._costs) and any(each.value is not None for each in known):
                own = self._costs[place].by_name.get(cost)
                cells[f"{label_of(cost, self._measured)} ({known[0].unit})"] = (
                    None if own is None else own.value
                )
        if any(each.others is not None for each in self._costs):
            share = self._costs[place].others
            cells["other processes (%)"] = None if share is None else 100 * share
        return cells

    def _choice_cells(self, place: int) -> dict[str, str]:
        cells: dict[str, str] = {}
        if self.best is not None:
            cells["best"] = "best" if self.best.is_best[place] else ""
        if self.cheapest is not None:
            cells["recall"] = self.cheapest.words[place]
        return cells
