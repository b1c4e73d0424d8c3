"""Judged rankings of clips, also where the query clip is removed after the cut (Algorithm 2 of
ALFA).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings, expected_values
from rankwell.data.rankings import Hits
from rankwell.data.registry import Measure
from rankwell.data.tables import Bools, Floats, Ints, Judgments, TieRule, Values, ratio
from rankwell.errors import BadInput, flag
from rankwell.evaluation import results
from rankwell.evaluation.judged import Ceiling, JudgedRun, MeasuredQueries, ReferenceLevels
from rankwell.evaluation.results import ResultsBuilder, counted_queries
from rankwell.tasks.clips.inputs import ClipInputs
from rankwell.tasks.clips.options import NoRelevant
from rankwell.tasks.clips.rankings import ClipList, ClipRankings
from rankwell.tasks.clips.sources import RankedClips
from rankwell.tasks.clips.truth import Explainer, Required, judge


class ClipLevels(NamedTuple):
    """(queries,) the ceiling of a measure, and its chance level, NaN where the measure has no
    closed form.
    """

    ceiling: Floats
    chance: Floats


class OwnRanks(NamedTuple):
    """(queries,) the rank of each query clip in its own list, from 1; 0 if not listed. is_tied:
    whether any of them is tied.
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
    """The rankings of clips under one set of judgments; the view never has the query clip itself.

    own: the ranks of the query clips; None where they are removed before any cut. Otherwise each
    list is cut to the k of a measure, then the query clip is removed, and no other clip moves up.
    no_relevant: the rule for queries without a relevant clip by a measure. reordered: the same run
    with tied clips in the order of the input.
    """

    # Clips always have a known number of candidates.
    levels: ReferenceLevels  # pyright: ignore[reportGeneralTypeIssues]
    counted: Bools
    own: OwnRanks | None = None
    no_relevant: NoRelevant = "skip"
    is_weighted: bool = False
    reordered: Callable[[], "ClipRun"] | None = None
    _references: dict[str, ClipLevels] = field(default_factory=dict[str, ClipLevels])

    @property
    def in_input_order(self) -> "ClipRun":
        """The same run with tied clips in the order of the embeddings; otherwise their rank counts
        follow the clips' ids.
        """
        return self if self.reordered is None else self.reordered()

    @cached_property
    def n_relevant(self) -> Ints:
        """(queries,) number of clips with the grade 1; under graded relevance only clips with all
        keywords have it.
        """
        return self.view.n_relevant(1).astype(np.int64)

    @cached_property
    def without_match(self) -> Bools:
        """(queries,) counted queries for which some clip has part of the keywords, and no clip has
        all of them.
        """
        return self.counted & (self.n_relevant == 0) & (n_graded(self.view) > 0)

    @cached_property
    def without_query(self) -> Bools:
        """(queries,) whether the query should be removed after the cut, and its list does not hold
        it.
        """
        if self.own is None:
            return np.zeros(len(self.view.queries), dtype=np.bool_)
        return self.view.present & (self.own.ranks == 0)

    def unmatched(self, measure: Measure) -> Bools:
        """(queries,) counted queries without a clip that has all keywords, for measures without
        partial grades.
        """
        if (
            self.no_relevant == "empty"
            or measure.entry.unit != "share"
            or not self.without_match.any()
        ):
            return np.zeros(len(self.counted), dtype=np.bool_)
        return self.without_match & (measure(self.levels.perfect) == 0)

    def counted_by(self, measure: Measure, counted: Bools) -> Bools:
        """(queries,) the counted queries except for those without a relevant clip by the
        measure.
        """
        return counted & ~self.unmatched(measure)

    def weights(self, measure: Measure) -> Floats | None:
        """(queries,) number of relevant clips where it is the weight of a query, for means only."""
        return (
            self.n_relevant.astype(np.float64)
            if self.is_weighted and measure.entry.summary == "mean"
            else None
        )

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
                perfect, without = levels.perfect.cut(k - 1), self.without_query
                share = np.minimum(k / (levels.candidates + 1), 1.0)
                mixed = share * self._chance_of_short(measure, perfect, k) + (1 - share) * chance
                ceiling, chance = (
                    np.where(without, ceiling, measure(perfect)),
                    np.where(without, chance, mixed),
                )
            self._references[str(measure)] = ClipLevels(ceiling, chance)
        return self._references[str(measure)]

    def _chance_of_short(self, measure: Measure, perfect: JudgedRankings, k: int) -> Floats:
        """The chance level at k of k - 1 clips: the gain is that at k - 1, and the perfect list has
        the ratio of both.
        """
        if k == 1:
            return measure(perfect)
        shorter = measure.with_parameters(k=k - 1)
        return expected_values(shorter, self.levels.random) * ratio(
            measure(perfect), shorter(perfect)
        )

    def ceiling(self, measure: Measure, counted: Bools) -> Ceiling:
        """(queries,) the values of a perfect ranker, None where a counted query has none."""
        values = self.reference(measure).ceiling
        return Ceiling(values if np.isfinite(values[counted]).all() else None)

    def chance(self, measure: Measure) -> Floats | None:
        """(queries,) the values expected of a random ranker, None where a counted query has
        none.
        """
        values = self.reference(measure).chance
        return values if np.isfinite(values[self.counted_by(measure, self.counted)]).all() else None


@dataclass(frozen=True, eq=False)
class ClipVariant:
    """The rankings of a system with one source of the queries' keywords, `given` or `mapped`.
    first: for tables, by query.
    """

    inputs: ClipInputs
    ranked: RankedClips
    first: Mapping[str, ClipList]
    name: str
    required: Required
    origin: str = ""

    @cached_property
    def excluded(self) -> dict[str, set[str]]:
        """query -> clips that it cannot find, itself among them."""
        return {
            query: {*self.inputs.excluded.get(query, ())}
            | ({query} if self.inputs.by_clips else set())
            for query in self.required.queries
        }

    @cached_property
    def judgments(self) -> Judgments:
        """The relevant clips of each query; where it is removed after the cut, the query itself is
        junk.
        """
        inputs = self.inputs
        judgments = judge(
            self.required,
            inputs.annotations,
            relevance=inputs.relevance,
            excluded=self.excluded,
            vacuous=inputs.options.no_keywords == "vacuous",
        )
        if not inputs.is_cut_first:
            return judgments
        return judgments.with_junk({query: [query] for query in self.required.queries})

    @cached_property
    def candidates(self) -> Ints:
        """(queries,) number of clips that each query could find."""
        gallery = set(self.inputs.annotations.clips) | self.ranked.others
        left = [len(gallery - self.excluded[query]) for query in self.judgments.queries]
        return np.array(left, dtype=np.int64)

    @cached_property
    def run(self) -> ClipRun:
        """The rankings under these judgments, ready to be measured."""
        return self._run(self.ranked.rankings)

    def _run(self, rankings: ClipRankings) -> ClipRun:
        inputs = self.inputs
        hits = rankings.hits(self.judgments, inputs.options.min_similarity)
        view = JudgedRankings.join(self.judgments, hits)
        return ClipRun(
            name=self.name,
            view=view,
            ties=rankings.ties,
            levels=ReferenceLevels(self.judgments, self.candidates),
            counted=self._counted(view),
            own=own_ranks(self.judgments, hits, rankings.ties) if inputs.is_cut_first else None,
            no_relevant=inputs.options.no_relevant,
            is_weighted=inputs.options.weights == "relevant",
            reordered=lambda: self._run(rankings.in_input_order),
            tied_items="tied clips keep the order of the embeddings",
        )

    @property
    def counted(self) -> Bools:
        """(queries,) whether each counts."""
        return self.run.counted

    def _counted(self, view: JudgedRankings) -> Bools:
        """(queries,) whether each counts. Raises BadInput for a query whose lack of keywords or
        relevant clips is an error.
        """
        options, bare = self.inputs.options, self.required.counts == 0
        is_vacuous = options.no_keywords == "vacuous"
        without_relevant = (n_graded(view) == 0) & (
            ~bare | (is_vacuous and options.no_relevant == "skip")
        )
        titles = list(map(self.inputs.title, self.required.queries))
        counted = counted_queries(
            titles,
            bare,
            "empty" if is_vacuous else options.no_keywords,
            refuse=lambda query, _: (
                f"query {query!r} has no keyword of the selection; leave it out, or choose "
                f"{flag('--no-keywords', 'skip')}."
            ),
        )
        if options.no_results == "skip":
            counted &= view.retrieved > 0
        return counted_queries(
            titles,
            without_relevant,
            options.no_relevant,
            considered=counted,
            refuse=lambda query, _: (
                f"query {query!r} has no relevant clip; leave it out, or choose "
                f"{flag('--no-relevant', 'skip')} or empty."
            ),
        )

    @cached_property
    def status(self) -> list[str]:
        """(queries,) whether each counts, or why it does not."""
        bare = (self.required.counts == 0) & (self.inputs.options.no_keywords == "skip")
        lost = n_graded(self.run.view) > 0
        return np.select(
            [self.counted, bare, lost], ["counted", "no keywords", "no result"], "no relevant clip"
        ).tolist()

    @cached_property
    def explainer(self) -> Explainer:
        """States of each clip which keywords of a query it has and lacks."""
        inputs = self.inputs
        return Explainer(
            self.required,
            inputs.annotations,
            self.judgments,
            inputs.options.min_similarity,
            inputs.by_clips,
        )

    def measure(self, builder: ResultsBuilder) -> list[Values]:
        """Adds the values of every measure to the results, and returns them. Raises BadInput for a
        query without a match.
        """
        inputs, run = self.inputs, self.run
        for labelled in inputs.measures if inputs.options.no_relevant == "error" else ():
            unmatched = np.flatnonzero(run.unmatched(labelled.measure))
            if len(unmatched):
                query = inputs.title(self.required.queries[int(unmatched[0])])
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
        levels: list[ClipLevels] = []
        for labelled in self.inputs.measures:
            scale, _ = self.inputs.convention.shows(labelled.measure.entry.unit)
            reference = self.run.reference(labelled.measure)
            levels.append(ClipLevels(*(level * scale for level in reference)))
        return levels

    def counts(self) -> dict[str, Any]:
        """The number of queries with each outcome."""
        inputs, run, view = self.inputs, self.run, self.run.view
        bare = self.required.counts == 0
        counts = {
            "queries": len(self.counted),
            results.QUERIES_COUNTED: int(self.counted.sum()),
            "no_keywords": int(bare.sum()),
            results.QUERIES_WITHOUT_RELEVANT: int(((n_graded(view) == 0) & ~bare).sum()),
            "without_full_match": int(run.without_match.sum())
            if inputs.relevance.kind == "graded"
            else None,
            results.QUERIES_MISSING: int((~view.present).sum()),
            "failed": len(self.ranked.failed) or None,
            "abstained": None
            if inputs.options.min_similarity is None
            else int((view.present & (view.retrieved == 0)).sum()),
            "fewer_results_than_k": {
                str(k): int(((view.retrieved < k) & self.counted).sum()) for k in inputs.ks
            },
            results.QUERIES_TIED: {
                str(labelled.measure): int((run.tied(labelled.measure) & self.counted).sum())
                for labelled in inputs.measures
            },
        }
        return {name: count for name, count in counts.items() if count is not None}


def n_graded(view: JudgedRankings) -> Ints:
    """(queries,) number of clips with a grade above 0; under graded relevance they need not have
    all keywords.
    """
    return view.sum_judged(view.judged_grades > 0).astype(np.int64)
