"""Lines of a run to fields, and the plain reader of whole runs, with the results of the compiled
one.
"""

from __future__ import annotations

import tempfile
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import groupby
from math import floor, isfinite, nan
from operator import gt, itemgetter
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar

from rankwell._native import native
from rankwell.data.rankings import HitRows, places_in_ties
from rankwell.errors import BadInput, BadLine, BadScore, DuplicateItem
from rankwell.store import decode_id, encode_id
from rankwell.store.drafts import changed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwell.data.rankings import Hits
    from rankwell.data.tables import Floats, Ints, Judgments, TieRule
    from rankwell.store import Source

# Called with the bytes done and the bytes in all; the latter is 0 where it is unknown, as for
# compressed files.
Progress = Callable[[int, int], None]

SLACK = bytes(80)
"""Room that the compiled readers need behind a text."""
# The fields of so many bytes stay in the processor's cache: larger blocks take half as long again.
BLOCK = 1 << 17
_SHOWN = 60

Result = TypeVar("Result")


class Layout(NamedTuple):
    """Positions of the white-space-separated fields of a line. value: a score, or with by_rank a
    rank.
    """

    name: str
    form: str
    fields: int
    query: int
    item: int
    value: int
    by_rank: bool = False


TREC_RUN = Layout("TREC run", "query Q0 item rank score tag", fields=6, query=0, item=2, value=4)
MSMARCO_RUN = Layout(
    "MS MARCO run", "query item rank", fields=3, query=0, item=1, value=2, by_rank=True
)
_TREC_RANK = 3


class ReadOptions(NamedTuple):
    """Options of reading a run.

    single_precision: scores are rounded to 32 bits first, as trec_eval 9 does. keep: number of
    first items of each query, judged or not, to return as well (0: none). comments: lines that
    begin with `#` are skipped, as in trec_eval 10.
    trailing: fields behind the last one of the layout are skipped, as in trec_eval; else they are
    an error.
    """

    ties: TieRule = "id-desc"
    single_precision: bool = False
    keep: int = 0
    comments: bool = False
    trailing: bool = False


class RunRows(NamedTuple):
    """A run row by row, in the order of its file. ranks: (rows,) NaN where the file has no number.
    lines: (rows,) from 1.
    """

    queries: list[str]
    items: list[str]
    scores: Floats
    ranks: Floats
    lines: Ints


class Unreadable(Exception):
    """Some line of a block is not one of the layout; `bad_line` names the first."""


class Fields(NamedTuple):
    """The rows of a block: lines with content. pieces: the fields of one row after the other, a
    newline behind each row.

    scores: (rows,). lines: (rows,) the numbers of the lines from 1 in the block.
    """

    pieces: list[bytes]
    width: int
    scores: list[float]
    lines: Sequence[int]

    def column(self, field: int) -> list[bytes]:
        """One field of each row."""
        return self.pieces[field : -1 : self.width + 1]


def read_blocks(
    source: Source,
    layout: Layout,
    options: ReadOptions,
    read: Callable[[bytes, Layout, ReadOptions], Result],
    *,
    size: int = BLOCK,
    progress: Progress | None = None,
) -> Iterator[tuple[int, Result]]:
    """The result of `read`, which may raise Unreadable, for each block of whole lines, and the
    number of lines before it.
    """
    total = 0 if source.path is None else source.path.stat().st_size
    done = lines = 0
    with source.open() as stream:
        while block := stream.read(size):
            block += stream.readline()
            try:
                yield lines, read(block, layout, options)
            except Unreadable:
                raise bad_line(source, layout, options, done + 1) from None
            lines += block.count(b"\n")
            done += len(block)
            if progress is not None:
                progress(done, total)


def fields_of(block: bytes, layout: Layout, options: ReadOptions) -> Fields:
    """The rows of a block of whole lines. Raises Unreadable."""
    text = block if block.endswith(b"\n") else block + b"\n"
    pieces = None if options.comments and b"#" in text else _split(text, layout.fields)
    lines: Sequence[int] = range(1, text.count(b"\n") + 1)
    if pieces is None:
        text, lines = _tidied(text, layout, options)
        pieces = _split(text, layout.fields) or [b""]
    return Fields(
        pieces,
        layout.fields,
        _numbers(pieces[layout.value : -1 : layout.fields + 1], text, layout),
        lines,
    )


def _split(text: bytes, width: int) -> list[bytes] | None:
    """The fields of all rows, a newline behind each, and an empty one at the end; None unless
    single blanks or tabs separate.
    """
    spaced = text.replace(b"\r\n", b"\n").replace(b"\t", b" ").replace(b"\n", b" \n ")
    pieces = spaced.split(b" ")
    ends = pieces[width :: width + 1]
    regular = len(pieces) == len(ends) * (width + 1) + 1 and ends.count(b"\n") == len(
        ends
    ) == text.count(b"\n")
    # Two blanks are an empty field, also at the beginning or the end of a line; other white space
    # may separate fields, too.
    return (
        pieces
        if regular
        and pieces[0]
        and not any(separator in spaced for separator in (b"  ", b"\r", b"\v", b"\f"))
        else None
    )


def _tidied(text: bytes, layout: Layout, options: ReadOptions) -> tuple[bytes, list[int]]:
    """The rows with one blank between their fields, and the numbers of their lines. Raises
    Unreadable.
    """
    rows, lines = list[bytes](), list[int]()
    for line, fields in enumerate(map(bytes.split, text.split(b"\n")), 1):
        if fields and not (options.comments and fields[0].startswith(b"#")):
            if len(fields) < layout.fields or (
                len(fields) > layout.fields and not options.trailing
            ):
                raise Unreadable
            rows.append(b" ".join(fields[: layout.fields]) + b"\n")
            lines.append(line)
    return b"".join(rows), lines


def _numbers(texts: list[bytes], text: bytes, layout: Layout) -> list[float]:
    """The scores of rows. Raises Unreadable for what is not a finite number, underscores
    included.
    """
    try:
        numbers = list(map(float, texts))
    except ValueError:
        raise Unreadable from None
    if not all(map(isfinite, numbers)) or (
        b"_" in text and any(b"_" in number_text for number_text in texts)
    ):
        raise Unreadable
    if not layout.by_rank:
        return numbers
    if any(number < 0 or number != floor(number) for number in numbers):
        raise Unreadable
    return [-number for number in numbers]


def bad_line(source: Source, layout: Layout, options: ReadOptions, place: int = 0) -> BadInput:
    """The error for the first line that ends at this place of the content or behind it and cannot
    be read.

    Where all can be read now, another program has changed the file.
    """
    for number, line in _lines_from(source, place):
        try:
            fields_of(line, layout, options)
        except Unreadable:
            return _explained(f"{source.name}:{number}", line, layout, options)
    return changed(source.name)


def _explained(where: str, line: bytes, layout: Layout, options: ReadOptions) -> BadInput:
    row, excerpt = line.split(), shorten(line)
    width = len(row)
    if width < layout.fields if options.trailing else width != layout.fields:
        advice = (
            "is this a qrels file?"
            if not layout.by_rank and width == 4
            else "correct or remove the line."
        )
        n_fields = f"{width} field{'' if width == 1 else 's'} in {excerpt}"
        return BadLine(
            f"{where}: {n_fields}, a {layout.name} line has {layout.fields} ({layout.form}); "
            f"{advice}"
        )
    wanted = (
        "rank is an integer such as 7"
        if layout.by_rank
        else "score is a finite number such as 12.5"
    )
    problem = f"the {wanted.partition(' ')[0]} is {shorten(row[layout.value])} in {excerpt}"
    return BadScore(f"{where}: {problem}; a {wanted}: correct the line ({layout.form}).")


def shorten(text: bytes) -> str:
    """Bytes of a line for a message: quoted, on one line, not long."""
    decoded = text.strip().decode("utf-8", "backslashreplace")
    return repr(decoded if len(decoded) <= _SHOWN else decoded[: _SHOWN - 1] + "…")


def duplicate(
    source: Source, layout: Layout, options: ReadOptions, place: int
) -> DuplicateItem | None:
    """The error for the line that ends at this place of the content, if an earlier one has its
    query and item.
    """
    _, line = next(_lines_from(source, place), (0, b""))
    try:
        fields = fields_of(line, layout, options)
    except Unreadable:
        raise changed(source.name) from None
    return first_duplicate(
        source,
        layout,
        options,
        set(zip(fields.column(layout.query), fields.column(layout.item), strict=True)),
    )


def _lines_from(source: Source, place: int) -> Iterator[tuple[int, bytes]]:
    """The number, from 1, and the text of each line that ends at a place of the content or behind
    it.
    """
    end = 0
    with source.open() as stream:
        for number, line in enumerate(stream, 1):
            end += len(line)
            # Places count a newline behind every line, also behind the last one of a file without.
            if end >= place or not line.endswith(b"\n"):
                yield number, line


def first_duplicate(
    source: Source, layout: Layout, options: ReadOptions, pairs: Container[tuple[bytes, bytes]]
) -> DuplicateItem | None:
    """The error for the first line that repeats one of these pairs of query and item; None where
    none does.
    """

    def _keys() -> Iterator[tuple[tuple[str, ...], int]]:
        for before, fields in read_blocks(source, layout, options, fields_of):
            line_pairs = zip(fields.column(layout.query), fields.column(layout.item), strict=True)
            for pair, line in zip(line_pairs, fields.lines, strict=True):
                if pair in pairs:
                    yield tuple(map(decode_id, pair)), before + line

    return repeated(source.name, "lists", _keys())


def empty_file(source: Source, layout: Layout) -> BadInput:
    """The error for a file without lines."""
    return BadInput(
        f"{source.name}: there is no line in it; a {layout.name} has lines of {layout.form}."
    )


def read_rows(
    source: Source,
    options: ReadOptions,
    layout: Layout = TREC_RUN,
    *,
    progress: Progress | None = None,
) -> RunRows:
    """Every row of a run; of the options `comments` and `trailing` have an effect. Raises BadLine,
    BadScore and BadInput.
    """
    import numpy as np

    queries, items = list[str](), list[str]()
    scores, ranks = list[bytes](), list[bytes]()
    numbers: list[Ints] = []
    for before, rows in read_blocks(source, layout, options, _rows, progress=progress):
        queries += rows[0]
        items += rows[1]
        size = 8 * len(rows[0])
        scores.append(rows[2][:size])
        ranks.append(rows[3][:size])
        numbers.append(np.frombuffer(rows[4][:size], dtype=np.int64) + before)
    if not queries:
        raise empty_file(source, layout)
    return RunRows(
        queries,
        items,
        np.frombuffer(b"".join(scores)),
        np.frombuffer(b"".join(ranks)),
        np.concatenate(numbers),
    )


def _rows(
    block: bytes, layout: Layout, options: ReadOptions
) -> tuple[list[str], list[str], bytes, bytes, bytes]:
    """Queries, items, and as bytes scores, ranks and numbers of lines from 1 in the block. Raises
    Unreadable.
    """
    if native.library is not None and layout is TREC_RUN:
        text = block if block.endswith(b"\n") else block + b"\n"
        rows = native.library.reader_rows(
            text + SLACK, len(text), options.comments, options.trailing
        )
        if rows is None:
            raise Unreadable
        return rows
    fields = fields_of(block, layout, options)
    queries, items = (
        list(map(decode_id, fields.column(field))) for field in (layout.query, layout.item)
    )
    ranks = array(
        "d", map(_rank, fields.column(_TREC_RANK if layout is TREC_RUN else layout.value))
    )
    return (
        queries,
        items,
        array("d", fields.scores).tobytes(),
        ranks.tobytes(),
        array("q", fields.lines).tobytes(),
    )


def _rank(text: bytes) -> float:
    try:
        rank = nan if b"_" in text else float(text)
    except ValueError:
        return nan
    return rank if isfinite(rank) else nan


def repeated(
    name: str, verb: str, keys: Iterable[tuple[tuple[str, ...], int]]
) -> DuplicateItem | None:
    """The error for the first line with an earlier one's key, which begins with the query and ends
    with the item, or None.
    """
    first_lines: dict[tuple[str, ...], int] = {}
    for key, number in keys:
        if (first := first_lines.setdefault(key, number)) != number:
            problem = (
                f"query {key[0]!r} {verb} item {key[-1]!r} twice, in lines {first} and {number}"
            )
            order = ", or correct the order of the columns" if key[-1] in ("Q0", "0") else ""
            return DuplicateItem(f"{name}:{number}: {problem}; keep one of them{order}.")
    return None


# Into so many parts scattered lines are put; of a run of seven million lines each is a few MiB.
_PARTS = 64
# So many lines are written at once.
_AT_ONCE = 1 << 16


class _QueryReturns(Exception):
    """A query continues after another one."""


def scan(
    source: Source,
    judgments: Judgments,
    layout: Layout,
    options: ReadOptions,
    *,
    progress: Progress | None = None,
    block_size: int = BLOCK,
) -> Hits:
    """The hits of a run file. Raises as `rankwell.io.reader.scan` does."""
    judgments = judgments.flat
    rows = _Reader(source, judgments, layout, options, progress, block_size).read()
    return rows.hits(judgments, keep=options.keep)


class _Reader:
    def __init__(
        self,
        source: Source,
        judged: Judgments,
        layout: Layout,
        options: ReadOptions,
        progress: Progress | None,
        block_size: int,
    ) -> None:
        self._source, self._layout, self._options = source, layout, options
        self._progress, self._block_size = progress, block_size
        bounds = array("q", bytes(judged.offsets))
        items = list(map(encode_id, judged.items))
        # Query -> its position, and the row of each of its items.
        self._judged = {
            encode_id(query): (
                position,
                {items[row]: row for row in range(bounds[position], bounds[position + 1])},
            )
            for position, query in enumerate(judged.queries)
        }
        self._clear()

    def _clear(self) -> None:
        self._retrieved = array("q", bytes(8 * len(self._judged)))
        self._unknown: dict[bytes, int] = {}
        self._twice: set[tuple[bytes, bytes]] = set()
        # Row of the judgments, score, items above, tied and before.
        self._hits: list[tuple[int, float, int, int, int]] = []
        self._top: list[tuple[int, list[bytes], Sequence[float]]] = []

    def read(self) -> HitRows:
        """The rows of the whole file."""
        try:
            self._read_queries()
        except _QueryReturns:
            self._clear()
            self._read_scattered()
        if (
            self._twice
            and (error := first_duplicate(self._source, self._layout, self._options, self._twice))
            is not None
        ):
            raise error
        if not self._unknown and not any(self._retrieved):
            raise empty_file(self._source, self._layout)
        columns = zip(*self._hits, strict=True) if self._hits else ((),) * 5
        numbers = [
            array(code, column).tobytes() for code, column in zip("qdqqq", columns, strict=True)
        ]
        items = [item for _, query_items, _ in self._top for item in query_items]
        counts = (
            [query for query, _, _ in self._top],
            [len(query_items) for _, query_items, _ in self._top],
            map(len, items),
        )
        scores = array(
            "d", [score for _, _, query_scores in self._top for score in query_scores]
        ).tobytes()
        queries, sizes, lengths = (array("q", count_column).tobytes() for count_column in counts)
        top = queries, sizes, lengths, scores, b"".join(items)
        return HitRows(self._retrieved.tobytes(), self._unknown, *numbers, top=top)

    def _fields(self) -> Iterator[Fields]:
        """The fields of one block after the other. Raises BadLine or BadScore."""
        arguments = self._source, self._layout, self._options, fields_of
        return (
            fields
            for _, fields in read_blocks(*arguments, size=self._block_size, progress=self._progress)
        )

    def _read_queries(self) -> None:
        """Reads a file in which the lines of each query are contiguous. Raises _QueryReturns for
        another.
        """
        name, items, scores = b"", list[bytes](), list[float]()
        for fields in self._fields():
            block_items, start = fields.column(self._layout.item), 0
            for query, lines in groupby(fields.column(self._layout.query)):
                stop = start + len(list(lines))
                if query != name:
                    self._finish(name, items, scores)
                    name, items, scores = query, [], []
                items += block_items[start:stop]
                scores += fields.scores[start:stop]
                start = stop
        self._finish(name, items, scores)

    def _read_scattered(self) -> None:
        """Reads a file with lines in any order: those of a query keep their order within their
        part.
        """
        layout = self._layout
        with tempfile.TemporaryFile() as room:
            blocks_of_part: list[list[tuple[int, int]]] = [[] for _ in range(_PARTS)]
            parts: list[list[bytes]] = [[] for _ in range(_PARTS)]
            waiting = 0
            for fields in self._fields():
                for row in zip(
                    *map(fields.column, (layout.query, layout.item, layout.value)), strict=True
                ):
                    parts[hash(row[0]) % _PARTS].append(b"\t".join(row))
                waiting += len(fields.lines)
                if waiting >= _AT_ONCE:
                    _empty(parts, blocks_of_part, room)
                    waiting = 0
            _empty(parts, blocks_of_part, room)
            for part in blocks_of_part:
                self._read_part(b"".join(_read_at(room, *block) for block in part))

    def _read_part(self, text: bytes) -> None:
        """The lines `query item value` of some queries."""
        fields = fields_of(
            text, self._layout._replace(fields=3, query=0, item=1, value=2), ReadOptions()
        )
        queries: dict[bytes, tuple[list[bytes], list[float]]] = {}
        for query, item, score in zip(
            fields.column(0), fields.column(1), fields.scores, strict=True
        ):
            items, scores = queries.setdefault(query, ([], []))
            items.append(item)
            scores.append(score)
        for query, (items, scores) in queries.items():
            self._finish(query, items, scores)

    def _finish(self, query: bytes, items: list[bytes], scores: Sequence[float]) -> None:
        """Counts the rows of one query, which are all there and in the order of the file."""
        if not items:
            return
        if query not in self._judged:
            self._unknown[query] = self._unknown.get(query, 0) + len(items)
            return
        position, rows = self._judged[query]
        if self._retrieved[position]:
            raise _QueryReturns
        self._retrieved[position] = len(items)
        distinct_items = set(items)
        if len(distinct_items) < len(items):
            earlier_items = set[bytes]()
            self._twice |= {
                (query, item) for item in items if item in earlier_items or earlier_items.add(item)
            }
        if self._options.single_precision:
            scores = array("f", scores).tolist()
        ranked_hits = [(items.index(item), item) for item in distinct_items & rows.keys()]
        if all(map(gt, scores, scores[1:])):
            self._hits += [
                (rows[item], scores[position], position, 1, 0) for position, item in ranked_hits
            ]
        else:
            ordered = sorted(scores, reverse=True)[::-1]
            judged_scores = {scores[index] for index, _ in ranked_hits}
            upto = {score: bisect_right(ordered, score) for score in judged_scores}
            tied = {score: upto[score] - bisect_left(ordered, score) for score in judged_scores}
            rivals = {score for score in judged_scores if tied[score] > 1}
            tie_places = (
                places_in_ties(items, scores, rivals, self._options.ties, bytes) if rivals else {}
            )
            for index, item in ranked_hits:
                score = scores[index]
                self._hits.append(
                    (
                        rows[item],
                        score,
                        len(ordered) - upto[score],
                        tied[score],
                        tie_places.get(item, 0),
                    )
                )
        if self._options.keep:
            self._keep(position, items, scores)

    def _keep(self, position: int, items: list[bytes], scores: Sequence[float]) -> None:
        """Keeps the first items of a query in final order."""
        ranked = list(zip(scores, items, strict=True))
        if self._options.ties in ("id-desc", "id-asc"):
            ranked.sort(key=itemgetter(1), reverse=self._options.ties == "id-desc")
        ranked.sort(key=itemgetter(0), reverse=True)
        first_items = ranked[: self._options.keep]
        self._top.append(
            (position, [item for _, item in first_items], [score for score, _ in first_items])
        )


def _empty(
    parts: list[list[bytes]], blocks_of_part: list[list[tuple[int, int]]], room: BinaryIO
) -> None:
    """Writes the lines of each part and notes where they are: (start, size)."""
    for part_blocks, lines in zip(blocks_of_part, parts, strict=True):
        text = b"".join(line + b"\n" for line in lines)
        part_blocks.append((room.tell(), len(text)))
        room.write(text)
        lines.clear()


def _read_at(room: BinaryIO, start: int, size: int) -> bytes:
    room.seek(start)
    return room.read(size)
