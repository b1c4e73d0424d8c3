"""Measures that tell judged from unjudged items, for judgments that are not complete."""

from functools import partial

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import Scale, measure
from rankwell.data.tables import Floats, position_in_segment, ratio

# trec_eval's own smoothing of infAP: without it no judged item above would be 0 / 0.
_EPSILON = 0.00001
_judged = partial(
    measure,
    scale=Scale(better="neither"),
    expected="linear",
    exempt={"unjudged tail": "it counts the unjudged items"},
)
_BPREF = (
    "Buckley and Voorhees 2004, Retrieval evaluation with incomplete information, as "
    "corrected in trec_eval"
)


@measure("Bpref", source=_BPREF, aliases="bpref")
def bpref(view: JudgedRankings, *, rel: float = 1) -> Floats:
    """The mean of 1 - min(b, R) / min(N, R) over the R relevant items, with b of the N judged
    non-relevant items above; 0 if R is 0.

    Binary preference, for incomplete judgments:

        Bpref = Σ(relevant items) (1 - min(b, R) / min(N, R)) / R
        b: judged non-relevant items above it
        N: all judged non-relevant items

    The term is 1 if b is 0, and 0 for an item that is not retrieved. Unjudged items are skipped. A
    negative grade counts as a judgment, except under trec_eval's conventions.

    >>> from rankwell import judged_rankings
    >>> truth, run = {"q": {"a": 1, "b": 1, "x": 0, "y": 0}}, {"q": {"a": 4.0, "x": 3.0, "b": 2.0}}
    >>> bpref(judged_rankings(truth, run)).tolist()
    [0.75]
    """
    relevant = view.n_relevant(rel)
    hit = view.relevant(rel)
    below = np.minimum(view.n_judged - relevant, relevant)[view.query_of_row]
    worse = np.minimum(view.count_so_far(view.is_judged & ~hit), relevant[view.query_of_row])
    return ratio(view.sum_rows(np.where(hit, 1.0 - ratio(worse, below), 0.0)), relevant)


@measure(
    "GMBpref", source=_BPREF + "; Robertson 2006, On GMAP", summary="geometric", aliases="gm_bpref"
)
def gm_bpref(view: JudgedRankings, *, rel: float = 1) -> Floats:
    """Bpref, summarised over queries by the geometric mean; values below 0.00001 count as 0.00001.

    Geometric mean binary preference, for whether hard queries improve, with incomplete judgments:

        GMBpref = exp(mean of ln(max(Bpref, 0.00001)) over the queries)

    >>> from rankwell import judged_rankings
    >>> gm_bpref(judged_rankings({"q": {"a": 1, "x": 0}}, {"q": {"a": 2.0, "x": 1.0}})).tolist()
    [1.0]
    """
    return bpref(view, rel=rel)


@measure(
    "infAP",
    source="Yilmaz and Aslam 2006, Estimating average precision with incomplete and imperfect "
    "judgments",
    exempt={
        "swap for the better": "an unjudged item of the pool is worth something above a relevant "
        "one, and nothing below it"
    },
)
def inferred_ap(view: JudgedRankings, *, rel: float = 1) -> Floats:
    """Average precision estimated from a judged sample of the pool: the mean expected precision at
    the relevant items.

    Inferred average precision, for pools of which a random sample is judged:

        infAP = Σ(relevant items at rank i) (1 + pooled · (good + ε) / (judged + 2ε)) / i / R
        pooled, judged, good: the items above that are in the pool, judged, and relevant

    Under every convention, a negative grade marks an unjudged item of the pool. 0 if nothing is
    relevant.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings(
    ...     {"q": {"a": 1, "b": 1, "x": -1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    ... )
    >>> inferred_ap(view).round(4).tolist()
    [1.0]
    """
    hit = view.relevant(rel)
    pooled = position_in_segment(view.offsets)
    judged_above = view.count_so_far(view.relevant(0)) - 1
    good = view.count_so_far(hit) - 1
    precision = (1 + pooled * (good + _EPSILON) / (judged_above + 2 * _EPSILON)) / view.ranks
    return ratio(view.sum_rows(np.where(hit, precision, 0.0)), view.n_relevant(rel))


@_judged("Judged", source="ir_measures, MacAvaney, Macdonald and Ounis 2022", aliases="judged")
def judged_share(view: JudgedRankings, *, k: int | None = None) -> Floats:
    """The share of judged items among the first `k` items, or among all items of a shorter list; 0
    for an empty list.

    Share of judged items, for whether the judgments cover a run:

        Judged@k = (judged items in the first k places) / (places of the list, k at most)

    A negative grade counts as a judgment, except under trec_eval's conventions.

    >>> from rankwell import judged_rankings
    >>> judged_share(judged_rankings({"q": {"a": 0}}, {"q": {"a": 2.0, "b": 1.0}}), k=10).tolist()
    [0.5]
    """
    return ratio(view.sum_rows(view.is_judged * view.share_within(k)), view.list_length(k))


@_judged("Unj", source="trec_eval 10 unj, 2026", aliases="unj")
def unjudged_share(view: JudgedRankings, *, k: int) -> Floats:
    """The number of unjudged items in the first `k` places, divided by `k`, even if the list is
    shorter.

    Share of unjudged items, for whether the judgments cover a run:

        Unj@k = (unjudged items in the first k places) / k

    >>> from rankwell import judged_rankings
    >>> unjudged_share(judged_rankings({"q": {"a": 0}}, {"q": {"a": 2.0, "b": 1.0}}), k=10).tolist()
    [0.1]
    """
    return (view.list_length(k) - view.sum_rows(view.is_judged * view.share_within(k))) / k


@measure(
    "Accuracy",
    source="ir_measures, MacAvaney, Macdonald and Ounis 2022",
    scale=Scale(empty=float("nan")),
    aliases="pairwise_accuracy",
    exempt={
        "unjudged tail": "an unjudged item below a relevant one is one more pair in the right "
        "order",
        "swap for the better": "a relevant item that comes in from below the cut-off brings pairs "
        "of its own, most of them lost",
    },
)
def pairwise_accuracy(view: JudgedRankings, *, rel: float = 1, k: int | None = None) -> Floats:
    """The share of pairs of a relevant and a non-relevant item in the first `k` places in which the
    relevant one ranks higher.

    Pairwise accuracy, for rerankers of a fixed set of candidates:

        Accuracy@k = (pairs with the relevant item first) / (pairs of a relevant and another item)

    Unjudged items count as non-relevant. A query without both kinds of items is not counted.

    >>> from rankwell import judged_rankings
    >>> pairwise_accuracy(
    ...     judged_rankings({"q": {"a": 1}}, {"q": {"x": 3.0, "a": 2.0, "y": 1.0}})
    ... ).tolist()
    [0.5]
    """
    hit = view.relevant(rel) & view.within(k)
    n_hits, n_items = view.sum_rows(hit), view.list_length(k)
    later = (n_items - n_hits)[view.query_of_row] - (view.ranks - view.count_so_far(hit))
    pairs = n_hits * (n_items - n_hits)
    in_order = view.sum_rows(np.where(hit, later, 0.0))
    return np.where(pairs > 0, ratio(in_order, pairs), np.nan)
