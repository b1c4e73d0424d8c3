"""The results of every task: values with the rules that decided them, and the tables beside them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import Any

from rankwell import __version__
from rankwell.conventions import LabelledMeasure
from rankwell.core.display import Displayable
from rankwell.core.tables.values import ValueRows, Values
from rankwell.stats import Intervals
from rankwell.stats.summaries import SummaryRow, summarise, summary_notes
from rankwell.store import Source

SCHEMA_VERSION = 2


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Results(Displayable):
    """The values of every run and measure with their rules; summaries and intervals are computed when first read.

    row_attributes: further columns of the summary (`direction`, `k`, `ceiling`, `chance`), one mapping for each element of
    `values`, or none at all. query_columns: those of them that rows of single queries have, too. aggregates: summary rows of
    whole collections, complete, without a value per query. rules: every choice that decided a number, by name; `counts` (run ->
    count -> number) and `measures` (exact name -> definition) among them. tables: the task's own tables, by name. details,
    queries, items: the columns of the files of these names. objects: what else the task keeps for Python, by name; tables and
    objects are attributes, too. left_out: run -> reason -> queries. task: the kind of result, by which a page knows its view.
    by_query: whether the rows of single queries are listed query by query and not measure by measure. summarised: how many of
    `values`, from the first, the summary sums up; the aggregates stand for the others. check: notes on the summary itself.
    query_rows: adds the task's columns to the rows of single queries.
    """

    values: tuple[Values, ...]
    rules: Mapping[str, Any]
    notes: tuple[str, ...]
    measures: tuple[LabelledMeasure, ...] = ()
    row_attributes: tuple[Mapping[str, Any], ...] = ()
    query_columns: tuple[str, ...] = ()
    aggregates: tuple[Mapping[str, Any], ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict[str, Source])
    formats: Mapping[str, str] = field(default_factory=dict[str, str])
    left_out: Mapping[str, Mapping[str, Sequence[str]]] | None = None
    details: Mapping[str, Sequence[Any]] | None = None
    queries: Mapping[str, Sequence[Any]] | None = None
    items: Mapping[str, Sequence[Any]] | None = None
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict[str, Sequence[Mapping[str, Any]]])
    objects: Mapping[str, Any] = field(default_factory=dict[str, Any])
    intervals: Intervals = "bootstrap"
    seed: int = 0
    population_sd: bool = False
    task: str = "runs"
    by_query: bool = False
    summarised: int | None = None
    check: Callable[["Results"], list[str]] | None = None
    query_rows: Callable[[Iterable[dict[str, Any]]], Iterable[dict[str, Any]]] | None = None

    def __repr__(self) -> str:
        runs = ", ".join(dict.fromkeys(each.run for each in self.values))
        measures = ", ".join(dict.fromkeys(each.measure for each in self.values))
        return f"<Results of {runs} by {measures}; read .summary, .per_query(), .describe() and .notes>"

    def __getattr__(self, name: str) -> Any:
        for known in ("objects", "tables"):
            # Copying and unpickling look for attributes before there are any.
            if name in self.__dict__.get(known, {}):
                return self.__dict__[known][name]
        raise AttributeError(f"results of the task {self.__dict__.get('task')!r} have no {name!r}")

    @cached_property
    def summary(self) -> list[SummaryRow]:
        """One row per run and measure: mean, sd, interval and number of queries, then the further columns; runs in order."""
        rows = summarise(
            self.values[: self.summarised], intervals=self.intervals, seed=self.seed, population_sd=self.population_sd
        )
        order = {run: place for place, run in enumerate(dict.fromkeys(row.run for row in rows))}
        # Of the values after the summarised ones the aggregates say all.
        attributes = self._attributes[: len(rows)]
        whole = [
            *(SummaryRow(row | dict(further)) for row, further in zip(rows, attributes, strict=True)),
            *map(SummaryRow, self.aggregates),
        ]
        return sorted(whole, key=lambda row: order.get(row["run"], len(order)))

    @property
    def counts(self) -> Mapping[str, Mapping[str, Any]]:
        """run -> count -> number: how many queries counted, and how many did not and why."""
        return self.rules.get("counts", {})

    @property
    def interval_notes(self) -> list[str]:
        """Notes on what the summary leaves undefined."""
        notes = summary_notes(self.values[: self.summarised], intervals=self.intervals)
        return notes if self.check is None else [*notes, *self.check(self)]

    def per_query(self) -> Iterable[dict[str, Any]]:
        """One row per run, query and measure with the task's further columns; `value` is None where the query is not counted."""
        return self.value_rows() if self.query_rows is None else self.query_rows(self.value_rows())

    def value_rows(self) -> Iterable[dict[str, Any]]:
        """One row per run, query and measure without the task's further columns."""
        return ValueRows(self.values) if self.by_query else self._rows_by_measure()

    def _rows_by_measure(self) -> Iterable[dict[str, Any]]:
        for each, own in zip(self.values, self.query_attributes, strict=True):
            for query, value in zip(each.queries, each.values.tolist(), strict=True):
                row = {"run": each.run, "query": query, "measure": each.measure, "label": each.label}
                yield {**row, "value": None if isnan(value) else value, "unit": each.unit, **own}

    @property
    def query_attributes(self) -> tuple[Mapping[str, Any], ...]:
        """The further columns of the rows of single queries, for each element of `values`."""
        return tuple({name: own[name] for name in self.query_columns} for own in self._attributes)

    def describe(self) -> dict[str, Any]:
        """The rules for JSON: every choice that decided a number, the definition of each measure, the version."""
        return {**self.rules, "intervals": self.intervals, "seed": self.seed, "version": __version__}

    def manifest(self) -> dict[str, Any]:
        """The rules with the content hash of every input file."""
        inputs = {name: {"file": each.name, "digest": each.digest()} for name, each in self.sources.items()}
        head: dict[str, Any] = {"schema_version": SCHEMA_VERSION} | ({"protocol": self.task} if self.left_out is None else {})
        left_out = {} if self.left_out is None else {"left_out": self.left_out}
        return {**head, "rules": self.describe(), "inputs": inputs, **left_out, "notes": list(self.notes)}

    @property
    def _attributes(self) -> tuple[Mapping[str, Any], ...]:
        return self.row_attributes or ({},) * len(self.values)
