"""Compare models' nearest neighbours with a reference model's: the share that they keep, with
chance and interval.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

from rankwell import report
from rankwell.core.display import Heading
from rankwell.core.options import Option
from rankwell.core.tables import MISSING, figure
from rankwell.errors import BadUsage, Unfinished
from rankwell.evaluation.results import Results
from rankwell.parts.options import PartOptions, refusal
from rankwell.report import PrintedFigure, Row, Terminal, visible
from rankwell.report.options import (
    FolderOption,
    FormatOption,
    InputPlace,
    Output,
    PerQueryOption,
    Progress,
)
from rankwell.report.rules import rules_line
from rankwell.tasks.agreement.evaluation import agreement_results
from rankwell.tasks.agreement.inputs import cuts_gold
from rankwell.tasks.agreement.options import AgreementOptions

_MAIN = ("Overlap", "nDCG", "RBO", "Trustworthiness", "MedR_first", "CKA")
_RULE = 70
_COLUMN = 15


def agree(
    *candidates: InputPlace,
    reference: InputPlace,
    options: AgreementOptions,
    parts: PartOptions,
    k_values: Annotated[list[str] | None, Option(takes_all=True)] = None,
    per_query: PerQueryOption = False,
    every: Annotated[bool, Option(("--all",))] = False,
    format: FormatOption = "table",
    output: FolderOption = None,
    progress: Progress = None,
) -> Output:
    """Compare models' nearest neighbours with a reference model's: the share that they keep, with
    chance and interval.

    The queries are a sample of the items; their neighbours are sought, exactly, among all items.
    Nothing is its own neighbour. Two or more runs are compared likewise, without judgments:
    rankwell agree --reference A.run B.run.

    Parameters
    ----------
    candidates
        Embeddings of the same items by other models, or runs: files, or NAME=PATH; the others are
        compared with the first.
    reference
        Embeddings by the model whose neighbours are the truth, or a run.
    k_values
        Cut-offs, with blanks between them.
    per_query
        Also one row per query.
    every
        Print every measure in the table, not the main ones alone; other formats and files always
        have all.
    output
        Folder for summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet,
        manifest.json and charts.
    """
    refused: tuple[str, ...] = ()
    if output is not None:
        from rankwell.report.drafts import refuse_unclaimed

        refused = refusal(parts, partial(refuse_unclaimed, output))
    # Names of files that follow on the cut-offs are candidates.
    cuts = [word for word in k_values or [] if word.replace(",", "").isdigit()]
    models = [*candidates, *(word for word in k_values or [] if word not in cuts)]
    if not models:
        raise BadUsage("name at least one candidate: rankwell agree --reference REF CANDIDATE...")
    options = replace(options, k=",".join(cuts)) if k_values else options
    outcome = agreement_results(
        reference, models, options, parts, details=output is not None, progress=progress
    )
    if outcome.result is None:
        return Output(
            outcome.text,
            (*refused, *outcome.notes),
            0 if outcome.missing is None else Unfinished.exit_code,
        )
    result: Results = outcome.result
    rows = result.panel.rows
    columns = (
        [name for name in rows[0] if any(row[name] is not None for row in rows)] if rows else []
    )
    vectors = [{name: row[name] for name in columns} for row in rows]
    table = (
        report.render_rows(
            vectors, terminal=report.terminal_of(sys.stderr)._replace(colour=False)
        ).rstrip("\n")
        if rows
        else ""
    )
    notes = [report.Aside(table)] if rows else []
    notes += [*result.notes, *result.interval_notes] if format != "json" else result.panel.warnings
    main = (
        bool(rows)
        and format == "table"
        and not (every or options.measures or cuts_gold(result.convention))
    )
    text = render(result, format, per_query=per_query, main=main)
    if main:
        notes.append(report.Aside(f"printed are {', '.join(_MAIN)}; the other measures with --all"))
    if output is not None:
        write(result, output)
        notes.append(report.Aside(f"wrote {output}/"))
    return Output(text=text, notes=tuple(notes))


def render(
    result: Results, format: report.Format, *, per_query: bool = False, main: bool = False
) -> str:
    """The result as text in one of the report's formats, the relative changes last. main: without
    lesser measures.
    """
    rows = list(result.per_query()) if per_query else None
    notes = [*result.notes, *result.interval_notes]
    terminal = report.terminal_of(sys.stdout)
    if format != "table":
        return report.render(
            [*result.summary, *result.changes],
            rows,
            result.describe(),
            notes,
            format,
            terminal=terminal,
        )
    if cuts_gold(result.convention) and not per_query:
        return _source_tables(result, terminal)
    summary, changes = (
        list(filter(_is_main, rows)) if main else rows for rows in (result.summary, result.changes)
    )
    rows = list(filter(_is_main, rows)) if main and rows is not None else rows
    text = report.render(summary, rows, result.describe(), notes, terminal=terminal)
    return text + (
        "\n" + report.render(changes, None, {}, (), terminal=terminal) if changes else ""
    )


def _is_main(row: Row) -> bool:
    """Whether the row is of a main measure, of its change, or of a measure against labels."""
    name = (
        row["measure"]
        .removeprefix("Change(")
        .removesuffix(")" * row["measure"].startswith("Change("))
    )
    return name.partition("@")[0] in _MAIN or "truth='labels'" in name


def write(result: Results, folder: Path) -> None:
    """Writes all that a comparison or a page needs later, and the files of the source; each whole
    or not at all.
    """
    from rankwell.report.charts import write_charts
    from rankwell.report.drafts import drafting
    from rankwell.report.folder import write_result
    from rankwell.report.line_charts import k_curves
    from rankwell.store import write_text

    files = [f"{run.replace('/', '_')}_results.csv" for run in result.candidates]
    twice = next(
        (name for name in files if [each.lower() for each in files].count(name.lower()) > 1), None
    )
    if twice is not None:
        raise BadUsage(
            f"two candidates would be written to {twice}; give them names that differ in more "
            "than / and _ or case."
        )
    own = [row for row in result.summary if "truth='labels'" not in row["measure"]]
    cut = cuts_gold(result.convention)
    curves = [row for row in own if row["k"] is not None and row["run"] != result.reference]
    labels = [row["label"].partition("@")[0] for row in curves]
    curves = [
        row
        for row, label in zip(curves, labels, strict=True)
        if cut or labels.count(label) > len(result.pairs)
    ]
    with drafting(folder, result.sources.values()) as draft:
        others = [draft / name for name in files if cut]
        for run, path in zip(result.candidates, others, strict=bool(others)):
            write_text(path, _k_columns(own, run))
        if curves:
            title = f"Agreement with {result.reference}"
            others += write_charts(
                draft,
                {"metrics_vs_k": k_curves(curves, bands="sd" if cut else "interval", title=title)},
            )
        write_result(
            result, folder, summary=[*result.summary, *result.changes], charts=False, others=others
        )


def _source_tables(result: Results, terminal: Terminal) -> str:
    """The tables that the convention's source prints, mean±sd by k and measure, then the rules and
    the candidates' changes.
    """
    parts = [f"EVALUATION RESULTS (vs {visible(result.reference)} as Ground Truth)\n{'=' * _RULE}"]
    for run in dict.fromkeys(row["run"] for row in result.summary):
        cells = {key: _cell(row) for key, row in _by_place(result.summary, run).items()}
        parts.append(f"{visible(run)}:\n{_grid(cells, terminal)}")
    spread = f"± is the population standard deviation over {len(result.sample.rows)} queries"
    changes = _change_table(result.changes, terminal)
    rules = report.folded(f"{spread}\nrules: {rules_line(result.describe())}\n", terminal)
    return "\n\n".join(parts) + "\n\n" + rules + (f"\n{changes}" if changes else "")


def _change_table(rows: Sequence[Row], terminal: Terminal) -> str:
    """For each run a table of its relative changes, in per cent, with their intervals where there
    are any; empty without rows.
    """
    parts: list[str] = []
    for run in dict.fromkeys(row["run"] for row in rows):
        mine = _by_place(rows, run)
        level = "" if all(row["ci_low"] is None for row in mine.values()) else " [95 % interval]"
        heading = (
            f"Relative change of {visible(run)} against "
            f"{visible(next(iter(mine.values()))['against'])}{level}:"
        )
        parts.append(
            f"{heading}\n{_grid({key: _change(row) for key, row in mine.items()}, terminal, gap=5)}"
        )
    return "\n\n".join(parts) + "\n" if parts else ""


def _k_columns(rows: Sequence[Row], run: str) -> str:
    """A run's summary as CSV: `k`, then `word_mean` and `word_std` for every measure, in full
    precision.
    """
    cells = _by_place(rows, run)
    words = list(dict.fromkeys(word for _, word in cells))
    lines = [
        ",".join(["k", *(f"{word.lower()}_{what}" for word in words for what in ("mean", "std"))])
    ]
    for k in sorted({k for k, _ in cells}):
        found = [cells.get((k, word), {}) for word in words]
        numbers = [each.get(what) for each in found for what in ("mean", "sd")]
        lines.append(
            ",".join([str(k), *("" if number is None else repr(number) for number in numbers)])
        )
    return "\n".join(lines) + "\n"


def _by_place(rows: Sequence[Row], run: str) -> dict[tuple[int, str], Row]:
    """The rows of a run with a k, by k and by the label without it."""
    found: dict[tuple[int, str], Row] = {}
    for row in rows:
        if row["run"] == run and row["k"] is not None:
            word = row["label"].replace(f"@{row['k']}", "", 1)
            is_change = row["measure"].startswith("Change(")
            found[
                row["k"], word.removeprefix("Change(").removesuffix(")") if is_change else word
            ] = row
    return found


def _grid(cells: Mapping[tuple[int, str], str], terminal: Terminal, *, gap: int = 4) -> str:
    """A table as the source prints it: its figures are a blank nearer to each other than their
    headings, `gap` 5 aligns them.

    One that is wider than the terminal is printed as tables of other results are.
    """
    words = list(dict.fromkeys(word for _, word in cells))
    width = max(_COLUMN, *map(len, words), *(len(text) + 4 for text in cells.values()))
    lines = [
        [f"{'k':<6}", *(word.ljust(width) for word in words)],
        ["-" * 6, *["-" * width] * len(words)],
    ]
    lines += [
        [
            f"{k:<6}",
            (" " * gap)
            .join(cells.get((k, word), MISSING).ljust(width - 4) for word in words)
            .rstrip(),
        ]
        for k in sorted({k for k, _ in cells})
    ]
    if terminal.width is not None and 9 + len(words) * (width + 1) > terminal.width:
        rows = [
            {
                "k": k,
                **{Heading(word): PrintedFigure(cells.get((k, word), MISSING)) for word in words},
            }
            for k in sorted({k for k, _ in cells})
        ]
        return report.render_rows(rows, terminal=terminal).rstrip("\n")
    return "\n".join("  " + " ".join(line) for line in lines)


def _cell(row: Row) -> str:
    return MISSING if row["mean"] is None else f"{row['mean']:.3f}±{row['sd']:.3f}"


def _change(row: Row) -> str:
    mean, low, high = (
        MISSING if row[name] is None else figure(100 * row[name], "percent", signed=True)
        for name in ("mean", "ci_low", "ci_high")
    )
    return (
        mean if mean == MISSING else f"{mean} %" if low == MISSING else f"{mean} % [{low}, {high}]"
    )
