"""The flat files of nearest-neighbour benchmarks: one header and all numbers (`.fbin`), or one before each vector (`.fvecs`).

No magic number distinguishes them: the suffix gives the kind of number, and the size of the file confirms the header.
"""

import struct
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.core.kernels.arrays import as_real, map_array
from rankwell.core.tables.embeddings import Embeddings
from rankwell.errors import BadInput
from rankwell.io import Request, file_format
from rankwell.store import Head, Source

_ONE_HEADER = {
    "fbin": ("<f4", (".fbin",)),
    "hbin": ("<f2", (".hbin", ".f16bin")),
    "u8bin": ("|u1", (".u8bin",)),
    "i8bin": ("|i1", (".i8bin",)),
    "ibin": ("<i4", (".ibin",)),
}
_HEADER_EACH = {"fvecs": ("<f4", (".fvecs",)), "bvecs": ("|u1", (".bvecs",)), "ivecs": ("<i4", (".ivecs",))}


def read_bin(source: Source, request: Request, *, kind: np.dtype[Any]) -> Embeddings:  # noqa: ARG001
    """The vectors behind one header: rows and dimension as two uint32, or as two uint64 (cuVS); the file's size decides which."""
    path = source.file or Path()
    size = path.stat().st_size
    with path.open("rb") as stream:
        raw = stream.read(16)
    headers = [struct.unpack_from(form, raw) for form in ("<II", "<QQ") if len(raw) >= struct.calcsize(form)]
    for offset, (rows, dimension) in zip((8, 16), headers, strict=False):
        if size == offset + rows * dimension * kind.itemsize:
            return Embeddings(None, as_real(map_array(path, kind, (rows, dimension), offset=offset)))
    if not headers:
        raise BadInput(f"{size} bytes are too few for a header; expected two counts, rows and dimension, then the numbers.")
    rows, dimension = headers[0]
    what = f"its header says {rows} vectors of {dimension} {kind.name}, {8 + rows * dimension * kind.itemsize} bytes"
    long = "" if len(headers) == 1 else f" (read as 64-bit counts: {headers[1][0]} of {headers[1][1]})"
    raise BadInput(f"{what}{long}; the file has {size}. Does it end early, or does its suffix name the wrong kind of number?")


def read_vecs(source: Source, request: Request, *, kind: np.dtype[Any]) -> Embeddings:  # noqa: ARG001
    """The vectors of a file that repeats the dimension, an int32, before each of them."""
    path = source.file or Path()
    size = path.stat().st_size
    with path.open("rb") as stream:
        raw = stream.read(4)
    dimension: int = struct.unpack("<i", raw)[0] if len(raw) == 4 else 0
    if dimension < 1:
        raise BadInput(f"it begins with {raw!r}; expected the dimension of the first vector, an int32 from 1.")
    width = 4 + dimension * kind.itemsize
    if size % width:
        raise BadInput(
            f"vectors of {dimension} {kind.name} need {width} bytes each, the file has {size}, which is not a multiple; "
            "does it end early, or does its suffix name the wrong kind of number?"
        )
    record = np.dtype([("dimension", "<i4"), ("vector", kind, (dimension,))])
    records = map_array(path, record, (size // width,))
    wrong = np.flatnonzero(records["dimension"] != dimension)
    if len(wrong):
        row = int(wrong[0])
        found = int(records["dimension"][row])
        raise BadInput(f"row {row} has the dimension {found}, row 0 has {dimension}; vectors have one length.")
    return Embeddings(None, as_real(records["vector"]))


def _register(name: str, read: Any, kind: str, suffixes: tuple[str, ...]) -> None:
    def _sniff(head: Head) -> float:
        return 0.95 if head.name.lower().endswith(suffixes) else 0.0

    file_format(name, "embeddings", sniff=_sniff, suffixes=suffixes)(partial(read, kind=np.dtype(kind)))


for _name, (_kind, _suffixes) in _ONE_HEADER.items():
    _register(_name, read_bin, _kind, _suffixes)
for _name, (_kind, _suffixes) in _HEADER_EACH.items():
    _register(_name, read_vecs, _kind, _suffixes)
