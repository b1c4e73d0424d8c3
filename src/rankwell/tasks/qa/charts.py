"""Charts of questions and answers: means, cut-offs, precision against recall of answering, and
no-answer numbers.
"""

from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwell import reporting
from rankwell.data.tables import format_value, grouped
from rankwell.reporting import Row
from rankwell.reporting.charts import (
    ACCENT,
    CHARTS,
    INK,
    QUIET,
    ChartData,
    bin_counts,
    layer,
    nice_edges,
    nominal,
    page,
    quantity,
    series,
    write_charts,
)
from rankwell.reporting.line_charts import COLOURS, k_curves
from rankwell.store import write_text

if TYPE_CHECKING:
    from rankwell.tasks.qa.evaluation import AnswerResults
    from rankwell.tasks.qa.thresholds import ThresholdSearch

_CHART_WIDTH, _CHART_HEIGHT, _BINS = 460, 320, 25
_MOST_POINTS = 2000


def precision_recall_chart(searched: "ThresholdSearch") -> dict[str, Any]:
    """A Vega-Lite spec: precision against recall of answering the surest questions first."""
    names, points = list[str](), list[Row]()
    colours, dashes = list[str](), list[list[int]]()
    for number, (label, curve) in enumerate(searched.curves.items()):
        name = f"{label} (area {format_value(curve.average_precision, 'share')})"
        # No more points than can be seen, the ends kept.
        n_points = len(curve.recall)
        steps = np.linspace(0, n_points - 1, min(n_points, _MOST_POINTS)).round()
        rows = np.unique(steps.astype(np.int64))
        places = zip(curve.recall[rows].tolist(), curve.precision[rows].tolist(), strict=True)
        points += [
            {"line": name, "recall": recall, "precision": precision, "place": place}
            for place, (recall, precision) in enumerate(places)
        ]
        names.append(name)
        # The oracle, which no system can beat, is grey and dashed.
        colours.append(QUIET if label == "oracle" else COLOURS[number % len(COLOURS)])
        dashes.append([5, 4] if label == "oracle" else [1, 0])
    axis = {"values": [0, 0.2, 0.4, 0.6, 0.8, 1], "grid": True, "labelFlush": False}
    legend = {
        "title": None,
        "orient": "right",
        "symbolType": "stroke",
        "symbolSize": 260,
        "labelColor": INK,
        "labelFontSize": 12,
    }

    encoding = {
        "x": quantity("recall", [0, 1], {**axis, "title": "recall"}),
        "y": quantity("precision", [0, 1], {**axis, "title": "precision"}),
        "order": {"field": "place", "type": "quantitative"},
        "color": series("line", names, colours, legend),
        "strokeDash": series("line", names, dashes),
    }
    lines = layer("line", encoding, strokeWidth=2.5, interpolate="step-before")
    panel = {"width": _CHART_WIDTH, "height": _CHART_HEIGHT, "data": {"values": points}, **lines}
    subtitle = (
        f"{searched.run}: answering the questions that are least likely to have no answer, then "
        "the next"
    )
    return page("Precision and recall of answering", subtitle, [panel], columns=1)


def no_answer_chart(searched: "ThresholdSearch") -> dict[str, Any]:
    """A Vega-Lite spec: the no-answer numbers of answerable questions above those of impossible
    ones, with best thresholds.
    """
    numbers, answerable = searched.numbers, searched.answerable
    thresholds = {
        search.measure.label: search.best.threshold
        for search in searched.searches
        if search.best.value > search.now
    }
    edges = nice_edges(float(numbers.min()), float(numbers.max()), _BINS)
    kinds = {"answerable": numbers[answerable], "impossible": numbers[~answerable]}
    labels = {kind: f"{len(values):,} {kind}" for kind, values in kinds.items()}
    lines = [line for line in dict.fromkeys(thresholds.values()) if edges[0] <= line <= edges[-1]]
    bars: list[Row] = []
    for kind, values in kinds.items():
        bins = zip(pairwise(edges), bin_counts(values, edges).tolist(), strict=True)
        bars += [
            {"kind": labels[kind], "from": low, "to": high, "questions": n}
            for (low, high), n in bins
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
        "facet": {"row": nominal("kind", sort=[*labels.values()], header=header)},
        "spec": {"width": _CHART_WIDTH, "height": 110, "layer": layers},
        "resolve": {"scale": {"y": "independent"}},
    }
    subtitle = f"{searched.run}; dashed: thresholds, {best}"
    return page("How sure of no answer", subtitle, [panel], columns=1)


def draw_charts(result: "AnswerResults", folder: Path) -> list[Path]:
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
            written["no_answer_curves"] = result.no_answer_curves
            specs["no_answer_curves"] = precision_recall_chart(searched)
        specs["no_answer_numbers"] = no_answer_chart(searched)
    for name, table in written.items():
        write_text(folder / f"{name}.csv", reporting.render_rows(table, "csv"))
    return [*(folder / f"{name}.csv" for name in written), *write_charts(folder, specs)]


def _side_by_side(result: "AnswerResults") -> list[Row]:
    """The summary as one run, each measure of the reader above the same from the right passages, by
    its word alone.
    """
    searched = {row["label"] for row in result.aggregates}
    by_label = grouped(
        (row["label"], row) for row in result.summary if row["label"] not in searched
    )
    rows = list(chain.from_iterable(by_label.values()))
    name = " and ".join(dict.fromkeys(row["run"] for row in rows if row["part"] != "isolated"))
    words = [row["label"] + " (isolated)" * (row["part"] == "isolated") for row in rows]
    return [
        row | {"run": name, "measure": word, "label": word}
        for row, word in zip(rows, words, strict=True)
    ]
