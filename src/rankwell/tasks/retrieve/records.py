"""The files of a call beside those of every result: all lists, all times, and the engine's
description.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankwell.report import plain
from rankwell.report.folder import write_parquet
from rankwell.store import write_text
from rankwell.tasks.retrieve.evaluation import run_name
from rankwell.tasks.retrieve.measuring import Measurement

RUN, TIMINGS, ENGINE = "run.parquet", "timings.parquet", "engine.json"
_EXACT = 2**53


def write_records(measured: Measurement, draft: Path) -> list[Path]:
    """Writes run.parquet, timings.parquet and engine.json; their paths. Times are seconds after the
    first of all requests.
    """
    paths = [draft / name for name in (RUN, TIMINGS, ENGINE)]
    columns, types = _run(measured)
    write_parquet(paths[0], columns, types)
    columns, types = _timings(measured)
    write_parquet(paths[1], columns, types)
    write_text(
        paths[2], json.dumps(plain(_description(measured)), indent=2, ensure_ascii=False) + "\n"
    )
    return paths


def _run(measured: Measurement) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """The first list of every query at every setting.

    Scores of more digits than float64 holds are texts of another name, so that readers of the file
    order it by rank.
    """
    columns: dict[str, list[Any]] = {name: [] for name in ("run", "query", "item", "rank", "score")}
    ids = measured.inputs.queries.ids
    for place in range(len(measured.settings.settings)):
        for query, each in sorted(measured.lists(place).items()):
            n = len(each.ids)
            columns["run"] += [run_name(measured, place)] * n
            columns["query"] += [ids[query]] * n
            columns["item"] += list(each.ids)
            columns["rank"] += range(1, n + 1)
            columns["score"] += [None] * n if each.scores is None else list(each.scores)
    wide = any(isinstance(score, int) and abs(score) > _EXACT for score in columns["score"])
    types = {"run": "VARCHAR", "query": "VARCHAR", "item": "VARCHAR", "rank": "BIGINT"}
    if not wide:
        return columns, {**types, "score": "DOUBLE"}
    columns["exact_score"] = [
        None if score is None else str(score) for score in columns.pop("score")
    ]
    return columns, {**types, "exact_score": "VARCHAR"}


_TIMES = {
    **{
        "setting": "VARCHAR",
        "round": "BIGINT",
        "query": "VARCHAR",
        "planned": "DOUBLE",
        "sent": "DOUBLE",
        "done": "DOUBLE",
    },
    **{"status": "VARCHAR", "returned": "BIGINT", "error": "VARCHAR"},
}
_ENCODING = {"encoding": "DOUBLE"}


def _timings(measured: Measurement) -> tuple[dict[str, list[Any]], dict[str, str]]:
    ids: Sequence[str] = measured.inputs.queries.ids
    rows = [
        (setting, number, each)
        for (setting, number), batch in sorted(
            measured.batches.items(), key=lambda pair: (pair[0][1], pair[0][0])
        )
        for each in sorted(batch.requests, key=lambda one: (one.sent, one.query))
    ]
    start = min(
        (
            each.sent if each.planned is None else min(each.sent, each.planned)
            for _, _, each in rows
        ),
        default=0.0,
    )
    columns: dict[str, list[Any]] = {
        "setting": [run_name(measured, setting) for setting, _, _ in rows],
        "round": [number for _, number, _ in rows],
        "query": [ids[each.query] for _, _, each in rows],
        "planned": [None if each.planned is None else each.planned - start for _, _, each in rows],
        "sent": [each.sent - start for _, _, each in rows],
        "done": [each.done - start for _, _, each in rows],
        "status": [each.status for _, _, each in rows],
        "returned": [len(each.ids) if each.status == "ok" else None for _, _, each in rows],
        "error": [each.error or None for _, _, each in rows],
    }
    if measured.options.encoder is None:
        return columns, _TIMES
    return columns | {"encoding": [each.encoding for _, _, each in rows]}, _TIMES | _ENCODING


def _description(measured: Measurement) -> dict[str, Any]:
    """The content of engine.json: each index, and each setting as its session described itself."""
    settings = []
    for place, setting in enumerate(measured.settings.settings):
        reports = measured.reports(place, measured.rounds)
        settings.append(
            {
                "run": run_name(measured, place),
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
