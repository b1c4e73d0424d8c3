"""The tables of a result as HTML for notebooks: no script, and no colours of its own, so that any theme shows through."""

from collections.abc import Sequence
from html import escape

from rankwell.core.display import face
from rankwell.report import Document, Grid, Row, Strong, grids, rules_line, summary_grid, visible
from rankwell.report.difference_tables import shown_differences
from rankwell.report.notebook import Result
from rankwell.report.system_table import SystemTable, shared_rules, wide_rows

_MOST_ROWS = 200
_QUIET = "opacity:.75;font-size:90%;margin:.4em 0"


@face("html")
def html(result: Result) -> str:
    """The verdicts of a comparison and its differences, else the summary, with the line of rules and the notes below.

    Everything is escaped. Of more than 200 rows the first are shown, and how many there are is said.
    """
    rows, rules = result.summary, result.describe()
    verdicts = result.tables.get("verdicts", ())
    differences = [row for row in rows if "p_adjusted" in row]
    grid = _difference_grid(differences) if differences else summary_grid(Document(rows, None, rules, ()))
    headlines = [f"<p><strong>{_text(row['text'])}</strong></p>" for row in verdicts]
    return _whole([*headlines, _table(grid)], rules_line(rules), [*result.notes, *result.interval_notes])


@face("system tables")
def system_tables(tables: Sequence[SystemTable], notes: Sequence[str]) -> str:
    """Systems × data sets, one table below the other, the best figures in bold, with the line of rules and the notes below."""
    parts: list[str] = []
    for each in tables:
        (grid,) = grids(Document(wide_rows(each), None, {}, (), summary=False))
        parts += [f"<p><strong>{_text(each.title)}</strong></p>", _table(grid)]
    return _whole(parts, rules_line(shared_rules(tables)), notes)


def _whole(parts: Sequence[str], line: str, notes: Sequence[str]) -> str:
    footer = [f'<p style="{_QUIET}">rules: {_text(line)}</p>'] if line else []
    return '<div style="overflow-x:auto">\n' + "\n".join([*parts, *footer, *_notes(notes)]) + "\n</div>"


def _difference_grid(rows: Sequence[Row]) -> Grid:
    """Differences with their figures, which are texts there, as columns of numbers."""
    (grid,) = grids(Document(shown_differences(rows), None, {}, (), summary=False))
    first = grid.headers.index("its mean")
    return grid._replace(numeric=[place >= first for place in range(len(grid.headers))], grouped=True)


def _table(grid: Grid) -> str:
    """The table; a name that the row above has as well is left out, as on a terminal."""
    sides = [f"text-align:{'right;white-space:nowrap' if number else 'left'};padding:.15em .6em" for number in grid.numeric]
    heads = [
        f'<th scope="col" style="{side};border-bottom:1px solid">{_text(name)}</th>'
        for name, side in zip(grid.headers, sides, strict=True)
    ]
    lines: list[str] = []
    last = ""
    for row in grid.rows[:_MOST_ROWS]:
        shown = ["", *row[1:]] if grid.grouped and row[0] == last else row
        cells = [f'<td style="{side}">{_cell(cell)}</td>' for cell, side in zip(shown, sides, strict=True)]
        lines.append(f"<tr>{''.join(cells)}</tr>")
        last = row[0]
    more = len(grid.rows) - _MOST_ROWS
    if more > 0:
        lines.append(f'<tr><td colspan="{len(sides)}">and {more:,} rows more: .to_pandas()</td></tr>')
    body = "\n".join(lines)
    return (
        f'<table style="border-collapse:collapse;font-variant-numeric:tabular-nums">\n<thead><tr>{"".join(heads)}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>"
    )


def _notes(notes: Sequence[str]) -> list[str]:
    """The notes, folded away."""
    texts = list(dict.fromkeys(notes))
    if not texts:
        return []
    count = "1 note" if len(texts) == 1 else f"{len(texts)} notes"
    items = "".join(f"<li>{_text(note)}</li>" for note in texts)
    return [f'<details style="{_QUIET}"><summary>{count}</summary><ul>{items}</ul></details>']


def _cell(text: str) -> str:
    return f"<strong>{_text(text)}</strong>" if isinstance(text, Strong) else _text(text)


def _text(text: str) -> str:
    return escape(visible(text))
