"""Search with NumPy alone: blocks of products written into one buffer again and again, and compared
with a rising threshold.
"""

import numpy as np

from rankwell._native import native
from rankwell._native.products import Counted, ExcludedPairs, ProductHits, sift, tally
from rankwell._native.similarity import Reals
from rankwell.data.tables import Bools
from rankwell.vectors.neighbours import BACKENDS, Backend


class _NumpyMultiplier:
    def __init__(self, queries: Reals, query_block: int, item_block: int, _: str | None) -> None:
        self._queries = queries
        self._space = np.empty(min(query_block, len(queries)) * item_block, dtype=queries.dtype)
        self._marks = np.empty(len(self._space), dtype=np.bool_)
        self._items = queries[:0]

    def load(self, items: Reals) -> None:
        """Takes the items of the next products."""
        self._items = items

    def _products(self, rows: slice) -> tuple[Reals, Bools]:
        queries = self._queries[rows]
        shape = len(queries), len(self._items)
        size = shape[0] * shape[1]
        out = self._space[:size].reshape(shape)
        return np.matmul(queries, self._items.T, out=out), self._marks[:size].reshape(shape)

    def hits(
        self, rows: slice, cut: Reals, slack: Reals, keep: int, excluded: ExcludedPairs
    ) -> ProductHits:
        """The best products above the cut of each query."""
        products, mask = self._products(rows)
        return sift(products, cut, slack, keep, excluded, mask)

    def counts(self, rows: slice, low: Reals, high: Reals, excluded: ExcludedPairs) -> Counted:
        """The number of products above each range, and the products in it."""
        products, mask = self._products(rows)
        return tally(products, low, high, excluded, mask)


# NumPy compares rows with one number each half again as fast from 8,192 numbers a row on, the size
# of its buffers; the compiled kernel is fastest on what is still in the cache.
BACKENDS.add(
    "numpy",
    Backend(
        "numpy", _NumpyMultiplier, 512, 8192 if native.library is None else 4096, parallel=True
    ),
)
