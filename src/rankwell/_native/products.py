"""Blocks of products: excluded pairs, products that reach a bound, and shortlists of the best k
items of a query.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell._native import native
from rankwell._native.similarity import Reals, Space
from rankwell.data.matrices import Embeddings, row_blocks
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    position_in_segment,
    positions_by_id,
    segment_of_row,
    segment_offsets,
)
from rankwell.errors import BadInput
from rankwell.threads import in_threads, processors

Exclude = Literal["none", "self"]


class Groups(NamedTuple):
    """Labels of both sides; an item is excluded for a query that has the same label.

    queries: the label of each query; None for a query without one.
    items: the label of each item; None for an item without one. Two without a label do not exclude
        each other.
    """

    queries: Sequence[Hashable]
    items: Sequence[Hashable]


class ExcludedPairs(NamedTuple):
    """Pairs of a query and an item of a block that are excluded.

    rows: (n,) positions of the queries within the block.
    columns: (n,) positions of the items within it.
    """

    rows: Ints
    columns: Ints


class Exclusion:
    """The excluded pairs of two tables: by name, never by position, or by label. Raises BadInput
    for a wrong number of labels.
    """

    def __init__(
        self, queries: Embeddings, items: Embeddings, exclude: Exclude, groups: Groups | None
    ) -> None:
        self.same_name = _same_name(queries, items) if exclude == "self" else None
        """The position of the item with each query's name, (queries,), -1 for none; None where
        names exclude nothing.
        """
        self.labels = None if groups is None else _numbered(groups, queries.n, items.n)
        """The labels of queries and items as numbers; None where labels exclude nothing."""

    def excluded(self, rows: slice, start: int, n: int) -> ExcludedPairs:
        """The excluded pairs of some queries with n items from `start` on; counted within both."""
        pair_arrays = [(np.empty(0, np.int64),) * 2]
        if self.same_name is not None:
            positions = self.same_name[rows] - start
            inside = np.flatnonzero((positions >= 0) & (positions < n))
            pair_arrays.append((inside, positions[inside]))
        if self.labels is not None:
            labels, item_labels = self.labels
            row, column = np.nonzero(labels[rows][:, None] == item_labels[start : start + n])
            pair_arrays.append((row, column))
        return ExcludedPairs(*_joined(pair_arrays))

    def is_excluded(self, rows: Ints, columns: Ints) -> Bools:
        """Whether the item of each pair is excluded for its query."""
        excluded = np.zeros(len(rows), dtype=np.bool_)
        if self.same_name is not None:
            excluded |= self.same_name[rows] == columns
        if self.labels is not None:
            excluded |= self.labels[0][rows] == self.labels[1][columns]
        return excluded


def _same_name(queries: Embeddings, items: Embeddings) -> Ints:
    """Position of the item with the name of each query, -1 where there is none."""
    if queries.ids is None and items.ids is None:
        positions = np.arange(queries.n)
        return np.where(positions < items.n, positions, -1)
    row = positions_by_id(queries.names())
    item_positions = np.full(queries.n, -1, dtype=np.int64)
    for position, name in enumerate(items.names()):
        if name in row:
            item_positions[row[name]] = position
    return item_positions


def _numbered(groups: Groups, n_queries: int, n_items: int) -> tuple[Ints, Ints]:
    """Labels as numbers; no label is -1 on one side and -2 on the other, so that it equals
    nothing.
    """
    if len(groups.queries) != n_queries or len(groups.items) != n_items:
        raise BadInput(
            f"{len(groups.queries)} and {len(groups.items)} group labels for {n_queries} queries "
            f"and {n_items} items; each has one, or None."
        )
    numbers = dict[Hashable, int]()
    queries, items = (
        np.array(
            [none if label is None else numbers.setdefault(label, len(numbers)) for label in side],
            dtype=np.int64,
        )
        for side, none in ((groups.queries, -1), (groups.items, -2))
    )
    return queries, items


_FOLD, _FOLDS = 4, 2
_EACH = 1 << 20  # products that are worth a thread


class ProductHits(NamedTuple):
    """Pairs of a query and an item of a block, ascending by query and then by item.

    rows: (n,) positions of the queries within the block.
    columns: (n,) positions of the items within it.
    products: (n,) the product of each pair, in the precision of the multiplier.
    """

    rows: Ints
    columns: Ints
    products: Reals


class Counted(NamedTuple):
    """Items above and near the products of targets, m for each query.

    above: (queries, m) number of items whose product is greater than `high`.
    rows, columns, levels: (n,) the pairs from `low` to `high`: the query, the item and the target.
    """

    above: Ints
    rows: Ints
    columns: Ints
    levels: Ints


class Multiplier:
    """Multiplies blocks of vectors, for one set of queries, with NumPy alone: blocks of products
    written into one buffer again and again, and compared with a rising threshold.
    """

    def __init__(self, queries: Reals, query_block: int, item_block: int) -> None:
        self._queries = queries
        self._space = np.empty(min(query_block, len(queries)) * item_block, dtype=queries.dtype)
        self._marks = np.empty(len(self._space), dtype=np.bool_)

    def load(self, items: Reals) -> None:
        """Takes the items of the next products."""
        self._items = items

    def _products(self, rows: slice) -> tuple[Reals, Bools]:
        queries = self._queries[rows]
        shape = len(queries), len(self._items)
        out, marks = (
            room[: shape[0] * shape[1]].reshape(shape) for room in (self._space, self._marks)
        )
        return np.matmul(queries, self._items.T, out=out), marks

    def hits(
        self, rows: slice, cut: Reals, slack: Reals, keep: int, excluded: ExcludedPairs
    ) -> ProductHits:
        """All pairs with a product of at least `cut` that are not excluded; cut, slack: (queries,).

        A pair may be missing if `keep` others of its query have products above its own by more than
        twice the slack.
        """
        products, mask = self._products(rows)
        return sift(products, cut, slack, keep, excluded, mask)

    def counts(self, rows: slice, low: Reals, high: Reals, excluded: ExcludedPairs) -> Counted:
        """Number of items above `high` that are not excluded, and the pairs in between; low, high:
        (queries, m).
        """
        products, mask = self._products(rows)
        return tally(products, low, high, excluded, mask)


def sift(
    products: Reals, cut: Reals, slack: Reals, keep: int, excluded: ExcludedPairs, mask: Bools
) -> ProductHits:
    """The pairs of a block with a product of at least `cut`; those that cannot be among the best
    `keep` may be missing.

    cut, slack: as in `Multiplier.hits`. products, mask: of one shape; both are written to.
    """
    products[excluded] = -np.inf
    queries, items = products.shape
    parts, is_wide = _parts(products), items > keep

    # The first block has no cut, and listing all of its pairs would be in vain.
    if not (is_wide and (products[0] >= cut[0]).sum() > items // 2):
        room = 4 * keep * queries if is_wide else queries * items
        reaching = in_threads(
            lambda part: _reaching(products[part], cut[part], room, mask[part], part.start), parts
        )
        hits = [part_hits for part_hits in reaching if part_hits is not None]
        if len(hits) == len(parts) and sum(len(part_hits.rows) for part_hits in hits) <= room:
            return ProductHits(*_joined(hits))
    hits = in_threads(lambda part: _best_reaching(products, part, cut, slack, keep, mask), parts)
    return ProductHits(*_joined(hits))


def _joined(parts: Sequence[tuple[Any, ...]]) -> Iterable[Any]:
    """The columns of all parts, one part behind the other."""
    return parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))


_AT_ONCE = 1 << 18  # products that are read twice while they are in the cache


def _best_reaching(
    products: Reals, part: slice, cut: Reals, slack: Reals, keep: int, mask: Bools
) -> ProductHits:
    """The same for some rows, with a cut for each query that is raised to twice the slack below its
    k-th greatest product.
    """
    step, part_hits = max(1, _AT_ONCE // products.shape[1]), list[ProductHits]()
    for top in range(part.start, part.stop, step):
        rows = slice(top, min(top + step, part.stop))
        row_products = products[rows]
        bound = _kth_bound(row_products, keep) - 2 * slack[rows]
        least = np.nextafter(bound, -np.inf, dtype=products.dtype)
        hits = _reaching(
            row_products, np.maximum(cut[rows], least), row_products.size, mask[rows], top
        )
        if hits is None:
            raise RuntimeError("there is room for every pair")
        part_hits.append(hits)
    return ProductHits(*_joined(part_hits))


def _reaching(
    products: Reals, cut: Reals, room: int, mask: Bools, first: int
) -> ProductHits | None:
    """All pairs with a product of at least `cut`, by row and then by column; None where they are
    more than the room.

    first: the number of the first row.
    """
    if native.library is not None and products.dtype == np.float32:
        n = min(room, products.size)
        rows, columns = (np.empty(n, dtype=np.int64) for _ in range(2))
        values = np.empty(n, dtype=np.float32)
        n_hits = native.library.sift(products, np.ascontiguousarray(cut), rows, columns, values)
        return (
            None
            if n_hits < 0
            else ProductHits(rows[:n_hits] + first, columns[:n_hits].copy(), values[:n_hits].copy())
        )
    np.greater_equal(products, cut[:, None], out=mask)
    marked = np.flatnonzero(mask)
    if len(marked) > room:
        return None
    rows, columns = np.divmod(marked, products.shape[1])
    return ProductHits(rows + first, columns, products[rows, columns])


def _parts(products: Reals) -> list[slice]:
    """Ranges of rows, one for each thread that is worth starting; one at least."""
    queries = len(products)
    number = max(1, min(processors(), products.size // _EACH, queries))
    return [
        slice(queries * part // number, queries * (part + 1) // number) for part in range(number)
    ]


def _kth_bound(products: Reals, keep: int) -> Reals:
    """Number that is at most the k-th greatest product of each query, and not much less."""
    # The greatest of several are different pairs, so the k-th of those is such a bound; and they
    # are soon found.
    for _ in range(_FOLDS):
        height = products.shape[1] // _FOLD
        if height >= 8 * keep:
            products = (
                products[:, : _FOLD * height].reshape(len(products), _FOLD, height).max(axis=1)
            )
    kth = products.shape[1] - keep
    return np.partition(products, kth, axis=1)[:, kth]


def tally(
    products: Reals, low: Reals, high: Reals, excluded: ExcludedPairs, mask: Bools
) -> Counted:
    """Numbers of products above `high`, (queries, m), and the pairs from `low` on; products and
    mask are written to.
    """
    products[excluded] = -np.inf
    if native.library is not None and products.dtype == np.float32:
        return _tally_natively(products, low, high)
    above = np.empty(low.shape, dtype=np.int64)
    pair_arrays = [(np.empty(0, dtype=np.int64),) * 3]
    for level in range(low.shape[1]):
        np.greater(products, high[:, level, None], out=mask)
        above[:, level] = np.count_nonzero(mask, axis=1)
        np.greater_equal(products, low[:, level, None], out=mask)
        near = np.flatnonzero(np.count_nonzero(mask, axis=1) > above[:, level])
        row, column = np.nonzero(mask[near] & (products[near] <= high[near, level, None]))
        pair_arrays.append((near[row], column, np.full(len(row), level)))
    return Counted(above, *_joined(pair_arrays))


def _tally_natively(products: Reals, low: Reals, high: Reals) -> Counted:
    low, high = np.ascontiguousarray(low), np.ascontiguousarray(high)

    def _work(part: slice) -> Counted:
        part_products, least, most = products[part], low[part], high[part]
        above, room = np.empty(least.shape, dtype=np.int64), 4 * least.size + 64
        while True:
            rows, columns, levels = (np.empty(room, dtype=np.int64) for _ in range(3))
            n_pairs = native.library.tally(
                part_products, len(part_products), least, most, above, rows, columns, levels
            )
            if n_pairs >= 0:
                return Counted(
                    above,
                    rows[:n_pairs] + part.start,
                    columns[:n_pairs].copy(),
                    levels[:n_pairs].copy(),
                )
            room *= 8

    return Counted(*_joined(in_threads(_work, _parts(products))))


def greater_counts(scores: Reals, target_scores: Reals) -> tuple[Ints, Ints]:
    """Numbers of float32 scores of a row above its targets, and as high or above, by the compiled
    kernel: each (rows, m).
    """
    counted = _tally_natively(scores, target_scores, target_scores)
    m = target_scores.shape[1]
    equal = np.bincount(counted.rows * m + counted.levels, minlength=target_scores.size).reshape(
        target_scores.shape
    )
    return counted.above, counted.above + equal


_PAIRS = 1 << 19  # pairs that are scored exactly at a time
Scorer = Callable[[Ints, Ints], Floats]


Best = tuple[Ints, Floats]
"""The positions and the scores of the best k items of each query, (queries, k) each; -1 and NaN
where there are fewer.
"""


def no_items(*shape: int) -> Best:
    """Lists without items, to be filled in."""
    return np.full(shape, -1, dtype=np.int64), np.full(shape, np.nan)


def packed(is_item: Bools, k: int) -> tuple[tuple[Ints, Ints], Best]:
    """The row of each marked cell and its place among those of the row, and lists of k items, or as
    many as a row has marked cells.
    """
    counts = np.count_nonzero(is_item, axis=1)
    offsets = segment_offsets(counts)
    return (segment_of_row(offsets), position_in_segment(offsets)), no_items(
        len(counts), max(k, int(counts.max(initial=0)))
    )


def foremost(positions: Ints, scores: Floats, k: int, tie_ranks: Ints | None = None) -> Best:
    """The best k of lists by score, then by rank, or by place where that is None; NaN is last."""
    if tie_ranks is None:
        order = np.argsort(-scores, axis=1, kind="stable")
    else:
        order = np.lexsort((tie_ranks[positions], -scores), axis=1)
    order = order[:, :k]
    return np.take_along_axis(positions, order, axis=1), np.take_along_axis(scores, order, axis=1)


class Shortlist:
    """Up to `width` candidates per query, offered in ascending position; whoever cannot be among
    the best k any more is dropped.

    An item that ties with the k-th best comes too late once that one is known exactly, however many
    tie at the cut.
    """

    def __init__(
        self, k: int, space: Space, squares: Floats, score: Scorer, *, patience: float = np.inf
    ) -> None:
        queries = len(squares)
        self._k, self._space, self._squares, self._score = k, space, squares, score
        self.width = width(k)
        self._count = np.zeros(queries, dtype=np.int64)
        self._position = np.zeros((queries, self.width), dtype=np.int64)
        self._upper = np.full((queries, self.width), -np.inf)
        self._lower = np.full((queries, self.width), -np.inf)
        self._floor = np.full(queries, -np.inf)
        self.entry = np.full(queries, -np.inf)
        """The place that an item must be able to reach to be offered at all: (queries,)."""
        self._settled, self._limit = 0, patience * queries * self.width

    @property
    def gave_up(self) -> bool:
        """Whether products distinguish so little that over `patience` times the room was scored
        exactly; then all is void.
        """
        return self._settled > self._limit

    def offer(self, rows: Ints, positions: Ints, middle: Floats, slack: Floats) -> None:
        """Adds candidates, ascending by query and then by position; middle, slack: the product and
        how far it may be off.
        """
        upper, lower = middle + slack, middle - slack
        while len(rows) and not self.gave_up:
            inside = upper >= self.entry[rows]
            rows, positions = rows[inside], positions[inside]
            upper, lower = upper[inside], lower[inside]
            if not len(rows):
                return
            starts = np.flatnonzero(np.diff(rows, prepend=-1))
            lengths = np.diff(starts, append=len(rows))
            slot = np.arange(len(rows)) - np.repeat(starts - self._count[rows[starts]], lengths)
            fits = slot < self.width
            at = rows[fits], slot[fits]
            self._position[at] = positions[fits]
            self._upper[at], self._lower[at] = upper[fits], lower[fits]
            self._count[rows[starts]] = np.minimum(self._count[rows[starts]] + lengths, self.width)
            full = rows[starts][self._count[rows[starts]] >= self.width]
            if len(full):
                # Whoever is clearly below the k-th best goes; where that leaves no room, the
                # candidates are scored exactly.
                self._drop(full)
                crowded = full[self._count[full] > self._k + (self.width - self._k) // 2]
                if len(crowded):
                    self._settle(crowded)
            rows, positions = rows[~fits], positions[~fits]
            upper, lower = upper[~fits], lower[~fits]

    def raise_entry(self, rows: Ints | slice) -> None:
        """Brings `entry` up to what the candidates of some queries show."""
        kth = np.partition(self._lower[rows], self.width - self._k, axis=1)[:, self.width - self._k]
        self._floor[rows] = np.maximum(self._floor[rows], kth)
        self.entry[rows] = np.maximum(self.entry[rows], self._floor[rows])

    def _drop(self, rows: Ints) -> None:
        """Drops who is clearly below the k-th best; the others keep their order."""
        stays = self._possible(rows)
        order, count = np.argsort(~stays, axis=1, kind="stable"), stays.sum(axis=1)
        beyond = np.arange(self.width) >= count[:, None]
        self._position[rows] = np.take_along_axis(self._position[rows], order, axis=1)
        for bounds in (self._upper, self._lower):
            moved = np.take_along_axis(bounds[rows], order, axis=1)
            moved[beyond] = -np.inf
            bounds[rows] = moved
        self._count[rows] = count

    def _settle(self, rows: Ints) -> None:
        """Keeps the exact best k: from here on an item must score higher than the k-th, not the
        same.
        """
        self._settled += int(self._count[rows].sum())
        for part in np.array_split(rows, len(rows) * self.width // _PAIRS + 1):
            positions, scores = self._exact(part, self._candidates(part))
            is_filled = positions >= 0
            bounds = self._space.place(
                np.where(is_filled, scores, -np.inf), self._squares[part][:, None]
            )
            self._position[part, : self._k] = positions
            self._upper[part, : self._k] = self._lower[part, : self._k] = np.where(
                is_filled, bounds, -np.inf
            )
            self._upper[part, self._k :] = self._lower[part, self._k :] = -np.inf
            self._count[part] = is_filled.sum(axis=1)
            sure = is_filled[:, -1]
            last = scores[sure, -1]
            done = part[sure]
            self._floor[done] = np.maximum(
                self._floor[done], self._space.place(last, self._squares[done])
            )
            self.entry[done] = np.maximum(
                self.entry[done], self._space.after(last, self._squares[done])
            )

    def _exact(self, rows: Ints | slice, is_candidate: Bools) -> Best:
        """The best k of some queries' candidates by exact score, then by position.

        is_candidate: (rows, width) whether a place holds a candidate.
        """
        cells, (positions, scores) = packed(is_candidate, self._k)
        owner = cells[0]
        positions[cells] = self._position[rows][is_candidate]
        scores[cells] = self._score(
            owner + rows.start if isinstance(rows, slice) else rows[owner], positions[cells]
        )
        # Those of a query are in ascending position.
        return foremost(positions, scores, self._k)

    def _candidates(self, rows: Ints | slice) -> Bools:
        """Whether each place of some queries holds a candidate: (rows, width)."""
        return np.arange(self.width) < self._count[rows][:, None]

    def _possible(self, rows: Ints | slice) -> Bools:
        """Whether each place holds a candidate that may be among the best k: (rows, width)."""
        self.raise_entry(rows)
        return self._candidates(rows) & (self._upper[rows] >= self._floor[rows][:, None])

    def best(self) -> Best:
        """The best k of every query, exactly."""
        step = max(1, _PAIRS // self.width)
        rows = [*row_blocks(len(self._count), self.width, step)] or [slice(0, 0)]
        positions, scores = _joined([self._exact(part, self._possible(part)) for part in rows])
        return positions, scores


def width(k: int) -> int:
    """Number of candidates in a shortlist of the best k."""
    return k + max(k, 48)
