"""Average precision, and what is made of precision at the relevant items."""

import math
from typing import Literal

import numpy as np

from rankwell.data.judged_rankings import Depth, JudgedRankings
from rankwell.data.registry import Scale, measure
from rankwell.data.tables import Bools, Floats, Ints, ratio, sum_by
from rankwell.errors import BadUsage

Denominator = Literal["relevant", "found", "min"]
Rounding = Literal["nearest", "floor"]
Area = Literal["step", "trapezoid"]

_SOURCE = (
    "Buckley and Voorhees 2005, Retrieval system evaluation, in TREC: experiment and "
    "evaluation in information retrieval"
)
_INTERPOLATED = (
    "Manning, Raghavan and Schütze 2008, Introduction to information retrieval, section 8.4; "
    "trec_eval, Buckley 2008"
)
ELEVEN_POINTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def _precisions(
    view: JudgedRankings, rel: float, depth: Depth = None, area: Area = "step"
) -> Floats:
    """The sum of the precision at each relevant item down to the depth, per query; of trapezoids
    with that just above it.
    """
    if view.in_random_order:
        return _expected_precisions(view, rel, depth, area=area)
    hit = view.relevant(rel)
    hits_so_far = view.count_so_far(hit)
    height = hits_so_far / view.ranks
    if area == "trapezoid":
        # At the first place nothing is above, and the curve begins at 1.
        before = np.where(view.ranks > 1, (hits_so_far - 1) / np.maximum(view.ranks - 1, 1), 1.0)
        height = (height + before) / 2
    return view.sum_rows(np.where(hit & view.within(depth), height, 0.0))


def _ties(view: JudgedRankings, hit: Bools) -> tuple[Floats, Floats]:
    """The relevant items of the tie that each row belongs to, and those above that tie."""
    inside = sum_by(view.tie_of_row, hit, 0)[view.tie_of_row]
    first = np.searchsorted(view.tie_of_row, view.tie_of_row)
    return inside, (view.count_so_far(hit) - hit)[first].astype(np.float64)


def _expected_precisions(
    view: JudgedRankings,
    rel: float,
    depth: Depth,
    counted: Bools | None = None,
    area: Area = "step",
) -> Floats:
    """The mean of `_precisions` under random order of tied items (McSherry and Najork 2008), for
    the counted rows.

    A relevant item at the j-th of t tied places has above + j items to itself and those before it,
    of which the tie gives 1 + (m - 1)(j - 1)/(t - 1) relevant ones, m being its relevant items, and
    the ties above all of theirs.
    """
    hit = view.relevant(rel)
    inside, earlier = _ties(view, hit)
    share = ratio(inside - 1, view.tied - 1)
    chance_shown = view.chance_within(depth)
    inverse = view.mean_over_ties(lambda rank: 1.0 / rank, depth)
    mean = share * chance_shown + (earlier + 1 - share * (view.above + 1)) * inverse
    if area == "trapezoid":
        first = view.mean_over_ties(lambda rank: (rank == 1).astype(np.float64), depth)
        inverse = view.mean_over_ties(_inverse_of_previous, depth)
        mean = (
            mean + share * (chance_shown - first) + (earlier - share * view.above) * inverse + first
        ) / 2
    return view.sum_rows(np.where(hit if counted is None else hit & counted, mean, 0.0))


def _inverse_of_previous(rank: Ints) -> Floats:
    return np.where(rank > 1, 1.0 / np.maximum(rank - 1, 1), 0.0)


def _height_in_cut_tie(above: int, n_places: int, earlier: float, n_hits: int, area: Area) -> float:
    """The mean height at one of `found` relevant items in random order at the next `places`
    places.
    """
    share = (n_hits - 1) / (n_places - 1) if n_places > 1 else 0.0
    ranks = np.arange(above + 1, above + n_places + 1)
    height = share + (earlier + 1 - share * (above + 1)) * float((1.0 / ranks).mean())
    if area == "step":
        return height
    first = float((ranks == 1).mean())
    before = (
        share * (1 - first)
        + (earlier - share * above) * float(_inverse_of_previous(ranks).mean())
        + first
    )
    return (height + before) / 2


def _expected_over_found(view: JudgedRankings, rel: float, k: int, area: Area) -> Floats:
    """The mean of AP over what is found: both sides of the quotient vary with the relevant items of
    the tie at the cut.
    """
    hit = view.relevant(rel)
    is_whole_tie = view.above + view.tied <= k
    certain = view.sum_rows(hit & is_whole_tie)
    total = _expected_precisions(view, rel, k, is_whole_tie, area)
    value = ratio(total, certain)
    inside, _ = _ties(view, hit)
    cut = np.flatnonzero(hit & ~is_whole_tie & (view.above < k))
    for row in cut[np.diff(view.query_of_row[cut], prepend=-1) != 0].tolist():
        query, above, m = int(view.query_of_row[row]), int(view.above[row]), int(inside[row])
        n_places, tied = k - above, int(view.tied[row])
        mean = 0.0
        for n_hits in range(max(0, n_places - (tied - m)), min(m, n_places) + 1):
            chance = (
                math.comb(m, n_hits)
                * math.comb(tied - m, n_places - n_hits)
                / math.comb(tied, n_places)
            )
            height = _height_in_cut_tie(above, n_places, float(certain[query]), n_hits, area)
            mean += chance * (total[query] + n_hits * height) / max(certain[query] + n_hits, 1)
        value[query] = mean
    return value


@measure(
    "AP",
    source=_SOURCE
    + "; denom='found': torchmetrics; denom='min': sentence-transformers; area='trapezoid': "
    "compute_ap of the Oxford buildings, Philbin and others 2007",
    aliases="map map_cut average_precision mean_average_precision "
    "retrieval_average_precision(denom='found') RetrievalMAP(denom='found')",
    expected="linear",
)
def ap(
    view: JudgedRankings,
    *,
    rel: float = 1,
    judged_only: bool = False,
    denom: Denominator = "relevant",
    area: Area = "step",
    k: int | None = None,
) -> Floats:
    """The sum of precision at each item of grade `rel` or more in the first `k` places, divided by
    the number of all such items.

    Average precision, mean average precision (MAP), for the whole ranking in one number, with
    binary relevance:

        AP@k = Σ(i=1…k) rel(i) · P@i / R
        MAP = mean of AP over the queries
        rel(i): 1 if the item at rank i is relevant, else 0
        R: all relevant items

    0 if nothing is relevant. denom: divide by the number of all `relevant` items (trec_eval), of
    those `found` in the first `k` places, or by the smaller of `k` and the number of relevant items
    (`min`), so that a perfect list scores 1 at every cut-off. area: sum the precision-recall curve
    by `step` (plain AP), or by the `trapezoid` rule, which averages the precision at an item with
    the precision just above it (1 above the first place). It never gives more than plain AP.
    judged_only: remove unjudged items before counting ranks.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings(
    ...     {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    ... )
    >>> (
    ...     ap(view).round(4).tolist(),
    ...     ap(view, denom="found").round(4).tolist(),
    ...     ap(view, k=1, denom="min").tolist(),
    ... )
    ([0.5556], [0.8333], [1.0])
    >>> ap(view, area="trapezoid").round(4).tolist()
    [0.5278]
    """
    view = view.without_unjudged(judged_only)
    if denom == "found" and k is not None and view.in_random_order:
        return _expected_over_found(view, rel, k, area)
    findable = view.n_relevant(rel)
    if denom == "found":
        findable = view.sum_rows(view.relevant(rel) & view.within(k))
    elif denom == "min" and k is not None:
        findable = np.minimum(findable, k)
    return ratio(_precisions(view, rel, k, area), findable)


@measure(
    "APatR",
    source="Musgrave, Belongie and Lim 2020, A metric learning reality check",
    aliases="map_at_r mean_average_precision_at_r",
    expected="linear",
)
def ap_at_r(view: JudgedRankings, *, rel: float = 1) -> Floats:
    """The sum of precision at each relevant item in the first R places, divided by R, the number of
    relevant items; 0 if R is 0.

    Mean average precision at R, for metric learning:

        APatR = Σ(i=1…R) rel(i) · P@i / R

    >>> from rankwell import judged_rankings
    >>> ap_at_r(
    ...     judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    ... ).tolist()
    [0.5]
    """
    relevant = view.n_relevant(rel)
    return ratio(_precisions(view, rel, relevant.astype(np.int64)), relevant)


@measure(
    "SetAP",
    source="trec_eval set_map, Buckley 2008",
    aliases="set_map",
    expected="same",
    exempt={
        "unjudged tail": "it divides by the length of the list, so that a longer list is a "
        "worse one"
    },
)
def set_ap(view: JudgedRankings, *, rel: float = 1, judged_only: bool = False) -> Floats:
    """Precision times recall of the retrieved set; 0 for an empty list or if nothing is relevant.

    Set average precision, for lists that are sets, as trec_eval computes it:

        SetAP = SetP · SetR

    judged_only: remove unjudged items first.

    >>> from rankwell import judged_rankings
    >>> set_ap(judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0}})).tolist()
    [0.25]
    """
    view = view.without_unjudged(judged_only)
    return ratio(view.sum_rows(view.relevant(rel)) ** 2, view.n_retrieved * view.n_relevant(rel))


@measure(
    "Yaap",
    source="trec_eval yaap, Buckley 2008, after Robertson",
    scale=Scale((-np.inf, np.inf), unit="score"),
    aliases="yaap",
    exempt={"empty": "it falls with the number of relevant items that an empty ranking misses"},
)
def yaap(view: JudgedRankings, *, rel: float = 1) -> Floats:
    """log((1 + S) / (1 + R - S)), where S is the sum of precision at the R relevant items; -log(1 +
    R) for an empty list.

    Yet another average precision, for AP on a logarithmic scale:

        Yaap = ln((1 + S) / (1 + R - S)), S = R · AP

    For a query that the run lacks, trec_eval -c gives 0; here it has the value of an empty list.

    >>> from rankwell import judged_rankings
    >>> yaap(judged_rankings({"q": {"a": 1}}, {"q": {"a": 2.0}})).round(4).tolist()
    [0.6931]
    """
    total = _precisions(view, rel)
    return np.log((1 + total) / (1 + view.n_relevant(rel) - total))


@measure("IPrec", source=_INTERPOLATED, at="recall", aliases="iprec_at_recall")
def interpolated_precision(
    view: JudgedRankings,
    *,
    recall: float,
    rel: float = 1,
    judged_only: bool = False,
    rounding: Rounding = "nearest",
) -> Floats:
    """The highest precision at any rank where recall is at least `recall`; 0 if there is no such
    rank.

    Interpolated precision, for precision-recall curves:

        IPrec@r = max of P@i over the ranks i at which recall is at least r

    recall: the share of relevant items to reach, from 0 to 1.

    rounding: how recall · R, the number of relevant items to reach, becomes an integer: the
    `nearest` one (trec_eval 10), or the `floor` of recall · R + 0.9 (trec_eval 9 and its wrappers).
    judged_only: remove unjudged items before counting ranks.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    >>> (
    ...     interpolated_precision(view, recall=0.5).tolist(),
    ...     interpolated_precision(view, recall=1.0).round(4).tolist(),
    ... )
    ([1.0], [0.6667])
    """
    if not 0 <= recall < math.inf:
        raise BadUsage(f"recall={recall!r}; expected a number from 0.")
    view = view.without_unjudged(judged_only)
    hit, target = view.relevant(rel), recall * view.n_relevant(rel)
    n_whole = np.floor(target)
    n_needed = (
        n_whole + (target - n_whole >= 0.5) if rounding == "nearest" else np.floor(target + 0.9)
    )
    hits_so_far = view.count_so_far(hit)
    return view.max_rows(
        np.where(hit & (hits_so_far >= n_needed[view.query_of_row]), hits_so_far / view.ranks, 0.0)
    )


@measure("IPrecAvg", source=_INTERPOLATED, aliases="11pt_avg 11pt")
def interpolated_average(
    view: JudgedRankings,
    *,
    rel: float = 1,
    rounding: Rounding = "nearest",
    recalls: tuple[float, ...] = ELEVEN_POINTS,
) -> Floats:
    """The mean interpolated precision (`IPrec`) over recall levels, by default 0, 0.1, …, 1.

    11-point interpolated average precision, for the area under the interpolated precision-recall
    curve:

        IPrecAvg = mean of IPrec@r over r = 0, 0.1, … 1

    recalls: the levels of recall. rounding: as for `IPrec`.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    >>> interpolated_average(view, recalls=(0.5, 1.0)).round(4).tolist()
    [0.8333]
    """
    total = np.zeros(len(view.queries))
    for recall in recalls:
        total += interpolated_precision(view, recall=recall, rel=rel, rounding=rounding)
    return ratio(total, len(recalls))


@measure(
    "GMAP",
    source="Robertson 2006, On GMAP",
    summary="geometric",
    aliases="gm_map",
    expected="linear",
)
def gmap(view: JudgedRankings, *, rel: float = 1) -> Floats:
    """AP, summarised over queries by the geometric mean; values below 0.00001 count as 0.00001.

    Geometric mean average precision, for whether hard queries improve:

        GMAP = exp(mean of ln(max(AP, 0.00001)) over the queries)

    >>> from rankwell import judged_rankings
    >>> gmap(judged_rankings({"q": {"b": 1}}, {"q": {"a": 2.0, "b": 1.0}})).tolist()
    [0.5]
    """
    return ap(view, rel=rel)
