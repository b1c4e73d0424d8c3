"""Runs whose lines of a query do not stand together: the rows of judged queries are kept in numbers, then put in order of query.

No item is kept. The few that must be compared, because of a tie or a suspected duplicate, are read from the file again.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.core.tables import Floats, Ints, offsets_of
from rankwell.io.reader.blocks import Block, Blocks
from rankwell.io.reader.groups import Groups, Keys, Part, condense, high_half, rounded
from rankwell.io.reader.lines import Fields, read_fields
from rankwell.io.reader.lookup import Lookup
from rankwell.io.reader.spans import equal, hashes
from rankwell.io.reader.task import Double, Outcome, Task

# Rows that are put in order at a time; what must be read again for them takes one more pass over the file.
_BATCH = 1 << 20


class _Rows(NamedTuple):
    """Rows of judged queries in the order of the file: (rows,) arrays, 24 bytes a row. place: where in the file the line begins.

    asked: rows whose item is judged, ascending; judged: their rows in the judgments.
    """

    query: NDArray[np.int32]
    score: Floats
    key: Keys
    place: Ints
    asked: Ints
    judged: Ints


class _Read(NamedTuple):
    size: int
    rows: _Rows
    unknown: dict[bytes, int]


def read(task: Task, lookup: Lookup) -> Outcome:
    """What the file says, whatever the order of its lines."""
    rows, unknown = _collect(task, lookup)
    parts, double = list[Part](), list[tuple[int, int, int]]()
    for groups, places in _batches(rows, len(lookup.queries)):
        part = _condense(groups, places, task)
        parts.append(part)
        owner = np.searchsorted(groups.offsets, [pair[1] for pair in part.twice], side="right") - 1
        for (first, second), group in zip(part.twice, owner.tolist(), strict=True):
            double.append((int(places[second]), int(places[first]), int(groups.queries[group])))
    return Outcome(parts, unknown, _double(min(double), task, lookup) if double else None)


class _Growing:
    """A column that rows are added to; room that is not used yet takes no memory."""

    def __init__(self, kind: type[np.generic]) -> None:
        self._room, self._size = np.empty(1 << 16, dtype=kind), 0

    def add(self, values: NDArray[Any]) -> None:
        """Puts rows behind those that are there."""
        size = self._size + len(values)
        if size > len(self._room):
            self._room.resize(max(2 * len(self._room), size), refcheck=False)
        self._room[self._size : size] = values
        self._size = size

    def column(self) -> NDArray[Any]:
        """(rows,) all of them."""
        return self._room[: self._size]


def _collect(task: Task, lookup: Lookup) -> tuple[_Rows, dict[bytes, int]]:
    columns = [_Growing(kind) for kind in (np.int32, np.float64, np.uint32, np.int64, np.int64, np.int64)]
    unknown = dict[bytes, int]()
    total = 0
    for _, _, part in task.walk(lambda block: _read(block, task, lookup), whole_queries=False):
        for column, values in zip(columns, part.rows._replace(asked=part.rows.asked + total), strict=True):
            column.add(values)
        total += len(part.rows.query)
        for name, size in part.unknown.items():
            unknown[name] = unknown.get(name, 0) + size
    return _Rows(*(column.column() for column in columns)), unknown


def _read(block: Block, task: Task, lookup: Lookup) -> _Read:
    fields = read_fields(block.text, task.layout, task.reading)
    name_hashes = hashes(fields.query)
    query = lookup.find_queries(fields.query, name_hashes)
    rows = np.flatnonzero(query >= 0)
    items = fields.item.take(rows)
    item_hashes = hashes(items)
    # Every row is a group of its own here.
    asked, judged = lookup.find_items(items, item_hashes, np.arange(len(rows) + 1), query[rows])
    return _Read(
        size=fields.size,
        rows=_Rows(
            query=query[rows].astype(np.int32),
            score=rounded(fields.score[rows], task.reading),
            key=high_half(item_hashes),
            place=fields.line_starts(block.text)[rows] + block.place,
            asked=asked,
            judged=judged,
        ),
        unknown=_count_unknown(fields, np.flatnonzero(query < 0), name_hashes),
    )


def _count_unknown(fields: Fields, rows: Ints, name_hashes: NDArray[np.uint64]) -> dict[bytes, int]:
    counts = dict[bytes, int]()
    while len(rows):
        _, first, group = np.unique(name_hashes[rows], return_index=True, return_inverse=True)
        same = equal(fields.query.take(rows), fields.query.take(rows[first][group]))
        sizes = np.bincount(group[same], minlength=len(first)).tolist()
        for row, size in zip(rows[first].tolist(), sizes, strict=True):
            name = fields.query.bytes_of(row)
            counts[name] = counts.get(name, 0) + size
        rows = rows[~same]
    return counts


def _batches(rows: _Rows, queries: int) -> Iterator[tuple[Groups, Ints]]:
    """The rows of some queries at a time, put together by query, and the place of each row in the file."""
    # Small whole numbers are sorted by counting.
    order = np.argsort(rows.query.astype(np.uint16) if queries <= 1 << 16 else rows.query, kind="stable")
    offsets = offsets_of(np.bincount(rows.query, minlength=queries).astype(np.int64))
    asked_query = rows.query[rows.asked].astype(np.int64)
    # Query and place in the file in one number that ascends as the rows are put.
    total = len(rows.query) + 1
    by_query = np.argsort(asked_query * total + rows.asked)
    asked_key = (asked_query * total + rows.asked)[by_query]
    start = 0
    while start < queries:
        stop = max(start + 1, int(np.searchsorted(offsets, offsets[start] + _BATCH, side="right")) - 1)
        chosen = order[offsets[start] : offsets[stop]]
        own = rows.query[chosen].astype(np.int64)
        mine = slice(*np.searchsorted(asked_key, [start * total, stop * total]).tolist())
        present = start + np.flatnonzero(np.diff(offsets[start : stop + 1]))
        if len(present):
            groups = Groups(
                queries=present,
                offsets=np.concatenate([offsets[present], offsets[stop : stop + 1]]) - offsets[start],
                scores=rows.score[chosen],
                keys=rows.key[chosen],
                asked=np.searchsorted(own * total + chosen, asked_key[mine]),
                judged=rows.judged[by_query[mine]],
                item=lambda _: b"",
            )
            yield groups, rows.place[chosen]
        start = stop


def _condense(groups: Groups, places: Ints, task: Task) -> Part:
    """What is kept of these queries: once to learn which items are compared, and once more when they have been read."""
    wanted = set[int]()

    def _note(row: int) -> bytes:
        wanted.add(row)
        # Different for every row, so that nothing looks like a duplicate and the search for one goes on.
        return b"%d" % row

    part = condense(groups._replace(item=_note), task.reading)
    if not wanted:
        return part
    rows = np.array(sorted(wanted), dtype=np.int64)
    items = _items_at(places[rows], task)
    return condense(groups._replace(item=lambda row: items[int(places[row])]), task.reading)


def _items_at(places: Ints, task: Task) -> dict[int, bytes]:
    """The items of the lines that begin at these places of the file."""
    ordered = np.sort(places)
    items = dict[int, bytes]()
    for block in _blocks(task):
        lower, upper = np.searchsorted(ordered, [block.place, block.place + len(block.text.content)]).tolist()
        for place in ordered[lower:upper].tolist():
            start = place - block.place
            line = block.room[start : block.room.find(b"\n", start)]
            items[place] = bytes(line.split(None, task.layout.item + 1)[task.layout.item])
    return items


def _blocks(task: Task) -> Iterator[Block]:
    with task.source.open() as stream:
        blocks = Blocks(stream, whole_queries=False, size=task.block_size)
        for block in blocks:
            yield block
            blocks.release(block)


def _double(place: tuple[int, int, int], task: Task, lookup: Lookup) -> Double:
    second, first, query = place
    items = _items_at(np.array([second], dtype=np.int64), task)
    return Double(lookup.names[query], items[second], _line_at(first, task), _line_at(second, task))


def _line_at(place: int, task: Task) -> int:
    """The number of the line, from 1, that begins at a place of the file."""
    lines = 1
    for block in _blocks(task):
        if place < block.place + len(block.text.content):
            return lines + block.room.count(b"\n", 0, place - block.place)
        lines += block.room.count(b"\n", 0, len(block.text.content))
    return lines
