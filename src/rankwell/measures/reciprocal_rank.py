"""Reciprocal rank: how soon the first relevant item comes."""

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import measure
from rankwell.data.tables import Floats


def _expected_rr(
    view: JudgedRankings, *, rel: float = 1, judged_only: bool = False, k: int | None = None
) -> Floats:
    """The mean over the places that the first relevant item may take in the first tie that holds
    one.
    """
    view = view.without_unjudged(judged_only)
    hit = np.flatnonzero(view.relevant(rel))
    _, first, relevant = np.unique(view.tie_of_row[hit], return_index=True, return_counts=True)
    owner, lead = np.unique(view.query_of_row[hit][first], return_index=True)
    value = np.zeros(len(view.queries))
    for query, row, m in zip(
        owner.tolist(), hit[first][lead].tolist(), relevant[lead].tolist(), strict=True
    ):
        above, n_tied = int(view.above[row]), int(view.tied[row])
        place_in_tie = np.arange(1, n_tied - m + 2)
        # Among t tied items the first of m relevant ones has place j with chance p(j): p(1) = m / t
        # and
        # p(j + 1) = p(j) (t - m - j + 1) / (t - j).
        missed = (n_tied - m + 1 - place_in_tie[:-1]) / (n_tied - place_in_tie[:-1])
        chance = m / n_tied * np.cumprod(np.concatenate([[1.0], missed]))
        places_within = place_in_tie if k is None else place_in_tie[above + place_in_tie <= k]
        value[query] = (chance[: len(places_within)] / (above + places_within)).sum()
    return value


@measure(
    "RR",
    source="Voorhees 1999, The TREC-8 question answering track report",
    aliases="recip_rank mrr MRR recip_rank_cut reciprocal_rank mean_reciprocal_rank "
    "retrieval_reciprocal_rank RetrievalMRR",
    expected=_expected_rr,
)
def rr(
    view: JudgedRankings, *, rel: float = 1, judged_only: bool = False, k: int | None = None
) -> Floats:
    """One over the rank of the first item with grade `rel` or more; 0 if none is in the first `k`
    places.

    Reciprocal rank, mean reciprocal rank (MRR), for tasks with one right answer, where only the
    first hit counts:

        RR = 1 / (rank of the first relevant item), 0 if there is none
        MRR = mean of RR over the queries

    judged_only: remove unjudged items before counting ranks.

    >>> from rankwell import judged_rankings
    >>> rr(judged_rankings({"q": {"b": 1}}, {"q": {"a": 3.0, "b": 2.0}})).tolist()
    [0.5]
    """
    view = view.without_unjudged(judged_only)
    return 1.0 / view.first_rank(view.relevant(rel) & view.within(k))
