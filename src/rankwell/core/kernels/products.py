"""Blocks of products: which of them reach a bound, and how many do. In one pass where the compiled kernel is there."""

from typing import NamedTuple

import numpy as np

from rankwell.core.kernels import native
from rankwell.core.kernels.exclusion import ExcludedPairs
from rankwell.core.kernels.similarity import Reals
from rankwell.core.kernels.threads import in_threads, processors
from rankwell.core.tables import Bools, Ints

_FOLD = 16
_EACH = 1 << 20  # products that are worth a thread


class ProductHits(NamedTuple):
    """Pairs of a query and an item of a block with their products, ascending by query and then by item."""

    rows: Ints
    columns: Ints
    products: Reals


class Counted(NamedTuple):
    """above: (queries, m) items whose product is greater than `high`. rows, columns, which: the pairs from `low` to `high`."""

    above: Ints
    rows: Ints
    columns: Ints
    which: Ints


def sift(products: Reals, cut: Reals, slack: Reals, keep: int, excluded: ExcludedPairs, mask: Bools) -> ProductHits:
    """The pairs of a block with a product of at least `cut`; those that cannot be among the best `keep` may be missing.

    products: (queries, items). cut, slack: (queries,), see `rankwell.neighbours.Multiplier.hits`. mask: room of the shape of
    `products`; both are written to. A block with too many such pairs is looked at again, for those among its own best.
    """
    products[excluded] = -np.inf
    queries, items = products.shape
    room = 4 * keep * queries if items > keep else queries * items
    # The first block has no cut, and listing all of its pairs would be in vain.
    found = None if items > keep and (products[0] >= cut[0]).sum() > items // 2 else _reaching(products, cut, room, mask)
    if found is None:
        best = np.concatenate([_kth_bound(products[top : top + 64], keep) for top in range(0, queries, 64)])
        least = np.maximum(cut, np.nextafter(best - 2 * slack, -np.inf, dtype=products.dtype))
        found = _reaching(products, least, queries * items, mask)
    if found is None:
        raise RuntimeError("there is room for every pair")
    return found


def _reaching(products: Reals, cut: Reals, room: int, mask: Bools) -> ProductHits | None:
    """All pairs with a product of at least `cut`, by row and then by column; None where they are more than the room."""
    if native.library is not None and products.dtype == np.float32:
        return _reaching_natively(products, cut, room)
    np.greater_equal(products, cut[:, None], out=mask)
    found = np.flatnonzero(mask)
    if len(found) > room:
        return None
    rows, columns = np.divmod(found, products.shape[1])
    return ProductHits(rows, columns, products[rows, columns])


def _reaching_natively(products: Reals, cut: Reals, room: int) -> ProductHits | None:
    cut = np.ascontiguousarray(cut)

    def _work(part: slice) -> ProductHits | None:
        some = products[part]
        n = min(room, some.size)
        rows, columns, values = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.float32)
        found = native.library.sift(some, cut[part], rows, columns, values)
        return None if found < 0 else ProductHits(rows[:found] + part.start, columns[:found].copy(), values[:found].copy())

    found = in_threads(_work, _parts(products))
    parts = [part for part in found if part is not None]
    if len(parts) < len(found) or sum(len(part.rows) for part in parts) > room:
        return None
    return ProductHits(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _parts(products: Reals) -> list[slice]:
    """Ranges of rows, one for each thread that is worth starting; one at least."""
    queries = len(products)
    number = max(1, min(processors(), products.size // _EACH, queries))
    return [slice(queries * part // number, queries * (part + 1) // number) for part in range(number)]


def _kth_bound(products: Reals, keep: int) -> Reals:
    """(queries,) at most the k-th greatest product of each query, and not much less."""
    queries, items = products.shape
    height = items // _FOLD
    if height >= 8 * keep:
        # The greatest of every 16 are different pairs, so their k-th is such a bound; and they are soon found.
        products = np.maximum.reduce(products[:, : height * _FOLD].reshape(queries, _FOLD, height), axis=1)
        items = height
    return np.partition(products, items - keep, axis=1)[:, items - keep]


def tally(products: Reals, low: Reals, high: Reals, excluded: ExcludedPairs, mask: Bools) -> Counted:
    """The number of products of each query above `high`, and those from `low` to `high`; low, high: (queries, m).

    products: (queries, items). mask: room of the same shape; both are written to.
    """
    products[excluded] = -np.inf
    if native.library is not None and products.dtype == np.float32:
        return _tally_natively(products, low, high)
    above = np.empty(low.shape, dtype=np.int64)
    empty = np.empty(0, dtype=np.int64)
    found = [(empty, empty, empty)]
    for which in range(low.shape[1]):
        np.greater(products, high[:, which, None], out=mask)
        above[:, which] = np.count_nonzero(mask, axis=1)
        np.greater_equal(products, low[:, which, None], out=mask)
        near = np.flatnonzero(np.count_nonzero(mask, axis=1) > above[:, which])
        row, column = np.nonzero(mask[near] & (products[near] <= high[near, which, None]))
        found.append((near[row], column, np.full(len(row), which)))
    return Counted(above, *(np.concatenate(part) for part in zip(*found, strict=True)))


def _tally_natively(products: Reals, low: Reals, high: Reals) -> Counted:
    low, high = np.ascontiguousarray(low), np.ascontiguousarray(high)

    def _work(part: slice) -> Counted:
        some, least, most = products[part], low[part], high[part]
        above, room = np.empty(least.shape, dtype=np.int64), 4 * least.size + 64
        while True:
            rows, columns, which = (np.empty(room, dtype=np.int64) for _ in range(3))
            found = native.library.tally(some, len(some), least, most, above, rows, columns, which)
            if found >= 0:
                return Counted(above, rows[:found] + part.start, columns[:found].copy(), which[:found].copy())
            room *= 8

    found = in_threads(_work, _parts(products))
    return Counted(*(np.concatenate(column) for column in zip(*found, strict=True)))


def greater_counts(scores: Reals, wanted: Reals) -> tuple[Ints, Ints]:
    """(rows, m) how many scores of a row are above those wanted, and how many as high or above, by the compiled kernel.

    scores: (rows, items) float32. wanted: (rows, m) likewise.
    """
    counted = _tally_natively(scores, wanted, wanted)
    m = wanted.shape[1]
    equal = np.bincount(counted.rows * m + counted.which, minlength=wanted.size).reshape(wanted.shape)
    return counted.above, counted.above + equal
