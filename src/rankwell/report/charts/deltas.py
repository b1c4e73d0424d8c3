"""Wins and losses of one system: the differences of single queries, sorted."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwell.core.tables.values import Values
from rankwell.report import ChartData, Row, chart, figure, visible
from rankwell.report.charts import ACCENT, INK, QUIET, columns_for, difference_title, is_difference, page

# Distinguishable for people who confuse red and green.
_LOST = "#d5672a"
_WIDTH, _HEIGHT, _MOST_BARS, _MOST_PANELS = 250, 130, 240, 12


@chart("deltas")
def deltas(data: ChartData) -> dict[str, Any] | None:
    """The differences of a comparison query by query, from the largest gain to the largest loss, a panel per pair and measure.

    The mean and its interval stand over each panel. Of many queries every so many-th is drawn, as said below the title; of more
    than twelve panels the first ones by the first measure. Panels of one measure share their
    scale. None where nothing was compared.
    """
    rows = [row for row in data.rows if is_difference(row["measure"])]
    differences = [each for each in data.values if is_difference(each.measure)]
    drawn = [(each, row) for each, row in zip(differences, rows, strict=True) if each.counted.any()]
    if len(drawn) > _MOST_PANELS:
        drawn = [(each, row) for each, row in drawn if row["of"] == drawn[0][1]["of"]][:_MOST_PANELS]
    if not drawn:
        return None
    values = [each for each, _ in drawn]
    reach: dict[str, float] = {}
    for each, row in drawn:
        reach[row["of"]] = max(reach.get(row["of"], 1e-9), float(np.nanmax(np.abs(each.values))))
    panels = [_panel(each, row, reach[row["of"]]) for each, row in drawn]
    most = max(int(each.counted.sum()) for each in values)
    thinned = f"; every {_step(most)}th query of {most:,} is drawn" if most > _MOST_BARS else ""
    subtitle = f"a bar per query, sorted; blue where the first is better, orange where it is worse{thinned}"
    return page("Differences of single queries", subtitle, panels, columns=columns_for(len(panels)))


def _step(n: int) -> int:
    return -(-n // _MOST_BARS)


def _panel(values: Values, row: Row, reach: float) -> dict[str, Any]:
    sign = -1 if row.get("better") == "lower" else 1
    found = np.sort(values.values[values.counted] * sign)[::-1] * sign
    n, step = len(found), _step(len(found))
    drawn = found[step // 2 :: step].tolist()
    bars = [
        {"from": place * step / n, "to": min((place + 1) * step, n) / n, "difference": value, "won": value * sign > 0}
        for place, value in enumerate(drawn)
    ]
    x = {
        "field": "from",
        "type": "quantitative",
        "scale": {"domain": [0, 1], "nice": False},
        "axis": {"title": "share of queries", "format": ".0%", "grid": False, "tickCount": 5, "labelFlush": True},
    }
    y = {
        "field": "difference",
        "type": "quantitative",
        "scale": {"domain": [-1.05 * reach, 1.05 * reach], "nice": False},
        "axis": {"title": None, "tickCount": 5},
    }
    name = f"{visible(row['run'])} − {visible(row['against'])}"
    return {
        "title": {
            "text": f"{name}: {difference_title(row)}",
            "subtitle": _caption(row),
            "limit": _WIDTH + 40,
        },
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": bars},
        "layer": [
            {
                "mark": {"type": "rect", "opacity": 0.85},
                "encoding": {
                    "x": x,
                    "x2": {"field": "to"},
                    "y": y,
                    "y2": {"datum": 0},
                    "color": {"condition": {"test": "datum.won", "value": ACCENT}, "value": _LOST},
                },
            },
            {"mark": {"type": "rule", "color": INK, "strokeWidth": 1}, "encoding": {"y": {"datum": 0, "type": "quantitative"}}},
            {
                "mark": {"type": "text", "align": "right", "baseline": "top", "fontSize": 11, "color": QUIET},
                "data": {"values": [{"shown": f"{row['wins']} won, {row['ties']} tied, {row['losses']} lost"}]},
                "encoding": {"x": {"value": _WIDTH}, "y": {"value": 2}, "text": {"field": "shown", "type": "nominal"}},
            },
        ],
    }


def _caption(row: Row) -> str:
    parts: Sequence[str] = [f"mean {figure(row['mean'], row['unit'])}"]
    if row["ci_low"] is not None:
        parts = [*parts, f"interval [{figure(row['ci_low'], row['unit'])}, {figure(row['ci_high'], row['unit'])}]"]
    if row["p_adjusted"] is not None:
        parts = [*parts, "p < 0.0001" if row["p_adjusted"] < 0.0001 else f"p = {row['p_adjusted']:.2g}"]
    return ", ".join(parts)
