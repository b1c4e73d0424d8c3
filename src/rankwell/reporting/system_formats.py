"""Systems × data sets as text in every format, and as one page of HTML, which opens from disk."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rankwell.reporting import (
    MISSING,
    OUTPUTS,
    PLAIN,
    Document,
    Format,
    Terminal,
    figure,
    render_rows,
    system_table,
    visible,
)
from rankwell.reporting.page.scripts import embeddable, source_hash
from rankwell.reporting.system_table import (
    IMPOSSIBLE,
    PERFORMANCE,
    SystemFigure,
    SystemTable,
    TableFormat,
    cost_rows,
)


def render_system_tables(
    tables: Sequence[SystemTable],
    format: TableFormat = "table",
    *,
    notes: Sequence[str] = (),
    title: str = "",
    terminal: Terminal = PLAIN,
) -> str:
    """One table or several, one below the other, each with what its systems took.

    `table`, `md`, `latex` and `html` set data sets side by side; the others have a row per system
    and data set, in full precision, with time and memory in further columns. `html` is a page of
    its own, with nothing from elsewhere;
    every name in it is escaped. title: of the page of HTML. Raises UnknownName for another format.
    """
    if format == "html":
        return page(tables, notes, title=title)
    if format in ("csv", "tsv", "json", "jsonl"):
        rows = [row for table in tables for row in system_table.long_rows(table)]
        return OUTPUTS[format](
            Document(rows, None, system_table.shared_rules(tables), notes, summary=False)
        )
    if format == "latex":
        # Each may float to another page, and so needs all of its own.
        rules_by_table = [
            {**system_table.named_measure(table), **table.rules, **table.footnotes}
            for table in tables
        ]
        return "\n".join(
            _wide_text(table, format, rules, notes)
            for table, rules in zip(tables, rules_by_table, strict=True)
        )
    *first_tables, last_table = tables
    shared = system_table.shared_rules(tables)
    if format == "table":
        return "\n".join(
            [
                *(_text(table, {}, terminal) for table in first_tables),
                _text(last_table, shared, terminal),
            ]
        )
    return "\n".join(
        [
            *(_wide_text(table, format, {}, ()) for table in first_tables),
            _wide_text(last_table, format, shared, notes),
        ]
    )


def _wide_text(
    table: SystemTable, format: Format, rules: Mapping[str, Any], notes: Sequence[str]
) -> str:
    below = [*_legend(table), *notes] if format == "latex" else notes
    parts = [(table.title, rules, system_table.wide_rows(table), below)]
    if table.costs:
        parts.append(
            (PERFORMANCE, {}, cost_rows(table), _cost_legend(table) if format == "latex" else ())
        )
    documents = [
        Document(rows, None, part_rules, (), summary=False, title=name, legend=legend)
        for name, part_rules, rows, legend in parts
    ]
    return "\n".join(OUTPUTS[format](document) for document in documents)


def _text(table: SystemTable, rules: Mapping[str, Any], terminal: Terminal) -> str:
    """The tables for a terminal."""
    parts = [visible(table.title), render_rows(system_table.wide_rows(table), terminal=terminal)]
    parts += (
        [OUTPUTS["table"](Document([], None, rules, (), summary=False, terminal=terminal))]
        if rules
        else []
    )
    parts += [PERFORMANCE, render_rows(cost_rows(table), terminal=terminal)] if table.costs else []
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _legend(table: SystemTable) -> list[str]:
    """The lines below the figures: the marks, the test behind them, impossible figures."""
    notes = table.footnotes
    said = [f"Letters: {notes['letters']}."] if "letters" in notes else []
    said += (
        [f"Test: {table.rules['test']}, level {table.rules.get('alpha')}."]
        if said and "test" in table.rules
        else []
    )
    said += [
        f"{word}: {notes[word]}"
        for word in dict.fromkeys(cell.gap for cell in table.cells if cell.gap)
    ]
    return said + ([notes["impossible"]] if "impossible" in notes else [])


def _cost_legend(table: SystemTable) -> list[str]:
    notes = table.footnotes
    said = [notes["cached"]] if "cached" in notes else []
    said += [f"Memory: {notes['memory']}"] if "memory" in notes else []
    return [*said, *([f"Measured on {table.machine}"] if table.machine else [])]


def page(tables: Sequence[SystemTable], notes: Sequence[str], *, title: str = "") -> str:
    """The tables as one page with the header, the themes and the sorting of every page; notes stand
    once, below all.
    """
    assets = files("rankwell.reporting.page") / "assets"
    style = "".join(
        (assets / name).read_text(encoding="utf-8")
        for name in ("base.css", "header.css", "systems.css")
    )
    script = embeddable((assets / "systems.js").read_text(encoding="utf-8"))
    allowed = f"script-src {source_hash(script)}; style-src {source_hash(style)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    shared = {
        name: value
        for name, value in system_table.shared_rules(tables).items()
        if name != "measure"
    }
    marks = [shared.pop(name) for name in ("letters", "impossible") if name in shared]
    lines = [
        *marks,
        *(f"{name.replace('_', ' ')}: {value}" for name, value in shared.items()),
        *notes,
    ]
    is_only = len(tables) == 1 and not title
    parts = [_section(table, titled=not is_only) for table in tables]
    if lines:
        list_items = "\n".join(f"<li>{_safe(line)}</li>" for line in dict.fromkeys(lines))
        parts.append(f'<h2>Notes</h2>\n<ul class="notes">\n{list_items}\n</ul>')
    return (
        (assets / "systems.html")
        .read_text(encoding="utf-8")
        .format(
            title=_safe(title or (tables[0].title if is_only else "Systems by data set")),
            exact=_exact(tables[0]) if is_only else "",
            body="\n".join(parts),
            policy=escape(policy, quote=False),
            style=style,
            script=script,
        )
    )


def _exact(table: SystemTable) -> str:
    return f" <small>= {_safe(table.measure)}</small>" if table.label != table.measure else ""


def _section(table: SystemTable, *, titled: bool) -> str:
    costs = cost_rows(table) if table.costs else []
    lines_of_costs = [f"<tr>{''.join(map(_html_cost, row.values()))}</tr>" for row in costs]
    level = "h3" if titled else "h2"
    parts = [
        f"<h2>{_safe(table.title)}{_exact(table)}</h2>" if titled else "",
        _html_figures(table),
        *(
            [
                f"<{level}>{PERFORMANCE}</{level}>\n"
                + _html_table(map(_safe, costs[0]), lines_of_costs)
            ]
            if costs
            else []
        ),
    ]
    return "\n".join(part for part in parts if part)


def _html_figures(table: SystemTable) -> str:
    lines: list[str] = []
    for name, published, cells in table.lines:
        letter = f"&nbsp;<sup>{table.letters[name]}</sup>" if name in table.letters else ""
        links = {table.links.get((name, dataset)) for dataset in cells} - {None}
        heading = _linked(_breakable(name), links.pop() if len(links) == 1 else None)
        heading += " <small>published</small>" if published else letter
        row = "".join(_html_figure(table, cells.get(dataset)) for dataset in table.datasets)
        lines.append(
            f'<tr{" class=published" * published}><th scope="row">{heading}</th>{row}</tr>'
        )
    heads = [
        f'<button type="button">{_safe(name)}</button>'
        for name in ("system", *map(table.heading, table.datasets))
    ]
    return _html_table(heads, lines, numbers=True)


def link_to(page: Path, folder: Path) -> str:
    """The address of a page as a file of the folder has it."""
    return quote(
        Path(os.path.relpath(page.absolute(), folder.absolute())).as_posix(),
        errors="surrogateescape",
    )


def _linked(text: str, link: str | None) -> str:
    return text if link is None else f'<a href="{escape(link, quote=True)}">{text}</a>'


def _html_figure(table: SystemTable, cell: SystemFigure | None) -> str:
    value = "" if cell is None or cell.mean is None else repr(cell.mean)
    return f'<td class="number" data-value="{value}">{_html_cell(table, cell)}</td>'


def _html_cell(table: SystemTable, cell: SystemFigure | None) -> str:
    if cell is None:
        return MISSING
    if cell.gap:
        return f'<span class="warning" title="{_safe(cell.why)}">{_safe(cell.gap)}</span>'
    marks, interval = table.marks(cell), system_table.interval_of(cell)
    text = _linked(
        _safe(cell.printed or figure(cell.mean, cell.unit)),
        table.links.get((cell.system, cell.dataset)),
    )
    if table.is_best(cell):
        text = f"<strong>{text}</strong>"
    if cell.warning:
        text += f'<span class="warning" title="{_safe(cell.warning)}"> {IMPOSSIBLE}</span>'
    small_print = " ".join(part for part in (interval, table.n_note(cell)) if part)
    # Figures with and without letters end at one place, and what is below them there, too.
    most = max(
        len(table.marks(other_cell))
        for other_cell in table.cells
        if other_cell.dataset == cell.dataset
    )
    letters = (f"<sup>{marks}</sup>" if marks else "") + _room(most - len(marks))
    return text + letters + (f" <small>{small_print}{_room(most)}</small>" if small_print else "")


def _room(letters: int) -> str:
    return f'<sup class="room" aria-hidden="true">{"a" * letters}</sup>' if letters > 0 else ""


def _html_table(heads: Iterable[str], lines: Sequence[str], *, numbers: bool = False) -> str:
    """A table of escaped parts. numbers: whether all columns but the first hold numbers."""
    numbered_heads = enumerate(heads)
    head = "".join(
        f'<th scope="col"{" class=number" * (numbers and index > 0)}>{text}</th>'
        for index, text in numbered_heads
    )
    body = "\n".join(lines)
    return (
        "<div "
        f'class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
    )


def _html_cost(cell: str) -> str:
    return (
        f'<td class="number">{cell}</td>'
        if cell.replace(".", "", 1).isdecimal()
        else f"<td>{_safe(cell)}</td>"
    )


def _breakable(name: str) -> str:
    """A name that a line may end in after its underscores, hyphens, dots and slashes, and nowhere
    inside a word.
    """
    return re.sub(r"(?<=[_./-])(?=\w)", "<wbr>", _safe(name))


def _safe(text: Any) -> str:
    """Text for a page: markup, quotes and control characters are written as escapes."""
    return escape(visible(text), quote=True)
