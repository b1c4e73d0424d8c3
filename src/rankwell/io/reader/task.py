"""One reading of one file: what is asked, and the walk over its blocks that every way of reading shares."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from rankwell.errors import BadInput
from rankwell.io.reader.blocks import BLOCK, Block, Blocks, in_order
from rankwell.io.reader.groups import Part
from rankwell.io.reader.lines import Fault
from rankwell.io.reader.reading import Layout, Progress, Reading
from rankwell.store import Source


class _Sized(Protocol):
    @property
    def size(self) -> int:
        """The number of lines of the block."""
        ...


Sized = TypeVar("Sized", bound=_Sized)


class Double(NamedTuple):
    """An item that a query lists twice, and the lines, from 1, that do."""

    query: bytes
    item: bytes
    first: int
    second: int


class Outcome(NamedTuple):
    """What a file says. unknown: queries that nobody judged, with their rows. double: the first item that is listed twice."""

    parts: list[Part]
    unknown: dict[bytes, int]
    double: Double | None


@dataclass(frozen=True)
class Task:
    """A run file to be read."""

    source: Source
    layout: Layout
    reading: Reading
    threads: int = 2
    progress: Progress | None = None
    block_size: int = BLOCK

    def nothing(self) -> BadInput:
        """The error for a file without a line."""
        return BadInput(f"{self.source.name}: there is no line in it; a {self.layout.name} has lines of {self.layout.form}.")

    def walk(self, work: Callable[[Block], Sized], *, whole_queries: bool) -> Iterator[tuple[Block, int, Sized]]:
        """Each block, the number of lines before it, and what `work` made of it.

        Raises BadLine or BadScore for a line that is none, Scattered where a whole query is wanted and does not fit in a block.
        """
        _keep_freed_memory()
        total = 0 if self.source.path is None else self.source.path.stat().st_size
        lines = 0
        with self.source.open() as stream:
            blocks = Blocks(stream, whole_queries=whole_queries, comments=self.reading.comments, size=self.block_size)
            for block, result in in_order(blocks, lambda block: _try(work, block), self.threads):
                if isinstance(result, Fault):
                    raise result.named(self.source.name, lines)
                yield block, lines, result
                lines += result.size
                if self.progress is not None:
                    self.progress(block.place + len(block.text.content), total)


def _keep_freed_memory() -> None:
    """Makes glibc keep what temporary arrays leave: it gives back only what lies above twice the largest block freed so far.

    Without this a fifth of the time goes into fetching the same pages again and again. Elsewhere it does nothing.
    """
    np.empty(24 << 20, dtype=np.uint8)


def _try(work: Callable[[Block], Sized], block: Block) -> Sized | Fault:
    try:
        return work(block)
    except Fault as fault:
        return fault
