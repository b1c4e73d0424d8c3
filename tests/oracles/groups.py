"""Means over judgment groups: several people judged the query, `grades` maps group to item to
grade.

A group without relevant items counts as 0; a query without groups is 0 (trec_eval qrels_jg, Buckley
2008).
"""

from oracles import average_precision, precision
from oracles.grading import Grades, Ranking

Groups = dict[str, Grades]


def mean(values: list[float]) -> float:
    """Mean, 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def AP_avgjg(ranking: Ranking, grades: Groups, *, rel: float = 1) -> float:
    """Mean over the groups of AP (trec_eval map_avgjg)."""
    return mean([average_precision.AP(ranking, one, rel=rel) for one in grades.values()])


def P_avgjg(ranking: Ranking, grades: Groups, *, k: int, rel: float = 1) -> float:
    """Mean over the groups of P at k (trec_eval P_avgjg)."""
    return mean([precision.P(ranking, one, k=k, rel=rel) for one in grades.values()])


def RprecMult_avgjg(ranking: Ranking, grades: Groups, *, x: float = 1.0, rel: float = 1) -> float:
    """Mean over the groups of the precision at floor(x R + 0.9), R of that group (trec_eval
    Rprec_mult_avgjg).
    """
    return mean([precision.RprecMult(ranking, one, x=x, rel=rel) for one in grades.values()])
