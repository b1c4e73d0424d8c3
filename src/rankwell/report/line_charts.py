"""Line charts, one panel per measure: over the cut-off with bands, and over a parameter of systems."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rankwell.errors import NothingToEvaluate
from rankwell.report import Row, plain, visible
from rankwell.report.charts import LEGEND, QUIET, columns_for, nice_edges, page, short_names

Bands = Literal["sd", "interval"]
# Distinguishable for people who confuse red and green; curves over k have the first six, and dashes from the seventh run on.
_COLOURS = ("#1f6fb2", "#d5672a", "#2e8b6f", "#8d5aa8", "#b58a14", "#5b6773", "#b0446a", "#3a3f8f")
MOST_LINES = len(_COLOURS)
COLOURS = _COLOURS[:6]
_DASHES = ((1, 0), (6, 3), (2, 2))
_WIDTH, _HEIGHT = 300, 190
_LOGARITHMIC_FROM = 25
_BOUNDS = {"share": (0.0, 1.0), "percent": (0.0, 100.0), "rank": (1.0, math.inf), "count": (0.0, math.inf)}
_SHOWN = {"sd": "± one standard deviation over queries", "interval": "intervals of the means"}


class _Point(NamedTuple):
    """One mean, with its band as far as it is known, cut to what the unit allows."""

    run: str
    k: int
    mean: float
    low: float | None
    high: float | None
    cut: bool


def k_curves(rows: Sequence[Row], *, bands: Bands = "sd", title: str | None = None) -> dict[str, Any]:
    """A Vega-Lite spec: for every measure a panel with a line per run over k, with a point and a tick at every k there is.

    rows: mappings with `run`, `label` (`Recall@5`), `k`, `mean`, `sd`, `ci_low`, `ci_high`, and where known `n` and `unit` (else
    `share`). Rows without a mean are left out. Panels stand in the order of first sight, runs likewise.
    bands: the mean ± `sd`, or from `ci_low` to `ci_high`, absent where they are unknown; cut to what the unit allows (shares to 0
    and 1, percentages to 0 and 100, from -1 and -100 where a mean is negative; ranks from 1, counts from 0). A single k has bars.
    k is drawn on a logarithmic scale where it grows 25-fold. Panels of one unit have one scale.
    Raises NothingToEvaluate where no row has a mean.
    """
    known = [row for row in rows if row["mean"] is not None]
    if not known:
        raise NothingToEvaluate("no row has a mean, so there is no curve to draw; give summary rows over several k.")
    names = short_names(list(dict.fromkeys(row["run"] for row in known)))
    ks = sorted({int(row["k"]) for row in known})
    parts: dict[str, tuple[str, list[_Point]]] = {}
    for row in known:
        parts.setdefault(_word(row), (_unit(row), []))[1].append(_point(row, names[row["run"]], bands, known))
    panels = [
        _panel(
            word if unit in ("share", "score") else f"{word}, {unit}",
            points,
            {
                "width": _WIDTH * (2 if len(parts) == 1 else 1),
                "names": list(names.values()),
                "ks": ks,
                "y": _values([each for other, each in parts.values() if other == unit]),
            },
        )
        for word, (unit, points) in parts.items()
    ]
    spec = _page(title or "Measures over k", _subtitle(known, bands, list(parts.values())), panels)
    spec["spacing"] = {"row": 26, "column": 34}
    return spec


def _word(row: Row) -> str:
    return f"{str(row['label']).rpartition('@')[0]}@k" if "@" in str(row["label"]) else str(row["label"])


def _unit(row: Row) -> str:
    return row.get("unit") or "share"


def _point(row: Row, name: str, bands: Bands, rows: Sequence[Row]) -> _Point:
    mean, sd = float(row["mean"]), row.get("sd")
    low, high = (row.get("ci_low"), row.get("ci_high")) if bands == "interval" else (None, None)
    if bands == "sd" and sd is not None:
        low, high = mean - sd, mean + sd
    if low is None or high is None:
        return _Point(name, int(row["k"]), mean, None, None, cut=False)
    low, high = float(low), float(high)
    bottom, top = _BOUNDS.get(_unit(row), (-math.inf, math.inf))
    if any(each["mean"] < 0 for each in rows if _unit(each) == _unit(row)):
        bottom = -top
    return _Point(name, int(row["k"]), mean, max(low, bottom), min(high, top), cut=low < bottom or high > top)


def _subtitle(rows: Sequence[Row], bands: Bands, parts: Sequence[tuple[str, list[_Point]]]) -> str:
    """The meaning of lines and bands, with the run where they are all of one run."""
    sizes = sorted({int(row["n"]) for row in rows if row.get("n")})
    over = f" over {sizes[0]:,}" if len(sizes) == 1 else f" over {sizes[0]:,} to {sizes[-1]:,}" if sizes else ""
    points = [point for _, part in parts for point in part]
    runs, several = {point.run for point in points}, len({point.k for point in points}) > 1
    text = f"{'lines' if several else 'points'}: means{over and over + ' queries'}"
    if any(point.low is not None for point in points):
        text += f"; {'bands' if several else 'bars'}: {_SHOWN[bands]}"
    if any(point.cut for point in points):
        text += ", cut at the measure's bounds"
    return f"{runs.pop()}; {text}" if len(runs) == 1 else text


def _values(parts: Sequence[list[_Point]]) -> dict[str, Any]:
    """The scale and ticks that all panels of one unit have: from 0, or below it where a value is, to the highest band."""
    ends = [end for part in parts for point in part for end in (point.mean, point.low, point.high) if end is not None]
    edges = nice_edges(min(0.0, *ends), max(ends), 5)
    return {
        "type": "quantitative",
        "scale": {"domain": [edges[0], edges[-1]], "nice": False, "zero": False},
        "axis": {"title": None, "values": edges, "labelFlush": False},
    }


def _panel(title: str, points: Sequence[_Point], shared: Mapping[str, Any]) -> dict[str, Any]:
    """A panel of one measure. shared: what every panel has, its `width`, the `names` of all runs, all `ks`, and the scale `y`."""
    names, ks, y = shared["names"], shared["ks"], shared["y"]
    colour = {
        "field": "run",
        "type": "nominal",
        "scale": {"domain": names, "range": [COLOURS[place % len(COLOURS)] for place in range(len(names))]},
        "legend": _legend(names),
    }
    several = len(ks) > 1
    marks = _lines(names, y) if several else [_layer("rule", y, "low", y2="high", strokeWidth=3, opacity=0.45)]
    marks.append(_layer("point", y, "mean", filled=True, size=60, opacity=1, stroke="white", strokeWidth=1))
    x: dict[str, Any] = {"x": _cut_offs(ks)}
    if not several:
        x["xOffset"] = {"field": "run", "type": "nominal", "scale": {"domain": names}}
    return {
        "title": title,
        "width": shared["width"],
        "height": _HEIGHT,
        "data": {
            "values": [{"run": each.run, "k": each.k, "mean": each.mean, "low": each.low, "high": each.high} for each in points]
        },
        "encoding": {**x, "color": colour},
        "layer": marks,
    }


def _lines(names: Sequence[str], y: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Bands with faint edges, which tell whose band ends where several overlap, and the lines; the more runs, the paler bands."""
    opacity = max(0.045, round(0.26 / (1 + len(names) / 2), 3))
    layers = [_layer("area", y, "low", y2="high", opacity=opacity)]
    layers += [_layer("line", y, end, strokeWidth=1, opacity=0.35) for end in ("low", "high")]
    line = _layer("line", y, "mean", strokeWidth=2.5)
    if len(names) > len(COLOURS):
        dashes = [list(_DASHES[place // len(COLOURS) % len(_DASHES)]) for place in range(len(names))]
        scale = {"domain": names, "range": dashes}
        line["encoding"]["strokeDash"] = {"field": "run", "type": "nominal", "scale": scale, "legend": _legend(names)}
    return [*layers, line]


def _layer(mark: str, y: Mapping[str, Any], field: str, *, y2: str | None = None, **look: Any) -> dict[str, Any]:
    ends = {"y": {**y, "field": field}} | ({"y2": {"field": y2}} if y2 else {})
    return {"mark": {"type": mark, **look}, "transform": [{"filter": f"isValid(datum.{field})"}], "encoding": ends}


def _legend(names: Sequence[str]) -> dict[str, Any] | None:
    """Names in as many columns as fit above the panels, in the runs' order; nothing for a run alone."""
    if len(names) == 1:
        return None
    room = 2 * _WIDTH // (max(map(len, names)) * 7 + 60)
    return {"columns": max(1, min(room, len(names))), "symbolType": "stroke", "symbolOpacity": 1}


def _cut_offs(ks: Sequence[int]) -> dict[str, Any]:
    axis = {"title": "k", "values": list(ks), "grid": True, "labelAngle": 0, "labelOverlap": True, "labelFlush": False}
    if len(ks) == 1:
        return {"field": "k", "type": "ordinal", "axis": {**axis, "grid": False}}
    kind, domain = _domain(ks[0], ks[-1])
    scale = {"domain": domain, "nice": False, "zero": False, "type": kind}
    return {"field": "k", "type": "quantitative", "scale": scale, "axis": {**axis, "format": "d"}}


_PARAMETER_HEIGHT = 180
_MOST_BARS = 3


def parameter_chart(rows: Sequence[Row], parameter: str, *, title: str | None = None, point: str = "run") -> dict[str, Any]:
    """A Vega-Lite spec: for every measure a panel with the parameter's values on the x axis and a line per system.

    rows: mappings with `system`, `series` (the system with its other parameters), `value` (of the parameter), `label`, `mean`,
    and where known `ci_low`, `ci_high` and `unit` (else `share`). Rows without a mean are left out, and so are measures that are
    the same in all rows, as long as another is not. With more than `MOST_LINES` series a line is the median of a system's series
    at each value, and a point one series; intervals are drawn for up to three. Numbers are at their places, on a logarithmic
    scale where they grow 25-fold; other values are side by side in the order of first sight. point: the word for one.
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
        _parameter_panel(label, [row for row in known if row["label"] == label], x, names, crowded=crowded, bars=bars)
        for label in moving
    ]
    subtitle = "points: single runs; lines: the medians of a system's runs" if crowded else f"a point is a {point}"
    subtitle += "; bars: intervals" if bars else ""
    if still:
        subtitle += f"; {still} measure{'s' if still > 1 else ''} that no run moves {'are' if still > 1 else 'is'} left out"
    if len(names) == 1:
        subtitle = f"{next(iter(names.values()))}; {subtitle}"
    return _page(title or f"Measures over {visible(parameter)}", subtitle, panels)


def _page(title: str, subtitle: str, panels: Sequence[dict[str, Any]]) -> dict[str, Any]:
    spec = page(title, subtitle, panels, columns=columns_for(len(panels)))
    spec["config"] = {**spec["config"], "legend": LEGEND, "axisY": {"labelColor": QUIET}}
    return spec


def _domain(low: float, high: float) -> tuple[str, list[float]]:
    """The type of an x axis, logarithmic where it grows 25-fold, and its range with some room."""
    if low > 0 and high >= _LOGARITHMIC_FROM * low:
        return "log", [low / 1.1, high * 1.1]
    room = 0.03 * (high - low)
    return "linear", [low - room, high + room]


def _axis(values: Sequence[Any], parameter: str) -> dict[str, Any]:
    """The x axis: numbers at their places, other values side by side."""
    axis = {"title": visible(parameter), "labelAngle": 0, "labelLimit": 140, "labelOverlap": True, "labelFlush": False}
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    if not numbers or len(values) == 1:
        return {"field": "value", "type": "ordinal", "scale": {"domain": [_shown(value) for value in values]}, "axis": axis}
    kind, domain = _domain(min(values), max(values))
    scale = {"type": kind, "domain": domain, "nice": False, "zero": False}
    marks = {**axis, "values": sorted(values), "format": ".12~g", "grid": True}
    return {"field": "value", "type": "quantitative", "scale": scale, "axis": marks}


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else visible(value)


def _parameter_panel(
    label: str, rows: Sequence[Row], x: Mapping[str, Any], names: Mapping[str, str], *, crowded: bool, bars: bool
) -> dict[str, Any]:
    unit = rows[0].get("unit") or "share"
    shown = list(names.values())
    points = [_parameter_point(row, names[str(row["system" if crowded else "series"])], x) for row in rows]
    drawn = ("mean", "low", "high") if bars else ("mean",)
    y = _slope_scale([point[end] for point in points for end in drawn if point[end] is not None])
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
        *([_mark("rule", bar, strokeWidth=3, opacity=0.3)] if bars else []),
        _mark("line", {**middle, **_dashes(shown)}, strokeWidth=2.5),
        _mark("point", ends, filled=True, size=28 if crowded else 60, opacity=0.4 if crowded else 1),
    ]
    return {
        "title": visible(label) if unit in ("share", "score") else f"{visible(label)}, {unit}",
        "width": _WIDTH,
        "height": _PARAMETER_HEIGHT,
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


def _mark(mark: str, encoding: dict[str, Any], **look: Any) -> dict[str, Any]:
    return {"mark": {"type": mark, **look}, "encoding": encoding}


def _parameter_point(row: Row, name: str, x: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "series": name,
        "value": row["value"] if x["type"] == "quantitative" else _shown(row["value"]),
        "mean": float(row["mean"]),
        "low": plain(row.get("ci_low")),
        "high": plain(row.get("ci_high")),
    }


def _slope_scale(ends: Sequence[float]) -> dict[str, Any]:
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
