"""Tables in DuckDB: kinds of tables, and one table as SQL, loaded and checked."""

import csv
import json
import re
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from rankwell.core.catalogue import suggest
from rankwell.core.tables.columns import Columns, Holds, known_columns, likelihood, parquet, quoted, sql_text
from rankwell.documents import parse_json, read_json, refuse_trailing_commas, trailing_commas, unique_keys
from rankwell.errors import BadInput, BadLine, BadScore, shown
from rankwell.io import connected, first_line, remote_tables, undamaged
from rankwell.io.column_tables.plain_files import on_disk, plain_path
from rankwell.store import Head, Source

PAR1 = b"PAR1"
_LONGEST_ROW, _MOST_COLUMNS = 1 << 28, 10_000
"""Bytes of the longest line or object that is read, and the number of columns of the widest table."""
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?", re.ASCII)
_INTEGERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|UHUGEINT|UINTEGER")
_NUMBERS = re.compile(rf"{_INTEGERS.pattern}|FLOAT|DOUBLE|DECIMAL.*")
_TEXTS = re.compile(r"VARCHAR|ENUM.*|UUID")


class Glimpse(NamedTuple):
    """Types of the columns of a Parquet file, DuckDB's names of them, and the first values of the column `score`.

    names: DuckDB gives a column another name where one before it differs in case alone.
    """

    types: dict[str, str]
    names: dict[str, str]
    scores: tuple[Any, ...]


def glimpse(place: Path | str) -> Glimpse:
    """Names and types of the columns, and a few scores, of a file or an object. Raises BadInput for a damaged one."""
    if isinstance(place, str):
        from rankwell.store.remote import existing

        return _glimpse_object(existing(place))
    state = place.stat()
    return _glimpse(place, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _glimpse_object(seen: Any) -> Glimpse:
    """The same of an object, by ranges."""
    from rankwell.store.file_system import file_name

    with undamaged(f"{seen.url}: "), connected() as session:
        remote_tables()
        return glimpse_of(session, file_name(seen.url))


@lru_cache(maxsize=8)
def _glimpse(path: Path, *_: int) -> Glimpse:
    """The same, once for a state of the file: every kind of table looks while the format is recognised."""
    with undamaged(f"{path}: "), plain_path(path) as plain, connected() as session:
        return glimpse_of(session, plain)


def glimpse_of(session: Any, plain: Path | str) -> Glimpse:
    """The same of a file by a name without wildcards. Raises errors of DuckDB for a damaged one."""
    nodes = session.execute(f"SELECT name, num_children FROM parquet_schema({sql_text(plain)})").fetchall()
    own, below = list[str](), 0
    # Every node comes before its children.
    for name, children in nodes[1:]:
        if below == 0:
            own.append(name)
        below = max(0, below - 1) + (children or 0)
    refuse_names(own)
    described = session.execute(f"DESCRIBE SELECT * FROM {parquet(plain)}").fetchall()
    types = {name: row[1] for name, row in zip(own, described, strict=True)}
    names = {name: row[0] for name, row in zip(own, described, strict=True)}
    score = next((name for name in types if name.lower() == "score"), None)
    sample = "" if score is None else f"SELECT {quoted(names[score])} FROM {parquet(plain)} LIMIT 1000"
    return Glimpse(types, names, tuple(row[0] for row in session.execute(sample).fetchall()) if sample else ())


def refuse_names(names: Sequence[str]) -> None:
    """Raises BadInput for a name that two columns have, and for more columns than can be read within seconds."""
    if len(names) > _MOST_COLUMNS:
        raise BadInput(f"{len(names)} columns; at most {_MOST_COLUMNS} are read: keep those of queries, items and values.")
    if double := next((name for name, number in Counter(names).items() if number > 1), ""):
        raise BadInput(f"two columns are called {double!r}; rename or drop one of them.")


def has_runs(types: Mapping[str, str]) -> bool:
    """Whether a column `run` names the run of each row."""
    return _TEXTS.fullmatch(types.get("run", "")) is not None


@dataclass(frozen=True)
class Dialect:
    """One kind of table. delimiters: those that a text table may have. copy: DuckDB's options for writing it."""

    name: str
    suffixes: tuple[str, ...]
    copy: str
    delimiters: str = ""

    def names(self, head: Head) -> list[str]:
        """The names of the columns as far as the head shows them; none where the content is of another kind."""
        if self.name == "parquet":
            return list(glimpse(head.table).types) if head.raw.startswith(b"PAR1") and head.table else []
        if self.name == "jsonl":
            return list(dict.fromkeys(chain.from_iterable(records(head))))
        return _split(head, self.delimiter(head))[0] if head.lines else []

    def delimiter(self, head: Head) -> str:
        """The delimiter that makes most known names of the first line, and of those most names."""

        firsts = {delimiter: _split(head, delimiter)[0] for delimiter in self.delimiters if head.lines}
        return max(firsts, key=lambda each: (known_columns(firsts[each]), len(firsts[each])), default="")

    def sniff(self, head: Head, holds: Holds) -> float:
        """Confidence that a file is a table of this kind that holds the expected data."""
        if self.name == "parquet" and head.raw.startswith(b"PAR1") and head.table is None:
            return 0.5 if holds != "preferences" else 0.0
        names = self.names(head)
        names = names[:100] if len(names) > _MOST_COLUMNS else names  # `refuse_names` refuses so many
        return likelihood(names, holds, whole=self.whole(head, names)) if len(names) > 1 else 0.0

    def split(self, head: Head) -> list[list[str]]:
        """The fields of the first lines of a text table."""
        return _split(head, self.delimiter(head))

    def whole(self, head: Head, names: Sequence[str]) -> bool:
        """Whether the first values of the column `score` are integers."""
        score = next((name for name in names if name.lower() == "score"), None)
        if score is None:
            return False
        if self.name == "parquet":
            return head.table is not None and all(_WHOLE.fullmatch(str(value)) for value in glimpse(head.table).scores)
        if self.name == "jsonl":
            return all(_WHOLE.fullmatch(str(record.get(score))) for record in records(head))
        rows = _split(head, self.delimiter(head))[1:]
        return all(_WHOLE.fullmatch(row[names.index(score)]) for row in rows if len(row) == len(names))


CSV = Dialect("csv", (".csv",), "FORMAT csv, HEADER, DELIMITER ','", ",;|")
TSV = Dialect("tsv", (".tsv",), "FORMAT csv, HEADER, DELIMITER '\t'", "\t")
PARQUET = Dialect("parquet", (".parquet", ".parq"), "FORMAT parquet, COMPRESSION zstd")
JSONL = Dialect("jsonl", (".jsonl", ".ndjson"), "FORMAT json")


def _split(head: Head, delimiter: str) -> list[list[str]]:
    """The fields of the first lines. Lines that begin with `#` are comments, not headers."""
    lines = [line.decode("utf-8", "replace") for line in head.lines[:200]]
    return list(csv.reader(lines, delimiter=delimiter)) or [[]]


def records(head: Head) -> list[dict[str, Any]]:
    """The first objects of JSON lines or of a list of objects."""
    text, place, found = head.text, 1 if head.text.startswith("[") else 0, list[dict[str, Any]]()
    try:
        while len(found) < 50:
            place = re.compile(r"[\s,]*").match(text, place).end()  # pyright: ignore[reportOptionalMemberAccess]
            record, place = json.JSONDecoder().raw_decode(text, place)
            if not isinstance(record, dict) or (record and all(isinstance(value, (dict, list)) for value in record.values())):
                return found
            found.append(record)
    except (ValueError, RecursionError):
        return found
    return found


def _head_with_record(source: Source) -> Head:
    """The head of JSON lines with one object to its end, which may be a long text; as long as DuckDB reads objects."""
    head = Head.of(source)
    while not head.whole and len(head.raw) < _LONGEST_ROW and not records(head):
        head = Head.of(source, 8 * len(head.raw))
    return head


def _some_rows(path: Path, start: int, stop: int) -> str:
    """The rows of a Parquet file from one to that before another; only the row groups that have them are read."""
    return f"(SELECT * FROM {parquet(path, numbered=True)} WHERE file_row_number >= {start} AND file_row_number < {stop})"


class ColumnTable:
    """A table in a DuckDB session: `source` is what to select from, `types` its columns.

    names: the columns of a text table without a header; None where its first row names them.
    """

    def __init__(self, session: Any, source: Source, path: Path, dialect: Dialect, *, names: Sequence[str] | None = None) -> None:
        self.session, self.content, self.name, self.dialect = session, source, source.name, dialect
        self.types: dict[str, str] = {}
        head = Head.of(source) if dialect.name != "jsonl" else _head_with_record(source)
        if dialect.name == "parquet":
            self.types, self._names, _ = glimpse(path)
            self.source = parquet(path) if source.rows is None else _some_rows(path, *source.rows)
            return
        form = "array" if head.text.startswith("[") else "newline_delimited"
        if dialect.name == "jsonl":
            if form == "array":
                _refuse_rest(source)
            else:
                refuse_trailing_commas(path, source.name)
        header = "true" if names is None else "false"
        # pandas writes its index under the empty name, which SQL does not allow.
        names = names or [name or f"column {place}" for place, name in enumerate(dialect.names(head))]
        refuse_names(names)
        if not names:
            raise BadInput("no record has a key; expected columns.")
        if odd := next((name for name in names if re.search("[\ud800-\udfff]", name)), None):
            raise BadInput(f"the key {shown(odd)} is not a text in UTF-8; rename it.")
        kind = "JSON" if dialect.name == "jsonl" else "VARCHAR"
        self.types = dict.fromkeys(names, kind)
        # DuckDB takes names that differ in case alone for one; those of JSON are keys.
        self._names = {name: name if kind == "JSON" else f"c{place}" for place, name in enumerate(names)}
        if kind == "JSON":
            refuse_names([name.lower() for name in names])
        columns = "{" + ", ".join(f"{sql_text(name)}: '{kind}'" for name in self._names.values()) + "}"
        if dialect.name == "jsonl":
            options = f"format='{form}', records=true, columns={columns}, maximum_object_size={_LONGEST_ROW}"
            options += ", compression='uncompressed'"  # DuckDB 1.5 does not support 'none'
            self.source = f"read_json({sql_text(path)}, {options})"
        else:
            options = f"delim={sql_text(dialect.delimiter(head))}, header={header}, skip={head.skipped}"
            options += ", quote='\"', escape='\"', auto_detect=false"
            options += f", columns={columns}, compression='none', max_line_size={_LONGEST_ROW}"
            self.source = f"read_csv({sql_text(path)}, {options})"

    def found(self, holds: Holds) -> list[str]:
        """The columns to choose from; of a run in a Parquet file without `score` where its first rows have none, but ranks."""
        names = list(self.types)
        if self.dialect.name != "parquet" or holds != "run" or "rank" not in names or "score" not in names:
            return names
        sample = self.run(f"SELECT {self.column('score')} FROM {self.source} LIMIT 1000")
        return [name for name in names if name != "score"] if sample and all(value is None for (value,) in sample) else names

    def choose_run(self, run: str) -> None:
        """Leaves the rows of one of several runs. Raises BadInput where there is none of that name."""
        known = (
            [name for (name,) in self.run(f"SELECT DISTINCT {self.column('run')} FROM {self.source}")]
            if has_runs(self.types)
            else []
        )
        if run not in known:
            there = suggest(run, known) if known else "there is no column 'run' that names several."
            raise BadInput(f"{self.name} has no run {run!r}; {there}")
        self.source = f"(SELECT * FROM {self.source} WHERE {self.column('run')} = {sql_text(run)})"

    def column(self, name: str) -> str:
        """SQL for a column as it is."""
        return quoted(self._names[name])

    def id(self, name: str) -> str:
        """SQL for a column of ids: strings unchanged, integers as strings, NULL for an empty cell."""
        column, kind = self.column(name), self.types[name]
        if kind == "JSON":
            # `->>` gives the text of a string and of an integer alike.
            return f"nullif(CASE WHEN json_type({column}) IN ('VARCHAR', 'UBIGINT', 'BIGINT') THEN {column}->>'$' END, '')"
        if not _TEXTS.fullmatch(kind) and not _INTEGERS.fullmatch(kind):
            raise BadInput(f"column {name!r} holds {kind}; ids are strings or integers; convert the column.")
        return f"nullif({column}::VARCHAR, '')"

    def number(self, name: str) -> str:
        """SQL for a column of numbers, NULL where there is none."""
        column, kind = self.column(name), self.types[name]
        if kind == "JSON":
            return (
                f"CASE WHEN json_type({column}) IN ('UBIGINT', 'BIGINT', 'DOUBLE') THEN TRY_CAST({column}::VARCHAR AS DOUBLE) END"
            )
        if self.dialect.name == "parquet":
            if not _NUMBERS.fullmatch(kind):
                raise BadInput(f"column {name!r} holds {kind}; expected numbers; convert the column.")
            return f"{column}::DOUBLE"
        # DuckDB reads 1_000 as a thousand and +-1 as -1; no other reader of runs does.
        return f"CASE WHEN NOT contains({column}, '_') AND NOT contains({column}, '+-') THEN TRY_CAST({column} AS DOUBLE) END"

    def run(self, sql: str, *, columns: bool = False) -> Any:
        """The rows of a statement, or its columns as arrays. Raises BadInput for what DuckDB cannot read, naming the line."""
        import duckdb

        def _rows() -> Any:
            result = self.session.execute(sql)
            # DuckDB reads some of a file only when it hands out rows.
            return result.fetchnumpy() if columns else result.fetchall()

        # Errors of the library's own code come as RuntimeError; a message that cuts a character in two, as UnicodeDecodeError.
        raised = (duckdb.Error, RuntimeError, UnicodeDecodeError)
        with suppress(*raised):
            return _rows()
        try:
            # The first of several mistakes is reported, not the one that some thread finds first.
            self.session.execute("SET threads = 1")
            return _rows()
        except raised as error:
            self._refuse(error)
        finally:
            with suppress(duckdb.FatalException):  # an error that ended the database is reported by itself
                self.session.execute("RESET threads")

    def _refuse(self, error: Exception) -> NoReturn:
        said = error.object.decode("utf-8", "replace") if isinstance(error, UnicodeDecodeError) else str(error)
        match = re.search(r"CSV Error on Line: (\d+)\n(?:Original Line: ?(.*)\n)?\n*(.*)", said)
        if match:
            raise BadLine(f"{self.name}:{match[1]}: {(match[2] or '')[:60]!r}: {match[3]}; correct the line.") from error
        if self.dialect.name == "jsonl" and not Head.of(self.content).text.startswith("["):
            self._refuse_bad_record()
        if record := re.search(r"in record/value (\d+): Expected OBJECT, but got \w+: (.*)", said):
            raise BadInput(f"{self.name}: record {record[1]}: {record[2][:60]}; expected a JSON object.") from error
        raise BadInput(f"{self.name}: {first_line(said)}") from error

    def _refuse_bad_record(self) -> None:
        """Raises BadLine for the first line that is not a JSON object; DuckDB counts lines in another way."""
        with self.content.open() as stream:
            for number, line in enumerate(stream, 1):
                record = parse_json(line, self.name, "a JSON object", line=number, pairs=unique_keys) if line.strip() else {}
                if not isinstance(record, dict):
                    raise BadLine(f"{self.name}:{number}: {line[:60]!r}; expected a JSON object per line.")

    def rows(self, columns: Columns) -> str:
        """SQL for owner, item and value of every row."""
        return f"SELECT {self._columns(columns)} FROM {self.source}"

    def _columns(self, columns: Columns) -> str:
        value = self.number(columns.value) if columns.value else "1.0"
        return (
            f"{self.id(columns.owner)} AS owner, {self.id(columns.item)} AS item, {'0.0 - ' * columns.is_falling}{value} AS value"
        )

    def stream(self, sql: str) -> Any:
        """The rows of a statement as a capsule of Arrow's C stream interface; None where DuckDB gives none, or cannot read."""
        import duckdb

        try:
            return self.session.sql(sql).__arrow_c_stream__()
        except (duckdb.Error, RuntimeError, UnicodeDecodeError, AttributeError, ImportError):
            return None

    def load(self, columns: Columns) -> None:
        """Makes the table `r` of owner, item, value (higher is better), and on request aspect and place.

        Raises BadInput or BadScore naming row and column of the first value that is missing or not a finite number.
        """
        others = {
            **({"aspect": self.id(columns.aspect)} if columns.aspect else {}),
            **({"place": self.number(columns.rank)} if columns.rank else {}),
        }
        listed = ", ".join([self._columns(columns), *(f"{sql} AS {name}" for name, sql in others.items())])
        self.run(f"CREATE TEMP TABLE r AS SELECT {listed} FROM {self.source}")
        named = {"owner": columns.owner, "item": columns.item, "value": columns.value, "aspect": columns.aspect}
        for name, column in named.items():
            if column:
                self._refuse_missing(name, column)

    def _refuse_missing(self, name: str, column: str) -> None:
        wrong = f"{name} IS NULL" + (f" OR NOT isfinite({name})" if name == "value" else "")
        row = self.run(f"SELECT min(rowid) FROM r WHERE {wrong}")[0][0]
        if row is None:
            return
        found = self.run(f"SELECT {self.column(column)} FROM {self.source} LIMIT 1 OFFSET {row}")[0][0]
        where = f"{self.name}: row {row + 1}, column {column!r}"
        if name == "value":
            raise BadScore(f"{where}: {_shown(found)}; expected a finite number. Correct or drop the row.")
        raise BadInput(f"{where}: {_shown(found)}; expected an id, a string or an integer. Correct or drop the row.")


def _refuse_rest(source: Source) -> None:
    """Raises BadInput where something follows a JSON list, for a vertical tab or form feed, and for a comma before an end.

    DuckDB leaves them out.
    """
    raw = source.read().rstrip(b" \t\r\n")
    if raw.find(b"]") != len(raw) - 1 or b"\v" in raw or b"\f" in raw or trailing_commas(raw):
        read_json(source, "a list of objects and nothing behind it")


def _shown(value: Any) -> str:
    return "nothing" if value in (None, "", "null") else repr(value)


@contextmanager
def opened_table(source: Source, dialect: Dialect, names: Sequence[str] | None = None) -> Generator[ColumnTable]:
    """The table in a file. names: as for `ColumnTable`."""
    delimiter = dialect.delimiter(Head.of(source)) if dialect.delimiters else ""
    with on_disk(source, delimiter=delimiter) as path, connected() as session:
        yield ColumnTable(session, source, path, dialect, names=names)
