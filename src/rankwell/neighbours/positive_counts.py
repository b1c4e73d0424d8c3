"""Rank counts of the positives of each query among all items from embeddings, without any matrix of scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankwell.core.kernels.matrix_counts import ComparedScores, PositiveCounts, Progress, equal_rows, lots, names_of
from rankwell.core.kernels.similarity import Metric, Space, score_pairs
from rankwell.core.tables import Floats, Ints
from rankwell.core.tables.matrices import Embeddings, Positives
from rankwell.errors import BadInput
from rankwell.neighbours import ranks_of, search

_QUERIES, _ITEMS = 512, 4096


def by_vectors(queries: Embeddings, items: Embeddings, metric: Metric, rows: Ints | None = None) -> "_ComparedVectors":
    """Queries and items compared by embeddings. rows: the queries that take part. Raises BadInput for differing dimensions."""
    # Exact scores are computed before any product, by code that takes the dimensions on trust.
    if queries.dimensions != items.dimensions:
        raise BadInput(
            f"the queries have {queries.dimensions} dimensions, the items {items.dimensions}; both come from one model."
        )
    if rows is not None:
        queries = Embeddings(names_of(queries.names(), rows), np.asarray(queries.vectors)[rows])
    return _ComparedVectors(queries, items, metric)


@dataclass(frozen=True, eq=False)
class _ComparedVectors:
    """The same methods as `ComparedScores`, which documents them; `count` and `count_groups` raise as `ranks_of` does."""

    queries: Embeddings
    items: Embeddings
    metric: Metric

    @property
    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        return self.queries.names(), self.items.names()

    def _sides(self, transposed: bool) -> tuple[Embeddings, Embeddings]:
        return (self.items, self.queries) if transposed else (self.queries, self.items)

    def count(
        self, positives: Positives, *, transposed: bool, best: bool, order: Ints | None = None, progress: Progress | None = None
    ) -> PositiveCounts:
        queries, items = self._sides(transposed)
        scores = score_pairs(queries.vectors, items.vectors, positives.owner, positives.items, self.metric)
        pairs = np.flatnonzero(positives.is_best(scores)) if best else np.arange(len(scores))
        owner, targets = positives.owner[pairs], positives.items[pairs]
        level = np.arange(len(pairs)) - np.searchsorted(owner, owner)
        if order is not None:
            # In the named order, the items have it as that of their table.
            items = Embeddings(None, np.asarray(items.vectors)[np.argsort(order)])
            targets = order[targets]
        wanted = np.full((queries.n, int(level.max(initial=0)) + 1), -1, dtype=np.int64)
        wanted[owner, level] = targets
        found = ranks_of(queries, items, wanted, metric=self.metric, progress=progress)
        at = owner, level
        return PositiveCounts(pairs, scores[pairs], found.above[at], found.tied[at], found.before[at])

    def count_groups(self, groups: Positives, *, order: Ints | None = None, progress: Progress | None = None) -> PositiveCounts:
        queries, items = self._sides(True)
        members = np.flatnonzero(groups.counts)
        ends = np.cumsum(groups.counts[members])
        exact = score_pairs(queries.vectors, items.vectors, groups.owner, groups.items, self.metric)
        mine = np.maximum.reduceat(exact, ends - groups.counts[members]) if len(members) else exact
        place = np.argsort(np.argsort(members if order is None else order[members]))
        listed = Embeddings(None, np.asarray(items.vectors)[groups.items])
        owners = Embeddings(None, np.asarray(queries.vectors)[members])
        space = Space(owners, listed, self.metric)
        above, tied, before = (np.zeros(len(members), dtype=np.int64) for _ in range(3))
        for top in range(0, len(members), _QUERIES):
            rows = slice(top, min(top + _QUERIES, len(members)))
            block = space.queries(rows.start, rows.stop)
            for first, last in lots(ends, _ITEMS):
                begin = int(ends[first - 1]) if first else 0
                starts = np.concatenate([[0], ends[first : last - 1] - begin])
                loaded = space.items(begin, int(ends[last - 1]))
                products = np.matmul(block.vectors, loaded.vectors.T).astype(np.float64)
                products -= space.place(mine[rows], block.squares)[:, None]
                # Beside the bound of the product: the difference from the place is rounded once more.
                slack = space.slack(block.reach, loaded.reach.max())[:, None] * (1 + 2.0**-20)
                higher, same = products > slack, np.zeros(products.shape, dtype=np.bool_)
                row, column = np.nonzero(np.abs(products) <= slack)
                near = score_pairs(owners.vectors, listed.vectors, row + top, column + begin, self.metric)
                higher[row, column], same[row, column] = near > mine[row + top], near == mine[row + top]
                above_here = np.logical_or.reduceat(higher, starts, axis=1)
                tied_here = np.logical_or.reduceat(same, starts, axis=1) & ~above_here
                above[rows] += np.count_nonzero(above_here, axis=1)
                tied[rows] += np.count_nonzero(tied_here, axis=1)
                before[rows] += np.count_nonzero(tied_here & (place[first:last] < place[rows, None]), axis=1)
            if progress is not None:
                progress(rows.stop, len(members))
        return PositiveCounts(members, mine, above, tied, before)

    def first_items(self, depth: int, *, transposed: bool, order: Ints | None = None) -> tuple[Ints, Floats]:
        queries, items = self._sides(transposed)
        listed = np.arange(items.n) if order is None else np.argsort(order)
        table = items if order is None else Embeddings(None, np.asarray(items.vectors)[listed])
        found = search(queries, table, k=depth, metric=self.metric)
        return listed[found.positions], found.scores

    def copies(self, *, transposed: bool) -> Ints | None:
        return equal_rows(self._sides(transposed)[0].vectors)

    def same(self, one: int, other: int) -> bool:
        return np.array_equal(self.queries.vectors[one], self.queries.vectors[other])


Compared = ComparedScores | _ComparedVectors
