"""What the compiled workers found, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwell.kernels import native
from rankwell.store import decode_id
from rankwell.tables import Floats, Ints, offsets_of
from rankwell.tables.hits import Hits

if TYPE_CHECKING:
    from rankwell.tables.judgments import Judgments
    from rankwell.tables.ranking import Ranking

Worker = Any


def hits_of(first: Worker, counted: Worker, judgments: Judgments, *, keep: int) -> Hits | None:
    """What workers found; None where there was no row. first: the worker that saw all rows. counted: the one that placed them."""
    retrieved, unknown, *_ = native.library.reader_results(first)
    _, _, row, score, above, tied, before, top = native.library.reader_results(counted)
    sizes = _ints(retrieved).copy()
    if not unknown and not sizes.any():
        return None
    rows = _ints(row)
    order = np.argsort(rows)
    rows = rows[order]
    return Hits(
        query=judgments.query_of_row[rows],
        row=rows,
        score=_floats(score)[order],
        above=_ints(above)[order],
        tied=_ints(tied)[order],
        before=_ints(before)[order],
        retrieved=sizes,
        present=sizes > 0,
        unknown={decode_id(query): unknown[query] for query in sorted(unknown)},
        top=_ranking(top, judgments) if keep else None,
    )


def _ints(raw: bytes) -> Ints:
    return np.frombuffer(raw, dtype=np.int64)


def _floats(raw: bytes) -> Floats:
    return np.frombuffer(raw, dtype=np.float64)


def _ranking(top: tuple[bytes, bytes, bytes, bytes, bytes], judgments: Judgments) -> Ranking:
    """The first items of each query, put by query."""
    from rankwell.tables.ranking import Ranking

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
