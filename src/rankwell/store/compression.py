"""Compressed content: pieces of zstd, streams of known proportion, and the refusal of content made
to fill the memory.
"""

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from rankwell.errors import BadInput, naming

_MOST_UNPACKED, _RATIO = 1 << 25, 200
_PIECE = 1 << 12


def refuse_bomb(unpacked: int, packed: int, advice: str = "unpack it yourself") -> None:
    """Raises BadInput where content is so much longer than its compressed form that it is made to
    fill the memory.
    """
    if unpacked > max(_MOST_UNPACKED, _RATIO * packed):
        most = f"{_RATIO} times as many and {_MOST_UNPACKED >> 20} MiB"
        problem = f"{packed} compressed bytes unpack to more than {most}, which can fill the memory"
        raise BadInput(f"{problem}; if the content is right, {advice} and name the result.")


class Unpacked(io.RawIOBase):
    """Decompressed content, piece by piece. Raises BadInput where it is far longer than its file
    suggests.
    """

    def __init__(self, pieces: Iterator[bytes], packed: int, name: str) -> None:
        self._pieces, self._packed, self._name = pieces, packed, name
        self._size, self._ready = 0, memoryview(b"")

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fills the buffer as far as one piece goes; 0 at the end."""
        while not self._ready:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._ready, self._size = memoryview(piece), self._size + len(piece)
            with naming(self._name):
                refuse_bomb(self._size, self._packed)
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def zstd_pieces(raw: BinaryIO, name: str) -> Iterator[bytes]:
    """The content of zstd frames; a piece that is read, of 4 KiB, has 1,024 blocks at most, and a
    block holds 128 KiB.
    """
    import zstandard

    try:
        piece = raw.read(_PIECE)
        while piece:
            frame = zstandard.ZstdDecompressor().decompressobj()
            while piece and not frame.eof:
                yield frame.decompress(piece)
                piece = frame.unused_data if frame.eof else raw.read(_PIECE)
            if not frame.eof:
                raise BadInput(f"{name}: the zstd data ends early; fetch or compress it again.")
            piece = piece or raw.read(_PIECE)
    except zstandard.ZstdError as error:
        raise BadInput(
            f"{name}: the zstd data is damaged ({error}); fetch or compress it again."
        ) from error
