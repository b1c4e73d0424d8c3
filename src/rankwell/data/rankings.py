"""Rankings: for each query a list of items with scores; hits, the judged part of one; and the rows
that readers give, of which both are made.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import numpy as np

from rankwell.data.frames import Framed
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Judgments,
    QueryRows,
    RankCounts,
    TieRule,
    index_queries,
    offsets_from_rows,
    segment_offsets,
    unmasked,
)
from rankwell.errors import BadScore, DuplicateItem
from rankwell.store import encode_id

Id = TypeVar("Id", str, bytes)


@dataclass(frozen=True, eq=False)
class Ranking(Framed, QueryRows):
    """Scored items by query; queries in the order of their bytes, the items of a query in the order
    they were given.

    queries: every query, also one without items. offsets: (queries + 1,). items: (rows,) ids.
    scores: (rows,) finite, higher is better.
    """

    items: Sequence[str]
    scores: Floats

    @classmethod
    def from_rows(
        cls,
        queries: Sequence[str],
        items: Sequence[str],
        scores: Sequence[float] | Floats,
        *,
        all_queries: Iterable[str] = (),
        repeated: bool = False,
    ) -> Self:
        """The table of rows given in any order; the rows of a query keep their order.

        repeated: whether a query may list an item twice, which is then retrieved at each of its
        places.
        Raises BadScore for a score that is NaN or infinite, DuplicateItem if a query lists an item
        twice, and may not.
        """
        score = unmasked(scores, "the column of scores", np.float64)
        names, owner = index_queries(queries, all_queries)
        order = np.argsort(owner, kind="stable")
        rows: list[int] = order.tolist()
        table = cls(
            names, offsets_from_rows(owner, len(names)), [items[row] for row in rows], score[order]
        )
        table._refuse_bad_rows(rows, repeated=repeated)
        return table

    @classmethod
    def from_dict(cls, ranking: Mapping[str, Mapping[str, float]]) -> Self:
        """The table of a mapping query -> item -> score."""
        return cls.from_rows(
            [query for query, scored in ranking.items() for _ in scored],
            [item for scored in ranking.values() for item in scored],
            [score for scored in ranking.values() for score in scored.values()],
            all_queries=ranking,
        )

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The mapping query -> item -> score, items in their order."""
        numbers: list[float] = self.scores.tolist()
        rows = ((query, self.rows_of(query)) for query in self.queries)
        return {
            query: dict(zip(self.items[rows_of_query], numbers[rows_of_query], strict=True))
            for query, rows_of_query in rows
        }

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns query, item and score; `to_pandas`, `to_polars` give data frames."""
        return {"query": self.row_queries, "item": list(self.items), "score": self.scores.tolist()}

    def _refuse_bad_rows(self, rows: list[int], *, repeated: bool) -> None:
        bad = np.flatnonzero(~np.isfinite(self.scores))
        if bad.size:
            row = int(bad[0])
            query = self.queries[int(np.searchsorted(self.offsets, row, side="right")) - 1]
            problem = f"query {query!r}, item {self.items[row]!r}: the score is {self.scores[row]}"
            raise BadScore(f"{problem}; scores are finite numbers.")
        if repeated:
            return
        bounds = self.offsets.tolist()
        for query, start, stop in zip(self.queries, bounds, bounds[1:], strict=False):
            query_items = self.items[start:stop]
            if len(set(query_items)) < len(query_items):
                first_row: dict[str, int] = {}
                row, item = next(
                    (row, item)
                    for row, item in enumerate(query_items, start)
                    if first_row.setdefault(item, row) != row
                )
                first, second = sorted((rows[first_row[item]] + 1, rows[row] + 1))
                raise DuplicateItem(
                    f"query {query!r} lists item {item!r} twice, in rows {first} and "
                    f"{second}; keep one of them."
                )


@dataclass(frozen=True, eq=False)
class Hits:
    """The judged part of one ranking: a row per judged item that was retrieved. The unjudged rest
    is only counted.

    query: (hits,) index into the judgments' queries, ascending. row: (hits,) row of the judgments,
    in any order within a query. score: (hits,). above: items of the query that score strictly
    higher. tied: items that score the same, this one included. before: those of the tied that come
    earlier in the named order, so that the rank is above + before + 1.
    retrieved: (queries,) the number of items in the ranking. present: (queries,) whether the
    ranking has the query at all. unknown: queries of the ranking that the truth lacks, with their
    number of items.
    top: the first items of each known query, judged or not, in final order, where requested.
    """

    query: Ints
    row: Ints
    score: Floats
    above: Ints
    tied: Ints
    before: Ints
    retrieved: Ints
    present: Bools
    unknown: Mapping[str, int] = field(default_factory=dict[str, int])
    top: Ranking | None = None


def rank_counts(
    scores: Floats, offsets: Ints, targets: Ints, item_bytes: Callable[[int], bytes], ties: TieRule
) -> RankCounts:
    """The counts of the target rows within their queries.

    scores: (rows,) of whole queries in input order. offsets: (queries + 1,) where each query's rows
    begin.
    targets: (hits,) rows, ascending. item_bytes: row -> id, called for rows inside a tie only.
    Under `expected`, `optimistic`, `pessimistic` and `error`, `before` is that of input order: the
    view resolves them.
    """
    query = np.searchsorted(offsets, targets, side="right") - 1
    start, stop = offsets[query], offsets[query + 1]
    falls = scores[1:] <= scores[:-1]
    if len(scores) > 1:
        inner = offsets[(offsets > 0) & (offsets < len(scores))]
        falls[inner - 1] = True
    # climbs[i] counts the rows before i that are lower than their successor: a query without any is
    # already sorted.
    climbs = (
        np.concatenate([[0], np.cumsum(~falls)]) if len(scores) else np.zeros(1, dtype=np.int64)
    )
    is_sorted = climbs[np.maximum(stop - 1, 0)] == climbs[start]
    # Right where the query's scores never rise; the others are counted below.
    new = np.ones(len(scores) + 1, dtype=np.bool_)
    if len(scores):
        np.not_equal(scores[1:], scores[:-1], out=new[1:-1])
        new[offsets] = True
    runs = np.flatnonzero(new)
    run = np.searchsorted(runs, targets, side="right") - 1
    above, tied = runs[run] - start, runs[np.minimum(run + 1, len(runs) - 1)] - runs[run]
    unsorted = query[~is_sorted]
    for position in unsorted[np.diff(unsorted, prepend=-1) != 0].tolist():
        query_targets = slice(*np.searchsorted(query, [position, position + 1]).tolist())
        ordered = np.sort(scores[offsets[position] : offsets[position + 1]])
        left = np.searchsorted(ordered, scores[targets[query_targets]], side="left")
        right = np.searchsorted(ordered, scores[targets[query_targets]], side="right")
        above[query_targets], tied[query_targets] = len(ordered) - right, right - left
    before = np.zeros(len(targets), dtype=np.int64)
    in_ties = np.flatnonzero(tied > 1)
    # A tie is named by its query and the items above it; its members are put in order once, however
    # many of them are targets.
    order = in_ties[np.lexsort((above[in_ties], start[in_ties]))]
    cuts = np.flatnonzero(np.diff(start[order]) | np.diff(above[order])) + 1
    for group in np.split(order, cuts) if len(order) else ():
        first = int(group[0])
        rivals = start[first] + np.flatnonzero(
            scores[start[first] : stop[first]] == scores[targets[first]]
        )
        before[group] = _ordinals(targets[group], rivals, item_bytes, ties)
    return RankCounts(scores[targets], above, tied, before)


def _ordinals(
    targets: Ints, rivals: Ints, item_bytes: Callable[[int], bytes], ties: TieRule
) -> Ints:
    """The place of each target row, from 0, among the rows it is tied with."""
    if ties not in ("id-desc", "id-asc"):
        return np.searchsorted(rivals, targets)
    ordered = sorted(rivals.tolist(), key=item_bytes, reverse=ties == "id-desc")
    ordinals = {row: position for position, row in enumerate(ordered)}
    return np.array([ordinals[row] for row in targets.tolist()], dtype=np.int64)


def places_in_ties(
    items: Iterable[Id],
    scores: Iterable[float],
    tied: Collection[float],
    ties: TieRule,
    key: Callable[[Id], bytes],
) -> dict[Id, int]:
    """The place, from 0, of every item with one of these scores among the items that share it. key:
    the bytes of an id.
    """
    groups: dict[float, list[Id]] = {score: [] for score in tied}
    for item, score in zip(items, scores, strict=True):
        if score in groups:
            groups[score].append(item)
    if ties in ("id-desc", "id-asc"):
        for group in groups.values():
            group.sort(key=key, reverse=ties == "id-desc")
    return {item: position for group in groups.values() for position, item in enumerate(group)}


def arrange(scores: Floats, item_bytes: Callable[[int], bytes], ties: TieRule) -> Ints:
    """Rows of one query from first to last: by score, then by the tie rule (`input` where it names
    no order).
    """
    rows = np.argsort(-scores, kind="stable")
    if ties not in ("id-desc", "id-asc"):
        return rows
    # Compared, not subtracted: scores beyond single precision are infinite there, and all the same.
    ordered = scores[rows]
    edges = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if last - first > 1:
            rows[first:last] = sorted(
                rows[first:last].tolist(), key=item_bytes, reverse=ties == "id-desc"
            )
    return rows


def hits_of_ranking(
    ranking: Ranking,
    judgments: Judgments,
    *,
    ties: TieRule = "id-desc",
    single_precision: bool = False,
    keep: int = 0,
) -> Hits:
    """The hits of a ranking under judgments with one row per query and item; `single_precision` as
    in trec_eval 9.

    keep: number of first items of each query that are in `top`.
    """
    judged_query = np.array(
        [judgments.index.get(query, -1) for query in ranking.queries], dtype=np.int64
    )[ranking.query_of_row]
    # Both tables have their queries in one order, so the rows that stay are in the order of the
    # judgments' queries.
    judged_rows = np.flatnonzero(judged_query >= 0)
    offsets, scores = (
        offsets_from_rows(judged_query[judged_rows], len(judgments.queries)),
        ranking.scores[judged_rows],
    )
    targets, judged = list[int](), list[int]()
    bounds = judgments.offsets.tolist()
    for position, (query, start) in enumerate(
        zip(judgments.queries, offsets.tolist(), strict=False)
    ):
        row_of_item = {
            judgments.items[row]: row for row in range(bounds[position], bounds[position + 1])
        }
        for row, judgment_row in enumerate(
            map(row_of_item.get, ranking.items[ranking.rows_of(query)]), start
        ):
            if judgment_row is not None:
                targets.append(row)
                judged.append(judgment_row)

    def _item_bytes(row: int) -> bytes:
        return encode_id(ranking.items[int(judged_rows[row])])

    if single_precision:
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    rows = np.array(targets, dtype=np.int64)
    counts = rank_counts(scores, offsets, rows, _item_bytes, ties)
    present = np.array([query in ranking.index for query in judgments.queries], dtype=np.bool_)
    sizes = zip(ranking.queries, np.diff(ranking.offsets).tolist(), strict=True)
    return Hits(
        np.searchsorted(offsets, rows, side="right") - 1,
        np.array(judged, dtype=np.int64),
        *counts,
        np.diff(offsets),
        present,
        {query: size for query, size in sizes if query not in judgments.index},
        _top(ranking, judgments, judged_rows, scores, offsets, present, ties, keep)
        if keep
        else None,
    )


def _top(
    ranking: Ranking,
    judgments: Judgments,
    judged_rows: Ints,
    scores: Floats,
    offsets: Ints,
    present: Bools,
    ties: TieRule,
    keep: int,
) -> Ranking:
    """The first `keep` items of each query that the ranking has, in final order."""
    top_rows = [np.zeros(0, dtype=np.int64)]
    for query in np.flatnonzero(present).tolist():
        query_scores = scores[offsets[query] : offsets[query + 1]]
        least = (
            np.partition(query_scores, len(query_scores) - keep)[len(query_scores) - keep]
            if len(query_scores) > keep
            else -np.inf
        )
        best_rows = offsets[query] + np.flatnonzero(query_scores >= least)
        ranking_rows: list[int] = judged_rows[best_rows].tolist()
        names = [encode_id(ranking.items[ranking_row]) for ranking_row in ranking_rows]
        top_rows.append(best_rows[arrange(scores[best_rows], names.__getitem__, ties)[:keep]])
    rows = np.concatenate(top_rows)
    item_rows: list[int] = judged_rows[rows].tolist()
    return Ranking(
        queries=tuple(
            query
            for query, is_present in zip(judgments.queries, present.tolist(), strict=True)
            if is_present
        ),
        offsets=segment_offsets(
            np.array([len(query_rows) for query_rows in top_rows[1:]], dtype=np.int64)
        ),
        items=[ranking.items[item_row] for item_row in item_rows],
        scores=scores[rows],
    )
