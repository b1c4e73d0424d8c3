"""Distributions of the values of single queries, every run and measure on one page."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwell.data.tables import Floats, Values, exact_mean
from rankwell.reporting import charts, figure
from rankwell.reporting.charts import ACCENT, FAINT, INK, QUIET, ChartData

_WIDTH, _BINS = 250, 20


@charts.chart("per_query")
def per_query(data: ChartData) -> dict[str, Any] | None:
    """Histograms of the values per query, a panel per measure, a row per run and part of the
    result, with a mark at the mean.

    Parts are what the rows say besides, such as a direction. Shares run from 0 to 1 and percentages
    from 0 to 100 where the values do; ranks stand on a logarithmic scale. Queries that are not
    counted are left out. None where no query is counted.
    """
    attributes = data.row_attributes or ({},) * len(data.values)
    labelled = [
        (column, charts.part_of(attributes, attributes))
        for column, attributes in zip(data.values, attributes, strict=True)
        if column.counted.any() and not charts.is_difference(column.measure)
    ]
    if not labelled:
        return None
    values = [column for column, _ in labelled]
    runs = charts.short_names(list(dict.fromkeys(column.run for column in values)))
    parts = list(dict.fromkeys(part for _, part in labelled))
    # The label of a row: the part of the result, the run, or both, as far as there are several.
    part_label = {part: part if len(parts) > 1 else "" for part in parts}
    rows = {
        (part, run): ", ".join(
            filter(None, (part_label[part], name if len(runs) > 1 or not part_label[part] else ""))
        )
        for part in parts
        for run, name in runs.items()
    }
    titles = list(dict.fromkeys(map(_title, values)))
    columns = charts.columns_for(len(titles))
    panels = [
        _panel(
            [
                (column, rows[part, column.run])
                for column, part in labelled
                if _title(column) == title
            ],
            list(dict.fromkeys(rows.values())),
            has_names=index % columns == 0 and len(rows) > 1,
        )
        for index, title in enumerate(titles)
    ]
    run = "" if len(runs) > 1 else f"{values[0].run}: "
    subtitle = f"{run}share of the queries with values in each range; the line marks their centre"
    return charts.page("Values of single queries", subtitle, panels, columns=columns)


def _title(values: Values) -> str:
    return charts.panel_title(values.label, values.measure, values.unit)


def _panel(
    labelled: Sequence[tuple[Values, str]], names: Sequence[str], *, has_names: bool
) -> dict[str, Any]:
    """A row for every name, so that the rows of neighbouring panels line up. has_names: whether the
    names stand beside it.
    """
    first = labelled[0][0]
    columns = [column.values[column.counted] for column, _ in labelled]
    logarithmic = first.unit == "rank" and min(float(column.min()) for column in columns) >= 1
    edges = _edges(columns, first.unit, logarithmic=logarithmic)
    bars: list[dict[str, Any]] = []
    for (values, name), column in zip(labelled, columns, strict=True):
        word, centre = _centre(values, column)
        bars += [
            {"run": name, "from": low, "to": high, "share": share}
            for low, high, share in zip(edges, edges[1:], _shares(column, edges), strict=False)
        ]
        bars.append(
            {"run": name, "centre": centre, "shown": f"{word} {figure(centre, first.unit)}"}
        )
    bars += [{"run": name} for name in sorted(set(names) - {bar["run"] for bar in bars})]
    axis: dict[str, Any] = {"title": None, "tickCount": 5, "grid": False}
    axis |= {"labelFlush": False, "domain": True, "domainColor": FAINT}
    if logarithmic:
        axis |= {
            "format": ",.0f",
            "values": [10**power for power in range(math.ceil(math.log10(edges[-1])) + 1)],
        }
    x = charts.quantity(
        "from", [edges[0], edges[-1]], axis, zero=False, **({"type": "log"} if logarithmic else {})
    )
    header = (
        {"labelAngle": 0, "labelAlign": "left", "labelPadding": 14}
        if has_names
        else {"labels": False}
    )
    return {
        "title": _title(first),
        "data": {"values": bars},
        "facet": {
            "row": {"field": "run", "type": "nominal", "sort": list(names), "header": header}
        },
        "spacing": 20,
        "spec": {
            "width": _WIDTH,
            "height": 56 if len(names) <= 3 else 36,
            "layer": _layers(x, max(bar.get("share", 0.0) for bar in bars)),
        },
    }


def _centre(values: Values, column: Floats) -> tuple[str, float]:
    """The position of the line, and its name: the summary where it lies among the values, the mean
    where it is a sum.
    """
    if values.summary in ("median", "median_low", "median_floor"):
        return "median", float(np.median(column))
    if values.summary == "geometric":
        return "geometric mean", math.exp(exact_mean(np.log(np.maximum(column, 1e-5))))
    if values.weights is not None and values.weights[values.counted].any():
        return "weighted mean", exact_mean(column, values.weights[values.counted])
    return "mean", exact_mean(column)


def _layers(x: dict[str, Any], highest: float) -> list[dict[str, Any]]:
    axis = {
        "title": None,
        "format": ".0%",
        "values": [highest],
        "grid": False,
        "labelFontSize": 10,
        "labelColor": QUIET,
    }
    # Vega would round a half away from zero.
    axis |= {"labelExpr": f"'{100 * highest:.0f}%'"} if 100 * highest % 1 == 0.5 else {}
    bars = {
        "x": x,
        "x2": {"field": "to"},
        "y": charts.quantity("share", [0, highest], axis),
        "y2": {"datum": 0},
    }
    text = {
        "x": {"value": _WIDTH},
        "y": {"value": -2},
        "text": {"field": "shown", "type": "nominal"},
    }
    return [
        charts.layer(
            "rect", bars, where="share", color=ACCENT, opacity=0.75, stroke="white", strokeWidth=0.5
        ),
        charts.layer(
            "rule", {"x": {**x, "field": "centre"}}, where="centre", color=INK, strokeWidth=1.5
        ),
        charts.layer(
            "text", text, where="centre", align="right", fontSize=10, color=QUIET, baseline="bottom"
        ),
    ]


def _edges(columns: Sequence[Floats], unit: str, *, logarithmic: bool) -> list[float]:
    low, high = (
        min(float(column.min()) for column in columns),
        max(float(column.max()) for column in columns),
    )
    if logarithmic:
        steps = max(math.ceil(math.log10(max(high, 10)) * 6), 1)
        return [10 ** (step / 6) for step in range(steps + 1)]
    top = {"share": 1.0, "percent": 100.0}.get(unit)
    if top is not None and low >= 0 and high <= top:
        low, high = 0.0, top
    return charts.nice_edges(low, high, _BINS)


def _shares(column: Floats, edges: Sequence[float]) -> list[float]:
    """The share of values in each bin; a value on an edge belongs to the bin above, on the last
    edge to the last bin.
    """
    # A value such as 0.6 may lie a rounding error below its edge.
    bins = (
        np.searchsorted(np.array(edges), column + 1e-9 * (edges[-1] - edges[0]), side="right") - 1
    )
    counts = np.bincount(np.clip(bins, 0, len(edges) - 2), minlength=len(edges) - 1)
    return (counts / len(column)).tolist()
