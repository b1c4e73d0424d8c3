"""The judgments of a run: read as the measures' view takes them, and flat, with one row per query
and item; and the sessions of queries.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from rankwell.conventions import LabelledMeasure
from rankwell.data.judged_rankings import JudgmentPair, SessionQueries
from rankwell.data.options import ColumnChoice
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, flag, shown
from rankwell.evaluation.judged import hide_own_items
from rankwell.io import formats as io

_POSITION = re.compile(r"\s*-?[0-9]{1,17}\s*")
View = Literal["none", "groups", "intents", "preferences", "second", "sessions"]
"""The rows that measures read beside grades: none, judgment groups, intents, preferences, second
judgments, or sessions.
"""


@dataclass(frozen=True, kw_only=True)
class JudgmentOptions:
    """The options of reading judgments. exclude_self: whether rankings lose each query's own
    item.
    """

    view: View = "none"
    format: str | None = None
    columns: ColumnChoice | None = None
    exclude_self: bool = False


class RunJudgments(NamedTuple):
    """The judgments of the measures' view, the same with one row per query and item, their format
    and the reader's notes.
    """

    table: Any
    flat: Judgments
    format: str
    notes: tuple[str, ...] = ()


def view_of(measures: Sequence[LabelledMeasure]) -> View:
    """The view of all measures. Raises BadUsage where two need different ones, and for a measure of
    something else.
    """
    measure_of_view = {labelled.measure.entry.view: labelled.measure for labelled in measures}
    for view, measure in measure_of_view.items():
        if not hasattr(view, "join"):
            raise BadUsage(f"{measure} needs {measure.entry.needs}.")
    views = {view.__name__ for view in measure_of_view}
    special = views - {"JudgedRankings"}
    if len(special) > 1 or (special & {"PreferenceRankings", "SessionRankings"} and len(views) > 1):
        needs = ", ".join(
            f"{measure} needs {view.needs}" for view, measure in measure_of_view.items()
        )
        raise BadUsage(f"{needs}; one call reads the judgments one way: request them separately.")
    rows_of_view: dict[str, View] = {
        "JudgedRankings": "none",
        "PreferenceRankings": "preferences",
        "IntentRankings": "intents",
        "SecondJudgedRankings": "second",
        "SessionRankings": "sessions",
    }
    return rows_of_view.get(next(iter(special or views)), "groups")


def read_run_judgments(judgments: Any, options: JudgmentOptions) -> RunJudgments:
    """The judgments, each query's own item hidden where it is excluded.

    Raises NothingToEvaluate where they are empty, and BadUsage for preferences, in which no item
    can be hidden.
    """
    if options.view == "preferences":
        if options.exclude_self:
            raise BadUsage(
                f"measures of preferences cannot be combined with {flag('--exclude-self')}, which "
                "some conventions imply; take the items out of the runs, and ask for these "
                "measures under another convention."
            )
        preferences = io.read_preferences(
            judgments, format=options.format, qrels_columns=options.columns
        )
        return RunJudgments(preferences, preferences.judgments, "TREC preferences")
    aspects = "none" if options.view in ("second", "sessions") else options.view
    truth = io.find_judgments(
        judgments, format=options.format, aspects=aspects, qrels_columns=options.columns
    )
    flat = truth.table.flat
    if not flat.queries:
        raise NothingToEvaluate("the judgments hold no query.")
    own_items = list[str]()
    if options.exclude_self:
        flat, own_items = hide_own_items(flat)
    return RunJudgments(truth.table, flat, truth.format, (*truth.notes, *own_items))


def with_second(
    judgments: RunJudgments, second_judgments: Any, options: JudgmentOptions
) -> RunJudgments:
    """The judgments with second ones, which one view reads. Raises BadUsage where they are missing
    or unused.

    Raises NothingToEvaluate where no judged item has a second judgment.
    """
    option = flag("--other-judgments")
    if options.view != "second":
        if second_judgments is not None:
            raise BadUsage(
                f"{option} has no effect without a measure of two judgments, such as uBpref; "
                "leave it out."
            )
        return judgments
    if second_judgments is None:
        raise BadUsage(f"uBpref reads two judgments of each item; name the second ones ({option}).")
    second = io.find_judgments(
        second_judgments, format=options.format, qrels_columns=options.columns
    )
    flat, second_flat = judgments.flat, second.table.flat
    second_pairs = set(zip(second_flat.row_queries, second_flat.items, strict=True))
    lacking = sum(
        pair not in second_pairs for pair in zip(flat.row_queries, flat.items, strict=True)
    )
    if lacking == len(flat.items):
        raise NothingToEvaluate(
            f"no judged item has a second judgment in {option}; are the ids of queries and "
            "items the same?"
        )
    notes = (
        [f"{lacking} of {len(flat.items)} judged items have no second judgment, which counts 0"]
        if lacking
        else []
    )
    return judgments._replace(
        table=JudgmentPair(flat, second_flat), notes=(*judgments.notes, *second.notes, *notes)
    )


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
    every_session = _listed(sessions, option)
    judged = set(judgments.queries)
    judged_sessions = {
        session: queries
        for session, queries in every_session.items()
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
    notes = [
        f"values are of {len(judged_sessions)} sessions of {len(table.items)} queries, which are "
        "counted and resampled as one"
    ]
    if n_unjudged := len(every_session) - len(judged_sessions):
        notes.append(f"{n_unjudged} sessions have no judged query and are left out")
    if n_unjudged := sum(query not in judged for query in table.items):
        notes.append(
            f"{n_unjudged} queries of sessions have no judgments: they gain nothing and keep "
            "their places"
        )
    return table, notes


def _listed(source: Any, option: str) -> dict[str, list[str]]:
    """session -> its queries in order."""
    if isinstance(source, Mapping):
        return {
            str(session): [str(query) for query in queries] for session, queries in source.items()
        }
    path, columns = io.table_and_column(
        source, option, "session -> queries", "sessions", "queries.csv:session"
    )
    session_column, comma, position_column = columns.partition(",")
    try:
        queries = io.read_column(f"{path}:query")
    except BadInput:
        # The column of ids.
        queries = io.read_column(path)
    sessions = io.read_column(f"{path}:{session_column}")
    positions: list[str | None] = list(map(str, range(len(queries))))
    if comma:
        positions = io.read_column(f"{path}:{position_column}")
    queries_of_session: dict[str, dict[int, str]] = {}
    for row, (query, session, position) in enumerate(
        zip(queries, sessions, positions, strict=True), 1
    ):
        if not query or not session:
            raise BadInput(
                f"{path}: row {row} has no {'query' if not query else session_column}; give "
                "it, or remove the row."
            )
        if not _POSITION.fullmatch(position or ""):
            raise BadInput(
                f"{path}: row {row}: {shown(position)} in {position_column}; expected a "
                "number, the place in the session."
            )
        query_at = queries_of_session.setdefault(session, {})
        if int(position or "") in query_at:
            raise BadInput(
                f"{path}: row {row}: session {session!r} has the {position_column} {position} "
                "twice; correct one of them."
            )
        query_at[int(position or "")] = query
    return {
        session: [query_at[position] for position in sorted(query_at)]
        for session, query_at in queries_of_session.items()
    }
