"""The words of a text on a driving scene as units: nouns of the wording as one, small words left
out.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rankwell.tasks.clips.annotations import singular
from rankwell.tasks.clips.phrases import DETERMINERS, ClauseWords
from rankwell.tasks.clips.wording import Wording

_PUNCTUATION = re.compile(r"[,;.!?:()/|&+\n\"–—]")
_LONGEST = 6
"""Words of a noun phrase of the wording."""
_NO_NOUN = ("ing", "ed", "ly", "ble", "ful")


class Unit(NamedTuple):
    """A word or noun phrase: its words, end exclusive, its lemma, its first word as written and its
    concept, `-` for none.
    """

    start: int
    end: int
    lemma: str
    word: str
    tag: str


def is_a(unit: Unit, *tags: str) -> bool:
    """Whether a unit has one of some concepts, or of their kinds, such as `actor`."""
    return unit.tag.split(".")[0] in tags or unit.tag in tags


def find_units(
    words: ClauseWords, names: Mapping[tuple[int, int], str | None], wording: Wording
) -> list[Unit]:
    """The words of a text with nouns as one, without small words, with punctuation and conjunctions
    between clauses.
    """
    plain = words.plain
    starts = {start: (end, concept) for (start, end), concept in names.items()}
    kept = [
        place
        for place, (word, after) in enumerate(zip(plain, (*plain[1:], ""), strict=True))
        if word not in wording.small
        or (word in wording.classes["its"] and after in wording.classes["end"])
        or any(a <= place < b for a, b in names)
    ]
    lemmas = [
        "leave" if _left(plain, place, wording) else wording.lemma(plain[place]) for place in kept
    ]
    found: list[Unit] = []
    at, done = 0, 0
    while at < len(kept):
        first = kept[at]
        if any(_PUNCTUATION.search(words.gaps[place]) for place in range(done, first + 1) if place):
            found.append(Unit(first, first, ",", ",", "stop"))
        size, tag = _longest(words, kept, lemmas, at, wording)
        end = kept[at + size - 1] + 1
        inside = [name for name in names if first <= name[0] and name[1] <= end]
        if first in starts and (
            starts[first][0] >= end or sum(b - a for a, b in inside) == end - first
        ):
            end, concept = starts[first]
            size = sum(first <= place < end for place in kept)
            found.append(
                Unit(
                    first,
                    end,
                    "_".join(lemmas[at : at + size]),
                    "_".join(plain[first:end]),
                    concept or "name",
                )
            )
            at, done = at + size, end
            continue
        if not tag:
            heads = (
                bool(found)
                and found[-1].end == first
                and _heads(found[-1], lemmas[at], words, wording)
            )
            tag = "and" if plain[first] in wording.classes["break"] else "-head" if heads else "-"
        found.append(
            Unit(first, end, "_".join(lemmas[at : at + size]), "_".join(plain[first:end]), tag)
        )
        at, done = at + size, end
    return found


def _left(plain: Sequence[str], place: int, wording: Wording) -> bool:
    """Whether a word is the verb of `a car left the lane`."""
    if plain[place] != "left" or not DETERMINERS & {*plain[place + 1 : place + 2]}:
        return False
    return not {*plain[max(0, place - 1) : place]} & {
        *wording.small,
        *wording.classes["preposition"],
        "our",
        "my",
    }


def _heads(before: Unit, lemma: str, words: ClauseWords, wording: Wording) -> bool:
    """Whether an unknown word after a noun is the head of a compound, neither a verb nor an
    adverb.
    """
    place = before.end
    word, noun = words.plain[place], words.plain[place - 1]
    ended = word.endswith(_NO_NOUN) or (is_a(before, "actor") and word.endswith("s"))
    unknown = (
        words.content[place]
        and not words.cues[place]
        and lemma not in wording.known
        and word.isalpha()
    )
    return (
        unknown
        and not ended
        and is_a(before, "actor", "scene")
        and singular(noun) == noun
        and not words.gaps[place].strip(" -")
    )


def _longest(
    words: ClauseWords, kept: Sequence[int], lemmas: Sequence[str], at: int, wording: Wording
) -> tuple[int, str]:
    """The number of words and the concept of the longest noun phrase of the wording at a place; 1
    and nothing for none.
    """
    for size in range(min(_LONGEST, len(kept) - at), 0, -1):
        places = kept[at : at + size]
        if any(
            _PUNCTUATION.search(words.gaps[place]) for place in range(places[0] + 1, places[-1] + 1)
        ):
            continue
        near = {
            *lemmas[at + size : at + size + 1],
            *(f"<{word}" for word in words.plain[max(0, places[0] - 1) : places[0]]),
        }
        for key in (
            tuple(lemmas[at : at + size]),
            (f"={words.plain[places[0]]}", *(words.plain[each] for each in places[1:])),
        ):
            if key in wording.words and not near & wording.unless.get(key, frozenset()):
                return size, wording.words[key]
    return 1, ""
