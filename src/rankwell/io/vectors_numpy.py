"""NumPy's own files: `.npy`, mapped into memory, and `.npz`, several of them in a zip archive. Nothing pickled is ever opened."""

import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.core.kernels.arrays import as_real, choose_array, item_ids, map_array
from rankwell.core.tables.embeddings import Embeddings
from rankwell.errors import BadInput
from rankwell.io import Request, file_format
from rankwell.store import Head, Source

_MAGIC = b"\x93NUMPY"
_IDS = ("ids", "id", "keys", "names")


class _Header(NamedTuple):
    """The fields of an `.npy` header; offset: the beginning of the numbers."""

    shape: tuple[int, ...]
    fortran: bool
    kind: np.dtype[Any]
    offset: int


def _sniff_npy(head: Head) -> float:
    return 1.0 if head.raw.startswith(_MAGIC) else 0.0


@file_format("npy", "embeddings", sniff=_sniff_npy, suffixes=(".npy",))
def read_npy(source: Source, request: Request) -> Embeddings:  # noqa: ARG001 - one array leaves nothing to ask for
    """The array in an `.npy` file as a memory map, in C or Fortran order."""
    path = source.file or Path()
    with path.open("rb") as stream:
        header = _header(stream)
    order = "F" if header.fortran else "C"
    return Embeddings(None, as_real(map_array(path, header.kind, header.shape, offset=header.offset, order=order)))


def _header(stream: IO[bytes]) -> _Header:
    """The header at the beginning of a stream. Raises BadInput for a damaged one and for pickled or structured arrays."""
    try:
        version = np.lib.format.read_magic(stream)
        # Version 3 differs only in how it writes names of fields, which no array of numbers has.
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, kind = read(stream)
    except ValueError as error:
        raise BadInput(f"the .npy header is damaged or ends early ({str(error).splitlines()[0]}); write it again.") from error
    if kind.hasobject:
        raise BadInput("an array of Python objects, which is pickled and never opened; save numbers: array.astype('float32').")
    return _Header(shape, fortran, kind, stream.tell())


def _sniff_npz(head: Head) -> float:
    return 0.9 if head.raw.startswith(b"PK\x03\x04") else 0.0


@file_format("npz", "embeddings", sniff=_sniff_npz, suffixes=(".npz",), parts=True)
def read_npz(source: Source, request: Request) -> Embeddings:
    """The array in an `.npz` archive that is named, alone in having two dimensions, or called as vectors are; read whole.

    A second array `ids` of one dimension and the same length gives the ids.
    """
    path = source.file or Path()
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name.removesuffix(".npy"): name for name in archive.namelist() if name.endswith(".npy")}
            if not members:
                what = "a PyTorch checkpoint, which is pickled and never opened" if _is_checkpoint(archive) else "a zip archive"
                raise BadInput(f"{what}; save the vectors with numpy.save or as safetensors.")
            shapes = {name: _peek(archive, member) for name, member in members.items()}
            chosen = choose_array(shapes, request.part, source.name)
            vectors = _load(archive, members[chosen])
            ids = next((name for name in _IDS if shapes.get(name) == (len(vectors),)), None) if vectors.ndim else None
            return Embeddings(None if ids is None else item_ids(_load(archive, members[ids]).tolist()), as_real(vectors))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise BadInput(f"the .npz archive is damaged or ends early ({error}); write it again.") from error


def _is_checkpoint(archive: zipfile.ZipFile) -> bool:
    return any(name.endswith("data.pkl") for name in archive.namelist())


def _peek(archive: zipfile.ZipFile, member: str) -> tuple[int, ...]:
    with archive.open(member) as stream:
        try:
            return _header(stream).shape
        except BadInput as error:
            raise BadInput(f"array {member.removesuffix('.npy')!r}: {error}") from error


def _load(archive: zipfile.ZipFile, member: str) -> NDArray[Any]:
    with archive.open(member) as stream:
        try:
            return np.lib.format.read_array(stream, allow_pickle=False)
        except ValueError as error:
            raise BadInput(f"array {member.removesuffix('.npy')!r}: {str(error).splitlines()[0]}.") from error
