"""Ranks of the positives (HGR's eval_q2m, Chen and others 2020; Hodosh, Young and Hockenmaier
2013).
"""

import math

from oracles.grading import Grades, Ranking, is_relevant


def MedR(
    ranking: Ranking,
    grades: Grades,
    *,
    rel: float = 1,
    missing: str = "last",
    n_items: int | None = None,
) -> float:
    """The rank of the first relevant item; n + 1 without one, n being the items of the collection
    where they are told.
    """
    for rank, item in enumerate(ranking, start=1):
        if is_relevant(item, grades, rel):
            return float(rank)
    return _after_all(ranking, missing, n_items)


def _after_all(ranking: Ranking, missing: str, n_items: int | None) -> float:
    size = len(ranking) if n_items is None else n_items
    if missing == "skip" or size == 0:
        return math.nan
    return float(size + 1)


def MedRLow(
    ranking: Ranking,
    grades: Grades,
    *,
    rel: float = 1,
    missing: str = "last",
    n_items: int | None = None,
) -> float:
    """As MedR, which differs in its summary."""
    return MedR(ranking, grades, rel=rel, missing=missing, n_items=n_items)


def MedRFloor(
    ranking: Ranking,
    grades: Grades,
    *,
    rel: float = 1,
    missing: str = "last",
    n_items: int | None = None,
) -> float:
    """As MedR, which differs in its summary."""
    return MedR(ranking, grades, rel=rel, missing=missing, n_items=n_items)


def MnR(
    ranking: Ranking,
    grades: Grades,
    *,
    rel: float = 1,
    of: str = "best",
    missing: str = "last",
    n_items: int | None = None,
) -> float:
    """The rank of the first relevant item, or the mean of the ranks of all relevant items, those
    not found after the list.
    """
    if of == "best":
        return MedR(ranking, grades, rel=rel, missing=missing, n_items=n_items)
    ranks = []
    for item in grades:
        if not is_relevant(item, grades, rel):
            continue
        if item in ranking:
            ranks.append(float(ranking.index(item) + 1))
        elif missing == "last":
            ranks.append(_after_all(ranking, missing, n_items))
    if not ranks:
        return _after_all(ranking, missing, n_items)
    return sum(ranks) / len(ranks)
