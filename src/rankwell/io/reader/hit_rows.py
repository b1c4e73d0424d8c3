"""What the compiled workers found, before there is NumPy."""

from typing import Any, NamedTuple

from rankwell.core.kernels import native

Worker = Any


class HitRows(NamedTuple):
    """Hits as `Hits` has them, in any order, with their numbers as bytes: float64 for the scores, int64 for all others.

    top: of the first items of each query put by: queries, how many of each, the lengths of their ids, scores, and the ids.
    """

    retrieved: bytes
    unknown: dict[bytes, int]
    row: bytes
    score: bytes
    above: bytes
    tied: bytes
    before: bytes
    top: tuple[bytes, bytes, bytes, bytes, bytes]


def rows_of(first: Worker, counted: Worker) -> HitRows | None:
    """What workers found; None where there was no row. first: the worker that saw all rows. counted: the one that placed them."""
    retrieved, unknown, *_ = native.library.reader_results(first)
    _, _, row, score, above, tied, before, top = native.library.reader_results(counted)
    return HitRows(retrieved, unknown, row, score, above, tied, before, top) if unknown or any(retrieved) else None
