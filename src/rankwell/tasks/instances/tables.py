"""The tables beside the figures: first references of each query with their labels, and the queries."""

import json
from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np

from rankwell.core.tables import Floats, Ints
from rankwell.evaluation.details import COMPLETE, Details, detail_columns
from rankwell.evaluation.results import DETAIL_DEPTH
from rankwell.tasks.instances.images import Images
from rankwell.tasks.instances.judged import InstanceRun
from rankwell.tasks.instances.truth import InstanceTruth


def instance_detail_columns(runs: Sequence[InstanceRun]) -> dict[str, list[Any]]:
    """The columns of details.parquet; `detail` has the reference's label, and marks the first right one.

    Where no rule places tied references, `ranks` in it are the first and the last place that a right one may have.
    """
    found = [(run, run.details(run.first(DETAIL_DEPTH))) for run in runs]
    return detail_columns(((run.name, details, _row_details(run, details)) for run, details in found), states=COMPLETE)


def _row_details(run: InstanceRun, details: Details) -> list[str]:
    ranks, labels = run.open_ranks, _labels(run.truth)
    first_found: set[str] = set()
    texts: list[str] = []
    for query, item, state, rank in zip(details.query, details.item, details.state, details.rank.tolist(), strict=True):
        detail: dict[str, Any] = {} if labels.get(item) is None else {"label": labels[item]}
        if state == "relevant" and not isnan(rank) and query not in first_found:
            first_found.add(query)
            detail["first_right"] = True
        if (query, item) in ranks:
            detail["ranks"] = ranks[query, item]
        texts.append(json.dumps(detail, ensure_ascii=True))
    return texts


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
