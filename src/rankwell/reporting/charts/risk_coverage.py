"""Risk-coverage curves: the mean loss of the queries that are answered at each share of them, by a
confidence.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rankwell.reporting import Row, charts
from rankwell.reporting.charts import (
    THEME,
    ChartData,
    layer,
    nice_edges,
    page,
    quantity,
    short_names,
)
from rankwell.reporting.line_charts import MOST_LINES, SERIES

_WIDTH, _HEIGHT, _MOST_PANELS = 300, 190, 6


@charts.chart("risk_coverage")
def risk_coverage(data: ChartData) -> dict[str, Any] | None:
    """A panel for each measure and confidence with a line per run, coverage to the right and risk
    upwards.

    rules: `risk_coverage` has the curves, {"run", "of" (the measure's label), "confidence",
    "points" (coverage and risk)}. The first 6 panels and 8 runs are drawn. None without curves.
    """
    stored: Any = data.rules.get("risk_coverage")
    curves: list[Row] = (
        [curve for curve in stored if curve["points"]] if isinstance(stored, Sequence) else []
    )
    if not curves:
        return None
    runs = short_names(list(dict.fromkeys(curve["run"] for curve in curves))[:MOST_LINES])
    run_curves = [curve for curve in curves if curve["run"] in runs]
    titles = list(dict.fromkeys(map(_title, run_curves)))
    titles_drawn = titles[:_MOST_PANELS]
    panels = [
        _panel([curve for curve in run_curves if _title(curve) == title], runs) | {"title": title}
        for title in titles_drawn
    ]
    subtitle = (
        "mean loss of the answered queries, the most confident first; lower is better; all are "
        "answered at the right end"
    )
    if len(titles_drawn) < len(titles):
        subtitle += f"; the first {len(titles_drawn)} of {len(titles)} panels"
    spec = page("Risk and coverage", subtitle, panels, columns=charts.columns_for(len(panels)))
    spec["config"] = {**spec["config"], "legend": THEME["legend"]}
    return spec


def _title(curve: Row) -> str:
    return f"loss of {curve['of']} by {curve['confidence']}"


def _panel(curves: Sequence[Row], runs: Mapping[str, str]) -> dict[str, Any]:
    points = [
        {"run": runs[curve["run"]], "coverage": coverage, "risk": risk}
        for curve in curves
        for coverage, risk in curve["points"]
    ]
    edges = nice_edges(0.0, max(risk for curve in curves for _, risk in curve["points"]), 5)
    x = quantity(
        "coverage",
        [0, 1],
        {"title": "coverage", "format": ".0%", "tickCount": 5, "grid": True},
        zero=False,
    )
    ticks = {
        "title": None,
        "values": [round(edge, 12) for edge in edges],
        "format": ".12~g",
        "labelFlush": False,
    }
    y = quantity("risk", [edges[0], edges[-1]], ticks, zero=False)
    names = list(runs.values())
    legend = {"columns": 2, "symbolType": "stroke", "symbolOpacity": 1} if len(names) > 1 else None
    scale = {"domain": names, "range": list(SERIES[: len(names)])}
    colour = {"field": "run", "type": "nominal", "scale": scale, "legend": legend}
    order = {"field": "coverage", "type": "quantitative"}
    tip = [
        {"field": "run", "title": "run", "type": "nominal"},
        {"field": "coverage", "title": "coverage", "type": "quantitative", "format": ".1%"},
        {"field": "risk", "title": "risk", "type": "quantitative", "format": ".4f"},
    ]
    dots = layer("point", {"x": x, "y": y, "tooltip": tip}, filled=True, size=60, opacity=0)
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": points},
        "encoding": {"color": colour},
        "layer": [layer("line", {"x": x, "y": y, "order": order}, strokeWidth=2.5), dots],
    }
