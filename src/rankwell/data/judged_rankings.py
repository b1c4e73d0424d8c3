"""Judged rankings: per query the judged items that were retrieved, with their ranks, and
what the rules for ties make of them; also with second grades, in sessions, and by aspects.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from rankwell.data.rankings import Hits
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Judgments,
    QueryRows,
    TieRule,
    columns_at,
    first_repeated,
    first_true,
    offsets_from_rows,
    order_ids,
    position_in_segment,
    running_sum,
    segment_of_row,
    segment_offsets,
    sort_ids,
    sum_by,
    take_segments,
)
from rankwell.errors import BadInput, TieRefused

if TYPE_CHECKING:
    from rankwell.data.registry import Measure

# How far down a measure looks: one number, one number per query, or everything.
Depth = int | Ints | None


class RankedRows(QueryRows):
    """Rows by query and rank."""

    @cached_property
    def ranks(self) -> Ints:
        """Rank of each row, from 1, ascending within a query."""
        return position_in_segment(self.offsets) + 1

    def depth_of_row(self, depth: int | Ints) -> Ints:
        """The depth of each row's query."""
        return np.broadcast_to(np.asarray(depth, dtype=np.int64), (len(self.queries),))[
            self.query_of_row
        ]

    def within(self, depth: Depth) -> Bools:
        """Whether each row's rank is within the depth; `depth` is one number, one per query, or
        None for all ranks.
        """
        if depth is None:
            return np.ones(len(self.ranks), dtype=np.bool_)
        return self.ranks <= self.depth_of_row(depth)


@dataclass(frozen=True, eq=False)
class JudgedRankings(RankedRows):
    """A run joined with its judgments, as a measure of your own receives it.

    Flat arrays with a row per judged item that was retrieved, by query and rank. Junk counts
    nowhere; hidden items count only in the truth. `judged_rankings` makes one from mappings.

    queries: ids of the queries.
    offsets: (queries + 1,) where the rows of each query begin.
    items: (rows,) the row of each item in the judgments.
    grades: (rows,) the judged grades; an item with a grade below 0 is never relevant.
    scores: (rows,) the scores in the ranking.
    above: (rows,) number of items that score higher.
    tied: (rows,) number of items that score the same, itself included.
    before: (rows,) number of the tied items that are placed earlier.
    n_retrieved: (queries,) number of items in the ranking.
    has_ranking: (queries,) whether the ranking has the query.
    judged_offsets: (queries + 1,) where the judged grades of each query begin.
    judged_grades: all grades of each query, highest first, retrieved or not.
    in_random_order: whether `share_within` and `value_within` are means over random orders of tied
        items.
    least_judged: the lowest grade that counts as a judgment; trec_eval treats items below 0 as
        unjudged.

    >>> import rankwell as rw
    >>> view = rw.judged_rankings({"q": {"a": 2, "b": 1}}, {"q": ["x", "a", "b"]})
    >>> view.ranks.tolist(), view.relevant(2).tolist()
    ([2, 3], [True, False])
    """

    needs: ClassVar[str] = "rankings and judgments of their items"
    items: Ints
    grades: Floats
    scores: Floats
    above: Ints
    tied: Ints
    before: Ints
    n_retrieved: Ints
    has_ranking: Bools
    judged_offsets: Ints
    judged_grades: Floats
    in_random_order: bool = False
    least_judged: float = -np.inf

    @classmethod
    def join(cls, judgments: Judgments, hits: Hits) -> Self:
        """The view of one ranking under one truth; `hits.row` and `hits.query` point into these
        judgments.
        """
        hits = _without_junk(hits, judgments.unranked[hits.row])
        order = np.lexsort((hits.before, hits.above, hits.query))
        # Rows that are in order already are not copied.
        rows = slice(None) if (np.diff(order) > 0).all() else order
        real = np.flatnonzero(judgments.real)
        owner = judgments.query_of_row[real]
        order = np.lexsort((-judgments.grades[real], owner))
        return cls(
            queries=judgments.queries,
            offsets=offsets_from_rows(hits.query[rows], len(judgments.queries)),
            items=hits.row[rows],
            grades=judgments.grades[hits.row[rows]],
            scores=hits.score[rows],
            above=hits.above[rows],
            tied=hits.tied[rows],
            before=hits.before[rows],
            n_retrieved=hits.n_retrieved,
            has_ranking=hits.has_ranking,
            judged_offsets=offsets_from_rows(owner, len(judgments.queries)),
            judged_grades=judgments.grades[real][order],
        )

    @cached_property
    def ranks(self) -> Ints:
        """Rank of each row, from 1, ascending within a query."""
        return self.above + self.before + 1

    @cached_property
    def query_of_judged(self) -> Ints:
        """Index of the query of each of `judged_grades`."""
        return segment_of_row(self.judged_offsets)

    @cached_property
    def judged_positions(self) -> Ints:
        """Rank, from 1, of each of `judged_grades` in the ideal ranking."""
        return position_in_segment(self.judged_offsets) + 1

    def sum_judged(self, values: Floats | Bools) -> Floats:
        """Sum of the judgments' values of each query, added from the highest grade down; 0 without
        judgments.
        """
        return sum_by(self.query_of_judged, values, len(self.queries))

    def count_so_far(self, mask: Bools) -> Ints:
        """Running count of the rows of the mask within each query."""
        return running_sum(mask.astype(np.int64), self.offsets)

    def first_rank(self, mask: Bools) -> Floats:
        """Rank of the first row of the mask in each query; infinity without one."""
        first = np.full(len(self.queries), np.inf)
        np.minimum.at(first, self.query_of_row[mask], self.ranks[mask].astype(np.float64))
        return first

    def max_rows(self, values: Floats) -> Floats:
        """Maximum of the rows' values of each query; 0 without rows or if all are negative."""
        most = np.zeros(len(self.queries))
        np.maximum.at(most, self.query_of_row, values)
        return most

    def sum_until(self, values: Floats, queries: Ints, depths: Ints) -> Floats:
        """Sum of the rows' values of a query down to a depth, for each pair of query and depth."""
        stride = int(max(self.ranks.max(initial=0), depths.max(initial=0))) + 1
        rows = np.searchsorted(
            self.query_of_row * stride + self.ranks, queries * stride + depths, side="right"
        )
        sums = np.concatenate([np.zeros(1), running_sum(values.astype(np.float64), self.offsets)])
        return np.where(rows > self.offsets[queries], sums[rows], 0.0)

    def relevant(self, rel: float) -> Bools:
        """Whether each row's grade is at least `rel` and not below 0, whatever `rel` is."""
        return self.grades >= max(rel, 0)

    def n_relevant(self, rel: float) -> Floats:
        """Number of items of each query with a grade of at least `rel`, retrieved or not."""
        return self.sum_judged(self.judged_grades >= max(rel, 0))

    @property
    def is_judged(self) -> Bools:
        """Whether each row's grade is a judgment."""
        return self.grades >= self.least_judged

    @property
    def n_judged(self) -> Floats:
        """Number of items of each query that are judged, retrieved or not."""
        return self.sum_judged(self.judged_grades >= self.least_judged)

    @cached_property
    def with_unjudged_pool(self) -> "JudgedRankings":
        """The view in which a negative grade leaves an item unjudged, as in trec_eval."""
        return replace(self, least_judged=0.0)

    def list_length(self, depth: int | None) -> Ints:
        """Number of items in the first `depth` ranks of each query; for None, of all retrieved
        items.
        """
        return self.n_retrieved if depth is None else np.minimum(self.n_retrieved, depth)

    def share_within(self, depth: Depth) -> Floats | Bools:
        """Whether each row's rank is within the depth; the probability of it if ties are in random
        order.
        """
        return self.chance_within(depth) if self.in_random_order else self.within(depth)

    def value_within(self, worth: Callable[[Ints], Floats], depth: Depth) -> Floats:
        """`worth(rank)` of each row within the depth, otherwise 0; its mean if ties are in random
        order.
        """
        if self.in_random_order:
            return self.mean_over_ties(worth, depth)
        return np.where(self.within(depth), worth(self.ranks), 0.0)

    @cached_property
    def with_random_order(self) -> "JudgedRankings":
        """The view in which tied items are in random order.

        It lists tied rows by grade, so that sums of expected values do not depend on the order of
        the input.
        """
        by_grade = np.lexsort((-self.grades, self.above, self.query_of_row))
        return replace(self._rows(by_grade, self.offsets), in_random_order=True)

    def without_unjudged(self, when: bool) -> "JudgedRankings":
        """The view itself, or without unjudged items."""
        return self.condensed if when else self

    def chance_within(self, depth: Depth) -> Floats:
        """Probability that each row's rank is within the depth if ties are in random order."""
        if depth is None:
            return np.ones(len(self.ranks))
        return np.clip((self.depth_of_row(depth) - self.above) / self.tied, 0.0, 1.0)

    def mean_over_ties(self, worth: Callable[[Ints], Floats], depth: Depth) -> Floats:
        """Mean of `worth(rank)` over the ranks that ties allow each row; ranks beyond the depth are
        worth 0.
        """
        last = self.depth_of_row(np.iinfo(np.int64).max if depth is None else depth)
        alone = self.above + 1
        means = np.where(alone <= last, worth(alone), 0.0)
        first = self.first_of_tie
        mean_by_tie = means[first]
        for group in np.flatnonzero(self.tied[first] > 1).tolist():
            row = int(first[group])
            above, tied = int(self.above[row]), int(self.tied[row])
            tied_ranks = np.arange(above + 1, min(above + tied, int(last[row])) + 1)
            mean_by_tie[group] = worth(tied_ranks).sum() / tied
        return mean_by_tie[self.tie_of_row]

    @property
    def first_of_tie(self) -> Ints:
        """The first row of each tie."""
        return np.flatnonzero(np.diff(self.tie_of_row, prepend=-1))

    @cached_property
    def tie_of_row(self) -> Ints:
        """Number, from 0, of each row's tie: the rows of one query with one score."""
        new = (np.diff(self.query_of_row, prepend=-1) != 0) | (np.diff(self.above, prepend=-1) != 0)
        return np.cumsum(new) - 1

    def cut(self, depth: int) -> "JudgedRankings":
        """The view of rankings cut to their first `depth` items; the truth stays whole."""
        n_retrieved = np.minimum(self.n_retrieved, depth)
        return replace(self.keep(self.ranks <= depth), n_retrieved=n_retrieved)

    @cached_property
    def condensed(self) -> "JudgedRankings":
        """The view of rankings without unjudged items."""
        view = self.keep(self.is_judged)
        positions = position_in_segment(view.offsets)
        above = positions[view.first_of_tie][view.tie_of_row]
        return replace(
            view,
            above=above,
            tied=np.bincount(view.tie_of_row)[view.tie_of_row],
            before=positions - above,
            n_retrieved=np.diff(view.offsets),
        )

    def take(self, queries: Ints) -> "JudgedRankings":
        """The view of some queries only, in the order given by their indices."""
        rows, offsets = take_segments(self.offsets, queries)
        judged, judged_offsets = take_segments(self.judged_offsets, queries)
        return replace(
            self._rows(rows, offsets),
            queries=tuple(self.queries[query] for query in queries.tolist()),
            n_retrieved=self.n_retrieved[queries],
            has_ranking=self.has_ranking[queries],
            judged_offsets=judged_offsets,
            judged_grades=self.judged_grades[judged],
        )

    def with_unknown(self, unknown: Mapping[str, int]) -> "JudgedRankings":
        """The view with further queries that the truth lacks, each with the length of its ranking;
        sorted by id.
        """
        if not unknown:
            return self
        added = len(unknown)
        extended = replace(
            self,
            queries=(*self.queries, *unknown),
            offsets=np.pad(self.offsets, (0, added), mode="edge"),
            n_retrieved=np.append(self.n_retrieved, list(unknown.values())),
            has_ranking=np.pad(self.has_ranking, (0, added), constant_values=True),
            judged_offsets=np.pad(self.judged_offsets, (0, added), mode="edge"),
        )
        return extended.take(order_ids(extended.queries))

    def resolve(self, ties: TieRule) -> "JudgedRankings":
        """The view with tied items at their best (`optimistic`) or worst (`pessimistic`) places;
        under other rules, they are ordered already.

        Raises TieRefused under `error` if a judged item is tied with any other.
        """
        if ties == "error" and (row := first_true(self.tied > 1)) >= 0:
            query, score = self.queries[int(self.query_of_row[row])], float(self.scores[row])
            raise TieRefused(
                f"query {query!r}: {self.tied[row]} items share the score {score!r} at rank "
                f"{self.above[row] + 1}, one of them judged; name a tie rule, or break the tie."
            )
        if ties not in ("optimistic", "pessimistic"):
            return self
        gain = self.grades if ties == "optimistic" else -self.grades
        # Between the judged items that help and those that hurt stand the unjudged ones.
        early = gain > 0 if ties == "optimistic" else gain >= 0
        order = np.lexsort((-gain, self.above, self.query_of_row))
        view = self._rows(order, self.offsets)
        sizes = np.bincount(view.tie_of_row)
        tie_places = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[view.tie_of_row]
        late = view.tied - sizes[view.tie_of_row]
        return replace(view, before=tie_places + np.where(early[order], 0, late))

    def keep(self, mask: Bools) -> "JudgedRankings":
        """The view of some rows only; the truth and the lengths of rankings stay whole."""
        return self._rows(
            np.flatnonzero(mask), offsets_from_rows(self.query_of_row[mask], len(self.queries))
        )

    def _rows(self, rows: Ints, offsets: Ints) -> "JudgedRankings":
        names = ("items", "grades", "scores", "above", "tied", "before")
        return replace(self, offsets=offsets, **columns_at(self, rows, *names))


def _without_junk(hits: Hits, is_junk: Bools) -> Hits:
    """The hits that are no junk, counted without it."""
    if not is_junk.any():
        return hits
    places = hits.above + hits.before
    begin = hits.query * (int(places.max()) + 1)
    junk_above = np.sort((begin + hits.above)[is_junk])
    first, left = (
        np.searchsorted(junk_above, begin),
        np.searchsorted(junk_above, begin + hits.above),
    )
    right = np.searchsorted(junk_above, begin + hits.above, side="right")
    earlier = np.searchsorted(np.sort((begin + places)[is_junk]), begin + places) - left
    n_junk = np.bincount(hits.query[is_junk], minlength=len(hits.n_retrieved))
    counted = replace(
        hits,
        above=hits.above - (left - first),
        tied=hits.tied - (right - left),
        before=hits.before - earlier,
        n_retrieved=hits.n_retrieved - n_junk,
    )
    names = ("query", "row", "score", "above", "tied", "before")
    return replace(counted, **columns_at(counted, np.flatnonzero(~is_junk), *names))


def expected_values(measure: "Measure", view: JudgedRankings) -> Floats:
    """The expected value of a measure on a view in which all items of a query are tied
    (`constant`): (queries,).

    That is its chance level. Queries with as many items and the same grades have one, which is
    computed once for all of them: a closed form may take time in proportion to the items. NaN where
    the measure has no closed form.
    """
    if measure.entry.view is not JudgedRankings or measure.entry.expected is None:
        return np.full(len(view.queries), np.nan)
    bounds = zip(view.n_retrieved.tolist(), pairwise(view.judged_offsets.tolist()), strict=True)
    kinds = [(n, view.judged_grades[start:stop].tobytes()) for n, (start, stop) in bounds]
    first_query: dict[tuple[int, bytes], int] = {}
    for query, kind in enumerate(kinds):
        first_query.setdefault(kind, query)
    sample = view.take(np.array(list(first_query.values()), dtype=np.int64))
    values = measure.entry.expected(sample, **dict(measure.arguments))
    value_of_kind = dict(zip(first_query, values.tolist(), strict=True))
    return np.array([value_of_kind[kind] for kind in kinds], dtype=np.float64)


class JudgmentPair(NamedTuple):
    """Two judgments of the same queries and items; either may lack some of the other's rows.

    first: the judgments of relevance, in which hits are found.
    second: judgments of something else, such as how well an item is understood.
    """

    first: Judgments
    second: Judgments


@dataclass(frozen=True, eq=False)
class _OverRankings:
    """Judged rankings with further data.

    flat: the judged rankings.
    """

    row_columns: ClassVar[tuple[str, ...]] = ()
    """What it has for each of their rows."""
    flat: JudgedRankings

    @property
    def queries(self) -> tuple[str, ...]:
        """The ids of the queries, or of what stands in their place."""
        return self.flat.queries

    @property
    def with_unjudged_pool(self) -> Self:
        """The view in which a negative grade leaves an item unjudged, as in trec_eval."""
        return replace(self, flat=self.flat.with_unjudged_pool)

    def take(self, queries: Ints) -> Self:
        """The view of some queries only, in the order given by their indices."""
        rows, _ = take_segments(self.flat.offsets, queries)
        flat = self.flat.take(queries)
        return replace(self, flat=flat, **columns_at(self, rows, *self.row_columns))


@dataclass(frozen=True, eq=False)
class SecondJudgedRankings(_OverRankings):
    """Judged rankings whose items have second grades.

    flat: the judged rankings by relevance.
    second: (rows,) the second grade of each row, NaN for an item that has none.
    """

    needs: ClassVar[str] = "judged rankings and second judgments of their items"
    option: ClassVar[str] = "--other-qrels"
    row_columns = ("second",)
    second: Floats

    @classmethod
    def join(cls, judgments: JudgmentPair, hits: Hits) -> Self:
        """The view of one ranking under two judgments; `hits` are those of the first."""
        flat, second = JudgedRankings.join(judgments.first, hits), judgments.second
        grade_of_pair = dict(zip(second.pairs, second.grades.tolist(), strict=True))
        pairs = list(judgments.first.pairs)
        grades = [grade_of_pair.get(pairs[row], np.nan) for row in map(int, flat.items)]
        return cls(flat, np.array(grades, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class SessionQueries(QueryRows):
    """The queries of each session, in order.

    queries: ids of the sessions.
    offsets: (sessions + 1,) where the queries of each session begin.
    items: (rows,) ids of queries, each in one session.
    """

    items: Sequence[str]

    @classmethod
    def from_dict(cls, sessions: Mapping[str, Sequence[str]]) -> Self:
        """The table of a mapping session -> its queries in order. Raises BadInput for a query that
        is listed twice.
        """
        pairs = [(query, session) for session, queries in sessions.items() for query in queries]
        if twice := first_repeated([query for query, _ in pairs]):
            query, *rows = twice
            names = list(dict.fromkeys(repr(pairs[row][1]) for row in rows))
            raise BadInput(
                f"query {query!r} is listed twice, in session{'s' * (len(names) > 1)} "
                f"{' and '.join(names)}; a query has one place in one session."
            )
        names = sort_ids(sessions)
        lengths = np.array([len(sessions[name]) for name in names], dtype=np.int64)
        return cls(
            tuple(names),
            segment_offsets(lengths),
            [query for name in names for query in sessions[name]],
        )


@dataclass(frozen=True, eq=False)
class SessionRankings(_OverRankings):
    """The judged rankings of all queries of a session.

    flat: the judged rankings by session: its `queries` are sessions, and a row's rank is its rank
        in the list of its query.
    position: (rows,) the place of the row's query in its session, from 1. A query without judgments
        keeps its place and has no rows.
    """

    needs: ClassVar[str] = "judged rankings and the session of each query"
    option: ClassVar[str] = "--sessions"
    row_columns = ("position",)
    position: Ints

    @classmethod
    def join(cls, view: JudgedRankings, sessions: SessionQueries) -> Self:
        """The view by sessions of rankings whose ties are resolved; queries of no session are left
        out.
        """
        index = np.array([view.index.get(query, -1) for query in sessions.items], dtype=np.int64)
        rows = np.flatnonzero(index >= 0)
        taken = view.take(index[rows])
        owner, n = sessions.query_of_row[rows], len(sessions.queries)
        query_places = position_in_segment(sessions.offsets)[rows] + 1
        judged = owner[taken.query_of_judged]
        order = np.lexsort((-taken.judged_grades, judged))
        flat = replace(
            taken,
            queries=sessions.queries,
            offsets=offsets_from_rows(owner[taken.query_of_row], n),
            n_retrieved=np.bincount(owner, weights=taken.n_retrieved, minlength=n).astype(np.int64),
            has_ranking=np.bincount(owner[taken.has_ranking], minlength=n) > 0,
            judged_offsets=offsets_from_rows(judged, n),
            judged_grades=taken.judged_grades[order],
        )
        return cls(flat, query_places[taken.query_of_row])


@dataclass(frozen=True, eq=False)
class AspectRankings(_OverRankings):
    """A ranking per query and a truth per query and aspect. Junk counts nowhere.

    flat: the rankings under the judgments of all aspects together, each item with its highest
        grade.
    aspects: (aspects,) names, those of one query together.
    aspect_offsets: (queries + 1,) where the aspects of each query begin.
    truth_offsets: (aspects + 1,) where the truth of each aspect begins.
    truth_items: (truth,) rows of the flat judgments; within an aspect by the bytes of the ids.
    truth_grades: (truth,) the grade of each item under its aspect.
    own_items_only: whether each aspect reads the ranking without the items that it did not judge.
    """

    aspects: tuple[str, ...]
    aspect_offsets: Ints
    truth_offsets: Ints
    truth_items: Ints
    truth_grades: Floats
    own_items_only: bool = False

    @classmethod
    def join(cls, judgments: Judgments, hits: Hits, flat: Judgments | None = None) -> Self:
        """The view of one ranking under judgments with aspects. flat: those of the hits,
        `judgments.flat` unless given.
        """
        flat = judgments.flat if flat is None else flat
        names = ["0"] * len(judgments.items) if judgments.aspects is None else judgments.aspects
        starts = [
            row
            for start, stop in pairwise(judgments.offsets.tolist())
            for row in range(start, stop)
            if row == start or names[row] != names[row - 1]
        ]
        owner = judgments.query_of_row[starts]
        items = judgments.rows_in(flat)
        truth_rows = np.flatnonzero(flat.real[items])
        aspect = np.searchsorted(np.array(starts, dtype=np.int64), truth_rows, side="right") - 1
        return cls(
            flat=JudgedRankings.join(flat, hits),
            aspects=tuple(names[row] for row in starts),
            aspect_offsets=offsets_from_rows(owner, len(judgments.queries)),
            truth_offsets=offsets_from_rows(aspect, len(starts)),
            truth_items=items[truth_rows],
            truth_grades=judgments.grades[truth_rows],
        )

    @cached_property
    def query_of_aspect(self) -> Ints:
        """Index of each aspect's query."""
        return segment_of_row(self.aspect_offsets)

    @cached_property
    def aspect_of_truth(self) -> Ints:
        """Index of the aspect that each judgment belongs to."""
        return segment_of_row(self.truth_offsets)

    @cached_property
    def by_aspect(self) -> JudgedRankings:
        """The same rankings judged under each aspect alone; its `queries` are the aspects, its
        `items` rows of the truth here.
        """
        row_of_item = np.full(
            int(max(self.flat.items.max(initial=-1), self.truth_items.max(initial=-1))) + 1, -1
        )
        row_of_item[self.flat.items] = np.arange(len(self.flat.items))
        row_of_truth = row_of_item[self.truth_items]
        order = np.lexsort((row_of_truth, self.aspect_of_truth))
        judged_truth = order[row_of_truth[order] >= 0]
        rows, flat = row_of_truth[judged_truth], self.flat
        view = JudgedRankings(
            queries=self.aspects,
            offsets=offsets_from_rows(self.aspect_of_truth[judged_truth], len(self.aspects)),
            items=judged_truth,
            grades=self.truth_grades[judged_truth],
            **columns_at(flat, rows, "scores", "above", "tied", "before"),
            n_retrieved=flat.n_retrieved[self.query_of_aspect],
            has_ranking=flat.has_ranking[self.query_of_aspect],
            judged_offsets=self.truth_offsets,
            judged_grades=self.truth_grades[np.lexsort((-self.truth_grades, self.aspect_of_truth))],
            least_judged=flat.least_judged,
        )
        return view.condensed if self.own_items_only else view

    def sum_aspects(self, values: Floats) -> Floats:
        """Sum of the aspects' values of each query, in the order of the aspects; 0 without
        aspects.
        """
        return sum_by(self.query_of_aspect, values, len(self.queries))

    def cut(self, depth: int) -> Self:
        """The view of rankings cut to their first `depth` items; the truth stays whole."""
        return replace(self, flat=self.flat.cut(depth))

    def take(self, queries: Ints) -> Self:
        """The view of some queries only, in the order given by their indices."""
        aspects, aspect_offsets = take_segments(self.aspect_offsets, queries)
        truth, truth_offsets = take_segments(self.truth_offsets, aspects)
        return replace(
            self,
            flat=self.flat.take(queries),
            aspects=tuple(self.aspects[aspect] for aspect in aspects.tolist()),
            aspect_offsets=aspect_offsets,
            truth_offsets=truth_offsets,
            truth_items=self.truth_items[truth],
            truth_grades=self.truth_grades[truth],
        )


@dataclass(frozen=True, eq=False)
class GroupRankings(AspectRankings):
    """A ranking per query and a truth per query and judgment group; the aspects are the groups."""

    needs: ClassVar[str] = "judgments in groups, of assessors or of evidence"

    @property
    def condensed(self) -> "GroupRankings":
        """The view of rankings without the items that a group did not judge, for each group on its
        own, as under trec_eval -J.
        """
        return replace(self, own_items_only=True)


@dataclass(frozen=True, eq=False)
class IntentRankings(AspectRankings):
    """A ranking per query and a truth per query and intent; the aspects are the intents."""

    needs: ClassVar[str] = "judgments of intents (subtopics) of the queries"

    @cached_property
    def condensed(self) -> "IntentRankings":
        """The view of rankings without the items that are judged for no intent."""
        return replace(self, flat=self.flat.condensed)

    def serving(self, rel: float) -> Iterator[tuple[int, Bools]]:
        """Each query with (items by id descending, intents) whether grade `rel` is reached; those
        without any are left out.
        """
        good = np.flatnonzero(self.truth_grades >= max(rel, 0))
        owner = self.query_of_aspect[self.aspect_of_truth[good]]
        edges = np.flatnonzero(np.diff(owner, prepend=-1, append=-1))
        for start, stop in pairwise(edges.tolist()):
            items, row = np.unique(-self.truth_items[good[start:stop]], return_inverse=True)
            intents, column = np.unique(self.aspect_of_truth[good[start:stop]], return_inverse=True)
            serves = np.zeros((len(items), len(intents)), dtype=np.bool_)
            serves[row, column] = True
            yield int(owner[start]), serves
