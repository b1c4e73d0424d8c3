"""Failures of a search by keyword: the share of results that lack each keyword, beside the chance level."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, Values
from rankwell.stats.summaries import summarise
from rankwell.tasks.clips.annotations import Annotations
from rankwell.tasks.clips.explained import Explainer, share_of_missing
from rankwell.tasks.clips.rankings import ClipList
from rankwell.tasks.clips.runs import ClipLevels
from rankwell.tasks.clips.truth import Required


def keyword_rows(
    explainer: Explainer,
    first: Mapping[str, ClipList],
    values: Values,
    levels: ClipLevels,
    k: int,
    *,
    counted: Bools,
    lacked: Floats,
) -> list[dict[str, Any]]:
    """A row per keyword that counted queries require, the one that is missing most often first.

    `missing`: the share of the first k results of these queries that lack it; `by_chance`: the share of the clips that could have
    been found that do. The columns of a summary row, `ceiling` and `chance` are those of one measure over these queries, as far
    as it has a value for them; a keyword has few queries and so no interval.
    """
    queries, results, lacking = share_of_missing(explainer, first, counted, k)
    places: list[int] = np.flatnonzero(queries).tolist()
    asking = [explainer.required.wanted[:, place] & values.counted for place in places]
    over = [replace(values, values=np.where(mine, values.values, np.nan)) for mine in asking]
    rows: list[dict[str, Any]] = []
    for place, mine, row in zip(places, asking, summarise(over, intervals="none"), strict=True):
        keyword = explainer.annotations.keywords[place]
        rows.append(
            {
                **row,
                "group": keyword.group,
                "keyword": keyword.label,
                "clips": int(explainer.annotations.uses[place]),
                "queries": int(queries[place]),
                "k": k,
                "results": int(results[place]),
                "lacking": int(lacking[place]),
                "missing": float(lacking[place] / results[place]) if results[place] else None,
                "by_chance": float(lacked[place]),
                "ceiling": _mean(levels.ceiling[mine]),
                "chance": _mean(levels.chance[mine]),
            }
        )
    return sorted(rows, key=lambda row: (-1.0 if row["missing"] is None else -row["missing"], row["group"], row["keyword"]))


def _mean(values: Floats) -> float | None:
    return None if not len(values) or np.isnan(values).any() else float(values.mean())


def lacked_by_chance(
    required: Required, annotations: Annotations, counted: Bools, excluded: Mapping[str, Collection[str]], candidates: Ints
) -> Floats:
    """(keywords,) of the clips that could be found for a query, the share that lacks the keyword; the mean over its queries.

    excluded: query -> clips that cannot be found for it, itself among them. candidates: (queries,) number of other
    clips; clips without annotations lack every keyword.
    """
    everywhere = annotations.carried.sum(axis=0, dtype=np.int64)
    shares, asking = np.zeros(len(annotations.keywords)), np.zeros(len(annotations.keywords), dtype=np.int64)
    for row in np.flatnonzero(counted & (candidates > 0)).tolist():
        out = [annotations.index[clip] for clip in excluded.get(required.queries[row], ()) if clip in annotations.index]
        left = everywhere - annotations.carried[out].sum(axis=0, dtype=np.int64)
        shares += required.wanted[row] * (1 - left / candidates[row])
        asking += required.wanted[row]
    return np.divide(shares, asking, out=np.full(len(shares), np.nan), where=asking > 0)
