"""Rows of a comparison, of its differences and of the order of its systems; its verdicts, and notes
on it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rankwell.comparison.data import ComparisonOptions, Pair, Row
from rankwell.comparison.judging import PairedDifference
from rankwell.comparison.matrices import Comparison, QuerySystemMatrix
from rankwell.data.registry import Measure, parse_measure
from rankwell.data.tables import Bools, Floats, exact_mean, exact_means, figure
from rankwell.errors import BadUsage, flag
from rankwell.evaluation.bounds import DEFINITE, RankedItems, UnjudgedItems, difference_bounds
from rankwell.stats import FEW_QUERIES, MIN_QUERIES, Intervals
from rankwell.stats.correlation import kendall_tau
from rankwell.stats.multiple_comparisons import significance_letters
from rankwell.stats.system_rankings import (
    borda_points,
    connected_groups,
    descending_ranks,
    friedman,
    rank_biased_overlap,
    tau_ap,
)
from rankwell.stats.verdicts import NOTHING_TESTED, Family, MeasuredDifference, leader, verdict

FEW = 50
"""Groups of fewer queries are called small: their tests find little (docs/statistics.md)."""

_MOST_SENTENCES = 3


class Order(NamedTuple):
    """The order of systems by one measure over some queries, None for all. name: as it is
    printed.
    """

    name: str
    matrix: QuerySystemMatrix
    rows: Bools | None = None

    @property
    def scores(self) -> Floats:
        """The mean of each run over the queries that count for all runs, the higher the
        better; NaN without such.
        """
        matrix = self.matrix
        rows = ~np.isnan(matrix.values).any(axis=1)
        rows = rows if self.rows is None else rows & self.rows
        if not rows.any():
            return np.full(len(matrix.runs), np.nan)
        weights = None if matrix.weights is None else matrix.weights[rows]
        return matrix.sign * exact_means(matrix.values[rows], weights)


def system_tables(
    comparison: Comparison,
    differences: Sequence[PairedDifference],
    parts: Sequence[PairedDifference],
    level: float,
) -> dict[str, list[Row]]:
    """The tables of the order of systems, which is that of three or more. parts: the differences in
    groups.

    Borda's points add measures up, and are those of measures that all systems have.
    """
    matrices = [
        matrix for matrix in comparison.matrices if matrix.is_counted and len(matrix.runs) > 2
    ]
    if not matrices:
        return {"systems": [], "orders": [], "borda": [], "mean_ranks": []}
    complete = [matrix for matrix in matrices if len(matrix.runs) == len(comparison.runs)]
    labels = [matrix.label for matrix in matrices]
    # By every measure over all queries, and by the first measure in every group.
    orders = [
        Order(
            f"{matrix.label} {dict(matrix.row_attributes)}"
            if labels.count(matrix.label) > 1
            else matrix.label,
            matrix,
        )
        for matrix in matrices
    ]
    rows_of_group = {difference.column.group: difference.column.rows for difference in parts}
    groups = [
        Order(f"{labels[0]}, {name}", matrices[0], rows) for name, rows in rows_of_group.items()
    ]
    return {
        "systems": system_rows(matrices, differences, level),
        "orders": order_rows(orders, groups),
        "borda": borda_rows(comparison.runs, complete) if len(complete) > 1 else [],
        "mean_ranks": rank_differences(matrices, differences, level),
    }


def system_rows(
    matrices: Sequence[QuerySystemMatrix], differences: Sequence[PairedDifference], level: float
) -> list[Row]:
    """A row for every run and measure: mean, rank, mean rank over queries, letters (None unless
    every pair was compared).
    """
    rows: list[Row] = []
    for matrix in matrices:
        scores = Order("", matrix).scores
        if np.isnan(scores).any():
            continue
        ranks = descending_ranks(scores)
        blocks = friedman(matrix.shared_values, level=level)
        apart = _apart(matrix, differences)
        order = sorted(range(len(matrix.runs)), key=lambda run: (-scores[run], run))
        letters = None if apart is None else significance_letters(apart, order)
        rows += [
            {
                "run": run,
                "measure": matrix.measure,
                "label": matrix.label,
                **matrix.row_attributes,
                "mean": float(matrix.sign * scores[column]),
                "rank": float(ranks[column]),
                "mean_rank": None if blocks is None else float(blocks.ranks[column]),
                "letters": None if letters is None else letters[column],
                "unit": matrix.unit,
            }
            for column, run in enumerate(matrix.runs)
        ]
    return rows


def _apart(matrix: QuerySystemMatrix, differences: Sequence[PairedDifference]) -> Bools | None:
    """Whether two runs differ significantly by a measure, (runs, runs); None where not every pair
    was compared.
    """
    n = len(matrix.runs)
    decisive = {
        column.pair: row["decisive"] for column, row in differences if column.matrix is matrix
    }
    if len(decisive) < n * (n - 1) // 2:
        return None
    apart = np.zeros((n, n), dtype=np.bool_)
    for pair in decisive:
        first, second = map(matrix.runs.index, pair)
        apart[first, second] = apart[second, first] = decisive[pair]
    return apart


def winners(differences: Sequence[Row]) -> Iterator[tuple[str, str, Row]]:
    """The better run, the worse one and the row of every difference that is significant."""
    for row in differences:
        if row["decisive"] and row["mean"]:
            gains = (row["mean"] > 0) is (row["better"] != "lower")
            yield *((row["run"], row["against"]) if gains else (row["against"], row["run"])), row


def rank_differences(
    matrices: Sequence[QuerySystemMatrix], differences: Sequence[PairedDifference], level: float
) -> list[Row]:
    """Mean ranks by each measure with Friedman's test, and groups of neighbours without a
    significant difference.
    """
    rows: list[Row] = []
    for matrix in matrices:
        friedman_test = friedman(matrix.shared_values, level=level)
        if friedman_test is None:
            continue
        apart = _apart(matrix, differences)
        groups = [] if apart is None else connected_groups(friedman_test.ranks.tolist(), apart)
        rows.append(
            {
                "measure": matrix.measure,
                "label": matrix.label,
                **matrix.row_attributes,
                "queries": len(matrix.shared_values),
                "chi_square": friedman_test.chi_square,
                "p": friedman_test.p,
                "critical_difference": friedman_test.critical_difference,
                "mean_ranks": dict(zip(matrix.runs, friedman_test.ranks.tolist(), strict=True)),
                "not_told_apart": [[matrix.runs[system] for system in group] for group in groups],
            }
        )
    return rows


def order_rows(orders: Sequence[Order], groups: Sequence[Order]) -> list[Row]:
    """The correlations of each two orders of the same systems, and of the first with each group's;
    rbo looks from the first.
    """
    rows: list[Row] = []
    for pair in [*combinations(orders, 2), *((orders[0], group) for group in groups)]:
        first, second = pair
        shared = [run for run in first.matrix.runs if run in second.matrix.runs]
        scores = [
            np.round(order.scores[[order.matrix.runs.index(run) for run in shared]], 12)
            for order in pair
        ]
        if len(shared) > 2 and not np.isnan(scores).any():
            rows.append(
                {
                    "first": first.name,
                    "second": second.name,
                    "tau": kendall_tau(*scores),
                    "tau_ap": tau_ap(*scores),
                    "rbo": rank_biased_overlap(*scores),
                    "systems": len(shared),
                }
            )
    return rows


def borda_rows(runs: Sequence[str], matrices: Sequence[QuerySystemMatrix]) -> list[Row]:
    """The Borda points of every run over all measures as tasks, best first, with the rank that they
    make.
    """
    table = np.full((len(matrices), len(runs)), np.nan)
    for task, matrix in enumerate(matrices):
        columns = [runs.index(run) for run in matrix.runs]
        table[task, columns] = np.round(Order("", matrix).scores, 12)
    points = borda_points(table)
    rows = [
        {"run": run, "points": run_points, "rank": rank, "tasks": len(matrices)}
        for run, run_points, rank in zip(
            runs, points.tolist(), descending_ranks(points).tolist(), strict=True
        )
    ]
    return sorted(rows, key=lambda row: row["rank"])


def notes_on(
    differences: Sequence[PairedDifference],
    parts: Sequence[PairedDifference],
    intervals: Intervals,
    noun: tuple[str, str],
) -> list[str]:
    """Notes on queries that are left out, on too few, and on systems that are the same. parts: the
    differences in groups.
    """
    singular, plural = noun
    notes: list[str] = []
    lone: dict[tuple[Pair, int], list[str]] = {}
    same: dict[tuple[Pair, bool], list[str]] = {}
    for (matrix, pair, *_), row in differences:
        lone.setdefault((pair, matrix.lone(pair)), []).append(matrix.label)
        # An interval of wins and losses says how far other queries may differ even where these do
        # not.
        if row["sd"] == 0 and row["ci_low"] is not None and row["ci_low"] == row["ci_high"]:
            same.setdefault((pair, row["mean"] == 0), []).append(matrix.label)
    for (pair, n), labels in lone.items():
        if n:
            count, are = (f"{singular} counts", "is") if n == 1 else (f"{plural} count", "are")
            notes.append(
                f"{', '.join(dict.fromkeys(labels))}: {n} {count} for one only of {pair.run} and "
                f"{pair.against}, and {are} left out"
            )
    sizes = [row.get("clusters", row["n"]) for _, row in differences]
    fewest = min(sizes, default=FEW_QUERIES)
    unit = "clusters" if differences and "clusters" in differences[0].row else plural
    if fewest < MIN_QUERIES:
        notes.append(f"no interval below {MIN_QUERIES} {unit} (here {fewest})")
    elif fewest < FEW_QUERIES and intervals == "bootstrap-t":
        notes.append(
            f"with {fewest} {unit} 95 % intervals held the true difference in 90 to 100 % of "
            f"simulations, in fewer where hardly any {singular} differs (docs/statistics.md)"
        )
    for (pair, is_zero), labels in same.items():
        clause = f"every {singular} differs by as much; the interval holds"
        if is_zero:
            clause = f"no {singular} differs; the interval of 0 holds"
        notes.append(
            f"{', '.join(labels)} of {pair.run} and {pair.against}: {clause} for these {plural} "
            "only"
        )
    small = {column.group: row["n"] for column, row in parts if row["n"] < FEW}
    if small:
        group_list = ", ".join(f"{name} (n = {n})" for name, n in list(small.items())[:6])
        more = f" and {len(small) - 6} more" if len(small) > 6 else ""
        notes.append(
            f"small groups, below {FEW} {plural}, whose intervals are wide and whose tests find "
            f"little: {group_list}{more}"
        )
    return notes


def sentences(
    comparison: Comparison,
    pairs: Sequence[Pair],
    differences: Sequence[PairedDifference],
    parts: Sequence[PairedDifference],
    options: ComparisonOptions,
    noun: str,
) -> list[str]:
    """A verdict per pair by the first measure; of many pairs one on the leader. parts: the
    differences in groups of queries.
    """
    counted = sum(matrix.is_counted for matrix in comparison.matrices)
    if not counted:
        return [NOTHING_TESTED.format(", ".join(matrix.label for matrix in comparison.matrices))]
    signs = options.test in ("randomisation", "wilcoxon", "sign")
    by_pair = _by_pair(comparison, differences, signs=signs)
    groups_by_pair = _by_pair(comparison, parts, signs=signs)
    # Pairs without a common measure are not tested.
    tested = len(by_pair)
    together = counted if options.family == "all" else 1
    sizes = [f"{n} {unit}" for n, unit in ((tested, "pairs"), (together, "measures")) if n > 1]
    described = f"over {' × '.join(sizes)}"
    if options.correction == "tukey":
        described = f"over {len(comparison.runs)} systems"
    family = Family(
        options.correction,
        tested * together,
        described,
        options.level,
        options.power,
        options.family == "primary",
        noun,
    )
    first = comparison.matrices[0]
    n, scores = len(first.runs), Order("", first).scores
    if _MOST_SENTENCES < len(pairs) == n * (n - 1) // 2 and not np.isnan(scores).any():
        ranking = np.argsort(-scores, kind="stable").tolist()
        order = [(first.runs[column], float(first.sign * scores[column])) for column in ranking]
        best = order[0][0]
        of_leader = {
            run: pair_differences[0]
            for pair, pair_differences in by_pair.items()
            if best in pair
            for run in pair
        }
        unclear = [run for run, _ in order[1:] if not of_leader[run].decisive]
        return [leader(order, unclear, of_leader[order[1][0]], family)]
    return [
        verdict(
            first_difference,
            others,
            [
                difference
                for difference in groups_by_pair.get(pair, [])
                if difference.measure == first_difference.measure
            ],
            family=family,
            few=FEW,
        )
        for pair, (first_difference, *others) in by_pair.items()
    ]


def _by_pair(
    comparison: Comparison, differences: Sequence[PairedDifference], *, signs: bool
) -> dict[Pair, list[MeasuredDifference]]:
    """The differences of each pair that are tested and count, in the order of the measures. signs:
    whether the test uses them.
    """
    by_pair: dict[Pair, list[MeasuredDifference]] = {}
    labels = [matrix.label for matrix in comparison.matrices]
    for (matrix, pair, _, group, _), row in differences:
        if not matrix.is_counted:
            continue
        attributes = ", ".join(
            f"{name} {value}" for name, value in matrix.row_attributes.items() if value is not None
        )
        is_clear = labels.count(matrix.label) == 1 or not attributes
        by_pair.setdefault(pair, []).append(
            MeasuredDifference(
                measure=matrix.label if is_clear else f"{matrix.label} ({attributes})",
                difference=row["mean"],
                interval=None if row["ci_low"] is None else (row["ci_low"], row["ci_high"]),
                p=row["p_adjusted"],
                part=group,
                differing=row["wins"] + row["losses"] if signs and "clusters" not in row else None,
                **{
                    name: row[name]
                    for name in ("run", "against", "unit", "better", "n", "decisive", "detectable")
                },
            )
        )
    return by_pair


_MOST_BOUNDED = 6


def notes_on_unjudged(
    comparison: Comparison,
    pairs: Sequence[Pair],
    load_unjudged: Callable[[], UnjudgedItems | None],
    rules: Mapping[str, Any],
) -> list[str]:
    """A note for each of the first pairs, where the rules leave every item one rank and count
    unjudged items.
    """
    counts = rules.get("ties") in DEFINITE and rules.get("unjudged") == "nonrelevant"
    if not counts or (unjudged := load_unjudged()) is None:
        return []
    items = unjudged.ranked(comparison.queries)
    notes = list[str]()
    more = 0
    for pair in pairs:
        shared = (
            matrix
            for matrix in comparison.matrices
            if set(pair) <= set(matrix.runs) and matrix.weights is None
        )
        bounded = [
            (matrix, measure)
            for matrix in shared
            if (measure := _bounded_measure(matrix, unjudged.depth))
        ]
        deepest = max((measure.cutoff or 0 for _, measure in bounded), default=0)
        if not any(len(items(run, deepest).rank) for run in pair):
            continue
        if len(notes) == _MOST_BOUNDED:
            more += 1
        elif words := [
            text for matrix, measure in bounded for text in _bounds(matrix, measure, pair, items)
        ]:
            notes.append(
                f"{pair.run} and {pair.against}: {', '.join(words)}, depending on unjudged items"
            )
    if more:
        pairs_are = "1 more pair is" if more == 1 else f"{more} more pairs are"
        advice = (
            f"name a {flag('--baseline')}"
            if len({pair.against for pair in pairs}) > 1
            else "compare fewer runs"
        )
        notes.append(f"the bounds of {pairs_are} not listed; {advice}")
    return notes


def _bounded_measure(matrix: QuerySystemMatrix, depth: int) -> Measure | None:
    """The measure of a matrix; None of one that the first `depth` items do not bound."""
    try:
        measure = parse_measure(matrix.measure)
    except BadUsage:
        return None
    return measure if measure.cutoff is not None and measure.cutoff <= depth else None


def _bounds(
    matrix: QuerySystemMatrix,
    measure: Measure,
    pair: Pair,
    items: Callable[[str, int], RankedItems],
) -> Iterator[str]:
    """The bounds of a difference in words; nothing where there are none, or where they are
    equal.
    """
    counts_for_both = ~np.isnan(matrix.differences(pair))
    if not counts_for_both.any():
        return
    scale = 100.0 if matrix.unit == "percent" else 1.0
    values = (
        np.nan_to_num(matrix.column(pair.run)) / scale,
        np.nan_to_num(matrix.column(pair.against)) / scale,
    )
    bounds = difference_bounds(measure, items, (pair.run, pair.against), values)
    if bounds is not None:
        low, high = (exact_mean(bound_values[counts_for_both]) * scale for bound_values in bounds)
        if high - low > 1e-12 * scale:
            yield (
                f"Difference({matrix.label}) is between {figure(low, matrix.unit, signed=True)} "
                f"and {figure(high, matrix.unit, signed=True)}"
            )
