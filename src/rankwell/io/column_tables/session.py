"""DuckDB sessions and what is safe to hand them: paths without patterns, plain files."""

import re
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.core.tables.names import parquet, quoted
from rankwell.errors import BadInput
from rankwell.store import Source


@contextmanager
def connected() -> Generator[Any]:
    """A session in memory that keeps the order of rows, reaches no network and spills into the system's folder."""
    import duckdb

    settings = {"preserve_insertion_order": True, "autoinstall_known_extensions": False, "autoload_known_extensions": False}
    with tempfile.TemporaryDirectory(prefix="rankwell-") as folder:
        options: dict[str, Any] = {**settings, "python_enable_replacements": False, "temp_directory": folder}
        with duckdb.connect(":memory:", config=options) as session:
            yield session


class Glimpse(NamedTuple):
    """What a Parquet file says of itself: names and types of its columns, and the first values of the column `score`."""

    types: dict[str, str]
    scores: tuple[Any, ...]


def glimpse(path: Path) -> Glimpse:
    """Names and types of the columns, and a few scores. Raises BadInput for a damaged file."""
    state = path.stat()
    return _glimpse(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _glimpse(path: Path, *_: int) -> Glimpse:
    """The same, once for a file as it lies on disk: every kind of table asks while formats are told apart."""
    import duckdb

    try:
        with plain_path(path) as plain, connected() as session:
            types = {row[0]: row[1] for row in session.execute(f"DESCRIBE SELECT * FROM {parquet(plain)}").fetchall()}
            score = next((name for name in types if name.lower() == "score"), None)
            sample = "" if score is None else f"SELECT {quoted(score)} FROM {parquet(plain)} LIMIT 1000"
            return Glimpse(types, tuple(row[0] for row in session.execute(sample).fetchall()) if sample else ())
    except duckdb.Error as error:
        raise BadInput(f"{path}: the Parquet data is damaged or ends early ({first_line(error)}); fetch it again.") from error


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
def on_disk(source: Source, *, lines: bool) -> Generator[Path]:
    """The content as a plain file: the file itself, or a copy of what is compressed, piped or behind a byte order mark.

    lines: whether line ends must be of one kind; DuckDB stops at a file with two, or takes one of them into the last field.
    """
    mixed = lines and _has_mixed_line_ends(source)
    if source.path is not None and not mixed:
        with plain_path(source.path) as path:
            yield path
        return
    with tempfile.TemporaryDirectory(prefix="rankwell-") as folder:
        copy = Path(folder, "table")
        with source.open() as stream, copy.open("wb") as target:
            if mixed:
                target.writelines(line.removesuffix(b"\r\n") + b"\n" if line.endswith(b"\r\n") else line for line in stream)
            else:
                shutil.copyfileobj(stream, target, 1 << 20)
        yield copy


def _has_mixed_line_ends(source: Source) -> bool:
    ends = pairs = 0
    last = b""
    with source.open() as stream:
        while chunk := stream.read(1 << 20):
            ends += chunk.count(b"\n")
            pairs += chunk.count(b"\r\n") + (last == b"\r" and chunk.startswith(b"\n"))
            last = chunk[-1:]
    return 0 < pairs < ends


def first_line(error: Exception) -> str:
    """What a message says before it explains itself."""
    return str(error).split("\n")[0]
