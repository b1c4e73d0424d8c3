"""One table in a session: its columns as SQL, and its rows loaded and checked."""

import json
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rankwell.core.tables.names import Columns, Holds, choose_columns, parquet, quoted, sql_text
from rankwell.errors import BadInput, BadLine, BadScore
from rankwell.io.column_tables.dialects import Dialect
from rankwell.io.column_tables.session import connected, first_line, glimpse, on_disk
from rankwell.store import Head, Source

_INTEGERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|UHUGEINT|UINTEGER")
_NUMBERS = re.compile(rf"{_INTEGERS.pattern}|FLOAT|DOUBLE|DECIMAL.*")
_TEXTS = re.compile(r"VARCHAR|ENUM.*|UUID")


class Table:
    """A table in a DuckDB session: `source` is what to select from, `types` its columns.

    names: what the columns of a text table without a header are called; None where its first row tells.
    """

    def __init__(self, session: Any, source: Source, path: Path, dialect: Dialect, *, names: Sequence[str] | None = None) -> None:
        self.session, self.content, self.name, self.dialect = session, source, source.name, dialect
        self.types: dict[str, str] = {}
        head = Head.of(source)
        if dialect.name == "parquet":
            self.types = glimpse(path).types
            self.source = parquet(path)
            return
        header = "true" if names is None else "false"
        # pandas writes its index under the empty name, which SQL cannot say.
        names = names or [name or f"column {place}" for place, name in enumerate(dialect.names(head))]
        double = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if double is not None:
            raise BadInput(f"two columns are called {double!r}; rename or drop one of them.")
        kind = "JSON" if dialect.name == "jsonl" else "VARCHAR"
        self.types = dict.fromkeys(names, kind)
        columns = "{" + ", ".join(f"{sql_text(name)}: '{kind}'" for name in names) + "}"
        if dialect.name == "jsonl":
            form = "array" if head.text.startswith("[") else "newline_delimited"
            options = f"format='{form}', columns={columns}, compression='none', maximum_object_size=268435456"
            self.source = f"read_json({sql_text(path)}, {options})"
        else:
            options = f"delim={sql_text(dialect.delimiter(head))}, header={header}, quote='\"', escape='\"', auto_detect=false"
            self.source = f"read_csv({sql_text(path)}, {options}, columns={columns}, compression='none', max_line_size=268435456)"

    def id(self, name: str) -> str:
        """SQL for a column of ids: text as it stands, whole numbers as text, NULL where there is none."""
        column, kind = quoted(name), self.types[name]
        if kind == "JSON":
            # `->>` gives the text of a string and of a whole number alike.
            return f"nullif(CASE WHEN json_type({column}) IN ('VARCHAR', 'UBIGINT', 'BIGINT') THEN {column}->>'$' END, '')"
        if not _TEXTS.fullmatch(kind) and not _INTEGERS.fullmatch(kind):
            raise BadInput(f"column {name!r} holds {kind}; ids are text or whole numbers; convert the column.")
        return f"nullif({column}::VARCHAR, '')"

    def number(self, name: str) -> str:
        """SQL for a column of numbers, NULL where there is none."""
        column, kind = quoted(name), self.types[name]
        if kind == "JSON":
            return (
                f"CASE WHEN json_type({column}) IN ('UBIGINT', 'BIGINT', 'DOUBLE') THEN TRY_CAST({column}::VARCHAR AS DOUBLE) END"
            )
        if self.dialect.name == "parquet":
            if not _NUMBERS.fullmatch(kind):
                raise BadInput(f"column {name!r} holds {kind}; numbers are wanted; convert the column.")
            return f"{column}::DOUBLE"
        # DuckDB reads 1_000 as a thousand; no other reader of runs does.
        return f"CASE WHEN NOT contains({column}, '_') THEN TRY_CAST({column} AS DOUBLE) END"

    def run(self, sql: str) -> Any:
        """The result of a statement. Raises BadInput for what DuckDB cannot read, naming the line."""
        import duckdb

        with suppress(duckdb.Error):
            return self.session.execute(sql)
        try:
            # Of several mistakes the first one is told, not the one that some thread came upon first.
            self.session.execute("SET threads = 1")
            return self.session.execute(sql)
        except duckdb.Error as error:
            match = re.search(r"CSV Error on Line: (\d+)\n(?:Original Line: ?(.*)\n)?\n*(.*)", str(error))
            if match:
                raise BadLine(f"{self.name}:{match[1]}: {(match[2] or '')[:60]!r}: {match[3]}; mend the line.") from error
            if self.dialect.name == "jsonl" and not Head.of(self.content).text.startswith("["):
                self._refuse_bad_record()
            raise BadInput(f"{self.name}: {first_line(error)}") from error

    def _refuse_bad_record(self) -> None:
        """Raises BadLine for the first line that is no JSON object; DuckDB counts lines in another way."""
        with self.content.open() as stream:
            for number, line in enumerate(stream, 1):
                try:
                    whole = not line.strip() or isinstance(json.loads(line, object_pairs_hook=_once), dict)
                except ValueError as error:
                    raise BadLine(f"{self.name}:{number}: {line[:60]!r}: {error}; a JSON object is wanted.") from error
                if not whole:
                    raise BadLine(f"{self.name}:{number}: {line[:60]!r}; a JSON object per line is wanted.")

    def _rows(self, columns: Columns) -> str:
        """SQL for owner, item and value."""
        value = self.number(columns.value)
        return f"{self.id(columns.owner)} AS owner, {self.id(columns.item)} AS item, {'-' * columns.by_rank}{value} AS value"

    def stream(self, columns: Columns) -> Any:
        """Owner, item and value as a capsule of Arrow's C stream interface; None where DuckDB gives none, or cannot read."""
        import duckdb

        try:
            return self.session.sql(f"SELECT {self._rows(columns)} FROM {self.source}").__arrow_c_stream__()
        except (duckdb.Error, AttributeError, ImportError):
            return None

    def load(self, columns: Columns) -> None:
        """Makes the table `r` of owner, item, value (higher is better), and aspect or place where they are wanted.

        Raises BadInput or BadScore naming row and column of the first value that is missing or no finite number.
        """
        others = {
            **({"aspect": self.id(columns.aspect)} if columns.aspect else {}),
            **({"place": self.number(columns.rank)} if columns.rank else {}),
        }
        listed = ", ".join([self._rows(columns), *(f"{sql} AS {name}" for name, sql in others.items())])
        self.run(f"CREATE TEMP TABLE r AS SELECT {listed} FROM {self.source}")
        named = {"owner": columns.owner, "item": columns.item, "value": columns.value, "aspect": columns.aspect}
        for name, column in named.items():
            if column is not None:
                self._refuse_missing(name, column)

    def _refuse_missing(self, name: str, column: str) -> None:
        wrong = f"{name} IS NULL" + (f" OR NOT isfinite({name})" if name == "value" else "")
        row = self.run(f"SELECT min(rowid) FROM r WHERE {wrong}").fetchone()[0]
        if row is None:
            return
        found = self.run(f"SELECT {quoted(column)} FROM {self.source} LIMIT 1 OFFSET {row}").fetchone()[0]
        where = f"{self.name}: row {row + 1}, column {column!r}"
        if name == "value":
            raise BadScore(f"{where}: {_shown(found)} where a finite number belongs; mend or drop the row.")
        raise BadInput(f"{where}: {_shown(found)} where an id belongs, text or a whole number; mend or drop the row.")


def _shown(value: Any) -> str:
    return "nothing" if value in (None, "", "null") else repr(value)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    whole = dict(pairs)
    if len(whole) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return whole


@contextmanager
def opened(source: Source, dialect: Dialect, holds: Holds, *, aspects: bool = False) -> Generator[tuple[Table, Columns]]:
    """The table in a file and the columns that matter."""
    with on_disk(source, lines=bool(dialect.delimiters)) as path, connected() as session:
        table = Table(session, source, path, dialect)
        yield table, choose_columns(list(table.types), holds, aspects=aspects)
