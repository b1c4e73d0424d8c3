"""Results in a notebook: HTML without scripts or colours of its own, charts by name, tables as data
frames.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rankwell import reporting
from rankwell.data.findings import by_level
from rankwell.data.frames import (
    FrameColumns,
    Framed,
    Kind,
    frame_column,
    pandas_frame,
    polars_frame,
)
from rankwell.data.options import own_arithmetic, takes_options
from rankwell.data.registry import suggest
from rankwell.errors import BadUsage, UnknownName, count_of
from rankwell.reporting import Format, Row, TableStyle, escaped
from rankwell.reporting.options import paper_text
from rankwell.reporting.outputs.markup import QUIET, html_table, small_print

_MOST_ROWS = 200


def html(result: Any) -> str:
    """The verdicts of a comparison and its differences, else the summary, with the line of rules
    and the findings below.

    Everything is escaped. Of more than 200 rows the first are shown, and how many there are is
    said.
    """
    rows, rules = result.summary, result.describe()
    differences = [row for row in rows if "p_adjusted" in row]
    if differences:
        # Only a comparison needs it.
        from rankwell.reporting.difference_tables import shown_differences

        grid = reporting.plain_grid(shown_differences(differences))
    else:
        grid = reporting.summary_grid(reporting.Document(rows, rules=rules))
    parts = [
        f"<p><strong>{escaped(row['text'])}</strong></p>"
        for row in result.tables.get("verdicts", ())
    ]
    parts.append(html_table(grid, most=_MOST_ROWS))
    if line := reporting.rules_line(rules):
        parts.append(small_print(f"rules: {line}"))
    if texts := by_level(dict.fromkeys(result.findings)):
        count = count_of(len(texts), "finding")
        items = "".join(f"<li>{escaped(text)}</li>" for text in texts)
        parts.append(
            f'<details style="{QUIET}"><summary>{count}</summary><ul>{items}</ul></details>'
        )
    return "\n".join(['<div style="overflow-x:auto">', *parts, "</div>"])


def text(result: Any) -> str:
    """The answer as on a terminal, without codes."""
    from rankwell.reporting.outputs.answers import answer_of

    answer = answer_of(result)
    return reporting.render(result.summary, None, result.describe(), (), answer=answer).rstrip("\n")


class Rows(list[Any], Framed):
    """The rows of a table, each a mapping; they print as the table, in a notebook too."""

    def _document(self) -> reporting.Document:
        terminal = reporting.Terminal(details=True)
        if self and "value" in self[0]:
            return reporting.Document((), self, terminal=terminal)
        return reporting.Document(self, summary=bool(self._fixed), terminal=terminal)

    @property
    def _fixed(self) -> Sequence[str]:
        """The columns that come first."""
        is_summary = bool(self) and {*reporting.SUMMARY_COLUMNS} <= {*self[0]}
        return reporting.SUMMARY_COLUMNS if is_summary else ()

    @own_arithmetic
    def __repr__(self) -> str:
        lines = reporting.OUTPUTS["table"](self._document()).rstrip("\n").split("\n")
        more = [f"and {len(lines) - _MOST_ROWS:,} lines more: .to_pandas()"]
        return "\n".join(lines[:_MOST_ROWS] + more * (len(lines) > _MOST_ROWS))

    @own_arithmetic
    def _repr_html_(self) -> str:
        grids = reporting.grids(self._document())
        return "\n".join(html_table(grid, most=_MOST_ROWS) for grid in grids)

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns by name, each with a cell per row."""
        return {
            name: [reporting.plain(row.get(name)) for row in self]
            for name in reporting.columns_of(self, self._fixed)
        }

    def to_latex(self) -> str:
        """The text of a `tabular` for LaTeX."""
        return self.text("latex")

    def to_html(self) -> str:
        """The text of a table for a page of HTML."""
        return self.text("html")

    def to_markdown(self) -> str:
        """The text of a table in Markdown."""
        return self.text("md")

    @own_arithmetic
    def text(self, format: Format) -> str:
        """The rows in one of the formats."""
        return reporting.OUTPUTS[format](self._document())

    def _frame_columns(self) -> FrameColumns:
        return _typed(self.to_columns())


class Chart(dict[str, Any]):
    """A Vega-Lite specification, which a notebook draws without any further package;
    `altair.Chart.from_dict` loads it.
    """

    @property
    def mime(self) -> str:
        """The type by which notebooks know it: that of its version of Vega-Lite."""
        version = str(self["$schema"]).rpartition("/v")[2].partition(".")[0]
        return f"application/vnd.vegalite.v{version}+json"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The specification, and a drawing for notebooks that know another version or none."""
        from rankwell.reporting.drawing import DrawingCall, call_all

        parts = {
            "text/plain": lambda: f"<Chart {self['title']['text']!r}, a Vega-Lite specification>",
            # Drawn in lines, without the pixels that `draw_all` makes as well.
            "image/svg+xml": lambda: str(
                call_all([DrawingCall("vegalite_to_svg", (dict(self),))])[0]
            ),
            self.mime: lambda: dict(self),
        }
        return _requested(parts, include, exclude)


class Displayable:
    """The charts, data frames and displays of a result.

    It has `summary`, `values`, `query_attributes`, `findings` and `describe`, as `Results` and
    `BenchResults` have them.
    """

    tables: Mapping[str, Sequence[Row]] = MappingProxyType({})
    """Further rows by name."""

    @own_arithmetic
    def chart(self, name: str | None = None) -> Chart:
        """A chart as a Vega-Lite specification: `intervals`, `per_query`, and of a comparison
        `differences` and `deltas`.

        name: name of the chart, by default the main one. A notebook draws it;
        `altair.Chart.from_dict` loads it.
        Raises UnknownName for another name, BadUsage if this result has nothing to draw in that
        chart.
        """
        from rankwell.reporting.charts import CHARTS

        chart = _main_chart(self) if name is None else _chart(self, name)
        if chart is not None:
            return chart
        if name is None:
            raise BadUsage("there is nothing to draw: no query is counted.")
        drawable = [drawn for drawn in CHARTS if _chart(self, drawn) is not None]
        raise BadUsage(
            f"there is nothing to draw as {name!r} here; what can be drawn is "
            f"{', '.join(drawable) or 'nothing'}."
        )

    @own_arithmetic
    def to_columns(self, table: str = "summary") -> dict[str, list[Any]]:
        """The columns of the `summary`, of the values `per_query`, or of one of `tables`. Undefined
        is None.

        Raises UnknownName for another table.
        """
        return {
            name: [None if cell != cell else cell for cell in cells.tolist()]
            for name, (_, cells) in _columns_of_table(self, table).items()
        }

    @own_arithmetic
    def to_pandas(self, table: str = "summary") -> Any:
        """A pandas data frame in long form: the `summary`, the values `per_query`, or one of
        `tables`. Undefined is NaN.

        Raises UnknownName for another table, MissingExtra without pandas.
        """
        return pandas_frame(_columns_of_table(self, table))

    @own_arithmetic
    def to_polars(self, table: str = "summary") -> Any:
        """A Polars data frame in long form: the `summary`, the values `per_query`, or one of
        `tables`. Undefined is null.

        Raises UnknownName for another table, MissingExtra without Polars.
        """
        return polars_frame(_columns_of_table(self, table))

    @takes_options(TableStyle)
    def to_latex(self, table: str = "summary", *, options: TableStyle) -> str:
        """The text of a table for LaTeX: the scores as a finished table of runs by measures, or the
        rows of another table as a `tabular`.

        table: the `summary`, the values `per_query`, or one of `tables`. The best score is in bold,
        superscripts name the systems that a system is significantly better than. Needs the package
        booktabs. Raises UnknownName for another table.
        """
        return self._table_text(table, "latex", options)

    @takes_options(TableStyle)
    def to_html(self, table: str = "summary", *, options: TableStyle) -> str:
        """The text of a table for a page of HTML; see `to_latex`. The label is the table's id."""
        return self._table_text(table, "html", options)

    @takes_options(TableStyle)
    def to_markdown(self, table: str = "summary", *, options: TableStyle) -> str:
        """The text of a table in Markdown; see `to_latex`."""
        return self._table_text(table, "md", options)

    def _table_text(self, table: str, format: Format, style: TableStyle) -> str:
        scores = self._paper_text(format, style) if table == "summary" else ""
        return scores or Rows(_rows_of_table(self, table)).text(format)

    def _paper_text(self, format: Format, style: TableStyle) -> str:
        return paper_text(self, format, style)  # pyright: ignore[reportArgumentType]

    @own_arithmetic
    def _repr_html_(self) -> str:
        """The tables with the line of rules, for notebooks."""
        return html(self)

    @own_arithmetic
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Text, the tables, and the main chart where there is one."""
        parts: dict[str, Callable[[], Any]] = {
            "text/plain": lambda: repr(self),
            "text/html": self._repr_html_,
        }
        main = _main_chart(self)
        if main is not None:
            parts[main.mime] = lambda: dict(main)
        return _requested(parts, include, exclude)


def _requested(
    parts: Mapping[str, Callable[[], Any]], include: Any, exclude: Any
) -> dict[str, Any]:
    """The parts that a notebook requests, by type of content: all or those included, without those
    excluded.
    """
    names = (
        name
        for name in parts
        if (not include or name in include) and (not exclude or name not in exclude)
    )
    return {name: parts[name]() for name in names}


_MAIN = ("differences", "intervals", "per_query")


def _main_chart(result: Any) -> Chart | None:
    """The chart that says most of a result: differences where it has some, else means; None where
    nothing is counted.
    """
    charts = (_chart(result, name) for name in _MAIN)
    return next((chart for chart in charts if chart is not None), None)


def _chart(result: Any, name: str) -> Chart | None:
    from rankwell.reporting.charts import CHARTS, ChartData

    spec = CHARTS[name](
        ChartData(result.summary, result.values, result.describe(), result.query_attributes)
    )
    # Checkers of a specification do not accept a tuple as an array.
    return None if spec is None else Chart(reporting.plain(spec))


_FIGURES = ("mean", "sd", "ci_low", "ci_high")


def _columns_of_table(result: Any, table: str) -> FrameColumns:
    """The kind and the cells of each column of a table."""
    from rankwell.reporting.folder import per_query_columns

    if table == "per_query":
        columns, types = per_query_columns(result.values, result.query_attributes)
        return {
            name: frame_column("float" if kind == "DOUBLE" else "text", columns[name])
            for name, kind in types.items()
        }
    return _typed(Rows(_rows_of_table(result, table)).to_columns())


def _typed(columns: Mapping[str, list[Any]]) -> FrameColumns:
    return {
        name: frame_column("float" if name in _FIGURES else _kind(cells), cells)
        for name, cells in columns.items()
    }


def _rows_of_table(result: Any, table: str) -> Sequence[Row]:
    """The rows of a table. Raises UnknownName."""
    if table == "summary":
        return result.summary
    if table == "per_query":
        from rankwell.reporting.folder import per_query_columns

        columns, _ = per_query_columns(result.values, result.query_attributes)
        return [
            dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)
        ]
    if table not in result.tables:
        raise UnknownName(
            f"there is no table {table!r} here; "
            f"{suggest(table, ['summary', 'per_query', *result.tables])}"
        )
    return result.tables[table]


def _kind(cells: Sequence[Any]) -> Kind:
    types = {type(cell) for cell in cells if cell is not None}
    if not types:
        return "nothing"
    if types <= {int, float}:
        return "float" if float in types else "int"
    return "bool" if types == {bool} else "text"
