"""Output of question answering: how many questions fail, whose fault that is, the scores of
retriever and reader, and the folder.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwell.data.frames import Heading
from rankwell.data.tables import format_value
from rankwell.reporting import (
    FOR_PEOPLE,
    Answer,
    Format,
    PrintedFigure,
    Row,
    TableStyle,
    has_intervals,
)
from rankwell.reporting.options import Output, present, printed_output
from rankwell.reporting.outputs.answers import (
    caption,
    failed_questions,
    score_digits,
    short_interval,
)

if TYPE_CHECKING:
    from rankwell.tasks.qa.evaluation import AnswerResults

_HARDEST = 3
_IN_TEXT = ("query", "text", "failed", "why", "right", "answer")


def show(
    result: "AnswerResults",
    *,
    per_query: bool = False,
    format: Format = "table",
    output: Path | None = None,
    style: TableStyle | None = None,
) -> Output:
    """The output of the command for a result; `output` is a folder for everything, with the
    charts.
    """
    failures, hardest = result.failures, result.hardest(_HARDEST)
    tables = {"failures": failures, "hardest": hardest}
    shown = tables
    if format in FOR_PEOPLE:
        # Spans are for programs.
        readable = [{name: row[name] for name in _IN_TEXT if name in row} for row in hardest]
        shown = {"failures": failures, "hardest": readable}
    printed = present(result, format=format, per_query=per_query, tables=shown, style=style)
    if output is None:
        return printed
    # Only a call that writes needs them.
    from rankwell.reporting.drafts import drafting
    from rankwell.reporting.folder import write_result
    from rankwell.tasks.qa.charts import draw_charts

    with drafting(output, result.sources.values()) as draft:
        written = draw_charts(result, draft)
        write_result(result, output, tables=tables, charts=False, others=written)
    return printed_output(printed.text, format, result.findings, output)


def qa_answer(result: Any) -> Answer:
    """How many questions fail and why, the scores of retriever and reader, the hardest question."""
    rules, failures = result.describe(), result.failures
    searched = {row["label"] for row in result.aggregates}
    rows = [row for row in result.summary if row["label"] not in searched]
    isolated = {row["label"]: row for row in rows if row["part"] == "isolated"}
    shown = [row for row in rows if row["part"] != "isolated"]
    reasons = [f"{row['why']} ({row['questions']})" for row in failures if row["failed"] != "none"]
    legend = [f"Why: {' · '.join(reasons)}"] if reasons else []
    legend += map(_hardest, result.hardest(1))
    return Answer(
        failed_questions(failures, rules),
        caption(shown, rules, ("question", "questions")),
        table=_scores(shown, isolated, rules),
        legend=legend,
    )


def _scores(rows: list[Row], isolated: dict[str, Row], rules: Any) -> list[Row]:
    """A line for each measure, named by the part that it judges."""

    def _text(row: Row, name: str) -> str:
        return format_value(row[name], row["unit"], digits=score_digits(rules, row["unit"]))

    level, lines, part = f"{100 * rules.get('level', 0.95):g}% CI", list[Row](), ""
    for row in rows:
        line: dict[str, Any] = {
            " ": row["part"] if row["part"] != part else "",
            "measure": row["label"],
            "mean": PrintedFigure(_text(row, "mean")),
        }
        part = row["part"]
        if has_intervals(rows):
            ends = (
                "" if row["ci_low"] is None else f"{_text(row, 'ci_low')}, {_text(row, 'ci_high')}"
            )
            line[Heading(level)] = PrintedFigure(short_interval(f"[{ends}]") if ends else "")
        if isolated:
            alone = isolated.get(row["label"]) if part == "reader" else None
            line["from right passages"] = PrintedFigure(_text(alone, "mean") if alone else "")
        lines.append(line)
    return lines


def _hardest(row: Row) -> str:
    expected = f"expected {row['right']!r}" if row["right"] else "it has no answer"
    given = f", answered {row['answer']!r}" if row.get("answer") else ", not answered"
    return f"Hardest: {row['query']} {row['text']!r}: {expected}{given * ('answered' in row)}"
