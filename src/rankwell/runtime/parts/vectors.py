"""Vectors of files and of folders of shards, local or remote, of which parts read ranges, once and
with their digest; and the lists of the best items that parts make of them: how queries and items
are cut, and how lists merge by exact score, then by place.
"""

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from mmap import mmap
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell._native import native
from rankwell._native.products import Best, foremost, packed
from rankwell.data.matrices import Embeddings, Positions, Vectors, npy_layout, refuse_other_shard
from rankwell.data.tables import Floats, Ints
from rankwell.errors import BadInput, BadUsage, flag, naming
from rankwell.io.column_tables.numeric import ParquetVectors
from rankwell.io.matrices import read_vectors
from rankwell.io.vectors import RemoteVectors, vectors_layout
from rankwell.runtime.parts import Json, Limits, draft_beside
from rankwell.store import remote_url, shard_files, sources_of, split_part
from rankwell.store.remote import Object, existing
from rankwell.threads import in_threads

_AT_ONCE = 16
_NEAR, _BLOCK = 64 << 10, 16 << 20
"""Bytes between rows of an object that are read together, and of one range at most."""
_MOST_READ = 16 << 20


class _MappedVectors:
    """The vectors of a local file, read in place. Raises BadUsage for a file that can only be read
    whole.
    """

    def __init__(self, path: str, part: str) -> None:
        self._file = path
        with naming(path):
            vectors = self._vectors = read_vectors(path, part).vectors
            is_in_place = isinstance(vectors, np.memmap) or (
                # Without the compiled library few files are mapped; the layout tells.
                native.library is None and not part and _has_layout(path, vectors.dtype)
            )
        if vectors.size and not is_in_place:
            raise BadUsage(
                f"{path}:{part}".rstrip(":") + " can only be read whole; save its vectors as .npy "
                "in float32 (or float16, float64, int8, uint8) to work on it in parts."
            )
        self.shape: tuple[int, int] = (len(vectors), int(vectors.shape[1]))
        self.dtype = vectors.dtype
        self._row = self.shape[1] * self.dtype.itemsize

    def read(self, start: int, stop: int) -> Vectors:
        """The vectors of some rows, in place where they follow each other and are many."""
        vectors = self._vectors
        # A small range costs less to read into memory that the process has kept than to map, page
        # by page.
        is_small = (stop - start) * self._row <= _MOST_READ
        if (
            is_small
            and isinstance(vectors, np.memmap)
            and isinstance(vectors.base, mmap)
            and vectors.flags.c_contiguous
        ):
            size = (stop - start) * self.shape[1]
            rows = np.fromfile(
                self._file, self.dtype, size, offset=vectors.offset + start * self._row
            )
            if rows.size < size:
                raise _changed(self._file)
            return rows.reshape(-1, self.shape[1])
        return np.ascontiguousarray(vectors[start:stop])

    def take(self, rows: Ints) -> Vectors:
        """The vectors of any rows, in memory."""
        return self._vectors[rows]


def _has_layout(path: str, kind: np.dtype[Any]) -> bool:
    """Whether the rows of a file are its vectors, with numbers of this kind."""
    with Path(path).open("rb") as stream:
        layout = vectors_layout(path, stream, Path(path).stat().st_size)
    return layout is not None and kind == (
        layout.kind["vector"].base if layout.kind.names else layout.kind
    )


_Rows = _MappedVectors | ParquetVectors | RemoteVectors
"""The vectors of one file."""


def _changed(file: str) -> BadInput:
    return BadInput(f"{file} has changed since the plan was written; name another work folder.")


def rows_of(path: str, part: str = "") -> _Rows:
    """The vectors of one file. Raises BadInput for a damaged one, BadUsage for one that can only be
    read whole.
    """
    if (url := remote_url(path)) is not None:
        return _remote_rows(existing(url), part)
    is_parquet = path.lower().endswith(".parquet")
    return ParquetVectors(path, part) if is_parquet else _MappedVectors(path, part)


@lru_cache(maxsize=1 << 14)
def _remote_rows(stored_object: Object, part: str) -> _Rows:
    """The same of an object; its header is read once."""
    if stored_object.url.lower().endswith(".parquet"):
        return ParquetVectors(stored_object.url, part)
    if part:
        raise BadUsage(
            f"{stored_object.url}:{part} can only be read whole; save its vectors as .npy to work "
            "on it in parts."
        )
    return RemoteVectors(stored_object.url)


class VectorFiles:
    """The vectors of a place: a file, or the shards of a folder one after the other in order of the
    bytes of their names.

    layout: what `described` has returned, which a part takes from the plan, so that it opens the
    files alone that it reads. Raises BadInput for shards of other dimensions or another kind of
    numbers than the first, and for no vector at all.
    """

    def __init__(self, path: str, layout: Json = None) -> None:
        self.place = path
        self._part: str = split_part(path)[1] if layout is None else layout["part"]
        self.files: Sequence[str] = files_of(path) if layout is None else layout["files"]
        self._rows: list[_Rows | None] = [None] * len(self.files)
        if layout is not None:
            self.starts = layout["starts"]
            self.shape = tuple[int, int](layout["shape"])
            self.dtype = np.dtype(layout["dtype"])
            return
        opened_files = in_threads(self._opened, range(len(self.files)), workers=_AT_ONCE)
        first = next(
            (number for number, opened_file in enumerate(opened_files) if opened_file.shape[1]), 0
        )
        dimensions = opened_files[first].shape[1]
        dtype = opened_files[first].dtype
        for file, opened_file in zip(self.files, opened_files, strict=True):
            if opened_file.shape[1]:  # a Parquet file without rows does not show it
                refuse_other_shard(
                    (self.files[first], dimensions, dtype),
                    (file, opened_file.shape[1], opened_file.dtype),
                )
        sizes = (opened_file.shape[0] for opened_file in opened_files)
        self.starts: Sequence[int] = list(accumulate(sizes, initial=0))
        self.shape: tuple[int, int] = self.starts[-1], dimensions
        self.dtype: np.dtype[Any] = dtype
        if not self.shape[0]:
            raise BadInput(f"{path}: there is no vector in it; expected at least one.")

    @property
    def described(self) -> Json:
        """The files, the row at which each begins, and the end; JSON, for the plan."""
        return {
            "files": list(self.files),
            "part": self._part,
            "starts": list(self.starts),
            "shape": list(self.shape),
            "dtype": self.dtype.str,
        }

    @property
    def breaks(self) -> Sequence[int]:
        """Rows at which a range begins or ends best, because what is around them is read as a
        whole: files, row groups.
        """
        breaks = {*self.starts}
        for start, opened_file in zip(self.starts, self._rows, strict=False):
            if isinstance(opened_file, ParquetVectors):
                breaks |= {start + row for row in opened_file.breaks}
        return sorted(breaks)

    def _opened(self, file_number: int) -> _Rows:
        opened_file = self._rows[file_number] or rows_of(self.files[file_number], self._part)
        self._rows[file_number] = opened_file
        return opened_file

    def read(self, start: int, stop: int) -> Vectors:
        """The vectors of some rows, in memory. Raises as the files' readers do, and where a file is
        not as it was.
        """
        pieces = [
            self._unchanged(file_number).read(max(start, begin) - begin, min(stop, end) - begin)
            for file_number, (begin, end) in enumerate(pairwise(self.starts))
            if max(start, begin) < min(stop, end)
        ]
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate([np.empty((0, self.shape[1]), dtype=self.dtype), *pieces])

    def _unchanged(self, file_number: int) -> _Rows:
        """The vectors of a file. Raises BadInput where it is not as it was."""
        rows = self._opened(file_number)
        n = self.starts[file_number + 1] - self.starts[file_number]
        if rows.shape != (n, self.shape[1]) or rows.dtype.name != self.dtype.name:
            raise _changed(self.files[file_number])
        return rows

    def take(self, rows: Ints) -> Vectors:
        """The vectors of any rows, in memory; those of an object that are near each other are read
        in one range.
        """
        distinct_rows, distinct_index = np.unique(rows, return_inverse=True)
        vectors = np.empty((len(distinct_rows), self.shape[1]), dtype=self.dtype)
        for number, (begin, end) in enumerate(pairwise(self.starts)):
            row_range = slice(*np.searchsorted(distinct_rows, [begin, end]).tolist())
            if row_range.start < row_range.stop:
                vectors[row_range] = self._take(number, distinct_rows[row_range] - begin)
        return vectors[distinct_index]

    def _take(self, file_number: int, rows: Ints) -> Vectors:
        """The vectors of ascending rows of a file."""
        file = self._unchanged(file_number)
        row = max(1, self.shape[1] * self.dtype.itemsize)
        if isinstance(file, _MappedVectors):
            return file.take(rows)
        is_far = (np.diff(rows) * row > _NEAR) | (np.diff(rows * row // _BLOCK) > 0)
        pieces = np.split(rows, np.flatnonzero(is_far) + 1)
        return np.concatenate(
            [file.read(int(piece[0]), int(piece[-1]) + 1)[piece - piece[0]] for piece in pieces]
        )

    def shard(self, row: int) -> str | None:
        """The name of a row in messages, in the whole table and in its shard; None where there is
        one file.
        """
        if len(self.files) == 1:
            return None
        file_number = bisect_right(self.starts, row) - 1
        return f"row {row}, row {row - self.starts[file_number]} of {self.files[file_number]}"


def vector_paths(places: Mapping[str, str | None]) -> dict[str, str]:
    """The files of vectors, and those of their ids, by their names in a plan, as `sources_of`."""
    return {name: source.name for name, source in sources_of(places).items()}


def has_ranges(path: str) -> bool:
    """Whether parts can read any rows of a place: not those of Parquet, and of files that can only
    be read whole.
    """
    if any(file.lower().endswith(".parquet") for file in files_of(path)):
        return False
    try:
        VectorFiles(path)
    except (BadInput, BadUsage):
        return False
    return True


def files_of(path: str) -> Sequence[str]:
    """The files whose vectors a place has. Raises BadInput for a folder with other files."""
    text, part = split_part(path)
    if shards := [] if part else shard_files(text):
        return shards
    mteb_file = Path(text) / "vectors.npy"
    return [str(mteb_file) if remote_url(text) is None and mteb_file.is_file() else text]


class PartTable(NamedTuple):
    """A table of vectors that parts read in ranges.

    path: absolute path, or an address.
    label: the name of the table in messages.
    """

    path: str
    label: str


@dataclass(frozen=True, eq=False)
class VectorRange(Embeddings):
    """Vectors of a range of a table; messages name the row in the whole table, and its file.

    start: the row of its first vector in the table.
    table_path: path of the table, as messages name it.
    files: the files of the table, so that messages name the shard; None where it is one file.
    """

    start: int = 0
    table_path: str = ""
    files: VectorFiles | None = None

    def place(self, row: int) -> str:
        """The name of a vector in messages: its file, its row in it, and its id where it is
        known.
        """
        id_note = ""
        if self.ids is not None and not isinstance(self.ids, Positions):
            id_note = f" (id {self.ids[row]!r})"
        return f"{self._named_row(self.start + row)}{id_note}"

    def _named_row(self, row: int) -> str:
        """The name of a row of the whole table, with its shard where there are several."""
        shard = self.files and self.files.shard(row)
        return shard or f"{self.table_path}, row {row}"


def read_range(
    path: str, rows: slice, ids: Sequence[str] | None, layout: Json = None
) -> tuple[VectorRange, str]:
    """Some of the vectors, in memory, with the `checksum` of their bytes. ids: theirs. layout: as
    `VectorFiles` takes it.
    """
    files = VectorFiles(path, layout)
    vectors = files.read(rows.start, rows.stop)
    return VectorRange(ids, vectors, start=rows.start, table_path=path, files=files), checksum(
        vectors
    )


def checksum(vectors: Vectors) -> str:
    """The CRC-32 of contiguous vectors, which shows that parts have read different bytes of one
    table.

    A cryptographic digest takes several times as long, which counts beside few queries: every part
    reads its items once.
    """
    return f"{zlib.crc32(vectors.data if vectors.size else b''):08x}"


MOST_MERGED = 64
"""Lists that are merged at a time; more are merged in two levels."""
_LEAST = 1000
"""Items of a shard per item of a list: with fewer, the work on lists outweighs that on vectors."""
_MERGED_BYTES = 16 << 20


class PartGrid(NamedTuple):
    """The parts of a search, one per pass and shard.

    queries, items: where each pass and each shard begins, and the end of the last one.
    """

    queries: Sequence[int]
    items: Sequence[int]

    @classmethod
    def of(
        cls, queries: int, items: int, *, state: int, row: int, depth: int, limits: Limits
    ) -> "PartGrid":
        """Shards of at least 1,000 items per item of a list where there are enough, whatever fits
        the memory; queries in passes.

        state, row: bytes of a query and of an item, for each of which is half the memory. depth:
        length of the lists.
        """
        half = limits.memory // 2
        if half < max(row, state):
            raise BadUsage(
                f"{flag('--memory', limits.memory)}: a vector takes {row} bytes, a query with its "
                f"list {state}, each of one half; give {2 * max(row, state)} or more."
            )
        usual = max(-(-items * row // half), min(2 * limits.workers, items // (_LEAST * depth)), 1)
        return cls(
            _bounds(queries, max(1, -(-queries * state // half))),
            _bounds(items, limits.shards_or(usual)),
        )

    def ending_at(self, breaks: Sequence[int]) -> "PartGrid":
        """Shards whose ends are moved to the nearest break that is nearer than half a shard, so
        that nothing is read twice.
        """
        bounds = list(self.items)
        for number, (before, boundary, behind) in enumerate(
            zip(self.items, self.items[1:], self.items[2:], strict=False), 1
        ):
            position = bisect_left(breaks, boundary)
            nearest = min(
                breaks[max(0, position - 1) : position + 1],
                key=lambda row, boundary=boundary: abs(row - boundary),
            )
            if 2 * abs(nearest - boundary) < min(boundary - before, behind - boundary):
                bounds[number] = nearest
        return self._replace(items=bounds)

    @property
    def passes(self) -> int:
        """Number of ranges of queries."""
        return len(self.queries) - 1

    @property
    def shards(self) -> int:
        """Number of ranges of items."""
        return len(self.items) - 1

    @property
    def parts(self) -> int:
        """Number of parts."""
        return self.passes * self.shards

    @property
    def products(self) -> list[int]:
        """Number of products of each part."""
        return [
            (stop - start) * (end - begin)
            for start, stop in pairwise(self.queries)
            for begin, end in pairwise(self.items)
        ]

    def part(self, index: int) -> tuple[slice, slice]:
        """The queries and the items of a part."""
        row, shard = divmod(index, self.shards)
        return slice(*self.queries[row : row + 2]), slice(*self.items[shard : shard + 2])


def _bounds(n: int, parts: int) -> list[int]:
    return [n * part // parts for part in range(parts + 1)]


def write_array(array: NDArray[np.generic], stream: BinaryIO) -> None:
    """Writes an array to the file of a part."""
    np.lib.format.write_array(stream, array, allow_pickle=False)


def lists_of(positions: Ints, scores: Floats, start: int, depth: int) -> NDArray[np.int64]:
    """The content of a part, int64 (2, queries, depth): positions, from `start` on and -1 for none,
    and the bits of scores.
    """
    lists = np.empty((2, len(positions), depth), dtype="<i8")
    best_positions = positions[:, :depth]
    lists[0] = np.where(best_positions >= 0, best_positions + start, -1)
    lists[1] = scores[:, :depth].astype("<f8").view("<i8")
    return lists


class _PartLists:
    """Lists of the best items in a file of a part, of which blocks are read. Raises BadInput for a
    file of another shape.

    It is not mapped: pages that have been read would stay with the process, and its peak would grow
    with the queries.
    """

    def __init__(self, file: Path, queries: int) -> None:
        self._path, self._queries = file, queries
        with file.open("rb") as stream:
            kind, shape, self._offset, _ = layout = npy_layout(stream)
        if kind != np.dtype("<i8") or len(shape) != 3 or shape[:2] != (2, queries):
            raise BadInput(
                f"{file} has an array {shape} of {kind}; expected lists of {queries} queries."
            )
        layout.refuse_other_size(file.stat().st_size)
        self.depth = shape[2]
        """Length of the lists."""

    def rows(self, start: int, stop: int) -> tuple[Ints, Floats]:
        """The positions and scores of some queries."""
        with self._path.open("rb") as stream:
            positions, scores = (
                self._read(stream, half * self._queries + start, stop - start) for half in range(2)
            )
        return positions, scores.view("<f8")

    def _read(self, stream: BinaryIO, first: int, rows: int) -> Ints:
        stream.seek(self._offset + 8 * first * self.depth)
        return np.fromfile(stream, dtype="<i8", count=rows * self.depth).reshape(rows, self.depth)


def _merged_blocks(
    files: Sequence[Path], queries: int, k: int, tie_ranks: Ints | None
) -> Iterator[tuple[slice, Ints, Floats]]:
    """The best k of lists in ascending order of their items, for one block of queries after the
    other.
    """
    lists = [_PartLists(file, queries) for file in files]
    total = sum(part_lists.depth for part_lists in lists)
    step = max(1, _MERGED_BYTES // (48 * max(total, 1)))
    for start in range(0, queries, step):
        stop = min(start + step, queries)
        columns = zip(*(part_lists.rows(start, stop) for part_lists in lists), strict=True)
        positions, scores = (np.concatenate(blocks, axis=1) for blocks in columns)
        if total > k:
            positions, scores = _candidates(positions, scores, k)
        # Of equal scores the first list has the first items, and within a list they are in order.
        yield slice(start, stop), *foremost(positions, scores, k, tie_ranks)


def _candidates(positions: Ints, scores: Floats, k: int) -> Best:
    """Those of each row that score at least as high as the k-th best, in their order, and then -1
    and NaN.
    """
    lowest = -np.partition(-scores, k - 1, axis=1)[:, k - 1]
    is_best = (scores >= lowest[:, None]) | (np.isnan(lowest)[:, None] & ~np.isnan(scores))
    cells, (best, exact) = packed(is_best, k)
    best[cells], exact[cells] = positions[is_best], scores[is_best]
    return best, exact


class ListBlock(NamedTuple):
    """The lists of a range of queries.

    queries: rows of the queries in the table.
    positions: (queries, k) rows of the items in the table, best first; -1 where there are fewer
        than k.
    scores: (queries, k) exact scores; NaN where there is no item.
    """

    queries: slice
    positions: Ints
    scores: Floats


def merged_blocks(
    grid: PartGrid, files: Sequence[Path], folder: Path, k: int, tie_ranks: Ints | None = None
) -> Generator[ListBlock]:
    """The best items of all shards, for one block of queries after the other; more than 64 shards
    merge in two levels.

    tie_ranks: of each item among items of equal score; its position where it is None.
    """
    depth = min(k, grid.items[-1])
    for row, (start, stop) in enumerate(pairwise(grid.queries)):
        lists = list(files[row * grid.shards : (row + 1) * grid.shards])
        groups = [lists[start : start + MOST_MERGED] for start in range(0, len(lists), MOST_MERGED)]
        with ExitStack() as drafts:
            levels = [
                drafts.enter_context(draft_beside(folder / "merged"))
                for _ in groups
                if len(groups) > 1
            ]
            for group, level in zip(groups, levels, strict=False):
                _write_level(group, level, stop - start, depth, tie_ranks)
            for rows, best, exact in _merged_blocks(
                levels or lists, stop - start, depth, tie_ranks
            ):
                missing = (0, 0), (0, k - best.shape[1])
                positions = np.pad(best, missing, constant_values=-1)
                yield ListBlock(
                    slice(start + rows.start, start + rows.stop),
                    positions,
                    np.pad(exact, missing, constant_values=np.nan),
                )


def merged_lists(
    grid: PartGrid, files: Sequence[Path], folder: Path, k: int, tie_ranks: Ints | None = None
) -> tuple[Ints, Floats]:
    """The best items of all shards and their scores, in memory. tie_ranks: as in `merged_blocks`.

    Returns two arrays (queries, k).
    """
    shape = grid.queries[-1], k
    positions = np.empty(shape, dtype=np.int64)
    scores = np.empty(shape)
    for block in merged_blocks(grid, files, folder, k, tie_ranks):
        positions[block.queries], scores[block.queries] = block.positions, block.scores
    return positions, scores


def _write_level(
    group: Sequence[Path], path: Path, queries: int, k: int, tie_ranks: Ints | None
) -> None:
    """Writes the merged lists of some parts."""
    depth = min(k, sum(_PartLists(file, queries).depth for file in group))
    with path.open("wb") as stream:
        header = {"descr": "<i8", "fortran_order": False, "shape": (2, queries, depth)}
        np.lib.format.write_array_header_1_0(stream, header)
        begin = stream.tell()
        for rows, *lists in _merged_blocks(group, queries, k, tie_ranks):
            for half, block in enumerate(lists):
                stream.seek(begin + 8 * depth * (half * queries + rows.start))
                stream.write(np.ascontiguousarray(block).data)
        stream.truncate(begin + 16 * queries * depth)
