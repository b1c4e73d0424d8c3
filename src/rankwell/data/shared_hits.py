"""Hits of a ranking whose rows lie in several shards: the queries that one shard has are counted
there, all others once more.

Counts of shards add up, as soon as the scores of all judged items of a query are known: each shard
counts its rows above each item and those tied with it. A query whose rows lie in one shard needs no
second count.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwell.data.rankings import Hits, Ranking, arrange
from rankwell.data.tables import Bools, Floats, Ints, Judgments, TieRule, segment_offsets
from rankwell.store import encode_id

_PRINTS_AT_ONCE = 1 << 18
_END, _STEP = ord("\n"), np.uint64(0x9E3779B97F4A7C15)
_BY_ID = ("id-asc", "id-desc")


class Numbers(Protocol):
    """Numbers in memory, or in a file from which a slice is read."""

    def __getitem__(self, rows: slice, /) -> NDArray[Any]: ...


class SharedQueries(NamedTuple):
    """The judged queries with rows in several shards, and their judged items in any of these, which
    are the targets to count for.

    queries: (shared,) indices into the judgments' queries, ascending. owner: (targets,) index into
    `queries`, ascending. row: of the judgments. score. shard: that has the item. before: (targets,)
    tied items of that shard which come earlier there.
    shards: those that have any of the queries, ascending.
    """

    queries: Ints
    owner: Ints
    row: Ints
    score: Floats
    shard: Ints
    before: Ints
    shards: Ints


class SharedPrints(NamedTuple):
    """The rows of shared queries in one shard; both here or in a file. rows: (shared,) of each
    query. prints: of their items.

    The prints come query by query, those of a query in any order.
    """

    rows: Numbers
    prints: Numbers


class SharedCounts(NamedTuple):
    """The rows of shared queries in one shard, counted. target: (counted,) index of the target,
    ascending.

    above, tied: (counted,) rows that score higher than the target, and the same. upto: those of the
    tied whose ids are not behind the target's in order of bytes; anything where ties are not broken
    by ids.
    """

    target: Ints
    above: Ints
    tied: Ints
    upto: Ints
    prints: SharedPrints


def item_prints(items: Sequence[str]) -> NDArray[np.uint64]:
    """(items,) 64-bit prints of ids, the same on every machine; different ids hardly ever share
    one.

    Multilinear hashing, Σ (byte + 1) · factor of its place, modulo 2^64. Source: Carter and Wegman
    1979, Universal classes of hash functions; for sums modulo powers of two Lemire and Kaser 2014,
    Strongly universal string hashing is fast.
    """
    joined_ids = encode_id("\n".join(items))
    if joined_ids.count(b"\n") == len(items) - 1:
        content = np.frombuffer(joined_ids + b"\n", dtype=np.uint8)
        ends = np.flatnonzero(content == _END)
    else:
        # Ids of tables may have an end of a line in them.
        ids = list(map(encode_id, items))
        content = np.frombuffer(b"".join(encoded_id + b"\n" for encoded_id in ids), dtype=np.uint8)
        ends = (
            np.cumsum(
                np.fromiter(
                    (len(encoded_id) + 1 for encoded_id in ids), dtype=np.int64, count=len(ids)
                )
            )
            - 1
        )
    if not len(items):
        return np.zeros(0, dtype=np.uint64)
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
    having = sum(((hits.retrieved > 0).astype(np.int64) for hits in shards), np.int64(0))
    is_shared = np.atleast_1d(having > 1)
    columns: list[tuple[Any, ...]] = []
    concerned = list[int]()
    if is_shared.any():
        for shard, hits in enumerate(shards):
            concerned += [shard] if hits.retrieved[is_shared].any() else []
            shared_rows = np.flatnonzero(is_shared[hits.query])
            columns.append(
                (
                    hits.query[shared_rows],
                    hits.row[shared_rows],
                    hits.score[shared_rows],
                    np.full(len(shared_rows), shard),
                    hits.before[shared_rows],
                )
            )
    none = np.zeros(0, dtype=np.int64)
    query, row, score, shard, before = (
        (np.concatenate(column) for column in zip(*columns, strict=True))
        if columns
        else (none,) * 5
    )
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
    names = {
        judgments.queries[query]: number for number, query in enumerate(shared.queries.tolist())
    }
    number_of_query = np.array([names.get(query, -1) for query in ranking.queries], dtype=np.int64)[
        ranking.query_of_row
    ]
    rows = np.flatnonzero(number_of_query >= 0)
    # Both tables have their queries in one order.
    owner, scores = number_of_query[rows], ranking.scores[rows]
    if single_precision:
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    items = (
        ranking.items
        if len(rows) == len(ranking.items)
        else [ranking.items[row] for row in rows.tolist()]
    )
    counted = np.bincount(owner, minlength=len(shared.queries))
    target = np.flatnonzero(counted[shared.owner])
    targets = shared.owner[target]
    # Scores as their places among all different ones: query and score are one integer.
    values, score_places = np.unique(
        np.concatenate([scores, shared.score[target]]), return_inverse=True
    )
    step = len(values) + 1
    keys, wanted = (
        owner * step + score_places[: len(rows)],
        targets * step + score_places[len(rows) :],
    )
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first, last = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
    above = np.searchsorted(keys, (targets + 1) * step) - last
    upto = np.zeros(len(target), dtype=np.int64)
    if ties in _BY_ID:
        tied = np.flatnonzero(last > first)
        for group in np.split(tied, np.flatnonzero(np.diff(first[tied])) + 1) if len(tied) else ():
            rivals: list[int] = order[first[group[0]] : last[group[0]]].tolist()
            judged: list[int] = shared.row[target[group]].tolist()
            judged_ids = [encode_id(judgments.items[row]) for row in judged]
            upto[group] = _upto([encode_id(items[row]) for row in rivals], judged_ids)
    return SharedCounts(
        target, above, last - first, upto, SharedPrints(counted, item_prints(items))
    )


def _upto(rivals: list[bytes], ids: list[bytes]) -> Ints:
    """For each id the number of rivals that are not behind it."""
    ordinals = {encoded_id: number for number, encoded_id in enumerate(sorted({*rivals, *ids}))}
    ordered = np.sort(np.array([ordinals[rival] for rival in rivals]))
    return np.searchsorted(
        ordered, np.array([ordinals[encoded_id] for encoded_id in ids]), side="right"
    )


def repeated_prints(
    shared: SharedQueries, shards: Sequence[SharedPrints]
) -> Iterator[tuple[int, int]]:
    """The index of the query, and the print, of each item that seems to appear in several shards;
    queries in order.
    """
    start, done = 0, [0] * len(shards)
    bounds = np.cumsum(
        sum(
            (shard.rows[:].astype(np.int64) for shard in shards),
            np.zeros(len(shared.queries), dtype=np.int64),
        )
    )
    while start < len(shared.queries):
        before = int(bounds[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(bounds, before + _PRINTS_AT_ONCE, side="right")))
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
    # Prints of one query stay different from each other; those of two hardly ever become equal.
    keys = np.arange(len(rows[0]), dtype=np.uint64) * _STEP
    mixed = np.concatenate(
        [
            np.repeat(keys, query_sizes) + shard_prints
            for query_sizes, shard_prints in zip(rows, prints, strict=True)
        ]
    )
    ordered = np.sort(mixed)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return []
    is_repeated = np.isin(mixed, twice)
    owner = np.concatenate(
        [
            np.repeat(np.arange(len(query_sizes), dtype=np.uint64), query_sizes)
            for query_sizes in rows
        ]
    )[is_repeated]
    pairs, counts = np.unique(
        np.stack([owner, np.concatenate(prints)[is_repeated]]), axis=1, return_counts=True
    )
    return [(query, item) for query, item in pairs[:, counts > 1].T.tolist()]


def join_hits(
    shards: Iterable[Hits],
    shared: SharedQueries,
    counts: Iterable[tuple[int, SharedCounts]],
    judgments: Judgments,
    *,
    ties: TieRule,
    keep: int = 0,
) -> Hits:
    """The hits of all rows, as if the shards were one table, one behind the other. counts: of the
    shards that have any.
    """
    n = len(judgments.queries)
    is_shared = np.zeros(n, dtype=np.bool_)
    is_shared[shared.queries] = True
    retrieved, present = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    unknown, tops = dict[str, int](), list[Ranking]()
    columns = [[target_column] for target_column in _shared_columns(shared, counts, ties)]
    for hits in shards:
        alone = np.flatnonzero(~is_shared[hits.query])
        for column, shard_column in zip(
            columns, (hits.row, hits.score, hits.above, hits.tied, hits.before), strict=True
        ):
            column.append(shard_column[alone])
        retrieved += hits.retrieved
        present |= hits.present
        for query, size in hits.unknown.items():
            unknown[query] = unknown.get(query, 0) + size
        tops += [] if hits.top is None else [hits.top]
    # One column after the other, so that no two copies of all are in memory.
    row = np.concatenate(columns.pop(0))
    order = np.argsort(row)
    row, (score, above, tied, before) = (
        row[order],
        (np.concatenate(columns.pop(0))[order] for _ in range(4)),
    )
    return Hits(
        judgments.query_of_row[row],
        row,
        score,
        above,
        tied,
        before,
        retrieved,
        present,
        {query: unknown[query] for query in sorted(unknown, key=encode_id)},
        _join_top(tops, judgments, is_shared, ties, keep) if keep else None,
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


def _join_top(
    tops: Sequence[Ranking], judgments: Judgments, is_shared: Bools, ties: TieRule, keep: int
) -> Ranking:
    """The first items of each query, from those of each shard."""
    nowhere = np.zeros(0, dtype=np.int64)
    index = [
        np.array([judgments.index[query] for query in top.queries], dtype=np.int64) for top in tops
    ]
    owner = np.concatenate(
        [
            nowhere,
            *(query_index[top.query_of_row] for query_index, top in zip(index, tops, strict=True)),
        ]
    )
    scores = np.concatenate([np.zeros(0), *(top.scores for top in tops)])
    items = [item for top in tops for item in top.items]
    order = np.argsort(owner, kind="stable")
    queries = np.unique(np.concatenate([nowhere, *index]))
    bounds = np.searchsorted(owner[order], np.append(queries, len(judgments.queries)))
    top_rows = [nowhere]
    for query, (start, stop) in zip(queries.tolist(), pairwise(bounds.tolist()), strict=True):
        rows = order[start:stop]
        if is_shared[query]:
            names = [encode_id(items[row]) for row in rows.tolist()]
            rows = rows[arrange(scores[rows], names.__getitem__, ties)[:keep]]
        top_rows.append(rows)
    rows = np.concatenate(top_rows)
    return Ranking(
        queries=tuple(map(judgments.queries.__getitem__, queries.tolist())),
        offsets=segment_offsets(
            np.array([len(query_rows) for query_rows in top_rows[1:]], dtype=np.int64)
        ),
        items=[items[row] for row in rows.tolist()],
        scores=scores[rows],
    )
