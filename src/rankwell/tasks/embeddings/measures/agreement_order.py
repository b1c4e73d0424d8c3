"""Agreement of two lists in their order: rank correlations, and the rank of the reference's first
item.
"""

from bisect import bisect_left
from itertools import pairwise

import numpy as np

from rankwell.data.registry import RANK, Scale, measure
from rankwell.data.tables import Floats, Ints, position_in_segment, segment_offsets, sum_by
from rankwell.errors import BadUsage
from rankwell.measures.first_rank import Missing
from rankwell.tasks.embeddings.ranking_pairs import RankingPairs

_HODOSH = "Hodosh, Young and Hockenmaier 2013, Framing image description as a ranking task"
_CORRELATION = Scale((-1.0, 1.0), unit="score", empty=float("nan"))
_SPEARMAN = "Spearman 1904, The proof and measurement of association between two things"


def _rank_within(owner: Ints, values: Ints, queries: int) -> Ints:
    """The rank of each value, from 1, among those of the same query: (rows,)."""
    order = np.lexsort((values, owner))
    ranks = np.empty_like(values)
    ranks[order] = (
        position_in_segment(segment_offsets(np.bincount(owner, minlength=queries).astype(np.int64)))
        + 1
    )
    return ranks


def _correlation(owner: Ints, first: Ints, second: Ints, queries: int) -> Floats:
    """1 - 6 D / (m (m² - 1)) of m items whose squared differences of ranks sum to D; NaN below 2
    items.
    """
    apart = _rank_within(owner, first, queries) - _rank_within(owner, second, queries)
    squares = sum_by(owner, apart * apart, queries)
    items = np.bincount(owner, minlength=queries)
    m = np.where(items >= 2, items, np.nan)
    return 1.0 - 6.0 * squares / (m * (m * m - 1.0))


def _chance_correlation(pairs: RankingPairs, *, k: int | None = None) -> Floats:
    """0: whatever items the lists share, no order of them is likelier than another."""
    return pairs.mean_by_chance(lambda shared, *_: np.where(shared >= 2, 0.0, np.nan), k)


@measure("Spearman", source=_SPEARMAN, scale=_CORRELATION, chance=_chance_correlation)
def spearman(pairs: RankingPairs, *, k: int | None = None) -> Floats:
    """Spearman's rank correlation of the items in the first `k` places of both lists; not counted
    for fewer than 2 items.

    Spearman's rank correlation of shared items, for two orders of the same items:

        Spearman = 1 - 6 · Σ d² / (n · (n² - 1))
        d: the difference of the two ranks of an item
        n: the number of shared items

    Shared items are ranked again among themselves. The value does not show how many there are, so
    read it beside Overlap.

    >>> from rankwell import ranking_pairs
    >>> spearman(ranking_pairs(["a", "b", "c", "x"], ["b", "y", "a", "c"])).tolist()
    [0.5]
    """
    side, rows = pairs.reference, pairs.shared(k)
    return _correlation(
        side.query_of_row[rows], side.ranks[rows], side.other_ranks[rows], len(pairs.queries)
    )


def _union_worth(shared: Ints, first_size: int, second_size: int) -> Floats:
    """The mean correlation of a union, given how many items the lists share: whoever lacks an item
    ranks it after its own.
    """
    union = first_size + second_size - shared
    # The mean rank in each list of its own items, and of those that it lacks.
    present, second_present = (first_size + 1) / 2, (second_size + 1) / 2
    lacking, second_lacking = (first_size + 1 + union) / 2, (second_size + 1 + union) / 2
    products = (
        shared * present * second_present
        + (first_size - shared) * present * second_lacking
        + (second_size - shared) * lacking * second_present
    )
    m = np.where(union >= 2, union, np.nan)
    return (products - m * ((m + 1) / 2) ** 2) / ((m**3 - m) / 12)


@measure(
    "SpearmanUnion",
    source=_SPEARMAN
    + "; over the union of two lists: Fagin, Kumar and Sivakumar 2003, Comparing top k lists",
    scale=_CORRELATION,
    exempt={
        "unjudged tail": "items of unknown rank that enter the first places leave the value unknown"
    },
    chance=lambda pairs, *, k=None: pairs.mean_by_chance(_union_worth, k),
)
def spearman_union(pairs: RankingPairs, *, k: int | None = None) -> Floats:
    """Spearman's rank correlation of the items in the first `k` places of either list, by their
    ranks in both models.

    Spearman's rank correlation of all items, for two orders, including items that only one list
    holds:

        SpearmanUnion = 1 - 6 · Σ d² / (n · (n² - 1))
        d: the difference of the two ranks of an item
        n: the number of items in either list

    Items are ranked again among themselves. A query is not counted if it has fewer than 2 items, or
    if an item's rank in the other model is unknown. The chance level is below 0, since an item that
    only one list holds is far down in the other.

    >>> from rankwell import ranking_pairs
    >>> spearman_union(ranking_pairs(["a", "b", "c", "d"], ["b", "a", "d", "c"], depth=2)).tolist()
    [-1.0]
    """
    first, second = pairs.reference, pairs.candidate
    rows = first.within(k)
    # What stands in the reference's first places too is there already.
    last = first.list_length(k)[second.query_of_row]
    second_rows = second.within(k) & ~((second.other_ranks > 0) & (second.other_ranks <= last))
    owner = np.concatenate([first.query_of_row[rows], second.query_of_row[second_rows]])
    ranks = np.concatenate([first.ranks[rows], second.other_ranks[second_rows]])
    second_ranks = np.concatenate([first.other_ranks[rows], second.ranks[second_rows]])
    values = _correlation(owner, ranks, second_ranks, len(pairs.queries))
    values[owner[(ranks == 0) | (second_ranks == 0)]] = np.nan
    return values


def _earlier_and_smaller(values: Ints, offsets: Ints) -> Ints:
    """The number of rows before each one in its segment that have a smaller value: (rows,)."""
    counts: list[int] = []
    numbers: list[int] = values.tolist()
    for start, stop in pairwise(offsets.tolist()):
        earlier: list[int] = []
        for value in numbers[start:stop]:
            counts.append(bisect_left(earlier, value))
            earlier.insert(counts[-1], value)
    return np.array(counts, dtype=np.int64)


@measure(
    "TauAP",
    source="Yilmaz, Aslam and Robertson 2008, A new rank correlation coefficient for information "
    "retrieval",
    scale=_CORRELATION,
    aliases="tau_ap tau-AP ap_correlation",
    chance=_chance_correlation,
)
def tau_ap(pairs: RankingPairs, *, k: int | None = None) -> Floats:
    """The rank correlation of the items in the first `k` places of both lists, with the most weight
    on the top ranks.

    AP correlation, for two orders of the same items, where the top counts most:

        TauAP = 2 / (n - 1) · Σ(i=2…n) C(i) / (i - 1) - 1
        C(i): the items above rank i of the candidate that are above it in the reference too

    A query is not counted if it has fewer than 2 items. The measure is not symmetric: the reference
    is the truth.

    >>> from rankwell import ranking_pairs
    >>> tau_ap(ranking_pairs(["a", "b", "c"], ["b", "a", "c"])).tolist()
    [0.0]
    >>> tau_ap(ranking_pairs(["a", "b", "c"], ["a", "c", "b"])).tolist()
    [0.5]
    """
    side, rows = pairs.reference, pairs.shared(k)
    owner = side.query_of_row[rows]
    order = np.lexsort((side.other_ranks[rows], owner))
    counts = np.bincount(owner, minlength=len(pairs.queries)).astype(np.int64)
    offsets = segment_offsets(counts)
    earlier = np.maximum(position_in_segment(offsets), 1)
    right = _earlier_and_smaller(side.ranks[rows][order], offsets) / earlier
    sums = sum_by(owner[order], right, len(counts))
    return 2.0 * sums / np.where(counts >= 2, counts - 1.0, np.nan) - 1.0


def _first_rank(pairs: RankingPairs, missing: Missing) -> Floats:
    side, ranks = pairs.reference, np.full(len(pairs.queries), np.nan)
    queries = np.flatnonzero(side.lengths > 0)
    first = side.other_ranks[side.offsets[queries]]
    last = pairs.n_candidates[queries] + 1.0 if missing == "last" else np.nan
    ranks[queries] = np.where(first > 0, first, last)
    return ranks


def _chance_first(pairs: RankingPairs, *, missing: Missing = "last") -> Floats:
    """The middle of all ranks, once every rank is known."""
    if missing not in ("last", "skip"):
        raise BadUsage(
            f"missing={missing!r}: an item that is not found ranks `last` or is skipped."
        )
    return np.where(pairs.reference.lengths > 0, (pairs.n_candidates + 1) / 2, np.nan)


_FIRST = {"empty": "the item ranks after all candidates where the list lacks it"}


@measure(
    "MedR_first",
    source=_HODOSH,
    scale=RANK,
    at=None,
    summary="median",
    exempt=_FIRST,
    chance=_chance_first,
)
def median_rank_of_first(pairs: RankingPairs, *, missing: Missing = "last") -> Floats:
    """The candidate's rank of the reference's first item, from 1; the median over queries.

    Median rank of the reference's first item, for where a small model ranks the nearest neighbour:

        MedR_first = median over the queries of the candidate's rank of the reference's first item

    missing: if the candidate's list lacks the item and its exact rank is unknown, the item ranks
    after all candidates (`last`), which does not change a median within the lists, or the query is
    not counted (`skip`).

    >>> from rankwell import ranking_pairs
    >>> median_rank_of_first(ranking_pairs(["a", "b"], ["c", "b", "a"])).tolist()
    [3.0]
    """
    return _first_rank(pairs, missing)


@measure("MnR_first", source=_HODOSH, scale=RANK, at=None, exempt=_FIRST, chance=_chance_first)
def mean_rank_of_first(pairs: RankingPairs, *, missing: Missing = "last") -> Floats:
    """The candidate's rank of the reference's first item, from 1; the mean over queries.

    Mean rank of the reference's first item, for where a small model ranks the nearest neighbour on
    average:

        MnR_first = mean over the queries of the candidate's rank of the reference's first item

    missing: as for `MedR_first`; a mean needs exact ranks, since a single item ranked `last` can
    dominate it.

    >>> from rankwell import ranking_pairs
    >>> mean_rank_of_first(ranking_pairs(["a", "b"], ["c", "b"], n_candidates=9)).tolist()
    [10.0]
    """
    return _first_rank(pairs, missing)
