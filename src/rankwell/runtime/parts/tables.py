"""Embeddings as the command that plans needs them: of objects their sizes and ids, which become
strings only where they are needed; vectors come where something needs them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice, pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.matrices import Embeddings, Positions, Vectors, item_ids, refuse_other_table
from rankwell.data.tables import Ints
from rankwell.errors import BadInput, BadUsage, DuplicateItem, naming
from rankwell.io.column_tables.numeric import ParquetVectors
from rankwell.io.formats import choose_format, read_column
from rankwell.io.matrices import read_embeddings
from rankwell.runtime.parts.plans import file_of_part
from rankwell.runtime.parts.vectors import VectorFiles, rows_of
from rankwell.store import (
    Head,
    Source,
    decode_id,
    encode_id,
    ids_beside,
    remote_url,
    scratch,
    split_part,
)
from rankwell.store.remote import existing


class ObjectEmbeddings(Embeddings):
    """Embeddings of objects, whose headers and ids have been read; the vectors are fetched once
    something needs them.

    Raises as `Embeddings` does.
    """

    def __init__(self, files: VectorFiles, ids: Sequence[str] | None) -> None:
        refuse_other_table(ids, files.shape, files.dtype)
        shards = list(zip(files.files, files.starts, strict=False)) if len(files.files) > 1 else ()
        vars(self).update(ids=ids, shards=shards, _files=files)

    _files: VectorFiles

    @cached_property
    def vectors(self) -> Vectors:  # pyright: ignore[reportIncompatibleVariableOverride] - what is read once is read late
        """The vectors, in a mapped file that ends with the process."""
        files = self._files
        size = sum(existing(file).size for file in files.files)
        is_parquet = any(file.lower().endswith(".parquet") for file in files.files)
        if not is_parquet or 2 * size < 3 * int(np.prod(files.shape)) * files.dtype.itemsize:
            return read_embeddings(files.place, ids=False, check=False).vectors
        # There are other columns, of which nothing is read.
        with NamedTemporaryFile(dir=scratch(), delete=False) as file:
            for start, stop in pairwise(files.starts):
                file.write(files.read(start, stop).data)
        return np.memmap(Path(file.name), dtype=files.dtype, mode="r", shape=files.shape)

    @property
    def n(self) -> int:
        """Number of vectors."""
        return self._files.shape[0]

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a vector."""
        return self._files.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The number type of the vectors."""
        return self._files.dtype

    def named(self, ids: Sequence[str] | None) -> "ObjectEmbeddings":
        """The same vectors with other ids."""
        return ObjectEmbeddings(self._files, ids)


def planned_embeddings(source: Any, *, ids: Any = None) -> Embeddings:
    """Embeddings whose numbers are unchecked. place, ids: as in `read_embeddings`, which reads all
    places but objects.

    Raises as `read_embeddings` does.
    """
    if not isinstance(source, (str, Path)) or remote_url(split_part(source)[0]) is None:
        return read_embeddings(source, ids=ids, check=False)
    address = file_of_part(source)
    try:
        files = VectorFiles(address)
    except (BadInput, BadUsage):  # it can only be read whole, or not at all
        return read_embeddings(source, ids=ids, check=False)
    if ids is not None and not isinstance(ids, (str, Path)):
        names = None if ids is False else item_ids(ids)
    else:
        names = Ids(files, None if ids is None else str(ids)).all_ids()
    return ObjectEmbeddings(files, names)


_LINES = 1 << 20
_BARE = (
    ".npy",
    ".fvecs",
    ".bvecs",
    ".ivecs",
    ".fbin",
    ".hbin",
    ".f16bin",
    ".u8bin",
    ".i8bin",
    ".ibin",
    ".parquet",
)
"""Suffixes of files whose ids are beside them, or in a column."""


class _IdFile(NamedTuple):
    """The ids of one file of vectors, or of a whole table.

    name: name of the file in messages.
    raw: row -> the ids from that row on, as bytes.
    """

    name: str
    raw: Callable[[int], Iterator[bytes]]


def _raw_lines(source: Source, start: int) -> Iterator[bytes]:
    with source.open() as stream:
        for line in islice(stream, start, None):
            yield line.rstrip(b"\r\n")


def _id_list(ids: Sequence[str], name: str) -> _IdFile:
    """Ids that are read whole, and checked."""
    return _IdFile(name, lambda start: map(encode_id, islice(ids, start, None)))


def _column(file: str) -> ParquetVectors | None:
    """The vectors of a file with a column of ids."""
    vectors = rows_of(file) if file.lower().endswith(".parquet") else None
    return vectors if isinstance(vectors, ParquetVectors) and vectors.has_ids else None


def _ids_in_file(ids: str) -> _IdFile:
    """The ids in a file that is named."""
    file, part = split_part(ids)
    source = Source(file)
    head = Head.of(source)
    head.refuse_foreign()
    if not part and choose_format(head, "column", None, "").name == "lines":
        return _IdFile(source.name, partial(_raw_lines, source))
    with naming(source.name):
        return _id_list(item_ids(read_column(ids)), source.name)


def _ids_of_vectors(file: str, path: str) -> _IdFile | None:
    """The ids in or beside a file of vectors; path: its name with the part of it that is read."""
    if (column := _column(file)) is not None:
        return _IdFile(file, lambda start: map(encode_id, column.ids(start)))
    if file.lower().endswith(_BARE):
        return None if (id_file := ids_beside(file)) is None else _ids_in_file(id_file)
    ids = read_embeddings(path, check=False).ids
    return None if ids is None else _id_list(ids, file)


class Ids:
    """The ids of a table, in one file, or in or beside each of its files. Only ids that are needed
    become strings.

    files: the files of the vectors.
    ids: the one file of ids; None for ids in or beside the vectors.

    Raises BadInput where some files have ids and others none.
    """

    def __init__(self, files: VectorFiles, ids: str | None) -> None:
        self._n = files.shape[0]
        if ids is not None:
            id_files = [_ids_in_file(ids)]
        elif len(files.files) == 1:
            id_files = [_ids_of_vectors(files.files[0], files.place)]
        else:
            id_files = [_ids_of_vectors(file, file) for file in files.files]
        has_ids = [id_file is not None for id_file in id_files]
        if any(has_ids) and not all(has_ids):
            first, lacking = (files.files[has_ids.index(has)] for has in (True, False))
            raise BadInput(f"{first} has ids and {lacking} none; give every shard ids, or none.")
        bounds = [(0, self._n)] if len(id_files) == 1 else pairwise(files.starts)
        # Each with its first row in the table and that behind its last.
        self._files = [
            (id_file, *rows)
            for id_file, rows in zip(id_files, bounds, strict=True)
            if id_file is not None
        ]

    @property
    def is_named(self) -> bool:
        """Whether the table has ids, and not only positions."""
        return bool(self._files)

    def _raw(self, start: int) -> Iterator[bytes]:
        """The ids from a row on, as bytes."""
        for file, begin, end in self._files:
            if start < end:
                yield from file.raw(max(0, start - begin))

    def check(self) -> None:
        """Raises BadInput for an empty id and for another number than that of vectors,
        DuplicateItem for one that appears twice.

        Ids are compared by prints of 64 bits, and those with equal prints by their bytes.
        """
        prints = np.concatenate(
            [
                np.empty(0, np.int64),
                *(_prints(file, end - begin) for file, begin, end in self._files),
            ]
        )
        sorted_prints = np.sort(prints)
        repeated_prints = sorted_prints[1:][sorted_prints[1:] == sorted_prints[:-1]]
        if not len(repeated_prints):
            return
        first_rows = dict[bytes, int]()
        for row in np.flatnonzero(np.isin(prints, repeated_prints)).tolist():
            line = next(self._raw(row))
            if (first := first_rows.setdefault(line, row)) != row:
                raise DuplicateItem(
                    f"{self._repetition(line, first, row)}; expected different ids."
                )

    def _repetition(self, line: bytes, first: int, second: int) -> str:
        first_file, second_file = (
            next(file.name for file, _, end in self._files if row < end) for row in (first, second)
        )
        name = decode_id(line)
        if first_file == second_file:
            return f"{first_file}: id {name!r} appears in rows {first} and {second}"
        return (
            f"id {name!r} appears in {first_file} and in {second_file}, rows {first} and {second} "
            "of the whole"
        )

    def all_ids(self) -> Sequence[str] | None:
        """The ids of all rows; None without ids. Raises BadInput for an empty id, and for another
        number in a file.
        """
        ids = list[str]()
        for file, begin, end in self._files:
            with naming(file.name):
                file_ids = item_ids(map(decode_id, file.raw(0)))
                _refuse_other_number(len(file_ids), end - begin)
            ids += file_ids
        return ids if self._files else None

    def range(self, start: int, stop: int) -> Sequence[str] | None:
        """The ids of some rows; None without ids."""
        return list(map(decode_id, islice(self._raw(start), stop - start))) if self._files else None

    def names(self) -> Sequence[str]:
        """The names of all rows: ids, or positions without ids."""
        ids = self.range(0, self._n)
        return Positions(self._n) if ids is None else ids

    def names_of(self, rows: Ints) -> Sequence[str]:
        """The names of all rows, of which only the given ones are known: ids, or positions without
        ids.
        """
        if not self._files:
            return Positions(self._n)
        names = dict[int, str]()
        wanted_rows = np.unique(rows)
        for file, begin, end in self._files:
            lines = file.raw(0)
            next_row = begin
            for row in wanted_rows[(wanted_rows >= begin) & (wanted_rows < end)].tolist():
                names[row] = decode_id(next(islice(lines, row - next_row, None)))
                next_row = row + 1
        return _ChosenIds(names, self._n)


def _prints(file: _IdFile, n: int) -> Ints:
    """A hash of each of the n ids of a file, valid in this process alone. Raises BadInput."""
    blocks = [np.empty(0, np.int64)]
    row = 0
    with naming(file.name):
        lines = file.raw(0)
        while block := list(islice(lines, _LINES)):
            if b"" in block:
                raise BadInput(
                    f"row {row + block.index(b'')} has nothing; expected an id, a string "
                    "or an integer."
                )
            blocks.append(np.fromiter(map(hash, block), np.int64, len(block)))
            row += len(block)
        _refuse_other_number(row, n)
    return np.concatenate(blocks)


def _refuse_other_number(n_ids: int, n: int) -> None:
    """Raises BadInput where a file has more or fewer ids than there are vectors."""
    if n_ids != n:
        raise BadInput(f"{n_ids} ids for {n} vectors; every vector has one id.")


@dataclass(eq=False)
class _ChosenIds(Sequence[str]):
    """Ids of some rows of a table.

    _names: row -> its id.
    _n: number of all rows.
    """

    _names: dict[int, str]
    _n: int

    def __getitem__(self, index: Any) -> Any:
        return self._names[index]

    def __len__(self) -> int:
        return self._n
