"""Measures of a user who stops: RBP, ERR, the C/W/L family and compatibility.

The C/W/L family (NERR8 to INSQ, BPM) is the expected gain per item looked at (Moffat, Bailey,
Scholer and
Thomas 2017). Its weights sum to 1 over the depth looked at, which cwl-eval, and so ir_measures,
fixes at 1,000
ranks, padding short rankings with gain 0. The slow users (NERR11, INST, INSQ) have weights like 1 /
rank**2, so
that depth shows in the third decimal and is part of their definition here: `k` is the depth, None
is 1,000.
"""

import math
from collections.abc import Callable

from oracles.grading import Grades, Ranking, grade_of, worth_of

CWL_DEPTH = 1000


def RBP(
    ranking: Ranking,
    grades: Grades,
    *,
    k: int | None = None,
    p: float = 0.8,
    rel: float | None = None,
    scale: str = "grade",
    max_rel: float | None = None,
    gains: dict[float, float] | None = None,
) -> float:
    """(1 - p) times the sum over the top k of gain * p**(rank - 1) (Moffat and Zobel 2008).

    With `rel` the gain is 1 for grades of at least `rel` (ir_measures, through cwl-eval). Without
    it the gain is
    graded: scale 'grade' takes the grade as it is and may exceed 1 (ranx); 'topic' divides by the
    highest grade
    judged in the query if that exceeds 1 (trec_eval 10, default p 0.9); 'max' divides by max_rel,
    capped at 1.
    cwl-eval divides by 1 - p**1000 as well, which no p up to 0.95 shows in a double; the paper's
    rule is kept.
    `gains` replaces the gain of some grades. Under 'topic' the range is then that of the whole
    table trec_eval makes:
    the gains named, and every other grade as its own gain, whole ones up to the highest judged one
    included.
    """
    gains = gains or {}
    whole = range(int(max([0, *grades.values()])) + 1)
    table = [
        0,
        *gains.values(),
        *(grade for grade in [*grades.values(), *whole] if grade not in gains),
    ]
    lowest, highest = min(0, *gains.values(), 0), max(table)
    total = 0.0
    for rank, item in enumerate(ranking[:k], start=1):
        grade = worth_of(item, grades)
        if grade is None:
            continue
        if rel is not None:
            gain = 1.0 if grade >= rel else 0.0
        elif scale == "grade":
            gain = gains.get(grade, grade)
        elif scale == "topic":
            gain = gains.get(grade, grade)
            if lowest < 0 or highest > 1:
                gain = (gain - lowest) / (highest - lowest)
        elif scale == "max" and max_rel is not None:
            gain = min(gains.get(grade, grade) / max_rel, 1.0)
        else:
            raise ValueError(scale)
        total += gain * p ** (rank - 1)
    return (1 - p) * total


def RBPResid(
    ranking: Ranking, grades: Grades, *, k: int | None = None, p: float = 0.8, quirk: bool = False
) -> float:
    """How much RBP could still rise: p**n for the tail plus (1 - p) p**(rank - 1) for each unjudged
    item.

    n is the length of the top k; an empty ranking has residual 1. With `quirk` the value is 0 when
    nothing in the
    list is unjudged, tail included, as in trec_eval 10 (m_rbp_resid.c, default p 0.9). Source:
    Moffat and Zobel 2008.
    """
    total, unjudged = p ** len(ranking[:k]), 0
    for rank, item in enumerate(ranking[:k], start=1):
        if grade_of(item, grades) is None:
            unjudged += 1
            total += (1 - p) * p ** (rank - 1)
    return 0.0 if quirk and unjudged == 0 else total


def ERR(ranking: Ranking, grades: Grades, *, k: int | None = None) -> float:
    """Chance-weighted reciprocal rank of the item that satisfies, each with chance (2**grade - 1) /
    2**4.

    The 4 is fixed as in gdeval.pl, whatever the scale in use. Source: Chapelle et al. 2009.
    """
    total, still_reading = 0.0, 1.0
    for rank, item in enumerate(ranking[:k], start=1):
        satisfied = (2 ** (worth_of(item, grades) or 0) - 1) / 2**4
        total += still_reading * satisfied / rank
        still_reading *= 1 - satisfied
    return total


def expected_utility(
    ranking: Ranking,
    grades: Grades,
    goes_on: Callable[[int, float, float], float],
    *,
    depth: int | None,
    min_rel: float,
    max_rel: float,
) -> float:
    """Gain per item looked at, by a user who goes on past a rank with chance goes_on(rank, gain,
    gain so far).

    Grades are clipped to min_rel..max_rel and scaled to 0..1; unjudged items and missing ranks gain
    0.
    """
    depth = CWL_DEPTH if depth is None else depth
    total, looked_at, reaches, so_far = 0.0, 0.0, 1.0, 0.0
    for rank in range(1, depth + 1):
        grade = worth_of(ranking[rank - 1], grades) if rank <= len(ranking) else None
        clipped = min_rel if grade is None else min(max(grade, min_rel), max_rel)
        gain = (clipped - min_rel) / (max_rel - min_rel)
        so_far += gain
        total += reaches * gain
        looked_at += reaches
        reaches *= goes_on(rank, gain, so_far)
    return total / looked_at


def NERR8(ranking: Ranking, grades: Grades, *, k: int, max_rel: float, min_rel: float = 0) -> float:
    """Goes on with chance 1 - gain, never past k (Azzopardi, Mackenzie and Moffat 2021, equation
    8).
    """
    return expected_utility(
        ranking,
        grades,
        lambda rank, gain, so_far: 1 - gain,
        depth=k,
        min_rel=min_rel,
        max_rel=max_rel,
    )


def NERR9(ranking: Ranking, grades: Grades, *, k: int, max_rel: float, min_rel: float = 0) -> float:
    """Goes on with chance (1 - gain) rank / (rank + 1), never past k (Azzopardi et al. 2021,
    equation 9).
    """
    return expected_utility(
        ranking,
        grades,
        lambda rank, gain, so_far: (1 - gain) * rank / (rank + 1),
        depth=k,
        min_rel=min_rel,
        max_rel=max_rel,
    )


def NERR10(
    ranking: Ranking,
    grades: Grades,
    *,
    max_rel: float,
    min_rel: float = 0,
    p: float = 0.9,
    k: int | None = None,
) -> float:
    """Goes on with chance p (1 - gain) (Azzopardi et al. 2021, equation 10)."""
    return expected_utility(
        ranking,
        grades,
        lambda rank, gain, so_far: p * (1 - gain),
        depth=k,
        min_rel=min_rel,
        max_rel=max_rel,
    )


def NERR11(
    ranking: Ranking,
    grades: Grades,
    *,
    max_rel: float,
    min_rel: float = 0,
    T: float = 1.0,
    k: int | None = None,
) -> float:
    """Goes on with chance (1 - gain) ((rank + 2T - 1) / (rank + 2T))**2 (Azzopardi et al. 2021,
    equation 11).
    """
    return expected_utility(
        ranking,
        grades,
        lambda rank, gain, so_far: (1 - gain) * ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2,
        depth=k,
        min_rel=min_rel,
        max_rel=max_rel,
    )


def INST(
    ranking: Ranking,
    grades: Grades,
    *,
    max_rel: float,
    min_rel: float = 0,
    T: float = 1.0,
    k: int | None = None,
) -> float:
    """Goes on with chance ((rank + 2T - G - 1) / (rank + 2T - G))**2, G the gain so far (Bailey et
    al. 2015).
    """
    return expected_utility(
        ranking,
        grades,
        lambda rank, gain, so_far: ((rank + 2 * T - so_far - 1) / (rank + 2 * T - so_far)) ** 2,
        depth=k,
        min_rel=min_rel,
        max_rel=max_rel,
    )


def INSQ(
    ranking: Ranking,
    grades: Grades,
    *,
    max_rel: float,
    min_rel: float = 0,
    T: float = 1.0,
    k: int | None = None,
) -> float:
    """Goes on with chance ((rank + 2T - 1) / (rank + 2T))**2 (Moffat, Scholer and Thomas 2012)."""
    return expected_utility(
        ranking,
        grades,
        lambda rank, gain, so_far: ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2,
        depth=k,
        min_rel=min_rel,
        max_rel=max_rel,
    )


def BPM(
    ranking: Ranking, grades: Grades, *, k: int, max_rel: float, min_rel: float = 0, T: float = 1.0
) -> float:
    """Goes on while the gain so far is below T, never past k (static bejeweled player, Zhang et al.
    2017).
    """
    return expected_utility(
        ranking,
        grades,
        lambda rank, gain, so_far: 1.0 if so_far < T else 0.0,
        depth=k,
        min_rel=min_rel,
        max_rel=max_rel,
    )


def IFT(
    ranking: Ranking,
    grades: Grades,
    *,
    max_rel: float,
    min_rel: float = 0,
    by: str = "both",
    T: float = 2.0,
    b1: float = 0.9,
    R1: float = 1.0,
    A: float = 0.2,
    b2: float = 0.9,
    R2: float = 1.0,
    k: int | None = None,
) -> float:
    """Goes on by the goal, by the rate, or by both (Azzopardi, Thomas and Craswell 2018, equations
    4 and 5).
    """

    def goes_on(rank: int, gain: float, so_far: float) -> float:
        goal = 1 - 1 / (1 + b1 * math.e ** ((T - so_far) * R1))
        rate = 1 / (1 + b2 * math.e ** ((A - so_far / rank) * R2))
        return {"goal": goal, "rate": rate, "both": goal * rate}[by]

    return expected_utility(ranking, grades, goes_on, depth=k, min_rel=min_rel, max_rel=max_rel)


def TBG(
    ranking: Ranking,
    grades: Grades,
    *,
    max_rel: float,
    min_rel: float = 0,
    h: float = 224.0,
    seconds: float = 1.0,
    k: int | None = None,
) -> float:
    """Weighs an item by the decay 2**(-t / h) at the time at which it is reached (Smucker and
    Clarke 2012; cwl_eval).
    """
    decay = [2 ** (-seconds * place / h) for place in range(CWL_DEPTH if k is None else k)]
    total = 0.0
    for weight, item in zip(decay, ranking, strict=False):
        grade = worth_of(item, grades)
        clipped = min_rel if grade is None else min(max(grade, min_rel), max_rel)
        total += weight * (clipped - min_rel) / (max_rel - min_rel)
    return total / math.fsum(decay)


def weighted_overlap(left: Ranking, right: Ranking, p: float, depth: int) -> float:
    """Mean over depths d of overlap(d) / d with weights p**(d - 1), renormalised to the depth
    looked at.
    """
    total, weights = 0.0, 0.0
    for size in range(1, depth + 1):
        shared = len(set(left[:size]) & set(right[:size]))
        total += p ** (size - 1) * shared / size
        weights += p ** (size - 1)
    return total / weights if weights else 0.0


def Compat(
    ranking: Ranking,
    grades: Grades,
    *,
    k: int | None = None,
    p: float = 0.95,
    normalize: bool = True,
) -> float:
    """Rank-biased overlap of the ranking with its nearest ideal ranking; 0 if nothing is relevant.

    The ideal holds all items of positive grade, higher grades first, ties in the order of the
    ranking and those
    not retrieved last. `normalize` divides by the ideal's own value. Depth is the longer of the two
    lists, at most
    k. Source: Clarke, Vtyurina and Smucker 2021; ir_measures has no k, its authors' script stops at
    1,000.
    """
    place = {item: rank for rank, item in enumerate(ranking)}
    relevant = [item for item, grade in grades.items() if grade > 0]
    ideal = sorted(relevant, key=lambda item: (-grades[item], place.get(item, math.inf)))
    depth = max(len(ranking), len(ideal))
    depth = depth if k is None else min(depth, k)
    value = weighted_overlap(ranking, ideal, p, depth)
    best = weighted_overlap(ideal, ideal, p, depth)
    return value / best if normalize and best > 0 else value
