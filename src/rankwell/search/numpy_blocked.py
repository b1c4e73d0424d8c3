"""Search with NumPy alone: blocks of products written into one buffer again and again, and compared with a rising threshold."""

import numpy as np

from rankwell.kernels.exclusion import Barred
from rankwell.kernels.similarity import Reals
from rankwell.search import BACKENDS, Backend, Counted, Hits, sift, tally


class _NumpyEngine:
    def __init__(self, queries: Reals, query_block: int, item_block: int) -> None:
        self._queries = queries
        self._space = np.empty(min(query_block, len(queries)) * item_block, dtype=queries.dtype)
        self._items = queries[:0]

    def load(self, items: Reals) -> None:
        self._items = items

    def _products(self, rows: slice) -> Reals:
        queries = self._queries[rows]
        shape = len(self._items), len(queries)
        return np.matmul(self._items, queries.T, out=self._space[: shape[0] * shape[1]].reshape(shape))

    def hits(self, rows: slice, cut: Reals, slack: Reals, keep: int, barred: Barred) -> Hits:
        return sift(self._products(rows), cut, slack, keep, barred)

    def counts(self, rows: slice, low: Reals, high: Reals, barred: Barred) -> Counted:
        return tally(self._products(rows), low, high, barred)


def _open(queries: Reals, query_block: int, item_block: int, _: str | None) -> _NumpyEngine:
    return _NumpyEngine(queries, query_block, item_block)


BACKENDS.add("numpy", Backend("numpy", _open, 1024, 4096))
