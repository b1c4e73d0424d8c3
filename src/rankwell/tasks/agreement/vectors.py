"""Whole collections of vectors: a panel of their kind and faults, kernel alignment of two of them,
and hubness.
"""

import math
from collections.abc import Mapping
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


class _Scan(NamedTuple):
    """The result of one pass over the vectors of a model; only finite rows count for norms, sums
    and hashes.
    """

    nan: int
    infinite: int
    first_wrong: int
    norms: Floats
    unit_sum: Floats
    mean: Floats
    hashes: NDArray[np.uint64]


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
    scans: dict[str, _Scan] = {}
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for name, table in models.items():
        scan = _look(table.vectors, block)
        same_as = next(
            (
                earlier
                for earlier, earlier_scan in scans.items()
                if _is_same(models[earlier], earlier_scan, table, scan)
            ),
            None,
        )
        row = _row(name, table, scan, same_as, spectrum=spectrum, block=block)
        rows.append(row)
        warnings += _warnings(table, scan, row)
        for earlier, earlier_scan in scans.items():
            if (
                same_as is None
                and len(earlier_scan.mean) == len(scan.mean)
                and np.array_equal(np.sort(earlier_scan.hashes), np.sort(scan.hashes))
                and not np.array_equal(earlier_scan.hashes, scan.hashes)
            ):
                warnings.append(
                    f"{name}: the same vectors as {earlier}, in another order; are the ids right?"
                )
        scans[name] = scan
    return VectorPanel(rows, tuple(warnings))


def _look(vectors: NDArray[Any], block: int) -> _Scan:
    n, dimensions = vectors.shape
    odd = np.random.Generator(np.random.PCG64(0)).integers(
        0, 1 << 63, dimensions, dtype=np.uint64
    ) * np.uint64(2) + np.uint64(1)
    norms, hashes = np.full(n, np.nan), np.zeros(n, dtype=np.uint64)
    unit_sum, total = np.zeros(dimensions), np.zeros(dimensions)
    nan = infinite = 0
    first_wrong = -1
    for rows in row_blocks(n, dimensions, block):
        # Adding zero turns -0 into 0, which is the same number with other bits.
        numbers = vectors[rows].astype(np.float64) + 0.0
        hashes[rows] = np.einsum("ij,j->i", _mix(numbers.view(np.uint64)), odd)
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", numbers, numbers))
        finite = np.isfinite(lengths) | np.isfinite(numbers).all(axis=1)
        if not finite.all():
            nan += int(np.isnan(numbers).sum())
            infinite += int(np.isinf(numbers).sum())
            if first_wrong < 0:
                first_wrong = rows.start + int(np.flatnonzero(~finite)[0])
            numbers[~finite] = 0.0
        norms[rows] = np.where(finite, lengths, np.nan)
        total += numbers.sum(axis=0)
        numbers *= np.divide(
            1.0, lengths, out=np.zeros_like(lengths), where=finite & (lengths > 0)
        )[:, None]
        unit_sum += numbers.sum(axis=0)
    return _Scan(
        nan,
        infinite,
        first_wrong,
        norms,
        unit_sum,
        total / max(int((~np.isnan(norms)).sum()), 1),
        hashes,
    )


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The bits of float64 numbers scattered, so that a sign or the zeros of a round number reach
    all of them (SplitMix64).
    """
    mixed = bits ^ (bits >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    return mixed


def _row(
    name: str, table: Embeddings, scan: _Scan, same_as: str | None, *, spectrum: bool, block: int
) -> dict[str, Any]:
    norms = scan.norms[~np.isnan(scan.norms)]
    directed = int((norms > 0).sum())
    pairs = directed * (directed - 1)
    similarity = (float(scan.unit_sum @ scan.unit_sum) - directed) / pairs if pairs else None
    finite = _finite_rows(scan)
    most = max(4 * table.dimensions, _PRODUCTS // table.dimensions**2) if spectrum else 0
    if len(finite) > most:
        # Evenly spaced, as many as the product may cost.
        finite = finite[np.arange(most, dtype=np.int64) * len(finite) // most]
    numbers = {
        "norm_min": norms.min() if len(norms) else None,
        "norm_median": np.median(norms) if len(norms) else None,
        "norm_max": norms.max() if len(norms) else None,
        "mean_similarity": similarity,
        "effective_rank": _effective_rank(table.vectors, finite, scan.mean, block),
    }
    return {
        "embeddings": name,
        "vectors": table.n,
        "dimensions": table.dimensions,
        "type": table.vectors.dtype.name,
        "nan": scan.nan,
        "infinite": scan.infinite,
        "zero": int((norms == 0).sum()),
        "duplicates": _duplicates(table.vectors, scan),
        **{
            column: None if number is None else rounded(float(number))
            for column, number in numbers.items()
        },
        "rank_rows": len(finite) if spectrum else None,
        "same_as": same_as,
    }


def _duplicates(vectors: NDArray[Any], scan: _Scan) -> int:
    """Number of finite vectors that equal an earlier one; hashes only select what to compare."""
    finite = _finite_rows(scan)
    order = finite[np.argsort(scan.hashes[finite], kind="stable")]
    alike = np.flatnonzero(scan.hashes[order[1:]] == scan.hashes[order[:-1]])
    count = 0
    for block in row_blocks(len(alike), vectors.shape[1]):
        first, second = vectors[order[alike[block]]], vectors[order[alike[block] + 1]]
        count += int((first == second).all(axis=1).sum())
    return count


def _finite_rows(scan: _Scan) -> Ints:
    return np.flatnonzero(~np.isnan(scan.norms))


def _effective_rank(vectors: NDArray[Any], rows: Ints, mean: Floats, block: int) -> float | None:
    """exp of the entropy of the singular values, each divided by their sum; None where they are all
    zero.
    """
    n, dimensions = len(rows), vectors.shape[1]
    if n < 2:
        return None
    is_sample = n < len(vectors)
    blocks = list(row_blocks(n, dimensions, block))
    if is_sample:
        total = np.zeros(dimensions)
        for block_rows in blocks:
            total += vectors[rows[block_rows]].sum(axis=0, dtype=np.float64)
        mean = total / n
    gram = np.zeros((dimensions, dimensions))
    for block_rows in blocks:
        numbers = vectors[rows[block_rows] if is_sample else block_rows].astype(np.float64) - mean
        gram += numbers.T @ numbers
    energies = np.linalg.eigvalsh(gram)
    # What the product's rounding leaves of a singular value of zero.
    energies[energies < energies[-1] * dimensions * np.finfo(np.float64).eps] = 0.0
    values = np.sqrt(energies)
    if not values[-1] > np.finfo(np.float64).tiny:
        return None
    shares = values[values > 0] / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def _is_same(first: Embeddings, first_scan: _Scan, second: Embeddings, scan: _Scan) -> bool:
    """Whether two models have the same numbers in the same rows, whatever their types."""
    return (
        first.vectors.shape == second.vectors.shape
        and np.array_equal(first_scan.hashes, scan.hashes)
        and all(
            np.array_equal(first.vectors[rows], second.vectors[rows], equal_nan=True)
            for rows in row_blocks(first.n, first.dimensions)
        )
    )


def _warnings(table: Embeddings, scan: _Scan, row: Mapping[str, Any]) -> list[str]:
    warnings: list[str] = []
    if scan.first_wrong >= 0:
        warnings.append(
            f"{row['nan']} numbers are NaN and {row['infinite']} infinite, the first in "
            f"{table.place(scan.first_wrong)}; no similarity is defined for them."
        )
    if row["zero"]:
        first = int(np.flatnonzero(scan.norms == 0)[0])
        warnings.append(
            f"{_vectors(row['zero'])} zero, the first in {table.place(first)}; their cosine is "
            "undefined."
        )
    if row["duplicates"]:
        warnings.append(
            f"{_vectors(row['duplicates'])} equal to an earlier one; their neighbours are tied."
        )
    if (row["mean_similarity"] or 0.0) > _COLLAPSED:
        warnings.append(
            f"two vectors are {figure(row['mean_similarity'], 'score')} alike on average; did the "
            "model collapse?"
        )
    if row["same_as"] is not None:
        warnings.append(
            f"the same numbers as {row['same_as']}, row by row; was one file copied over another?"
        )
    return [f"{row['embeddings']}: {warning}" for warning in warnings]


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
