"""Samples of queries and items: balanced mixtures, priority sampling, and samples of queries."""

import hashlib
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from rankwell.data.tables import Bools, Floats, Ints, exact_mean, exact_sd
from rankwell.stats.intervals import student_quantile


def balanced_mixture(scores: Floats, balances: Floats) -> Floats | None:
    """Probabilities of n alternatives with the largest mean score whose mean balances are all 0;
    None without any.

    scores: (n,). balances: (n, quantities).
    """
    # It takes a fifth of a second to import.
    from scipy.optimize import linprog

    constraints = np.vstack([np.ones(len(scores)), balances.T])
    target = np.zeros(len(constraints))
    target[0] = 1.0
    solution = linprog(-scores, A_eq=constraints, b_eq=target, bounds=(0, 1), method="highs-ds")
    if not solution.success:
        return None
    # A solver's rounding may leave a tiny weight below 0.
    weights = np.where(solution.x > 1e-9, solution.x, 0.0)
    return weights / weights.sum()


FEWEST_QUERIES = 10
"""Below so many drawn queries there is no interval."""


@dataclass(frozen=True, eq=False)
class WholeQueries:
    """The values of drawn queries, (n,), out of a number of queries in all."""

    values: Floats
    population: int

    @property
    def mean(self) -> float:
        """The estimate."""
        return exact_mean(self.values)

    @property
    def is_exact(self) -> bool:
        """Whether all queries were drawn."""
        return len(self.values) == self.population

    @property
    def standard_error(self) -> float:
        """The standard error of the mean for queries like these; NaN for a single query."""
        n = len(self.values)
        return exact_sd(self.values) / math.sqrt(n) if n > 1 else math.nan

    def these_queries(self, level: float) -> tuple[float, float] | None:
        """The interval of the mean of all queries that could have been drawn; None as for queries
        like these, unless all are.
        """
        if self.is_exact:
            return self.mean, self.mean
        return self._interval(level, math.sqrt(1 - len(self.values) / self.population))

    def queries_like_these(self, level: float) -> tuple[float, float] | None:
        """The interval of the mean of queries of the same kind, by Student's t.

        None below 10 drawn ones, and where all have one value: they do not show how far others may
        differ.
        """
        return self._interval(level, 1.0)

    def _interval(self, level: float, factor: float) -> tuple[float, float] | None:
        if len(self.values) < FEWEST_QUERIES or np.ptp(self.values) == 0:
            return None
        reach = student_quantile(level, len(self.values) - 1) * self.standard_error * factor
        return self.mean - reach, self.mean + reach


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
