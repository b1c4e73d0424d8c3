"""Every row of a TREC run as text and numbers, for conversion and checks; memory grows with the file."""

from array import array
from math import isfinite, nan

import numpy as np

from rankwell.core.kernels import native
from rankwell.io.reader.lines import Unreadable, fields_of, nothing, read_blocks
from rankwell.io.reader.reading import TREC_RUN, Columns, Progress, ReadOptions
from rankwell.store import Source, decode_id

_SLACK = bytes(80)

# Queries, items, and as bytes scores, ranks and numbers of lines from 1 in the block.
Rows = tuple[list[str], list[str], bytes, bytes, bytes]


def read(source: Source, reading: ReadOptions, *, progress: Progress | None = None) -> Columns:
    """The rows in the order of the file; see `rankwell.io.reader.reading.read_columns`."""
    queries, items = list[str](), list[str]()
    scores, ranks, lines = (list[bytes]() for _ in range(3))
    how = _rows_of if native.library is None else _rows_by_kernel
    for before, rows in read_blocks(source, TREC_RUN, reading, lambda block: how(block, reading), progress=progress):
        queries += rows[0]
        items += rows[1]
        size = 8 * len(rows[0])
        scores.append(rows[2][:size])
        ranks.append(rows[3][:size])
        lines.append((np.frombuffer(rows[4][:size], dtype=np.int64) + before).tobytes())
    if not queries:
        raise nothing(source, TREC_RUN)
    return Columns(
        queries=queries,
        items=items,
        scores=np.frombuffer(b"".join(scores)),
        ranks=np.frombuffer(b"".join(ranks)),
        lines=np.frombuffer(b"".join(lines), dtype=np.int64),
    )


def _rows_by_kernel(block: bytes, reading: ReadOptions) -> Rows:
    text = block if block.endswith(b"\n") else block + b"\n"
    rows = native.library.reader_rows(text + _SLACK, len(text), reading.comments, reading.trailing)
    if rows is None:
        raise Unreadable
    return rows


def _rows_of(block: bytes, reading: ReadOptions) -> Rows:
    """The same without the compiled kernel."""
    fields = fields_of(block, TREC_RUN, reading)
    queries, items = (list(map(decode_id, fields.column(field))) for field in (TREC_RUN.query, TREC_RUN.item))
    ranks = array("d", map(_rank, fields.column(TREC_RUN.rank)))
    return queries, items, array("d", fields.scores).tobytes(), ranks.tobytes(), array("q", fields.lines).tobytes()


def _rank(text: bytes) -> float:
    try:
        rank = nan if b"_" in text else float(text)
    except ValueError:
        return nan
    return rank if isfinite(rank) else nan
