"""The critical-difference diagram: systems along their mean ranks, joined where they do not differ significantly."""

from collections.abc import Mapping, Sequence
from typing import Any

from rankwell.report import ChartData, Row, chart
from rankwell.report.charts import ACCENT, INK, QUIET, page, panel_title, short_names

_WIDTH, _LINE, _BAR, _AXIS = 460, 22, 9, 30
_MOST_PANELS = 6


@chart("critical_difference")
def critical_difference(data: ChartData) -> dict[str, Any] | None:
    """Mean ranks over queries on a line, 1 (best) at the left, with a bar over systems within the critical difference (Nemenyi).

    A panel per measure, the first six. None for fewer than three systems, and where all are alike on every query.
    Source: Demšar 2006, Statistical comparisons of classifiers over multiple data sets.
    """
    ranked: Sequence[Row] = data.rules.get("mean_ranks") or ()
    if not ranked:
        return None
    panels = [_panel(row) for row in ranked[:_MOST_PANELS]]
    level = f"{100 * (1 - data.rules.get('level', 0.95)):.3g} %"
    subtitle = f"bars join systems whose mean ranks lie within the critical difference (CD) of Nemenyi's test at {level}"
    return page("Mean ranks of systems over queries", subtitle, panels, columns=1)


def _panel(row: Row) -> dict[str, Any]:
    ranks: Mapping[str, float] = row["mean_ranks"]
    names = short_names(list(ranks))
    order = sorted(ranks, key=lambda run: (ranks[run], run))
    half = (len(order) + 1) // 2
    groups = [[ranks[run] for run in group] for group in row["not_told_apart"]]
    top = _AXIS + _BAR * (len(groups) + 1)
    height = top + _LINE * half + 6
    domain = [1, len(order)]
    label: list[dict[str, Any]] = []
    for place, run in enumerate(order):
        left = place < half
        y = top + _LINE * (place if left else len(order) - 1 - place) + 10
        label.append(
            {"rank": ranks[run], "y": y, "edge": 0 if left else _WIDTH, "left": left, "text": f"{names[run]}  {ranks[run]:.2f}"}
        )
    bars = [{"from": min(group), "to": max(group), "y": _AXIS + _BAR * (place + 1)} for place, group in enumerate(groups)]
    x = {"field": "rank", "type": "quantitative", "scale": {"domain": domain, "nice": False, "zero": False}}
    axis = {"title": None, "orient": "top", "grid": False, "domain": True, "domainColor": INK, "ticks": True, "tickColor": INK}
    axis |= {"values": list(range(1, len(order) + 1)), "format": ".0f", "offset": -_AXIS + 8}
    y = {"field": "y", "type": "quantitative", "scale": {"domain": [height, 0], "nice": False}, "axis": None}
    title = panel_title(row["label"], row["measure"], "share")
    what = f"{row['queries']:,} queries, CD {row['critical_difference']:.3f}, Friedman p {_p(row['p'])}"
    return {
        "title": {"text": title, "subtitle": what},
        "width": _WIDTH,
        "height": height,
        "layer": [
            _stems(label, x, axis, y),
            *(_elbows([each for each in label if each["left"] is left], x, y, left=left) for left in (True, False)),
            _bars(bars, x, y),
        ],
    }


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"= {value:.2g}"


def _stems(label: Sequence[Row], x: dict[str, Any], axis: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
    """From the axis down to the height of a system's name."""
    return {
        "data": {"values": [{**each, "axis": _AXIS - 8} for each in label]},
        "mark": {"type": "rule", "color": QUIET, "strokeWidth": 1},
        "encoding": {"x": {**x, "axis": axis}, "y": {**y, "field": "axis"}, "y2": {"field": "y"}},
    }


def _elbows(label: Sequence[Row], x: dict[str, Any], y: dict[str, Any], *, left: bool) -> dict[str, Any]:
    """From there to the side, where the name stands."""
    edge = {"value": 0 if left else _WIDTH}
    name = {"type": "text", "align": "right" if left else "left", "dx": -6 if left else 6, "fontSize": 12, "color": INK}
    return {
        "data": {"values": list(label)},
        "layer": [
            {
                "mark": {"type": "rule", "color": QUIET, "strokeWidth": 1},
                "encoding": {"x": x, "x2": edge, "y": y},
            },
            {"mark": name, "encoding": {"x": edge, "y": y, "text": {"field": "text", "type": "nominal"}}},
        ],
    }


def _bars(bars: Sequence[Row], x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
    return {
        "data": {"values": list(bars)},
        "mark": {"type": "rule", "color": ACCENT, "strokeWidth": 4, "strokeCap": "round"},
        "encoding": {"x": {**x, "field": "from"}, "x2": {"field": "to"}, "y": y},
    }
