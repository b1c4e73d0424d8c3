"""Requirements that results must meet, and the options of a gate."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.comparison.data import GateOptions, exact_name
from rankwell.data.registry import measure_names, suggest
from rankwell.data.tables import Values, format_value
from rankwell.errors import BadInput, BadUsage, UnknownName, flag
from rankwell.io.result_folder import values_behind
from rankwell.reporting import Row, Rules, runs_of, visible
from rankwell.reporting.junit import Case
from rankwell.stats import MIN_QUERIES
from rankwell.store import Source


def required_of(options: GateOptions) -> GateOptions:
    """The options with the requirements of their file. Raises BadInput for a file that is not a
    gate.
    """
    files = [text for text in options.stated() if text.strip().endswith(".toml")]
    if len(files) > 1:
        raise BadUsage(f"{' and '.join(files)}: name one file of requirements.")
    gate = read_gate(files[0]) if files else {}
    for name in ("baseline", "tolerance"):
        if getattr(options, name) is not None:
            gate[name] = getattr(options, name)
    return replace(
        options,
        require=(
            *gate.get("require", ()),
            *(text for text in options.stated() if text not in files),
        ),
        baseline=gate.get("baseline"),
        tolerance=str(gate.get("tolerance", "")),
        measures=measure_names(options.measures) or measure_names(gate.get("measures")),
    )


_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ORDERED = re.compile(rf"(.*?[^\s=<>!])\s*(>=|<=|==|>|<)\s*({_NUMBER})\s*(%?)", re.DOTALL)
_WITHIN = re.compile(rf"(.*?\S)\s+within\s+({_NUMBER})\s*(%?)\s+of\s+({_NUMBER})\s*(%?)", re.DOTALL)
_SELECTED = re.compile(r"(.*)\[([^\[\]]*)\]", re.DOTALL)
_AGAINST = re.compile(r"(.*\S)\s+against\s+(\S.*)", re.DOTALL)
_NAMES = ("run", "measure", "label", "unit")
_FIGURES = ("mean", "sd", "ci_low", "ci_high", "n")
_OF_QUERIES = {"median": np.median, "min": np.min, "max": np.max}
_LEVELS = ("mean", "ci_low", "ci_high", "ceiling", "chance", *_OF_QUERIES)
_DECIMALS = 12
_EXAMPLE = (
    "as in 'nDCG@10.ci_low >= 0.38', 'bm25:AP > 0.2' or 'R@1[direction=t2v] within 1% of 41.5'"
)


_GATE = {"require": list[str], "baseline": str, "tolerance": float | str, "measures": list[str]}


def read_gate(path: str | Path) -> dict[str, Any]:
    """The keys of a gate file; all are optional.

    `require = ["nDCG@10.ci_low >= 0.38"]`; `baseline = "bm25"`, a run, or a folder of results
    beside the file;
    `tolerance = 0.005` or `"1%"`; `measures = ["nDCG@10"]`, those that baseline is about.
    Raises BadInput with file, line and key, for an unknown key too.
    """
    # Only a gate needs the modules of benches.
    from rankwell.comparison.bench.files import TomlTable

    table = TomlTable.read(Source(path))
    table.allow(_GATE)
    settings = replace(
        table, content={name: value for name, value in table.content.items() if value != []}
    ).settings(_GATE)
    if baseline := settings.get("baseline"):
        folder = Path(table.file).parent / baseline
        settings["baseline"] = str(folder) if folder.is_dir() else baseline
    return settings


class Requirement(NamedTuple):
    """A requirement in its parts.

    text: the requirement as it was written.
    subject: the text before the operator.
    operator: `>=`, `>`, `<=`, `<`, `==` or `within`.
    number: the bound, or the middle of `within`, without a % sign.
    is_percent: whether `number` was written with a % sign.
    reach: for `within`, the largest distance of a figure from the number.
    is_reach_relative: whether `reach` is a percentage of the number.
    """

    text: str
    subject: str
    operator: str
    number: float
    is_percent: bool
    reach: float = 0.0
    is_reach_relative: bool = False


class GateLine(NamedTuple):
    """The outcome of one requirement, or of one measure against the baseline, for one run.

    result: whether the requirement is met.
    requirement: the text of the requirement; for a measure against the baseline, a sentence that
        states it.
    run: the run that was checked.
    measure: the label of the measure.
    part: the columns that distinguish the row from others of the same run and measure (`t2v`).
    found: the figure in `unit`; against the baseline, the mean difference from it.
    ci_low, ci_high: the interval of a mean difference; None for another figure.
    unit: the unit of the figure; "" for a figure without one.
    n: number of counted queries.
    explanation: the outcome as a sentence, for people.
    """

    result: Literal["passed", "failed"]
    requirement: str
    run: str
    measure: str
    part: str
    found: float
    ci_low: float | None
    ci_high: float | None
    unit: str
    n: int
    explanation: str

    @property
    def passed(self) -> bool:
        """Whether the requirement is met."""
        return self.result == "passed"

    @property
    def case(self) -> str:
        """The requirement, and the part of the results that it covers."""
        return f"{self.requirement} ({self.part})" if self.part else self.requirement

    @property
    def junit_case(self) -> Case:
        """The line for JUnit."""
        return Case(self.case, f"gate.{self.run}", failure="" if self.passed else self.explanation)

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        return f"{'passed' if self.passed else 'FAILED'}  {visible(self.explanation)}"


@dataclass(frozen=True, eq=False)
class SummaryFigures:
    """The figures that a gate may require.

    rows: the rows of the summary.
    values: the values of single queries behind them, for medians and extremes; empty where the
        results have none.
    row_attributes: the distinguishing columns of each element of `values`.
    rules: the rules of the results, which explain why a figure may be undefined.
    """

    rows: Sequence[Row]
    values: Sequence[Values]
    row_attributes: Sequence[Row]
    rules: Rules

    @property
    def runs(self) -> list[str]:
        """The names of the runs, in order."""
        return runs_of(self.rows)

    @property
    def names(self) -> list[str]:
        """The names of a row's figures."""
        row_figures = {
            name: None
            for row in self.rows
            for name in row
            if name not in _NAMES and isinstance(row[name], (int, float))
        }
        return list(dict.fromkeys([*_FIGURES, *row_figures, *_OF_QUERIES]))

    def of(self, name: str, run: str | None = None) -> list[Row]:
        """The rows of a measure, by its exact name, its convention's word or another way to write
        it; of all runs, or of one.
        """
        spellings = {name, exact_name(name)}
        return [
            row
            for row in self.rows
            if spellings & {row["measure"], row["label"]} and run in (None, row["run"])
        ]


def parse_requirement(text: str) -> Requirement:
    """The requirement that a text states.

    `[RUN:]MEASURE[COLUMN=VALUE,…][.FIGURE]`, the parts in brackets of either kind as need be, then
    `>= NUMBER` (or >, <=, <, ==), or `within REACH of NUMBER` with a reach in the figure's unit or
    in percent of the number. Raises BadUsage for any other text.
    """
    stripped = text.strip()
    within = _WITHIN.fullmatch(stripped)
    ordered = _ORDERED.fullmatch(stripped)
    if within:
        subject, reach, relative, number, percent = within.groups()
        if float(reach) < 0:
            raise BadUsage(
                f"requirement {text!r}: {reach} is negative; expected a number from 0, {_EXAMPLE}."
            )
        return Requirement(
            stripped,
            subject,
            "within",
            float(number),
            percent == "%",
            float(reach),
            relative == "%",
        )
    if ordered:
        subject, operator, number, percent = ordered.groups()
        return Requirement(stripped, subject, operator, float(number), percent == "%")
    raise BadUsage(
        f"requirement {text!r} cannot be understood; write a measure, an operator and a "
        f"number, {_EXAMPLE}."
    )


def check_requirement(
    requirement: Requirement, results: SummaryFigures, *, besides: str | None = None
) -> list[GateLine]:
    """The outcome of a requirement: a line for every row that it is about, one at least, in the
    order of rows.

    A requirement that names no run is one of every run, except `besides`, the baseline. `mean` is
    the figure where none is named; `median`, `min` and `max` are those of the counted queries. A
    difference below 1e-12 counts as 0.
    Raises UnknownName for an unknown name, BadInput where a figure is undefined, BadUsage where the
    number cannot be in the figure's unit.
    """
    try:
        rows, figure = _choose(requirement, results, besides)
        return [_check(requirement, row, figure, results) for row in rows]
    except (BadUsage, BadInput) as error:
        raise type(error)(f"requirement {requirement.text!r}: {error}") from error


def _choose(
    requirement: Requirement, results: SummaryFigures, besides: str | None
) -> tuple[list[Row], str]:
    """The rows that a requirement is about, and the name of the figure in them."""
    subject, figure = requirement.subject, "mean"
    head, dot, tail = subject.rpartition(".")
    if dot and tail in results.names:
        subject, figure = head, tail
    columns = dict[str, str]()
    # With several baselines the label of a difference has its own.
    named_run, label = _split_run(subject, results)
    if (match := _AGAINST.fullmatch(subject)) and not results.of(label, named_run):
        subject, columns["against"] = match.groups()
    if match := _SELECTED.fullmatch(subject):
        subject = match[1]
        for part in match[2].split(","):
            column, _, value = (text.strip() for text in part.partition("="))
            if not column or not value:
                raise BadUsage(f"[{match[2]}] chooses no rows; write [column=value], {_EXAMPLE}.")
            columns[column] = value
    run, name = _split_run(subject, results)
    rows = results.of(name, run)
    if not rows:
        before, dot, tail = name.rpartition(".")
        if dot and results.of(before, run):
            raise UnknownName(f"unknown figure {tail!r}; {suggest(tail, results.names)}")
        labels = {row["label"] for row in results.rows if run in (None, row["run"])}
        raise UnknownName(f"no measure {name!r} in these results; {suggest(name, labels)}")
    for column, value in columns.items():
        is_figure = column in (*_NAMES, *_FIGURES)
        matching = [row for row in rows if not is_figure and str(row.get(column)) == value]
        if not matching:
            alternatives = [
                f"{column_name}={text}"
                for column_name, texts in _differing_columns(rows).items()
                for text in texts
            ]
            advice = "all of its rows have the same columns."
            if alternatives:
                advice = f"known are {', '.join(alternatives)}."
            raise UnknownName(f"no row of {name} has {column}={value}; {advice}")
        rows = matching
    if run is None and besides is not None:
        rows = [row for row in rows if row["run"] != besides]
        if not rows:
            raise BadUsage(
                f"it is about no run but the baseline; write {besides}:{name} if that is meant."
            )
    return rows, figure


def _split_run(subject: str, results: SummaryFigures) -> tuple[str | None, str]:
    """The run before the colon, None where there is none, and the measure."""
    if results.of(subject):
        return None, subject
    for run in sorted(results.runs, key=len, reverse=True):
        if subject.startswith(f"{run}:"):
            return run, subject[len(run) + 1 :].strip()
    before, colon, _ = subject.partition(":")
    if colon:
        raise UnknownName(f"unknown run {before!r}; {suggest(before, results.runs)}")
    return None, subject


def _differing_columns(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The columns, except those of figures, in which rows of one measure differ, with their
    values.
    """
    columns = dict[str, list[str]]()
    for name in dict.fromkeys(name for row in rows for name in row):
        cells = [row[name] for row in rows if row.get(name) is not None]
        texts = list(dict.fromkeys(map(str, cells)))
        is_figure = name in (*_NAMES, *_FIGURES) or any(isinstance(cell, float) for cell in cells)
        if len(texts) > 1 and not is_figure:
            columns[name] = texts
    return columns


def counted_text(unit: str, n: int) -> str:
    """The number of queries behind a figure, and its unit where it is not a share."""
    return f"({unit}, n = {n})" if unit not in ("", "share") else f"(n = {n})"


def _check(requirement: Requirement, row: Row, figure: str, results: SummaryFigures) -> GateLine:
    """The line of a row: the figure that was found, the bound, and how far off it is."""
    value = row.get(figure)
    if figure in _OF_QUERIES and figure not in row:
        value = _of_queries(row, figure, results)
    if value is None:
        raise BadInput(
            f"{row['run']} has no {figure} of {row['label']}: {_why(row, figure, results.rules)}"
        )
    unit = "count" if figure == "n" else row["unit"] if figure in (*_FIGURES, *_LEVELS) else ""
    low, high, bounds = _bounds(requirement, row, figure, value, unit)
    below = round(low - value, _DECIMALS)
    above = round(value - high, _DECIMALS)
    farthest = max(below, above)
    passed = farthest < 0 if requirement.operator in (">", "<") else farthest <= 0
    part = part_of_row(row, results)
    value_text, off = str(value), str(farthest)
    if not isinstance(value, int):
        # As tables show it, with as many digits as it takes to see on which side of the bound it
        # lies.
        unit_shown = "rank" if unit == "count" else unit or "share"
        value_text = format_value(value, unit_shown)
        off = format_value(farthest, unit_shown)
        if not passed and abs(float(value_text) - value) >= abs(farthest):
            value_text = f"{value:.10g}"
    missed = ""
    if not passed:
        off = off if float(off) else f"{farthest:.4g}"
        missed = f": {off} too {'high' if above > 0 else 'low'}"
        missed = missed if farthest else ": equal is not enough"
        digits = f"{requirement.number:.10g}".partition(".")[2]
        if farthest and len(digits) > 2 and round(value, len(digits)) == requirement.number:
            missed += f"; {requirement.number:.10g} is the rounded figure"
    counted = "" if figure == "n" else f" {counted_text(unit, row['n'])}"
    subject = f"{about_row(row['run'], row['label'], part)}{_figure_suffix(row, figure, results)}"
    has_interval = row.get("against") is not None and figure == "mean"
    return GateLine(
        result="passed" if passed else "failed",
        requirement=requirement.text,
        run=row["run"],
        measure=row["label"],
        part=part,
        found=value,
        ci_low=row["ci_low"] if has_interval else None,
        ci_high=row["ci_high"] if has_interval else None,
        unit=unit,
        n=row["n"],
        explanation=f"{subject} is {value_text}{counted}, required {bounds}{missed}",
    )


def part_of_row(row: Row, results: SummaryFigures) -> str:
    """The columns that distinguish a row from others of its run and measure (`t2v`), "" where there
    are none.
    """
    columns = _differing_columns(results.of(row["measure"], row["run"]))
    return ", ".join(str(row[name]) for name in columns if row.get(name) is not None)


def about_row(run: str, measure: str, part: str) -> str:
    """The subject of a sentence about a row."""
    return f"{run} {measure} ({part})" if part else f"{run} {measure}"


def _figure_suffix(row: Row, figure: str, results: SummaryFigures) -> str:
    """The name of a figure after its row; a percentile, as any figure of the whole, is not a mean
    of queries.
    """
    is_of_queries = (
        not results.values or values_behind(row, results.values, results.row_attributes) is not None
    )
    if figure == "mean" and not is_of_queries:
        return ""
    of_mean = " of the mean" if figure in ("ci_low", "ci_high") and is_of_queries else ""
    return f": {figure}{of_mean}"


def _of_queries(row: Row, figure: str, results: SummaryFigures) -> float | None:
    """A figure of the values of single queries; None where no query counts. Raises BadInput for
    rows without such values.
    """
    query_values = values_behind(row, results.values, results.row_attributes)
    if query_values is None:
        raise BadInput(
            f"{row['label']} of {row['run']} is a figure of the whole and has no values of "
            f"queries for a {figure}."
        )
    counted = query_values.values[query_values.counted]
    return float(_OF_QUERIES[figure](counted)) if len(counted) else None


def _why(row: Row, figure: str, rules: Rules) -> str:
    """Why a figure is undefined, and what to do."""
    n = row["n"]
    if figure in ("ci_low", "ci_high"):
        if rules.get("intervals") == "none":
            return (
                f"it was evaluated with {flag('--intervals', 'none')}; evaluate it with intervals."
            )
        if n < MIN_QUERIES:
            return (
                f"there is no interval below {MIN_QUERIES} counted queries (n = {n}); require the "
                "mean, or add queries."
            )
        if row["sd"] == 0:
            return "there is no interval where every query has the same value; require the mean."
    if n == 0:
        return "no query counts (n = 0); the findings of the evaluation say why."
    if figure == "sd" and n == 1:
        return "there is no sd with a single counted query; require the mean."
    return "it is undefined in summary.json; require another figure."


def _bounds(
    requirement: Requirement, row: Row, figure: str, figure_value: float, unit: str
) -> tuple[float, float, str]:
    """The bounds of the figure in its unit, and in words."""
    number, scale = requirement.number, 1.0
    if requirement.is_percent:
        if unit not in ("share", "percent"):
            raise BadUsage(
                f"{figure} of {row['label']} is not a share ({unit or 'a plain number'}); "
                f"write {number:g} without %."
            )
        scale = 0.01 if unit == "share" else 1.0
    elif figure in _LEVELS and row.get("against") is None:
        # In the wrong unit the outcome would not depend on the results.
        subject = f"{row['label']} of {row['run']}"
        if unit == "percent" and 0 < abs(number) <= 1:
            raise BadUsage(
                f"{subject} is in percent ({format_value(figure_value, unit)}); write {number:g}% "
                f"if that is meant, or {100 * number:g}%."
            )
        if unit == "share" and abs(number) > 1 and abs(figure_value) <= 1:
            raise BadUsage(
                f"{subject} is a share from 0 to 1 ({format_value(figure_value, unit)}); write "
                f"{number:g}% or {number / 100:g}."
            )
    number *= scale
    if requirement.operator == "within":
        reach = (
            abs(number) * requirement.reach / 100
            if requirement.is_reach_relative
            else requirement.reach * scale
        )
        distance = f"{requirement.reach:g}{' %' if requirement.is_reach_relative else ''}"
        words = (
            f"{number:.10g} within {distance}, from {number - reach:.10g} to {number + reach:.10g}"
        )
        return number - reach, number + reach, words
    low = number if requirement.operator in (">", ">=", "==") else -np.inf
    high = number if requirement.operator in ("<", "<=", "==") else np.inf
    return low, high, f"{requirement.operator} {number:.10g}"


class Tolerance(NamedTuple):
    """The tolerated loss.

    text: the tolerance as it was written.
    number: the largest tolerated loss, 0 or more, in the measure's unit or in percent.
    is_relative: whether it is in percent of the baseline's mean.
    """

    text: str
    number: float
    is_relative: bool

    @classmethod
    def of(cls, text: str) -> "Tolerance":
        """The tolerance that a text states. Raises BadUsage for anything but a number from 0, with
        or without %.
        """
        try:
            number = float(text.strip().removesuffix("%"))
        except ValueError:
            number = -1.0
        if not (isfinite(number) and number >= 0):
            raise BadUsage(
                f"{flag('--tolerance')} {text!r}: expected a number from 0, such as 0.005, or "
                "1% of the baseline's mean."
            )
        return cls(text.strip(), number, text.strip().endswith("%"))

    def check_units(self, units: Sequence[str]) -> None:
        """Raises BadUsage for one that is of two units at once, or that no difference of shares can
        exceed.
        """
        if self.is_relative or not self.number:
            return
        if len(units) > 1:
            raise BadUsage(
                f"{flag('--tolerance', self.text)} would be in {' and in '.join(units)}; choose by "
                f"{flag('--measure')}, or write it in %."
            )
        if "share" in units and self.number >= 1:
            raise BadUsage(
                f"{flag('--tolerance', self.text)} is as much as a share from 0 to 1 can lose; "
                f"write {self.number / 100:g}, or {self.number:g}% of the baseline's mean."
            )

    def reach(self, row: Row) -> float:
        """The same in the unit of a difference's row."""
        return abs(row["mean_against"]) * self.number / 100 if self.is_relative else self.number
