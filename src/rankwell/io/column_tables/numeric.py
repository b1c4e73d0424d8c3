"""Tables as numbers and ids: one column, a column of vectors, a matrix of scores with a column
per item, and ranges of rows of a Parquet file.
"""

import re
from array import array
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwell.data.columns import choose_column, known_columns, parquet, quoted, sql_text
from rankwell.data.matrices import USUAL, Embeddings, Scores, Vectors, as_real, item_ids
from rankwell.data.tables import Floats
from rankwell.errors import BadInput, BadScore
from rankwell.io import connected, undamaged
from rankwell.io.column_tables.dialects import (
    CSV,
    PAR1,
    TSV,
    Dialect,
    glimpse,
    glimpse_of,
    on_disk,
    parquet_session,
)
from rankwell.io.column_tables.table import ColumnTable, opened_table
from rankwell.io.formats import Request
from rankwell.store import Head, Source, naming, remote_url

_LISTS = re.compile(r"(FLOAT|DOUBLE|U?(?:TINY|SMALL|BIG)?INT(?:EGER)?|UINTEGER)\[\d*\]")
_NUMBERS_AT_ONCE, _COLUMNS_AT_ONCE = 1 << 24, 256
_LIST = re.compile(r".*\[\d*\]")
_REAL = re.compile(r"FLOAT|U?(TINY|SMALL)INT")
_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE
)


def sniff_vectors(head: Head) -> float:
    """Confidence that a Parquet file has a column of vectors."""
    if head.table is None:
        return 0.0
    return 0.9 if any(map(_LISTS.fullmatch, glimpse(head.table).types.values())) else 0.3


def read_vectors(source: Source, request: Request) -> Embeddings:
    """The named column of lists, or the only one, or the one with a usual name; ids from a column
    `id`, `_id`, `doc_id`, …

    Read whole into memory, a piece of the rows at a time. Raises BadInput naming the first row
    without a vector of that length.
    """
    with on_disk(source) as path, connected() as session, undamaged():
        types, names, _ = glimpse(path)
        vector_name = vector_column(types, request.part, source.stem)
        ids = id_column(types)
        vectors = as_real(
            fill(session, parquet(path, numbered=True), vector_name, quoted(names[vector_name]))
        )
        if ids is None:
            return Embeddings(None, vectors)
        rows = session.execute(f"SELECT {quoted(names[ids])} FROM {parquet(path)}").fetchall()
    return Embeddings(item_ids(value for (value,) in rows), vectors)


def id_column(types: dict[str, str]) -> str | None:
    """The column of ids beside vectors; None where there is none."""
    id_names = [
        name
        for name, kind in types.items()
        if kind == "VARCHAR" or re.fullmatch(r"U?(TINY|SMALL|BIG)?INT(EGER)?", kind)
    ]
    return choose_column(id_names) if id_names else None


def vector_column(types: dict[str, str], part: str, stem: str) -> str:
    """The column of vectors: the named one, the only one, or the one with a usual name. Raises
    BadInput.
    """
    lists = [name for name, kind in types.items() if _LISTS.fullmatch(kind)]
    column_list = ", ".join(f"{name!r} ({kind})" for name, kind in types.items())
    if part:
        if choose_column(list(types), part) not in lists:
            raise BadInput(f"no column {part!r} of lists of numbers; found are {column_list}.")
        return part
    candidates = lists if len(lists) == 1 else [name for name in lists if name.lower() in USUAL]
    if len(candidates) != 1:
        example = f"; name one, as in {stem}.parquet:{lists[0]}" if lists else ""
        raise BadInput(
            f"{len(lists) or 'no'} column{'s' * bool(lists)} of lists of numbers; found are "
            f"{column_list}{example}."
        )
    return candidates[0]


def fill(
    session: Any,
    table: str,
    name: str,
    column: str,
    *,
    first: int = 0,
    dimension: int | None = None,
) -> NDArray[Any]:
    """The lists of a column, (rows, dimension), taken out a piece at a time. table: with
    `file_row_number`. column: in SQL.

    first: the number of the first row. dimension: that of other rows. Raises BadInput for a row of
    another dimension.
    """
    rows, longest = session.execute(f"SELECT count(*), max(len({column})) FROM {table}").fetchone()
    width = (longest or 0) if dimension is None else dimension
    odd = (
        f"{column} IS NULL OR len({column}) <> {width} OR list_count({column}::DOUBLE[]) < {width}"
    )
    wrong = session.execute(
        f"SELECT file_row_number, {column} FROM {table} WHERE {odd} ORDER BY 1 LIMIT 1"
    ).fetchone()
    if wrong is not None:
        row, value = wrong
        problem = (
            "nothing"
            if value is None
            else f"{len(value)} numbers"
            if len(value) != width
            else "a missing number"
        )
        raise BadInput(
            f"row {row}, column {name!r}: {problem}; expected a vector of {width} numbers. "
            "Correct or drop it."
        )
    step = max(1, _NUMBERS_AT_ONCE // max(width, 1))
    filled: NDArray[Any] | None = None
    for start in range(0, rows, step):
        row_range = (
            f"file_row_number >= {first + start} AND file_row_number < {first + start + step}"
        )
        piece = f"SELECT {column} FROM {table} WHERE {row_range}"
        numbers = session.execute(f"SELECT unnest({column}) AS number FROM ({piece})").fetchnumpy()[
            "number"
        ]
        if filled is None:
            filled = np.empty((rows, width), dtype=numbers.dtype)
        filled[start : start + step] = np.asarray(numbers).reshape(-1, width)
    # Without rows the dimension is unknown; a table has one at least.
    return (
        np.empty((0, max(width, int(dimension is None))), dtype=np.float32)
        if filled is None
        else filled
    )


def sniff_column(head: Head, dialect: Dialect) -> float:
    """Confidence that a file is a table of this kind, one of whose columns is read."""
    names = dialect.names(head)
    if not names:
        return 0.0
    if dialect.name in ("parquet", "jsonl"):
        return 0.9
    # A header says more than a suffix.
    if next((table for table in (TSV, CSV) if len(table.names(head)) > 1), dialect) != dialect:
        return 0.0
    suffixes = dialect.suffixes if len(names) == 1 else CSV.suffixes + TSV.suffixes
    if head.name.lower().endswith(suffixes):
        return 0.8
    return 0.5 * (len(names) > 1 and known_columns(names) > 0)


def read_column(source: Source, request: Request, *, dialect: Dialect) -> list[str | None]:
    """A column's strings and integers as strings, in the order of the rows; None where there is
    neither.
    """
    with opened_table(source, dialect) as table:
        column = choose_column(list(table.types), request.part)
        return table.ids(column)


def sniff_numbers(head: Head, dialect: Dialect) -> float:
    """Confidence that a file is a table of this kind; low for text tables, so that a list of
    numbers goes first.
    """
    names = dialect.names(head)
    if not names:
        return 0.0
    if dialect.name in ("parquet", "jsonl"):
        return 0.49
    return 0.2 + 0.1 * (len(names) > 1) + 0.05 * head.name.lower().endswith(dialect.suffixes)


def read_numbers(source: Source, request: Request, *, dialect: Dialect) -> Floats:
    """The named column, or the only one, in the order of the rows.

    Raises BadInput where it is not there, or is not named though there are several; BadScore for
    the first row without a number.
    """
    with opened_table(source, dialect) as table:
        names = list(table.types)
        if not request.part and len(names) > 1:
            raise BadInput(
                f"{len(names)} columns; name one, as in {source.name}:{names[-1]}; found are "
                f"{', '.join(map(repr, names))}."
            )
        column = choose_column(names, request.part)
        numbers = table.run(
            f"SELECT {table.number(column)} AS number FROM {table.source}", columns=True
        )["number"]
        table.refuse_lost(len(numbers))
    return _finite(
        numbers,
        lambda row: (
            f"{source.name}: row {row + 1}, column {column!r}: not a finite number. Correct "
            "or drop the row."
        ),
    )


def _finite(column: Any, message: Callable[[int], str]) -> Floats:
    """The numbers of a column. Raises BadScore with the message for the first row without one."""
    # DuckDB masks what is NULL; a column that is all NULL has a type of its own.
    numbers = np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise BadScore(message(int(wrong[0])))
    return numbers


def sniff_scores(head: Head, dialect: Dialect) -> float:
    """Confidence that a file is a table of this kind: never high, because the meaning of its
    columns is not examined.
    """
    if dialect.name == "parquet":
        return 0.45 if head.raw.startswith(PAR1) else 0.0
    names = dialect.names(head)
    return (
        0.3 + 0.1 * head.name.lower().endswith(dialect.suffixes)
        if len(names) > 1 and len(head.lines) > 1
        else 0.0
    )


def read_scores(source: Source, request: Request, *, dialect: Dialect) -> Scores:
    """The first column as ids where it is called query, id or the like, or holds text; every other
    one as an item's scores.

    A first row of plain numbers is scores, and columns have no names then. Raises BadInput where it
    may be either: distinct integers, as names are.

    Read whole into memory, a piece of the columns at a time, as float32 where all columns are that
    or small integers, else as float64. Raises BadScore naming row and column of the first cell
    without a number.
    """
    if (
        dialect.name == "parquet"
        and source.path
        and any(map(_LIST.fullmatch, glimpse(source.path).types.values()))
    ):
        table = read_vectors(source, request)
        return Scores(table.vectors, table.ids)
    head = Head.of(source)
    bare = _without_header(head, dialect)
    with opened_table(
        source, dialect, [f"column {number}" for number in range(bare)] or None
    ) as table:
        names = list(table.types)
        has_ids = not bare and _names_rows(names[0], table.types[names[0]], dialect)
        items = names[1:] if has_ids else names
        if not items:
            raise BadInput(
                f"{source.name}: the only column is {names[0]!r}, of ids; expected a column "
                "of scores per item."
            )
        plain = None
        if dialect.delimiters and len(items) > _COLUMNS_AT_ONCE:
            plain = _plain_lines(
                source,
                head.skipped + (not bare),
                dialect.delimiter(head),
                len(items),
                has_ids=has_ids,
            )
        ids, matrix = plain or _columns(table, items, names[0] if has_ids else None)
    if bare:
        _refuse_counted_rows(matrix, source)
        return Scores(matrix)
    return Scores(matrix, item_ids(ids) if has_ids else None, items)


def _plain_lines(
    source: Source, skipped: int, delimiter: str, n: int, *, has_ids: bool
) -> tuple[list[str], Floats] | None:
    """Ids and n scores of each line but the first: DuckDB's time for a line grows with the square
    of its columns.

    None where any line has quotes or something else than an id and finite numbers: DuckDB reads it,
    or reports the first mistake.
    """
    ids, numbers, mark = list[str](), array("d"), delimiter.encode()
    with source.open() as stream, suppress(ValueError):
        for number, line in enumerate(stream):
            text = line.removesuffix(b"\n").removesuffix(b"\r")
            if b"\r" in text:
                return None
            if number < skipped:
                continue
            name, _, scores_text = text.partition(mark) if has_ids else (b"row", b"", text)
            fields = scores_text.split(mark)
            if (
                len(fields) != n
                or not name
                or b'"' in name
                or scores_text.translate(None, b"0123456789.+-eE" + mark)
            ):
                return None
            ids.append(name.decode())
            numbers.extend(map(float, fields))
        scores = np.frombuffer(numbers).reshape(-1, n)
        return (ids, scores) if np.isfinite(scores).all() else None
    return None


def _columns(
    table: ColumnTable, items: list[str], owner: str | None
) -> tuple[list[str | None], NDArray[Any]]:
    """The ids in a column, and the scores of the others. Raises BadScore naming the first cell
    without a number.
    """
    ids = [] if owner is None else table.ids(owner)
    rows: int = table.run(f"SELECT count(*) FROM {table.source}")[0][0]
    table.refuse_lost(rows)
    small = table.dialect.name == "parquet" and all(
        _REAL.fullmatch(table.types[name]) for name in items
    )
    matrix = np.empty((rows, len(items)), dtype=np.float32 if small else np.float64)
    step = max(1, min(_COLUMNS_AT_ONCE, _NUMBERS_AT_ONCE // max(rows, 1)))
    for start in range(0, len(items), step):
        batch = items[start : start + step]
        selection = ", ".join(
            f"{table.number(name)} AS c{index}" for index, name in enumerate(batch)
        )
        score_columns = table.run(f"SELECT {selection} FROM {table.source}", columns=True)
        for index, name in enumerate(batch):
            problem = f"column {name!r}: not a finite score. Correct it or drop the row."
            matrix[:, start + index] = _finite(
                score_columns[f"c{index}"],
                lambda row, problem=problem: f"{table.name}: row {row} (from 0), {problem}",
            )
    return ids, matrix


def _without_header(head: Head, dialect: Dialect) -> int:
    """Number of columns of a text table whose first row is scores already; 0 where that row holds
    names.
    """
    row = [name.strip() for name in dialect.names(head)] if dialect.delimiters else []
    if not row or not all(map(_NUMBER.fullmatch, row)):
        return 0
    if len(set(row)) == len(row) and all(map(str.isdecimal, row)):
        first_cells = ", ".join(row[:3]) + (", …" if len(row) > 3 else "")
        raise BadInput(
            f"{head.name}: the first row is {first_cells}: names of columns, or scores? With "
            "names, begin it with a column for the "
            "rows' ids (query,…); integer scores need such a header too, or a decimal point (1.0)."
        )
    return len(row)


def _refuse_counted_rows(matrix: np.ndarray, source: Source) -> None:
    """Refuses, without a header, a first column that counts the rows beside fractions: it is not a
    column of scores.
    """
    if (
        len(matrix) > 2
        and np.array_equal(matrix[:, 0], np.arange(len(matrix)))
        and (matrix != np.floor(matrix)).any()
    ):
        raise BadInput(
            f"{source.name}: the first column counts the rows (0, 1, 2, …) and no header says "
            "what it is; write one, as in "
            "query,v0,v1, or drop the column."
        )


def _names_rows(name: str, kind: str, dialect: Dialect) -> bool:
    """Whether a table's first column holds the ids of its rows."""
    called = re.sub(r"[\s_-]", "", name.lower()) in (
        "column0",
        "query",
        "queryid",
        "qid",
        "id",
        "caption",
        "captionid",
        "index",
    )
    return called or (dialect.name == "parquet" and kind == "VARCHAR")


def read_records(source: Source, request: Request) -> list[dict[str, Any]]:  # noqa: ARG001 - rows have no options
    """Every row as an object column -> value, in order. Raises BadInput for a damaged file."""
    with (
        naming(source.name),
        undamaged(f"{source.name}: "),
        on_disk(source) as path,
        connected() as session,
    ):
        names = glimpse(path).types
        cursor = session.execute(f"SELECT * FROM {parquet(path)}")
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


_IDS_AT_ONCE = 1 << 16


class ParquetVectors:
    """The vectors of a Parquet file and their ids. breaks: the first row of each row group, and the
    end.

    Raises BadInput for a damaged file, and for vectors of several lengths as far as the file's
    metadata show them.
    """

    def __init__(self, place: str, part: str) -> None:
        self._path_or_url = place
        with self._opened() as (session, name):
            types, names, _ = glimpse_of(session, name)
            vector_name = vector_column(types, part, Path(place).stem)
            self._name, self._column, ids = (
                vector_name,
                quoted(names[vector_name]),
                id_column(types),
            )
            self._ids = None if ids is None else quoted(names[ids])
            lengths = session.execute(
                "SELECT row_group_id, row_group_num_rows, num_values FROM "
                f"parquet_metadata({sql_text(name)}) WHERE path_in_schema LIKE ? || ', %' "
                "ESCAPE '\\' ORDER BY 1",
                [vector_name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")],
            ).fetchall()
            none = session.execute(
                f"SELECT unnest({self._column}) AS number FROM {parquet(name)} LIMIT 0"
            ).fetchnumpy()["number"]
        rows, values = (sum(row_group[at] for row_group in lengths) for at in (1, 2))
        if rows and values % rows:
            raise BadInput(
                f"{place}, column {vector_name!r}: {values} numbers in {rows} rows; vectors have "
                "one length."
            )
        self.dtype = as_real(np.asarray(none)[:, None]).dtype
        self.shape = (rows, values // max(rows, 1))
        self.breaks = [
            0,
            *np.cumsum([row_group[1] for row_group in lengths], dtype=np.int64).tolist(),
        ]

    @property
    def has_ids(self) -> bool:
        """Whether there is a column of ids."""
        return self._ids is not None

    @contextmanager
    def _opened(self) -> Generator[tuple[Any, Path | str]]:
        """A session, and the name of the file in it."""
        place = remote_url(self._path_or_url) or Path(self._path_or_url)
        with naming(self._path_or_url), parquet_session(place) as opened:
            yield opened

    def read(self, start: int, stop: int) -> Vectors:
        """The vectors of some rows, in memory. Raises BadInput that names the first row without a
        vector of that length.
        """
        vectors = np.empty((stop - start, self.shape[1]), dtype=self.dtype)
        ends = [row for row in self.breaks if start < row < stop]
        with self._opened() as (session, name):
            for first, end in zip([start, *ends], [*ends, stop], strict=True):
                # In memory first, so that no byte is read twice.
                row_range = f"file_row_number >= {first} AND file_row_number < {end}"
                rows = (
                    f"SELECT file_row_number, {self._column} AS vector FROM "
                    f"{parquet(name, numbered=True)} WHERE {row_range}"
                )
                session.execute(f"CREATE OR REPLACE TEMP TABLE piece AS {rows}")
                row_range = fill(
                    session, "piece", self._name, "vector", first=first, dimension=self.shape[1]
                )
                vectors[first - start : end - start] = as_real(row_range)
        return vectors

    def ids(self, start: int = 0) -> Iterator[str]:
        """The ids from a row on. Raises BadInput that names the first row without one."""
        with self._opened() as (session, name):
            table = parquet(name, numbered=True)
            id_rows = session.execute(
                f"SELECT {self._ids} FROM {table} WHERE file_row_number >= {start}"
            )
            while piece := id_rows.fetchmany(_IDS_AT_ONCE):
                yield from item_ids(value for (value,) in piece)
