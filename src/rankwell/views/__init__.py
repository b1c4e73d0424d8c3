"""The joins that measures read. A view holds all that a measure may look at, and no policy is left for the measure to decide."""

from typing import TypeVar

import numpy as np

from rankwell.tables import Floats, Ints, offsets_of

Column = TypeVar("Column", Ints, Floats)


def position_in_segment(offsets: Ints) -> Ints:
    """(rows,) 0, 1, 2, … restarting at each offset."""
    counts = np.diff(offsets)
    return np.arange(int(offsets[-1]), dtype=np.int64) - np.repeat(offsets[:-1], counts)


def gather(offsets: Ints, segments: Ints) -> tuple[Ints, Ints]:
    """The rows of the chosen segments, one after the other, and where each begins."""
    counts = np.diff(offsets)[segments]
    new = offsets_of(counts)
    return position_in_segment(new) + np.repeat(offsets[segments], counts), new


def running_sum(values: Column, offsets: Ints) -> Column:
    """(rows,) the sum of a segment's values up to and including each row; the same bytes however segments are grouped."""
    result = np.empty_like(values)
    counts = np.diff(offsets)
    if not np.issubdtype(values.dtype, np.integer):
        # Summing across segments and subtracting would leave rounding of one query in the next, so floats go segment by segment.
        for start, stop in zip(offsets[:-1][counts > 0].tolist(), offsets[1:][counts > 0].tolist(), strict=True):
            np.cumsum(values[start:stop], out=result[start:stop])
        return result
    np.cumsum(values, out=result)
    before = np.concatenate([np.zeros(1, dtype=values.dtype), result])[offsets[:-1]]
    np.subtract(result, np.repeat(before, counts), out=result)
    return result


def ratio(part: Floats | Ints, whole: Floats | Ints | int) -> Floats:
    """The quotient, 0 where the divisor is 0: what trec_eval gives a query that has nothing to divide by."""
    below = np.broadcast_to(np.asarray(whole, dtype=np.float64), part.shape)
    return np.divide(part, below, out=np.zeros(part.shape), where=below != 0)
