"""Lists of the best items in parts: how queries and items are cut, and how lists merge by exact
score, then by place.
"""

from bisect import bisect_left
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.data.arrays import npy_layout
from rankwell.data.tables import Floats, Ints
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.runtime.parts import MAX_SHARDS, Limits, draft_beside

MOST_MERGED = 64
"""Lists that are merged at a time; more are merged in two levels."""
_LEAST = 1000
"""Items of a shard per item of a list: with fewer, the work on lists outweighs that on vectors."""
_MERGED_BYTES = 16 << 20


class PartGrid(NamedTuple):
    """The parts of a search, one per pass and shard. queries, items: where each pass and each shard
    begins, and the end.
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
        least = -(-items * row // half)
        usual = max(least, min(2 * limits.workers, items // (_LEAST * depth)), 1)
        shards = usual if limits.shards is None else limits.shards
        if limits.shards is not None and not 0 < shards <= MAX_SHARDS:
            raise BadUsage(
                f"{flag('--shards', shards)}; expected an integer from 1 to {MAX_SHARDS}."
            )
        return cls(_bounds(queries, max(1, -(-queries * state // half))), _bounds(items, shards))

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
            positions, scores = _foremost(positions, scores, k)
        # Stable: of equal scores the first list has the first items, and within a list they are in
        # order. NaN is last.
        if tie_ranks is None:
            order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        else:
            order = np.lexsort((tie_ranks[positions], -scores), axis=1)[:, :k]
        yield (
            slice(start, stop),
            np.take_along_axis(positions, order, axis=1),
            np.take_along_axis(scores, order, axis=1),
        )


def _foremost(positions: Ints, scores: Floats, k: int) -> tuple[Ints, Floats]:
    """Those of each row that score at least as high as the k-th best, in their order, and then -1
    and NaN.
    """
    lowest = -np.partition(-scores, k - 1, axis=1)[:, k - 1]
    is_best = (scores >= lowest[:, None]) | (np.isnan(lowest)[:, None] & ~np.isnan(scores))
    counts = np.count_nonzero(is_best, axis=1)
    row = np.repeat(np.arange(len(scores)), counts)
    target = row, np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = len(scores), max(k, int(counts.max(initial=0)))
    best = np.full(shape, -1, dtype=np.int64)
    exact = np.full(shape, np.nan)
    best[target], exact[target] = positions[is_best], scores[is_best]
    return best, exact


class ListBlock(NamedTuple):
    """The lists of a range of queries, (queries, k): -1 and NaN where there are fewer than k
    items.
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
    for row, (start, stop) in enumerate(zip(grid.queries, grid.queries[1:], strict=False)):
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
                scores = np.pad(exact, missing, constant_values=np.nan)
                yield ListBlock(slice(start + rows.start, start + rows.stop), positions, scores)


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
