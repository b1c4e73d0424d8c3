"""Search with faiss: its flat search finds a few more than k in each block; where these may not be all, the block is compared whole."""

import numpy as np

from rankwell.errors import BadUsage
from rankwell.kernels.similarity import Singles
from rankwell.search import BACKENDS, Backend, Barred, Counted, Hits, optional, sift

_MARGIN = 16
_ROWS = 256


class _FaissEngine:
    def __init__(self, queries: Singles) -> None:
        self._faiss = optional("faiss", "faiss-cpu", "faiss")
        self._queries = queries
        self._items = queries[:0]

    def load(self, items: Singles) -> None:
        self._items = items

    def hits(self, rows: slice, cut: Singles, slack: Singles, keep: int, barred: Barred) -> Hits:
        queries, n = self._queries[rows], len(self._items)
        excluded = np.bincount(barred.rows, minlength=len(queries))
        asked = min(n, keep + _MARGIN + min(int(excluded.max(initial=0)), keep + _MARGIN))
        products, columns = self._faiss.knn(queries, self._items, asked, metric=self._faiss.METRIC_INNER_PRODUCT)
        row = np.repeat(np.arange(len(queries)), asked)
        column, product = columns.ravel().astype(np.int64), products.ravel()
        barring = (
            np.isin(row * n + column, barred.rows * n + barred.columns) if len(barred.rows) else np.zeros(len(row), np.bool_)
        )
        free = ~barring.reshape(products.shape)
        # Whatever faiss left out is at most its last product. That is too low where it is below the cut, or below the k-th of
        # the products that count by more than twice the slack.
        kth = np.where(np.cumsum(free, axis=1) == keep, products, -np.inf).max(axis=1)
        enough = np.maximum(cut, kth.astype(np.float64) - 2 * slack.astype(np.float64))
        open_rows = np.flatnonzero((products[:, -1] >= enough) & (asked < n))
        stays = free.ravel() & (product >= cut[row]) & ~np.isin(row, open_rows)
        parts = [(row[stays], column[stays], product[stays])]
        for top in range(0, len(open_rows), _ROWS):
            parts.append(self._compare(queries, open_rows[top : top + _ROWS], cut, slack, keep, barred))
        row, column, product = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.lexsort((column, row))
        return Hits(row[order], column[order], product[order])

    def _compare(
        self, queries: Singles, rows: np.ndarray, cut: Singles, slack: Singles, keep: int, barred: Barred
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        products = np.matmul(queries[rows], self._items.T)
        mine = np.isin(barred.rows, rows)
        inner = Barred(np.searchsorted(rows, barred.rows[mine]), barred.columns[mine])
        hits = sift(products, cut[rows], slack[rows], keep, inner, np.empty(products.shape, np.bool_))
        return rows[hits.rows], hits.columns, hits.products

    def counts(self, rows: slice, low: Singles, high: Singles, barred: Barred) -> Counted:
        raise BadUsage("faiss finds the best and counts nothing; ranks are counted by the backends numpy and torch.")


BACKENDS.add("faiss", Backend("faiss", lambda queries, *_: _FaissEngine(queries), 8192, 32_768))
