"""Queries that several files share: the compiled reader counts the rows of one file among the
judged items of all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwell.core.kernels import native
from rankwell.core.tables import Judgments
from rankwell.core.tables.shared_hits import SharedCounts, SharedPrints, SharedQueries
from rankwell.io.reader import COLLECT, COLUMNS, Odd, Scan, new_table, new_worker
from rankwell.io.reader.lines import Layout, ReadOptions
from rankwell.store import Source


def count_lines(
    source: Source,
    judgments: Judgments,
    shared: SharedQueries,
    layout: Layout,
    options: ReadOptions,
) -> SharedCounts | None:
    """The rows of shared queries in a run file, counted. None without the compiled kernel and for a
    file with a mistake.
    """
    if native.library is None:
        return None
    try:
        # The order of the prints is that of the lines: a part has the same bytes whenever it is
        # computed.
        counted = _SharedScan(
            source, judgments.flat, layout, options._replace(keep=0), threads=1
        ).count(shared)
    except Odd:
        return None
    return _counts(counted, shared, options)


def count_columns(
    stream: Any, judgments: Judgments, shared: SharedQueries, options: ReadOptions
) -> SharedCounts | None:
    """The same of columns of query and item, strings, and score, float64. stream: as for
    `scan_columns`.
    """
    if native.library is None:
        return None
    options = options._replace(keep=0, comments=False, trailing=False)
    table = new_table(judgments.flat)
    first, counting = (new_worker(table, COLUMNS, options, COLLECT) for _ in range(2))
    native.library.reader_share(counting, _expecting(first, shared))
    if native.library.reader_take(counting, stream, 0) < 0:
        return None
    return _counts(counting, shared, options)


class _SharedScan(Scan):
    """A reading of one file whose rows are counted among items that are known."""

    def count(self, shared: SharedQueries) -> Any:
        """The worker that has counted."""
        first = _expecting(self._worker(COLLECT), shared)
        return self._read(
            list(self._parts(whole_queries=False)), lambda: self._second(first), whole_queries=False
        )[0]


def _expecting(worker: Any, shared: SharedQueries) -> Any:
    """A new worker that has the items to count for, as if it had found them in a first pass."""
    queries = shared.queries
    columns = (queries, queries[shared.owner], shared.row, shared.score.astype(np.float64))
    native.library.reader_expect(
        worker, *(np.ascontiguousarray(column).tobytes() for column in columns)
    )
    native.library.reader_gather(worker)
    return worker


def _counts(worker: Any, shared: SharedQueries, options: ReadOptions) -> SharedCounts:
    native.library.reader_settle(worker)
    _, _, *placed, _ = native.library.reader_results(worker)
    row, _, above, tied, before = (np.frombuffer(raw, dtype=np.int64) for raw in placed)
    rows, prints = native.library.reader_prints(worker)
    counted = np.frombuffer(rows, dtype=np.int64)[shared.queries]
    # The rows of the targets ascend; those of queries that are not in this file have nothing
    # counted.
    order, target = np.argsort(row), np.flatnonzero(counted[shared.owner])
    above, tied, before = (column[order][target] for column in (above, tied, before))
    upto = tied - before if options.ties == "id-desc" else before + 1
    return SharedCounts(
        target, above, tied, upto, SharedPrints(counted, np.frombuffer(prints, dtype=np.uint64))
    )
