"""Values of two systems or more -> paired differences with intervals and tests, verdicts in words,
and the order of systems.
"""

from collections.abc import Sequence
from itertools import compress, pairwise
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
from rankwell.comparison.judging import Column, ComparedValues, columns_of, judge
from rankwell.comparison.matrices import (
    Comparison,
    align_values,
    assign_roles,
    choose_pairs,
    in_order,
)
from rankwell.comparison.rows import notes_on, notes_on_unjudged, sentences, system_tables
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
    origin = origin or Origin()
    attributes = list(map(dict, row_attributes)) or [{} for _ in values]
    values, attributes, left_out_notes = _by_query(values, attributes)
    comparison = align_values(values, attributes, origin.better, measure_names(options.measures))
    comparison = assign_roles(comparison, options.family)
    clusters = None if cluster is None else _numbered(comparison, cluster)
    keys = [(matrix.measure, matrix.row_attributes) for matrix in comparison.matrices]
    is_compared = [
        (run_values.measure, run_attributes) in keys
        for run_values, run_attributes in zip(values, attributes, strict=True)
    ]
    compared = list(in_order(compress(values, is_compared)))
    compared_attributes = list(compress(attributes, is_compared))
    pairs = pairs or choose_pairs(comparison.runs, options.baseline)
    columns = columns_of(comparison, pairs, np.ones(len(comparison.queries), dtype=np.bool_))
    if all(np.isnan(column.differences).all() for column in columns):
        raise NothingToEvaluate(
            f"no query counts for two of {', '.join(map(repr, comparison.runs))}; compare runs "
            "over the same queries."
        )
    parts = [] if group is None else _parts(comparison, pairs, group)
    noun = result_kind(origin.protocol).noun
    differences = judge(columns, options, clusters)
    groups = judge(parts, options, clusters)
    rows = tuple(difference.row for difference in differences)
    verdicts = tuple(sentences(comparison, pairs, differences, groups, options, noun[1]))
    tables = {
        "verdicts": [{"text": text} for text in verdicts],
        "groups": [difference.row for difference in groups],
        **system_tables(comparison, differences, groups, options.level),
    }
    notes = [
        *origin.notes,
        *left_out_notes,
        *comparison.notes,
        *notes_on_unjudged(comparison, pairs, origin.unjudged, origin.rules),
        *notes_on(differences, groups, options.intervals, noun),
    ]
    baseline = None if len({pair.against for pair in pairs}) > 1 else pairs[0].against
    typed_tables: dict[str, Any] = {
        name: tuple(table) for name, table in tables.items() if name != "verdicts"
    }
    blank: dict[str, Any] = {name: None for facts in compared_attributes for name in facts}
    stated = {"group": group, "cluster": cluster}
    methods = ("test", "family", "correction", "level", "power", "resamples")
    return ComparisonData(
        values=ComparedValues(compared, columns, comparison.queries),
        summarised=len(compared),
        aggregates=rows,
        rules={
            **origin.rules,
            **{name: attribute.name for name, attribute in stated.items() if attribute},
            # The rules of the comparison follow; intervals, seed and version keep their places.
            **dict.fromkeys(("intervals", "seed", "version")),
            **{name: getattr(options, name) for name in methods},
            "baseline": baseline or "none",
            "mean_ranks": tables["mean_ranks"],
        },
        notes=tuple(dict.fromkeys(notes)),
        row_attributes=(
            *(blank | facts | {"against": None} for facts in compared_attributes),
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
        tables={name: table for name, table in tables.items() if table},
        method=options,
        baseline=baseline,
        differences=rows,
        verdicts=verdicts,
        **typed_tables,
    )


def _by_query(
    values: Sequence[Values], attributes: list[dict[str, Any]]
) -> tuple[Sequence[Values], list[dict[str, Any]], list[str]]:
    """The values without those of measures that have none for any query, such as figures of all
    queries, and a note on them.
    """
    measures = {
        run_values.measure for run_values in values if not np.isnan(run_values.values).all()
    }
    has_values = [run_values.measure in measures for run_values in values]
    if all(has_values) or not any(has_values):
        return values, attributes, []
    labels = dict.fromkeys(
        run_values.label for run_values in values if run_values.measure not in measures
    )
    note = f"not compared, as no query has a value of its own: {', '.join(labels)}"
    return list(compress(values, has_values)), list(compress(attributes, has_values)), [note]


def _parts(comparison: Comparison, pairs: Sequence[Pair], group: Attribute) -> list[Column]:
    """The columns of every group of the queries, groups in the order of their names."""
    texts = _in_ranges([group.of.get(query) for query in comparison.queries])
    named = _ordered(set(filter(None, texts)))
    if not named:
        raise BadInput(
            f"no query has a value of {group.name!r}; name another attribute to group by."
        )
    columns: list[Column] = []
    for text in named:
        is_range = text.startswith(("at most ", "above "))
        name = f"{group.name} {'' if is_range else '= '}{text}"
        is_member = np.array([query_text == text for query_text in texts])
        columns += columns_of(comparison, pairs, is_member, name)
    without = np.array([not query_text for query_text in texts])
    if without.any():
        columns += columns_of(comparison, pairs, without, f"{group.name} not given")
    return columns


def _in_ranges(texts: Sequence[str | None]) -> list[str | None]:
    """The values as they are; of many different numbers, the quarter of all that each is in."""
    numbers: dict[str, Any] = {text: _number(text) for text in texts if text}
    if len(numbers) <= _MOST_VALUES or None in numbers.values():
        return list(texts)
    values = [numbers[text] for text in texts if text]
    edges = np.unique(np.quantile(values, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")).tolist()
    words = [
        f"at most {edges[1]:g}",
        *(f"above {low:g} to {high:g}" for low, high in pairwise(edges[1:])),
    ]
    return [text and words[np.searchsorted(edges[1:-1], numbers[text])] for text in texts]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _ordered(texts: set[str]) -> list[str]:
    """Numbers and ranges by size, other texts by their bytes."""
    ranges = {
        text: -np.inf
        if text.startswith("at most ")
        else _number(text.removeprefix("above ").split(" to ")[0])
        for text in texts
    }
    if None in ranges.values():
        return sort_ids(texts)
    return sorted(texts, key=lambda text: ranges[text] or 0.0)


def _numbered(comparison: Comparison, cluster: Attribute) -> Ints:
    """The number of each query's cluster. Raises BadInput for a query without one."""
    for query in comparison.queries:
        if not cluster.of.get(query):
            raise BadInput(
                f"query {query!r} has no value of {cluster.name!r}; every query belongs to a "
                "cluster."
            )
    names = [cluster.of[query] for query in comparison.queries]
    numbers = {name: number for number, name in enumerate(sort_ids(set(names)))}
    return np.array([numbers[name] for name in names], dtype=np.int64)
