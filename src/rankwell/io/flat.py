"""Files whose vectors lie one after the other: those of benchmarks, mapped, and ranges of these and
`.npy` at remote places.
"""

import io
import struct
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rankwell.data.arrays import MAGIC, ArrayLayout, map_layout, npy_layout
from rankwell.data.matrices import Embeddings, Vectors, as_real
from rankwell.errors import BadInput, naming
from rankwell.io.formats import Request, file_format
from rankwell.store import Source
from rankwell.store.remote import RangeStream, existing, read_pieces

_ONE_HEADER = {
    "fbin": ("<f4", (".fbin",)),
    "hbin": ("<f2", (".hbin", ".f16bin")),
    "u8bin": ("|u1", (".u8bin",)),
    "i8bin": ("|i1", (".i8bin",)),
    "ibin": ("<i4", (".ibin",)),
}
_HEADER_EACH = {
    "fvecs": ("<f4", (".fvecs",)),
    "bvecs": ("|u1", (".bvecs",)),
    "ivecs": ("<i4", (".ivecs",)),
}
_HEADER = 1 << 10


def _bin_layout(raw: bytes, size: int, kind: np.dtype[Any]) -> ArrayLayout:
    """One header: rows and dimension as two uint32, or as two uint64 (cuVS); the file's size
    decides which.
    """
    headers = [
        struct.unpack_from(form, raw)
        for form in ("<II", "<QQ")
        if len(raw) >= struct.calcsize(form)
    ]
    for offset, (rows, dimension) in zip((8, 16), headers, strict=False):
        if size == offset + rows * dimension * kind.itemsize:
            if not rows * dimension:
                raise BadInput(
                    f"its header says {rows} vectors of {dimension} numbers; expected at "
                    "least one of each."
                )
            return ArrayLayout(kind, (rows, dimension), offset)
    if not headers:
        raise BadInput(
            f"{size} bytes are too few for a header; expected two counts, rows and dimension, "
            "then the numbers."
        )
    rows, dimension = headers[0]
    problem = (
        f"its header says {rows} vectors of {dimension} {kind.name}, "
        f"{8 + rows * dimension * kind.itemsize} bytes"
    )
    long = (
        "" if len(headers) == 1 else f" (read as 64-bit counts: {headers[1][0]} of {headers[1][1]})"
    )
    raise BadInput(
        f"{problem}{long}; the file has {size}. Does it end early, or does its suffix name the "
        "wrong kind of number?"
    )


def _vecs_layout(raw: bytes, size: int, kind: np.dtype[Any]) -> ArrayLayout:
    """Records of a dimension, an int32, and the vector."""
    raw = raw[:4]
    dimension: int = struct.unpack("<i", raw)[0] if len(raw) == 4 else 0
    if dimension < 1:
        raise BadInput(
            f"it begins with {raw!r}; expected the dimension of the first vector, an int32 from 1."
        )
    width = 4 + dimension * kind.itemsize
    if size % width or width >= 1 << 31:  # NumPy's records are shorter
        problem = (
            f"vectors of {dimension} {kind.name} need {width} bytes each, the file has {size}, "
            "which is not a multiple"
        )
        raise BadInput(
            f"{problem}; does it end early, or does its suffix name the wrong kind of number?"
        )
    return ArrayLayout(
        np.dtype([("dimension", "<i4"), ("vector", kind, (dimension,))]), (size // width,), 0
    )


def _vectors(layout_rows: NDArray[Any], first: int = 0) -> Vectors:
    """The vectors in rows of a layout. first: the number of the first row. Raises BadInput for a
    record of another dimension.
    """
    if layout_rows.dtype.names is None:
        return as_real(layout_rows)
    dimension = layout_rows["vector"].shape[1]
    wrong = np.flatnonzero(layout_rows["dimension"] != dimension)
    if len(wrong):
        row = int(wrong[0])
        problem = (
            f"row {first + row} has the dimension {int(layout_rows['dimension'][row])}, row 0 has "
            f"{dimension}"
        )
        raise BadInput(f"{problem}; vectors have one length.")
    return as_real(layout_rows["vector"])


_LAYOUTS = {
    suffix: partial(layout, kind=np.dtype(kind))
    for forms, layout in ((_ONE_HEADER, _bin_layout), (_HEADER_EACH, _vecs_layout))
    for kind, suffixes in forms.values()
    for suffix in suffixes
}


def _read(source: Source, request: Request, *, suffix: str) -> Embeddings:  # noqa: ARG001 - one array has no options
    path = source.file or Path()
    return Embeddings(
        None, _vectors(map_layout(path, _LAYOUTS[suffix](source.packed(16), path.stat().st_size)))
    )


for _name, (_, _suffixes) in (_ONE_HEADER | _HEADER_EACH).items():
    # Flat files have no magic number: the suffix determines the kind of number, and the size
    # confirms the header.
    file_format(
        _name,
        "embeddings",
        sniff=lambda head, ends=_suffixes: 0.95 * head.name.lower().endswith(ends),
        suffixes=_suffixes,
    )(partial(_read, suffix=_suffixes[0]))


def _layout(name: str, stream: IO[bytes], size: int) -> ArrayLayout | None:
    """The layout of a file, `.npy` or flat; None for one of another kind."""
    raw = stream.read(16)
    if raw.startswith(MAGIC):
        stream.seek(0)
        return npy_layout(stream)
    suffix = next(
        (known_suffix for known_suffix in _LAYOUTS if name.lower().endswith(known_suffix)), None
    )
    return None if suffix is None else _LAYOUTS[suffix](raw, size)


class RemoteVectors:
    """The vectors of an object, `.npy` or a flat file, of which only the requested rows are read,
    by ranges.

    Raises BadInput for a damaged one, and for one that can only be read whole.
    """

    def __init__(self, url: str) -> None:
        self._remote_object = remote_object = existing(url)
        with naming(url):
            layout = _layout(
                url, io.BufferedReader(RangeStream(remote_object), _HEADER), remote_object.size
            )
            if layout is None or (
                layout.is_fortran and len(layout.shape) == 2 and layout.shape[1] != 1
            ):
                raise BadInput(
                    f"{url} can only be read whole; save its vectors as .npy, row by row, to "
                    "work on it in parts."
                )
            layout.refuse_other_size(remote_object.size)
            # Whatever an array of such a kind and shape is refused for.
            empty = Embeddings(
                None, _vectors(np.empty((0, *layout.shape[1:]), dtype=layout.kind))
            ).vectors
        self._layout, self.dtype = layout, empty.dtype
        self.shape = (layout.shape[0], empty.shape[1])

    def read(self, start: int, stop: int) -> Vectors:
        """The vectors of some rows, in memory. Raises BadInput as `remote.read_range`."""
        kind, shape, offset, _ = self._layout
        rows = np.empty((stop - start, *shape[1:]), dtype=kind)
        width = kind.itemsize * int(np.prod(shape[1:], dtype=np.int64))
        filled = rows.reshape(-1).view(np.uint8) if rows.size else rows
        at = 0
        for piece in read_pieces(
            self._remote_object, offset + start * width, offset + stop * width
        ):
            filled[at : at + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            at += len(piece)
        with naming(self._remote_object.url):
            return np.ascontiguousarray(_vectors(rows, start))
