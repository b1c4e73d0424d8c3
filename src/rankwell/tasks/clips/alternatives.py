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
    found: list[set[int]] = []
    order = sorted(range(len(spans)), key=lambda each: spans[each])
    for low, end, start, high in _joints(words):
        before = [each for each in order if low <= spans[each].start and spans[each].end <= end]
        after = [each for each in order if start <= spans[each].start and spans[each].end <= high]
        for group in dict.fromkeys(spans[each].group for each in after):
            right = next(each for each in after if spans[each].group == group)
            own = [each for each in before if spans[each].group == group]
            if not own:
                continue
            joined = {right, own.pop()}
            while own and _listed(
                words, spans[own[-1]].end, min(spans[each].start for each in joined)
            ):
                joined.add(own.pop())
            found = [
                *(each for each in found if not each & joined),
                joined.union(*(each for each in found if each & joined)),
            ]
    return [
        sorted(each, key=order.index)
        for each in found
        if len({spans[position].entry for position in each}) > 1
    ]


def _joints(words: ClauseWords) -> Iterator[tuple[int, int, int, int]]:
    """Of each `or` and slash: the first word and the end of what stands before it, and of what
    stands after it.
    """
    plain, size = words.plain, len(words.plain)
    for place in range(1, size):
        slash = "/" in words.gaps[place]
        if words.opens[place] or not (slash or plain[place] == "or"):
            continue
        end, start = place - (plain[place - 1] == "and"), place + (plain[place] == "or")
        low = next(
            (
                each
                for each in range(end, 0, -1)
                if plain[each - 1] in _ENDS[:3] or words.ends_at(each)
            ),
            0,
        )
        high = next(
            (
                each
                for each in range(start + 1, size)
                if plain[each] in _ENDS or not words.joined[each]
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
