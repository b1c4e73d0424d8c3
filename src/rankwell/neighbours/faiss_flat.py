"""Search with faiss: its flat search finds a few more than k of each block; where they may not be all, it is compared whole."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankwell.core.kernels.exclusion import Barred
from rankwell.core.kernels.products import Counted, Hits, sift, tally
from rankwell.core.kernels.similarity import Reals
from rankwell.core.tables import Bools, Ints
from rankwell.neighbours import BACKENDS, Backend, optional

_MARGIN = 8
_CELLS = 1 << 22


class _Part(NamedTuple):
    """Some queries by their place in a tile, with all their products, who of them is barred, and room for marks."""

    rows: Ints
    products: Reals
    barred: Barred
    mask: Bools


class _FaissEngine:
    def __init__(self, queries: Reals) -> None:
        self._faiss = optional("faiss", "faiss-cpu", "faiss")
        self._queries = queries
        self._items = queries[:0]

    def load(self, items: Reals) -> None:
        self._items = items

    def hits(self, rows: slice, cut: Reals, slack: Reals, keep: int, barred: Barred) -> Hits:
        queries, n = self._queries[rows], len(self._items)
        if queries.dtype == np.float64:  # which faiss does not multiply
            return self._sifted(rows, np.arange(len(queries)), cut, slack, keep, barred)
        excluded = int(np.bincount(barred.rows, minlength=1).max())
        asked = min(n, keep + _MARGIN + min(excluded, keep))
        products, columns = self._faiss.knn(queries, self._items, asked, metric=self._faiss.METRIC_INNER_PRODUCT)
        free = np.ones(products.shape, dtype=np.bool_)
        if len(barred.rows):
            pairs = np.arange(len(queries))[:, None] * n + columns
            free = ~np.isin(pairs, barred.rows * n + barred.columns)
        # What faiss left out is no higher than its last product: too low where that is below the cut, or below the k-th of the
        # products that count by more than twice the slack.
        kth = np.where(np.cumsum(free, axis=1) == keep, products, -np.inf).max(axis=1)
        needed = np.maximum(cut, kth.astype(np.float64) - 2 * slack.astype(np.float64))
        unsure = (products[:, -1] >= needed) & (asked < n)
        row, place = np.nonzero(free & (products >= cut[:, None]) & ~unsure[:, None])
        rest = self._sifted(rows, np.flatnonzero(unsure), cut, slack, keep, barred)
        found, column = np.concatenate([row, rest.rows]), np.concatenate([columns[row, place], rest.columns])
        order = np.lexsort((column, found))
        return Hits(found[order], column[order], np.concatenate([products[row, place], rest.products])[order])

    def _sifted(self, tile: slice, rows: Ints, cut: Reals, slack: Reals, keep: int, barred: Barred) -> Hits:
        """The hits of some queries of a tile, from all of their products."""
        empty = np.empty(0, dtype=np.int64)
        parts = [Hits(empty, empty, cut[:0])]
        for part in self._whole(tile, rows, barred):
            found = sift(part.products, cut[part.rows], slack[part.rows], keep, part.barred, part.mask)
            parts.append(Hits(part.rows[found.rows], found.columns, found.products))
        row, column = np.concatenate([part.rows for part in parts]), np.concatenate([part.columns for part in parts])
        return Hits(row, column, np.concatenate([part.products for part in parts]))

    def counts(self, rows: slice, low: Reals, high: Reals, barred: Barred) -> Counted:
        # faiss finds the best and counts nothing, so the products are made here.
        above = np.empty(low.shape, dtype=np.int64)
        empty = np.empty(0, dtype=np.int64)
        found = [(empty, empty, empty)]
        for part in self._whole(rows, np.arange(rows.stop - rows.start), barred):
            counted = tally(part.products, low[part.rows], high[part.rows], part.barred, part.mask)
            above[part.rows] = counted.above
            found.append((part.rows[counted.rows], counted.columns, counted.which))
        return Counted(above, *(np.concatenate(column) for column in zip(*found, strict=True)))

    def _whole(self, tile: slice, rows: Ints, barred: Barred) -> Iterator[_Part]:
        """All products of some queries of a tile, a few queries at a time."""
        step = max(1, _CELLS // len(self._items))
        for top in range(0, len(rows), step):
            some = rows[top : top + step]
            mine = np.isin(barred.rows, some)
            inner = Barred(np.searchsorted(some, barred.rows[mine]), barred.columns[mine])
            products = np.matmul(self._queries[tile][some], self._items.T)
            yield _Part(some, products, inner, np.empty(products.shape, dtype=np.bool_))


BACKENDS.add("faiss", Backend("faiss", lambda queries, *_: _FaissEngine(queries), 8192, 32_768))
