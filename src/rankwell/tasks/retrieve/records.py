"""The files of a call beside those of every result: all lists, all times, and the engine's
description.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankwell.reporting import plain
from rankwell.reporting.folder import write_parquet
from rankwell.store import write_text
from rankwell.tasks.retrieve.evaluation import run_name
from rankwell.tasks.retrieve.measuring import Measurement

RUN, TIMINGS, ENGINE = "run.parquet", "timings.parquet", "engine.json"
_EXACT = 2**53


def write_records(measured: Measurement, draft: Path) -> list[Path]:
    """Writes run.parquet, timings.parquet and engine.json; their paths. Times are seconds after the
    first of all requests.
    """
    tables = {RUN: _run(measured), TIMINGS: _timings(measured)}
    for name, (columns, types) in tables.items():
        write_parquet(draft / name, columns, types)
    description = json.dumps(plain(_description(measured)), indent=2, ensure_ascii=False)
    write_text(draft / ENGINE, description + "\n")
    return [draft / name for name in (*tables, ENGINE)]


def _run(measured: Measurement) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """The first list of every query at every setting.

    Scores of more digits than float64 holds are texts of another name, so that readers of the file
    order it by rank.
    """
    columns: dict[str, list[Any]] = {name: [] for name in ("run", "query", "item", "rank", "score")}
    ids = measured.inputs.queries.ids
    for setting in range(len(measured.settings.settings)):
        for query, request in sorted(measured.lists(setting).items()):
            n = len(request.ids)
            columns["run"] += [run_name(measured, setting)] * n
            columns["query"] += [ids[query]] * n
            columns["item"] += list(request.ids)
            columns["rank"] += range(1, n + 1)
            columns["score"] += [None] * n if request.scores is None else list(request.scores)
    wide = any(isinstance(score, int) and abs(score) > _EXACT for score in columns["score"])
    types = {"run": "VARCHAR", "query": "VARCHAR", "item": "VARCHAR", "rank": "BIGINT"}
    if not wide:
        return columns, {**types, "score": "DOUBLE"}
    columns["exact_score"] = [
        None if score is None else str(score) for score in columns.pop("score")
    ]
    return columns, {**types, "exact_score": "VARCHAR"}


_TIMES = {
    "setting": "VARCHAR",
    "round": "BIGINT",
    "query": "VARCHAR",
    "planned": "DOUBLE",
    "sent": "DOUBLE",
    "done": "DOUBLE",
    "status": "VARCHAR",
    "returned": "BIGINT",
    "error": "VARCHAR",
}
_ENCODING = {"encoding": "DOUBLE"}


def _timings(measured: Measurement) -> tuple[dict[str, list[Any]], dict[str, str]]:
    ids: Sequence[str] = measured.inputs.queries.ids
    rows = [
        (setting, number, request)
        for (setting, number), batch in sorted(
            measured.batches.items(), key=lambda pair: (pair[0][1], pair[0][0])
        )
        for request in sorted(batch.requests, key=lambda request: (request.sent, request.query))
    ]
    start = min(
        (
            request.sent if request.planned is None else min(request.sent, request.planned)
            for _, _, request in rows
        ),
        default=0.0,
    )
    columns: dict[str, list[Any]] = {
        "setting": [run_name(measured, setting) for setting, _, _ in rows],
        "round": [number for _, number, _ in rows],
        "query": [ids[request.query] for _, _, request in rows],
        "planned": [
            None if request.planned is None else request.planned - start for _, _, request in rows
        ],
        "sent": [request.sent - start for _, _, request in rows],
        "done": [request.done - start for _, _, request in rows],
        "status": [request.status for _, _, request in rows],
        "returned": [
            len(request.ids) if request.status == "ok" else None for _, _, request in rows
        ],
        "error": [request.error or None for _, _, request in rows],
    }
    if measured.options.encoder is None:
        return columns, _TIMES
    return columns | {"encoding": [request.encoding for _, _, request in rows]}, _TIMES | _ENCODING


def _description(measured: Measurement) -> dict[str, Any]:
    """The content of engine.json: each index, and each setting as its session described itself."""
    settings = []
    for number, setting in enumerate(measured.settings.settings):
        reports = measured.reports(number, measured.rounds)
        settings.append(
            {
                "run": run_name(measured, number),
                "index": setting.build,
                "session": reports[-1].described if reports else {},
            }
        )
    indexes = [
        {"description": described, "build": None if report is None else report._asdict()}
        for described, report in zip(
            measured.traits.described, measured.traits.indexes, strict=True
        )
    ]
    return {"engine": measured.engine, "indexes": indexes, "settings": settings}
