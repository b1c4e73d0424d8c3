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

    @property
    def span(self) -> tuple[int, int]:
        """The places of its words."""
        return self.start, self.end


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
    kept_places = [
        word_place
        for word_place, (word, after) in enumerate(zip(plain, (*plain[1:], ""), strict=True))
        if word not in wording.small
        or (word in wording.classes["its"] and after in wording.classes["end"])
        or any(start <= word_place < end for start, end in names)
    ]
    lemmas = [
        "leave" if _left(plain, word_place, wording) else wording.lemma(plain[word_place])
        for word_place in kept_places
    ]
    units: list[Unit] = []
    at, done = 0, 0
    while at < len(kept_places):
        first = kept_places[at]
        if any(
            _PUNCTUATION.search(words.gaps[word_place])
            for word_place in range(done, first + 1)
            if word_place
        ):
            units.append(Unit(first, first, ",", ",", "stop"))
        size, tag = _longest(words, kept_places, lemmas, at, wording)
        end = kept_places[at + size - 1] + 1
        inside = [(start, stop) for start, stop in names if first <= start and stop <= end]
        name = next((name for name in names if name[0] == first), None)
        if name and (name[1] >= end or sum(b - a for a, b in inside) == end - first):
            end = name[1]
            size, tag = (
                sum(first <= word_place < end for word_place in kept_places),
                names[name] or "name",
            )
        elif not tag and plain[first] in wording.classes["break"]:
            tag = "and"
        elif not tag:
            is_compound = (
                bool(units)
                and units[-1].end == first
                and _heads(units[-1], lemmas[at], words, wording)
            )
            tag = "-head" if is_compound else "-"
        units.append(
            Unit(first, end, "_".join(lemmas[at : at + size]), "_".join(plain[first:end]), tag)
        )
        at, done = at + size, end
    return units


def _left(plain: Sequence[str], word_place: int, wording: Wording) -> bool:
    """Whether a word is the verb of `a car left the lane`."""
    if plain[word_place] != "left" or not DETERMINERS & {*plain[word_place + 1 : word_place + 2]}:
        return False
    return not {*plain[max(0, word_place - 1) : word_place]} & {
        *wording.small,
        *wording.classes["preposition"],
        "our",
        "my",
    }


def _heads(before: Unit, lemma: str, words: ClauseWords, wording: Wording) -> bool:
    """Whether an unknown word after a noun is the head of a compound, neither a verb nor an
    adverb.
    """
    word_place = before.end
    word, noun = words.plain[word_place], words.plain[word_place - 1]
    ended = word.endswith(_NO_NOUN) or (is_a(before, "actor") and word.endswith("s"))
    unknown = (
        words.content[word_place]
        and not words.cues[word_place]
        and lemma not in wording.known
        and word.isalpha()
    )
    return (
        unknown
        and not ended
        and is_a(before, "actor", "scene")
        and singular(noun) == noun
        and not words.gaps[word_place].strip(" -")
    )


def _longest(
    words: ClauseWords, kept_places: Sequence[int], lemmas: Sequence[str], at: int, wording: Wording
) -> tuple[int, str]:
    """The number of words and the concept of the longest noun phrase of the wording at a place; 1
    and nothing for none.
    """
    for size in range(min(_LONGEST, len(kept_places) - at), 0, -1):
        phrase_places = kept_places[at : at + size]
        if any(
            _PUNCTUATION.search(words.gaps[word_place])
            for word_place in range(phrase_places[0] + 1, phrase_places[-1] + 1)
        ):
            continue
        near = {
            *lemmas[at + size : at + size + 1],
            *(f"<{word}" for word in words.plain[max(0, phrase_places[0] - 1) : phrase_places[0]]),
        }
        for key in (
            tuple(lemmas[at : at + size]),
            (
                f"={words.plain[phrase_places[0]]}",
                *(words.plain[word_place] for word_place in phrase_places[1:]),
            ),
        ):
            if key in wording.words and not near & wording.unless.get(key, frozenset()):
                return size, wording.words[key]
    return 1, ""
