"""Charts of a comparison: mean differences, the differences of single queries, mean ranks of
systems.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.data.tables import Values, figure, p_text
from rankwell.reporting import Row, charts
from rankwell.reporting.charts import ACCENT, INK, QUIET, STEP, ChartData


@charts.chart("differences")
def differences(data: ChartData) -> dict[str, Any] | None:
    """A dot for each mean difference and a line for its interval, filled where the difference is
    decisive, a panel per measure.

    The upright line is at no difference. None where nothing was compared.
    """
    rows = [
        row for row in data.rows if charts.is_difference(row["measure"]) and row["mean"] is not None
    ]
    if not rows:
        return None
    names = charts.short_names(
        list(dict.fromkeys(f"{row['run']} − {row['against']}" for row in rows))
    )
    titles = list(dict.fromkeys(map(charts.difference_title, rows)))
    columns = charts.columns_for(len(titles))
    panels = [
        _panel(
            title,
            [row for row in rows if charts.difference_title(row) == title],
            names,
            has_names=index % columns == 0,
        )
        for index, title in enumerate(titles)
    ]
    has_intervals = any(row["ci_low"] is not None for row in rows)
    level = f" with {100 * data.rules.get('level', 0.95):g} % intervals" if has_intervals else ""
    return charts.page(
        f"Mean differences{level}",
        "filled dots are decisive after the correction",
        panels,
        columns=columns,
    )


def _panel(
    title: str, rows: Sequence[Row], names: dict[str, str], *, has_names: bool
) -> dict[str, Any]:
    pairs = [names[f"{row['run']} − {row['against']}"] for row in rows]
    marks = [
        charts.interval_mark(row, pair, signed=True, decisive=row["decisive"])
        for row, pair in zip(rows, pairs, strict=True)
    ]
    ends = [0.0, *(float(mark[end]) for mark in marks for end in ("low", "high"))]
    zero = charts.layer(
        "rule",
        {"x": {"datum": 0}, "y": {"value": 0}, "y2": {"value": len(names) * STEP}},
        color=QUIET,
        strokeWidth=1,
    )
    panel = charts.interval_panel(
        marks,
        list(names.values()),
        charts.nice_domain(min(ends), max(ends)),
        axis={"labels": has_names},
        point={"size": 70, "stroke": ACCENT, "opacity": 1},
        fill={"condition": {"test": "datum.decisive", "value": ACCENT}, "value": "white"},
        below=[zero],
    )
    return {"title": title, **panel}


# Distinguishable for people who confuse red and green.
_LOST = "#d5672a"
_DELTA_WIDTH, _DELTA_HEIGHT, _MOST_BARS, _MOST_DELTAS = 250, 130, 240, 12


@charts.chart("deltas")
def deltas(data: ChartData) -> dict[str, Any] | None:
    """The differences of a comparison query by query, from the largest gain to the largest loss, a
    panel per pair and measure.

    Of many queries every so many-th is drawn, as said below the title; of more than twelve panels
    the first ones by the first measure. Panels of one measure share their scale. None where nothing
    was compared.
    """
    rows = [row for row in data.rows if charts.is_difference(row["measure"])]
    differences = [column for column in data.values if charts.is_difference(column.measure)]
    pairs = zip(differences, rows, strict=True)
    panel_data = [
        (column, row)
        for column, row in pairs
        if column.counted.any() and row["better"] != "neither"
    ]
    if len(panel_data) > _MOST_DELTAS:
        panel_data = [
            (column, row) for column, row in panel_data if row["of"] == panel_data[0][1]["of"]
        ][:_MOST_DELTAS]
    if not panel_data:
        return None
    reach: dict[str, float] = {}
    for column, row in panel_data:
        reach[row["of"]] = max(reach.get(row["of"], 1e-9), float(np.nanmax(np.abs(column.values))))
    panels = [_delta_panel(column, row, reach[row["of"]]) for column, row in panel_data]
    most = max(int(column.counted.sum()) for column, _ in panel_data)
    thinned = (
        f"; every {-(-most // _MOST_BARS)}th query of {most:,} is drawn"
        if most > _MOST_BARS
        else ""
    )
    subtitle = (
        "a bar per query, sorted; blue where the first is better, orange where it is "
        f"worse{thinned}"
    )
    return charts.page(
        "Differences of single queries", subtitle, panels, columns=charts.columns_for(len(panels))
    )


def _delta_panel(values: Values, row: Row, reach: float) -> dict[str, Any]:
    sign = -1 if row.get("better") == "lower" else 1
    ascending = np.sort(values.values[values.counted] * sign)[::-1] * sign
    n, step = len(ascending), -(-len(ascending) // _MOST_BARS)
    sampled = ascending[step // 2 :: step].tolist()
    bars = [
        {
            "from": index * step / n,
            "to": min((index + 1) * step, n) / n,
            "difference": value,
            "won": value * sign > 0,
        }
        for index, value in enumerate(sampled)
    ]
    shares = {
        "title": "share of queries",
        "format": ".0%",
        "grid": False,
        "tickCount": 5,
        "labelFlush": True,
    }
    y = charts.quantity(
        "difference", [-1.05 * reach, 1.05 * reach], {"title": None, "tickCount": 5}
    )
    colour = {"condition": {"test": "datum.won", "value": ACCENT}, "value": _LOST}
    ends = {
        "x": charts.quantity("from", [0, 1], shares),
        "x2": {"field": "to"},
        "y": y,
        "y2": {"datum": 0},
        "color": colour,
    }
    counts = [{"shown": f"{row['wins']} won, {row['ties']} tied, {row['losses']} lost"}]
    corner = {
        "x": {"value": _DELTA_WIDTH},
        "y": {"value": 2},
        "text": {"field": "shown", "type": "nominal"},
    }
    look: dict[str, Any] = {
        "type": "text",
        "align": "right",
        "baseline": "top",
        "fontSize": 11,
        "color": QUIET,
    }
    name = f"{row['run']} − {row['against']}: {charts.difference_title(row)}"
    return {
        "title": {"text": name, "subtitle": _caption(row), "limit": _DELTA_WIDTH + 40},
        "width": _DELTA_WIDTH,
        "height": _DELTA_HEIGHT,
        "data": {"values": bars},
        "layer": [
            charts.layer("rect", ends, opacity=0.85),
            charts.layer(
                "rule", {"y": {"datum": 0, "type": "quantitative"}}, color=INK, strokeWidth=1
            ),
            {"mark": look, "data": {"values": counts}, "encoding": corner},
        ],
    }


def _caption(row: Row) -> str:
    mean, low, high = (
        charts.written(row[name], row["unit"], signed=True)
        for name in ("mean", "ci_low", "ci_high")
    )
    parts = [f"mean {mean}"]
    if row["ci_low"] is not None:
        parts.append(f"interval [{low}, {high}]")
    if row["p_adjusted"] is not None:
        parts.append(p_text(row["p_adjusted"]))
    return ", ".join(parts)


_RANK_WIDTH, _LINE, _BAR, _AXIS = 460, 22, 9, 30
_MOST_PANELS = 6


@charts.chart("critical_difference")
def critical_difference(data: ChartData) -> dict[str, Any] | None:
    """Mean ranks over queries on a line, 1 (best) at the left, with a bar over neighbours without a
    significant difference.

    The tests are those of the comparison. A panel per measure, the first six. None for fewer than
    three systems, and where all are alike on every query.
    Source: Demšar 2006, Statistical comparisons of classifiers over multiple data sets.
    """
    ranked: Sequence[Row] = data.rules.get("mean_ranks") or ()
    if not ranked:
        return None
    panels = [_rank_panel(row) for row in ranked[:_MOST_PANELS]]
    subtitle = (
        "bars join neighbours without a significant difference, by the tests of the comparison"
    )
    return charts.page("Mean ranks of systems over queries", subtitle, panels, columns=1)


def _rank_panel(row: Row) -> dict[str, Any]:
    ranks: Mapping[str, float] = row["mean_ranks"]
    names = charts.short_names(list(ranks))
    order = sorted(ranks, key=lambda run: (ranks[run], run))
    half = (len(order) + 1) // 2
    groups = [[ranks[run] for run in group] for group in row["not_told_apart"]]
    top = _AXIS + _BAR * (len(groups) + 1)
    height = top + _LINE * half + 6
    label: list[dict[str, Any]] = []
    for rank, run in enumerate(order):
        left = rank < half
        y = top + _LINE * (rank if left else len(order) - 1 - rank) + 10
        name = {"left": left, "text": f"{names[run]}  {figure(ranks[run], 'rank')}"}
        label.append({"rank": ranks[run], "y": y, "edge": 0 if left else _RANK_WIDTH, **name})
    bars = [
        {"from": min(group), "to": max(group), "y": _AXIS + _BAR * (index + 1)}
        for index, group in enumerate(groups)
    ]
    axis = {
        "title": None,
        "orient": "top",
        "grid": False,
        "domain": True,
        "domainColor": INK,
        "ticks": True,
        "tickColor": INK,
    }
    axis |= {"values": list(range(1, len(order) + 1)), "format": ".0f", "offset": -_AXIS + 8}
    rank_scale = charts.quantity("rank", [1, len(order)], None, zero=False)
    x, y = (
        {key: rank_scale[key] for key in ("field", "type", "scale")},
        charts.quantity("y", [height, 0], None),
    )
    # From the axis down to the height of a system's name; the bars over systems that do not differ.
    stems = {"x": {**x, "axis": axis}, "y": {**y, "field": "axis"}, "y2": {"field": "y"}}
    joins = {"x": {**x, "field": "from"}, "x2": {"field": "to"}, "y": y}
    return {
        "title": {
            "text": charts.panel_title(row["label"], row["measure"], "share"),
            "subtitle": f"{row['queries']:,} queries",
        },
        "width": _RANK_WIDTH,
        "height": height,
        "layer": [
            {
                "data": {"values": [{**mark, "axis": _AXIS - 8} for mark in label]},
                **charts.layer("rule", stems, color=QUIET, strokeWidth=1),
            },
            *(
                _elbows([mark for mark in label if mark["left"] is left], x, y, on_left=left)
                for left in (True, False)
            ),
            {
                "data": {"values": bars},
                **charts.layer("rule", joins, color=ACCENT, strokeWidth=4, strokeCap="round"),
            },
        ],
    }


def _elbows(
    label: Sequence[Row], x: dict[str, Any], y: dict[str, Any], *, on_left: bool
) -> dict[str, Any]:
    """From the height of a name to the side, where the name stands."""
    edge = {"value": 0 if on_left else _RANK_WIDTH}
    look: dict[str, Any] = {
        "align": "right" if on_left else "left",
        "dx": -6 if on_left else 6,
        "fontSize": 12,
        "color": INK,
    }
    # Where a page has no room for a name, its beginning is cut, and not the figure at its end.
    look["dir"] = "rtl"
    return {
        "data": {"values": list(label)},
        "layer": [
            charts.layer("rule", {"x": x, "x2": edge, "y": y}, color=QUIET, strokeWidth=1),
            charts.layer(
                "text", {"x": edge, "y": y, "text": {"field": "text", "type": "nominal"}}, **look
            ),
        ],
    }
