"""What an evaluation of answers comes to: values, what became of every question, and what other cut-offs give."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.core.registry import Measure
from rankwell.core.tables import Floats
from rankwell.core.tables.values import Values
from rankwell.evaluation.results import Results
from rankwell.stats.summaries import summarise
from rankwell.tasks.answers import thresholds
from rankwell.tasks.answers.choices import cut_offs
from rankwell.tasks.answers.failures import Outcome, failure_rows
from rankwell.tasks.answers.measures.answers import sweep
from rankwell.tasks.answers.tables import Explained
from rankwell.tasks.answers.thresholds import Searched


@dataclass(frozen=True, eq=False, kw_only=True)
class AnswerResults(Results):
    """The values of retriever and reader, and what became of every question.

    outcomes: a question each, in the order of their ids. searched: what a threshold on the no-answer numbers reaches.
    explained: the questions with all that was made of them. swept: the measures that can be cut at other places.
    """

    outcomes: tuple[Outcome, ...]
    explained: Explained
    searched: Searched | None
    swept: tuple[LabelledMeasure, ...]
    convention: Convention
    task: str = "answers"

    @cached_property
    def failures(self) -> list[dict[str, Any]]:
        """How many questions the retriever, the reader, or its silence failed, and why: `failed, why, questions, share`."""
        return failure_rows(self.outcomes)

    def hardest(self, most: int | None = None) -> list[dict[str, Any]]:
        """The questions that somebody failed, the hardest first, with the right answer, the given one, and what they share."""
        return self.explained.hardest(most)

    @cached_property
    def no_answer_curves(self) -> list[dict[str, Any]]:
        """Precision and recall of answering at every threshold: `label, threshold, recall, precision`."""
        return [] if self.searched is None else thresholds.curve_rows(self.searched)

    @cached_property
    def top_k(self) -> list[dict[str, Any]]:
        """Summary rows at every cut-off, with `k`; each is exact, as it is the same lists cut shorter."""
        values, ks = list[Values](), list[int]()
        for asked in self.swept:
            depth = asked.measure.cutoff or 1
            word = asked.label.partition("@")[0]
            cuts = cut_offs(depth)
            for k, found in zip(cuts, self._cut(asked.measure, cuts), strict=True):
                run, queries, numbers = found
                values.append(
                    values_of(
                        run, queries, LabelledMeasure(asked.measure.with_parameters(k=k), f"{word}@{k}"), numbers, self.convention
                    )
                )
                ks.append(k)
        rows = summarise(values, intervals=self.intervals, seed=self.seed, population_sd=self.population_sd)
        return [row | {"k": k} for row, k in zip(rows, ks, strict=True)]

    def _cut(self, measure: Measure, ks: Sequence[int]) -> list[tuple[str, tuple[str, ...], Floats]]:
        retrieval, readings = self.explained.retrieval, self.explained.readings
        if readings is not None and isinstance(readings.pairs, measure.entry.view):
            return [(readings.run, readings.pairs.queries, row) for row in sweep(measure, readings.pairs, ks)]
        if retrieval is None:
            return []
        return [(retrieval.run, retrieval.questions.ids, retrieval.values(measure.with_parameters(k=k))) for k in ks]


def values_of(run: str, queries: Sequence[str], asked: LabelledMeasure, numbers: Floats, convention: Convention) -> Values:
    """One measure's values of one run, in the unit and under the label that the convention has for it."""
    scale, unit = convention.shows(asked.measure.entry.unit)
    return Values(run, str(asked.measure), asked.label, unit, asked.measure.entry.summary, tuple(queries), numbers * scale)
