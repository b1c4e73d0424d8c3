"""A stream of bytes in blocks of whole lines, cut between queries where wanted, and work on several blocks at a time."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import BinaryIO, NamedTuple, TypeVar

import numpy as np

from rankwell.io.reader.spans import SLACK, Text

Result = TypeVar("Result")

BLOCK = 4 << 20
# A query whose lines take more than this is not kept in one block.
LARGEST = 32 << 20


class Scattered(Exception):
    """The lines of a query do not stand together, or are too many for one block."""


class Block(NamedTuple):
    """Whole lines; the last one has its newline, also where the file ends without. place: bytes of the file before them."""

    text: Text
    place: int
    room: bytearray


class Blocks:
    """The blocks of a stream. A block's bytes are good until it is released.

    whole_queries: no query is cut in two as long as its lines stand together; else Scattered is raised for a query larger than
    LARGEST.
    """

    def __init__(self, stream: BinaryIO, *, whole_queries: bool, comments: bool = False, size: int = BLOCK) -> None:
        self._stream, self._whole_queries, self._comments = stream, whole_queries, comments
        self._size = size
        self._spare: list[bytearray] = []

    def __iter__(self) -> Iterator[Block]:
        room, filled, place = bytearray(self._size + SLACK), 0, 0
        while True:
            size = len(room) - SLACK
            filled = self._fill(room, filled, size)
            if filled < size:
                if filled:
                    if room[filled - 1] != ord("\n"):
                        room[filled], filled = ord("\n"), filled + 1
                    yield self._block(room, filled, place)
                return
            cut = self._cut(room, filled)
            if cut == 0:
                if self._whole_queries and size >= LARGEST:
                    raise Scattered
                room = room + bytearray(size)
                continue
            rest = filled - cut
            following = self._take_room(rest)
            following[:rest] = memoryview(room)[cut:filled]
            yield self._block(room, cut, place)
            room, filled, place = following, rest, place + cut

    def release(self, block: Block) -> None:
        """Says that a block's bytes are not needed any more."""
        if len(block.room) == self._size + SLACK:
            self._spare.append(block.room)

    def _take_room(self, rest: int) -> bytearray:
        if rest >= self._size:
            return bytearray(2 * rest + SLACK)
        return self._spare.pop() if self._spare else bytearray(self._size + SLACK)

    def _fill(self, room: bytearray, filled: int, size: int) -> int:
        with memoryview(room) as view:
            while filled < size:
                got = self._stream.readinto(view[filled:size])  # pyright: ignore[reportAttributeAccessIssue]
                if not got:
                    break
                filled += got
        return filled

    def _block(self, room: bytearray, size: int, place: int) -> Block:
        return Block(Text.within(np.frombuffer(room, dtype=np.uint8), size), place, room)

    def _cut(self, room: bytearray, filled: int) -> int:
        """Where to end the block: behind the last line, or before the first line of the last query; 0 for nowhere."""
        end = room.rfind(b"\n", 0, filled) + 1
        if not self._whole_queries or end == 0:
            return end
        high = end
        query = None
        while query is None and high > 0:
            high = room.rfind(b"\n", 0, high - 1) + 1
            query = self._query_at(room, high, end)
        low = 0
        while low < high:
            middle = (low + high) // 2
            start = room.rfind(b"\n", 0, middle) + 1
            if self._query_at(room, start, high) in (query, None):
                high = start
            else:
                low = room.find(b"\n", middle) + 1
        return high

    def _query_at(self, room: bytearray, start: int, stop: int) -> bytes | None:
        """The query of the first line from here on that says something; None if none does."""
        while start < stop:
            end = room.find(b"\n", start, stop) + 1
            words = bytes(room[start:end]).split(None, 1)
            if words and not (self._comments and words[0].startswith(b"#")):
                return words[0]
            start = end
        return None


def in_order(blocks: Blocks, work: Callable[[Block], Result], threads: int) -> Iterator[tuple[Block, Result]]:
    """Each block with what `work` made of it, in the order of the file; a block is released when the next one is asked for.

    What fails in reading is raised behind the blocks that were read before.
    """
    failures = list[Exception]()
    stream = _until_failure(blocks, failures)
    first = list(islice(stream, 2))
    if threads == 1 or len(first) < 2:
        for block in chain(first, stream):
            yield block, work(block)
            blocks.release(block)
    else:
        # Imported here because it takes longer than reading a small file.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            pending = deque((block, pool.submit(work, block)) for block in first)
            while pending:
                if len(pending) <= threads:
                    pending.extend((block, pool.submit(work, block)) for block in islice(stream, 1))
                block, result = pending.popleft()
                yield block, result.result()
                blocks.release(block)
    if failures:
        raise failures[0]


def _until_failure(blocks: Iterable[Block], failures: list[Exception]) -> Iterator[Block]:
    try:
        yield from blocks
    except Exception as failure:
        failures.append(failure)
