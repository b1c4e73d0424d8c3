"""The best set of spans of a row of places, none of which overlap."""

from collections.abc import Sequence


def best_cover(spans: Sequence[tuple[int, int]], gains: Sequence[float], size: int) -> list[int]:
    """The positions of spans with the largest sum of gains, in order of place; no span whose gain is not above 0 is chosen.

    spans: (start, end) in places from 0 to `size`, end exclusive. Of sums that differ by less than 1e-9 the one is taken that
    leaves the last place empty, then the span that is listed first. Dynamic programming: linear in places and spans.
    """
    ending: list[list[int]] = [[] for _ in range(size + 1)]
    for position, (_, end) in enumerate(spans):
        if gains[position] > 0:
            ending[end].append(position)
    total = [0.0] * (size + 1)
    last: list[int | None] = [None] * (size + 1)
    for end in range(1, size + 1):
        total[end] = total[end - 1]
        for position in ending[end]:
            reached = total[spans[position][0]] + gains[position]
            if reached > total[end] + 1e-9:
                total[end], last[end] = reached, position
    chosen: list[int] = []
    place = size
    while place > 0:
        position = last[place]
        if position is None:
            place -= 1
        else:
            chosen.append(position)
            place = spans[position][0]
    return chosen[::-1]
