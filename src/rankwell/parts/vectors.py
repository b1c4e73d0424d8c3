"""Ranges of vectors in a file, read once with their digest, and their ids, of which only those that are needed become strings."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import overload

import numpy as np

from rankwell.core.tables import Ints
from rankwell.core.tables.matrices import Embeddings, Positions
from rankwell.errors import BadInput, BadUsage, DuplicateItem
from rankwell.io.files import choose_format
from rankwell.io.matrices import IDS_BESIDE, read_embeddings
from rankwell.store import Head, Source, decode_id, naming, split_part

_LINES = 1 << 20
_BARE = (".npy", ".fvecs", ".bvecs", ".ivecs", ".fbin", ".hbin", ".f16bin", ".u8bin", ".i8bin", ".ibin")
"""Suffixes of files that hold vectors and no ids."""


@dataclass(frozen=True, eq=False)
class VectorRange(Embeddings):
    """Vectors of a range of a table; messages name the row in the whole table, and its file. start: the first one's row."""

    start: int = 0
    file: str = ""

    def place(self, row: int) -> str:
        """The name of a vector in messages: its file, its row in it, and its id where it is known."""
        named = "" if self.ids is None or isinstance(self.ids, Positions) else f" (id {self.ids[row]!r})"
        return f"{self.file}, row {self.start + row}{named}"


def mapped(place: str) -> Embeddings:
    """The vectors of a place, read in place, without ids. Raises BadUsage for a file that can only be read whole."""
    table = read_embeddings(place, ids=False, check=False)
    if not isinstance(table.vectors, np.memmap):
        raise BadUsage(f"{place} can only be read whole; save its vectors as .npy to search it in parts.")
    return table


def read_range(place: str, rows: slice, ids: Sequence[str] | None) -> tuple[VectorRange, str]:
    """Some of the vectors, copied into memory, with the digest of their bytes. ids: theirs."""
    vectors = np.array(mapped(place).vectors[rows], order="C")
    digest = hashlib.sha256(vectors.data if vectors.size else b"").hexdigest()[:32]
    return VectorRange(ids, vectors, start=rows.start, file=place), digest


def ids_file(place: str, ids: str | None) -> Path | None:
    """The file that has the ids of a place: the named one, or that beside the vectors; None where there is none."""
    if ids is not None:
        return Path(split_part(ids)[0])
    if not place.lower().endswith(_BARE):
        return None
    beside = (Path(place).with_suffix(suffix) for suffix in IDS_BESIDE)
    return next((file for file in beside if file.is_file()), None)


class Ids:
    """The ids of a table. Those in a file of one a line are read as they are needed; others are read whole, as strings."""

    def __init__(self, place: str, ids: str | None) -> None:
        file = ids_file(place, ids)
        self._lines = Source(file) if file is not None and _has_lines(file, ids or "") else None
        self._listed = None if self._lines is not None else read_embeddings(place, ids=ids, check=False).ids

    @property
    def is_named(self) -> bool:
        """Whether the table has ids, and not only positions."""
        return self._lines is not None or self._listed is not None

    def _raw(self, start: int = 0) -> Iterator[bytes]:
        if self._lines is not None:
            with self._lines.open() as stream:
                for line in islice(stream, start, None):
                    yield line.rstrip(b"\r\n")

    def check(self, n: int) -> None:
        """Raises BadInput for an empty id and for another number than n, DuplicateItem for one that appears twice.

        Ids are compared by prints of 64 bits, and those with equal prints by their bytes.
        """
        if self._lines is None:
            return  # checked when they were read
        with naming(self._lines.name):
            prints = self._prints()
            if len(prints) != n:
                raise BadInput(f"{len(prints)} ids for {n} vectors; every vector has one id.")
            ordered = np.sort(prints)
            twice = ordered[1:][ordered[1:] == ordered[:-1]]
            if not len(twice):
                return
            seen: dict[bytes, int] = {}
            for row in np.flatnonzero(np.isin(prints, twice)).tolist():
                line = next(self._raw(row))
                if (first := seen.setdefault(line, row)) != row:
                    what = f"id {decode_id(line)!r} appears in rows {first} and {row}"
                    raise DuplicateItem(f"{what}; expected different ids.")

    def _prints(self) -> Ints:
        """(ids,) a print of each, which is good for this process alone."""
        blocks: list[Ints] = []
        lines, row = self._raw(), 0
        while block := list(islice(lines, _LINES)):
            if b"" in block:
                raise BadInput(f"row {row + block.index(b'')} has nothing; expected an id, a string or an integer.")
            blocks.append(np.fromiter(map(hash, block), np.int64, len(block)))
            row += len(block)
        return np.concatenate([np.empty(0, np.int64), *blocks])

    def range(self, start: int, stop: int) -> Sequence[str] | None:
        """The ids of some rows; None without ids."""
        if self._lines is not None:
            return list(map(decode_id, islice(self._raw(start), stop - start)))
        return None if self._listed is None else self._listed[start:stop]

    def chosen(self, rows: Ints, n: int) -> Sequence[str]:
        """The names of n rows, of which only the given ones are known: ids, or positions without ids."""
        if self._lines is None:
            return Positions(n) if self._listed is None else self._listed
        needed = np.unique(rows)
        names: dict[int, str] = {}
        place, lines = 0, self._raw()
        for row in needed.tolist():
            names[row] = decode_id(next(islice(lines, row - place, None)))
            place = row + 1
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


def _has_lines(file: Path, ids: str) -> bool:
    """Whether a file of ids has one a line."""
    head = Head.of(Source(file))
    head.refuse_foreign()
    return not split_part(ids)[1] and choose_format(head, "column", None, "").name == "lines"
