"""A note where a measure takes all relevant grades alike, as sentence-transformers' nDCG does, and
their weights would matter.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.conventions import LabelledMeasure
from rankwell.core.exact import exact_mean
from rankwell.core.tables import Bools, Floats, figure
from rankwell.evaluation.judged import JudgedRun


class GradeWeights:
    """The means of runs by measures with binary gains, and by the same measures with the grades as
    gains.

    measures: all of an evaluation. grades: of the judgments; with one relevant grade both means are
    equal, and none are kept.
    """

    def __init__(self, measures: Iterable[LabelledMeasure], grades: Floats) -> None:
        binary = [each for each in measures if each.measure.parameters.get("dcg") == "binary-log2"]
        self._levels = np.unique(grades[grades >= 1]) if binary else np.empty(0)
        self._measures = binary if len(self._levels) > 1 else []
        self._means: dict[str, dict[str, tuple[float, float]]] = {
            each.label: {} for each in self._measures
        }

    def add(self, run: JudgedRun, counted: Bools) -> None:
        """Measures one run. counted: (queries,) those in the means."""
        for each in self._measures:
            both = (each.measure, each.measure.with_parameters(dcg="log2"))
            alike, weighed = (exact_mean(run.measured(measure).values[counted]) for measure in both)
            self._means[each.label][run.name] = alike, weighed

    @property
    def described(self) -> dict[str, Any]:
        """The grades, the weighing measure and the means of runs by label, for `notes_on_weights`;
        empty where there are none.
        """
        found: dict[str, Any] = {}
        for each in self._measures:
            weighing = each.measure.with_parameters(dcg="log2")
            grades = [float(self._levels[0]), float(self._levels[-1])]
            means = {name: list(both) for name, both in self._means[each.label].items()}
            found[each.label] = {
                "grades": grades,
                "by": str(weighing),
                "unit": weighing.entry.unit,
                "means": means,
            }
        return found


def notes_on_weights(described: Mapping[str, Any]) -> list[str]:
    """A note for each of the measures of `GradeWeights.described`: which run leads, by both, or the
    mean of the only run.
    """
    notes = list[str]()
    for label, each in described.items():
        means, (low, high) = each["means"], each["grades"]
        first, other = (
            max(means, key=lambda name, place=place: means[name][place]) for place in (0, 1)
        )
        value = figure(means[other][1], each["unit"])
        leads = (
            f"{first} leads; {other} leads" if first != other else f"the mean of {other} is {value}"
        )
        what = f"{label} takes the grades {low:g} to {high:g} alike"
        notes.append(f"{what}: {leads} by {each['by']} of other conventions, which weighs them")
    return notes


def joined_weights(
    described: Sequence[Mapping[str, Any]], names: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """The descriptions of several results as one, for the measures that all of them have, with the
    runs under other names.

    names: of each result the names of its runs here.
    """
    joined: dict[str, Any] = {}
    for label in (label for label in described[0] if all(label in each for each in described)):
        parts = [each[label] for each in described]
        lows, highs = zip(*(each["grades"] for each in parts), strict=True)
        means = {
            renamed[run]: both
            for each, renamed in zip(parts, names, strict=True)
            for run, both in each["means"].items()
            if run in renamed
        }
        if means and len({each["by"] for each in parts}) == 1:
            joined[label] = {**parts[0], "grades": [min(lows), max(highs)], "means": means}
    return joined
