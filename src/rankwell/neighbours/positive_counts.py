"""Rank counts of the positives of each query among all items: in a matrix of scores, or from embeddings, without any matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwell.core.kernels import matrix_counts
from rankwell.core.kernels.matrix_counts import PositiveCounts, Progress, Side, lots
from rankwell.core.kernels.similarity import Block, Metric, Space, score_pairs
from rankwell.core.tables import Bools, Floats, Ints
from rankwell.core.tables.embeddings import Embeddings
from rankwell.core.tables.names import Positions
from rankwell.core.tables.scores import Positives, Scores
from rankwell.errors import BadInput
from rankwell.neighbours import ranks_of, search

_QUERIES, _ITEMS = 512, 4096
_SAMPLED = 64


class Compared(Protocol):
    """Captions (rows) compared with videos (columns). transposed: whether the videos are the queries."""

    @property
    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        """The names of captions and videos."""
        ...

    def count(
        self, positives: Positives, *, transposed: bool, best: bool, order: Ints | None, progress: Progress | None
    ) -> PositiveCounts:
        """The counts of each query's positives, or of the best alone; see `rankwell.core.kernels.matrix_counts.count`."""
        ...

    def count_groups(self, captions: Positives, *, order: Ints | None, progress: Progress | None) -> PositiveCounts:
        """The counts of each video among videos, whose scores are the greatest of their captions'."""
        ...

    def first_items(self, depth: int, *, transposed: bool, order: Ints | None) -> tuple[Ints, Floats]:
        """(queries, depth) positions and scores of the first items of each query."""
        ...

    def copies(self, *, transposed: bool) -> Ints | None:
        """(queries,) the first query that is the same to the last byte; None where coarse scores make all alike."""
        ...

    def same(self, one: int, other: int) -> bool:
        """Whether two captions are the same to the last byte."""
        ...


def by_scores(scores: Scores, rows: Ints | None = None) -> Compared:
    """Captions and videos compared by a matrix of scores. rows: the captions that take part, None for all."""
    return _ByScores(scores, rows)


def by_vectors(captions: Embeddings, videos: Embeddings, metric: Metric, rows: Ints | None = None) -> Compared:
    """Captions and videos compared by embeddings. rows: the captions that take part, None for all.

    Raises BadInput where they have different dimensions.
    """
    _refuse_dimensions(captions, videos)
    if rows is not None:
        captions = Embeddings(_some(captions.names(), rows), np.asarray(captions.vectors)[rows])
    return _ByVectors(captions, videos, metric)


def _refuse_dimensions(queries: Embeddings, items: Embeddings) -> None:
    """Exact scores are computed before any product, by code that takes the dimensions on trust."""
    if queries.dimensions != items.dimensions:
        raise BadInput(
            f"the queries have {queries.dimensions} dimensions, the items {items.dimensions}; both come from one model."
        )


def _some(names: Sequence[str], rows: Ints | None) -> Sequence[str]:
    """The names of some rows, all of them for None."""
    if rows is None:
        return names
    listed: list[int] = rows.tolist()
    return Positions(listed) if isinstance(names, Positions) else [names[row] for row in listed]


@dataclass(frozen=True, eq=False)
class _ByScores:
    scores: Scores
    rows: Ints | None

    @property
    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        return _some(self.scores.query_names, self.rows), self.scores.item_names

    def count(
        self, positives: Positives, *, transposed: bool, best: bool, order: Ints | None, progress: Progress | None
    ) -> PositiveCounts:
        return matrix_counts.count(Side(self.scores, self.rows, transposed), positives, best=best, order=order, progress=progress)

    def count_groups(self, captions: Positives, *, order: Ints | None, progress: Progress | None) -> PositiveCounts:
        return matrix_counts.count_groups(self.scores, self.rows, captions, order=order, progress=progress)

    def first_items(self, depth: int, *, transposed: bool, order: Ints | None) -> tuple[Ints, Floats]:
        return matrix_counts.first_items(Side(self.scores, self.rows, transposed), depth, order=order)

    def copies(self, *, transposed: bool) -> Ints | None:
        matrix = self.scores.matrix
        if matrix.dtype.kind != "f":
            return None
        return equal_rows(matrix.T) if transposed else equal_rows(matrix, self.rows)

    def same(self, one: int, other: int) -> bool:
        rows = (one, other) if self.rows is None else (int(self.rows[one]), int(self.rows[other]))
        return np.array_equal(self.scores.matrix[rows[0]], self.scores.matrix[rows[1]])


@dataclass(frozen=True, eq=False)
class _ByVectors:
    captions: Embeddings
    videos: Embeddings
    metric: Metric

    @property
    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        return self.captions.names(), self.videos.names()

    def _sides(self, transposed: bool) -> tuple[Embeddings, Embeddings]:
        return (self.videos, self.captions) if transposed else (self.captions, self.videos)

    def count(
        self, positives: Positives, *, transposed: bool, best: bool, order: Ints | None, progress: Progress | None
    ) -> PositiveCounts:
        return count_positives(*self._sides(transposed), positives, best=best, metric=self.metric, order=order, progress=progress)

    def count_groups(self, captions: Positives, *, order: Ints | None, progress: Progress | None) -> PositiveCounts:
        return count_groups(self.videos, self.captions, captions, metric=self.metric, order=order, progress=progress)

    def first_items(self, depth: int, *, transposed: bool, order: Ints | None) -> tuple[Ints, Floats]:
        queries, items = self._sides(transposed)
        if order is None:
            found = search(queries, items, k=depth, metric=self.metric)
            return found.positions, found.scores
        listed = np.argsort(order)
        found = search(queries, Embeddings(None, np.asarray(items.vectors)[listed]), k=depth, metric=self.metric)
        return listed[found.positions], found.scores

    def copies(self, *, transposed: bool) -> Ints | None:
        return equal_rows(self._sides(transposed)[0].vectors)

    def same(self, one: int, other: int) -> bool:
        return np.array_equal(self.captions.vectors[one], self.captions.vectors[other])


def count_positives(
    queries: Embeddings,
    items: Embeddings,
    positives: Positives,
    *,
    best: bool,
    metric: Metric,
    order: Ints | None = None,
    progress: Progress | None = None,
) -> PositiveCounts:
    """The counts of every positive, or of each query's `best` one alone with those that tie with it.

    order: (items,) the place of each item among items with equal scores; None for that in the table. Raises as `ranks_of` does.
    """
    _refuse_dimensions(queries, items)
    scores = score_pairs(queries.vectors, items.vectors, positives.owner, positives.items, metric)
    pairs = np.flatnonzero(positives.is_best(scores)) if best else np.arange(len(scores))
    owner, targets = positives.owner[pairs], positives.items[pairs]
    level = np.arange(len(pairs)) - np.searchsorted(owner, owner)
    if order is not None:
        # In the named order, the items have it as that of their table.
        items = Embeddings(None, np.asarray(items.vectors)[np.argsort(order)])
        targets = order[targets]
    wanted = np.full((queries.n, int(level.max(initial=0)) + 1), -1, dtype=np.int64)
    wanted[owner, level] = targets
    found = ranks_of(queries, items, wanted, metric=metric, progress=progress)
    at = owner, level
    return PositiveCounts(pairs, scores[pairs], found.above[at], found.tied[at], found.before[at])


def count_groups(
    queries: Embeddings,
    items: Embeddings,
    groups: Positives,
    *,
    metric: Metric,
    order: Ints | None = None,
    progress: Progress | None = None,
) -> PositiveCounts:
    """The counts of each query among all queries' groups of items, a group's score being the greatest of its items.

    groups: the items of each query; queries without any take no part. order: (queries,) the place of each among equal scores.
    `pairs` are queries. Raises as `ranks_of` does.
    """
    _refuse_dimensions(queries, items)
    members = np.flatnonzero(groups.counts)
    ends = np.cumsum(groups.counts[members])
    listed = Embeddings(None, np.asarray(items.vectors)[groups.items])
    owners = Embeddings(None, np.asarray(queries.vectors)[members])
    exact = score_pairs(queries.vectors, items.vectors, groups.owner, groups.items, metric)
    mine = np.maximum.reduceat(exact, ends - groups.counts[members]) if len(members) else exact
    place = np.argsort(np.argsort(members if order is None else order[members]))
    pairing = _Pairing(Space(owners, listed, metric), owners, listed, metric)
    above, tied, before = (np.zeros(len(members), dtype=np.int64) for _ in range(3))
    for top in range(0, len(members), _QUERIES):
        rows = slice(top, min(top + _QUERIES, len(members)))
        block = pairing.space.queries(rows.start, rows.stop)
        for first, last in lots(ends, _ITEMS):
            begin = int(ends[first - 1]) if first else 0
            starts = np.concatenate([[0], ends[first : last - 1] - begin])
            higher, same = pairing.compare(block, top, begin, int(ends[last - 1]), mine[rows])
            above_here = np.logical_or.reduceat(higher, starts, axis=1)
            tied_here = np.logical_or.reduceat(same, starts, axis=1) & ~above_here
            above[rows] += np.count_nonzero(above_here, axis=1)
            tied[rows] += np.count_nonzero(tied_here, axis=1)
            before[rows] += np.count_nonzero(tied_here & (place[first:last] < place[rows, None]), axis=1)
        if progress is not None:
            progress(rows.stop, len(members))
    return PositiveCounts(members, mine, above, tied, before)


class _Pairing(NamedTuple):
    """Queries and items that are compared through products, with exact scores where those are not sure."""

    space: Space
    queries: Embeddings
    items: Embeddings
    metric: Metric

    def compare(self, block: Block, first: int, start: int, stop: int, mine: Floats) -> tuple[Bools, Bools]:
        """(queries, items) whether the items from start to stop score higher than `mine`, (queries,), and whether the same."""
        loaded = self.space.items(start, stop)
        products = np.matmul(block.vectors, loaded.vectors.T).astype(np.float64)
        products -= self.space.place(mine, block.squares)[:, None]
        slack = self.space.slack(block.reach, loaded.reach.max())[:, None]
        # Beside the bound of the product: the difference from the place is rounded once more.
        slack = slack * (1 + 2.0**-20)
        higher, same = products > slack, np.zeros(products.shape, dtype=np.bool_)
        row, column = np.nonzero(np.abs(products) <= slack)
        exact = score_pairs(self.queries.vectors, self.items.vectors, row + first, column + start, self.metric)
        higher[row, column] = exact > mine[row]
        same[row, column] = exact == mine[row]
        return higher, same


def equal_rows(matrix: NDArray[Any], rows: Ints | None = None) -> Ints:
    """(rows,) for each row the first row that is the same to the last byte, itself where it is the first.

    rows: those that take part; None for all. Of wide rows some evenly spaced numbers are looked at before all of them are.
    """
    chosen = np.arange(len(matrix)) if rows is None else rows
    width = matrix.shape[1]
    some = np.unique(np.linspace(0, width - 1, min(width, _SAMPLED)).astype(np.int64))
    first, alike = np.arange(len(chosen)), dict[bytes, list[int]]()
    for start in range(0, len(chosen), 1024):
        part = np.ascontiguousarray(matrix[np.ix_(chosen[start : start + 1024], some)])
        for offset, row in enumerate(part):
            alike.setdefault(row.tobytes(), []).append(start + offset)
    for those in alike.values():
        if len(those) > 1:
            _settle(matrix, chosen, those, first)
    return first


def _settle(matrix: NDArray[Any], chosen: Ints, those: list[int], first: Ints) -> None:
    """Notes for rows that look alike which of them are the same."""
    known: dict[bytes, int] = {}
    for row in those:
        first[row] = known.setdefault(np.ascontiguousarray(matrix[int(chosen[row])]).tobytes(), row)
