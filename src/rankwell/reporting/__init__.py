"""Reports: rows of results in, text out. Columns, figures and tables of every format, and the
rules of a result in words.
"""

import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from string import ascii_lowercase
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, Self, TextIO

import numpy as np

from rankwell.data.findings import Finding
from rankwell.data.frames import Heading
from rankwell.data.options import Doc, refuse_options, shown_digits, shows_details
from rankwell.data.registry import Catalogue
from rankwell.data.tables import MISSING, ValueRows, format_value, grouped, p_value
from rankwell.errors import BadUsage, count_of, flag, printable
from rankwell.stats import SUMMARY_COLUMNS as SUMMARY_COLUMNS

# Counts that have a noun of their own: for one and for several. The others count queries.
_NOUNS = {
    "queries": ("query", "queries"),
    "queries_counted": ("query counted", "queries counted"),
    "references_missing": ("reference missing", "references missing"),
    "rows": ("row", "rows"),
    "impressions": ("impression", "impressions"),
    "statements": ("statement", "statements"),
}
_OF_QUERIES = {
    "queries_missing": "missing from the run",
    "queries_unknown": "in the run without judgments",
    "queries_without_relevant": "with no relevant item",
    "queries_best_relevant_tied": "whose best relevant item is tied with one that is not",
    "no_keywords": "without keywords",
    "fewer_results_than_k": "with fewer results than k",
    "queries_tied": "with values that depend on the order of ties",
}


Rules = Mapping[str, Any]
"""Every choice that decided a number, by name."""


def rules_line(rules: Rules) -> str:
    """The rules in one line: the counts, once where they are the same for all runs, then every
    plain entry as name=value.
    """
    counted = _counted(rules)
    shared_counts = ", ".join(
        count_of(int(number), *_words(name)) if number.isdigit() else f"{number} {_words(name)[1]}"
        for name, number, same in counted
        if same
    )
    differing_counts = [
        f"{'' if name in _NOUNS else 'queries '}{_words(name)[1]}: {number}"
        for name, number, same in counted
        if not same
    ]
    settings = " ".join(f"{name}={value}" for name, value in _settings(rules))
    return "; ".join(filter(None, (shared_counts, *differing_counts, settings)))


def rule_pairs(rules: Rules) -> list[tuple[str, str]]:
    """The rules as pairs of a name and a value."""
    return [*((_words(name)[1], number) for name, number, _ in _counted(rules)), *_settings(rules)]


def _settings(rules: Rules) -> list[tuple[str, str]]:
    return [
        (
            visible(name.replace("_", "-")),
            visible("yes" if value is True else "no" if value is False else value),
        )
        for name, value in rules.items()
        if isinstance(value, (str, int, float))
    ]


def _counted(rules: Rules) -> list[tuple[str, str, bool]]:
    """The counts: their names, their numbers, and whether the number is the same for all runs."""
    counts: Mapping[str, Mapping[str, Any]] = rules.get("counts", {})
    counted: list[tuple[str, str, bool]] = []
    for name in dict.fromkeys(chain.from_iterable(counts.values())):
        numbers = {run: _how_many(run_counts.get(name, 0)) for run, run_counts in counts.items()}
        same = len(set(numbers.values())) == 1
        number = (
            next(iter(numbers.values()))
            if same
            else ", ".join(f"{value} in {visible(run)}" for run, value in numbers.items())
        )
        counted.append((name, number, same))
    return counted


def _words(name: str) -> tuple[str, str]:
    """The words of a count of one and of several; those of queries follow the noun."""
    words = _OF_QUERIES.get(name, name.removeprefix("queries_").replace("_", " "))
    return _NOUNS.get(name, (words, words))


def _how_many(value: Any) -> str:
    """A count; of counts by measure the largest."""
    if not isinstance(value, Mapping):
        return str(value)
    most = max(value.values(), default=0)
    return f"{most}" if len(set(value.values())) <= 1 else f"at most {most}"


Row = Mapping[str, Any]
Format = Literal["table", "csv", "tsv", "json", "jsonl", "md", "latex", "html"]
FOR_PEOPLE = ("table", "md", "latex", "html")
"""The formats that people read; programs read the others."""
PAPER = ("md", "latex", "html")
"""The formats of tables for papers."""
PER_QUERY_COLUMNS = ValueRows.columns
_LEVELS = ("ceiling", "chance")


class Terminal(NamedTuple):
    """What a terminal can show.

    width: number of columns; None for any width.
    colour: whether it shows colours, as escape codes.
    details: whether a summary is printed with all its columns and rules, not the answer alone.
    """

    width: int | None = None
    colour: bool = False
    details: bool = False

    @property
    def page(self) -> "Terminal":
        """The terminal with the width that an answer may take."""
        return self._replace(width=self.width or 80)


PLAIN = Terminal()
_WORDS = re.compile(r"[a-z0-9_ ]+")


class PrintedFigure(str):
    """A cell that is a printed figure: on a terminal its decimal point stands below those of the
    others.
    """

    __slots__ = ()


_SUPERSCRIPTS = str.maketrans(ascii_lowercase, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ𐞥ʳˢᵗᵘᵛʷˣʸᶻ")


class ScoreCell(PrintedFigure):
    """A figure with its marks; as text it has superscripts of Unicode.

    figure: the figure alone.
    marks: letters of the systems that this one is significantly better than.
    beside: the interval, and anything else after the figure.
    place: 1 for a figure that is the best, 2 for the second best, else 0.
    room: letters that have the width by which the longest marks of the column are longer.
    """

    figure: str
    marks: str
    beside: str
    place: int
    room: str

    def __new__(
        cls, figure: str, marks: str = "", beside: str = "", place: int = 0, room: str = ""
    ) -> Self:
        """The cell."""
        text = f"{figure}{marks.translate(_SUPERSCRIPTS)} {beside}".rstrip()
        cell = super().__new__(cls, text)
        cell.figure, cell.marks, cell.room = figure, marks, room
        cell.beside, cell.place = beside, place
        return cell


class StatusNote(str):
    """A note on what a command did, not on its results, such as the name of a written file;
    `--quiet` leaves it out.
    """

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class TableStyle:
    """The look of a table of scores."""

    help_group = "Output"

    digits: Annotated[
        int | None, Doc("Number of decimals of scores; 3 unless a convention sets it.")
    ] = None
    caption: Annotated[str | None, Doc("Caption in md, latex and html.")] = None
    label: Annotated[str, Doc("Label of the table in latex, and its id in html.")] = "tab:scores"
    underline_second: Annotated[
        bool, Doc("Underline the second-best score in md, latex and html.")
    ] = False

    def __post_init__(self) -> None:
        if self.digits is not None and not 0 <= self.digits <= _MOST_DIGITS:
            raise BadUsage(
                f"{flag('--digits')} is {self.digits}; expected a number from 0 to {_MOST_DIGITS}."
            )

    def refuse_unused(self, format: Format, output: Any) -> None:
        """Raises BadUsage for an option that the format has no place for. output: a folder, whose
        page has the decimals.
        """
        shown = {"digits": FOR_PEOPLE, "label": PAPER[1:], "caption": PAPER}
        shown["underline_second"] = PAPER
        allowed = [name for name, formats in shown.items() if format in formats]
        allowed += ["digits"] if output is not None else []
        refuse_options(self, allowed, f"has no effect with -f {format}")


_MOST_DIGITS = 15


class Answer(NamedTuple):
    """What a person reads first of a result; `--verbose` adds the rest.

    sentence: the sentence that answers the question.
    caption: what the figures below are, in a line.
    rows: the rows of the summary that the table shows; None for all.
    table: rows with any columns, which are the table in place of those.
    legend: lines below the table.
    """

    sentence: str = ""
    caption: str = ""
    rows: Sequence[Row] | None = None
    table: Sequence[Row] | None = None
    legend: Sequence[str] = ()


class Document(NamedTuple):
    """All that an output may show.

    rows: the rows of the table, usually the summary.
    per_query: rows with `PER_QUERY_COLUMNS`; None where none were requested.
    rules: every rule in force. The plain entries and a mapping `counts` (run -> what is counted ->
        number) make the rules line; `level` names the interval; `measures` (exact name ->
        definition) may state a `summary` other than `mean`.
    findings: findings, which only JSON contains; with other formats they go to standard error.
    summary: whether `rows` have `SUMMARY_COLUMNS`; otherwise they are rows of any kind.
    terminal: what the terminal can show; by default plain text of any width.
    tables: further rows of any kind, by name; formats that hold one table (csv, tsv, jsonl) leave
        them out.
    title: the caption of the tables in `md`, `latex` and `html`.
    legend: lines below the tables there.
    label: the label of the table in `latex`, and its id in `html`.
    answer: what a terminal shows of a summary; without details the answer alone.
    """

    rows: Sequence[Row]
    per_query: Sequence[Row] | None = None
    rules: Mapping[str, Any] = {}
    findings: Sequence[Finding] = ()
    summary: bool = True
    terminal: Terminal = PLAIN
    tables: Mapping[str, Sequence[Row]] = {}
    title: str = ""
    legend: Sequence[str] = ()
    label: str = ""
    answer: Answer = Answer()


class Output(NamedTuple):
    """The output of a command.

    text: text for standard output.
    messages: lines for standard error on what the command did.
    exit_code: the exit code for the shell.
    findings: findings for standard error, of which the command line shows the most serious.
    next_step: the command to type next, shown last; "" for none.
    """

    text: str = ""
    messages: tuple[str, ...] = ()
    exit_code: int = 0
    findings: tuple[Finding, ...] = ()
    next_step: str = ""

    @classmethod
    def of(cls, text: str, notes: Iterable[str], exit_code: int = 0) -> "Output":
        """The output with notes, of which some are findings."""
        notes = list(notes)
        findings = tuple(note for note in notes if isinstance(note, Finding))
        others = tuple(note for note in notes if not isinstance(note, Finding))
        return cls(text, others, exit_code, findings)


OUTPUTS: Catalogue[Callable[[Document], str]] = Catalogue("reporting.outputs", "output format")
output = OUTPUTS.register
"""Registers a function `(document) -> text` as the output format of this name."""


def render(
    rows: Sequence[Row],
    per_query: Iterable[Row] | None,
    rules: Rules,
    findings: Sequence[Finding],
    format: Format = "table",
    *,
    terminal: Terminal = PLAIN,
    tables: Mapping[str, Sequence[Row]] = {},
    answer: Answer | None = None,
) -> str:
    """The text of a result in one of the formats, ending in a line break.

    rows: the summary, with a task's columns after `SUMMARY_COLUMNS`. per_query: likewise with
    `PER_QUERY_COLUMNS`, which `csv`, `tsv` and `jsonl`, being one table, have in place of the
    summary. Floats have full precision there and in `json`, 4 decimals elsewhere (percentages and
    ranks 2, counts none where whole). Findings are in `json` only. Raises UnknownName.
    """
    query_rows = (
        per_query if per_query is None or isinstance(per_query, Sequence) else list(per_query)
    )
    return OUTPUTS[format](
        Document(
            rows,
            query_rows,
            rules,
            findings,
            terminal=terminal,
            tables=tables,
            answer=answer or Answer(),
        )
    )


def render_rows(
    rows: Sequence[Row],
    format: Format = "table",
    *,
    findings: Sequence[Finding] = (),
    terminal: Terminal = PLAIN,
) -> str:
    """The text of rows with any columns in one of the formats; see `render`. findings: as in
    JSON.
    """
    return OUTPUTS[format](Document(rows, findings=findings, summary=False, terminal=terminal))


def terminal_of(stream: TextIO | None = None) -> Terminal:
    """The abilities of a stream, by default of standard output: no terminal, no width and no
    colour; `NO_COLOR` and a dumb terminal turn colour off.

    `COLUMNS` is the width of a terminal that reports another.
    """
    output = stream or sys.stdout
    if not output.isatty():
        return Terminal(details=shows_details())
    columns = os.environ.get("COLUMNS", "")
    try:
        width = (
            int(columns) if columns.isdecimal() else os.get_terminal_size(output.fileno()).columns
        )
    except OSError:
        width = 80
    return Terminal(
        width or 80,
        colour=not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
        details=shows_details(),
    )


def folded(text: str, terminal: Terminal, indent: str = "") -> str:
    """The text with no line longer than the terminal's, broken at blanks alone. indent: of the
    lines that go on.
    """
    if terminal.width is None or all(width_of(line) <= terminal.width for line in text.split("\n")):
        return text
    from textwrap import TextWrapper

    wrapper = TextWrapper(
        terminal.width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join("\n".join(wrapper.wrap(line)) for line in text.split("\n"))


def prose(text: str) -> str:
    """The text with its paragraphs folded where standard output is a terminal; command lines stay
    whole, to be copied.
    """
    terminal = terminal_of()
    if terminal.width is None:
        return text
    lines = re.sub(r"(?<=[^\n])\n(?=[^ \n])", " ", text).split("\n")
    is_command = ("  rankwell ", "    --")
    return "\n".join(
        line
        if line.startswith(is_command)
        else folded(line, terminal, "    " if line[:1] == " " else "")
        for line in lines
    )


def columns_of(rows: Sequence[Row], fixed: Sequence[str] = ()) -> list[str]:
    """The names of all columns: the fixed ones, then whatever else a row has, in the order of first
    sight.
    """
    return list(
        dict.fromkeys(chain(fixed, *([rows.columns] if isinstance(rows, ValueRows) else rows)))
    )


def plain(value: Any) -> Any:
    """The value as JSON: NumPy's numbers as Python's, tuples and sets as lists, findings as
    objects, anything that is not finite as None.
    """
    if isinstance(value, Finding):
        return plain(value.as_dict())
    if isinstance(value, Mapping):
        return {str(name): plain(cell) for name, cell in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(cell) for cell in value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(cell) for cell in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


def runs_of(rows: Iterable[Row]) -> list[str]:
    """The runs of rows, in the order of first sight."""
    return list(dict.fromkeys(row["run"] for row in rows))


def has_intervals(rows: Iterable[Row]) -> bool:
    """Whether any row has an interval."""
    return any(row.get("ci_low") is not None for row in rows)


def escaped(text: Any) -> str:
    """Text for a page: markup, quotes and control characters are written as escapes."""
    from html import escape

    return escape(visible(text))


def visible(value: Any) -> str:
    """A text cell on one line; see `printable`."""
    if isinstance(value, ScoreCell):
        return value
    text = printable(MISSING if value is None else str(value))
    return type(value)(text) if isinstance(value, PrintedFigure) else text


class Grid(NamedTuple):
    """A table for people, with text in all cells.

    headers: the heading of each column.
    numeric: whether each column holds numbers, which are aligned right.
    rows: the cells of each row, one for each column.
    grouped: whether the first column repeats its text in neighbouring rows.
    ruled: whether a line is drawn below the headings.
    """

    headers: list[str]
    numeric: list[bool]
    rows: list[list[str]]
    grouped: bool = False
    ruled: bool = True

    @property
    def lines(self) -> list[list[str]]:
        """The rows, without a first cell that repeats the text above."""
        return [
            ["", *row[1:]] if self.grouped and row[:1] == above[:1] else row
            for above, row in zip([[], *self.rows], self.rows, strict=False)
        ]


def grid_of(
    texts: Mapping[str, Iterable[Any]], numbers: Mapping[str, Iterable[str]], *, grouped: bool
) -> Grid:
    """A table of columns of texts, then of numbers."""
    cells = [*(map(visible, column) for column in texts.values()), *numbers.values()]
    rows = [list(row) for row in zip(*cells, strict=True)]
    return Grid(
        [visible(name) for name in (*texts, *numbers)],
        [False] * len(texts) + [True] * len(numbers),
        rows,
        grouped,
    )


def summary_grid(document: Document) -> Grid:
    """The summary for people: run (where there are several), the measure's word and exact name,
    mean, interval, sd, n.

    A task's own columns come before the mean where they distinguish rows (texts and integers:
    `direction`, `k`), and after n with their names where they are figures (`ceiling`, `chance`,
    `coverage`).
    """
    rows = document.rows
    several = len(runs_of(rows)) > 1
    extra_columns = columns_of(rows, SUMMARY_COLUMNS)[len(SUMMARY_COLUMNS) :]
    figure_columns = [name for name in extra_columns if holds_figures(rows, name)]
    texts: dict[str, list[Any]] = {"run": [row["run"] for row in rows]} if several else {}
    texts["measure"] = [_word(row, document.rules) for row in rows]
    if any(row["label"] != row["measure"] for row in rows):
        texts["exact name"] = [row["measure"] for row in rows]
    texts |= {
        name: [row.get(name) for row in rows]
        for name in extra_columns
        if name not in figure_columns
    }
    if any(row["unit"] != "share" for row in rows):
        texts["unit"] = [row["unit"] for row in rows]
    numbers = {"mean": [_score(row["mean"], row["unit"]) for row in rows]}
    if has_intervals(rows):
        numbers[f"{100 * document.rules.get('level', 0.95):g} % interval"] = [
            _bounds(row, _unit_between(row)) for row in rows
        ]
    numbers["sd"] = [_score(row["sd"], _unit_between(row)) for row in rows]
    numbers["n"] = [format_value(row["n"], "count") for row in rows]
    numbers |= {name: [_own_figure(name, row) for row in rows] for name in figure_columns}
    return grid_of(texts, numbers, grouped=several)


def per_query_grids(
    document: Document, digits: Callable[[str], int | None] = lambda _: shown_digits()
) -> list[Grid]:
    """The table of the values of single queries, where they are requested: a row per query and a
    column per measure, or a row per value where a task has columns. digits: unit -> decimals of a
    value, by default those of `--digits`; None for those of the unit.
    """
    if (rows := document.per_query) is None:
        return []

    def value_of(row: Row) -> str:
        return format_value(row["value"], row["unit"], digits=digits(row["unit"]))

    several = len(runs_of(rows)) > 1
    keys = ["run", "query"] if several else ["query"]
    extra = columns_of(rows, PER_QUERY_COLUMNS)[len(PER_QUERY_COLUMNS) :]
    if extra:
        texts = {name: [row.get(name) for row in rows] for name in (*keys, "measure", *extra)}
        return [grid_of(texts, {"value": [*map(value_of, rows)]}, grouped=several)]
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        lines.setdefault(tuple(row[key] for key in keys), {})[row["measure"]] = value_of(row)
    numbers: dict[str, list[str]] = {}
    for measure, row in {row["measure"]: row for row in rows}.items():
        exact = "" if row["label"] == measure else f" = {measure}"
        unit = " (%)" if row["unit"] == "percent" else ""
        numbers[f"{row['label']}{exact}{unit}"] = [
            line.get(measure, MISSING) for line in lines.values()
        ]
    texts = {key: [line[index] for line in lines] for index, key in enumerate(keys)}
    return [grid_of(texts, numbers, grouped=several)]


def grids(document: Document) -> list[Grid]:
    """The tables to print, values of single queries first."""
    level = document.rules.get("level", 0.95)
    if not document.summary:
        return [plain_grid(document.rows, level)]
    single = per_query_grids(document)
    return [
        *single,
        *([summary_grid(document)] if document.rows or not single else []),
        *(plain_grid(rows, level) for rows in document.tables.values() if rows),
    ]


def plain_grid(rows: Sequence[Row], level: float = 0.95) -> Grid:
    """Rows of any columns; the bounds of intervals are one column, as in a summary."""
    between = f"{100 * level:g} % interval"
    heads = {"ci_low": between} | ({} if "measure" in columns_of(rows) else {"label": "measure"})
    rows = [
        {
            heads.get(name, name): _bounds(row, "score") if name == "ci_low" else row[name]
            for name in row
            if name != "ci_high"
        }
        for row in rows
    ]
    names = columns_of(rows)
    columns = [[_printed(row.get(name)) for row in rows] for name in names]
    # Texts without a digit, as in place of a missing figure, do not make a column one of texts.
    numeric = [
        name == between
        or all(
            isinstance(cell, PrintedFigure) or cell == MISSING
            for cell in [cell for cell in column if any(map(str.isdigit, cell))] or column
        )
        for name, column in zip(names, columns, strict=True)
    ]
    cells = [[*row] for row in zip(*columns, strict=True)]
    return Grid([visible(_heading(name)) for name in names], numeric, cells)


def _heading(name: str) -> str:
    """A column's name for people: words without underscores; a measure's name as it is."""
    return (
        name if isinstance(name, Heading) or not _WORDS.fullmatch(name) else name.replace("_", " ")
    )


def _printed(value: Any) -> str:
    if not isinstance(value, (int, float)):
        return visible(value)
    return PrintedFigure(value if isinstance(value, int) else format_value(value, "score"))


def holds_figures(rows: Sequence[Row], name: str) -> bool:
    """Whether a task's column holds measured numbers, not what rows are called by."""
    kinds = {type(value) for value in (plain(row.get(name)) for row in rows)} - {NoneType}
    return name in _LEVELS or (float in kinds and kinds <= {int, float})


def _own_figure(name: str, row: Row) -> str:
    """A task's own figure: levels in the unit of the mean, p-values as everywhere, anything
    else as a share with 4 digits.
    """
    value = plain(row.get(name))
    if name == "p":
        return p_value(value)
    if value is None or name in _LEVELS:
        return _score(value, row["unit"])
    return (
        f"{value:.4g}"
        if 0 < abs(value) < 1e-3 or abs(value) >= 1e5
        else format_value(value, "share")
    )


def _unit_between(row: Row) -> str:
    """The unit of figures that may lie between two counts."""
    return "rank" if row["unit"] == "count" else row["unit"]


def _bounds(row: Row, unit: str) -> str:
    bounds = [row.get(name) for name in ("ci_low", "ci_high")]
    return MISSING if None in bounds else f"[{_score(bounds[0], unit)}, {_score(bounds[1], unit)}]"


def _score(value: Any, unit: str) -> str:
    return format_value(value, unit, digits=shown_digits())


def _word(row: Row, rules: Rules) -> str:
    definition = rules.get("measures", {}).get(row["measure"], {})
    summary = definition.get("summary", "mean") if isinstance(definition, Mapping) else "mean"
    return row["label"] + (
        "" if summary == "mean" else f" ({'geometric mean' if summary == 'geometric' else summary})"
    )


def styled(text: str, code: str, terminal: Terminal) -> str:
    """The text in a style of ANSI terminals (`1` bold, `2` faint), as it is where there are no
    colours.
    """
    return f"\x1b[{code}m{text}\x1b[0m" if terminal.colour else text


def width_of(text: str) -> int:
    """The columns that the text takes: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


_NO_NAME = {*SUMMARY_COLUMNS, "measure", "against", "better_than", "rank", "mean_rank"} - {"unit"}


def headings(rows: Sequence[Row]) -> list[str]:
    """The label of each row, with what distinguishes rows of a run that have the same label."""
    groups = grouped(((row["run"], row["label"]), row) for row in rows)
    distinct: dict[str, dict[str, None]] = {}
    for (_, label), alike in groups.items():
        distinct.setdefault(label, {}).update(
            (name, None)
            for name in alike[0]
            if (name == "measure" or name not in _NO_NAME)
            and all(isinstance(row.get(name), (str, int, NoneType)) for row in alike)
            and len({row.get(name) for row in alike}) > 1
        )
    several = len({row["unit"] for row in rows}) > 1
    return [
        Heading(
            " ".join(
                [
                    row["label"],
                    *(
                        f"= {row[name]}" if name == "measure" else str(row[name])
                        for name in distinct[row["label"]]
                        if row.get(name) is not None
                    ),
                    *(["(%)"] if several and row["unit"] == "percent" else []),
                ]
            )
        )
        for row in rows
    ]
