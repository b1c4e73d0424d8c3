"""Rows of a matrix that are the same: captions of equal words, which no system can distinguish."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwell.core.tables import Ints

_LOOKED_AT = 64


def equal_rows(matrix: NDArray[Any], rows: Ints | None = None) -> Ints:
    """(rows,) for each row the first row that is the same to the last byte, itself where it is the first.

    rows: those that take part; None for all. Of wide rows some evenly spaced numbers are looked at before all of them are.
    """
    chosen = np.arange(len(matrix)) if rows is None else rows
    width = matrix.shape[1]
    some = np.unique(np.linspace(0, width - 1, min(width, _LOOKED_AT)).astype(np.int64))
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
