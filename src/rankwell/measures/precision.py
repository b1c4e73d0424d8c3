"""Precision and recall at a cut-off and of the whole list, and what is made of the two."""

import math
from functools import partial
from typing import Literal

import numpy as np

from rankwell.data.judged_rankings import Depth, JudgedRankings
from rankwell.data.registry import Scale, measure
from rankwell.data.tables import Floats, Ints, ratio
from rankwell.errors import BadUsage

_linear = partial(measure, expected="linear")
_CRANFIELD = (
    "Cleverdon, Mills and Keen 1966, Factors determining the performance of indexing systems"
)
_SETS = "van Rijsbergen 1979, Information Retrieval, chapter 7"
_LENGTH = {
    "unjudged tail": "it divides by the length of the list, so that a longer list is a worse one"
}


def _found(view: JudgedRankings, rel: float, depth: Depth = None) -> Floats:
    return view.sum_rows(view.relevant(rel) * view.share_within(depth))


PlacesRule = Literal["cutoff", "retrieved", "last"]


def _last_relevant(view: JudgedRankings, rel: float, k: int) -> Ints:
    """The rank of the last relevant item of each query, `k` at most; `k` where one is not retrieved
    or there is none.
    """
    is_relevant = view.relevant(rel)
    last = view.max_rows(np.where(is_relevant, view.ranks, 0.0))
    all_found = (view.sum_rows(is_relevant) == view.n_relevant(rel)) & (last > 0)
    return np.where(all_found, np.minimum(last, k), k).astype(np.int64)


def _expected_to_last(view: JudgedRankings, rel: float, k: int) -> Floats:
    """The mean of P@min(k, rank of the last relevant item): the last one is the last of the m in
    the lowest tie of t places.

    It is at the j-th of them with chance C(j - 1, m - 1) / C(t, m); if it lies beyond the cut, `k`
    places count.
    """
    value = _found(view, rel, k) / k
    is_relevant = view.relevant(rel)
    lowest = np.full(len(view.queries), -1, dtype=np.int64)
    np.maximum.at(lowest, view.query_of_row[is_relevant], np.flatnonzero(is_relevant))
    all_found = (view.sum_rows(is_relevant) == view.n_relevant(rel)) & (lowest >= 0)
    for query in np.flatnonzero(all_found).tolist():
        row = int(lowest[query])
        above, tied = int(view.above[row]), int(view.tied[row])
        m = int((is_relevant & (view.tie_of_row == view.tie_of_row[row])).sum())
        relevant, arrangements = float(view.n_relevant(rel)[query]), math.comb(tied, m)
        for place_in_tie in range(m, min(tied, k - above) + 1):
            # Here all relevant items stand above the cut: their share of k places gives way to that
            # of the places up to them.
            chance = math.comb(place_in_tie - 1, m - 1) / arrangements
            value[query] += chance * (relevant / (above + place_in_tie) - relevant / k)
    return value


@_linear(
    "P",
    source=_CRANFIELD
    + "; denom='retrieved': torchmetrics adaptive_k, Detlefsen and others 2022; denom='last': "
    "revisitop, Radenović and others 2018",
    aliases="precision precision_at retrieval_precision RetrievalPrecision",
)
def precision_at(
    view: JudgedRankings,
    *,
    k: int,
    rel: float = 1,
    judged_only: bool = False,
    denom: PlacesRule = "cutoff",
) -> Floats:
    """The number of items with grade `rel` or more in the first `k` places, divided by `k`, even if
    the list is shorter.

    Precision at k, for how many of the first results are good:

        P@k = hits(k) / k
        hits(k): the relevant items in the first k places

    denom: `retrieved` divides by the length of the list if that is less than `k`; `last` divides by
    the rank of the last relevant item if all are retrieved and that rank is less than `k`, so that
    a perfect list scores 1 at every cut-off. judged_only: remove unjudged items before counting
    places.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 1, "c": 1}}, {"q": {"a": 3.0, "b": 2.0}})
    >>> precision_at(view, k=5).tolist(), precision_at(view, k=5, denom="retrieved").tolist()
    ([0.2], [0.5])
    >>> view = judged_rankings({"q": {"a": 1, "c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> precision_at(view, k=10, denom="last").round(4).tolist()
    [0.6667]
    """
    view = view.without_unjudged(judged_only)
    if denom == "last" and view.in_random_order:
        return _expected_to_last(view, rel, k)
    if denom == "last":
        depth = _last_relevant(view, rel, k)
        return ratio(_found(view, rel, depth), depth)
    return ratio(_found(view, rel, k), k if denom == "cutoff" else view.list_length(k))


@_linear(
    "R",
    source=_CRANFIELD
    + "; denom='min': trec_eval relative_P, Buckley 2008, and BEIR R_cap, Thakur and others 2021",
    aliases="recall recall_at retrieval_recall RetrievalRecall relative_P(denom='min') "
    "R_cap(denom='min') recall_cap(denom='min') cap_recall(denom='min')",
)
def recall(
    view: JudgedRankings,
    *,
    rel: float = 1,
    judged_only: bool = False,
    denom: Literal["relevant", "min"] = "relevant",
    k: int | None = None,
) -> Floats:
    """The share of all items with grade `rel` or more that are in the first `k` places; 0 if there
    are none.

    Recall at k, for how much of what is relevant is found:

        R@k = hits(k) / R
        hits(k): the relevant items in the first k places
        R: all relevant items

    denom: `min` divides by `k` if more than `k` items are relevant, so that a perfect list scores 1
    at every cut-off.
    judged_only: remove unjudged items before counting places.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    >>> recall(view, k=1).tolist(), recall(view, k=1, denom="min").tolist(), recall(view).tolist()
    ([0.5], [1.0], [1.0])
    """
    view = view.without_unjudged(judged_only)
    relevant = view.n_relevant(rel)
    if denom == "min" and k is not None:
        relevant = np.minimum(relevant, k)
    return ratio(_found(view, rel, k), relevant)


def _expected_success(
    view: JudgedRankings, *, k: int, rel: float = 1, judged_only: bool = False
) -> Floats:
    view = view.without_unjudged(judged_only)
    hit = np.flatnonzero(view.relevant(rel))
    group, tied = view.tie_of_row[hit], view.tied[hit]
    # Within a tie of t items that has s places above the cut, the i-th of its relevant items (from
    # 0) misses all of them with chance (t - s - i) / (t - i), given that those before it do.
    above_cut = np.clip(k - view.above[hit], 0, tied)
    index = np.arange(len(hit)) - np.searchsorted(group, group)
    missed = np.ones(len(view.queries))
    np.multiply.at(
        missed, view.query_of_row[hit], np.maximum(tied - above_cut - index, 0) / (tied - index)
    )
    return 1.0 - missed


@measure(
    "Success",
    source="trec_eval success, Buckley 2008; cmc, the cumulative match characteristic: Gray, "
    "Brennan and Tao 2007 (VIPeR)",
    aliases="hit_rate hitrate hit_rate_at cmc accuracy accuracy_at top_k_accuracy "
    "retrieval_hit_rate RetrievalHitRate",
    expected=_expected_success,
)
def success(view: JudgedRankings, *, k: int, rel: float = 1, judged_only: bool = False) -> Floats:
    """1 if an item with grade `rel` or more is in the first `k` places, else 0.

    Success, hit rate, for whether a user finds anything at all:

        Success@k = 1 if hits(k) ≥ 1, else 0
        hits(k): the relevant items in the first k places

    judged_only: remove unjudged items before counting places.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"b": 1}}, {"q": {"a": 3.0, "b": 2.0}})
    >>> success(view, k=1).tolist(), success(view, k=2).tolist()
    ([0.0], [1.0])
    """
    return (_found(view.without_unjudged(judged_only), rel, k) > 0).astype(np.float64)


@_linear("F", source=_SETS, aliases="f1", exempt=_LENGTH)
def f_at(
    view: JudgedRankings, *, rel: float = 1, beta: float = 1.0, k: int | None = None
) -> Floats:
    """The harmonic mean of precision and recall in the first `k` places, with recall `beta` times
    as important; 0 without a hit.

    F-measure, for precision and recall in one number:

        F@k = (1 + beta²) · P · R / (beta² · P + R)
        P, R: precision and recall at k

    Precision divides by `k`, or by the length of the list if there is no cut-off.

    beta: how much recall counts compared with precision; 2 makes it twice as important. The weight
    is beta squared, as in van Rijsbergen, so `SetF` (trec_eval) gives other values unless beta is
    1.

    >>> from rankwell import judged_rankings
    >>> f_at(judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0}}), k=2).tolist()
    [0.5]
    """
    n_hits = _found(view, rel, k)
    n_items = view.n_retrieved if k is None else np.full(len(view.queries), k)
    # (1 + b^2) P R / (b^2 P + R) with P = found / shown and R = found / relevant; the bound is 0
    # only where found is.
    return ratio(
        (1 + beta**2) * n_hits, np.where(n_hits > 0, beta**2 * view.n_relevant(rel) + n_items, 0)
    )


@_linear(
    "Rprec",
    source="Buckley and Voorhees 2005, Retrieval system evaluation, in TREC: experiment and "
    "evaluation in information retrieval",
    aliases="r-precision r_precision rprecision retrieval_r_precision RetrievalRPrecision",
)
def r_precision(view: JudgedRankings, *, rel: float = 1, judged_only: bool = False) -> Floats:
    """Precision in the first R places, where R is the number of items with grade `rel` or more; 0
    if R is 0.

    R-precision, for precision without choosing a cut-off:

        Rprec = hits(R) / R
        R: all relevant items
        hits(R): those in the first R places

    judged_only: remove unjudged items before counting places.

    >>> from rankwell import judged_rankings
    >>> r_precision(
    ...     judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    ... ).tolist()
    [0.5]
    """
    view, relevant = view.without_unjudged(judged_only), view.n_relevant(rel)
    return ratio(_found(view, rel, relevant.astype(np.int64)), relevant)


@_linear("RprecMult", source="trec_eval Rprec_mult, Buckley 2008", at="x", aliases="Rprec_mult")
def r_precision_multiple(view: JudgedRankings, *, x: float = 1.0, rel: float = 1) -> Floats:
    """Precision in the first floor(x R + 0.9) places, where R is the number of relevant items; 0 if
    there are no such places.

    R-precision at a multiple of R, for precision at a depth that suits each query:

        RprecMult@x = hits(m) / m, m = floor(x · R + 0.9)

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    >>> r_precision_multiple(view, x=0.5).tolist(), r_precision_multiple(view, x=2.0).tolist()
    ([1.0], [0.5])
    """
    depth = np.minimum(np.floor(x * view.n_relevant(rel) + 0.9), 1 << 53).astype(np.int64)
    return ratio(_found(view, rel, depth), depth)


@measure(
    "RprecCut",
    source="recommenders 1.2.1, r_precision_at_k; Argyriou and others 2020, Microsoft recommenders",
    aliases="r_precision_at_k(without_hits='skip')",
)
def r_precision_cut(
    view: JudgedRankings, *, k: int, rel: float = 1, without_hits: Literal["zero", "skip"] = "zero"
) -> Floats:
    """The number of relevant items in the first min(k, R) places, divided by R, the number of all
    relevant items; 0 if R is 0.

    R-precision at a cut-off, for parity with the library recommenders:

        RprecCut@k = hits(min(k, R)) / R

    A perfect list scores less than 1 if R is above `k`. without_hits: a query without a hit there
    counts as 0 (`zero`), or is left out of the mean (`skip`), which is then higher the more queries
    fail, as in the library recommenders.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings(
    ...     {"q": {"a": 1, "b": 1}, "r": {"c": 1}}, {"q": {"a": 3.0, "b": 2.0}, "r": {"x": 1.0}}
    ... )
    >>> (
    ...     r_precision_cut(view, k=1).tolist(),
    ...     r_precision_cut(view, k=1, without_hits="skip").tolist(),
    ... )
    ([0.5, 0.0], [0.5, nan])
    """
    relevant = view.n_relevant(rel)
    n_hits = _found(view, rel, np.minimum(relevant, k).astype(np.int64))
    values = ratio(n_hits, relevant)
    return np.where(n_hits > 0, values, np.nan) if without_hits == "skip" else values


@_linear(
    "SetP",
    source=_SETS + "; trec_eval set_P and set_relative_P, Buckley 2008",
    aliases="set_P set_relative_P(relative=True)",
    exempt=_LENGTH,
)
def set_precision(
    view: JudgedRankings,
    *,
    rel: float = 1,
    relative: bool = False,
    judged_only: bool = False,
    k: int | None = None,
) -> Floats:
    """The share of the retrieved items, the first `k` at most, that have grade `rel` or more; 0 for
    an empty list.

    Set precision, for lists that are sets, as in filtering:

        SetP = hits(n) / n
        n: the number of retrieved items, k at most

    relative: divide by the number of relevant items if that is smaller, so that a perfect list
    scores 1 at every length. judged_only: remove unjudged items first.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 1}}, {"q": {"a": 3.0, "x": 2.0}})
    >>> set_precision(view).tolist(), set_precision(view, relative=True).tolist()
    ([0.5], [1.0])
    """
    view = view.without_unjudged(judged_only)
    n_items = view.list_length(k)
    return ratio(
        _found(view, rel, k), np.minimum(n_items, view.n_relevant(rel)) if relative else n_items
    )


@_linear("SetR", source=_SETS, aliases="set_recall")
def set_recall(view: JudgedRankings, *, rel: float = 1, k: int | None = None) -> Floats:
    """The share of items with grade `rel` or more that are retrieved in the first `k` places; 0 if
    there are none.

    Set recall, for lists that are sets, as in filtering:

        SetR = hits(n) / R
        n: the number of retrieved items, k at most

    >>> from rankwell import judged_rankings
    >>> set_recall(judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0}})).tolist()
    [0.5]
    """
    return ratio(_found(view, rel, k), view.n_relevant(rel))


@_linear(
    "SetF", source="trec_eval set_F, Buckley 2008, after " + _SETS, aliases="set_F", exempt=_LENGTH
)
def set_f(
    view: JudgedRankings,
    *,
    rel: float = 1,
    beta: float = 1.0,
    judged_only: bool = False,
    k: int | None = None,
) -> Floats:
    """(beta + 1) P R / (beta P + R) for the first `k` items as a set; 0 if none of them has grade
    `rel` or more.

    Set F-measure, for lists that are sets, as trec_eval computes it:

        SetF = (1 + beta) · P · R / (beta · P + R)
        P, R: SetP and SetR

    beta: weight of recall. It is linear, as in trec_eval and ir_measures; for van Rijsbergen's beta
    squared, use `F`.

    judged_only: remove unjudged items first.

    >>> from rankwell import judged_rankings
    >>> set_f(
    ...     judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0}}), beta=2.0
    ... ).tolist()
    [0.5]
    """
    view = view.without_unjudged(judged_only)
    n_hits = _found(view, rel, k)
    return ratio(
        (beta + 1) * n_hits,
        np.where(n_hits > 0, beta * view.n_relevant(rel) + view.list_length(k), 0),
    )


@_linear(
    "Fallout",
    source=_SETS,
    scale=Scale((0.0, 1.0), "lower"),
    aliases="fall_out fallout retrieval_fall_out RetrievalFallOut",
    exempt={"unjudged tail": "every further item that is not relevant counts"},
)
def fallout(view: JudgedRankings, *, n_items: int, rel: float = 1, k: int | None = None) -> Floats:
    """The share of the collection's items with a grade below `rel` that are in the first `k`
    places; 0 if there are none.

    Fall-out, for how much of what is not relevant is shown:

        Fallout@k = (items in the first k places that are not relevant) / (n_items - R)

    n_items: the size of the collection. Unjudged items count as non-relevant. Raises BadUsage if a
    query ranks or judges more items.

    >>> from rankwell import judged_rankings
    >>> fallout(
    ...     judged_rankings({"q": {"a": 1}}, {"q": {"a": 3.0, "x": 2.0, "y": 1.0}}), n_items=5
    ... ).tolist()
    [0.5]
    """
    n_known = np.maximum(view.n_retrieved, np.diff(view.judged_offsets))
    if (n_known > n_items).any():
        query = int(np.flatnonzero(n_known > n_items)[0])
        raise BadUsage(
            f"n_items={n_items}, and query {view.queries[query]!r} ranks or judges "
            f"{int(n_known[query])} items; n_items is the size of the whole collection."
        )
    return ratio(view.list_length(k) - _found(view, rel, k), n_items - view.n_relevant(rel))


@measure(
    "Utility",
    source="trec_eval utility, Buckley 2008, after Lewis 1995, The TREC-4 filtering track",
    scale=Scale((-np.inf, np.inf), unit="score"),
    aliases="utility",
    expected="same",
    exempt={"unjudged tail": "every item that is not relevant costs"},
)
def utility(
    view: JudgedRankings,
    *,
    a: float = 1.0,
    b: float = -1.0,
    c: float = 0.0,
    d: float = 0.0,
    rel: float = 1,
    n_items: int = 0,
) -> Floats:
    """The total worth of all items: `a` if relevant and retrieved, `b` if only retrieved, `c` if
    only relevant, `d` if neither.

    Utility, for filtering where hits and mistakes have a price:

        Utility = a · (relevant, retrieved) + b · (not relevant, retrieved)
                + c · (relevant, not retrieved) + d · (neither)

    a: worth of a relevant item that is retrieved. b: worth of a non-relevant item that is
    retrieved. c: worth of a relevant item that is not retrieved. d: worth of every other item.

    n_items: the size of the collection, which matters only for `d` (trec_eval -N).

    >>> from rankwell import judged_rankings
    >>> utility(
    ...     judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0}}), a=2.0
    ... ).tolist()
    [1.0]
    """
    n_hits, relevant = _found(view, rel), view.n_relevant(rel)
    n_others, missed = view.n_retrieved - n_hits, relevant - n_hits
    return a * n_hits + b * n_others + c * missed + d * (n_items - view.n_retrieved - missed)
