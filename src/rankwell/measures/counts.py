"""Counts per query, summed over queries: how much was asked, found and judged."""

from functools import partial

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import COUNT, Scale, measure
from rankwell.data.tables import Floats

_SOURCE = "trec_eval, Buckley 1991-2008"
_count = partial(measure, source=_SOURCE, scale=COUNT, summary="sum", expected="same")


@_count("NumQ", scale=Scale((1.0, 1.0), better="neither", unit="count", empty=1.0), aliases="num_q")
def num_q(view: JudgedRankings) -> Floats:
    """1 for every query, even one without a ranking.

    Number of queries, for how many queries count:

        NumQ = 1 for each query, added up

    >>> from rankwell import judged_rankings
    >>> num_q(judged_rankings({"q": {"a": 1}, "r": {}}, {"q": {"a": 2.0}})).tolist()
    [1.0, 1.0]
    """
    return np.ones(len(view.queries))


@_count(
    "NumRet",
    source=_SOURCE + "; with rel: ir_measures, MacAvaney 2022",
    aliases="num_ret hits(rel=1)",
    expected="linear",
    exempt={"unjudged tail": "it counts what is in the list, whatever it is"},
)
def num_ret(view: JudgedRankings, *, rel: float | None = None, k: int | None = None) -> Floats:
    """Number of items in the first `k` places; with `rel`, only those of grade `rel` or more, which
    ranx calls hits.

    Number of retrieved items, for how long the lists are:

        NumRet = n, added up over the queries

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> num_ret(view).tolist(), num_ret(view, rel=1, k=2).tolist()
    ([3.0], [1.0])
    """
    if rel is None:
        return view.list_length(k).astype(np.float64)
    return view.sum_rows(view.relevant(rel) * view.share_within(k))


@_count(
    "NumRel", aliases="num_rel", exempt={"empty": "what is relevant does not depend on the ranking"}
)
def num_rel(view: JudgedRankings, *, rel: float = 1) -> Floats:
    """Number of items judged with grade `rel` or more, retrieved or not, even for a query without a
    ranking.

    Number of relevant items, for how much there is to find:

        NumRel = R, added up over the queries

    With -c, trec_eval's total counts every grade above 0 even if -l asks for more; this measure
    never does.

    >>> from rankwell import judged_rankings
    >>> num_rel(judged_rankings({"q": {"a": 1, "b": 2, "c": 0}}, {"q": {"a": 1.0}})).tolist()
    [2.0]
    """
    return view.n_relevant(rel)


@_count("NumRelRet", scale=COUNT._replace(better="higher"), aliases="num_rel_ret")
def num_rel_ret(view: JudgedRankings, *, rel: float = 1) -> Floats:
    """Number of retrieved items with grade `rel` or more.

    Number of relevant items retrieved, for how much was found at any depth:

        NumRelRet = hits(n), added up over the queries

    >>> from rankwell import judged_rankings
    >>> num_rel_ret(judged_rankings({"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "c": 1.0}})).tolist()
    [1.0]
    """
    return view.sum_rows(view.relevant(rel))


@_count("NumNonrelJudgedRet", aliases="num_nonrel_judged_ret")
def num_nonrel_judged_ret(view: JudgedRankings, *, rel: float = 1) -> Floats:
    """Number of retrieved items judged with a grade below `rel`; unjudged items do not count.

    Number of retrieved items judged not relevant, for how many mistakes are certain:

        NumNonrelJudgedRet = retrieved items with a grade below rel, added up over the queries

    >>> from rankwell import judged_rankings
    >>> num_nonrel_judged_ret(
    ...     judged_rankings({"q": {"a": 1, "b": 0}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    ... ).tolist()
    [1.0]
    """
    return view.sum_rows(view.is_judged & ~view.relevant(rel))
