"""Agreement of two lists by what their first places have in common: overlap, Jaccard, average
overlap and rank-biased overlap.
"""

import math
from typing import Literal

import numpy as np

from rankwell.data.registry import measure
from rankwell.data.tables import Floats, Ints, ratio, sum_by
from rankwell.errors import BadUsage
from rankwell.tasks.embeddings.ranking_pairs import Prefixes, RankingPairs, Ties

Kind = Literal["ext", "min", "res", "truncated"]

_FAGIN = "Fagin, Kumar and Sivakumar 2003, Comparing top k lists"
_LONGER = {"unjudged tail": "a longer list has more places to agree or to differ in"}


def _both_lengths(pairs: RankingPairs, k: int | None) -> tuple[Ints, Ints]:
    return pairs.reference.list_length(k), pairs.candidate.list_length(k)


def _where_any(values: Floats, lengths: Ints) -> Floats:
    """The values, NaN where both lists are empty."""
    return np.where(lengths > 0, values, np.nan)


def _chance_overlap(pairs: RankingPairs, *, k: int) -> Floats:
    """k / n: the chance of each of the reference's items to be among the candidate's first k of
    n.
    """
    first, second = _both_lengths(pairs, k)
    longer = np.maximum(first, second)
    return _where_any(ratio(first * second / np.maximum(pairs.n_candidates, 1), longer), longer)


@measure(
    "Overlap",
    source=_FAGIN,
    aliases="top_k_overlap overlap_at",
    exempt=_LONGER,
    chance=_chance_overlap,
)
def overlap(pairs: RankingPairs, *, k: int) -> Floats:
    """The share of items that the first `k` places of the reference and of the candidate have in
    common, in any order.

    Overlap, for how many nearest neighbours two models share:

        Overlap@k = |A ∩ B| / k
        A, B: the first k items of the two lists

    If both lists are shorter than `k`, the length of the longer one replaces `k`, so that equal
    lists score 1. A query with two empty lists is not counted. The chance level is k / n for n
    candidates.

    >>> from rankwell import ranking_pairs
    >>> overlap(ranking_pairs([7, 23, 156, 89, 42], [7, 89, 12, 23, 99]), k=5).tolist()
    [0.6]
    """
    longer = np.maximum(*_both_lengths(pairs, k))
    return _where_any(ratio(pairs.n_shared(k), longer), longer)


def _jaccard(shared: Ints, first: int | Ints, second: int | Ints) -> Floats:
    union = first + second - shared
    return _where_any(ratio(shared, union), union)


@measure(
    "Jaccard",
    source="Jaccard 1901, Étude comparative de la distribution florale dans une portion des "
    "Alpes et "
    "des Jura",
    aliases="jaccard_similarity",
    exempt=_LONGER,
    chance=lambda pairs, *, k: pairs.mean_by_chance(_jaccard, k),
)
def jaccard(pairs: RankingPairs, *, k: int) -> Floats:
    """The number of items in the first `k` places of both lists, over the number in either; not
    counted if both are empty.

    Jaccard similarity, for what share of all their neighbours two models have in common:

        Jaccard@k = |A ∩ B| / |A ∪ B|
        A, B: the first k items of the two lists

    >>> from rankwell import ranking_pairs
    >>> jaccard(ranking_pairs(["a", "b", "c"], ["c", "a", "x"]), k=3).tolist()
    [0.5]
    """
    return _jaccard(pairs.n_shared(k), *_both_lengths(pairs, k))


def _shared_by_chance(pairs: RankingPairs, prefixes: Prefixes, k: int | None) -> Floats:
    """The mean number of items that two prefixes share when the candidate's list is in random
    order: (rows,).
    """
    first, second = (length[prefixes.query] for length in _both_lengths(pairs, k))
    pairs_of_places = np.minimum(prefixes.depth, first) * np.minimum(prefixes.depth, second)
    return pairs_of_places / np.maximum(pairs.n_candidates[prefixes.query], 1)


def _average(prefixes: Prefixes, shared: Floats | Ints) -> Floats:
    depths = np.diff(prefixes.offsets)
    sums = sum_by(prefixes.query, shared / prefixes.depth, len(depths))
    return _where_any(ratio(sums, depths), depths)


def _chance_average_overlap(pairs: RankingPairs, *, k: int | None = None) -> Floats:
    prefixes = pairs.prefixes(k)
    return _average(prefixes, _shared_by_chance(pairs, prefixes, k))


@measure(
    "AO", source=_FAGIN, aliases="average_overlap", exempt=_LONGER, chance=_chance_average_overlap
)
def average_overlap(pairs: RankingPairs, *, k: int | None = None) -> Floats:
    """The share of items that the lists have in common at each depth from 1 to `k`, averaged over
    the depths.

    Average overlap, for shared neighbours, where the top counts more:

        AO@k = Σ(d=1…k) |A(d) ∩ B(d)| / d / k
        A(d), B(d): the first d items of the two lists

    If both lists are shorter than `k`, the longer one sets the depth. A query with two empty lists
    is not counted.

    >>> from rankwell import ranking_pairs
    >>> average_overlap(ranking_pairs(["a", "b", "c"], ["b", "a", "x"])).round(4).tolist()
    [0.5556]
    """
    prefixes = pairs.prefixes(k)
    return _average(prefixes, prefixes.n_shared)


def _chance_rbo(
    pairs: RankingPairs,
    *,
    p: float = 0.9,
    kind: Kind = "ext",
    ties: Ties = "order",
    k: int | None = None,
) -> Floats:
    """The overlap is linear in what the prefixes share, all but its residual: that has no chance
    level, and neither have ties.
    """
    _check_persistence(p)
    if kind == "res" or ties == "shared":
        return np.full(len(pairs.queries), np.nan)
    prefixes = pairs.prefixes(k)
    return _overlap(pairs, prefixes, _shared_by_chance(pairs, prefixes, k), p, kind, k)


@measure(
    "RBO",
    source="Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings; "
    "ties='shared': Corsi and Urbano 2024, "
    "The treatment of ties in rank-biased overlap; kind='truncated': OpenSearch 2025, search "
    "relevance workbench",
    aliases="rank_biased_overlap rbo_ext rbo_min(kind='min') rbo_res(kind='res') "
    "rbo50(p=0.5,kind='truncated') "
    "rbo90(kind='truncated',p=0.9)",
    exempt=_LONGER,
    chance=_chance_rbo,
)
def rbo(
    pairs: RankingPairs,
    *,
    p: float = 0.9,
    kind: Kind = "ext",
    ties: Ties = "order",
    k: int | None = None,
) -> Floats:
    """The overlap at each depth, averaged with weights that fall by a factor of `p` per place; not
    counted for two empty lists.

    Rank-biased overlap, for two rankings of any length, where the top counts most:

        RBO = (1 - p) · Σ(d≥1) p^(d - 1) · |A(d) ∩ B(d)| / d
        A(d), B(d): the first d items of the two lists

    p: above 0 and below 1; the first 10 places have 86 % of the weight at 0.9, the first 50 at
    0.98. kind: `ext` extrapolates the agreement beyond the lists; `min` is the lower bound, with
    nothing more in common, and `res` the residual, the most that can be added to it; `truncated`
    stops at the end of the longer list and divides by the weights up to there. ties: items of equal
    similarity keep the `order` of the list, or all have the first of their ranks (`shared`). k:
    only the first `k` places of each list count. Raises BadUsage for another `p`.

    >>> from rankwell import ranking_pairs
    >>> view = ranking_pairs(["a", "b", "c"], ["a", "c", "b"])
    >>> rbo(view, p=0.5).tolist(), rbo(view, p=0.5, kind="truncated").round(2).tolist()
    ([0.875], [0.86])
    >>> (rbo(view, p=0.5, kind="min") + rbo(view, p=0.5, kind="res")).round(9).tolist()
    [0.875]
    """
    _check_persistence(p)
    prefixes = pairs.prefixes(k, ties)
    return _overlap(pairs, prefixes, prefixes.n_shared.astype(np.float64), p, kind, k)


def _check_persistence(p: float) -> None:
    if not 0 < p < 1:
        raise BadUsage(
            f"p={p!r}: the persistence of rank-biased overlap is a number between 0 and 1, "
            "such as 0.9."
        )


def _overlap(
    pairs: RankingPairs, prefixes: Prefixes, shared: Floats, p: float, kind: Kind, k: int | None
) -> Floats:
    """Rank-biased overlap from the number of shared items at every depth of the longer list."""
    lengths = np.stack(_both_lengths(pairs, k))
    shorter, longer = lengths.min(axis=0), lengths.max(axis=0)
    if kind == "res":
        most, least = (
            _mean_agreement(prefixes, shared, p, longer, shorter, shares)[0]
            for shares in (np.ones(len(longer)), np.zeros(len(longer)))
        )
        tails = _greatest_tail(prefixes, shared, p, longer, shorter) - _least_tail(
            prefixes, shared, p, longer
        )
        return _where_any(most - least + tails, longer)
    # Of the items that the shorter list lacks down to a depth, the extrapolation holds the share
    # seen at its end to be common.
    at_end = np.zeros(len(longer))
    if kind == "ext":
        reached = np.flatnonzero(shorter > 0)
        row = prefixes.offsets[reached] + shorter[reached] - 1
        at_end[reached] = (2 * shared / _size(prefixes))[row]
    head, last = _mean_agreement(prefixes, shared, p, longer, shorter, at_end)
    if kind == "truncated":
        return _where_any(ratio(head, -np.expm1(longer * math.log(p))), longer)
    return _where_any(
        head + (last * p**longer if kind == "ext" else _least_tail(prefixes, shared, p, longer)),
        longer,
    )


def _size(prefixes: Prefixes) -> Ints:
    """The number of items in both prefixes together, (rows,); a list that has ended goes on with
    items that nothing is known of.
    """
    return np.maximum(prefixes.n_reference, prefixes.depth) + np.maximum(
        prefixes.n_candidate, prefixes.depth
    )


def _mean_agreement(
    prefixes: Prefixes, shared: Floats, p: float, longer: Ints, shorter: Ints, beyond: Floats
) -> tuple[Floats, Floats]:
    """The weighted agreement down to the end of the longer list, and the agreement there,
    (queries,) each. beyond: a share held to be common.
    """
    added = np.maximum(prefixes.depth - shorter[prefixes.query], 0) * beyond[prefixes.query]
    agreement = 2 * (shared + added) / _size(prefixes)
    weights = (1 - p) * p ** (prefixes.depth - 1.0)
    head = sum_by(prefixes.query, agreement * weights, len(longer))
    return head, _at_end(prefixes, agreement, longer)


def _at_end(prefixes: Prefixes, values: Floats, longer: Ints) -> Floats:
    """The value at the end of the longer list, 0 where both are empty: (queries,)."""
    last = np.zeros(len(longer))
    last[longer > 0] = values[prefixes.offsets[1:][longer > 0] - 1]
    return last


def _harmonic(p: float, depth: int) -> Floats:
    """The sum of p^d / d over d from 1 to each number from 0 to `depth`: (depth + 1,)."""
    depths = np.arange(1, depth + 1)
    return np.concatenate([[0.0], np.cumsum(p**depths / depths)])


def _least_tail(prefixes: Prefixes, shared: Floats, p: float, longer: Ints) -> Floats:
    """What the depths beyond both lists add when nothing more is common, (queries,) (Webber and
    others 2010, equation 11).
    """
    tail = -math.log1p(-p) - _harmonic(p, int(longer.max(initial=0)))[longer]
    return _at_end(prefixes, shared, longer) * tail * (1 - p) / p


def _greatest_tail(
    prefixes: Prefixes, shared: Floats, p: float, longer: Ints, shorter: Ints
) -> Floats:
    """What the depths beyond both lists add when every new item is common, until the agreement is
    whole at depth f: (queries,).
    """
    missing = longer + shorter - _at_end(prefixes, shared, longer).astype(np.int64)
    sums = _harmonic(p, int(missing.max(initial=0)))
    return 2 * p**longer - p**missing - missing * (sums[missing] - sums[longer]) * (1 - p) / p
