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
                place,
                {items[row]: row for row in range(bounds[place], bounds[place + 1])},
            )
            for place, query in enumerate(judged.queries)
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
        items = [item for _, own, _ in self._top for item in own]
        counts = (
            [query for query, _, _ in self._top],
            [len(own) for _, own, _ in self._top],
            map(len, items),
        )
        scores = array("d", [score for _, _, own in self._top for score in own]).tobytes()
        queries, sizes, lengths = (array("q", each).tobytes() for each in counts)
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
            listed, start = fields.column(self._layout.item), 0
            for query, lines in groupby(fields.column(self._layout.query)):
                stop = start + len(list(lines))
                if query != name:
                    self._finish(name, items, scores)
                    name, items, scores = query, [], []
                items += listed[start:stop]
                scores += fields.scores[start:stop]
                start = stop
        self._finish(name, items, scores)

    def _read_scattered(self) -> None:
        """Reads a file with lines in any order: those of a query keep their order within their
        part.
        """
        layout = self._layout
        with tempfile.TemporaryFile() as room:
            places: list[list[tuple[int, int]]] = [[] for _ in range(_PARTS)]
            parts: list[list[bytes]] = [[] for _ in range(_PARTS)]
            waiting = 0
            for fields in self._fields():
                for row in zip(
                    *map(fields.column, (layout.query, layout.item, layout.value)), strict=True
                ):
                    parts[hash(row[0]) % _PARTS].append(b"\t".join(row))
                waiting += len(fields.lines)
                if waiting >= _AT_ONCE:
                    _empty(parts, places, room)
                    waiting = 0
            _empty(parts, places, room)
            for part in places:
                self._read_part(b"".join(_read_at(room, *place) for place in part))

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
        every = set(items)
        if len(every) < len(items):
            seen = set[bytes]()
            self._twice |= {(query, item) for item in items if item in seen or seen.add(item)}
        if self._options.single_precision:
            scores = array("f", scores).tolist()
        found = [(items.index(item), item) for item in every & rows.keys()]
        if all(map(gt, scores, scores[1:])):
            self._hits += [(rows[item], scores[place], place, 1, 0) for place, item in found]
        else:
            ordered = sorted(scores, reverse=True)[::-1]
            own = {scores[place] for place, _ in found}
            upto = {score: bisect_right(ordered, score) for score in own}
            tied = {score: upto[score] - bisect_left(ordered, score) for score in own}
            rivals = {score for score in own if tied[score] > 1}
            places = (
                places_in_ties(items, scores, rivals, self._options.ties, bytes) if rivals else {}
            )
            for place, item in found:
                score = scores[place]
                self._hits.append(
                    (
                        rows[item],
                        score,
                        len(ordered) - upto[score],
                        tied[score],
                        places.get(item, 0),
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
        kept = ranked[: self._options.keep]
        self._top.append((position, [item for _, item in kept], [score for score, _ in kept]))


def _empty(parts: list[list[bytes]], places: list[list[tuple[int, int]]], room: BinaryIO) -> None:
    """Writes the lines of each part and notes where they are: (start, size)."""
    for place, lines in zip(places, parts, strict=True):
        text = b"".join(line + b"\n" for line in lines)
        place.append((room.tell(), len(text)))
        room.write(text)
        lines.clear()


def _read_at(room: BinaryIO, start: int, size: int) -> bytes:
    room.seek(start)
    return room.read(size)
