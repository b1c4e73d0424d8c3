"""Shards of a run: the files of a folder, and ranges of a file, whole lines of a text or rows of a
Parquet file.
"""

import io
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from rankwell.errors import BadInput
from rankwell.store.drafts import refuse_draft
from rankwell.store.places import Source, exists, folder_names, remote_url

_OTHERS = {
    "corpus.jsonl": "a BEIR data set",
    "qrels": "a BEIR data set",
    "manifest.json": "a result folder",
    "plan.json": "a work folder",
}
"""Names in folders that are not runs."""
_NEAR = 1 << 20


def run_files(place: Any) -> list[str]:
    """The files of a run in a folder, local or remote, in order of their names' bytes; empty for
    another place, and for rows.

    Hidden files (`.name`, `_name`) are left out. Raises BadInput for a folder of something else: a
    data set, results, the parts of some work, folders, or nothing.
    """
    if not isinstance(place, (str, Path)):
        return []
    is_local = remote_url(place) is None
    if is_local and not (exists(place) and Path(place).is_dir()):
        return []
    if is_local:
        refuse_draft(Path(place))
    folder, names = folder_names(place)
    inside = [name for name in names if name.endswith("/") and not name.startswith((".", "_"))]
    if mark := next((name for name in _OTHERS if name in names or f"{name}/" in inside), None):
        raise BadInput(
            f"{folder} is {_OTHERS[mark]} (it has {mark}), not a run; name a file, or a "
            "folder of files of one run."
        )
    file_names = [
        name for name in names if not name.startswith((".", "_")) and not name.endswith("/")
    ]
    if inside or (is_local and not file_names):
        problem = (
            f"{folder}/{inside[0].rstrip('/')} is a folder"
            if inside
            else f"{folder} is a folder without files"
        )
        raise BadInput(f"{problem}; expected the files of one run in one folder.")
    return [f"{folder}/{name}" for name in file_names]


class SourceRange(Source):
    """Some lines of a plain text file, from byte `start` to byte `stop`; with `of_rows` some rows
    of a Parquet file.

    Messages of readers count lines and rows from the start of the range: read the whole file for
    the place of a mistake.
    """

    def __init__(self, place: str | Path, start: int, stop: int, *, of_rows: bool = False) -> None:
        super().__init__(place)
        self._path_or_url, self._span = place, (start, stop)
        self.rows = (start, stop) if of_rows else None

    @cached_property
    def compression(self) -> str:
        """None: ranges are of plain files."""
        return ""

    @cached_property
    def marked(self) -> bool:
        """Whether the range begins with the byte order mark of the file."""
        return self.rows is None and self._span[0] == 0 and self.full_source.marked

    @property
    def full_source(self) -> Source:
        """The whole file, of the same name in messages."""
        source = Source(self._path_or_url)
        source.name = self.name
        return source

    @property
    def path(self) -> Path | None:
        """The file, of which `rows` are read; None where the content is a part of the file's
        bytes.
        """
        return None if self.rows is None else self.file

    @property
    def span(self) -> tuple[Path, int, int | None] | None:
        """The file and the range; None where that begins with a byte order mark, and for rows."""
        return (
            None
            if self.file is None or self.marked or self.rows is not None
            else (self.file, *self._span)
        )

    @contextmanager
    def _content(self, *, begin: bool = False) -> Generator[BinaryIO]:
        with self._raw(begin=begin) as raw:
            if self.rows is not None:
                yield raw
                return
            raw.seek(self._span[0])
            yield io.BufferedReader(_Limited(raw, self._span[1] - self._span[0]), 1 << 20)


class _Limited(io.RawIOBase):
    """So many bytes of a stream."""

    def __init__(self, stream: BinaryIO, n_left: int) -> None:
        self._stream, self._n_left = stream, n_left

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fills the buffer as far as the bytes go; 0 at the end."""
        size = min(len(buffer), self._n_left)
        piece = self._stream.read(size)
        buffer[: len(piece)] = piece
        self._n_left -= len(piece)
        return len(piece)


def line_starts(path: Path, offsets: Sequence[int]) -> list[int]:
    """For each place of a file the beginning of a line at it or behind it; the size of the file
    where there is none.

    That of the next line whose first word is another than that of the line before, where one is
    near; else that of the next line.
    """
    starts = list[int]()
    with path.open("rb") as stream:
        for offset in offsets:
            stream.seek(max(offset - 1, 0))
            stream.readline()
            first, at, before = stream.tell(), stream.tell(), list[bytes]()
            while at - first < _NEAR and (line := stream.readline()):
                word = line.split(None, 1)[:1]
                if before and word != before:
                    break
                before, at = word, at + len(line)
            starts.append(at if at - first < _NEAR else first)
    return starts
