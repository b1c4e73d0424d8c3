"""The rankings of a system under one reading of the queries: judgments, values, and the outcome of each query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.core.tables import Bools, Ints, Values
from rankwell.core.tables.judgments import Judgments
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadInput
from rankwell.evaluation.judged import ReferenceLevels
from rankwell.evaluation.results import (
    DETAIL_DEPTH,
    QUERIES_COUNTED,
    QUERIES_MISSING,
    QUERIES_TIED,
    QUERIES_WITHOUT_RELEVANT,
    ResultsBuilder,
    counted_queries,
)
from rankwell.stats import Intervals
from rankwell.stats.summaries import summarise
from rankwell.tasks.clips.annotations import Annotations
from rankwell.tasks.clips.breakdown import keyword_rows, lacked_by_chance
from rankwell.tasks.clips.choices import Mode, NoKeywords, NoRelevant, Weights
from rankwell.tasks.clips.explained import ClipResult, Explainer
from rankwell.tasks.clips.formats import TextQuery
from rankwell.tasks.clips.rankings import ClipList, ClipRankings
from rankwell.tasks.clips.runs import ClipLevels, ClipRun
from rankwell.tasks.clips.sources import RankedClips
from rankwell.tasks.clips.truth import Relevance, Required, judge


class ClipAnswer(NamedTuple):
    """The outcome of one query. keywords: group -> labels that it requires. status: `counted`, or why it is not."""

    text: str
    keywords: Mapping[str, list[str]]
    relevant: int
    status: str
    results: tuple[ClipResult, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipTask:
    """Everything that decides the values, read and checked. titles: query -> its name in messages."""

    annotations: Annotations
    selection: Bools
    queries: Sequence[TextQuery]
    mode: Mode
    relevance: Relevance
    convention: Convention
    measures: tuple[LabelledMeasure, ...]
    ks: tuple[int, ...]
    ranked: RankedClips
    excluded: Mapping[str, Sequence[str]]
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
        """query -> its text."""
        return {query.id: query.text for query in self.queries}

    @cached_property
    def first(self) -> Mapping[str, ClipList]:
        """The first clips of each query, as many as any table shows."""
        return self.ranked.rankings.first(max(DETAIL_DEPTH, *self.ks))

    @property
    def k(self) -> int:
        """The largest cut-off."""
        return max(self.ks)

    def candidates(self, queries: Sequence[str]) -> Ints:
        """(queries,) number of clips that each query could find; itself and the excluded clips are not among them."""
        gallery = set(self.annotations.clips) | self.ranked.others
        own = {query for query in queries if query in gallery} if self.mode == "video" else set[str]()
        out = {query: len({*self.excluded.get(query, ()), *({query} & own)} & gallery) for query in queries}
        return np.array([len(gallery) - out[query] for query in queries], dtype=np.int64)


class MeasuredVariant(NamedTuple):
    """A reading with its values by every measure and their levels."""

    variant: "ClipVariant"
    values: Sequence[Values]
    levels: Sequence[ClipLevels]


@dataclass(frozen=True, eq=False)
class ClipVariant:
    """The rankings under one reading of the queries. how: `given`, `mapped`, or empty where there is only one reading."""

    task: ClipTask
    name: str
    required: Required
    how: str = ""

    @cached_property
    def judgments(self) -> Judgments:
        """The relevant clips of each query; where it is removed after the cut, the query itself is junk."""
        task = self.task
        vacuous = task.no_keywords == "vacuous"
        found = judge(self.required, task.annotations, relevance=task.relevance, excluded=self._excluded, vacuous=vacuous)
        return found.with_junk({query: [query] for query in self.required.queries}) if task.after else found

    @cached_property
    def _excluded(self) -> dict[str, set[str]]:
        """query -> clips that it cannot find, itself among them."""
        own = self.task.mode == "video"
        return {query: {*self.task.excluded.get(query, ()), *([query] if own else ())} for query in self.required.queries}

    @cached_property
    def run(self) -> ClipRun:
        """The rankings under these judgments, ready to be measured."""
        return self._run(self.task.ranked.rankings, *self._joined)

    def _run(self, rankings: ClipRankings, view: JudgedRankings, own_rank: Ints | None) -> ClipRun:
        task = self.task
        return ClipRun(
            name=self.name,
            view=view,
            ties=rankings.ties,
            levels=ReferenceLevels(self.judgments, task.candidates(self.judgments.queries)),
            counted=self.counted,
            own_rank=own_rank,
            no_relevant=task.no_relevant,
            weighted=task.weights == "relevant",
            reordered=self._in_input_order,
            tied_items="tied clips keep the order of the embeddings",
        )

    def _in_input_order(self) -> ClipRun:
        rankings = self.task.ranked.rankings.in_input_order
        return self._run(rankings, *self._join(rankings))

    @cached_property
    def _joined(self) -> tuple[JudgedRankings, Ints | None]:
        return self._join(self.task.ranked.rankings)

    def _join(self, rankings: ClipRankings) -> tuple[JudgedRankings, Ints | None]:
        """The view of rankings under these judgments, and the rank of each query in its own list, if removed after the cut."""
        hits, own_rank = rankings.hits(self.judgments, self.task.least), None
        if self.task.after and self.judgments.junk is not None:
            own_rank = np.zeros(len(self.judgments.queries), dtype=np.int64)
            own = self.judgments.junk[hits.row]
            own_rank[hits.query[own]] = (hits.above + hits.before + 1)[own]
        return JudgedRankings.join(self.judgments, hits), own_rank

    @property
    def view(self) -> JudgedRankings:
        """The judged clips of each query with their rank counts."""
        return self._joined[0]

    @cached_property
    def n_graded(self) -> Ints:
        """(queries,) number of clips with any grade above 0, more than those with all keywords where relevance is graded."""
        return self.view.sum_judged(self.view.judged_grades > 0).astype(np.int64)

    @cached_property
    def _without(self) -> tuple[Bools, Bools]:
        """(queries,) whether each has no keyword of the selection, and whether it has keywords and no relevant clip."""
        rules, without_keywords = self.task, self.required.counts == 0
        vacuous = rules.no_keywords == "vacuous" and rules.no_relevant == "skip"
        return without_keywords, (self.n_graded == 0) & (~without_keywords | vacuous)

    @cached_property
    def counted(self) -> Bools:
        """(queries,) whether each counts. Raises BadInput for a query whose lack of keywords or relevant clips is an error."""
        task, (without_keywords, without_relevant) = self.task, self._without
        queries = list(map(self.title, self.required.queries))
        keywords = "empty" if task.no_keywords == "vacuous" else task.no_keywords
        counted = counted_queries(
            queries,
            without_keywords,
            keywords,
            refuse=lambda query, _: (
                f"query {query!r} has no keyword of the selection; leave it out, or choose --no-keywords skip."
            ),
        )
        return counted_queries(
            queries,
            without_relevant,
            task.no_relevant,
            considered=counted,
            refuse=lambda query, _: f"query {query!r} has no relevant clip; leave it out, or choose --no-relevant skip or empty.",
        )

    @cached_property
    def status(self) -> list[str]:
        """(queries,) whether each counts, or why it does not."""
        bare = self._without[0].tolist() if self.task.no_keywords == "skip" else [False] * len(self.counted)
        return [
            "counted" if counted else "no keywords" if empty else "no relevant clip"
            for counted, empty in zip(self.counted.tolist(), bare, strict=True)
        ]

    def title(self, query: str) -> str:
        """The name of a query in messages."""
        return self.task.titles.get(query, query)

    def measure(self, builder: ResultsBuilder) -> MeasuredVariant:
        """Adds the values of every measure to the results.

        Raises BadInput for the first query that a measure would leave out where that is an error.
        """
        task, run = self.task, self.run
        for each in task.measures if task.no_relevant == "error" else ():
            out = run.unmatched(each.measure)
            if out.any():
                query = self.title(self.required.queries[int(np.flatnonzero(out)[0])])
                what = f"query {query!r} has no clip with all its keywords, which {each.label} requires"
                raise BadInput(f"{what}; leave it out, or choose --no-relevant skip or empty.")
        start = len(builder.values)
        builder.add(run, task.measures, self.counted)
        values, how = builder.values[start:], {"keywords": self.how} if self.how else {}
        builder.row_attributes[start:] = [
            {**own, "coverage": int(each.counted.sum()) / total if (total := len(each.queries)) else 0.0, **how}
            for own, each in zip(builder.row_attributes[start:], values, strict=True)
        ]
        return MeasuredVariant(self, values, [run.reference(each.measure) for each in task.measures])

    @cached_property
    def explainer(self) -> Explainer:
        """States of each clip which keywords of a query it has and lacks."""
        task = self.task
        return Explainer(self.required, task.annotations, self.judgments, task.least, task.mode == "video")

    def answers(self) -> dict[str, ClipAnswer]:
        """query -> its outcome, with its first results."""
        explainer, found = self.explainer, dict[str, ClipAnswer]()
        relevant: list[int] = self.run.n_relevant.tolist()
        for row, query in enumerate(self.required.queries):
            listed = self.task.first.get(query, ClipList([], []))
            cut = ClipList(listed.items[: self.task.k], listed.similarities[: self.task.k])
            results = tuple(explainer.results(query, cut))
            text = self.task.texts.get(query, query)
            found[query] = ClipAnswer(text, explainer.keywords(query), relevant[row], self.status[row], results)
        return found

    def counts(self) -> dict[str, Any]:
        """The number of queries with each outcome."""
        task, view, run = self.task, self.view, self.run
        short = {str(k): int(((view.retrieved < k) & self.counted).sum()) for k in task.ks}
        without_keywords = self.required.counts == 0
        return {
            "queries": len(self.counted),
            QUERIES_COUNTED: int(self.counted.sum()),
            "no_keywords": int(without_keywords.sum()),
            QUERIES_WITHOUT_RELEVANT: int(((self.n_graded == 0) & ~without_keywords).sum()),
            **({"without_full_match": int(run.without_match.sum())} if task.relevance.kind == "graded" else {}),
            QUERIES_MISSING: int((~view.present).sum()),
            **({"failed": len(task.ranked.failed)} if task.ranked.failed else {}),
            **({"abstained": int((view.present & (view.retrieved == 0)).sum())} if task.least is not None else {}),
            "fewer_results_than_k": short,
            QUERIES_TIED: {str(each.measure): int((run.tied(each.measure) & self.counted).sum()) for each in task.measures},
        }

    def by_group(self, whole: ResultsBuilder) -> list[dict[str, Any]]:
        """Summary rows for each group alone, where queries require more than one; its notes are added to those of the whole."""
        task = self.task
        columns = {
            group: np.array([entry.group == group for entry in task.annotations.keywords], dtype=np.bool_)
            for group in task.annotations.groups
        }
        required = {group: mine for group, mine in columns.items() if (self.required.wanted & mine).any()}
        rows: list[dict[str, Any]] = []
        for group, mine in required.items() if len(required) > 1 else ():
            builder = ResultsBuilder(task.convention)
            ClipVariant(task, self.name, self.required.only(mine)).measure(builder)
            whole.notes += builder.notes
            whole.in_input_order |= builder.in_input_order
            summaries = summarise(builder.values, intervals=task.intervals, seed=task.seed)
            rows += [{**row, "group": group, **own} for row, own in zip(summaries, builder.row_attributes, strict=True)]
        return rows

    def by_keyword(self, measured: MeasuredVariant) -> list[dict[str, Any]]:
        """A row per keyword, with the first measure that reads as deep as the largest cut-off."""
        deep = [place for place, each in enumerate(self.task.measures) if each.measure.cutoff == self.task.k]
        place = deep[0] if deep else 0
        candidates = self.run.levels.candidates
        return keyword_rows(
            self.explainer,
            self.task.first,
            measured.values[place],
            measured.levels[place],
            self.task.k,
            counted=self.counted,
            lacked=lacked_by_chance(self.required, self.task.annotations, self.counted, self._excluded, candidates),
        )
