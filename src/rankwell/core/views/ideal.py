"""Reference rankings: the perfect one, whose measures are ceilings, and the random one, for chance levels."""

import heapq
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, RankCounts, offsets_of, position_in_segment
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.ranking import Hits
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadInput
from rankwell.store import encode_id

if TYPE_CHECKING:
    from rankwell.core.registry import Measure


def ideal(judgments: Judgments, retrieved: Ints) -> JudgedRankings:
    """The view of a perfect ranker that returns `retrieved` items per query: the judged ones first, from the highest grade down.

    retrieved: (queries,) from 0; a query with more judged items than that gets its best ones. Junk is nowhere.
    The ceiling of a measure is its value on this view. Where queries share a ranking it is lower: see `ideal_if_shared`.
    Raises BadInput for numbers of items that are negative or not one per query.
    """
    flat = judgments.flat
    _check(flat, retrieved)
    real = _real(flat)
    owner = flat.query_of_row[real]
    order = np.lexsort((-flat.grades[real], owner))
    place = position_in_segment(offsets_of(_per_query(owner, flat)))
    kept = place < retrieved[owner]
    return _view(flat, real[order][kept], place[kept], retrieved)


def constant(judgments: Judgments, candidates: Ints) -> JudgedRankings:
    """The view of a scorer that gives all `candidates` items of a query one score, all judged items among them, junk none.

    The chance level of a measure is its expected value here: `measure.entry.expected(view, **dict(measure.given))`. Its ranks
    mean nothing: the judged items stand first.
    candidates: (queries,). Raises BadInput for a query with fewer candidates than judged items, naming it.
    """
    flat = judgments.flat
    _check(flat, candidates)
    real = _real(flat)
    owner = flat.query_of_row[real]
    counts = _per_query(owner, flat)
    short = np.flatnonzero(counts > candidates)
    if short.size:
        query = int(short[0])
        raise BadInput(
            f"query {flat.queries[query]!r} has {int(counts[query])} judged items and {int(candidates[query])} candidates; "
            "give the number of all candidates, judged or not."
        )
    place = position_in_segment(offsets_of(counts))
    return _view(flat, real, np.zeros(len(real), dtype=np.int64), candidates, tied=candidates[owner], before=place)


def ideal_if_shared(judgments: Judgments, groups: Sequence[int] | Ints, retrieved: Ints, *, rel: float = 1) -> JudgedRankings:
    """The view of the best ranking where all queries of a group must get the same one, as captions of the same words do.

    groups: (queries,) equal numbers for queries that a system cannot distinguish. retrieved: (queries,) items in each ranking.
    Each group's list begins with the item that is relevant to most of its queries, then comes the one relevant to most of those
    that are not served yet, and so on; equal counts in the order of item ids. So the mean of `Success@1` is the greatest
    possible, and those of `Success@k`, `RR` and the rank of the best positive too where two queries' positives are the same or
    have none in common (one positive per query, for instance); where they overlap in part it is what this greedy choice reaches.
    Measures of all positives have no ceiling here: a query's first positive alone is placed early.
    Source: Nemhauser, Wolsey and Fisher 1978, An analysis of approximations for maximizing submodular set functions.
    """
    flat = judgments.flat
    _check(flat, retrieved)
    numbers = np.asarray(groups, dtype=np.int64)
    if numbers.shape != (len(flat.queries),):
        raise BadInput(f"the groups have the shape {numbers.shape}; expected one number per query, ({len(flat.queries)},).")
    real = _real(flat)
    wanted = real[flat.grades[real] >= max(rel, 0)]
    owners = flat.query_of_row[wanted]
    place = np.zeros(len(wanted), dtype=np.int64)
    by_group = np.argsort(numbers[owners], kind="stable")
    cuts = np.flatnonzero(np.diff(numbers[owners][by_group])) + 1
    bounds: list[int] = [0, *cuts.tolist(), len(by_group)]
    for start, stop in pairwise(bounds):
        rows = by_group[start:stop]
        items = [flat.items[row] for row in _listed(wanted[rows])]
        places = _greedy(_listed(owners[rows]), items)
        place[rows] = [places[item] for item in items]
    kept = place < retrieved[owners]
    return _view(flat, wanted[kept], place[kept], retrieved)


def _greedy(queries: list[int], items: list[str]) -> dict[str, int]:
    """The place, from 0, of each item in the list that serves most queries first."""
    served: dict[str, set[int]] = {}
    for query, item in zip(queries, items, strict=True):
        served.setdefault(item, set()).add(query)
    waiting, places = set(queries), dict[str, int]()
    heap = [(-len(those), -len(those), encode_id(item), item) for item, those in served.items()]
    heapq.heapify(heap)
    while heap:
        counted, whole, raw, item = heapq.heappop(heap)
        # What an item still serves only falls, so that an old count is an upper bound: the top is right once its count is.
        now = -len(served[item] & waiting)
        if now != counted:
            heapq.heappush(heap, (now, whole, raw, item))
            continue
        waiting -= served[item]
        places[item] = len(places)
    return places


def _listed(numbers: Ints) -> list[int]:
    return numbers.tolist()


def _real(judgments: Judgments) -> Ints:
    """The rows that are not junk."""
    junk: Bools = np.zeros(len(judgments.items), dtype=np.bool_) if judgments.junk is None else judgments.junk
    return np.flatnonzero(~junk)


def _per_query(owner: Ints, judgments: Judgments) -> Ints:
    return np.bincount(owner, minlength=len(judgments.queries)).astype(np.int64)


def _check(judgments: Judgments, numbers: Ints) -> None:
    if numbers.shape != (len(judgments.queries),):
        found, wanted = numbers.shape, (len(judgments.queries),)
        raise BadInput(f"the numbers of items have the shape {found}; expected one per query of the judgments, {wanted}.")
    if (numbers < 0).any():
        query = int(np.flatnonzero(numbers < 0)[0])
        raise BadInput(f"query {judgments.queries[query]!r} has {int(numbers[query])} items; their number is from 0.")


def _view(
    judgments: Judgments, rows: Ints, above: Ints, retrieved: Ints, *, tied: Ints | None = None, before: Ints | None = None
) -> JudgedRankings:
    order = np.argsort(judgments.query_of_row[rows], kind="stable")
    tied = np.ones(len(rows), dtype=np.int64) if tied is None else tied
    before = np.zeros(len(rows), dtype=np.int64) if before is None else before
    counts = RankCounts(above[order], tied[order], -above[order].astype(np.float64), before[order])
    hits = Hits.of_counts(judgments.query_of_row[rows][order], rows[order], counts, np.asarray(retrieved, dtype=np.int64))
    return JudgedRankings.join(judgments, hits)


def expected_values(measure: "Measure", view: JudgedRankings) -> Floats:
    """(queries,) the expected value of a measure on a view in which all items of a query are tied (`constant`).

    That is its chance level. Queries with as many items and the same grades have one, which is computed once for all of them: a
    closed form may take time in proportion to the items. NaN where the measure has no closed form.
    """
    if measure.entry.view is not JudgedRankings or measure.entry.expected is None:
        return np.full(len(view.queries), np.nan)
    kinds = [
        (n, view.judged_grades[start:stop].tobytes())
        for n, start, stop in zip(
            view.retrieved.tolist(), view.judged_offsets[:-1].tolist(), view.judged_offsets[1:].tolist(), strict=True
        )
    ]
    first = {kind: query for query, kind in reversed(list(enumerate(kinds)))}
    chosen = {kind: place for place, kind in enumerate(first)}
    values = measure.entry.expected(view.take(np.array(list(first.values()), dtype=np.int64)), **dict(measure.given))
    return values[np.array([chosen[kind] for kind in kinds], dtype=np.int64)]
