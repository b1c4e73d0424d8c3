"""Measures of sessions. A session is one list of (place of the query, rank, item), with grades by
(place, item).
"""

import math

Seen = list[tuple[int, int, str]]
Grades = dict[tuple[int, str], float]


def SessionDCG(
    ranking: Seen,
    grades: Grades,
    *,
    k: int | None = None,
    b: float = 2,
    bq: float = 4,
    discount: str = "one-plus-log",
) -> float:
    """Järvelin and others 2008; shifted-log as in the code of Jiang and Allan 2016 after Kanoulas
    and others 2011.
    """
    total = 0.0
    for place, rank, item in ranking:
        grade = max(grades.get((place, item), 0), 0)
        if k is not None and rank > k:
            continue
        if discount == "one-plus-log":
            total += grade / (1 + math.log(rank, b)) / (1 + math.log(place, bq))
        else:
            total += (2**grade - 1) / math.log(rank + b - 1, b) / math.log(place + bq - 1, bq)
    return total


def SessionRBP(
    ranking: Seen,
    grades: Grades,
    *,
    b: float,
    p: float = 0.8,
    rel: float = 1,
    max_rel: float | None = None,
    k: int | None = None,
) -> float:
    """Lipani, Carterette and Yilmaz 2019: the chance to reach a query and an item, found by walking
    there.
    """
    total = 0.0
    # The user leaves a query for the next one after its first item, its second, and so on.
    leaves = sum((b * p) ** seen * p * (1 - b) for seen in range(800))
    for place, rank, item in ranking:
        if k is not None and rank > k:
            continue
        grade = grades.get((place, item), -1.0)
        reach = leaves ** (place - 1)
        gain = (
            (1.0 if grade >= rel else 0.0)
            if max_rel is None
            else min(max(grade, 0.0) / max_rel, 1.0)
        )
        total += (1 - p) * reach * (b * p) ** (rank - 1) * gain
    return total
