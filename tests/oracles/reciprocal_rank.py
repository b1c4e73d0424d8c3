"""Reciprocal rank (Kantor and Voorhees 2000)."""

from oracles.grading import Grades, Ranking, is_relevant, shown


def RR(
    ranking: Ranking,
    grades: Grades,
    *,
    k: int | None = None,
    rel: float = 1,
    judged_only: bool = False,
) -> float:
    """1 over the rank of the first relevant item, 0 if the top k holds none (trec_eval recip_rank;
    MS MARCO).
    """
    for rank, item in enumerate(shown(ranking, grades, judged_only)[:k], start=1):
        if is_relevant(item, grades, rel):
            return 1 / rank
    return 0.0
