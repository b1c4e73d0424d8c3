"""Systems × data sets: a figure with its interval in each cell, which system is better than which,
and what each one took.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from string import ascii_lowercase
from typing import Any, Literal, NamedTuple

from rankwell.data.registry import Better
from rankwell.reporting import MISSING, Format, PrintedFigure, Row, Strong, figure, plain

TableFormat = Literal[Format, "html"]
IMPOSSIBLE = "†"
CACHED = "*"
NO_FIGURE = "none"


class SystemFigure(NamedTuple):
    """The figure that one system reached on one data set.

    mean, ci_low, ci_high: in `unit`; None where undefined. printed: the text of a published figure.
    warning: why that cannot be right. gap: the word in place of a missing figure, as `failed`. why:
    the reason for it.
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
    """Time and memory of one system on one data set, and its training; `from_cache` of the `images`
    come from an earlier run.
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
    """Figures of one measure, in any order; systems and data sets come in the order of first sight,
    published systems last.

    measure, label: its exact name, and the word for it. rules: what the figures and marks rest on,
    for the line below.
    costs: None where they are not reported. better: data set -> the direction of better values,
    where the best one is
    to be in bold. systems: all that marks may name, in order; by default those of the figures.
    name: the title's beginning. links: system and data set -> the address of the report of both.
    """

    measure: str
    label: str
    cells: Sequence[SystemFigure]
    costs: Sequence[SystemCost] | None = ()
    rules: Mapping[str, Any] = field(default_factory=dict[str, Any])
    better: Mapping[str, Better] = field(default_factory=dict[str, Better])
    systems: Sequence[str] = ()
    name: str = ""
    links: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    @cached_property
    def datasets(self) -> list[str]:
        """The columns."""
        return list(dict.fromkeys(cell.dataset for cell in self.cells))

    @cached_property
    def letters(self) -> dict[str, str]:
        """A letter for every measured system, by which marks name it; none where there is nothing
        to compare with.
        """
        systems = list(
            self.systems or dict.fromkeys(cell.system for cell in self.cells if not cell.printed)
        )
        words = (
            "".join(letters)
            for size in (1, 2, 3)
            for letters in product(ascii_lowercase, repeat=size)
        )
        return dict(zip(systems, words, strict=False)) if len(systems) > 1 else {}

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
        return ("" if all(len(letter) == 1 for letter in letters) else ",").join(letters)

    def is_best(self, cell: SystemFigure) -> bool:
        """Whether no other system has a better figure on its data set, as far as one can see it in
        print.
        """
        return (
            self._best.get(cell.dataset) == figure(cell.mean, cell.unit)
            and cell.mean is not None
            and not cell.gap
        )

    @cached_property
    def _best(self) -> dict[str, str]:
        """The best figure of each data set that has several, as it is printed."""
        best: dict[str, str] = {}
        for name in self.datasets:
            measured_cells = [
                cell
                for cell in self.cells
                if cell.dataset == name and cell.mean is not None and not cell.printed
            ]
            if len(measured_cells) > 1 and self.better.get(name) in ("higher", "lower"):
                first = (min if self.better[name] == "lower" else max)(
                    measured_cells, key=lambda cell: cell.mean or 0.0
                )
                best[name] = figure(first.mean, first.unit)
        return best

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
        interval = ", 95 % interval in brackets" if any(map(interval_of, self.cells)) else ""
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
        if any(cell.better_than for cell in self.cells):
            notes["letters"] = (
                "a system is significantly better than those whose letters follow its figure"
            )
        if any(cost.from_cache for cost in self.costs or ()):
            cached = (
                "vectors or features of earlier runs came from the cache, so that this is less "
                "than it takes"
            )
            notes["cached"] = f"{CACHED} {cached}"
        if any(cost.peak_memory_mib is not None for cost in self.costs or ()):
            notes["memory"] = "the greatest that the whole command had, with all its runs"
        datasets_by_gap: dict[tuple[str, str, str], list[str]] = {}
        for cell in self.cells:
            if cell.gap and cell.gap != NO_FIGURE:
                datasets_by_gap.setdefault(
                    (cell.gap, cell.system, cell.why.rstrip(".")), []
                ).append(cell.dataset)
        for (gap, system, why), datasets in datasets_by_gap.items():
            reason = ": ".join(filter(None, (f"{system} on {', '.join(datasets)}", why)))
            notes[gap] = f"{notes[gap]}; {reason}" if gap in notes else reason
        if any(cell.gap == NO_FIGURE for cell in self.cells):
            notes[NO_FIGURE] = "the results of a system do not have this figure"
        wrong = [
            f"{cell.system} on {cell.dataset}: {cell.warning}"
            for cell in self.cells
            if cell.warning
        ]
        return notes | ({"impossible": f"{IMPOSSIBLE} {'; '.join(wrong)}"} if wrong else {})


def named_measure(table: SystemTable) -> dict[str, str]:
    """The measure as a rule: its label with the exact name, or none."""
    exact = f"{table.label} = {table.measure}" if table.label != table.measure else table.measure
    return {"measure": exact} if table.measure else {}


def shared_rules(tables: Sequence[SystemTable]) -> dict[str, Any]:
    """The rules and footnotes of all tables; what each says otherwise, one after the other."""
    rules: dict[str, Any] = {}
    for table in tables:
        # Of several tables each title has the word; what is left to say is what the word stands
        # for.
        measure_rule = (
            named_measure(table) if len(tables) == 1 or table.label != table.measure else {}
        )
        for name, value in {**measure_rule, **table.rules, **table.footnotes}.items():
            earlier = rules.get(name, value)
            rules[name] = (
                earlier
                if earlier == value or str(value) in str(earlier).split("; ")
                else f"{earlier}; {value}"
            )
    return rules


def long_rows(table: SystemTable) -> list[Row]:
    """A row per system and data set: the columns of a summary, then the others; undefined is
    None.
    """
    costs = {(cost.system, cost.dataset): cost for cost in table.costs or ()}
    rows: list[Row] = []
    for cell in [cell for _, _, cells in table.lines for cell in cells.values()]:
        row = {
            "run": cell.system,
            "dataset": cell.dataset,
            "measure": table.measure,
            "label": table.label,
        }
        row |= {
            name: getattr(cell, name) for name in ("mean", "sd", "ci_low", "ci_high", "n", "unit")
        }
        better = ", ".join(cell.better_than)
        if table.costs is None:
            rows.append({**row, "better_than": better, "gap": cell.gap, "why": cell.why})
            continue
        row |= {"published": bool(cell.printed), "better_than": better, "warning": cell.warning}
        unknown = SystemCost(cell.system, cell.dataset)
        cost = unknown if cell.printed else costs.get((cell.system, cell.dataset), unknown)
        rows.append(row | dict(list(cost._asdict().items())[2:]))
    return rows


def wide_rows(table: SystemTable) -> list[Row]:
    """A row per system, a column per data set, as people read it; the best figures are strong."""
    rows: list[Row] = []
    for name, published, cells in table.lines:
        row: dict[str, Any] = (
            {" ": table.letters.get(name, "") if not published else ""} if table.letters else {}
        )
        row["system"] = f"{name} (published)" if published else name
        for dataset in table.datasets:
            heading = (
                f"{dataset} (data set)"
                if table.heading(dataset) in (" ", "system")
                else table.heading(dataset)
            )
            row[heading] = _cell(table, cells.get(dataset))
        rows.append(row)
    return rows


def _cell(table: SystemTable, cell: SystemFigure | None) -> str:
    if cell is None or cell.gap:
        return PrintedFigure(MISSING if cell is None else cell.gap)
    marks = [table.marks(cell), IMPOSSIBLE if cell.warning else ""]
    parts = [
        cell.printed or figure(cell.mean, cell.unit),
        interval_of(cell),
        *marks,
        table.n_note(cell),
    ]
    text = " ".join(part for part in parts if part)
    return Strong(text) if table.is_best(cell) else PrintedFigure(text)


def interval_of(cell: SystemFigure) -> str:
    """The interval in brackets, "" where there is none."""
    if cell.ci_low is None or cell.ci_high is None:
        return ""
    return f"[{figure(cell.ci_low, cell.unit)}, {figure(cell.ci_high, cell.unit)}]"


PERFORMANCE = "Performance"
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
        f"{name} ({number})" if names.count(name) > 1 or name == " " else name
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
