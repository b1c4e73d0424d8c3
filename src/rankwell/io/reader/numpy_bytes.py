"""The kernel in NumPy alone: a run is read once in blocks of whole queries, and of each block only the hits are kept.

Where the lines of a query do not stand together, `scattered` reads the file again, with the same result.
"""

from typing import NamedTuple

import numpy as np

from rankwell.core.tables import Ints
from rankwell.core.tables.hits import Hits
from rankwell.core.tables.judgments import Judgments
from rankwell.errors import DuplicateItem
from rankwell.io.reader import scattered
from rankwell.io.reader.blocks import BLOCK, Block, Scattered
from rankwell.io.reader.groups import Groups, Part, assemble, condense, high_half, rounded
from rankwell.io.reader.lines import Fields, read_fields
from rankwell.io.reader.lookup import Lookup
from rankwell.io.reader.reading import Layout, Progress, Reading
from rankwell.io.reader.spans import changes, hashes
from rankwell.io.reader.task import Double, Outcome, Task
from rankwell.store import Source, decode_id


class _Read(NamedTuple):
    """What one block says. size: its lines. names: all its queries in the order of the file. double: lines within the block."""

    size: int
    names: list[bytes]
    part: Part
    unknown: dict[bytes, int]
    double: Double | None


def scan(
    source: Source,
    judgments: Judgments,
    layout: Layout,
    reading: Reading,
    *,
    threads: int = 2,
    progress: Progress | None = None,
    block_size: int = BLOCK,
) -> Hits:
    """The hits of a run file, the same for every `block_size` and number of threads; see `rankwell.io.reader.reading.scan`."""
    judgments = judgments.flat
    lookup = Lookup(judgments)
    task = Task(source, layout, reading, threads, progress, block_size)
    try:
        found = _block_by_block(task, lookup)
    except Scattered:
        found = scattered.read(task, lookup)
    if found.double is not None:
        query, item, first, second = found.double
        raise DuplicateItem(
            f"{source.name}:{second}: query {decode_id(query)!r} lists item {decode_id(item)!r} twice, in lines {first} and "
            f"{second}; keep one of them."
        )
    if not found.parts and not found.unknown:
        raise task.nothing()
    return assemble(found.parts, found.unknown, judgments, reading)


def _block_by_block(task: Task, lookup: Lookup) -> Outcome:
    """Raises Scattered when a query returns after another."""
    parts, unknown, seen = list[Part](), dict[bytes, int](), set[bytes]()
    double: Double | None = None
    for _, lines, read in task.walk(lambda block: _read(block, task, lookup), whole_queries=True):
        count = len(seen) + len(read.names)
        seen.update(read.names)
        if len(seen) < count:
            raise Scattered
        unknown |= read.unknown
        if len(read.part.queries):
            parts.append(read.part)
        if double is None and read.double is not None:
            double = read.double._replace(first=read.double.first + lines, second=read.double.second + lines)
    return Outcome(parts, unknown, double)


def _read(block: Block, task: Task, lookup: Lookup) -> _Read:
    fields = read_fields(block.text, task.layout, task.reading)
    starts = np.flatnonzero(changes(fields.query))
    heads = fields.query.take(starts)
    # Two queries of one hash would only cost time. A set, because np.unique loads numpy.ma: a tenth of a small run's time.
    if len(set(hashes(heads).tolist())) < len(starts):
        raise Scattered
    names = [heads.bytes_of(row) for row in range(len(starts))]
    queries = np.array([lookup.queries.get(name, -1) for name in names], dtype=np.int64)
    sizes = np.diff(starts, append=len(fields.score))
    known = queries >= 0
    unknown = {names[group]: int(sizes[group]) for group in np.flatnonzero(~known).tolist()}
    rows = None if known.all() else np.flatnonzero(np.repeat(known, sizes))
    groups = _groups(fields, rows, queries[known], sizes[known], task.reading, lookup)
    part = condense(groups, task.reading)
    return _Read(fields.size, names, part, unknown, _double(part, groups, fields, rows))


def _groups(fields: Fields, rows: Ints | None, queries: Ints, sizes: Ints, reading: Reading, lookup: Lookup) -> Groups:
    items, scores = (fields.item, fields.score) if rows is None else (fields.item.take(rows), fields.score[rows])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    item_hashes = hashes(items)
    asked, judged = lookup.find_items(items, item_hashes, offsets, queries)
    return Groups(queries, offsets, rounded(scores, reading), high_half(item_hashes), asked, judged, items.bytes_of)


def _double(part: Part, groups: Groups, fields: Fields, rows: Ints | None) -> Double | None:
    """The duplicate of a block whose second line comes first."""
    if not part.twice:
        return None
    first, second = min(part.twice, key=lambda pair: pair[1])
    lines = [fields.line(row if rows is None else int(rows[row])) for row in (first, second)]
    query = fields.query.bytes_of(second if rows is None else int(rows[second]))
    return Double(query, groups.item(second), lines[0], lines[1])
