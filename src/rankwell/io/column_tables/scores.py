"""A matrix of scores in a table: a column per item, named after it, and one for the queries' ids; or a column of lists."""

import re

import numpy as np

from rankwell.core.kernels.arrays import item_ids
from rankwell.core.tables.scores import Scores
from rankwell.errors import BadInput, BadScore
from rankwell.io import FORMATS, Request
from rankwell.io.column_tables.dialects import Dialect
from rankwell.io.column_tables.session import connected, glimpse, on_disk
from rankwell.io.column_tables.table import Table
from rankwell.store import Head, Source

_LIST = re.compile(r".*\[\d*\]")
_REAL = re.compile(r"FLOAT|U?(TINY|SMALL)INT")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
_AT_ONCE = 1 << 24


def sniff_scores(head: Head, dialect: Dialect) -> float:
    """How surely a file is a table of this kind: never very, for what its columns mean is not looked at."""
    if dialect.name == "parquet":
        return 0.45 if head.raw.startswith(b"PAR1") else 0.0
    names = dialect.names(head)
    return 0.3 + 0.1 * head.name.lower().endswith(dialect.suffixes) if len(names) > 1 and len(head.lines) > 1 else 0.0


def read_scores(source: Source, request: Request, *, dialect: Dialect) -> Scores:
    """The first column as ids where it is called query, id or the like, or holds text; every other one as an item's scores.

    A first row of plain numbers is scores, and columns have no names then. Raises BadInput where it may be either: all of it
    whole and different, as names are.

    Read whole into memory, a piece of the columns at a time, as float32 where all columns are that or small whole numbers, else
    as float64. Raises BadScore naming row and column of the first cell without a number.
    """
    if dialect.name == "parquet" and source.path and any(map(_LIST.fullmatch, glimpse(source.path).types.values())):
        table = FORMATS["parquet embeddings"].read(source, request)
        return Scores(table.vectors, table.ids)
    with on_disk(source, lines=bool(dialect.delimiters)) as path, connected() as session:
        bare = _without_header(Head.of(source), dialect)
        table = Table(session, source, path, dialect, names=[f"column {place}" for place in range(bare)] or None)
        names = list(table.types)
        has_ids = not bare and _names_rows(names[0], table.types[names[0]], dialect)
        items = names[1:] if has_ids else names
        if not items:
            raise BadInput(f"{source.name}: the only column is {names[0]!r}, of ids; a column of scores per item is wanted.")
        ids = table.run(f"SELECT {table.id(names[0])} FROM {table.source}").fetchall() if has_ids else None
        rows: int = table.run(f"SELECT count(*) FROM {table.source}").fetchone()[0]
        small = dialect.name == "parquet" and all(_REAL.fullmatch(table.types[name]) for name in items)
        matrix = np.empty((rows, len(items)), dtype=np.float32 if small else np.float64)
        step = max(1, min(256, _AT_ONCE // max(rows, 1)))
        for start in range(0, len(items), step):
            some = items[start : start + step]
            listed = ", ".join(f"{table.number(name)} AS c{place}" for place, name in enumerate(some))
            found = table.run(f"SELECT {listed} FROM {table.source}").fetchnumpy()
            for place, name in enumerate(some):
                # DuckDB masks what is NULL; a column that is all NULL has a type of its own.
                column = np.ma.asarray(found[f"c{place}"])
                numbers = np.ma.filled(column.astype(np.float64), np.nan)
                _refuse(numbers, source, name)
                matrix[:, start + place] = numbers
    if bare:
        _refuse_counted_rows(matrix, source)
        return Scores(matrix)
    return Scores(matrix, None if ids is None else item_ids(name for (name,) in ids), items)


def _without_header(head: Head, dialect: Dialect) -> int:
    """How many columns a text table has whose first row is scores already; 0 where that row holds names."""
    row = [name.strip() for name in dialect.names(head)] if dialect.delimiters else []
    if not row or not all(map(_NUMBER.fullmatch, row)):
        return 0
    if len(set(row)) == len(row) and all(map(str.isdecimal, row)):
        listed = ", ".join(row[:3]) + (", …" if len(row) > 3 else "")
        raise BadInput(
            f"{head.name}: the first row is {listed}: names of columns, or scores? With names, begin it with a column for the "
            "rows' ids (query,…); scores as whole numbers want such a header too, or a decimal point (1.0)."
        )
    return len(row)


def _refuse_counted_rows(matrix: np.ndarray, source: Source) -> None:
    """Without a header, a first column that counts the rows beside fractions is no column of scores."""
    if len(matrix) > 2 and np.array_equal(matrix[:, 0], np.arange(len(matrix))) and (matrix != np.floor(matrix)).any():
        raise BadInput(
            f"{source.name}: the first column counts the rows (0, 1, 2, …) and no header says what it is; write one, as in "
            "query,v0,v1, or drop the column."
        )


def _names_rows(name: str, kind: str, dialect: Dialect) -> bool:
    """Whether a table's first column holds the ids of its rows."""
    called = re.sub(r"[\s_-]", "", name.lower()) in ("column0", "query", "queryid", "qid", "id", "caption", "captionid", "index")
    return called or (dialect.name == "parquet" and kind == "VARCHAR")


def _refuse(numbers: np.ndarray, source: Source, name: str) -> None:
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise BadScore(f"{source.name}: row {int(wrong[0])} (from 0), column {name!r}: no finite score; mend it or drop the row.")
