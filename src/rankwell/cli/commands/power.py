"""Forecast how many queries would show a difference."""

import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from rankwell import reporting
from rankwell._native.resamples import over_resamples
from rankwell.comparison.folders import from_folders, split_name
from rankwell.comparison.matrices import QuerySystemMatrix, align_values
from rankwell.data.tables import Floats, exact_sd, format_value
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.io.result_folder import read_results
from rankwell.reporting.options import FormatOption, InputPlace, Output
from rankwell.stats import MIN_QUERIES, check_level
from rankwell.stats.intervals import student_quantile
from rankwell.stats.paired_tests import minimal_detectable_difference, queries_needed
from rankwell.stats.verdicts import NOTHING_TESTED

_RESAMPLES = 400


def power(
    *folders: InputPlace,
    difference: float | None = None,
    measure: list[str] | None = None,
    level: float = 0.95,
    power: float = 0.8,
    seed: int = 0,
    format: FormatOption = "table",
) -> Output:
    """Forecast how many queries would show a difference.

    From any results, and without their difference.

    It shows neither a difference nor its sign, so that planning is not a look at the outcome.
    After each number is the range between its 5th and 95th percentile over resampled queries.

      rankwell power results

    Parameters
    ----------
    folders
        Folders of results with two runs or more (name=FOLDER renames what is in them).
    difference
        Size of the difference to find, in the unit of the measure; by default 0.05, of percentages
        5.
    measure
        Only this measure; repeat it for more.
    level
        Level of the two-sided interval; the test is at 1 minus this level.
    power
        Probability that the test finds the difference.
    seed
        Seed of the resamples.
    """
    check_level(level)
    if not folders:
        raise BadUsage(
            "name a folder of results with two runs, or several: rankwell power RESULTS..."
        )
    if difference is not None and not difference > 0:
        raise BadUsage(f"--difference is {difference:g}; expected a number above 0, such as 0.05.")
    named_folders = [split_name(folder) for folder in folders]
    gathered = from_folders(
        [(name, read_results(Path(folder))) for name, folder in named_folders], details=False
    )
    comparison = align_values(
        gathered.values, gathered.row_attributes, gathered.origin.better, measure
    )
    directed = [matrix for matrix in comparison.matrices if matrix.better != "neither"]
    undirected_labels = dict.fromkeys(
        matrix.label for matrix in comparison.matrices if matrix.better == "neither"
    )
    label_list = ", ".join(undirected_labels)
    if not directed:
        raise NothingToEvaluate(NOTHING_TESTED.format(label_list))
    rows = [
        row
        for matrix in directed
        for earlier, later in combinations(matrix.runs, 2)
        if (
            row := _row(
                matrix, (later, earlier), (difference, level, power, seed), plain=format == "table"
            )
        )
        is not None
    ]
    if not rows:
        raise NothingToEvaluate(_nothing_known(directed))
    rule = (
        f"two-sided paired t-test at {1 - level:.4g} with {100 * power:g} % power; half-widths of "
        f"{100 * level:g} % intervals"
    )
    text = reporting.render_rows(
        rows, format, notes=[rule], terminal=reporting.terminal_of(sys.stdout)
    )
    notes = [*gathered.origin.notes]
    if undirected_labels:
        notes.append(f"{label_list}: neither higher nor lower values are better; not forecast")
    return Output(text=text, notes=(*notes, rule))


def _nothing_known(matrices: Sequence[QuerySystemMatrix]) -> str:
    """Why no pair of runs has a forecast: so few queries count for both, or none of them
    differs.
    """
    pairs = [(matrix, *pair) for matrix in matrices for pair in combinations(matrix.runs, 2)]
    counted = [
        int(np.count_nonzero(~np.isnan(matrix.column(first_run) - matrix.column(second_run))))
        for matrix, first_run, second_run in pairs
    ]
    if max(counted) < MIN_QUERIES:
        return (
            f"fewer than {MIN_QUERIES} queries count for two runs ({max(counted)} at most); power "
            "is not known from so few."
        )
    _, first_run, second_run = pairs[counted.index(max(counted))]
    return (
        f"no query differs between {first_run} and {second_run}, of {max(counted)}; power is not "
        "known without a difference."
    )


def _row(
    matrix: QuerySystemMatrix,
    pair: tuple[str, str],
    options: tuple[float | None, float, float, int],
    *,
    plain: bool,
) -> reporting.Row | None:
    """The row of a pair by a measure; None below 10 queries, and where no query differs."""
    difference, level, power, seed = options
    columns = matrix.column(pair[0]) - matrix.column(pair[1])
    values = columns[~np.isnan(columns)]
    if len(values) < MIN_QUERIES or not values.any():
        return None
    size = difference or (5.0 if matrix.unit == "percent" else 0.05)
    n, sds = len(values), _deviations(values, seed)
    query_counts = [queries_needed(size, sd, alpha=1 - level, power=power) for sd in sds]
    half = student_quantile(level, n - 1) * sds[0] / n**0.5
    detectable = minimal_detectable_difference(sds[0], n, alpha=1 - level, power=power)
    names = {
        "run": pair[0],
        "against": pair[1],
        "measure": matrix.label,
        **matrix.row_attributes,
        "n": n,
    }
    if plain:
        usual, low, high = (format_value(n_queries, "count") for n_queries in query_counts)
        return {
            **names,
            "half-width": f"± {format_value(half, matrix.unit)}",
            "detectable": format_value(detectable, matrix.unit),
            f"queries for {size:g}": f"{usual} ({low} to {high})",
        }
    return {
        **names,
        "half_width": half,
        "detectable": detectable,
        "difference": size,
        "unit": matrix.unit,
        **dict(zip(("queries", "queries_low", "queries_high"), query_counts, strict=True)),
    }


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
