"""Charts of an evaluation: means, cut-offs, precision against recall of answering, no-answer
numbers by kind of question.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rankwell import reporting
from rankwell.data.tables import Bools, Floats, figure
from rankwell.reporting import Row
from rankwell.reporting.charts import (
    ACCENT,
    CHARTS,
    INK,
    QUIET,
    ChartData,
    layer,
    nice_edges,
    page,
    quantity,
)
from rankwell.reporting.charts import write_charts as write_all_charts
from rankwell.reporting.line_charts import k_curves
from rankwell.store import write_text
from rankwell.tasks.answers.evaluation import AnswerResults

# Colours that people who confuse red and green can distinguish; the oracle, which no system can
# beat, is grey and dashed.
_COLOURS = (ACCENT, "#d5672a", "#2e8b6f", "#8d5aa8", "#b58a14")
_WIDTH, _HEIGHT, _BINS = 460, 320, 25
_MOST_POINTS = 2000


def precision_recall_chart(
    rows: Sequence[Row], areas: Mapping[str, float], *, run: str
) -> dict[str, Any]:
    """A Vega-Lite spec: precision against recall of answering the surest questions first. areas:
    below the lines, by label.
    """
    names = {label: f"{label} (area {figure(area, 'share')})" for label, area in areas.items()}
    points: list[dict[str, Any]] = []
    for label, name in names.items():
        curve = [row for row in rows if row["label"] == label]
        # No more points than can be seen, the ends kept.
        steps = np.linspace(0, len(curve) - 1, min(len(curve), _MOST_POINTS)).round()
        points += [
            {
                "line": name,
                "recall": curve[step]["recall"],
                "precision": curve[step]["precision"],
                "place": number,
            }
            for number, step in enumerate(np.unique(steps.astype(np.int64)).tolist())
        ]
    colours = [
        QUIET if label == "oracle" else _COLOURS[number % len(_COLOURS)]
        for number, label in enumerate(names)
    ]
    dashes = [[5, 4] if label == "oracle" else [1, 0] for label in names]
    axis = {"values": [0, 0.2, 0.4, 0.6, 0.8, 1], "grid": True, "labelFlush": False}
    legend = {
        "title": None,
        "orient": "right",
        "symbolType": "stroke",
        "symbolSize": 260,
        "labelColor": INK,
        "labelFontSize": 12,
    }

    def _by_line(values: list[Any], legend: dict[str, Any] | None) -> dict[str, Any]:
        scale = {"domain": list(names.values()), "range": values}
        return {"field": "line", "type": "nominal", "scale": scale, "legend": legend}

    encoding = {
        "x": quantity("recall", [0, 1], {**axis, "title": "recall"}),
        "y": quantity("precision", [0, 1], {**axis, "title": "precision"}),
        "order": {"field": "place", "type": "quantitative"},
        "color": _by_line(colours, legend),
        "strokeDash": _by_line(dashes, None),
    }
    lines = layer("line", encoding, strokeWidth=2.5, interpolate="step-before")
    panel = {"width": _WIDTH, "height": _HEIGHT, "data": {"values": points}, **lines}
    subtitle = (
        f"{run}: answering the questions that are least likely to have no answer, then the next"
    )
    return page("Precision and recall of answering", subtitle, [panel], columns=1)


def no_answer_chart(
    numbers: Floats, answerable: Bools, thresholds: Mapping[str, float], *, run: str
) -> dict[str, Any]:
    """A Vega-Lite spec: the no-answer numbers of answerable questions above those of impossible
    ones, with best thresholds.
    """
    edges = nice_edges(float(numbers.min()), float(numbers.max()), _BINS)
    kinds = {"answerable": numbers[answerable], "impossible": numbers[~answerable]}
    labels = {kind: f"{len(values):,} {kind}" for kind, values in kinds.items()}
    lines = [line for line in dict.fromkeys(thresholds.values()) if edges[0] <= line <= edges[-1]]
    bars: list[dict[str, Any]] = []
    for kind, values in kinds.items():
        bins = zip(edges, edges[1:], _counts(values, edges), strict=False)
        bars += [
            {"kind": labels[kind], "from": low, "to": high, "questions": n} for low, high, n in bins
        ]
        bars += [{"kind": labels[kind], "threshold": line} for line in lines]
    best = "; ".join(f"best for {label}: {value:.4g}" for label, value in thresholds.items())
    axis = {"title": "probability or score of no answer", "grid": False}
    x = quantity("from", [edges[0], edges[-1]], axis, zero=False)
    y = {
        "field": "questions",
        "type": "quantitative",
        "axis": {"title": "questions", "tickCount": 3},
    }
    header = {"labelAngle": 0, "labelAlign": "left", "title": None}
    box = {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0}}
    layers = [
        layer(
            "rect",
            box,
            where="questions",
            color=ACCENT,
            opacity=0.75,
            stroke="white",
            strokeWidth=0.5,
        ),
        layer(
            "rule",
            {"x": {**x, "field": "threshold"}},
            where="threshold",
            color=INK,
            strokeWidth=1.5,
            strokeDash=[5, 4],
        ),
    ]
    panel = {
        "data": {"values": bars},
        "facet": {
            "row": {
                "field": "kind",
                "type": "nominal",
                "sort": [*labels.values()],
                "header": header,
            }
        },
        "spec": {"width": _WIDTH, "height": 110, "layer": layers},
        "resolve": {"scale": {"y": "independent"}},
    }
    return page("How sure of no answer", f"{run}; dashed: thresholds, {best}", [panel], columns=1)


def _counts(numbers: Floats, edges: Sequence[float]) -> list[int]:
    """The numbers in each bin; one on an edge belongs to the bin above, on the last edge to the
    last.
    """
    room = 1e-9 * (edges[-1] - edges[0]) if math.isfinite(edges[-1] - edges[0]) else 0.0
    bins = np.searchsorted(np.array(edges), numbers + room, side="right") - 1
    bins = np.clip(bins, 0, len(edges) - 2)
    return np.bincount(bins, minlength=len(edges) - 1).tolist()


def write_charts(result: AnswerResults, folder: Path) -> list[Path]:
    """Writes the means, the values at every cut-off and the no-answer numbers: charts as PNG and
    SVG, their rows as CSV.
    """
    means = CHARTS["intervals"](ChartData(_side_by_side(result), result.values, result.rules))
    specs: dict[str, dict[str, Any]] = {} if means is None else {"intervals": means}
    written: dict[str, Sequence[Row]] = {}
    if result.top_k:
        written["top_k"] = result.top_k
        specs["top_k"] = k_curves(result.top_k, bands="interval", title="Measures over k")
    searched = result.searched
    if searched is not None:
        if searched.oracle is not None:
            rows = result.no_answer_curves
            written["no_answer_curves"] = rows
            areas = {label: curve.average_precision for label, curve in searched.curves.items()}
            specs["no_answer_curves"] = precision_recall_chart(rows, areas, run=searched.run)
        best = {
            search.measure.label: search.best.threshold
            for search in searched.searches
            if search.best.value > search.now
        }
        specs["no_answer_numbers"] = no_answer_chart(
            searched.numbers, searched.answerable, best, run=searched.run
        )
    for name, table in written.items():
        write_text(folder / f"{name}.csv", reporting.render_rows(table, "csv"))
    return [*(folder / f"{name}.csv" for name in written), *write_all_charts(folder, specs)]


def _side_by_side(result: AnswerResults) -> list[dict[str, Any]]:
    """The summary as one run, each measure of the reader above the same from the right passages, by
    its word alone.
    """
    searched = {row["label"] for row in result.aggregates}
    by_label: dict[str, list[dict[str, Any]]] = {}
    for row in result.summary:
        if row["label"] not in searched:
            by_label.setdefault(row["label"], []).append(row)
    rows = list(chain.from_iterable(by_label.values()))
    name = " and ".join(dict.fromkeys(row["run"] for row in rows if row["part"] != "isolated"))
    words = [row["label"] + " (isolated)" * (row["part"] == "isolated") for row in rows]
    return [
        row | {"run": name, "measure": word, "label": word}
        for row, word in zip(rows, words, strict=True)
    ]
