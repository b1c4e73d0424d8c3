"""Ask a search engine, and judge it: quality, recall against exact search, latency, throughput,
index time and size.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from rankwell import report
from rankwell.core.options import Input
from rankwell.core.tables import figure
from rankwell.errors import BadUsage, RankwellError, typed
from rankwell.report.drafts import drafting, refuse_unclaimed
from rankwell.report.folder import write_result
from rankwell.report.options import (
    Aside,
    FolderOption,
    FormatOption,
    Output,
    PerQueryOption,
    Progress,
)
from rankwell.report.rules import rules_line
from rankwell.results import Results
from rankwell.tasks.retrieve.evaluation import retrieve_into
from rankwell.tasks.retrieve.journal import NAME
from rankwell.tasks.retrieve.measuring import Measurement
from rankwell.tasks.retrieve.options import RetrieveOptions
from rankwell.tasks.retrieve.records import write_records
from rankwell.tasks.retrieve.together import CallResult, RetrieveCall, ask_together

_UNIT = re.compile(r"\((ms|s|MB|queries/s|%)\)$")


def retrieve(
    engine: Annotated[str, Input(perhaps=True)],
    /,
    *,
    options: RetrieveOptions,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",
    output: FolderOption = None,
    progress: Progress = None,
) -> Output:
    """Ask a search engine, and judge it: quality, recall against exact search, latency, throughput,
    index time and size.

    Every query is asked at every setting, several rounds, interleaved. A query that fails fails the
    call, which then gives no figure; with -o the same call asks only the rest. docs/retrieve.md
    says what each time means.

    Parameters
    ----------
    engine
        A name of `rankwell engines`, an address (postgresql://…, http://…), NAME:ADDRESS, FILE.toml
        of a request, or
        your own, ./FILE.py:OBJECT.
    per_query
        One row per query: beside the summary, or instead of it where the format holds one table
        (csv, tsv, jsonl).
    output
        Folder for summary.csv, summary.json, per_query.parquet, details.parquet, run.parquet,
        timings.parquet, engine.json, manifest.json and charts.
    """
    if output is not None:
        refuse_unclaimed(output, (NAME,))
        output.mkdir(parents=True, exist_ok=True)
    try:
        result, measured, journal = retrieve_into(engine, options, output, progress)
    except BaseException:
        if output is not None and not any(output.iterdir()):
            output.rmdir()
        raise
    if output is not None:
        write(result, measured, output)
        journal.remove()
    notes = [] if format == "json" else [*result.notes, *result.interval_notes]
    if output is not None:
        notes.append(
            Aside(f"wrote {output}/; for its HTML page: {typed('rankwell', 'report', output)}")
        )
    return Output(text=render(result, format, per_query=per_query), notes=tuple(notes))


def evaluate_cells(
    calls: Sequence[tuple[Sequence[Any], Mapping[str, Any], Path]], progress: Progress
) -> Iterator[str]:
    """Cells of a bench on one data set: arguments and folder of each; the error of each, "" where
    its results are written.
    """
    own = [
        RetrieveCall(engine, named.get("options", RetrieveOptions()), folder)
        for (engine,), named, folder in calls
    ]
    for call, found in zip(own, ask_together(own, progress), strict=True):
        if not isinstance(found, CallResult):
            yield str(found)
            continue
        try:
            write(found.evaluation.results(found.measured), found.measured, call.folder)
        except (RankwellError, OSError) as error:
            yield str(error)
        else:
            found.work.journal.remove()
            yield ""


def render(result: Results, format: report.Format, *, per_query: bool = False) -> str:
    """The settings as a table with a row for each; formats for programs have the rows of the
    summary.
    """
    terminal = report.terminal_of(sys.stdout)
    if per_query or format not in ("table", "md"):
        rows, notes = (
            list(result.per_query()) if per_query else None,
            [*result.notes, *result.interval_notes],
        )
        return report.render(
            result.summary,
            rows,
            result.describe(),
            notes,
            format,
            terminal=terminal,
            tables=result.tables,
        )
    rows = [
        {name: _cell(name, value) for name, value in row.items()}
        for row in result.tables["settings"]
    ]
    table = report.render_rows(rows, format, terminal=terminal)
    verdicts = [
        report.folded(report.visible(row["text"]), terminal)
        for row in result.tables.get("verdicts", ())
    ]
    return "\n\n".join(
        [*verdicts, table.rstrip(), f"{report.folded(rules_line(result.describe()), terminal)}\n"]
    )


def _cell(name: str, value: Any) -> Any:
    """A cell as it is printed: by the unit in the name of its column."""
    unit = _UNIT.search(name)
    if isinstance(value, str) or unit is None:
        return value
    return report.PrintedFigure(figure(value, "percent" if unit[1] == "%" else unit[1]))


def write(result: Results, measured: Measurement, folder: Path) -> list[Path]:
    """Writes the folder of a result, with all lists and times."""
    if not result.values:
        raise BadUsage("there is nothing to write: no query was asked.")
    with drafting(folder, result.sources.values(), growing=(NAME,)) as draft:
        return write_result(
            result, folder, others=write_records(measured, draft), tables=result.tables
        )
