"""What a reader found in a run, before there is NumPy, and as hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rankwell.store import decode_id

if TYPE_CHECKING:
    from rankwell.core.tables.judgments import Judgments
    from rankwell.core.tables.ranking import Hits, Ranking


class TopRows(NamedTuple):
    """The first items of some queries: (queries,) int64 indices of queries and how many items of each; (rows,) int64 lengths of
    the ids and float64 scores; and the ids, one behind the other."""

    queries: bytes
    sizes: bytes
    lengths: bytes
    scores: bytes
    text: bytes


class HitRows(NamedTuple):
    """Hits as `Hits` has them, in any order, with their numbers as bytes: float64 for the scores, int64 for all others."""

    retrieved: bytes
    unknown: dict[bytes, int]
    row: bytes
    score: bytes
    above: bytes
    tied: bytes
    before: bytes
    top: TopRows

    @property
    def empty(self) -> bool:
        """Whether the run has no row at all."""
        return not self.unknown and not any(self.retrieved)

    def hits(self, judgments: Judgments, *, keep: int) -> Hits:
        """The hits under the judgments whose rows these are. keep: whether the first items of each query were kept."""
        import numpy as np

        from rankwell.core.tables.ranking import Hits

        rows = np.frombuffer(self.row, dtype=np.int64)
        order = np.argsort(rows)
        above, tied, before = (np.frombuffer(raw, dtype=np.int64)[order] for raw in (self.above, self.tied, self.before))
        retrieved = np.frombuffer(self.retrieved, dtype=np.int64).copy()
        return Hits(
            query=judgments.query_of_row[rows[order]],
            row=rows[order],
            score=np.frombuffer(self.score, dtype=np.float64)[order],
            above=above,
            tied=tied,
            before=before,
            retrieved=retrieved,
            present=retrieved > 0,
            unknown={decode_id(query): self.unknown[query] for query in sorted(self.unknown)},
            top=_ranking(self.top, judgments) if keep else None,
        )


def _ranking(top: TopRows, judgments: Judgments) -> Ranking:
    """The first items of each query, put by query."""
    import numpy as np

    from rankwell.core.tables import offsets_of
    from rankwell.core.tables.ranking import Ranking

    queries, sizes, lengths = (np.frombuffer(raw, dtype=np.int64) for raw in top[:3])
    scores = np.frombuffer(top.scores, dtype=np.float64)
    bounds: list[int] = offsets_of(lengths).tolist()
    order = np.argsort(queries)
    rows = np.argsort(np.repeat(queries, sizes), kind="stable")
    return Ranking(
        queries=tuple(judgments.queries[query] for query in queries[order].tolist()),
        offsets=offsets_of(sizes[order]),
        items=[decode_id(top.text[bounds[row] : bounds[row + 1]]) for row in rows.tolist()],
        scores=scores[rows],
    )
