"""Views x measures -> values, one file or folder per kind of input; here stands what comes out of most of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import Any

from rankwell import __version__
from rankwell.core.display import Shown
from rankwell.core.tables.values import Values
from rankwell.stats import Intervals
from rankwell.stats.summaries import summarise, summary_notes
from rankwell.store import Source


@dataclass(frozen=True, eq=False, kw_only=True)
class Results(Shown):
    """Values with the rules by which they hold; summaries and intervals are computed when first read.

    facts: what the summary says of each element of `values` in further columns (`direction`, `k`, `ceiling`, `chance`), one
    mapping each, or none at all. keys: those of them that rows of single queries have too. figures: summary rows of whole
    collections, complete, without a value per query. rules: every choice that decided a number, by name; `counts` (run -> what
    -> how many) and `measures` (exact name -> definition) among them. details, queries, items: the columns of the tables of these
    names, of items those whose text or picture is known. protocol: the kind of result, by which a page knows what to show.
    """

    values: tuple[Values, ...]
    rules: Mapping[str, Any]
    notes: tuple[str, ...]
    facts: tuple[Mapping[str, Any], ...] = ()
    keys: tuple[str, ...] = ()
    figures: tuple[Mapping[str, Any], ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict[str, Source])
    details: Mapping[str, Sequence[Any]] | None = None
    queries: Mapping[str, Sequence[Any]] | None = None
    items: Mapping[str, Sequence[Any]] | None = None
    intervals: Intervals = "bootstrap"
    seed: int = 0
    population_sd: bool = False
    protocol: str = "runs"

    def __init_subclass__(cls) -> None:
        """Keeps the short text for every kind of result, which a dataclass would replace by all its fields."""
        if "__repr__" not in vars(cls):
            cls.__repr__ = Results.__repr__

    def __repr__(self) -> str:
        runs = ", ".join(dict.fromkeys(each.run for each in self.values))
        measures = ", ".join(dict.fromkeys(each.measure for each in self.values))
        return f"<{type(self).__name__} of {runs} by {measures}; read .summary, .per_query(), .describe() and .notes>"

    @cached_property
    def summary(self) -> list[dict[str, Any]]:
        """One row per run and measure: mean, sd, interval and number of queries, then the further columns; runs in order."""
        rows = summarise(self.values, intervals=self.intervals, seed=self.seed, population_sd=self.population_sd)
        order = {run: place for place, run in enumerate(dict.fromkeys(row.run for row in rows))}
        whole = [*(row.as_row() | dict(fact) for row, fact in zip(rows, self._facts, strict=True)), *map(dict, self.figures)]
        return sorted(whole, key=lambda row: order.get(row["run"], len(order)))

    @property
    def interval_notes(self) -> list[str]:
        """What the summary leaves undefined, in words."""
        return summary_notes(self.values, intervals=self.intervals)

    def per_query(self) -> Iterator[dict[str, Any]]:
        """One row per run, query and measure; `value` is None where the query is not counted."""
        for each, told in zip(self.values, self.key_facts, strict=True):
            for query, value in zip(each.queries, each.values.tolist(), strict=True):
                row = {"run": each.run, "query": query, "measure": each.measure, "label": each.label}
                yield {**row, "value": None if isnan(value) else value, "unit": each.unit, **told}

    @property
    def key_facts(self) -> tuple[Mapping[str, Any], ...]:
        """What rows of single queries say besides, for each element of `values`."""
        return tuple({name: fact[name] for name in self.keys} for fact in self._facts)

    def describe(self) -> dict[str, Any]:
        """The rules for JSON: every choice that decided a number, the definition of each measure, the version."""
        return {**self.rules, "intervals": self.intervals, "seed": self.seed, "version": __version__}

    def manifest(self) -> dict[str, Any]:
        """The rules with the content hash of every input file."""
        inputs = {name: {"file": each.name, "digest": each.digest()} for name, each in self.sources.items()}
        told = {"schema_version": 1, "protocol": self.protocol, "rules": self.describe()}
        return {**told, "inputs": inputs, "notes": list(self.notes)}

    @property
    def _facts(self) -> tuple[Mapping[str, Any], ...]:
        return self.facts or ({},) * len(self.values)
