"""Systems × data sets: a figure with its interval in each cell, which system is better than which, and what each one took."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from string import ascii_lowercase
from typing import Any, Literal, NamedTuple

from rankwell.report import MISSING, OUTPUTS, PLAIN, Document, Format, Row, Terminal, figure, plain, visible

TableFormat = Literal[Format, "html"]
IMPOSSIBLE = "†"
CACHED = "*"


class SystemFigure(NamedTuple):
    """What one system reached on one data set.

    mean, ci_low, ci_high: in `unit`; None where undefined. better_than: systems that this one is significantly better than.
    printed: the text of a published figure, "" for a measured one. warning: why a published figure cannot be right, or "".
    """

    system: str
    dataset: str
    mean: float | None
    n: int | None
    unit: str = "percent"
    ci_low: float | None = None
    ci_high: float | None = None
    sd: float | None = None
    better_than: tuple[str, ...] = ()
    printed: str = ""
    warning: str = ""


class SystemCost(NamedTuple):
    """What one system took on one data set, and what its user states of its training; None or "" where unknown.

    from_cache: of how many of the `images` an earlier run's vectors or features were taken.
    """

    system: str
    dataset: str
    encode_seconds_per_image: float | None = None
    seconds_per_query: float | None = None
    evaluation_seconds: float | None = None
    peak_memory_mib: float | None = None
    dimension: int | None = None
    images: int | None = None
    hardware: str = ""
    training_time: str = ""
    training_hardware: str = ""
    training_data: str = ""
    from_cache: int | None = None


@dataclass(frozen=True, eq=False)
class SystemTable:
    """Figures of one measure, in any order; systems and data sets come in the order of first sight, published systems last.

    measure, label: its exact name, and the word for it. rules: what the figures and marks rest on, for the line below.
    """

    measure: str
    label: str
    figures: Sequence[SystemFigure]
    costs: Sequence[SystemCost] = ()
    rules: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @cached_property
    def datasets(self) -> list[str]:
        """The columns."""
        return list(dict.fromkeys(each.dataset for each in self.figures))

    @cached_property
    def letters(self) -> dict[str, str]:
        """A letter for every measured system, by which marks name it; none where there is nothing to compare with."""
        systems = list(dict.fromkeys(each.system for each in self.figures if not each.printed))
        return {name: _letters(place) for place, name in enumerate(systems)} if len(systems) > 1 else {}

    @cached_property
    def lines(self) -> list[tuple[str, bool, dict[str, SystemFigure]]]:
        """For every system its name, whether it is published, and its figure by data set."""
        ordered = sorted(self.figures, key=lambda each: bool(each.printed))
        found: dict[tuple[str, bool], dict[str, SystemFigure]] = {}
        for each in ordered:
            found.setdefault((each.system, bool(each.printed)), {})[each.dataset] = each
        return [(*key, cells) for key, cells in found.items()]

    def marks(self, each: SystemFigure) -> str:
        """The letters of the systems that a figure is better than."""
        own = sorted((self.letters[name] for name in each.better_than), key=lambda letter: (len(letter), letter))
        return ("" if all(len(letter) == 1 for letter in own) else ",").join(own)

    @property
    def title(self) -> str:
        """What the cells hold, with unit and interval."""
        cut = re.fullmatch(r"P@(\d+)", self.measure)
        name = f"Mean Precision@{cut[1]}" if cut else self.label
        unit = " in percent" if any(each.unit == "percent" for each in self.figures) else ""
        return f"{name}{unit}{', 95 % interval in brackets' if any(map(_interval, self.figures)) else ''}"

    def heading(self, dataset: str) -> str:
        """The name of a data set with its number of queries, where that is the same for all measured systems."""
        n = self._n(dataset)
        return dataset if n is None else f"{dataset} (n = {n})"

    def beside(self, each: SystemFigure) -> str:
        """A figure's own number of queries, "" where the heading says it."""
        return f"(n = {each.n})" if each.n is not None and each.n != self._n(each.dataset) else ""

    def _n(self, dataset: str) -> int | None:
        cells = [each for each in self.figures if each.dataset == dataset]
        found = {each.n for each in [cell for cell in cells if not cell.printed] or cells}
        return found.pop() if len(found) == 1 else None

    @property
    def machine(self) -> str:
        """What everything was measured on, "" where it was not one and the same."""
        found = {each.hardware for each in self.costs}
        return found.pop() if len(found) == 1 else ""

    @property
    def footnotes(self) -> dict[str, str]:
        """What marks mean, what is wrong with published figures, what everything was measured on."""
        found: dict[str, str] = {"measured_on": self.machine} if self.machine else {}
        if any(each.better_than for each in self.figures):
            found["letters"] = "a system is better than those whose letters stand after its figure"
        if any(each.from_cache for each in self.costs):
            found["cached"] = (
                f"{CACHED} vectors or features of earlier runs came from the cache, so that this is less than it takes"
            )
        if any(each.peak_memory_mib is not None for each in self.costs):
            found["memory"] = "the greatest that the whole command had, with all its runs"
        wrong = [f"{each.system} on {each.dataset}: {each.warning}" for each in self.figures if each.warning]
        return found | ({"impossible": f"{IMPOSSIBLE} {'; '.join(wrong)}"} if wrong else {})


def render_system_table(
    table: SystemTable,
    format: TableFormat = "table",  # noqa: A002
    *,
    notes: Sequence[str] = (),
    terminal: Terminal = PLAIN,
) -> str:
    """The table and what every system took. `table`, `md`, `latex` and `html` set data sets side by side; the others have a row
    per system and data set, in full precision, with what it took in further columns.

    `html` is a page of its own, without scripts or anything from elsewhere; every name in it is escaped.
    Raises UnknownName for another format.
    """
    if format == "html":
        return _page(table, notes)
    rules = {"measure": f"{table.label} = {table.measure}" if table.label != table.measure else table.measure, **table.rules}
    if format in ("csv", "tsv", "json", "jsonl"):
        return OUTPUTS[format](Document(long_rows(table), None, {**rules, **table.footnotes}, notes, summary=False))
    rules |= table.footnotes
    if format == "table":
        return _text(table, rules, terminal)
    told = [*_legend(table), *notes] if format == "latex" else notes
    parts = [(table.title, rules, _wide_rows(table), told)]
    if table.costs:
        parts.append((_PERFORMANCE, {}, _cost_rows(table), _cost_legend(table) if format == "latex" else ()))
    documents = [Document(rows, None, own, (), summary=False, title=title, legend=said) for title, own, rows, said in parts]
    return "\n".join(OUTPUTS[format](document) for document in documents)


def _text(table: SystemTable, rules: Mapping[str, Any], terminal: Terminal) -> str:
    """The tables for a terminal: what does not fit its width goes on below, under the names of the rows."""
    kept = 2 if table.letters else 1
    parts = [table.title, *(_plain_text(rows, terminal) for rows in _fitting(_wide_rows(table), kept, terminal))]
    parts.append(_plain_text([], terminal, rules))
    if table.costs:
        parts += [_PERFORMANCE, *(_plain_text(rows, terminal) for rows in _fitting(_cost_rows(table), 1, terminal))]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _plain_text(rows: Sequence[Row], terminal: Terminal, rules: Mapping[str, Any] | None = None) -> str:
    return OUTPUTS["table"](Document(rows, None, rules or {}, (), summary=False, terminal=terminal))


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
    """What stands below the figures: the marks, the test behind them, what is impossible."""
    notes = table.footnotes
    test = (
        [f"Test: {table.rules['test']}, level {table.rules.get('alpha')}."]
        if "letters" in notes and "test" in table.rules
        else []
    )
    return [
        *([f"Letters: {notes['letters']}."] if "letters" in notes else []),
        *test,
        *([notes["impossible"]] if "impossible" in notes else []),
    ]


def _cost_legend(table: SystemTable) -> list[str]:
    notes = table.footnotes
    said = [notes["cached"]] if "cached" in notes else []
    said += [f"Memory: {notes['memory']}"] if "memory" in notes else []
    return [*said, *([f"Measured on {table.machine}"] if table.machine else [])]


def long_rows(table: SystemTable) -> list[Row]:
    """A row per system and data set: the columns of a summary, then the others; undefined is None."""
    costs = {(each.system, each.dataset): each for each in table.costs}
    rows: list[Row] = []
    for each in [cell for _, _, cells in table.lines for cell in cells.values()]:
        row = {"run": each.system, "dataset": each.dataset, "measure": table.measure, "label": table.label}
        names = ("mean", "sd", "ci_low", "ci_high", "n", "unit")
        row |= {name: getattr(each, name) for name in names}
        row |= {"published": bool(each.printed), "better_than": ", ".join(each.better_than), "warning": each.warning}
        unknown = SystemCost(each.system, each.dataset)
        cost = unknown if each.printed else costs.get((each.system, each.dataset), unknown)
        rows.append(row | {name: value for name, value in cost._asdict().items() if name not in ("system", "dataset")})
    return rows


def _wide_rows(table: SystemTable) -> list[Row]:
    rows: list[Row] = []
    for name, published, cells in table.lines:
        row: dict[str, Any] = {" ": table.letters.get(name, "") if not published else ""} if table.letters else {}
        row["system"] = f"{name} (published)" if published else name
        for dataset in table.datasets:
            heading = f"{dataset} (data set)" if table.heading(dataset) in (" ", "system") else table.heading(dataset)
            row[heading] = _cell(table, cells.get(dataset))
        rows.append(row)
    return rows


def _cell(table: SystemTable, each: SystemFigure | None) -> str:
    if each is None:
        return MISSING
    marks = [table.marks(each), IMPOSSIBLE if each.warning else ""]
    parts = [each.printed or figure(each.mean, each.unit), _interval(each), *marks, table.beside(each)]
    return " ".join(part for part in parts if part)


def _interval(each: SystemFigure) -> str:
    if each.ci_low is None or each.ci_high is None:
        return ""
    return f"[{figure(each.ci_low, each.unit)}, {figure(each.ci_high, each.unit)}]"


_PERFORMANCE = "Performance"
_COST_COLUMNS = {
    "encode_seconds_per_image": ("encoding, ms per image", 1000.0),
    "seconds_per_query": ("search, ms per query", 1000.0),
    "evaluation_seconds": ("evaluation, s", 1.0),
    "peak_memory_mib": ("memory, MiB", 1.0),
    "dimension": ("dimension", 0.0),
    "images": ("images", 0.0),
    "training_time": ("training time", 0.0),
    "training_hardware": ("trained on", 0.0),
    "training_data": ("trained with", 0.0),
    "hardware": ("measured on", 0.0),
}


def _cost_rows(table: SystemTable) -> list[Row]:
    """What every system took as people read it, a column per system; what is known of none is left out, but for the training."""
    columns = dict(_COST_COLUMNS)
    if not any(each.training_data for each in table.costs):
        del columns["training_data"]
    if table.machine:
        del columns["hardware"]
    several = len({each.dataset for each in table.costs}) > 1
    names = [f"{each.system}, {each.dataset}" if several else each.system for each in table.costs]
    # Two systems may be called the same by their users.
    names = [f"{name} ({place})" if names.count(name) > 1 or name == " " else name for place, name in enumerate(names, 1)]
    rows: list[Row] = []
    for name, (heading, scale) in columns.items():
        cells = [_cost(name, each, scale) for each in table.costs]
        if name in ("training_time", "training_hardware") or any(cell != MISSING for cell in cells):
            rows.append({" ": heading, **dict(zip(names, cells, strict=True))})
    return rows


def _cost(name: str, each: SystemCost, scale: float) -> str:
    value = plain(getattr(each, name))
    if value in (None, ""):
        return MISSING
    if not scale:
        return str(value)
    shown = f"{value * scale:.3g}" if value * scale < 1000 else f"{value * scale:.0f}"
    return f"{shown} {CACHED}" if each.from_cache and name == "evaluation_seconds" else shown


def _letters(place: int) -> str:
    """a to z, then aa, ab and so on."""
    found = ""
    while place >= 0:
        found = ascii_lowercase[place % 26] + found
        place = place // 26 - 1
    return found


# ---- one page of HTML ----------------------------------------------------------------------------------------------------

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


def _page(table: SystemTable, notes: Sequence[str]) -> str:
    exact = f" <small>= {_safe(table.measure)}</small>" if table.label != table.measure else ""
    costs = _cost_rows(table)
    said = {name: value for name, value in {**table.rules, **table.footnotes}.items() if name not in ("letters", "impossible")}
    marks = [value for name, value in table.footnotes.items() if name not in said]
    told = [*marks, *(f"{name.replace('_', ' ')}: {value}" for name, value in said.items()), *notes]
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_safe(table.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
        f"<h1>{_safe(table.title)}{exact}</h1>",
        _html_figures(table),
        *([f"<h2>{_PERFORMANCE}</h2>\n{_html_rows(costs)}"] if costs else []),
        "<ul>\n" + "\n".join(f"<li>{_safe(line)}</li>" for line in told) + "\n</ul>" if told else "",
        "</body>\n</html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _html_figures(table: SystemTable) -> str:
    head = "".join(f'<th scope="col">{_safe(name)}</th>' for name in ("system", *map(table.heading, table.datasets)))
    lines: list[str] = []
    for name, published, cells in table.lines:
        letter = table.letters.get(name, "")
        own = (
            f"{_safe(name)} <small>published</small>" if published else _safe(name) + (f" <sup>{letter}</sup>" if letter else "")
        )
        row = "".join(f'<td class="number">{_html_cell(table, cells.get(dataset))}</td>' for dataset in table.datasets)
        lines.append(f'<tr{" class=published" * published}><th scope="row">{own}</th>{row}</tr>')
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n' + "\n".join(lines) + "\n</tbody>\n</table></div>"
    )


def _html_cell(table: SystemTable, each: SystemFigure | None) -> str:
    if each is None:
        return MISSING
    marks, interval = table.marks(each), _interval(each)
    found = _safe(each.printed or figure(each.mean, each.unit))
    if each.warning:
        found += f'<span class="warning" title="{_safe(each.warning)}"> {IMPOSSIBLE}</span>'
    own = " ".join(part for part in (interval, table.beside(each)) if part)
    return found + (f"<sup>{marks}</sup>" if marks else "") + (f" <small>{own}</small>" if own else "")


def _html_rows(rows: Sequence[Row]) -> str:
    head = "".join(f'<th scope="col">{_safe(name)}</th>' for name in rows[0])
    lines = [f"<tr>{''.join(map(_html_cost, row.values()))}</tr>" for row in rows]
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n' + "\n".join(lines) + "\n</tbody>\n</table></div>"
    )


def _html_cost(cell: str) -> str:
    return f'<td class="number">{cell}</td>' if cell.replace(".", "", 1).isdecimal() else f"<td>{_safe(cell)}</td>"


def _safe(text: Any) -> str:
    """Text for a page: markup, quotes and control characters are written as escapes."""
    return escape(visible(text), quote=True)
