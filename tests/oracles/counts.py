"""Counts per query; their summary is a sum over queries, not a mean (trec_eval, Buckley 2008)."""

from oracles.grading import Grades, Ranking, grade_of, hits, n_relevant


def NumQ(ranking: Ranking, grades: Grades) -> float:
    """One per query."""
    return 1.0


def NumRet(
    ranking: Ranking, grades: Grades, *, k: int | None = None, rel: float | None = None
) -> float:
    """Retrieved items in the top k; with `rel` only those judged at least `rel` (ir_measures
    0.4.3).
    """
    top = ranking[:k]
    if rel is None:
        return float(len(top))
    return float(hits(top, grades, rel))


def NumRel(ranking: Ranking, grades: Grades, *, rel: float = 1) -> float:
    """Relevant judged items, retrieved or not (trec_eval num_rel; its -c total ignores -l, this
    does not).
    """
    return float(n_relevant(grades, rel))


def NumRelRet(ranking: Ranking, grades: Grades, *, rel: float = 1) -> float:
    """Relevant items retrieved (trec_eval num_rel_ret)."""
    return float(hits(ranking, grades, rel))


def NumNonrelJudgedRet(ranking: Ranking, grades: Grades, *, rel: float = 1) -> float:
    """Retrieved items judged below `rel`; unjudged and negative grades do not count (trec_eval)."""
    count = 0
    for item in ranking:
        grade = grade_of(item, grades)
        if grade is not None and grade < rel:
            count += 1
    return float(count)
