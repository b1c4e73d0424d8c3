"""Search engines as they are used: the command, what it prints, and the files that it writes."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal, TypedDict

from rankwell import reporting
from rankwell.data.json_types import AnyObject, ScoreObject, TextObject
from rankwell.data.tables import format_value
from rankwell.engines import ParameterValues
from rankwell.errors import BadUsage, RankwellError, typed
from rankwell.reporting import rules_line
from rankwell.reporting.drafts import drafting, holding
from rankwell.reporting.folder import write_parquet, write_result
from rankwell.reporting.options import Output, Progress, StatusNote, paper_text
from rankwell.reporting.outputs.answers import answer_of
from rankwell.store import write_text
from rankwell.task import Presented, Task, TaskInput
from rankwell.tasks.engine.evaluation import (
    EngineResults,
    RetrieveCall,
    retrieve_into,
    retrieve_together,
)
from rankwell.tasks.engine.measuring import NAME, Measurement
from rankwell.tasks.engine.options import EngineOptions


class ConformanceObject(TypedDict):
    """A statement about an engine, and whether it holds."""

    check: str
    outcome: Literal["ok", "failed", "skipped"]
    message: str


class FamilyObject(TypedDict):
    """A kind of engines: its searches, its installed version and its parameters."""

    name: str
    title: str
    kinds: Sequence[str]
    version: str | None
    install: str | None
    parameters: ParameterValues


class SettingObject(TypedDict):
    """A setting of an engine: its parameters, and what it was chosen as."""

    run: str
    tried: Sequence[str]
    values: ParameterValues
    choices: Sequence[str]
    others: Any


class UnansweredObject(TypedDict):
    """A query that an engine did not answer."""

    run: str
    query: str
    round: int
    status: str
    error: str


_UNIT = re.compile(r"\((ms|s|MB|queries/s|%)\)$")
_EXACT = 2**53
"""The largest integer below which float64 holds all."""


def _retrieve(
    engine: str, *, options: EngineOptions, folder: Path | None, progress: Progress, **_: Any
) -> Presented:
    """The results of one engine, which is asked on where the folder has requests of this call."""
    with nullcontext() if folder is None else holding(folder):
        return Presented(retrieve_into(engine, options, folder, progress), _present)


def _present(
    result: EngineResults,
    *,
    format: reporting.Format,
    per_query: bool,
    output: Path | None,
    style: reporting.TableStyle | None,
) -> Output:
    messages, next_step = list[str](), ""
    if output is not None:
        write(result, output)
        messages.append(StatusNote(f"wrote {output}/"))
        next_step = typed("rankwell", "report", output, "--open")
    return Output(
        text=render(result, format, style, per_query=per_query),
        messages=tuple(messages),
        findings=() if format == "json" else result.findings,
        next_step=next_step,
    )


def evaluate_cells(
    calls: Sequence[tuple[Sequence[Any], Mapping[str, Any], Path]], progress: Progress
) -> Iterator[str]:
    """Cells of a bench on one data set: arguments and folder of each; their errors, "" where
    its results are written.
    """
    engine_calls = [
        RetrieveCall(engine, options_by_name.get("options", EngineOptions()), folder)
        for (engine,), options_by_name, folder in calls
    ]
    outcomes = retrieve_together(engine_calls, progress)
    for (_, _, folder), outcome in zip(calls, outcomes, strict=True):
        error = ""
        try:
            if not isinstance(outcome, EngineResults):
                raise outcome
            write(outcome, folder)
        except (RankwellError, OSError) as problem:
            error = str(problem)
        yield error


def render(
    result: EngineResults,
    format: reporting.Format,
    style: reporting.TableStyle | None = None,
    *,
    per_query: bool = False,
) -> str:
    """The answer, with details a table with a row for each setting; formats for papers have the
    scores, and those for programs the rows of the summary.
    """
    terminal = reporting.terminal_of()
    if format != "table" or per_query or not terminal.details:
        rows = list(result.per_query()) if per_query else None
        return paper_text(result, format, style, rows) or reporting.render(
            result.summary,
            rows,
            result.describe(),
            result.findings,
            format,
            terminal=terminal,
            tables=result.tables,
            answer=answer_of(result),
        )
    rows = [{name: _cell(name, value) for name, value in row.items()} for row in result.settings]
    verdicts = [reporting.visible(row["text"]) for row in result.verdicts]
    *above, below = (
        reporting.folded(text, terminal) for text in (*verdicts, rules_line(result.describe()))
    )
    table = reporting.render_rows(rows, terminal=terminal).rstrip()
    return "\n\n".join([*above, table, f"{below}\n"])


def _cell(name: str, value: Any) -> Any:
    """A cell as it is printed: by the unit in the name of its column."""
    unit = _UNIT.search(name)
    if isinstance(value, str) or unit is None:
        return value
    return reporting.PrintedFigure(format_value(value, "percent" if unit[1] == "%" else unit[1]))


def write(result: EngineResults, folder: Path) -> list[Path]:
    """Writes the folder of a result, with all lists and times; what was kept of its requests is
    needed no more.
    """
    if not result.values:
        raise BadUsage("there is nothing to write: no query was asked.")
    with drafting(folder, result.sources.values(), growing=(NAME,)) as draft:
        paths = write_result(
            result, folder, others=write_records(result.measured, draft), tables=result.tables
        )
    result.measured.journal.remove()
    return paths


def write_records(measured: Measurement, draft: Path) -> list[Path]:
    """Writes run.parquet, timings.parquet and engine.json; their paths. Times are seconds after the
    first of all requests.
    """
    tables = {"run.parquet": _run(measured), "timings.parquet": _timings(measured)}
    for name, columns in tables.items():
        types = {column: _TYPES.get(column, "VARCHAR") for column in columns}
        write_parquet(draft / name, columns, types)
    description = json.dumps(reporting.plain(_description(measured)), indent=2, ensure_ascii=False)
    write_text(draft / "engine.json", description + "\n")
    return [draft / name for name in (*tables, "engine.json")]


_TYPES = {
    "rank": "BIGINT",
    "score": "DOUBLE",
    "round": "BIGINT",
    "planned": "DOUBLE",
    "sent": "DOUBLE",
    "done": "DOUBLE",
    "returned": "BIGINT",
    "encoding": "DOUBLE",
}
"""The types of columns that are no texts."""


def _run(measured: Measurement) -> dict[str, list[Any]]:
    """The first list of every query at every setting.

    Scores of more digits than float64 holds are texts of another name, so that readers of the file
    order it by rank.
    """
    columns: dict[str, list[Any]] = {name: [] for name in ("run", "query", "item", "rank", "score")}
    for asked in measured.by_setting:
        for query, request in sorted(asked.answers.items()):
            n = len(request.ids)
            columns["run"] += [asked.name] * n
            columns["query"] += [measured.inputs.queries.ids[query]] * n
            columns["item"] += request.ids
            columns["rank"] += range(1, n + 1)
            columns["score"] += [None] * n if request.scores is None else request.scores
    if any(isinstance(score, int) and abs(score) > _EXACT for score in columns["score"]):
        columns["exact_score"] = [
            None if score is None else str(score) for score in columns.pop("score")
        ]
    return columns


def _timings(measured: Measurement) -> dict[str, list[Any]]:
    """All requests, in the order in which they were sent."""
    rows = [
        (measured.by_setting[setting].name, number, request)
        for (setting, number), batch in sorted(
            measured.batches.items(), key=lambda pair: (pair[0][1], pair[0][0])
        )
        for request in sorted(batch.requests, key=lambda request: (request.sent, request.query))
    ]
    requests = [request for _, _, request in rows]
    planned = [request.planned for request in requests]
    sent = [request.sent for request in requests]
    start = min([*sent, *(moment for moment in planned if moment is not None)], default=0.0)
    columns = {
        "setting": [name for name, _, _ in rows],
        "round": [number for _, number, _ in rows],
        "query": [measured.inputs.queries.ids[request.query] for request in requests],
        "planned": [None if moment is None else moment - start for moment in planned],
        "sent": [moment - start for moment in sent],
        "done": [request.done - start for request in requests],
        "status": [request.status for request in requests],
        "returned": [len(request.ids) if request.status == "ok" else None for request in requests],
        "error": [request.error or None for request in requests],
    }
    if measured.options.encoder is not None:
        columns["encoding"] = [request.encoding for request in requests]
    return columns


def _description(measured: Measurement) -> dict[str, Any]:
    """The content of engine.json: each index, and each setting as its session described itself."""
    traits = measured.traits
    return {
        "engine": measured.engine,
        "indexes": [
            {"description": described, "build": index and index._asdict()}
            for described, index in zip(traits.described, traits.indexes, strict=True)
        ],
        "settings": [
            {"run": asked.name, "index": asked.setting.build, "session": asked.described}
            for asked in measured.by_setting
        ],
    }


run = Task(
    name="engine run",
    about="""Query a search engine; evaluate quality and speed.

Measures quality, recall against exact search, latency, throughput, index time and size.

Every query is asked at every setting, in several interleaved rounds. A failed query fails the \
call, which then gives no figures; with -o, the same call asks only the rest. \
docs/guide/engines.md says what each time means.""",
    command_lines="""
rankwell engine run sqlite-fts5 --documents docs.jsonl --queries queries.tsv
""",
    options=EngineOptions,
    inputs=(
        TaskInput(
            "engine",
            "A name of `rankwell engine list`, an address (postgresql://…, http://…), "
            "NAME:ADDRESS, FILE.toml of a request, or your own, ./FILE.py:OBJECT.",
            missing="name an engine",
            perhaps=True,
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, details.parquet, run.parquet, "
    "timings.parquet, engine.json, manifest.json and charts",
    evaluation=_retrieve,
    growing=(NAME,),
    together=evaluate_cells,
    json_tables={
        "rows": ScoreObject,
        "verdicts": TextObject,
        "settings": AnyObject,
        "parameters": SettingObject,
        "gain": AnyObject,
        "unanswered": UnansweredObject,
    },
)
