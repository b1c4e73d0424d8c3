"""Arrays that lie in files: mapped into memory where they stand, chosen by name, checked without being copied."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankwell.core.tables.embeddings import Embeddings
from rankwell.errors import BadInput, BadScore

USUAL = ("embeddings", "vectors", "embedding", "vector", "emb")
"""What an array of vectors, or a column of them, is called where it is not alone."""

_BLOCK = 1 << 20


def map_array(
    path: Path, kind: np.dtype[Any], shape: tuple[int, ...], *, offset: int = 0, order: Literal["C", "F"] = "C", last: bool = True
) -> NDArray[Any]:
    """The array that lies in a file from an offset on, read only and read when looked at.

    last: whether the file has to end with it. Raises BadInput where the file ends earlier, or later than it may.
    """
    wanted, found = offset + math.prod(shape) * kind.itemsize, path.stat().st_size
    said = f"{' × '.join(map(str, shape))} {kind.name}"
    if found < wanted:
        raise BadInput(f"the file ends early: {said} need {wanted} bytes, it has {found}; fetch or write it again.")
    if last and found > wanted:
        raise BadInput(f"{found - wanted} bytes follow after {said}; was something appended? Write it again.")
    if 0 in shape:
        return np.empty(shape, dtype=kind)
    return np.memmap(path, dtype=kind, mode="r", offset=offset, shape=shape, order=order)


def npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether in Fortran order, and kind of an array, from the beginning of a stream, which is then at its numbers.

    Raises BadInput for a damaged header and for pickled arrays.
    """
    try:
        version = np.lib.format.read_magic(stream)
        # Version 3 differs only in how it writes names of fields, which no array of numbers has.
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, kind = read(stream)
    except ValueError as error:
        raise BadInput(f"the .npy header is damaged or ends early ({str(error).splitlines()[0]}); write it again.") from error
    if kind.hasobject:
        raise BadInput("an array of Python objects, which is pickled and never opened; save numbers: array.astype('float32').")
    return shape, fortran, kind


def map_npy(path: Path) -> NDArray[Any]:
    """The array of an `.npy` file as a memory map, in C or Fortran order. Raises BadInput for a damaged or pickled one."""
    with path.open("rb") as stream:
        shape, fortran, kind = npy_header(stream)
        return map_array(path, kind, shape, offset=stream.tell(), order="F" if fortran else "C")


def choose_array(shapes: Mapping[str, tuple[int, ...]], name: str, file: str) -> str:
    """The name of the array of vectors: the asked one, else the only one with two dimensions, else the one with a usual name.

    Raises BadInput that lists the arrays and says how to name one.
    """
    listed = ", ".join(f"{key!r} ({' × '.join(map(str, shape)) or 'one number'})" for key, shape in shapes.items()) or "none"
    if name:
        if name not in shapes:
            raise BadInput(f"there is no array named {name!r}; the file has {listed}.")
        return name
    flat = [key for key, shape in shapes.items() if len(shape) == 2]
    usual = [key for key in flat if key.lower() in USUAL]
    chosen = flat if len(flat) == 1 else usual
    if len(chosen) != 1:
        what = "no array with two dimensions" if not flat else f"{len(flat)} arrays with two dimensions"
        example = f"; name one, as in {Path(file).name}:{flat[0]}" if flat else ""
        raise BadInput(f"{what}; the file has {listed}{example}.")
    return chosen[0]


def as_real(vectors: NDArray[Any]) -> NDArray[Any]:
    """The array as it is; integers of more than 8 bits, as in `.ivecs`, as float64."""
    return np.asarray(vectors).astype(np.float64) if vectors.dtype.kind in "iu" and vectors.dtype.itemsize > 1 else vectors


def row_blocks(rows: int, dimension: int, block: int | None = None) -> Iterator[slice]:
    """Slices that cover the rows, each small enough for its numbers to stay in the processor's cache."""
    size = block or max(1, _BLOCK // max(dimension, 1))
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


def refuse_non_finite(table: Embeddings) -> None:
    """Looks at every number. Raises BadScore naming the first that is NaN or infinite, its row and column."""
    if table.vectors.dtype.kind != "f":
        return
    for rows in row_blocks(*table.vectors.shape):
        block = table.vectors[rows]
        with np.errstate(invalid="ignore", over="ignore"):
            # A sum is finite only if all its parts are, and costs less than looking at each.
            if np.isfinite(block.sum(dtype=np.float64 if block.dtype.itemsize > 4 else np.float32)):
                continue
        wrong = np.argwhere(~np.isfinite(block))
        if len(wrong):
            row, column = wrong[0].tolist()
            place = table.place(rows.start + row)
            raise BadScore(
                f"{place}, column {column}: {block[row, column]}; expected a finite number. Correct or drop the vector."
            )
