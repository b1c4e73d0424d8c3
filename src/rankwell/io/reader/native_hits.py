"""What the compiled workers found, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwell.core.tables import Floats, Ints, offsets_of
from rankwell.core.tables.hits import Hits
from rankwell.store import decode_id

if TYPE_CHECKING:
    from rankwell.core.tables.judgments import Judgments
    from rankwell.core.tables.ranking import Ranking
    from rankwell.io.reader.hit_rows import HitRows


def hits_of(found: HitRows, judgments: Judgments, *, keep: int) -> Hits:
    """The hits under the judgments whose rows these are. keep: whether the first items of each query were put by."""
    rows = _ints(found.row)
    order = np.argsort(rows)
    rows = rows[order]
    retrieved = _ints(found.retrieved).copy()
    return Hits(
        query=judgments.query_of_row[rows],
        row=rows,
        score=_floats(found.score)[order],
        above=_ints(found.above)[order],
        tied=_ints(found.tied)[order],
        before=_ints(found.before)[order],
        retrieved=retrieved,
        present=retrieved > 0,
        unknown={decode_id(query): found.unknown[query] for query in sorted(found.unknown)},
        top=_ranking(found.top, judgments) if keep else None,
    )


def _ints(raw: bytes) -> Ints:
    return np.frombuffer(raw, dtype=np.int64)


def _floats(raw: bytes) -> Floats:
    return np.frombuffer(raw, dtype=np.float64)


def _ranking(top: tuple[bytes, bytes, bytes, bytes, bytes], judgments: Judgments) -> Ranking:
    """The first items of each query, put by query."""
    from rankwell.core.tables.ranking import Ranking

    queries, sizes, lengths = map(_ints, top[:3])
    scores, text = _floats(top[3]), top[4]
    bounds: list[int] = offsets_of(lengths).tolist()
    order = np.argsort(queries)
    rows = np.argsort(np.repeat(queries, sizes), kind="stable")
    return Ranking(
        queries=tuple(judgments.queries[query] for query in queries[order].tolist()),
        offsets=offsets_of(sizes[order]),
        items=[decode_id(text[bounds[row] : bounds[row + 1]]) for row in rows.tolist()],
        scores=scores[rows],
    )
