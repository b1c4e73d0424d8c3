"""Systems × data sets as text in every format, and as one page of HTML, which opens from disk."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from rankwell.report import MISSING, OUTPUTS, PLAIN, Document, Format, Row, Terminal, figure, render_rows, system_table, visible
from rankwell.report.system_table import IMPOSSIBLE, PERFORMANCE, SystemFigure, SystemTable, TableFormat, cost_rows


def render_system_tables(
    tables: Sequence[SystemTable],
    format: TableFormat = "table",  # noqa: A002
    *,
    notes: Sequence[str] = (),
    title: str = "",
    terminal: Terminal = PLAIN,
) -> str:
    """One table or several, one below the other, each with what its systems took.

    `table`, `md`, `latex` and `html` set data sets side by side; the others have a row per system and data set, in full
    precision, with time and memory in further columns. `html` is a page of its own, without scripts or anything from elsewhere;
    every name in it is escaped. title: of the page of HTML. Raises UnknownName for another format.
    """
    if format == "html":
        return page(tables, notes, title=title)
    if format in ("csv", "tsv", "json", "jsonl"):
        rows = [row for each in tables for row in system_table.long_rows(each)]
        return OUTPUTS[format](Document(rows, None, system_table.shared_rules(tables), notes, summary=False))
    if format == "latex":
        # Each may float to another page, and so needs all of its own.
        own = [{**system_table.named_measure(each), **each.rules, **each.footnotes} for each in tables]
        return "\n".join(_wide_text(each, format, rules, notes) for each, rules in zip(tables, own, strict=True))
    *others, last = tables
    shared = system_table.shared_rules(tables)
    if format == "table":
        return "\n".join([*(_text(each, {}, terminal) for each in others), _text(last, shared, terminal)])
    return "\n".join([*(_wide_text(each, format, {}, ()) for each in others), _wide_text(last, format, shared, notes)])


def _wide_text(table: SystemTable, format: Format, rules: Mapping[str, Any], notes: Sequence[str]) -> str:  # noqa: A002
    below = [*_legend(table), *notes] if format == "latex" else notes
    parts = [(table.title, rules, system_table.wide_rows(table), below)]
    if table.costs:
        parts.append((PERFORMANCE, {}, cost_rows(table), _cost_legend(table) if format == "latex" else ()))
    documents = [Document(rows, None, own, (), summary=False, title=name, legend=said) for name, own, rows, said in parts]
    return "\n".join(OUTPUTS[format](document) for document in documents)


def _text(table: SystemTable, rules: Mapping[str, Any], terminal: Terminal) -> str:
    """The tables for a terminal: what does not fit its width goes on below, under the names of the rows."""
    kept = 2 if table.letters else 1
    wide = _fitting(system_table.wide_rows(table), kept, terminal)
    parts = [visible(table.title), *(render_rows(rows, terminal=terminal) for rows in wide)]
    parts += [OUTPUTS["table"](Document([], None, rules, (), summary=False, terminal=terminal))] if rules else []
    costs = _fitting(cost_rows(table), 1, terminal) if table.costs else []
    parts += [PERFORMANCE, *(render_rows(rows, terminal=terminal) for rows in costs)] if costs else []
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _fitting(rows: Sequence[Row], kept: int, terminal: Terminal) -> list[list[Row]]:
    """The rows in parts of so many columns as fit the terminal, the first ones, `kept`, in each."""
    names = list(rows[0])
    widths = {name: max(len(name), *(len(str(row[name])) for row in rows)) + 2 for name in names}
    parts: list[list[str]] = [[]]
    room = (terminal.width or sum(widths.values())) + 2 - sum(widths[name] for name in names[:kept])
    for name in names[kept:]:
        if parts[-1] and sum(widths[each] for each in (*parts[-1], name)) > room:
            parts.append([])
        parts[-1].append(name)
    return [[{name: row[name] for name in (*names[:kept], *part)} for row in rows] for part in parts]


def _legend(table: SystemTable) -> list[str]:
    """The lines below the figures: the marks, the test behind them, impossible figures."""
    notes = table.footnotes
    said = [f"Letters: {notes['letters']}."] if "letters" in notes else []
    said += [f"Test: {table.rules['test']}, level {table.rules.get('alpha')}."] if said and "test" in table.rules else []
    said += [f"{word}: {notes[word]}" for word in dict.fromkeys(each.gap for each in table.cells if each.gap)]
    return said + ([notes["impossible"]] if "impossible" in notes else [])


def _cost_legend(table: SystemTable) -> list[str]:
    notes = table.footnotes
    said = [notes["cached"]] if "cached" in notes else []
    said += [f"Memory: {notes['memory']}"] if "memory" in notes else []
    return [*said, *([f"Measured on {table.machine}"] if table.machine else [])]


def page(tables: Sequence[SystemTable], notes: Sequence[str], *, title: str = "") -> str:
    """The tables as one page, without scripts or anything from elsewhere; every name in it is escaped."""
    style = (files("rankwell.report.page") / "assets/systems.css").read_text(encoding="utf-8")
    levels = ["h2" if title or each is not tables[0] else "h1" for each in tables]
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_safe(title or tables[0].title)}</title>\n<style>\n{style}</style>\n</head>\n<body>",
        *([f"<h1>{_safe(title)}</h1>"] if title else []),
        *(_section(each, notes if each is tables[-1] else (), level) for each, level in zip(tables, levels, strict=True)),
        "</body>\n</html>",
    ]
    return "\n".join(parts) + "\n"


def _section(table: SystemTable, notes: Sequence[str], level: str) -> str:
    exact = f" <small>= {_safe(table.measure)}</small>" if table.label != table.measure else ""
    costs = cost_rows(table) if table.costs else []
    said = {name: value for name, value in {**table.rules, **table.footnotes}.items() if name not in ("letters", "impossible")}
    marks = [value for name, value in table.footnotes.items() if name not in said]
    lines_of_costs = [f"<tr>{''.join(map(_html_cost, row.values()))}</tr>" for row in costs]
    lines = [*marks, *(f"{name.replace('_', ' ')}: {value}" for name, value in said.items()), *notes]
    parts = [
        f"<{level}>{_safe(table.title)}{exact}</{level}>",
        _html_figures(table),
        *([f"<h2>{PERFORMANCE}</h2>\n{_html_table(costs[0], lines_of_costs)}"] if costs else []),
        "<ul>\n" + "\n".join(f"<li>{_safe(line)}</li>" for line in lines) + "\n</ul>" if lines else "",
    ]
    return "\n".join(part for part in parts if part)


def _html_figures(table: SystemTable) -> str:
    lines: list[str] = []
    for name, published, cells in table.lines:
        letter = f" <sup>{table.letters[name]}</sup>" if name in table.letters else ""
        own = _safe(name) + (" <small>published</small>" if published else letter)
        row = "".join(f'<td class="number">{_html_cell(table, cells.get(dataset))}</td>' for dataset in table.datasets)
        lines.append(f'<tr{" class=published" * published}><th scope="row">{own}</th>{row}</tr>')
    return _html_table(["system", *map(table.heading, table.datasets)], lines)


def _html_cell(table: SystemTable, each: SystemFigure | None) -> str:
    if each is None:
        return MISSING
    if each.gap:
        return f'<span class="warning" title="{_safe(each.why)}">{_safe(each.gap)}</span>'
    marks, interval = table.marks(each), system_table.interval_of(each)
    found = _safe(each.printed or figure(each.mean, each.unit))
    if table.is_best(each):
        found = f"<strong>{found}</strong>"
    if each.warning:
        found += f'<span class="warning" title="{_safe(each.warning)}"> {IMPOSSIBLE}</span>'
    own = " ".join(part for part in (interval, table.beside(each)) if part)
    return found + (f"<sup>{marks}</sup>" if marks else "") + (f" <small>{own}</small>" if own else "")


def _html_table(names: Iterable[str], lines: Sequence[str]) -> str:
    head = "".join(f'<th scope="col">{_safe(name)}</th>' for name in names)
    body = "\n".join(lines)
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def _html_cost(cell: str) -> str:
    return f'<td class="number">{cell}</td>' if cell.replace(".", "", 1).isdecimal() else f"<td>{_safe(cell)}</td>"


def _safe(text: Any) -> str:
    """Text for a page: markup, quotes and control characters are written as escapes."""
    return escape(visible(text), quote=True)
