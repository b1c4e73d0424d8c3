"""The places of judged items in a ranking of rows, put in order and counted one by one."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

Rows = Sequence[tuple[str, str, float]]
"""Query, item and score of each row, in the order of the input."""


class Place(NamedTuple):
    """Items that score higher, that score the same, and those of them that come earlier."""

    score: float
    above: int
    tied: int
    before: int


def places(
    rows: Rows, judged: Mapping[str, Sequence[str]], ties: str
) -> dict[tuple[str, str], Place]:
    """The place of each judged item that its query lists. ties: `id-asc`, `id-desc`, or else the
    order of the input.
    """
    found: dict[tuple[str, str], Place] = {}
    for query, items in judged.items():
        listed = [(item, score) for name, item, score in rows if name == query]
        for mine, score in listed:
            if mine in items:
                equal = [item for item, other in listed if other == score]
                if ties in ("id-asc", "id-desc"):
                    equal.sort(key=lambda item: item.encode(), reverse=ties == "id-desc")
                above = sum(other > score for _, other in listed)
                found[query, mine] = Place(score, above, len(equal), equal.index(mine))
    return found


def first(rows: Rows, query: str, n: int, ties: str) -> list[str]:
    """The first items of a query."""
    listed = [(item, score) for name, item, score in rows if name == query]
    if ties in ("id-asc", "id-desc"):
        listed.sort(key=lambda row: row[0].encode(), reverse=ties == "id-desc")
    return [item for item, _ in sorted(listed, key=lambda row: -row[1])][:n]
