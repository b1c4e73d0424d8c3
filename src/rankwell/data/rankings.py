"""Rankings: for each query a list of items with scores; hits, the judged part of one, also of one
whose rows lie in several shards.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, pairwise
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwell.data.columns import repeated_item
from rankwell.data.frames import Framed
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Judgments,
    QueryRows,
    RankCounts,
    TieRule,
    equal_runs,
    first_repeated,
    first_true,
    index_queries,
    nested_columns,
    offsets_from_rows,
    positions_by_id,
    segment_offsets,
    sort_ids,
    unmasked,
)
from rankwell.errors import BadScore
from rankwell.store import encode_id

Id = TypeVar("Id", str, bytes)
_BY_ID = ("id-asc", "id-desc")


@dataclass(frozen=True, eq=False)
class Ranking(Framed, QueryRows):
    """A run: scored items by query.

    `read_ranking` makes one from a file, a mapping or a data frame. Queries are in the order of
    their bytes, the items of a query in the order they were given.

    queries: every query, also one without items.
    offsets: (queries + 1,) where the rows of each query begin.
    items: (rows,) ids of the items.
    scores: (rows,) finite scores, higher is better.

    >>> import rankwell as rw
    >>> rw.Ranking.from_dict({"q1": {"a": 2.0, "b": 1.0}}).to_dict()
    {'q1': {'a': 2.0, 'b': 1.0}}
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
        twice and must not.
        """
        score = unmasked(scores, "the column of scores", np.float64)
        names, owner = index_queries(queries, all_queries)
        order = np.argsort(owner, kind="stable")
        rows: list[int] = order.tolist()
        table = cls(
            names, offsets_from_rows(owner, len(names)), [items[row] for row in rows], score[order]
        )
        if (row := first_true(~np.isfinite(table.scores))) >= 0:
            raise BadScore(
                f"query {queries[rows[row]]!r}, item {table.items[row]!r}: the score is "
                f"{table.scores[row]}; scores are finite numbers."
            )
        for start, stop in pairwise(table.offsets.tolist()) if not repeated else ():
            if twice := first_repeated(table.items[start:stop]):
                item, *places = twice
                first, second = sorted(rows[start + place] + 1 for place in places)
                raise repeated_item(
                    f"query {queries[rows[start]]!r} lists item {item!r} twice, in rows {first} "
                    f"and {second}",
                    item,
                )
        return table

    @classmethod
    def from_dict(cls, ranking: Mapping[str, Mapping[str, float]]) -> Self:
        """The table of a mapping query -> item -> score."""
        return cls.from_rows(*nested_columns(ranking, 2), all_queries=ranking)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The mapping query -> item -> score, items in their order."""
        return self.by_query(self.items, self.scores)

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns query, item and score; `to_pandas`, `to_polars` give data frames."""
        return {"query": self.row_queries, "item": list(self.items), "score": self.scores.tolist()}

    def of_queries(self, queries: Sequence[str], *, single_precision: bool = False) -> "Ranking":
        """The rankings of some queries, which are in the order of their bytes; a query missing from
        the table has no items.
        """
        index = positions_by_id(queries)
        owner = np.array([index.get(query, -1) for query in self.queries], dtype=np.int64)
        owner = owner[self.query_of_row]
        rows = np.flatnonzero(owner >= 0)
        is_whole, scores = len(rows) == len(self.items), self.scores[rows]
        if single_precision:
            with np.errstate(over="ignore"):
                scores = scores.astype(np.float32).astype(np.float64)
        return Ranking(
            tuple(queries),
            offsets_from_rows(owner[rows], len(queries)),
            self.items if is_whole else [self.items[row] for row in rows.tolist()],
            scores,
        )


@dataclass(frozen=True, eq=False)
class Hits:
    """The judged part of one ranking: a row per judged item that was retrieved. The unjudged rest
    is only counted.

    query: (hits,) index of the query in the judgments, ascending.
    row: (hits,) row of the judgments, in any order within a query.
    score: (hits,) the score in the ranking.
    above: (hits,) number of items of the query that score higher.
    tied: (hits,) number of items of the query that score the same, this one included.
    before: (hits,) number of the tied items that come earlier in the named order, so that the rank
        is above + before + 1.
    n_retrieved: (queries,) the number of items in the ranking.
    has_ranking: (queries,) whether the ranking has the query at all.
    unknown: queries of the ranking that the truth lacks, with their number of items.
    top: the first items of each known query, judged or not, in final order; None where they were
        not requested.
    """

    query: Ints
    row: Ints
    score: Floats
    above: Ints
    tied: Ints
    before: Ints
    n_retrieved: Ints
    has_ranking: Bools
    unknown: Mapping[str, int] = field(default_factory=dict)
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
    inner = offsets[(offsets > 0) & (offsets < len(scores))]
    falls[inner - 1] = True
    # climbs[i] counts the rows before i that are lower than their successor: a query without any is
    # already sorted.
    climbs = np.concatenate([[0], np.cumsum(~falls)])
    is_sorted = climbs[np.maximum(stop - 1, 0)] == climbs[start]
    # Right where the query's scores never rise; the others are counted below.
    new = np.ones(len(scores) + 1, dtype=np.bool_)
    np.not_equal(scores[1:], scores[:-1], out=new[1:-1])
    new[offsets] = True
    runs = np.flatnonzero(new)
    run = np.searchsorted(runs, targets, side="right") - 1
    above, tied = runs[run] - start, runs[np.minimum(run + 1, len(runs) - 1)] - runs[run]
    unsorted = query[~is_sorted]
    for position in np.unique(unsorted).tolist():
        query_targets = slice(*np.searchsorted(query, [position, position + 1]).tolist())
        ordered = np.sort(scores[offsets[position] : offsets[position + 1]])
        wanted = scores[targets[query_targets]]
        left = np.searchsorted(ordered, wanted)
        right = np.searchsorted(ordered, wanted, side="right")
        above[query_targets], tied[query_targets] = len(ordered) - right, right - left
    before = np.zeros(len(targets), dtype=np.int64)
    in_ties = np.flatnonzero(tied > 1)
    # A tie is named by its query and the items above it; its members are put in order once, however
    # many of them are targets.
    order = in_ties[np.lexsort((above[in_ties], start[in_ties]))]
    for group in equal_runs(order, start, above):
        first = int(group[0])
        rivals = start[first] + np.flatnonzero(
            scores[start[first] : stop[first]] == scores[targets[first]]
        )
        before[group] = np.searchsorted(rivals, targets[group])
        if ties in _BY_ID:
            ordered = sorted(rivals.tolist(), key=item_bytes, reverse=ties == "id-desc")
            place_of_row = positions_by_id(ordered)
            before[group] = [place_of_row[row] for row in targets[group].tolist()]
    return RankCounts(scores[targets], above, tied, before)


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
    if ties in _BY_ID:
        for group in groups.values():
            group.sort(key=key, reverse=ties == "id-desc")
    return {item: position for group in groups.values() for position, item in enumerate(group)}


def arrange(scores: Floats, item_bytes: Callable[[int], bytes], ties: TieRule) -> Ints:
    """Rows of one query from first to last: by score, then by the tie rule (`input` where it names
    no order).
    """
    rows = np.argsort(-scores, kind="stable")
    if ties not in _BY_ID:
        return rows
    # Compared, not subtracted: scores beyond single precision are infinite there, and all the same.
    ordered = scores[rows]
    edges = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    for first, last in pairwise(edges.tolist()):
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
    known = ranking.of_queries(judgments.queries, single_precision=single_precision)
    targets, judged = list[int](), list[int]()
    bounds = (pairwise(table.offsets.tolist()) for table in (known, judgments))
    for (start, stop), (first, last) in zip(*bounds, strict=True):
        row_of_item = dict(zip(judgments.items[first:last], range(first, last), strict=True))
        for row, judged_row in enumerate(map(row_of_item.get, known.items[start:stop]), start):
            if judged_row is not None:
                targets.append(row)
                judged.append(judged_row)
    rows = np.array(targets, dtype=np.int64)
    present = np.array([query in ranking.index for query in judgments.queries], dtype=np.bool_)
    top = None
    if keep:
        present_queries = tuple(compress(known.queries, present.tolist()))
        offsets = np.append(known.offsets[:-1][present], known.offsets[-1:])
        top = first_items(replace(known, queries=present_queries, offsets=offsets), ties, keep)
    sizes = zip(ranking.queries, np.diff(ranking.offsets).tolist(), strict=True)
    return Hits(
        known.query_of_row[rows],
        np.array(judged, dtype=np.int64),
        *rank_counts(
            known.scores, known.offsets, rows, lambda row: encode_id(known.items[row]), ties
        ),
        np.diff(known.offsets),
        present,
        {query: size for query, size in sizes if query not in judgments.index},
        top,
    )


def first_items(ranking: Ranking, ties: TieRule, keep: int) -> Ranking:
    """The first `keep` items of each query, in final order."""
    items, top_rows = ranking.items, [np.zeros(0, dtype=np.int64)]
    for start, stop in pairwise(ranking.offsets.tolist()):
        scores, behind = ranking.scores[start:stop], stop - start - keep
        least = np.partition(scores, behind)[behind] if behind > 0 else -np.inf
        rows = start + np.flatnonzero(scores >= least)
        order = arrange(
            ranking.scores[rows], lambda row, rows=rows: encode_id(items[int(rows[row])]), ties
        )
        top_rows.append(rows[order[:keep]])
    rows_in_order: list[int] = np.concatenate(top_rows).tolist()
    return Ranking(
        ranking.queries,
        segment_offsets(np.array(list(map(len, top_rows[1:])), dtype=np.int64)),
        [items[row] for row in rows_in_order],
        ranking.scores[rows_in_order],
    )


# Hits of a ranking whose rows lie in several shards: the queries that one shard has are counted
# there, all others once more. Counts of shards add up, as soon as the scores of all judged items of
# a query are known: each shard counts its rows above each item and those tied with it.

_PRINTS_AT_ONCE = 1 << 18
_END, _STEP = ord("\n"), np.uint64(0x9E3779B97F4A7C15)


class Numbers(Protocol):
    """Numbers in memory, or in a file from which a slice is read."""

    def __getitem__(self, rows: slice, /) -> NDArray[Any]: ...


class SharedQueries(NamedTuple):
    """The judged queries with rows in several shards, and their judged items in these shards. The
    items are the targets that rows are counted for.

    queries: (shared,) indices of the queries in the judgments, ascending.
    owner: (targets,) index into `queries`, ascending.
    row: (targets,) the row in the judgments, ascending.
    score: (targets,) the score in the ranking.
    shard: (targets,) the shard that has the item.
    before: (targets,) number of tied items of that shard that come earlier in it.
    shards: the shards that have any of the queries, ascending.
    """

    queries: Ints
    owner: Ints
    row: Ints
    score: Floats
    shard: Ints
    before: Ints
    shards: Ints


class SharedPrints(NamedTuple):
    """The rows of shared queries in one shard; both arrays are in memory or in a file.

    rows: (shared,) number of rows of each query.
    prints: fingerprints of their items, query by query, within a query in any order.
    """

    rows: Numbers
    prints: Numbers


class SharedCounts(NamedTuple):
    """The rows of shared queries in one shard, counted.

    target: (counted,) index of the target, ascending.
    above, tied: (counted,) number of rows that score higher than the target, and number that score
        the same.
    upto: (counted,) number of the tied rows whose ids do not come after the target's in the order
        of bytes; any number where ids do not break ties.
    prints: fingerprints of the items of all these rows, which show an item that several shards
        have.
    """

    target: Ints
    above: Ints
    tied: Ints
    upto: Ints
    prints: SharedPrints


def item_prints(items: Sequence[str]) -> NDArray[np.uint64]:
    """64-bit prints of ids, (items,), the same on every machine; different ids hardly ever share
    one.

    Multilinear hashing, Σ (byte + 1) · factor of its place, modulo 2^64. Source: Carter and Wegman
    1979, Universal classes of hash functions; for sums modulo powers of two Lemire and Kaser 2014,
    Strongly universal string hashing is fast.
    """
    if not len(items):
        return np.zeros(0, dtype=np.uint64)
    content = np.frombuffer(encode_id("\n".join(items) + "\n"), dtype=np.uint8)
    ends = np.flatnonzero(content == _END)
    if len(ends) != len(items):
        # Ids of tables may have an end of a line in them.
        ends = np.cumsum([len(encode_id(item)) + 1 for item in items]) - 1
    starts = np.append(0, ends[:-1] + 1)
    byte_places = np.arange(len(content)) - np.repeat(starts, ends - starts + 1)
    return np.add.reduceat(
        (content.astype(np.uint64) + np.uint64(1))
        * _factors(int(byte_places.max()) + 1)[byte_places],
        starts,
    )


def _factors(n_places: int) -> NDArray[np.uint64]:
    """The factor of each place. Source: Steele, Lea and Flood 2014, Fast splittable pseudorandom
    number generators.
    """
    mixed = np.arange(1, n_places + 1, dtype=np.uint64) * _STEP
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ mixed >> np.uint64(shift)) * np.uint64(factor)
    return mixed ^ mixed >> np.uint64(31)


def shared_queries(shards: Iterable[Hits]) -> SharedQueries:
    """The queries that several shards have, with their targets. shards: the hits of each, which are
    read twice.
    """
    having = sum(((hits.n_retrieved > 0).astype(np.int64) for hits in shards), np.int64(0))
    is_shared = np.atleast_1d(having > 1)
    columns: list[tuple[Any, ...]] = [(np.zeros(0, dtype=np.int64),) * 5]
    concerned = list[int]()
    for shard, hits in enumerate(shards if is_shared.any() else ()):
        concerned += [shard] if hits.n_retrieved[is_shared].any() else []
        rows = np.flatnonzero(is_shared[hits.query])
        shard_columns = hits.query, hits.row, hits.score, np.full(len(hits.row), shard), hits.before
        columns.append(tuple(column[rows] for column in shard_columns))
    query, row, score, shard, before = map(np.concatenate, zip(*columns, strict=True))
    order = np.lexsort((shard, row))
    queries = np.flatnonzero(is_shared)
    owner = np.searchsorted(queries, query[order])
    score = score[order].astype(np.float64)
    return SharedQueries(
        queries,
        owner,
        row[order],
        score,
        shard[order],
        before[order],
        np.array(concerned, dtype=np.int64),
    )


def count_shared(
    ranking: Ranking,
    judgments: Judgments,
    shared: SharedQueries,
    *,
    ties: TieRule,
    single_precision: bool = False,
) -> SharedCounts:
    """Counts the rows of one shard among the targets. single_precision: whether scores are rounded
    to 32 bits first.
    """
    queries = [judgments.queries[query] for query in shared.queries.tolist()]
    known = ranking.of_queries(queries, single_precision=single_precision)
    counted = np.diff(known.offsets)
    target = np.flatnonzero(counted[shared.owner])
    targets = shared.owner[target]
    # Scores as their places among all different ones: query and score are one integer.
    values, score_places = np.unique(
        np.concatenate([known.scores, shared.score[target]]), return_inverse=True
    )
    step = len(values) + 1
    keys = np.concatenate([known.query_of_row, targets]) * step + score_places
    keys, wanted = np.split(keys, [len(known.scores)])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first, last = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
    above = np.searchsorted(keys, (targets + 1) * step) - last
    upto = np.zeros(len(target), dtype=np.int64)
    if ties in _BY_ID:
        tied = np.flatnonzero(last > first)
        for group in equal_runs(tied, first):
            rows: list[int] = order[first[group[0]] : last[group[0]]].tolist()
            rivals = sorted(encode_id(known.items[row]) for row in rows)
            judged: list[int] = shared.row[target[group]].tolist()
            upto[group] = [bisect(rivals, encode_id(judgments.items[row])) for row in judged]
    prints = SharedPrints(counted, item_prints(known.items))
    return SharedCounts(target, above, last - first, upto, prints)


def repeated_prints(
    shared: SharedQueries, shards: Sequence[SharedPrints]
) -> Iterator[tuple[int, int]]:
    """The index of the query, and the print, of each item that seems to appear in several shards;
    queries in order.
    """
    start, done = 0, [0] * len(shards)
    none = np.zeros(len(shared.queries), dtype=np.int64)
    bounds = segment_offsets(sum((shard.rows[:].astype(np.int64) for shard in shards), none))
    while start < len(shared.queries):
        last = np.searchsorted(bounds, bounds[start] + _PRINTS_AT_ONCE, side="right") - 1
        stop = max(start + 1, int(last))
        rows, prints = list[Ints](), list[NDArray[np.uint64]]()
        for number, shard_prints in enumerate(shards):
            rows.append(shard_prints.rows[start:stop])
            end = done[number] + int(rows[-1].sum())
            prints.append(shard_prints.prints[done[number] : end])
            done[number] = end
        for query, item_print in _repeated(rows, prints):
            yield int(shared.queries[start + query]), item_print
        start = stop


def _repeated(rows: Sequence[Ints], prints: Sequence[NDArray[np.uint64]]) -> list[tuple[int, int]]:
    """The pairs of query and print that appear more than once, in order. rows: of each query, by
    shard.
    """
    owner = np.concatenate(
        [np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes) for sizes in rows]
    )
    all_prints = np.concatenate(prints)
    # Prints of one query stay different from each other; those of two hardly ever become equal.
    mixed = all_prints + owner * _STEP
    ordered = np.sort(mixed)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return []
    candidates = np.stack([owner, all_prints])[:, np.isin(mixed, twice)]
    pairs, counts = np.unique(candidates, axis=1, return_counts=True)
    return [(query, item) for query, item in pairs[:, counts > 1].T.tolist()]


def join_hits(
    shards: Iterable[Hits],
    shared: SharedQueries,
    counts: Iterable[tuple[int, SharedCounts]],
    judgments: Judgments,
    *,
    ties: TieRule,
    keep: int,
) -> Hits:
    """The hits of all rows, as if the shards were one table, one behind the other. counts: of the
    shards that have any.
    """
    n = len(judgments.queries)
    is_shared = np.zeros(n, dtype=np.bool_)
    is_shared[shared.queries] = True
    retrieved, present = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    unknown, tops = Counter[str](), list[Ranking]()
    columns = [[target_column] for target_column in _shared_columns(shared, counts, ties)]
    for hits in shards:
        alone = np.flatnonzero(~is_shared[hits.query])
        for column, shard_column in zip(
            columns, (hits.row, hits.score, hits.above, hits.tied, hits.before), strict=True
        ):
            column.append(shard_column[alone])
        retrieved += hits.n_retrieved
        present |= hits.has_ranking
        unknown.update(hits.unknown)
        tops += [] if hits.top is None else [hits.top]
    # One column after the other, so that no two copies of all are in memory.
    order = np.argsort(np.concatenate(columns[0]))
    row, score, above, tied, before = (np.concatenate(columns.pop(0))[order] for _ in range(5))
    return Hits(
        judgments.query_of_row[row],
        row,
        score,
        above,
        tied,
        before,
        retrieved,
        present,
        {query: unknown[query] for query in sort_ids(unknown)},
        first_items(_joined(tops), ties, keep) if keep else None,
    )


def _shared_columns(
    shared: SharedQueries, counts: Iterable[tuple[int, SharedCounts]], ties: TieRule
) -> tuple[Any, ...]:
    """Row, score, above, tied and before of the targets."""
    above, tied, upto = np.zeros((3, len(shared.row)), dtype=np.int64)
    earlier = shared.before.copy()
    for shard, shard_counts in counts:
        above[shard_counts.target] += shard_counts.above
        tied[shard_counts.target] += shard_counts.tied
        upto[shard_counts.target] += shard_counts.upto
        behind = shared.shard[shard_counts.target] > shard
        earlier[shard_counts.target[behind]] += shard_counts.tied[behind]
    before = {"id-asc": upto - 1, "id-desc": tied - upto}.get(ties, earlier)
    return shared.row, shared.score, above, tied, before


def _joined(tables: Sequence[Ranking]) -> Ranking:
    """The items of several tables, one behind the other."""
    queries, owner = index_queries(
        [query for table in tables for query in table.row_queries],
        [query for table in tables for query in table.queries],
    )
    order = np.argsort(owner, kind="stable")
    items = [item for table in tables for item in table.items]
    scores = np.concatenate([np.zeros(0), *(table.scores for table in tables)])
    return Ranking(
        queries,
        offsets_from_rows(owner, len(queries)),
        [items[row] for row in order.tolist()],
        scores[order],
    )
