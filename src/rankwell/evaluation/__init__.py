"""Views x measures -> values, one file per kind of input: runs against judgments, one model against another.

Here stands what comes out of the latter.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwell import __version__
from rankwell.conventions import Convention
from rankwell.stats import Intervals
from rankwell.stats.relative_change import relative_changes
from rankwell.stats.summaries import SummaryRow, summarise, summary_notes
from rankwell.store import Source
from rankwell.tables.values import Values

if TYPE_CHECKING:
    from rankwell.search.neighbours import Sample
    from rankwell.stats.vector_panel import VectorPanel
    from rankwell.views.ranking_pairs import RankingPairs


class Facts(NamedTuple):
    """What a row says beside its summary: the cut-off, and what a candidate would reach by chance; None where undefined."""

    k: int | None
    chance: float | None


@dataclass(frozen=True)
class Agreement:
    """The values of every candidate and measure with their rules; summaries and intervals are computed when first read.

    reference: its name. candidates: theirs, in order. figures: rows of whole collections, without a value per query.
    facts: (run, exact name) -> cut-off and chance level. panel: what the vectors look like. pairs: the lists side by side.
    """

    reference: str
    candidates: tuple[str, ...]
    values: tuple[Values, ...]
    figures: tuple[SummaryRow, ...]
    facts: Mapping[tuple[str, str], Facts]
    rules: Mapping[str, Any]
    panel: "VectorPanel"
    notes: tuple[str, ...]
    convention: Convention
    sample: "Sample"
    pairs: "Mapping[str, RankingPairs]"
    sources: Mapping[str, Source] = field(default_factory=dict[str, Source])
    intervals: Intervals = "bootstrap"
    seed: int = 42

    @cached_property
    def summary(self) -> list[dict[str, Any]]:
        """One row per run and measure: mean, sd, interval and number of queries, then `k` and `chance`."""
        population = self.convention.population_sd
        rows = summarise(self.values, intervals=self.intervals, seed=self.seed, population_sd=population)
        order = {run: place for place, run in enumerate(dict.fromkeys(row.run for row in rows))}
        rows = sorted([*rows, *self.figures], key=lambda row: order.get(row.run, len(order)))
        return [row.as_row() | self.facts[row.run, row.measure]._asdict() for row in rows]

    @cached_property
    def changes(self) -> list[dict[str, Any]]:
        """The relative change of the mean of every further candidate against the first, in the columns of a summary row.

        `mean` is mean of the candidate / mean of the first - 1, a share; None where the first's mean is not above 0. `n` are the
        queries that count in both, which each resample of the interval draws alike for both. `measure` is `Change(…)`.
        """
        first, *others = self.candidates
        base = {each.measure: each for each in self.values if each.run == first and each.summary == "mean"}
        both = [(base[each.measure], each) for each in self.values if each.run in others and each.measure in base]
        bootstrap = self.intervals != "none"
        found = relative_changes([(one.values, other.values) for one, other in both], bootstrap=bootstrap, seed=self.seed)
        rows: list[dict[str, Any]] = []
        for (_, each), change in zip(both, found, strict=True):
            low, high = change.interval or (None, None)
            name, label = f"Change({each.measure})", f"Change({each.label})"
            row = SummaryRow(each.run, name, label, change.value, None, low, high, change.n, "share").as_row()
            rows.append({**row, "k": self.facts[each.run, each.measure].k, "chance": None, "against": first})
        return rows

    @property
    def interval_notes(self) -> list[str]:
        """What the summary leaves undefined, in words."""
        told = summary_notes(self.values, intervals=self.intervals)
        return [*told, "relative changes have a bootstrap interval only"] if self.intervals == "t" and self.changes else told

    def per_query(self) -> Iterator[dict[str, Any]]:
        """One row per run, query and measure; `value` is None where the query is not counted."""
        for each in self.values:
            for query, value in zip(each.queries, each.values.tolist(), strict=True):
                shown = None if isnan(value) else value
                row = {"run": each.run, "query": query, "measure": each.measure, "label": each.label}
                yield row | {"value": shown, "unit": each.unit}

    def describe(self) -> dict[str, Any]:
        """The rules for JSON: every choice that decided a number, the definition of each measure, the panel, the version."""
        return {**self.rules, "panel": self.panel.rows, "version": __version__}

    def manifest(self) -> dict[str, Any]:
        """The rules with the content hash of every input file."""
        inputs = {name: {"file": each.name, "digest": each.digest()} for name, each in self.sources.items()}
        return {"schema_version": 1, "rules": self.describe(), "inputs": inputs, "notes": list(self.notes)}
