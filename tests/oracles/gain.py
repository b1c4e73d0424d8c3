"""Discounted cumulative gain and its relatives (Jarvelin and Kekalainen 2002; trec_eval, Buckley
2008).
"""

import math

from oracles.grading import Grades, Ranking, is_relevant, n_relevant, shown, worth_of

Gains = dict[float, float]


def gain_of(grade: float | None, *, dcg: str, gains: Gains | None, rel: float | None) -> float:
    """The gain of a grade: 0 if unjudged or below `rel`, else the entry of `gains`, else the
    formula `dcg`.

    As in trec_eval's gain_init.c a grade missing from `gains` keeps its formula's gain, and grade 0
    may be
    given one. trec_eval orders gains by the truncated difference, so gains closer than 1 may come
    out in a
    wrong ideal order there; here the order is exact.
    """
    if grade is None or (rel is not None and grade < rel):
        return 0.0
    if gains is not None and grade in gains:
        return gains[grade]
    if dcg == "log2":
        return grade
    if dcg == "exp-log2":
        return 2**grade - 1
    if dcg == "binary-log2":
        return 1.0 if grade >= (1 if rel is None else rel) else 0.0
    raise ValueError(dcg)


def discounted(values: list[float]) -> float:
    """Sum of value / log2(rank + 1)."""
    total = 0.0
    for rank, value in enumerate(values, start=1):
        total += value / math.log2(rank + 1)
    return total


def gains_of(
    ranking: Ranking, grades: Grades, *, dcg: str, gains: Gains | None, rel: float | None
) -> list[float]:
    """The gain at each rank."""
    return [gain_of(worth_of(item, grades), dcg=dcg, gains=gains, rel=rel) for item in ranking]


def ideal_gains(grades: Grades, *, dcg: str, gains: Gains | None, rel: float | None) -> list[float]:
    """The positive gains of all judged items, largest first."""
    positive = [
        gain for gain in gains_of(list(grades), grades, dcg=dcg, gains=gains, rel=rel) if gain > 0
    ]
    return sorted(positive, reverse=True)


def DCG(
    ranking: Ranking,
    grades: Grades,
    *,
    k: int | None = None,
    dcg: str = "log2",
    gains: Gains | None = None,
    rel: float | None = None,
    judged_only: bool = False,
) -> float:
    """Sum over the top k of gain / log2(rank + 1); unjudged items gain 0 (Jarvelin and Kekalainen
    2002).
    """
    top = shown(ranking, grades, judged_only)[:k]
    return discounted(gains_of(top, grades, dcg=dcg, gains=gains, rel=rel))


def IDCG(
    ranking: Ranking,
    grades: Grades,
    *,
    k: int | None = None,
    dcg: str = "log2",
    gains: Gains | None = None,
    rel: float | None = None,
    judged_only: bool = False,
) -> float:
    """DCG of the best possible top k of all judged items; neither the ranking nor `judged_only`
    matters.
    """
    return discounted(ideal_gains(grades, dcg=dcg, gains=gains, rel=rel)[:k])


def nDCG(
    ranking: Ranking,
    grades: Grades,
    *,
    k: int | None = None,
    dcg: str = "log2",
    gains: Gains | None = None,
    rel: float | None = None,
    judged_only: bool = False,
) -> float:
    """DCG over ideal DCG, both cut at k; 0 if the ideal is 0 (trec_eval ndcg and ndcg_cut; gdeval:
    exp-log2).
    """
    ideal = IDCG(ranking, grades, k=k, dcg=dcg, gains=gains, rel=rel)
    return (
        DCG(ranking, grades, k=k, dcg=dcg, gains=gains, rel=rel, judged_only=judged_only) / ideal
        if ideal > 0
        else 0.0
    )


def RnDCG(ranking: Ranking, grades: Grades, *, gains: Gains | None = None) -> float:
    """Mean of nDCG at each rank where the ideal gain changes, the drop to 0 included; 0 if no gain
    is positive.

    The end of the run is one more point if the run has at least two items more than there are
    positive gains.
    Source: trec_eval m_Rndcg.c, which returns 0 also if no grade reaches -l.
    """
    run = gains_of(ranking, grades, dcg="log2", gains=gains, rel=None)
    ideal = ideal_gains(grades, dcg="log2", gains=gains, rel=None)
    changes = [
        rank
        for rank in range(1, len(ideal) + 1)
        if rank == len(ideal) or ideal[rank] != ideal[rank - 1]
    ]
    points = [discounted(run[:rank]) / discounted(ideal[:rank]) for rank in changes]
    if ideal and len(run) > len(ideal) + 1:
        points.append(discounted(run) / discounted(ideal))
    return sum(points) / len(points) if points else 0.0


def nDCGrel(ranking: Ranking, grades: Grades, *, gains: Gains | None = None) -> float:
    """Mean over the items of positive gain of nDCG at their rank, the final DCG ratio for those not
    retrieved.

    0 if no gain is positive or the sum is not. Source: trec_eval m_ndcg_rel.c.
    """
    run = gains_of(ranking, grades, dcg="log2", gains=gains, rel=None)
    ideal = ideal_gains(grades, dcg="log2", gains=gains, rel=None)
    if not ideal:
        return 0.0
    total, found = 0.0, 0
    for rank, gain in enumerate(run, start=1):
        if gain > 0:
            found += 1
            total += discounted(run[:rank]) / discounted(ideal[:rank])
    total += (len(ideal) - found) * discounted(run) / discounted(ideal)
    return total / len(ideal) if total > 0 else 0.0


def G(ranking: Ranking, grades: Grades, *, gains: Gains | None = None) -> float:
    """Sum of gain / log2(2 + cost - gain so far) over the sum of ideal gains; 0 if no gain is
    positive.

    The cost grows at each rank by the ideal gain there, at least by 1. Source: trec_eval m_G.c.
    """
    ideal = ideal_gains(grades, dcg="log2", gains=gains, rel=None)
    if not ideal:
        return 0.0
    total, so_far, cost = 0.0, 0.0, 0.0
    for rank, gain in enumerate(
        gains_of(ranking, grades, dcg="log2", gains=gains, rel=None), start=1
    ):
        so_far += gain
        cost += max(ideal[rank - 1], 1.0) if rank <= len(ideal) else 1.0
        if gain != 0:
            total += gain / math.log2(2 + cost - so_far)
    return total / sum(ideal)


def BinG(ranking: Ranking, grades: Grades, *, rel: float = 1) -> float:
    """Mean over the relevant items of 1 / log2(2 + items above that are not relevant) (trec_eval
    m_binG.c).
    """
    relevant = n_relevant(grades, rel)
    total, above = 0.0, 0
    for item in ranking:
        if is_relevant(item, grades, rel):
            total += 1 / math.log2(2 + above)
        else:
            above += 1
    return total / relevant if relevant else 0.0


def SDCG(
    ranking: Ranking,
    grades: Grades,
    *,
    k: int,
    max_rel: float,
    min_rel: float = 0,
    dcg: str = "log2",
) -> float:
    """DCG of the grades scaled to 0..1, over the DCG of k perfect items, judged or not (C/W/L
    cwl_dcg.py).

    Grades are clipped to min_rel..max_rel first and unjudged items gain 0, as ir_measures does.
    """
    if dcg != "log2":
        raise ValueError(dcg)
    scaled = []
    for item in ranking[:k]:
        grade = worth_of(item, grades)
        clipped = min_rel if grade is None else min(max(grade, min_rel), max_rel)
        scaled.append((clipped - min_rel) / (max_rel - min_rel))
    return discounted(scaled) / discounted([1.0] * k)
