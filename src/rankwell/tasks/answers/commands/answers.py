"""Judge the answers to questions and the documents retrieved for them, and show which of the two
fails which question.
"""

import sys
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from rankwell import report
from rankwell.core.display import Heading
from rankwell.core.tables import MISSING, figure
from rankwell.errors import BadUsage
from rankwell.evaluation.results import QUERIES_MISSING, QUERIES_UNKNOWN
from rankwell.report import PLAIN, PrintedFigure, Row, Terminal, styled, visible, width_of
from rankwell.report.drafts import drafting, refuse_unclaimed
from rankwell.report.options import (
    FolderOption,
    FormatOption,
    InputOption,
    InputPlace,
    Output,
    PerQueryOption,
    Progress,
    present,
)
from rankwell.report.rules import rules_line
from rankwell.tasks.answers.charts import write_charts
from rankwell.tasks.answers.evaluation import AnswerResults, evaluate_answers
from rankwell.tasks.answers.options import AnswerOptions
from rankwell.tasks.answers.thresholds import ThresholdSearch

_IN_TEXT = ("query", "text", "failed", "why", "right", "answer")
_WIDTH, _INDENT = 100, "  "
_WORD, _LETTER = "^", "~"
_LEGEND = f"{_WORD} words and {_LETTER} other characters that the answer and the right one share"


def answers(
    gold: InputPlace,
    predictions: InputOption = None,
    /,
    *,
    options: AnswerOptions,
    hardest: int = 3,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",
    output: FolderOption = None,
    progress: Progress = None,
) -> Output:
    """Judge the answers to questions and the documents retrieved for them, and show which of the
    two fails which question.

    Give PREDICTIONS, --retrieved, or both. The table ends with who failed how many questions, and
    the hardest of them. docs/answers.md shows the forms of files, what counts as no answer, and
    grids (`rankwell answers grid --help`).

    Parameters
    ----------
    gold
        Questions with right answers: SQuAD and its kin, HF rows, Haystack labels, DPR, KILT,
        NQ-open, TriviaQA, RAGAS.
    predictions
        A reader's answers: {id: text}, n-best JSON, ranked answers with positions (JSON lines),
        Haystack's evaluation CSV, …
    hardest
        How many of the hardest questions to show.
    per_query
        Also each question's values.
    output
        Folder for the tables, per_query.parquet, details.parquet (answers with what they share),
        queries.parquet, items.parquet (documents) and charts.
    """
    if hardest < 0:
        raise BadUsage(f"--hardest {hardest}; expected 0 or a positive integer.")
    if output is not None:
        refuse_unclaimed(output)
    result = evaluate_answers(
        gold, predictions, options=options, details=output is not None, progress=progress
    )
    return show(result, hardest=hardest, per_query=per_query, format=format, output=output)


def show(
    result: AnswerResults,
    *,
    hardest: int = 3,
    per_query: bool = False,
    format: report.Format = "table",
    output: Path | None = None,
) -> Output:
    """The output of the command for a result, counts before scores; `output` is a folder for
    everything, with the charts.
    """
    worst = result.hardest(hardest)
    if format in ("md", "latex"):
        # Spans are for programs.
        worst = [{name: row[name] for name in _IN_TEXT if name in row} for row in worst]
    tables = {"failures": result.failures, "hardest": worst}
    counts = count_lines(result)
    head = [] if format in ("table", "json") else counts
    with nullcontext() if output is None else drafting(output, result.sources.values()) as draft:
        drawn = [] if draft is None else write_charts(result, draft)
        done = present(
            result,
            format=format,
            per_query=per_query,
            output=output,
            notes=head,
            tables=tables,
            charts=False,
            others=drawn,
        )
    if format != "json":
        notes = tuple(f"{result.convention.name}: {note}" for note in result.convention.notes)
        done = done._replace(notes=(*done.notes, *notes))
    if format != "table":
        return done
    terminal = report.terminal_of(sys.stdout)
    single = _questions(result, terminal) if per_query else []
    counts = [report.folded(line, terminal, "  ") for line in counts]
    text = "\n".join(
        [*counts, "", *single, value_tables(result, terminal), blame(result, hardest, terminal)]
    )
    return Output(text=text, notes=done.notes)


def count_lines(result: AnswerResults) -> list[str]:
    """The numbers of questions, lists and answers, a line for each table, to be read before the
    scores.
    """
    gold: Mapping[str, int] = result.rules["gold"]
    twice = gold.get("duplicate_texts", 0)
    same = f"{twice} share their text" if twice else "no two have the same text"
    kinds = f"{gold['answerable']:,} answerable, {gold['impossible']:,} impossible"
    lines = [f"{_many(gold['questions'], 'question')}: {kinds}; {same}, 0 merged"]
    for run, own in result.counts.items():
        missing, unknown = own[QUERIES_MISSING], own[QUERIES_UNKNOWN]
        what = "lists for" if run == result.retriever else "answers to"
        there = _many(gold["questions"] - missing, "question")
        lines.append(f"{visible(run)}: {what} {there}, {missing:,} missing, {unknown:,} extra")
    return lines


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _questions(result: AnswerResults, terminal: Terminal) -> list[str]:
    """A table for each run, with a line for each question and a column for each measure."""
    lines: dict[str, dict[str, dict[str, Any]]] = {}
    for row in result.per_query():
        line = lines.setdefault(row["run"], {}).setdefault(row["query"], {"query": row["query"]})
        line[Heading(row["label"])] = PrintedFigure(figure(row["value"], row["unit"]))
    return [
        f"{visible(run)}:\n{report.render_rows([*rows.values()], terminal=terminal)}"
        for run, rows in lines.items()
    ]


def value_tables(result: AnswerResults, terminal: Terminal) -> str:
    """The tables of the retriever and of the reader, with its values on the right passages beside
    those on the retrieved ones.
    """
    alone = {row["label"]: row for row in result.summary if row["part"] == "isolated"}
    searched = {row["label"] for row in result.aggregates}
    parts: list[str] = []
    for part, beside in (("retriever", {}), ("reader", alone)):
        rows = [
            row for row in result.summary if row["part"] == part and row["label"] not in searched
        ]
        if rows:
            title = f"{part.capitalize()} {visible(rows[0]['run'])}"
            title += ", and on the right passages (isolated)" if beside else ""
            shown = [{name: value for name, value in row.items() if name != "part"} for row in rows]
            for row in shown:
                if row["label"] in beside:
                    row["isolated"] = PrintedFigure(
                        figure(beside[row["label"]]["mean"], beside[row["label"]]["unit"])
                    )
            parts.append(f"{title}:\n{report.render(shown, None, {}, (), terminal=terminal)}")
    rules = {name: value for name, value in result.describe().items() if name != "counts"}
    line = f"rules: {rules_line(rules)}"
    parts[-1] = parts[-1].rstrip("\n") + f"\n{report.folded(line, terminal, '  ')}\n"
    if result.searched is not None:
        parts.append(_thresholds(result.searched, result.convention.shows("share")[0], terminal))
    return "\n".join(parts)


def _thresholds(searched: ThresholdSearch, factor: float, terminal: Terminal) -> str:
    """The best thresholds that gain something. factor: of values of measures."""
    gained: list[dict[str, Any]] = []
    for each in searched.searches:
        area = None if each.curve is None else factor * each.curve.average_precision
        now, best = factor * each.now, factor * each.best.value
        if best > now:
            row = {"measure": each.measure.label, "now": now, "best": best}
            gained.append(row | {"threshold": each.best.threshold, "AP": area})
    if not gained:
        same = len(set(searched.numbers.tolist())) == 1
        why = "; all of them are equal, so that they distinguish nothing" if same else ""
        none = (
            "Answering nothing above a threshold on the no-answer numbers: no threshold is "
            f"better than none{why}.\n"
        )
        return report.folded(none, terminal)
    return "Answering nothing above a threshold on the no-answer numbers:\n" + report.render_rows(
        gained, terminal=terminal
    )


def blame(result: AnswerResults, most: int, terminal: Terminal) -> str:
    """The hardest questions, and the number that each stage failed."""
    failed = Counter({row["failed"]: 0 for row in result.failures})
    for row in result.failures:
        failed[row["failed"]] += row["questions"]
    right = failed.pop("none", 0)
    parts: list[str] = []
    worst = result.hardest(most)
    if worst:
        title = (
            f"The {len(worst)} hardest of {failed.total():,} failed questions"
            if len(worst) > 1
            else "The hardest question"
        )
        legend = (
            f" ({_LEGEND})"
            if any(row.get("tokens") or row.get("characters") for row in worst)
            else ""
        )
        title = report.folded(f"{title}{legend}:", terminal)
        parts.append(f"{title}\n\n{hardest_questions(worst, terminal=terminal)}\n")
    by = f", by {result.rules['right_label']}" if "right_label" in result.rules else ""
    others = "".join(f", {name} {n:,}" for name, n in failed.items())
    rows = [
        {**row, "share": PrintedFigure(f"{figure(100 * row['share'], 'percent')} %")}
        for row in result.failures
    ]
    table = report.render_rows(rows, terminal=terminal)
    parts.append(
        report.folded(f"Who failed where{by}: none {right:,}{others}", terminal) + f"\n{table}"
    )
    return "\n".join(parts)


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
    lines = [
        styled(line, "1", terminal)
        for line in textwrap.wrap("; ".join(about), width, subsequent_indent=_INDENT)
    ]
    lines += textwrap.wrap(
        visible(row["text"]), width, initial_indent=_INDENT, subsequent_indent=_INDENT
    )
    more = (
        f" and {row['other_right']} more" if row["other_right"] and row["right"] is not None else ""
    )
    marks = row.get("right_characters", ()), row.get("right_tokens", ())
    lines += _answer("right", row["right"], row["right_document"], more, marks, width, terminal)
    if row.get("answered"):
        marks = row.get("characters", ()), row.get("tokens", ())
        lines += _answer(
            "answered", row["answer"], row["answer_document"], "", marks, width, terminal
        )
    elif "answered" in row:
        lines.append(f"{_INDENT}{'answered':<9} nothing given")
    return lines


def _answer(
    name: str,
    text: str | None,
    document: str | None,
    more: str,
    shared: tuple[Sequence[Any], Sequence[Any]],
    width: int,
    terminal: Terminal,
) -> list[str]:
    """The line of an answer, and below it a line of marks where there is anything to mark. shared:
    characters, tokens.
    """
    begin = f"{_INDENT}{name:<9} "
    if text is None or not text.strip():
        return [begin + ("no answer" if text is None or name == "answered" else MISSING)]
    where = more + (f"  ({visible(document)})" if document is not None else "")
    room = max(width - len(begin) - width_of(where), 16)
    marks = [" "] * len(text)
    for spans, mark in zip(shared, (_LETTER, _WORD), strict=True):
        for start, end in spans:
            marks[start:end] = mark * (min(end, len(text)) - start)
    first = next((place for place, mark in enumerate(marks) if mark != " "), 0)
    shown, below = _cut(text, marks, first, room)
    lines = [begin + shown + styled(where, "2", terminal)]
    return [*lines, styled(" " * len(begin) + below, "2", terminal)] if below.strip() else lines


def _cut(text: str, marks: Sequence[str], first: int, room: int) -> tuple[str, str]:
    """As much of the text as there is room for, with its marks; from shortly before the first mark
    where that lies far behind.
    """
    cells = [(visible(letter), mark) for letter, mark in zip(text, marks, strict=True)]
    start = (
        max(first - room // 3, 0)
        if sum(width_of(cell) for cell, _ in cells[: first + 1]) > room // 2
        else 0
    )
    shown, below = ("…", " ") if start and width_of(text) > room else ("", "")
    start = start if shown else 0
    for cell, mark in cells[start:]:
        if width_of(shown + cell) > room - 1 and width_of(
            "".join(each for each, _ in cells[start:])
        ) > room - len(below):
            return shown + "…", below.rstrip()
        shown += cell
        below += mark * width_of(cell)
    return shown, below.rstrip()
