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
        binary = [
            labelled_measure
            for labelled_measure in measures
            if labelled_measure.measure.parameters.get("dcg") == "binary-log2"
        ]
        self._levels = np.unique(grades[grades >= 1]) if binary else np.empty(0)
        self._measures = binary if len(self._levels) > 1 else []
        self._means: dict[str, dict[str, tuple[float, float]]] = {
            labelled_measure.label: {} for labelled_measure in self._measures
        }

    def add(self, run: JudgedRun, counted: Bools) -> None:
        """Measures one run. counted: (queries,) those in the means."""
        for labelled_measure in self._measures:
            variants = (
                labelled_measure.measure,
                labelled_measure.measure.with_parameters(dcg="log2"),
            )
            binary, graded = (
                exact_mean(run.evaluate(measure).values[counted]) for measure in variants
            )
            self._means[labelled_measure.label][run.name] = binary, graded

    @property
    def described(self) -> dict[str, Any]:
        """The grades, the weighing measure and the means of runs by label, for `notes_on_weights`;
        empty where there are none.
        """
        descriptions: dict[str, Any] = {}
        for labelled_measure in self._measures:
            weighing = labelled_measure.measure.with_parameters(dcg="log2")
            grades = [float(self._levels[0]), float(self._levels[-1])]
            means = {
                name: list(mean_pair)
                for name, mean_pair in self._means[labelled_measure.label].items()
            }
            descriptions[labelled_measure.label] = {
                "grades": grades,
                "by": str(weighing),
                "unit": weighing.entry.unit,
                "means": means,
            }
        return descriptions


def notes_on_weights(described: Mapping[str, Any]) -> list[str]:
    """A note for each of the measures of `GradeWeights.described`: which run leads, by both, or the
    mean of the only run.
    """
    notes = list[str]()
    for label, description in described.items():
        means, (low, high) = description["means"], description["grades"]
        binary_leader, graded_leader = (
            max(means, key=lambda name, position=position: means[name][position])
            for position in (0, 1)
        )
        value = figure(means[graded_leader][1], description["unit"])
        leads = (
            f"{binary_leader} leads; {graded_leader} leads"
            if binary_leader != graded_leader
            else f"the mean of {graded_leader} is {value}"
        )
        statement = f"{label} takes the grades {low:g} to {high:g} alike"
        notes.append(
            f"{statement}: {leads} by {description['by']} of other conventions, which weighs them"
        )
    return notes


def joined_weights(
    described: Sequence[Mapping[str, Any]], names: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """The descriptions of several results as one, for the measures that all of them have, with the
    runs under other names.

    names: of each result the names of its runs here.
    """
    merged: dict[str, Any] = {}
    for label in (label for label in described[0] if all(label in result for result in described)):
        parts = [result[label] for result in described]
        lows, highs = zip(*(part["grades"] for part in parts), strict=True)
        means = {
            renamed[run]: mean_pair
            for part, renamed in zip(parts, names, strict=True)
            for run, mean_pair in part["means"].items()
            if run in renamed
        }
        if means and len({part["by"] for part in parts}) == 1:
            merged[label] = {**parts[0], "grades": [min(lows), max(highs)], "means": means}
    return merged
