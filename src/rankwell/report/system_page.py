"""Systems × data sets as one page of HTML, which opens from disk."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from rankwell.report import MISSING, Row, figure, visible
from rankwell.report.system_table import IMPOSSIBLE, PERFORMANCE, SystemFigure, SystemTable, cost_rows, interval_of

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1d2530; background: #fff; margin: 2rem auto; max-width: 75rem;
  padding: 0 1rem }
h1 { font-size: 1.35rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid #d9dee5; vertical-align: baseline }
thead th { border-bottom: 2px solid #1d2530 } td.number { text-align: right; white-space: nowrap }
small, .published { color: #5b6675 } sup { color: #1a5fb4 } .warning { color: #a4420e } .wide { overflow-x: auto }
ul { padding-left: 1.1rem }
@media (prefers-color-scheme: dark) {
  body { color: #e4e8ee; background: #14181e } th, td { border-color: #333c48 } thead th { border-color: #e4e8ee }
  small, .published { color: #9aa6b5 } sup { color: #8ab4f8 } .warning { color: #f0a36b }
}
"""


def page(tables: Sequence[SystemTable], notes: Sequence[str], *, title: str = "") -> str:
    """The tables as one page, without scripts or anything from elsewhere; every name in it is escaped.

    title: of the page; by default that of its first table.
    """
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_safe(title or tables[0].title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
        *([f"<h1>{_safe(title)}</h1>"] if title else []),
        *(
            _section(each, notes if each is tables[-1] else (), "h2" if title or each is not tables[0] else "h1")
            for each in tables
        ),
        "</body>\n</html>",
    ]
    return "\n".join(parts) + "\n"


def _section(table: SystemTable, notes: Sequence[str], level: str) -> str:
    exact = f" <small>= {_safe(table.measure)}</small>" if table.label != table.measure else ""
    costs = cost_rows(table) if table.costs else []
    said = {name: value for name, value in {**table.rules, **table.footnotes}.items() if name not in ("letters", "impossible")}
    marks = [value for name, value in table.footnotes.items() if name not in said]
    lines = [*marks, *(f"{name.replace('_', ' ')}: {value}" for name, value in said.items()), *notes]
    parts = [
        f"<{level}>{_safe(table.title)}{exact}</{level}>",
        _html_figures(table),
        *([f"<h2>{PERFORMANCE}</h2>\n{_html_rows(costs)}"] if costs else []),
        "<ul>\n" + "\n".join(f"<li>{_safe(line)}</li>" for line in lines) + "\n</ul>" if lines else "",
    ]
    return "\n".join(part for part in parts if part)


def _html_figures(table: SystemTable) -> str:
    lines: list[str] = []
    for name, published, cells in table.lines:
        letter = table.letters.get(name, "")
        own = (
            f"{_safe(name)} <small>published</small>" if published else _safe(name) + (f" <sup>{letter}</sup>" if letter else "")
        )
        row = "".join(f'<td class="number">{_html_cell(table, cells.get(dataset))}</td>' for dataset in table.datasets)
        lines.append(f'<tr{" class=published" * published}><th scope="row">{own}</th>{row}</tr>')
    return _html_table(["system", *map(table.heading, table.datasets)], lines)


def _html_cell(table: SystemTable, each: SystemFigure | None) -> str:
    if each is None:
        return MISSING
    if each.gap:
        return f'<span class="warning" title="{_safe(each.why)}">{_safe(each.gap)}</span>'
    marks, interval = table.marks(each), interval_of(each)
    found = _safe(each.printed or figure(each.mean, each.unit))
    if table.is_best(each):
        found = f"<strong>{found}</strong>"
    if each.warning:
        found += f'<span class="warning" title="{_safe(each.warning)}"> {IMPOSSIBLE}</span>'
    own = " ".join(part for part in (interval, table.beside(each)) if part)
    return found + (f"<sup>{marks}</sup>" if marks else "") + (f" <small>{own}</small>" if own else "")


def _html_rows(rows: Sequence[Row]) -> str:
    return _html_table(rows[0], [f"<tr>{''.join(map(_html_cost, row.values()))}</tr>" for row in rows])


def _html_table(names: Iterable[str], lines: Sequence[str]) -> str:
    head = "".join(f'<th scope="col">{_safe(name)}</th>' for name in names)
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n' + "\n".join(lines) + "\n</tbody>\n</table></div>"
    )


def _html_cost(cell: str) -> str:
    return f'<td class="number">{cell}</td>' if cell.replace(".", "", 1).isdecimal() else f"<td>{_safe(cell)}</td>"


def _safe(text: Any) -> str:
    """Text for a page: markup, quotes and control characters are written as escapes."""
    return escape(visible(text), quote=True)
