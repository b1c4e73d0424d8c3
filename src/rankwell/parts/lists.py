"""Lists of the best items in parts: how queries and items are cut, and how lists merge by exact score, then by place."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.core.tables import Floats, Ints
from rankwell.core.tables.arrays import map_npy
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.parts import MAX_SHARDS, Limits

MOST_MERGED = 64
"""Lists that are merged at a time; more are merged in two levels."""
_LEAST = 1000
"""Items of a shard per item of a list: with fewer, the work on lists outweighs that on vectors."""
_MERGED_BYTES = 64 << 20


class PartGrid(NamedTuple):
    """The parts of a search, one per pass and shard. queries, items: where each pass and each shard begins, and the end."""

    queries: Sequence[int]
    items: Sequence[int]

    @classmethod
    def of(cls, queries: int, items: int, *, state: int, row: int, depth: int, limits: Limits) -> "PartGrid":
        """Shards of at least 1,000 items per item of a list where there are enough, whatever fits the memory; queries in passes.

        state, row: bytes of a query and of an item, for each of which is half the memory. depth: length of the lists.
        """
        half = limits.memory // 2
        if half < max(row, state):
            raise BadUsage(f"{flag('--memory', limits.memory)}: one vector and one list take {row + state} bytes; give more.")
        least = -(-items * row // half)
        usual = max(least, min(2 * limits.workers, items // (_LEAST * depth)), 1)
        shards = usual if limits.shards is None else limits.shards
        if limits.shards is not None and not 0 < shards <= MAX_SHARDS:
            raise BadUsage(f"{flag('--shards', shards)}; expected an integer from 1 to {MAX_SHARDS}.")
        return cls(_bounds(queries, max(1, -(-queries * state // half))), _bounds(items, shards))

    def ending_at(self, breaks: Sequence[int]) -> "PartGrid":
        """Shards whose ends are moved to the nearest break that is nearer than half a shard, so that nothing is read twice."""
        bounds = list(self.items)
        for at, (before, here, behind) in enumerate(zip(self.items, self.items[1:], self.items[2:], strict=False), 1):
            which = bisect_left(breaks, here)
            nearest = min(breaks[max(0, which - 1) : which + 1], key=lambda row, here=here: abs(row - here))
            if 2 * abs(nearest - here) < min(here - before, behind - here):
                bounds[at] = nearest
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
        return [(stop - start) * (end - begin) for start, stop in pairwise(self.queries) for begin, end in pairwise(self.items)]

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
    """The content of a part, int64 (2, queries, depth): positions, from `start` on and -1 for none, and the bits of scores."""
    lists = np.empty((2, len(positions), depth), dtype="<i8")
    listed = positions[:, :depth]
    lists[0] = np.where(listed >= 0, listed + start, -1)
    lists[1] = scores[:, :depth].astype("<f8").view("<i8")
    return lists


class _PartLists:
    """Lists of the best items in a file of a part, read in place. Raises BadInput for a file of another shape."""

    def __init__(self, file: Path, queries: int) -> None:
        self._file = map_npy(file)
        if self._file.dtype != np.dtype("<i8") or self._file.ndim != 3 or self._file.shape[:2] != (2, queries):
            raise BadInput(f"{file} has an array {self._file.shape} of {self._file.dtype}; expected lists of {queries} queries.")

    @property
    def depth(self) -> int:
        """Length of the lists."""
        return int(self._file.shape[2])

    def rows(self, start: int, stop: int) -> tuple[Ints, Floats]:
        """The positions and scores of some queries."""
        return np.asarray(self._file[0, start:stop]), np.ascontiguousarray(self._file[1, start:stop]).view("<f8")


def _merged_blocks(files: Sequence[Path], queries: int, k: int, places: Ints | None) -> Iterator[tuple[slice, Ints, Floats]]:
    """The best k of lists in ascending order of their items, for one block of queries after the other."""
    lists = [_PartLists(file, queries) for file in files]
    total = sum(each.depth for each in lists)
    step = max(1, _MERGED_BYTES // (48 * max(total, 1)))
    for start in range(0, queries, step):
        stop = min(start + step, queries)
        columns = zip(*(each.rows(start, stop) for each in lists), strict=True)
        positions, scores = (np.concatenate(each, axis=1) for each in columns)
        if total > k:
            positions, scores = _foremost(positions, scores, k)
        # Stable: of equal scores the first list has the first items, and within a list they are in order. NaN is last.
        if places is None:
            order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        else:
            order = np.lexsort((places[positions], -scores), axis=1)[:, :k]
        yield slice(start, stop), np.take_along_axis(positions, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _foremost(positions: Ints, scores: Floats, k: int) -> tuple[Ints, Floats]:
    """Those of each row that score at least as high as the k-th best, in their order, and then -1 and NaN."""
    lowest = -np.partition(-scores, k - 1, axis=1)[:, k - 1]
    stays = (scores >= lowest[:, None]) | (np.isnan(lowest)[:, None] & ~np.isnan(scores))
    counts = np.count_nonzero(stays, axis=1)
    row = np.repeat(np.arange(len(scores)), counts)
    at = row, np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = len(scores), max(k, int(counts.max(initial=0)))
    best, exact = np.full(shape, -1, dtype=np.int64), np.full(shape, np.nan)
    best[at], exact[at] = positions[stays], scores[stays]
    return best, exact


def merged_lists(grid: PartGrid, files: Sequence[Path], folder: Path, k: int, places: Ints | None = None) -> tuple[Ints, Floats]:
    """(queries, k) the best items of all shards and their scores, block by block; more than 64 shards in two levels.

    places: (items,) that of each item among items of equal score; its position where it is None.
    """
    m, n = grid.queries[-1], grid.items[-1]
    depth = min(k, n)
    positions, scores = np.full((m, k), -1, dtype=np.int64), np.full((m, k), np.nan)
    for row, (start, stop) in enumerate(zip(grid.queries, grid.queries[1:], strict=False)):
        lists = list(files[row * grid.shards : (row + 1) * grid.shards])
        groups = [lists[at : at + MOST_MERGED] for at in range(0, len(lists), MOST_MERGED)]
        levels = [folder / f".merged-{at}" for at in range(len(groups))] if len(groups) > 1 else []
        try:
            for group, level in zip(groups, levels, strict=False):
                _write_level(group, level, stop - start, depth, places)
            for rows, best, exact in _merged_blocks(levels or lists, stop - start, depth, places):
                at = slice(start + rows.start, start + rows.stop)
                positions[at, : best.shape[1]], scores[at, : best.shape[1]] = best, exact
        finally:
            for level in levels:
                level.unlink(missing_ok=True)
    return positions, scores


def _write_level(group: Sequence[Path], path: Path, queries: int, k: int, places: Ints | None) -> None:
    """Writes the merged lists of some parts."""
    depth = min(k, sum(_PartLists(file, queries).depth for file in group))
    out = np.lib.format.open_memmap(path, mode="w+", dtype="<i8", shape=(2, queries, depth))
    for rows, positions, scores in _merged_blocks(group, queries, k, places):
        out[0, rows], out[1, rows] = positions, scores.view("<i8")
    out.flush()
