"""Ids of tables that parts work on: those of one a line, or in a Parquet column, become strings
only where they are needed.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol, overload

import numpy as np

from rankwell.core.tables import Ints
from rankwell.core.tables.matrices import Positions, item_ids
from rankwell.errors import BadInput, DuplicateItem, naming
from rankwell.io.column_tables.ranges import ParquetVectors
from rankwell.io.files import read_column
from rankwell.io.formats import choose_format
from rankwell.io.matrices import ids_beside, read_embeddings
from rankwell.parts import Json
from rankwell.parts.vectors import VectorFiles, files_of, rows_of
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


class _IdLines:
    """Ids in a file of one a line."""

    def __init__(self, source: Source) -> None:
        self._source, self.name = source, source.name

    def raw(self, start: int = 0) -> Iterator[bytes]:
        """The ids from a row on, as bytes."""
        with self._source.open() as stream:
            for line in islice(stream, start, None):
                yield line.rstrip(b"\r\n")


class _IdColumn:
    """Ids in a column beside vectors."""

    def __init__(self, vectors: ParquetVectors, name: str) -> None:
        self._vectors, self.name = vectors, name

    def raw(self, start: int = 0) -> Iterator[bytes]:
        """The ids from a row on, as bytes."""
        return map(encode_id, self._vectors.ids(start))


class _IdList:
    """Ids that are read whole, and checked."""

    def __init__(self, ids: Sequence[str], name: str) -> None:
        self.ids, self.name = ids, name

    def raw(self, start: int = 0) -> Iterator[bytes]:
        """The ids from a row on, as bytes."""
        return map(encode_id, islice(self.ids, start, None))


class _IdFile(Protocol):
    """The ids of one file of vectors, or of a whole table."""

    name: str

    def raw(self, start: int = 0) -> Iterator[bytes]:
        """The ids from a row on, as bytes."""
        ...


def id_files(place: str, ids: str | None) -> list[str]:
    """The files that have the ids of a place and no vectors: the named one, or those beside the
    vectors.
    """
    if ids is not None:
        return [split_part(ids)[0]]
    return [found for file in files_of(place) if (found := _beside(file)) is not None]


def _beside(file: str) -> str | None:
    """The file of ids beside one of vectors, where the vectors' own file has none."""
    return ids_beside(file) if file.lower().endswith(_BARE) and _column(file) is None else None


def _column(file: str) -> ParquetVectors | None:
    """The vectors of a file with a column of ids."""
    found = rows_of(file) if file.lower().endswith(".parquet") else None
    return found if isinstance(found, ParquetVectors) and found.has_ids else None


def _named(ids: str) -> _IdFile:
    """The ids in a file that is named."""
    file, part = split_part(ids)
    source = Source(file)
    head = Head.of(source)
    head.refuse_foreign()
    if not part and choose_format(head, "column", None, "").name == "lines":
        return _IdLines(source)
    with naming(source.name):
        return _IdList(item_ids(read_column(ids)), source.name)


def _of_vectors(file: str, place: str) -> _IdFile | None:
    """The ids in or beside a file of vectors; place: its name with the part of it that is read."""
    if (column := _column(file)) is not None:
        return _IdColumn(column, file)
    if file.lower().endswith(_BARE):
        return None if (beside := ids_beside(file)) is None else _named(beside)
    found = read_embeddings(place, check=False).ids
    return None if found is None else _IdList(found, file)


class Ids:
    """The ids of a table, in one file, or in or beside each of its files; only those that are
    needed become strings.

    known: as `VectorFiles` takes it. Raises BadInput where some files have ids and others none.
    """

    def __init__(self, place: str, ids: str | None, known: Json = None) -> None:
        files = files_of(place) if known is None else known["files"]
        is_one = ids is not None or len(files) == 1
        found = (
            [_named(ids)]
            if ids is not None
            else [_of_vectors(file, place if is_one else file) for file in files]
        )
        has, lacks = (
            next(
                (file for file, each in zip(files, found, strict=False) if (each is None) == no),
                None,
            )
            for no in (0, 1)
        )
        if has is not None and lacks is not None:
            raise BadInput(f"{has} has ids and {lacks} none; give every shard ids, or none.")
        self._files = [each for each in found if each is not None]
        # Positions in one file are those in the table.
        self._starts: Sequence[int] = (
            [0] if is_one or not self._files else VectorFiles(place, known).starts
        )

    @property
    def is_named(self) -> bool:
        """Whether the table has ids, and not only positions."""
        return bool(self._files)

    def _raw(self, start: int = 0) -> Iterator[bytes]:
        """The ids from a row on, as bytes."""
        for which, file in enumerate(self._files):
            begin, end = (
                self._starts[which],
                self._starts[which + 1] if len(self._starts) > which + 1 else None,
            )
            if end is None or start < end:
                yield from file.raw(max(0, start - begin))

    def check(self, n: int) -> None:
        """Raises BadInput for an empty id and for another number than n, DuplicateItem for one that
        appears twice.

        Ids are compared by prints of 64 bits, and those with equal prints by their bytes.
        """
        prints = np.concatenate(
            [np.empty(0, np.int64), *(self._prints(which, n) for which in range(len(self._files)))]
        )
        ordered = np.sort(prints)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if not len(twice):
            return
        seen: dict[bytes, int] = {}
        for row in np.flatnonzero(np.isin(prints, twice)).tolist():
            line = next(self._raw(row))
            if (first := seen.setdefault(line, row)) != row:
                raise DuplicateItem(f"{self._both(line, first, row)}; expected different ids.")

    def _both(self, line: bytes, first: int, second: int) -> str:
        one, other = (
            self._files[bisect_right(self._starts, row, hi=len(self._files)) - 1].name
            for row in (first, second)
        )
        name = decode_id(line)
        if one == other:
            return f"{one}: id {name!r} appears in rows {first} and {second}"
        return (
            f"id {name!r} appears in {one} and in {other}, rows {first} and {second} of the whole"
        )

    def _prints(self, which: int, n: int) -> Ints:
        """(ids,) a print of each id of a file, which is good for this process alone. Raises
        BadInput.
        """
        file, blocks, row = self._files[which], list[Ints](), 0
        with naming(file.name):
            lines = file.raw()
            while block := list(islice(lines, _LINES)):
                if b"" in block:
                    raise BadInput(
                        f"row {row + block.index(b'')} has nothing; expected an id, a string "
                        "or an integer."
                    )
                blocks.append(np.fromiter(map(hash, block), np.int64, len(block)))
                row += len(block)
            self._refuse_other_number(which, row, n)
        return np.concatenate([np.empty(0, np.int64), *blocks])

    def _refuse_other_number(self, which: int, found: int, n: int) -> None:
        """Raises BadInput where a file has more or fewer ids than there are vectors, n in the whole
        table.
        """
        expected = self._starts[which + 1] - self._starts[which] if len(self._starts) > 1 else n
        if found != expected:
            raise BadInput(f"{found} ids for {expected} vectors; every vector has one id.")

    def every(self, n: int) -> Sequence[str] | None:
        """The ids of all n rows; None without ids. Raises BadInput for an empty id, and for another
        number in a file.
        """
        found = list[str]()
        for which, file in enumerate(self._files):
            with naming(file.name):
                some = item_ids(map(decode_id, file.raw()))
                self._refuse_other_number(which, len(some), n)
            found += some
        return found if self._files else None

    def range(self, start: int, stop: int) -> Sequence[str] | None:
        """The ids of some rows; None without ids."""
        return list(map(decode_id, islice(self._raw(start), stop - start))) if self._files else None

    def names(self, n: int) -> Sequence[str]:
        """The names of all n rows: ids, or positions without ids."""
        found = self.range(0, n)
        return Positions(n) if found is None else found

    def chosen(self, rows: Ints, n: int) -> Sequence[str]:
        """The names of n rows, of which only the given ones are known: ids, or positions without
        ids.
        """
        if not self._files:
            return Positions(n)
        names: dict[int, str] = {}
        needed = np.unique(rows)
        for which, file in enumerate(self._files):
            begin, end = (
                self._starts[which],
                self._starts[which + 1] if len(self._starts) > 1 else n,
            )
            mine = needed[(needed >= begin) & (needed < end)].tolist()
            lines, at = file.raw() if mine else iter(()), begin
            for row in mine:
                names[row] = decode_id(next(islice(lines, row - at, None)))
                at = row + 1
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
