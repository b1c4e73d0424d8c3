"""What is to be seen in vectors before any number is made of them: their kind, what is wrong with them, how they spread."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.core.kernels.arrays import row_blocks
from rankwell.core.tables import Floats, Ints
from rankwell.core.tables.embeddings import Embeddings
from rankwell.stats import rounded

# Called with the rows done and the rows in all, over all models and passes.
Progress = Callable[[int, int], None]

_PRODUCTS = 25_000_000_000
_COLLAPSED = 0.95


class VectorPanel(NamedTuple):
    """The figures of each model as rows with the same columns, and what may change numbers, one sentence each."""

    rows: list[dict[str, Any]]
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Sight:
    """What one pass over the vectors of a model shows; only finite rows count for norms, sums and hashes."""

    nan: int
    infinite: int
    first_wrong: int
    norms: Floats
    unit_sum: Floats
    mean: Floats
    hashes: NDArray[np.uint64]


def vector_panel(
    models: Mapping[str, Embeddings],
    *,
    spectrum: bool = True,
    block: int | None = None,
    progress: Progress | None = None,
) -> VectorPanel:
    """One row per model: shape, type, NaN and infinite numbers, zero and repeated rows, norms, mean similarity, effective rank.

    Columns: embeddings, vectors, dimensions, type, nan, infinite, zero, duplicates, norm_min, norm_median, norm_max,
    mean_similarity, effective_rank, rank_rows, same_as. Rows with a number that is not finite count in `nan` and `infinite` only.
    duplicates: vectors that equal an earlier one. mean_similarity: mean cosine of all pairs of two vectors that are not zero, by
    the mean unit vector; null below two. effective_rank: exp of the entropy of the normalised singular values of the centred
    vectors, from 1 to the smaller of vectors and dimensions; null where all vectors are equal. rank_rows: how many evenly spaced
    vectors it is taken from, fewer than all where all would cost more than some seconds. same_as: an earlier model with the same
    numbers in the same rows. spectrum: without it, effective_rank is null; it costs a matrix product. block: rows at a time.
    Source: effective rank, Roy and Vetterli 2007.
    """
    total = sum(table.n for table in models.values())
    done = 0
    sights: dict[str, _Sight] = {}
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for name, table in models.items():
        sight = sights[name] = _look(table.vectors, block)
        same = next(
            (other for other in rows if _is_same(models[other["embeddings"]], sights[other["embeddings"]], table, sight)), None
        )
        row = _row(name, table, sight, spectrum=spectrum, block=block)
        row["same_as"] = None if same is None else same["embeddings"]
        rows.append(row)
        warnings += _warnings(table, sight, row)
        warnings += [
            f"{name}: the same vectors as {other['embeddings']}, in another order; are the ids right?"
            for other in rows[:-1]
            if same is None and _is_shuffled(sights[other["embeddings"]], sight)
        ]
        done += table.n
        if progress is not None:
            progress(done, total)
    return VectorPanel(rows, tuple(warnings))


def _look(vectors: NDArray[Any], block: int | None) -> _Sight:
    n, dimensions = vectors.shape
    odd = np.random.Generator(np.random.PCG64(0)).integers(0, 1 << 63, dimensions, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
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
            first_wrong = rows.start + int(np.flatnonzero(~finite)[0]) if first_wrong < 0 else first_wrong
            numbers[~finite] = 0.0
        norms[rows] = np.where(finite, lengths, np.nan)
        total += numbers.sum(axis=0)
        numbers *= np.divide(1.0, lengths, out=np.zeros_like(lengths), where=finite & (lengths > 0))[:, None]
        unit_sum += numbers.sum(axis=0)
    return _Sight(nan, infinite, first_wrong, norms, unit_sum, total / max(int((~np.isnan(norms)).sum()), 1), hashes)


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The bits of float64 numbers scattered, so that a sign or the zeros of a round number reach all of them (SplitMix64)."""
    mixed = bits ^ (bits >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    return mixed


def _row(name: str, table: Embeddings, sight: _Sight, *, spectrum: bool, block: int | None) -> dict[str, Any]:
    norms = sight.norms[~np.isnan(sight.norms)]
    directed = int((norms > 0).sum())
    pairs = directed * (directed - 1)
    similarity = (float(sight.unit_sum @ sight.unit_sum) - directed) / pairs if pairs else None
    chosen = _spectrum_rows(sight, table.dimensions) if spectrum else np.zeros(0, dtype=np.int64)
    rank = _effective_rank(table.vectors, chosen, sight.mean, block) if spectrum else None
    return {
        "embeddings": name,
        "vectors": table.n,
        "dimensions": table.dimensions,
        "type": table.vectors.dtype.name,
        "nan": sight.nan,
        "infinite": sight.infinite,
        "zero": int((norms == 0).sum()),
        "duplicates": _duplicates(table.vectors, sight),
        "norm_min": rounded(float(norms.min())) if len(norms) else None,
        "norm_median": rounded(float(np.median(norms))) if len(norms) else None,
        "norm_max": rounded(float(norms.max())) if len(norms) else None,
        "mean_similarity": None if similarity is None else rounded(similarity),
        "effective_rank": None if rank is None else rounded(rank),
        "rank_rows": len(chosen) if spectrum else None,
        "same_as": None,
    }


def _duplicates(vectors: NDArray[Any], sight: _Sight) -> int:
    """How many finite vectors equal an earlier one; hashes only say where to compare."""
    known = np.flatnonzero(~np.isnan(sight.norms))
    order = known[np.argsort(sight.hashes[known], kind="stable")]
    alike = np.flatnonzero(sight.hashes[order[1:]] == sight.hashes[order[:-1]])
    found = 0
    for piece in row_blocks(len(alike), vectors.shape[1]):
        found += int((vectors[order[alike[piece]]] == vectors[order[alike[piece] + 1]]).all(axis=1).sum())
    return found


def _spectrum_rows(sight: _Sight, dimensions: int) -> Ints:
    """Evenly spaced rows with finite numbers, as many as the product may cost."""
    known = np.flatnonzero(~np.isnan(sight.norms))
    most = max(4 * dimensions, _PRODUCTS // dimensions**2)
    if len(known) <= most:
        return known
    return known[np.arange(most, dtype=np.int64) * len(known) // most]


def _effective_rank(vectors: NDArray[Any], chosen: Ints, mean: Floats, block: int | None) -> float | None:
    """exp of the entropy of the singular values, each divided by their sum; None where they are all zero."""
    n, dimensions = len(chosen), vectors.shape[1]
    if n < 2:
        return None
    everything = n == len(vectors)
    centre = mean if everything else _mean_of(vectors, chosen, block)
    gram = np.zeros((dimensions, dimensions))
    for rows in row_blocks(n, dimensions, block):
        numbers = vectors[rows if everything else chosen[rows]].astype(np.float64) - centre
        gram += numbers.T @ numbers
    energies = np.linalg.eigvalsh(gram)
    # What the product's rounding leaves of a singular value of zero.
    energies[energies < energies[-1] * dimensions * np.finfo(np.float64).eps] = 0.0
    values = np.sqrt(energies)
    if not values[-1] > np.finfo(np.float64).tiny:
        return None
    shares = values[values > 0] / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def _mean_of(vectors: NDArray[Any], chosen: Ints, block: int | None) -> Floats:
    total = np.zeros(vectors.shape[1])
    for rows in row_blocks(len(chosen), vectors.shape[1], block):
        total += vectors[chosen[rows]].sum(axis=0, dtype=np.float64)
    return total / len(chosen)


def _is_same(first: Embeddings, seen: _Sight, second: Embeddings, sight: _Sight) -> bool:
    """Whether two models have the same numbers in the same rows, whatever their types."""
    if first.vectors.shape != second.vectors.shape or not np.array_equal(seen.hashes, sight.hashes):
        return False
    pairs = row_blocks(first.n, first.dimensions)
    return all(np.array_equal(first.vectors[rows], second.vectors[rows], equal_nan=True) for rows in pairs)


def _is_shuffled(seen: _Sight, sight: _Sight) -> bool:
    return (
        len(seen.hashes) == len(sight.hashes)
        and len(seen.mean) == len(sight.mean)
        and not np.array_equal(seen.hashes, sight.hashes)
        and np.array_equal(np.sort(seen.hashes), np.sort(sight.hashes))
    )


def _warnings(table: Embeddings, sight: _Sight, row: Mapping[str, Any]) -> list[str]:
    name, found = row["embeddings"], list[str]()
    if sight.first_wrong >= 0:
        wrong = f"{row['nan']} numbers are NaN and {row['infinite']} infinite"
        found.append(f"{name}: {wrong}, the first in {table.place(sight.first_wrong)}; no similarity is defined for them.")
    if row["zero"]:
        first = int(np.flatnonzero(sight.norms == 0)[0])
        found.append(f"{name}: {_vectors(row['zero'])} zero, the first in {table.place(first)}; their cosine is undefined.")
    if row["duplicates"]:
        found.append(f"{name}: {_vectors(row['duplicates'])} equal to an earlier one; their neighbours are tied.")
    if row["mean_similarity"] is not None and row["mean_similarity"] > _COLLAPSED:
        found.append(f"{name}: two vectors are {row['mean_similarity']:.3f} alike on average; did the model collapse?")
    if row["same_as"] is not None:
        found.append(f"{name}: the same numbers as {row['same_as']}, row by row; was one file copied over another?")
    return found


def _vectors(count: int) -> str:
    return "1 vector is" if count == 1 else f"{count} vectors are"
