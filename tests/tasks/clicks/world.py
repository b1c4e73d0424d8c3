"""Drawn logs for the contract of measures: what is known of each item that was logged, and the view
of it.
"""

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np

from oracles import logs as oracle
from rankwell.data.tables import segment_offsets
from rankwell.tasks.clicks.inputs import LoggedRounds, LoggedRows


def logged(random: Random, judged: list[str], relevant: bool) -> dict[str, oracle.Row]:
    """The logged items of a query; without clicks where nothing is relevant."""
    found = {item: oracle.drawn(random) for item in judged}
    return found if relevant else {item: (0.0, *row[1:]) for item, row in found.items()}


def joined(queries: Mapping[str, tuple[Mapping[str, oracle.Row], list[str]]]) -> LoggedRounds:
    """The view of queries with what is known of them and their items in order."""
    listed = [oracle.rows(ranking, known) for known, ranking in queries.values()]
    whole, rows = (
        _rows(each) for each in (oracle.REFERENCE, [row for own in listed for row in own])
    )
    return LoggedRounds(
        tuple(queries), segment_offsets(np.array([len(own) for own in listed])), rows, whole
    )


def _rows(rows: list[oracle.Row]) -> LoggedRows:
    columns: Any = np.array(rows).reshape(-1, 5).T
    return LoggedRows(columns[0], columns[1], columns[2].astype(np.int64), columns[3], columns[4])
