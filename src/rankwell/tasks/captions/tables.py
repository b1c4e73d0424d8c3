"""The tables that a folder of results holds beside the figures: items of each query, and the queries themselves."""

import json
from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Any

from rankwell.core.tables import sort_ids
from rankwell.core.views.details import Details
from rankwell.tasks.captions.directions import Way

_SHOWN = 5
_STATES = {"unjudged": "nonrelevant"}
"""Whoever says which items belong to a query says it of all: the others do not."""


def detail_columns(found: Sequence[tuple[str, Way, Details]]) -> dict[str, list[Any]]:
    """The columns of details.parquet: run, query, item, rank, score, grade, state, and the direction as `detail`."""
    columns: dict[str, list[Any]] = {name: [] for name in ("run", *Details._fields, "detail")}
    for run, way, details in found:
        columns["run"] += [run] * len(details.query)
        columns["detail"] += [json.dumps({"direction": way.name})] * len(details.query)
        for name, values in details._asdict().items():
            listed: list[Any] = values if isinstance(values, list) else values.tolist()
            columns[name] += [None if isinstance(each, float) and isnan(each) else each for each in listed]
    columns["state"] = [_STATES.get(state, state) for state in columns["state"]]
    return columns


def item_columns(
    found: Sequence[tuple[str, Way, Details]], texts: Mapping[str, str], captions_of: Callable[[], Mapping[str, Sequence[str]]]
) -> dict[str, list[Any]]:
    """The columns of items.parquet: what the captions say that are ranked, and of videos what their own captions say.

    `of` is the direction, for a caption and a video may have the same name. texts: caption -> what it says. captions_of: gives
    the captions of each video; not asked where no text is known.
    """
    if not texts:
        return {}
    own = {video: _together([texts[each] for each in captions]) for video, captions in captions_of().items() if captions}
    listed: dict[str, set[str]] = {}
    said: dict[str, Mapping[str, str]] = {}
    for _, way, details in found:
        listed.setdefault(way.name, set()).update(details.item)
        said[way.name] = texts if way.down and not way.collapsed else own
    rows = [(item, way) for way, items in listed.items() for item in sort_ids(items & said[way].keys())]
    return {"item": [item for item, _ in rows], "of": [way for _, way in rows], "text": [said[way][item] for item, way in rows]}


def _together(texts: Sequence[str]) -> str:
    """The first of different texts, and how many there are besides."""
    shown = list(dict.fromkeys(texts))
    rest = [f"{len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
    return " · ".join([*shown[:_SHOWN], *rest])


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
