"""Precision, recall and set measures (Van Rijsbergen 1979; trec_eval, Buckley 2008)."""

import math

from oracles.grading import Grades, Ranking, hits, n_relevant, shown


def P(
    ranking: Ranking,
    grades: Grades,
    *,
    k: int,
    rel: float = 1,
    judged_only: bool = False,
    denom: str = "cutoff",
) -> float:
    """Relevant in the top k over k, or with denom 'retrieved' over min(k, retrieved); 0 for an
    empty list.

    denom 'last' is revisitop's mP@k: k gives way to the rank of the last relevant item where that
    is smaller.
    """
    seen = shown(ranking, grades, judged_only)
    if denom == "last" and 0 < hits(seen, grades, rel) == n_relevant(grades, rel):
        while hits(seen[:-1], grades, rel) == n_relevant(grades, rel):
            seen = seen[:-1]
        k = min(k, len(seen))
    top = seen[:k]
    below = {"cutoff": k, "retrieved": len(top), "last": k}[denom]
    return hits(top, grades, rel) / below if below else 0.0


def R(
    ranking: Ranking,
    grades: Grades,
    *,
    k: int | None = None,
    rel: float = 1,
    judged_only: bool = False,
    denom: str = "relevant",
) -> float:
    """Relevant in the top k over all relevant, 0 if there are none.

    denom 'min' divides by min(k, relevant): trec_eval relative_P, BEIR R_cap; without k it is the
    same.
    """
    relevant = n_relevant(grades, rel)
    if relevant == 0:
        return 0.0
    found = hits(shown(ranking, grades, judged_only)[:k], grades, rel)
    below = {"relevant": relevant, "min": relevant if k is None else min(k, relevant)}[denom]
    return found / below


def Success(
    ranking: Ranking, grades: Grades, *, k: int, rel: float = 1, judged_only: bool = False
) -> float:
    """1 if the top k holds a relevant item, else 0 (trec_eval success)."""
    return 1.0 if hits(shown(ranking, grades, judged_only)[:k], grades, rel) > 0 else 0.0


def F(
    ranking: Ranking, grades: Grades, *, k: int | None = None, rel: float = 1, beta: float = 1.0
) -> float:
    """Van Rijsbergen's F of precision and recall in the top k, recall beta times as important (ranx
    f1 for beta 1).

    Without k precision is over the whole list; 0 if nothing relevant is found.
    """
    found = hits(ranking[:k], grades, rel)
    if found == 0:
        return 0.0
    precision = found / (len(ranking) if k is None else k)
    recall = found / n_relevant(grades, rel)
    return (1 + beta * beta) * precision * recall / (beta * beta * precision + recall)


def Rprec(ranking: Ranking, grades: Grades, *, rel: float = 1, judged_only: bool = False) -> float:
    """Precision at rank R, R being the number of relevant items; 0 if R is 0 (Buckley and Voorhees
    2005).
    """
    relevant = n_relevant(grades, rel)
    if relevant == 0:
        return 0.0
    return hits(shown(ranking, grades, judged_only)[:relevant], grades, rel) / relevant


def RprecMult(ranking: Ranking, grades: Grades, *, x: float = 1.0, rel: float = 1) -> float:
    """Precision at rank floor(x R + 0.9), 0 if that rank is 0 (trec_eval Rprec_mult, same rule in
    v9 and v10).
    """
    rank = math.floor(x * n_relevant(grades, rel) + 0.9)
    return hits(ranking[:rank], grades, rel) / rank if rank else 0.0


def RprecCut(
    ranking: Ranking, grades: Grades, *, k: int, rel: float = 1, without_hits: str = "zero"
) -> float:
    """Hits in the first min(k, R) over R; NaN without a hit, which the mean skips (recommenders
    1.2.1, r_precision_at_k).
    """
    relevant = n_relevant(grades, rel)
    found = hits(ranking[: min(k, relevant)], grades, rel)
    if not found:
        return math.nan if without_hits == "skip" else 0.0
    return found / relevant


def SetP(
    ranking: Ranking,
    grades: Grades,
    *,
    rel: float = 1,
    relative: bool = False,
    judged_only: bool = False,
    k: int | None = None,
) -> float:
    """Relevant retrieved over retrieved; `relative` divides by min(retrieved, R) instead
    (set_relative_P).
    """
    seen = shown(ranking, grades, judged_only)[:k]
    below = min(len(seen), n_relevant(grades, rel)) if relative else len(seen)
    return hits(seen, grades, rel) / below if below else 0.0


def SetR(ranking: Ranking, grades: Grades, *, rel: float = 1, k: int | None = None) -> float:
    """Relevant retrieved over relevant, 0 if there are none (trec_eval set_recall)."""
    relevant = n_relevant(grades, rel)
    return hits(ranking[:k], grades, rel) / relevant if relevant else 0.0


def Fallout(
    ranking: Ranking, grades: Grades, *, n_items: int, rel: float = 1, k: int | None = None
) -> float:
    """Items retrieved and not relevant, over all that are not relevant (van Rijsbergen 1979,
    chapter 7).
    """
    top = ranking[:k]
    others = n_items - n_relevant(grades, rel)
    return (len(top) - hits(top, grades, rel)) / others if others else 0.0


def SetF(
    ranking: Ranking,
    grades: Grades,
    *,
    rel: float = 1,
    beta: float = 1.0,
    judged_only: bool = False,
    k: int | None = None,
) -> float:
    """(beta + 1) P R / (beta P + R), 0 if nothing relevant is retrieved.

    beta weighs linearly, as trec_eval set_F and ir_measures do: it is not Van Rijsbergen's beta
    squared.
    """
    seen = shown(ranking, grades, judged_only)[:k]
    found = hits(seen, grades, rel)
    if found == 0:
        return 0.0
    precision = found / len(seen)
    recall = found / n_relevant(grades, rel)
    return (beta + 1) * precision * recall / (beta * precision + recall)


def Utility(
    ranking: Ranking,
    grades: Grades,
    *,
    a: float = 1.0,
    b: float = -1.0,
    c: float = 0.0,
    d: float = 0.0,
    rel: float = 1,
    n_items: int = 0,
) -> float:
    """a, b times the relevant and other items retrieved plus c, d times those not retrieved
    (trec_eval utility).

    n_items is the size of the collection (trec_eval -N, default 0 there too); only d looks at it.
    For an empty ranking this is c R + d (n_items - R); trec_eval 10 -c forces 0 there, equal for
    the defaults.
    """
    found = hits(ranking, grades, rel)
    other = len(ranking) - found
    missed = n_relevant(grades, rel) - found
    return a * found + b * other + c * missed + d * (n_items - found - other - missed)
