"""Quality against cost of the settings of an engine, and the frontier that no setting is beyond."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rankwell.reporting import Row, Rules, charts
from rankwell.reporting.charts import ACCENT, INK, QUIET, ChartData, Spec
from rankwell.reporting.line_charts import SERIES

_WIDTH, _HEIGHT = 460, 300
_MOST_NAMED, _LEAST_TICKS, _CHARACTER = 6, 3, 6.2
_SIDES = {
    "below right": ("left", 10, 11),
    "above left": ("right", -10, -9),
    "above right": ("left", 10, -9),
    "below left": ("right", -10, 11),
}
"""Where a name may stand beside its point: its alignment, and its distance in pixels."""
_CHEAPEST, _BEST, _OTHER = (
    "cheapest that reaches the target",
    "not significantly different from the best",
    "other settings",
)
_SHAPES = {
    _CHEAPEST: ("diamond", "#d5672a"),
    _BEST: ("circle", "#2e8b6f"),
    _OTHER: ("circle", ACCENT),
}


@charts.chart("frontier")
def frontier(data: ChartData) -> Spec | None:
    """A point for each run: its cost to the right, its quality upwards; a line joins those that no
    other beats in both.

    rules: `frontier` names the rows of both, {"cost": "p50", "quality": "Recall@10"}, and where
    known `best`, the runs without a significant difference from the best, `cheapest`, those
    that reach the recall `target` for least, and `engines`, by run; each of several has a line
    and a colour of its own. Recall crowds at 1, so that 1 - recall is drawn, on a logarithmic
    axis that falls; costs are on a logarithmic axis. None for fewer than two such runs.
    """
    rules: Any = data.rules.get("frontier")
    if not isinstance(rules, Mapping) or not rules.get("quality") or not rules.get("cost"):
        return None
    cost, quality = rules["cost"], rules["quality"]
    by_run: dict[str, dict[str, Row]] = {}
    for row in data.rows:
        if row["measure"] in (cost, quality) and row["mean"] is not None and not row.get("against"):
            by_run.setdefault(row["run"], {})[row["measure"]] = row
    rows_by_run = {
        run: (rows[cost], rows[quality])
        for run, rows in by_run.items()
        if len(rows) == 2 and rows[cost]["mean"] > 0
    }
    if len(rows_by_run) < 2:
        return None
    first_cost, first_quality = next(iter(rows_by_run.values()))
    is_recall = str(quality).startswith("Recall@") and first_quality["unit"] == "share"
    target = rules.get("target")
    if not (is_recall and isinstance(target, float) and 0 < target < 1):
        target = None
    points = _points(rows_by_run, rules, is_recall=is_recall)
    signs = -1 if cost == "throughput" else 1, 1 if is_recall else -1
    places = [(signs[0] * point["cost"], signs[1] * point["quality"]) for point in points]
    for point, place in zip(points, places, strict=True):
        point["on"] = not any(
            rival["engine"] == point["engine"]
            and (rival_place[0] <= place[0] and rival_place[1] <= place[1] and rival_place != place)
            for rival, rival_place in zip(points, places, strict=True)
        )
    subtitle = "a point is a setting; the line joins those that no other beats in both"
    if _engines(points):
        subtitle = "a point is a setting; each line is the frontier of an engine"
    if target is not None:
        subtitle += f"; dashed: the target {target:g}"
    if any(point["lowest"] for point in points):
        subtitle += "; a recall of 1 is drawn at the upper edge"
    title = f"{first_quality['label']} against {first_cost['label']}"
    panel = _panel(points, first_cost, first_quality, target, is_recall=is_recall)
    return charts.page(title, subtitle, [panel])


def _points(
    rows_by_run: Mapping[str, tuple[Row, Row]], rules: Rules, *, is_recall: bool
) -> list[Spec]:
    """The cells of every point. A recall of 1 has no place on a logarithmic axis; it is drawn below
    all others.
    """
    names = charts.short_names(charts.distinct_parts(list(rows_by_run)))
    cheapest, best = (
        rules[name] if isinstance(rules.get(name), list) else [] for name in ("cheapest", "best")
    )
    engines = rules["engines"] if isinstance(rules.get("engines"), Mapping) else {}
    qualities = [quality for _, quality in rows_by_run.values()]
    lowest = 0.5 * min(
        *(1 / max(1, quality["n"]) for quality in qualities),
        *(1 - quality["mean"] for quality in qualities if quality["mean"] < 1),
    )
    return [
        {
            "run": name,
            "cost": cost["mean"],
            "quality": max(1 - quality["mean"], lowest) if is_recall else quality["mean"],
            "lowest": is_recall and quality["mean"] >= 1,
            "mark": _CHEAPEST if run in cheapest else _BEST if run in best else _OTHER,
            "engine": str(engines.get(run, "")),
            "shown": charts.written(quality["mean"], quality["unit"]),
            "spent": f"{charts.written(cost['mean'], cost['unit'])} {cost['unit']}",
        }
        for (run, (cost, quality)), name in zip(rows_by_run.items(), names.values(), strict=True)
    ]


def _engines(points: Sequence[Row]) -> list[str]:
    """The engines, where each of several can have a colour of its own; else none."""
    engines = list(dict.fromkeys(point["engine"] for point in points))
    return engines if 1 < len(engines) <= len(SERIES) else []


def _panel(
    points: list[Spec], cost: Row, quality: Row, target: float | None, *, is_recall: bool
) -> Spec:
    """The panel; cost, quality: rows of one run, for labels and units."""
    costs = _decades([point["cost"] for point in points])
    x = charts.quantity(
        "cost", costs, {"title": f"{cost['label']}, {cost['unit']}", **_ticks(costs)}, type="log"
    )
    values = [point["quality"] for point in points]
    if is_recall:
        ends = _decades(values if target is None else [*values, 1 - target])
        axis = {"title": f"1 − {quality['label']}", **_ticks(ends)}
        y = charts.quantity("quality", ends, axis, type="log", reverse=True)
    else:
        ends = charts.nice_domain(min(values), max(values))
        y = charts.quantity("quality", ends, {"title": quality["label"], "grid": True}, zero=False)
    place = {"x": x, "y": y}
    legend = {"orient": "top", "title": None}
    engines = _engines(points)
    engine_look = {"labelLimit": 160, "columns": 3, "symbolType": "circle", "symbolOpacity": 1}
    colours = list(SERIES[: len(engines)])
    colour = charts.series("engine", engines, colours, {**legend, **engine_look})
    line = charts.layer(
        "line",
        {**place, "order": {"field": "cost", "type": "quantitative"}}
        | ({"color": colour} if engines else {}),
        strokeWidth=2,
        opacity=0.5,
        **({} if engines else {"color": ACCENT}),
    )
    line["transform"] = [{"filter": "datum.on"}]
    # Points are filled on the frontier, in the shape and the colour of the choice that they belong
    # to.
    marks = [mark for mark in _SHAPES if any(point["mark"] == mark for point in points)]
    shapes, paints = zip(*(_SHAPES[mark] for mark in marks), strict=True)
    legend |= {"labelLimit": 260, "columns": 1}
    paint = colour if engines else charts.series("mark", marks, list(paints), legend)
    tooltip_fields = {
        "run": "setting",
        "shown": quality["label"],
        "spent": cost["label"],
        "mark": "choice",
    }
    encoding = {
        **place,
        "shape": charts.series("mark", marks, list(shapes), legend),
        "stroke": paint,
        "fill": {"condition": {"test": "!datum.on", "value": "white"}, **paint},
        "tooltip": [
            {"field": name, "title": title, "type": "nominal"}
            for name, title in tooltip_fields.items()
        ],
    }
    layers = [
        line,
        charts.layer("point", encoding, size=90, strokeWidth=2, opacity=1),
        *([] if engines else _names(points, place)),
    ]
    if target is not None:
        dashed = {"y": {**y, "datum": 1 - target}}
        del dashed["y"]["field"]
        layers.insert(0, charts.layer("rule", dashed, strokeDash=[4, 4], color=QUIET))
    return {"width": _WIDTH, "height": _HEIGHT, "data": {"values": points}, "layer": layers}


def _names(points: Sequence[Spec], place: Spec) -> list[Spec]:
    """The names of all points where they are few, else of the frontier's: each on the first side of
    its point where it covers neither a point nor another name, and none where there is no such
    side.
    """
    x, y = (
        [_pixels(point[field], place[channel], size) for point in points]
        for field, channel, size in (("cost", "x", _WIDTH), ("quality", "y", _HEIGHT))
    )
    covered = [
        (left - 7.0, top - 7.0, left + 7.0, top + 7.0) for left, top in zip(x, y, strict=True)
    ]
    for point, left, top in zip(points, x, y, strict=True):
        if len(points) > _MOST_NAMED and not point["on"]:
            continue
        wide = _CHARACTER * len(point["run"])
        for side, (align, dx, dy) in _SIDES.items():
            start = left + dx - (wide if align == "right" else 0)
            box = start, top + dy - 6, start + wide, top + dy + 6
            if (
                start >= 0
                and box[2] <= _WIDTH
                and not any(
                    box[0] < other[2]
                    and other[0] < box[2]
                    and box[1] < other[3]
                    and other[1] < box[3]
                    for other in covered
                )
            ):
                covered.append(box)
                point["side"] = side
                break
    words = {**place, "text": charts.nominal("run")}
    return [
        {
            **charts.layer("text", words, fontSize=11, color=INK, align=align, dx=dx, dy=dy),
            "transform": [{"filter": f"datum.side === '{side}'"}],
        }
        for side, (align, dx, dy) in _SIDES.items()
        if any(point.get("side") == side for point in points)
    ]


def _pixels(value: float, channel: Spec, size: int) -> float:
    """Where a value is on the panel, from its left or its top."""
    scale = channel["scale"]
    low, high = scale["domain"]
    if scale.get("type") == "log":
        value, low, high = math.log10(value), math.log10(low), math.log10(high)
    share = (value - low) / (high - low)
    # Vertical axes rise, unless they are reversed.
    is_turned = size == _HEIGHT and not scale.get("reverse")
    return size * (1 - share if is_turned else share)


def _ticks(ends: Sequence[float]) -> Spec:
    """Ticks of a logarithmic axis at 1, 2 and 5 times powers of ten, powers alone over many
    decades, round numbers over few.
    """
    low, high = (math.log10(end) for end in ends)
    steps = (1,) if high - low > 3 else (1, 2, 5)
    powers = range(math.floor(low), math.ceil(high) + 1)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    if sum(ends[0] <= tick <= ends[1] for tick in ticks) < _LEAST_TICKS:
        ticks = [round(tick, 12) for tick in charts.nice_edges(ends[0], ends[1], 5)]
    return {
        "values": [tick for tick in ticks if ends[0] <= tick <= ends[1]],
        "format": ".12~g",
        "grid": True,
    }


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """A range on a logarithmic axis with some room at both ends, of a third of a decade at
    least.
    """
    low, high = math.log10(min(values)), math.log10(max(values))
    room = max(0.08 * (high - low), 0.08)
    return 10 ** (low - room), 10 ** (high + room)
