"""Oracle: scores of vectors of whole numbers in Python's exact integers, and the best k by sorting
all of them.
"""

import math
from collections.abc import Callable, Sequence

Vector = Sequence[int]


def score(q: Vector, x: Vector, metric: str) -> float:
    """The exact score of two vectors."""
    dot = sum(a * b for a, b in zip(q, x, strict=True))
    if metric == "dot":
        return float(dot)
    if metric == "l2":
        return -math.sqrt(sum((a - b) ** 2 for a, b in zip(q, x, strict=True)))
    return dot / math.sqrt(float(sum(a * a for a in q)) * float(sum(b * b for b in x)))


def _none(query: int, item: int) -> bool:
    return False


def neighbours(
    queries: Sequence[Vector],
    items: Sequence[Vector],
    k: int,
    metric: str,
    excluded: Callable[[int, int], bool] = _none,
) -> list[list[tuple[int, float]]]:
    """For each query [(position, score)], best first; of equal scores the first position first."""
    result = []
    for i, q in enumerate(queries):
        scored = [(-score(q, x, metric), j) for j, x in enumerate(items) if not excluded(i, j)]
        result.append([(j, -negative) for negative, j in sorted(scored)[:k]])
    return result


def rank_counts(
    queries: Sequence[Vector],
    items: Sequence[Vector],
    wanted: Sequence[Sequence[int]],
    metric: str,
    excluded: Callable[[int, int], bool] = _none,
) -> list[list[tuple[int, int, int]]]:
    """For each query and wanted position (above, tied, those of them that stand earlier)."""
    result = []
    for i, q in enumerate(queries):
        scores = {j: score(q, x, metric) for j, x in enumerate(items) if not excluded(i, j)}
        row = []
        for w in wanted[i]:
            tied = [j for j, s in scores.items() if w >= 0 and s == scores[w]]
            above = sum(s > scores[w] for s in scores.values()) if w >= 0 else -1
            row.append((above, len(tied), sum(j < w for j in tied)) if w >= 0 else (-1, -1, -1))
        result.append(row)
    return result
