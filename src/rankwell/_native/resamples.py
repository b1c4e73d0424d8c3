"""Counts of each query in bootstrap resamples: multinomial counts, for which a random byte per
query is enough.
"""

import math
import os
import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwell.data.tables import Floats, Ints
from rankwell.threads import in_threads

Result = TypeVar("Result")
_PIECE, _MOST = 1 << 18, 512
_SHARES = 1 << 120
MANY, _PART, _TOGETHER = 1 << 16, 1 << 13, 16


def over_resamples(
    n: int, resamples: int, work: Callable[[Floats], Result], *, seed: int, block: int | None = None
) -> list[Result]:
    """The results of `work` for the counts of each block of resamples, in order; several threads
    work on blocks of their own.

    work: called with (block, n) float64, how often each of n queries is drawn in each resample; the
    next block overwrites them. Every row sums to n, and all ways to draw are as probable. The
    counts depend on n and the seed (PCG64) alone: measures and runs with n counted queries share
    them. block: resamples at a time; by default 2 MiB of counts.
    """
    drawn = Resamples(n, seed, np.float64)
    rows = min(resamples, block or drawn.piece)
    starts = range(0, resamples, rows)
    with _single_threads():
        return in_threads(
            lambda start: work(drawn.counts(start, min(start + rows, resamples))),
            starts,
            parts_per_thread=12,
        )


def sums_over_resamples(table: Floats, resamples: int, *, seed: int) -> Floats:
    """The sums of each column over the resamples of its rows: (resamples, columns).

    table: (n, columns) values of which all sums are exact, so that the order of adding has no
    effect. Of more than `MANY` rows a part is added up for several resamples while it is in the
    processor's cache.
    """
    n = len(table)
    if n <= MANY:
        return np.concatenate(
            over_resamples(n, resamples, lambda counts: counts @ table, seed=seed)
        )
    drawn = Resamples(n, seed, np.uint8)

    def _sums(start: int) -> Floats:
        counts = drawn.counts(start, min(start + _TOGETHER, resamples))
        parts = (slice(first, first + _PART) for first in range(0, n, _PART))
        return sum(
            (counts[:, part].astype(np.float64) @ table[part] for part in parts), np.zeros(1)
        )

    with _single_threads():
        return np.concatenate(in_threads(_sums, range(0, resamples, _TOGETHER), parts_per_thread=4))


def _single_threads() -> Any:
    # Looking for the libraries that are loaded takes 15 ms.
    if os.environ.get("OPENBLAS_NUM_THREADS") == "1":
        return nullcontext()
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, user_api="blas")


class Resamples:
    """The counts of resamples of n queries.

    They begin as counts of Poisson's distribution, with a mean of a little less than 1: whatever
    these sum up to, they are multinomial given that sum, and stay so when queries are added one by
    one, each as probable, until the sum is n. Where it is above n, which is rare, the row is drawn
    again. Nothing is approximated but the probabilities themselves, by 2⁻⁷⁰.
    Pieces of some rows have random numbers of their own, so that any rows can be drawn in any
    order.
    Source: Brown and Bromberg 1984, An efficient two-stage procedure for generating random variates
    from the multinomial.
    """

    def __init__(self, n: int, seed: int, kind: Any) -> None:
        self._n, self._seed, self._kind = n, seed, kind
        # A thread's memory for counts is made once: to have it cleared by the system for every
        # piece takes as long as drawing.
        self._room = threading.local()
        self.piece = max(1, min(_MOST, _PIECE // n))

    def counts(self, first: int, last: int) -> NDArray[Any]:
        """Counts of the resamples from first to last, (last - first, n); the next call in the same
        thread overwrites them.
        """
        pieces = range(first // self.piece, -(-last // self.piece))
        if len(pieces) == 1:
            return self._drawn(pieces[0])[first % self.piece :][: last - first]
        counts = np.empty((last - first, self._n), self._kind)
        for piece in pieces:
            start = piece * self.piece
            piece_counts = self._drawn(piece)[max(0, first - start) : last - start]
            counts[max(0, start - first) :][: len(piece_counts)] = piece_counts
        return counts

    def _drawn(self, piece: int) -> NDArray[Any]:
        n = self._n
        bits = np.random.PCG64(np.random.SeedSequence(self._seed, spawn_key=(piece,)))
        if not hasattr(self._room, "counts"):
            self._room.counts = np.empty((self.piece, n), self._kind)
        counts: NDArray[Any] = self._room.counts
        counts[:] = self._poisson(bits, self.piece)
        sums = (
            counts @ np.ones(n) if self._kind is np.float64 else counts.sum(axis=1, dtype=np.int64)
        )
        over = np.flatnonzero(sums > n)
        while len(over):
            counts[over] = self._poisson(bits, len(over))
            sums[over] = counts[over].sum(axis=1)
            over = over[sums[over] > n]
        lacking = (n - sums).astype(np.int64)
        cells = np.repeat(np.arange(self.piece) * n, lacking) + self._singles(
            bits, int(lacking.sum())
        )
        np.add.at(counts.reshape(-1), cells, self._kind(1))
        return counts

    @cached_property
    def _chances(self) -> tuple[list[int], int, NDArray[np.uint64]] | None:
        """Edges of random bytes, a byte, and edges of random words, for counts whose mean lies
        three standard deviations of the sum below 1; None where that is not positive.

        A count is the number of edges that a random byte is not below. From the byte on a random
        word decides: then it is the number of its edges that the word is not below.
        """
        unit = 1 << 20
        mean = unit - 1 - math.isqrt(9 * unit * unit // self._n)
        if mean <= 0:
            return None
        # Integers all the way: the rounding error is below 2⁻¹²⁰.
        shares = [_SHARES]
        while shares[-1]:
            shares.append(shares[-1] * mean // (unit * len(shares)))
        total = sum(shares)
        byte_shares = [256 * share // total for share in shares]
        word_edges = list(accumulate(256 * share % total for share in shares))
        *edges, open_ = accumulate(bytes_ for bytes_ in byte_shares if bytes_)
        words = [
            (word_edge << 64) // word_edges[-1]
            for word_edge in word_edges
            if word_edge < word_edges[-1]
        ]
        return edges, open_, np.array(words, dtype=np.uint64)

    def _poisson(self, bits: "np.random.PCG64", rows: int) -> NDArray[np.uint8]:
        """Independent counts: (rows, n)."""
        if self._chances is None:
            return np.zeros((rows, self._n), dtype=np.uint8)
        edges, open_, word_edges = self._chances
        cells = rows * self._n
        raw = bits.random_raw(-(-cells // 8)).astype("<u8", copy=False).view(np.uint8)[:cells]
        counts, reached = np.zeros(cells, dtype=np.uint8), np.empty(cells, dtype=np.bool_)
        for edge in edges:
            np.greater_equal(raw, edge, out=reached)
            counts += reached.view(np.uint8)
        undecided = np.flatnonzero(raw >= open_)
        counts[undecided] = np.searchsorted(
            word_edges, bits.random_raw(len(undecided)), side="right"
        )
        return counts.reshape(rows, self._n)

    def _singles(self, bits: "np.random.PCG64", n_draws: int) -> Ints:
        """Queries drawn one by one, each as probable. Source: Lemire 2019, Fast random integer
        generation in an interval.
        """
        draws = [np.zeros(0, dtype=np.int64)]
        while n_draws:
            words = bits.random_raw(-(-n_draws // 2)).astype("<u8", copy=False).view("<u4")
            products = words.astype(np.uint64) * np.uint64(self._n)
            fair = (products & np.uint64(0xFFFFFFFF)) >= (1 << 32) % self._n
            draws.append((products[fair][:n_draws] >> np.uint64(32)).astype(np.int64))
            n_draws -= len(draws[-1])
        return np.concatenate(draws)
