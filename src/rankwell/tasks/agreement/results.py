"""What comes out of a comparison of models: values by candidate, and how much the candidates differ."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rankwell.conventions import Convention
from rankwell.core.views.ranking_pairs import RankingPairs
from rankwell.evaluation.results import Results
from rankwell.stats.paired_bootstrap import relative_changes
from rankwell.stats.summaries import SummaryRow
from rankwell.tasks.agreement.neighbours import Sample
from rankwell.tasks.agreement.vector_panel import VectorPanel


@dataclass(frozen=True, eq=False, kw_only=True)
class Agreement(Results):
    """The values of every candidate and measure with their rules; summaries and intervals are computed when first read.

    Every fact has `k` and `chance`, None where undefined: the cut-off, and what a candidate would reach by chance.
    reference: its name. candidates: theirs, in order. panel: what the vectors look like. pairs: the lists side by side.
    """

    reference: str
    candidates: tuple[str, ...]
    panel: VectorPanel
    convention: Convention
    sample: Sample
    pairs: Mapping[str, RankingPairs]
    task: str = "agreement"

    @cached_property
    def changes(self) -> list[dict[str, Any]]:
        """The relative change of the mean of every further candidate against the first, in the columns of a summary row.

        `mean` is mean of the candidate / mean of the first - 1, a share; None where the first's mean is not above 0. `n` are the
        queries that count in both, which each resample of the interval draws alike for both. `measure` is `Change(…)`.
        """
        first, *others = self.candidates
        base = {each.measure: each for each in self.values if each.run == first and each.summary == "mean"}
        compared = [
            (base[each.measure], each, fact)
            for each, fact in zip(self.values, self._attributes, strict=True)
            if each.run in others and each.measure in base
        ]
        bootstrap = self.intervals != "none"
        found = relative_changes([(one.values, other.values) for one, other, _ in compared], bootstrap=bootstrap, seed=self.seed)
        rows: list[dict[str, Any]] = []
        for (_, each, fact), change in zip(compared, found, strict=True):
            low, high = change.interval or (None, None)
            name, label = f"Change({each.measure})", f"Change({each.label})"
            row = SummaryRow.of(each.run, name, label, change.value, None, low, high, change.n, "share")
            rows.append({**row, "k": fact["k"], "chance": None, "against": first})
        return rows

    @property
    def interval_notes(self) -> list[str]:
        """What the summary leaves undefined, in words."""
        told = super().interval_notes
        return [*told, "relative changes have a bootstrap interval only"] if self.intervals == "t" and self.changes else told

    def describe(self) -> dict[str, Any]:
        """The rules for JSON, with the panel of the vectors."""
        return {**super().describe(), "panel": self.panel.rows}
