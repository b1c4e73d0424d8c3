"""Alternatives of a text: keywords of one group that `or` or a slash joins; a query cannot require
one of several.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rankwell.tasks.clips.phrases import DETERMINERS, ClauseWords

_ENDS = ("and", "but", "nor", "or")


class KeywordSpan(NamedTuple):
    """Words of a text that mean a keyword, end exclusive, with its group and entry."""

    start: int
    end: int
    group: str
    entry: int


def alternatives(words: ClauseWords, spans: Sequence[KeywordSpan]) -> list[list[int]]:
    """The positions of spans that are alternatives to one another, in the order of the text."""
    sets: list[set[int]] = []
    order = sorted(range(len(spans)), key=lambda position: spans[position])
    for low, end, start, high in _joints(words):
        before = [
            position
            for position in order
            if low <= spans[position].start and spans[position].end <= end
        ]
        after = [
            position
            for position in order
            if start <= spans[position].start and spans[position].end <= high
        ]
        for group in dict.fromkeys(spans[position].group for position in after):
            right = next(position for position in after if spans[position].group == group)
            in_group = [position for position in before if spans[position].group == group]
            if not in_group:
                continue
            alternative = {right, in_group.pop()}
            while in_group and _listed(
                words,
                spans[in_group[-1]].end,
                min(spans[position].start for position in alternative),
            ):
                alternative.add(in_group.pop())
            sets = [
                *(positions for positions in sets if not positions & alternative),
                alternative.union(*(positions for positions in sets if positions & alternative)),
            ]
    return [
        sorted(positions, key=order.index)
        for positions in sets
        if len({spans[position].entry for position in positions}) > 1
    ]


def _joints(words: ClauseWords) -> Iterator[tuple[int, int, int, int]]:
    """Of each `or` and slash: the first word and the end of what stands before it, and of what
    stands after it.
    """
    plain, size = words.plain, len(words.plain)
    for word_place in range(1, size):
        slash = "/" in words.gaps[word_place]
        if words.opens[word_place] or not (slash or plain[word_place] == "or"):
            continue
        end, start = (
            word_place - (plain[word_place - 1] == "and"),
            word_place + (plain[word_place] == "or"),
        )
        low = next(
            (
                end_place
                for end_place in range(end, 0, -1)
                if plain[end_place - 1] in _ENDS[:3] or words.ends_at(end_place)
            ),
            0,
        )
        high = next(
            (
                end_place
                for end_place in range(start + 1, size)
                if plain[end_place] in _ENDS or not words.joined[end_place]
            ),
            size,
        )
        yield low, end, start, high


def _listed(words: ClauseWords, end: int, start: int) -> bool:
    """Whether a comma and articles alone stand between two spans."""
    between = words.plain[end:start]
    return (
        end <= start
        and set(between) <= DETERMINERS
        and any("," in gap for gap in words.gaps[end : start + 1])
    )
