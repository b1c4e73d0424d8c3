"""Search with faiss: its flat search finds a few more than k of each block; where they may not be
all, it is compared whole.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwell._native.products import Counted, ExcludedPairs, Multiplier, ProductHits, sift, tally
from rankwell._native.similarity import Reals
from rankwell.data.tables import Ints
from rankwell.vectors.neighbours import BACKENDS, Backend, optional

_MARGIN = 8
_CELLS = 1 << 22


class _FaissMultiplier(Multiplier):
    def __init__(self, queries: Reals) -> None:
        self._faiss = optional("faiss", "faiss-cpu")
        super().__init__(queries, 0, 0)

    def hits(
        self, rows: slice, cut: Reals, slack: Reals, keep: int, excluded: ExcludedPairs
    ) -> ProductHits:
        """Products above the cut, by faiss where it multiplies the type, and where it left none
        out, else all and sifted.
        """
        queries, n = self._queries[rows], len(self._items)
        if queries.dtype == np.float64:  # which faiss does not multiply
            return self._sifted(rows, np.arange(len(queries)), cut, slack, keep, excluded)
        depth = min(
            n, keep + _MARGIN + min(int(np.bincount(excluded.rows, minlength=1).max()), keep)
        )
        products, columns = self._faiss.knn(
            queries, self._items, depth, metric=self._faiss.METRIC_INNER_PRODUCT
        )
        free = np.ones(products.shape, dtype=np.bool_)
        if len(excluded.rows):
            pairs = np.arange(len(queries))[:, None] * n + columns
            free = ~np.isin(pairs, excluded.rows * n + excluded.columns)
        # What faiss left out is no higher than its last product: too low where that is below the
        # cut, or below the k-th of the products that count by more than twice the slack.
        kth = np.where(np.cumsum(free, axis=1) == keep, products, -np.inf).max(axis=1)
        bound = np.maximum(cut, kth.astype(np.float64) - 2 * slack.astype(np.float64))
        unsure = (products[:, -1] >= bound) & (depth < n)
        row, slot = np.nonzero(free & (products >= cut[:, None]) & ~unsure[:, None])
        hits = ProductHits(row, columns[row, slot], products[row, slot])
        if unsure.any():
            hits = ProductHits(
                *map(
                    np.concatenate,
                    zip(
                        hits,
                        self._sifted(rows, np.flatnonzero(unsure), cut, slack, keep, excluded),
                        strict=True,
                    ),
                )
            )
        order = np.lexsort((hits.columns, hits.rows))
        return ProductHits(*(column[order] for column in hits))

    def _sifted(
        self, tile: slice, rows: Ints, cut: Reals, slack: Reals, keep: int, excluded: ExcludedPairs
    ) -> ProductHits:
        """The hits of some queries of a tile, from all of their products."""
        return self._whole(
            *(tile, rows, excluded),
            lambda block, products, *more: sift(products, cut[block], slack[block], keep, *more),
        )

    def counts(self, rows: slice, low: Reals, high: Reals, excluded: ExcludedPairs) -> Counted:
        """The number of products above each range, and the products in it."""
        # faiss finds the best and counts nothing, so the products are made here.
        return self._whole(
            *(rows, np.arange(len(low)), excluded),
            lambda block, products, *more: tally(products, low[block], high[block], *more),
        )

    def _whole(
        self, tile: slice, rows: Ints, excluded: ExcludedPairs, work: Callable[..., Any]
    ) -> Any:
        """The results of work on a few queries of a tile at a time, joined.

        work: (their places, all their products, their excluded pairs, room for marks) -> hits or
        counts within them.
        """
        step, parts = max(1, _CELLS // len(self._items)), list[Any]()
        for top in range(0, len(rows), step):
            block_rows = rows[top : top + step]
            in_block = np.isin(excluded.rows, block_rows)
            inner = ExcludedPairs(
                np.searchsorted(block_rows, excluded.rows[in_block]), excluded.columns[in_block]
            )
            products = np.matmul(self._queries[tile][block_rows], self._items.T)
            part = work(block_rows, products, inner, np.empty(products.shape, dtype=np.bool_))
            parts.append(part._replace(rows=block_rows[part.rows]))
        return type(parts[0])(*map(np.concatenate, zip(*parts, strict=True)))


BACKENDS.add("faiss", Backend(lambda queries, *_: _FaissMultiplier(queries), 8192, 32_768))
