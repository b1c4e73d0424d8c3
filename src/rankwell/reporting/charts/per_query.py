"""Distributions of the values of single queries, every run and measure on one page."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from rankwell.data.tables import Floats, Values, exact_mean
from rankwell.reporting import charts, format_value
from rankwell.reporting.charts import ACCENT, FAINT, INK, QUIET, ChartData, Spec

_WIDTH, _BINS = 250, 20
_MANY_ROWS, _MOST_PANELS = 6, 4


@charts.chart("per_query")
def per_query(data: ChartData) -> Spec | None:
    """Histograms of the values per query, a panel per measure, a row per run and part of the
    result, with a mark at the mean.

    Of more than 6 rows the first 4 measures are drawn, side by side. Parts are what the rows say
    besides, such as a direction. Shares run from 0 to 1 and percentages from 0 to 100 where the
    values do; ranks stand on a logarithmic scale. Queries that are not
    counted are left out. None where no query is counted.
    """
    labelled = [
        (column, charts.part_of(attributes, attributes))
        for column, attributes in zip(
            data.values, data.row_attributes or ({},) * len(data.values), strict=True
        )
        if column.counted.any() and not charts.is_difference(column.measure)
    ]
    if not labelled:
        return None
    runs = charts.short_names(list(dict.fromkeys(column.run for column, _ in labelled)))
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
    names = list(dict.fromkeys(rows.values()))
    columns = _MOST_PANELS if len(names) > _MANY_ROWS else None
    panels = charts.by_title(
        (
            (
                charts.panel_title(column.label, column.measure, column.unit),
                (column, rows[part, column.run]),
            )
            for column, part in labelled
        ),
        lambda title, labelled_columns, is_first: {
            "title": title,
            **_panel(labelled_columns, names, has_names=is_first and len(rows) > 1),
        },
        columns,
    )
    run = "" if len(runs) > 1 else f"{labelled[0][0].run}: "
    subtitle = f"{run}share of the queries with values in each range; the line marks their centre"
    if columns and len(panels) > columns:
        subtitle += f"; the first {columns} of {len(panels)} measures"
        panels = panels[:columns]
    return charts.page("Values of single queries", subtitle, panels, columns=columns)


def _panel(
    labelled: Sequence[tuple[Values, str]], names: Sequence[str], *, has_names: bool
) -> Spec:
    """A row for every name, so that the rows of neighbouring panels line up. has_names: whether the
    names stand beside it.
    """
    unit = labelled[0][0].unit
    columns = [column.values[column.counted] for column, _ in labelled]
    low = min(float(column.min()) for column in columns)
    high = max(float(column.max()) for column in columns)
    logarithmic = unit == "rank" and low >= 1
    edges = _edges(low, high, unit, logarithmic=logarithmic)
    bars: list[dict[str, Any]] = []
    for (values, name), column in zip(labelled, columns, strict=True):
        word, centre = _centre(values, column)
        bars += [
            {"run": name, "from": low, "to": high, "share": share}
            for (low, high), share in zip(
                pairwise(edges), charts.bin_counts(column, edges) / len(column), strict=True
            )
        ]
        bars.append(
            {"run": name, "centre": centre, "shown": f"{word} {format_value(centre, unit)}"}
        )
    highest = max(bar.get("share", 0.0) for bar in bars)
    bars += [{"run": name} for name in sorted(set(names) - {bar["run"] for bar in bars})]
    axis = {
        "title": None,
        "tickCount": 5,
        "grid": False,
        "labelFlush": False,
        "domain": True,
        "domainColor": FAINT,
    }
    scale: Spec = {}
    if logarithmic:
        powers = [10**power for power in range(math.ceil(math.log10(edges[-1])) + 1)]
        axis |= {"format": ",.0f", "values": powers}
        scale = {"type": "log"}
    x = charts.quantity("from", [edges[0], edges[-1]], axis, zero=False, **scale)
    share_axis = {
        "title": None,
        "format": ".0%",
        "values": [highest],
        "grid": False,
        "labelFontSize": 10,
        "labelColor": QUIET,
    }
    # Vega would round a half away from zero.
    if 100 * highest % 1 == 0.5:
        share_axis["labelExpr"] = f"'{100 * highest:.0f}%'"
    rectangles = {
        "x": x,
        "x2": {"field": "to"},
        "y": charts.quantity("share", [0, highest], share_axis),
        "y2": {"datum": 0},
    }
    text = {"x": {"value": _WIDTH}, "y": {"value": -2}, "text": charts.nominal("shown")}
    look = {"color": ACCENT, "opacity": 0.75, "stroke": "white", "strokeWidth": 0.5}
    layers = [
        charts.layer("rect", rectangles, where="share", **look),
        charts.layer(
            "rule", {"x": {**x, "field": "centre"}}, where="centre", color=INK, strokeWidth=1.5
        ),
        charts.layer(
            "text", text, where="centre", align="right", fontSize=10, color=QUIET, baseline="bottom"
        ),
    ]
    header: Spec = {"labels": False}
    if has_names:
        header = {"labelAngle": 0, "labelAlign": "left", "labelPadding": 14}
    return {
        "data": {"values": bars},
        "facet": {"row": charts.nominal("run", sort=list(names), header=header)},
        "spacing": 20 if len(names) <= _MANY_ROWS else 14,
        "spec": {"width": _WIDTH, "height": _height(len(names)), "layer": layers},
    }


def _height(rows: int) -> int:
    """The height of a row in pixels, less the more rows there are."""
    return 56 if rows <= 3 else 36 if rows <= _MANY_ROWS else 18


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


def _edges(low: float, high: float, unit: str, *, logarithmic: bool) -> list[float]:
    if logarithmic:
        steps = max(math.ceil(math.log10(max(high, 10)) * 6), 1)
        return [10 ** (step / 6) for step in range(steps + 1)]
    top = {"share": 1.0, "percent": 100.0}.get(unit)
    if top is not None and low >= 0 and high <= top:
        low, high = 0.0, top
    return charts.nice_edges(low, high, _BINS)
