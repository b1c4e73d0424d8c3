"""Risk-coverage curves: the mean loss of the queries that are answered at each share of them, by a
confidence.
"""

from collections.abc import Mapping, Sequence

from rankwell.reporting import Row, runs_of
from rankwell.reporting.charts import (
    ChartData,
    Spec,
    by_title,
    chart,
    layer,
    nice_edges,
    page,
    quantity,
    series,
    short_names,
)
from rankwell.reporting.line_charts import MOST_LINES, SERIES

_WIDTH, _HEIGHT, _MOST_PANELS = 300, 190, 6


@chart("risk_coverage")
def risk_coverage(data: ChartData) -> Spec | None:
    """A panel for each measure and confidence with a line per run, coverage to the right and risk
    upwards.

    rules: `risk_coverage` has the curves, {"run", "of" (the measure's label), "confidence",
    "points" (coverage and risk)}. The first 6 panels and 8 runs are drawn. None without curves.
    """
    curves = [curve for curve in data.rules.get("risk_coverage") or () if curve["points"]]
    if not curves:
        return None
    runs = short_names(runs_of(curves)[:MOST_LINES])
    panels = by_title(
        (
            (f"loss of {curve['of']} by {curve['confidence']}", curve)
            for curve in curves
            if curve["run"] in runs
        ),
        lambda title, title_curves, _: {**_panel(title_curves, runs), "title": title},
    )
    subtitle = (
        "mean loss of the answered queries, the most confident first; lower is better; all are "
        "answered at the right end"
    )
    if len(panels) > _MOST_PANELS:
        subtitle += f"; the first {_MOST_PANELS} of {len(panels)} panels"
    return page("Risk and coverage", subtitle, panels[:_MOST_PANELS], legend=True)


def _panel(curves: Sequence[Row], runs: Mapping[str, str]) -> Spec:
    points: list[Row] = [
        {"run": runs[curve["run"]], "coverage": coverage, "risk": risk}
        for curve in curves
        for coverage, risk in curve["points"]
    ]
    edges = nice_edges(0.0, max(point["risk"] for point in points), 5)
    coverage = {"title": "coverage", "format": ".0%", "tickCount": 5, "grid": True}
    risk = {
        "title": None,
        "values": [round(edge, 12) for edge in edges],
        "format": ".12~g",
        "labelFlush": False,
    }
    place = {
        "x": quantity("coverage", [0, 1], coverage, zero=False),
        "y": quantity("risk", [edges[0], edges[-1]], risk, zero=False),
    }
    names = list(runs.values())
    legend = {"columns": 2, "symbolType": "stroke", "symbolOpacity": 1}
    order = {"field": "coverage", "type": "quantitative"}
    tip = [
        {"field": "run", "title": "run", "type": "nominal"},
        {"field": "coverage", "title": "coverage", "type": "quantitative", "format": ".1%"},
        {"field": "risk", "title": "risk", "type": "quantitative", "format": ".4f"},
    ]
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": points},
        "encoding": {"color": series("run", names, list(SERIES[: len(names)]), legend)},
        "layer": [
            layer("line", {**place, "order": order}, strokeWidth=2.5),
            layer("point", {**place, "tooltip": tip}, filled=True, size=60, opacity=0),
        ],
    }
