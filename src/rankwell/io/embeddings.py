"""Embeddings from any file or array: the format from the content, the ids from within, from beside, or from another file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwell.core.kernels.arrays import as_real, item_ids, refuse_non_finite
from rankwell.core.registry import suggest
from rankwell.core.tables.embeddings import Embeddings
from rankwell.core.tables.names import Holds
from rankwell.errors import BadInput, UnknownName
from rankwell.io import FORMATS, Format, Place, Request, file_format, formats
from rankwell.store import Head, Source, split_part, write_text

IDS_BESIDE = (".ids.txt", ".ids.json")
"""What a file of ids is called that is taken without asking: `base.npy` has its ids in `base.ids.txt`."""

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}


def read_embeddings(
    place: Any,
    *,
    ids: Any = None,
    format: str | None = None,  # noqa: A002 - the word that users know
    check: bool = True,
) -> Embeddings:
    """Vectors in rows, with their ids.

    place: a path (`data.npz:train` names one array of several, `data.parquet:emb` a column), a folder with MTEB's `vectors.npy`,
    any array (NumPy, PyTorch, what else offers `__array__` or DLPack), lists of numbers, a mapping id -> vector, Embeddings.
    ids: a file of ids (one a line, a JSON list, a column of a table: `items.csv:id`), a sequence of them, or False for positions;
    None takes those in the file, else those in `NAME.ids.txt` or `NAME.ids.json` beside it, else positions. Rows count from 0.
    Integers of more than 8 bits, as in `.ivecs`, become float64.
    format: a name from `formats('embeddings')`; None reads it from the content. check: whether to look for NaN and infinity now.
    Raises BadInput that names file and row; BadScore for a number that is not finite; DuplicateItem for an id that appears twice.
    """
    name = str(place) if isinstance(place, (str, Path)) else ""
    try:
        table = _read(place, format)
        if ids is False:
            table = Embeddings(None, table.vectors)
        elif ids is not None:
            table = Embeddings(_ids(ids), table.vectors)
        elif table.ids is None and name:
            table = Embeddings(_ids_beside(split_part(place)[0]), table.vectors)
        if not table.n:
            raise BadInput("there is no vector in it; expected at least one.")
        if check:
            refuse_non_finite(table)
    except BadInput as error:
        if not name or name in str(error):
            raise
        raise type(error)(f"{name}: {error}") from error
    return table


def read_column(place: Place, *, format: str | None = None) -> list[str | None]:  # noqa: A002
    """One column of text, in order: a file of lines, a JSON list, or a table's column (`items.csv:id`; without a name its ids).

    None for an empty cell, and for one that is neither a string nor an integer. Raises BadInput for a column that is not there.
    """
    path, part = split_part(place)
    source = Source(path)
    head = Head.of(source)
    head.refuse_foreign()
    entry = _chosen(head, "column", format, part)
    try:
        return entry.read(source, Request(part=part))
    except BadInput as error:
        if source.name in str(error):
            raise
        raise type(error)(f"{source.name}: {error}") from error


def write_ids(path: Path, ids: Sequence[str] | None) -> Path | None:
    """Writes the ids of a file of vectors beside it, so that `read_embeddings` finds them; takes away those of an earlier file.

    Returns the file: one id a line, a JSON list where an id has a line break, none where there are no ids.
    """
    lines, listed = (path.with_suffix(suffix) for suffix in IDS_BESIDE)
    broken = ids is not None and any("\n" in name or "\r" in name for name in ids)
    chosen = None if ids is None else listed if broken else lines
    if ids is not None and chosen is not None:
        write_text(chosen, json.dumps(list(ids), ensure_ascii=False) + "\n" if broken else "".join(f"{name}\n" for name in ids))
    for other in {lines, listed} - {chosen}:
        other.unlink(missing_ok=True)
    return chosen


def _read(place: Any, name: str | None) -> Embeddings:
    if isinstance(place, Embeddings):
        return place
    if not isinstance(place, (str, Path)):
        return read_array(place, Request())
    text, part = split_part(place)
    path = Path(text)
    if path.is_dir() and (path / "vectors.npy").is_file():
        path = path / "vectors.npy"
    source = Source(path)
    if source.file is None:
        raise BadInput("embeddings are read in place; save them to a file and name it.")
    with source.file.open("rb") as stream:
        raw = stream.read(65537)
    if not raw:
        raise BadInput("the file is empty; expected a file of vectors.")
    # The first bytes of a file without magic are counts of rows; they may look like those of a compressed file.
    part = part or (name or "").partition(":")[2]
    entry = _chosen(Head(str(path), raw[:65536], whole=len(raw) <= 65536, path=source.file), "embeddings", name, part)
    return entry.read(source, Request(part=part))


def _chosen(head: Head, holds: Holds, name: str | None, part: str) -> Format:
    """The named format, or the one that the content has. Raises UnknownName or BadInput, also for a part of what has none."""
    entry = _recognised(head, holds, name)
    if part and not entry.parts:
        raise BadInput(f"a file of the format {entry.name} holds one thing, {part!r} names nothing in it; leave :{part} out.")
    return entry


def _recognised(head: Head, holds: Holds, name: str | None) -> Format:
    known = [entry.name for entry in formats(holds) if not entry.name.startswith("python")]
    if name is not None:
        bare = name.partition(":")[0]
        if bare not in known:
            raise UnknownName(f"unknown format of {holds} {bare!r}; {suggest(bare, known)}")
        return FORMATS[f"{bare} {holds}"]
    scored = sorted(((entry.sniff(head), entry) for entry in formats(holds)), key=lambda each: (-each[0], each[1].name))
    if scored[0][0] > 0:
        return scored[0][1]
    for mark, packed in _PACKED.items():
        if head.raw.startswith(mark):
            raise BadInput(f"the file is compressed ({packed}); unpack it first, vectors are read in place.")
    if head.raw[:1] == b"\x80" and head.raw[1:2] in b"\x02\x03\x04\x05":
        raise BadInput("a Python pickle, which is never opened; save the array with numpy.save or as safetensors.")
    begin = head.raw[:16]
    raise BadInput(f"{begin!r}: no known form of {holds}; known are {', '.join(known)}; convert it, or name the format.")


def _ids(ids: Any) -> list[str]:
    if not isinstance(ids, (str, Path)):
        values: Iterable[Any] = ids.tolist() if hasattr(ids, "tolist") else ids
        return item_ids(values)
    try:
        return item_ids(read_column(ids))
    except BadInput as error:
        if str(split_part(ids)[0]) in str(error):
            raise
        raise type(error)(f"{ids}: {error}") from error


def _ids_beside(path: str) -> list[str] | None:
    for suffix in IDS_BESIDE:
        beside = Path(path).with_suffix(suffix)
        if beside.is_file():
            return _ids(beside)
    return None


def _is_array(thing: Any) -> bool:
    return any(hasattr(thing, name) for name in ("__array__", "__dlpack__")) or isinstance(thing, (list, tuple, Mapping))


@file_format("python array", "embeddings", accepts=_is_array)
def read_array(thing: Any, request: Request) -> Embeddings:  # noqa: ARG001 - an array leaves nothing to ask for
    """The vectors in an array of any library, a tensor on any device, lists of numbers, or a mapping id -> vector."""
    if isinstance(thing, Mapping):
        mapping: Mapping[Any, Any] = thing
        return Embeddings(item_ids(mapping), as_real(_array(list(mapping.values()))))
    if not _is_array(thing):
        what = f"embeddings cannot be read from a {type(thing).__module__}.{type(thing).__qualname__}"
        raise BadInput(f"{what}; give a path, an array of shape (rows, dimension) or lists of numbers.")
    return Embeddings(None, as_real(_array(thing)))


def _array(thing: Any) -> NDArray[Any]:
    """The thing as an array, without a copy where it can be. Raises BadInput for ragged lists and for what is not numbers."""
    if isinstance(thing, (list, tuple)):
        thing = list[Any](thing)
        _refuse_ragged(thing)
    if hasattr(thing, "detach"):
        thing = thing.detach().cpu()
        if str(thing.dtype) == "torch.bfloat16":
            thing = thing.float()
    try:
        found: NDArray[Any] = (
            np.asarray(thing) if hasattr(thing, "__array__") or isinstance(thing, list) else np.from_dlpack(thing)
        )
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise BadInput(f"the {type(thing).__name__} is not an array of numbers ({str(error).splitlines()[0]}).") from error
    return found


def _refuse_ragged(rows: Sequence[Any]) -> None:
    lengths = [len(row) if hasattr(row, "__len__") else -1 for row in rows]
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            raise BadInput(f"row {row} has {length} numbers, row 0 has {lengths[0]}; vectors have one length.")
