"""HDF5, as ann-benchmarks publishes its data sets (`train`, `test`); mapped into memory where the numbers lie in one piece."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwell.core.kernels.arrays import as_real, choose_array, item_ids, map_array
from rankwell.core.tables.embeddings import Embeddings
from rankwell.errors import BadInput, MissingExtra
from rankwell.io import Request, file_format
from rankwell.store import Head, Source

_TRUTH = ("neighbors", "distances")
_IDS = ("ids", "id")


def _sniff(head: Head) -> float:
    return 1.0 if head.raw.startswith(b"\x89HDF\r\n\x1a\n") else 0.0


@file_format("hdf5", "embeddings", sniff=_sniff, suffixes=(".hdf5", ".h5"), parts=True)
def read(source: Source, request: Request) -> Embeddings:
    """The named data set, or the only one of two dimensions; a benchmark's `neighbors` and `distances` do not count.

    A second data set `ids` of one dimension and the same length gives the ids. Raises MissingExtra without h5py.
    """
    try:
        import h5py
    except ImportError as error:
        raise MissingExtra("HDF5 files are read with h5py: pip install 'rankwell[formats]'.") from error
    path = source.file or Path()
    try:
        with h5py.File(path, "r") as file:
            found: dict[str, Any] = {}
            file.visititems(lambda name, entry: found.update({name: entry}) if isinstance(entry, h5py.Dataset) else None)
            shapes = {name: tuple(entry.shape or ()) for name, entry in found.items()}
            vectors = {
                name: shape for name, shape in shapes.items() if name.rpartition("/")[2] not in _TRUTH or name == request.part
            }
            chosen = choose_array(vectors, request.part, source.name)
            ids = next((name for name in _IDS if shapes.get(name) == shapes[chosen][:1] and name != chosen), None)
            return Embeddings(None if ids is None else item_ids(found[ids][:].tolist()), as_real(_array(path, found[chosen])))
    except OSError as error:
        raise BadInput(f"the HDF5 file is damaged or ends early ({str(error).splitlines()[0]}); fetch it again.") from error


def _array(path: Path, data: Any) -> NDArray[Any]:
    """The numbers in place, or a copy of what is kept in chunks or compressed."""
    kind: np.dtype[Any] = data.dtype
    offset = data.id.get_offset()
    if offset is None or kind.hasobject:
        return np.asarray(data[:])
    return map_array(path, kind, data.shape, offset=int(offset), last=False)
