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

_TESTED = ("effect_size", "wins", "ties", "losses", "detectable", "queries_needed")
"""Figures that a measure without a better direction does not have."""
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
    def weights(self) -> Floats | None:
        """The weight of the difference for each query; None for a plain mean."""
        weights = self.matrix.weights
        return None if weights is None else weights[:, self.matrix.runs.index(self.pair.run)]

    @property
    def names(self) -> tuple[str, str]:
        """Exact name and label of the difference as a measure; with the other run, where several
        are compared with.
        """
        measure = self.matrix.measure
        label = self.matrix.label
        against = self.pair.against
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
    several = len({pair.against for pair in pairs}) > 1
    matrices = comparison.matrices
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
        self._values = values
        self._columns = columns
        self._queries = queries

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
    students = [
        paired_t(differences.sums, differences.sizes) if _weighs(differences) else None
        for differences in added
    ]
    boot = _boot(added, options)
    p_values = _p_values(columns, added, students, boot, options)
    judged: list[PairedDifference] = []
    for column, differences, student, bootstrapped, p in zip(
        columns, added, students, boot, p_values, strict=True
    ):
        interval = None if options.intervals == "none" else bootstrapped.interval
        if options.intervals == "t":
            interval = None
            if student is not None and len(differences.sums) >= MIN_QUERIES:
                interval = student.interval(options.level)
        row = _difference(column, differences, student, interval or (None, None), options)
        if column.matrix.role == "descriptive":
            row |= dict.fromkeys(_TESTED)
        else:
            row["p"] = p
        if clusters is not None:
            row["clusters"] = len(differences.sums)
        judged.append(PairedDifference(column, row))
    return judged


def _added(column: Column, clusters: Ints | None) -> Differences:
    """The differences that count, added up by cluster where there are clusters."""
    differences, weights = column.differences, column.weights
    is_counted = ~np.isnan(differences)
    counted = differences[is_counted]
    weights = None if weights is None else weights[is_counted]
    if clusters is not None:
        return cluster_sums(counted, clusters[is_counted], weights)
    if weights is not None:
        return Differences(counted * weights, weights)
    return Differences(counted, largest=_RANGES.get(column.matrix.unit, math.inf))


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
    students: Sequence[PairedT | None],
    boot: Sequence[Bootstrapped],
    options: ComparisonOptions,
) -> list[float | None]:
    if options.test == "randomisation":
        pairs = [(np.zeros(len(differences.sums)), differences.sums) for differences in added]
        results = paired_randomisation(pairs, resamples=options.resamples, seed=options.seed)
        return [result.p for result in results]
    if options.test == "bootstrap":
        return [bootstrapped.p for bootstrapped in boot]
    if options.test == "t":
        return [student and student.p for student in students]
    test = wilcoxon if options.test == "wilcoxon" else sign_test
    counted = [values[~np.isnan(values)] for values in (column.differences for column in columns)]
    return [test(values).p if len(values) else None for values in counted]


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
    table = column.differences if column.weights is None else column.differences * column.weights
    if clusters is None:
        return table
    counted, size = ~np.isnan(table), int(clusters.max()) + 1
    sums = np.bincount(clusters[counted], weights=table[counted], minlength=size)
    return np.where(np.bincount(clusters[counted], minlength=size) > 0, sums, np.nan)


def _tukey(columns: Sequence[Column], options: ComparisonOptions) -> list[float | None]:
    """The p-values over all systems of each matrix and group, over the queries that count for all
    of them.
    """
    tables: dict[tuple[int, str], Floats | None] = {}
    p_values: list[float | None] = []
    for column in columns:
        matrix, key = column.matrix, (id(column.matrix), column.group)
        if key not in tables:
            if matrix.weights is not None:
                raise BadUsage(
                    f"{matrix.label} is a weighted mean, which Tukey's test cannot compare; choose "
                    "holm."
                )
            rows = column.rows & ~np.isnan(matrix.values).any(axis=1)
            values = np.round(matrix.values[rows], 12)
            draws = options.resamples
            tables[key] = (
                randomised_tukey_hsd(values, resamples=draws, seed=options.seed)[1]
                if rows.any()
                else None
            )
        p = tables[key]
        places = [matrix.runs.index(run) for run in column.pair]
        p_values.append(None if p is None else float(p[tuple(places)]))
    return p_values


def _difference(
    column: Column,
    added: Differences,
    student: PairedT | None,
    interval: tuple[float, float] | tuple[None, None],
    options: ComparisonOptions,
) -> dict[str, Any]:
    """The row of a difference without p-values."""
    matrix = column.matrix
    differences = column.differences
    weights = column.weights
    is_counted = ~np.isnan(differences)
    counted = differences[is_counted]
    n = int(is_counted.sum())
    units = len(added.sums)
    mean, means = None, [None, None]
    if _weighs(added):
        weights = None if weights is None else weights[is_counted]
        mean = added.mean
        means = [exact_mean(matrix.column(run)[is_counted], weights) for run in column.pair]
    # The spread of one query's (or cluster's) difference that gives the mean its error.
    spread = None if student is None else student.error * math.sqrt(units)
    levels = {"alpha": options.alpha, "power": options.power}
    detectable = None
    if spread:
        detectable = minimal_detectable_difference(spread, units, **levels)
        # No difference of shares is as large.
        if detectable is not None and detectable > _RANGES.get(matrix.unit, math.inf):
            detectable = None
    wins, losses = (
        int(np.count_nonzero(counted * sign > 0)) for sign in (matrix.sign, -matrix.sign)
    )
    return {
        "run": column.pair.run,
        **dict(zip(("measure", "label"), column.names, strict=True)),
        "mean": mean,
        "sd": exact_sd(counted) if n > 1 else None,
        **dict(zip(("ci_low", "ci_high"), interval, strict=True)),
        "n": n,
        "unit": matrix.unit,
        **matrix.row_attributes,
        "against": column.pair.against,
        "of": matrix.measure,
        **({"group": column.group} if column.group else {}),
        **dict(zip(("mean_run", "mean_against"), means, strict=True)),
        **{"p": None, "p_adjusted": None, "decisive": False},
        "better": matrix.better,
        "role": matrix.role,
        "effect_size": cohen_dz(counted),
        **{"wins": wins, "ties": n - wins - losses, "losses": losses},
        "detectable": detectable,
        "queries_needed": queries_needed(mean, spread, **levels) if spread and mean else None,
    }
