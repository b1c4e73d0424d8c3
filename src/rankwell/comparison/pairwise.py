"""Values of two systems or more -> paired differences with intervals and tests, verdicts in words,
and the order of systems.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankwell.comparison.data import (
    Attribute,
    ComparisonData,
    ComparisonOptions,
    Origin,
    Pair,
    RowAttributes,
)
from rankwell.comparison.judging import Column, ComparedValues, PairedDifference, columns_of, judge
from rankwell.comparison.matrices import (
    Comparison,
    align_values,
    assign_roles,
    choose_pairs,
    in_order,
)
from rankwell.comparison.rows import Row, notes_on, sentences, system_tables
from rankwell.comparison.unjudged import notes_on_unjudged
from rankwell.data.catalogue import result_kind
from rankwell.data.registry import measure_names
from rankwell.data.tables import Ints, Values, sort_ids
from rankwell.errors import BadInput, NothingToEvaluate

_MOST_VALUES = 12


def compare_values(
    values: Sequence[Values],
    options: ComparisonOptions,
    *,
    row_attributes: Sequence[RowAttributes] = (),
    pairs: Sequence[Pair] = (),
    group: Attribute | None = None,
    cluster: Attribute | None = None,
    origin: Origin | None = None,
) -> ComparisonData:
    """The comparison of two systems or more; see `rankwell.compare_values`."""
    if cluster is not None:
        options.check_clusters()
    origin, measures = origin or Origin(), measure_names(options.measures)
    attributes = [dict(element_attributes) for element_attributes in row_attributes] or [
        {} for _ in values
    ]
    values, attributes, left_out_notes = _by_query(values, attributes)
    comparison = assign_roles(
        align_values(values, attributes, origin.better, measures), options.family
    )
    clusters = None if cluster is None else _numbered(comparison, cluster)
    compared_values = [
        (run_values, run_attributes)
        for run_values, run_attributes in zip(values, attributes, strict=True)
        if any(
            (matrix.measure, matrix.row_attributes) == (run_values.measure, run_attributes)
            for matrix in comparison.matrices
        )
    ]
    compared_values = list(
        zip(
            in_order(run_values for run_values, _ in compared_values),
            (run_attributes for _, run_attributes in compared_values),
            strict=True,
        )
    )
    rules = dict(origin.rules) | {
        name: attribute.name
        for name, attribute in (("group", group), ("cluster", cluster))
        if attribute
    }
    pairs = pairs or choose_pairs(comparison.runs, options.baseline)
    columns = columns_of(comparison, pairs, np.ones(len(comparison.queries), dtype=np.bool_))
    if all(np.isnan(column.differences).all() for column in columns):
        raise NothingToEvaluate(
            f"no query counts for two of {', '.join(map(repr, comparison.runs))}; compare runs "
            "over the same queries."
        )
    parts = [] if group is None else _parts(comparison, pairs, group)
    noun = result_kind(origin.protocol).noun
    differences, groups = judge(columns, options, clusters), judge(parts, options, clusters)
    tables = {
        "verdicts": [
            {"text": text}
            for text in sentences(comparison, pairs, differences, groups, options, noun[1])
        ],
        "groups": [difference.row for difference in groups],
        **system_tables(comparison, differences, groups, options.level),
    }
    notes = [
        *origin.notes,
        *left_out_notes,
        *comparison.notes,
        *notes_on_unjudged(comparison, pairs, origin.unjudged, origin.rules),
    ]
    notes += notes_on(differences, groups, options.intervals, noun)
    origin = replace(origin, rules=rules, notes=tuple(dict.fromkeys(notes)))
    baseline = None if len({pair.against for pair in pairs}) > 1 else pairs[0].against
    return _results(
        comparison.queries, compared_values, differences, tables, origin, options, baseline
    )


def _by_query(
    values: Sequence[Values], attributes: list[dict[str, Any]]
) -> tuple[Sequence[Values], list[dict[str, Any]], list[str]]:
    """The values without those of measures that have none for any query, such as figures of all
    queries, and a note on them.
    """
    measures_with_values = {
        run_values.measure for run_values in values if not np.isnan(run_values.values).all()
    }
    indices = [
        index
        for index, run_values in enumerate(values)
        if run_values.measure in measures_with_values
    ]
    if not indices or len(indices) == len(values):
        return values, attributes, []
    left_out = dict.fromkeys(
        run_values.label for run_values in values if run_values.measure not in measures_with_values
    )
    note = f"not compared, as no query has a value of its own: {', '.join(left_out)}"
    return [values[index] for index in indices], [attributes[index] for index in indices], [note]


def _results(
    queries: tuple[str, ...],
    compared: Sequence[tuple[Values, dict[str, Any]]],
    differences: Sequence[PairedDifference],
    tables: Mapping[str, list[Row]],
    origin: Origin,
    options: ComparisonOptions,
    baseline: str | None,
) -> ComparisonData:
    """The results of a comparison. compared: the values that were compared, with their row
    attributes.
    """
    rows = tuple(difference.row for difference in differences)
    blank: dict[str, Any] = dict.fromkeys(name for _, attributes in compared for name in attributes)
    columns = [difference.column for difference in differences]
    return ComparisonData(
        values=ComparedValues([run_values for run_values, _ in compared], columns, queries),
        summarised=len(compared),
        aggregates=rows,
        rules={
            **origin.rules,
            # The rules of the comparison follow; intervals, seed and version keep their places.
            **dict.fromkeys(("intervals", "seed", "version")),
            **{
                name: getattr(options, name)
                for name in ("test", "family", "correction", "level", "power", "resamples")
            },
            "baseline": baseline or "none",
            "mean_ranks": tables["mean_ranks"],
        },
        notes=tuple(origin.notes),
        row_attributes=(
            *(blank | attributes | {"against": None} for _, attributes in compared),
            *(
                blank | dict(column.matrix.row_attributes) | {"against": column.pair.against}
                for column in columns
            ),
        ),
        query_columns=(*blank, "against"),
        sources=origin.sources,
        details=origin.details,
        queries=origin.queries,
        items=origin.items,
        task=origin.protocol,
        intervals=options.intervals,
        seed=options.seed,
        tables={name: rows for name, rows in tables.items() if rows},
        method=options,
        baseline=baseline,
        differences=rows,
        verdicts=tuple(row["text"] for row in tables["verdicts"]),
        groups=tuple(tables["groups"]),
        systems=tuple(tables["systems"]),
        orders=tuple(tables["orders"]),
        borda=tuple(tables["borda"]),
        mean_ranks=tuple(tables["mean_ranks"]),
    )


def _parts(comparison: Comparison, pairs: Sequence[Pair], group: Attribute) -> list[Column]:
    """The columns of every group of the queries, groups in the order of their names."""
    texts = _in_ranges([group.of.get(query) for query in comparison.queries])
    if not any(texts):
        raise BadInput(
            f"no query has a value of {group.name!r}; name another attribute to group by."
        )
    columns: list[Column] = []
    for text in _ordered({query_text for query_text in texts if query_text}):
        name = (
            f"{group.name} {text}"
            if text.startswith(("at most ", "above "))
            else f"{group.name} = {text}"
        )
        columns += columns_of(
            comparison, pairs, np.array([query_text == text for query_text in texts]), name
        )
    without = np.array([not query_text for query_text in texts])
    return columns + (
        columns_of(comparison, pairs, without, f"{group.name} not given") if without.any() else []
    )


def _in_ranges(texts: Sequence[str | None]) -> list[str | None]:
    """The values as they are; of many different numbers, the quarter of all that each is in."""
    distinct_texts = {text for text in texts if text}
    numbers = {text: number for text in distinct_texts if (number := _number(text)) is not None}
    if len(distinct_texts) <= _MOST_VALUES or len(numbers) < len(distinct_texts):
        return list(texts)
    values = [numbers[text] for text in texts if text]
    edges = np.unique(np.quantile(values, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")).tolist()
    words: dict[str, str] = {}
    for text in distinct_texts:
        quarter = int(np.searchsorted(edges[1:-1], numbers[text], side="left"))
        words[text] = (
            f"at most {edges[1]:g}"
            if quarter == 0
            else f"above {edges[quarter]:g} to {edges[quarter + 1]:g}"
        )
    return [words[text] if text else None for text in texts]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _ordered(texts: set[str]) -> list[str]:
    """Numbers and ranges by size, other texts by their bytes."""
    ranges = {text: _number(text.removeprefix("above ").split(" to ")[0]) for text in texts}
    if all(number is not None or text.startswith("at most ") for text, number in ranges.items()):
        return sorted(
            texts, key=lambda text: -np.inf if (number := ranges[text]) is None else number
        )
    return sort_ids(texts)


def _numbered(comparison: Comparison, cluster: Attribute) -> Ints:
    """The number of each query's cluster. Raises BadInput for a query without one."""
    unclustered_query = next(
        (query for query in comparison.queries if not cluster.of.get(query)), None
    )
    if unclustered_query is not None:
        raise BadInput(
            f"query {unclustered_query!r} has no value of {cluster.name!r}; every query belongs to "
            "a cluster."
        )
    names = {
        name: number
        for number, name in enumerate(sort_ids({cluster.of[query] for query in comparison.queries}))
    }
    return np.array([names[cluster.of[query]] for query in comparison.queries], dtype=np.int64)
