"""How papers' own scripts judge pictures of instances, rewritten from their descriptions: one
query's ranked list at a time.

A list is of the references' marks in order, best first: `right`, `wrong` or `junk`.
"""


def without_junk(marks: list[str]) -> list[bool]:
    """Whether each reference that is left is right."""
    return [mark == "right" for mark in marks if mark != "junk"]


def revisited_ap(marks: list[str], annotated: int) -> float:
    """revisitop: positions of right references from 0, junk taken out, steps of recall times the
    mean of two precisions.
    """
    places = [place for place, right in enumerate(without_junk(marks)) if right]
    total = 0.0
    for found, place in enumerate(places):
        before = 1.0 if place == 0 else found / place
        after = (found + 1) / (place + 1)
        total += (before + after) / (2 * annotated)
    return total


def revisited_precision(marks: list[str], k: int) -> float:
    """revisitop's mP@k of one query: no further than the last right reference."""
    places = [place + 1 for place, right in enumerate(without_junk(marks)) if right]
    depth = min(max(places), k)
    return sum(place <= depth for place in places) / depth


def plain_ap(marks: list[str], annotated: int) -> float:
    """The finite sum: precision at each right reference, over the right ones."""
    found, total = 0, 0.0
    for place, right in enumerate(without_junk(marks), 1):
        if right:
            found += 1
            total += found / place
    return total / annotated


def landmarks_ap(marks: list[str], annotated: int, k: int = 100) -> float:
    """Google Landmarks v2: the first hundred, over at most a hundred right references."""
    found, total = 0, 0.0
    for place, right in enumerate(without_junk(marks)[:k], 1):
        if right:
            found += 1
            total += found / place
    return total / min(annotated, k)


def hit(marks: list[str], k: int) -> float:
    """Whether any of the first k is right: cumulative match, recall@K of metric learning and of
    place recognition.
    """
    return float(any(without_junk(marks)[:k]))
