"""Reports: rows of results in, text and pictures out. Here is what every output shares: columns, figures, the rules line."""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from types import NoneType
from typing import Any, Literal, NamedTuple, TextIO, TypeVar

import numpy as np

from rankwell.core.registry import Catalogue
from rankwell.core.tables import ValueRows, Values
from rankwell.stats.summaries import SUMMARY_COLUMNS as SUMMARY_COLUMNS

Row = Mapping[str, Any]
Format = Literal["table", "csv", "tsv", "json", "jsonl", "md", "latex"]
PER_QUERY_COLUMNS = ("run", "query", "measure", "label", "value", "unit")
_LEVELS = ("ceiling", "chance")
MISSING = "–"
"""How an undefined figure is printed where people read; where programs read it is null or empty."""


class Terminal(NamedTuple):
    """The abilities of a stream. width: its columns, None for as many as needed. colour: whether to write escape codes."""

    width: int | None = None
    colour: bool = False


PLAIN = Terminal()


class Strong(str):
    """A cell whose first word stands out where the format has a way to say so."""

    __slots__ = ()


class Document(NamedTuple):
    """All that an output may show. summary: whether `rows` have `SUMMARY_COLUMNS`; else they are rows of any kind.

    rules: every rule that was in force. A mapping `counts` (run -> what -> how many) and the plain entries make the rules line;
    `level` names the interval; `measures` (exact name -> definition) may state a `summary` other than `mean`.
    tables: further rows of any kind by name, which formats of one table (csv, tsv, jsonl) leave out.
    title: what `table`, `md` and `latex` print above the tables. legend: lines below those of `md` and `latex`.
    """

    rows: Sequence[Row]
    per_query: Sequence[Row] | None
    rules: Mapping[str, Any]
    notes: Sequence[str]
    summary: bool = True
    terminal: Terminal = PLAIN
    tables: Mapping[str, Sequence[Row]] = {}
    title: str = ""
    legend: Sequence[str] = ()

    @property
    def single(self) -> tuple[Sequence[Row], list[str]]:
        """For outputs that hold one table: the rows of single queries where there are any, else the others; and their columns."""
        if self.per_query is not None:
            return self.per_query, columns_of(self.per_query, PER_QUERY_COLUMNS)
        return self.rows, columns_of(self.rows, SUMMARY_COLUMNS if self.summary else ())


class ChartData(NamedTuple):
    """The data of a chart: the summary rows, the values behind them, and the rules that made them.

    row_attributes: further columns of the rows of single queries (`direction`), for each element of `values`, or none at all.
    """

    rows: Sequence[Row]
    values: Sequence[Values]
    rules: Mapping[str, Any]
    row_attributes: Sequence[Row] = ()


Output = Callable[[Document], str]
Chart = Callable[[ChartData], dict[str, Any] | None]
Made = TypeVar("Made", bound=Callable[..., Any])
OUTPUTS: Catalogue[Output] = Catalogue("report.formats", "output format")
CHARTS: Catalogue[Chart] = Catalogue("report.charts", "chart")


def output(name: str) -> Callable[[Made], Made]:
    """Registers a function `(document) -> text` as the output format of this name."""
    return OUTPUTS.register(name, lambda function: function)


def chart(name: str) -> Callable[[Made], Made]:
    """Registers a function `(data) -> Vega-Lite spec`, or None where there is nothing to draw; the name is that of its files."""
    return CHARTS.register(name, lambda function: function)


def render(
    rows: Sequence[Row],
    per_query: Iterable[Row] | None,
    rules: Mapping[str, Any],
    notes: Sequence[str],
    format: Format = "table",  # noqa: A002
    *,
    terminal: Terminal = PLAIN,
    tables: Mapping[str, Sequence[Row]] | None = None,
) -> str:
    """The text of a result in one of the formats `table, csv, tsv, json, jsonl, md, latex`, ending in a line break.

    rows: the summary, with a protocol's columns after `SUMMARY_COLUMNS`. per_query: rows with `PER_QUERY_COLUMNS`, likewise.
    `csv`, `tsv` and `jsonl` are one table: with `per_query` they hold its rows and not the summary; all others hold both.
    Floats have full precision there and in `json`, 4 decimals elsewhere (percentages and ranks 2, counts none where whole).
    tables: further rows of any kind by name, for outputs that hold several tables.
    Notes stand in `json` only; elsewhere they belong on standard error. Raises UnknownName for another format.
    """
    listed = per_query if per_query is None or isinstance(per_query, Sequence) else list(per_query)
    return OUTPUTS[format](Document(rows, listed, rules, notes, terminal=terminal, tables=tables or {}))


def render_rows(
    rows: Sequence[Row],
    format: Format = "table",  # noqa: A002
    *,
    notes: Sequence[str] = (),
    terminal: Terminal = PLAIN,
) -> str:
    """The text of rows with any columns in one of the formats; see `render`. notes: as in JSON."""
    return OUTPUTS[format](Document(rows, None, {}, notes, summary=False, terminal=terminal))


def terminal_of(stream: TextIO) -> Terminal:
    """The abilities of the stream: no terminal, no width and no colour; `NO_COLOR` and a dumb terminal turn colour off."""
    if not stream.isatty():
        return PLAIN
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        width = 80
    return Terminal(width or 80, colour=not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")


def columns_of(rows: Sequence[Row], fixed: Sequence[str]) -> list[str]:
    """The names of all columns: the fixed ones, then whatever else a row has, in the order of first sight."""
    if isinstance(rows, ValueRows):
        return list(dict.fromkeys((*fixed, *rows.columns)))
    return list(dict.fromkeys(chain(fixed, *rows)))


def plain(value: Any) -> Any:
    """The value as JSON: NumPy's numbers as Python's, tuples and sets as lists, anything that is not finite as None."""
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(each) for each in value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


def figure(value: Any, unit: str) -> str:
    """A number as people read it: 4 decimals, percentages and ranks 2, counts none where they are whole."""
    number = plain(value)
    if number is None:
        return MISSING
    if unit == "count" and float(number).is_integer():
        return f"{number:.0f}"
    return f"{number:.{2 if unit in ('percent', 'rank', 'count') else 4}f}"


def visible(value: Any) -> str:
    """A text cell on one line: control characters, direction marks and bytes that are not UTF-8 are written as escapes."""
    text = MISSING if value is None else str(value)
    shown = text if text.isprintable() else "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
    return Strong(shown) if isinstance(value, Strong) else shown


class Grid(NamedTuple):
    """A table for people: cells are text already. grouped: whether the first column says the same in neighbouring rows."""

    headers: list[str]
    numeric: list[bool]
    rows: list[list[str]]
    grouped: bool


def summary_grid(document: Document) -> Grid:
    """The summary for people: run (where there are several), the measure's word and exact name, mean, interval, sd, n.

    A protocol's own columns come before the mean where they distinguish rows (texts and integers: `direction`, `k`), and
    after n with their names where they are figures (`ceiling`, `chance`, `coverage`).
    """
    rows = document.rows
    texts: list[tuple[str, Callable[[Row], Any]]] = [("measure", lambda row: _word(row, document.rules))]
    several = len({row["run"] for row in rows}) > 1
    if several:
        texts.insert(0, ("run", lambda row: row["run"]))
    if any(row["label"] != row["measure"] for row in rows):
        texts.append(("exact name", lambda row: row["measure"]))
    own = columns_of(rows, SUMMARY_COLUMNS)[len(SUMMARY_COLUMNS) :]
    measured = [name for name in own if _holds_figures(rows, name)]
    texts += [(name, lambda row, name=name: row.get(name)) for name in own if name not in measured]
    if any(row["unit"] != "share" for row in rows):
        texts.append(("unit", lambda row: row["unit"]))
    numbers: list[tuple[str, Callable[[Row], str]]] = [
        ("mean", lambda row: figure(row["mean"], row["unit"])),
        ("sd", lambda row: figure(row["sd"], row["unit"] if row["unit"] != "count" else "rank")),
        ("n", lambda row: figure(row["n"], "count")),
        *((name, lambda row, name=name: _own_figure(name, row)) for name in measured),
    ]
    if any(row["ci_low"] is not None for row in rows):
        level = document.rules.get("level", 0.95)
        numbers.insert(1, (f"{100 * level:g} % interval", _interval))
    return Grid(
        headers=[name for name, _ in texts + numbers],
        numeric=[False] * len(texts) + [True] * len(numbers),
        rows=[[*(visible(cell(row)) for _, cell in texts), *(cell(row) for _, cell in numbers)] for row in rows],
        grouped=several,
    )


def per_query_grid(document: Document) -> Grid:
    """The values of single queries: a row per query and a column per measure, or a row per value where a protocol has columns."""
    rows = document.per_query or []
    several = len({row["run"] for row in rows}) > 1
    keys = ["run", "query"] if several else ["query"]
    extra = columns_of(rows, PER_QUERY_COLUMNS)[len(PER_QUERY_COLUMNS) :]
    if extra:
        names = [*keys, "measure", *extra]
        cells = [[*(visible(row.get(name)) for name in names), figure(row["value"], row["unit"])] for row in rows]
        return Grid([*names, "value"], [False] * len(names) + [True], cells, grouped=several)
    measures = {row["measure"]: row for row in rows}
    headers = [_word(row, {}) + _beside(row) + (" (%)" if row["unit"] == "percent" else "") for row in measures.values()]
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        lines.setdefault(tuple(row[key] for key in keys), {})[row["measure"]] = figure(row["value"], row["unit"])
    cells = [[*map(visible, key), *(line.get(name, MISSING) for name in measures)] for key, line in lines.items()]
    return Grid([*keys, *headers], [False] * len(keys) + [True] * len(headers), cells, grouped=several)


def grids(document: Document) -> list[Grid]:
    """The tables to print, values of single queries first."""
    if not document.summary:
        return [_plain_grid(document.rows)]
    single = [per_query_grid(document)] if document.per_query is not None else []
    return [*single, summary_grid(document), *(_plain_grid(rows) for rows in document.tables.values() if rows)]


def _plain_grid(rows: Sequence[Row]) -> Grid:
    names = columns_of(rows, ())
    numeric = [all(isinstance(row.get(name), (int, float, NoneType)) for row in rows) for name in names]
    return Grid(
        headers=[name.replace("_", " ") for name in names],
        numeric=numeric,
        rows=[
            [
                _any_figure(row.get(name)) if number else visible(row.get(name))
                for name, number in zip(names, numeric, strict=True)
            ]
            for row in rows
        ],
        grouped=False,
    )


def _any_figure(value: Any) -> str:
    return str(value) if isinstance(value, (bool, int)) else figure(value, "score")


def _holds_figures(rows: Sequence[Row], name: str) -> bool:
    """Whether a protocol's column holds measured numbers, not what rows are called by."""
    if name in _LEVELS:
        return True
    known = [value for value in (plain(row.get(name)) for row in rows) if value is not None]
    return any(isinstance(value, float) for value in known) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in known
    )


def _own_figure(name: str, row: Row) -> str:
    """A protocol's own figure: levels in the unit of the mean, anything else, as a share or a p-value, with 4 digits."""
    value = plain(row.get(name))
    if value is None or name in _LEVELS:
        return figure(value, row["unit"])
    return f"{value:.4g}" if 0 < abs(value) < 1e-3 or abs(value) >= 1e5 else figure(value, "share")


def _interval(row: Row) -> str:
    if row["ci_low"] is None or row["ci_high"] is None:
        return MISSING
    unit = row["unit"] if row["unit"] != "count" else "rank"
    return f"[{figure(row['ci_low'], unit)}, {figure(row['ci_high'], unit)}]"


def _word(row: Row, rules: Mapping[str, Any]) -> str:
    definition = rules.get("measures", {}).get(row["measure"], {})
    summary = definition.get("summary", "mean") if isinstance(definition, Mapping) else "mean"
    return row["label"] + ("" if summary == "mean" else f" ({'geometric mean' if summary == 'geometric' else summary})")


def _beside(row: Row) -> str:
    return "" if row["label"] == row["measure"] else f" = {row['measure']}"


_COUNTS = {
    "queries_counted": "queries counted",
    "queries_missing": "missing from the run",
    "queries_unknown": "unknown to the judgments",
    "queries_without_relevant": "without anything relevant",
    "queries_best_relevant_tied": "whose best relevant item is tied with one that is not",
    "queries_tied": "decided by the order of ties",
}


def rules_line(rules: Mapping[str, Any]) -> str:
    """The rules in one line: how many queries were counted, missing and so on, then every plain entry as name=value.

    Counts are said once where they are the same for all runs, else for each run.
    Nested entries (definitions, hashes) are left to the manifest. Empty where there are no rules.
    """
    counts = [f"{number} {words}" if same else f"{words}: {number}" for words, number, same in _counted(rules)]
    settings = [f"{name}={value}" for name, value in _settings(rules)]
    return "; ".join(part for part in (", ".join(counts), " ".join(settings)) if part)


def rule_pairs(rules: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The same as names and values, a pair for each."""
    return [*((words, number) for words, number, _ in _counted(rules)), *_settings(rules)]


def _settings(rules: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (name.replace("_", "-"), visible("yes" if value is True else "no" if value is False else value))
        for name, value in rules.items()
        if isinstance(value, (str, int, float))
    ]


def _counted(rules: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """The counts: their words, their numbers, and whether the number is the same for all runs."""
    counts: Mapping[str, Mapping[str, Any]] = rules.get("counts", {})
    said: list[tuple[str, str, bool]] = []
    for name in dict.fromkeys(chain.from_iterable(counts.values())):
        found = {run: _how_many(own.get(name, 0)) for run, own in counts.items()}
        same = len(set(found.values())) == 1
        number = next(iter(found.values())) if same else " / ".join(f"{visible(run)} {value}" for run, value in found.items())
        said.append((_COUNTS.get(name, name.removeprefix("queries_").replace("_", " ")), number, same))
    return said


def _how_many(value: Any) -> str:
    """A count; of counts by measure the largest."""
    if not isinstance(value, Mapping):
        return str(value)
    numbers = [*value.values()] or [0]
    return f"{max(numbers)}" if len(set(numbers)) == 1 else f"at most {max(numbers)}"


class Picture(NamedTuple):
    """A chart drawn: pixels at twice the nominal size, and lines."""

    png: bytes
    svg: str


def draw(spec: dict[str, Any]) -> Picture:
    """A Vega-Lite spec as a picture, without a browser or a network; the same spec gives the same bytes."""
    import vl_convert

    return Picture(vl_convert.vegalite_to_png(spec, scale=2), vl_convert.vegalite_to_svg(spec))
