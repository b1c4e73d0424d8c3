"""The compiled reader of runs that come as columns: every batch is counted as it comes by, and none is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwell.core.kernels import native
from rankwell.io.reader.native_bytes import rows_of, rule_of

if TYPE_CHECKING:
    from rankwell.core.tables.judgments import Judgments
    from rankwell.core.tables.ranking import Hits
    from rankwell.io.reader.reading import ReadOptions


def scan(stream: Any, judgments: Judgments, reading: ReadOptions) -> Hits | None:
    """The hits of a run in columns of query and item, texts, and score, float64.

    stream: a capsule of Arrow's C stream interface; nothing but this module and its giver need know Arrow. None where the columns
    are others, where the stream breaks off or has no row, where a value is missing or not finite, and where a judged query's rows
    do not stand together or may have an item twice: whoever gave the columns must look then.
    """
    judgments = judgments.flat
    table = native.library.reader_table(judgments.queries, judgments.items, judgments.offsets)
    how = (rule_of(reading.ties), reading.single_precision, False, False)
    worker = native.library.reader_worker(table, (1, 0, 0, 0, False), how, reading.keep, 0)
    if native.library.reader_take(worker, stream) < 0:
        return None
    rows = rows_of(worker, worker)
    return None if rows.empty else rows.hits(judgments, keep=reading.keep)
