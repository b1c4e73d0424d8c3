"""Rank counts of the positives of each query among all items from embeddings, without any matrix of
scores.

The functions count among some of the items: counts of items that are apart add up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwell._native.matrix_counts import (
    ComparedScores,
    PositiveCounts,
    Progress,
    equal_rows,
    lots,
    names_of,
)
from rankwell._native.similarity import Metric, Space, score_pairs
from rankwell.data.matrices import Embeddings, Positives
from rankwell.data.tables import Floats, Ints
from rankwell.errors import BadInput
from rankwell.vectors.neighbours import RankTargets, ranks_of, search

_QUERIES, _ITEMS = 512, 4096


def count_pairs(
    queries: Embeddings, items: Embeddings, owner: Ints, wanted: RankTargets, **options: Any
) -> tuple[Ints, Ints, Ints]:
    """The numbers of items above, tied and before, for each pair of a query and an item.

    owner: (pairs,) the row of each item's query, ascending. wanted: (pairs,) their scores and their
    places among items of equal score. options: those of `ranks_of`, its places and its
    progress.
    """
    if not items.n:
        none = np.zeros(len(owner), dtype=np.int64)
        return none, none, none
    cells = owner, np.arange(len(owner)) - np.searchsorted(owner, owner)
    shape = queries.n, int(cells[1].max(initial=0)) + 1
    scores, order = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
    scores[cells], order[cells] = wanted
    counts = ranks_of(queries, items, RankTargets(scores, order), **options)
    return counts.above[cells], counts.tied[cells], counts.before[cells]


def count_groups_among(
    owners: Embeddings,
    grouped_items: Embeddings,
    ends: Ints,
    wanted: RankTargets,
    *,
    places: Ints,
    metric: Metric,
    progress: Progress | None = None,
) -> tuple[Ints, Ints, Ints]:
    """The numbers of groups above, tied and before, for each owner; a group's score is the greatest
    of its items.

    grouped_items: the items, group by group. ends: (groups,) where each ends. wanted: (owners,)
    scores and places. places: (groups,).
    """
    above, tied, before = (np.zeros(owners.n, dtype=np.int64) for _ in range(3))
    if not len(ends):
        return above, tied, before
    space, target_scores = Space(owners, grouped_items, metric), wanted.scores
    for top in range(0, owners.n, _QUERIES):
        rows = slice(top, min(top + _QUERIES, owners.n))
        block = space.queries(rows.start, rows.stop)
        for first, last in lots(ends, _ITEMS):
            begin = int(ends[first - 1]) if first else 0
            starts = np.concatenate([[0], ends[first : last - 1] - begin])
            loaded = space.items(begin, int(ends[last - 1]))
            products = np.matmul(block.vectors, loaded.vectors.T).astype(np.float64)
            products -= space.place(target_scores[rows], block.squares)[:, None]
            # Beside the bound of the product: the difference from the place is rounded once more.
            slack = space.slack(block.norm_bounds, loaded.norm_bounds.max())[:, None] * (
                1 + 2.0**-20
            )
            higher, same = products > slack, np.zeros(products.shape, dtype=np.bool_)
            row, column = np.nonzero(np.abs(products) <= slack)
            exact_scores = score_pairs(
                owners.vectors, grouped_items.vectors, row + top, column + begin, metric
            )
            higher[row, column] = exact_scores > target_scores[row + top]
            same[row, column] = exact_scores == target_scores[row + top]
            groups_above = np.logical_or.reduceat(higher, starts, axis=1)
            groups_tied = np.logical_or.reduceat(same, starts, axis=1) & ~groups_above
            above[rows] += np.count_nonzero(groups_above, axis=1)
            tied[rows] += np.count_nonzero(groups_tied, axis=1)
            before[rows] += np.count_nonzero(
                groups_tied & (places[first:last] < wanted.tie_places[rows, None]), axis=1
            )
        if progress is not None:
            progress(rows.stop, owners.n)
    return above, tied, before


def by_vectors(
    queries: Embeddings, items: Embeddings, metric: Metric, rows: Ints | None = None
) -> "ComparedVectors":
    """Queries and items compared by embeddings. rows: the queries that take part. Raises BadInput
    for differing dimensions.
    """
    # Exact scores are computed before any product, by code that takes the dimensions on trust.
    if queries.dimensions != items.dimensions:
        raise BadInput(
            f"the queries have {queries.dimensions} dimensions, the items {items.dimensions}; "
            "both come from one model."
        )
    if rows is not None:
        queries = Embeddings(names_of(queries.names(), rows), np.asarray(queries.vectors)[rows])
    return ComparedVectors(queries, items, metric)


@dataclass(frozen=True, eq=False)
class ComparedVectors:
    """Queries and items compared by their vectors. The methods are those of `ComparedScores`, which
    documents them; `count` and `count_groups` raise as `ranks_of` does.

    queries, items: the vectors, with the same number of dimensions.
    metric: the metric of the scores.
    """

    queries: Embeddings
    items: Embeddings
    metric: Metric

    @property
    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        """As in `ComparedScores`."""
        return self.queries.names(), self.items.names()

    def _sides(self, transposed: bool) -> tuple[Embeddings, Embeddings]:
        return (self.items, self.queries) if transposed else (self.queries, self.items)

    def count(
        self,
        positives: Positives,
        *,
        transposed: bool,
        best: bool,
        order: Ints | None = None,
        progress: Progress | None = None,
    ) -> PositiveCounts:
        """As in `ComparedScores`."""
        queries, items = self._sides(transposed)
        scores = score_pairs(
            queries.vectors, items.vectors, positives.owner, positives.items, self.metric
        )
        pairs = np.flatnonzero(positives.is_best(scores)) if best else np.arange(len(scores))
        targets = positives.items[pairs]
        wanted = RankTargets(scores[pairs], targets if order is None else order[targets])
        owner, options = positives.owner[pairs], {"metric": self.metric, "progress": progress}
        counts = count_pairs(queries, items, owner, wanted, places=order, **options)
        return PositiveCounts(pairs, wanted.scores, *counts)

    def count_groups(
        self, groups: Positives, *, order: Ints | None = None, progress: Progress | None = None
    ) -> PositiveCounts:
        """As in `ComparedScores`."""
        vectors, queries = self.items.vectors, self.queries.vectors
        members = np.flatnonzero(groups.counts)
        scores = groups.best(score_pairs(vectors, queries, groups.owner, groups.items, self.metric))
        places = members if order is None else order[members]
        counts = count_groups_among(
            Embeddings(None, np.asarray(vectors)[members]),
            Embeddings(None, np.asarray(queries)[groups.items]),
            groups.offsets[members + 1],
            RankTargets(scores, places),
            places=places,
            metric=self.metric,
            progress=progress,
        )
        return PositiveCounts(members, scores, *counts)

    def first_items(
        self, depth: int, *, transposed: bool, order: Ints | None = None
    ) -> tuple[Ints, Floats]:
        """As in `ComparedScores`."""
        queries, items = self._sides(transposed)
        rows = None if order is None else np.argsort(order)
        if rows is not None:
            items = Embeddings(
                None if items.ids is None else names_of(items.ids, rows),
                np.asarray(items.vectors)[rows],
            )
        nearest = search(queries, items, k=depth, metric=self.metric)
        positions = nearest.positions
        if rows is not None:
            positions = np.where(positions >= 0, rows[positions], -1)
        return positions, nearest.scores

    first_groups = ComparedScores.first_groups

    def copies(self, *, transposed: bool) -> Ints | None:
        """As in `ComparedScores`."""
        return equal_rows(self._sides(transposed)[0].vectors)

    def same(self, first: int, second: int) -> bool:
        """As in `ComparedScores`."""
        return np.array_equal(self.queries.vectors[first], self.queries.vectors[second])


Compared = ComparedScores | ComparedVectors
