"""The tables of a result as data frames in long form, with the same types whatever they hold."""

import importlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.display import face
from rankwell.core.registry import suggest
from rankwell.errors import MissingExtra, UnknownName
from rankwell.report import SUMMARY_COLUMNS, Row, columns_of, plain
from rankwell.report.folder import number_column, per_query_columns, text_column
from rankwell.report.notebook import Result

_FIGURES = ("mean", "sd", "ci_low", "ci_high")


class _Column(NamedTuple):
    """The cells of a column: NaN in floats, None in others where undefined.

    kind: `float`, `int`, `bool`, `text`, or `nothing` where none is known.
    """

    kind: str
    cells: np.ndarray


@face("pandas")
def to_pandas(result: Result, table: str) -> Any:
    """A table of a result as a pandas data frame; numbers that are undefined are NaN. Raises MissingExtra without pandas."""
    pandas = _package("pandas")
    return pandas.DataFrame({name: pandas.Series(_array(column)) for name, column in _table(result, table).items()})


@face("polars")
def to_polars(result: Result, table: str) -> Any:
    """A table of a result as a Polars data frame; what is undefined is null. Raises MissingExtra without Polars."""
    polars = _package("polars")
    types = {"float": "Float64", "int": "Int64", "bool": "Boolean", "text": "String", "nothing": "Null"}
    return polars.DataFrame(
        [
            polars.Series(
                name,
                column.cells if column.kind == "float" else column.cells.tolist(),
                dtype=getattr(polars, types[column.kind]),
                nan_to_null=column.kind == "float",
            )
            for name, column in _table(result, table).items()
        ]
    )


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra(f"this data frame is made by {name}, which is not installed: pip install {name}.") from error


def _table(result: Result, table: str) -> dict[str, _Column]:
    """The columns of a table. Raises UnknownName for any other name."""
    if table == "per_query":
        columns, types = per_query_columns(result.values, result.query_attributes)
        return {name: _column("float" if kind == "DOUBLE" else "text", columns[name]) for name, kind in types.items()}
    if table == "summary":
        return _of_rows(result.summary, SUMMARY_COLUMNS)
    if table not in result.tables:
        raise UnknownName(f"there is no table {table!r} here; {suggest(table, ['summary', 'per_query', *result.tables])}")
    return _of_rows(result.tables[table], ())


def _of_rows(rows: Sequence[Row], fixed: Sequence[str]) -> dict[str, _Column]:
    cells = {name: [plain(row.get(name)) for row in rows] for name in columns_of(rows, fixed)}
    return {name: _column("float" if name in _FIGURES else _kind(column), column) for name, column in cells.items()}


def _column(kind: str, cells: Any) -> _Column:
    if kind == "float":
        return _Column(kind, number_column(cells))
    if kind == "text":
        return _Column(kind, text_column([None if cell is None else str(cell) for cell in cells]))
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return _Column(kind, column)


def _kind(cells: Sequence[Any]) -> str:
    known = [cell for cell in cells if cell is not None]
    if not known:
        return "nothing"
    if all(isinstance(cell, bool) for cell in known):
        return "bool"
    if any(isinstance(cell, bool) or not isinstance(cell, (int, float)) for cell in known):
        return "text"
    return "int" if all(isinstance(cell, int) for cell in known) else "float"


def _array(column: _Column) -> np.ndarray:
    """The column for pandas, which has integers and booleans without gaps only."""
    gaps = column.kind in ("int", "bool") and any(cell is None for cell in column.cells)
    if gaps:
        return number_column(column.cells) if column.kind == "int" else column.cells
    return column.cells.astype({"int": np.int64, "bool": np.bool_}.get(column.kind, column.cells.dtype))
