"""Agreement of two spaces around a query: recall within a tolerance, new and lost neighbours, and
the reference's margin.
"""

import numpy as np

from rankwell.data.registry import COUNT, Scale, measure
from rankwell.data.tables import Bools, Floats, Ints, ratio
from rankwell.errors import BadUsage
from rankwell.tasks.embeddings.ranking_pairs import ListSide, RankingPairs

_VENNA = "Venna and Kaski 2006, Local multidimensional scaling"


def _check_tolerance(eps: float) -> None:
    if eps < 0:
        raise BadUsage(f"eps={eps!r}: a tolerance of similarity is 0 or more.")


def _chance_eps_recall(pairs: RankingPairs, *, k: int, eps: float = 0.0) -> Floats:
    """m / n for m of n candidates within the tolerance; NaN where the reference's list ends before
    they do.
    """
    _check_tolerance(eps)
    side = pairs.reference
    depth = side.list_length(k)
    lowest = side.score_at(depth) - eps
    inside = np.maximum(side.sum_rows(side.scores >= lowest[side.query_of_row]), depth)
    is_known = (inside < side.lengths) | (side.lengths == pairs.n_candidates)
    n_first = np.minimum(pairs.candidate.lengths, depth)
    return np.where(
        is_known & ~np.isnan(lowest),
        ratio(inside * n_first / np.maximum(pairs.n_candidates, 1), depth),
        np.nan,
    )


@measure(
    "EpsRecall",
    source="Aumüller, Bernhardsson and Faithfull 2020, ANN-Benchmarks: a benchmarking tool for "
    "approximate nearest neighbor "
    "algorithms",
    aliases="epsilon_recall eps_recall recall_eps",
    exempt={
        "unjudged tail": "items of unknown similarity that enter the first places leave the "
        "value unknown"
    },
    chance=_chance_eps_recall,
)
def eps_recall(pairs: RankingPairs, *, k: int, eps: float = 0.0) -> Floats:
    """The share of the candidate's first `k` items that the reference finds at most `eps` less
    similar than its own k-th item.

    ε-recall, for approximate search, where equally near items are equally good:

        EpsRecall@k = (items of the candidate's first k with s ≥ s_k - eps) / k
        s: the similarity under the reference
        s_k: the similarity of its own k-th item

    If the reference's list is shorter than `k`, its length replaces `k`. A query is not counted if
    the reference's similarities are unknown, or lack a candidate's item that is not among its own
    first `k`. eps: how much less similar an item may be. Raises BadUsage for an `eps` below 0.

    >>> from rankwell import ranking_pairs
    >>> view = ranking_pairs({"a": 0.9, "b": 0.8, "c": 0.79, "d": 0.1}, ["c", "a", "d"], depth=2)
    >>> eps_recall(view, k=2).tolist(), eps_recall(view, k=2, eps=0.02).tolist()
    ([0.5], [1.0])
    """
    _check_tolerance(eps)
    side = pairs.candidate
    depth = pairs.reference.list_length(k)
    lowest = pairs.reference.score_at(depth) - eps
    first = side.within(depth)
    common = (side.other_ranks > 0) & (side.other_ranks <= depth[side.query_of_row])
    near = common | (side.other_scores >= lowest[side.query_of_row])
    unknown = side.sum_rows(first & ~common & np.isnan(side.other_scores)) > 0
    share = ratio(side.sum_rows(first & near), depth)
    return np.where(unknown | np.isnan(lowest), np.nan, share)


@measure(
    "Margin",
    source="EverMind-AI 2026, EverOS issue 332: items near the rank-10 similarity",
    scale=COUNT._replace(empty=float("nan")),
    summary="median",
    exempt={"empty": "it looks at the reference alone, whatever the candidate lists"},
)
def margin(pairs: RankingPairs, *, k: int, eps: float = 0.005) -> Floats:
    """The number of the reference's other items within `eps` of the similarity of its k-th item;
    the median over queries.

    Margin, for how arbitrary the choice of the k nearest is:

        Margin@k = median over the queries of the number of items with |s - s_k| ≤ eps
        s_k: the similarity of the k-th item, which is not counted itself

    If there are many, chance decides which of them are among the first `k`, and you cannot blame a
    candidate for returning others. A list that ends within `eps` gives a lower bound; a median
    below the depth of the lists minus `k` is still exact. A query is not counted if its list is
    shorter than `k` or its similarities are unknown. eps: the largest difference in similarity that
    is ignored. Raises BadUsage for an `eps` below 0.

    >>> from rankwell import ranking_pairs
    >>> margin(ranking_pairs({"a": 0.9, "b": 0.8, "c": 0.799, "d": 0.1}, []), k=2).tolist()
    [1.0]
    """
    _check_tolerance(eps)
    side = pairs.reference
    last = side.score_at(np.full(len(pairs.queries), k, dtype=np.int64))
    return np.where(
        np.isnan(last),
        np.nan,
        side.sum_rows(np.abs(side.scores - last[side.query_of_row]) <= eps) - 1.0,
    )


def _usable(pairs: RankingPairs, k: int) -> Bools:
    """Whether both lists reach `k` and `k` is below half of the points, of which the query is one:
    (queries,).
    """
    full = (pairs.reference.lengths >= k) & (pairs.candidate.lengths >= k)
    return full & (2 * k < pairs.n_candidates + 1)


def _largest(pairs: RankingPairs, k: int) -> Ints:
    """The greatest sum of excess ranks, with which the value is 0: (queries,)."""
    points = pairs.n_candidates + 1
    return np.where(_usable(pairs, k), k * (2 * points - 3 * k - 1) // 2, 1)


def _nearness(pairs: RankingPairs, side: ListSide, k: int) -> Floats:
    """1 less the excess ranks, under the other model, of one side's first `k` items, over the
    greatest sum of them.
    """
    first = side.within(k)
    excess = side.sum_rows(np.where(first, np.maximum(side.other_ranks - k, 0), 0))
    unknown = side.sum_rows(first & (side.other_ranks == 0)) > 0
    return np.where(_usable(pairs, k) & ~unknown, 1.0 - excess / _largest(pairs, k), np.nan)


def _chance_nearness(pairs: RankingPairs, *, k: int) -> Floats:
    """Each of the k items has any of n ranks, whose excess is (n - k)(n - k + 1) / 2n in the
    mean.
    """
    beyond, n = pairs.n_candidates - k, np.maximum(pairs.n_candidates, 1)
    return np.where(
        _usable(pairs, k), 1.0 - k * beyond * (beyond + 1) / (2 * n * _largest(pairs, k)), np.nan
    )


@measure(
    "Trustworthiness",
    source=_VENNA,
    scale=Scale(empty=float("nan")),
    aliases="trust",
    chance=_chance_nearness,
)
def trustworthiness(pairs: RankingPairs, *, k: int) -> Floats:
    """How high the reference ranks the candidate's first `k` items: 1 if they are its own first
    `k`, 0 if as low as possible.

    Trustworthiness, for false neighbours in a smaller space:

        Trustworthiness@k = 1 - Σ(false neighbours) (r - k) / (k · (2n - 3k - 1) / 2)
        r: the rank of the neighbour under the reference
        n: the number of points

    A false neighbour is not among the reference's first `k`, and costs its rank there minus `k`. A
    query is not counted if a list is shorter than `k`, if a rank is unknown, or if `k` is half of
    the points or more. The chance level is near 1/2 for small `k`.

    >>> from rankwell import ranking_pairs
    >>> view = ranking_pairs(["a", "b", "c", "d", "e"], ["c", "a", "b", "e", "d"], depth=2)
    >>> trustworthiness(view, k=2).tolist(), trustworthiness(view, k=1).tolist()
    ([0.8], [0.5])
    """
    return _nearness(pairs, pairs.candidate, k)


@measure(
    "Continuity",
    source=_VENNA,
    scale=Scale(empty=float("nan")),
    aliases="continuity_at",
    chance=_chance_nearness,
)
def continuity(pairs: RankingPairs, *, k: int) -> Floats:
    """How high the candidate ranks the reference's first `k` items: 1 if they are its own first
    `k`, 0 if as low as possible.

    Continuity, for neighbours that a smaller space loses:

        Continuity@k = 1 - Σ(lost neighbours) (r - k) / (k · (2n - 3k - 1) / 2)
        r: the rank of the neighbour under the candidate
        n: the number of points

    A lost neighbour is not among the candidate's first `k`, and costs its rank there minus `k`.
    Queries are left out as for `Trustworthiness`, but the ranks under the candidate must be known.

    >>> from rankwell import ranking_pairs
    >>> view = ranking_pairs(["a", "b", "c", "d", "e"], ["c", "a", "b", "e", "d"], depth=2)
    >>> continuity(view, k=2).tolist(), continuity(view, k=1).tolist()
    ([0.8], [0.75])
    """
    return _nearness(pairs, pairs.reference, k)
