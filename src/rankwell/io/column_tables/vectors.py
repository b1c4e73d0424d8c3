"""Vectors in a Parquet column of lists or arrays, and one column of any table as text, as ids and texts are given."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwell.core.kernels.arrays import USUAL, as_real, item_ids
from rankwell.core.tables.embeddings import Embeddings
from rankwell.core.tables.names import choose_column, known_columns, parquet, quoted
from rankwell.errors import BadInput
from rankwell.io import Request
from rankwell.io.column_tables.dialects import Dialect
from rankwell.io.column_tables.session import connected, first_line, glimpse, on_disk
from rankwell.io.column_tables.table import Table
from rankwell.store import Head, Source

_LISTS = re.compile(r"(FLOAT|DOUBLE|U?(?:TINY|SMALL|BIG)?INT(?:EGER)?|UINTEGER)\[\d*\]")
_NAMES = re.compile(r"VARCHAR|U?(TINY|SMALL|BIG)?INT(EGER)?|UINTEGER")
_NUMBERS_AT_ONCE = 1 << 24


def sniff_vectors(head: Head) -> float:
    """How surely a file is Parquet with a column of vectors."""
    if not head.raw.startswith(b"PAR1") or head.path is None:
        return 0.0
    return 0.9 if any(map(_LISTS.fullmatch, glimpse(head.path).types.values())) else 0.3


def read_vectors(source: Source, request: Request) -> Embeddings:
    """The named column of lists, or the only one, or the one with a usual name; ids from a column `id`, `_id`, `doc_id`, …

    Read whole into memory, a piece of the rows at a time. Raises BadInput naming the first row without a vector of that length.
    """
    import duckdb

    with on_disk(source, lines=False) as path, connected() as session:
        types = glimpse(path).types
        chosen = _vector_column(types, request.part, source)
        others = [
            name for name, kind in types.items() if kind == "VARCHAR" or re.fullmatch(r"U?(TINY|SMALL|BIG)?INT(EGER)?", kind)
        ]
        try:
            vectors = _fill(session, parquet(path), chosen)
            if not others:
                return Embeddings(None, as_real(vectors))
            column = quoted(choose_column(others))
            rows = session.execute(f"SELECT {column} FROM {parquet(path)}").fetchall()
        except duckdb.Error as error:
            raise BadInput(f"the Parquet data is damaged or ends early ({first_line(error)}); fetch it again.") from error
    return Embeddings(item_ids(value for (value,) in rows), as_real(vectors))


def _vector_column(types: dict[str, str], part: str, source: Source) -> str:
    lists = [name for name, kind in types.items() if _LISTS.fullmatch(kind)]
    listed = ", ".join(f"{name!r} ({kind})" for name, kind in types.items())
    if part:
        if part not in lists:
            raise BadInput(f"no column {part!r} of lists of numbers; found are {listed}.")
        return part
    chosen = lists if len(lists) == 1 else [name for name in lists if name.lower() in USUAL]
    if len(chosen) != 1:
        what = f"{len(lists)} columns may be the vectors" if lists else "no column of lists of numbers"
        example = f"; name one, as in {source.stem}.parquet:{lists[0]}" if lists else ""
        raise BadInput(f"{what}; found are {listed}{example}.")
    return chosen[0]


def _fill(session: Any, table: str, name: str) -> NDArray[Any]:
    """(rows, dimension) the lists of a column, taken out a piece at a time."""
    column = quoted(name)
    rows, dimension = session.execute(f"SELECT count(*), max(len({column})) FROM {table}").fetchone()
    odd = f"{column} IS NULL OR len({column}) <> {dimension or 0} OR list_count({column}::DOUBLE[]) < {dimension or 0}"
    numbered = table.replace("binary_as_string=true", "binary_as_string=true, file_row_number=true")
    first = session.execute(f"SELECT file_row_number, {column} FROM {numbered} WHERE {odd} ORDER BY 1 LIMIT 1").fetchone()
    if first is not None:
        row, value = first
        what = "nothing" if value is None else f"{len(value)} numbers" if len(value) != dimension else "a missing number"
        raise BadInput(f"row {row}, column {name!r}: {what} where a vector of {dimension} numbers belongs; mend or drop it.")
    step = max(1, _NUMBERS_AT_ONCE // max(dimension or 1, 1))
    filled: NDArray[Any] | None = None
    for start in range(0, rows, step):
        piece = f"SELECT {column} FROM {numbered} WHERE file_row_number >= {start} AND file_row_number < {start + step}"
        found = session.execute(f"SELECT unnest({column}) AS number FROM ({piece})").fetchnumpy()["number"]
        if filled is None:
            filled = np.empty((rows, dimension), dtype=found.dtype)
        filled[start : start + step] = np.asarray(found).reshape(-1, dimension)
    return np.empty((0, 0), dtype=np.float32) if filled is None else filled


def sniff_column(head: Head, dialect: Dialect) -> float:
    """How surely a file is a table of this kind, of which one column is wanted."""
    names = dialect.names(head)
    if not names:
        return 0.0
    if dialect.name in ("parquet", "jsonl"):
        return 0.9
    return 0.8 if head.name.lower().endswith(dialect.suffixes) else 0.5 * (len(names) > 1 and known_columns(names) > 0)


def read_column(source: Source, request: Request, *, dialect: Dialect) -> list[str | None]:
    """A column's texts and whole numbers as text, in the order of the rows; None where there is neither."""
    with on_disk(source, lines=bool(dialect.delimiters)) as path, connected() as session:
        table = Table(session, source, path, dialect)
        chosen = choose_column(list(table.types), request.part)
        return [value for (value,) in table.run(f"SELECT {table.id(chosen)} FROM {table.source}").fetchall()]
