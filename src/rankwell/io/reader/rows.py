"""Rows of hits and of judgments as a reader gives them, and the tables of them."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankwell.core.tables import Judgments, segment_offsets
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.store import decode_id


class HitRows(NamedTuple):
    """The columns of `Hits`, in any order of rows, with numbers as bytes: float64 for the scores,
    int64 for all others.

    top: the first items of some queries: (queries,) indices of queries and numbers of their items;
    (rows,) lengths of the ids and scores; and the ids, one behind the other.
    """

    retrieved: bytes
    unknown: dict[bytes, int]
    row: bytes
    score: bytes
    above: bytes
    tied: bytes
    before: bytes
    top: tuple[bytes, bytes, bytes, bytes, bytes]

    def hits(self, judgments: Judgments, *, keep: int) -> Hits:
        """The hits under the judgments whose rows these are. keep: whether the first items of each
        query were kept.
        """
        rows = np.frombuffer(self.row, dtype=np.int64)
        order = np.argsort(rows)
        above, tied, before = (
            np.frombuffer(raw, dtype=np.int64)[order]
            for raw in (self.above, self.tied, self.before)
        )
        score = np.frombuffer(self.score)[order]
        retrieved = np.frombuffer(self.retrieved, dtype=np.int64).copy()
        unknown = {decode_id(query): self.unknown[query] for query in sorted(self.unknown)}
        top = self._first_items(judgments) if keep else None
        query, row = judgments.query_of_row[rows[order]], rows[order]
        return Hits(query, row, score, above, tied, before, retrieved, retrieved > 0, unknown, top)

    def _first_items(self, judgments: Judgments) -> Ranking:
        queries, sizes, lengths = (np.frombuffer(raw, dtype=np.int64) for raw in self.top[:3])
        bounds = segment_offsets(lengths)
        order = np.argsort(queries)
        rows = np.argsort(np.repeat(queries, sizes), kind="stable")
        # Only ids of tables may hold an end of a line; others are cut at ends that are put between
        # them.
        if b"\n" in (text := self.top[4]):
            ids = [decode_id(text[start:stop]) for start, stop in pairwise(bounds.tolist())]
        else:
            lines = np.insert(np.frombuffer(text, dtype=np.uint8), bounds[1:-1], ord("\n"))
            ids = decode_id(lines.tobytes()).split("\n")
        return Ranking(
            queries=tuple(map(judgments.queries.__getitem__, queries[order].tolist())),
            offsets=segment_offsets(sizes[order]),
            items=np.array(ids, dtype=object)[rows].tolist(),
            scores=np.frombuffer(self.top[3])[rows],
        )


class JudgedRows(NamedTuple):
    """The columns of `Judgments`, with the numbers of `offsets` (int64) and `grades` (float64) as
    bytes.
    """

    queries: tuple[str, ...]
    offsets: bytes
    items: list[str]
    grades: bytes
    aspects: list[str] | None

    def table(self) -> Judgments:
        """The same as a table."""
        offsets, grades = np.frombuffer(self.offsets, dtype=np.int64), np.frombuffer(self.grades)
        return Judgments(self.queries, offsets.copy(), self.items, grades.copy(), self.aspects)
