"""Where a search fails: the measures for one group of keywords at a time, and for every keyword how often it is missing."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.evaluation.clips.explained import Explainer, share_of_missing
from rankwell.evaluation.clips.levels import Levels
from rankwell.evaluation.clips.rankings import Listed
from rankwell.stats import Intervals
from rankwell.stats.summaries import summarise
from rankwell.tables import Bools, Floats
from rankwell.tables.values import Values
from rankwell.truth.keywords import Required


def level_facts(values: Values, levels: Levels, total: int) -> dict[str, Any]:
    """The columns beside a mean: the ceiling and the chance level over the same queries, and the share of queries that count."""

    def centre(other: Floats) -> float | None:
        kept = np.where(values.counted, other, np.nan)
        if np.isnan(other[values.counted]).any() or not np.isfinite(other[values.counted]).all():
            return None
        scaled = kept * (100.0 if values.unit == "percent" else 1.0)
        told = Values("", values.measure, values.label, values.unit, values.summary, values.queries, scaled, values.weights)
        return summarise([told], intervals="none")[0].mean

    counted = int(values.counted.sum())
    return {
        "ceiling": centre(levels.ceiling),
        "chance": centre(levels.chance),
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
            rows.append({"group": group, **row.as_row(), **facts})
    return rows


def keyword_rows(
    run: str, explainer: Explainer, first: Mapping[str, Listed], values: Values, levels: Levels, k: int
) -> list[dict[str, Any]]:
    """A row per keyword that counted queries ask for, the one that is missing most often first.

    `missing`: the share of the first k results of these queries that lack it; `by_chance`: the share of all clips that do.
    `mean`, `ceiling` and `chance` are those of one measure over these queries.
    """
    counted = values.counted
    queries, results, lacking = share_of_missing(explainer, first, counted, k)
    carried: Floats = explainer.annotations.carried.mean(axis=0)
    rows: list[dict[str, Any]] = []
    for place in np.flatnonzero(queries).tolist():
        mine = counted & explainer.required.wanted[:, place]
        keyword = explainer.annotations.keywords[place]
        rows.append(
            {
                "run": run,
                "group": keyword.group,
                "keyword": keyword.label,
                "clips": int(explainer.annotations.uses[place]),
                "queries": int(queries[place]),
                "k": k,
                "results": int(results[place]),
                "lacking": int(lacking[place]),
                "missing": float(lacking[place] / results[place]) if results[place] else None,
                "by_chance": float(1 - carried[place]),
                "measure": values.measure,
                "label": values.label,
                "mean": float(values.values[mine].mean()),
                "ceiling": float(levels.ceiling[mine].mean()),
                "chance": None if np.isnan(levels.chance[mine]).any() else float(levels.chance[mine].mean()),
            }
        )
    return sorted(rows, key=lambda row: (-1.0 if row["missing"] is None else -row["missing"], row["group"], row["keyword"]))
