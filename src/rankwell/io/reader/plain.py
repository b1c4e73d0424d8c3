"""The plain reader of runs: lists, sets and loops, with the results of the compiled reader to the
last bit and word.

It reads where there is no compiled kernel, and is the oracle of the tests of the compiled reader. A
file is read query by query; where the lines of a query are not contiguous, they are first sorted
into parts of few queries in a temporary file.
"""

from __future__ import annotations

import tempfile
from array import array
from bisect import bisect_left, bisect_right
from itertools import groupby
from operator import gt, itemgetter
from typing import TYPE_CHECKING, BinaryIO

from rankwell.core.tables.ranking import places_in_ties
from rankwell.io.reader.lines import (
    BLOCK,
    Fields,
    ReadOptions,
    empty_file,
    fields_of,
    first_duplicate,
    read_blocks,
)
from rankwell.io.reader.rows import HitRows
from rankwell.store import encode_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwell.core.tables import Judgments
    from rankwell.core.tables.ranking import Hits
    from rankwell.io.reader.lines import Layout, Progress
    from rankwell.store import Source

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
