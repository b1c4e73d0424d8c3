"""The results of every task: values with the rules that decided them, and the builder that collects
them from judged runs.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from rankwell import __version__
from rankwell.conventions import Convention, LabelledMeasure, Measures
from rankwell.data.catalogue import result_kind
from rankwell.data.findings import Finding, settled, unignored
from rankwell.data.findings.kinds import (
    no_ceiling,
    not_above_chance,
    ties_in_input_order,
    undefined_values,
)
from rankwell.data.options import CountProgress, NamedProgress, own_arithmetic, shown_digits
from rankwell.data.registry import Measure, suggest
from rankwell.data.tables import Bools, Floats, Summary, ValueRows, Values, positions_by_id
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.evaluation.bounds import UnjudgedItems
from rankwell.evaluation.judged import JudgedRun
from rankwell.stats import Intervals, SummaryRow, figure_of, summarise, summary_findings, told_apart
from rankwell.store import Source, unchanged

SCHEMA_VERSION = 2
RowAttributes = Mapping[str, Any]
"""Columns that distinguish values of one measure (`direction`)."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ResultData:
    """The values of every run and measure with their rules; summaries and intervals are computed
    when first read.

    values: one column of values of queries for each run and measure, in the order of the summary.
    rules: every choice that decided a number, by name, including `counts` (run -> count -> number)
        and `measures` (exact name -> definition).
    data_findings: findings on the data; `findings` has those on the summary, too.
    measures: the measures that have values, with their labels.
    row_attributes: further columns of the summary (`direction`, `k`, `ceiling`, `chance`), one
        mapping for each element of `values`, or none at all.
    query_columns: the names of those further columns that rows of single queries have, too.
    aggregates: complete summary rows of whole collections, which have no value per query.
    sources: name of an input -> the file that it was read from; data from memory are absent.
    formats: name of an input -> name of its format.
    left_out: run -> reason -> queries; None for a kind of result that does not list them.
    details: the columns of the file `details`; None where there is no such file.
    queries: the columns of the file `queries`; None where there is no such file.
    items: the columns of the file `items`; None where there is no such file.
    tables: the task's own tables, by name.
    unjudged: the unjudged items among the first of each query, where they are counted without
        details.
    intervals: the kind of interval around means.
    seed: decides the draw of the bootstrap.
    population_sd: whether standard deviations divide by n, not by n - 1.
    task: the kind of result, which decides the view of a page.
    by_query: whether the rows of single queries are listed query by query, not measure by measure.
    n_summarised: number of first elements of `values` that the summary sums up, where the
        aggregates stand for the others; None for all.
    check: function that returns findings on the computed summary.
    query_rows: function that adds the task's columns to the rows of single queries.
    answer: function that returns what a person reads first; None for the scores of all runs.
    """

    values: Sequence[Values]
    rules: Mapping[str, Any]
    data_findings: tuple[Finding, ...]
    measures: tuple[LabelledMeasure, ...] = ()
    row_attributes: tuple[RowAttributes, ...] = ()
    query_columns: tuple[str, ...] = ()
    aggregates: tuple[Mapping[str, Any], ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, Mapping[str, Sequence[str]]] | None = None
    details: Mapping[str, Sequence[Any]] | None = None
    queries: Mapping[str, Sequence[Any]] | None = None
    items: Mapping[str, Sequence[Any]] | None = None
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    unjudged: UnjudgedItems | None = None
    intervals: Intervals = "bootstrap-t"
    seed: int = 0
    population_sd: bool = False
    task: str = "runs"
    by_query: bool = False
    n_summarised: int | None = None
    check: Callable[[Any], Iterable[Finding]] | None = None
    query_rows: Callable[[Iterable[dict[str, Any]]], Iterable[dict[str, Any]]] | None = None
    answer: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        """Adds to the rules what every result chooses."""
        object.__setattr__(self, "rules", self.describe())

    def __getitem__(self, measure: str) -> Any:
        """The mean by a measure, named as in the table or exactly; of several runs a dictionary run
        -> mean.

        Raises UnknownName for a measure that is not among them, BadUsage where a run has several
        values of it.

        >>> import rankwell as rw
        >>> rw.evaluate({"q": {"a": 1}}, {"run": {"q": {"b": 2.0, "a": 1.0}}}, "RR")["RR"]
        0.5
        """
        rows = [
            row
            for row in self.summary
            if measure in (row["label"], row["measure"]) and row.get("against") is None
        ]
        if not rows:
            measure_names = dict.fromkeys(
                name for row in self.summary for name in (row["label"], row["measure"])
            )
            raise UnknownName(
                f"the results have no measure {measure!r}; {suggest(str(measure), measure_names)}"
            )
        means = {row["run"]: row["mean"] for row in rows}
        if len(means) < len(rows):
            raise BadUsage(f"a run has several values of {measure}; read them from .summary.")
        return means if len({row["run"] for row in self.summary}) > 1 else rows[0]["mean"]

    __iter__ = None
    """Results are not a sequence: what they hold is in `summary` and `per_query`."""

    @cached_property
    @own_arithmetic
    def summary(self) -> list[SummaryRow]:
        """One row per run and measure: mean, sd, interval and number of queries, then the further
        columns; runs in order.
        """
        rows = summarise(
            self.values[: self.n_summarised],
            intervals=self.intervals,
            seed=self.seed,
            population_sd=self.population_sd,
        )
        order = positions_by_id(dict.fromkeys(row.run for row in rows))
        # Of the values after the summarised ones the aggregates say all.
        attributes = self._attributes[: len(rows)]
        summary_rows = [
            *(
                SummaryRow(row | dict(columns))
                for row, columns in zip(rows, attributes, strict=True)
            ),
            *map(SummaryRow, self.aggregates),
        ]
        return sorted(summary_rows, key=lambda row: order.get(row["run"], len(order)))

    @property
    def counts(self) -> Mapping[str, Mapping[str, Any]]:
        """run -> count -> number: how many queries counted, and how many did not and why."""
        return self.rules.get("counts", {})

    @cached_property
    @own_arithmetic
    def findings(self) -> tuple[Finding, ...]:
        """Findings on the data and the summary, each with its `name`, `level` and `queries`; as a
        string, each is a sentence.
        """
        return unignored(
            [
                *self.data_findings,
                *summary_findings(
                    self.values[: self.n_summarised],
                    parts=self._parts(self._attributes)[: self.n_summarised],
                    intervals=self.intervals,
                    population_sd=self.population_sd,
                ),
                *self._below_chance(),
                *(() if self.check is None else self.check(self)),
            ]
        )

    def _parts(self, attributes: Sequence[RowAttributes]) -> list[str]:
        """What tells apart values of the same run and measure, such as the direction."""
        words = result_kind(self.task).parts
        return [
            ", ".join(
                words.get(of_value[name], str(of_value[name]))
                for name in self.query_columns
                if of_value.get(name)
            )
            for of_value in attributes
        ]

    def _below_chance(self) -> Iterator[Finding]:
        """The findings on runs whose interval is not wholly better than chance."""
        if not any("chance" in attributes for attributes in self.row_attributes):
            return
        numbers_by_run: dict[str, list[int]] = {}
        for number, row in enumerate(self.summary):
            chance, definition = row.get("chance"), self.rules["measures"].get(row["measure"], {})
            low, high = row["ci_low"], row["ci_high"]
            if chance is None or low is None or high is None:
                continue
            better = definition.get("better", "higher")
            if (better == "higher" and low <= chance) or (better == "lower" and high >= chance):
                numbers_by_run.setdefault(row["run"], []).append(number)
        names = [f"{row['run']} {row['label']}" for row in self.summary]
        parts = self._parts(self.summary)
        for run, numbers in numbers_by_run.items():
            labels = [name.removeprefix(f"{run} ") for name in told_apart(names, parts, numbers)]
            yield not_above_chance(run, labels)

    def per_query(self) -> Iterable[dict[str, Any]]:
        """One row per run, query and measure with the task's further columns; `value` is None where
        the query is not counted.
        """
        return self.value_rows() if self.query_rows is None else self.query_rows(self.value_rows())

    def value_rows(self) -> Iterable[dict[str, Any]]:
        """One row per run, query and measure without the task's further columns."""
        return ValueRows(self.values) if self.by_query else self._rows_by_measure()

    def _rows_by_measure(self) -> Iterable[dict[str, Any]]:
        for values, columns in zip(self.values, self.query_attributes, strict=True):
            for row in ValueRows([values]):
                yield {**row, **columns}

    def to_dict(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """The mapping run -> query -> measure -> value, measures as the table names them; None for
        an undefined value.

        `to_columns` has the summary and all other tables. Raises BadUsage where a run has several
        values of one measure.

        >>> import rankwell as rw
        >>> rw.evaluate(
        ...     {"q": {"a": 1}}, {"run": {"q": {"b": 2.0, "a": 1.0}}}, ["RR", "P@1"]
        ... ).to_dict()
        {'run': {'q': {'RR': 0.5, 'P@1': 0.0}}}
        """
        values_by_run: dict[str, dict[str, dict[str, float | None]]] = {}
        for row in self.per_query():
            values = values_by_run.setdefault(row["run"], {}).setdefault(row["query"], {})
            if row["label"] in values:
                raise BadUsage(
                    f"{row['run']} has several values of {row['label']} for a query; take "
                    ".to_columns('per_query')."
                )
            values[row["label"]] = row["value"]
        return values_by_run

    @property
    def query_attributes(self) -> tuple[RowAttributes, ...]:
        """The further columns of the rows of single queries, for each element of `values`."""
        return tuple(
            {name: columns[name] for name in self.query_columns} for columns in self._attributes
        )

    def score_table(self) -> Any:
        """The scores as a table of runs by measures; None where they make none."""
        return None

    def describe(self) -> dict[str, Any]:
        """The rules for JSON: every choice that decided a number, the definition of each measure,
        the version.
        """
        return {
            **self.rules,
            "intervals": self.intervals,
            "seed": self.seed,
            "version": __version__,
        }

    def manifest(self) -> dict[str, Any]:
        """The rules with the content hash of every input file, and the decimals that pages show
        where they were asked for.
        """
        inputs = {
            name: {"file": source.name, "digest": source.digest()}
            for name, source in self.sources.items()
        }
        has_left_out, digits = self.left_out is not None, shown_digits()
        return {
            "schema_version": SCHEMA_VERSION,
            **({} if has_left_out else {"protocol": self.task}),
            "rules": self.describe(),
            "inputs": inputs,
            **({"left_out": self.left_out} if has_left_out else {}),
            **({} if digits is None else {"digits": digits}),
            "findings": [finding.as_dict() for finding in self.findings],
        }

    @property
    def _attributes(self) -> tuple[RowAttributes, ...]:
        return self.row_attributes or ({},) * len(self.values)


AnyResults = TypeVar("AnyResults", bound=ResultData)

QUERIES_COUNTED = "queries_counted"
QUERIES_MISSING = "queries_missing"
QUERIES_UNKNOWN = "queries_unknown"
QUERIES_WITHOUT_RELEVANT = "queries_without_relevant"
QUERIES_TIED = "queries_tied"
QUERIES_MASKED = "queries_masked"
QUERIES_BEST_TIED = "queries_best_relevant_tied"


def counted_queries(
    queries: Sequence[str],
    bare: Bools,
    no_relevant: str,
    *,
    considered: Bools | None = None,
    refuse: Callable[[str, int], str],
) -> Bools:
    """Whether each query counts: (queries,). bare: those without anything relevant, for which
    `no_relevant` is the rule.

    considered: those that may count, None for all. refuse: the message for the first bare query and
    how many there are.
    Raises BadInput under `error`.
    """
    if no_relevant == "error" and bare.any():
        raise BadInput(refuse(queries[int(np.flatnonzero(bare)[0])], int(bare.sum())))
    counted = np.ones(len(bare), dtype=np.bool_) if considered is None else considered.copy()
    return counted & ~bare if no_relevant == "skip" else counted


DETAIL_DEPTH = 20
"""Number of first items of each query in the detail rows."""


def progress_of(report: NamedProgress | None, run: str) -> CountProgress | None:
    """The progress of one run, reported under its name; None without a listener."""
    return report and partial(report, run)


def summary_of(measure: Measure, convention: Convention) -> Summary:
    """The measure's summary over queries, or the mean where the convention averages what others add
    up.
    """
    return "mean" if measure.name in convention.averaged else measure.entry.summary


class ResultsBuilder:
    """The values, row attributes, counts and findings of all runs so far.

    keep_uncounted: whether a query that does not count stays in the table of values, as NaN.
    """

    def __init__(self, convention: Convention, *, keep_uncounted: bool = True) -> None:
        self.convention, self._keep = convention, keep_uncounted
        self.values: list[Values] = []
        self.row_attributes = list[RowAttributes]()
        self.findings: list[Finding] = []
        self.counts: dict[str, dict[str, Any]] = {}
        self.in_input_order: dict[str, None] = {}

    def add(self, run: JudgedRun, measures: Iterable[LabelledMeasure], counted: Bools) -> None:
        """Adds the values of a run over the counted queries, with ceiling and chance where the run
        has reference levels.
        """
        unknown: dict[str, list[str]] = {}
        for labelled in measures:
            counted_here = run.counted_by(labelled.measure, counted)
            self._add_values(run, labelled, counted_here)
            if run.levels is None:
                self.row_attributes += [run.attributes] if run.attributes else []
                continue
            measure = labelled.measure
            ceiling, weights = run.ceiling(measure, counted_here), run.weights(measure)
            if ceiling.reason:
                unknown.setdefault(ceiling.reason, []).append(labelled.label)
            if weights is not None:
                weights = weights[counted_here]
            scale, _ = self.convention.shows(measure.entry.unit)
            summary = summary_of(measure, self.convention)
            levels = {
                name: None
                if level is None
                else figure_of(level[counted_here] * scale, summary, weights)
                for name, level in (("ceiling", ceiling.values), ("chance", run.chance(measure)))
            }
            self.row_attributes.append({**run.attributes, **levels})
        direction = run.attributes.get("direction", run.name)
        self.findings += [
            no_ceiling(direction, labels, reason) for reason, labels in unknown.items()
        ]

    def _add_values(self, run: JudgedRun, each: LabelledMeasure, counted: Bools) -> None:
        values, source, in_input_order = run.evaluate(each.measure)
        if in_input_order:
            self.in_input_order[str(each.measure)] = None
            self.findings.append(ties_in_input_order(each.label, run.tied_items))
        queries, weights = run.view.queries, run.weights(each.measure)
        if source is not None:
            queries, counted = tuple(queries[query] for query in source.tolist()), counted[source]
        # A measure of one population of the queries, such as the answerable ones, is defined for no
        # others.
        if "population" not in each.measure.entry.parameters:
            self.find_undefined(run.name, each.label, np.isnan(values) & counted, queries)
        if self._keep:
            values = values.copy()
            values[~counted] = float("nan")
        elif not counted.all():
            queries, values = tuple(itertools.compress(queries, counted.tolist())), values[counted]
            weights = None if weights is None else weights[counted]
        self.keep(run.name, each.measure, each.label, queries, values, weights=weights)

    def keep(
        self,
        run: str,
        measure: Measure,
        label: str,
        queries: Sequence[str],
        values: Floats,
        *,
        name: str | None = None,
        weights: Floats | None = None,
    ) -> None:
        """Adds the values of a measure, in the convention's unit. name: the exact name, where the
        task's view has parameters.
        """
        scale, unit = self.convention.shows(measure.entry.unit)
        self.values.append(
            Values(
                run,
                name or str(measure),
                label,
                unit,
                summary_of(measure, self.convention),
                tuple(queries),
                values * scale,
                weights,
            )
        )

    def measure(self, run: str, measures: Iterable[LabelledMeasure], view: Any) -> None:
        """Adds the values of measures of a view, and finds where they are undefined."""
        for labelled in measures:
            values = labelled.measure(view)
            self.keep(run, labelled.measure, labelled.label, view.queries, values)
            self.find_undefined(run, labelled.label, np.isnan(values), view.queries)

    def rules(self, measures: Iterable[LabelledMeasure], options: Any) -> dict[str, Any]:
        """The rules that every task has. options: with `intervals` and `seed`."""
        return {
            "convention": self.convention.name,
            "intervals": options.intervals,
            "seed": options.seed,
            "sd": "population" if self.convention.population_sd else "sample",
            "counts": self.counts,
            "measures": {
                str(labelled.measure): self.definition(labelled.measure) for labelled in measures
            },
        }

    def find_undefined(
        self, run: str, label: str, undefined: Bools, queries: Sequence[str]
    ) -> None:
        """Adds the finding that a measure is undefined for some queries, where it is."""
        if undefined.any():
            without_value = list(itertools.compress(queries, undefined.tolist()))
            self.findings.append(
                undefined_values(run, label, len(without_value), len(undefined), without_value)
            )

    def ties(self, rule: str) -> str:
        """The tie rule in words: which measures, without a closed form under it, took tied items in
        the order of the input.
        """
        return (
            f"{rule}; input for {', '.join(self.in_input_order)}" if self.in_input_order else rule
        )

    def definition(self, measure: Measure) -> dict[str, str]:
        """The definition of a measure; `ties` where its rule is another than that of the rest."""
        tie_rule = {"ties": "input"} if str(measure) in self.in_input_order else {}
        return measure.entry.definition | tie_rule

    def results(
        self,
        kind: type[AnyResults],
        *,
        measures: Measures,
        findings: Iterable[Finding],
        **fields: Any,
    ) -> AnyResults:
        """The results. kind: their class. findings: those of the whole, in order. fields: the other
        fields of the class.

        Raises BadInput for a file among the `sources` that changed while it was read, and where a
        finding is an error.
        """
        unchanged(fields.get("sources", {}))
        return kind(
            values=tuple(self.values),
            row_attributes=tuple(self.row_attributes),
            measures=tuple(measures),
            data_findings=settled(findings),
            population_sd=self.convention.population_sd,
            **fields,
        )


def lowest_relevant(measures: Iterable[LabelledMeasure], min_grade: float | None = None) -> float:
    """The lowest grade that counts as relevant under some measure. min_grade: of measures without
    such a grade.
    """
    default = min_grade or 1
    return min(
        (labelled.measure.parameters.get("rel") or default for labelled in measures),
        default=default,
    )
