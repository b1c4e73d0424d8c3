"""Quality against cost of the settings of an engine, and the frontier that no setting is beyond."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rankwell.report import charts
from rankwell.report.charts import ACCENT, INK, QUIET, ChartData
from rankwell.report.line_charts import SERIES

_WIDTH, _HEIGHT = 460, 300
_MOST_NAMED, _LEAST_TICKS = 6, 3
_CHEAPEST, _BEST, _OTHER = (
    "cheapest that reaches the target",
    "indistinguishable from the best",
    "other settings",
)
_JOINED = "the line joins those that no other beats in both"
_SHAPES = {
    _CHEAPEST: ("diamond", "#d5672a"),
    _BEST: ("circle", "#2e8b6f"),
    _OTHER: ("circle", ACCENT),
}


class _Axes(NamedTuple):
    """The rows of cost and quality of one run, for their labels and units; whether 1 - recall is
    drawn; the recall to reach.
    """

    cost: Mapping[str, Any]
    quality: Mapping[str, Any]
    is_recall: bool
    target: float | None


@charts.chart("frontier")
def frontier(data: ChartData) -> dict[str, Any] | None:
    """A point for each run: its cost to the right, its quality upwards; a line joins those that no
    other beats in both.

    rules: `frontier` names the rows of both, {"cost": "p50", "quality": "Recall@10"}, and where
    known `best`, the runs that are indistinguishable from the best, `cheapest`, those that reach
    the recall `target` for least, and `engines`, by run; each
    of several has a line and a colour of its own. Recall crowds at 1, so that 1 - recall is drawn,
    on a logarithmic axis
    that falls; costs are on a logarithmic axis. None for fewer than two such runs.
    """
    named: Any = data.rules.get("frontier")
    if not isinstance(named, Mapping) or not named.get("quality") or not named.get("cost"):
        return None
    cost, quality = named["cost"], named["quality"]
    by_run: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in data.rows:
        if row["measure"] in (cost, quality) and row["mean"] is not None and not row.get("against"):
            by_run.setdefault(row["run"], {})[row["measure"]] = row
    known = {run: rows for run, rows in by_run.items() if len(rows) == 2 and rows[cost]["mean"] > 0}
    if len(known) < 2:
        return None
    first = next(iter(known.values()))
    is_recall = str(quality).startswith("Recall@") and first[quality]["unit"] == "share"
    axes = _Axes(first[cost], first[quality], is_recall, _target(named))
    points = _points(
        {run: (rows[cost], rows[quality]) for run, rows in known.items()},
        named,
        is_recall=is_recall,
    )
    for engine in dict.fromkeys(point["engine"] for point in points):
        own = [point for point in points if point["engine"] == engine]
        best = _unbeaten(own, lower=is_recall, cheap_is_low=cost != "throughput")
        for point in own:
            point["on"] = point["run"] in best
    title = f"{first[quality]['label']} against {first[cost]['label']}"
    return charts.page(title, _subtitle(axes, points), [_panel(points, axes)], columns=1)


def _target(named: Mapping[str, Any]) -> float | None:
    """The recall to reach, where the rules have one."""
    target = named.get("target")
    return target if isinstance(target, float) and 0 < target < 1 else None


def _points(
    known: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]],
    named: Mapping[str, Any],
    *,
    is_recall: bool,
) -> list[dict[str, Any]]:
    """The cells of every point. A recall of 1 has no place on a logarithmic axis; it is drawn below
    all others.
    """
    names = charts.short_names(charts.distinct_parts(list(known)))
    cheapest, best = (
        named[name] if isinstance(named.get(name), list) else [] for name in ("cheapest", "best")
    )
    engines: Mapping[str, str] = (
        named["engines"] if isinstance(named.get("engines"), Mapping) else {}
    )
    missed = [1 - quality["mean"] for _, quality in known.values() if quality["mean"] < 1]
    lowest = min(
        [0.5 / max(1, quality["n"]) for _, quality in known.values()]
        + [0.5 * each for each in missed]
    )
    points: list[dict[str, Any]] = []
    for (run, (cost, quality)), name in zip(known.items(), names.values(), strict=True):
        mark = _CHEAPEST if run in cheapest else _BEST if run in best else _OTHER
        points.append(
            {
                "run": name,
                "cost": cost["mean"],
                "quality": max(1 - quality["mean"], lowest) if is_recall else quality["mean"],
                "lowest": is_recall and quality["mean"] >= 1,
                "mark": mark,
                "engine": str(engines.get(run, "")),
                "shown": charts.written(quality["mean"], quality["unit"]),
                "spent": f"{charts.written(cost['mean'], cost['unit'])} {cost['unit']}",
            }
        )
    return points


def _unbeaten(points: Sequence[Mapping[str, Any]], *, lower: bool, cheap_is_low: bool) -> set[str]:
    """The runs that no other beats in both."""

    def _beats(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        cheaper = one["cost"] <= other["cost"] if cheap_is_low else one["cost"] >= other["cost"]
        better = one["quality"] <= other["quality"] if lower else one["quality"] >= other["quality"]
        return (
            cheaper
            and better
            and (one["cost"], one["quality"]) != (other["cost"], other["quality"])
        )

    return {each["run"] for each in points if not any(_beats(other, each) for other in points)}


def _subtitle(axes: _Axes, points: Sequence[Mapping[str, Any]]) -> str:
    several = len(_engines(points)) > 1
    joined = "each line is the frontier of an engine" if several else _JOINED
    parts = [f"a point is a setting; {joined}"]
    parts += (
        [f"dashed: the target {axes.target:g}"]
        if axes.target is not None and axes.is_recall
        else []
    )
    parts += (
        ["a recall of 1 is drawn at the upper edge"]
        if any(each["lowest"] for each in points)
        else []
    )
    return "; ".join(parts)


def _engines(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """The engines, where each of several can have a colour of its own; else none."""
    engines = list(dict.fromkeys(point["engine"] for point in points))
    return engines if 1 < len(engines) <= len(SERIES) else []


def _panel(points: list[dict[str, Any]], axes: _Axes) -> dict[str, Any]:
    cost, quality = axes.cost, axes.quality
    costs = _decades([each["cost"] for each in points])
    x = charts.quantity(
        "cost", costs, {"title": f"{cost['label']}, {cost['unit']}", **_ticks(costs)}, type="log"
    )
    values = [each["quality"] for each in points]
    if axes.is_recall:
        ends = _decades(values if axes.target is None else [*values, 1 - axes.target])
        axis = {"title": f"1 − {quality['label']}", **_ticks(ends)}
        y = charts.quantity("quality", ends, axis, type="log", reverse=True)
    else:
        ends = charts.nice_domain(min(values), max(values))
        y = charts.quantity("quality", ends, {"title": quality["label"], "grid": True}, zero=False)
    order = {"field": "cost", "type": "quantitative"}
    colour = _colour(points)
    line = charts.layer(
        "line",
        {"x": x, "y": y, "order": order, **colour},
        strokeWidth=2,
        opacity=0.5,
        **({} if colour else {"color": ACCENT}),
    )
    line["transform"] = [{"filter": "datum.on"}]
    target = charts.layer(
        "rule", {"y": {**y, "datum": 1 - (axes.target or 0)}}, strokeDash=[4, 4], color=QUIET
    )
    del target["encoding"]["y"]["field"]
    drawn = [target] if axes.target is not None and axes.is_recall else []
    layers = [*drawn, line, _dots(points, x, y, axes), *([] if colour else _names(points, x, y))]
    return {"width": _WIDTH, "height": _HEIGHT, "data": {"values": points}, "layer": layers}


def _colour(points: Sequence[Mapping[str, Any]], channel: str = "color") -> dict[str, Any]:
    """A colour for each engine; nothing where there is one."""
    engines = _engines(points)
    scale = {"domain": engines, "range": list(SERIES[: len(engines)])}
    legend = {
        "orient": "top",
        "title": None,
        "labelLimit": 160,
        "columns": 3,
        "symbolType": "circle",
        "symbolOpacity": 1,
    }
    return (
        {channel: {"field": "engine", "type": "nominal", "scale": scale, "legend": legend}}
        if engines
        else {}
    )


def _dots(
    points: Sequence[Mapping[str, Any]], x: Mapping[str, Any], y: Mapping[str, Any], axes: _Axes
) -> dict[str, Any]:
    """The points: filled on the frontier, in the shape and the colour of the choice that they
    belong to.
    """
    marks = [mark for mark in _SHAPES if any(each["mark"] == mark for each in points)]
    legend = (
        {"orient": "top", "title": None, "labelLimit": 260, "columns": 1}
        if len(marks) > 1
        else None
    )

    def _scale(place: int) -> dict[str, Any]:
        scale = {"domain": marks, "range": [_SHAPES[mark][place] for mark in marks]}
        return {"field": "mark", "type": "nominal", "scale": scale, "legend": legend}

    paint = _colour(points, "stroke").get("stroke") or _scale(1)
    fill: dict[str, Any] = {"condition": {"test": "!datum.on", "value": "white"}, **paint}
    shown = {
        "run": "setting",
        "shown": axes.quality["label"],
        "spent": axes.cost["label"],
        "mark": "choice",
    }
    tip = [{"field": name, "title": title, "type": "nominal"} for name, title in shown.items()]
    encoding = {"x": x, "y": y, "shape": _scale(0), "stroke": paint, "fill": fill, "tooltip": tip}
    return charts.layer("point", encoding, size=90, strokeWidth=2, opacity=1)


def _names(
    points: Sequence[Mapping[str, Any]], x: Mapping[str, Any], y: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The names of all points where they are few, else of the frontier's: below to the right, of
    the last ones to the left.
    """
    which = "true" if len(points) <= _MOST_NAMED else "datum.on"
    low, high = (math.log10(each) for each in x["scale"]["domain"])
    edge = 10 ** (low + 0.6 * (high - low))
    layers: list[dict[str, Any]] = []
    for is_left in (False, True):
        side = f"datum.cost {'>' if is_left else '<='} {edge!r}"
        look: dict[str, Any] = (
            {"align": "right", "dx": -10, "dy": -9}
            if is_left
            else {"align": "left", "dx": 10, "dy": 11}
        )
        words = {"x": x, "y": y, "text": {"field": "run", "type": "nominal"}}
        text = charts.layer("text", words, fontSize=11, color=INK, **look)
        layers.append({**text, "transform": [{"filter": f"{which} && {side}"}]})
    return layers


def _ticks(ends: Sequence[float]) -> dict[str, Any]:
    """Ticks of a logarithmic axis at 1, 2 and 5 times powers of ten, powers alone over many
    decades, round numbers over few.
    """
    low, high = (math.log10(each) for each in ends)
    steps = (1,) if high - low > 3 else (1, 2, 5)
    powers = range(math.floor(low), math.ceil(high) + 1)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    known = [tick for tick in ticks if ends[0] <= tick <= ends[1]]
    if len(known) < _LEAST_TICKS:
        known = [
            round(tick, 12)
            for tick in charts.nice_edges(ends[0], ends[1], 5)
            if ends[0] <= tick <= ends[1]
        ]
    return {"values": known, "format": ".12~g", "grid": True}


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """A range on a logarithmic axis with some room at both ends, of a third of a decade at
    least.
    """
    low, high = math.log10(min(values)), math.log10(max(values))
    room = max(0.08 * (high - low), 0.08)
    return 10 ** (low - room), 10 ** (high + room)
