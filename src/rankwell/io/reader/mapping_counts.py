"""Runs that are Python's own mappings: where some of the scores of a mapping stand among all of them."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.kernels import native
from rankwell.core.tables import Floats, Ints

# So few scores are compared with each value as it comes by; where there are more, the values are sorted.
_FEW = 16
# Mappings whose values are unpacked together: enough to spread NumPy's cost per call, few enough to stay in the cache.
_BLOCK = 64


class Placed(NamedTuple):
    """(scores,) how many values of their mapping are above and equal to each of some scores, and these as they were compared."""

    above: Ints
    tied: Ints
    own: Floats


def place_scores(mappings: Sequence[Mapping[Any, Any]], items: Sequence[Sequence[Any]], *, single: bool) -> Placed | None:
    """The counts for the values of some items of each mapping; None where a value of a mapping is no finite number.

    single: values are rounded to 32 bits first. A text that looks like a number is none.
    """
    kind = np.float32 if single else np.float64
    with np.errstate(over="ignore"):
        try:
            pairs = zip(mappings, items, strict=True)
            own = np.array([mapping[item] for mapping, wanted in pairs for item in wanted], dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
        own = own.astype(kind).astype(np.float64)
    placed = Placed(np.zeros(len(own), dtype=np.int64), np.zeros(len(own), dtype=np.int64), own)
    first = 0
    for start in range(0, len(mappings), _BLOCK):
        block, sizes = mappings[start : start + _BLOCK], [len(wanted) for wanted in items[start : start + _BLOCK]]
        compiled = native.library is not None and max(sizes) <= _FEW and all(type(each) is dict for each in block)
        # The compiled way knows Python's own numbers only, and has others, which NumPy may know, looked at again.
        if not (compiled and _count_native(block, sizes, placed, first, single)) and not _count(
            block, sizes, placed, first, single
        ):
            return None
        first += sum(sizes)
    return placed


def _count_native(block: Sequence[Any], sizes: Sequence[int], placed: Placed, first: int, single: bool) -> bool:
    for mapping, size in zip(block, sizes, strict=True):
        if not native.library.mapping_counts(mapping, placed.own, placed.above, placed.tied, first, size, single):
            return False
        first += size
    return True


def _count(block: Sequence[Any], sizes: Sequence[int], placed: Placed, first: int, single: bool) -> bool:
    try:
        # Twice as fast as np.fromiter.
        values = np.frombuffer(b"".join([struct.pack(f"{len(each)}d", *each.values()) for each in block]))
    except (struct.error, TypeError, OverflowError):
        return False
    if not np.isfinite(values).all():
        return False
    with np.errstate(over="ignore"):
        values = values.astype(np.float32 if single else np.float64)
        own = placed.own[first : first + sum(sizes)].astype(values.dtype)
    start = done = 0
    for mapping, size in zip(block, sizes, strict=True):
        ordered, asked = values[start : start + len(mapping)], own[done : done + size]
        ordered.sort()
        until = ordered.searchsorted(asked, "right")
        placed.above[first + done : first + done + size] = len(ordered) - until
        placed.tied[first + done : first + done + size] = until - ordered.searchsorted(asked)
        start, done = start + len(mapping), done + size
    return True
