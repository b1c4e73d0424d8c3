"""Two models' lists side by side: per query the first items of a reference and of a candidate, and
their ranks in the other.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings, RankedRows, expected_values
from rankwell.data.options import Lists, own_arithmetic
from rankwell.data.rankings import arrange
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Judgments,
    columns_at,
    first_true,
    offsets_from_rows,
    position_in_segment,
    running_sum,
    segment_of_row,
    segment_offsets,
    sort_ids,
    take_segments,
)
from rankwell.errors import BadInput, DuplicateItem, shown
from rankwell.io.mapping import find_hits, refuse_repeated, text_id
from rankwell.store import encode_id

if TYPE_CHECKING:
    from rankwell.data.registry import Measure

Gains = Literal["binary", "reciprocal-rank", "similarity"]
Ties = Literal["order", "shared"]


class Listed(NamedTuple):
    """The first items of each query under one model, and their ranks under the other. Every array
    is (queries, depth).

    positions: items as numbers, -1 after the end of a list.
    scores: similarities of the items; NaN where unknown.
    other_ranks: ranks of the items among all candidates under the other model, from 1; 0 where
        unknown. Items in the other list need none.
    other_scores: similarities under the other model; NaN where unknown.
    """

    positions: Ints
    scores: Floats
    other_ranks: Ints | None = None
    other_scores: Floats | None = None


@dataclass(frozen=True, eq=False)
class ListSide(RankedRows):
    """One model's lists in flat arrays: a row per item, by query and rank.

    queries: ids of the queries.
    offsets: (queries + 1,) where each list begins.
    items: (rows,) numbers of the items.
    scores: (rows,) similarities; NaN where unknown.
    other_ranks: (rows,) ranks under the other model, from 1; 0 where unknown.
    other_scores: (rows,) similarities under the other model; NaN where unknown.
    """

    items: Ints
    scores: Floats
    other_ranks: Ints
    other_scores: Floats

    @classmethod
    def read(cls, queries: Sequence[str], top_items: Listed, name: str) -> Self:
        """The lists of a padded table; nothing is known yet of items that only the other list
        holds. Raises BadInput for another shape or form, DuplicateItem for an item twice in a list.
        """
        for column in top_items:
            if column is not None and (
                column.shape != top_items.positions.shape or column.shape[:1] != (len(queries),)
            ):
                raise BadInput(
                    f"the {name}'s table has the shape {column.shape}; expected one row "
                    f"per query, ({len(queries)}, depth)."
                )
        is_item = top_items.positions >= 0
        if (row := first_true((is_item[:, 1:] & ~is_item[:, :-1]).any(axis=1))) >= 0:
            raise BadInput(
                f"row {row} of the positions has an item after a -1; a list is padded with -1 "
                "at its end only."
            )
        n_items = int(is_item.sum())
        other_ranks, other_scores = top_items.other_ranks, top_items.other_scores
        lists = cls(
            tuple(queries),
            segment_offsets(is_item.sum(axis=1, dtype=np.int64)),
            top_items.positions[is_item],
            top_items.scores[is_item],
            np.zeros(n_items, dtype=np.int64) if other_ranks is None else other_ranks[is_item],
            np.full(n_items, np.nan) if other_scores is None else other_scores[is_item],
        )
        order = np.lexsort((lists.ranks, lists.items, lists.query_of_row))
        same = (np.diff(lists.items[order]) == 0) & (np.diff(lists.query_of_row[order]) == 0)
        if (place := first_true(same)) >= 0:
            first, second = order[place : place + 2].tolist()
            raise DuplicateItem(
                f"query {queries[int(lists.query_of_row[first])]!r}: the {name} lists item "
                f"{lists.items[first]} twice, at ranks {lists.ranks[first]} and "
                f"{lists.ranks[second]}; keep one of them."
            )
        return lists

    @cached_property
    def lengths(self) -> Ints:
        """Number of items of each list."""
        return np.diff(self.offsets)

    @cached_property
    def shared_ranks(self) -> Ints:
        """Rank of the first item with the similarity of each row; items of unknown similarity are
        tied with none.
        """
        new = np.ones(len(self.items), dtype=np.bool_)
        new[1:] = (self.scores[1:] != self.scores[:-1]) | (
            self.query_of_row[1:] != self.query_of_row[:-1]
        )
        return self.ranks[np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))]

    def list_length(self, k: int | None) -> Ints:
        """Number of items in the first `k` places of each list; of all for None."""
        return self.lengths if k is None else np.minimum(self.lengths, k)

    def score_at(self, rank: Ints) -> Floats:
        """Similarity of the item at a rank, one rank per query; NaN where the list does not reach
        it.
        """
        reaching_queries = np.flatnonzero((rank >= 1) & (rank <= self.lengths))
        scores = np.full(len(self.lengths), np.nan)
        scores[reaching_queries] = self.scores[
            self.offsets[reaching_queries] + rank[reaching_queries] - 1
        ]
        return scores

    def take(self, queries: Ints) -> Self:
        """The lists of some queries only, in the order given by their indices."""
        rows, offsets = take_segments(self.offsets, queries)
        columns = columns_at(self, rows, "items", "scores", "other_ranks", "other_scores")
        names = tuple(self.queries[query] for query in queries.tolist())
        return replace(self, queries=names, offsets=offsets, **columns)

    def knowing(self, other: "ListSide", name: str) -> Self:
        """The lists with ranks and similarities from the other list filled in. Raises BadInput if
        exact ranks contradict it.
        """
        stride = int(max(self.items.max(initial=0), other.items.max(initial=0))) + 1
        # A last key of no item, so that there is one.
        keys = np.append(other.query_of_row * stride + other.items, np.iinfo(np.int64).max)
        order = np.argsort(keys, kind="stable")
        wanted = self.query_of_row * stride + self.items
        row = order[np.searchsorted(keys[order], wanted)]
        is_shared = keys[row] == wanted
        ranks, scores = self.other_ranks.copy(), self.other_scores.copy()
        ranks[is_shared] = other.ranks[row[is_shared]]
        scores[is_shared] = other.scores[row[is_shared]]
        wrong = (self.other_ranks != 0) & (self.other_ranks != ranks)
        wrong |= ~is_shared & (ranks > 0) & (ranks <= other.lengths[self.query_of_row])
        if (at := first_true(wrong)) >= 0:
            says = f"rank {ranks[at]}" if is_shared[at] else "not"
            raise BadInput(
                f"query {self.queries[self.query_of_row[at]]!r}, {name} item {self.items[at]}: its "
                f"exact rank under the other model is {self.other_ranks[at]}, but it is {says} in "
                "the other list."
            )
        return replace(self, other_ranks=ranks, other_scores=scores)


class Prefixes(NamedTuple):
    """The overlap of two lists of each query at every depth, to the end of the longer list: a row
    per query and depth.

    offsets: (queries + 1,) where the rows of each query begin.
    query: (rows,) index of the query.
    depth: (rows,) the depth of the row, from 1.
    n_shared: (rows,) number of items that both lists have down to the depth.
    n_reference, n_candidate: (rows,) number of items that each list has down to the depth. Where
        ties are shared, an item counts from the first rank of its tie on.
    """

    offsets: Ints
    query: Ints
    depth: Ints
    n_shared: Ints
    n_reference: Ints
    n_candidate: Ints


@dataclass(frozen=True, eq=False)
class RankingPairs:
    """A reference's list and a candidate's list for every query, each a definite order over the
    same candidates.

    reference: the reference's lists.
    candidate: the candidate's lists.
    n_candidates: (queries,) number of items that either model could have listed, without the query
        itself.
    """

    needs: ClassVar[str] = "two rankings of the same queries, a reference and a candidate"
    command: ClassVar[str] = "embeddings"
    conversion_hint: ClassVar[str] = "; `.judged(gold_depth)` of it makes one"
    reference: ListSide
    candidate: ListSide
    n_candidates: Ints

    @property
    def queries(self) -> tuple[str, ...]:
        """The ids of the queries."""
        return self.reference.queries

    @classmethod
    def from_top_k(
        cls,
        queries: Sequence[str],
        reference: Listed,
        candidate: Listed,
        *,
        n_candidates: int | Ints,
    ) -> Self:
        """The view of two top-k tables with a row per query. Raises BadInput and DuplicateItem for
        lists that cannot be.
        """
        first = ListSide.read(queries, reference, "reference")
        second = ListSide.read(queries, candidate, "candidate")
        n = np.broadcast_to(np.asarray(n_candidates, dtype=np.int64), (len(queries),))
        view = cls(first.knowing(second, "reference"), second.knowing(first, "candidate"), n)
        min_candidates = first.lengths + second.lengths - view.n_shared(None)
        for side in (view.reference, view.candidate):
            np.maximum.at(min_candidates, side.query_of_row, side.other_ranks)
        if (at := first_true(min_candidates > n)) >= 0:
            raise BadInput(
                f"query {queries[at]!r}: the lists and ranks need {min_candidates[at]} candidates, "
                f"but there are {n[at]}; count every item that may be listed."
            )
        return view

    def take(self, queries: Ints) -> Self:
        """The view of some queries only, in the order given by their indices."""
        return type(self)(
            self.reference.take(queries), self.candidate.take(queries), self.n_candidates[queries]
        )

    def shared(self, k: int | None) -> Ints:
        """The rows of the reference whose items stand in the first `k` places of both lists, in the
        reference's order.
        """
        side = self.reference
        last = self.candidate.list_length(k)[side.query_of_row]
        return np.flatnonzero(side.within(k) & (side.other_ranks > 0) & (side.other_ranks <= last))

    def n_shared(self, k: int | None) -> Ints:
        """Number of items of each query in the first `k` places of both lists."""
        return np.bincount(
            self.reference.query_of_row[self.shared(k)], minlength=len(self.queries)
        ).astype(np.int64)

    def mean_by_chance(self, worth: Callable[[Ints, int, int], Floats], k: int | None) -> Floats:
        """The mean of `worth(shared, reference length, candidate length)` over all orders of the
        candidate's list: (queries,).

        The number of shared items follows the hypergeometric distribution; numbers whose worth is
        NaN are left out of the mean. NaN if none remain.
        """
        sizes = np.column_stack(
            [self.reference.list_length(k), self.candidate.list_length(k), self.n_candidates]
        )
        kinds, kind_of_query = np.unique(sizes, axis=0, return_inverse=True)
        means = np.full(len(kinds), np.nan)
        for kind, (first, second, n) in enumerate(kinds.tolist()):
            shared = np.arange(max(0, first + second - n), min(first, second) + 1)
            last = shared[:-1]
            steps = np.log(
                (first - last) * (second - last) / ((last + 1) * (n - first - second + last + 1.0))
            )
            logs = np.concatenate([[0.0], np.cumsum(steps)])
            values, chances = worth(shared, first, second), np.exp(logs - logs.max())
            counted = ~np.isnan(values)
            if counted.any():
                means[kind] = (values[counted] * chances[counted]).sum() / chances[counted].sum()
        return means[kind_of_query.ravel()]

    def prefixes(self, k: int | None, ties: Ties = "order") -> Prefixes:
        """The overlap of the first `k` places at every depth; under `shared`, equal similarities
        share their first rank.
        """
        first, second, rows = self.reference, self.candidate, self.shared(k)
        longer = np.maximum(first.list_length(k), second.list_length(k))
        offsets = segment_offsets(longer)
        ranks = [side.ranks if ties == "order" else side.shared_ranks for side in (first, second)]
        owner = first.query_of_row[rows]
        depth = np.maximum(
            ranks[0][rows], ranks[1][second.offsets[owner] + first.other_ranks[rows] - 1]
        )

        def _at_depth(query: Ints, place: Ints) -> Ints:
            counts = np.bincount(offsets[query] + place - 1, minlength=int(offsets[-1])).astype(
                np.int64
            )
            return running_sum(counts, offsets)

        is_within = [side.within(k) for side in (first, second)]
        return Prefixes(
            offsets=offsets,
            query=segment_of_row(offsets),
            depth=position_in_segment(offsets) + 1,
            n_shared=_at_depth(owner, depth),
            n_reference=_at_depth(first.query_of_row[is_within[0]], ranks[0][is_within[0]]),
            n_candidate=_at_depth(second.query_of_row[is_within[1]], ranks[1][is_within[1]]),
        )

    def judged(self, gold_depth: int | None = None, gains: Gains = "binary") -> JudgedRankings:
        """The candidate's lists judged by the reference, whose first `gold_depth` items are
        relevant; None for all of its items.

        gains: the rule for grades: 1 (`binary`), one over the reference's rank, or the reference's
        similarity where that is above 0, else 0. Measures that count an item as relevant from grade
        1 on are for `binary`; nDCG reads the others.
        The ideal is always the reference's own, and a candidate's list is a definite order without
        ties.
        Raises BadInput under `similarity` where the reference's similarities are unknown.
        """
        side, gold, grades = self._gold(gold_depth, gains)
        last = self.candidate.lengths[side.query_of_row]
        rows = np.flatnonzero(gold & (side.other_ranks > 0) & (side.other_ranks <= last))
        rows = rows[np.lexsort((side.other_ranks[rows], side.query_of_row[rows]))]
        view = self._all_tied(rows, gold, grades, self.candidate.lengths)
        alone = np.ones(len(rows), dtype=np.int64)
        return replace(
            view,
            scores=side.other_scores[rows],
            above=side.other_ranks[rows] - 1,
            tied=alone,
            before=alone - 1,
        )

    def judged_at_random(self, gold_depth: int | None, gains: Gains) -> JudgedRankings:
        """All candidates in one tie, judged by the reference: a measure's closed form for ties is
        its chance level here.
        """
        _, gold, grades = self._gold(gold_depth, gains)
        return self._all_tied(np.flatnonzero(gold), gold, grades, self.n_candidates)

    def _gold(self, gold_depth: int | None, gains: Gains) -> tuple[ListSide, Bools, Floats]:
        side = self.reference
        gold = side.within(gold_depth)
        grades = np.ones(len(side.items)) if gains == "binary" else 1.0 / side.ranks
        if gains == "similarity":
            if (row := first_true(gold & np.isnan(side.scores))) >= 0:
                raise BadInput(
                    f"query {self.queries[side.query_of_row[row]]!r}: gains by similarity need the "
                    "reference's similarities; give items with scores."
                )
            grades = np.maximum(side.scores, 0.0)
        return side, gold, grades

    def _all_tied(self, rows: Ints, gold: Bools, grades: Floats, retrieved: Ints) -> JudgedRankings:
        """Rankings that hold the items of some rows of the reference, everything in them tied."""
        owner, queries = self.reference.query_of_row, len(self.queries)
        judged = np.flatnonzero(gold)
        judged = judged[np.lexsort((-grades[judged], owner[judged]))]
        offsets = offsets_from_rows(owner[rows], queries)
        return JudgedRankings(
            queries=self.queries,
            offsets=offsets,
            items=rows,
            grades=grades[rows],
            scores=np.zeros(len(rows)),
            above=np.zeros(len(rows), dtype=np.int64),
            tied=retrieved[owner[rows]],
            before=position_in_segment(offsets),
            n_retrieved=retrieved,
            has_ranking=np.ones(queries, dtype=np.bool_),
            judged_offsets=offsets_from_rows(owner[judged], queries),
            judged_grades=grades[judged],
        )


def chance_level(
    measure: "Measure",
    pairs: RankingPairs,
    *,
    gold_depth: int | None = None,
    gains: Gains = "binary",
) -> Floats:
    """The mean of a measure over all orders of the candidates, (queries,): P@k gives d / n for d
    relevant among n of them.

    gold_depth, gains: as in `RankingPairs.judged`, for measures that read judged rankings; their
    closed form under random order of ties is their chance level. NaN where a measure has no closed
    form, and for a query that it does not count.
    """
    entry = measure.entry
    if entry.view is RankingPairs:
        return (
            np.full(len(pairs.queries), np.nan)
            if entry.chance is None
            else entry.chance(pairs, **dict(measure.arguments))
        )
    return expected_values(measure, pairs.judged_at_random(gold_depth, gains))


@own_arithmetic
def ranking_pairs(
    reference: Lists, candidate: Lists, *, depth: int | None = None, n_candidates: int | None = None
) -> RankingPairs:
    """Puts the lists of two models side by side, for measures of agreement.

    A query that only one side has is empty on the other.
    Raises DuplicateItem for an item that a list has twice, BadScore for a similarity that is not a
    finite number.

    Parameters
    ----------
    reference
        A list of ids, a mapping item -> similarity, or a mapping query -> such a list. A single
        list belongs to the query "query".
    candidate
        The other model's lists, in the same forms. Equal similarities are ordered by descending id.
    depth
        Length of the lists; the ranks and similarities of further items stay known.
    n_candidates
        Number of items that could have been listed. By default those that either side names.

    >>> import rankwell as rw
    >>> rw.ranking_pairs({"q1": ["a", "b"]}, {"q1": ["b", "c"], "q2": ["a"]}).queries
    ('q1', 'q2')
    """
    sides = [_listings(side) for side in (reference, candidate)]
    queries = sort_ids({*sides[0], *sides[1]})
    lists_by_side = [[side.get(query, {}) for query in queries] for side in sides]
    numbers: dict[str, int] = {}
    for item in (item for side in lists_by_side for listing in side for item in listing):
        numbers.setdefault(item, len(numbers))
    counts = [
        len({*first, *second}) if n_candidates is None else n_candidates
        for first, second in zip(*lists_by_side, strict=True)
    ]
    first, second = (
        _padded_lists(own_lists, other_lists, numbers, depth)
        for own_lists, other_lists in (lists_by_side, lists_by_side[::-1])
    )
    return RankingPairs.from_top_k(
        queries, first, second, n_candidates=np.array(counts, dtype=np.int64)
    )


def _listings(side: Any) -> dict[str, dict[str, float]]:
    """Query -> item -> similarity, from first to last; NaN for items that come without one."""
    is_one = not isinstance(side, Mapping) or any(
        isinstance(member, Real) for member in side.values()
    )
    by_query = {"query": side} if is_one else side
    return {
        text_id(query): _listing(text_id(query), listing) for query, listing in by_query.items()
    }


def _listing(query: str, query_items: Any) -> dict[str, float]:
    if isinstance(query_items, str) or not isinstance(query_items, Iterable):
        raise BadInput(
            f"query {query!r} has {shown(query_items)}; expected a list of ids or a mapping item "
            "-> "
            "similarity."
        )
    items = [text_id(item) for item in query_items]
    refuse_repeated(query, items, ordered=False)
    if not isinstance(query_items, Mapping):
        return dict.fromkeys(items, float("nan"))
    find_hits({query: query_items}, Judgments.from_rows([], [], [], all_queries=[query]))
    scores = np.array(list(query_items.values()), dtype=np.float64)
    rows = arrange(scores, lambda row: encode_id(items[row]), "id-desc")
    return {items[row]: float(scores[row]) for row in rows.tolist()}


def _padded_lists(
    own_lists: Sequence[Mapping[str, float]],
    other_lists: Sequence[Mapping[str, float]],
    numbers: Mapping[str, int],
    depth: int | None,
) -> Listed:
    """The table of one side's lists, with what the other side says of every item that it names."""
    lists = [list(listing)[:depth] for listing in own_lists]
    shape = (len(lists), max(map(len, lists), default=0))
    columns = (
        np.full(shape, -1),
        np.full(shape, np.nan),
        np.zeros(shape, dtype=np.int64),
        np.full(shape, np.nan),
    )
    for row, (items, own_scores, other_scores) in enumerate(
        zip(lists, own_lists, other_lists, strict=True)
    ):
        ranks = {item: rank for rank, item in enumerate(other_scores, 1)}
        for index, item in enumerate(items):
            cells = (
                numbers[item],
                own_scores[item],
                ranks.get(item, 0),
                other_scores.get(item, np.nan),
            )
            for column, cell in zip(columns, cells, strict=True):
                column[row, index] = cell
    return Listed(*columns)
