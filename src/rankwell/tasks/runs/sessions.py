"""The sessions of queries: read from a table, and checked against the judgments."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankwell.data.judged_rankings import SessionQueries
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, flag, shown
from rankwell.io import formats as io
from rankwell.store import exists, split_part
from rankwell.tasks.runs.judgments import View


def read_sessions(
    sessions: Any, view: View, judgments: Judgments
) -> tuple[SessionQueries | None, list[str]]:
    """The sessions that have a judged query, with notes; None for measures of single queries.

    place: `FILE:SESSION`, the columns of queries and of their sessions, whose rows are in order, or
    `FILE:SESSION,POSITION`; in Python also a mapping session -> its queries in order. Raises
    BadUsage where sessions are missing or unused, BadInput for a bad row and for a judged query
    without a session, NothingToEvaluate where no query of a session is judged.
    """
    option = flag("--sessions")
    if view != "sessions":
        if sessions is not None:
            raise BadUsage(
                f"{option} has no effect without a measure of sessions, such as SessionDCG; "
                "leave it out."
            )
        return None, []
    if sessions is None:
        raise BadUsage(
            f"a measure of sessions reads the session of each query; name it ({option}, as in "
            "queries.csv:session)."
        )
    sessions_read = _listed(sessions, option)
    judged = set(judgments.queries)
    judged_sessions = {
        session: queries
        for session, queries in sessions_read.items()
        if not judged.isdisjoint(queries)
    }
    table = SessionQueries.from_dict(judged_sessions)
    if not judged_sessions:
        raise NothingToEvaluate(f"no query of {option} is judged; are the ids of queries the same?")
    if without_session := sorted(judged - set(table.items)):
        more = f" (and {len(without_session) - 1} more)" if len(without_session) > 1 else ""
        raise BadInput(
            f"query {without_session[0]!r}{more} is judged and in no session; add it to {option}, "
            "or remove its judgments."
        )
    n_unjudged_sessions = len(sessions_read) - len(judged_sessions)
    unjudged = sum(query not in judged for query in table.items)
    notes = (
        [f"{n_unjudged_sessions} sessions have no judged query and are left out"]
        if n_unjudged_sessions
        else []
    )
    if unjudged:
        notes.append(
            f"{unjudged} queries of sessions have no judgments: they gain nothing and keep "
            "their places"
        )
    scope = (
        f"values are of {len(judged_sessions)} sessions of {len(table.items)} queries, which are "
        "counted and resampled as one"
    )
    return table, [scope, *notes]


def _listed(source: Any, option: str) -> dict[str, list[str]]:
    """session -> its queries in order."""
    if isinstance(source, Mapping):
        return {
            str(session): [str(query) for query in queries] for session, queries in source.items()
        }
    if not isinstance(source, (str, Path)):
        raise BadInput(
            f"{option}: {shown(source)}; expected a table, or a mapping session -> queries."
        )
    path, columns = split_part(source)
    session_column, comma, position_column = columns.partition(",")
    if not exists(path):
        raise BadInput(
            f"{option} {source}: no such file; expected a table and a column of it, as in "
            "queries.csv:session."
        )
    if not session_column:
        raise BadInput(
            f"{option} {source}: no column is named; name the one of the sessions, as in "
            f"{source}:session."
        )
    queries, sessions = _queries(path), io.read_column(f"{path}:{session_column}")
    positions = (
        io.read_column(f"{path}:{position_column}")
        if comma
        else list(map(str, range(len(queries))))
    )
    rows_of_session: dict[str, list[tuple[int, str]]] = {}
    for row, (query, session, position) in enumerate(
        zip(queries, sessions, positions, strict=True), 1
    ):
        if not query or not session:
            raise BadInput(
                f"{path}: row {row} has no {'query' if not query else session_column}; give "
                "it, or remove the row."
            )
        number = _number(position)
        if number is None:
            raise BadInput(
                f"{path}: row {row}: {shown(position)} in {position_column}; expected a "
                "number, the place in the session."
            )
        rows = rows_of_session.setdefault(session, [])
        if any(number == earlier for earlier, _ in rows):
            raise BadInput(
                f"{path}: row {row}: session {session!r} has the {position_column} {position} "
                "twice; correct one of them."
            )
        rows.append((number, query))
    return {
        session: [query for _, query in sorted(rows)] for session, rows in rows_of_session.items()
    }


def _queries(path: str | Path) -> list[str | None]:
    """The column `query`, else the one of ids."""
    try:
        return io.read_column(f"{path}:query")
    except BadInput:
        return io.read_column(path)


def _number(text: str | None) -> int | None:
    return (
        int(text)
        if text is not None
        and text.isascii()
        and text.strip().lstrip("-").isdecimal()
        and len(text) < 18
        else None
    )
