"""Ranks of the positives themselves: the best one's rank with its three medians, and mean ranks."""

from functools import partial
from typing import Literal

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import RANK, Measure, measure
from rankwell.data.tables import Floats, ratio
from rankwell.errors import BadUsage

Missing = Literal["last", "skip"]
Positives = Literal["best", "all"]

_SOURCE = "Hodosh, Young and Hockenmaier 2013, Framing image description as a ranking task"
_NOT_FOUND = (
    "an item that is not found ranks after the whole list, so that a longer list is a worse one"
)
_rank = partial(measure, scale=RANK, expected="linear", exempt={"unjudged tail": _NOT_FOUND})


def _last(view: JudgedRankings, missing: Missing, n_items: int | None) -> Floats:
    """The rank of what is not found, per query: one more than all items; NaN where it is skipped or
    their number is not known.
    """
    size = view.n_retrieved
    if n_items is not None:
        if (size > n_items).any():
            query = int(np.flatnonzero(size > n_items)[0])
            raise BadUsage(
                f"n_items={n_items}, and query {view.queries[query]!r} ranks {int(size[query])} "
                "items; n_items is the size of the whole collection."
            )
        size = np.full(len(size), n_items, dtype=np.int64)
    return np.where((size > 0) & (missing == "last"), size + 1.0, np.nan)


def _best(view: JudgedRankings, rel: float, last: Floats) -> Floats:
    """The rank of the first positive of each query, `last` without one; in random order (t + 1) /
    (p + 1) for p of t places.
    """
    if not view.in_random_order:
        rank = view.first_rank(view.relevant(rel))
        return np.where(np.isinf(rank), last, rank)
    hit = np.flatnonzero(view.relevant(rel))
    # A row of each query's highest tie that holds a positive, and how many positives it holds.
    _, first, positives = np.unique(view.tie_of_row[hit], return_index=True, return_counts=True)
    queries, lead = np.unique(view.query_of_row[hit][first], return_index=True)
    row, rank = hit[first][lead], last.copy()
    rank[queries] = view.above[row] + (view.tied[row] + 1) / (positives[lead] + 1)
    return rank


@_rank(
    "MedR",
    source=_SOURCE
    + (
        "; the mean of the two middle ranks: HGR, Chen and others 2020, and MMT, Gabeur and "
        "others 2020"
    ),
    summary="median",
    aliases="MedianR median_rank MdR",
)
def median_rank(
    view: JudgedRankings, *, rel: float = 1, missing: Missing = "last", n_items: int | None = None
) -> Floats:
    """The rank, from 1, of the first item with grade `rel` or more; over queries, the median, or
    the mean of the two middle ranks.

    Median rank, for where a typical query finds its first relevant item:

        MedR = median over the queries of the rank of the first relevant item

    With ties in random order, the value is the mean rank. missing: if no such item is found, the
    rank is one more than the length of the list (`last`), or the query is not counted (`skip`).
    n_items: size of the collection, used instead of the list's length for lists that are cut.
    Without it, a query with an empty list is not counted.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings(
    ...     {"q": {"b": 1}, "r": {"x": 1}}, {"q": {"a": 3.0, "b": 2.0}, "r": {"a": 1.0, "b": 0.5}}
    ... )
    >>> median_rank(view).tolist(), median_rank(view, n_items=9).tolist()
    ([2.0, 3.0], [2.0, 10.0])
    """
    return _best(view, rel, _last(view, missing, n_items))


@_rank(
    "MedRLow",
    source=_SOURCE + "; the lower middle rank: torch.median in CLIP4Clip, Luo and others 2021",
    summary="median_low",
)
def median_rank_low(
    view: JudgedRankings, *, rel: float = 1, missing: Missing = "last", n_items: int | None = None
) -> Floats:
    """As `MedR`, but the lower of the two middle ranks for an even number of queries.

    Lower median rank, for parity with CLIP4Clip:

        MedRLow = the value at place ceil(n / 2) of the n ranks in ascending order

    Parameters as for `MedR`.

    >>> from rankwell import judged_rankings
    >>> median_rank_low(judged_rankings({"q": {"b": 1}}, {"q": {"a": 3.0, "b": 2.0}})).tolist()
    [2.0]
    """
    return median_rank(view, rel=rel, missing=missing, n_items=n_items)


@_rank(
    "MedRFloor",
    source=_SOURCE + "; cut down to a whole rank: VSE++, Faghri and others 2018",
    summary="median_floor",
)
def median_rank_floor(
    view: JudgedRankings, *, rel: float = 1, missing: Missing = "last", n_items: int | None = None
) -> Floats:
    """As `MedR`, but with the median over queries rounded down to an integer.

    Median rank rounded down, for parity with VSE++:

        MedRFloor = floor(MedR)

    Parameters as for `MedR`.

    >>> from rankwell import judged_rankings
    >>> median_rank_floor(judged_rankings({"q": {"b": 1}}, {"q": {"a": 3.0, "b": 2.0}})).tolist()
    [2.0]
    """
    return median_rank(view, rel=rel, missing=missing, n_items=n_items)


def _mean_of_all(
    view: JudgedRankings, ranks: Floats, last: Floats, rel: float, missing: Missing
) -> Floats:
    """The mean of the ranks of all positives of each query; those not found rank last, or are left
    out.
    """
    hit = view.relevant(rel)
    n_found, positives = view.sum_rows(hit), view.n_relevant(rel)
    total = view.sum_rows(np.where(hit, ranks, 0.0))
    if missing == "skip":
        return np.where(n_found > 0, ratio(total, n_found), np.nan)
    n_missing = positives - n_found
    # What is not found has a rank only where the number of items is known, and that number matters
    # only where something is lost.
    mean = ratio(total + np.where(n_missing > 0, n_missing * last, 0.0), positives)
    return np.where(positives > 0, mean, last)


@_rank(
    "MnR",
    source=_SOURCE + "; of the best positive: HGR, Chen and others 2020, eval_q2m",
    aliases="MeanR mean_rank",
)
def mean_rank(
    view: JudgedRankings,
    *,
    rel: float = 1,
    of: Positives = "best",
    missing: Missing = "last",
    n_items: int | None = None,
) -> Floats:
    """The rank, from 1, of the first item with grade `rel` or more, or the mean rank of all such
    items; over queries, the mean.

    Mean rank, for where queries find their first relevant item on average:

        MnR = mean over the queries of the rank of the first relevant item

    of: the rank of the `best` relevant item, as text-to-video papers do without saying so, or the
    mean rank of `all` of them.
    missing: an item that is not found ranks after the whole list (`last`) or is left out (`skip`);
    with `skip`, a query that finds none is not counted. n_items: as for `MedR`.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings(
    ...     {"q": {"b": 1, "d": 1}}, {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    ... )
    >>> mean_rank(view).tolist(), mean_rank(view, of="all").tolist()
    ([2.0], [3.0])
    """
    last = _last(view, missing, n_items)
    if of == "all":
        ranks = (
            view.above + (view.tied + 1) / 2
            if view.in_random_order
            else view.ranks.astype(np.float64)
        )
        return _mean_of_all(view, ranks, last, rel, missing)
    return _best(view, rel, last)


_FIRST_ONLY = ("Success", "RR", "MedR", "MedRLow", "MedRFloor", "MnR")


def reads_best_only(measure: Measure) -> bool:
    """Whether a measure depends on a query's best positive, its ties and the number of positives
    only, `MnR` by its `of`.
    """
    return measure.name in _FIRST_ONLY and measure.parameters.get("of", "best") == "best"
