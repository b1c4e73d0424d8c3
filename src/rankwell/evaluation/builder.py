"""Collects what judged runs come to, measure by measure, and makes results of it."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.core.registry import Measure
from rankwell.core.tables import Bools, Floats
from rankwell.core.tables.values import Summary, Values
from rankwell.evaluation.judged import JudgedRun
from rankwell.evaluation.results import Results
from rankwell.stats import Intervals
from rankwell.stats.summaries import figure_of

DETAIL_DEPTH = 20
"""How many first items of each query the detail rows hold."""


class Progress(NamedTuple):
    """Reports progress under the name of one run."""

    report: Callable[[str, int, int], None]
    name: str

    def __call__(self, done: int, total: int) -> None:
        """Reports how much of a run is done."""
        self.report(self.name, done, total)

    @classmethod
    def of(cls, report: Callable[[str, int, int], None] | None, name: str) -> "Progress | None":
        """The reporter of a run, None without a listener."""
        return None if report is None else cls(report, name)


def summary_of(measure: Measure, convention: Convention) -> Summary:
    """The measure's summary over queries, or the mean where the convention averages what others add up."""
    return "mean" if measure.name in convention.averaged else measure.entry.summary


class ResultsBuilder:
    """The values, row attributes, counts and notes of all runs so far.

    keep_uncounted: whether a query that does not count stays in the table of values, as NaN.
    """

    def __init__(self, convention: Convention, *, keep_uncounted: bool = True) -> None:
        self.convention, self._keep = convention, keep_uncounted
        self.values: list[Values] = []
        self.row_attributes: list[Mapping[str, Any]] = []
        self.notes: list[str] = []
        self.counts: dict[str, dict[str, Any]] = {}
        self.in_input_order: dict[str, None] = {}

    def add(self, run: JudgedRun, measures: Iterable[LabelledMeasure], counted: Bools) -> None:
        """Adds the values of a run by every measure, with ceiling and chance where the run has reference levels.

        counted: (queries,) which queries count.
        """
        unknown: dict[str, list[str]] = {}
        for each in measures:
            mine = run.counted_by(each.measure, counted)
            self._add_values(run, each, mine)
            if run.levels is None:
                continue
            ceiling, chance = run.ceiling(each.measure, mine), run.chance(each.measure)
            if ceiling.reason:
                unknown.setdefault(ceiling.reason, []).append(each.label)
            weights = run.weights(each.measure)
            self.row_attributes.append({**run.attributes, **self._levels(each, mine, weights, ceiling.values, chance)})
        direction = run.attributes.get("direction", run.name)
        self.notes += [f"{direction}: no ceiling of {', '.join(labels)}: {reason}" for reason, labels in unknown.items()]

    def _add_values(self, run: JudgedRun, each: LabelledMeasure, counted: Bools) -> None:
        found, source, in_input_order = run.measured(each.measure)
        if in_input_order:
            self.in_input_order[str(each.measure)] = None
            self.notes.append(f"{each.measure} has no closed form under random order of ties; {run.tied_items}")
        queries, weights = run.view.queries, run.weights(each.measure)
        if source is not None:
            queries, counted = tuple(queries[query] for query in source.tolist()), counted[source]
        scale, unit = self.convention.shows(each.measure.entry.unit)
        values: Floats = found * scale
        if self._keep:
            values[~counted] = float("nan")
        elif not counted.all():
            queries, values = tuple(itertools.compress(queries, counted.tolist())), values[counted]
            weights = None if weights is None else weights[counted]
        summary = summary_of(each.measure, self.convention)
        self.values.append(Values(run.name, str(each.measure), each.label, unit, summary, tuple(queries), values, weights))

    def _levels(
        self, each: LabelledMeasure, counted: Bools, weights: Floats | None, ceiling: Floats | None, chance: Floats | None
    ) -> dict[str, float | None]:
        """Ceiling and chance in the unit of the mean, over the counted queries."""
        scale, _ = self.convention.shows(each.measure.entry.unit)
        summary, kept = summary_of(each.measure, self.convention), None if weights is None else weights[counted]
        return {
            name: None if level is None else figure_of(level[counted] * scale, summary, kept)
            for name, level in (("ceiling", ceiling), ("chance", chance))
        }

    def results(
        self,
        *,
        rules: Mapping[str, Any],
        measures: Sequence[LabelledMeasure],
        notes: Iterable[str],
        intervals: Intervals,
        seed: int,
        **further: Any,
    ) -> Results:
        """The results. notes: those of the whole, in order, each once. further: the other fields of `Results`."""
        return Results(
            values=tuple(self.values),
            row_attributes=tuple(self.row_attributes),
            rules=rules,
            measures=tuple(measures),
            notes=tuple(dict.fromkeys(notes)),
            intervals=intervals,
            seed=seed,
            population_sd=self.convention.population_sd,
            **further,
        )
