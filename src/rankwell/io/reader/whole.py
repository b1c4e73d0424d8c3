"""Every row of a run file as text and numbers, for conversion and checks; memory grows with the file."""

import numpy as np

from rankwell.core.tables import Floats, Ints
from rankwell.io.reader.blocks import Block
from rankwell.io.reader.decimals import parse
from rankwell.io.reader.lines import Fields, read_fields
from rankwell.io.reader.reading import Columns, Layout, Progress, Reading
from rankwell.io.reader.spans import Spans
from rankwell.io.reader.task import Task
from rankwell.store import Source, decode_id


def read(source: Source, layout: Layout, reading: Reading, *, progress: Progress | None = None) -> Columns:
    """The rows in the order of the file; see `rankwell.io.reader.reading.read_columns`."""
    task = Task(source, layout, reading, threads=1, progress=progress)
    queries, items = list[str](), list[str]()
    scores, ranks, lines = list[Floats](), list[Floats](), list[Ints]()
    for _, before, fields in task.walk(lambda block: _read(block, task), whole_queries=False):
        queries += _texts(fields.query)
        items += _texts(fields.item)
        scores.append(fields.score)
        ranks.append(_ranks(fields.field(layout.rank)))
        lines.append(before + (np.arange(1, fields.size + 1) if fields.numbers is None else fields.numbers))
    if not queries:
        raise task.nothing()
    return Columns(queries, items, np.concatenate(scores), np.concatenate(ranks), np.concatenate(lines))


def _read(block: Block, task: Task) -> Fields:
    return read_fields(block.text, task.layout, task.reading)


def _texts(spans: Spans) -> list[str]:
    content = spans.text.content.tobytes()
    places = zip(spans.start.tolist(), spans.stop.tolist(), strict=True)
    return [decode_id(content[start:stop]) for start, stop in places]


def _ranks(spans: Spans) -> Floats:
    ranks, bad = parse(spans)
    ranks[bad] = np.nan
    return ranks
