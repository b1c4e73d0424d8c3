"""The tables of retrieved documents and answers and the hardest questions, as they are printed, and
charts: means, cut-offs, precision against recall of answering, no-answer numbers.
"""

import math
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rankwell import reporting
from rankwell.data.frames import Heading
from rankwell.data.tables import MISSING, Floats, format_value
from rankwell.evaluation.results import QUERIES_MISSING, QUERIES_UNKNOWN
from rankwell.reporting import (
    PLAIN,
    PrintedFigure,
    Row,
    Terminal,
    rules_line,
    styled,
    visible,
    width_of,
)
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
    write_charts,
)
from rankwell.reporting.drafts import drafting
from rankwell.reporting.line_charts import k_curves
from rankwell.reporting.options import Output, present
from rankwell.store import write_text
from rankwell.tasks.qa.evaluation import AnswerResults
from rankwell.tasks.qa.thresholds import ThresholdSearch

_IN_TEXT = ("query", "text", "failed", "why", "right", "answer")
_WIDTH, _INDENT = 100, "  "
_WORD, _LETTER = "^", "~"
_LEGEND = f" ({_WORD} words and {_LETTER} other characters that the answer and the right one share)"

# Colours that people who confuse red and green can distinguish; the oracle, which no system can
# beat, is grey and dashed.
_COLOURS = (ACCENT, "#d5672a", "#2e8b6f", "#8d5aa8", "#b58a14")
_CHART_WIDTH, _CHART_HEIGHT, _BINS = 460, 320, 25
_MOST_POINTS = 2000
_HARDEST = 3


def show(
    result: AnswerResults,
    *,
    per_query: bool = False,
    format: reporting.Format = "table",
    output: Path | None = None,
) -> Output:
    """The output of the command for a result, counts before scores; `output` is a folder for
    everything, with the charts.
    """
    worst, counts = result.hardest(_HARDEST), _count_lines(result)
    readable = worst
    if format in ("md", "latex"):
        # Spans are for programs.
        readable = [{name: row[name] for name in _IN_TEXT if name in row} for row in worst]
    with nullcontext() if output is None else drafting(output, result.sources.values()) as draft:
        printed = present(
            result,
            format=format,
            per_query=per_query,
            output=output,
            tables={"failures": result.failures, "hardest": readable},
            charts=False,
            others=[] if draft is None else _write_charts(result, draft),
        )
    if format == "json":
        return printed
    if format != "table":
        return printed._replace(messages=(*counts, *printed.messages))
    terminal = reporting.terminal_of(sys.stdout)
    if not terminal.details:
        return printed
    blocks = [reporting.folded(line, terminal, _INDENT) for line in counts]
    blocks += ["", *(_question_tables(result, terminal) if per_query else [])]
    blocks += [*_value_tables(result, terminal), *_failures(result, worst, terminal)]
    return printed._replace(text="\n".join(blocks))


def _count_lines(result: AnswerResults) -> list[str]:
    """The numbers of questions, lists and answers, a line for each table, to be read before the
    scores.
    """
    gold = result.rules["gold"]
    repeated = gold.get("duplicate_texts", 0)
    same = f"{repeated} share their text" if repeated else "no two have the same text"
    kinds = f"{gold['answerable']:,} answerable, {gold['impossible']:,} impossible"
    lines = [f"{_questions(gold['questions'])}: {kinds}; {same}, 0 merged"]
    for run, counts in result.counts.items():
        missing, unknown = counts[QUERIES_MISSING], counts[QUERIES_UNKNOWN]
        rows = "lists for" if run == result.retriever else "answers to"
        number = _questions(gold["questions"] - missing)
        lines.append(f"{visible(run)}: {rows} {number}, {missing:,} missing, {unknown:,} extra")
    return lines


def _questions(n: int) -> str:
    return f"{n:,} question{'s' * (n != 1)}"


def _question_tables(result: AnswerResults, terminal: Terminal) -> list[str]:
    """A table for each run, with a line for each question and a column for each measure."""
    lines: dict[str, dict[str, dict[str, Any]]] = {}
    for row in result.per_query():
        line = lines.setdefault(row["run"], {}).setdefault(row["query"], {"query": row["query"]})
        line[Heading(row["label"])] = PrintedFigure(format_value(row["value"], row["unit"]))
    return [
        f"{visible(run)}:\n{reporting.render_rows([*rows.values()], terminal=terminal)}"
        for run, rows in lines.items()
    ]


def _value_tables(result: AnswerResults, terminal: Terminal) -> list[str]:
    """The tables of the retriever and of the reader, with its values on the right passages beside
    those on the retrieved ones, the rules, and the best thresholds.
    """
    isolated = {
        row["label"]: {"isolated": PrintedFigure(format_value(row["mean"], row["unit"]))}
        for row in result.summary
        if row["part"] == "isolated"
    }
    searched = {row["label"] for row in result.aggregates}
    tables: list[str] = []
    for part in ("retriever", "reader"):
        rows = [
            {name: value for name, value in row.items() if name != "part"}
            | (isolated.get(row["label"], {}) if part == "reader" else {})
            for row in result.summary
            if row["part"] == part and row["label"] not in searched
        ]
        if rows:
            title = f"{part.capitalize()} {visible(rows[0]['run'])}"
            if part == "reader" and isolated:
                title += ", and on the right passages (isolated)"
            tables.append(f"{title}:\n{reporting.render(rows, None, {}, (), terminal=terminal)}")
    rules = {name: value for name, value in result.describe().items() if name != "counts"}
    line = reporting.folded(f"rules: {rules_line(rules)}", terminal, _INDENT)
    tables[-1] = tables[-1].rstrip("\n") + f"\n{line}\n"
    if result.searched is not None:
        factor = result.convention.shows("share")[0]
        tables.append(_thresholds(result.searched, factor, terminal))
    return tables


def _thresholds(searched: ThresholdSearch, factor: float, terminal: Terminal) -> str:
    """The best thresholds that gain something. factor: of values of measures."""
    title = "Answering nothing above a threshold on the no-answer numbers:"
    gaining = [
        {
            "measure": search.measure.label,
            "now": factor * search.now,
            "best": factor * search.best.value,
            "threshold": search.best.threshold,
            "AP": None if search.curve is None else factor * search.curve.average_precision,
        }
        for search in searched.searches
        if factor * search.best.value > factor * search.now
    ]
    if gaining:
        return f"{title}\n{reporting.render_rows(gaining, terminal=terminal)}"
    is_constant = len(set(searched.numbers.tolist())) == 1
    why = "; all of them are equal, so that they distinguish nothing" if is_constant else ""
    return reporting.folded(f"{title} no threshold is better than none{why}.\n", terminal)


def _failures(result: AnswerResults, worst: Sequence[Row], terminal: Terminal) -> list[str]:
    """The hardest questions, and the number that each stage failed."""
    failed = Counter[str]()
    for row in result.failures:
        failed[row["failed"]] += row["questions"]
    right = failed.pop("none", 0)
    blocks: list[str] = []
    if worst:
        title = "The hardest question"
        if len(worst) > 1:
            title = f"The {len(worst)} hardest of {failed.total():,} failed questions"
        if any(row.get("tokens") or row.get("characters") for row in worst):
            title += _LEGEND
        title = reporting.folded(f"{title}:", terminal)
        blocks.append(f"{title}\n\n{hardest_questions(worst, terminal=terminal)}\n")
    rule = f", by {result.rules['primary_label']}" if "primary_label" in result.rules else ""
    stages = "".join(f", {stage} {n:,}" for stage, n in failed.items())
    rows = [
        {**row, "share": PrintedFigure(f"{format_value(100 * row['share'], 'percent')} %")}
        for row in result.failures
    ]
    blocks.append(reporting.folded(f"Who failed where{rule}: none {right:,}{stages}", terminal))
    return [*blocks, reporting.render_rows(rows, terminal=terminal)]


def hardest_questions(rows: Sequence[Row], *, terminal: Terminal = PLAIN) -> str:
    """A block of lines for each question: the stage that failed it, the right and the given answer,
    marks below shared parts.
    """
    width = max(min(terminal.width or _WIDTH, 120), 40)
    return "\n\n".join("\n".join(_block(row, width, terminal)) for row in rows)


def _block(row: Row, width: int, terminal: Terminal) -> list[str]:
    about = [f"{visible(row['query'])}  {row['failed']}: {row['why']}"]
    if row.get("alone") is not None:
        about.append(f"{'right' if row['alone'] >= 0.5 else 'wrong'} from the right passage alone")
    if row.get("document_rank") is not None:
        about.append(f"document at rank {row['document_rank']}")
    wrap = partial(textwrap.wrap, width=width, subsequent_indent=_INDENT)
    lines = [styled(line, "1", terminal) for line in wrap("; ".join(about))]
    lines += wrap(visible(row["text"]), initial_indent=_INDENT)
    more = ""
    if row["other_right"] and row["right"] is not None:
        more = f" and {row['other_right']} more"
    lines += _answer("right", row, "right", more, width, terminal)
    if row.get("answered"):
        lines += _answer("answered", row, "answer", "", width, terminal)
    elif "answered" in row:
        lines.append(f"{_INDENT}{'answered':<9} nothing given")
    return lines


def _answer(
    name: str, row: Row, column: str, more: str, width: int, terminal: Terminal
) -> list[str]:
    """The line of an answer, and below it a line of marks where there is anything to mark."""
    begin, text, document = f"{_INDENT}{name:<9} ", row[column], row[f"{column}_document"]
    if text is None or not text.strip():
        return [begin + ("no answer" if text is None or name == "answered" else MISSING)]
    source = more if document is None else f"{more}  ({visible(document)})"
    marks, prefix = [" "] * len(text), "right_" if column == "right" else ""
    for kind, mark in (("characters", _LETTER), ("tokens", _WORD)):
        for start, end in row.get(prefix + kind, ()):
            marks[start:end] = mark * (min(end, len(text)) - start)
    cut, below = _cut(text, marks, max(width - len(begin) - width_of(source), 16))
    lines = [begin + cut + styled(source, "2", terminal)]
    return [*lines, styled(" " * len(begin) + below, "2", terminal)] if below.strip() else lines


def _cut(text: str, marks: Sequence[str], room: int) -> tuple[str, str]:
    """As much of the text as there is room for, with its marks; from shortly before the first mark
    where that lies far behind.
    """
    first = next((at for at, mark in enumerate(marks) if mark != " "), 0)
    cells = [visible(letter) for letter in text]
    start, cut, mark_line = 0, "", ""
    if sum(map(width_of, cells[: first + 1])) > room // 2 and width_of(text) > room:
        start = max(first - room // 3, 0)
        cut, mark_line = ("…", " ") if start else ("", "")
    length = width_of("".join(cells[start:]))
    for cell, mark in zip(cells[start:], marks[start:], strict=True):
        if width_of(cut + cell) > room - 1 and length > room - len(mark_line):
            return cut + "…", mark_line.rstrip()
        cut += cell
        mark_line += mark * width_of(cell)
    return cut, mark_line.rstrip()


def precision_recall_chart(searched: ThresholdSearch) -> dict[str, Any]:
    """A Vega-Lite spec: precision against recall of answering the surest questions first."""
    names, points = list[str](), list[dict[str, Any]]()
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
        colours.append(QUIET if label == "oracle" else _COLOURS[number % len(_COLOURS)])
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

    def _by_line(values: list[Any], legend: dict[str, Any] | None) -> dict[str, Any]:
        scale = {"domain": names, "range": values}
        return {"field": "line", "type": "nominal", "scale": scale, "legend": legend}

    encoding = {
        "x": quantity("recall", [0, 1], {**axis, "title": "recall"}),
        "y": quantity("precision", [0, 1], {**axis, "title": "precision"}),
        "order": {"field": "place", "type": "quantitative"},
        "color": _by_line(colours, legend),
        "strokeDash": _by_line(dashes, None),
    }
    lines = layer("line", encoding, strokeWidth=2.5, interpolate="step-before")
    panel = {"width": _CHART_WIDTH, "height": _CHART_HEIGHT, "data": {"values": points}, **lines}
    subtitle = (
        f"{searched.run}: answering the questions that are least likely to have no answer, then "
        "the next"
    )
    return page("Precision and recall of answering", subtitle, [panel], columns=1)


def no_answer_chart(searched: ThresholdSearch) -> dict[str, Any]:
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
        "spec": {"width": _CHART_WIDTH, "height": 110, "layer": layers},
        "resolve": {"scale": {"y": "independent"}},
    }
    subtitle = f"{searched.run}; dashed: thresholds, {best}"
    return page("How sure of no answer", subtitle, [panel], columns=1)


def _counts(numbers: Floats, edges: Sequence[float]) -> list[int]:
    """The numbers in each bin; one on an edge belongs to the bin above, on the last edge to the
    last.
    """
    room = 1e-9 * (edges[-1] - edges[0]) if math.isfinite(edges[-1] - edges[0]) else 0.0
    bins = np.searchsorted(np.array(edges), numbers + room, side="right") - 1
    bins = np.clip(bins, 0, len(edges) - 2)
    return np.bincount(bins, minlength=len(edges) - 1).tolist()


def _write_charts(result: AnswerResults, folder: Path) -> list[Path]:
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
