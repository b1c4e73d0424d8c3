"""The settings of an engine side by side: what is chosen among them, and a row for each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.conventions import LabelledMeasure
from rankwell.core.tables import Floats, Values
from rankwell.stats.bounded_means import interval
from rankwell.tasks.retrieve import choices
from rankwell.tasks.retrieve.costs import COSTS, SettingCosts, label_of
from rankwell.tasks.retrieve.measuring import Measurement


def recall_names(k: int, by: str) -> tuple[str, str]:
    """The exact name and the label of the recall against exact search, by `distance` or by `ids`."""
    return (f"Recall@{k}", f"Recall@{k}") if by == "distance" else (f"Recall@{k}(by='ids')", f"Recall@{k} (ids)")


class SettingsChosen:
    """Choices among the settings of an engine, in words and by setting, and the table of all settings."""

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
        options = measured.options
        self.notes: list[str] = []
        self.gain: dict[str, Any] = {}
        self._best = self._accepted = [""] * len(names)
        cost = options.cost
        if options.recall is not None and recalls:
            known = [each.by_name[cost].value if cost in each.by_name else None for each in costs]
            found = choices.cheapest(
                recalls["distance"],
                names,
                known,
                options.recall,
                cost,
                grid=len(measured.settings.varying) > 1,
                seed=options.seed,
            )
            self.notes, self._accepted = [*self.notes, *found.sentences], found.words
        first = next((each for each in measures if each.measure.entry.better in ("higher", "lower")), None)
        if first is not None and len(names) > 1:
            self._choose(first)

    def _choose(self, first: LabelledMeasure) -> None:
        """The set of the best and the gain of the best by the first measure of quality."""
        own = [each for each in self._quality if each.measure == str(first.measure)]
        values, seed = np.column_stack([each.values for each in own]), self._options.seed
        lower, label = first.measure.entry.better == "lower", first.label
        found = choices.best_settings(values, self._names, label, lower=lower, seed=seed)
        self._best = found.words
        lines, self.gain = choices.gain_of_best(
            values, own[0].queries, self._names, label, own[0].unit, self._baseline(), lower=lower, seed=seed
        )
        self.notes += [*found.sentences, *lines]

    def _baseline(self) -> int:
        """The setting with the engine's defaults; the first where none has them."""
        settings = self._measured.settings
        defaults = {each.name: each.default for each in self._measured.family.parameters}
        for place, each in enumerate(settings.settings):
            own = {**settings.builds[each.build], **each.search}
            if all(defaults.get(name) == value for name, value in own.items()):
                return place
        return 0

    def table(self) -> list[dict[str, Any]]:
        """A row for each setting: quality, recall with its lower bound, costs, and whether it was chosen."""
        rows: list[dict[str, Any]] = []
        for place, name in enumerate(self._names):
            row: dict[str, Any] = {"run": name}
            for each in self._quality:
                if each.run == name:
                    row[each.label] = float(np.nanmean(each.values)) if len(each.values) else None
            if self._recalls:
                known = self._recalls["distance"][place]
                known = known[~np.isnan(known)]
                label = recall_names(self._options.k, "distance")[1]
                row[label] = float(known.mean()) if len(known) else None
                row[f"{label} at least"] = interval(known, seed=self._options.seed)[0] if len(known) else None
            for cost in COSTS:
                if any(cost in each.by_name for each in self._costs):
                    figure = self._costs[place].by_name.get(cost)
                    unit = next(each.by_name[cost].unit for each in self._costs if cost in each.by_name)
                    row[f"{label_of(cost, self._measured)} ({unit})"] = None if figure is None else figure.value
            for word, column in (("best", self._best), ("recall", self._accepted)):
                if any(column):
                    row[word] = column[place]
            rows.append(row)
        return rows
