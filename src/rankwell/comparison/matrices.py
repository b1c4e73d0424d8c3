"""Values of several runs side by side: one matrix per measure, with a row per query and a column
per run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.comparison.data import Pair, RowAttributes
from rankwell.data.registry import Better, parse_measure, suggest
from rankwell.data.tables import Floats, Ints, Unit, Values, order_ids, sort_ids
from rankwell.errors import BadInput, BadUsage, UnknownName

_DECIMALS = 12
Role = Literal["primary", "secondary", "repeated", "descriptive"]
"""The part of a measure in a comparison: the verdict is about the primary one; a repeated one has
the values of another on every query, and counts once with it; a descriptive one has no better
direction, and is not tested.
"""


@dataclass(frozen=True, eq=False)
class QuerySystemMatrix:
    """The values of all runs by one measure.

    values: (queries, runs) NaN where a query is not counted, or the run has no value. weights: the
    same, None for plain means. twin: of a repeated measure the earlier one with its values.
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
    """The matrices of all measures over the same queries, which are in the order of their ids; runs
    in order of first sight.
    """

    queries: tuple[str, ...]
    runs: tuple[str, ...]
    matrices: tuple[QuerySystemMatrix, ...]
    notes: tuple[str, ...]


def align_values(
    values: Sequence[Values],
    row_attributes: Sequence[RowAttributes],
    better: Mapping[str, Better],
    measures: Sequence[str] | None = None,
) -> Comparison:
    """The matrices of every measure that two runs have, in order of first sight. Raises BadUsage
    for a single run, BadInput.

    A run that shares no measure with another is left out, with a note.
    """
    runs = tuple(dict.fromkeys(run_values.run for run_values in values))
    if len(runs) < 2:
        raise BadUsage(
            f"{_quoted_names(runs) or 'nothing'} alone is compared with nothing; give two runs or "
            "more."
        )
    queries = sort_ids({query for run_values in values for query in run_values.queries})
    row_of_query = {query: row for row, query in enumerate(queries)}
    grouped: dict[tuple[str, tuple[tuple[str, Any], ...]], dict[str, Values]] = {}
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
    notes: list[str] = []
    if lone := [repr(run) for run in runs if run not in shared]:
        notes.append(f"not compared, as no other run has their measures: {', '.join(lone)}")
    runs = tuple(run for run in runs if run in shared)
    matrices = [
        _matrix(by_run, dict(attributes), row_of_query, better, notes)
        for (_, attributes), by_run in comparable.items()
    ]
    if measures:
        matrices = _selected(matrices, measures)
        keys = [(matrix.measure, tuple(matrix.row_attributes.items())) for matrix in matrices]
        grouped = {key: by_run for key, by_run in grouped.items() if key in keys}
    notes += _on_partial(grouped.values(), runs)
    return Comparison(tuple(queries), runs, tuple(matrices), tuple(dict.fromkeys(notes)))


def _on_partial(grouped: Iterable[Mapping[str, Values]], runs: Sequence[str]) -> list[str]:
    """A note on the measures that some runs have and others do not. grouped: run -> values, of
    every measure.
    """
    partial: dict[tuple[str, ...], list[str]] = {}
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
    missing_text = f"{n} {'is' if n == 1 else 'are'} missing from some runs: {'; '.join(owners)}"
    return [f"runs are compared by the measures that both have; {missing_text}"]


def in_order(values: Iterable[Values]) -> Iterator[Values]:
    """The same values in the order of their queries' ids, so that sums and resamples do not depend
    on the order of rows.
    """
    # Most share their queries, and their order is one; the key is kept, so that its id stays its
    # own.
    orders: dict[int, tuple[Ints, tuple[str, ...], tuple[str, ...]]] = {}
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
    notes: list[str],
) -> QuerySystemMatrix:
    first = next(iter(values_by_run.values()))
    if len({run_values.unit for run_values in values_by_run.values()}) > 1:
        units = ", ".join(f"{run} {run_values.unit}" for run, run_values in values_by_run.items())
        raise BadInput(
            f"{first.label} has different units ({units}); evaluate all runs by one convention."
        )
    table = np.full((len(row_of_query), len(values_by_run)), np.nan)
    weights = np.full(table.shape, np.nan)
    for column, run_values in enumerate(values_by_run.values()):
        rows = [row_of_query[query] for query in run_values.queries]
        table[rows, column] = run_values.values
        weights[rows, column] = 1.0 if run_values.weights is None else run_values.weights
    label = first.label
    if first.summary != "mean":
        # The figure of that name is another one.
        label = f"{first.label} (mean)"
        notes.append(
            f"{first.label} sums queries up by their {first.summary}; differences are "
            "compared by the mean of queries"
        )
    weighted = any(run_values.weights is not None for run_values in values_by_run.values())
    counts_for_all = ~np.isnan(table).any(axis=1)
    if weighted and (weights[counts_for_all] != weights[counts_for_all][:, :1]).any():
        notes.append(
            f"{first.label}: a query weighs differently in the runs; differences are compared "
            "by the plain mean"
        )
        weighted = False
    direction = better.get(first.measure) or known_better(first.measure)
    if direction is None:
        direction = "lower" if first.unit == "rank" else "higher"
        notes.append(
            f"{first.label} does not say which values are better; {direction} ones are taken for it"
        )
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


def known_better(measure: str) -> Better | None:
    """The better direction of a measure; None of another tool's, or a figure of a whole collection,
    such as rsum.
    """
    try:
        return parse_measure(measure).entry.better
    except BadUsage:
        return None


def _selected(
    matrices: Sequence[QuerySystemMatrix], names: Sequence[str]
) -> list[QuerySystemMatrix]:
    """The matrices of these measures, in this order. Raises UnknownName for an unknown one."""
    selected: list[QuerySystemMatrix] = []
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
    """The measures with their roles, those without a better direction last, and notes on what is
    not tested or counts once.

    family: `primary`, or `all` where no measure is secondary.
    """
    notes, matrices = list(comparison.notes), list[QuerySystemMatrix]()
    for matrix in sorted(comparison.matrices, key=lambda matrix: matrix.better == "neither"):
        counted = (earlier for earlier in matrices if earlier.is_counted)
        twin = next((earlier for earlier in counted if matrix.equals(earlier)), None)
        role: Role = "secondary" if matrices and family == "primary" else "primary"
        role = "repeated" if twin else role
        role = "descriptive" if matrix.better == "neither" else role
        matrices.append(replace(matrix, role=role, twin=twin))
        if twin:
            notes.append(
                f"{matrix.label}: the same values as {twin.label} on every query; the two count "
                "as one"
            )
    undirected = dict.fromkeys(matrix.label for matrix in matrices if matrix.role == "descriptive")
    if undirected:
        notes.append(
            f"{', '.join(undirected)}: neither higher nor lower values are better; not tested"
        )
    return comparison._replace(matrices=tuple(matrices), notes=tuple(dict.fromkeys(notes)))


def exact_name(name: str) -> str:
    """The exact name of a measure; the name itself where it is not one of rankwell's."""
    try:
        return str(parse_measure(name))
    except BadUsage:
        return name


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
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(map(repr, names[:6])) + more
