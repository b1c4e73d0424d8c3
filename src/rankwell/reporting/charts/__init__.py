"""Charts as Vega-Lite specs, one file per chart. Here is what they share: data, drawing, the theme,
panels, names that fit.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.registry import Catalogue
from rankwell.data.tables import Entry, Floats, Ints, Values, format_value
from rankwell.reporting import Row, Rules, grouped, visible
from rankwell.reporting.drawing import DrawingCall, NotDrawn, call_all, warn
from rankwell.store import write_bytes, write_text

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one."""


class ChartData(NamedTuple):
    """The data of a chart.

    rows: the rows of the summary.
    values: the values of single queries behind them.
    rules: the rules behind the values, with `measures`, the definition of each measure.
    row_attributes: further columns of the rows of single queries (`direction`), for each element of
        `values`, or none at all.
    noun: the task's word for one query, and for several.
    """

    rows: Sequence[Row]
    values: Sequence[Values]
    rules: Rules
    row_attributes: Sequence[Row] = ()
    noun: tuple[str, str] = ("query", "queries")


CHARTS: Catalogue[Callable[[ChartData], Spec | None]] = Catalogue("reporting.charts", "chart")
chart = CHARTS.register
"""Registers a function `(data) -> Vega-Lite spec`, or None where there is nothing to draw; the name
is that of its files.
"""


class Picture(NamedTuple):
    """A chart in two formats.

    png: the chart in pixels, at twice the nominal size.
    svg: the chart in lines, as the text of the file.
    """

    png: bytes
    svg: str


def draw_all(specs: Iterable[Spec]) -> list[Picture]:
    """Vega-Lite specs as pictures, without a browser or a network; the same spec gives the same
    bytes. Raises NotDrawn where they need more memory than this process may
    have.
    """
    calls = [
        call
        for spec in specs
        for call in (
            DrawingCall("vegalite_to_png", (spec,), {"scale": 2}),
            DrawingCall("vegalite_to_svg", (spec,)),
        )
    ]
    pictures: list[Any] = call_all(calls)
    return [Picture(*pair) for pair in zip(pictures[::2], pictures[1::2], strict=True)]


def write_charts(folder: Path, specs: Mapping[str, Spec]) -> list[Path]:
    """Draws charts into a folder, each as PNG and as SVG, and returns the paths; none, and a
    warning, where they need more memory than this process may have.
    """
    try:
        pictures = draw_all(specs.values())
    except NotDrawn as error:
        warn(error)
        return []
    for name, picture in zip(specs, pictures, strict=True):
        write_bytes(folder / f"{name}.png", picture.png)
        write_text(folder / f"{name}.svg", picture.svg)
    return [folder / f"{name}.{kind}" for name in specs for kind in ("png", "svg")]


SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
INK, QUIET, FAINT, ACCENT = "#1c2733", "#5b6773", "#e6eaee", "#1f6fb2"
THEME: Mapping[str, Any] = json.loads(
    (files("rankwell.reporting.charts") / "theme.json").read_text(encoding="utf-8")
)
"""The configuration of every chart, and the legend of a page of panels: above them, without a
title.
"""
SCALES_DIFFER = "scales differ between panels"
_LONGEST = 34
STEP = 26
"""Height of a line of an interval panel."""


def page(
    title: str,
    subtitle: str,
    panels: Sequence[Spec],
    *,
    columns: int | None = None,
    legend: bool = False,
) -> Spec:
    """A whole chart: panels in rows of `columns`, by default as many as `columns_for` says, under
    one title. legend: whether one stands above all panels. Every text in it is made visible here.

    A second line below the title says where panels have scales of their own.
    """
    return {
        "$schema": SCHEMA,
        "background": "white",
        "padding": 20,
        "title": {
            "text": visible(title),
            "subtitle": [visible(subtitle), *([SCALES_DIFFER] if _differ(panels) else [])],
            "fontSize": 16,
            "offset": 22,
            "frame": "bounds",
        },
        "concat": _visible(list(panels)),
        "columns": columns or columns_for(len(panels)),
        "spacing": {"row": 30, "column": 36},
        "config": {**THEME["config"], **({"legend": THEME["legend"]} if legend else {})},
    }


def by_title(
    titled: Iterable[tuple[str, Entry]],
    panel: Callable[[str, list[Entry], bool], Spec],
    columns: int | None = None,
) -> list[Spec]:
    """A panel for each title from its entries, and whether it is the first of its row."""
    entries_of = grouped(titled)
    columns = columns or columns_for(len(entries_of))
    return [
        panel(title, entries, index % columns == 0)
        for index, (title, entries) in enumerate(entries_of.items())
    ]


def _differ(panels: Sequence[Spec]) -> bool:
    """Whether axes of numbers in the same direction differ in range, or a panel leaves that to each
    of its rows.
    """
    ranges: dict[str, set[tuple[float, ...]]] = {"x": set(), "y": set()}
    parts: list[Any] = list(panels)
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            if "independent" in part.get("resolve", {}).get("scale", {}).values():
                return True
            for channel in ranges:
                if isinstance(part.get(channel), Mapping) and _is_scale(part[channel]):
                    ranges[channel].add(tuple(part[channel]["scale"]["domain"]))
            parts += part.values()
        elif isinstance(part, (list, tuple)):
            parts += part
    return any(len(ends) > 1 for ends in ranges.values())


def _is_scale(channel: Spec) -> bool:
    """Whether numbers are read from it: what has no axis is placed by pixels."""
    return (
        channel.get("type") == "quantitative"
        and "domain" in channel.get("scale", ())
        and channel.get("axis", ...) is not None
    )


def _visible(part: Any) -> Any:
    if isinstance(part, Mapping):
        return {name: _visible(child) for name, child in part.items()}
    if isinstance(part, (list, tuple)):
        return type(part)(map(_visible, part))
    return visible(part) if isinstance(part, str) else part


def columns_for(panels: int) -> int:
    """Number of panels side by side: up to three, and no last row with a single one where two
    columns would fill it.
    """
    return panels if panels <= 3 else 2 if panels == 4 else 3


def panel_title(label: str, measure: str, unit: str) -> str:
    """The convention's word, the exact name where it is another, the unit where it is not a
    share.
    """
    name = label if label == measure else f"{label} = {measure}"
    return name if unit == "share" else f"{name}, {unit}"


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Names that fit beside a panel: long ones lose their middle, as runs differ at their ends; all
    stay different.
    """
    half = (_LONGEST - 1) // 2
    full_names = {name: visible(name) for name in names}
    short = {
        name: text if len(text) <= _LONGEST else f"{text[:half]}…{text[-half:]}"
        for name, text in full_names.items()
    }
    return short if len(set(short.values())) == len(short) else full_names


def distinct_parts(names: Sequence[str]) -> list[str]:
    """The names without the words that all of them begin with; whole where one would be empty."""
    words = [name.split(" ") for name in names]
    columns = enumerate(zip(*words, strict=False))
    common = next((position for position, column in columns if len(set(column)) > 1), 0)
    if min(map(len, words), default=0) > common:
        return [" ".join(name_words[common:]) for name_words in words]
    return list(names)


def part_of(row: Row, keys: Iterable[str]) -> str:
    """The part of a result that a row covers, from a task's columns (`t2v`); empty where they
    are.
    """
    return ", ".join(visible(row[key]) for key in keys if row.get(key) not in (None, ""))


def written(value: float | None, unit: str, *, signed: bool = False) -> str:
    """A value as the text of a chart, with the minus sign that Vega's axes have."""
    return format_value(value, unit, signed=signed).replace("-", "−")


def bounds(row: Row) -> tuple[float, float]:
    """The ends of a row's interval, its mean where there is none."""
    low, high = (row["mean"] if row[end] is None else row[end] for end in ("ci_low", "ci_high"))
    return low, high


def quantity(field: str, domain: Sequence[float], axis: Spec | None, **scale: Any) -> Spec:
    """The encoding of a number over a fixed range."""
    scale = {"domain": domain, "nice": False, **scale}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis}


def nominal(field: str, **properties: Any) -> Spec:
    """The encoding of a text."""
    return {"field": field, "type": "nominal", **properties}


def series(
    field: str, names: Sequence[str], values: Sequence[Any], legend: Spec | None = None
) -> Spec:
    """The encoding of a value of its own for each name, with a legend where there are several."""
    scale = {"domain": names, "range": values}
    return nominal(field, scale=scale, legend=legend if len(names) > 1 else None)


def layer(mark: str, encoding: Spec, *, where: str = "", **look: Any) -> Spec:
    """Marks of one kind. where: the field that must have a value, "" for all data."""
    transform = {"transform": [{"filter": f"isValid(datum.{where})"}]} if where else {}
    return {"mark": {"type": mark, **look}, **transform, "encoding": encoding}


def interval_mark(row: Row, name: str, *, signed: bool = False, **cells: Any) -> Spec:
    """The cells that a dot, its line and its figure are drawn from."""
    low, high = bounds(row)
    text = written(row["mean"], row["unit"], signed=signed)
    return {"name": name, "mean": row["mean"], "low": low, "high": high, **cells, "shown": text}


def interval_panel(
    marks: Sequence[Row],
    names: Sequence[str],
    domain: Sequence[float],
    *,
    axis: Spec,
    point: Spec,
    fill: Spec | None = None,
    width: int = 250,
    below: Sequence[Any] = (),
) -> Spec:
    """A line per name: a rule from `low` to `high`, a point at the mean, the text `shown` to the
    right of the panel.

    axis, point: further properties of both. fill: the points' fill, by datum. below: layers that
    lie under these.
    """
    y_axis = {"title": None, "grid": True, **axis}
    x = quantity("mean", domain, {"title": None, "tickCount": 5}, zero=False)
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}}
    text = {"x": {"value": width + 8}, "text": nominal("shown")}
    return {
        "width": width,
        "height": {"step": STEP},
        "data": {"values": marks},
        "encoding": {"y": nominal("name", scale={"domain": names}, axis=y_axis)},
        "layer": [
            *below,
            layer("rule", ends, strokeWidth=3, color=ACCENT, opacity=0.4, strokeCap="round"),
            layer("point", {"x": x} | ({"fill": fill} if fill else {}), **point),
            layer("text", text, align="left", fontSize=11, color=INK),
        ],
    }


def is_difference(measure: str) -> bool:
    """Whether the name is that of a paired difference, which is drawn about 0 and against another
    run.
    """
    return measure.startswith("Difference(")


def difference_label(row: Row) -> str:
    """The word for the measure that a difference is of."""
    return (
        row["label"]
        .removesuffix(f" against {row['against']}")
        .removeprefix("Difference(")
        .removesuffix(")")
    )


def difference_title(row: Row) -> str:
    """The measure that a difference is of, as a panel's title."""
    return panel_title(difference_label(row), row["of"], row["unit"])


def nice_domain(low: float, high: float) -> tuple[float, float]:
    """A range with some room around it, never empty."""
    room = 0.06 * (high - low) or 0.05 * abs(high) or 0.5
    return low - room, high + room


def nice_edges(low: float, high: float, bins: int) -> list[float]:
    """Edges of about so many equal bins at round numbers, which cover the range."""
    raw = (high - low) / bins or 1.0
    power = 10.0 ** math.floor(math.log10(raw))
    steps = (power * factor for factor in (1, 2, 2.5, 5, 10))
    step = next(step for step in steps if step >= raw * (1 - 1e-9))
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return [index * step for index in range(first, last + 1)]


def bin_counts(numbers: Floats, edges: Sequence[float]) -> Ints:
    """The number of values in each bin; one on an edge belongs to the bin above, on the last edge
    to the last bin.
    """
    width = edges[-1] - edges[0]
    # A value such as 0.6 may lie a rounding error below its edge.
    raised = numbers + (1e-9 * width if math.isfinite(width) else 0.0)
    bins = np.searchsorted(np.array(edges), raised, side="right") - 1
    counts = np.bincount(np.clip(bins, 0, len(edges) - 2), minlength=len(edges) - 1)
    return counts.astype(np.int64)
