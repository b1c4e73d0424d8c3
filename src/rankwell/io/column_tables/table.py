"""One table in DuckDB as SQL, loaded and checked, with the columns that matter."""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from rankwell.data.catalogue import suggest
from rankwell.data.columns import (
    ROWS_COMPARED,
    Columns,
    Holds,
    contradicting,
    is_falling,
    likelihood,
    may_choose,
    parquet,
    quoted,
    refuse_names,
    sql_text,
    unknown_list,
)
from rankwell.documents import (
    TAB,
    parse_json,
    read_json,
    refuse_trailing_commas,
    trailing_commas,
    unique_keys,
)
from rankwell.errors import BadInput, BadLine, BadScore, flag, shown
from rankwell.io import connected, first_line
from rankwell.io.column_tables.dialects import (
    TEXTS,
    Dialect,
    TextLines,
    count_records,
    first_objects,
    glimpse,
    has_runs,
    on_disk,
    recount_records,
    text_lines,
)
from rankwell.io.formats import Request
from rankwell.io.reader.columns import has_header
from rankwell.store import Head, Source

_LONGEST_ROW = 1 << 28
"""Bytes of the longest line or object that is read."""
_INTEGERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|UHUGEINT|UINTEGER")
_NUMBERS = re.compile(rf"{_INTEGERS.pattern}|FLOAT|DOUBLE|DECIMAL.*")


def _refuse_quoted_names(source: Source, head: Head, names: Sequence[str]) -> None:
    """Raises BadLine for a header between tabs whose names are in quotation marks, which would be
    parts of them.
    """
    if any(len(name) > 1 and name[0] == name[-1] == '"' for name in names):
        raise BadLine(
            f"{source.name}:{head.skipped + 1}: {TAB.join(names)[:60]!r}: names of columns in "
            "quotation marks, which are part of a name between tabs; write the table without them, "
            "or separated by commas."
        )


def _head_with_record(source: Source) -> Head:
    """The head of JSON lines with one object to its end, which may be a long text; as long as
    DuckDB reads objects.
    """
    head = Head.of(source)
    while not head.is_whole and len(head.raw) < _LONGEST_ROW and not first_objects(head.text):
        head = Head.of(source, 8 * len(head.raw))
    return head


def _some_rows(path: Path, start: int, stop: int) -> str:
    """The rows of a Parquet file from one to that before another; only the row groups that have
    them are read.
    """
    return (
        f"(SELECT * FROM {parquet(path, numbered=True)} WHERE file_row_number >= {start} AND "
        f"file_row_number < {stop})"
    )


def _checked_names(names: Sequence[str]) -> list[str]:
    """The names of columns, none of which is empty, as SQL demands; pandas writes its index under
    the empty one.

    Raises BadInput for names that cannot be read.
    """
    column_names = [name or f"column {number}" for number, name in enumerate(names)]
    refuse_names(column_names)
    if not column_names:
        raise BadInput("no record has a key; expected columns.")
    if odd := next((name for name in column_names if re.search("[\ud800-\udfff]", name)), None):
        raise BadInput(f"the key {shown(odd)} is not a text in UTF-8; rename it.")
    return column_names


class ColumnTable:
    """A table in a DuckDB session: `source` is what to select from, `types` its columns.

    names: the columns of a text table without a header; None where its first row names them.
    lines: the ends of the lines of a text table.
    """

    def __init__(
        self,
        session: Any,
        source: Source,
        path: Path,
        dialect: Dialect,
        *,
        names: Sequence[str] | None = None,
        lines: TextLines | None = None,
    ) -> None:
        self.session, self.content, self.name, self.dialect = session, source, source.name, dialect
        self._lines, self._delimiter, self._skipped = lines, "", 0
        self.types: dict[str, str] = {}
        head = Head.of(source) if dialect.name != "jsonl" else _head_with_record(source)
        if dialect.name == "parquet":
            self.types, self._names, _ = glimpse(path)
            self.source = parquet(path) if source.rows is None else _some_rows(path, *source.rows)
            return
        if dialect.name == "jsonl":
            self._begin_json(path, head)
        else:
            self._begin_text(path, head, names)

    def _begin_json(self, path: Path, head: Head) -> None:
        """Lets `source` be the rows of JSON lines, or of a list of objects."""
        is_list = head.text.startswith("[")
        if is_list:
            _refuse_rest(self.content)
        else:
            refuse_trailing_commas(path, self.name)
        names = _checked_names(self.dialect.names(head))
        # DuckDB takes keys that differ in case alone for one.
        refuse_names([name.lower() for name in names])
        self.types, self._names = dict.fromkeys(names, "JSON"), {name: name for name in names}
        options = (
            f"format='{'array' if is_list else 'newline_delimited'}', records=true, "
            f"columns={self._column_types('JSON')}"
        )
        options += f", maximum_object_size={_LONGEST_ROW}"
        options += ", compression='uncompressed'"  # DuckDB 1.5 does not support 'none'
        self.source = f"read_json({sql_text(path)}, {options})"

    def _begin_text(self, path: Path, head: Head, names: Sequence[str] | None) -> None:
        """Lets `source` be the rows of a text table."""
        has_header = names is None
        if has_header and self.dialect.delimiters == TAB:
            _refuse_quoted_names(self.content, head, self.dialect.names(head))
        names = _checked_names(names or self.dialect.names(head))
        # DuckDB takes names that differ in case alone for one.
        self.types, self._names = (
            dict.fromkeys(names, "VARCHAR"),
            {name: f"c{number}" for number, name in enumerate(names)},
        )
        self._delimiter, self._skipped = self.dialect.delimiter(head), head.skipped + has_header
        mark = sql_text('"' if self._lines is None else self._lines.quoting(self._delimiter))
        options = (
            f"delim={sql_text(self._delimiter)}, header={str(has_header).lower()}, "
            f"skip={head.skipped}"
        )
        options += f", quote={mark}, escape={mark}, auto_detect=false"
        options += (
            f", columns={self._column_types('VARCHAR')}, compression='none', "
            f"max_line_size={_LONGEST_ROW}"
        )
        self.source = f"read_csv({sql_text(path)}, {options})"

    def _column_types(self, kind: str) -> str:
        return "{" + ", ".join(f"{sql_text(name)}: '{kind}'" for name in self._names.values()) + "}"

    def columns_to_choose(self, holds: Holds) -> list[str]:
        """The columns to choose from; of a run in a Parquet file without `score` where its first
        rows have none, but ranks.
        """
        names = list(self.types)
        if (
            self.dialect.name != "parquet"
            or holds != "run"
            or "rank" not in names
            or "score" not in names
        ):
            return names
        sample = self.run(f"SELECT {self.column('score')} FROM {self.source} LIMIT 1000")
        return (
            [name for name in names if name != "score"]
            if sample and all(value is None for (value,) in sample)
            else names
        )

    def choose_run(self, run: str) -> None:
        """Leaves the rows of one of several runs. Raises BadInput where there is none of that
        name.
        """
        run_names = (
            [
                name
                for (name,) in self.run(f"SELECT DISTINCT {self.column('run')} FROM {self.source}")
            ]
            if has_runs(self.types)
            else []
        )
        if run not in run_names:
            advice = (
                suggest(run, run_names)
                if run_names
                else "there is no column 'run' that names several."
            )
            raise BadInput(f"{self.name} has no run {run!r}; {advice}")
        self.source = f"(SELECT * FROM {self.source} WHERE {self.column('run')} = {sql_text(run)})"

    def column(self, name: str) -> str:
        """SQL for a column as it is."""
        return quoted(self._names[name])

    def id(self, name: str) -> str:
        """SQL for a column of ids: strings unchanged, integers as strings, NULL for an empty
        cell.
        """
        column, kind = self.column(name), self.types[name]
        if kind == "JSON":
            # `->>` gives the text of a string and of an integer alike. An integer above 2⁶⁴ has the
            # type of a fraction, and all its digits.
            return (
                f"nullif(CASE WHEN json_type({column}) IN ('VARCHAR', 'UBIGINT', 'BIGINT') "
                f"OR regexp_full_match({column}::VARCHAR, '-?[0-9]+') THEN {column}->>'$' END, '')"
            )
        if not TEXTS.fullmatch(kind) and not _INTEGERS.fullmatch(kind):
            raise BadInput(
                f"column {name!r} holds {kind}; ids are strings or integers; convert the column."
            )
        return f"nullif({column}::VARCHAR, '')"

    def ids(self, name: str) -> list[str | None]:
        """The ids in a column, in the order of the rows; None for an empty cell and for anything
        else.
        """
        cells = [value for (value,) in self.run(f"SELECT {self.id(name)} FROM {self.source}")]
        self.refuse_lost(len(cells), name)
        return cells

    def refuse_contradicting(self, columns: Columns) -> None:
        """Raises BadInput where another column that could order a run orders the items of a query
        in another way.
        """
        first_rows = f"(SELECT * FROM {self.source} LIMIT {ROWS_COMPARED})"
        for name in columns.rivals:
            if self.dialect.name == "parquet" and not _NUMBERS.fullmatch(self.types[name]):
                continue
            first, second = (
                f"{'0.0 - ' * is_falling(ordering)}{self.number(ordering)}"
                for ordering in (columns.value, name)
            )
            numbers = (
                f"SELECT {self.id(columns.owner)} AS owner, {first} AS first, {second} AS second "
                f"FROM {first_rows}"
            )
            up = "second > lag(second) OVER (PARTITION BY owner ORDER BY first DESC, second DESC)"
            finite_rows = f"SELECT * FROM ({numbers}) WHERE isfinite(first) AND isfinite(second)"
            query = self.run(
                f"SELECT min(owner) FROM (SELECT owner, {up} AS up FROM ({finite_rows})) WHERE up"
            )[0][0]
            if query is not None:
                raise contradicting(columns, name, query)

    def number(self, name: str) -> str:
        """SQL for a column of numbers, NULL where there is none."""
        column, kind = self.column(name), self.types[name]
        if kind == "JSON":
            return (
                f"CASE WHEN json_type({column}) IN ('UBIGINT', 'BIGINT', 'DOUBLE') THEN "
                f"TRY_CAST({column}::VARCHAR AS DOUBLE) END"
            )
        if self.dialect.name == "parquet":
            if not _NUMBERS.fullmatch(kind):
                raise BadInput(
                    f"column {name!r} holds {kind}; expected numbers; convert the column."
                )
            return f"{column}::DOUBLE"
        # DuckDB reads 1_000 as a thousand and +-1 as -1; no other reader of runs does.
        return (
            f"CASE WHEN NOT contains({column}, '_') AND NOT contains({column}, '+-') THEN "
            f"TRY_CAST({column} AS DOUBLE) END"
        )

    def run(self, sql: str, *, columns: bool = False) -> Any:
        """The rows of a statement, or its columns as arrays. Raises BadInput for what DuckDB cannot
        read, naming the line.
        """
        import duckdb

        def _rows() -> Any:
            result = self.session.execute(sql)
            # DuckDB reads some of a file only when it hands out rows.
            return result.fetchnumpy() if columns else result.fetchall()

        # Errors of the library's own code come as RuntimeError; a message that cuts a character in
        # two, as UnicodeDecodeError.
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
            with suppress(
                duckdb.FatalException
            ):  # an error that ended the database is reported by itself
                self.session.execute("RESET threads")

    def _refuse(self, error: Exception) -> NoReturn:
        said = (
            error.object.decode("utf-8", "replace")
            if isinstance(error, UnicodeDecodeError)
            else str(error)
        )
        match = re.search(r"CSV Error on Line: (\d+)\n(?:Original Line: ?(.*)\n)?\n*(.*)", said)
        if match:
            raise BadLine(
                f"{self.name}:{match[1]}: {(match[2] or '')[:60]!r}: {match[3]}; correct the line."
            ) from error
        if self.dialect.name == "jsonl" and not Head.of(self.content).text.startswith("["):
            self._refuse_bad_record()
        if record := re.search(r"in record/value (\d+): Expected OBJECT, but got \w+: (.*)", said):
            raise BadInput(
                f"{self.name}: record {record[1]}: {record[2][:60]}; expected a JSON object."
            ) from error
        raise BadInput(f"{self.name}: {first_line(said)}") from error

    def _refuse_bad_record(self) -> None:
        """Raises BadLine for the first line that is not a JSON object; DuckDB counts lines in
        another way.
        """
        with self.content.open() as stream:
            for number, line in enumerate(stream, 1):
                record = (
                    parse_json(line, self.name, "a JSON object", line=number, pairs=unique_keys)
                    if line.strip()
                    else {}
                )
                if not isinstance(record, dict):
                    raise BadLine(
                        f"{self.name}:{number}: {line[:60]!r}; expected a JSON object per line."
                    )

    @property
    def is_unbroken(self) -> bool:
        """Whether no line of a text table ends within quotes, as far as marks show without a look
        at every field.
        """
        if self._lines is None or not self._lines.is_quoted or self._delimiter == TAB:
            return True
        return (
            count_records(self.content, self._lines, self._delimiter, self._skipped)[0]
            == self._lines.n - self._skipped
        )

    def refuse_lost(self, rows: int, *ids: str) -> None:
        """Raises BadInput where another number of rows was read than a text table has records, and
        for an id with two lines.

        ids: the columns of ids. A mark that opens a field takes in the lines as far as the next
        mark.
        """
        if self._lines is None or rows == self._lines.n - self._skipped:
            return
        form = self.content, self._lines, self._delimiter, self._skipped
        n, blank = count_records(*form)
        if rows not in (n, n - blank) or self._has_broken(ids):
            n, blank, line = recount_records(*form)
            if rows in (n, n - blank) and not self._has_broken(ids):
                return
            where = f"{self.name}:{line}" if line else self.name
            opened = (
                (
                    "a quotation mark opens a field that this line does not close, so that lines "
                    "become one"
                )
                if line
                else ""
            )
            lost = f"{rows} rows were read from {self._lines.n - self._skipped} lines"
            hint = (
                "close or remove the mark, or separate the columns by tabs"
                if line
                else "correct the lines"
            )
            raise BadLine(f"{where}: {opened or lost}{f' ({lost})' * bool(opened)}; {hint}.")

    def _has_broken(self, ids: Sequence[str]) -> bool:
        wrong = " OR ".join(f"contains({self.column(name)}, chr(10))" for name in ids)
        return bool(ids) and bool(self.run(f"SELECT 1 FROM {self.source} WHERE {wrong} LIMIT 1"))

    def rows(self, columns: Columns) -> str:
        """SQL for owner, item and value of every row."""
        return f"SELECT {self._columns(columns)} FROM {self.source}"

    def _columns(self, columns: Columns) -> str:
        value = self.number(columns.value) if columns.value else "1.0"
        if columns.by_rank:
            value = f"CASE WHEN {value} >= 0 AND 2 * {value} % 1 = 0 THEN {value} END"
        return (
            f"{self.id(columns.owner)} AS owner, {self.id(columns.item)} AS item, "
            f"{'0.0 - ' * columns.is_falling}{value} AS value"
        )

    def stream(self, sql: str) -> Any:
        """The rows of a statement as a capsule of Arrow's C stream interface; None where DuckDB
        gives none, or cannot read.
        """
        import duckdb

        try:
            return self.session.sql(sql).__arrow_c_stream__()
        except (duckdb.Error, RuntimeError, UnicodeDecodeError, AttributeError, ImportError):
            return None

    def load(self, columns: Columns, *, by_text: bool = False) -> None:
        """Makes the table `r` of owner, item, value (higher is better), and on request aspect and
        place.

        by_text: whether owners are texts, which may have several lines.
        Raises BadInput or BadScore naming row and column of the first value that is missing or not
        a finite number.
        """
        extra_columns = {
            **({"aspect": self.id(columns.aspect)} if columns.aspect else {}),
            **({"place": self.number(columns.rank)} if columns.rank else {}),
        }
        selection = ", ".join(
            [self._columns(columns), *(f"{sql} AS {name}" for name, sql in extra_columns.items())]
        )
        self.run(f"CREATE TEMP TABLE r AS SELECT {selection} FROM {self.source}")
        ids = [columns.item] if by_text else [columns.owner, columns.item]
        self.refuse_lost(self.run("SELECT count(*) FROM r")[0][0], *ids)
        loaded_columns = {
            "owner": columns.owner,
            "item": columns.item,
            "value": columns.value,
            "aspect": columns.aspect,
        }
        for name, column in loaded_columns.items():
            if column:
                self._refuse_missing(name, column, columns.expected_number)

    def _refuse_missing(self, name: str, column: str, expected_number: str) -> None:
        wrong = f"{name} IS NULL" + (f" OR NOT isfinite({name})" if name == "value" else "")
        row = self.run(f"SELECT min(rowid) FROM r WHERE {wrong}")[0][0]
        if row is None:
            return
        cell = self.run(f"SELECT {self.column(column)} FROM {self.source} LIMIT 1 OFFSET {row}")[0][
            0
        ]
        where = f"{self.name}: row {row + 1}, column {column!r}"
        if name == "value":
            raise BadScore(
                f"{where}: {_describe_cell(cell)}; expected {expected_number}. Correct or drop "
                "the row."
            )
        raise BadInput(
            f"{where}: {_describe_cell(cell)}; expected an id, a string or an integer. Correct or "
            "drop the row."
        )


def _refuse_rest(source: Source) -> None:
    """Raises BadInput where something follows a JSON list, for a vertical tab or form feed, and for
    a comma before an end.

    DuckDB leaves them out.
    """
    raw = source.read().rstrip(b" \t\r\n")
    if raw.find(b"]") != len(raw) - 1 or b"\v" in raw or b"\f" in raw or trailing_commas(raw):
        read_json(source, "a list of objects and nothing behind it")


def _describe_cell(value: Any) -> str:
    return "nothing" if value in (None, "", "null") else repr(value)


@contextmanager
def opened_table(
    source: Source, dialect: Dialect, names: Sequence[str] | None = None
) -> Generator[ColumnTable]:
    """The table in a file. names: as for `ColumnTable`."""
    delimiter = dialect.delimiter(Head.of(source)) if dialect.delimiters else ""
    lines = text_lines(source) if delimiter else None
    with on_disk(source, delimiter=delimiter, lines=lines) as path, connected() as session:
        yield ColumnTable(session, source, path, dialect, names=names, lines=lines)


@contextmanager
def opened(
    source: Source, dialect: Dialect, holds: Holds, request: Request
) -> Generator[tuple[ColumnTable, Columns]]:
    """The table in a file and the columns that matter."""
    with opened_table(source, dialect, _numbered(source, dialect, request)) as table:
        if request.part and holds == "run":
            table.choose_run(request.part)
        try:
            columns = request.choose(table.columns_to_choose(holds), holds)
        except BadInput as error:
            rows = first_objects(Head.of(source).text) if dialect.name == "jsonl" else []
            if holds not in ("run", "judgments") or not rows:
                raise
            advice = unknown_list(rows[0], holds)
            raise BadInput(f"{str(error).removesuffix('.')}{advice}.") from error
        if request.recognised and holds in ("run", "judgments") and columns.value:
            _refuse_doubtful(dialect, Head.of(source), holds, columns.value)
        # Queries whose ranks do not follow their scores are warnings, where these are requested.
        warned = columns.rank if request.oddities is not None else None
        table.refuse_contradicting(
            columns._replace(rivals=tuple(name for name in columns.rivals if name != warned))
        )
        request.findings.extend(columns.findings(source.name))
        yield table, columns


def _numbered(source: Source, dialect: Dialect, request: Request) -> list[str] | None:
    """The numbers of the columns of a text table without a header, where some are chosen by them;
    else None.
    """
    if not dialect.delimiters or not request.columns:
        return None
    first = dialect.split(Head.of(source))[0]
    if has_header([field.encode("utf-8", "surrogateescape") for field in first], request.columns):
        return None
    return [str(number) for number in range(1, len(first) + 1)]


def _refuse_doubtful(dialect: Dialect, head: Head, holds: Holds, column: str) -> None:
    """Raises BadInput where the column `score` may as well hold grades of judgments in a run, or
    scores of a run in judgments.
    """
    names = dialect.names(head)
    if (
        not names
        or column.lower() != "score"
        or likelihood(names, holds, has_integer_scores=dialect.has_integer_scores(head, names))
        >= 0.5
    ):
        return
    if holds == "run":
        contents, name, option = (
            "integers below the names of BEIR's judgments",
            "similarity",
            flag("--columns", f"score={column}"),
        )
    else:
        contents, name, option = (
            "other values than integers, as runs do",
            "grade",
            flag("--qrels-columns", f"grade={column}"),
        )
    advice = f"say so with {option}" if may_choose(holds) else f"rename it {name!r}"
    raise BadInput(
        f"{head.name}: the column {column!r} holds {contents}; if it is right, {advice}."
    )
