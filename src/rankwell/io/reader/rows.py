"""Rows that are columns already: the hits of a ranking whose ids and scores need no parsing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankwell.core.tables import Floats, Ints, TieRule, arrange, offsets_of, rank_counts
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.store import encode_id


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of the queries that the truth knows, each query's together and in the order of the input.

    offsets: (queries + 1,) where the rows of each query of the judgments begin. scores: (rows,).
    asked: (hits,) rows whose item is judged, ascending. judged: (hits,) the row of the judgments of each.
    ids: rows -> their items; called once for all that must be compared. unknown: other queries with their number of rows.
    empty: indices of queries that the ranking has without any row.
    """

    offsets: Ints
    scores: Floats
    asked: Ints
    judged: Ints
    ids: Callable[[Ints], Sequence[str]]
    unknown: Mapping[str, int]
    empty: Sequence[int] = ()


def hits_of_rows(rows: Rows, judgments: Judgments, *, ties: TieRule, single_precision: bool, keep: int) -> Hits:
    """The hits of rows in columns; `keep` first items of each query come along in `top`."""
    scores = rows.scores
    if single_precision:
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    names = _Names(rows, scores)
    counts = rank_counts(scores, rows.offsets, rows.asked, names, ties)
    retrieved = np.diff(rows.offsets)
    present = retrieved > 0
    present[list(rows.empty)] = True
    return Hits(
        query=np.searchsorted(rows.offsets, rows.asked, side="right") - 1,
        row=rows.judged,
        score=scores[rows.asked],
        above=counts.above,
        tied=counts.tied,
        before=counts.before,
        retrieved=retrieved,
        present=present,
        unknown=rows.unknown,
        top=_top(rows, scores, judgments, present.nonzero()[0], ties, keep) if keep else None,
    )


def hits_of_ranking(
    ranking: Ranking, judgments: Judgments, *, ties: TieRule = "id-desc", single_precision: bool = False, keep: int = 0
) -> Hits:
    """The hits of a ranking under a truth with one row per query and item; only judged items are looked up.

    ties: see `rankwell.core.tables.order`. single_precision: scores are compared as 32-bit numbers, as trec_eval 9 does.
    """
    chosen, offsets = _known_rows(ranking, judgments)
    asked, judged = list[int](), list[int]()
    truth = judgments.offsets.tolist()
    starts = offsets.tolist()
    for position, query in enumerate(judgments.queries):
        source = ranking.index.get(query)
        if source is None:
            continue
        known = {judgments.items[row]: row for row in range(truth[position], truth[position + 1])}
        listed = ranking.items[ranking.offsets[source] : ranking.offsets[source + 1]]
        for row, found in enumerate(map(known.get, listed), starts[position]):
            if found is not None:
                asked.append(row)
                judged.append(found)

    def _ids(wanted: Ints) -> list[str]:
        places: list[int] = chosen[wanted].tolist()
        return [ranking.items[place] for place in places]

    sizes = dict(zip(ranking.queries, np.diff(ranking.offsets).tolist(), strict=True))
    rows = Rows(
        offsets=offsets,
        scores=ranking.scores[chosen],
        asked=np.array(asked, dtype=np.int64),
        judged=np.array(judged, dtype=np.int64),
        ids=_ids,
        unknown={query: size for query, size in sizes.items() if query not in judgments.index},
        empty=[judgments.index[query] for query, size in sizes.items() if not size and query in judgments.index],
    )
    return hits_of_rows(rows, judgments, ties=ties, single_precision=single_precision, keep=keep)


def _known_rows(ranking: Ranking, judgments: Judgments) -> tuple[Ints, Ints]:
    """The rows of queries that the truth has, and where each of its queries begins among them."""
    own = np.array([judgments.index.get(query, -1) for query in ranking.queries], dtype=np.int64)
    sizes = np.diff(ranking.offsets)
    counts = np.zeros(len(judgments.queries), dtype=np.int64)
    counts[own[own >= 0]] = sizes[own >= 0]
    # Both tables have their queries in one order, so the rows that stay are in the order of the judgments' queries.
    return np.flatnonzero(np.repeat(own >= 0, sizes)), offsets_of(counts)


class _Names:
    """Row -> bytes of its id, for rows that share query and score with an asked row; all are fetched at the first call."""

    def __init__(self, rows: Rows, scores: Floats) -> None:
        self._rows, self._scores = rows, scores
        self._known: dict[int, bytes] = {}

    def __call__(self, row: int) -> bytes:
        if not self._known:
            tied = self._tied_with_asked()
            names = map(encode_id, self._rows.ids(tied))
            self._known = dict(zip(tied.tolist(), names, strict=True))
        return self._known[row]

    def _tied_with_asked(self) -> Ints:
        """Every row with the query and score of an asked row; a few others may be among them, which does no harm."""
        offsets = self._rows.offsets
        owner = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint64), np.diff(offsets))
        # -0.0 equals 0.0 but has other bits; adding 0.0 makes them one.
        mixed = (self._scores + 0.0).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + owner * np.uint64(0xC2B2AE3D27D4EB4F)
        wanted = np.unique(mixed[self._rows.asked])
        place = np.minimum(np.searchsorted(wanted, mixed), len(wanted) - 1)
        return np.flatnonzero(wanted[place] == mixed)


def _top(rows: Rows, scores: Floats, judgments: Judgments, present: Ints, ties: TieRule, keep: int) -> Ranking:
    """The first `keep` items of each query that the ranking has, in final order."""
    candidates = list[Ints]()
    for query in present.tolist():
        start, stop = rows.offsets[query], rows.offsets[query + 1]
        own = scores[start:stop]
        least = np.partition(own, len(own) - keep)[len(own) - keep] if len(own) > keep else -np.inf
        candidates.append(start + np.flatnonzero(own >= least))
    every = np.concatenate(candidates) if candidates else np.zeros(0, dtype=np.int64)
    names = dict(zip(every.tolist(), rows.ids(every), strict=True))
    chosen = list[Ints]()
    for mine in candidates:
        order = arrange(scores[mine], lambda place, mine=mine: encode_id(names[int(mine[place])]), ties)
        chosen.append(mine[order[:keep]])
    kept = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)
    return Ranking(
        queries=tuple(judgments.queries[query] for query in present.tolist()),
        offsets=offsets_of(np.array([len(each) for each in chosen], dtype=np.int64)),
        items=[names[row] for row in kept.tolist()],
        scores=scores[kept],
    )
