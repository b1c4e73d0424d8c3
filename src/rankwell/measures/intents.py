"""Novelty and diversity: a query may mean several things, and an item is worth less for an intent
that is served already.

All follow ndeval 4.5 (TREC Web track, Clarke 2013) as packed in pyndeval 0.0.8, without its limit
of 20 ranks. An intent to which nothing is relevant is left out; S is the number of the others, and
every measure is 0 where S is 0.
"""

from collections.abc import Callable

import numpy as np

from rankwell.data.judged_rankings import IntentRankings
from rankwell.data.registry import Scale, measure
from rankwell.data.tables import Bools, Floats, Ints, ranks_to, ratio, sum_by
from rankwell.errors import BadUsage

_NDEVAL = "; ndeval, Clarke 2013"
_ALPHA = (
    "Clarke and others 2008, Novelty and diversity in information retrieval evaluation" + _NDEVAL
)
_ERR = (
    "Chapelle, Metzler, Zhang and Grinspan 2009, Expected reciprocal rank for graded relevance"
    + _NDEVAL
)
_NRBP = (
    "Clarke, Kolla and Vechtomova 2009, An effectiveness measure for ambiguous and "
    "underspecified queries" + _NDEVAL
)
_AGRAWAL = "Agrawal, Gollapudi, Halverson and Ieong 2009, Diversifying search results" + _NDEVAL
_SAKAI = (
    "Sakai and Song 2011, Evaluating diversified search results using per-intent graded relevance"
)
_UNBOUNDED = Scale((0.0, np.inf))

# rank -> what novelty at that rank is worth.
Discount = Callable[[Ints | Floats], Floats]


def _by_log(rank: Ints | Floats) -> Floats:
    return 1.0 / np.log2(rank + 1.0)


def _by_rank(rank: Ints | Floats) -> Floats:
    return 1.0 / rank


def _share(name: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise BadUsage(f"{name}={value!r} is a share from 0 to 1.")
    return value


def _shown(intents: IntentRankings, judged_only: bool) -> IntentRankings:
    return intents.condensed if judged_only else intents


def _live(intents: IntentRankings, rel: float) -> Floats:
    """S: the number of intents that something is relevant to, per query."""
    return intents.sum_aspects((intents.by_aspect.n_relevant(rel) > 0).astype(np.float64))


def _novelty(
    intents: IntentRankings, discount: Discount, *, alpha: float, rel: float, k: int | None
) -> Floats:
    """The sum over the first `k` items and the intents of each of (1 - alpha)^(times served above),
    discounted; per query.
    """
    view = intents.by_aspect
    hit = view.relevant(rel)
    served = np.maximum(view.count_so_far(hit) - 1, 0).astype(np.float64)
    worth = (1 - _share("alpha", alpha)) ** served * discount(view.ranks)
    return intents.sum_aspects(view.sum_rows(np.where(hit & view.within(k), worth, 0.0)))


def _over_perfect(
    intents: IntentRankings, discount: Discount, *, k: int, alpha: float, rel: float, quirk: bool
) -> Floats:
    """Discounted novelty over that of k items which serve every intent; undivided at k = 1 with
    `quirk`.
    """
    value = _novelty(intents, discount, alpha=alpha, rel=rel, k=k)
    if quirk and k == 1:
        return value
    ranks = ranks_to(k)
    perfect = ((1 - alpha) ** (ranks - 1) * discount(ranks)).sum()
    return ratio(value, _live(intents, rel) * perfect)


def _over_ideal(
    intents: IntentRankings, discount: Discount, *, k: int | None, alpha: float, rel: float
) -> Floats:
    """Discounted novelty over that of the greedy ideal list."""
    value = _novelty(intents, discount, alpha=alpha, rel=rel, k=k)
    best = np.zeros(len(value))
    for query, serves in intents.serving(rel):
        gains = _greedy_gains(serves, alpha, k or len(serves))
        best[query] = (gains * discount(np.arange(1, len(gains) + 1))).sum()
    return ratio(value, best)


def _greedy_gains(serves: Bools, alpha: float, depth: int) -> Floats:
    """The novelty at each rank of the list that takes the most novel item each time, the first
    where several are.
    """
    worth = np.ones(serves.shape[1])
    left = np.ones(len(serves), dtype=np.bool_)
    gains = np.zeros(min(depth, len(serves)))
    for rank in range(len(gains)):
        # Added intent by intent, so that items which serve the same ones tie exactly.
        novelty = np.zeros(len(serves))
        for intent, intent_worth in enumerate(worth.tolist()):
            novelty += np.where(serves[:, intent], intent_worth, 0.0)
        best = int(np.argmax(np.where(left, novelty, -1.0)))
        gains[rank], left[best] = novelty[best], False
        worth[serves[best]] *= 1 - alpha
    return gains


@measure(
    "alpha_DCG", source=_ALPHA, scale=_UNBOUNDED, aliases="alpha-DCG α_DCG αDCG α-DCG alphaDCG"
)
def alpha_dcg(
    intents: IntentRankings,
    *,
    k: int,
    alpha: float = 0.5,
    rel: float = 1,
    judged_only: bool = False,
    quirk: bool = True,
) -> Floats:
    """The novelty of the first `k` items, discounted by log2(rank + 1), divided by that of `k`
    items that each serve all S intents.

    Alpha-discounted cumulative gain (α-DCG), for ambiguous queries, where repetition is penalised:

        alpha_DCG@k = Σ(i=1…k) nov(i) / log2(i + 1) / Σ(i=1…k) S · (1 - alpha)^(i - 1) / log2(i + 1)
        nov(i) = Σ(intents that the item at rank i serves) (1 - alpha)^(times served above)

    Novelty of an item: for each intent that it serves, (1 - alpha)^(times the intent was served
    above). judged_only: first remove items that are judged for no intent. quirk: do not divide at k
    = 1, as in ndeval and pyndeval; the value there is the number of intents that the first item
    serves, and may exceed 1. False divides by S there too.

    >>> from rankwell import intent_rankings
    >>> view = intent_rankings(
    ...     {"q": {"1": {"a": 1}, "2": {"a": 1, "b": 1}}}, {"q": {"a": 3.0, "b": 2.0}}
    ... )
    >>> alpha_dcg(view, k=1).tolist(), alpha_dcg(view, k=1, quirk=False).tolist()
    ([2.0], [1.0])
    """
    view = _shown(intents, judged_only)
    return _over_perfect(view, _by_log, k=k, alpha=alpha, rel=rel, quirk=quirk)


@measure(
    "alpha_nDCG",
    source=_ALPHA,
    scale=_UNBOUNDED,
    aliases="alpha-nDCG α_nDCG αnDCG α-nDCG alphanDCG",
)
def alpha_ndcg(
    intents: IntentRankings,
    *,
    k: int,
    alpha: float = 0.5,
    rel: float = 1,
    judged_only: bool = False,
) -> Floats:
    """The novelty of the first `k` items, discounted by log2(rank + 1), divided by that of the
    greedy ideal list.

    Alpha-normalized discounted cumulative gain (α-nDCG), for ambiguous queries, the usual measure
    of diversity:

        alpha_nDCG@k = Σ(i=1…k) nov(i) / log2(i + 1) / (the same sum of the greedy ideal list)
        nov(i) = Σ(intents that the item at rank i serves) (1 - alpha)^(times served above)

    Novelty of an item: for each intent that it serves, (1 - alpha)^(times the intent was served
    above). At each rank the ideal list takes the most novel item; of several, the one with the last
    id. A better list may exist, so values above 1 are possible. judged_only: first remove items
    that are judged for no intent.

    >>> from rankwell import intent_rankings
    >>> view = intent_rankings(
    ...     {"q": {"1": {"a": 1, "b": 1}, "2": {"c": 1}}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    ... )
    >>> alpha_ndcg(view, k=2, alpha=1.0).round(4).tolist()
    [0.6131]
    """
    return _over_ideal(_shown(intents, judged_only), _by_log, k=k, alpha=alpha, rel=rel)


@measure("ERR_IA", source=_ERR, scale=_UNBOUNDED, aliases="ERR-IA")
def err_ia(
    intents: IntentRankings,
    *,
    k: int,
    alpha: float = 0.5,
    rel: float = 1,
    judged_only: bool = False,
    quirk: bool = True,
) -> Floats:
    """The novelty of the first `k` items, discounted by rank, divided by that of `k` items that
    each serve all S intents.

    Intent-aware expected reciprocal rank, for ambiguous queries, and users who stop early:

        ERR_IA@k = Σ(i=1…k) nov(i) / i / Σ(i=1…k) S · (1 - alpha)^(i - 1) / i
        nov(i) = Σ(intents that the item at rank i serves) (1 - alpha)^(times served above)

    Parameters as for `alpha_DCG`.

    >>> from rankwell import intent_rankings
    >>> view = intent_rankings({"q": {"1": {"a": 1}, "2": {"b": 1}}}, {"q": {"a": 3.0, "b": 2.0}})
    >>> err_ia(view, k=1).tolist(), err_ia(view, k=2).tolist()
    ([1.0], [0.6])
    """
    view = _shown(intents, judged_only)
    return _over_perfect(view, _by_rank, k=k, alpha=alpha, rel=rel, quirk=quirk)


@measure("nERR_IA", source=_ERR, scale=_UNBOUNDED, aliases="nERR-IA")
def nerr_ia(
    intents: IntentRankings,
    *,
    k: int,
    alpha: float = 0.5,
    rel: float = 1,
    judged_only: bool = False,
) -> Floats:
    """The novelty of the first `k` items, discounted by rank, divided by that of the greedy ideal
    list of `alpha_nDCG`.

    Normalised intent-aware expected reciprocal rank, for ERR_IA relative to an ideal list:

        nERR_IA@k = Σ(i=1…k) nov(i) / i / (the same sum of the greedy ideal list)
        nov(i) = Σ(intents that the item at rank i serves) (1 - alpha)^(times served above)

    judged_only: first remove items that are judged for no intent.

    >>> from rankwell import intent_rankings
    >>> view = intent_rankings(
    ...     {"q": {"1": {"a": 1}, "2": {"b": 1}}}, {"q": {"x": 4.0, "a": 3.0, "b": 2.0}}
    ... )
    >>> nerr_ia(view, k=2).round(4).tolist()
    [0.3333]
    """
    return _over_ideal(_shown(intents, judged_only), _by_rank, k=k, alpha=alpha, rel=rel)


def _by_persistence(beta: float) -> Discount:
    _share("beta", beta)
    return lambda rank: np.power(beta, rank.astype(np.float64) - 1.0)


@measure("NRBP", source=_NRBP)
def nrbp(
    intents: IntentRankings, *, alpha: float = 0.5, beta: float = 0.5, rel: float = 1
) -> Floats:
    """(1 - (1 - alpha) beta) / S times the sum of novelty times beta^(rank - 1) over the whole
    list.

    Novelty- and rank-biased precision, for ambiguous queries, and users of known persistence:

        NRBP = (1 - (1 - alpha) · beta) / S · Σ(i) nov(i) · beta^(i - 1)
        nov(i) = Σ(intents that the item at rank i serves) (1 - alpha)^(times served above)

    Novelty of an item: for each intent that it serves, (1 - alpha)^(times the intent was served
    above). beta: the user's persistence.

    >>> from rankwell import intent_rankings
    >>> view = intent_rankings({"q": {"1": {"a": 1}, "2": {"b": 1}}}, {"q": {"a": 3.0, "b": 2.0}})
    >>> nrbp(view).tolist()
    [0.5625]
    """
    value = _novelty(intents, _by_persistence(beta), alpha=alpha, rel=rel, k=None)
    return (1 - (1 - alpha) * beta) * ratio(value, _live(intents, rel))


@measure("nNRBP", source=_NRBP, scale=_UNBOUNDED)
def nnrbp(
    intents: IntentRankings, *, alpha: float = 0.5, beta: float = 0.5, rel: float = 1
) -> Floats:
    """NRBP divided by that of the greedy ideal list of `alpha_nDCG`; 0 if nothing is relevant to
    any intent (pyndeval: NaN).

    Normalised novelty- and rank-biased precision, for NRBP relative to an ideal list:

        nNRBP = NRBP / (NRBP of the greedy ideal list)

    Parameters as for `NRBP`.

    >>> from rankwell import intent_rankings
    >>> view = intent_rankings(
    ...     {"q": {"1": {"a": 1}, "2": {"b": 1}}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    ... )
    >>> nnrbp(view).round(4).tolist()
    [0.8333]
    """
    return _over_ideal(intents, _by_persistence(beta), k=None, alpha=alpha, rel=rel)


@measure("AP_IA", source=_AGRAWAL, aliases="AP-IA MAP_IA MAP-IA")
def ap_ia(intents: IntentRankings, *, rel: float = 1, judged_only: bool = False) -> Floats:
    """The mean over the S intents of average precision for each intent alone.

    Intent-aware average precision, for AP averaged over intents:

        AP_IA = mean of AP over the S intents

    judged_only: first remove items that are judged for no intent.

    >>> from rankwell import intent_rankings
    >>> view = intent_rankings({"q": {"1": {"a": 1}, "2": {"b": 1}}}, {"q": {"a": 3.0, "b": 2.0}})
    >>> ap_ia(view).tolist()
    [0.75]
    """
    view = _shown(intents, judged_only).by_aspect
    hit = view.relevant(rel)
    precision = np.where(hit, view.count_so_far(hit) / view.ranks, 0.0)
    of_aspects = ratio(view.sum_rows(precision), view.n_relevant(rel))
    return ratio(intents.sum_aspects(of_aspects), _live(intents, rel))


@measure("P_IA", source=_AGRAWAL, aliases="P-IA")
def p_ia(intents: IntentRankings, *, k: int, rel: float = 1, judged_only: bool = False) -> Floats:
    """The mean over the S intents of the share of the first `k` places that hold an item relevant
    to the intent.

    Intent-aware precision, for precision averaged over intents:

        P_IA@k = mean of P@k over the S intents

    judged_only: first remove items that are judged for no intent.

    >>> from rankwell import intent_rankings
    >>> view = intent_rankings(
    ...     {"q": {"1": {"a": 1, "b": 1}, "2": {"b": 1}}}, {"q": {"a": 3.0, "b": 2.0}}
    ... )
    >>> p_ia(view, k=2).tolist()
    [0.75]
    """
    view = _shown(intents, judged_only).by_aspect
    hits = view.sum_rows(view.relevant(rel) & view.within(k))
    return ratio(intents.sum_aspects(hits), k * _live(intents, rel))


@measure(
    "StRecall",
    source="Zhai, Cohen and Lafferty 2003, Beyond independent relevance; ndeval strec, Clarke 2013",
    aliases="strec subtopic_recall S-recall I-rec I_rec Irec",
)
def subtopic_recall(intents: IntentRankings, *, k: int, rel: float = 1) -> Floats:
    """The share of the S intents that at least one of the first `k` items serves.

    Subtopic recall, for how many meanings of a query are covered:

        StRecall@k = (intents that one of the first k items serves) / S

    >>> from rankwell import intent_rankings
    >>> view = intent_rankings({"q": {"1": {"a": 1}, "2": {"b": 1}}}, {"q": {"a": 3.0, "b": 2.0}})
    >>> subtopic_recall(view, k=1).tolist()
    [0.5]
    """
    view = intents.by_aspect
    served = view.sum_rows(view.relevant(rel) & view.within(k)) > 0
    return ratio(intents.sum_aspects(served.astype(np.float64)), _live(intents, rel))


@measure("D_nDCG", source=_SAKAI, aliases="D-nDCG")
def d_ndcg(intents: IntentRankings, *, k: int | None = None, judged_only: bool = False) -> Floats:
    """DCG of the first `k` items by global gain, divided by that of the list with the largest
    global gains first.

    D-nDCG, for diversity with graded judgments per intent:

        D_nDCG@k = Σ(i=1…k) GG(i) / log2(i + 1) / (the same sum, largest GG first)
        GG(i): the mean grade of the item at rank i over the intents

    The global gain of an item is its mean grade over the intents, which are equally probable.
    Grades below 0 count as 0. The discount is log2(rank + 1). judged_only: first remove items that
    are judged for no intent.

    >>> from rankwell import intent_rankings
    >>> view = intent_rankings(
    ...     {"q": {"1": {"a": 1, "b": 1}, "2": {"b": 1}}}, {"q": {"a": 3.0, "b": 2.0}}
    ... )
    >>> d_ndcg(view, k=1).tolist()
    [0.5]
    """
    view = _shown(intents, judged_only).by_aspect
    gains = np.maximum(view.grades, 0.0) * _by_log(view.ranks)
    value = intents.sum_aspects(view.sum_rows(np.where(view.within(k), gains, 0.0)))
    return ratio(value, _ideal_gains(intents, k))


def _ideal_gains(intents: IntentRankings, k: int | None) -> Floats:
    """The DCG of all judged items of each query, those with the largest sums of grades first."""
    owner = intents.query_of_aspect[intents.aspect_of_truth]
    pairs, pair_rows = np.unique(
        np.stack([owner, intents.truth_items]), axis=1, return_inverse=True
    )
    grades = np.maximum(intents.truth_grades, 0.0)
    total = sum_by(pair_rows.ravel(), grades, pairs.shape[1])
    order = np.lexsort((-total, pairs[0]))
    queries, gains = pairs[0][order], total[order]
    ranks = np.arange(1, len(queries) + 1) - np.searchsorted(queries, queries)
    counted_gains = np.where(ranks <= (k or len(ranks)), gains * _by_log(ranks), 0.0)
    return sum_by(queries, counted_gains, len(intents.queries))


@measure("D_sharp_nDCG", source=_SAKAI, aliases="D#-nDCG D#nDCG D♯-nDCG D♯nDCG Dsharp-nDCG")
def d_sharp_ndcg(
    intents: IntentRankings,
    *,
    k: int,
    gamma: float = 0.5,
    rel: float = 1,
    judged_only: bool = False,
) -> Floats:
    """`gamma` times the share of intents that the first `k` items serve (I-rec, `StRecall`), plus 1
    - `gamma` times `D_nDCG`.

    D♯-nDCG, for coverage of intents and graded relevance together:

        D_sharp_nDCG@k = gamma · StRecall@k + (1 - gamma) · D_nDCG@k

    gamma: weight of the share of intents.

    rel: lowest grade that serves an intent. judged_only: first remove items that are judged for no
    intent.

    >>> from rankwell import intent_rankings
    >>> view = intent_rankings(
    ...     {"q": {"1": {"a": 1, "b": 1}, "2": {"b": 1}}}, {"q": {"a": 3.0, "b": 2.0}}
    ... )
    >>> d_sharp_ndcg(view, k=1).tolist()
    [0.5]
    """
    view = _shown(intents, judged_only)
    served = subtopic_recall(view, k=k, rel=rel)
    return _share("gamma", gamma) * served + (1 - gamma) * d_ndcg(view, k=k)
