"""The compiled reader of judgments. What it does not understand, and every mistake, it leaves to the reader of the format."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rankwell.core.kernels import native

if TYPE_CHECKING:
    from rankwell.core.tables.judgments import Judgments
    from rankwell.store import Source

_SLACK = 80


class JudgedRows(NamedTuple):
    """Judgments as `Judgments` has them, with the numbers of `offsets` (int64) and `grades` (float64) as bytes."""

    queries: tuple[str, ...]
    offsets: bytes
    items: list[str]
    grades: bytes
    aspects: list[str] | None

    def table(self) -> Judgments:
        """The same as a table."""
        import numpy as np

        from rankwell.core.tables.judgments import Judgments

        offsets, grades = np.frombuffer(self.offsets, dtype=np.int64), np.frombuffer(self.grades, dtype=np.float64)
        return Judgments(self.queries, offsets.copy(), self.items, grades.copy(), self.aspects)


def read(source: Source, *, header: bytes = b"", comments: bool = False, aspects: bool = False) -> JudgedRows | None:
    """The rows of lines `query aspect item grade` between any white space; of `query item grade` between tabs below a header.

    None where there is no compiled kernel, and for a file that another reader has to look at.
    """
    if native.library is None:
        return None
    room = bytearray(source.read())
    size = len(room)
    if not room.startswith(header):
        return None
    room += bytes(_SLACK)
    found = native.library.reader_judgments(room, len(header), size, bool(header), comments, aspects)
    return None if found is None else JudgedRows(*found)
