"""Every keyword at every measure: a table, and a heat map of it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwell.data.frames import Heading
from rankwell.data.tables import Values
from rankwell.reporting import Row, charts
from rankwell.stats import figure_of
from rankwell.tasks.clips.runs import ClipVariant

_CELL = 62
_DARK = 0.6


def keyword_table(measured: Sequence[tuple[ClipVariant, Sequence[Values]]]) -> list[dict[str, Any]]:
    """A row per run and keyword that counted queries require, or exclude: their number, and each
    measure's figure over them.
    """
    rows: list[dict[str, Any]] = []
    for variant, values in measured:
        required, counted = variant.required, variant.counted[:, None]
        sides = (("", required.wanted & counted), ("without ", required.unwanted & counted))
        keyword_queries = [
            (word, queries[:, column], column)
            for word, queries in sides
            for column in np.flatnonzero(queries.any(axis=0))
        ]
        for word, is_query, column in keyword_queries:
            group, label = variant.inputs.annotations.keywords[column]
            row: dict[str, Any] = {
                "run": variant.name,
                "group": group,
                "keyword": word + label,
                "queries": int(is_query.sum()),
            }
            for of_measure in values:
                is_counted = is_query & of_measure.counted
                weights = None if of_measure.weights is None else of_measure.weights[is_counted]
                row[Heading(of_measure.label)] = (
                    figure_of(of_measure.values[is_counted], of_measure.summary, weights)
                    if is_counted.any()
                    else None
                )
            rows.append(row)
    return sorted(rows, key=lambda row: (row["run"], row["group"], row["keyword"]))


def heat_map(rows: Sequence[Row], values: Sequence[Values]) -> dict[str, Any] | None:
    """A Vega-Lite spec: a panel per run and group, a line per keyword, a cell per measure that is a
    share, the darker the higher.

    rows: those of `keyword_table`. None for fewer than two keywords, and where no measure is a
    share.
    """
    labels = list(
        dict.fromkeys(of_measure.label for of_measure in values if of_measure.unit == "share")
    )
    if len({(row["group"], row["keyword"]) for row in rows}) < 2 or not labels:
        return None
    runs = dict.fromkeys(row["run"] for row in rows)
    panels = [
        {"title": group if len(runs) == 1 else f"{run}: {group}", **_panel(panel_rows, labels)}
        for run, group in dict.fromkeys((row["run"], row["group"]) for row in rows)
        if (panel_rows := [row for row in rows if (row["run"], row["group"]) == (run, group)])
    ]
    return charts.page(
        "Keywords",
        "means over the queries that require the keyword, their number behind it",
        panels,
        columns=1,
    )


def _panel(rows: Sequence[Row], labels: Sequence[str]) -> dict[str, Any]:
    names = charts.short_names([row["keyword"] for row in rows])
    cells = [
        {
            "keyword": f"{names[row['keyword']]} ({row['queries']})",
            "measure": label,
            "value": row[label],
        }
        | {"shown": charts.written(row[label], "share")}
        for row in rows
        for label in labels
    ]
    ordered = list(dict.fromkeys(cell["keyword"] for cell in cells))
    axis = {"title": None, "grid": False, "ticks": False, "domain": False, "labelAngle": 0}
    ink = {"condition": {"test": f"datum.value > {_DARK}", "value": "white"}, "value": charts.INK}
    colour = {"scale": {"domain": [0, 1], "range": ["#f2f6fa", charts.ACCENT]}, "legend": None}
    return {
        "width": {"step": _CELL},
        "height": {"step": charts.STEP},
        "data": {"values": cells},
        "encoding": {
            "x": {
                "field": "measure",
                "type": "nominal",
                "scale": {"domain": labels},
                "axis": {**axis, "orient": "top"},
            },
            "y": {
                "field": "keyword",
                "type": "nominal",
                "scale": {"domain": ordered},
                "axis": axis,
            },
        },
        "layer": [
            charts.layer(
                "rect",
                {"color": {"field": "value", "type": "quantitative", **colour}},
                where="value",
                stroke="white",
            ),
            charts.layer(
                "text", {"text": {"field": "shown", "type": "nominal"}, "color": ink}, fontSize=11
            ),
        ],
    }
