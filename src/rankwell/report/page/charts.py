"""The charts of a page: those of a result's folder, laid out for a page that brings its own title and theme."""

from collections.abc import Sequence
from typing import Any

from rankwell.core.registry import parse_measure
from rankwell.errors import BadUsage
from rankwell.report import CHARTS, ChartData, Row
from rankwell.report.charts import part_of
from rankwell.report.k_curves import k_curves
from rankwell.report.page import PageSource

_MOST_MEASURES, _MOST_LINES, _MOST_CURVES = 6, 36, 6


def charts(source: PageSource) -> list[dict[str, Any]]:
    """`{"id", "title", "note", "spec"}` of every chart that has something to draw; see docs/page.md.

    They hold what can be taken in at a glance: of many measures and systems the first ones, as their notes say. The page's tables
    have every figure, and the interval of every difference.
    """
    drawn = {"intervals": _intervals(source), "k_curves": _curves(source), "critical_difference": _mean_ranks(source)}
    return [_entry(name, *found) for name, found in drawn.items() if found is not None]


_Drawn = tuple[dict[str, Any], str] | None
"""A chart, and which part of the results it is limited to."""


def _intervals(source: PageSource) -> _Drawn:
    """Means of the first measures, fewer of them the more runs there are."""
    own = source.own_rows
    measures = [*dict.fromkeys(row["measure"] for row in own)]
    # Of a single run every measure is a line, of several a panel with a line for each.
    most = _MOST_LINES if len(source.runs) == 1 else min(_MOST_MEASURES, _MOST_LINES // len(source.runs))
    shown = measures[: max(1, most)]
    rows = [row for row in own if row["measure"] in shown]
    spec = CHARTS["intervals"](ChartData(rows, list(source.values), source.rules, list(source.row_attributes)))
    return None if spec is None else (spec, _first(len(shown), len(measures)))


def _mean_ranks(source: PageSource) -> _Drawn:
    """The critical-difference diagram of the first measure that ranks three systems or more."""
    tables: Sequence[Row] = source.rules.get("mean_ranks") or ()
    ranked = [row for row in tables if len(row["mean_ranks"]) > 2]
    spec = CHARTS["critical_difference"](ChartData([], [], {**source.rules, "mean_ranks": ranked[:1]}, []))
    return None if spec is None else (spec, _first(1, len(ranked)))


def _first(shown: int, every: int) -> str:
    if shown == every:
        return ""
    return f"the first {shown} of {every} measures" if shown > 1 else f"the first of {every} measures"


def _curves(source: PageSource) -> _Drawn:
    """The first measures over their cut-offs that have several; None where there are none."""
    points: dict[str, dict[int, list[Row]]] = {}
    for row in source.own_rows:
        k = None if row["mean"] is None else row.get("k") or _cut(row["measure"])
        if k is None:
            continue
        part = part_of(row, source.query_columns)
        word, _, cut = str(row["label"]).rpartition("@")
        word = f"{part}: {word}" if part else word
        if word and cut == str(k):
            points.setdefault(word, {}).setdefault(int(k), []).append({**row, "label": f"{word}@{cut}", "k": int(k)})
    curves = [mine for mine in points.values() if len(mine) > 1]
    shown = curves[:_MOST_CURVES]
    rows = [row for mine in shown for k in sorted(mine) for row in mine[k]]
    if not rows:
        return None
    spec = k_curves(rows, bands="interval" if any(row["ci_low"] is not None for row in rows) else "sd")
    return spec, _first(len(shown), len(curves))


def _cut(measure: str) -> int | None:
    try:
        return parse_measure(measure).cutoff
    except BadUsage:
        return None


def _entry(name: str, spec: dict[str, Any], beyond: str) -> dict[str, Any]:
    """A chart without what the page brings itself: its title, its ground, its theme."""
    title = spec["title"]
    panels = {key: each for key, each in spec.items() if key not in ("title", "background", "padding", "config")}
    return {
        "id": name,
        "title": title["text"],
        "note": "; ".join(filter(None, (title["subtitle"], beyond))),
        "spec": _named(panels),
    }


def _named(spec: Any) -> Any:
    """The same with names beside every panel: the page puts as many beside each other as there is room for."""
    if isinstance(spec, dict):
        return {key: True if key == "labels" and each is False else _named(each) for key, each in spec.items()}
    return [_named(each) for each in spec] if isinstance(spec, Sequence) and not isinstance(spec, str) else spec
