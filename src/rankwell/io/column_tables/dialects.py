"""Kinds of tables with named columns, recognised by their beginnings, as files that
DuckDB can be given.
"""

import io
import re
import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from rankwell.data.columns import (
    UNKNOWN,
    Holds,
    known_columns,
    likelihood,
    parquet,
    quoted,
    refuse_names,
    sql_text,
)
from rankwell.documents import MOST_COLUMNS, TAB, first_objects, first_rows
from rankwell.io import connected, remote_tables, undamaged
from rankwell.store import Head, Source, refuse_bomb

PAR1 = b"PAR1"
TEXTS = re.compile(r"VARCHAR|ENUM.*|UUID")
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?", re.ASCII)


class Glimpse(NamedTuple):
    """A first look at a Parquet file.

    types: name of a column -> its type in DuckDB, columns in the order of the file.
    names: name of a column -> its name in DuckDB, which differs where an earlier column has the
        same name apart from case.
    scores: the first values, at most 1,000, of the column `score`; empty without such a column.
    """

    types: dict[str, str]
    names: dict[str, str]
    scores: tuple[Any, ...]


def glimpse(place: Path | str) -> Glimpse:
    """Names and types of the columns, and a few scores, of a file or an object. Raises BadInput for
    a damaged one.
    """
    if isinstance(place, str):
        from rankwell.store.remote import existing

        return _glimpse(place, existing(place))
    state = place.stat()
    return _glimpse(place, (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=16)
def _glimpse(place: Path | str, _: object) -> Glimpse:
    """The same, once for a state of the file: every kind of table looks while the format is
    recognised.
    """
    with parquet_session(place) as (session, name):
        return glimpse_of(session, name)


@contextmanager
def parquet_session(place: Path | str) -> Generator[tuple[Any, Path | str]]:
    """A session, and the name in it of a Parquet file, or of an object that is read by ranges.
    Raises BadInput for a damaged one.
    """
    with undamaged(f"{place}: "), connected() as session:
        if isinstance(place, Path):
            with plain_path(place) as plain:
                yield session, plain
        else:
            from rankwell.store.remote import file_name

            remote_tables()
            yield session, file_name(place)


def glimpse_of(session: Any, plain: Path | str) -> Glimpse:
    """The same of a file by a name without wildcards. Raises errors of DuckDB for a damaged one."""
    nodes = session.execute(
        f"SELECT name, num_children FROM parquet_schema({sql_text(plain)})"
    ).fetchall()
    top_names, below = list[str](), 0
    # Every node comes before its children.
    for name, children in nodes[1:]:
        if below == 0:
            top_names.append(name)
        below = max(0, below - 1) + (children or 0)
    refuse_names(top_names)
    _refuse_bomb(session, plain)
    described = session.execute(f"DESCRIBE SELECT * FROM {parquet(plain)}").fetchall()
    types = {name: row[1] for name, row in zip(top_names, described, strict=True)}
    names = {name: row[0] for name, row in zip(top_names, described, strict=True)}
    score = next((name for name in types if name.lower() == "score"), None)
    sample = (
        "" if score is None else f"SELECT {quoted(names[score])} FROM {parquet(plain)} LIMIT 1000"
    )
    return Glimpse(
        types, names, tuple(row[0] for row in session.execute(sample).fetchall()) if sample else ()
    )


def _refuse_bomb(session: Any, plain: Path | str) -> None:
    """Raises BadInput where a file is far shorter than its rows, which a dictionary of values and
    runs of one value allow.

    A row is 8 bytes at least, as in lines of text. The longest column counts: the others need not
    be read.
    """
    width = (
        "CASE type WHEN 'BOOLEAN' THEN 1 WHEN 'INT32' THEN 4 WHEN 'FLOAT' THEN 4 WHEN "
        "'BYTE_ARRAY' THEN "
        "CASE WHEN regexp_matches(encodings, 'DICTIONARY|DELTA') "
        "THEN coalesce((strlen(stats_min_value) + strlen(stats_max_value)) / 2, 0) ELSE 0 END "
        "ELSE 8 END"
    )
    values = (
        f"greatest(total_uncompressed_size, (num_values - coalesce(stats_null_count, 0)) * {width})"
    )
    sizes = (
        f"SELECT sum(row_group_num_rows) AS rows, sum({values}) AS bytes, "
        "sum(total_compressed_size) AS packed"
    )
    file_sizes = session.execute(
        f"SELECT max(rows), max(bytes), sum(packed) FROM ({sizes} FROM "
        f"parquet_metadata({sql_text(plain)}) GROUP BY column_id)"
    ).fetchone()
    if file_sizes is not None and file_sizes[0] is not None:
        rows, longest, packed = file_sizes
        size = plain.stat().st_size if isinstance(plain, Path) else int(packed)
        refuse_bomb(max(8 * int(rows), int(longest)), size, "write it as CSV")


def has_runs(types: Mapping[str, str]) -> bool:
    """Whether a column `run` names the run of each row."""
    return TEXTS.fullmatch(types.get("run", "")) is not None


@dataclass(frozen=True)
class Dialect:
    """One kind of table.

    name: csv, tsv, parquet or jsonl.
    suffixes: the suffixes of its files, in lower case.
    copy: DuckDB's options for writing such a file.
    delimiters: the delimiters that a text table may have; "" for a kind that is no text table.
    """

    name: str
    suffixes: tuple[str, ...]
    copy: str
    delimiters: str = ""

    def names(self, head: Head) -> list[str]:
        """The names of the columns as far as the head shows them; none where the content is of
        another kind.
        """
        if self.name == "parquet":
            return (
                list(glimpse(head.table).types)
                if head.raw.startswith(b"PAR1") and head.table
                else []
            )
        if self.name == "jsonl":
            return list(dict.fromkeys(key for record in first_objects(head.text) for key in record))
        is_text = head.lines and not head.text.startswith(("{", "["))
        return self.split(head)[0] if is_text else []

    def _plain_names(self, head: Head) -> list[str]:
        """The names by which a table is recognised; those of a header between tabs in quotes, too,
        so that it can be refused.
        """
        names = self.names(head)
        return (
            [name[1:-1] if name[:1] == name[-1:] == '"' else name for name in names]
            if self.delimiters == TAB
            else names
        )

    def delimiter(self, head: Head) -> str:
        """The delimiter that makes most known names of the first line, and of those most names."""

        def _names(delimiter: str) -> tuple[int, int]:
            names = _split(head, delimiter)[0]
            return known_columns(names), len(names)

        return max(self.delimiters, key=_names) if head.lines else ""

    def sniff(self, head: Head, holds: Holds) -> float:
        """Confidence that a file is a table of this kind that holds the expected data."""
        if self.name == "parquet" and head.raw.startswith(b"PAR1") and head.table is None:
            return 0.5 if holds != "preferences" else 0.0
        names = self._plain_names(head)
        # `refuse_names` refuses so many.
        names = names[:100] if len(names) > MOST_COLUMNS else names
        # No other format has a file of Parquet or JSON lines, whose reader names the column that is
        # missing.
        is_sure = self.name == "parquet" or (self.name == "jsonl" and "\n{" in head.text.rstrip())
        least = UNKNOWN * bool(is_sure and names and holds != "preferences")
        if len(names) < 2:
            return least
        has_integer_scores = self.has_integer_scores(head, names)
        return max(likelihood(names, holds, has_integer_scores=has_integer_scores), least)

    def split(self, head: Head) -> list[list[str]]:
        """The fields of the first lines of a text table."""
        return _split(head, self.delimiter(head))

    def has_integer_scores(self, head: Head, names: Sequence[str]) -> bool:
        """Whether the first values of the column `score` are integers."""
        score = next((name for name in names if name.lower() == "score"), None)
        if score is None:
            return False
        if self.name == "parquet":
            return head.table is not None and all(
                _WHOLE.fullmatch(str(value)) for value in glimpse(head.table).scores
            )
        if self.name == "jsonl":
            scores = [str(record.get(score)) for record in first_objects(head.text)]
            return all(map(_WHOLE.fullmatch, scores))
        return all(
            _WHOLE.fullmatch(row[names.index(score)])
            for row in self.split(head)[1:]
            if len(row) == len(names)
        )


CSV = Dialect("csv", (".csv",), "FORMAT csv, HEADER, DELIMITER ','", ",;|")
TSV = Dialect("tsv", (".tsv",), "FORMAT csv, HEADER, DELIMITER '\t', QUOTE '', ESCAPE ''", TAB)
PARQUET = Dialect("parquet", (".parquet", ".parq"), "FORMAT parquet, COMPRESSION zstd")
JSONL = Dialect("jsonl", (".jsonl", ".ndjson"), "FORMAT json")


def _split(head: Head, delimiter: str) -> list[list[str]]:
    """The fields of the first lines. Lines that begin with `#` are comments, not headers."""
    lines = [line.decode("utf-8", "replace") for line in head.lines[:200]]
    return first_rows(lines, delimiter) or [[]]


class TextLines(NamedTuple):
    """The lines of a text table and how they end.

    n: number of lines.
    is_quoted: whether any line has a quotation mark.
    is_mixed: whether the lines have different ends.
    has_returns: whether any line has a carriage return within it.
    by_return: whether all lines end in a carriage return alone.
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
        content = io.BytesIO(stream.read().replace(b"\r", b"\n")) if lines.by_return else stream
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
