"""Rows of whole queries to hits: duplicates, the counts that place each judged item, the first items."""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.core.tables import Floats, Ints, offsets_of
from rankwell.core.tables.hits import Hits
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.order import Counts, arrange, count
from rankwell.core.tables.ranking import Ranking
from rankwell.io.reader.reading import Reading
from rankwell.io.reader.spans import Words
from rankwell.store import decode_id

Keys = NDArray[np.uint32]


class Groups(NamedTuple):
    """The rows of some judged queries, each query's together and in the order of the file.

    queries: (groups,) positions in the judgments. offsets: (groups + 1,), no group empty. scores: (rows,).
    keys: (rows,) hashes of the items. asked: rows whose item is judged, ascending; judged: their rows in the judgments.
    item: row -> its bytes.
    """

    queries: Ints
    offsets: Ints
    scores: Floats
    keys: Keys
    asked: Ints
    judged: Ints
    item: Callable[[int], bytes]


class First(NamedTuple):
    """The first items of a query in final order."""

    query: int
    items: list[bytes]
    scores: Floats


class Part(NamedTuple):
    """What is kept of some queries. twice: of each that lists an item twice, the first row and the second, the earliest such."""

    queries: Ints
    retrieved: Ints
    judged: Ints
    scores: Floats
    counts: Counts
    first: list[First]
    twice: list[tuple[int, int]]


def condense(groups: Groups, reading: Reading) -> Part:
    """What is kept of these queries."""
    counts = count(groups.scores, groups.offsets, groups.asked, groups.item, reading.ties)
    return Part(
        queries=groups.queries,
        retrieved=np.diff(groups.offsets),
        judged=groups.judged,
        scores=groups.scores[groups.asked],
        counts=counts,
        first=_first(groups, reading) if reading.keep else [],
        twice=_twice(groups),
    )


def high_half(item_hashes: Words) -> Keys:
    """32 bits of each hash: enough to suspect that two items are one, which their bytes then settle."""
    return (item_hashes >> np.uint64(32)).astype(np.uint32)


def rounded(scores: Floats, reading: Reading) -> Floats:
    """The scores as they are compared."""
    if not reading.single_precision:
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def assemble(parts: list[Part], unknown: dict[bytes, int], judgments: Judgments, reading: Reading) -> Hits:
    """The hits of all parts; nothing shows of how the file was cut into them."""
    retrieved = np.zeros(len(judgments.queries), dtype=np.int64)
    for part in parts:
        retrieved[part.queries] = part.retrieved
    judged = _join([part.judged for part in parts])
    order = np.argsort(judged)
    return Hits(
        query=judgments.query_of_row[judged[order]],
        row=judged[order],
        score=(np.concatenate([part.scores for part in parts]) if parts else np.zeros(0))[order],
        above=_join([part.counts.above for part in parts])[order],
        tied=_join([part.counts.tied for part in parts])[order],
        before=_join([part.counts.before for part in parts])[order],
        retrieved=retrieved,
        present=retrieved > 0,
        unknown={decode_id(query): unknown[query] for query in sorted(unknown)},
        top=_ranking([each for part in parts for each in part.first], judgments) if reading.keep else None,
    )


def _join(columns: list[Ints]) -> Ints:
    return np.concatenate(columns) if columns else np.zeros(0, dtype=np.int64)


def _ranking(firsts: list[First], judgments: Judgments) -> Ranking:
    firsts = sorted(firsts, key=lambda each: each.query)
    return Ranking(
        queries=tuple(judgments.queries[each.query] for each in firsts),
        offsets=offsets_of(np.array([len(each.items) for each in firsts], dtype=np.int64)),
        items=[decode_id(item) for each in firsts for item in each.items],
        scores=np.concatenate([each.scores for each in firsts]) if firsts else np.zeros(0),
    )


def _first(groups: Groups, reading: Reading) -> list[First]:
    bounds: list[int] = groups.offsets.tolist()
    firsts = list[First]()
    for query, start, stop in zip(groups.queries.tolist(), bounds, bounds[1:], strict=False):
        scores = groups.scores[start:stop]
        rows = np.arange(start, min(stop, start + reading.keep))
        if not (scores[1:] < scores[:-1]).all():
            cut = max(0, len(scores) - reading.keep)
            rows = start + np.flatnonzero(scores >= np.partition(scores, cut)[cut])
            order = arrange(groups.scores[rows], lambda place, rows=rows: groups.item(int(rows[place])), reading.ties)
            rows = rows[order[: reading.keep]]
        firsts.append(First(query, [groups.item(row) for row in rows.tolist()], groups.scores[rows]))
    return firsts


def _twice(groups: Groups) -> list[tuple[int, int]]:
    """The first row and the second of the item that a query lists twice, for each query that does."""
    ordered = _sorted_within(groups.keys, groups.offsets)
    same = ordered[1:] == ordered[:-1]
    same[groups.offsets[1:-1] - 1] = False
    pairs = np.flatnonzero(same)
    if not len(pairs):
        return []
    found = list[tuple[int, int]]()
    owner = np.searchsorted(groups.offsets, pairs, side="right") - 1
    for group in np.unique(owner).tolist():
        start, stop = groups.offsets[group], groups.offsets[group + 1]
        seen: dict[bytes, int] = {}
        for row in (start + np.flatnonzero(np.isin(groups.keys[start:stop], ordered[pairs[owner == group]]))).tolist():
            first = seen.setdefault(groups.item(row), row)
            if first < row:
                found.append((first, row))
                break
    return found


def _sorted_within(keys: Keys, offsets: Ints) -> Keys:
    """The keys of each group in ascending order."""
    sizes = np.diff(offsets)
    if len(sizes) and (sizes == sizes[0]).all():
        return np.sort(keys.reshape(len(sizes), -1), axis=1).ravel()
    ordered = keys.copy()
    bounds: list[int] = offsets.tolist()
    for start, stop in pairwise(bounds):
        ordered[start:stop].sort()
    return ordered
