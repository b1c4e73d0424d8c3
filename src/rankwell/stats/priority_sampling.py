"""Samples by priority: permanent random numbers over sizes give an order in which one may stop
anywhere without bias.

Sources: Ohlsson 1995, Coordination of samples using permanent random numbers; Duffield, Lund and
Thorup 2007, Priority sampling for estimation of arbitrary subset sums.
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints

_BLOCK = 1 << 16
"""Digests in memory at once."""


def permanent_numbers(seed: int, *parts: Sequence[bytes], rows: Sequence[Ints] = ()) -> Floats:
    """A number in [0, 1) for each tuple of ids, which depends on the seed and these ids alone.

    It is the first 53 bits of SHA-256 of the seed and the ids, each after its length in 8 bytes,
    over 2⁵³.
    rows: of each part, whose ids are listed once, the place of each row's id; by default rows are
    in the order of the ids.

    >>> permanent_numbers(0, [b"q1", b"q1"], [b"d1", b"d2"]).round(6).tolist()
    [0.549569, 0.46726]
    >>> permanent_numbers(
    ...     0, [b"q1"], [b"d1", b"d2"], rows=[np.array([0, 0]), np.array([0, 1])]
    ... ).round(6).tolist()
    [0.549569, 0.46726]
    """
    sha256, head = _sha256(), _prefixed(str(seed).encode())
    texts = [np.fromiter(map(_prefixed, ids), dtype=object, count=len(ids)) for ids in parts]
    texts[0] = head + texts[0]
    row_indices = rows or [np.arange(len(ids)) for ids in parts]
    bits = np.empty(len(row_indices[0]), dtype=np.uint64)
    for start in range(0, len(bits), _BLOCK):
        block = slice(start, start + _BLOCK)
        columns = [
            part_texts[indices[block]].tolist()
            for part_texts, indices in zip(texts, row_indices, strict=True)
        ]
        digests = b"".join([sha256(b"".join(row)).digest() for row in zip(*columns, strict=True)])
        bits[block] = np.frombuffer(digests, dtype=">u8")[::4]
    return (bits >> np.uint64(11)) / 2.0**53


def _sha256() -> Callable[[bytes], Any]:
    """CPython's own SHA-256 where it is there, as OpenSSL takes twice as long for so few bytes."""
    for name in ("_sha2", "_sha256"):
        with suppress(ImportError):
            return import_module(name).sha256
    return hashlib.sha256


def _prefixed(text: bytes) -> bytes:
    return len(text).to_bytes(8, "big") + text


def sampling_sizes(weights: Floats, relevance: Floats, *, for_means: bool = False) -> Floats:
    """Size of each item: the spread of its weights over the runs times √(p(1 − p)); for means the
    largest weight.

    weights: (items, runs). relevance: (items,) the prior chance p that an item is relevant.
    """
    spread = weights.max(axis=1) if for_means else weights.max(axis=1) - weights.min(axis=1)
    return spread * np.sqrt(relevance * (1 - relevance))


def prior_relevance(best_rank: Ints, in_all: Bools) -> Floats:
    """A guess at the relevance of each item: its chance, from the best rank and whether all runs
    have the item.

    A poor guess makes intervals wider and leaves them valid.
    """
    return np.clip(0.55 / np.sqrt(best_rank) + 0.15 * in_all, 0.03, 0.9)


def priorities(numbers: Floats, sizes: Floats) -> Floats:
    """Permanent number over the size, infinite where the size is 0: items are judged from the
    lowest on.
    """
    return np.divide(numbers, sizes, out=np.full(len(sizes), np.inf), where=sizes > 0)


def inclusion(sizes: Floats, threshold: float) -> Floats:
    """Probability π of being judged under a threshold, the priority of the first item that is not.

    The threshold is infinite once all items of a size above 0 are judged, whose π is 1.
    """
    if np.isinf(threshold):
        return (sizes > 0).astype(np.float64)
    return np.minimum(1.0, threshold * sizes)
