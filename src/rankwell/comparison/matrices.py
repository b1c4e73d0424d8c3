"""Values of several runs side by side, one matrix per measure, with a row per query and a column
per run; and what is judged of their paired differences: intervals, p-values, effect sizes.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from rankwell.comparison.data import ComparisonOptions, Pair, exact_name, known_better
from rankwell.data.catalogue import ResultKind, leading
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import (
    compared_by_mean,
    direction_assumed,
    measured_twice,
    measures_of_some_runs,
    not_compared,
)
from rankwell.data.registry import Better, suggest
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Unit,
    Values,
    exact_mean,
    exact_sd,
    order_ids,
    positions_by_id,
    sort_ids,
)
from rankwell.errors import BadInput, BadUsage, UnknownName, first_of
from rankwell.evaluation.results import RowAttributes
from rankwell.stats import MIN_QUERIES
from rankwell.stats.paired_bootstrap import (
    Bootstrapped,
    Differences,
    cluster_sums,
    paired_bootstrap,
)
from rankwell.stats.paired_tests import (
    PairedT,
    cohen_dz,
    max_t,
    minimal_detectable_difference,
    paired_randomisation,
    paired_t,
    queries_needed,
    sign_test,
    wilcoxon,
)
from rankwell.stats.system_comparisons import benjamini_hochberg, holm, randomised_tukey_hsd

_DECIMALS = 12
Role = Literal["primary", "secondary", "repeated", "descriptive"]
"""The part of a measure in a comparison: the verdict is about the primary one; a repeated one has
the values of another on every query, and counts once with it; a descriptive one has no better
direction, and is not tested.
"""


@dataclass(frozen=True, eq=False)
class QuerySystemMatrix:
    """The values of all runs by one measure.

    measure: the exact name.
    label: the word for the measure, with `(mean)` where it is compared by the mean but summed up in
        another way.
    unit: the unit of all values.
    better: the direction of better values; `neither` where there is none.
    row_attributes: the columns that distinguish the matrix from others of the measure, such as
        `direction`.
    runs: the runs that have the measure, one for each column.
    values: (queries, runs) NaN where a query is not counted or the run has no value.
    weights: (queries, runs) the weight of each value in the mean; None for plain means.
    role: the part of the measure in the comparison; `primary` until `assign_roles` decides.
    twin: for a repeated measure the earlier matrix with the same values.
    """

    measure: str
    label: str
    unit: Unit
    better: Better
    row_attributes: RowAttributes
    runs: tuple[str, ...]
    values: Floats
    weights: Floats | None = None
    role: Role = "primary"
    twin: "QuerySystemMatrix | None" = None

    @property
    def is_counted(self) -> bool:
        """Whether it is tested, and not the same as an earlier one."""
        return self.role in ("primary", "secondary")

    def equals(self, other: "QuerySystemMatrix") -> bool:
        """Whether both have the same runs with the same values and weights on every query."""
        (key, *arrays), (other_key, *other_arrays) = (
            (
                (matrix.runs, matrix.better, matrix.row_attributes),
                matrix.values,
                np.ones(1) if matrix.weights is None else matrix.weights,
            )
            for matrix in (self, other)
        )
        return key == other_key and all(
            np.array_equal(np.round(array, _DECIMALS), np.round(other, _DECIMALS), equal_nan=True)
            for array, other in zip(arrays, other_arrays, strict=True)
        )

    @property
    def sign(self) -> int:
        """-1 where lower values are better, else 1."""
        return -1 if self.better == "lower" else 1

    @property
    def shared_values(self) -> Floats:
        """The values of the queries that count for all runs, higher ones better; rounded as
        differences are.

        Returns (shared queries, runs).
        """
        return self.sign * np.round(self.values[~np.isnan(self.values).any(axis=1)], _DECIMALS)

    def column(self, run: str) -> Floats:
        """The value of a run for each query."""
        return self.values[:, self.runs.index(run)]

    def differences(self, pair: Pair) -> Floats:
        """The run's value of each query less the other's, NaN unless both count; rounded, so that
        a rounding error counts as 0.
        """
        return np.round(self.column(pair.run) - self.column(pair.against), _DECIMALS)

    def lone(self, pair: Pair) -> int:
        """The number of queries that count for one of the two only."""
        is_missing, is_other_missing = (np.isnan(self.column(run)) for run in pair)
        return int(np.count_nonzero(is_missing != is_other_missing))


class Comparison(NamedTuple):
    """The values of all measures over the same queries.

    queries: ids, one for each row of a matrix.
    runs: the runs that share a measure with another, in order of first appearance.
    matrices: one for each set of row attributes of every measure that two runs have.
    findings: on runs that are left out, and on how measures are compared.
    """

    queries: tuple[str, ...]
    runs: tuple[str, ...]
    matrices: tuple[QuerySystemMatrix, ...]
    findings: tuple[Finding, ...]


def align_values(
    values: Sequence[Values],
    row_attributes: Sequence[RowAttributes],
    better: Mapping[str, Better],
    measures: Sequence[str] | None,
    kind: ResultKind,
) -> Comparison:
    """The matrices of every measure that two runs have, in the order of `measures`. By default the
    measure that answers are about comes first. Raises BadUsage for a single run, BadInput.

    A run that shares no measure with another is left out, with a finding.
    """
    runs = tuple(dict.fromkeys(run_values.run for run_values in values))
    if len(runs) < 2:
        raise BadUsage(
            f"{_quoted_names(runs) or 'nothing'} alone is compared with nothing; give two runs or "
            "more."
        )
    queries = sort_ids({query for run_values in values for query in run_values.queries})
    row_of_query = positions_by_id(queries)
    grouped = dict[tuple[str, tuple[tuple[str, Any], ...]], dict[str, Values]]()
    for run_values, attributes in zip(values, row_attributes, strict=True):
        values_by_run = grouped.setdefault((run_values.measure, tuple(attributes.items())), {})
        earlier = values_by_run.setdefault(run_values.run, run_values)
        # A convention may have two words for one measure, as those of the first answer and of the
        # first k are with -k 1.
        if earlier.queries != run_values.queries or not np.array_equal(
            earlier.values, run_values.values, equal_nan=True
        ):
            raise BadInput(
                f"run {run_values.run!r} has {run_values.measure} more than once; name the "
                "folders, as in first=DIR second=DIR."
            )
    comparable = {key: by_run for key, by_run in grouped.items() if len(by_run) > 1}
    shared = {run for by_run in comparable.values() for run in by_run}
    if not shared:
        raise BadInput(
            f"{_quoted_names(runs)} have no measure in common; evaluate them by the same measures."
        )
    findings = list[Finding]()
    if lone := [repr(run) for run in runs if run not in shared]:
        reason = f"not compared, as no other run has their measures: {', '.join(lone)}"
        findings.append(not_compared(reason))
    runs = tuple(run for run in runs if run in shared)
    matrices = [
        _matrix(by_run, dict(attributes), row_of_query, better, findings)
        for (_, attributes), by_run in comparable.items()
    ]
    matrices = leading(matrices, [matrix.label for matrix in matrices], kind)
    if measures:
        matrices = _selected(matrices, measures)
        keys = [(matrix.measure, tuple(matrix.row_attributes.items())) for matrix in matrices]
        grouped = {key: by_run for key, by_run in grouped.items() if key in keys}
    findings += _on_partial(grouped.values(), runs)
    return Comparison(tuple(queries), runs, tuple(matrices), tuple(dict.fromkeys(findings)))


def _on_partial(grouped: Iterable[Mapping[str, Values]], runs: Sequence[str]) -> list[Finding]:
    """A finding on the measures that some runs have and others do not. grouped: run -> values, of
    every measure.
    """
    partial = dict[tuple[str, ...], list[str]]()
    for by_run in grouped:
        if len(by_run) < len(runs) and not by_run.keys().isdisjoint(runs):
            partial.setdefault(tuple(by_run), []).append(next(iter(by_run.values())).label)
    if not partial:
        return []
    n = sum(map(len, partial.values()))
    owners = [
        f"{', '.join(dict.fromkeys(labels))} of {_quoted_names(run_names)}"
        for run_names, labels in partial.items()
    ]
    return [measures_of_some_runs(n, "; ".join(owners))]


def in_order(values: Iterable[Values]) -> Iterator[Values]:
    """The same values in the order of their queries' ids, so that sums and resamples do not depend
    on the order of rows.
    """
    # Most share their queries, and their order is one; the key is kept, so that its id stays its
    # own.
    orders = dict[int, tuple[Ints, tuple[str, ...], tuple[str, ...]]]()
    for run_values in values:
        queries, key = run_values.queries, id(run_values.queries)
        if key not in orders:
            order = order_ids(queries)
            orders[key] = order, tuple(queries[row] for row in order.tolist()), queries
        order, ordered_queries, _ = orders[key]
        weights = None if run_values.weights is None else run_values.weights[order]
        yield replace(
            run_values, queries=ordered_queries, values=run_values.values[order], weights=weights
        )


def _matrix(
    values_by_run: Mapping[str, Values],
    row_attributes: RowAttributes,
    row_of_query: Mapping[str, int],
    better: Mapping[str, Better],
    findings: list[Finding],
) -> QuerySystemMatrix:
    values_of_runs = list(values_by_run.values())
    first = values_of_runs[0]
    if len({run_values.unit for run_values in values_of_runs}) > 1:
        units = ", ".join(f"{run} {run_values.unit}" for run, run_values in values_by_run.items())
        raise BadInput(
            f"{first.label} has different units ({units}); evaluate all runs by one convention."
        )
    table = np.full((len(row_of_query), len(values_by_run)), np.nan)
    weights = np.full(table.shape, np.nan)
    for column, run_values in enumerate(values_of_runs):
        rows = [row_of_query[query] for query in run_values.queries]
        table[rows, column] = run_values.values
        weights[rows, column] = 1.0 if run_values.weights is None else run_values.weights
    label = first.label
    if first.summary != "mean":
        # The figure of that name is another one.
        label = f"{first.label} (mean)"
        reason = (
            f" sums queries up by their {first.summary}; differences are compared by the mean of "
            "queries"
        )
        findings.append(compared_by_mean(first.label, reason))
    weighted = any(run_values.weights is not None for run_values in values_of_runs)
    counts_for_all = ~np.isnan(table).any(axis=1)
    if weighted and (weights[counts_for_all] != weights[counts_for_all][:, :1]).any():
        reason = (
            ": a query weighs differently in the runs; differences are compared by the plain mean"
        )
        findings.append(compared_by_mean(first.label, reason))
        weighted = False
    direction = better.get(first.measure) or known_better(first.measure)
    if direction is None:
        direction = "lower" if first.unit == "rank" else "higher"
        findings.append(direction_assumed(first.label, direction))
    return QuerySystemMatrix(
        measure=first.measure,
        label=label,
        unit=first.unit,
        better=direction,
        row_attributes=row_attributes,
        runs=tuple(values_by_run),
        values=table,
        weights=weights if weighted else None,
    )


def _selected(
    matrices: Sequence[QuerySystemMatrix], names: Sequence[str]
) -> list[QuerySystemMatrix]:
    """The matrices of these measures, in this order. Raises UnknownName for an unknown one."""
    selected = list[QuerySystemMatrix]()
    labels = [matrix.label.removesuffix(" (mean)") for matrix in matrices]
    for name in names:
        spellings = {name, exact_name(name)}
        matching = [
            matrix
            for matrix, label in zip(matrices, labels, strict=True)
            if matrix.measure in spellings or label == name
        ]
        if not matching:
            raise UnknownName(f"no measure {name!r} in these results; {suggest(name, set(labels))}")
        selected += [matrix for matrix in matching if matrix not in selected]
    return selected


def assign_roles(comparison: Comparison, family: str) -> Comparison:
    """The measures with their roles, those without a better direction last, and findings on what is
    not tested or counts once.

    family: `primary`, or `all` where no measure is secondary.
    """
    findings, matrices = list(comparison.findings), list[QuerySystemMatrix]()
    for matrix in sorted(comparison.matrices, key=lambda matrix: matrix.better == "neither"):
        counted = (earlier for earlier in matrices if earlier.is_counted)
        twin = next((earlier for earlier in counted if matrix.equals(earlier)), None)
        role: Role = "secondary" if matrices and family == "primary" else "primary"
        role = "repeated" if twin else role
        role = "descriptive" if matrix.better == "neither" else role
        matrices.append(replace(matrix, role=role, twin=twin))
        if twin:
            findings.append(measured_twice(matrix.label, twin.label))
    undirected = dict.fromkeys(matrix.label for matrix in matrices if matrix.role == "descriptive")
    if undirected:
        reason = f"{', '.join(undirected)}: neither higher nor lower values are better; not tested"
        findings.append(not_compared(reason))
    return comparison._replace(matrices=tuple(matrices), findings=tuple(dict.fromkeys(findings)))


def choose_pairs(runs: Sequence[str], baseline: str | None) -> tuple[Pair, ...]:
    """Every run against the baseline; without one all pairs, the later against the earlier. Raises
    UnknownName.
    """
    if baseline is not None:
        if baseline not in runs:
            raise UnknownName(f"unknown run {baseline!r}; {suggest(baseline, runs)}")
        return tuple(Pair(run, baseline) for run in runs if run != baseline)
    return tuple(Pair(later, earlier) for earlier, later in combinations(runs, 2))


def _quoted_names(names: Sequence[str]) -> str:
    return first_of(map(repr, names), 6)


_TESTED = ("effect_size", "wins", "ties", "losses", "detectable", "queries_needed")
"""Figures that a measure without a better direction does not have."""
_TOGETHER = 1 << 21
"""Differences in memory at a time."""
_RANGES: dict[Unit, float] = {"share": 1.0, "percent": 100.0}
"""The largest difference of two values."""


class Column(NamedTuple):
    """A pair of runs by one measure over some queries.

    matrix: the values by the measure.
    pair: two runs of the matrix.
    rows: (queries,) whether each query takes part.
    group: the name of these queries, "" for all queries.
    several: whether the pairs have different second runs.
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


@dataclass(eq=False, repr=False)
class ComparedValues(Sequence[Values]):
    """The values that were compared, then the differences of every column, each computed when it is
    read.
    """

    _values: Sequence[Values]
    _columns: Sequence[Column]
    _queries: tuple[str, ...]

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
    """The difference of a pair with its statistics.

    column: the pair, the measure and the queries.
    row: the columns of any summary, then those of a difference; a figure is None where too few
        queries are counted for it.
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
    if options.test == "randomisation":
        columns_of_sums = [differences.sums for differences in added]
        p_values = paired_randomisation(
            columns_of_sums, resamples=options.resamples, seed=options.seed
        )
    elif options.test == "bootstrap":
        p_values = [bootstrapped.p for bootstrapped in boot]
    elif options.test == "t":
        p_values = [student and student.p for student in students]
    else:
        is_wilcoxon = options.test == "wilcoxon"
        counted = (
            values[~np.isnan(values)] for values in (column.differences for column in columns)
        )
        p_values = [
            (wilcoxon(values) if is_wilcoxon else sign_test(values).p) if len(values) else None
            for values in counted
        ]
    judged = list[PairedDifference]()
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


def _adjusted(
    columns: Sequence[Column],
    p: Sequence[float | None],
    options: ComparisonOptions,
    clusters: Ints | None,
) -> list[float | None]:
    """The p-values after the correction, family by family; a repeated measure has those of the
    earlier one.
    """
    families = dict[int, list[int]]()
    for index, column in enumerate(columns):
        if column.matrix.is_counted:
            families.setdefault(id(column.matrix) if options.family == "primary" else 0, []).append(
                index
            )
    adjusted_p = dict[tuple[int, Pair, str], float | None]()
    for indices in families.values():
        family_columns = [columns[index] for index in indices]
        if options.correction == "tukey":
            family_p = _tukey(family_columns, options)
        elif options.correction == "max-t":
            # A query's or cluster's sign is one and the same in all columns.
            table = np.column_stack([_aligned(column, clusters) for column in family_columns])
            adjusted_values = max_t(table, resamples=options.resamples, seed=options.seed).tolist()
            family_p = [None if math.isnan(p_value) else p_value for p_value in adjusted_values]
        else:
            adjust = {"holm": holm, "bh": benjamini_hochberg, "none": list}[options.correction]
            uncorrected_p = [p[index] for index in indices]
            adjusted_values = iter(
                adjust([p_value for p_value in uncorrected_p if p_value is not None])
            )
            family_p = [
                None if p_value is None else next(adjusted_values) for p_value in uncorrected_p
            ]
        for column, p_value in zip(family_columns, family_p, strict=True):
            adjusted_p[id(column.matrix), column.pair, column.group] = p_value
    return [
        adjusted_p.get((id(column.matrix.twin or column.matrix), column.pair, column.group))
        for column in columns
    ]


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
    tables = dict[tuple[int, str], Floats | None]()
    p_values = list[float | None]()
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
    measure, label = column.names
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
        "measure": measure,
        "label": label,
        "mean": mean,
        "sd": exact_sd(counted) if n > 1 else None,
        "ci_low": interval[0],
        "ci_high": interval[1],
        "n": n,
        "unit": matrix.unit,
        **matrix.row_attributes,
        "against": column.pair.against,
        "of": matrix.measure,
        **({"group": column.group} if column.group else {}),
        "mean_run": means[0],
        "mean_against": means[1],
        "p": None,
        "p_adjusted": None,
        "decisive": False,
        "better": matrix.better,
        "role": matrix.role,
        "effect_size": cohen_dz(counted),
        "wins": wins,
        "ties": n - wins - losses,
        "losses": losses,
        "detectable": detectable,
        "queries_needed": queries_needed(mean, spread, **levels) if spread and mean else None,
    }
