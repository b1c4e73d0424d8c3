"""Files as DuckDB can be given them: plain, by a name without patterns, and with lines that end in one way."""

import re
import shutil
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from rankwell.store import Source


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
def on_disk(source: Source, *, delimiter: str = "") -> Generator[Path]:
    """The content as a plain file: the file itself, or a copy of what is compressed, piped or behind a byte order mark.

    delimiter: of a text table, in which lines must end in one way: DuckDB stops at a file with two, or takes one of them into the
    last field, and stops at a carriage return within a field without quotes.
    """
    mixed, bare = _line_ends(source) if delimiter else (False, False)
    if source.path is not None and not mixed and not bare:
        with plain_path(source.path) as path:
            yield path
        return
    with tempfile.TemporaryDirectory(prefix="rankwell-") as folder:
        copy = Path(folder, "table")
        with source.open() as stream, copy.open("wb") as target:
            if bare:
                target.writelines(_quoted_returns(line, delimiter.encode()) for line in stream)
            elif mixed:
                target.writelines(_one_line_end(stream, re.escape(delimiter).encode()))
            else:
                shutil.copyfileobj(stream, target, 1 << 20)
        yield copy


def _line_ends(source: Source) -> tuple[bool, bool]:
    """Whether lines end in two ways, and whether fields have carriage returns though there is not a quote in the file."""
    ends = pairs = returns = 0
    is_quoted, last = False, b""
    with source.open() as stream:
        while chunk := stream.read(1 << 20):
            ends += chunk.count(b"\n")
            pairs += chunk.count(b"\r\n") + (last == b"\r" and chunk.startswith(b"\n"))
            returns += chunk.count(b"\r")
            is_quoted = is_quoted or b'"' in chunk
            last = chunk[-1:]
    return 0 < pairs < ends, bool(pairs < returns and ends and not is_quoted)


def _one_line_end(stream: Iterable[bytes], delimiter: bytes) -> Generator[bytes]:
    """The lines, each with the same end; those that end within quotes keep their own."""
    whole, begun = re.compile(rb'(?:^|(?<=%b))"(?:[^"]|"")*+"' % delimiter), re.compile(rb'(?:^|%b)"' % delimiter)
    is_open = False
    for line in stream:
        is_open = begun.search(whole.sub(b"", b'"' * is_open + line)) is not None
        yield line if is_open or not line.endswith(b"\r\n") else line[:-2] + b"\n"


def _quoted_returns(line: bytes, delimiter: bytes) -> bytes:
    fields = line.removesuffix(b"\n").removesuffix(b"\r").split(delimiter)
    return delimiter.join(b'"%s"' % field if b"\r" in field else field for field in fields) + b"\n"
