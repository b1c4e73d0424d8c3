"""Forecasts of how many queries would show which of two systems is better, which show neither a
difference nor its sign: planning is not a look at the outcome.
"""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from rankwell import reporting
from rankwell._native.resamples import over_resamples
from rankwell.comparison.data import ComparisonOptions, Pair
from rankwell.comparison.folders import Gathered
from rankwell.comparison.matrices import QuerySystemMatrix, align_values, choose_pairs
from rankwell.data.catalogue import result_kind
from rankwell.data.findings.kinds import not_compared
from rankwell.data.options import refuse_options
from rankwell.data.registry import measure_names
from rankwell.data.tables import Floats, exact_sd, format_value
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.reporting import Format
from rankwell.reporting.options import Output
from rankwell.reporting.outputs.answers import answer_text
from rankwell.stats import MIN_QUERIES
from rankwell.stats.intervals import student_quantile
from rankwell.stats.paired_tests import minimal_detectable_difference, queries_needed
from rankwell.stats.verdicts import NOTHING_TESTED

_RESAMPLES = 400
_COUNTS = ("queries", "queries_low", "queries_high")
_FIGURES = ("half_width", "detectable", "difference", "unit", *_COUNTS)


def check_plan(options: ComparisonOptions, difference: float | None) -> None:
    """Raises BadUsage for options that a forecast does not have, and for a difference that is not
    above 0.
    """
    allowed = ("baseline", "measures", "level", "power", "seed")
    refuse_options(options, allowed, "is for a comparison, and --plan makes none")
    if difference is not None and not difference > 0:
        raise BadUsage(f"--difference is {difference:g}; expected a number above 0, such as 0.05.")


def forecast(
    gathered: Gathered, options: ComparisonOptions, difference: float | None, format: Format
) -> Output:
    """The queries that each pair of runs needs by each measure. Raises NothingToEvaluate where no
    pair has a forecast.

    After each number is the range between its 5th and 95th percentile over resampled queries.
    difference: the size to find; None for 0.05, of percentages 5.
    """
    comparison = align_values(
        gathered.values,
        gathered.row_attributes,
        gathered.origin.better,
        measure_names(options.measures) if gathered.has_all_measures else None,
        result_kind(gathered.origin.task),
    )
    pairs = choose_pairs(comparison.runs, options.baseline)
    directed = [matrix for matrix in comparison.matrices if matrix.better != "neither"]
    undirected_labels = dict.fromkeys(
        matrix.label for matrix in comparison.matrices if matrix.better == "neither"
    )
    label_list = ", ".join(undirected_labels)
    if not directed:
        raise NothingToEvaluate(NOTHING_TESTED.format(label_list))
    measured_pairs = [
        (matrix, pair) for matrix in directed for pair in pairs if {*pair} <= {*matrix.runs}
    ]
    rows = [
        row
        for matrix, pair in measured_pairs
        if (row := _row(matrix, pair, options, difference)) is not None
    ]
    if not rows:
        raise NothingToEvaluate(_nothing_known(measured_pairs))
    rule = (
        f"two-sided paired t-test at {options.alpha:.4g} with {100 * options.power:g} % power; "
        f"half-widths of {100 * options.level:g} % intervals"
    )
    findings = [*gathered.origin.findings]
    if undirected_labels:
        reason = f"{label_list}: neither higher nor lower values are better; not forecast"
        findings.append(not_compared(reason))
    terminal = reporting.terminal_of()
    if format == "table":
        first = rows[0]
        usual, low, high = _counts(first)
        amount = f"about {usual} queries ({low} to {high})"
        if first["queries"] is None:
            amount = "more than a billion queries"
        sentence = (
            f"Detecting a difference of {first['difference']:g} {first['measure']} "
            f"between {first['run']} and {first['against']} takes {amount}; "
            f"you have {first['n']}."
        )
        answer = reporting.Answer(sentence, table=[*map(_cells, rows)], legend=[rule])
        document = reporting.Document((), terminal=terminal, answer=answer)
        return Output(text=answer_text(document), findings=tuple(findings))
    text = reporting.render_rows(rows, format, findings=findings, terminal=terminal)
    shown = () if format == "json" else tuple(findings)
    return Output(text=text, messages=(rule,), findings=shown)


def _nothing_known(measured_pairs: Sequence[tuple[QuerySystemMatrix, Pair]]) -> str:
    """Why no pair of runs has a forecast: so few queries count for both, or none of them
    differs.
    """
    counted = [
        int(np.count_nonzero(~np.isnan(matrix.column(pair.run) - matrix.column(pair.against))))
        for matrix, pair in measured_pairs
    ]
    if max(counted) < MIN_QUERIES:
        return (
            f"fewer than {MIN_QUERIES} queries count for two runs ({max(counted)} at most); power "
            "is not known from so few."
        )
    _, pair = measured_pairs[counted.index(max(counted))]
    return (
        f"no query differs between {pair.against} and {pair.run}, of {max(counted)}; power is not "
        "known without a difference."
    )


class PlanObject(TypedDict):
    """The number of queries that show a difference of two runs by a measure; null where no number
    does.
    """

    run: str
    against: str
    measure: str
    n: int
    half_width: float
    detectable: float
    difference: float
    unit: str
    queries: int | None
    queries_low: int | None
    queries_high: int | None


def _row(
    matrix: QuerySystemMatrix, pair: Pair, options: ComparisonOptions, difference: float | None
) -> reporting.Row | None:
    """The row of a pair by a measure; None below 10 queries, and where no query differs."""
    columns = matrix.column(pair.run) - matrix.column(pair.against)
    values = columns[~np.isnan(columns)]
    if len(values) < MIN_QUERIES or not values.any():
        return None
    size = difference or (5.0 if matrix.unit == "percent" else 0.05)
    n, sds = len(values), _deviations(values, options.seed)
    query_counts = [
        queries_needed(size, sd, alpha=options.alpha, power=options.power) for sd in sds
    ]
    half = student_quantile(options.level, n - 1) * sds[0] / n**0.5
    detectable = minimal_detectable_difference(sds[0], n, alpha=options.alpha, power=options.power)
    return {
        **pair._asdict(),
        "measure": matrix.label,
        **matrix.row_attributes,
        "n": n,
        "half_width": half,
        "detectable": detectable,
        "difference": size,
        "unit": matrix.unit,
        **dict(zip(_COUNTS, query_counts, strict=True)),
    }


def _cells(row: reporting.Row) -> reporting.Row:
    """A row as a terminal shows it."""
    usual, low, high = _counts(row)
    names = {name: cell for name, cell in row.items() if name not in _FIGURES}
    return names | {
        "half-width": f"± {format_value(row['half_width'], row['unit'])}",
        "detectable": format_value(row["detectable"], row["unit"]),
        f"queries for {row['difference']:g}": f"{usual} ({low} to {high})",
    }


def _counts(row: reporting.Row) -> list[str]:
    """The number of queries of a row, and its range."""
    return [format_value(row[name], "count") for name in _COUNTS]


def _deviations(values: Floats, seed: int) -> list[float]:
    """The standard deviation of differences, and its range from 5 to 95 % over resamples of the
    queries.
    """
    n, sums = len(values), np.column_stack([values, values**2])

    def _of(counts: Floats) -> Floats:
        mean, square = (counts @ sums / n).T
        return np.sqrt(np.maximum(square - mean**2, 0) * n / (n - 1))

    drawn = np.concatenate(over_resamples(n, _RESAMPLES, _of, seed=seed))
    return [exact_sd(values), *np.quantile(drawn, [0.05, 0.95]).tolist()]
