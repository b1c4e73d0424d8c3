"""The words of an English text: which say something, which may stand in one phrase, and which are negated."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rankwell.tasks.clips.vocabulary import Token, fold, words_of


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FUNCTION_WORDS = _set(
    """a an the this that these those some any all every each both of in on at by to from for with into onto over under through
    across along around about as is are was were be been being am do does did has have had it its we us our ours i me my you your
    he him his she her they them their there here and or nor but so than then which who whom whose what where when while if very
    just also only too can could will would shall should may might must no not show find give clip clips scene scenes video
    videos"""
)
_CONJUNCTIONS = _set("and or nor but plus while then with")
_CUES = _set("no not cannot without except excepting excluding exclude excludes never none neither nor non minus lacking")
_DOUBLE_CUES = frozenset(
    {
        *(("all", "but"), ("anything", "but"), ("everything", "but"), ("apart", "from"), ("other", "than"), ("rather", "than")),
        *(("instead", "of"), ("free", "of"), ("free", "from"), ("absence", "of"), ("lack", "of")),
    }
)
_ENDS = _set("but only with yet however though")
_GOES_ON = _set("a an the any some and or nor")
_HARD, _SOFT = re.compile(r"[;.!?:()\n]"), re.compile(r"[,;.!?:()/|\n\"]")


def says_something(word: str) -> bool:
    """Whether a word in lower case says something, other than articles, prepositions, pronouns and what asks for clips at all."""
    return word not in _FUNCTION_WORDS


def content_words(text: str) -> tuple[str, ...]:
    """The words of a name that say something, folded; all of them where none does."""
    words = fold(text)
    return tuple(filter(says_something, words)) or words


@dataclass(frozen=True)
class ClauseWords:
    """The words of a text in order; everything else here has an entry for each of them."""

    text: str
    tokens: tuple[Token, ...]

    @classmethod
    def of(cls, text: str) -> "ClauseWords":
        """The words of a text."""
        return cls(text, tuple(words_of(text)))

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """As written, without case."""
        return tuple(self.text[token.start : token.end].replace("’", "'").casefold() for token in self.tokens)

    @cached_property
    def content(self) -> tuple[bool, ...]:
        """Whether a word says something."""
        return tuple(map(says_something, self.plain))

    @cached_property
    def joined(self) -> tuple[bool, ...]:
        """Whether a word may stand in one phrase with the word before it: no punctuation and no conjunction is between them."""
        pairs = zip(self.plain, self.plain[1:], self._gaps[1:], strict=False)
        return (False, *(not _SOFT.search(gap) and not {one, two} & _CONJUNCTIONS for one, two, gap in pairs))[: len(self.plain)]

    @cached_property
    def _gaps(self) -> tuple[str, ...]:
        """What stands before each word, back to the last one."""
        ends = (0, *(token.end for token in self.tokens))
        return tuple(self.text[end : token.start] for end, token in zip(ends, self.tokens, strict=False))

    @cached_property
    def cues(self) -> tuple[int, ...]:
        """0, or how many words the cue of a negation has that a word is part of: 1 for `without`, 2 for `apart from`."""
        found = [int(word in _CUES or word.endswith("n't")) for word in self.plain]
        for place, pair in enumerate(zip(self.plain, self.plain[1:], strict=False)):
            if pair in _DOUBLE_CUES:
                found[place] = found[place + 1] = 2
            elif found[place] and pair[1] == "only":
                found[place] = 0
        return tuple(found)

    def negated(self, taken: Sequence[bool]) -> list[bool]:
        """Whether a word is negated: from a cue to the end of the first phrase after it and of what is coordinated with that.

        taken: words of names that are known, whose own `non` is no cue. A comma ends it, unless an enumeration goes on to its
        `or`; so do `but`, `only`, `with`, and a preposition after the phrase.
        """
        found = [False] * len(self.plain)
        inside = said = False
        for place, word in enumerate(self.plain):
            if self.cues[place] and not taken[place]:
                inside, said = True, False
                continue
            ended = word in _ENDS or (said and not self.content[place] and word not in _GOES_ON) or self._breaks(place)
            inside = inside and not ended
            found[place] = inside
            said = said or self.content[place]
        return found

    def _breaks(self, place: int) -> bool:
        """Whether punctuation before a word ends what was said."""
        gap = self._gaps[place]
        if _HARD.search(gap):
            return True
        if "," not in gap:
            return False
        for later in range(place, len(self.plain)):
            if self.plain[later] in ("or", "nor"):
                return False
            if self.plain[later] in _ENDS or self.cues[later] or _HARD.search(self._gaps[later]):
                return True
        return True
