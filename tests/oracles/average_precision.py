"""Average precision and its relatives (Buckley and Voorhees 2005; trec_eval, Buckley 2008)."""

import math

from oracles.grading import Grades, Ranking, hits, is_relevant, n_relevant, shown

ELEVEN_POINTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def sum_of_precisions(ranking: Ranking, grades: Grades, rel: float) -> float:
    """Sum of the precision at the rank of each relevant item in the list."""
    total, found = 0.0, 0
    for rank, item in enumerate(ranking, start=1):
        if is_relevant(item, grades, rel):
            found += 1
            total += found / rank
    return total


def sum_of_trapezoids(ranking: Ranking, grades: Grades, rel: float) -> float:
    """The loop of the Oxford buildings' compute_ap: recall steps times the mean of old and new
    precision, recall in items.
    """
    total, found, old_precision = 0.0, 0, 1.0
    for rank, item in enumerate(ranking, start=1):
        step = 1 if is_relevant(item, grades, rel) else 0
        found += step
        precision = found / rank
        total += step * (old_precision + precision) / 2
        old_precision = precision
    return total


def AP(
    ranking: Ranking,
    grades: Grades,
    *,
    k: int | None = None,
    rel: float = 1,
    judged_only: bool = False,
    denom: str = "relevant",
    area: str = "step",
) -> float:
    """Sum of precisions at the relevant items of the top k, over the relevant items; 0 if that
    number is 0.

    denom 'relevant' is trec_eval map and map_cut; 'found' counts only the relevant in the list
    (torchmetrics,
    C/W/L); 'min' is min(k, relevant), the rule of contests and sentence-transformers.
    """
    top = shown(ranking, grades, judged_only)[:k]
    relevant = n_relevant(grades, rel)
    below = {
        "relevant": relevant,
        "found": hits(top, grades, rel),
        "min": relevant if k is None else min(k, relevant),
    }[denom]
    total = sum_of_precisions if area == "step" else sum_of_trapezoids
    return total(top, grades, rel) / below if below else 0.0


def APatR(ranking: Ranking, grades: Grades, *, rel: float = 1) -> float:
    """Sum of precisions at the relevant items up to rank R, over R (MAP@R, Musgrave et al.
    2020).
    """
    relevant = n_relevant(grades, rel)
    return sum_of_precisions(ranking[:relevant], grades, rel) / relevant if relevant else 0.0


def SetAP(ranking: Ranking, grades: Grades, *, rel: float = 1, judged_only: bool = False) -> float:
    """Set precision times set recall, 0 if either has nothing to divide by (trec_eval set_map)."""
    seen = shown(ranking, grades, judged_only)
    relevant = n_relevant(grades, rel)
    if not seen or relevant == 0:
        return 0.0
    found = hits(seen, grades, rel)
    return found * found / (len(seen) * relevant)


def Yaap(ranking: Ranking, grades: Grades, *, rel: float = 1) -> float:
    """log((1 + S) / (1 + R - S)), S the sum of precisions: not 0 but -log(1 + R) for an empty
    ranking.

    Source: trec_eval m_yaap.c (Robertson's "yet another average precision").
    """
    total = sum_of_precisions(ranking, grades, rel)
    return math.log((1 + total) / (1 + n_relevant(grades, rel) - total))


def nearest(value: float) -> int:
    """C lround: halves go away from zero; value is never negative here."""
    below = math.floor(value)
    return below + 1 if value - below >= 0.5 else below


def IPrec(
    ranking: Ranking,
    grades: Grades,
    *,
    recall: float,
    rel: float = 1,
    judged_only: bool = False,
    rounding: str = "nearest",
) -> float:
    """Best precision at any rank from the c-th relevant item onward, 0 if fewer are retrieved.

    c = recall * R, rounded 'nearest' (trec_eval 10, half up) or by 'floor' of recall * R + 0.9
    (trec_eval 9,
    hence pytrec_eval and ir_measures). c = 0 looks at the whole list.
    """
    target = recall * n_relevant(grades, rel)
    needed = {"nearest": nearest(target), "floor": math.floor(target + 0.9)}[rounding]
    best, found = 0.0, 0
    for rank, item in enumerate(shown(ranking, grades, judged_only), start=1):
        if is_relevant(item, grades, rel):
            found += 1
        if found >= needed:
            best = max(best, found / rank)
    return best


def IPrecAvg(
    ranking: Ranking,
    grades: Grades,
    *,
    rel: float = 1,
    rounding: str = "nearest",
    recalls: tuple[float, ...] = ELEVEN_POINTS,
) -> float:
    """Mean of the interpolated precision over the recall levels (trec_eval 11pt_avg)."""
    total = 0.0
    for recall in recalls:
        total += IPrec(ranking, grades, recall=recall, rel=rel, rounding=rounding)
    return total / len(recalls)


def GMAP(ranking: Ranking, grades: Grades, *, rel: float = 1) -> float:
    """AP per query; its summary is the geometric mean of max(AP, 0.00001) (trec_eval gm_map,
    Robertson 2006).
    """
    return AP(ranking, grades, rel=rel)
