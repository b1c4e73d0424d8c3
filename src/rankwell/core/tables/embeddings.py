"""Embeddings: a vector for each id; tables by different models in one order of items."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwell.core.tables import Ints
from rankwell.core.tables.names import Positions
from rankwell.errors import BadInput, DuplicateItem

Vectors = NDArray[Any]
DTYPES: tuple[str, ...] = ("float16", "float32", "float64", "int8", "uint8")


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Vectors by id; the vectors may be memory-mapped and are never changed.

    ids: (n,) all different; None where positions are the names. vectors: (n, d) float16, float32, float64, int8 or uint8.
    NaN, infinite and zero vectors are looked for by whoever reads the vectors, for it is the reading that takes time.
    Raises BadInput for another shape or type, or another number of ids; DuplicateItem for an id that appears twice.
    """

    ids: Sequence[str] | None
    vectors: Vectors

    def __post_init__(self) -> None:
        shape, kind = self.vectors.shape, self.vectors.dtype
        if len(shape) != 2 or not shape[1]:
            raise BadInput(f"the array has shape {shape}; embeddings are a table (vectors, dimensions).")
        if kind.newbyteorder("=").name not in DTYPES:
            raise BadInput(f"the array has type {kind}; embeddings are {', '.join(DTYPES)}; convert it with .astype.")
        if self.ids is None:
            return
        if len(self.ids) != shape[0]:
            raise BadInput(f"{len(self.ids)} ids for {shape[0]} vectors; every vector has one id.")
        if len(set(self.ids)) < len(self.ids):
            seen: dict[str, int] = {}
            for row, name in enumerate(self.ids):
                if name in seen:
                    raise DuplicateItem(f"id {name!r} appears in rows {seen[name]} and {row}; expected different ids.")
                seen[name] = row

    @property
    def n(self) -> int:
        """Number of vectors."""
        return int(self.vectors.shape[0])

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a vector."""
        return int(self.vectors.shape[1])

    def names(self) -> Sequence[str]:
        """(n,) the ids, or the positions as text."""
        return Positions(self.n) if self.ids is None else self.ids

    def place(self, row: int) -> str:
        """The name of a vector in messages: its row, and its id where it has one."""
        return f"row {row}" if self.ids is None else f"row {row} (id {self.ids[row]!r})"


def as_embeddings(vectors: Embeddings | Vectors) -> Embeddings:
    """Embeddings as they are; a plain array with positions for names. Raises BadInput as `Embeddings` does."""
    if isinstance(vectors, Embeddings):
        return vectors
    if not isinstance(vectors, np.ndarray):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"embeddings cannot be taken from a {type(vectors).__name__}; give Embeddings or a NumPy array.")
    return Embeddings(None, vectors)


def align(reference: Embeddings, other: Embeddings, here: str, there: str) -> Embeddings:
    """The other table with its rows in the order and under the names of the reference; not copied where they are in order.

    Rows belong together by id where both have ids, else by position. here, there: what errors call the two.
    Raises BadInput where an id is on one side only, or, without ids on both, where there are not as many vectors of both.
    """
    rows = matching_rows(reference, other, here, there)
    in_order = np.array_equal(rows, np.arange(len(rows)))
    return Embeddings(reference.ids, other.vectors if in_order else other.vectors[rows])


def matching_rows(reference: Embeddings, other: Embeddings, here: str, there: str) -> Ints:
    """(n,) the row of the other table that belongs to each row of the reference; rules and errors are those of `align`."""
    if reference.ids is None or other.ids is None:
        if reference.n != other.n:
            raise BadInput(
                f"{here} has {reference.n} vectors, {there} has {other.n}; without ids on both sides they are matched by "
                "position, which takes as many of both."
            )
        return np.arange(other.n, dtype=np.int64)
    place = {name: row for row, name in enumerate(other.ids)}
    for one, two, names, known in ((here, there, reference.ids, place), (there, here, other.ids, set(reference.ids))):
        lacking = [name for name in names if name not in known]
        if lacking:
            raise BadInput(f"{len(lacking)} ids of {one} are not in {two}, first {lacking[0]!r}; embed the same items.")
    return np.array([place[name] for name in reference.ids], dtype=np.int64)
