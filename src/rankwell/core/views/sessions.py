"""Rankings of the queries of sessions: those that a user issued one after the other for one
need.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from rankwell.core.tables import (
    Ints,
    QueryRows,
    gather,
    offsets_from_rows,
    position_in_segment,
    segment_offsets,
    sort_ids,
)
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadInput


@dataclass(frozen=True, eq=False)
class SessionQueries(QueryRows):
    """The queries of each session, in order. queries: ids of sessions. items: (rows,) ids of
    queries, each in one session.
    """

    items: Sequence[str]

    @classmethod
    def from_dict(cls, sessions: Mapping[str, Sequence[str]]) -> Self:
        """The table of a mapping session -> its queries in order. Raises BadInput for a query that
        is listed twice.
        """
        owner: dict[str, str] = {}
        for session, queries in sessions.items():
            for query in queries:
                if query in owner:
                    where = (
                        f"sessions {owner[query]!r} and {session!r}"
                        if owner[query] != session
                        else f"session {session!r}"
                    )
                    raise BadInput(
                        f"query {query!r} is listed twice, in {where}; a query has one place "
                        "in one session."
                    )
                owner[query] = session
        names = sort_ids(sessions)
        lengths = np.array([len(sessions[name]) for name in names], dtype=np.int64)
        return cls(
            tuple(names),
            segment_offsets(lengths),
            [query for name in names for query in sessions[name]],
        )


@dataclass(frozen=True, eq=False)
class SessionRankings:
    """The judged rankings of all queries of a session.

    flat: by session: its `queries` are sessions, and a row's rank is that in the list of its own
    query. position: (rows,) the place of the row's query in its session, from 1. A query without
    judgments keeps its place and has no rows.
    """

    needs: ClassVar[str] = "judged rankings and the session of each query"
    option: ClassVar[str] = "--sessions"
    flat: JudgedRankings
    position: Ints

    @classmethod
    def join(cls, view: JudgedRankings, sessions: SessionQueries) -> Self:
        """The view by sessions of rankings whose ties are resolved; queries of no session are left
        out.
        """
        view_rows = [row for row, query in enumerate(sessions.items) if query in view.index]
        rows = np.array(view_rows, dtype=np.int64)
        taken = view.take(
            np.array([view.index[sessions.items[row]] for row in view_rows], dtype=np.int64)
        )
        owner, n = sessions.query_of_row[rows], len(sessions.queries)
        query_places = position_in_segment(sessions.offsets)[rows] + 1
        judged = owner[taken.query_of_judged]
        order = np.lexsort((-taken.judged_grades, judged))
        flat = replace(
            taken,
            queries=sessions.queries,
            offsets=offsets_from_rows(owner[taken.query_of_row], n),
            retrieved=np.bincount(owner, weights=taken.retrieved, minlength=n).astype(np.int64),
            present=np.bincount(owner[taken.present], minlength=n) > 0,
            judged_offsets=offsets_from_rows(judged, n),
            judged_grades=taken.judged_grades[order],
        )
        return cls(flat, query_places[taken.query_of_row])

    @property
    def queries(self) -> tuple[str, ...]:
        """The ids of the sessions."""
        return self.flat.queries

    def take(self, sessions: Ints) -> Self:
        """The view of some sessions only, in the order given by their indices."""
        rows, _ = gather(self.flat.offsets, sessions)
        return replace(self, flat=self.flat.take(sessions), position=self.position[rows])
