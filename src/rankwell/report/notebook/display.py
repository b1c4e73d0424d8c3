"""Results in a notebook: HTML without scripts or colours of its own, charts by name, tables as data
frames.
"""

import importlib
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from rankwell import report
from rankwell.core.display import Chart, display
from rankwell.core.registry import suggest
from rankwell.core.tables.frames import Framed
from rankwell.errors import BadUsage, MissingExtra, UnknownName
from rankwell.evaluation.results import Results
from rankwell.report.charts import CHARTS, ChartData
from rankwell.report.difference_tables import difference_text, shown_differences
from rankwell.report.drawing import DrawingCall, call_all
from rankwell.report.folder import number_column, per_query_columns, text_column
from rankwell.report.rules import rules_line
from rankwell.report.system_table import SystemTable, shared_rules, wide_rows

_MOST_ROWS = 200
_QUIET = "opacity:.75;font-size:90%;margin:.4em 0"


@display("html")
def html(result: Results) -> str:
    """The verdicts of a comparison and its differences, else the summary, with the line of rules
    and the notes below.

    Everything is escaped. Of more than 200 rows the first are shown, and how many there are is
    said.
    """
    rows, rules = result.summary, result.describe()
    verdicts = result.tables.get("verdicts", ())
    differences = [row for row in rows if "p_adjusted" in row]
    grid = (
        _difference_grid(differences)
        if differences
        else report.summary_grid(report.Document(rows, None, rules, ()))
    )
    headlines = [f"<p><strong>{_text(row['text'])}</strong></p>" for row in verdicts]
    return _document(
        [*headlines, _table(grid)], rules_line(rules), [*result.notes, *result.interval_notes]
    )


@display("text")
def text(result: Results) -> str:
    """The result as on a terminal, without codes: a comparison as its sentences and differences,
    else the summary.
    """
    if "differences" in result.objects:
        return difference_text(
            result.tables, result.differences, None, result.describe(), "table"
        ).rstrip("\n")
    return report.render(result.summary, None, result.describe(), ()).rstrip("\n")


@display("system tables")
def system_tables(tables: Sequence[SystemTable], notes: Sequence[str]) -> str:
    """Systems × data sets, one table below the other, the best figures in bold, with the line of
    rules and the notes below.
    """
    parts: list[str] = []
    for table in tables:
        (grid,) = report.grids(report.Document(wide_rows(table), None, {}, (), summary=False))
        parts += [f"<p><strong>{_text(table.title)}</strong></p>", _table(grid)]
    return _document(parts, rules_line(shared_rules(tables)), notes)


def _document(parts: Sequence[str], line: str, notes: Sequence[str]) -> str:
    """The parts with the line of rules and the notes, folded away, below."""
    footer = [f'<p style="{_QUIET}">rules: {_text(line)}</p>'] if line else []
    if texts := list(dict.fromkeys(notes)):
        count = "1 note" if len(texts) == 1 else f"{len(texts)} notes"
        items = "".join(f"<li>{_text(note)}</li>" for note in texts)
        footer.append(
            f'<details style="{_QUIET}"><summary>{count}</summary><ul>{items}</ul></details>'
        )
    return '<div style="overflow-x:auto">\n' + "\n".join([*parts, *footer]) + "\n</div>"


def _difference_grid(rows: Sequence[report.Row]) -> report.Grid:
    """Differences with their figures, which are texts there, as columns of numbers."""
    (grid,) = report.grids(report.Document(shown_differences(rows), None, {}, (), summary=False))
    first = grid.headers.index("mean")
    return grid._replace(
        numeric=[index >= first for index in range(len(grid.headers))], grouped=True
    )


def _table(grid: report.Grid) -> str:
    """The table; a name that the row above has as well is left out, as on a terminal."""
    sides = [
        f"text-align:{'right;white-space:nowrap' if number else 'left'};padding:.15em .6em"
        for number in grid.numeric
    ]
    headed = zip(grid.headers, sides, strict=True)
    heads = "".join(
        f'<th scope="col" style="{side};border-bottom:1px solid">{_text(name)}</th>'
        for name, side in headed
    )
    lines: list[str] = []
    last = ""
    for row in grid.rows[:_MOST_ROWS]:
        texts = ["", *row[1:]] if grid.grouped and row[0] == last else row
        cells = [
            f'<td style="{side}">{_cell(cell)}</td>'
            for cell, side in zip(texts, sides, strict=True)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
        last = row[0]
    more = len(grid.rows) - _MOST_ROWS
    if more > 0:
        lines.append(
            f'<tr><td colspan="{len(sides)}">and {more:,} rows more: .to_pandas()</td></tr>'
        )
    opened = '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums">'
    return "\n".join(
        [opened, f"<thead><tr>{heads}</tr></thead>", "<tbody>", *lines, "</tbody>", "</table>"]
    )


def _cell(text: str) -> str:
    return f"<strong>{_text(text)}</strong>" if isinstance(text, report.Strong) else _text(text)


def _text(text: str) -> str:
    return escape(report.visible(text))


_MAIN = ("differences", "intervals", "per_query")


@display("chart")
def chart(result: Results, name: str | None) -> Chart:
    """A result's chart of a name, the main one for None. Raises UnknownName, and BadUsage where
    there is nothing to draw.
    """
    spec = main_chart(result) if name is None else _chart_of(result, name)
    if spec is None and name is None:
        raise BadUsage("there is nothing to draw: no query is counted.")
    if spec is None:
        drawable = ", ".join(
            chart_name
            for chart_name in CHARTS
            if chart_name != name and _chart_of(result, chart_name) is not None
        )
        raise BadUsage(
            f"there is nothing to draw as {name!r} here; what can be drawn is "
            f"{drawable or 'nothing'}."
        )
    return spec


@display("main chart")
def main_chart(result: Results) -> Chart | None:
    """The chart that says most of a result: differences where it has some, else means; None where
    nothing is counted.
    """
    return next(
        (spec for spec in (_chart_of(result, name) for name in _MAIN) if spec is not None), None
    )


@display("svg")
def svg(spec: Chart) -> str:
    """A chart drawn in lines, without the pixels that `draw` makes as well."""
    return str(call_all([DrawingCall("vegalite_to_svg", (dict(spec),))])[0])


def _chart_of(result: Results, name: str) -> Chart | None:
    spec = CHARTS[name](
        ChartData(result.summary, result.values, result.describe(), result.query_attributes)
    )
    # Checkers of a specification do not accept a tuple as an array.
    return None if spec is None else Chart(report.plain(spec))


_FIGURES = ("mean", "sd", "ci_low", "ci_high")


@display("columns")
def to_columns(result: Results, table: str) -> dict[str, list[Any]]:
    """The columns of a table of a result, of which any library makes a data frame; what is
    undefined is None.
    """
    columns = _columns_of_table(result, table).items()
    return {
        name: [None if cell != cell else cell for cell in cells.tolist()]
        for name, (_, cells) in columns
    }


@display("pandas")
def to_pandas(result: Results | Framed, table: str) -> Any:
    """A run, judgments or a table of a result in pandas; numbers that are undefined are NaN. Raises
    MissingExtra without it.
    """
    pandas = _package("pandas")
    columns = _columns_of_table(result, table)
    return pandas.DataFrame(
        {name: pandas.Series(_without_gaps(kind, cells)) for name, (kind, cells) in columns.items()}
    )


@display("polars")
def to_polars(result: Results | Framed, table: str) -> Any:
    """A run, judgments or a table of a result in Polars; what is undefined is null. Raises
    MissingExtra without it.
    """
    polars = _package("polars")
    types = {
        "float": "Float64",
        "int": "Int64",
        "bool": "Boolean",
        "text": "String",
        "nothing": "Null",
    }
    columns = [
        polars.Series(
            name,
            cells if kind == "float" else cells.tolist(),
            dtype=getattr(polars, types[kind]),
            nan_to_null=kind == "float",
        )
        for name, (kind, cells) in _columns_of_table(result, table).items()
    ]
    return polars.DataFrame(columns)


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f"this data frame is made by {name}, which is not installed: pip install {name}."
        ) from error


def _columns_of_table(result: Results | Framed, table: str) -> dict[str, tuple[str, np.ndarray]]:
    """The kind and cells of each column of a table: NaN in floats, None in others where undefined,
    `nothing` for no cell.
    """
    if isinstance(result, Framed):
        columns = result.to_columns()
        return {
            name: _column("float" if name in ("score", "grade") else "text", cells)
            for name, cells in columns.items()
        }
    if table == "per_query":
        columns, types = per_query_columns(result.values, result.query_attributes)
        return {
            name: _column("float" if kind == "DOUBLE" else "text", columns[name])
            for name, kind in types.items()
        }
    if table != "summary" and table not in result.tables:
        raise UnknownName(
            f"there is no table {table!r} here; "
            f"{suggest(table, ['summary', 'per_query', *result.tables])}"
        )
    rows, fixed = (
        (result.summary, report.SUMMARY_COLUMNS)
        if table == "summary"
        else (result.tables[table], ())
    )
    cells = {
        name: [report.plain(row.get(name)) for row in rows]
        for name in report.columns_of(rows, fixed)
    }
    return {
        name: _column("float" if name in _FIGURES else _kind(column), column)
        for name, column in cells.items()
    }


def _column(kind: str, cells: Any) -> tuple[str, np.ndarray]:
    if kind == "float":
        return kind, number_column(cells)
    if kind == "text":
        return kind, text_column([None if cell is None else str(cell) for cell in cells])
    return kind, np.array(cells, dtype=object)


def _kind(cells: Sequence[Any]) -> str:
    types = {type(cell) for cell in cells if cell is not None}
    if not types:
        return "nothing"
    if types <= {int, float}:
        return "float" if float in types else "int"
    return "bool" if types == {bool} else "text"


def _without_gaps(kind: str, cells: np.ndarray) -> np.ndarray:
    """The column for pandas, which has integers and booleans without gaps only."""
    if kind not in ("int", "bool"):
        return cells
    if None in cells.tolist():
        return number_column(cells) if kind == "int" else cells
    return cells.astype(np.int64 if kind == "int" else np.bool_)
