"""Relevance by keywords and lists cut as ALFA's Algorithm 2 cuts them, over plain sets and
lists.
"""

import math
from collections.abc import Mapping, Sequence

Keywords = frozenset[tuple[str, str]]


def grade(asked: Keywords, carried: Keywords, rule: str, least: float = 0.0) -> float:
    """What a clip is worth to a query; 0 for a query that asks for nothing."""
    if not asked:
        return 0.0
    shared = asked & carried
    if rule == "all":
        return float(asked <= carried)
    if rule == "any":
        return float(bool(shared))
    if rule == "graded":
        return len(shared) / len(asked)
    return float(len(shared) / len(asked | carried) >= least)


def truth(
    clips: Mapping[str, Keywords], query: str, asked: Keywords, rule: str, least: float = 0.0
) -> dict[str, float]:
    """The worth of every other clip that has any."""
    grades = {
        clip: grade(asked, carried, rule, least) for clip, carried in clips.items() if clip != query
    }
    return {clip: value for clip, value in grades.items() if value > 0}


def cosine_order(vectors: Mapping[str, Sequence[float]], query: str) -> list[tuple[str, float]]:
    """All clips, the query itself among them, by cosine from high to low."""
    own = vectors[query]

    def cosine(other: Sequence[float]) -> float:
        lengths = math.sqrt(sum(x * x for x in own)) * math.sqrt(sum(x * x for x in other))
        return sum(x * y for x, y in zip(own, other, strict=True)) / lengths

    return sorted(
        ((clip, cosine(vector)) for clip, vector in vectors.items()), key=lambda pair: -pair[1]
    )


def without_self(order: Sequence[str], query: str, k: int | None, *, after: bool) -> list[str]:
    """The first k clips without the query: removed before the cut, or after it, when its place
    stays lost.
    """
    if after:
        return [clip for clip in order[:k] if clip != query]
    return [clip for clip in order if clip != query][:k]
