"""Novelty and diversity: each query has several intents, `grades` maps intent to item to grade.

All follow ndeval 4.5 (TREC Web track, Clarke 2013) as packed in pyndeval 0.0.8, here without its
limit of 20 ranks.
An intent nobody judged relevant is left out; S is the number of the others, and every measure is 0
if S is 0
(pyndeval gives NaN for nNRBP there). `k` is required where ndeval needs a depth to normalise to.
"""

import math
from collections.abc import Callable

from oracles.average_precision import AP
from oracles.grading import Grades, Ranking, grade_of, hits, is_relevant, n_relevant

Intents = dict[str, Grades]


def live_intents(grades: Intents, rel: float) -> list[Grades]:
    """The grades of each intent that has a relevant item."""
    return [one for one in grades.values() if n_relevant(one, rel) > 0]


def shown_items(ranking: Ranking, grades: Intents, judged_only: bool) -> Ranking:
    """The ranking, or with `judged_only` the items judged for at least one intent.

    ir_measures 0.4.3 means the same (any line of the file) but its filter fails on every run.
    """
    if not judged_only:
        return ranking
    return [
        item for item in ranking if any(grade_of(item, one) is not None for one in grades.values())
    ]


def novelty_gains(ranking: Ranking, grades: Intents, *, alpha: float, rel: float) -> list[float]:
    """At each rank the sum over the item's intents of (1 - alpha)**(times that intent was served
    above).
    """
    intents = live_intents(grades, rel)
    served = [0] * len(intents)
    gains = []
    for item in ranking:
        gain = 0.0
        for index, one in enumerate(intents):
            if is_relevant(item, one, rel):
                gain += (1 - alpha) ** served[index]
                served[index] += 1
        gains.append(gain)
    return gains


def greedy_ideal(grades: Intents, *, alpha: float, rel: float) -> Ranking:
    """All judged items, each time the one of largest novelty gain, ties by id descending: not the
    true optimum.
    """
    left = sorted({item for one in grades.values() for item in one}, reverse=True)
    ideal: Ranking = []
    while left:
        best = max(
            left, key=lambda item: novelty_gains([*ideal, item], grades, alpha=alpha, rel=rel)[-1]
        )
        ideal.append(best)
        left.remove(best)
    return ideal


def by_log(rank: int) -> float:
    """The discount of DCG."""
    return 1 / math.log2(rank + 1)


def by_rank(rank: int) -> float:
    """The discount of ERR."""
    return 1 / rank


def discounted(gains: list[float], discount: Callable[[int], float]) -> float:
    """Sum of gain times discount."""
    total = 0.0
    for rank, gain in enumerate(gains, start=1):
        total += gain * discount(rank)
    return total


def over_perfect(
    ranking: Ranking,
    grades: Intents,
    discount: Callable[[int], float],
    *,
    k: int,
    alpha: float,
    rel: float,
    judged_only: bool,
    quirk: bool,
) -> float:
    """Discounted novelty over that of k items which serve every intent; at k = 1 undivided with
    `quirk`.
    """
    n_intents = len(live_intents(grades, rel))
    if n_intents == 0:
        return 0.0
    top = shown_items(ranking, grades, judged_only)[:k]
    value = discounted(novelty_gains(top, grades, alpha=alpha, rel=rel), discount)
    if quirk and k == 1:
        return value
    return value / discounted([n_intents * (1 - alpha) ** served for served in range(k)], discount)


def over_ideal(
    ranking: Ranking,
    grades: Intents,
    discount: Callable[[int], float],
    *,
    k: int | None,
    alpha: float,
    rel: float,
    judged_only: bool,
) -> float:
    """Discounted novelty over that of the greedy ideal list."""
    if not live_intents(grades, rel):
        return 0.0
    top = shown_items(ranking, grades, judged_only)[:k]
    ideal = greedy_ideal(grades, alpha=alpha, rel=rel)[:k]
    best = discounted(novelty_gains(ideal, grades, alpha=alpha, rel=rel), discount)
    return discounted(novelty_gains(top, grades, alpha=alpha, rel=rel), discount) / best


def alpha_DCG(
    ranking: Ranking,
    grades: Intents,
    *,
    k: int,
    alpha: float = 0.5,
    rel: float = 1,
    judged_only: bool = False,
    quirk: bool = True,
) -> float:
    """Novelty discounted by log2(rank + 1), over that of k items serving all S intents (Clarke et
    al. 2008).

    ndeval and pyndeval skip the division at k = 1, so the value there is the number of intents the
    first item
    serves and may exceed 1; quirk=False divides by S there too.
    """
    return over_perfect(
        ranking, grades, by_log, k=k, alpha=alpha, rel=rel, judged_only=judged_only, quirk=quirk
    )


def alpha_nDCG(
    ranking: Ranking,
    grades: Intents,
    *,
    k: int,
    alpha: float = 0.5,
    rel: float = 1,
    judged_only: bool = False,
) -> float:
    """Novelty discounted by log2(rank + 1), over that of the greedy ideal list (Clarke et al.
    2008).
    """
    return over_ideal(ranking, grades, by_log, k=k, alpha=alpha, rel=rel, judged_only=judged_only)


def ERR_IA(
    ranking: Ranking,
    grades: Intents,
    *,
    k: int,
    alpha: float = 0.5,
    rel: float = 1,
    judged_only: bool = False,
    quirk: bool = True,
) -> float:
    """Novelty discounted by the rank, over that of k items serving all intents (Chapelle et al.
    2009).

    As in alpha_DCG ndeval does not divide at k = 1; quirk=False does.
    """
    return over_perfect(
        ranking, grades, by_rank, k=k, alpha=alpha, rel=rel, judged_only=judged_only, quirk=quirk
    )


def nERR_IA(
    ranking: Ranking,
    grades: Intents,
    *,
    k: int,
    alpha: float = 0.5,
    rel: float = 1,
    judged_only: bool = False,
) -> float:
    """Novelty discounted by the rank, over that of the greedy ideal list (Chapelle et al. 2009)."""
    return over_ideal(ranking, grades, by_rank, k=k, alpha=alpha, rel=rel, judged_only=judged_only)


def NRBP(
    ranking: Ranking, grades: Intents, *, alpha: float = 0.5, beta: float = 0.5, rel: float = 1
) -> float:
    """(1 - (1 - alpha) beta) / S times the sum of novelty * beta**(rank - 1) (Clarke et al.
    2009).
    """
    n_intents = len(live_intents(grades, rel))
    if n_intents == 0:
        return 0.0
    gains = novelty_gains(ranking, grades, alpha=alpha, rel=rel)
    return (1 - (1 - alpha) * beta) / n_intents * discounted(gains, lambda rank: beta ** (rank - 1))


def nNRBP(
    ranking: Ranking, grades: Intents, *, alpha: float = 0.5, beta: float = 0.5, rel: float = 1
) -> float:
    """NRBP over that of the greedy ideal list (Clarke et al. 2009)."""
    return over_ideal(
        ranking,
        grades,
        lambda rank: beta ** (rank - 1),
        k=None,
        alpha=alpha,
        rel=rel,
        judged_only=False,
    )


def AP_IA(ranking: Ranking, grades: Intents, *, rel: float = 1, judged_only: bool = False) -> float:
    """Mean over the intents of the average precision for that intent alone (Agrawal et al.
    2009).
    """
    intents = live_intents(grades, rel)
    seen = shown_items(ranking, grades, judged_only)
    return sum(AP(seen, one, rel=rel) for one in intents) / len(intents) if intents else 0.0


def P_IA(
    ranking: Ranking, grades: Intents, *, k: int, rel: float = 1, judged_only: bool = False
) -> float:
    """Mean over the intents of the precision at k for that intent alone (Agrawal et al. 2009)."""
    intents = live_intents(grades, rel)
    top = shown_items(ranking, grades, judged_only)[:k]
    return sum(hits(top, one, rel) for one in intents) / (k * len(intents)) if intents else 0.0


def StRecall(ranking: Ranking, grades: Intents, *, k: int, rel: float = 1) -> float:
    """Share of the intents served by at least one item of the top k (Zhai, Cohen and Lafferty
    2003).
    """
    intents = live_intents(grades, rel)
    served = 0
    for one in intents:
        if hits(ranking[:k], one, rel) > 0:
            served += 1
    return served / len(intents) if intents else 0.0


def global_gain(item: str, grades: Intents) -> float:
    """The sum of the item's grades over the intents, without those below 0."""
    return sum(max(one.get(item) or 0.0, 0.0) for one in grades.values())


def D_nDCG(
    ranking: Ranking, grades: Intents, *, k: int | None = None, judged_only: bool = False
) -> float:
    """DCG by global gains over the best DCG of all judged items (Sakai and Song 2011), with equally
    probable intents.
    """
    depth = k if k is not None else 10**9
    judged = sorted({item for one in grades.values() for item in one})
    best = sorted((global_gain(item, grades) for item in judged), reverse=True)
    ideal = sum(gain / math.log2(place + 2) for place, gain in enumerate(best[:depth]))
    shown = shown_items(ranking, grades, judged_only)[:depth]
    value = sum(
        global_gain(item, grades) / math.log2(place + 2) for place, item in enumerate(shown)
    )
    return value / ideal if ideal > 0 else 0.0


def D_sharp_nDCG(
    ranking: Ranking,
    grades: Intents,
    *,
    k: int,
    gamma: float = 0.5,
    rel: float = 1,
    judged_only: bool = False,
) -> float:
    """gamma times I-rec plus 1 - gamma times D-nDCG (Sakai and Song 2011)."""
    recall = StRecall(shown_items(ranking, grades, judged_only), grades, k=k, rel=rel)
    return gamma * recall + (1 - gamma) * D_nDCG(ranking, grades, k=k, judged_only=judged_only)
