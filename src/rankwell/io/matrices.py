"""Embeddings and matrices of scores from any file or array, mapped into memory where the layout
allows it.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import length_hint
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwell.data.columns import Holds
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import ranks_in_a_matrix
from rankwell.data.matrices import (
    Embeddings,
    Scores,
    as_real,
    join_shards,
    map_npy,
    refuse_non_finite,
)
from rankwell.data.matrices import item_ids as as_ids
from rankwell.data.tables import refuse_masked
from rankwell.errors import BadInput, kind_of
from rankwell.io.formats import Request, choose_format, file_format, read_column
from rankwell.store import (
    IDS_BESIDE,
    Head,
    Source,
    ids_beside,
    naming,
    remote_url,
    shard_files,
    split_part,
    write_text,
)

_SAMPLED, _LEAST_OF_RANKS, _MOST_OF_COLUMNS = 16, 2, 1 << 24
"""Rows that are looked at for ranks; fewer ranks are chance; a larger matrix is not read by
columns.
"""


def read_embeddings(
    place: Any, *, ids: Any = None, format: str | None = None, check: bool = True
) -> Embeddings:
    """Vectors in rows, with their ids.

    place: a path (`data.npz:train` names one array of several, `data.parquet:emb` a column), a
    folder with MTEB's `vectors.npy` or with shards (`part-0.npy`, …), an address (`s3://`, `gs://`,
    `az://`, `hf://`) of a file or of such a folder, any array (NumPy, PyTorch, what else offers
    `__array__` or DLPack), lists of numbers, a mapping id -> vector, Embeddings.
    ids: a file of ids (one a line, a JSON list, a column of a table: `items.csv:id`), a sequence of
    them, or False for positions; None takes those in the file, else those in `NAME.ids.txt` or
    `NAME.ids.json` beside it, else positions. Rows count from 0. Integers of more than 8 bits, as
    in `.ivecs`, become float64.
    format: a name from `formats('embeddings')`; None reads it from the content. check: whether to
    look for NaN and infinity now. Raises BadInput that names file and row; BadScore for a number
    that is not finite; DuplicateItem for an id that appears twice.
    """
    name = str(place) if isinstance(place, (str, Path)) else ""
    with naming(name):
        if name:
            text, part = split_part(name)
            read = partial(_read_file, format=format, ids=ids)
            shards = [] if part else shard_files(text)
            table = join_shards(shards, partial(_read_shard, read)) if shards else read(text, part)
        else:
            table = place if isinstance(place, Embeddings) else read_array(place)
        if ids is not None:
            table = replace(table, ids=None if ids is False else _ids(ids))
        if not table.n:
            raise BadInput("there is no vector in it; expected at least one.")
        if check:
            refuse_non_finite(table)
    return table


def read_vectors(text: str, part: str, name: str | None = None) -> Embeddings:
    """The vectors of one file, or of MTEB's folder, with the ids in it; there may be none. Raises
    as `read_embeddings`.
    """
    cached_file = Path(text) / "vectors.npy"
    file = cached_file if remote_url(text) is None and cached_file.is_file() else text
    return _read(file, part or (name or "").partition(":")[2], "embeddings", name)


def _read_file(text: str, part: str, *, format: str | None, ids: Any) -> Embeddings:
    """The vectors of one file, with the ids beside it unless others are given."""
    table = read_vectors(text, part, format)
    if table.ids is None and ids is None and (id_file := ids_beside(text)) is not None:
        return replace(table, ids=_ids(id_file))
    return table


def _read_shard(read: Callable[[str, str], Embeddings], file: str) -> Embeddings:
    with naming(file):
        return read(file, "")


def read_scores(
    place: Any, *, query_ids: Any = None, item_ids: Any = None, format: str | None = None
) -> Scores:
    """A score for every query (row) and item (column).

    place: a path to `.npy` (mapped into memory), `.npz`, HDF5 or safetensors (`data.npz:t2v` names
    one of several arrays), to CSV, TSV or Parquet with a column per item, whose name is the item's
    id, after one for the queries' ids, to CSV or TSV of plain numbers, or to Parquet with a column
    of lists; any array (NumPy, PyTorch), lists of numbers, Scores. query_ids, item_ids: names of
    rows and columns, in place of those in the file. format: a name from `formats('scores')`; None
    reads it from the content.
    Raises BadInput that names file, row and column; NaN and infinity are looked for when the scores
    are counted.
    """
    name = str(place) if isinstance(place, (str, Path)) else ""
    with naming(split_part(name)[0] if name else ""):
        table = (
            place
            if isinstance(place, Scores)
            else _read(*split_part(name), "scores", format)
            if name
            else _of_array(place)
        )
        rows = table.query_ids if query_ids is None else as_ids(_as_list(query_ids))
        columns = table.item_ids if item_ids is None else as_ids(_as_list(item_ids))
        return Scores(table.matrix, rows, columns)


def like_ranks(name: str, table: Scores) -> list[Finding]:
    """A finding on a matrix whose rows, or columns, are the integers from 0 or 1 on in some order,
    as ranks are; none for others.
    """
    columns = [table.matrix[:, :_SAMPLED].T] if table.matrix.size <= _MOST_OF_COLUMNS else []
    for sample in (table.matrix[:_SAMPLED], *columns):
        ordered = np.sort(as_real(np.asarray(sample)), axis=1)
        is_large = len(ordered) > 1 and ordered.shape[1] > _LEAST_OF_RANKS
        if (
            is_large
            and ordered[0, 0] in (0, 1)
            and (ordered == ordered[0, 0] + np.arange(ordered.shape[1])).all()
        ):
            return [ranks_in_a_matrix(name, int(ordered[0, 0]))]
    return []


def _as_list(values: Any) -> Iterable[Any]:
    return values.tolist() if hasattr(values, "tolist") else values


def _read(path: str | Path, part: str, holds: Holds, name: str | None) -> Any:
    """The table in a file, or in the named part of it."""
    source = Source(path)
    if source.file is None:
        raise BadInput("vectors and scores are read in place; save them to a file and name it.")
    # Not decompressed: the first bytes of a file without magic are counts of rows, which may be
    # those of a compressed file.
    head = Head(source, packed=True)
    if not head.raw:
        raise BadInput("the file is empty; expected vectors or scores.")
    return choose_format(head, holds, name, part).read(source, Request(part=part))


def ids_content(ids: Sequence[str] | None) -> dict[str, str]:
    """The content of the file of ids beside vectors, by its suffix: one id a line, a JSON list
    where one has a line break.
    """
    lines, json_suffix = IDS_BESIDE
    if ids is None:
        return {}
    if any("\n" in name or "\r" in name for name in ids):
        return {json_suffix: json.dumps(list(ids), ensure_ascii=False) + "\n"}
    return {lines: "".join(f"{name}\n" for name in ids)}


def write_ids(path: Path, ids: Sequence[str] | None) -> None:
    """Writes ids beside vectors, and removes those of an earlier file."""
    contents = ids_content(ids)
    for suffix, content in contents.items():
        write_text(path.with_suffix(suffix), content)
    for suffix in set(IDS_BESIDE) - contents.keys():
        path.with_suffix(suffix).unlink(missing_ok=True)


def _ids(ids: Any) -> list[str]:
    if not isinstance(ids, (str, Path)):
        return as_ids(_as_list(ids))
    with naming(split_part(ids)[0]):
        return as_ids(read_column(ids))


def _is_array(thing: Any) -> bool:
    return any(hasattr(thing, name) for name in ("__array__", "__dlpack__")) or isinstance(
        thing, (list, tuple, Mapping)
    )


@file_format("python array", "embeddings", accepts=_is_array)
def read_array(thing: Any, request: Request | None = None) -> Embeddings:  # noqa: ARG001 - an array has no options
    """The vectors in an array of any library, a tensor on any device, lists of numbers, or a
    mapping id -> vector.
    """
    if isinstance(thing, Mapping):
        return Embeddings(as_ids(thing.keys()), as_real(_array(list(thing.values()))))
    if not _is_array(thing):
        raise BadInput(
            "embeddings cannot be read from a "
            f"{type(thing).__module__}.{type(thing).__qualname__}; give a path, an array of shape "
            "(rows, dimension) or lists of numbers."
        )
    return Embeddings(None, as_real(_array(thing)))


@file_format("npy", "embeddings", magic=b"\x93NUMPY", suffixes=(".npy",))
def read_npy_vectors(source: Source, request: Request) -> Embeddings:  # noqa: ARG001 - one array has no options
    """The array in an `.npy` file as a memory map, in C or Fortran order."""
    return Embeddings(None, as_real(map_npy(source.file or Path())))


@file_format("npy", "scores", magic=b"\x93NUMPY", suffixes=(".npy",))
def read_npy_scores(source: Source, request: Request) -> Scores:  # noqa: ARG001 - one array has no options
    """The array in an `.npy` file as a memory map; nothing pickled is opened."""
    return Scores(map_npy(source.file or Path()))


def _array(
    thing: Any, numbers: str = "numbers", rule: str = "vectors have one length"
) -> NDArray[Any]:
    """The thing as an array, without a copy where it can be. Raises BadInput for ragged lists and
    for what is not numbers.
    """
    if isinstance(thing, (list, tuple)):
        thing = list[Any](thing)
        lengths = [length_hint(row, -1) for row in thing]
        odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is not None:
            problem = "no list" if lengths[odd] < 0 else f"{lengths[odd]} {numbers}"
            raise BadInput(f"row {odd} has {problem}, row 0 has {lengths[0]}; {rule}.")
    if hasattr(thing, "detach"):
        thing = thing.detach().cpu()
        if str(thing.dtype) == "torch.bfloat16":
            thing = thing.float()
    refuse_masked(thing)
    try:
        array = (
            np.asarray(thing)
            if hasattr(thing, "__array__") or isinstance(thing, list)
            else np.from_dlpack(thing)
        )
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise BadInput(
            f"expected an array of numbers, found {kind_of(thing)} ({str(error).splitlines()[0]})."
        ) from error
    return array


def _of_array(thing: Any) -> Scores:
    """Scores in an array of any library or in lists of numbers; a pandas frame's labels are ids
    unless they are positions.
    """
    if all(hasattr(thing, name) for name in ("index", "columns", "to_numpy")):
        return Scores(thing.to_numpy(), _labels(thing.index), _labels(thing.columns))
    if isinstance(thing, np.ndarray):
        return Scores(thing)
    if isinstance(thing, (list, tuple)):
        return Scores(_array(thing, "scores", "every query has a score for every item"))
    return Scores(read_array(thing).vectors)


def _labels(labels: Any) -> list[str] | None:
    label_list = labels.tolist()
    return None if label_list == list(range(len(label_list))) else as_ids(label_list)
