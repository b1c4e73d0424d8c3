"""The tables that a folder of results holds beside the figures: items of each query, and the queries themselves."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankwell.core.tables import sort_ids
from rankwell.evaluation.details import COMPLETE, Details, detail_columns
from rankwell.tasks.captions.directions import Direction

_SHOWN = 5


def caption_detail_columns(found: Sequence[tuple[str, Direction, Details]]) -> dict[str, list[Any]]:
    """The columns of details.parquet, with the direction as `detail`."""
    return detail_columns(
        ((run, details, json.dumps({"direction": direction.name})) for run, direction, details in found), states=COMPLETE
    )


def item_columns(
    found: Sequence[tuple[str, Direction, Details]],
    texts: Mapping[str, str],
    captions_of: Callable[[], Mapping[str, Sequence[str]]],
) -> dict[str, list[Any]]:
    """The columns of items.parquet: what the captions say that are ranked, and of videos what their own captions say.

    `of` is the direction, for a caption and a video may have the same name. texts: caption -> what it says. captions_of: gives
    the captions of each video; not asked where no text is known.
    """
    if not texts:
        return {}
    own = {video: _together([texts[each] for each in captions]) for video, captions in captions_of().items() if captions}
    listed: dict[str, set[str]] = {}
    known: dict[str, Mapping[str, str]] = {}
    for _, direction, details in found:
        listed.setdefault(direction.name, set()).update(details.item)
        known[direction.name] = texts if direction.video_to_text and not direction.collapsed else own
    rows = [(item, name) for name, items in listed.items() for item in sort_ids(items & known[name].keys())]
    return {
        "item": [item for item, _ in rows],
        "of": [name for _, name in rows],
        "text": [known[name][item] for item, name in rows],
    }


def _together(texts: Sequence[str]) -> str:
    """The first of different texts, and how many there are besides."""
    shown = list(dict.fromkeys(texts))
    rest = [f"{len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
    return " · ".join([*shown[:_SHOWN], *rest])


def query_columns(queries: Mapping[str, Sequence[str]], texts: Mapping[str, str]) -> dict[str, list[Any]]:
    """The columns of queries.parquet: the queries of every direction, with their text where it is known.

    queries: direction -> names. texts: caption -> what it says.
    """
    rows = [(query, direction) for direction, names in queries.items() for query in names]
    return {
        "query": [query for query, _ in rows],
        "text": [texts.get(query) if direction == "t2v" else None for query, direction in rows],
        "direction": [direction for _, direction in rows],
    }
