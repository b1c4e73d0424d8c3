"""Search engines as they are used."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from rankwell import reporting
from rankwell.data.tables import figure
from rankwell.errors import BadUsage, RankwellError, typed
from rankwell.reporting import rules_line
from rankwell.reporting.drafts import drafting, holding
from rankwell.reporting.folder import write_result
from rankwell.reporting.options import Aside, Output, Progress
from rankwell.task import Presented, Task, TaskInput
from rankwell.tasks.retrieve.evaluation import EngineResults, retrieve_into
from rankwell.tasks.retrieve.journal import NAME, Journal
from rankwell.tasks.retrieve.measuring import Measurement
from rankwell.tasks.retrieve.options import RetrieveOptions
from rankwell.tasks.retrieve.records import write_records
from rankwell.tasks.retrieve.together import CallResult, RetrieveCall, ask_together

_UNIT = re.compile(r"\((ms|s|MB|queries/s|%)\)$")


def _retrieve(
    engine: str, *, options: RetrieveOptions, folder: Path | None, progress: Progress, **_: Any
) -> Presented:
    """The results of one engine, which is asked on where the folder has requests of this call."""
    with nullcontext() if folder is None else holding(folder):
        result, measured, journal = retrieve_into(engine, options, folder, progress)
    return Presented(result, partial(_present, measured=measured, journal=journal))


def _present(
    result: EngineResults,
    *,
    format: reporting.Format,
    per_query: bool,
    output: Path | None,
    measured: Measurement,
    journal: Journal,
) -> Output:
    notes = [] if format == "json" else [*result.notes, *result.interval_notes]
    if output is not None:
        write(result, measured, output)
        journal.remove()
        page = typed("rankwell", "report", output)
        notes.append(Aside(f"wrote {output}/; for its HTML page: {page}"))
    return Output(text=render(result, format, per_query=per_query), notes=tuple(notes))


def evaluate_cells(
    calls: Sequence[tuple[Sequence[Any], Mapping[str, Any], Path]], progress: Progress
) -> Iterator[str]:
    """Cells of a bench on one data set: arguments and folder of each; their errors, "" where
    its results are written.
    """
    engine_calls = [
        RetrieveCall(engine, options_by_name.get("options", RetrieveOptions()), folder)
        for (engine,), options_by_name, folder in calls
    ]
    for call, answer in zip(engine_calls, ask_together(engine_calls, progress), strict=True):
        if not isinstance(answer, CallResult):
            yield str(answer)
            continue
        try:
            write(answer.evaluation.results(answer.measured), answer.measured, call.folder)
        except (RankwellError, OSError) as error:
            yield str(error)
        else:
            answer.work.journal.remove()
            yield ""


def render(result: EngineResults, format: reporting.Format, *, per_query: bool = False) -> str:
    """The settings as a table with a row for each; formats for programs have the rows of the
    summary.
    """
    terminal = reporting.terminal_of(sys.stdout)
    if per_query or format not in ("table", "md"):
        rows, notes = (
            list(result.per_query()) if per_query else None,
            [*result.notes, *result.interval_notes],
        )
        return reporting.render(
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
    table = reporting.render_rows(rows, format, terminal=terminal)
    verdicts = [
        reporting.folded(reporting.visible(row["text"]), terminal)
        for row in result.tables.get("verdicts", ())
    ]
    return "\n\n".join(
        [
            *verdicts,
            table.rstrip(),
            f"{reporting.folded(rules_line(result.describe()), terminal)}\n",
        ]
    )


def _cell(name: str, value: Any) -> Any:
    """A cell as it is printed: by the unit in the name of its column."""
    unit = _UNIT.search(name)
    if isinstance(value, str) or unit is None:
        return value
    return reporting.PrintedFigure(figure(value, "percent" if unit[1] == "%" else unit[1]))


def write(result: EngineResults, measured: Measurement, folder: Path) -> list[Path]:
    """Writes the folder of a result, with all lists and times."""
    if not result.values:
        raise BadUsage("there is nothing to write: no query was asked.")
    with drafting(folder, result.sources.values(), growing=(NAME,)) as draft:
        return write_result(
            result, folder, others=write_records(measured, draft), tables=result.tables
        )


retrieve = Task(
    name="retrieve",
    about="""Ask a search engine, and judge it: quality, recall against exact search, latency, \
throughput, index time and size.

Every query is asked at every setting, several rounds, interleaved. A query that fails fails the \
call, which then gives no figure; with -o the same call asks only the rest. docs/retrieve.md says \
what each time means.""",
    options=RetrieveOptions,
    inputs=(
        TaskInput(
            "engine",
            "A name of `rankwell engines`, an address (postgresql://…, http://…), NAME:ADDRESS, "
            "FILE.toml of a request, or your own, ./FILE.py:OBJECT.",
            missing="name an engine",
            perhaps=True,
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, details.parquet, run.parquet, "
    "timings.parquet, engine.json, manifest.json and charts",
    per_query="One row per query: beside the summary, or instead of it where the format holds one "
    "table (csv, tsv, jsonl).",
    evaluation=_retrieve,
    growing=(NAME,),
    together=evaluate_cells,
)
