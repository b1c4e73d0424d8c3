"""Relevance by keywords, and judged rankings of clips, also where the query clip is removed after
the cut (Algorithm 2 of ALFA).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings, expected_values
from rankwell.data.rankings import Hits
from rankwell.data.registry import Measure
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Judgments,
    TieRule,
    Values,
    ratio,
    segment_offsets,
    sort_ids,
    without_none,
)
from rankwell.errors import BadInput, flag
from rankwell.evaluation.judged import Ceiling, JudgedRun, MeasuredQueries, ReferenceLevels
from rankwell.evaluation.results import (
    QUERIES_COUNTED,
    QUERIES_MISSING,
    QUERIES_TIED,
    QUERIES_WITHOUT_RELEVANT,
    ResultsBuilder,
    counted_queries,
)
from rankwell.tasks.keywords.annotations import Annotations, QueryKeywords
from rankwell.tasks.keywords.inputs import ClipInputs
from rankwell.tasks.keywords.options import KeywordOptions, Relevance
from rankwell.tasks.keywords.rankings import RankedClips

_ALL = Relevance("all")


@dataclass(frozen=True, eq=False)
class KeywordMasks:
    """The keywords that each query requires and excludes.

    queries: ids in the order of their bytes.
    required: (queries, keywords) whether the query requires the keyword.
    excluded: (queries, keywords) whether the query excludes the keyword.
    selection: (keywords,) whether the keyword counts; True for all.
    """

    queries: tuple[str, ...]
    required: Bools
    excluded: Bools
    selection: Bools | bool

    @classmethod
    def of_clips(
        cls,
        annotations: Annotations,
        selection: Bools | bool = True,
        clips: Sequence[str] | None = None,
    ) -> "KeywordMasks":
        """Clips, all by default, are queries that require their own keywords. clips: in the order
        of the table.
        """
        queries = annotations.clips if clips is None else tuple(clips)
        required = (
            annotations.is_annotated[[annotations.index[clip] for clip in queries]] & selection
        )
        return cls(queries, required, np.zeros_like(required), selection)

    @classmethod
    def of_texts(
        cls,
        annotations: Annotations,
        keywords: Mapping[str, QueryKeywords],
        selection: Bools | bool = True,
    ) -> "KeywordMasks":
        """Queries with the keywords that their texts mean. Raises BadInput for an unknown
        keyword.
        """
        queries = tuple(sort_ids(keywords))
        required, excluded = np.zeros((2, len(queries), len(annotations.keywords)), dtype=np.bool_)
        for row, query in enumerate(queries):
            sides = zip(
                (required, excluded), ("requires", "excludes"), keywords[query], strict=True
            )
            for cells, verb, entries in sides:
                for entry in entries:
                    if entry not in annotations.column:
                        raise BadInput(
                            f"query {query!r} {verb} {entry}, which is neither declared nor "
                            "used; name one that is."
                        )
                    cells[row, annotations.column[entry]] = True
        return cls(queries, required & selection, excluded & selection, selection)

    def only(self, columns: Bools) -> "KeywordMasks":
        """The same queries, which require the chosen keywords alone; what they exclude stays
        excluded.
        """
        return KeywordMasks(
            self.queries, self.required & columns, self.excluded, self.selection & columns
        )


def judge(
    keywords: KeywordMasks,
    annotations: Annotations,
    *,
    relevance: Relevance = _ALL,
    excluded: Mapping[str, Collection[str]] | None = None,
    vacuous: bool = False,
) -> Judgments:
    """The clips that are relevant to each query. Without a required keyword there are none, or with
    `vacuous` all.

    `all`: those that carry every required keyword. `any`: at least one. `jaccard`: those whose
    keywords have a Jaccard index of at least `least` with the required ones. `graded`: any, with
    the grade matched / required; else the grade is 1. A narrower keyword counts as the wider ones
    that it implies. By every rule a clip that carries an excluded keyword is not relevant.
    excluded: query -> clips that cannot be found for it (itself, its own drive).
    """
    carried, annotated = annotations.carried, annotations.is_annotated & keywords.selection
    n_annotated = annotated.sum(axis=1)
    items: list[str] = []
    counts, parts = list[int](), [np.zeros(0)]
    sides = zip(keywords.queries, keywords.required, keywords.excluded, strict=True)
    for query, required, unwanted in sides:
        matched, total = carried[:, required].sum(axis=1), int(required.sum())
        if not total:
            grades = np.full(len(carried), vacuous)
        elif relevance.kind == "all":
            grades = matched == total
        elif relevance.kind == "any":
            grades = matched > 0
        elif relevance.kind == "graded":
            grades = matched / total
        else:
            together = total + n_annotated - annotated[:, required].sum(axis=1)
            grades = matched / together >= relevance.least
        grades = np.where(carried[:, unwanted].any(axis=1), 0.0, grades)
        grades[[annotations.index[clip] for clip in (excluded or {}).get(query, ())]] = 0.0
        clips = np.flatnonzero(grades)
        items += [annotations.clips[clip] for clip in clips.tolist()]
        counts.append(len(clips))
        parts.append(grades[clips])
    offsets = segment_offsets(np.array(counts, dtype=np.int64))
    return Judgments(keywords.queries, offsets, items, np.concatenate(parts))


class ClipLevels(NamedTuple):
    """The reference levels of each query by one measure. In results they have the unit of the
    convention.

    ceiling: (queries,) the values of a perfect ranker.
    chance: (queries,) values expected of a random ranker; NaN where the measure has no closed form.
    """

    ceiling: Floats
    chance: Floats


class OwnRanks(NamedTuple):
    """The ranks of the query clips in their own lists.

    ranks: (queries,) ranks from 1; 0 where the list does not hold the query.
    is_tied: whether any of them is tied.
    """

    ranks: Ints
    is_tied: bool


def own_ranks(judgments: Judgments, hits: Hits, ties: TieRule) -> OwnRanks:
    """The ranks of the query clips, which are junk: last of tied clips under the best order, first
    under the worst.
    """
    ranks = np.zeros(len(judgments.queries), dtype=np.int64)
    if judgments.junk is None:
        return OwnRanks(ranks, False)
    is_query = judgments.junk[hits.row]
    before = {"optimistic": hits.tied - 1, "pessimistic": 0}.get(ties, hits.before)
    ranks[hits.query[is_query]] = (hits.above + before + 1)[is_query]
    return OwnRanks(ranks, bool((hits.tied[is_query] > 1).any()))


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipRun(JudgedRun):
    """The rankings of clips under one set of judgments. The view never contains the query clip
    itself.

    levels: the perfect and the random ranking; clips always have a known number of candidates.
    variant: the keywords of the queries, with the judgments that follow from them.
    ranked: the rankings.
    counted: (queries,) whether the query counts for measures that accept partial grades.
    own: the ranks of the query clips; None where they are removed before any cut. With ranks, each
        list is cut to the k of a measure and then loses the query clip, and no other clip moves up.
    tied_items: the words for tied clips and their order in the note on input order.
    """

    # Clips always have a known number of candidates.
    levels: ReferenceLevels  # pyright: ignore[reportGeneralTypeIssues]
    variant: "ClipVariant"
    ranked: RankedClips
    counted: Bools
    own: OwnRanks | None
    tied_items: str = "tied clips keep the order of the embeddings"
    _references: dict[str, ClipLevels] = field(default_factory=dict[str, ClipLevels])

    @property
    def in_input_order(self) -> "ClipRun":
        """The same run with tied clips in the order of the embeddings; otherwise their rank counts
        follow the clips' ids.
        """
        return self.variant.run_of(self.ranked.in_input_order)

    @cached_property
    def n_relevant(self) -> Ints:
        """The number of clips with the grade 1, (queries,); under graded relevance only clips with
        all keywords have it.
        """
        return self.view.n_relevant(1).astype(np.int64)

    @cached_property
    def without_match(self) -> Bools:
        """The counted queries for which some clip has part of the keywords, and no clip has all of
        them: (queries,).
        """
        return self.counted & (self.n_relevant == 0) & (n_graded(self.view) > 0)

    @cached_property
    def without_query(self) -> Bools:
        """Whether the query should be removed after the cut, and its list does not hold it:
        (queries,).
        """
        if self.own is None:
            return np.zeros(len(self.view.queries), dtype=np.bool_)
        return self.view.has_ranking & (self.own.ranks == 0)

    def unmatched(self, measure: Measure) -> Bools:
        """The counted queries without a clip that has all keywords, (queries,), for measures
        without partial grades.
        """
        is_empty = self.variant.options.no_relevant == "empty"
        if is_empty or measure.entry.unit != "share" or not self.without_match.any():
            return np.zeros(len(self.counted), dtype=np.bool_)
        return self.without_match & (measure(self.levels.perfect) == 0)

    def counted_by(self, measure: Measure, counted: Bools) -> Bools:
        """The counted queries except those without a relevant clip by the measure: (queries,)."""
        return counted & ~self.unmatched(measure)

    def weights(self, measure: Measure) -> Floats | None:
        """The number of relevant clips where it is the weight of a query, (queries,), for means
        only.
        """
        is_weighted = self.variant.inputs.rules.weight_by == "relevant"
        if not is_weighted or measure.entry.summary != "mean":
            return None
        return self.n_relevant.astype(np.float64)

    def evaluate(self, measure: Measure) -> MeasuredQueries:
        """The values of a measure; a list that loses its query within the first k has k - 1 clips
        left.
        """
        k = measure.cutoff
        if self.own is None or k is None:
            return super().evaluate(measure)
        if self.ties == "expected" and (self.has_ties or self.own.is_tied):
            return self.in_input_order.evaluate(measure)._replace(in_input_order=True)
        measured, lost = super().evaluate(measure), (self.own.ranks > 0) & (self.own.ranks <= k)
        shorter = measure(self.resolved.cut(k - 1))
        return measured._replace(values=np.where(lost, shorter, measured.values))

    def reference(self, measure: Measure) -> ClipLevels:
        """The ceiling and the chance level of each query.

        With removal after the cut a perfect ranker ranks the query clip first, a random one
        anywhere; some lists do not hold it.
        """
        if str(measure) not in self._references:
            k, levels = measure.cutoff, self.levels
            ceiling, chance = measure(levels.perfect), expected_values(measure, levels.random)
            if self.own is not None and k is not None:
                perfect = levels.perfect.cut(k - 1)
                short = short_chance = measure(perfect)
                if k > 1:
                    # The gain is that at k - 1, and the perfect list has the ratio of both.
                    shorter = measure.with_parameters(k=k - 1)
                    gain = expected_values(shorter, levels.random)
                    short_chance = gain * ratio(short, shorter(perfect))
                share = np.minimum(k / (levels.candidates + 1), 1.0)
                mixed = share * short_chance + (1 - share) * chance
                ceiling = np.where(self.without_query, ceiling, short)
                chance = np.where(self.without_query, chance, mixed)
            self._references[str(measure)] = ClipLevels(ceiling, chance)
        return self._references[str(measure)]

    def ceiling(self, measure: Measure, counted: Bools) -> Ceiling:
        """The values of a perfect ranker, (queries,); None where a counted query lacks one."""
        values = self.reference(measure).ceiling
        return Ceiling(values if np.isfinite(values[counted]).all() else None)

    def chance(self, measure: Measure) -> Floats | None:
        """The chance level of each query, (queries,); None where a counted query has none."""
        values = self.reference(measure).chance
        return values if np.isfinite(values[self.counted_by(measure, self.counted)]).all() else None


@dataclass(frozen=True, eq=False)
class ClipVariant:
    """The rankings of a system with one source of the queries' keywords.

    ranked: the rankings.
    name: name of the run in the results; with two sources of keywords `NAME (given)` and `NAME
        (mapped)`.
    keywords: the keywords of the queries.
    origin: `given` or `mapped` for text queries; empty for query clips, which require their own
        keywords.
    """

    ranked: RankedClips
    name: str
    keywords: KeywordMasks
    origin: str = ""

    @property
    def inputs(self) -> ClipInputs:
        """The inputs of the evaluation."""
        return self.ranked.inputs

    @property
    def options(self) -> KeywordOptions:
        """The options of the evaluation."""
        return self.inputs.options

    @cached_property
    def excluded(self) -> dict[str, set[str]]:
        """query -> clips that it cannot find, itself among them."""
        return {
            query: {query, *self.inputs.excluded.get(query, ())} if self.inputs.by_clips else set()
            for query in self.keywords.queries
        }

    @cached_property
    def judgments(self) -> Judgments:
        """The relevant clips of each query; where it is removed after the cut, the query itself is
        junk.
        """
        judgments = judge(
            self.keywords,
            self.inputs.annotations,
            relevance=self.inputs.relevance,
            excluded=self.excluded,
            vacuous=self.inputs.rules.no_keywords == "vacuous",
        )
        if not self.inputs.is_cut_first:
            return judgments
        return judgments.with_junk({query: [query] for query in self.keywords.queries})

    @cached_property
    def candidates(self) -> Ints:
        """The number of clips that each query could find: (queries,)."""
        n_clips = len(self.ranked.unannotated_clips.union(self.inputs.annotations.clips))
        n_excluded = [len(self.excluded[query]) for query in self.keywords.queries]
        return n_clips - np.array(n_excluded, dtype=np.int64)

    @cached_property
    def run(self) -> ClipRun:
        """The rankings under these judgments, ready to be measured."""
        return self.run_of(self.ranked)

    def run_of(self, ranked: RankedClips) -> ClipRun:
        """Rankings under these judgments."""
        hits = ranked.hits(self.judgments)
        view = JudgedRankings.join(self.judgments, hits)
        is_cut_first = self.inputs.is_cut_first
        return ClipRun(
            name=self.name,
            view=view,
            ties=ranked.ties,
            levels=ReferenceLevels(self.judgments, self.candidates),
            variant=self,
            ranked=ranked,
            counted=self._counted(view),
            own=own_ranks(self.judgments, hits, ranked.ties) if is_cut_first else None,
        )

    @property
    def counted(self) -> Bools:
        """Whether each query counts: (queries,)."""
        return self.run.counted

    @property
    def bare(self) -> Bools:
        """Whether each query requires no keyword: (queries,)."""
        return np.equal(self.keywords.required.sum(axis=1), 0)

    def _counted(self, view: JudgedRankings) -> Bools:
        """Whether each query counts: (queries,). Raises BadInput for a query whose lack of keywords
        or relevant clips is an error.
        """
        options, bare = self.options, self.bare
        is_vacuous = self.inputs.rules.no_keywords == "vacuous"
        may_lack = ~bare | (is_vacuous and options.no_relevant == "skip")
        titles = list(map(self.inputs.title, self.keywords.queries))
        counted = counted_queries(
            titles,
            bare,
            "empty" if is_vacuous else self.inputs.rules.no_keywords,
            refuse=lambda query, _: (
                f"query {query!r} has no keyword of the selection; leave it out, or choose "
                "no_keywords = 'skip' in a convention of your own."
            ),
        )
        if self.inputs.rules.no_results == "skip":
            counted &= view.n_retrieved > 0
        return counted_queries(
            titles,
            (n_graded(view) == 0) & may_lack,
            options.no_relevant,
            considered=counted,
            refuse=lambda query, _: (
                f"query {query!r} has no relevant clip; leave it out, or choose "
                f"{flag('--no-relevant', 'skip')} or empty."
            ),
        )

    @cached_property
    def status(self) -> list[str]:
        """Whether each query counts, or why it does not: (queries,)."""
        bare = self.bare & (self.inputs.rules.no_keywords == "skip")
        lost = n_graded(self.run.view) > 0
        return np.select(
            [self.counted, bare, lost], ["counted", "no keywords", "no result"], "no relevant clip"
        ).tolist()

    def measure(self, builder: ResultsBuilder) -> list[Values]:
        """Adds the values of every measure to the results, and returns them. Raises BadInput for a
        query without a match.
        """
        inputs, run = self.inputs, self.run
        for labelled in inputs.measures if self.options.no_relevant == "error" else ():
            unmatched = np.flatnonzero(run.unmatched(labelled.measure))
            if len(unmatched):
                query = inputs.title(self.keywords.queries[int(unmatched[0])])
                raise BadInput(
                    f"query {query!r} has no clip with all its keywords, which {labelled.label} "
                    f"requires; leave it out, or choose {flag('--no-relevant', 'skip')} or empty."
                )
        start = len(builder.values)
        builder.add(run, inputs.measures, self.counted)
        values, origin = builder.values[start:], {"keywords": self.origin} if self.origin else {}
        builder.row_attributes[start:] = [
            {
                **attributes,
                "coverage": float(of_measure.counted.mean()) if of_measure.queries else 0.0,
                **origin,
            }
            for of_measure, attributes in zip(values, builder.row_attributes[start:], strict=True)
        ]
        return values

    def levels(self) -> list[ClipLevels]:
        """The ceilings and chance levels of each measure, in the unit of the convention."""
        return [
            ClipLevels(
                *(
                    level * self.inputs.convention.shows(measure.entry.unit)[0]
                    for level in self.run.reference(measure)
                )
            )
            for measure, *_ in self.inputs.measures
        ]

    def counts(self) -> dict[str, Any]:
        """The number of queries with each outcome."""
        inputs, run, view = self.inputs, self.run, self.run.view
        counts = {
            "queries": len(self.counted),
            QUERIES_COUNTED: int(self.counted.sum()),
            "no_keywords": int(self.bare.sum()),
            QUERIES_WITHOUT_RELEVANT: int(((n_graded(view) == 0) & ~self.bare).sum()),
            "without_full_match": int(run.without_match.sum())
            if inputs.relevance.kind == "graded"
            else None,
            QUERIES_MISSING: int((~view.has_ranking).sum()),
            "failed": len(self.ranked.failed) or None,
            "abstained": None
            if self.options.min_similarity is None
            else int((view.has_ranking & (view.n_retrieved == 0)).sum()),
            "fewer_results_than_k": {
                str(k): int(((view.n_retrieved < k) & self.counted).sum()) for k in inputs.ks
            },
            QUERIES_TIED: {
                str(labelled.measure): int((run.tied(labelled.measure) & self.counted).sum())
                for labelled in inputs.measures
            },
        }
        return without_none(counts)


def n_graded(view: JudgedRankings) -> Ints:
    """The number of clips with a grade above 0, (queries,); under graded relevance they need not
    have all keywords.
    """
    return view.sum_judged(view.judged_grades > 0).astype(np.int64)
