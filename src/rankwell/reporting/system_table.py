"""Systems × data sets: a figure with its interval in each cell, which system is better than which,
and what each one took; as text in every format, and as one page of HTML, which opens from disk.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import chain, product
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple
from urllib.parse import quote

from rankwell.data.findings import Finding
from rankwell.data.frames import Heading
from rankwell.data.registry import Better
from rankwell.reporting import (
    FOR_PEOPLE,
    MISSING,
    OUTPUTS,
    PLAIN,
    Answer,
    Document,
    Format,
    PrintedFigure,
    Row,
    Rules,
    ScoreCell,
    TableStyle,
    Terminal,
    escaped,
    format_value,
    grouped,
    headings,
    plain,
    rules_line,
)

IMPOSSIBLE = "†"
CACHED = "*"
NO_FIGURE = "none"


class SystemFigure(NamedTuple):
    """The figure of one system on one data set.

    system, dataset: their names in the table.
    mean: the mean in `unit`; None where it is undefined or missing.
    n: number of counted queries; None for a published figure and for a mean over data sets.
    unit: the unit of `mean`, `sd` and the interval; empty where there is no figure.
    ci_low, ci_high: the ends of the interval; None where undefined.
    sd: standard deviation over queries; None where undefined.
    better_than: the systems that it is significantly better than on this data set.
    printed: the text of a published figure; empty for a measured one.
    warning: the reason why a published figure cannot be right; empty for none.
    gap: a word in place of a missing figure, such as `failed`.
    why: the reason why the figure is missing.
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
    gap: str = ""
    why: str = ""


class SystemCost(NamedTuple):
    """Time and memory that one system took on one data set, and its training. Missing statements
    are None or empty.

    system, dataset: their names in the table.
    encode_seconds_per_image: time on the clock to encode one image.
    seconds_per_query: time to search with one query.
    evaluation_seconds: time of the whole evaluation.
    peak_memory_mib: the most memory that the process held.
    dimension: length of a vector.
    images: number of images that were encoded or read from the cache.
    hardware: the machine, in words.
    training_time, training_hardware, training_data: statements of the system's user.
    from_cache: number of images that an earlier run encoded; `evaluation_seconds` lacks their time.
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
    """Figures of one measure, in any order. Systems and data sets are shown in the order of first
    appearance, published systems last.

    measure, label: exact name of the measure, and the word for it.
    cells: the figures, at most one for each system and data set.
    costs: the costs of systems; None where they are not reported.
    rules: the rules behind the figures and marks, for the line below the table.
    better: data set -> the direction of better values, where the best figure is to be in bold.
    systems: all systems that marks may name, in order; by default those of the figures.
    name: the beginning of the title.
    links: system and data set -> the address of their report.
    style: the look of the table.
    share_digits: decimals of shares where the style has none; None for those of every table.
    """

    measure: str
    label: str
    cells: Sequence[SystemFigure]
    costs: Sequence[SystemCost] | None = ()
    rules: Rules = field(default_factory=dict[str, Any])
    better: Mapping[str, Better] = field(default_factory=dict[str, Better])
    systems: Sequence[str] = ()
    name: str = ""
    links: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    style: TableStyle = field(default_factory=TableStyle)
    share_digits: int | None = None

    @cached_property
    def datasets(self) -> list[str]:
        """The columns."""
        return list(dict.fromkeys(cell.dataset for cell in self.cells))

    @cached_property
    def letters(self) -> dict[str, str]:
        """A letter for every measured system, by which marks name it; none where there is nothing
        to compare with.
        """
        measured = dict.fromkeys(cell.system for cell in self.cells if not cell.printed)
        systems = list(self.systems or measured)
        words = chain.from_iterable(product(ascii_lowercase, repeat=size) for size in (1, 2, 3))
        letters = dict(zip(systems, map("".join, words), strict=False))
        return letters if len(systems) > 1 else {}

    @cached_property
    def _longest_marks(self) -> dict[str, str]:
        """The longest marks on each data set."""
        marks = grouped((cell.dataset, self.marks(cell)) for cell in self.cells)
        return {dataset: max(texts, key=len) for dataset, texts in marks.items()}

    def room(self, cell: SystemFigure) -> str:
        """Letters that have the width by which the longest marks on the data set are longer."""
        return self._longest_marks[cell.dataset][len(self.marks(cell)) :]

    @cached_property
    def lines(self) -> list[tuple[str, bool, dict[str, SystemFigure]]]:
        """For every system its name, whether it is published, and its figure by data set."""
        cells_by_system: dict[tuple[str, bool], dict[str, SystemFigure]] = {}
        for cell in sorted(self.cells, key=lambda cell: bool(cell.printed)):
            cells_by_system.setdefault((cell.system, bool(cell.printed)), {})[cell.dataset] = cell
        return [(*key, cells) for key, cells in cells_by_system.items()]

    def marks(self, cell: SystemFigure) -> str:
        """The letters of the systems that a figure is better than."""
        letters = sorted(
            (self.letters[name] for name in cell.better_than),
            key=lambda letter: (len(letter), letter),
        )
        return ("," if max(map(len, letters), default=0) > 1 else "").join(letters)

    def text(self, cell: SystemFigure) -> str:
        """The figure as it is printed."""
        return cell.printed or self.format(cell.mean, cell.unit)

    def format(self, value: float | None, unit: str) -> str:
        """A number in the style of the table."""
        is_share = self.style.digits is None and unit in ("share", "score")
        return format_value(
            value, unit, digits=self.share_digits if is_share else self.style.digits
        )

    def place(self, cell: SystemFigure) -> int:
        """1 where no other system has a better figure on its data set, as far as one can see it in
        print; 2 for the second best where that is to stand out; else 0.
        """
        leading = self._leading.get(cell.dataset, ())
        text = self.text(cell)
        if cell.mean is None or cell.gap or text not in leading:
            return 0
        return leading.index(text) + 1

    @cached_property
    def _leading(self) -> dict[str, list[str]]:
        """The best figures of each data set that has several, as they are printed."""
        leading: dict[str, list[str]] = {}
        figures_by_dataset = grouped(
            (cell.dataset, (cell.mean, self.text(cell)))
            for cell in self.cells
            if cell.mean is not None and not cell.printed
        )
        for name, measured in figures_by_dataset.items():
            if len(measured) > 1 and self.better.get(name) in ("higher", "lower"):
                measured.sort(reverse=self.better[name] == "higher")
                ordered = list(dict.fromkeys(text for _, text in measured))
                leading[name] = ordered[: 1 + self.style.underline_second]
        return leading

    @property
    def title(self) -> str:
        """The title: the measure with its unit and interval."""
        cut = re.fullmatch(r"P@(\d+)", self.measure)
        name = self.name or (f"Mean Precision@{cut[1]}" if cut else self.label)
        unit = (
            " in percent"
            if {cell.unit for cell in self.cells if not cell.gap} == {"percent"}
            else ""
        )
        has_interval = any(interval_of(self, cell) for cell in self.cells)
        interval = ", 95 % interval in brackets" if has_interval else ""
        return f"{name}{unit}{interval}"

    def heading(self, dataset: str) -> str:
        """The name of a data set with its number of queries, where that is the same for all
        measured systems.
        """
        n = self._n(dataset)
        return dataset if n is None else f"{dataset} (n = {n})"

    def n_note(self, cell: SystemFigure) -> str:
        """The number of queries of a figure, "" where the heading has it."""
        return f"(n = {cell.n})" if cell.n is not None and cell.n != self._n(cell.dataset) else ""

    def _n(self, dataset: str) -> int | None:
        cells = [cell for cell in self.cells if cell.dataset == dataset and not cell.gap]
        sizes = {cell.n for cell in [cell for cell in cells if not cell.printed] or cells}
        return sizes.pop() if len(sizes) == 1 else None

    @property
    def machine(self) -> str:
        """The machine of all measurements, "" where there are several."""
        machines = {cost.hardware for cost in self.costs or ()}
        return machines.pop() if len(machines) == 1 else ""

    @property
    def footnotes(self) -> dict[str, str]:
        """The meaning of marks, reasons for missing and against published figures, the machine."""
        notes: dict[str, str] = {"measured_on": self.machine} if self.machine else {}
        costs = self.costs or ()
        if any(cell.better_than for cell in self.cells):
            notes["superscripts"] = "the systems that this one is significantly better than"
        if any(cost.from_cache for cost in costs):
            notes["cached"] = (
                f"{CACHED} vectors or features of earlier runs came from the cache, so that this "
                "is less than it takes"
            )
        if any(cost.peak_memory_mib is not None for cost in costs):
            notes["memory"] = "the greatest that the whole command had, with all its runs"
        datasets_by_gap = grouped(
            ((cell.gap, cell.system, cell.why.rstrip(".")), cell.dataset)
            for cell in self.cells
            if cell.gap and cell.gap != NO_FIGURE
        )
        for (gap, system, why), datasets in datasets_by_gap.items():
            reason = f"{system} on {', '.join(datasets)}" + (f": {why}" if why else "")
            notes[gap] = f"{notes[gap]}; {reason}" if gap in notes else reason
        if any(cell.gap == NO_FIGURE for cell in self.cells):
            notes[NO_FIGURE] = "the results of a system do not have this figure"
        if wrong := [
            f"{cell.system} on {cell.dataset}: {cell.warning}"
            for cell in self.cells
            if cell.warning
        ]:
            notes["impossible"] = f"{IMPOSSIBLE} {'; '.join(wrong)}"
        return notes


_PAPER_DIGITS, _SIZED = 3, "Scores over "


def for_paper(table: SystemTable, style: TableStyle, *, intervals: bool) -> SystemTable:
    """The table in a style, with 3 decimals unless the style or a convention has others.
    intervals: whether intervals stay.
    """
    is_own = table.rules.get("convention", "rankwell") == "rankwell"
    cells = table.cells
    if not intervals:
        cells = [cell._replace(ci_low=None, ci_high=None) for cell in cells]
    return replace(table, cells=cells, style=style, share_digits=_PAPER_DIGITS if is_own else None)


def winners(differences: Sequence[Row]) -> Iterator[tuple[str, str, Row]]:
    """The better run, the worse one and the row of every difference that is significant."""
    for row in differences:
        if row["decisive"] and row["mean"]:
            gains = (row["mean"] > 0) is (row["better"] != "lower")
            yield *((row["run"], row["against"]) if gains else (row["against"], row["run"])), row


def score_table(
    rows: Sequence[Row],
    better: Mapping[str, Better],
    rules: Rules,
    *,
    differences: Sequence[Row] = (),
    attributes: Sequence[str] = (),
    noun: str = "queries",
) -> SystemTable | None:
    """A table of runs by measures; None where a run has two figures of one name.

    rows: those of a summary. better: exact name of a measure -> direction of better values.
    differences: of the same runs, for marks. attributes: the columns that distinguish differences
    of one measure. noun: the word for queries.
    """
    named_rows = list(zip(rows, headings(rows), strict=True))
    if len({(row["run"], heading) for row, heading in named_rows}) < len(rows):
        return None
    beaten = grouped(
        ((winner, row["of"], *map(row.get, attributes)), loser)
        for winner, loser, row in winners(differences)
    )
    sizes = {row.get("n") for row in rows}
    same_size = len(sizes) <= 1
    cells = [
        SystemFigure(
            row["run"],
            heading,
            row["mean"],
            None if same_size else row["n"],
            row["unit"],
            row.get("ci_low"),
            row.get("ci_high"),
            better_than=tuple(
                beaten.get((row["run"], row["measure"], *map(row.get, attributes)), ())
            ),
        )
        for row, heading in named_rows
    ]
    directions: dict[str, Better] = {
        heading: better[row["measure"]] for row, heading in named_rows if row["measure"] in better
    }
    name = f"{_SIZED}{sizes.pop()} {noun}" if same_size and None not in sizes else "Scores"
    return SystemTable("", "", cells, None, rules, directions, name=name)


def named_measure(table: SystemTable) -> dict[str, str]:
    """The measure as a rule: its label with the exact name, or none."""
    exact = f"{table.label} = {table.measure}" if table.label != table.measure else table.measure
    return {"measure": exact} if table.measure else {}


def shared_rules(tables: Sequence[SystemTable]) -> dict[str, Any]:
    """The rules and footnotes of all tables; what each says otherwise, one after the other."""
    rules: dict[str, Any] = {}
    for table in tables:
        own = {**table.rules, **table.footnotes}
        # Of several tables each title has the word; what is left to say is what the word stands
        # for.
        if len(tables) == 1 or table.label != table.measure:
            own = named_measure(table) | own
        for name, value in own.items():
            earlier = rules.setdefault(name, value)
            if earlier != value and str(value) not in str(earlier).split("; "):
                rules[name] = f"{earlier}; {value}"
    return rules


def long_rows(table: SystemTable) -> list[Row]:
    """A row per system and data set: the columns of a summary, then the others; undefined is
    None.
    """
    costs = {(cost.system, cost.dataset): cost for cost in table.costs or ()}
    rows: list[Row] = []
    for cell in [cell for _, _, cells in table.lines for cell in cells.values()]:
        place = cell.system, cell.dataset
        row: dict[str, Any] = {
            "run": cell.system,
            "dataset": cell.dataset,
            "measure": table.measure,
            "label": table.label,
            **{
                name: getattr(cell, name)
                for name in ("mean", "sd", "ci_low", "ci_high", "n", "unit")
            },
        }
        better = ", ".join(cell.better_than)
        if table.costs is None:
            rows.append({**row, "better_than": better, "gap": cell.gap, "why": cell.why})
            continue
        row |= {"published": bool(cell.printed), "better_than": better, "warning": cell.warning}
        cost = SystemCost(*place)
        if not cell.printed:
            cost = costs.get(place, cost)
        rows.append(row | dict(list(cost._asdict().items())[2:]))
    return rows


def wide_rows(table: SystemTable) -> list[Row]:
    """A row per system, a column per data set, as people read it; the best figures are strong."""
    rows: list[Row] = []
    has_marks = any(cell.better_than for cell in table.cells)
    for name, published, cells in table.lines:
        row: dict[str, Any] = {}
        if has_marks:
            row[" "] = "" if published else table.letters.get(name, "")
        row["system"] = f"{name} (published)" if published else name
        for dataset in table.datasets:
            heading = table.heading(dataset)
            if heading in (" ", "system"):
                heading = f"{dataset} (data set)"
            row[heading] = _cell(table, cells.get(dataset))
        rows.append(row)
    return rows


def _cell(table: SystemTable, cell: SystemFigure | None) -> str:
    if cell is None or cell.gap:
        return PrintedFigure(MISSING if cell is None else cell.gap)
    beside = (interval_of(table, cell), IMPOSSIBLE if cell.warning else "")
    return ScoreCell(
        table.text(cell),
        table.marks(cell),
        " ".join(filter(None, (*beside, table.n_note(cell)))),
        table.place(cell),
        table.room(cell),
    )


def interval_of(table: SystemTable, cell: SystemFigure) -> str:
    """The interval in brackets, "" where there is none."""
    if cell.ci_low is None or cell.ci_high is None:
        return ""
    low, high = (table.format(end, cell.unit) for end in (cell.ci_low, cell.ci_high))
    return f"[{low}, {high}]"


PERFORMANCE = "Performance"
_COST_COLUMNS = {
    "encode_seconds_per_image": ("encoding, ms per image", 1000.0),
    "seconds_per_query": ("search, ms per query", 1000.0),
    "evaluation_seconds": ("evaluation, s", 1.0),
    "peak_memory_mib": ("memory, MiB", 1.0),
    "dimension": ("dimension", 0.0),
    "images": ("images", 0.0),
    "training_time": ("training time", 0.0),
    "training_hardware": ("training hardware", 0.0),
    "training_data": ("training data", 0.0),
    "hardware": ("measured on", 0.0),
}


def cost_rows(table: SystemTable) -> list[Row]:
    """Time and memory for people, a column per system; what is unknown for all systems is left out,
    except for training.
    """
    columns, took = dict(_COST_COLUMNS), table.costs or ()
    if not any(cost.training_data for cost in took):
        del columns["training_data"]
    if table.machine:
        del columns["hardware"]
    several = len({cost.dataset for cost in took}) > 1
    names = [f"{cost.system}, {cost.dataset}" if several else cost.system for cost in took]
    # Two systems may be called the same by their users.
    names = [
        Heading(f"{name} ({number})" if names.count(name) > 1 or name == " " else name)
        for number, name in enumerate(names, 1)
    ]
    rows: list[Row] = []
    for name, (heading, scale) in columns.items():
        cells = [_cost(name, cost, scale) for cost in took]
        if name in ("training_time", "training_hardware") or any(cell != MISSING for cell in cells):
            rows.append({" ": heading, **dict(zip(names, cells, strict=True))})
    return rows


def _cost(name: str, cost: SystemCost, scale: float) -> str:
    value = plain(getattr(cost, name))
    if value in (None, ""):
        return MISSING
    if not scale:
        return PrintedFigure(value) if isinstance(value, (int, float)) else str(value)
    text = f"{value * scale:.3g}" if value * scale < 1000 else f"{value * scale:.0f}"
    return PrintedFigure(
        f"{text} {CACHED}" if cost.from_cache and name == "evaluation_seconds" else text
    )


def render_system_tables(
    tables: Sequence[SystemTable],
    format: Format = "table",
    *,
    findings: Sequence[Finding] = (),
    terminal: Terminal = PLAIN,
) -> str:
    """One table or several, one below the other, each with what its systems took.

    `table`, `md`, `latex` and `html` set data sets side by side; the others have a row per system
    and data set, in full precision, with time and memory in further columns. Raises UnknownName for
    another format.
    """
    if format not in FOR_PEOPLE:
        rows = [row for table in tables for row in long_rows(table)]
        return OUTPUTS[format](
            Document(rows, rules=shared_rules(tables), findings=findings, summary=False)
        )
    texts: list[str] = []
    for number, table in enumerate(tables, len(tables) > 1):
        # Of LaTeX each may float to another page, and so needs all of its own.
        subjects = [table] if format == "latex" else tables if table is tables[-1] else ()
        rules = shared_rules(subjects)
        texts.append(
            _printed(table, rules, terminal)
            if format == "table"
            else _wide_text(table, format, rules, findings if subjects else (), number)
        )
    return "\n".join(texts)


def _printed(table: SystemTable, rules: Rules, terminal: Terminal) -> str:
    """The table of a bench: its title, its scores, the meaning of marks and gaps, with details the
    rules, and what systems took.
    """
    room = terminal.page._replace(details=False)
    shown = for_paper(table, table.style, intervals=True)
    # The rules have the footnotes of all tables.
    legend, below_costs = [f"rules: {rules_line(rules)}"] if rules else [], list[str]()
    if not terminal.details:
        notes = {name: f"{name}: {text}" for name, text in shown.footnotes.items()}
        below_costs = [notes.pop(name) for name in ("cached", "memory") if name in notes]
        legend = [text for name, text in notes.items() if name != "measured_on"]
    answer = Answer(shown.title, table=wide_rows(shown), legend=legend)
    documents = [Document((), terminal=room, answer=answer)]
    if table.costs:
        took = Document(cost_rows(table), None, {}, (), False, room, title=PERFORMANCE)
        documents.append(took)
    if below_costs:
        notes_below = Answer("\n".join(below_costs), table=())
        documents.append(Document((), terminal=room, answer=notes_below))
    return "\n".join(map(OUTPUTS["table"], documents))


def _wide_text(
    table: SystemTable, format: Format, rules: Rules, findings: Sequence[Finding], number: int
) -> str:
    """A table of figures and one of costs for a paper, with footnotes below. number: place of the
    table among several, 0 for one alone.
    """
    style = table.style
    footnotes = table.footnotes
    below: list[str] = []
    if any(map(table.place, table.cells)):
        below.append(
            "Best in bold, second best underlined." if style.underline_second else "Best in bold."
        )
    if "superscripts" in footnotes:
        # The marks, the test behind them, impossible figures.
        below.append(f"Superscripts: {footnotes['superscripts']}.")
        if "test" in table.rules:
            below.append(f"Test: {table.rules['test']}, level {table.rules.get('alpha')}.")
    if style.caption and table.name.startswith(_SIZED):
        # The reader's caption replaces the title, which has the number of queries.
        below.append(f"{table.name}.")
    gaps = dict.fromkeys(cell.gap for cell in table.cells if cell.gap)
    below += [f"{gap}: {footnotes[gap]}" for gap in gaps if gap in footnotes]
    below += [footnotes["impossible"]] if "impossible" in footnotes else []
    title = table.title
    if style.caption:
        title = f"{style.caption}: {title}" if number else style.caption
    parts = [(title, rules, wide_rows(table), [*below, *findings])]
    if table.costs:
        below = [footnotes["cached"]] if "cached" in footnotes else []
        below += [f"Memory: {footnotes['memory']}"] if "memory" in footnotes else []
        below += [f"Measured on {table.machine}"] if "measured_on" in footnotes else []
        parts.append((PERFORMANCE, {}, cost_rows(table), below))
    return "\n".join(
        OUTPUTS[format](
            Document(
                rows,
                rules=part_rules,
                summary=False,
                title=name,
                legend=legend,
                label=style.label + (f"-{place}" if place > 1 else ""),
            )
        )
        for place, (name, part_rules, rows, legend) in enumerate(parts, number or 1)
    )


def page(tables: Sequence[SystemTable], findings: Sequence[Finding], *, title: str = "") -> str:
    """The tables as one page with the header, the themes and the sorting of every page, and nothing
    from elsewhere; every name is escaped, findings stand once, below all.
    """
    # Only a page needs them.
    from rankwell.reporting.page.scripts import asset, embeddable, source_hash

    style = "".join(map(asset, ("base.css", "header.css", "systems.css")))
    script = embeddable(asset("systems.js"))
    allowed = f"script-src {source_hash(script)}; style-src {source_hash(style)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    rules = shared_rules(tables)
    rules.pop("measure", None)
    marks = [rules.pop("impossible")] if "impossible" in rules else []
    lines = [*marks, *(f"{name.replace('_', ' ')}: {rules[name]}" for name in rules), *findings]
    is_only = len(tables) == 1 and not title
    parts = [_section(table, titled=not is_only) for table in tables]
    if lines:
        list_items = "\n".join(f"<li>{escaped(line)}</li>" for line in dict.fromkeys(lines))
        parts.append(f'<h2>Notes</h2>\n<ul class="notes">\n{list_items}\n</ul>')
    return asset("systems.html").format(
        title=escaped(title or (tables[0].title if is_only else "Systems by data set")),
        exact=_exact(tables[0]) if is_only else "",
        body="\n".join(parts),
        policy=escape(policy, quote=False),
        style=style,
        script=script,
    )


def _exact(table: SystemTable) -> str:
    return f" <small>= {escaped(table.measure)}</small>" if table.label != table.measure else ""


def _section(table: SystemTable, *, titled: bool) -> str:
    parts = [f"<h2>{escaped(table.title)}{_exact(table)}</h2>"] if titled else []
    parts.append(_html_figures(table))
    if costs := cost_rows(table) if table.costs else []:
        level = "h3" if titled else "h2"
        lines = [f"<tr>{''.join(map(_html_cost, row.values()))}</tr>" for row in costs]
        heading = f"<{level}>{PERFORMANCE}</{level}>\n"
        parts.append(heading + _html_table(map(escaped, costs[0]), lines))
    return "\n".join(parts)


def _html_figures(table: SystemTable) -> str:
    lines: list[str] = []
    has_marks = any(cell.better_than for cell in table.cells)
    for name, published, cells in table.lines:
        letter = (
            f"<small>{table.letters[name]}</small>&nbsp;" if has_marks and not published else ""
        )
        links = {table.links.get((name, dataset)) for dataset in cells} - {None}
        heading = _linked(_breakable(name), links.pop() if len(links) == 1 else None)
        heading = f"{heading} <small>published</small>" if published else letter + heading
        row = "".join(_html_figure(table, cells.get(dataset)) for dataset in table.datasets)
        lines.append(
            f'<tr{" class=published" * published}><th scope="row">{heading}</th>{row}</tr>'
        )
    heads = [
        f'<button type="button">{escaped(name)}</button>'
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
        return f'<span class="warning" title="{escaped(cell.why)}">{escaped(cell.gap)}</span>'
    marks, interval = table.marks(cell), interval_of(table, cell)
    text = _linked(escaped(table.text(cell)), table.links.get((cell.system, cell.dataset)))
    if place := table.place(cell):
        text = f"<strong>{text}</strong>" if place == 1 else f"<u>{text}</u>"
    if cell.warning:
        text += f'<span class="warning" title="{escaped(cell.warning)}"> {IMPOSSIBLE}</span>'
    small_print = " ".join(part for part in (interval, table.n_note(cell)) if part)
    # Figures with and without letters end at one place, and what is below them there, too.
    room = table.room(cell)
    text += (f"<sup>{marks}</sup>" if marks else "") + _room(room)
    return text + (f" <small>{small_print}{_room(marks + room)}</small>" if small_print else "")


def _room(letters: str) -> str:
    return f'<sup class="room" aria-hidden="true">{letters}</sup>' if letters else ""


def _html_table(heads: Iterable[str], lines: Sequence[str], *, numbers: bool = False) -> str:
    """A table of escaped parts. numbers: whether all columns but the first hold numbers."""
    head = "".join(
        f'<th scope="col"{" class=number" * (numbers and index > 0)}>{text}</th>'
        for index, text in enumerate(heads)
    )
    body = "\n".join(lines)
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n'
        "</table></div>"
    )


def _html_cost(cell: str) -> str:
    return (
        f'<td class="number">{cell}</td>'
        if cell.replace(".", "", 1).isdecimal()
        else f"<td>{escaped(cell)}</td>"
    )


def _breakable(name: str) -> str:
    """A name that a line may end in after its underscores, hyphens, dots and slashes, and nowhere
    inside a word.
    """
    return re.sub(r"(?<=[_./-])(?=\w)", "<wbr>", escaped(name))
