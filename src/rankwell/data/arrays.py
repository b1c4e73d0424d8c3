"""Arrays in files: the one reader of `.npy` headers, arrays as memory maps, and arrays in the
middle of a stream.
"""

import math
import os
import re
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rankwell._native import native
from rankwell.errors import BadInput, shown

MAGIC = b"\x93NUMPY"
_LONGEST = 399
"""Bytes of the name of a mapped file that a message shows."""
_MOST_HEADER, _MOST_DIMENSIONS = 10_000, 32  # as in NumPy
_ENTRY = re.compile(
    r"""(?P<quote>['"])(?:descr(?P=quote)\s*:\s*(?P<kind>'[^']*'|"[^"]*"|\[.*\])"""
    r"""|fortran_order(?P=quote)\s*:\s*(?P<fortran>True|False)"""
    r"""|shape(?P=quote)\s*:\s*\((?P<shape>[^()]*)\))\s*(?:,\s*|\Z)""",
    re.DOTALL,
)
_SIZE = r"(?:0+|[1-9][0-9]{0,17})L?\s*"
_SHAPE = re.compile(rf"\s*(?:(?:{_SIZE},\s*)+(?:{_SIZE})?)?")
_KIND = re.compile(r"[<>|=]?(?:[fiubcSUV]\d{1,9}|\?)")


class ArrayLayout(NamedTuple):
    """The place of an array in a file, at whose end the file ends. is_fortran: whether columns
    follow each other, not rows.
    """

    kind: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int
    is_fortran: bool = False

    def refuse_other_size(self, size: int, *, last: bool = True) -> int:
        """The end of the array in the file. Raises BadInput for a file that ends before, or, where
        it is the last, behind it.
        """
        wanted = self.offset + refuse_size(self.shape, self.kind)
        said = f"{' × '.join(map(str, self.shape))} {self.kind.name}"
        if size < wanted:
            raise BadInput(
                f"the file ends early: {said} need {wanted} bytes, it has {size}; fetch or "
                "write it again."
            )
        if last and size > wanted:
            raise BadInput(
                f"{size - wanted} bytes follow after {said}; was something appended? Write "
                "it again."
            )
        return wanted


def refuse_masked(array_like: Any, noun: str = "the array") -> None:
    """Raises BadInput naming the first masked entry of an array, or of the rows in a list: without
    a mask it is a number as any.

    A ranking has a number for every item: an item that is not retrieved is left out of lists, a
    matrix cannot leave one out.
    """
    rows: list[Any] = (
        list(array_like)
        if isinstance(array_like, (list, tuple)) and np.ma.MaskedArray in set(map(type, array_like))
        else []
    )
    for row_index, array in (
        ((), array_like),
        *(((row,), array_row) for row, array_row in enumerate(rows)),
    ):
        if isinstance(array, np.ma.MaskedArray) and (mask := np.ma.getmaskarray(array)).any():
            axes = (*row_index, *np.argwhere(mask)[0].tolist())
            where = (
                f"row {axes[0]}"
                if len(axes) == 1
                else f"row {axes[0]}, column {axes[1]}"
                if len(axes) == 2
                else f"place {axes}"
            )
            hint = "fill it (array.filled(value)), or leave the row or column out"
            raise BadInput(
                f"{noun} is masked in {where} (from 0); expected a number in every place: {hint}."
            )


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: as None, NaN, or the marks of NumPy and pandas for what is not
    there.
    """
    marks = ("MaskedConstant", "NAType", "NaTType")
    return (
        value is None
        or (isinstance(value, float) and value != value)
        or type(value).__name__ in marks
    )


def unmasked(array_like: Any, noun: str, dtype: Any = None) -> NDArray[Any]:
    """The thing as an array. Raises BadInput for a masked entry, and as NumPy for what cannot be
    one.
    """
    refuse_masked(array_like, noun)
    return np.asarray(array_like, dtype=dtype)


def npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, Fortran order and kind of an array in a stream, which is then at its numbers. Raises
    BadInput for others.
    """
    mark = stream.read(8)
    if len(mark) < 8 or not mark.startswith(MAGIC):
        raise _damaged(f"it begins with {mark!r}")
    version = mark[6], mark[7]
    if version not in ((1, 0), (2, 0), (3, 0)):
        problem = f"version {version[0]}.{version[1]} of the .npy format"
        raise BadInput(f"{problem}; known are 1.0, 2.0 and 3.0. Save the array with numpy.save.")
    # Version 3 differs only in how it writes names of fields, which no array of numbers has.
    width = 2 if version == (1, 0) else 4
    length = int.from_bytes(stream.read(width), "little")
    if length > _MOST_HEADER:
        raise _damaged(f"it states {length} bytes, more than {_MOST_HEADER}")
    raw = stream.read(length)
    if len(raw) < length:
        raise _damaged(f"{length} bytes are stated, {len(raw)} are there")
    if not re.fullmatch(rb"[\t\n\r -~]*", raw):
        raise _damaged(f"{shown(raw)} is not a text in ASCII")
    if re.search(rb"\n[\t\r ]+\Z", raw):
        raise _damaged(f"{shown(raw)} has blanks after its last newline")
    body = raw.decode("ascii").strip()
    inner = body[1:-1].strip()
    entries = list(_ENTRY.finditer(inner))
    parts = {
        name: text
        for entry in entries
        for name, text in entry.groupdict().items()
        if name != "quote" and text is not None
    }
    is_whole = body[:1] == "{" and body[-1:] == "}" and not _ENTRY.sub("", inner).strip()
    if not is_whole or len(entries) != 3 or len(parts) != 3 or not _SHAPE.fullmatch(parts["shape"]):
        raise _damaged(f"{shown(body)}; expected descr, fortran_order and shape")
    shape = tuple(
        int(length.strip().removesuffix("L"))
        for length in parts["shape"].split(",")
        if length.strip()
    )
    if len(shape) > _MOST_DIMENSIONS:
        raise _damaged(f"{len(shape)} dimensions")
    return shape, parts["fortran"] == "True", _kind(parts["kind"])


def _damaged(problem: str) -> BadInput:
    return BadInput(f"the .npy header is damaged or ends early ({problem}); write it again.")


def _kind(text: str) -> np.dtype[Any]:
    if text[0] == "[":
        raise BadInput(
            f"an array of records, {shown(text)}; expected numbers. Save one field of it."
        )
    name = text[1:-1]
    if re.fullmatch(r"\|?O\d*", name):
        raise BadInput(
            "an array of Python objects, which is pickled and never opened; save numbers: "
            "array.astype('float32')."
        )
    try:
        if not _KIND.fullmatch(name):
            raise TypeError
        return np.dtype(name)
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"the .npy header names the kind {shown(name)}; expected numbers or texts, such "
            "as '<f4'."
        ) from error


def refuse_size(shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
    """The size of an array in bytes. Raises BadInput for negative lengths, and for more than any
    memory or file can hold.
    """
    if (
        any(length < 0 for length in shape)
        or math.prod(length or 1 for length in shape) * max(kind.itemsize, 1) >= 1 << 62
    ):
        raise BadInput(
            f"an array of the shape {shown(shape, 80)} of {kind.name}; expected lengths that "
            "a file can hold."
        )
    return math.prod(shape) * kind.itemsize


def map_array(
    path: Path,
    kind: np.dtype[Any],
    shape: tuple[int, ...],
    *,
    offset: int = 0,
    order: Literal["C", "F"] = "C",
    last: bool = True,
) -> NDArray[Any]:
    """The array that lies in a file from an offset on, mapped. last: whether the file has to end
    with it. Raises BadInput.
    """
    return map_layout(path, ArrayLayout(kind, shape, offset, order == "F"), last=last)


def map_layout(path: Path, layout: ArrayLayout, *, last: bool = True) -> NDArray[Any]:
    """The array of a layout, mapped. last: whether the file has to end with it. Raises BadInput."""
    kind, shape, offset, is_fortran = layout
    if layout.refuse_other_size(path.stat().st_size, last=last) == offset:
        _refuse_void(shape, kind)
        return np.empty(shape, dtype=kind)
    order: Literal["C", "F"] = "F" if is_fortran else "C"
    if native.library is None:
        # Nothing else names the file where it is cut short while it is mapped.
        return np.fromfile(path, kind, math.prod(shape), offset=offset).reshape(shape, order=order)
    array = np.memmap(path, dtype=kind, mode="r", offset=offset, shape=shape, order=order)
    native.library.watch_mapped(cast("Any", array).base, os.fsencode(path)[:_LONGEST])
    return array


def npy_layout(stream: IO[bytes]) -> ArrayLayout:
    """The layout of an `.npy` file. Raises BadInput for a damaged or pickled one."""
    shape, is_fortran, kind = npy_header(stream)
    return ArrayLayout(kind, shape, stream.tell(), is_fortran)


def map_npy(path: Path) -> NDArray[Any]:
    """The array of an `.npy` file as a memory map, in C or Fortran order. Raises BadInput for a
    damaged or pickled one.
    """
    with path.open("rb") as stream:
        return map_layout(path, npy_layout(stream))


def read_npy(stream: IO[bytes]) -> NDArray[Any]:
    """The array at a place of a stream, in memory, of which it never takes more than the stream
    has. Raises BadInput.
    """
    shape, fortran, kind = npy_header(stream)
    wanted = refuse_size(shape, kind)
    content = bytearray()
    while len(content) < wanted and (piece := stream.read(min(1 << 24, wanted - len(content)))):
        content += piece
    if len(content) < wanted:
        raise BadInput(
            f"the array ends early: {wanted} bytes are stated, {len(content)} are there; "
            "write it again."
        )
    if not wanted:
        _refuse_void(shape, kind)
        return np.empty(shape, dtype=kind)
    return np.frombuffer(content, dtype=kind).reshape(shape, order="F" if fortran else "C")


def read_only_npy(stream: IO[bytes]) -> NDArray[Any]:
    """The array that a stream holds and nothing else, so that compressed content is verified to its
    end. Raises BadInput.
    """
    array = read_npy(stream)
    if stream.read(1):
        raise BadInput(
            "more follows the array; expected one array and nothing behind it. Write it again."
        )
    return array


def _refuse_void(shape: tuple[int, ...], kind: np.dtype[Any]) -> None:
    if 0 not in shape and math.prod(shape) > 1:
        raise BadInput(
            f"{' × '.join(map(str, shape))} cells of no bytes ({kind.name}); expected numbers."
        )
