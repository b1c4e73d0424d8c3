"""Frozen columnar tables. Ids are text; every order of ids is the order of their UTF-8 bytes, decided here and nowhere else."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from rankwell.store import encode_id

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def sort_ids(ids: Iterable[str]) -> list[str]:
    """The ids in ascending order of their bytes, as `strcmp` and trec_eval order them."""
    listed = list(ids)
    # Code point order equals byte order except where an id holds a lone surrogate, that is a byte that is not UTF-8.
    return sorted(listed) if all(map(str.isascii, listed)) else sorted(listed, key=encode_id)


def order_ids(*columns: Sequence[str]) -> Ints:
    """(rows,) the permutation that sorts rows by the first column's bytes, then by the second's, and so on."""
    rows = range(len(columns[0]))
    ascii_only = all(all(map(str.isascii, column)) for column in columns)
    keys = columns if ascii_only else [[encode_id(text) for text in column] for column in columns]
    if len(keys) == 1:
        return np.array(sorted(rows, key=keys[0].__getitem__), dtype=np.int64)
    joined = list(zip(*keys, strict=True))
    return np.array(sorted(rows, key=joined.__getitem__), dtype=np.int64)


def offsets_of(counts: Ints) -> Ints:
    """(n + 1,) where each of n consecutive segments of the given lengths begins, and where the last one ends."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets
