"""safetensors, as model tools export arrays: a JSON header with names, kinds and places, then the numbers, mapped into memory."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwell.core.kernels.arrays import as_real, choose_array, item_ids, map_array, row_blocks
from rankwell.core.tables.embeddings import Embeddings
from rankwell.errors import BadInput
from rankwell.io import Request, file_format
from rankwell.store import Head, Source

_KINDS = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
_IDS = ("ids", "id")


def _sniff(head: Head) -> float:
    if len(head.raw) < 9 or head.raw[8:9] != b"{" or head.path is None:
        return 0.0
    return 0.9 if 8 + struct.unpack("<Q", head.raw[:8])[0] <= head.path.stat().st_size else 0.0


@file_format("safetensors", "embeddings", sniff=_sniff, suffixes=(".safetensors",), parts=True)
def read(source: Source, request: Request) -> Embeddings:
    """The tensor that is named, alone in having two dimensions, or called as vectors are; bfloat16 is read as float32.

    A second tensor `ids` of one dimension and the same length gives whole-number ids; the metadata may hold them as JSON list.
    """
    path = source.file or Path()
    header, begin = _header(path)
    metadata = header.pop("__metadata__", {})
    try:
        shapes = {name: tuple(map(int, entry["shape"])) for name, entry in header.items()}
        chosen = choose_array(shapes, request.part, source.name)
        vectors = _tensor(path, header[chosen], begin)
        ids = next((name for name in _IDS if shapes.get(name) == shapes[chosen][:1]), None)
        found = None if ids is None else item_ids(_tensor(path, header[ids], begin).tolist())
        if found is None and isinstance(metadata, dict) and "ids" in metadata:
            found = item_ids(json.loads(metadata["ids"]))
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"the safetensors header is not as it should be ({error!r}); write the file again.") from error
    return Embeddings(found, as_real(vectors))


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """The header, and the beginning of the numbers."""
    with path.open("rb") as stream:
        raw = stream.read(8)
        length = struct.unpack("<Q", raw)[0] if len(raw) == 8 else 0
        if not 2 <= length <= path.stat().st_size - 8:
            raise BadInput("the safetensors header ends early; fetch or write the file again.")
        try:
            header: Any = json.loads(stream.read(length))
        except ValueError as error:
            raise BadInput(f"the safetensors header is not JSON ({error}); fetch or write the file again.") from error
    if not isinstance(header, dict):
        raise BadInput("the safetensors header is not a JSON object; fetch or write the file again.")
    return header, 8 + length


def _tensor(path: Path, entry: Any, begin: int) -> NDArray[Any]:
    code, shape = entry["dtype"], tuple(map(int, entry["shape"]))
    start, stop = map(int, entry["data_offsets"])
    if code not in _KINDS:
        raise BadInput(f"numbers of kind {code} cannot be read; convert the tensor to float32.")
    kind = np.dtype(_KINDS[code])
    if stop - start != int(np.prod(shape, dtype=np.int64)) * kind.itemsize or start < 0:
        raise BadInput(f"the safetensors header gives {stop - start} bytes to {shape} {code}; write the file again.")
    mapped = map_array(path, kind, shape, offset=begin + start, last=False)
    return _from_bfloat16(mapped) if code == "BF16" else mapped


def _from_bfloat16(halves: NDArray[Any]) -> NDArray[Any]:
    """A bfloat16 number is the upper half of a float32."""
    whole = np.zeros(halves.shape, dtype=np.float32)
    for rows in row_blocks(len(halves), int(np.prod(halves.shape[1:], dtype=np.int64))):
        whole[rows] = (halves[rows].astype(np.uint32) << np.uint32(16)).view(np.float32)
    return whole
