"""Reciprocal rank: how soon the first relevant item comes."""

from rankwell.registry import measure
from rankwell.tables import Floats
from rankwell.views.judged import JudgedRankings


@measure(
    "RR",
    source="Voorhees 1999, The TREC-8 question answering track report",
    aliases=("recip_rank", "mrr", "MRR", "recip_rank_cut"),
)
def reciprocal_rank(
    judged: JudgedRankings, *, rel: float = 1, judged_only: bool = False, k: int | None = None
) -> Floats:
    """One over the rank of the first item with grade `rel` or more; 0 if none stands in the first `k` places.

    judged_only: unjudged items are taken out before ranks are counted.

    >>> from rankwell import judged_rankings
    >>> reciprocal_rank(judged_rankings({"q": {"b": 1}}, {"q": {"a": 3.0, "b": 2.0}})).tolist()
    [0.5]
    """
    view = judged.condensed if judged_only else judged
    first = view.first_rank((view.grades >= rel) & view.within(k))
    return 1.0 / first
