"""Curves over the cut-off: how each measure of each run grows with k, with bands, one panel per measure."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rankwell.errors import NothingToEvaluate
from rankwell.report import Row
from rankwell.report.charts import LEGEND, QUIET, columns_for, nice_edges, page, short_names

Bands = Literal["sd", "interval"]
# Distinguishable for people who confuse red and green; from the seventh run on, dashes help as well.
COLOURS = ("#1f6fb2", "#d5672a", "#2e8b6f", "#8d5aa8", "#b58a14", "#5b6773")
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
    columns = 2 if len(parts) == 4 else columns_for(len(parts))
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
    spec = page(title or "Measures over k", _subtitle(known, bands, list(parts.values())), panels, columns=columns)
    spec["spacing"] = {"row": 26, "column": 34}
    spec["config"] = {**spec["config"], "legend": LEGEND, "axisY": {"labelColor": QUIET}}
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
    logarithmic = ks[0] > 0 and ks[-1] >= _LOGARITHMIC_FROM * ks[0]
    room = 0.03 * (ks[-1] - ks[0])
    domain = [ks[0] / 1.1, ks[-1] * 1.1] if logarithmic else [ks[0] - room, ks[-1] + room]
    scale = {"domain": domain, "nice": False, "zero": False, "type": "log" if logarithmic else "linear"}
    return {"field": "k", "type": "quantitative", "scale": scale, "axis": {**axis, "format": "d"}}
