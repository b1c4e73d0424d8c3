"""Agreement of a candidate's list with a reference's, from the two whole rankings of a query.

`ranking` and `grades` map the items that the candidate and the reference know to their
similarities. The lists are their first DEPTH items, highest first, ties by id descending;
N_CANDIDATES items could have been listed.
"""

import math

DEPTH = 12
N_CANDIDATES = 300
NAN = math.nan
Similarities = dict[str, float]


def ordered(similarities: Similarities) -> list[str]:
    """All known items from the most similar one down."""
    by_id = sorted(
        similarities, key=lambda item: item.encode("utf-8", "surrogateescape"), reverse=True
    )
    return sorted(by_id, key=lambda item: -similarities[item])


def first(similarities: Similarities, k: int | None) -> list[str]:
    """The first k items of the list."""
    return ordered(similarities)[:DEPTH][:k]


def Overlap(ranking: Similarities, grades: Similarities, *, k: int) -> float:
    """Common items over the length of the longer list."""
    a, b = first(grades, k), first(ranking, k)
    return len(set(a) & set(b)) / max(len(a), len(b)) if a or b else NAN


def Jaccard(ranking: Similarities, grades: Similarities, *, k: int) -> float:
    """Common items over all items."""
    a, b = set(first(grades, k)), set(first(ranking, k))
    return len(a & b) / len(a | b) if a or b else NAN


def AO(ranking: Similarities, grades: Similarities, *, k: int | None = None) -> float:
    """The mean of the overlap over the depths."""
    a, b = first(grades, k), first(ranking, k)
    longest = max(len(a), len(b))
    return (
        sum(len(set(a[:d]) & set(b[:d])) / d for d in range(1, longest + 1)) / longest
        if longest
        else NAN
    )


def starts(items: list[str], similarities: Similarities, ties: str) -> dict[str, int]:
    """The rank of every item; that of the first item with the same similarity where ties share
    it.
    """
    ranks = {item: rank for rank, item in enumerate(items, 1)}
    if ties == "shared":
        return {
            item: min(ranks[other] for other in items if similarities[other] == similarities[item])
            for item in items
        }
    return ranks


def RBO(
    ranking: Similarities,
    grades: Similarities,
    *,
    p: float = 0.9,
    kind: str = "ext",
    ties: str = "order",
    k: int | None = None,
) -> float:
    """The weighted agreement of the lists, carried on far beyond their ends with items that agree
    never, always, or as before.
    """
    pair = [(first(grades, k), grades), (first(ranking, k), ranking)]
    short, long = sorted(
        (starts(items, similarities, ties) for items, similarities in pair), key=len
    )
    if not long:
        return NAN
    if kind == "res":
        return continued(short, long, p, "max") - continued(short, long, p, "min")
    return continued(short, long, p, kind)


def continued(short: dict[str, int], long: dict[str, int], p: float, kind: str) -> float:
    """The sum over the depths of (1 - p) p^(d - 1) times the agreement 2 |A & B| / (|A| + |B|)."""
    s, l = len(short), len(long)  # noqa: E741 - the names of the paper
    extra_short, extra_long = list[str](), list[str]()
    total = seen = at_end = weights = 0.0
    # What comes after the depth at which p^d falls below 1e-12 weighs less than that.
    end = l if kind == "truncated" else max(l, math.ceil(math.log(1e-12) / math.log(p)))
    for d in range(1, end + 1):
        a = {item for item, start in short.items() if start <= d} | set(extra_short)
        b = {item for item, start in long.items() if start <= d} | set(extra_long)
        if d > s:
            extra_short.append(min(b - a, default=f"both {d}") if kind == "max" else f"short {d}")
        if d > l:
            extra_long.append(min(a - b, default=f"both {d}") if kind == "max" else f"long {d}")
        a, b = a | set(extra_short), b | set(extra_long)
        if kind == "ext" and d > l:
            agreement = seen
        else:
            unseen = at_end * (d - s) if kind == "ext" and d > s else 0.0
            agreement = seen = 2 * (len(a & b) + unseen) / (len(a) + len(b))
        if d == s:
            at_end = agreement
        total += (1 - p) * p ** (d - 1) * agreement
        weights += (1 - p) * p ** (d - 1)
    return total / weights if kind == "truncated" else total


def correlation(pairs: list[tuple[int, int]]) -> float:
    """Pearson's correlation of the ranks within either column; below two pairs there is none."""
    if len(pairs) < 2:
        return NAN
    columns = [
        [sorted(column).index(value) for value in column] for column in zip(*pairs, strict=True)
    ]
    mean = (len(pairs) - 1) / 2
    product = sum((x - mean) * (y - mean) for x, y in zip(*columns, strict=True))
    return product / sum((x - mean) ** 2 for x in columns[0])


def Spearman(ranking: Similarities, grades: Similarities, *, k: int | None = None) -> float:
    """The correlation of the ranks of the items in both lists."""
    a, b = first(grades, k), first(ranking, k)
    return correlation([(a.index(item), b.index(item)) for item in a if item in b])


def SpearmanUnion(ranking: Similarities, grades: Similarities, *, k: int | None = None) -> float:
    """The correlation of the ranks, in both models, of the items in either list."""
    items = list(dict.fromkeys(first(grades, k) + first(ranking, k)))
    if any(item not in grades or item not in ranking for item in items):
        return NAN
    return correlation(
        [(ordered(grades).index(item), ordered(ranking).index(item)) for item in items]
    )


def TauAP(ranking: Similarities, grades: Similarities, *, k: int | None = None) -> float:
    """The mean share of items above each common item of the candidate's list that the reference has
    above it too.
    """
    a = first(grades, k)
    common = [item for item in first(ranking, k) if item in a]
    if len(common) < 2:
        return NAN
    shares = [
        sum(a.index(other) < a.index(item) for other in common[:i]) / i
        for i, item in enumerate(common)
        if i
    ]
    return 2 * sum(shares) / len(shares) - 1


def MedR_first(ranking: Similarities, grades: Similarities, *, missing: str = "last") -> float:
    """The candidate's rank of the reference's first item."""
    if not grades:
        return NAN
    item = ordered(grades)[0]
    if item in ranking:
        return ordered(ranking).index(item) + 1
    return N_CANDIDATES + 1 if missing == "last" else NAN


def MnR_first(ranking: Similarities, grades: Similarities, *, missing: str = "last") -> float:
    """As MedR_first, which differs in its summary."""
    return MedR_first(ranking, grades, missing=missing)


def EpsRecall(ranking: Similarities, grades: Similarities, *, k: int, eps: float = 0.0) -> float:
    """The share of the candidate's items whose similarity for the reference reaches that of its
    k-th, less eps.
    """
    a = first(grades, k)
    if not a:
        return NAN
    shown = first(ranking, len(a))
    if any(item not in grades for item in shown):
        return NAN
    return sum(grades[item] >= grades[a[-1]] - eps for item in shown) / len(a)


def Margin(ranking: Similarities, grades: Similarities, *, k: int, eps: float = 0.005) -> float:
    """How many other items of the reference's list are within eps of its k-th."""
    a = first(grades, None)
    return (
        sum(abs(grades[item] - grades[a[k - 1]]) <= eps for item in a) - 1 if len(a) >= k else NAN
    )


def excess(far: Similarities, near: Similarities, k: int) -> float:
    """1 less the excess of the ranks in one space of the first k neighbours in the other, over the
    greatest possible excess.
    """
    points = N_CANDIDATES + 1
    shown = first(near, k)
    if (
        min(len(shown), len(first(far, k))) < k
        or k >= points / 2
        or any(item not in far for item in shown)
    ):
        return NAN
    ranks = [ordered(far).index(item) + 1 for item in shown]
    return 1 - 2 / (k * (2 * points - 3 * k - 1)) * sum(rank - k for rank in ranks if rank > k)


def Trustworthiness(ranking: Similarities, grades: Similarities, *, k: int) -> float:
    """Neighbours of the candidate that are far away for the reference."""
    return excess(grades, ranking, k)


def Continuity(ranking: Similarities, grades: Similarities, *, k: int) -> float:
    """Neighbours of the reference that are far away for the candidate."""
    return excess(ranking, grades, k)
