"""Charts of a comparison: mean differences, the differences of single queries, mean ranks of
systems.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.data.tables import Values, format_value, p_text
from rankwell.errors import count_of
from rankwell.reporting import Row, charts, has_intervals
from rankwell.reporting.charts import ACCENT, INK, QUIET, STEP, ChartData, Spec


@charts.chart("differences")
def differences(data: ChartData) -> Spec | None:
    """A dot for each mean difference and a line for its interval, filled where the difference is
    decisive, a panel per measure.

    The upright line is at no difference. None where nothing was compared.
    """
    rows = [
        row for row in data.rows if charts.is_difference(row["measure"]) and row["mean"] is not None
    ]
    if not rows:
        return None
    names = charts.short_names(list(dict.fromkeys(map(_pair, rows))))
    panels = charts.by_title(
        ((charts.difference_title(row), row) for row in rows),
        lambda title, title_rows, is_first: _panel(title, title_rows, names, has_names=is_first),
    )
    level = ""
    if has_intervals(rows):
        level = f" with {100 * data.rules.get('level', 0.95):g} % intervals"
    return charts.page(
        f"Mean differences{level}", "filled dots are decisive after the correction", panels
    )


def _pair(row: Row) -> str:
    return f"{row['run']} − {row['against']}"


def _panel(title: str, rows: Sequence[Row], names: dict[str, str], *, has_names: bool) -> Spec:
    marks = [
        charts.interval_mark(row, names[_pair(row)], signed=True, decisive=row["decisive"])
        for row in rows
    ]
    ends = [0.0, *(float(mark[end]) for mark in marks for end in ("low", "high"))]
    upright = {"x": {"datum": 0}, "y": {"value": 0}, "y2": {"value": len(names) * STEP}}
    panel = charts.interval_panel(
        marks,
        list(names.values()),
        charts.nice_domain(min(ends), max(ends)),
        axis={"labels": has_names},
        point={"size": 70, "stroke": ACCENT, "opacity": 1},
        fill={"condition": {"test": "datum.decisive", "value": ACCENT}, "value": "white"},
        below=[charts.layer("rule", upright, color=QUIET, strokeWidth=1)],
    )
    return {"title": title, **panel}


# Distinguishable for people who confuse red and green.
_LOST = "#d5672a"
_DELTA_WIDTH, _DELTA_HEIGHT, _MOST_BARS, _MOST_DELTAS = 250, 130, 240, 12


@charts.chart("deltas")
def deltas(data: ChartData) -> Spec | None:
    """The differences of a comparison query by query, from the largest gain to the largest loss, a
    panel per pair and measure.

    Of many queries every so many-th is drawn, as said below the title; of more than twelve panels
    the first ones by the first measure. Panels of one measure share their scale. None where nothing
    was compared.
    """
    rows = [row for row in data.rows if charts.is_difference(row["measure"])]
    columns = [column for column in data.values if charts.is_difference(column.measure)]
    pairs = [
        (column, row)
        for column, row in zip(columns, rows, strict=True)
        if column.counted.any() and row["better"] != "neither"
    ]
    if len(pairs) > _MOST_DELTAS:
        first = pairs[0][1]["of"]
        pairs = [(column, row) for column, row in pairs if row["of"] == first][:_MOST_DELTAS]
    if not pairs:
        return None
    reach: dict[str, float] = {}
    for column, row in pairs:
        reach[row["of"]] = max(reach.get(row["of"], 1e-9), float(np.nanmax(np.abs(column.values))))
    panels = [_delta_panel(column, row, reach[row["of"]]) for column, row in pairs]
    subtitle = "a bar per query, sorted; blue where the first is better, orange where it is worse"
    most = max(int(column.counted.sum()) for column, _ in pairs)
    if most > _MOST_BARS:
        subtitle += f"; every {-(-most // _MOST_BARS)}th query of {most:,} is drawn"
    return charts.page("Differences of single queries", subtitle, panels)


def _delta_panel(values: Values, row: Row, reach: float) -> Spec:
    sign = -1 if row.get("better") == "lower" else 1
    ascending = np.sort(values.values[values.counted] * sign)[::-1] * sign
    n, step = len(ascending), -(-len(ascending) // _MOST_BARS)
    bars = [
        {
            "from": index * step / n,
            "to": min((index + 1) * step, n) / n,
            "difference": value,
            "won": value * sign > 0,
        }
        for index, value in enumerate(ascending[step // 2 :: step].tolist())
    ]
    shares = {
        "title": "share of queries",
        "format": ".0%",
        "grid": False,
        "tickCount": 5,
        "labelFlush": True,
    }
    ends = {
        "x": charts.quantity("from", [0, 1], shares),
        "x2": {"field": "to"},
        "y": charts.quantity(
            "difference", [-1.05 * reach, 1.05 * reach], {"title": None, "tickCount": 5}
        ),
        "y2": {"datum": 0},
        "color": {"condition": {"test": "datum.won", "value": ACCENT}, "value": _LOST},
    }
    counts = [{"shown": f"{row['wins']} won, {row['ties']} tied, {row['losses']} lost"}]
    corner = {"x": {"value": _DELTA_WIDTH}, "y": {"value": 2}, "text": charts.nominal("shown")}
    look = {"align": "right", "baseline": "top", "fontSize": 11, "color": QUIET}
    name = f"{_pair(row)}: {charts.difference_title(row)}"
    return {
        "title": {"text": name, "subtitle": _caption(row), "limit": _DELTA_WIDTH + 40},
        "width": _DELTA_WIDTH,
        "height": _DELTA_HEIGHT,
        "data": {"values": bars},
        "layer": [
            charts.layer("rect", ends, opacity=0.85),
            charts.layer(
                "rule", {"y": {"datum": 0, "type": "quantitative"}}, color=INK, strokeWidth=1
            ),
            {"mark": {"type": "text", **look}, "data": {"values": counts}, "encoding": corner},
        ],
    }


def _caption(row: Row) -> str:
    mean, low, high = (
        charts.written(row[name], row["unit"], signed=True)
        for name in ("mean", "ci_low", "ci_high")
    )
    parts = [f"mean {mean}"]
    if row["ci_low"] is not None:
        parts.append(f"interval [{low}, {high}]")
    if row["p_adjusted"] is not None:
        parts.append(p_text(row["p_adjusted"]))
    return ", ".join(parts)


_RANK_WIDTH, _LINE, _BAR, _AXIS = 460, 22, 9, 30
_MOST_PANELS = 6


@charts.chart("critical_difference")
def critical_difference(data: ChartData) -> Spec | None:
    """Mean ranks over queries on a line, 1 (best) at the left, with a bar over neighbours without a
    significant difference.

    The tests are those of the comparison. A panel per measure, the first six. None for fewer than
    three systems, and where all are alike on every query.
    Source: Demšar 2006, Statistical comparisons of classifiers over multiple data sets.
    """
    panels = [_rank_panel(row) for row in (data.rules.get("mean_ranks") or ())[:_MOST_PANELS]]
    subtitle = (
        "bars join neighbours without a significant difference, by the tests of the comparison"
    )
    title = "Mean ranks of systems over queries"
    return charts.page(title, subtitle, panels, columns=1) if panels else None


def _rank_panel(row: Row) -> Spec:
    ranks: Mapping[str, float] = row["mean_ranks"]
    names, n = charts.short_names(list(ranks)), len(ranks)
    order = sorted(ranks, key=lambda run: (ranks[run], run))
    half = (n + 1) // 2
    bars = [
        {
            "from": min(ranks[run] for run in group),
            "to": max(ranks[run] for run in group),
            "y": _AXIS + _BAR * (index + 1),
        }
        for index, group in enumerate(row["not_told_apart"])
    ]
    top = _AXIS + _BAR * (len(bars) + 1)
    height = top + _LINE * half + 6
    label = [
        {
            "rank": ranks[run],
            "y": top + _LINE * (rank if rank < half else n - 1 - rank) + 10,
            "edge": 0 if rank < half else _RANK_WIDTH,
            "left": rank < half,
            "text": f"{names[run]}  {format_value(ranks[run], 'rank')}",
        }
        for rank, run in enumerate(order)
    ]
    axis = {
        "title": None,
        "orient": "top",
        "grid": False,
        "domain": True,
        "domainColor": INK,
        "ticks": True,
        "tickColor": INK,
        "values": list(range(1, n + 1)),
        "format": ".0f",
        "offset": -_AXIS + 8,
    }
    x, y = (
        charts.quantity("rank", [1, n], None, zero=False),
        charts.quantity("y", [height, 0], None),
    )
    del x["axis"]

    def line(marks: Sequence[Row], encoding: Spec, **look: Any) -> Spec:
        return {"data": {"values": marks}, **charts.layer("rule", encoding, **look)}

    def elbows(*, on_left: bool) -> Spec:
        """From the height of a name to the side, where the name stands."""
        edge = {"value": 0 if on_left else _RANK_WIDTH}
        look: Spec = {
            "align": "right" if on_left else "left",
            "dx": -6 if on_left else 6,
            "fontSize": 12,
            "color": INK,
            # Where a page has no room for a name, its beginning is cut, and not the figure at its
            # end.
            "dir": "rtl",
        }
        return {
            "data": {"values": [mark for mark in label if mark["left"] is on_left]},
            "layer": [
                charts.layer("rule", {"x": x, "x2": edge, "y": y}, color=QUIET, strokeWidth=1),
                charts.layer("text", {"x": edge, "y": y, "text": charts.nominal("text")}, **look),
            ],
        }

    # From the axis down to the height of a system's name; the bars over systems that do not differ.
    stems = {"x": {**x, "axis": axis}, "y": {**y, "field": "axis"}, "y2": {"field": "y"}}
    joins = {"x": {**x, "field": "from"}, "x2": {"field": "to"}, "y": y}
    return {
        "title": {
            "text": charts.panel_title(row["label"], row["measure"], "share"),
            "subtitle": count_of(row["queries"], "query", "queries"),
        },
        "width": _RANK_WIDTH,
        "height": height,
        "layer": [
            line(
                [{**mark, "axis": _AXIS - 8} for mark in label], stems, color=QUIET, strokeWidth=1
            ),
            elbows(on_left=True),
            elbows(on_left=False),
            line(bars, joins, color=ACCENT, strokeWidth=4, strokeCap="round"),
        ],
    }
