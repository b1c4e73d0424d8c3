"""Whole collections of vectors: a panel of their kind and faults, kernel alignment of two of them,
and hubness.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.data.matrices import Embeddings, row_blocks
from rankwell.data.tables import Floats, Ints, figure, rounded
from rankwell.errors import BadInput, BadUsage

_PRODUCTS = 25_000_000_000
# Blocks of half a megabyte as float64 take half the time of large ones: their memory is used again.
_PANEL_NUMBERS = 1 << 16
_COLLAPSED = 0.95
_NAN = float("nan")


class VectorPanel(NamedTuple):
    """A row per model with the same columns, and warnings of what may change numbers, one sentence
    each.
    """

    rows: list[dict[str, Any]]
    warnings: tuple[str, ...]


def vector_panel(
    models: Mapping[str, Embeddings], *, spectrum: bool = True, block: int | None = None
) -> VectorPanel:
    """One row per model: shape, type, NaN and infinite numbers, zero and repeated rows, norms, mean
    similarity, effective rank.

    Rows with a number that is not finite count in `nan` and `infinite` only. mean_similarity: mean
    cosine of all pairs of vectors that are not zero. effective_rank: exp of the entropy of the
    normalised singular values of the centred vectors (Roy and Vetterli 2007), from `rank_rows`
    evenly spaced vectors; null without `spectrum`. same_as: an earlier model with the same numbers
    in the same rows.
    """
    block = block or max(16, _PANEL_NUMBERS // max(table.dimensions for table in models.values()))
    scans: list[_Scan] = []
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for name, table in models.items():
        scan = _Scan(name, table, block)
        equal_scan = next((earlier for earlier in scans if earlier.equals(scan)), None)
        rows.append(scan.row(None if equal_scan is None else equal_scan.name, spectrum=spectrum))
        warnings += [f"{name}: {warning}" for warning in scan.warnings(rows[-1])]
        if equal_scan is None:
            warnings += [
                f"{name}: the same vectors as {earlier.name}, in another order; are the ids right?"
                for earlier in scans
                if earlier.table.dimensions == table.dimensions
                and np.array_equal(np.sort(earlier.hashes), np.sort(scan.hashes))
                and not np.array_equal(earlier.hashes, scan.hashes)
            ]
        scans.append(scan)
    return VectorPanel(rows, tuple(warnings))


class _Scan:
    """The vectors of a model after one pass over them; only finite rows count for norms, sums and
    hashes.
    """

    def __init__(self, name: str, table: Embeddings, block: int) -> None:
        self.name, self.table, self.block = name, table, block
        n, dimensions = table.vectors.shape
        odd = np.random.Generator(np.random.PCG64(0)).integers(
            0, 1 << 63, dimensions, dtype=np.uint64
        ) * np.uint64(2) + np.uint64(1)
        self.norms, self.hashes = np.full(n, np.nan), np.zeros(n, dtype=np.uint64)
        self.unit_sum, total = np.zeros((2, dimensions))
        self.nan = self.infinite = 0
        for rows in row_blocks(n, dimensions, block):
            # Adding zero turns -0 into 0, which is the same number with other bits.
            numbers = table.vectors[rows].astype(np.float64) + 0.0
            self.hashes[rows] = np.einsum("ij,j->i", _mix(numbers.view(np.uint64)), odd)
            with np.errstate(over="ignore", invalid="ignore"):
                lengths = np.sqrt(np.einsum("ij,ij->i", numbers, numbers))
            finite = np.isfinite(lengths) | np.isfinite(numbers).all(axis=1)
            if not finite.all():
                self.nan += int(np.isnan(numbers).sum())
                self.infinite += int(np.isinf(numbers).sum())
                numbers[~finite] = 0.0
            self.norms[rows] = np.where(finite, lengths, np.nan)
            total += numbers.sum(axis=0)
            numbers *= np.divide(
                1.0, lengths, out=np.zeros_like(lengths), where=finite & (lengths > 0)
            )[:, None]
            self.unit_sum += numbers.sum(axis=0)
        self.finite = np.flatnonzero(~np.isnan(self.norms))
        self.mean = total / max(len(self.finite), 1)

    def row(self, same_as: str | None, *, spectrum: bool) -> dict[str, Any]:
        """The row of the panel."""
        table, norms, rows = self.table, self.norms[self.finite], self.finite
        directed = int((norms > 0).sum())
        pairs = directed * (directed - 1)
        most = max(4 * table.dimensions, _PRODUCTS // table.dimensions**2) if spectrum else 0
        if len(rows) > most:
            # Evenly spaced, as many as the product may cost.
            rows = rows[np.arange(most, dtype=np.int64) * len(rows) // most]
        numbers = {
            "norm_min": norms.min() if len(norms) else None,
            "norm_median": np.median(norms) if len(norms) else None,
            "norm_max": norms.max() if len(norms) else None,
            "mean_similarity": (self.unit_sum @ self.unit_sum - directed) / pairs
            if pairs
            else None,
            "effective_rank": self._effective_rank(rows),
        }
        return {
            "embeddings": self.name,
            "vectors": table.n,
            "dimensions": table.dimensions,
            "type": table.vectors.dtype.name,
            "nan": self.nan,
            "infinite": self.infinite,
            "zero": int((norms == 0).sum()),
            "duplicates": self._duplicates(),
            **{
                column: None if number is None else rounded(float(number))
                for column, number in numbers.items()
            },
            "rank_rows": len(rows) if spectrum else None,
            "same_as": same_as,
        }

    def _duplicates(self) -> int:
        """Number of finite vectors that equal an earlier one; hashes only select what to
        compare.
        """
        vectors, hashes = self.table.vectors, self.hashes
        order = self.finite[np.argsort(hashes[self.finite], kind="stable")]
        alike = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
        count = 0
        for block in row_blocks(len(alike), self.table.dimensions):
            first, second = vectors[order[alike[block]]], vectors[order[alike[block] + 1]]
            count += int((first == second).all(axis=1).sum())
        return count

    def _effective_rank(self, rows: Ints) -> float | None:
        """exp of the entropy of the singular values of some rows, each divided by their sum; None
        where they are all zero.
        """
        vectors, n, dimensions = self.table.vectors, len(rows), self.table.dimensions
        if n < 2:
            return None
        is_sample = n < len(vectors)
        blocks = [
            rows[block] if is_sample else block for block in row_blocks(n, dimensions, self.block)
        ]
        mean = self.mean
        if is_sample:
            total = np.zeros(dimensions)
            for block in blocks:
                total += vectors[block].sum(axis=0, dtype=np.float64)
            mean = total / n
        gram = np.zeros((dimensions, dimensions))
        for block in blocks:
            numbers = vectors[block].astype(np.float64) - mean
            gram += numbers.T @ numbers
        energies = np.linalg.eigvalsh(gram)
        # What the product's rounding leaves of a singular value of zero.
        energies[energies < energies[-1] * dimensions * np.finfo(np.float64).eps] = 0.0
        values = np.sqrt(energies)
        if not values[-1] > np.finfo(np.float64).tiny:
            return None
        shares = values[values > 0] / values.sum()
        return float(np.exp(-(shares * np.log(shares)).sum()))

    def equals(self, other: "_Scan") -> bool:
        """Whether two models have the same numbers in the same rows, whatever their types."""
        first, second = self.table.vectors, other.table.vectors
        return (
            first.shape == second.shape
            and np.array_equal(self.hashes, other.hashes)
            and all(
                np.array_equal(first[rows], second[rows], equal_nan=True)
                for rows in row_blocks(*first.shape)
            )
        )

    def warnings(self, row: Mapping[str, Any]) -> Iterator[str]:
        """What may change numbers. row: of the panel."""
        place_of_row = self.table.place
        if len(self.finite) < len(self.norms):
            first = int(np.isnan(self.norms).argmax())
            yield (
                f"{self.nan} numbers are NaN and {self.infinite} infinite, the first in "
                f"{place_of_row(first)}; no similarity is defined for them."
            )
        if row["zero"]:
            first = int((self.norms == 0).argmax())
            yield (
                f"{_vectors(row['zero'])} zero, the first in {place_of_row(first)}; their cosine "
                "is undefined."
            )
        if row["duplicates"]:
            yield (
                f"{_vectors(row['duplicates'])} equal to an earlier one; their neighbours are tied."
            )
        if (row["mean_similarity"] or 0.0) > _COLLAPSED:
            yield (
                f"two vectors are {figure(row['mean_similarity'], 'score')} alike on average; did "
                "the model collapse?"
            )
        if row["same_as"] is not None:
            yield (
                f"the same numbers as {row['same_as']}, row by row; was one file copied over "
                "another?"
            )


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The bits of float64 numbers scattered, so that a sign or the zeros of a round number reach
    all of them (SplitMix64).
    """
    mixed = bits ^ (bits >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    return mixed


def _vectors(count: int) -> str:
    return "1 vector is" if count == 1 else f"{count} vectors are"


@dataclass(frozen=True, eq=False)
class Representation:
    """Embeddings of some items by one model, read `block` rows at a time, also from mapped memory;
    sums are computed once.
    """

    vectors: Any
    block: int = 1024

    @cached_property
    def mean(self) -> Floats:
        """(dimensions,) the mean vector. Raises BadInput where it is not finite."""
        total = np.zeros(self.vectors.shape[1])
        for start in range(0, len(self.vectors), self.block):
            total += self.vectors[start : start + self.block].astype(np.float64).sum(axis=0)
        if not np.isfinite(total).all():
            raise BadInput("the embeddings hold NaN or infinite values; leave such items out.")
        return total / max(len(self.vectors), 1)

    def rows(self, start: int, size: int) -> Floats:
        """(rows, dimensions) a block of the vectors less their mean."""
        return self.vectors[start : start + size].astype(np.float64) - self.mean

    @cached_property
    def products(self) -> "_Products":
        """The products of the representation with itself."""
        return _products(self, self)

    @cached_property
    def is_constant(self) -> bool:
        """Whether all vectors are equal, up to the rounding of their differences from the mean."""
        return self.products.first <= 1e-24 * len(self.vectors) * float(self.mean @ self.mean)


class _Products(NamedTuple):
    """Sums over two Gram matrices K and L of n centred vectors: Σ K_ij L_ij over all i and j, Σ
    K_ii L_ii, Σ K_ii and Σ L_ii.
    """

    n: int
    total: float
    diagonal: float
    first: float
    second: float

    @property
    def unbiased(self) -> float:
        """n (n - 3) times the unbiased estimate of Hilbert-Schmidt independence (Song and others
        2012, equation 5).
        """
        # Without its diagonal a row of K sums to -K_ii, since the vectors are centred.
        total = (
            self.total - self.diagonal + self.first * self.second / ((self.n - 1) * (self.n - 2))
        )
        return total - 2 * self.diagonal / (self.n - 2)


def _products(reference: Representation, candidate: Representation) -> _Products:
    n, size = len(reference.vectors), min(reference.block, candidate.block)
    cross = np.zeros((reference.vectors.shape[1], candidate.vectors.shape[1]))
    diagonal = first = second = 0.0
    for start in range(0, n, size):
        rows = reference.rows(start, size)
        candidate_rows = rows if candidate is reference else candidate.rows(start, size)
        cross += rows.T @ candidate_rows
        norms, candidate_norms = (
            np.einsum("ij,ij->i", block, block) for block in (rows, candidate_rows)
        )
        diagonal += float(norms @ candidate_norms)
        first, second = first + float(norms.sum()), second + float(candidate_norms.sum())
    return _Products(n, float(np.vdot(cross, cross)), diagonal, first, second)


class Cka(NamedTuple):
    """Linear centred kernel alignment, above 0 by chance where items are few, and debiased, 0 by
    chance; NaN where undefined.
    """

    linear: float
    debiased: float


def linear_cka(reference: Representation, candidate: Representation) -> Cka:
    """Linear kernel alignment of the same items in two spaces; NaN where it is undefined. Raises
    BadInput for other items.

    Source: Kornblith and others 2019; debiased: Nguyen, Raghu and Kornblith 2021, after Song and
    others 2012.
    """
    n = len(reference.vectors)
    if n != len(candidate.vectors):
        raise BadInput(
            f"the reference has {n} items and the candidate {len(candidate.vectors)}; give the "
            "same items in one order."
        )
    if n < 2 or reference.is_constant or candidate.is_constant:
        return Cka(_NAN, _NAN)
    cross = _products(reference, candidate)
    first, second = reference.products, candidate.products
    debiased = _normalised(cross.unbiased, first.unbiased, second.unbiased) if n >= 4 else _NAN
    return Cka(_normalised(cross.total, first.total, second.total), debiased)


def _normalised(product: float, first: float, second: float) -> float:
    return rounded(product / math.sqrt(first * second)) if first > 0 and second > 0 else _NAN


class Hubness(NamedTuple):
    """The distribution of k-occurrences: skewness (NaN where all are equal), the largest, and the
    share of items with 0.
    """

    skewness: float
    largest: int
    never: float


def hubness(positions: Ints, n_items: int, *, k: int | None = None) -> Hubness:
    """The skewness of the k-occurrences (Radovanović, Nanopoulos and Ivanović 2010): of items among
    the first `k` neighbours.

    positions: (queries, depth) items as numbers, -1 after the end of a list. Raises BadUsage for
    one beyond `n_items`.
    """
    items = positions[:, :k]
    items = items[items >= 0]
    largest = int(items.max(initial=0))
    if largest >= n_items:
        raise BadUsage(f"n_items={n_items}: a list holds item {largest}; count all items.")
    counts = np.bincount(items, minlength=n_items)
    apart = counts - counts.mean()
    spread = float((apart**2).mean())
    skewness = float((apart**3).mean()) / spread**1.5 if spread > 0 else _NAN
    return Hubness(rounded(skewness), int(counts.max()), float((counts == 0).mean()))
