"""Evaluate runs against judgments: a number per measure with its interval, per query if asked."""

import sys
from functools import partial
from pathlib import Path

from rankwell import report
from rankwell.errors import BadUsage, Unfinished, typed
from rankwell.evaluation.results import Results
from rankwell.parts.options import PartOptions, refusal
from rankwell.report.present import (
    FolderOption,
    FormatOption,
    InputPlace,
    Output,
    PerQueryOption,
    Progress,
)
from rankwell.tasks.runs.evaluation import evaluate_runs
from rankwell.tasks.runs.options import RunOptions


def evaluate(
    qrels: InputPlace,
    /,
    *runs: InputPlace,
    options: RunOptions,
    parts: PartOptions,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",
    output: FolderOption = None,
    progress: Progress = None,
) -> Output:
    """Evaluate runs against judgments: a number per measure with its interval, per query if asked.

    Without -m the convention's own set is reported. The line under the table lists the rules by
    which the numbers were computed.

    Parameters
    ----------
    qrels
        File of judgments, a folder of a data set, or irds:ID; `-` is standard input.
    runs
        Files of rankings. A folder is one run, whose rows lie in its files; so is an address of one
        (`s3://bucket/runs/`).
        A Parquet file whose column `run` names several is that many runs, FILE:RUN one of them.
    per_query
        One row per query: beside the summary, or instead of it where the format holds one table
        (csv, tsv, jsonl).
    output
        Folder for summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet,
        manifest.json and charts.
    """
    refused: tuple[str, ...] = ()
    if output is not None:
        from rankwell.report.drafts import refuse_unclaimed

        refused = refusal(parts, partial(refuse_unclaimed, output))
    if not runs:
        raise BadUsage("name at least one run after the judgments: rankwell evaluate QRELS RUN...")
    outcome = evaluate_runs(
        qrels, list(runs), options, parts, details=output is not None, progress=progress
    )
    if outcome.result is None:
        return Output(
            outcome.text,
            (*refused, *outcome.notes),
            0 if outcome.missing is None else Unfinished.exit_code,
        )
    result: Results = outcome.result
    notes = [*result.notes, *result.interval_notes] if format != "json" else []
    if output is not None:
        write(result, output)
        notes.append(
            report.Aside(
                f"wrote {output}/; for its HTML page: {typed('rankwell', 'report', output)}"
            )
        )
    return Output(text=render(result, format, per_query=per_query), notes=tuple(notes))


def render(result: Results, format: report.Format, *, per_query: bool = False) -> str:
    """The result as text in one of the report's formats."""
    rows = result.per_query() if per_query else None
    notes = [*result.notes, *result.interval_notes]
    return report.render(
        result.summary,
        rows,
        result.describe(),
        notes,
        format,
        terminal=report.terminal_of(sys.stdout),
    )


def write(result: Results, folder: Path) -> None:
    """Writes everything a comparison or a page needs later; each file whole or not at all."""
    from rankwell.report.folder import write_result

    write_result(result, folder)
