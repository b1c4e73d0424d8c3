"""Similarity of the two vectors of each pair, by the four functions of sentence-transformers."""

from typing import Any, Literal, get_args

import numpy as np

from rankwell.core.kernels.similarity import score_pairs, sum_rows
from rankwell.core.registry import suggest
from rankwell.core.tables import Floats, Ints
from rankwell.core.tables.embeddings import Embeddings, Vectors
from rankwell.core.tables.pairs import Pairs
from rankwell.errors import BadInput, BadScore, UnknownName

Similarity = Literal["cosine", "dot", "euclidean", "manhattan"]
SIMILARITIES: tuple[Similarity, ...] = get_args(Similarity)
_ROWS = 512


def similarity_name(name: str) -> Similarity:
    """The similarity of this name; `l2` is `euclidean`, `l1` is `manhattan`. Raises UnknownName."""
    known: dict[str, Similarity] = {each: each for each in SIMILARITIES}
    known |= {"l2": "euclidean", "l1": "manhattan"}
    if name not in known:
        raise UnknownName(f"unknown similarity {name!r}; {suggest(name, known)}")
    return known[name]


def pair_similarities(left: Embeddings, right: Embeddings, pairs: Pairs, similarity: Similarity) -> Floats:
    """(pairs,) the cosine, the dot product, or the negative Euclidean or Manhattan distance, in float64 whatever the input.

    A figure depends on its two vectors alone, so that equal pairs tie exactly and the two vectors may change places.
    Raises BadInput for vectors of different length and for a zero vector under cosine; BadScore for a vector that is not finite.
    """
    if left.dimensions != right.dimensions:
        what = f"{left.dimensions} dimensions on the left, {right.dimensions} on the right"
        raise BadInput(f"{what}; the two vectors of a pair come from one model.")
    if similarity == "manhattan":
        found = _manhattan(left.vectors, right.vectors, pairs.left, pairs.right)
    else:
        found = score_pairs(
            left.vectors, right.vectors, pairs.left, pairs.right, "l2" if similarity == "euclidean" else similarity
        )
    odd = np.flatnonzero(~np.isfinite(found))
    if len(odd):
        row = int(odd[0])
        for side, table, at in (("left", left, int(pairs.left[row])), ("right", right, int(pairs.right[row]))):
            _refuse(table, at, side, similarity)
        raise BadInput(f"the {similarity} similarity of pair {row} (from 0) is {found[row]}; scale the vectors down.")
    return found


def _manhattan(left: Vectors, right: Vectors, rows: Ints, columns: Ints) -> Floats:
    found = np.empty(len(rows))
    for start in range(0, len(rows), _ROWS):
        part = slice(start, start + _ROWS)
        terms: Any = np.asarray(left)[rows[part]].astype(np.float64)
        with np.errstate(all="ignore"):
            terms -= np.asarray(right)[columns[part]]
            found[part] = sum_rows(np.abs(terms))
    return 0.0 - found


def _refuse(table: Embeddings, row: int, side: str, similarity: Similarity) -> None:
    """Raises an error that says what is wrong with a vector, if anything is."""
    vector = np.asarray(table.vectors[row], dtype=np.float64)
    where = f"{side} vectors, {table.place(row)}"
    odd = np.flatnonzero(~np.isfinite(vector))
    if len(odd):
        raise BadScore(
            f"{where}: number {int(odd[0])} is {vector[odd[0]]}; vectors are finite, encode this one again or drop it."
        )
    if similarity == "cosine" and not vector.any():
        raise BadInput(f"{where}: the vector is zero, it has no direction; drop it, or take another similarity than cosine.")
