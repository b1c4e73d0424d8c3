"""The tables that a folder of results holds beside the figures: items of each query, and the queries themselves."""

import json
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from rankwell.evaluation.captions.directions import Way
from rankwell.views.details import Details


def detail_columns(found: Sequence[tuple[str, Way, Details]]) -> dict[str, list[Any]]:
    """The columns of details.parquet: run, query, item, rank, score, grade, state, and the direction as `detail`."""
    columns: dict[str, list[Any]] = {name: [] for name in ("run", *Details._fields, "detail")}
    for run, way, details in found:
        columns["run"] += [run] * len(details.query)
        columns["detail"] += [json.dumps({"direction": way.name})] * len(details.query)
        for name, values in details._asdict().items():
            listed: list[Any] = values if isinstance(values, list) else values.tolist()
            columns[name] += [None if isinstance(each, float) and isnan(each) else each for each in listed]
    return columns


def query_columns(queries: Mapping[str, Sequence[str]], texts: Mapping[str, str]) -> dict[str, list[Any]]:
    """The columns of queries.parquet: the queries of every direction, with their text where it is known.

    queries: direction -> names. texts: caption -> what it says.
    """
    rows = [(query, way) for way, names in queries.items() for query in names]
    return {
        "query": [query for query, _ in rows],
        "text": [texts.get(query) if way == "t2v" else None for query, way in rows],
        "direction": [way for _, way in rows],
    }
