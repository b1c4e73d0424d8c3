"""Means over judgment groups, where several people judged the same query."""

import numpy as np

from rankwell.data.judged_rankings import GroupRankings
from rankwell.data.registry import measure
from rankwell.data.tables import Floats, ratio

_SOURCE = "trec_eval qrels_jg, Buckley 2008"


def _mean(grouped: GroupRankings, values: Floats) -> Floats:
    return ratio(grouped.sum_aspects(values), np.diff(grouped.aspect_offsets))


@measure("AP_avgjg", source=_SOURCE, aliases="map_avgjg")
def ap_over_groups(grouped: GroupRankings, *, rel: float = 1) -> Floats:
    """The mean average precision over the judgment groups; a group without an item of grade `rel`
    or more counts as 0.

    Average precision over judgment groups, for queries that several people judged:

        AP_avgjg = mean of AP over the groups

    >>> from rankwell import group_rankings
    >>> view = group_rankings(
    ...     {"q": {"ann": {"a": 1}, "bob": {"b": 1}}}, {"q": {"a": 3.0, "b": 2.0}}
    ... )
    >>> ap_over_groups(view).tolist()
    [0.75]
    """
    view = grouped.by_aspect
    hit = view.relevant(rel)
    precision = np.where(hit, view.count_so_far(hit) / view.ranks, 0.0)
    return _mean(grouped, ratio(view.sum_rows(precision), view.n_relevant(rel)))


@measure("P_avgjg", source=_SOURCE)
def precision_over_groups(grouped: GroupRankings, *, k: int, rel: float = 1) -> Floats:
    """The mean over the judgment groups of the share of the first `k` places that hold an item with
    grade `rel` or more.

    Precision over judgment groups, for queries that several people judged:

        P_avgjg@k = mean of P@k over the groups

    >>> from rankwell import group_rankings
    >>> view = group_rankings(
    ...     {"q": {"ann": {"a": 1, "b": 1}, "bob": {"b": 1}}}, {"q": {"a": 3.0, "b": 2.0}}
    ... )
    >>> precision_over_groups(view, k=2).tolist()
    [0.75]
    """
    view = grouped.by_aspect
    return _mean(grouped, view.sum_rows(view.relevant(rel) & view.within(k)) / k)


@measure("RprecMult_avgjg", source=_SOURCE, at="x", aliases="Rprec_mult_avgjg")
def r_precision_multiple_over_groups(
    grouped: GroupRankings, *, x: float = 1.0, rel: float = 1
) -> Floats:
    """The mean precision over the judgment groups, each in the first floor(x R + 0.9) places for
    its R relevant items.

    R-precision at a multiple of R over judgment groups, for queries that several people judged:

        RprecMult_avgjg@x = mean of RprecMult@x over the groups

    >>> from rankwell import group_rankings
    >>> view = group_rankings(
    ...     {"q": {"ann": {"a": 1, "b": 1}, "bob": {"b": 1}}}, {"q": {"a": 3.0, "b": 2.0}}
    ... )
    >>> r_precision_multiple_over_groups(view).tolist()
    [0.5]
    """
    view = grouped.by_aspect
    depth = np.minimum(np.floor(x * view.n_relevant(rel) + 0.9), 1 << 53).astype(np.int64)
    return _mean(grouped, ratio(view.sum_rows(view.relevant(rel) & view.within(depth)), depth))
