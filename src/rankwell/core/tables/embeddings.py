"""Embeddings: a vector for each id."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from rankwell.errors import BadInput, DuplicateItem

Vectors = NDArray[Any]
DTYPES: tuple[str, ...] = ("float16", "float32", "float64", "int8", "uint8")


class Positions(Sequence[str]):
    """Names of things without names: `0`, `1`, and so on, made on request; or those of some positions."""

    def __init__(self, n: int | Sequence[int]) -> None:
        self._range = range(n) if isinstance(n, int) else n

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        found = self._range[index]
        return str(found) if isinstance(found, int) else list(map(str, found))

    def __len__(self) -> int:
        return len(self._range)


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
