"""Search with NumPy alone: blocks of products written into one buffer again and again, and compared with a rising threshold."""

import numpy as np

from rankwell.kernels.similarity import Singles
from rankwell.search import BACKENDS, Backend, Barred, Counted, Hits, sift


class _NumpyEngine:
    def __init__(self, queries: Singles, query_block: int, item_block: int) -> None:
        self._queries = queries
        self._space = np.empty(min(query_block, len(queries)) * item_block, dtype=np.float32)
        self._marks = np.empty(len(self._space), dtype=np.bool_)
        self._items = queries[:0]

    def load(self, items: Singles) -> None:
        self._items = items

    def _products(self, rows: slice) -> Singles:
        queries = self._queries[rows]
        out = self._space[: len(queries) * len(self._items)].reshape(len(queries), len(self._items))
        return np.matmul(queries, self._items.T, out=out)

    def hits(self, rows: slice, cut: Singles, slack: Singles, keep: int, barred: Barred) -> Hits:
        products = self._products(rows)
        return sift(products, cut, slack, keep, barred, self._marks[: products.size].reshape(products.shape))

    def counts(self, rows: slice, low: Singles, high: Singles, barred: Barred) -> Counted:
        products = self._products(rows)
        products[barred] = -np.inf
        mask = self._marks[: products.size].reshape(products.shape)
        above = np.empty(low.shape, dtype=np.int64)
        found: list[tuple[np.ndarray, np.ndarray]] = []
        for which in range(low.shape[1]):
            np.greater(products, high[:, which, None], out=mask)
            above[:, which] = np.count_nonzero(mask, axis=1)
            np.greater_equal(products, low[:, which, None], out=mask)
            near = np.flatnonzero(np.count_nonzero(mask, axis=1) > above[:, which])
            inside = mask[near] & (products[near] <= high[near, which, None])
            row, column = np.nonzero(inside)
            found.append((near[row], column))
        lengths = [len(row) for row, _ in found]
        empty = np.empty(0, np.int64)
        return Counted(
            above,
            np.concatenate([empty, *(row for row, _ in found)]),
            np.concatenate([empty, *(column for _, column in found)]),
            np.repeat(np.arange(len(lengths)), lengths),
        )


BACKENDS.add(
    "numpy",
    Backend("numpy", lambda queries, query_block, item_block, _: _NumpyEngine(queries, query_block, item_block), 1024, 4096),
)
