"""Folders of shards: vectors in several files, one after the other in order of the bytes of their
names.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from rankwell.data.matrices import Embeddings, Vectors, row_blocks
from rankwell.errors import BadInput, DuplicateItem
from rankwell.store import scratch


def join_shards(files: Sequence[str], read: Callable[[str], Embeddings]) -> Embeddings:
    """The vectors of all files as one table, in a file that is mapped and ends with the process.

    Shards have the same dimensions and kind of numbers, and all have ids or none; one may be empty,
    and a Parquet file without rows shows neither. Raises BadInput that names the file of another,
    DuplicateItem that names both files of an id.
    """
    tables = [read(file) for file in files]
    has_kind = [
        table.n > 0 or not file.lower().endswith(".parquet")
        for file, table in zip(files, tables, strict=True)
    ]
    at = has_kind.index(True) if any(has_kind) else 0
    first, ids = tables[at], dict[str, int]()
    ends = np.cumsum([table.n for table in tables])
    for number, (file, table) in enumerate(zip(files, tables, strict=True)):
        if has_kind[number]:
            refuse_other_shard(
                (files[at], first.dimensions, first.vectors.dtype),
                (file, table.dimensions, table.vectors.dtype),
            )
        if (table.ids is None) != (first.ids is None):
            has, lacks = (files[at], file) if table.ids is None else (file, files[at])
            raise BadInput(f"{has} has ids and {lacks} none; give every shard ids, or none.")
        for name in table.ids or ():
            if (first_number := ids.setdefault(name, number)) != number:
                raise DuplicateItem(
                    f"id {name!r} appears in {files[first_number]} and in {file}; expected "
                    "different ids."
                )
    names = None if first.ids is None else [name for table in tables for name in table.ids or ()]
    starts = [int(end) - table.n for end, table in zip(ends, tables, strict=True)]
    return Embeddings(names, _join_vectors(tables, first), list(zip(files, starts, strict=True)))


def refuse_other_shard(
    first: tuple[str, int, np.dtype[Any]], other: tuple[str, int, np.dtype[Any]]
) -> None:
    """Raises BadInput for a shard of other dimensions or another kind of numbers. first, other:
    file, dimensions and kind.
    """
    for aspect, expected, actual in (
        ("dimensions", first[1], other[1]),
        ("numbers", first[2].name, other[2].name),
    ):
        if actual != expected:
            problem = f"{other[0]} has {actual} {aspect}, {first[0]} {expected}"
            raise BadInput(f"{problem}; shards are alike, encode all by one model.")


def _join_vectors(tables: Sequence[Embeddings], first: Embeddings) -> Vectors:
    """All vectors, with the dimensions and the kind of numbers of one table."""
    kind, dimensions = first.vectors.dtype, first.dimensions
    rows = sum(table.n for table in tables)
    if len(tables) == 1 or not rows:
        return first.vectors
    with NamedTemporaryFile(dir=scratch(), delete=False) as file:
        for table in tables:
            for block in row_blocks(table.n, dimensions):
                file.write(np.ascontiguousarray(table.vectors[block], dtype=kind).data)
    return np.memmap(Path(file.name), dtype=kind, mode="r", shape=(rows, dimensions))
