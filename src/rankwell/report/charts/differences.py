"""Mean differences with their intervals about 0, every pair and measure on one page."""

from collections.abc import Sequence
from typing import Any

from rankwell.report import ChartData, Row, chart, visible
from rankwell.report.charts import (
    ACCENT,
    INK,
    QUIET,
    columns_for,
    difference_title,
    is_difference,
    nice_domain,
    page,
    short_names,
    written,
)

_WIDTH, _STEP = 250, 26


@chart("differences")
def differences(data: ChartData) -> dict[str, Any] | None:
    """A dot for each mean difference and a line for its interval, filled where the difference is decisive, a panel per measure.

    The upright line is at no difference. None where nothing was compared.
    """
    rows = [row for row in data.rows if is_difference(row["measure"]) and row["mean"] is not None]
    if not rows:
        return None
    names = short_names(list(dict.fromkeys(f"{row['run']} − {row['against']}" for row in rows)))
    titles = list(dict.fromkeys(map(difference_title, rows)))
    columns = columns_for(len(titles))
    panels = [
        _panel(title, [row for row in rows if difference_title(row) == title], names, named=place % columns == 0)
        for place, title in enumerate(titles)
    ]
    has_intervals = any(row["ci_low"] is not None for row in rows)
    level = f" with {100 * data.rules.get('level', 0.95):g} % intervals" if has_intervals else ""
    return page(f"Mean differences{level}", "filled dots are decisive after the correction", panels, columns=columns)


def _panel(title: str, rows: Sequence[Row], names: dict[str, str], *, named: bool) -> dict[str, Any]:
    marks = [
        {
            "name": names[f"{row['run']} − {row['against']}"],
            "mean": row["mean"],
            "low": row["mean"] if row["ci_low"] is None else row["ci_low"],
            "high": row["mean"] if row["ci_high"] is None else row["ci_high"],
            "decisive": row["decisive"],
            "shown": ("+" if row["mean"] > 0 else "") + written(row["mean"], row["unit"]),
        }
        for row in rows
    ]
    ends = [0.0, *(float(mark[end]) for mark in marks for end in ("low", "high"))]
    domain = nice_domain(min(ends), max(ends))
    axis = {"title": None, "grid": True, "labels": named}
    y = {"field": "name", "type": "nominal", "scale": {"domain": list(names.values())}, "axis": axis}
    scale = {"domain": domain, "nice": False, "zero": False}
    x = {"field": "mean", "type": "quantitative", "scale": scale, "axis": {"title": None, "tickCount": 5}}
    fill = {"condition": {"test": "datum.decisive", "value": ACCENT}, "value": "white"}
    line = {"type": "rule", "strokeWidth": 3, "color": ACCENT, "opacity": 0.4, "strokeCap": "round"}
    return {
        "title": visible(title),
        "width": _WIDTH,
        "height": {"step": _STEP},
        "data": {"values": marks},
        "encoding": {"y": y},
        "layer": [
            {
                "mark": {"type": "rule", "color": QUIET, "strokeWidth": 1},
                "encoding": {"x": {"datum": 0}, "y": {"value": 0}, "y2": {"value": len(names) * _STEP}},
            },
            {"mark": line, "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}}},
            {"mark": {"type": "point", "size": 70, "stroke": ACCENT, "opacity": 1}, "encoding": {"x": x, "fill": fill}},
            {
                "mark": {"type": "text", "align": "left", "fontSize": 11, "color": INK},
                "encoding": {"x": {"value": _WIDTH + 8}, "text": {"field": "shown", "type": "nominal"}},
            },
        ],
    }
