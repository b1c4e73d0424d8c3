"""The tables beside the figures: first references of each query with their labels, the queries, and the instances."""

import json
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from rankwell.evaluation.instances.ranked import First, Ranked
from rankwell.tables import Bools, Floats, Ints
from rankwell.tables.images import Images
from rankwell.truth.instances import InstanceTruth

_STATES = {"unjudged": "nonrelevant"}
"""Who lists what is right lists all of it: a reference that is not listed is wrong."""


def detail_columns(run: str, ranked: Ranked, first: First) -> dict[str, list[Any]]:
    """The columns of details.parquet for one run; `detail` has the reference's label, and marks the first right one."""
    details = ranked.details(first)
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


class Named:
    """What the best reference of each query names it. labels: (queries,) None where it has no label or nothing was found.

    right: (queries,) whether that is the query's own label. Of references with the same score the first in the named order is
    the best: an arg-max has one place.
    """

    def __init__(self, truth: InstanceTruth, first: First) -> None:
        references = truth.reference_instances or ()
        best: list[int] = (first.positions[:, 0] if first.positions.shape[1] else np.full(len(truth.queries), -1)).tolist()
        self.labels: list[str | None] = [None if item < 0 else references[item] for item in best]
        asked = truth.query_instances or ()
        self.right: Bools = np.array(
            [label is not None and label == own for label, own in zip(self.labels, asked, strict=True)], dtype=np.bool_
        )

    @property
    def values(self) -> Floats:
        """(queries,) 1 for a right name, 0 for a wrong one, NaN without a name: the mean is TP / PRED."""
        named = np.array([label is not None for label in self.labels], dtype=np.bool_)
        return np.where(named, self.right.astype(np.float64), np.nan)

    def by_instance(self, run: str, truth: InstanceTruth) -> list[dict[str, Any]]:
        """A row per instance: its references and queries, how many queries were named so (PRED), and how many rightly (TP)."""
        names = dict.fromkeys(each for side in (truth.reference_instances, truth.query_instances) for each in side or () if each)
        counts = {name: _count(side) for name, side in self._sides(truth).items()}
        rows: list[dict[str, Any]] = []
        for name in sorted(names):
            one = {what: counts[what].get(name, 0) for what in counts}
            share = one["right"] / one["named"] if one["named"] else None
            rows.append({"run": run, "instance": name, **one, "precision": share})
        return rows

    def _sides(self, truth: InstanceTruth) -> dict[str, list[str]]:
        right: list[bool] = self.right.tolist()
        return {
            "references": [each for each in truth.reference_instances or () if each is not None],
            "queries": [each for each in truth.query_instances or () if each is not None],
            "named": [label for label in self.labels if label is not None],
            "right": [label for label, good in zip(self.labels, right, strict=True) if good and label is not None],
        }


def _count(labels: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for label in labels:
        found[label] = found.get(label, 0) + 1
    return found


def worst_first(queries: Sequence[str], columns: Sequence[tuple[Floats, bool]]) -> list[str]:
    """The queries that count from worst to best: by the first column of values, then by the next; then in the order given.

    columns: values with whether lower is better.
    """
    keys = [values if lower_is_better is False else -values for values, lower_is_better in columns]
    order: Ints = np.lexsort((np.arange(len(queries)), *keys[::-1])) if keys else np.arange(len(queries))
    kept: list[int] = [row for row in order.tolist() if not all(np.isnan(values[row]) for values, _ in columns)]
    return [queries[row] for row in kept]
