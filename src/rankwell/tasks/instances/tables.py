"""The tables beside the figures: first references of each query with their labels, and the queries."""

import json
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from rankwell.core.tables import Floats, Ints
from rankwell.tasks.instances.images import Images
from rankwell.tasks.instances.ranked import First, Ranked
from rankwell.tasks.instances.truth import InstanceTruth

_STATES = {"unjudged": "nonrelevant"}
"""Who lists what is right lists all of it: a reference that is not listed is wrong."""


def detail_columns(run: str, ranked: Ranked, first: First) -> dict[str, list[Any]]:
    """The columns of details.parquet for one run; `detail` has the reference's label, and marks the first right one.

    Where no rule places tied references, `ranks` in it are the first and the last place that a right one may have.
    """
    details = ranked.details(first)
    ranks = ranked.open_ranks
    labels = _labels(ranked.truth)
    columns: dict[str, list[Any]] = {"run": [run] * len(details.query)}
    for name, values in details._asdict().items():
        listed: list[Any] = values if isinstance(values, list) else values.tolist()
        columns[name] = [None if isinstance(each, float) and isnan(each) else each for each in listed]
    columns["state"] = [_STATES.get(state, state) for state in columns["state"]]
    found: set[str] = set()
    told: list[str] = []
    for query, item, state, rank in zip(*(columns[name] for name in ("query", "item", "state", "rank")), strict=True):
        detail: dict[str, Any] = {} if labels.get(item) is None else {"label": labels[item]}
        if state == "relevant" and rank is not None and query not in found:
            found.add(query)
            detail["first_right"] = True
        if (query, item) in ranks:
            detail["ranks"] = ranks[query, item]
        told.append(json.dumps(detail, ensure_ascii=True))
    columns["detail"] = told
    return columns


def joined(tables: Sequence[Mapping[str, list[Any]]]) -> dict[str, list[Any]]:
    """The rows of several tables with the same columns."""
    return {name: [cell for table in tables for cell in table[name]] for name in tables[0]}


def _labels(truth: InstanceTruth) -> dict[str, str | None]:
    if truth.reference_instances is None:
        return {}
    return dict(zip(truth.references, truth.reference_instances, strict=True))


def query_columns(truth: InstanceTruth, images: Images | None) -> dict[str, list[Any]]:
    """The columns of queries.parquet: what each query shows, its camera and group where images have one, and how many references
    are right for it."""
    n = len(truth.queries)
    columns: dict[str, list[Any]] = {"query": list(truth.queries), "text": [None] * n}
    columns["instance"] = [None] * n if truth.query_instances is None else list(truth.query_instances)
    asked = None if images is None else images.queries()
    for name, column in () if asked is None else (("camera", asked.cameras), ("group", asked.groups)):
        if column is not None:
            columns[name] = list(column)
    return columns | {"right_references": truth.right.tolist()}


def worst_first(queries: Sequence[str], columns: Sequence[tuple[Floats, bool]]) -> list[str]:
    """The queries that count from worst to best: by the first column of values, then by the next; then in the order given.

    columns: values with whether lower is better.
    """
    keys = [values if lower_is_better is False else -values for values, lower_is_better in columns]
    order: Ints = np.lexsort((np.arange(len(queries)), *keys[::-1])) if keys else np.arange(len(queries))
    kept: list[int] = [row for row in order.tolist() if not all(np.isnan(values[row]) for values, _ in columns)]
    return [queries[row] for row in kept]
