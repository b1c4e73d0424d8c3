"""Ids of tables that parts work on: those of one a line, or in a Parquet column, become strings
only where they are needed.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple, overload

import numpy as np

from rankwell.data.matrices import Positions, item_ids
from rankwell.data.tables import Ints
from rankwell.errors import BadInput, DuplicateItem, naming
from rankwell.io.column_tables.numeric import ParquetVectors
from rankwell.io.formats import choose_format, read_column
from rankwell.io.matrices import ids_beside, read_embeddings
from rankwell.runtime.parts import Json
from rankwell.runtime.parts.vectors import VectorFiles, files_of, rows_of
from rankwell.store import Head, Source, decode_id, encode_id, split_part

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
    """The ids of one file of vectors, or of a whole table. raw: those from a row on, as bytes."""

    name: str
    raw: Callable[[int], Iterator[bytes]]


def _raw_lines(source: Source, start: int) -> Iterator[bytes]:
    with source.open() as stream:
        for line in islice(stream, start, None):
            yield line.rstrip(b"\r\n")


def _id_list(ids: Sequence[str], name: str) -> _IdFile:
    """Ids that are read whole, and checked."""
    return _IdFile(name, lambda start: map(encode_id, islice(ids, start, None)))


def id_files(path: str, ids: str | None) -> list[str]:
    """The files that have the ids of a place and no vectors: the named one, or those beside the
    vectors.
    """
    if ids is not None:
        return [split_part(ids)[0]]
    return [id_file for file in files_of(path) if (id_file := _id_file_beside(file)) is not None]


def _id_file_beside(file: str) -> str | None:
    """The file of ids beside one of vectors, where the vectors' own file has none."""
    return ids_beside(file) if file.lower().endswith(_BARE) and _column(file) is None else None


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
    """The ids in or beside a file of vectors; place: its name with the part of it that is read."""
    if (column := _column(file)) is not None:
        return _IdFile(file, lambda start: map(encode_id, column.ids(start)))
    if file.lower().endswith(_BARE):
        return None if (id_file := ids_beside(file)) is None else _ids_in_file(id_file)
    ids = read_embeddings(path, check=False).ids
    return None if ids is None else _id_list(ids, file)


class Ids:
    """The ids of a table, in one file, or in or beside each of its files; only those that are
    needed become strings.

    layout: as `VectorFiles` takes it. Raises BadInput where some files have ids and others none.
    """

    def __init__(self, path: str, ids: str | None, layout: Json = None) -> None:
        files = files_of(path) if layout is None else layout["files"]
        is_one = ids is not None or len(files) == 1
        id_sources = (
            [_ids_in_file(ids)]
            if ids is not None
            else [_ids_of_vectors(file, path if is_one else file) for file in files]
        )
        has, lacks = (
            next(
                (
                    file
                    for file, id_source in zip(files, id_sources, strict=False)
                    if (id_source is None) == no
                ),
                None,
            )
            for no in (0, 1)
        )
        if has is not None and lacks is not None:
            raise BadInput(f"{has} has ids and {lacks} none; give every shard ids, or none.")
        self._files = [id_source for id_source in id_sources if id_source is not None]
        # Positions in one file are those in the table.
        self._starts: Sequence[int] = (
            [0] if is_one or not self._files else VectorFiles(path, layout).starts
        )

    @property
    def is_named(self) -> bool:
        """Whether the table has ids, and not only positions."""
        return bool(self._files)

    def _raw(self, start: int = 0) -> Iterator[bytes]:
        """The ids from a row on, as bytes."""
        for file_number, file in enumerate(self._files):
            begin = self._starts[file_number]
            end = self._starts[file_number + 1] if len(self._starts) > file_number + 1 else None
            if end is None or start < end:
                yield from file.raw(max(0, start - begin))

    def check(self, n: int) -> None:
        """Raises BadInput for an empty id and for another number than n, DuplicateItem for one that
        appears twice.

        Ids are compared by prints of 64 bits, and those with equal prints by their bytes.
        """
        prints = np.concatenate(
            [
                np.empty(0, np.int64),
                *(self._prints(file_number, n) for file_number in range(len(self._files))),
            ]
        )
        sorted_prints = np.sort(prints)
        repeated_prints = sorted_prints[1:][sorted_prints[1:] == sorted_prints[:-1]]
        if not len(repeated_prints):
            return
        first_rows: dict[bytes, int] = {}
        for row in np.flatnonzero(np.isin(prints, repeated_prints)).tolist():
            line = next(self._raw(row))
            if (first := first_rows.setdefault(line, row)) != row:
                raise DuplicateItem(
                    f"{self._repetition(line, first, row)}; expected different ids."
                )

    def _repetition(self, line: bytes, first: int, second: int) -> str:
        first_file, second_file = (
            self._files[bisect_right(self._starts, row, hi=len(self._files)) - 1].name
            for row in (first, second)
        )
        name = decode_id(line)
        if first_file == second_file:
            return f"{first_file}: id {name!r} appears in rows {first} and {second}"
        return (
            f"id {name!r} appears in {first_file} and in {second_file}, rows {first} and {second} "
            "of the whole"
        )

    def _prints(self, file_number: int, n: int) -> Ints:
        """A hash of each id of a file, valid in this process alone. Raises BadInput."""
        file = self._files[file_number]
        blocks = list[Ints]()
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
            self._refuse_other_number(file_number, row, n)
        return np.concatenate([np.empty(0, np.int64), *blocks])

    def _refuse_other_number(self, file_number: int, n_ids: int, n: int) -> None:
        """Raises BadInput where a file has more or fewer ids than there are vectors, n in the whole
        table.
        """
        expected = (
            self._starts[file_number + 1] - self._starts[file_number]
            if len(self._starts) > 1
            else n
        )
        if n_ids != expected:
            raise BadInput(f"{n_ids} ids for {expected} vectors; every vector has one id.")

    def all_ids(self, n: int) -> Sequence[str] | None:
        """The ids of all n rows; None without ids. Raises BadInput for an empty id, and for another
        number in a file.
        """
        ids = list[str]()
        for file_number, file in enumerate(self._files):
            with naming(file.name):
                file_ids = item_ids(map(decode_id, file.raw(0)))
                self._refuse_other_number(file_number, len(file_ids), n)
            ids += file_ids
        return ids if self._files else None

    def range(self, start: int, stop: int) -> Sequence[str] | None:
        """The ids of some rows; None without ids."""
        return list(map(decode_id, islice(self._raw(start), stop - start))) if self._files else None

    def names(self, n: int) -> Sequence[str]:
        """The names of all n rows: ids, or positions without ids."""
        ids = self.range(0, n)
        return Positions(n) if ids is None else ids

    def names_of(self, rows: Ints, n: int) -> Sequence[str]:
        """The names of n rows, of which only the given ones are known: ids, or positions without
        ids.
        """
        if not self._files:
            return Positions(n)
        names: dict[int, str] = {}
        wanted_rows = np.unique(rows)
        for file_number, file in enumerate(self._files):
            begin = self._starts[file_number]
            end = self._starts[file_number + 1] if len(self._starts) > 1 else n
            file_rows = wanted_rows[(wanted_rows >= begin) & (wanted_rows < end)].tolist()
            lines = file.raw(0) if file_rows else iter(())
            next_row = begin
            for row in file_rows:
                names[row] = decode_id(next(islice(lines, row - next_row, None)))
                next_row = row + 1
        return _ChosenIds(names, n)


class _ChosenIds(Sequence[str]):
    """Ids of some rows of a table."""

    def __init__(self, names: dict[int, str], n: int) -> None:
        self._names, self._n = names, n

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self._names[row] for row in range(*index.indices(self._n))]
        return self._names[index]

    def __len__(self) -> int:
        return self._n
