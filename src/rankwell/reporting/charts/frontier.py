"""Quality against cost of the settings of an engine, and the frontier that no setting is beyond."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rankwell.reporting import charts
from rankwell.reporting.charts import ACCENT, INK, QUIET, ChartData
from rankwell.reporting.line_charts import SERIES

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
    frontier_rules: Any = data.rules.get("frontier")
    if (
        not isinstance(frontier_rules, Mapping)
        or not frontier_rules.get("quality")
        or not frontier_rules.get("cost")
    ):
        return None
    cost, quality = frontier_rules["cost"], frontier_rules["quality"]
    by_run: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in data.rows:
        if row["measure"] in (cost, quality) and row["mean"] is not None and not row.get("against"):
            by_run.setdefault(row["run"], {})[row["measure"]] = row
    rows_by_run = {
        run: rows for run, rows in by_run.items() if len(rows) == 2 and rows[cost]["mean"] > 0
    }
    if len(rows_by_run) < 2:
        return None
    first = next(iter(rows_by_run.values()))
    is_recall = str(quality).startswith("Recall@") and first[quality]["unit"] == "share"
    axes = _Axes(first[cost], first[quality], is_recall, _target(frontier_rules))
    points = _points(
        {run: (rows[cost], rows[quality]) for run, rows in rows_by_run.items()},
        frontier_rules,
        is_recall=is_recall,
    )
    for engine in dict.fromkeys(point["engine"] for point in points):
        engine_points = [point for point in points if point["engine"] == engine]
        best = _unbeaten(engine_points, lower=is_recall, cheap_is_low=cost != "throughput")
        for point in engine_points:
            point["on"] = point["run"] in best
    title = f"{first[quality]['label']} against {first[cost]['label']}"
    return charts.page(title, _subtitle(axes, points), [_panel(points, axes)], columns=1)


def _target(frontier_rules: Mapping[str, Any]) -> float | None:
    """The recall to reach, where the rules have one."""
    target = frontier_rules.get("target")
    return target if isinstance(target, float) and 0 < target < 1 else None


def _points(
    rows_by_run: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]],
    frontier_rules: Mapping[str, Any],
    *,
    is_recall: bool,
) -> list[dict[str, Any]]:
    """The cells of every point. A recall of 1 has no place on a logarithmic axis; it is drawn below
    all others.
    """
    names = charts.short_names(charts.distinct_parts(list(rows_by_run)))
    cheapest, best = (
        frontier_rules[name] if isinstance(frontier_rules.get(name), list) else []
        for name in ("cheapest", "best")
    )
    engines: Mapping[str, str] = (
        frontier_rules["engines"] if isinstance(frontier_rules.get("engines"), Mapping) else {}
    )
    missed = [1 - quality["mean"] for _, quality in rows_by_run.values() if quality["mean"] < 1]
    lowest = min(
        [0.5 / max(1, quality["n"]) for _, quality in rows_by_run.values()]
        + [0.5 * miss for miss in missed]
    )
    points: list[dict[str, Any]] = []
    for (run, (cost, quality)), name in zip(rows_by_run.items(), names.values(), strict=True):
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

    def _beats(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
        cheaper = (
            first["cost"] <= second["cost"] if cheap_is_low else first["cost"] >= second["cost"]
        )
        better = (
            first["quality"] <= second["quality"]
            if lower
            else first["quality"] >= second["quality"]
        )
        return (
            cheaper
            and better
            and (first["cost"], first["quality"]) != (second["cost"], second["quality"])
        )

    return {point["run"] for point in points if not any(_beats(rival, point) for rival in points)}


def _subtitle(axes: _Axes, points: Sequence[Mapping[str, Any]]) -> str:
    several = len(_engines(points)) > 1
    line_note = "each line is the frontier of an engine" if several else _JOINED
    parts = [f"a point is a setting; {line_note}"]
    parts += (
        [f"dashed: the target {axes.target:g}"]
        if axes.target is not None and axes.is_recall
        else []
    )
    parts += (
        ["a recall of 1 is drawn at the upper edge"]
        if any(point["lowest"] for point in points)
        else []
    )
    return "; ".join(parts)


def _engines(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """The engines, where each of several can have a colour of its own; else none."""
    engines = list(dict.fromkeys(point["engine"] for point in points))
    return engines if 1 < len(engines) <= len(SERIES) else []


def _panel(points: list[dict[str, Any]], axes: _Axes) -> dict[str, Any]:
    cost, quality = axes.cost, axes.quality
    costs = _decades([point["cost"] for point in points])
    x = charts.quantity(
        "cost", costs, {"title": f"{cost['label']}, {cost['unit']}", **_ticks(costs)}, type="log"
    )
    values = [point["quality"] for point in points]
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
    target_layers = [target] if axes.target is not None and axes.is_recall else []
    layers = [
        *target_layers,
        line,
        _dots(points, x, y, axes),
        *([] if colour else _names(points, x, y)),
    ]
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
    marks = [mark for mark in _SHAPES if any(point["mark"] == mark for point in points)]
    legend = (
        {"orient": "top", "title": None, "labelLimit": 260, "columns": 1}
        if len(marks) > 1
        else None
    )

    def _scale(style_index: int) -> dict[str, Any]:
        scale = {"domain": marks, "range": [_SHAPES[mark][style_index] for mark in marks]}
        return {"field": "mark", "type": "nominal", "scale": scale, "legend": legend}

    paint = _colour(points, "stroke").get("stroke") or _scale(1)
    fill: dict[str, Any] = {"condition": {"test": "!datum.on", "value": "white"}, **paint}
    tooltip_fields = {
        "run": "setting",
        "shown": axes.quality["label"],
        "spent": axes.cost["label"],
        "mark": "choice",
    }
    tip = [
        {"field": name, "title": title, "type": "nominal"} for name, title in tooltip_fields.items()
    ]
    encoding = {"x": x, "y": y, "shape": _scale(0), "stroke": paint, "fill": fill, "tooltip": tip}
    return charts.layer("point", encoding, size=90, strokeWidth=2, opacity=1)


def _names(
    points: Sequence[Mapping[str, Any]], x: Mapping[str, Any], y: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The names of all points where they are few, else of the frontier's: below to the right, of
    the last ones to the left.
    """
    name_filter = "true" if len(points) <= _MOST_NAMED else "datum.on"
    low, high = (math.log10(end) for end in x["scale"]["domain"])
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
        layers.append({**text, "transform": [{"filter": f"{name_filter} && {side}"}]})
    return layers


def _ticks(ends: Sequence[float]) -> dict[str, Any]:
    """Ticks of a logarithmic axis at 1, 2 and 5 times powers of ten, powers alone over many
    decades, round numbers over few.
    """
    low, high = (math.log10(end) for end in ends)
    steps = (1,) if high - low > 3 else (1, 2, 5)
    powers = range(math.floor(low), math.ceil(high) + 1)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    ticks_inside = [tick for tick in ticks if ends[0] <= tick <= ends[1]]
    if len(ticks_inside) < _LEAST_TICKS:
        ticks_inside = [
            round(tick, 12)
            for tick in charts.nice_edges(ends[0], ends[1], 5)
            if ends[0] <= tick <= ends[1]
        ]
    return {"values": ticks_inside, "format": ".12~g", "grid": True}


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """A range on a logarithmic axis with some room at both ends, of a third of a decade at
    least.
    """
    low, high = math.log10(min(values)), math.log10(max(values))
    room = max(0.08 * (high - low), 0.08)
    return 10 ** (low - room), 10 ** (high + room)
