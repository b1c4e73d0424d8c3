"""A note where a measure takes all relevant grades alike, as sentence-transformers' nDCG does, and their weights would matter."""

from collections.abc import Iterable

import numpy as np

from rankwell.conventions import LabelledMeasure
from rankwell.core.exact import exact_mean
from rankwell.core.tables import Bools, Floats, figure
from rankwell.evaluation.judged import JudgedRun


class GradeWeights:
    """The means of runs by measures with binary gains, and by the same measures with the grades as gains.

    measures: all of an evaluation. grades: of the judgments; with one relevant grade both means are equal, and none are kept.
    """

    def __init__(self, measures: Iterable[LabelledMeasure], grades: Floats) -> None:
        binary = [each for each in measures if each.measure.parameters.get("dcg") == "binary-log2"]
        self._levels = np.unique(grades[grades >= 1]) if binary else np.empty(0)
        self._measures = binary if len(self._levels) > 1 else []
        self._means: dict[str, dict[str, tuple[float, float]]] = {each.label: {} for each in self._measures}

    def add(self, run: JudgedRun, counted: Bools) -> None:
        """Measures one run. counted: (queries,) those in the means."""
        for each in self._measures:
            both = (each.measure, each.measure.with_parameters(dcg="log2"))
            alike, weighed = (exact_mean(run.measured(measure).values[counted]) for measure in both)
            self._means[each.label][run.name] = alike, weighed

    @property
    def notes(self) -> list[str]:
        """A note for each of the measures: which run leads, by both, or the mean of the only run."""
        notes = list[str]()
        for each in self._measures:
            means, weighing = self._means[each.label], each.measure.with_parameters(dcg="log2")
            first, other = (max(means, key=lambda name, place=place: means[name][place]) for place in (0, 1))
            value = figure(means[other][1], weighing.entry.unit)
            leads = f"{first} leads; {other} leads" if first != other else f"the mean of {other} is {value}"
            what = f"{each.label} takes the grades {self._levels[0]:g} to {self._levels[-1]:g} alike"
            notes.append(f"{what}: {leads} by {weighing} of other conventions, which weighs them")
        return notes
