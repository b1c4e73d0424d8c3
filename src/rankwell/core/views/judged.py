"""Judged rankings: per query the judged items that were retrieved, with their ranks, and what the
truth holds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from rankwell.core.tables import (
    Bools,
    Floats,
    Ints,
    Judgments,
    QueryRows,
    TieRule,
    gather,
    offsets_from_rows,
    order_ids,
    position_in_segment,
    running_sum,
    segment_of_row,
    sum_by,
)
from rankwell.core.tables.ranking import Hits
from rankwell.errors import TieRefused

if TYPE_CHECKING:
    from rankwell.core.registry import Measure

# How far down a measure looks: one number, one number per query, or everything.
Depth = int | Ints | None


@dataclass(frozen=True, eq=False)
class JudgedRankings(QueryRows):
    """Flat arrays: a row per judged item that was retrieved, by query and rank; junk is gone and
    counted nowhere, and
    hidden items in the truth alone.

    queries: ids. offsets: (queries + 1,) where the rows of each query begin. items: (rows,) row of
    the judgments.
    grades: (rows,) as judged; below 0 is never relevant. scores: (rows,).
    above, tied, before: (rows,) items that score higher; that score the same, itself included;
    those of them placed earlier. retrieved: (queries,) items in the ranking. present: (queries,)
    whether the ranking has the query.
    judged_offsets, judged_grades: all grades of each query, highest first, retrieved or not.
    in_random_order: whether `share_within` and `value_within` are means over random orders of tied
    items.
    least_judged: the lowest grade that is a judgment; trec_eval leaves items below 0 unjudged.
    """

    needs: ClassVar[str] = "rankings and judgments of their items"
    items: Ints
    grades: Floats
    scores: Floats
    above: Ints
    tied: Ints
    before: Ints
    retrieved: Ints
    present: Bools
    judged_offsets: Ints
    judged_grades: Floats
    in_random_order: bool = False
    least_judged: float = -np.inf

    @classmethod
    def join(cls, judgments: Judgments, hits: Hits) -> Self:
        """The view of one ranking under one truth; `hits.row` and `hits.query` point into these
        judgments.
        """
        junk = judgments.unranked[hits.row]
        above, tied, before, retrieved = _without_junk(hits, junk, len(judgments.queries))
        real_rows = np.flatnonzero(~junk)
        real_rows = real_rows[
            np.lexsort((before[real_rows], above[real_rows], hits.query[real_rows]))
        ]
        # Rows that are in order already are not copied.
        rows = (
            slice(None)
            if len(real_rows) == len(hits.row) and (np.diff(real_rows) > 0).all()
            else real_rows
        )
        real = np.flatnonzero(judgments.real)
        owner = judgments.query_of_row[real]
        order = np.lexsort((-judgments.grades[real], owner))
        return cls(
            queries=judgments.queries,
            offsets=offsets_from_rows(hits.query[rows], len(judgments.queries)),
            items=hits.row[rows],
            grades=judgments.grades[hits.row[rows]],
            scores=hits.score[rows],
            above=above[rows],
            tied=tied[rows],
            before=before[rows],
            retrieved=retrieved,
            present=hits.present,
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

    def sum_rows(self, values: Floats | Bools) -> Floats:
        """Sum of the rows' values of each query, added in order of rank; 0 without rows."""
        return sum_by(self.query_of_row, values, len(self.queries))

    def sum_judged(self, values: Floats | Bools) -> Floats:
        """Sum of the judgments' values of each query, added from the highest grade down; 0 without
        judgments.
        """
        return sum_by(self.query_of_judged, values, len(self.queries))

    def count_so_far(self, mask: Bools) -> Ints:
        """Running number of the rows of the mask within each query."""
        return running_sum(mask.astype(np.int64), self.offsets)

    def first_rank(self, mask: Bools) -> Floats:
        """Rank of the first row of the mask in each query; infinity without one."""
        first = np.full(len(self.queries), np.inf)
        np.minimum.at(first, self.query_of_row[mask], self.ranks[mask].astype(np.float64))
        return first

    def max_rows(self, values: Floats) -> Floats:
        """Greatest of the rows' values of each query; 0 without rows or where all are below."""
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
        """Whether each row is judged with grade `rel` or more, and with none below 0, whatever
        `rel` is.
        """
        return self.grades >= max(rel, 0)

    def n_relevant(self, rel: float) -> Floats:
        """Number of items of each query that are judged with grade `rel` or more, retrieved or
        not.
        """
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
        """Number of items in the first `depth` places of each query; of all that were retrieved for
        None.
        """
        return self.retrieved if depth is None else np.minimum(self.retrieved, depth)

    def within(self, depth: Depth) -> Bools:
        """Whether each row stands in the first places; `depth` is one number, one per query, or
        None for all places.
        """
        if depth is None:
            return np.ones(len(self.ranks), dtype=np.bool_)
        return self.ranks <= self._depth_of_row(depth)

    def share_within(self, depth: Depth) -> Floats | Bools:
        """Whether each row stands in the first places; the chance that it does if ties are in
        random order.
        """
        return self.chance_within(depth) if self.in_random_order else self.within(depth)

    def value_within(self, worth: Callable[[Ints], Floats], depth: Depth) -> Floats:
        """`worth(rank)` of each row in the first places, else 0; its mean if ties are in random
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
        """Chance that each row stands in the first places when tied items are put in random
        order.
        """
        if depth is None:
            return np.ones(len(self.ranks))
        return np.clip((self._depth_of_row(depth) - self.above) / self.tied, 0.0, 1.0)

    def mean_over_ties(self, worth: Callable[[Ints], Floats], depth: Depth) -> Floats:
        """Mean of `worth(rank)` over the ranks that each row may have by its ties; worth nothing
        beyond the depth.
        """
        last = (
            np.full(len(self.ranks), np.iinfo(np.int64).max)
            if depth is None
            else self._depth_of_row(depth)
        )
        alone = self.above + 1
        means = np.where(alone <= last, worth(alone), 0.0)
        first = np.flatnonzero(np.diff(self.tie_of_row, prepend=-1))
        mean_by_tie = means[first]
        for group in np.flatnonzero(self.tied[first] > 1).tolist():
            row = int(first[group])
            above, tied = int(self.above[row]), int(self.tied[row])
            tied_ranks = np.arange(above + 1, min(above + tied, int(last[row])) + 1)
            mean_by_tie[group] = worth(tied_ranks).sum() / tied
        return mean_by_tie[self.tie_of_row]

    @cached_property
    def tie_of_row(self) -> Ints:
        """Number, from 0, of each row's tie: the rows of one query with one score."""
        new = (np.diff(self.query_of_row, prepend=-1) != 0) | (np.diff(self.above, prepend=-1) != 0)
        return np.cumsum(new) - 1

    def _depth_of_row(self, depth: int | Ints) -> Ints:
        return np.broadcast_to(np.asarray(depth, dtype=np.int64), (len(self.queries),))[
            self.query_of_row
        ]

    def cut(self, depth: int) -> "JudgedRankings":
        """The view of rankings cut to their first `depth` items; the truth stays whole."""
        return replace(self.keep(self.ranks <= depth), retrieved=np.minimum(self.retrieved, depth))

    @cached_property
    def condensed(self) -> "JudgedRankings":
        """The view of rankings without unjudged items."""
        view = self.keep(self.is_judged)
        positions = position_in_segment(view.offsets)
        first = np.flatnonzero(np.diff(view.tie_of_row, prepend=-1))
        return replace(
            view,
            above=positions[first][view.tie_of_row],
            tied=np.bincount(view.tie_of_row, minlength=len(first))[view.tie_of_row].astype(
                np.int64
            ),
            before=positions - positions[first][view.tie_of_row],
            retrieved=np.diff(view.offsets),
        )

    def take(self, queries: Ints) -> "JudgedRankings":
        """The view of some queries only, in the order given by their indices."""
        rows, offsets = gather(self.offsets, queries)
        judged, judged_offsets = gather(self.judged_offsets, queries)
        return replace(
            self._rows(rows, offsets),
            queries=tuple(self.queries[query] for query in queries.tolist()),
            retrieved=self.retrieved[queries],
            present=self.present[queries],
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
            offsets=np.append(self.offsets, np.full(added, self.offsets[-1])),
            retrieved=np.append(
                self.retrieved, np.fromiter(unknown.values(), dtype=np.int64, count=added)
            ),
            present=np.append(self.present, np.ones(added, dtype=np.bool_)),
            judged_offsets=np.append(self.judged_offsets, np.full(added, self.judged_offsets[-1])),
        )
        return extended.take(order_ids(extended.queries))

    def resolve(self, ties: TieRule) -> "JudgedRankings":
        """The view with tied items at their best (`optimistic`) or worst (`pessimistic`) places;
        other rules place them already.

        Raises TieRefused under `error` if a judged item is tied with any other.
        """
        if ties == "error" and (self.tied > 1).any():
            row = int(np.flatnonzero(self.tied > 1)[0])
            query, score = self.queries[int(self.query_of_row[row])], float(self.scores[row])
            problem = (
                f"query {query!r}: {int(self.tied[row])} items share the score {score!r} at rank "
                f"{int(self.above[row]) + 1}"
            )
            raise TieRefused(f"{problem}, one of them judged; name a tie rule, or break the tie.")
        if ties not in ("optimistic", "pessimistic"):
            return self
        gain = self.grades if ties == "optimistic" else -self.grades
        # Between the judged items that help and those that hurt stand the unjudged ones.
        early = gain > 0 if ties == "optimistic" else gain >= 0
        order = np.lexsort((-gain, self.above, self.query_of_row))
        view = self._rows(order, self.offsets)
        sizes = np.bincount(view.tie_of_row)
        tie_places = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[view.tie_of_row]
        return replace(
            view,
            before=np.where(
                early[order], tie_places, view.tied - sizes[view.tie_of_row] + tie_places
            ),
        )

    def keep(self, mask: Bools) -> "JudgedRankings":
        """The view of some rows only; the truth and the lengths of rankings stay whole."""
        return self._rows(
            np.flatnonzero(mask), offsets_from_rows(self.query_of_row[mask], len(self.queries))
        )

    def _rows(self, rows: Ints, offsets: Ints) -> "JudgedRankings":
        columns = {
            name: getattr(self, name)[rows]
            for name in ("items", "grades", "scores", "above", "tied", "before")
        }
        return replace(self, offsets=offsets, **columns)


def _without_junk(hits: Hits, is_junk: Bools, queries: int) -> tuple[Ints, Ints, Ints, Ints]:
    """The counts of all hits with junk taken out of them, and the number retrieved without junk."""
    if not is_junk.any():
        return hits.above, hits.tied, hits.before, hits.retrieved
    above, tied, before = hits.above.copy(), hits.tied.copy(), hits.before.copy()
    retrieved = hits.retrieved - np.bincount(hits.query[is_junk], minlength=queries).astype(
        np.int64
    )
    affected = np.isin(hits.query, np.unique(hits.query[is_junk]))
    for query in np.unique(hits.query[affected]).tolist():
        query_hits = np.arange(*np.searchsorted(hits.query, [query, query + 1]))
        junk = query_hits[is_junk[query_hits]]
        higher = hits.above[junk][None, :] < hits.above[query_hits][:, None]
        same = hits.above[junk][None, :] == hits.above[query_hits][:, None]
        earlier = same & (hits.before[junk][None, :] < hits.before[query_hits][:, None])
        above[query_hits] -= higher.sum(axis=1)
        tied[query_hits] -= same.sum(axis=1)
        before[query_hits] -= earlier.sum(axis=1)
    return above, tied, before, retrieved


def expected_values(measure: "Measure", view: JudgedRankings) -> Floats:
    """(queries,) the expected value of a measure on a view in which all items of a query are tied
    (`constant`).

    That is its chance level. Queries with as many items and the same grades have one, which is
    computed once for all of them: a closed form may take time in proportion to the items. NaN where
    the measure has no closed form.
    """
    if measure.entry.view is not JudgedRankings or measure.entry.expected is None:
        return np.full(len(view.queries), np.nan)
    first, kind_of_query = dict[tuple[int, bytes], int](), list[int]()
    sample_queries = list[int]()
    for query, (n, (start, stop)) in enumerate(
        zip(view.retrieved.tolist(), pairwise(view.judged_offsets.tolist()), strict=True)
    ):
        kind = first.setdefault((n, view.judged_grades[start:stop].tobytes()), len(sample_queries))
        if kind == len(sample_queries):
            sample_queries.append(query)
        kind_of_query.append(kind)
    values = measure.entry.expected(
        view.take(np.array(sample_queries, dtype=np.int64)), **dict(measure.arguments)
    )
    return values[np.array(kind_of_query, dtype=np.int64)]
