"""Files as DuckDB can be given them: plain, by a name without patterns, and with lines that end in
one way.
"""

import io
import re
import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from rankwell.delimited import TAB
from rankwell.store import Source


class TextLines(NamedTuple):
    """The ends of the lines of a text table. n: their number. is_quoted: whether there is a
    quotation mark. is_mixed: whether they end in two ways. has_returns: whether carriage returns
    lie within them. by_return: whether they end in nothing else.
    """

    n: int
    is_quoted: bool
    is_mixed: bool
    has_returns: bool
    by_return: bool

    def quoting(self, delimiter: str) -> str:
        """The quotation mark in the file that `on_disk` gives for a table; empty where it is a
        character as any other.
        """
        return "" if delimiter == TAB and not self.has_returns else '"'


def text_lines(source: Source) -> TextLines:
    """The ends of the lines of a text."""
    ends = pairs = returns = 0
    is_quoted, last = False, b""
    with source.open() as stream:
        while chunk := stream.read(1 << 20):
            ends += chunk.count(b"\n")
            pairs += chunk.count(b"\r\n") + (last == b"\r" and chunk.startswith(b"\n"))
            returns += chunk.count(b"\r")
            is_quoted = is_quoted or b'"' in chunk
            last = chunk[-1:]
    n = (ends or returns) + (last != (b"\n" if ends or not returns else b"\r"))
    return TextLines(
        n, is_quoted, 0 < pairs < ends, bool(pairs < returns and ends), bool(returns and not ends)
    )


@contextmanager
def plain_path(path: Path) -> Generator[Path]:
    """The path, or a link to it where its name has characters that DuckDB takes for a pattern."""
    if not re.search(r"[*?\[\]{}]", str(path)):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="rankwell-") as folder:
        link = Path(folder, "table")
        link.symlink_to(path.resolve())
        yield link


@contextmanager
def on_disk(
    source: Source, *, delimiter: str = "", lines: TextLines | None = None
) -> Generator[Path]:
    """The content as a plain file: the file itself, or a copy of what is compressed, piped or
    behind a byte order mark.

    delimiter, lines: of a text table, whose lines must end in one way: DuckDB stops at a file with
    two, or takes one of them into the last field, and stops at a carriage return within a field
    without quotes.
    """
    is_mixed = lines is not None and lines.is_mixed
    bare = lines is not None and lines.has_returns and (delimiter == TAB or not lines.is_quoted)
    if source.path is not None and not is_mixed and not bare:
        with plain_path(source.path) as path:
            yield path
        return
    with tempfile.TemporaryDirectory(prefix="rankwell-") as folder:
        copy = Path(folder, "table")
        with source.open() as stream, copy.open("wb") as target:
            if bare:
                target.writelines(_quoted_returns(line, delimiter.encode()) for line in stream)
            elif is_mixed:
                for _, record in _records(stream, delimiter):
                    *inner_lines, last = record
                    target.writelines(
                        (*inner_lines, last[:-2] + b"\n" if last.endswith(b"\r\n") else last)
                    )
            else:
                shutil.copyfileobj(stream, target, 1 << 20)
        yield copy


def count_records(
    source: Source, lines: TextLines, delimiter: str, skipped: int
) -> tuple[int, int]:
    """The records of a text table behind the skipped lines, and the blank lines among them.

    Marks are counted first; only where they do not pair does each line tell which marks are quotes.
    """
    with _without(source, lines, skipped) as stream:
        ends, blank = _count_ends(stream, quoted=lines.is_quoted and delimiter != TAB)
    return ends, blank


def recount_records(
    source: Source, lines: TextLines, delimiter: str, skipped: int
) -> tuple[int, int, int]:
    """The same, a line at a time, and the number of the first line that ends within quotes, 0
    without one.
    """
    n = blank = open_line = 0
    with _without(source, lines, skipped) as stream:
        for number, record in _records(stream, delimiter):
            n += 1
            blank += len(record) == 1 and not record[0].strip(b"\r\n")
            if len(record) > 1 and not open_line:
                open_line = number + skipped
    return n, blank, open_line


@contextmanager
def _without(source: Source, lines: TextLines, skipped: int) -> Generator[BinaryIO]:
    """The content from a line on, with lines that end in a line feed."""
    with source.open() as stream:
        content: BinaryIO = (
            io.BytesIO(stream.read().replace(b"\r", b"\n")) if lines.by_return else stream
        )
        for _ in range(skipped):
            content.readline()
        yield content


def _count_ends(stream: BinaryIO, *, quoted: bool) -> tuple[int, int]:
    """The lines that end outside quotes, and the blank ones among them, if every mark opens or
    closes a field.
    """
    n = blank = offset = odd = 0
    last, before = -1, b"\n"
    while chunk := stream.read(1 << 20):
        cells = np.frombuffer(chunk, dtype=np.uint8)
        ends = np.flatnonzero(cells == ord("\n"))
        if quoted:
            marks = np.flatnonzero(cells == ord('"'))
            ends = ends[(np.searchsorted(marks, ends) + odd) % 2 == 0]
            odd = (odd + len(marks)) % 2
        gaps = np.diff(ends + offset, prepend=last)
        after_return = np.where(ends > 0, cells[ends - 1] == ord("\r"), before == b"\r")
        blank += int(((gaps == 1) | ((gaps == 2) & after_return)).sum())
        n += len(ends)
        last = int(ends[-1]) + offset if len(ends) else last
        offset += len(chunk)
        before = chunk[-1:]
    return n + (offset > last + 1), blank


def _records(stream: Iterable[bytes], delimiter: str) -> Iterator[tuple[int, list[bytes]]]:
    """The records, each as its lines, with the number of the first; between tabs every line is one,
    else quotes may go on.
    """
    mark = re.escape(delimiter).encode()
    closed_field, open_field = (
        re.compile(rb'(?:^|(?<=%b))"(?:[^"]|"")*+"' % mark),
        re.compile(rb'(?:^|%b)"' % mark),
    )
    record = list[bytes]()
    number = 0
    for number, line in enumerate(stream, 1):
        is_open = (
            delimiter != TAB
            and open_field.search(closed_field.sub(b"", b'"' * bool(record) + line)) is not None
        )
        record.append(line)
        if not is_open:
            yield number + 1 - len(record), record
            record = []
    if record:
        yield number + 1 - len(record), record


def _quoted_returns(line: bytes, delimiter: bytes) -> bytes:
    fields = line.removesuffix(b"\n").removesuffix(b"\r").split(delimiter)
    quoted = (
        b'"%b"' % field.replace(b'"', b'""') if b"\r" in field or b'"' in field else field
        for field in fields
    )
    return delimiter.join(quoted) + b"\n"
