"""The joins that measures read. A view holds all that a measure may look at, and no policy is left for the measure to decide."""

from itertools import pairwise
from typing import TypeVar

import numpy as np

from rankwell.core.tables import Floats, Ints, offsets_of

Column = TypeVar("Column", Ints, Floats)
_BLOCK = 1 << 20


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


def f1_of(shared: Ints, given: Ints, right: Ints) -> Floats:
    """2 P R / (P + R), 0 where nothing is shared; written as in the official scripts, so that the last bit is theirs too."""
    value = np.zeros(len(shared))
    hit = np.flatnonzero(shared > 0)
    precision, recall = shared[hit] / given[hit], shared[hit] / right[hit]
    value[hit] = 2 * precision * recall / (precision + recall)
    return value


def multiset_f1(units: Ints, offsets: Ints, given: Ints, right: Ints) -> Floats:
    """(pairs,) the F1 of two segments of units each, repeats counted; in blocks, so that memory does not grow with the pairs."""
    lengths = np.diff(offsets)
    shared = np.zeros(len(given), dtype=np.int64)
    span = int(units.max(initial=0)) + 1
    edges = np.flatnonzero(np.diff(np.cumsum(lengths[given] + lengths[right]) // _BLOCK, prepend=-1))
    for start, stop in pairwise([*edges.tolist(), len(given)]):
        (one, n_one), (two, n_two) = (
            np.unique(_unit_keys(units, offsets, each[start:stop], span), return_counts=True) for each in (given, right)
        )
        _, left, other = np.intersect1d(one, two, assume_unique=True, return_indices=True)
        counts = np.bincount(one[left] // span, weights=np.minimum(n_one[left], n_two[other]), minlength=stop - start)
        shared[start:stop] = counts.astype(np.int64)
    return f1_of(shared, lengths[given], lengths[right])


def _unit_keys(units: Ints, offsets: Ints, segments: Ints, span: int) -> Ints:
    """(units of the segments,) numbers that are equal where both the place of the segment and the unit are."""
    rows, bounds = gather(offsets, segments)
    return np.repeat(np.arange(len(segments), dtype=np.int64) * span, np.diff(bounds)) + units[rows]
