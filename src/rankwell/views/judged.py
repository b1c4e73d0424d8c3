"""Judged rankings: per query the judged items that were retrieved, with their ranks, and what the truth holds."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from rankwell.errors import TieRefused
from rankwell.tables import Bools, Floats, Ints, offsets_of
from rankwell.tables.hits import Hits
from rankwell.tables.judgments import Judgments
from rankwell.tables.order import TieRule
from rankwell.views import position_in_segment, running_sum


@dataclass(frozen=True, eq=False)
class JudgedRankings:
    """Flat arrays: a row per judged item that was retrieved, by query and rank; junk is gone and counted nowhere.

    queries: ids. offsets: (queries + 1,) where the rows of each query begin. items: (rows,) row of the judgments.
    grades: (rows,) as judged, below 0 for pooled but not judged. scores: (rows,).
    above, tied, before: (rows,) items that score higher; that score the same, itself included; those of them placed earlier.
    retrieved: (queries,) items in the ranking. present: (queries,) whether the ranking has the query.
    judged_offsets, judged_grades: all grades of each query, highest first, retrieved or not.
    """

    queries: tuple[str, ...]
    offsets: Ints
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

    @classmethod
    def join(cls, judgments: Judgments, hits: Hits) -> Self:
        """The view of one ranking under one truth; `hits.row` and `hits.query` point into these judgments."""
        junk = np.zeros(len(judgments.items), dtype=np.bool_) if judgments.junk is None else judgments.junk
        above, tied, before, retrieved = _without_junk(hits, junk[hits.row], len(judgments.queries))
        kept = np.flatnonzero(~junk[hits.row])
        kept = kept[np.lexsort((before[kept], above[kept], hits.query[kept]))]
        real = np.flatnonzero(~junk)
        owner = judgments.query_of_row[real]
        order = np.lexsort((-judgments.grades[real], owner))
        return cls(
            queries=judgments.queries,
            offsets=_offsets(hits.query[kept], len(judgments.queries)),
            items=hits.row[kept],
            grades=judgments.grades[hits.row[kept]],
            scores=hits.score[kept],
            above=above[kept],
            tied=tied[kept],
            before=before[kept],
            retrieved=retrieved,
            present=hits.present,
            judged_offsets=_offsets(owner, len(judgments.queries)),
            judged_grades=judgments.grades[real][order],
        )

    @cached_property
    def ranks(self) -> Ints:
        """(rows,) the rank of each row, from 1, ascending within a query."""
        return self.above + self.before + 1

    @cached_property
    def query_of_row(self) -> Ints:
        """(rows,) the index of each row's query."""
        return np.repeat(np.arange(len(self.queries), dtype=np.int64), np.diff(self.offsets))

    @cached_property
    def query_of_judged(self) -> Ints:
        """(judged,) the index of the query that each of `judged_grades` belongs to."""
        return np.repeat(np.arange(len(self.queries), dtype=np.int64), np.diff(self.judged_offsets))

    @cached_property
    def judged_positions(self) -> Ints:
        """(judged,) the rank, from 1, that each of `judged_grades` has in the ideal ranking."""
        return position_in_segment(self.judged_offsets) + 1

    def sum_rows(self, values: Floats | Bools) -> Floats:
        """(queries,) the sum of (rows,) values per query, added in order of rank; 0 without rows."""
        return np.bincount(self.query_of_row, weights=values, minlength=len(self.queries))

    def sum_judged(self, values: Floats | Bools) -> Floats:
        """(queries,) the sum of (judged,) values per query, added from the highest grade down; 0 without judgments."""
        return np.bincount(self.query_of_judged, weights=values, minlength=len(self.queries))

    def count_so_far(self, chosen: Bools) -> Ints:
        """(rows,) how many chosen rows a query has up to and including each row."""
        return running_sum(chosen.astype(np.int64), self.offsets)

    def first_rank(self, chosen: Bools) -> Floats:
        """(queries,) the rank of the first chosen row; infinity without one."""
        first = np.full(len(self.queries), np.inf)
        np.minimum.at(first, self.query_of_row[chosen], self.ranks[chosen].astype(np.float64))
        return first

    def n_relevant(self, rel: float) -> Floats:
        """(queries,) how many items are judged with grade `rel` or more, retrieved or not."""
        return self.sum_judged(self.judged_grades >= rel)

    def within(self, k: int | None) -> Bools:
        """(rows,) whether each row stands in the first k places; all of them for None."""
        return np.ones(len(self.ranks), dtype=np.bool_) if k is None else self.ranks <= k

    def cut(self, depth: int) -> "JudgedRankings":
        """The view of rankings cut to their first `depth` items; the truth stays whole."""
        kept = self.ranks <= depth
        return self._keep(kept, retrieved=np.minimum(self.retrieved, depth))

    @cached_property
    def condensed(self) -> "JudgedRankings":
        """The view of rankings without unjudged items: items that nobody judged, or that were pooled but not judged."""
        kept = self.grades >= 0
        view = self._keep(kept)
        return replace(
            view,
            above=position_in_segment(view.offsets),
            tied=np.ones(len(view.items), dtype=np.int64),
            before=np.zeros(len(view.items), dtype=np.int64),
            retrieved=np.diff(view.offsets),
        )

    def take(self, queries: Ints) -> "JudgedRankings":
        """The view of some queries only, in the order given by their indices."""
        rows, offsets = _gather(self.offsets, queries)
        judged, judged_offsets = _gather(self.judged_offsets, queries)
        return replace(
            self._rows(rows, offsets),
            queries=tuple(self.queries[query] for query in queries.tolist()),
            retrieved=self.retrieved[queries],
            present=self.present[queries],
            judged_offsets=judged_offsets,
            judged_grades=self.judged_grades[judged],
        )

    def resolve(self, ties: TieRule) -> "JudgedRankings":
        """The view with tied items placed for the best (`optimistic`) or the worst (`pessimistic`); other rules are placed already.

        Raises TieRefused under `error` if a judged item is tied with any other.
        """
        if ties == "error" and (self.tied > 1).any():
            row = int(np.flatnonzero(self.tied > 1)[0])
            raise TieRefused(
                f"query {self.queries[int(self.query_of_row[row])]!r}: {int(self.tied[row])} items share the score "
                f"{self.scores[row]!r} at rank {int(self.above[row]) + 1}, one of them judged; name a tie rule, or break the tie."
            )
        if ties not in ("optimistic", "pessimistic"):
            return self
        gain = self.grades if ties == "optimistic" else -self.grades
        # Between the judged items that help and those that hurt stand the unjudged ones.
        early = gain > 0 if ties == "optimistic" else gain >= 0
        order = np.lexsort((-gain, self.above, self.query_of_row))
        view = self._rows(order, self.offsets)
        group = np.flatnonzero(np.diff(view.query_of_row, prepend=-1) | np.diff(view.above, prepend=-1))
        place = np.arange(len(order)) - np.repeat(group, np.diff(group, append=len(order)))
        size = np.repeat(np.diff(group, append=len(order)), np.diff(group, append=len(order)))
        return replace(view, before=np.where(early[order], place, view.tied - size + place))

    def _keep(self, kept: Bools, retrieved: Ints | None = None) -> "JudgedRankings":
        offsets = _offsets(self.query_of_row[kept], len(self.queries))
        view = self._rows(np.flatnonzero(kept), offsets)
        return view if retrieved is None else replace(view, retrieved=retrieved)

    def _rows(self, rows: Ints, offsets: Ints) -> "JudgedRankings":
        return replace(
            self,
            offsets=offsets,
            items=self.items[rows],
            grades=self.grades[rows],
            scores=self.scores[rows],
            above=self.above[rows],
            tied=self.tied[rows],
            before=self.before[rows],
        )


def _offsets(owner: Ints, queries: int) -> Ints:
    return offsets_of(np.bincount(owner, minlength=queries).astype(np.int64))


def _gather(offsets: Ints, segments: Ints) -> tuple[Ints, Ints]:
    """The rows of the chosen segments, one after the other, and where each begins."""
    counts = np.diff(offsets)[segments]
    new = offsets_of(counts)
    return position_in_segment(new) + np.repeat(offsets[segments], counts), new


def _without_junk(hits: Hits, is_junk: Bools, queries: int) -> tuple[Ints, Ints, Ints, Ints]:
    """The counts of all hits with junk taken out of them, and the number retrieved without junk."""
    above, tied, before = hits.above.copy(), hits.tied.copy(), hits.before.copy()
    retrieved = hits.retrieved - np.bincount(hits.query[is_junk], minlength=queries).astype(np.int64)
    affected = np.isin(hits.query, np.unique(hits.query[is_junk]))
    for query in np.unique(hits.query[affected]).tolist():
        mine = np.arange(*np.searchsorted(hits.query, [query, query + 1]))
        junk = mine[is_junk[mine]]
        higher = hits.above[junk][None, :] < hits.above[mine][:, None]
        same = hits.above[junk][None, :] == hits.above[mine][:, None]
        earlier = same & (hits.before[junk][None, :] < hits.before[mine][:, None])
        above[mine] -= higher.sum(axis=1)
        tied[mine] -= same.sum(axis=1)
        before[mine] -= earlier.sum(axis=1)
    return above, tied, before, retrieved
