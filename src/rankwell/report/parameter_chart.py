"""Figures against a parameter: how each measure of each system moves when one thing is changed, one panel per measure."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rankwell.errors import NothingToEvaluate
from rankwell.report import Row, plain, visible
from rankwell.report.charts import LEGEND, QUIET, columns_for, nice_edges, page, short_names

# Distinguishable for people who confuse red and green.
_COLOURS = ("#1f6fb2", "#d5672a", "#2e8b6f", "#8d5aa8", "#b58a14", "#5b6773", "#b0446a", "#3a3f8f")
_WIDTH, _HEIGHT = 300, 180
_LOGARITHMIC_FROM = 25
MOST_LINES = len(_COLOURS)
_MOST_BARS = 3


def parameter_chart(rows: Sequence[Row], parameter: str, *, title: str | None = None, point: str = "run") -> dict[str, Any]:
    """A Vega-Lite spec: for every measure a panel with the parameter's values on the x axis and a line per system.

    rows: mappings with `system`, `series` (the system with its other parameters), `value` (of the parameter), `label`, `mean`,
    and where known `ci_low`, `ci_high` and `unit` (else `share`). Rows without a mean are left out, and so are measures that are
    the same in all rows, as long as another is not. With more than `MOST_LINES` series a line is the median of a system's series
    at each value, and a point one series; intervals are drawn for up to three. Numbers stand at their places, on a logarithmic
    scale where they grow 25-fold; other values stand side by side in the order of first sight. point: what a point is.
    Raises NothingToEvaluate where no row has a mean.
    """
    known = [row for row in rows if plain(row["mean"]) is not None]
    if not known:
        raise NothingToEvaluate("no run of the grid has a figure, so there is nothing to draw.")
    labels = list(dict.fromkeys(str(row["label"]) for row in known))
    moving = [label for label in labels if len({row["mean"] for row in known if row["label"] == label}) > 1] or labels
    still = len(labels) - len(moving)
    series = len({row["series"] for row in known})
    crowded, bars = series > MOST_LINES, series <= _MOST_BARS and any(plain(row.get("ci_low")) is not None for row in known)
    names = short_names(list(dict.fromkeys(str(row["system" if crowded else "series"]) for row in known)))
    x = _axis(list(dict.fromkeys(row["value"] for row in known)), parameter)
    panels = [
        _panel(label, [row for row in known if row["label"] == label], x, names, crowded=crowded, bars=bars) for label in moving
    ]
    subtitle = "points: single runs; lines: the medians of a system's runs" if crowded else f"a point is a {point}"
    subtitle += "; bars: intervals" if bars else ""
    if still:
        subtitle += f"; {still} measure{'s' if still > 1 else ''} that no run moves {'are' if still > 1 else 'is'} left out"
    if len(names) == 1:
        subtitle = f"{next(iter(names.values()))}; {subtitle}"
    columns = 2 if len(panels) == 4 else columns_for(len(panels))
    spec = page(title or f"Measures over {visible(parameter)}", subtitle, panels, columns=columns)
    spec["config"] = {**spec["config"], "legend": LEGEND, "axisY": {"labelColor": QUIET}}
    return spec


def _axis(values: Sequence[Any], parameter: str) -> dict[str, Any]:
    """The x axis: numbers at their places, other values side by side."""
    axis = {"title": visible(parameter), "labelAngle": 0, "labelLimit": 140, "labelOverlap": True, "labelFlush": False}
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    if not numbers or len(values) == 1:
        return {"field": "value", "type": "ordinal", "scale": {"domain": [_shown(value) for value in values]}, "axis": axis}
    low, high = min(values), max(values)
    logarithmic = low > 0 and high >= _LOGARITHMIC_FROM * low
    room = 0.03 * (high - low)
    domain = [low / 1.1, high * 1.1] if logarithmic else [low - room, high + room]
    scale = {"type": "log" if logarithmic else "linear", "domain": domain, "nice": False, "zero": False}
    marks = {**axis, "values": sorted(values), "format": ".12~g", "grid": True}
    return {"field": "value", "type": "quantitative", "scale": scale, "axis": marks}


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else visible(value)


def _panel(
    label: str, rows: Sequence[Row], x: Mapping[str, Any], names: Mapping[str, str], *, crowded: bool, bars: bool
) -> dict[str, Any]:
    unit = rows[0].get("unit") or "share"
    shown = list(names.values())
    points = [_point(row, names[str(row["system" if crowded else "series"])], x) for row in rows]
    drawn = ("mean", "low", "high") if bars else ("mean",)
    y = _values([point[end] for point in points for end in drawn if point[end] is not None])
    colours = [_COLOURS[place % len(_COLOURS)] for place in range(len(shown))]
    legend = {
        "symbolType": "stroke",
        "symbolOpacity": 1,
        "columns": max(1, min(len(shown), 2 * _WIDTH // (max(map(len, shown)) * 7 + 60))),
    }
    colour = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": shown, "range": colours},
        "legend": None if len(shown) == 1 else legend,
    }
    ends: dict[str, Any] = {"y": {**y, "field": "mean"}}
    middle: dict[str, Any] = {"y": {**y, "field": "mean", **({"aggregate": "median"} if crowded else {})}}
    bar = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    layers = [
        *([_layer("rule", bar, strokeWidth=3, opacity=0.3)] if bars else []),
        _layer("line", {**middle, **_dashes(shown)}, strokeWidth=2.5),
        _layer("point", ends, filled=True, size=28 if crowded else 60, opacity=0.4 if crowded else 1),
    ]
    return {
        "title": visible(label) if unit in ("share", "score") else f"{visible(label)}, {unit}",
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": points},
        "encoding": {"x": dict(x), "color": colour},
        "layer": layers,
    }


def _dashes(shown: Sequence[str]) -> dict[str, Any]:
    """The first line is whole, the others have gaps of their own, so that equal lines are all to be seen."""
    if len(shown) < 2:
        return {}
    patterns = [[1, 0], *([6, 3 + 3 * place] for place in range(1, len(shown)))]
    scale = {"domain": list(shown), "range": patterns}
    return {"strokeDash": {"field": "series", "type": "nominal", "scale": scale, "legend": None}}


def _layer(mark: str, encoding: dict[str, Any], **look: Any) -> dict[str, Any]:
    return {"mark": {"type": mark, **look}, "encoding": encoding}


def _point(row: Row, name: str, x: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "series": name,
        "value": row["value"] if x["type"] == "quantitative" else _shown(row["value"]),
        "mean": float(row["mean"]),
        "low": plain(row.get("ci_low")),
        "high": plain(row.get("ci_high")),
    }


def _values(ends: Sequence[float]) -> dict[str, Any]:
    """The scale and its ticks: what is there with some room, not from 0, as lines are read by their slope."""
    low, high = min(ends), max(ends)
    edges = nice_edges(low, high if high > low else low + max(abs(low), 1.0) * 0.1, 4)
    return {
        "type": "quantitative",
        "scale": {"domain": [edges[0], edges[-1]], "nice": False, "zero": False},
        "axis": {
            "title": None,
            "values": [round(edge, 12) for edge in edges if math.isfinite(edge)],
            # As many decimals as the ticks need: 0.75 is not 0.8.
            "format": ".12~g",
            "labelFlush": False,
        },
    }
