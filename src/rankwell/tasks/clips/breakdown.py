"""Where a search fails: the measures for one group of keywords at a time, and for every keyword how often it is missing."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints
from rankwell.core.tables.values import Values
from rankwell.stats import Intervals
from rankwell.stats.summaries import figure_of, summarise
from rankwell.tasks.clips.annotations import Annotations
from rankwell.tasks.clips.explained import Explainer, share_of_missing
from rankwell.tasks.clips.levels import Levels
from rankwell.tasks.clips.rankings import Listed
from rankwell.tasks.clips.truth import Required


def level_facts(values: Values, levels: Levels, total: int) -> dict[str, Any]:
    """The columns beside a mean: the ceiling and the chance level over the same queries, and the share of queries that count."""

    def _figure(level: Floats) -> float | None:
        if not np.isfinite(level[values.counted]).all():
            return None
        scale = 100.0 if values.unit == "percent" else 1.0
        return figure_of(np.where(values.counted, level * scale, np.nan), values.summary, values.weights)

    counted = int(values.counted.sum())
    return {
        "ceiling": _figure(levels.ceiling),
        "chance": _figure(levels.chance),
        "coverage": counted / total if total else 0.0,
    }


def group_rows(
    required: Required,
    groups: Mapping[str, Bools],
    measured: Callable[[Required], Sequence[tuple[Values, Mapping[str, Any]]]],
    *,
    intervals: Intervals,
    seed: int,
) -> list[dict[str, Any]]:
    """Rows of a summary for each group alone: queries ask for its keywords only, and clips that carry those are relevant.

    groups: name -> (keywords,) its keywords. measured: the values of every measure for what is asked, with their further columns.
    """
    rows: list[dict[str, Any]] = []
    for group, columns in groups.items():
        found = measured(required.only(columns))
        summaries = summarise([values for values, _ in found], intervals=intervals, seed=seed)
        for (_, facts), row in zip(found, summaries, strict=True):
            rows.append({**row, "group": group, **facts})
    return rows


def keyword_rows(
    run: str,
    explainer: Explainer,
    first: Mapping[str, Listed],
    values: Values,
    levels: Levels,
    k: int,
    *,
    counted: Bools,
    lacked_by_chance: Floats,
) -> list[dict[str, Any]]:
    """A row per keyword that counted queries ask for, the one that is missing most often first.

    `missing`: the share of the first k results of these queries that lack it; `by_chance`: the share of the clips that could have
    been found that do. The columns of a summary row, `ceiling` and `chance` are those of one measure over these queries, as far
    as it has a value for them; a keyword has few queries and so no interval.
    """
    queries, results, lacking = share_of_missing(explainer, first, counted, k)
    places: list[int] = np.flatnonzero(queries).tolist()
    asking = [explainer.required.wanted[:, place] & values.counted for place in places]
    over = [replace(values, run=run, values=np.where(mine, values.values, np.nan)) for mine in asking]
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
                "by_chance": float(lacked_by_chance[place]),
                "ceiling": _mean(levels.ceiling[mine]),
                "chance": _mean(levels.chance[mine]),
            }
        )
    return sorted(rows, key=lambda row: (-1.0 if row["missing"] is None else -row["missing"], row["group"], row["keyword"]))


def _mean(values: Floats) -> float | None:
    return None if not len(values) or np.isnan(values).any() else float(values.mean())


def lacked_by_chance(
    required: Required, annotations: Annotations, counted: Bools, barred: Mapping[str, Collection[str]], candidates: Ints
) -> Floats:
    """(keywords,) of the clips that could be found for a query, the share that lacks the keyword; the mean over its queries.

    barred: query -> clips that cannot be found for it, itself among them. candidates: (queries,) how many others there are; those
    that nobody annotated lack everything.
    """
    everywhere = annotations.carried.sum(axis=0, dtype=np.int64)
    shares, asking = np.zeros(len(annotations.keywords)), np.zeros(len(annotations.keywords), dtype=np.int64)
    for row in np.flatnonzero(counted & (candidates > 0)).tolist():
        out = [annotations.index[clip] for clip in barred.get(required.queries[row], ()) if clip in annotations.index]
        left = everywhere - annotations.carried[out].sum(axis=0, dtype=np.int64)
        shares += required.wanted[row] * (1 - left / candidates[row])
        asking += required.wanted[row]
    return np.divide(shares, asking, out=np.full(len(shares), np.nan), where=asking > 0)
