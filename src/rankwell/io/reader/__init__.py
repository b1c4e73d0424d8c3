"""Run files and judgments to rows: the compiled reader and the plain one, with the same
results; the first items of every query; and the rows that several files share.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from rankwell._native import native
from rankwell.data.rankings import Hits, Ranking, SharedCounts, SharedPrints, SharedQueries
from rankwell.data.tables import Ints, Judgments, segment_offsets
from rankwell.io.reader import lines
from rankwell.io.reader.lines import SLACK, Layout, Progress, ReadOptions
from rankwell.store import Head, Source, SourceRange, decode_id

if TYPE_CHECKING:
    from rankwell.io.formats import Request

Worker = Any
BLOCK = 256 << 10
# A query whose lines take more than this is read as if they were scattered over the file.
LARGEST = 4 << 20
# A part of a file is worth a thread from this size on; several parts a thread, because threads
# differ in speed.
_PART = 1 << 20
_EACH = 6
# Blocks that are read in one go before others get their turn: the progress bar, and an
# interruption.
_TURN = 64
_SCATTERED = -2
# The passes of a worker, as in _scan.h.
_WHOLE_QUERIES, COLLECT, _TWICE = 0, 1, 3
# Rows that come in columns of query, item and value.
COLUMNS = Layout("columns", "", fields=1, query=0, item=0, value=0)
# The kernel's numbers of tie rules; all that name no order by ids keep that of the input.
_RULES = {"id-asc": 1, "id-desc": 2}


def read_judged_rows(
    source: Source, *, header: bytes = b"", comments: bool = False, aspects: bool = False
) -> JudgedRows | None:
    """The rows of lines `query aspect item grade` between any white space; of `query item grade`
    between tabs below a header.

    None where there is no compiled kernel, and for a file with a mistake or of another form: the
    reader of the format reports it.
    """
    if native.library is None:
        return None
    text = bytearray(source.read())
    size = len(text)
    if not text.startswith(header):
        return None
    text += SLACK
    judged_rows = native.library.reader_judgments(
        text, len(header), size, bool(header), comments, aspects
    )
    return None if judged_rows is None else JudgedRows(*judged_rows)


def scan(
    source: Source,
    judgments: Judgments,
    layout: Layout,
    options: ReadOptions,
    *,
    progress: Progress | None = None,
    unordered: Callable[[], None] | None = None,
) -> Hits:
    """The hits of a run file under judgments with one row per query and item; unjudged rows are
    counted, never kept.

    unordered: called where the ranks of some query may be other than 1, 2, 3, … in the order of the
    lines.

    Memory does not grow with the file unless the compiled reader finds the lines of a query
    scattered over it, or more than some ten thousand of one query: then it keeps 8 bytes for each
    row of a judged query. The plain reader keeps all rows.
    Raises BadLine or BadScore naming the first such line of the file, else DuplicateItem likewise,
    BadInput for a file without a line. A duplicate is looked for in judged queries only; the lines
    of the others are checked for their form.
    """
    judgments = judgments.flat
    if native.library is not None:
        reading = Scan(source, judgments, layout, options, 2, progress, unordered=unordered)
        if (hits := reading.hits(judgments)) is not None:
            return hits
    if unordered is not None:
        unordered()
    return lines.scan(source, judgments, layout, options, progress=progress)


def scan_columns(stream: Any, judgments: Judgments, options: ReadOptions) -> Hits | None:
    """The hits of a run in columns of query and item, strings, and score, float64; no batch is
    kept.

    stream: a capsule of Arrow's C stream interface. None where the columns are others, where the
    stream breaks off or has no row, where a value is missing or not finite, and where a judged
    query's rows are not contiguous or may have an item twice: the caller must look then.
    """
    judgments = judgments.flat
    worker = new_worker(
        new_table(judgments),
        COLUMNS,
        options._replace(comments=False, trailing=False),
        _WHOLE_QUERIES,
    )
    if native.library.reader_take(worker, stream, 0) < 0:
        return None
    rows = _rows_of(worker, worker)
    return None if rows is None else rows.hits(judgments, keep=options.keep)


class Odd(Exception):
    """A line of another layout, or one that repeats an item of its query."""


class _Scattered(Exception):
    """A query whose lines are not contiguous."""


class Scan:
    """One reading of one file by the compiled reader. It may begin before there is a table of the
    judgments, and before NumPy.

    judgments: the rows of those in which items are looked up.
    """

    def __init__(
        self,
        source: Source,
        judgments: Judgments | JudgedRows,
        layout: Layout,
        options: ReadOptions,
        threads: int = 2,
        progress: Progress | None = None,
        block_size: int = BLOCK,
        unordered: Callable[[], None] | None = None,
    ) -> None:
        self._source, self._layout, self._options, self._unordered = (
            source,
            layout,
            options,
            unordered,
        )
        self._threads, self._block = threads, block_size
        self._file, self._start, self._stop = source.span or (None, 0, None)
        self._size = (
            0 if self._file is None else (self._stop or self._file.stat().st_size) - self._start
        )
        self._progress, self._thread = progress, get_ident()
        self._done = list[int]()
        self._reported, self._passes = 0, (0, 1)
        self._stopped = False
        self._lookup, self._n_judged = new_table(judgments), len(judgments.items)
        self._wait_for_rows: Callable[[], tuple[Worker, Worker]] | None = None

    def begin(self) -> None:
        """Lets other threads read the file; `hits` waits for them."""
        self._wait_for_rows = _in_background(self._read_all)

    def hits(self, judgments: Judgments) -> Hits | None:
        """The hits under the judgments whose rows these are; None where two ids have one hash.
        Raises the error of the first line that has one.
        """
        rows = self._rows()
        return None if rows is None else rows.hits(judgments, keep=self._options.keep)

    def _rows(self) -> HitRows | None:
        try:
            first, counted = (self._wait_for_rows or self._read_all)()
            rows = _rows_of(first, counted)
            if self._unordered is not None and not native.library.reader_ordered(first):
                self._unordered()
        except Odd:
            arguments = self._source, self._layout, self._options
            # Under judgments without a query only the form of the lines is checked: first that,
            # then items that are repeated.
            no_judgments = native.library.reader_table((), [], bytes(8))
            if (end := self._first_odd(no_judgments, _WHOLE_QUERIES)) is not None:
                raise lines.bad_line(*arguments, end) from None
            end = self._first_odd(self._lookup, _TWICE)
            if end is not None and (error := lines.duplicate(*arguments, end)) is not None:
                raise error from None
            return None
        if rows is None:
            raise lines.empty_file(self._source, self._layout)
        return rows

    def _read_all(self) -> tuple[Worker, Worker]:
        """The worker that saw all rows, and the one that placed them."""
        parts = list(self._parts(whole_queries=True))
        try:
            worker = self._read(parts, lambda: self._worker(_WHOLE_QUERIES), whole_queries=True)[0]
        except _Scattered:
            return self._scattered()
        return worker, worker

    def _first_odd(self, table: Any, scan: int) -> int | None:
        """The end of the first odd line; None where there is none."""
        worker = new_worker(table, self._layout, self._options, scan)
        try:
            self._read([(self._start, self._stop)], lambda: worker, whole_queries=False)
        except Odd:
            return native.library.reader_odd(worker) - self._start
        return None

    def _scattered(self) -> tuple[Worker, Worker]:
        """The workers for any order of lines: first the judged items, then the rows counted beside
        them.
        """
        parts = list(self._parts(whole_queries=False))
        if self._unordered is not None:
            self._threads = 1  # one worker sees all lines in their order
        self._passes = 0, 2
        workers = self._read(
            parts, lambda: self._worker(COLLECT), whole_queries=False, absorb=False
        )
        pieces = 2 * self._threads if len(parts) > 1 else 1
        if any(
            self._in_threads(
                [
                    partial(native.library.reader_twice, tuple(workers), part, pieces)
                    for part in range(pieces)
                ]
            )
        ):
            raise Odd
        first, *other_workers = workers
        for worker in other_workers:
            _check(native.library.reader_absorb(first, worker))
        # The first one has the results of the others now; their memory is free.
        del workers[1:], other_workers
        _check(native.library.reader_gather(first))
        if not self._n_judged:
            return first, first
        self._passes = 1, 2
        placing_workers = self._read(parts, lambda: self._second(first), whole_queries=False)
        _check(native.library.reader_settle(placing_workers[0]))
        return first, placing_workers[0]

    def _worker(self, scan: int) -> Worker:
        return new_worker(self._lookup, self._layout, self._options, scan)

    def _second(self, first: Worker) -> Worker:
        worker = self._worker(COLLECT)
        _check(native.library.reader_share(worker, first))
        return worker

    def _parts(self, *, whole_queries: bool) -> Iterator[tuple[int, int | None]]:
        """Start and stop (None: the end) of the parts that are read by themselves; each begins with
        a line, or with a query.
        """
        parts = min(self._threads * _EACH, self._size // _PART) if self._threads > 1 else 1
        path, start = self._file, self._start
        if path is not None and parts > 1:
            with path.open("rb", buffering=0) as file:
                for part in range(1, parts):
                    middle = self._start + self._size * part // parts
                    cut = (
                        self._cut(file, middle, whole_queries=whole_queries)
                        if middle > start
                        else -1
                    )
                    if cut > start:
                        yield start, cut
                        start = cut
        yield start, self._stop

    def _cut(self, file: BinaryIO, place: int, *, whole_queries: bool) -> int:
        """The beginning of the first line behind a place, or of the first query; -1 where that is
        far away.
        """
        size = self._block // 2
        while size < LARGEST:
            file.seek(place)
            text = file.read(size)
            cut = (
                native.library.reader_cut(text, self._options.comments)
                if whole_queries
                else text.find(b"\n") + 1 or -1
            )
            if cut >= 0:
                return place + cut
            size *= 4
        return -1

    def _read(
        self,
        parts: list[tuple[int, int | None]],
        make: Callable[[], Worker],
        *,
        whole_queries: bool,
        absorb: bool = True,
    ) -> list[Worker]:
        """The workers that read all parts between them. absorb: whether the first one takes over
        the results of the others.
        """
        waiting = iter(parts)
        workers = [make() for _ in range(min(self._threads, len(parts)))]
        self._done, self._stopped = [0] * len(workers), False

        def _work(place: int) -> None:
            room = bytearray(self._block + len(SLACK))
            # Taking the next one is one step for the interpreter, so that no two threads get the
            # same.
            for start, stop in waiting:
                room = self._feed(
                    workers[place],
                    place,
                    start,
                    -1 if stop is None else stop,
                    room,
                    whole_queries=whole_queries,
                )

        self._in_threads([partial(_work, number) for number in range(len(workers))])
        self._report()
        if absorb:
            for worker in workers[1:]:
                _check(native.library.reader_absorb(workers[0], worker))
        return workers

    def _feed(
        self,
        worker: Worker,
        index: int,
        start: int,
        stop: int,
        room: bytearray,
        *,
        whole_queries: bool,
    ) -> bytearray:
        """Reads one part with the worker of this index; gives back the block, which may have
        grown.
        """
        path = self._file
        with self._source.open() if path is None else path.open("rb", buffering=0) as stream:
            if path is not None:
                stream.seek(start)
            offset, n_left, last = start, 0, False
            while not last and not self._stopped:
                old_end = offset + n_left
                if path is None:
                    n_left, offset, last = feed_from_stream(worker, stream, room, n_left, offset)
                else:
                    turn = _TURN * self._block
                    n_left, offset, last = native.library.reader_read(
                        worker, stream.fileno(), room, n_left, offset, stop, turn
                    )
                _check(n_left)
                self._done[index] += offset + n_left - old_end
                if n_left >= len(room) - len(SLACK):
                    if whole_queries and n_left >= max(LARGEST, self._block):
                        raise _Scattered
                    room = room + bytearray(n_left)
                self._report()
        return room

    def _report(self) -> None:
        """Reports the progress, from the thread that began the reading."""
        if self._progress is None or get_ident() != self._thread:
            return
        done, (number, passes) = sum(self._done), self._passes
        done = (number * self._size + done) // passes if self._size else done
        if done > self._reported:
            self._reported = done
            self._progress(done, self._size)

    def _in_threads(self, works: list[Callable[[], Any]]) -> list[Any]:
        """The result of each piece of work; the first is done in this thread."""

        def _guarded(work: Callable[[], Any]) -> Any:
            try:
                return work()
            except BaseException:
                self._stopped = True
                raise

        first, *background_works = [partial(_guarded, work) for work in works]
        results, failures = list[Any](), list[BaseException]()
        for wait_for in (first, *map(_in_background, background_works)):
            try:
                results.append(wait_for())
            except BaseException as failure:
                # An interruption of the waiting stops the others as well.
                self._stopped = True
                failures.append(failure)
        if failures:
            raise min(
                failures,
                key=lambda failure: isinstance(failure, Odd) + 2 * isinstance(failure, _Scattered),
            )
        return results


def new_table(judgments: Judgments | JudgedRows) -> Any:
    """The table in which items are looked up."""
    return native.library.reader_table(judgments.queries, judgments.items, judgments.offsets)


def new_worker(table: Any, layout: Layout, options: ReadOptions, scan: int) -> Worker:
    """A worker of a table. scan: its pass."""
    how = (
        _RULES.get(options.ties, 0),
        options.single_precision,
        options.comments,
        options.trailing,
    )
    places = layout.fields, layout.query, layout.item, layout.value, layout.by_rank
    return native.library.reader_worker(table, places, how, options.keep, scan)


def _rows_of(first: Worker, counted: Worker) -> HitRows | None:
    """The results of the worker that saw all rows and the one that placed them; None where there
    was no row at all.
    """
    retrieved, unknown, *_, top = native.library.reader_results(first)
    _, _, *placed, _ = native.library.reader_results(counted)
    return HitRows(retrieved, unknown, *placed, top=top) if unknown or any(retrieved) else None


def _in_background(work: Callable[[], Any]) -> Callable[[], Any]:
    """Begins some work in another thread; the function returned waits for it and returns its
    result, or raises its exception.
    """
    import threading

    results, failures = list[Any](), list[BaseException]()

    def _run() -> None:
        try:
            results.append(work())
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=_run, daemon=True)
    thread.start()

    def _wait() -> Any:
        thread.join()
        if failures:
            raise failures[0]
        return results[0]

    return _wait


def _ints(raw: bytes) -> Ints:
    return np.frombuffer(raw, dtype=np.int64)


def _check(status: int) -> None:
    if status == _SCATTERED:
        raise _Scattered
    if status < 0:
        raise Odd


def feed_from_stream(
    worker: Worker, stream: Any, room: bytearray, n_left: int, offset: int
) -> tuple[int, int, bool]:
    """Feeds one block of a stream as `reader_read` feeds those of a file, with the same results."""
    filled, size = n_left, len(room) - len(SLACK)
    with memoryview(room) as view:
        while filled < size and (n_read := stream.readinto(view[filled:size])):
            filled += n_read
    left = native.library.reader_feed(worker, room, filled, offset, filled < size)
    return left, offset + filled - max(left, 0), filled < size


_LISTS = 5
"""The pass of a worker, as in _scan.h."""
_LIST_TURN = 4 << 20
"""Bytes between two looks at what was found."""
_LEAST = 1 << 15
"""Items that are handed over together, so that arrays are worth their calls."""
_TABLE = Layout("table", "", fields=3, query=0, item=1, value=2)


class Irregular(Exception):
    """A run that must be read another way: with a mistake, an item listed twice, or the rows of a
    query apart.
    """


class NumberedLists(NamedTuple):
    """The first items of some queries, in the order of the run.

    queries: ids of the queries.
    sizes: (queries,) the lengths of the lists, int64 as bytes.
    items: the numbers of the items of all lists, one list after the other, int64 as bytes.
    new: ids of items that had no number; they get the next numbers, in this order.
    """

    queries: list[str]
    sizes: bytes
    items: bytes
    new: list[str]


class ListScan:
    """One reading of a run in one file or several, each from its first row to its last.

    items: the items that have the numbers from 0 on; others get the next numbers.
    layout: the layout of lines; None for chosen columns.
    options: the options of reading, of which `keep` is the number of first items.
    """

    def __init__(self, items: Sequence[str], layout: Layout | None, options: ReadOptions) -> None:
        if native.library is None:
            raise Irregular
        none = native.library.reader_table((), [], bytes(8))
        self._worker = new_worker(none, layout or _TABLE, options, _LISTS)
        native.library.reader_items(self._worker, items)

    def read(self, source: Source, *, by_one: bool = False) -> Iterator[NumberedLists]:
        """The lists in a file of lines. by_one: whether ranks are 1, 2, 3, … in the order of the
        lines. Raises Irregular.
        """
        room, n_left, offset, last = bytearray(BLOCK + len(SLACK)), 0, 0, False
        n = 0
        with source.open() as stream:
            while not last:
                if source.path is None:
                    n_left, offset, last = feed_from_stream(
                        self._worker, stream, room, n_left, offset
                    )
                else:
                    n_left, offset, last = native.library.reader_read(
                        self._worker, stream.fileno(), room, n_left, offset, -1, _LIST_TURN
                    )
                if n_left < 0 or (n_left >= len(room) - len(SLACK) and n_left >= LARGEST):
                    raise Irregular
                if n_left >= len(room) - len(SLACK):
                    room = room + bytearray(n_left)
                for block in self._take_lists(last=last):
                    n += 1
                    yield block
        if not n or (by_one and not native.library.reader_ordered(self._worker)):
            raise Irregular

    def take(self, stream: Any) -> Iterator[NumberedLists]:
        """The lists in columns, a capsule of Arrow's C stream interface. Raises Irregular."""
        more, n = 1, 0
        while more:
            more = native.library.reader_take(self._worker, stream, 1)
            if more < 0:
                raise Irregular
            for block in self._take_lists(last=not more):
                n += 1
                yield block
        if not n:
            raise Irregular

    def _take_lists(self, *, last: bool) -> Iterator[NumberedLists]:
        lists = native.library.reader_lists(self._worker, 0 if last else _LEAST)
        if lists is not None:
            yield NumberedLists(*lists)


def run_lines(layout_of: Callable[[Source, Request], Layout | None]) -> dict[str, Any]:
    """The fields of a format of runs in lines: functions that take less than the whole run.

    layout_of: the layout of the lines of a file; None where only the reader of the format can read
    them.
    """

    def _find_hits(source: Source, judgments: Judgments, request: Request) -> Hits | None:
        if (layout := layout_of(source, request)) is None:
            return None
        unordered = None
        if layout.by_rank and request.recognised and not isinstance(source, SourceRange):
            # trec_eval's command starts without it.
            from rankwell.io.reader.columns import settle_ranks

            unordered = partial(settle_ranks, source, Head.of(source))
        return scan(
            source,
            judgments,
            layout,
            request.options,
            progress=request.progress,
            unordered=unordered,
        )

    def _count_shared(
        source: Source, judgments: Judgments, shared: SharedQueries, request: Request
    ) -> SharedCounts | None:
        layout = layout_of(source, request)
        return layout and count_lines(source, judgments, shared, layout, request.options)

    def _lists(
        sources: Sequence[Source], items: Sequence[str], request: Request
    ) -> Iterator[NumberedLists]:
        if (layout := layout_of(sources[0], request)) is None:
            raise Irregular
        lists = ListScan(items, layout, request.options)
        for source in sources:
            yield from lists.read(source, by_one=layout.by_rank and request.recognised)

    return {
        "find_hits": _find_hits,
        "count_shared": _count_shared,
        "lists": _lists,
        "is_lines": True,
    }


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
    row, _, above, tied, before = (_ints(raw) for raw in placed)
    rows, prints = native.library.reader_prints(worker)
    counted = _ints(rows)[shared.queries]
    # The rows of the targets ascend; those of queries that are not in this file have nothing
    # counted.
    order, target = np.argsort(row), np.flatnonzero(counted[shared.owner])
    above, tied, before = (column[order][target] for column in (above, tied, before))
    upto = tied - before if options.ties == "id-desc" else before + 1
    return SharedCounts(
        target, above, tied, upto, SharedPrints(counted, np.frombuffer(prints, dtype=np.uint64))
    )


class HitRows(NamedTuple):
    """The columns of `Hits` as the compiled reader gives them. Numbers are bytes, int64 except for
    the scores, and rows are in any order.

    n_retrieved: (judged queries,) number of items in the run.
    unknown: query without judgments -> number of its items.
    row: (rows,) the row of each retrieved item in the judgments.
    score: (rows,) float64.
    above, tied, before: (rows,) the counts that place each item, as in `RankCounts`.
    top: the first items of some queries in five columns: (queries,) indices of the queries,
        (queries,) numbers of their items, (rows,) lengths of the ids, (rows,) scores, and the ids,
        one after the other.
    """

    n_retrieved: bytes
    unknown: dict[bytes, int]
    row: bytes
    score: bytes
    above: bytes
    tied: bytes
    before: bytes
    top: tuple[bytes, bytes, bytes, bytes, bytes]

    def hits(self, judgments: Judgments, *, keep: int) -> Hits:
        """The hits under the judgments whose rows these are. keep: whether the first items of each
        query were kept.
        """
        rows = _ints(self.row)
        order = np.argsort(rows)
        above, tied, before = (_ints(raw)[order] for raw in (self.above, self.tied, self.before))
        score = np.frombuffer(self.score)[order]
        retrieved = _ints(self.n_retrieved).copy()
        unknown = {decode_id(query): self.unknown[query] for query in sorted(self.unknown)}
        top = self._first_items(judgments) if keep else None
        query, row = judgments.query_of_row[rows[order]], rows[order]
        return Hits(query, row, score, above, tied, before, retrieved, retrieved > 0, unknown, top)

    def _first_items(self, judgments: Judgments) -> Ranking:
        queries, sizes, lengths = (_ints(raw) for raw in self.top[:3])
        bounds = segment_offsets(lengths)
        order = np.argsort(queries)
        rows = np.argsort(np.repeat(queries, sizes), kind="stable")
        # Only ids of tables may hold an end of a line; others are cut at ends that are put between
        # them.
        if b"\n" in (text := self.top[4]):
            ids = [decode_id(text[start:stop]) for start, stop in pairwise(bounds.tolist())]
        else:
            lines = np.insert(np.frombuffer(text, dtype=np.uint8), bounds[1:-1], ord("\n"))
            ids = decode_id(lines.tobytes()).split("\n")
        return Ranking(
            queries=tuple(map(judgments.queries.__getitem__, queries[order].tolist())),
            offsets=segment_offsets(sizes[order]),
            items=np.array(ids, dtype=object)[rows].tolist(),
            scores=np.frombuffer(self.top[3])[rows],
        )


class JudgedRows(NamedTuple):
    """The columns of `Judgments` as the compiled reader gives them.

    queries: ids of the queries.
    offsets: (queries + 1,) where the rows of each query begin, int64 as bytes.
    items: (rows,) ids of the items.
    grades: (rows,) float64 as bytes.
    aspects: (rows,) groups or intents; None where they were not requested.
    """

    queries: tuple[str, ...]
    offsets: bytes
    items: list[str]
    grades: bytes
    aspects: list[str] | None

    def table(self) -> Judgments:
        """The same as a table."""
        offsets, grades = _ints(self.offsets), np.frombuffer(self.grades)
        return Judgments(self.queries, offsets.copy(), self.items, grades.copy(), self.aspects)
