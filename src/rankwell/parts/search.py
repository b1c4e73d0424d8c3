"""Exact search in parts: a part is the best items of some queries in a range of the items, and lists merge by exact score."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.core.kernels.products import Groups, width
from rankwell.core.tables import Floats, Ints
from rankwell.core.tables.arrays import map_npy
from rankwell.core.tables.matrices import Positions
from rankwell.errors import BadInput, BadUsage
from rankwell.io.files import read_column
from rankwell.io.matrices import read_embeddings
from rankwell.neighbours import TopK, search
from rankwell.parts import KINDS, Cut, Json, Limits, PartContent, PartInputs, PartKind
from rankwell.parts.vectors import Ids, VectorRange, ids_file, mapped, read_range
from rankwell.store import split_part

MOST_MERGED = 64
"""Lists that are merged at a time; more are merged in two levels."""
_LEAST = 1000
"""Items of a shard per item of a list: with fewer, the work on lists outweighs that on vectors."""
_MERGED_BYTES = 64 << 20


class PartGrid(NamedTuple):
    """The parts of a search, one per pass and shard. queries, items: where each pass and each shard begins, and the end."""

    queries: Sequence[int]
    items: Sequence[int]

    @property
    def shards(self) -> int:
        """Number of ranges of items."""
        return len(self.items) - 1

    def part(self, index: int) -> tuple[slice, slice]:
        """The queries and the items of a part."""
        row, shard = divmod(index, self.shards)
        return slice(*self.queries[row : row + 2]), slice(*self.items[shard : shard + 2])


def _files(options: Mapping[str, Json]) -> dict[str, Path]:
    """The files that a search reads."""
    found = {name: Path(split_part(options[name])[0]) for name in ("base", "queries")}
    for name in ("base", "queries"):
        ids = ids_file(options[name], options[f"{name}_ids"])
        found |= {} if ids is None else {f"{name} ids": ids}
    groups = {f"{name} groups": options[f"{name}_groups"] for name in ("base", "queries")}
    return found | {name: Path(split_part(place)[0]) for name, place in groups.items() if place is not None}


def _cut(options: Mapping[str, Json], limits: Limits) -> Cut:
    """Shards of at least 1,000 items per item of a list where there are enough, whatever fits the memory; queries in passes."""
    items, queries = mapped(options["base"]).vectors, read_embeddings(options["queries"], ids=False, check=False).vectors
    if items.shape[1] != queries.shape[1]:
        what = f"the queries have {queries.shape[1]} dimensions, the items {items.shape[1]}"
        raise BadInput(f"{options['queries']}: {what}; both come from one model.")
    (n, dimensions), m, k = items.shape, len(queries), options["k"]
    if k < 1:
        raise BadUsage(f"k is {k}; a search is for one item or more.")
    row, state = dimensions * items.dtype.itemsize, 8 * dimensions + 24 * width(k)
    half = limits.memory // 2
    if half < max(row, state):
        raise BadUsage(f"--memory {limits.memory}: one vector and one list take {row + state} bytes; give more.")
    passes = -(-m * state // half)
    least = -(-n * row // half)
    shards = max(least, min(2 * limits.workers, n // (_LEAST * k)), 1) if limits.shards is None else limits.shards
    if shards < 1:
        raise BadUsage(f"--shards {shards}; expected a positive integer.")
    grid = PartGrid(_bounds(m, passes), _bounds(n, shards))
    written = sum(16 * m * min(k, stop - start) for start, stop in zip(grid.items, grid.items[1:], strict=False))
    costs: dict[str, int | str] = {
        "parts": passes * shards,
        "items per part": -(-n // shards),
        "passes over the items": passes,
        "products": m * n,
        "multiplications": m * n * dimensions,
        "bytes read": passes * n * row + shards * queries.nbytes,
        "bytes written by parts": written,
    }
    return Cut(passes * shards, {"queries": grid.queries, "items": grid.items}, costs)


def _bounds(n: int, parts: int) -> list[int]:
    return [n * part // parts for part in range(parts + 1)]


def _check(options: Mapping[str, Json]) -> None:
    """Raises the errors of ids, of labels and of their numbers."""
    sides = {name: Ids(options[name], options[f"{name}_ids"]) for name in ("base", "queries")}
    if options["exclude"] == "self" and sides["base"].is_named != sides["queries"].is_named:
        raise BadUsage("--exclude self goes by id, and only one side has ids; name them with --base-ids and --query-ids.")
    numbers: dict[str, int] = {}
    for name, ids in sides.items():
        numbers[name] = len(read_embeddings(options[name], ids=False, check=False).vectors)
        ids.check(numbers[name])
    if options["base_groups"] is not None:
        labels = {name: len(read_column(options[f"{name}_groups"])) for name in ("queries", "base")}
        if any(labels[name] != numbers[name] for name in labels):
            what = f"{labels['queries']} and {labels['base']} group labels for {numbers['queries']} queries"
            raise BadInput(f"{what} and {numbers['base']} items; each has one, or None.")


def _grid(inputs: PartInputs) -> PartGrid:
    return PartGrid(inputs.boundaries["queries"], inputs.boundaries["items"])


def _part(inputs: PartInputs, index: int) -> PartContent:
    """The best items of a shard for the queries of a pass: int64 (2, queries, depth), positions and the bits of scores."""
    options = inputs.options
    rows, columns = _grid(inputs).part(index)
    tables: list[VectorRange] = []
    digests: dict[str, str] = {}
    for name, part in (("queries", rows), ("base", columns)):
        names = _names(options, name, part) if options["exclude"] == "self" else None
        table, digest = read_range(options[name], part, names)
        tables.append(table)
        digests[f"{name} {part.start}-{part.stop}"] = digest
    groups = None
    if options["base_groups"] is not None:
        groups = Groups(read_column(options["queries_groups"])[rows], read_column(options["base_groups"])[columns])
    named = {name: options[name] for name in ("metric", "exclude", "backend", "device")}
    depth = min(options["k"], columns.stop - columns.start)
    found = search(tables[0], tables[1], k=max(depth, 1), groups=groups, **named)
    lists = np.empty((2, rows.stop - rows.start, depth), dtype="<i8")
    positions = found.positions[:, :depth]
    lists[0] = np.where(positions >= 0, positions + columns.start, -1)
    lists[1] = found.scores[:, :depth].astype("<f8").view("<i8")
    return PartContent(".npy", partial(_save, lists), digests, options["device"] or "cpu")


def _save(lists: NDArray[np.int64], stream: BinaryIO) -> None:
    np.lib.format.write_array(stream, lists, allow_pickle=False)


def _names(options: Mapping[str, Json], name: str, part: slice) -> Sequence[str]:
    """The ids of a range; positions in the whole table where it has none."""
    found = Ids(options[name], options[f"{name}_ids"]).range(part.start, part.stop)
    return Positions(range(part.start, part.stop)) if found is None else found


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


def _merged_blocks(files: Sequence[Path], queries: int, k: int) -> Iterator[tuple[slice, Ints, Floats]]:
    """The best k of lists in ascending order of their items, for one block of queries after the other."""
    lists = [_PartLists(file, queries) for file in files]
    total = sum(each.depth for each in lists)
    step = max(1, _MERGED_BYTES // (48 * max(total, 1)))
    for start in range(0, queries, step):
        stop = min(start + step, queries)
        columns = zip(*(each.rows(start, stop) for each in lists), strict=True)
        positions, scores = (np.concatenate(each, axis=1) for each in columns)
        # Stable: of equal scores the first list has the first items, and within a list they are in order. NaN is last.
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        yield slice(start, stop), np.take_along_axis(positions, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _merge(inputs: PartInputs, files: Sequence[Path], folder: Path) -> TopK:
    """The best items of all shards, block by block; more than 64 shards in two levels."""
    options, grid = inputs.options, _grid(inputs)
    m, n, k = grid.queries[-1], grid.items[-1], options["k"]
    depth = min(k, n)
    positions, scores = np.full((m, k), -1, dtype=np.int64), np.full((m, k), np.nan)
    for row, (start, stop) in enumerate(zip(grid.queries, grid.queries[1:], strict=False)):
        lists = list(files[row * grid.shards : (row + 1) * grid.shards])
        groups = [lists[at : at + MOST_MERGED] for at in range(0, len(lists), MOST_MERGED)]
        levels = [folder / f".merged-{at}" for at in range(len(groups))] if len(groups) > 1 else []
        try:
            for group, level in zip(groups, levels, strict=False):
                _write_level(group, level, stop - start, depth)
            for rows, best, exact in _merged_blocks(levels or lists, stop - start, depth):
                at = slice(start + rows.start, start + rows.stop)
                positions[at, : best.shape[1]], scores[at, : best.shape[1]] = best, exact
        finally:
            for level in levels:
                level.unlink(missing_ok=True)
    table = read_embeddings(options["queries"], ids=options["queries_ids"], check=False)
    names = Ids(options["base"], options["base_ids"]).chosen(positions[positions >= 0], n)
    return TopK(positions, scores, table.names(), names, options["metric"])


def _write_level(group: Sequence[Path], path: Path, queries: int, k: int) -> None:
    """Writes the merged lists of some parts."""
    depth = min(k, sum(_PartLists(file, queries).depth for file in group))
    out = np.lib.format.open_memmap(path, mode="w+", dtype="<i8", shape=(2, queries, depth))
    for rows, positions, scores in _merged_blocks(group, queries, k):
        out[0, rows], out[1, rows] = positions, scores.view("<i8")
    out.flush()


KINDS.add("search", PartKind("search", "Exact search among embeddings", _files, _cut, _part, _merge, _check))
