"""Judge the answers to questions, and what was retrieved for them: how right both are, and which of them fails where."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal

from rankwell import report
from rankwell.core.registry import split_names
from rankwell.errors import BadUsage
from rankwell.report.k_curves import k_curves
from rankwell.report.present import (
    ConventionOption,
    FormatOption,
    InputOption,
    InputPlace,
    MeasureOption,
    Output,
    OutputOption,
    PerQueryOption,
    Progress,
    present,
)
from rankwell.stats import Intervals
from rankwell.store import refuse_blocked, write_bytes, write_text
from rankwell.tasks.answers.answer_pairs import Extra, Missing
from rankwell.tasks.answers.charts import no_answer_chart, precision_recall_chart
from rankwell.tasks.answers.evaluation import AnswerResults, evaluate_answers
from rankwell.tasks.answers.hardest_questions import LEGEND, hardest_questions
from rankwell.tasks.answers.measures.answers_thresholds import Groups
from rankwell.tasks.answers.retrieval import Relevance
from rankwell.tasks.answers.thresholds import Searched

_TOLD = ("query", "text", "failed", "why", "right", "answer")
RetrieverDuplicates = Literal["error", "first", "best", "keep"]
RetrieverTies = Literal["id-desc", "id-asc", "input", "optimistic", "pessimistic", "error"]


def answers(
    gold: InputPlace,
    predictions: InputOption = None,
    /,
    *,
    retrieved: InputOption = None,
    k: int | None = None,
    retriever_k: int | None = None,
    convention: ConventionOption = "piaf",
    measure: MeasureOption = None,
    normalizer: str | None = None,
    language: str | None = None,
    isolated: InputOption = None,
    na_probs: InputOption = None,
    na_threshold: float | None = None,
    na_ties: Groups | None = None,
    relevance: Relevance | None = None,
    corpus: InputOption = None,
    context_share: float | None = None,
    ties: RetrieverTies | None = None,
    duplicates: RetrieverDuplicates | None = None,
    missing: Missing | None = None,
    extra: Extra | None = None,
    right: str | None = None,
    hardest: int = 3,
    gold_format: str | None = None,
    predictions_format: str | None = None,
    retrieved_format: str | None = None,
    isolated_format: str | None = None,
    intervals: Intervals = "bootstrap",
    seed: int = 0,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",  # noqa: A002
    output: OutputOption = None,
    progress: Progress = None,
) -> Output:
    """Judge the answers to questions, and what was retrieved for them: how right both are, and which of them fails where.

    Give PREDICTIONS, --retrieved, or both. The table ends with who failed how many questions, and the hardest of them.
    docs/answers.md shows the forms of files, what counts as no answer, and grids (`rankwell answers grid --help`).

    Parameters
    ----------
    gold
        Questions with right answers: SQuAD and its kin, HF rows, Haystack labels, DPR, KILT, NQ-open, TriviaQA, RAGAS.
    predictions
        A reader's answers: {id: text}, n-best JSON, ranked answers with positions (JSON lines), Haystack's evaluation CSV, …
    retrieved
        A retriever's documents for each question: a run file, DPR's or Pyserini's retrieval results, Haystack's CSV, KILT, RAGAS.
    k
        How many first answers top-k measures look at, 5 unless it is said.
    retriever_k
        How many first documents count as retrieved, 10 unless it is said.
    convention
        Whose words and rules: piaf, piaf-article, haystack-finder, haystack-v1, squad1, squad2, mlqa, french, nq-open, …
    measure
        A measure or a word of the convention, instead of its whole report; repeat it for more.
    normalizer
        How texts are made comparable, instead of the convention's rule: squad, english, french, mlqa-de, none, …
    language
        Language of the answers, for conventions with rules for several, such as mlqa.
    isolated
        What the same reader answered from the right passages: beside what it made of the retrieved ones.
    na_probs
        How likely each question has no answer: {id: number}; the best thresholds on it are searched.
    na_threshold
        No answer counts as given where the number is above this.
    na_ties
        Best thresholds with equal numbers on one side (whole), or as SQuAD's official script finds them, by the file's order.
    relevance
        What a relevant document is: the question's own (document), one that holds an answer (dpr: its tokens; kilt: its normal
        form; lower, raw: its text), or one that shares text with the question's own (context); by default the convention's.
    corpus
        Texts of the documents by id, for relevance by answers or context.
    context_share
        How much of the shorter text two documents must share to be the same context, from 0 to 1, 0.65 unless it is said.
    ties
        Order of documents with equal scores in a run file; by default the convention's.
    duplicates
        A document that stands twice in a list: an error, the first or the best of both is kept, or each place counts (keep); by
        default the convention's: keep under piaf.
    missing
        A question without a prediction counts 0 (zero), as answered by nothing (empty), is left out (skip), or is an error.
    extra
        A prediction without a question is ignored (ignore), or an error.
    right
        The word that decides whether a question is answered rightly; by default the first of the report.
    hardest
        How many of the hardest questions to show.
    gold_format
        Name of a format, where content does not tell.
    predictions_format
        Likewise; haystack:isolated takes that part of Haystack's CSV.
    retrieved_format
        Likewise.
    isolated_format
        Likewise.
    intervals
        95 % intervals by the bootstrap over questions, by Student's t, or none.
    seed
        Seed of the bootstrap.
    per_query
        Also each question's values.
    format
        How to print.
    output
        Folder for the tables, per_query.parquet, details.parquet (answers with what they share), queries.parquet, items.parquet
        (documents) and charts.
    """
    if hardest < 0:
        raise BadUsage(f"--hardest {hardest}: how many questions to show is a whole number from 0.")
    if output is not None:
        refuse_blocked(output, folder=True)
    result = evaluate_answers(
        gold,
        predictions,
        retrieved=retrieved,
        isolated=isolated,
        na_probs=na_probs,
        corpus=corpus,
        convention=convention,
        measures=None if measure is None else [name for text in measure for name in split_names(text)],
        k=k,
        retriever_k=retriever_k,
        normalizer=normalizer,
        language=language,
        relevance=relevance,
        context_share=context_share,
        ties=ties,
        missing=missing,
        extra=extra,
        na_threshold=na_threshold,
        na_ties=na_ties,
        right=right,
        duplicates=duplicates,
        gold_format=gold_format,
        predictions_format=predictions_format,
        retrieved_format=retrieved_format,
        isolated_format=isolated_format,
        intervals=intervals,
        seed=seed,
        details=output is not None,
        progress=progress,
    )
    return show(result, hardest=hardest, per_query=per_query, format=format, output=output)


def show(
    result: AnswerResults,
    *,
    hardest: int = 3,
    per_query: bool = False,
    format: report.Format = "table",  # noqa: A002
    output: Path | None = None,
) -> Output:
    """What is printed of a result, counts before scores; `output` is a folder for everything, with the charts."""
    worst = result.hardest(hardest)
    if format in ("md", "latex"):
        # Spans are for programs.
        worst = [{name: row[name] for name in _TOLD if name in row} for row in worst]
    tables = {"failures": result.failures, "hardest": worst}
    counts = counted(result)
    head = [] if format in ("table", "json") else counts
    drawn = [] if output is None else _write_charts(result, output)
    done = present(
        result, format=format, per_query=per_query, output=output, notes=head, tables=tables, charts=False, others=drawn
    )
    if format != "json":
        told = tuple(f"{result.convention.name}: {note}" for note in result.convention.notes)
        done = done._replace(notes=(*done.notes, *told))
    if format != "table":
        return done
    terminal = report.terminal_of(sys.stdout)
    single = _questions(result, terminal) if per_query else []
    text = "\n".join([*counts, "", *single, figures(result, terminal), blame(result, hardest, terminal)])
    return Output(text=text, notes=done.notes)


def counted(result: AnswerResults) -> list[str]:
    """What was counted, a line for each table: everything that a reader of the scores should know before."""
    gold: Mapping[str, int] = result.rules["gold"]
    twice = gold.get("duplicate_texts", 0)
    told = f"{twice} share their text" if twice else "no two have the same text"
    kinds = f"{gold['answerable']:,} answerable, {gold['impossible']:,} impossible"
    lines = [f"{_many(gold['questions'], 'question')}: {kinds}; {told}, 0 merged"]
    retriever = None if result.explained.retrieval is None else result.explained.retrieval.run
    for run, own in result.rules["counts"].items():
        what, there = "lists for" if run == retriever else "answers to", gold["questions"] - own["missing"]
        lines.append(
            f"{report.visible(run)}: {what} {_many(there, 'question')}, {own['missing']:,} missing, {own['extra']:,} extra"
        )
    return lines


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _questions(result: AnswerResults, terminal: report.Terminal) -> list[str]:
    """A table for each run, with a line for each question and a column for each measure."""
    lines: dict[str, dict[str, dict[str, Any]]] = {}
    for row in result.per_query():
        line = lines.setdefault(row["run"], {}).setdefault(row["query"], {"query": row["query"]})
        line[row["label"]] = report.figure(row["value"], row["unit"])
    return [f"{report.visible(run)}:\n{report.render_rows([*rows.values()], terminal=terminal)}" for run, rows in lines.items()]


def figures(result: AnswerResults, terminal: report.Terminal) -> str:
    """The tables of the retriever and of the reader, whose figures from the right passages stand beside the others."""
    alone = {row["label"]: row for row in result.summary if row["part"] == "isolated"}
    searched = {row["label"] for row in result.aggregates}
    parts: list[str] = []
    for part in ("retriever", "reader"):
        rows = [row for row in result.summary if row["part"] == part and row["label"] not in searched]
        if rows:
            beside = alone if part == "reader" else {}
            title = f"{part.capitalize()} {report.visible(rows[0]['run'])}"
            title += ", and on the right passages (isolated)" if beside else ""
            parts.append(f"{title}:\n{_table([_shown(row, beside) for row in rows], terminal)}")
    rules = {name: value for name, value in result.describe().items() if name != "counts"}
    line = f"rules: {report.rules_line(rules)}"
    ready = line if terminal.width is None else "\n".join(wrap(line, terminal.width, subsequent_indent="  "))
    parts[-1] = parts[-1].rstrip("\n") + f"\n{ready}\n"
    if result.searched is not None:
        parts.append(_thresholds(result, terminal))
    return "\n".join(parts)


def _table(rows: Sequence[dict[str, Any]], terminal: report.Terminal) -> str:
    """The rows as a table; on a narrow terminal the exact names come below it."""
    whole = report.render(rows, None, {}, (), terminal=report.Terminal(colour=terminal.colour))
    if terminal.width is None or len(report.render(rows, None, {}, ()).partition("\n")[0]) <= terminal.width:
        return whole
    names = [f"{row['label']} = {row['measure']}" for row in rows if row["label"] != row["measure"]]
    short = report.render([row | {"measure": row["label"]} for row in rows], None, {}, (), terminal=terminal)
    lines = [line for name in names for line in wrap(name, terminal.width, initial_indent="  ", subsequent_indent="    ")]
    return short + "\n".join(["exact names:", *lines, ""])


def _shown(row: Mapping[str, Any], alone: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    shown = {name: value for name, value in row.items() if name != "part"}
    other = alone.get(row["label"])
    return shown if other is None else {**shown, "isolated": report.figure(other["mean"], other["unit"])}


def _thresholds(result: AnswerResults, terminal: report.Terminal) -> str:
    searched = result.searched
    rows: list[dict[str, Any]] = []
    factor = 100.0 if result.convention.unit == "percent" else 1.0
    for each in searched.searches if searched is not None else ():
        area = None if each.curve is None else factor * each.curve.average_precision
        now, best = factor * each.now, factor * each.best.value
        rows.append({"measure": each.asked.label, "now": now, "best": best, "threshold": each.best.threshold, "AP": area})
    gained = [row for row in rows if row["best"] > row["now"]]
    if not gained:
        why = _told_apart(searched)
        return f"Answering nothing above a threshold on the no-answer numbers: no threshold is better than none{why}.\n"
    return "Answering nothing above a threshold on the no-answer numbers:\n" + report.render_rows(gained, terminal=terminal)


def _told_apart(searched: Searched | None) -> str:
    same = searched is not None and len(set(searched.numbers.tolist())) == 1
    return "; all of them are equal, so that they tell nothing apart" if same else ""


def blame(result: AnswerResults, most: int, terminal: report.Terminal) -> str:
    """The hardest questions, and who failed how many."""
    failed = Counter({row["failed"]: 0 for row in result.failures})
    for row in result.failures:
        failed[row["failed"]] += row["questions"]
    right = failed.pop("none", 0)
    parts: list[str] = []
    worst = result.hardest(most)
    if worst:
        title = f"The {len(worst)} hardest of {failed.total():,} failed questions" if len(worst) > 1 else "The hardest question"
        legend = f" ({LEGEND})" if any(row.get("tokens") or row.get("characters") for row in worst) else ""
        parts.append(f"{title}{legend}:\n\n{hardest_questions(worst, terminal=terminal)}\n")
    by = f", by {result.rules['right_label']}" if "right_label" in result.rules else ""
    told = "".join(f", {name} {n:,}" for name, n in failed.items())
    rows = [row | {"share": f"{100 * row['share']:5.1f} %"} for row in result.failures]
    table = report.render_rows(rows, terminal=terminal)
    parts.append(f"Who failed where{by}: none {right:,}{told}\n{table}")
    return "\n".join(parts)


def _write_charts(result: AnswerResults, folder: Path) -> list[Path]:
    """The means, what every cut-off gives, and what the no-answer numbers tell: charts as PNG and SVG, their rows as CSV."""
    means = report.CHARTS["intervals"](report.ChartData(_side_by_side(result), result.values, result.rules))
    specs: dict[str, dict[str, Any]] = {} if means is None else {"intervals": means}
    written: dict[str, Sequence[report.Row]] = {}
    if result.top_k:
        written["top_k"] = result.top_k
        specs["top_k"] = k_curves(result.top_k, bands="interval", title="Measures over k")
    searched = result.searched
    if searched is not None:
        if searched.oracle is not None:
            rows = result.no_answer_curves
            written["no_answer_curves"] = rows
            curves = {each.asked.label: each.curve for each in searched.searches} | {"oracle": searched.oracle}
            areas = {label: curve.average_precision for label, curve in curves.items() if curve is not None}
            specs["no_answer_curves"] = precision_recall_chart(rows, areas, run=searched.run)
        best = {each.asked.label: each.best.threshold for each in searched.searches if each.best.value > each.now}
        specs["no_answer_numbers"] = no_answer_chart(searched.numbers, searched.answerable, best, run=searched.run)
    for name, table in written.items():
        write_text(folder / f"{name}.csv", report.render_rows(table, "csv"))
    for name, spec in specs.items():
        picture = report.draw(spec)
        write_bytes(folder / f"{name}.png", picture.png)
        write_text(folder / f"{name}.svg", picture.svg)
    tables = [folder / f"{name}.csv" for name in written]
    return [*tables, *(folder / f"{name}{suffix}" for name in specs for suffix in (".png", ".svg"))]


def _side_by_side(result: AnswerResults) -> list[dict[str, Any]]:
    """The summary as one run, each measure of the reader above the same from the right passages, by its word alone."""
    order = {label: place for place, label in enumerate(dict.fromkeys(row["label"] for row in result.summary))}
    searched = {row["label"] for row in result.aggregates}
    rows = sorted((row for row in result.summary if row["label"] not in searched), key=lambda row: order[row["label"]])
    name = " and ".join(dict.fromkeys(row["run"] for row in rows if row["part"] != "isolated"))
    words = [f"{row['label']} (isolated)" if row["part"] == "isolated" else row["label"] for row in rows]
    return [row | {"run": name, "measure": word, "label": word} for row, word in zip(rows, words, strict=True)]
