"""Measures that tell judged from unjudged items."""

import math

from oracles.grading import Grades, Ranking, grade_of, is_relevant, n_relevant

EPSILON = 0.00001


def Bpref(ranking: Ranking, grades: Grades, *, rel: float = 1) -> float:
    """Mean over the R relevant items of 1 - min(b, R) / min(N, R), b the judged non-relevant items
    above.

    N counts all judged non-relevant items; the term is 1 if b is 0, and 0 for an item not
    retrieved. Unjudged
    items are skipped. Source: Buckley and Voorhees 2004 as corrected in trec_eval (bpref_bug,
    m_bpref.c).
    """
    relevant = n_relevant(grades, rel)
    nonrelevant = len(grades) - relevant
    total, above = 0.0, 0
    for item in ranking:
        if grade_of(item, grades) is None:
            continue
        if not is_relevant(item, grades, rel):
            above += 1
        elif above == 0:
            total += 1
        else:
            total += 1 - min(above, relevant) / min(nonrelevant, relevant)
    return total / relevant if relevant else 0.0


def GMBpref(ranking: Ranking, grades: Grades, *, rel: float = 1) -> float:
    """Bpref per query; its summary is the geometric mean of max(Bpref, 0.00001) (trec_eval
    gm_bpref).
    """
    return Bpref(ranking, grades, rel=rel)


def infAP(ranking: Ranking, grades: Grades, *, rel: float = 1) -> float:
    """Mean over the R relevant items of the precision expected there if only a sample of the pool
    is judged.

    At rank j + 1 it is 1/(j+1) + j/(j+1) * (pooled above)/j * (relevant above + e)/(judged above +
    2e), e = 0.00001,
    and 1 at rank 1. Pooled are the judged and those of negative grade. Source: Yilmaz and Aslam
    2006 (m_infap.c).
    """
    relevant = n_relevant(grades, rel)
    total, found, other, unjudged = 0.0, 0, 0, 0
    for above, item in enumerate(ranking):
        if item not in grades:
            continue
        if grades[item] < 0:
            unjudged += 1
        elif grades[item] < rel:
            other += 1
        else:
            total += 1 / (above + 1)
            if above > 0:
                in_pool = (found + other + unjudged) / above
                good = (found + EPSILON) / (found + other + 2 * EPSILON)
                total += above / (above + 1) * in_pool * good
            found += 1
    return total / relevant if relevant else 0.0


def Judged(ranking: Ranking, grades: Grades, *, k: int | None = None) -> float:
    """Share of the retrieved top k that is judged, over min(k, retrieved); 0 if nothing is
    retrieved.

    ir_measures fails on an empty list.
    """
    top = ranking[:k]
    judged = 0
    for item in top:
        if grade_of(item, grades) is not None:
            judged += 1
    return judged / len(top) if top else 0.0


def Unj(ranking: Ranking, grades: Grades, *, k: int) -> float:
    """Unjudged items in the top k over k; ranks that are missing count as judged (trec_eval 10
    unj).
    """
    unjudged = 0
    for item in ranking[:k]:
        if grade_of(item, grades) is None:
            unjudged += 1
    return unjudged / k


def Accuracy(ranking: Ranking, grades: Grades, *, k: int | None = None, rel: float = 1) -> float:
    """Share of the pairs (relevant, other) in the top k that have the relevant item first.

    Unjudged items are others. NaN, so not counted, if the top k lacks one of the two kinds:
    ir_measures 0.4.3
    leaves out a query without a relevant item there and fails on one without others.
    """
    found, other, ordered = 0, 0, 0
    for item in ranking[:k]:
        if is_relevant(item, grades, rel):
            found += 1
        else:
            other += 1
            ordered += found
    return ordered / (found * other) if found and other else math.nan
