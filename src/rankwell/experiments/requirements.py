"""What is required of results, `nDCG@10.ci_low >= 0.38`, held against the figures of their summary."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.registry import parse_measure, suggest
from rankwell.core.tables.values import Values
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.io.result_folder import values_behind
from rankwell.stats import MIN_QUERIES

Row = Mapping[str, Any]

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ORDERED = re.compile(rf"(.*?[^\s=<>!])\s*(>=|<=|==|>|<)\s*({_NUMBER})\s*(%?)", re.DOTALL)
_WITHIN = re.compile(rf"(.*?\S)\s+within\s+({_NUMBER})\s*(%?)\s+of\s+({_NUMBER})\s*(%?)", re.DOTALL)
_SELECTED = re.compile(r"(.*)\[([^\[\]]*)\]", re.DOTALL)
_NAMES, _FIGURES = ("run", "measure", "label", "unit"), ("mean", "sd", "ci_low", "ci_high", "n")
_OF_QUERIES = {"median": np.median, "min": np.min, "max": np.max}
_LEVELS = ("mean", "ci_low", "ci_high", "ceiling", "chance", *_OF_QUERIES)
_DECIMALS = 12
_EXAMPLE = "as in 'nDCG@10.ci_low >= 0.38', 'bm25:AP > 0.2' or 'R@1[direction=t2v] within 1% of 41.5'"


class Requirement(NamedTuple):
    """A requirement taken apart. subject: what stands before the operator. percent: whether `number` has the sign %.

    reach: for `within`, how far from the number a figure may lie; relative: whether that is a percentage of the number.
    """

    text: str
    subject: str
    operator: str
    number: float
    percent: bool
    reach: float = 0.0
    relative: bool = False


class Check(NamedTuple):
    """What became of one requirement on one row of the summary.

    part: what tells the row from others of its run and measure (`t2v`). found: the figure in `unit`, which is "" where it has
    none. wanted: the bound or bounds in words. missed: how far `found` lies above them, or (negative) below; 0 where it passed.
    """

    requirement: str
    run: str
    measure: str
    part: str
    figure: str
    found: float
    unit: str
    n: int
    wanted: str
    passed: bool
    missed: float


@dataclass(frozen=True, eq=False)
class Figures:
    """What requirements are held against: the rows of a summary, and the values behind them with what tells those apart.

    rules: those of the results, which say why a figure may be undefined.
    """

    rows: Sequence[Row]
    values: Sequence[Values]
    facts: Sequence[Row]
    rules: Mapping[str, Any]

    @property
    def runs(self) -> list[str]:
        """The names of the runs, in order."""
        return list(dict.fromkeys(row["run"] for row in self.rows))

    @property
    def names(self) -> list[str]:
        """What figures of a row are called."""
        own = {name: None for row in self.rows for name in row if name not in _NAMES and isinstance(row[name], (int, float))}
        return list(dict.fromkeys([*_FIGURES, *own, *_OF_QUERIES]))

    def of(self, name: str, run: str | None = None) -> list[Row]:
        """The rows of a measure, by its exact name, its convention's word or another way to write it; of all runs, or of one."""
        wanted = {name, _exact(name)}
        return [row for row in self.rows if wanted & {row["measure"], row["label"]} and run in (None, row["run"])]


def parse_requirement(text: str) -> Requirement:
    """The requirement that a text states.

    `[RUN:]MEASURE[COLUMN=VALUE,…][.FIGURE]`, the parts in brackets of either kind as need be, then `>= NUMBER` (or >, <=, <, ==),
    or `within REACH of NUMBER` with a reach in the figure's unit or in percent of the number. Raises BadUsage for any other text.
    """
    stripped = text.strip()
    within, ordered = _WITHIN.fullmatch(stripped), _ORDERED.fullmatch(stripped)
    if within:
        subject, reach, relative, number, percent = within.groups()
        if float(reach) < 0:
            raise BadUsage(f"requirement {text!r}: {reach} is no distance; write one from 0, {_EXAMPLE}.")
        return Requirement(stripped, subject, "within", float(number), percent == "%", float(reach), relative == "%")
    if ordered:
        subject, operator, number, percent = ordered.groups()
        return Requirement(stripped, subject, operator, float(number), percent == "%")
    raise BadUsage(f"requirement {text!r} cannot be understood; write a measure, an operator and a number, {_EXAMPLE}.")


def check_requirement(requirement: Requirement, figures: Figures, *, besides: str | None = None) -> list[Check]:
    """What becomes of a requirement: a check for every row that it is about, one at least, in the order of rows.

    A requirement that names no run is one of every run, except `besides`, the baseline. `mean` is the figure where none is named;
    `median`, `min` and `max` are those of the counted queries. A difference below 1e-12 is none.
    Raises UnknownName where nothing is called so, BadInput where a figure is undefined, BadUsage where the number is surely meant
    in another unit than the figure's.
    """
    try:
        rows, figure = _choose(requirement, figures, besides)
        return [_check(requirement, row, figure, figures) for row in rows]
    except (BadUsage, BadInput) as error:
        raise type(error)(f"requirement {requirement.text!r}: {error}") from error


def _choose(requirement: Requirement, figures: Figures, besides: str | None) -> tuple[list[Row], str]:
    """The rows that a requirement is about, and the name of the figure in them."""
    subject, figure = _split_figure(requirement.subject, figures)
    subject, columns = _split_columns(subject)
    run, name = _split_run(subject, figures)
    rows = figures.of(name, run)
    if not rows:
        before, dot, tail = name.rpartition(".")
        if dot and figures.of(before, run):
            raise UnknownName(f"no figure is called {tail!r}; {suggest(tail, figures.names)}")
        known = {row["label"] for row in figures.rows if run in (None, row["run"])}
        raise UnknownName(f"no measure {name!r} in these results; {suggest(name, known)}")
    for column, value in columns.items():
        kept = [row for row in rows if column not in (*_NAMES, *_FIGURES) and str(row.get(column)) == value]
        if not kept:
            raise UnknownName(f"no row of {name} has {column}={value}; {_choices(rows)}")
        rows = kept
    if run is None and besides is not None:
        rows = [row for row in rows if row["run"] != besides]
        if not rows:
            raise BadUsage(f"it is about no run but the baseline; write {besides}:{name} if that is meant.")
    return rows, figure


def _split_figure(subject: str, figures: Figures) -> tuple[str, str]:
    """What stands before the figure's name, and that name; the mean where there is none."""
    head, dot, tail = subject.rpartition(".")
    return (head, tail) if dot and tail in figures.names else (subject, "mean")


def _split_columns(subject: str) -> tuple[str, dict[str, str]]:
    """What stands before the brackets, and which columns shall say what."""
    match = _SELECTED.fullmatch(subject)
    if match is None:
        return subject, {}
    pairs = [part.partition("=") for part in match[2].split(",")]
    if not all(name.strip() and equals and value.strip() for name, equals, value in pairs):
        raise BadUsage(f"[{match[2]}] chooses no rows; write [column=value], {_EXAMPLE}.")
    return match[1], {name.strip(): value.strip() for name, _, value in pairs}


def _split_run(subject: str, figures: Figures) -> tuple[str | None, str]:
    """The run before the colon, None where there is none, and the measure."""
    if figures.of(subject):
        return None, subject
    for run in sorted(figures.runs, key=len, reverse=True):
        if subject.startswith(f"{run}:"):
            return run, subject[len(run) + 1 :].strip()
    before, colon, _ = subject.partition(":")
    if colon:
        raise UnknownName(f"no run is called {before!r}; {suggest(before, figures.runs)}")
    return None, subject


def _exact(name: str) -> str:
    try:
        return str(parse_measure(name))
    except BadUsage:
        return name


def _told_apart(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The columns in which rows of one measure differ as people see it, with what stands in them."""
    names = dict.fromkeys(name for row in rows for name in row if name not in (*_NAMES, *_FIGURES))
    kept = [name for name in names if not any(isinstance(row.get(name), float) for row in rows)]
    found = {name: list(dict.fromkeys(str(row[name]) for row in rows if row.get(name) is not None)) for name in kept}
    return {name: values for name, values in found.items() if len(values) > 1}


def _choices(rows: Sequence[Row]) -> str:
    known = [f"{name}={value}" for name, values in _told_apart(rows).items() for value in values]
    return f"known are {', '.join(known)}." if known else "nothing tells its rows apart."


def _check(requirement: Requirement, row: Row, figure: str, figures: Figures) -> Check:
    found = _of_queries(row, figure, figures) if figure in _OF_QUERIES and figure not in row else row.get(figure)
    if found is None:
        raise BadInput(f"{row['run']} has no {figure} of {row['label']}: {_why(row, figure, figures.rules)}")
    unit = "count" if figure == "n" else row["unit"] if figure in (*_FIGURES, *_LEVELS) else ""
    low, high, wanted = _bounds(requirement, row, figure, found, unit)
    below, above = round(low - found, _DECIMALS), round(found - high, _DECIMALS)
    strict = requirement.operator in (">", "<")
    passed = max(below, above) < 0 if strict else max(below, above) <= 0
    part = ", ".join(str(row[name]) for name in _told_apart(figures.of(row["measure"], row["run"])) if row.get(name) is not None)
    return Check(
        requirement=requirement.text,
        run=row["run"],
        measure=row["label"],
        part=part,
        figure=figure,
        found=found,
        unit=unit,
        n=row["n"],
        wanted=wanted,
        passed=passed,
        missed=0.0 if passed else above if above > 0 else -below,
    )


def _of_queries(row: Row, figure: str, figures: Figures) -> float | None:
    """A figure of the values of single queries; None where no query counts. Raises BadInput for rows without such values."""
    found = values_behind(row, figures.values, figures.facts)
    if found is None:
        raise BadInput(f"{row['label']} of {row['run']} is a figure of the whole and has no values of queries for a {figure}.")
    counted = found.values[found.counted]
    return float(_OF_QUERIES[figure](counted)) if len(counted) else None


def _why(row: Row, figure: str, rules: Mapping[str, Any]) -> str:
    """Why a figure is undefined, and what to do."""
    n = row["n"]
    if figure in ("ci_low", "ci_high"):
        if rules.get("intervals") == "none":
            return "it was evaluated with --intervals none; evaluate it with intervals."
        if n < MIN_QUERIES:
            return f"there is no interval below {MIN_QUERIES} counted queries (n = {n}); require the mean, or add queries."
    if n == 0:
        return "no query counts (n = 0); the notes of the evaluation say why."
    if figure == "sd" and n == 1:
        return "there is no sd with a single counted query; require the mean."
    return "it is undefined in summary.json; require another figure."


def _bounds(requirement: Requirement, row: Row, figure: str, found: float, unit: str) -> tuple[float, float, str]:
    """Between which numbers the figure has to lie, in its unit, and the same in words."""
    number, scale = requirement.number, 1.0
    if requirement.percent:
        if unit not in ("share", "percent"):
            raise BadUsage(f"{figure} of {row['label']} is no share ({unit or 'a plain number'}); write {number:g} without %.")
        scale = 0.01 if unit == "share" else 1.0
    elif figure in _LEVELS and row.get("against") is None:
        _refuse_other_unit(number, found, unit, f"{row['label']} of {row['run']}")
    number *= scale
    if requirement.operator == "within":
        reach = abs(number) * requirement.reach / 100 if requirement.relative else requirement.reach * scale
        distance = f"{requirement.reach:g}{' %' if requirement.relative else ''}"
        words = f"{number:.10g} within {distance}, from {number - reach:.10g} to {number + reach:.10g}"
        return number - reach, number + reach, words
    low = number if requirement.operator in (">", ">=", "==") else -np.inf
    high = number if requirement.operator in ("<", "<=", "==") else np.inf
    return low, high, f"{requirement.operator} {number:.10g}"


def _refuse_other_unit(number: float, found: float, unit: str, what: str) -> None:
    """A number in the wrong unit would hold or fail whatever the results are."""
    if unit == "percent" and 0 < abs(number) <= 1:
        raise BadUsage(f"{what} is in percent ({found:.2f}); write {number:g}% if that is meant, or {100 * number:g}%.")
    if unit == "share" and abs(number) > 1 and abs(found) <= 1:
        raise BadUsage(f"{what} is a share from 0 to 1 ({found:.4f}); write {number:g}% or {number / 100:g}.")
