"""Rows of a comparison, of its differences and of the order of its systems; its verdicts, and notes
on it.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from rankwell.comparison.data import ComparisonOptions, Pair, Row
from rankwell.comparison.judging import PairedDifference
from rankwell.comparison.matrices import Comparison, QuerySystemMatrix
from rankwell.data.tables import Bools, Floats, exact_means
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
    runs = comparison.runs
    if not matrices:
        return {"systems": [], "orders": [], "borda": [], "mean_ranks": []}
    complete_matrices = [matrix for matrix in matrices if len(matrix.runs) == len(runs)]
    labels = [matrix.label for matrix in matrices]
    # By every measure over all queries, and by the first measure in every group.
    orders = [
        Order(
            matrix.label
            if labels.count(matrix.label) == 1
            else f"{matrix.label} {dict(matrix.row_attributes)}",
            matrix,
        )
        for matrix in matrices
    ]
    groups = {difference.column.group: difference.column.rows for difference in parts}
    return {
        "systems": system_rows(matrices, differences, level),
        "orders": order_rows(
            orders,
            [Order(f"{labels[0]}, {name}", matrices[0], rows) for name, rows in groups.items()],
        ),
        "borda": borda_rows(runs, complete_matrices) if len(complete_matrices) > 1 else [],
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
        ranks, blocks = descending_ranks(scores), friedman(matrix.shared_values, level=level)
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
    matrix_differences = [
        difference for difference in differences if difference.column.matrix is matrix
    ]
    if len(matrix_differences) < len(matrix.runs) * (len(matrix.runs) - 1) // 2:
        return None
    apart = np.zeros((len(matrix.runs), len(matrix.runs)), dtype=np.bool_)
    for difference in matrix_differences:
        first, second = (matrix.runs.index(run) for run in difference.column.pair)
        apart[first, second] = apart[second, first] = difference.row["decisive"]
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
    for first, second in [*combinations(orders, 2), *((orders[0], group) for group in groups)]:
        shared = [run for run in first.matrix.runs if run in second.matrix.runs]
        first_scores = first.scores[[first.matrix.runs.index(run) for run in shared]]
        second_scores = second.scores[[second.matrix.runs.index(run) for run in shared]]
        if len(shared) < 3 or np.isnan(first_scores).any() or np.isnan(second_scores).any():
            continue
        first_scores, second_scores = np.round(first_scores, 12), np.round(second_scores, 12)
        row = {
            "first": first.name,
            "second": second.name,
            "tau": kendall_tau(first_scores, second_scores),
        }
        rows.append(
            {
                **row,
                "tau_ap": tau_ap(first_scores, second_scores),
                "rbo": rank_biased_overlap(first_scores, second_scores),
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
        scores = Order("", matrix).scores
        for run, score in zip(matrix.runs, np.round(scores, 12).tolist(), strict=True):
            table[task, runs.index(run)] = score
    points = borda_points(table)
    ranks = descending_ranks(points)
    rows = [
        {
            "run": run,
            "points": float(points[column]),
            "rank": float(ranks[column]),
            "tasks": len(matrices),
        }
        for column, run in enumerate(runs)
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
    lone: dict[tuple[Pair, int], list[str]] = {}
    for matrix, pair in (difference.column[:2] for difference in differences):
        lone.setdefault((pair, matrix.lone(pair)), []).append(matrix.label)
    notes: list[str] = []
    for (pair, n), labels in lone.items():
        if n:
            clause = (
                f"{', '.join(dict.fromkeys(labels))}: {n} "
                f"{f'{singular} counts' if n == 1 else f'{plural} count'} for one only"
            )
            notes.append(
                f"{clause} of {pair.run} and {pair.against}, and {'is' if n == 1 else 'are'} left "
                "out"
            )
    sizes = [difference.row.get("clusters", difference.row["n"]) for difference in differences]
    fewest = min(sizes, default=FEW_QUERIES)
    unit = plural if not differences or "clusters" not in differences[0].row else "clusters"
    if fewest < MIN_QUERIES:
        notes.append(f"no interval below {MIN_QUERIES} {unit} (here {fewest})")
    elif fewest < FEW_QUERIES and intervals == "bootstrap-t":
        notes.append(
            f"with {fewest} {unit} 95 % intervals held the true difference in 90 to 100 % of "
            f"simulations, in fewer where hardly any {singular} differs (docs/statistics.md)"
        )
    same: dict[tuple[Pair, bool], list[str]] = {}
    for difference in differences:
        # An interval of wins and losses says how far other queries may differ even where these do
        # not.
        if (
            difference.row["sd"] == 0
            and difference.row["ci_low"] is not None
            and difference.row["ci_low"] == difference.row["ci_high"]
        ):
            same.setdefault((difference.column.pair, difference.row["mean"] == 0), []).append(
                difference.column.matrix.label
            )
    for (pair, is_zero), labels in same.items():
        clause = (
            f"no {singular} differs; the interval of 0 holds"
            if is_zero
            else f"every {singular} differs by as much; the interval holds"
        )
        notes.append(
            f"{', '.join(labels)} of {pair.run} and {pair.against}: {clause} for these {plural} "
            "only"
        )
    small = {
        difference.column.group: difference.row["n"]
        for difference in parts
        if difference.row["n"] < FEW
    }
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
    counted, count, first = (
        [matrix for matrix in comparison.matrices if matrix.is_counted],
        len(pairs),
        comparison.matrices[0],
    )
    if not counted:
        return [NOTHING_TESTED.format(", ".join(matrix.label for matrix in comparison.matrices))]
    signs = options.test in ("randomisation", "wilcoxon", "sign")
    differences_by_pair, group_differences = (
        _by_pair(comparison, differences, signs=signs),
        _by_pair(comparison, parts, signs=signs),
    )
    # Pairs without a common measure are not tested.
    tested, together = len(differences_by_pair), len(counted) if options.family == "all" else 1
    sizes = [
        f"{n} {unit_name}" for n, unit_name in ((tested, "pairs"), (together, "measures")) if n > 1
    ]
    described = (
        f"over {len(comparison.runs)} systems"
        if options.correction == "tukey"
        else f"over {' × '.join(sizes)}"
    )
    family = Family(
        options.correction,
        tested * together,
        described,
        options.level,
        options.power,
        options.family == "primary",
        noun,
    )
    scores, order = Order("", first).scores, list[tuple[str, float]]()
    if count > _MOST_SENTENCES and not np.isnan(scores).any():
        ranking = np.argsort(-scores, kind="stable").tolist()
        order = [(first.runs[column], float(first.sign * scores[column])) for column in ranking]
    if order and count == len(first.runs) * (len(first.runs) - 1) // 2:
        best = order[0][0]
        leader_differences = {
            pair: pair_differences
            for pair, pair_differences in differences_by_pair.items()
            if best in pair
        }
        unclear = [
            run
            for run, _ in order[1:]
            if not next(
                pair_differences[0]
                for pair, pair_differences in leader_differences.items()
                if run in pair
            ).decisive
        ]
        second = next(
            pair_differences[0]
            for pair, pair_differences in leader_differences.items()
            if order[1][0] in pair
        )
        return [leader(order, unclear, second, family)]
    return [
        verdict(
            first_difference,
            other_differences,
            [
                group_difference
                for group_difference in group_differences.get(pair, [])
                if group_difference.measure == first_difference.measure
            ],
            family=family,
            few=FEW,
        )
        for pair, (first_difference, *other_differences) in differences_by_pair.items()
    ]


def _by_pair(
    comparison: Comparison, differences: Sequence[PairedDifference], *, signs: bool
) -> dict[Pair, list[MeasuredDifference]]:
    """The differences of each pair that are tested and count, in the order of the measures. signs:
    whether the test uses them.
    """
    differences_by_pair: dict[Pair, list[MeasuredDifference]] = {}
    labels = [matrix.label for matrix in comparison.matrices]
    for difference in (
        difference for difference in differences if difference.column.matrix.is_counted
    ):
        matrix, pair = difference.column.matrix, difference.column.pair
        attributes = ", ".join(
            f"{name} {value}" for name, value in matrix.row_attributes.items() if value is not None
        )
        word = (
            matrix.label
            if labels.count(matrix.label) == 1 or not attributes
            else f"{matrix.label} ({attributes})"
        )
        row = difference.row
        differences_by_pair.setdefault(pair, []).append(
            MeasuredDifference(
                measure=word,
                difference=row["mean"],
                interval=None if row["ci_low"] is None else (row["ci_low"], row["ci_high"]),
                p=row["p_adjusted"],
                part=difference.column.group,
                differing=row["wins"] + row["losses"] if signs and "clusters" not in row else None,
                **{
                    name: row[name]
                    for name in ("run", "against", "unit", "better", "n", "decisive", "detectable")
                },
            )
        )
    return differences_by_pair
