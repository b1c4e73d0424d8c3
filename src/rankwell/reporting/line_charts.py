"""Line charts, one panel per measure: over the cut-off with bands, and over a parameter of
systems.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import cycle, islice, pairwise
from typing import Any, Literal

from rankwell.data.tables import is_number
from rankwell.errors import NothingToEvaluate
from rankwell.reporting import Row, grouped, plain, runs_of, visible
from rankwell.reporting.charts import (
    QUIET,
    Spec,
    layer,
    nice_edges,
    nominal,
    page,
    quantity,
    series,
    short_names,
)
from rankwell.stats.intervals import RANGES

Bands = Literal["sd", "interval"]
# Distinguishable for people who confuse red and green; curves over k have the first six, and dashes
# from the seventh run on.
SERIES = ("#1f6fb2", "#d5672a", "#2e8b6f", "#8d5aa8", "#b58a14", "#5b6773", "#b0446a", "#3a3f8f")
MOST_LINES = len(SERIES)
COLOURS = SERIES[:6]
_DASHES = ([1, 0], [6, 3], [2, 2])
_WIDTH, _HEIGHT = 300, 190
_LOGARITHMIC_FROM = 25
_ENDS = ("mean", "low", "high")
_STROKES = {"symbolType": "stroke", "symbolOpacity": 1}
_SHOWN = {"sd": "± one standard deviation over queries", "interval": "intervals of the means"}


def k_curves(rows: Sequence[Row], *, bands: Bands = "sd", title: str | None = None) -> Spec:
    """A Vega-Lite spec: for every measure a panel with a line per run over k, with a point and a
    tick at every k there is.

    rows: mappings with `run`, `label` (`Recall@5`), `k`, `mean`, `sd`, `ci_low`, `ci_high`, and
    where known `n` and `unit` (else `share`). Rows without a mean are left out. bands: the mean ±
    `sd`, or from `ci_low` to `ci_high`, cut to the unit's bounds. A single k has bars. k is drawn
    on a logarithmic scale where it grows 25-fold. Panels of one unit have one scale.
    Raises NothingToEvaluate where no row has a mean.
    """
    mean_rows = [row for row in rows if row["mean"] is not None]
    if not mean_rows:
        raise NothingToEvaluate(
            "no row has a mean, so there is no curve to draw; give summary rows over several k."
        )
    names = short_names(runs_of(mean_rows))
    ks = sorted({int(row["k"]) for row in mean_rows})
    signed = {_unit(row) for row in mean_rows if row["mean"] < 0}
    points_by_title: dict[tuple[str, str], list[Row]] = {}
    ends: dict[str, list[float]] = {}
    is_cut = False
    for row in mean_rows:
        unit, label = _unit(row), str(row["label"])
        word = f"{label.rpartition('@')[0]}@k" if "@" in label else label
        band, narrower = _band(row, bands, signed=unit in signed)
        is_cut |= narrower
        point: dict[str, Any] = {
            "run": names[row["run"]],
            "k": int(row["k"]),
            "mean": float(row["mean"]),
            **band,
        }
        points_by_title.setdefault((word, unit), []).append(point)
        # All panels of one unit have one scale.
        ends.setdefault(unit, []).extend(point[end] for end in _ENDS if point[end] is not None)
    panels = [
        {
            "title": _titled(word, unit),
            "width": _WIDTH * (2 if len(points_by_title) == 1 else 1),
            "height": _HEIGHT,
            **_k_panel(points, list(names.values()), ks, ends[unit]),
        }
        for (word, unit), points in points_by_title.items()
    ]
    all_points = [point for points in points_by_title.values() for point in points]
    subtitle = _subtitle(mean_rows, all_points, bands, is_cut=is_cut)
    spec = page(title or "Measures over k", subtitle, panels, legend=True)
    spec["config"]["axisY"] = {"labelColor": QUIET}
    return {**spec, "spacing": {"row": 26, "column": 34}}


def _titled(word: str, unit: str) -> str:
    return word if unit in ("share", "score") else f"{word}, {unit}"


def _unit(row: Row) -> str:
    return row.get("unit") or "share"


def _band(row: Row, bands: Bands, *, signed: bool) -> tuple[dict[str, float | None], bool]:
    """The ends of a row's band, as far as they are known, cut to what the unit allows; and whether
    they are cut.
    """
    low, high = (row.get("ci_low"), row.get("ci_high")) if bands == "interval" else (None, None)
    if bands == "sd" and row.get("sd") is not None:
        low, high = float(row["mean"]) - row["sd"], float(row["mean"]) + row["sd"]
    if low is None or high is None:
        return {"low": None, "high": None}, False
    bottom, top = RANGES.get(_unit(row), (-math.inf, math.inf))
    bottom = -top if signed else bottom
    return {
        "low": max(float(low), bottom),
        "high": min(float(high), top),
    }, low < bottom or high > top


def _subtitle(rows: Sequence[Row], points: Sequence[Row], bands: Bands, *, is_cut: bool) -> str:
    """The meaning of lines and bands, with the run where they are all of one run."""
    sizes = sorted({int(row["n"]) for row in rows if row.get("n")})
    over = (
        f" over {' to '.join(f'{size:,}' for size in dict.fromkeys((sizes[0], sizes[-1])))} queries"
        if sizes
        else ""
    )
    runs, several = {point["run"] for point in points}, len({point["k"] for point in points}) > 1
    text = f"{'lines' if several else 'points'}: means{over}"
    if any(point["low"] is not None for point in points):
        text += f"; {'bands' if several else 'bars'}: {_SHOWN[bands]}"
    if is_cut:
        text += ", cut at the measure's bounds"
    return f"{runs.pop()}; {text}" if len(runs) == 1 else text


def _k_panel(
    points: Sequence[Row], names: Sequence[str], ks: Sequence[int], ends: Sequence[float]
) -> Spec:
    """The panel of one measure; the more runs, the paler their bands. ends: all that the scale
    covers, from 0 or below.
    """
    y = _scale(nice_edges(min(0.0, *ends), max(ends), 5))
    legend = {"columns": _columns(names), **_STROKES}

    def _layer(mark: str, field: str, **look: Any) -> Spec:
        encoding = {"y": {**y, "field": field}}
        if mark in ("rule", "area"):
            encoding["y2"] = {"field": "high"}
        return layer(mark, encoding, where=field, **look)

    axis = {
        "title": "k",
        "values": list(ks),
        "grid": len(ks) > 1,
        "labelAngle": 0,
        "labelOverlap": True,
        "labelFlush": False,
    }
    if len(ks) == 1:
        encoding = {
            "x": {"field": "k", "type": "ordinal", "axis": axis},
            "xOffset": nominal("run", scale={"domain": names}),
        }
        marks = [_layer("rule", "low", strokeWidth=3, opacity=0.45)]
    else:
        kind, domain = _domain(ks[0], ks[-1])
        x_axis = {**axis, "format": "d"}
        encoding = {"x": quantity("k", domain, x_axis, zero=False, type=kind)}
        opacity = max(0.045, round(0.26 / (1 + len(names) / 2), 3))
        marks = [
            _layer("area", "low", opacity=opacity),
            *(_layer("line", end, strokeWidth=1, opacity=0.35) for end in ("low", "high")),
            _layer("line", "mean", strokeWidth=2.5),
        ]
        if len(names) > len(COLOURS):
            dashes = [_DASHES[index // len(COLOURS) % len(_DASHES)] for index in range(len(names))]
            marks[-1]["encoding"]["strokeDash"] = series("run", names, dashes, legend)
    marks.append(
        _layer("point", "mean", filled=True, size=60, opacity=1, stroke="white", strokeWidth=1)
    )
    colours = list(islice(cycle(COLOURS), len(names)))
    encoding["color"] = series("run", names, colours, legend)
    return {"data": {"values": points}, "encoding": encoding, "layer": marks}


def _columns(names: Sequence[str]) -> int:
    """As many columns of a legend as fit above the panels."""
    return max(1, min(2 * _WIDTH // (max(map(len, names)) * 7 + 60), len(names)))


def _scale(edges: Sequence[float], **axis: Any) -> Spec:
    """A scale of values with ticks at the edges."""
    axis_spec = {"title": None, "values": edges, **axis, "labelFlush": False}
    return {
        "type": "quantitative",
        "scale": {"domain": [edges[0], edges[-1]], "nice": False, "zero": False},
        "axis": axis_spec,
    }


_PARAMETER_HEIGHT = 180
_MOST_BARS = 3


def parameter_chart(
    rows: Sequence[Row], parameter: str, *, title: str | None = None, point: str = "run"
) -> Spec:
    """A Vega-Lite spec: for every measure a panel with the parameter's values on the x axis and a
    line per system.

    rows: mappings with `system`, `series` (the system with its other parameters), `value` (of the
    parameter), `label`, `mean`, and where known `ci_low`, `ci_high` and `unit` (else `share`). Left
    out are rows without a mean and measures that are the same in all rows, as long as another is
    not. With more than `MOST_LINES` series a line is the median of a system's series at each value;
    intervals are drawn for up to three. Numbers that grow 25-fold, or each by the same factor, have
    a logarithmic scale. point: the word for one.
    Raises NothingToEvaluate where no row has a mean.
    """
    mean_rows = [row for row in rows if plain(row["mean"]) is not None]
    if not mean_rows:
        raise NothingToEvaluate("no run of the grid has a figure, so there is nothing to draw.")
    rows_by_label = grouped((str(row["label"]), row) for row in mean_rows)
    moving = {
        label: label_rows
        for label, label_rows in rows_by_label.items()
        if len({row["mean"] for row in label_rows}) > 1
    } or rows_by_label
    n_series = len({row["series"] for row in mean_rows})
    crowded = n_series > MOST_LINES
    bars = n_series <= _MOST_BARS and any(plain(row.get("ci_low")) is not None for row in mean_rows)
    line_key = "system" if crowded else "series"
    names = short_names(list(dict.fromkeys(str(row[line_key]) for row in mean_rows)))
    x = _axis(list(dict.fromkeys(row["value"] for row in mean_rows)), parameter)
    panels = [
        _parameter_panel(label, label_rows, x, names, line_key, bars=bars)
        for label, label_rows in moving.items()
    ]
    subtitle = f"a point is a {point}"
    if crowded:
        subtitle = "points: single runs; lines: the medians of a system's runs"
    subtitle += "; bars: intervals" if bars else ""
    if still := len(rows_by_label) - len(moving):
        are = "s that no run moves are" if still > 1 else " that no run moves is"
        subtitle += f"; {still} measure{are} left out"
    if len(names) == 1:
        subtitle = f"{next(iter(names.values()))}; {subtitle}"
    spec = page(title or f"Measures over {parameter}", subtitle, panels, legend=True)
    spec["config"]["axisY"] = {"labelColor": QUIET}
    return spec


def _domain(low: float, high: float) -> tuple[str, list[float]]:
    """The type of an x axis, logarithmic where it grows 25-fold, and its range with some room."""
    if low > 0 and high >= _LOGARITHMIC_FROM * low:
        return "log", [low / 1.1, high * 1.1]
    room = 0.03 * (high - low)
    return "linear", [low - room, high + room]


def _is_geometric(values: Sequence[float]) -> bool:
    """Whether each of four values or more is the one before times the same number, as in 10, 20,
    40, 80.
    """
    ratios = [higher / lower for lower, higher in pairwise(sorted(values)) if lower > 0]
    return len(ratios) == len(values) - 1 >= 3 and max(ratios) < 1.01 * min(ratios)


def _axis(values: Sequence[Any], parameter: str) -> Spec:
    """The x axis: numbers at their places, other values side by side."""
    axis = {
        "title": parameter,
        "labelAngle": 0,
        "labelLimit": 140,
        "labelOverlap": True,
        "labelFlush": False,
    }
    if not all(map(is_number, values)) or len(values) == 1:
        scale = {"domain": [_value_text(value) for value in values]}
        return {"field": "value", "type": "ordinal", "scale": scale, "axis": axis}
    kind, domain = _domain(min(values), max(values))
    if _is_geometric(values):
        kind, domain = "log", [min(values) / 1.1, max(values) * 1.1]
    scale = {"type": kind, "domain": domain, "nice": False, "zero": False}
    axis |= {"values": sorted(values), "format": ".12~g", "grid": True}
    return {"field": "value", "type": "quantitative", "scale": scale, "axis": axis}


def _value_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else visible(value)


def _parameter_panel(
    label: str, rows: Sequence[Row], x: Spec, names: Mapping[str, str], line_of: str, *, bars: bool
) -> Spec:
    """The panel of one measure. line_of: the column that says which line a row belongs to."""
    series_names, crowded = list(names.values()), line_of == "system"
    points: list[Row] = [
        {
            "series": names[str(row[line_of])],
            "value": row["value"] if x["type"] == "quantitative" else _value_text(row["value"]),
            "mean": float(row["mean"]),
            "low": plain(row.get("ci_low")),
            "high": plain(row.get("ci_high")),
        }
        for row in rows
    ]
    drawn = _ENDS if bars else ("mean",)
    ends = [point[end] for point in points for end in drawn if point[end] is not None]
    low, high = min(ends), max(ends)
    # What is there with some room, not from 0, as lines are read by their slope.
    if low == high:
        # A share of 1 has its room below: there is nothing above it.
        room, (_, top) = max(abs(low), 1.0) * 0.1, RANGES.get(_unit(rows[0]), (0.0, math.inf))
        low, high = (low, low + room) if low + room <= top else (low - room, low)
    edges = nice_edges(low, high, 4)
    # As many decimals as the ticks need: 0.75 is not 0.8.
    y = _scale(edges, format=".12~g")
    y["axis"]["values"] = [round(edge, 12) for edge in edges if math.isfinite(edge)]
    mean = {**y, "field": "mean"}
    line = {"y": {**mean, "aggregate": "median"} if crowded else mean}
    legend = {**_STROKES, "columns": _columns(series_names)}
    if len(series_names) > 1:
        # The first line is whole, the others have gaps of their own, so that equal lines are all to
        # be seen.
        dashes = [[1, 0], *([6, 3 + 3 * index] for index in range(1, len(series_names)))]
        line["strokeDash"] = series("series", series_names, dashes, legend)
    bar = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    look: Spec = {"size": 28, "opacity": 0.4} if crowded else {"size": 60, "opacity": 1}
    layers = [
        *([layer("rule", bar, strokeWidth=3, opacity=0.3)] if bars else []),
        layer("line", line, strokeWidth=2.5),
        layer("point", {"y": mean}, filled=True, **look),
    ]
    colours = list(islice(cycle(SERIES), len(series_names)))
    return {
        "title": _titled(label, _unit(rows[0])),
        "width": _WIDTH,
        "height": _PARAMETER_HEIGHT,
        "data": {"values": points},
        "encoding": {"x": x, "color": series("series", series_names, colours, legend)},
        "layer": layers,
    }
