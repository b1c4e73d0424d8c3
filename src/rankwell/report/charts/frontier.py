"""Quality against cost of the settings of an engine, and the frontier that no setting is beyond."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rankwell.report import charts
from rankwell.report.charts import ACCENT, INK, QUIET, ChartData

_WIDTH, _HEIGHT = 460, 300


@charts.chart("frontier")
def frontier(data: ChartData) -> dict[str, Any] | None:
    """A point for each run: its cost to the right, its quality upwards; a line joins those that no other beats in both.

    rules: `frontier` names the rows of both, {"cost": "p50", "quality": "Recall@10"}. Recall crowds at 1, so that 1 - recall is
    drawn, on a logarithmic axis that falls; costs are on a logarithmic axis. None for fewer than two runs with both.
    """
    named: Any = data.rules.get("frontier")
    if not isinstance(named, Mapping) or not named.get("quality") or not named.get("cost"):
        return None
    by_run: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in data.rows:
        if row["measure"] in named.values() and row["mean"] is not None and not row.get("against"):
            by_run.setdefault(row["run"], {})[row["measure"]] = row
    known = {run: rows for run, rows in by_run.items() if len(rows) == 2}
    if len(known) < 2:
        return None
    cost, quality = named["cost"], named["quality"]
    first = next(iter(known.values()))
    is_recall = str(quality).startswith("Recall@") and first[quality]["unit"] == "share"
    names = charts.short_names(list(known))
    # A recall of 1 has no place on a logarithmic axis; it is drawn below all others.
    missed = [1 - rows[quality]["mean"] for rows in known.values() if rows[quality]["mean"] < 1]
    lowest = min([0.5 / max(1, rows[quality]["n"]) for rows in known.values()] + [0.5 * each for each in missed])
    points = [
        {
            "run": names[run],
            "cost": rows[cost]["mean"],
            "quality": max(1 - rows[quality]["mean"], lowest) if is_recall else rows[quality]["mean"],
            "shown": charts.written(rows[quality]["mean"], rows[quality]["unit"]),
        }
        for run, rows in known.items()
        if rows[cost]["mean"] > 0
    ]
    falling = cost != "throughput"
    best = _best(points, lower=is_recall, cheap_is_low=falling)
    for point in points:
        point["on"] = point["run"] in best
    return charts.page(
        f"{first[quality]['label']} against {first[cost]['label']}",
        _subtitle(is_recall, lowest, points),
        [_panel(points, first[cost], first[quality], is_recall=is_recall)],
        columns=1,
    )


def _best(points: Sequence[Mapping[str, Any]], *, lower: bool, cheap_is_low: bool) -> set[str]:
    """The runs that no other beats in both."""

    def _beats(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        cheaper = one["cost"] <= other["cost"] if cheap_is_low else one["cost"] >= other["cost"]
        better = one["quality"] <= other["quality"] if lower else one["quality"] >= other["quality"]
        return cheaper and better and (one["cost"], one["quality"]) != (other["cost"], other["quality"])

    return {each["run"] for each in points if not any(_beats(other, each) for other in points)}


def _subtitle(is_recall: bool, lowest: float, points: Sequence[Mapping[str, Any]]) -> str:
    line = "the line joins settings that no other beats in both"
    at = "; a recall of 1 is drawn at the lowest place" if is_recall and any(each["quality"] == lowest for each in points) else ""
    return line + at


def _panel(
    points: list[dict[str, Any]], cost: Mapping[str, Any], quality: Mapping[str, Any], *, is_recall: bool
) -> dict[str, Any]:
    ends = [each["cost"] for each in points]
    x = charts.quantity("cost", _decades(ends), {"title": f"{cost['label']}, {cost['unit']}", "grid": True}, type="log")
    values = [each["quality"] for each in points]
    if is_recall:
        title = f"1 - {quality['label']}".replace("-", "−")
        y = charts.quantity("quality", _decades(values), {"title": title, "grid": True}, type="log", reverse=True)
    else:
        y = charts.quantity(
            "quality", charts.nice_domain(min(values), max(values)), {"title": quality["label"], "grid": True}, zero=False
        )
    order = {"field": "cost", "type": "quantitative"}
    line = charts.layer("line", {"x": x, "y": y, "order": order}, strokeWidth=2, color=ACCENT, opacity=0.6)
    line["transform"] = [{"filter": "datum.on"}]
    fill = {"condition": {"test": "datum.on", "value": ACCENT}, "value": "white"}
    dots = charts.layer("point", {"x": x, "y": y, "fill": fill}, size=70, stroke=ACCENT, strokeWidth=1.5, opacity=1)
    words = {"x": x, "y": y, "text": {"field": "run", "type": "nominal"}}
    few = len(points) <= _MOST_NAMED
    text = charts.layer("text", words, align="left", dx=9, dy=-7, fontSize=11, color=INK if few else QUIET)
    if not few:
        text["transform"] = [{"filter": "datum.on"}]
    return {"width": _WIDTH, "height": _HEIGHT, "data": {"values": points}, "layer": [line, dots, text]}


_MOST_NAMED = 12


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """A range on a logarithmic axis with some room at both ends."""
    low, high = math.log10(min(values)), math.log10(max(values))
    room = max(0.12 * (high - low), 0.08)
    return 10 ** (low - room), 10 ** (high + 2.5 * room)
