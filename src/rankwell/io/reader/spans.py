"""Spans of bytes in one block of text, many at a time: hashed, compared and cut out eight bytes to a step."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.core.tables import Bools, Ints

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

# Words may be read at any byte of the content and up to 24 bytes before it, which wraps round to the end of the buffer.
SLACK = 32
_MIX = 0x9E3779B97F4A7C15
# _FIRST[n] keeps the first n of the eight bytes of a word.
_FIRST = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)


class Text(NamedTuple):
    """A block of bytes. content: (bytes,). words: the eight bytes from each place on, as a little-endian number."""

    content: Bytes
    words: Words

    @classmethod
    def within(cls, room: Bytes, size: int) -> "Text":
        """The first `size` bytes of a buffer that is at least SLACK bytes longer."""
        return cls(room[:size], np.ndarray((len(room) - 8,), dtype="<u8", buffer=room.data, strides=(1,)))

    @classmethod
    def of(cls, content: bytes | Bytes) -> "Text":
        """A copy of the bytes with the slack they need."""
        room = np.zeros(len(content) + SLACK, dtype=np.uint8)
        room[: len(content)] = np.frombuffer(content, dtype=np.uint8)
        return cls.within(room, len(content))

    def cut(self, start: int, stop: int) -> bytes:
        """The bytes of one span."""
        return self.content[start:stop].tobytes()


class Spans(NamedTuple):
    """Places in a text: (spans,) where each begins and where it ends."""

    text: Text
    start: Ints
    stop: Ints

    @classmethod
    def of(cls, texts: list[bytes]) -> "Spans":
        """Spans of a text that is made of these pieces."""
        stop = np.cumsum([len(each) for each in texts], dtype=np.int64)
        return cls(Text.of(b"".join(texts)), np.concatenate([[0], stop[:-1]]).astype(np.int64), stop)

    def take(self, rows: Ints | slice) -> "Spans":
        """Some of the spans."""
        return Spans(self.text, self.start[rows], self.stop[rows])

    def bytes_of(self, row: int) -> bytes:
        """The bytes of one span."""
        return self.text.cut(int(self.start[row]), int(self.stop[row]))


def _steps(spans: Spans) -> Iterator[tuple[int, Ints | slice, Words]]:
    """Step by step the next eight bytes of the spans that are not over, zeros behind the end of each."""
    text, start, stop = spans
    length = stop - start
    shortest = int(length.min()) if len(length) else 0
    longest = int(length.max(initial=0))
    for step in range(-(-longest // 8)):
        done = 8 * step
        rows = slice(None) if shortest > done else np.flatnonzero(length > done)
        words = text.words[start[rows] + done]
        if shortest == longest:
            words &= _FIRST[min(shortest - done, 8)]
        elif shortest < done + 8:
            words &= _FIRST.take(length[rows] - done, mode="clip")
        yield step, rows, words


def hashes(spans: Spans) -> Words:
    """(spans,) a 64-bit hash of each span's bytes, the same for equal bytes in any text."""
    total = (spans.stop - spans.start).view(np.uint64) * np.uint64(_MIX)
    for step, rows, words in _steps(spans):
        # Without folding the high half down, a difference in a last byte alone would reach only the top byte of the product.
        words ^= words >> np.uint64(32)
        words *= np.uint64(pow(_MIX, 2 * step + 3, 1 << 64))
        total[rows] += words
    total ^= total >> np.uint64(32)
    total *= np.uint64(_MIX)
    total ^= total >> np.uint64(29)
    return total


def equal(these: Spans, those: Spans) -> Bools:
    """(spans,) whether the bytes of the spans are the same, pair by pair."""
    same = these.stop - these.start == those.stop - those.start
    pairs = np.flatnonzero(same)
    others = those.take(pairs)
    for step, rows, words in _steps(these.take(pairs)):
        left = (others.stop - others.start)[rows] - 8 * step
        rivals = others.text.words[others.start[rows] + 8 * step] & _FIRST.take(left, mode="clip")
        same[pairs[rows]] &= words == rivals
    return same


def changes(spans: Spans) -> Bools:
    """(spans,) whether each span differs from the one before it; the first does."""
    length = spans.stop - spans.start
    different = np.ones(len(length), dtype=np.bool_)
    np.not_equal(length[1:], length[:-1], out=different[1:])
    for _, rows, words in _steps(spans):
        if isinstance(rows, slice):
            different[1:] |= words[1:] != words[:-1]
        else:
            # Neighbours in `rows` that are no neighbours in the text only ask for a comparison that is not needed.
            follows = rows[1:] == rows[:-1] + 1
            different[rows[1:]] |= follows & (words[1:] != words[:-1])
    return different
