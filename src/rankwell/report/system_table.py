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

from rankwell.core.registry import Better
from rankwell.report import MISSING, Format, PrintedFigure, Row, Strong, figure, plain

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
        return list(dict.fromkeys(each.dataset for each in self.cells))

    @cached_property
    def letters(self) -> dict[str, str]:
        """A letter for every measured system, by which marks name it; none where there is nothing
        to compare with.
        """
        systems = list(
            self.systems or dict.fromkeys(each.system for each in self.cells if not each.printed)
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
        found: dict[tuple[str, bool], dict[str, SystemFigure]] = {}
        for each in sorted(self.cells, key=lambda each: bool(each.printed)):
            found.setdefault((each.system, bool(each.printed)), {})[each.dataset] = each
        return [(*key, cells) for key, cells in found.items()]

    def marks(self, each: SystemFigure) -> str:
        """The letters of the systems that a figure is better than."""
        own = sorted(
            (self.letters[name] for name in each.better_than),
            key=lambda letter: (len(letter), letter),
        )
        return ("" if all(len(letter) == 1 for letter in own) else ",").join(own)

    def is_best(self, each: SystemFigure) -> bool:
        """Whether no other system has a better figure on its data set, as far as one can see it in
        print.
        """
        return (
            self._best.get(each.dataset) == figure(each.mean, each.unit)
            and each.mean is not None
            and not each.gap
        )

    @cached_property
    def _best(self) -> dict[str, str]:
        """The best figure of each data set that has several, as it is printed."""
        best: dict[str, str] = {}
        for name in self.datasets:
            known = [
                each
                for each in self.cells
                if each.dataset == name and each.mean is not None and not each.printed
            ]
            if len(known) > 1 and self.better.get(name) in ("higher", "lower"):
                first = (min if self.better[name] == "lower" else max)(
                    known, key=lambda each: each.mean or 0.0
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
            if {each.unit for each in self.cells if not each.gap} == {"percent"}
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

    def beside(self, each: SystemFigure) -> str:
        """A figure's own number of queries, "" where the heading says it."""
        return f"(n = {each.n})" if each.n is not None and each.n != self._n(each.dataset) else ""

    def _n(self, dataset: str) -> int | None:
        cells = [each for each in self.cells if each.dataset == dataset and not each.gap]
        found = {each.n for each in [cell for cell in cells if not cell.printed] or cells}
        return found.pop() if len(found) == 1 else None

    @property
    def machine(self) -> str:
        """The machine of all measurements, "" where there are several."""
        found = {each.hardware for each in self.costs or ()}
        return found.pop() if len(found) == 1 else ""

    @property
    def footnotes(self) -> dict[str, str]:
        """The meaning of marks, reasons for missing and against published figures, the machine."""
        found: dict[str, str] = {"measured_on": self.machine} if self.machine else {}
        if any(each.better_than for each in self.cells):
            found["letters"] = (
                "a system is significantly better than those whose letters follow its figure"
            )
        if any(each.from_cache for each in self.costs or ()):
            cached = (
                "vectors or features of earlier runs came from the cache, so that this is less "
                "than it takes"
            )
            found["cached"] = f"{CACHED} {cached}"
        if any(each.peak_memory_mib is not None for each in self.costs or ()):
            found["memory"] = "the greatest that the whole command had, with all its runs"
        places: dict[tuple[str, str, str], list[str]] = {}
        for each in self.cells:
            if each.gap and each.gap != NO_FIGURE:
                places.setdefault((each.gap, each.system, each.why.rstrip(".")), []).append(
                    each.dataset
                )
        for (gap, system, why), datasets in places.items():
            reason = ": ".join(filter(None, (f"{system} on {', '.join(datasets)}", why)))
            found[gap] = f"{found[gap]}; {reason}" if gap in found else reason
        if any(each.gap == NO_FIGURE for each in self.cells):
            found[NO_FIGURE] = "the results of a system do not have this figure"
        wrong = [
            f"{each.system} on {each.dataset}: {each.warning}"
            for each in self.cells
            if each.warning
        ]
        return found | ({"impossible": f"{IMPOSSIBLE} {'; '.join(wrong)}"} if wrong else {})


def named_measure(table: SystemTable) -> dict[str, str]:
    """The measure as a rule: its label with the exact name, or none."""
    exact = f"{table.label} = {table.measure}" if table.label != table.measure else table.measure
    return {"measure": exact} if table.measure else {}


def shared_rules(tables: Sequence[SystemTable]) -> dict[str, Any]:
    """The rules and footnotes of all tables; what each says otherwise, one after the other."""
    found: dict[str, Any] = {}
    for each in tables:
        # Of several tables each title has the word; what is left to say is what the word stands
        # for.
        own = named_measure(each) if len(tables) == 1 or each.label != each.measure else {}
        for name, value in {**own, **each.rules, **each.footnotes}.items():
            known = found.get(name, value)
            found[name] = (
                known
                if known == value or str(value) in str(known).split("; ")
                else f"{known}; {value}"
            )
    return found


def long_rows(table: SystemTable) -> list[Row]:
    """A row per system and data set: the columns of a summary, then the others; undefined is
    None.
    """
    costs = {(each.system, each.dataset): each for each in table.costs or ()}
    rows: list[Row] = []
    for each in [cell for _, _, cells in table.lines for cell in cells.values()]:
        row = {
            "run": each.system,
            "dataset": each.dataset,
            "measure": table.measure,
            "label": table.label,
        }
        row |= {
            name: getattr(each, name) for name in ("mean", "sd", "ci_low", "ci_high", "n", "unit")
        }
        better = ", ".join(each.better_than)
        if table.costs is None:
            rows.append({**row, "better_than": better, "gap": each.gap, "why": each.why})
            continue
        row |= {"published": bool(each.printed), "better_than": better, "warning": each.warning}
        unknown = SystemCost(each.system, each.dataset)
        cost = unknown if each.printed else costs.get((each.system, each.dataset), unknown)
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


def _cell(table: SystemTable, each: SystemFigure | None) -> str:
    if each is None or each.gap:
        return PrintedFigure(MISSING if each is None else each.gap)
    marks = [table.marks(each), IMPOSSIBLE if each.warning else ""]
    parts = [
        each.printed or figure(each.mean, each.unit),
        interval_of(each),
        *marks,
        table.beside(each),
    ]
    text = " ".join(part for part in parts if part)
    return Strong(text) if table.is_best(each) else PrintedFigure(text)


def interval_of(each: SystemFigure) -> str:
    """The interval in brackets, "" where there is none."""
    if each.ci_low is None or each.ci_high is None:
        return ""
    return f"[{figure(each.ci_low, each.unit)}, {figure(each.ci_high, each.unit)}]"


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
    if not any(each.training_data for each in took):
        del columns["training_data"]
    if table.machine:
        del columns["hardware"]
    several = len({each.dataset for each in took}) > 1
    names = [f"{each.system}, {each.dataset}" if several else each.system for each in took]
    # Two systems may be called the same by their users.
    names = [
        f"{name} ({place})" if names.count(name) > 1 or name == " " else name
        for place, name in enumerate(names, 1)
    ]
    rows: list[Row] = []
    for name, (heading, scale) in columns.items():
        cells = [_cost(name, each, scale) for each in took]
        if name in ("training_time", "training_hardware") or any(cell != MISSING for cell in cells):
            rows.append({" ": heading, **dict(zip(names, cells, strict=True))})
    return rows


def _cost(name: str, each: SystemCost, scale: float) -> str:
    value = plain(getattr(each, name))
    if value in (None, ""):
        return MISSING
    if not scale:
        return PrintedFigure(value) if isinstance(value, (int, float)) else str(value)
    shown = f"{value * scale:.3g}" if value * scale < 1000 else f"{value * scale:.0f}"
    return PrintedFigure(
        f"{shown} {CACHED}" if each.from_cache and name == "evaluation_seconds" else shown
    )
