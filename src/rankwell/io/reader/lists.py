"""Runs -> the first items of every query as numbers, some queries at a time: one pass, in memory
that does not grow with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwell.core.kernels import native
from rankwell.io.reader import BLOCK, LARGEST, feed_from_stream, new_worker
from rankwell.io.reader.lines import SLACK, Layout, ReadOptions

if TYPE_CHECKING:
    from rankwell.store import Source

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
    """The first items of some queries, in the order of the run. sizes, items: int64 as bytes; new:
    items that had no number.
    """

    queries: list[str]
    sizes: bytes
    items: bytes
    new: list[str]


class ListScan:
    """One reading of a run in one file or several, each from its first row to its last.

    items: those that have the numbers from 0 on; others get the next ones. layout: of lines, None
    for columns. options: `keep` is the number of first items.
    """

    def __init__(self, items: Sequence[str], layout: Layout | None, options: ReadOptions) -> None:
        if native.library is None:
            raise Irregular
        form = layout or _TABLE
        none = native.library.reader_table((), [], bytes(8))
        fields = (form.fields, form.query, form.item, form.value, form.by_rank)
        self._worker = new_worker(none, fields, options, _LISTS)
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
