"""The rankings of a system under one reading of what the queries ask for: truth, values, and what became of each query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.core.tables import Bools, Floats, Ints
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.values import Values
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadInput
from rankwell.stats import Intervals
from rankwell.tasks.clips import sources as ways
from rankwell.tasks.clips.annotations import Annotations
from rankwell.tasks.clips.breakdown import group_rows, keyword_rows, lacked_by_chance, level_facts
from rankwell.tasks.clips.choices import Mode, NoKeywords, NoRelevant, Weights
from rankwell.tasks.clips.explained import Explainer, Result
from rankwell.tasks.clips.formats.annotations import TextQuery
from rankwell.tasks.clips.levels import Bench, Levels
from rankwell.tasks.clips.rankings import Listed
from rankwell.tasks.clips.truth import Relevance, Required, judge

DETAIL_DEPTH = 20


class Answer(NamedTuple):
    """What became of one query. keywords: group -> labels that it asks for. status: `counted`, or why it is not."""

    text: str
    keywords: Mapping[str, list[str]]
    relevant: int
    status: str
    results: tuple[Result, ...]


@dataclass(frozen=True, eq=False)
class Task:
    """Everything that decides the figures, read and checked. titles: query -> what it is called in messages."""

    annotations: Annotations
    selection: Bools
    queries: Sequence[TextQuery]
    mode: Mode
    relevance: Relevance
    convention: Convention
    measures: tuple[LabelledMeasure, ...]
    ks: tuple[int, ...]
    answered: ways.Answered
    barred: Mapping[str, Sequence[str]]
    titles: Mapping[str, str]
    least: float | None
    after: bool
    no_keywords: NoKeywords
    no_relevant: NoRelevant
    weights: Weights
    intervals: Intervals
    seed: int

    @cached_property
    def texts(self) -> dict[str, str]:
        """query -> what it says."""
        return {query.id: query.text for query in self.queries}

    @cached_property
    def first(self) -> Mapping[str, Listed]:
        """The first items of each query, as many as are shown anywhere."""
        return self.answered.ranked.first(max(DETAIL_DEPTH, *self.ks))

    @property
    def k(self) -> int:
        """The largest cut-off."""
        return max(self.ks)

    def candidates(self, queries: Sequence[str]) -> Ints:
        """(queries,) how many clips could be found for each, itself and what is barred left out."""
        gallery = set(self.annotations.clips) | self.answered.others
        own = {query for query in queries if query in gallery} if self.mode == "video" else set[str]()
        out = {query: len({*self.barred.get(query, ()), *({query} & own)} & gallery) for query in queries}
        return np.array([len(gallery) - out[query] for query in queries], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Variant:
    """The rankings under one reading of what the queries ask for."""

    task: Task
    run: str
    required: Required

    @cached_property
    def judgments(self) -> Judgments:
        """The relevant clips of each query; where it is removed after the cut, the query itself is junk."""
        task = self.task
        vacuous = task.no_keywords == "vacuous"
        truth = judge(self.required, task.annotations, relevance=task.relevance, barred=self._barred, vacuous=vacuous)
        return truth.with_junk({query: [query] for query in self.required.queries}) if task.after else truth

    @cached_property
    def _barred(self) -> dict[str, set[str]]:
        """query -> clips that cannot be found for it, itself among them."""
        own = self.task.mode == "video"
        return {query: {*self.task.barred.get(query, ()), *([query] if own else ())} for query in self.required.queries}

    @cached_property
    def bench(self) -> Bench:
        """The ranking under this truth, ready to be measured."""
        task, hits = self.task, self.task.answered.ranked.hits(self.judgments, self.task.least)
        own_rank = None
        if task.after and self.judgments.junk is not None:
            own_rank = np.zeros(len(self.judgments.queries), dtype=np.int64)
            own = self.judgments.junk[hits.row]
            own_rank[hits.query[own]] = (hits.above + hits.before + 1)[own]
        view = JudgedRankings.join(self.judgments, hits)
        return Bench(self.judgments, view, task.candidates(self.judgments.queries), task.answered.ranked.ties, own_rank)

    @cached_property
    def n_relevant(self) -> Ints:
        """(queries,) clips with the grade 1, which a graded truth gives to those with all keywords alone."""
        return self.bench.view.n_relevant(1).astype(np.int64)

    @cached_property
    def status(self) -> list[str]:
        """(queries,) whether each counts, or why it does not."""
        task, told = self.task, list[str]()
        for query, asked, relevant in zip(
            map(self.title, self.required.queries), self.required.counts.tolist(), self.n_graded.tolist(), strict=True
        ):
            if not asked and task.no_keywords == "error":
                raise BadInput(
                    f"query {query!r} asks for no keyword of the selection; leave it out, or choose --no-keywords skip."
                )
            if not relevant and asked and task.no_relevant == "error":
                raise BadInput(f"query {query!r} has no relevant clip; leave it out, or choose --no-relevant skip or empty.")
            bare = not asked and task.no_keywords == "skip"
            alone = not relevant and (asked or task.no_keywords == "vacuous") and task.no_relevant == "skip"
            told.append("no keywords" if bare else "no relevant clip" if alone else "counted")
        return told

    @cached_property
    def counted(self) -> Bools:
        """(queries,) whether each counts."""
        return np.array([status == "counted" for status in self.status], dtype=np.bool_)

    @cached_property
    def n_graded(self) -> Ints:
        """(queries,) clips with any grade above 0, which are more than `n_relevant` where relevance is graded."""
        return self.bench.view.sum_judged(self.bench.view.judged_grades > 0).astype(np.int64)

    @cached_property
    def without_match(self) -> Bools:
        """(queries,) which count and have no clip with all their keywords, but some with part of them."""
        return self.counted & (self.n_relevant == 0) & (self.n_graded > 0)

    def left_out(self, asked: LabelledMeasure) -> Bools:
        """(queries,) which counted ones a measure leaves out: it calls no clip relevant, as only part of the keywords is found.

        Raises BadInput for the first where such queries are an error.
        """
        if self.task.no_relevant == "empty" or asked.measure.entry.unit != "share" or not self.without_match.any():
            return np.zeros(len(self.counted), dtype=np.bool_)
        out = self.without_match & self.bench.unreachable(asked.measure)
        if self.task.no_relevant == "error" and out.any():
            query = self.title(self.required.queries[int(np.flatnonzero(out)[0])])
            what = f"query {query!r} has no clip with all its keywords, which {asked.label} wants"
            raise BadInput(f"{what}; leave it out, or choose --no-relevant skip or empty.")
        return out

    def title(self, query: str) -> str:
        """What a query is called in messages."""
        return self.task.titles.get(query, query)

    def measured(self, asked: LabelledMeasure) -> tuple[Values, Levels]:
        """The values of one measure; NaN where the query is not counted, or has nothing that the measure calls relevant."""
        levels = self.bench.levels(asked.measure)
        entry = asked.measure.entry
        scale, unit = self.task.convention.shows(entry.unit)
        values: Floats = np.where(self.counted & ~self.left_out(asked), levels.values * scale, np.nan)
        weights = self.n_relevant.astype(np.float64) if self.task.weights == "relevant" and entry.summary == "mean" else None
        name = str(asked.measure)
        return Values(self.run, name, asked.label, unit, entry.summary, self.required.queries, values, weights), levels

    def all_measured(self) -> list[tuple[Values, Levels]]:
        """The values of every measure."""
        return [self.measured(asked) for asked in self.task.measures]

    def facts(self, measured: tuple[Values, Levels]) -> dict[str, Any]:
        """The further columns of a measure's summary row."""
        return level_facts(*measured, len(self.required.queries))

    @cached_property
    def explainer(self) -> Explainer:
        """What says of a clip what it has and lacks."""
        task = self.task
        return Explainer(self.required, task.annotations, self.judgments, task.least, task.mode == "video")

    def answers(self) -> dict[str, Answer]:
        """query -> what became of it, with its first results."""
        explainer, found = self.explainer, dict[str, Answer]()
        for row, query in enumerate(self.required.queries):
            listed = self.task.first.get(query, Listed([], []))
            cut = Listed(listed.items[: self.task.k], listed.similarities[: self.task.k])
            results = tuple(explainer.results(query, cut))
            text = self.task.texts.get(query, query)
            found[query] = Answer(text, explainer.keywords(query), int(self.n_relevant[row]), self.status[row], results)
        return found

    def counts(self, measured: Sequence[tuple[Values, Levels]]) -> dict[str, Any]:
        """What became of the queries, in numbers."""
        task, view, told = self.task, self.bench.view, self.status
        short = {str(k): int(((view.retrieved < k) & self.counted).sum()) for k in self.task.ks}
        return {
            "queries": len(told),
            "queries_counted": int(self.counted.sum()),
            "no_keywords": int((self.required.counts == 0).sum()),
            "queries_without_relevant": int(((self.n_graded == 0) & (self.required.counts > 0)).sum()),
            **({"without_full_match": int(self.without_match.sum())} if task.relevance.kind == "graded" else {}),
            "queries_missing": int((~view.present).sum()),
            **({"failed": len(self.task.answered.failed)} if self.task.answered.failed else {}),
            **({"abstained": int((view.present & (view.retrieved == 0)).sum())} if self.task.least is not None else {}),
            "fewer_results_than_k": short,
            "queries_tied": {values.measure: int((levels.tied & self.counted).sum()) for values, levels in measured},
        }

    def by_group(self) -> list[dict[str, Any]]:
        """Summary rows for each group alone, where queries ask for more than one."""
        task = self.task
        columns = {
            group: np.array([entry.group == group for entry in task.annotations.keywords], dtype=np.bool_)
            for group in task.annotations.groups
        }
        asked = {group: mine for group, mine in columns.items() if (self.required.wanted & mine).any()}
        if len(asked) < 2:
            return []

        def _measured(required: Required) -> list[tuple[Values, Mapping[str, Any]]]:
            alone = Variant(task, self.run, required)
            return [(each[0], alone.facts(each)) for each in alone.all_measured()]

        return group_rows(self.required, asked, _measured, intervals=task.intervals, seed=task.seed)

    def by_keyword(self, measured: Sequence[tuple[Values, Levels]]) -> list[dict[str, Any]]:
        """A row per keyword, with the first measure that looks as deep as the largest cut-off."""
        deep = [place for place, asked in enumerate(self.task.measures) if asked.measure.cutoff == self.task.k]
        values, levels = measured[deep[0] if deep else 0]
        barred, candidates = self._barred, self.bench.candidates
        chance = lacked_by_chance(self.required, self.task.annotations, self.counted, barred, candidates)
        return keyword_rows(
            self.run,
            self.explainer,
            self.task.first,
            values,
            levels,
            self.task.k,
            counted=self.counted,
            lacked_by_chance=chance,
        )
