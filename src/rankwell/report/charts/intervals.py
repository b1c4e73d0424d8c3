"""Means with their intervals, every run and measure on one page."""

from collections.abc import Sequence
from typing import Any

from rankwell.report import ChartData, Row, chart, figure, visible
from rankwell.report.charts import ACCENT, INK, columns_for, nice_domain, page, panel_title, short_names

_WIDTH, _STEP = 250, 26


@chart("intervals")
def intervals(data: ChartData) -> dict[str, Any] | None:
    """A dot for each mean and a line for its interval: runs compared measure by measure, or a single run's measures by unit.

    Every panel has a scale of its own, which need not begin at 0: dots and lines are read by place. None where no row has a mean.
    """
    rows = [row for row in data.rows if row["mean"] is not None]
    if not rows:
        return None
    runs = list(dict.fromkeys(row["run"] for row in data.rows))
    has_intervals = any(row["ci_low"] is not None for row in rows)
    level = f"{100 * data.rules.get('level', 0.95):g} %"
    title = f"Means with {level} intervals" if has_intervals else "Means"
    if len(runs) == 1:
        units = list(dict.fromkeys(row["unit"] for row in rows))
        room = 0 if len(units) == 1 else max(len(_title(row)) for row in rows) * 6
        panels = [_panel("", [row for row in rows if row["unit"] == unit], None, room=room) for unit in units]
        columns = 1
    else:
        titles = list(dict.fromkeys(map(_title, rows)))
        columns = columns_for(len(titles))
        short = short_names(runs)
        panels = [
            _panel(title, [row for row in rows if _title(row) == title], short, named=place % columns == 0)
            for place, title in enumerate(titles)
        ]
    return page(title, _subtitle(rows, runs), panels, columns=columns)


def _title(row: Row) -> str:
    return panel_title(row["label"], row["measure"], row["unit"])


def _subtitle(rows: Sequence[Row], runs: Sequence[str]) -> str:
    sizes = sorted({row["n"] for row in rows})
    queries = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    counted = f"over {queries} {'query' if sizes == [1] else 'queries'}"
    return f"{visible(runs[0])}, {counted}" if len(runs) == 1 else counted


def _panel(title: str, rows: Sequence[Row], runs: dict[str, str] | None, *, named: bool = True, room: int = 0) -> dict[str, Any]:
    """Runs under each other where there are several, else measures. named: whether names stand beside, in that much room."""
    marks: list[dict[str, Any]] = [
        {
            "name": runs[row["run"]] if runs else _title(row),
            "mean": row["mean"],
            "low": row["mean"] if row["ci_low"] is None else row["ci_low"],
            "high": row["mean"] if row["ci_high"] is None else row["ci_high"],
            "shown": figure(row["mean"], row["unit"]),
        }
        for row in rows
    ]
    domain = nice_domain(min(mark["low"] for mark in marks), max(mark["high"] for mark in marks))
    width = _WIDTH if runs else 2 * _WIDTH
    names = list(runs.values()) if runs else [mark["name"] for mark in marks]
    y = {
        "field": "name",
        "type": "nominal",
        "scale": {"domain": names},
        "axis": {"title": None, "grid": True, "labels": named, "minExtent": room},
    }
    axis = {"title": None, "tickCount": 5}
    x = {"field": "mean", "type": "quantitative", "scale": {"domain": domain, "nice": False, "zero": False}, "axis": axis}
    return {
        **({"title": title} if title else {}),
        "width": width,
        "height": {"step": _STEP},
        "data": {"values": marks},
        "encoding": {"y": y},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 3, "color": ACCENT, "opacity": 0.4, "strokeCap": "round"},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {"mark": {"type": "point", "filled": True, "size": 70, "color": ACCENT, "opacity": 1}, "encoding": {"x": x}},
            {
                "mark": {"type": "text", "align": "left", "fontSize": 11, "color": INK},
                "encoding": {"x": {"value": width + 8}, "text": {"field": "shown", "type": "nominal"}},
            },
        ],
    }
