"""Paired differences -> intervals, p-values, effect sizes: every column of a comparison by one
options.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from rankwell.comparison.data import ComparisonOptions, Pair
from rankwell.comparison.matrices import Comparison, QuerySystemMatrix
from rankwell.data.tables import Bools, Floats, Ints, Unit, Values, exact_mean, exact_sd
from rankwell.errors import BadUsage
from rankwell.stats import MIN_QUERIES
from rankwell.stats.detectable import cohen_dz, minimal_detectable_difference, queries_needed
from rankwell.stats.multiple_comparisons import benjamini_hochberg, holm, randomised_tukey_hsd
from rankwell.stats.paired_bootstrap import (
    Bootstrapped,
    Differences,
    cluster_sums,
    paired_bootstrap,
)
from rankwell.stats.paired_randomisation import max_t, paired_randomisation
from rankwell.stats.paired_tests import PairedT, paired_t, sign_test, wilcoxon

_TOGETHER = 1 << 21
"""Differences in memory at a time."""
_RANGES: dict[Unit, float] = {"share": 1.0, "percent": 100.0}
"""The largest difference of two values."""


class Column(NamedTuple):
    """A pair by one measure over some queries. group: their name, "" for all queries. several:
    whether there are pairs with different second runs.
    """

    matrix: QuerySystemMatrix
    pair: Pair
    rows: Bools
    group: str
    several: bool

    @property
    def differences(self) -> Floats:
        """The difference of each query, NaN where it does not count here."""
        return np.where(self.rows, self.matrix.differences(self.pair), np.nan)

    @property
    def names(self) -> tuple[str, str]:
        """Exact name and label of the difference as a measure; with the other run, where several
        are compared with.
        """
        measure, label, against = self.matrix.measure, self.matrix.label, self.pair.against
        if self.several:
            return (
                f"Difference({measure},against={against!r})",
                f"Difference({label}) against {against}",
            )
        return f"Difference({measure})", f"Difference({label})"


def columns_of(
    comparison: Comparison, pairs: Sequence[Pair], rows: Bools, name: str = ""
) -> list[Column]:
    """Every pair by every measure that both runs have."""
    several, matrices = len({pair.against for pair in pairs}) > 1, comparison.matrices
    return [
        Column(matrix, pair, rows, name, several)
        for pair in pairs
        for matrix in matrices
        if set(pair) <= set(matrix.runs)
    ]


class ComparedValues(Sequence[Values]):
    """The values that were compared, then the differences of every column, each computed when it is
    read.
    """

    def __init__(
        self, values: Sequence[Values], columns: Sequence[Column], queries: tuple[str, ...]
    ) -> None:
        self._values, self._columns, self._queries = values, columns, queries

    def __len__(self) -> int:
        return len(self._values) + len(self._columns)

    @overload
    def __getitem__(self, index: int) -> Values: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Values]: ...
    def __getitem__(self, index: int | slice) -> Values | Sequence[Values]:
        if isinstance(index, slice):
            return [self[position] for position in range(len(self))[index]]
        column_index = range(len(self))[index]
        if column_index < len(self._values):
            return self._values[column_index]
        column = self._columns[column_index - len(self._values)]
        return Values(
            column.pair.run,
            *column.names,
            column.matrix.unit,
            "mean",
            self._queries,
            column.differences,
        )


class PairedDifference(NamedTuple):
    """A column with its summary row: the columns of any summary, then those of a difference; None
    where too few queries count.
    """

    column: Column
    row: dict[str, Any]


def judge(
    columns: Sequence[Column], options: ComparisonOptions, clusters: Ints | None
) -> list[PairedDifference]:
    """The statistics of every column, p-values adjusted by family. clusters: (queries,) numbers,
    None for none.

    The differences of some columns at a time are in memory.
    """
    differences = list[PairedDifference]()
    together = max(1, _TOGETHER // max(1, len(columns[0].rows))) if columns else 1
    for start in range(0, len(columns), together):
        differences += _judged(columns[start : start + together], options, clusters)
    adjusted = _adjusted(
        columns, [difference.row["p"] for difference in differences], options, clusters
    )
    for difference, p in zip(differences, adjusted, strict=True):
        difference.row.update(p_adjusted=p, decisive=p is not None and p <= options.alpha)
    return differences


def _judged(
    columns: Sequence[Column], options: ComparisonOptions, clusters: Ints | None
) -> list[PairedDifference]:
    """The statistics of some columns without adjusted p-values."""
    added = [_added(column, clusters) for column in columns]
    boot = _boot(added, options)
    columns_with_p = zip(columns, _p_values(columns, added, boot, options), strict=True)
    p = [
        None if column.matrix.role == "descriptive" else p_value
        for column, p_value in columns_with_p
    ]
    intervals = [
        _interval(differences, drawn, options)
        for differences, drawn in zip(added, boot, strict=True)
    ]
    rows = zip(columns, added, intervals, p, strict=True)
    return [_difference(*row, options, clustered=clusters is not None) for row in rows]


def _added(column: Column, clusters: Ints | None) -> Differences:
    """The differences that count, added up by cluster where there are clusters."""
    differences = column.differences
    is_counted = ~np.isnan(differences)
    weights = column.matrix.shared_weights(column.pair)
    counted_weights = None if weights is None else weights[is_counted]
    if clusters is not None:
        return cluster_sums(differences[is_counted], clusters[is_counted], counted_weights)
    if counted_weights is not None:
        return Differences(differences[is_counted] * counted_weights, counted_weights)
    return Differences(
        differences[is_counted],
        largest={"share": 1.0, "percent": 100.0}.get(column.matrix.unit, math.inf),
    )


def _boot(added: Sequence[Differences], options: ComparisonOptions) -> list[Bootstrapped]:
    if options.intervals in ("t", "none") and options.test != "bootstrap":
        return [Bootstrapped(None, None)] * len(added)
    sized = [
        differences if _weighs(differences) else Differences(np.zeros(0)) for differences in added
    ]
    return paired_bootstrap(
        sized,
        test=options.test == "bootstrap",
        studentised=options.intervals == "bootstrap-t",
        resamples=options.resamples,
        seed=options.seed,
        level=options.level,
    )


def _weighs(differences: Differences) -> bool:
    return len(differences.sums) > 0 and (
        differences.sizes is None or bool(differences.sizes.any())
    )


def _p_values(
    columns: Sequence[Column],
    added: Sequence[Differences],
    boot: Sequence[Bootstrapped],
    options: ComparisonOptions,
) -> list[float | None]:
    if options.test == "randomisation":
        pairs = [(np.zeros(len(differences.sums)), differences.sums) for differences in added]
        return [
            test_result.p
            for test_result in paired_randomisation(
                pairs, resamples=options.resamples, seed=options.seed
            )
        ]
    if options.test == "bootstrap":
        return [bootstrapped.p for bootstrapped in boot]
    if options.test == "t":
        return [
            None if test_result is None else test_result.p
            for test_result in (_t(differences) for differences in added)
        ]
    counted = [values[~np.isnan(values)] for values in (column.differences for column in columns)]
    tested = [
        wilcoxon(values).p if options.test == "wilcoxon" else sign_test(values).p
        for values in counted
    ]
    return [p if len(values) else None for p, values in zip(tested, counted, strict=True)]


def _t(differences: Differences) -> PairedT | None:
    return paired_t(differences.sums, differences.sizes) if _weighs(differences) else None


def _adjusted(
    columns: Sequence[Column],
    p: Sequence[float | None],
    options: ComparisonOptions,
    clusters: Ints | None,
) -> list[float | None]:
    """The p-values after the correction, family by family; a repeated measure has those of the
    earlier one.
    """
    families: dict[int, list[int]] = {}
    for index, column in enumerate(columns):
        if column.matrix.is_counted:
            families.setdefault(id(column.matrix) if options.family == "primary" else 0, []).append(
                index
            )
    adjusted_p: dict[tuple[int, Pair, str], float | None] = {}
    for indices in families.values():
        family_columns = [columns[index] for index in indices]
        family_p = _within_family(
            family_columns, [p[index] for index in indices], options, clusters
        )
        adjusted_p |= {
            (id(column.matrix), column.pair, column.group): p_value
            for column, p_value in zip(family_columns, family_p, strict=True)
        }
    return [
        adjusted_p.get((id(column.matrix.twin or column.matrix), column.pair, column.group))
        for column in columns
    ]


def _within_family(
    columns: Sequence[Column],
    p: Sequence[float | None],
    options: ComparisonOptions,
    clusters: Ints | None,
) -> list[float | None]:
    if options.correction == "tukey":
        return _tukey(columns, options)
    if options.correction == "max-t":
        # A query's or cluster's sign is one and the same in all columns.
        table = np.column_stack([_aligned(column, clusters) for column in columns])
        adjusted = max_t(table, resamples=options.resamples, seed=options.seed)
        return [None if math.isnan(p_value) else p_value for p_value in adjusted.tolist()]
    p_values = [p_value for p_value in p if p_value is not None]
    adjust = {"holm": holm, "bh": benjamini_hochberg, "none": list}[options.correction]
    adjusted = iter(adjust(p_values))
    return [None if p_value is None else next(adjusted) for p_value in p]


def _aligned(column: Column, clusters: Ints | None) -> Floats:
    """The weighted sum of each query, or of each cluster, in a column; NaN where nothing counts."""
    weights = column.matrix.shared_weights(column.pair)
    table = column.differences if weights is None else column.differences * weights
    if clusters is None:
        return table
    counted = ~np.isnan(table)
    size = int(clusters.max()) + 1
    sums = np.bincount(clusters[counted], weights=table[counted], minlength=size)
    return np.where(np.bincount(clusters[counted], minlength=size) > 0, sums, np.nan)


def _tukey(columns: Sequence[Column], options: ComparisonOptions) -> list[float | None]:
    """The p-values over all systems of each matrix and group, over the queries that count for all
    of them.
    """
    done: dict[tuple[int, str], Floats | None] = {}
    p_values: list[float | None] = []
    for column in columns:
        key = (id(column.matrix), column.group)
        if key not in done:
            if column.matrix.weights is not None:
                raise BadUsage(
                    f"{column.matrix.label} is a weighted mean, which Tukey's test cannot "
                    "compare; choose holm."
                )
            rows = column.rows & ~np.isnan(column.matrix.values).any(axis=1)
            table = np.round(column.matrix.values[rows], 12)
            done[key] = (
                randomised_tukey_hsd(table, resamples=options.resamples, seed=options.seed)[1]
                if rows.any()
                else None
            )
        p = done[key]
        runs = column.matrix.runs
        p_values.append(
            None
            if p is None
            else float(p[runs.index(column.pair.run), runs.index(column.pair.against)])
        )
    return p_values


def _interval(
    added: Differences, boot: Bootstrapped, options: ComparisonOptions
) -> tuple[float, float] | None:
    if options.intervals != "t":
        return None if options.intervals == "none" else boot.interval
    student = _t(added) if len(added.sums) >= MIN_QUERIES else None
    return None if student is None else student.interval(options.level)


def _difference(
    column: Column,
    added: Differences,
    interval: tuple[float, float] | None,
    p: float | None,
    options: ComparisonOptions,
    *,
    clustered: bool,
) -> PairedDifference:
    matrix, differences = column.matrix, column.differences
    is_counted = ~np.isnan(differences)
    counted_differences, n = differences[is_counted], int(is_counted.sum())
    weighs, student, units = _weighs(added), _t(added), len(added.sums)
    mean = added.mean if weighs else None
    # The spread of one query's (or cluster's) difference that gives the mean its error.
    spread = None if student is None else student.error * math.sqrt(units)
    levels = {"alpha": options.alpha, "power": options.power}
    wins, losses = (
        int(np.count_nonzero(counted_differences * sign > 0))
        for sign in (matrix.sign, -matrix.sign)
    )
    low, high = interval or (None, None)
    means = _means(column, is_counted) if weighs else (None, None)
    row: dict[str, Any] = {
        "run": column.pair.run,
        **dict(zip(("measure", "label"), column.names, strict=True)),
        "mean": mean,
        "sd": exact_sd(counted_differences) if n > 1 else None,
        "ci_low": low,
        "ci_high": high,
        "n": n,
        "unit": matrix.unit,
        **matrix.row_attributes,
        "against": column.pair.against,
        "of": matrix.measure,
        **({"group": column.group} if column.group else {}),
        **dict(zip(("mean_run", "mean_against"), means, strict=True)),
        "p": p,
        "p_adjusted": None,
        "decisive": False,
        "better": matrix.better,
        "role": matrix.role,
        "effect_size": cohen_dz(counted_differences),
        "wins": wins,
        "ties": n - wins - losses,
        "losses": losses,
        "detectable": _detectable(matrix.unit, spread, units, **levels),
        "queries_needed": queries_needed(mean, spread, **levels) if spread and mean else None,
        **({"clusters": units} if clustered else {}),
    }
    if matrix.role == "descriptive":
        row |= dict.fromkeys(
            ("effect_size", "wins", "ties", "losses", "detectable", "queries_needed")
        )
    return PairedDifference(column, row)


def _detectable(
    unit: Unit, spread: float | None, units: int, *, alpha: float, power: float
) -> float | None:
    """The smallest difference that is found with this power; None where no difference of shares is
    as large.
    """
    size = (
        minimal_detectable_difference(spread, units, alpha=alpha, power=power) if spread else None
    )
    return size if size is not None and size <= _RANGES.get(unit, math.inf) else None


def _means(column: Column, is_counted: Bools) -> tuple[float, float]:
    weights = column.matrix.shared_weights(column.pair)
    counted_weights = None if weights is None else weights[is_counted]
    mean_run, mean_against = (
        exact_mean(column.matrix.column(run)[is_counted], counted_weights) for run in column.pair
    )
    return mean_run, mean_against
