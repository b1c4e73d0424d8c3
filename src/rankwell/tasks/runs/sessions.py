"""The sessions of queries: read from a table, and checked against the judgments."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankwell.core.tables import Judgments
from rankwell.core.views.sessions import SessionQueries
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, flag, shown
from rankwell.io import files as io
from rankwell.store import exists, split_part
from rankwell.tasks.runs.judgments import View


def read_sessions(
    place: Any, view: View, judgments: Judgments
) -> tuple[SessionQueries | None, list[str]]:
    """The sessions that have a judged query, with notes; None for measures of single queries.

    place: `FILE:SESSION`, the columns of queries and of their sessions, whose rows are in order, or
    `FILE:SESSION,POSITION`; in Python also a mapping session -> its queries in order. Raises
    BadUsage where sessions are missing or unused, BadInput for a bad row and for a judged query
    without a session, NothingToEvaluate where no query of a session is judged.
    """
    option = flag("--sessions")
    if view != "sessions":
        if place is not None:
            raise BadUsage(
                f"{option} has no effect without a measure of sessions, such as SessionDCG; "
                "leave it out."
            )
        return None, []
    if place is None:
        raise BadUsage(
            f"a measure of sessions reads the session of each query; name it ({option}, as in "
            "queries.csv:session)."
        )
    listed = _listed(place, option)
    judged = set(judgments.queries)
    known = {
        session: queries for session, queries in listed.items() if not judged.isdisjoint(queries)
    }
    table = SessionQueries.from_dict(known)
    if not known:
        raise NothingToEvaluate(f"no query of {option} is judged; are the ids of queries the same?")
    if lost := sorted(judged - set(table.items)):
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        raise BadInput(
            f"query {lost[0]!r}{more} is judged and in no session; add it to {option}, or "
            "remove its judgments."
        )
    rest, unjudged = len(listed) - len(known), sum(query not in judged for query in table.items)
    notes = [f"{rest} sessions have no judged query and are left out"] if rest else []
    if unjudged:
        notes.append(
            f"{unjudged} queries of sessions have no judgments: they gain nothing and keep "
            "their places"
        )
    what = (
        f"values are of {len(known)} sessions of {len(table.items)} queries, which are counted "
        "and resampled as one"
    )
    return table, [what, *notes]


def _listed(place: Any, option: str) -> dict[str, list[str]]:
    """session -> its queries in order."""
    if isinstance(place, Mapping):
        return {
            str(session): [str(query) for query in queries] for session, queries in place.items()
        }
    if not isinstance(place, (str, Path)):
        raise BadInput(
            f"{option}: {shown(place)}; expected a table, or a mapping session -> queries."
        )
    path, columns = split_part(place)
    session_column, comma, position_column = columns.partition(",")
    if not exists(path):
        raise BadInput(
            f"{option} {place}: no such file; expected a table and a column of it, as in "
            "queries.csv:session."
        )
    if not session_column:
        raise BadInput(
            f"{option} {place}: no column is named; name the one of the sessions, as in "
            f"{place}:session."
        )
    queries, sessions = _queries(path), io.read_column(f"{path}:{session_column}")
    positions = (
        io.read_column(f"{path}:{position_column}")
        if comma
        else [str(row) for row in range(len(queries))]
    )
    found: dict[str, list[tuple[int, str]]] = {}
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
        own = found.setdefault(session, [])
        if any(number == other for other, _ in own):
            raise BadInput(
                f"{path}: row {row}: session {session!r} has the {position_column} {position} "
                "twice; correct one of them."
            )
        own.append((number, query))
    return {session: [query for _, query in sorted(own)] for session, own in found.items()}


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
