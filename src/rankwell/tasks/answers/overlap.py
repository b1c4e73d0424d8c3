"""What an answer and a right one have in common: which characters and which words, in both of them."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from rankwell.media.texts import Normalizer

Spans = tuple[tuple[int, int], ...]
_WORD = re.compile(r"\S+")
# A few letters that two texts happen to share tell nothing, and comparing pages letter by letter would take minutes.
_SHORTEST, _LONGEST = 4, 2000


class Overlap(NamedTuple):
    """Where two texts have the same, as spans of characters, end exclusive.

    characters, tokens: shared ones, in the answer and in the right one.
    char_f1, token_f1: 2 P R / (P + R) of the marked characters, and of the tokens of the normal forms, each shared once, which
    is what F1 counts under this normaliser.
    """

    characters: tuple[Spans, Spans]
    tokens: tuple[Spans, Spans]
    char_f1: float
    token_f1: float


def overlap(answer: str, right: str, *, offset: int | None, normalizer: Normalizer) -> Overlap:
    """What two texts share.

    offset: the place of the right answer less that of the answer, where both are known in one document: then characters are
    shared where they are the same place. Otherwise they are those of common pieces of four letters, or half of the shorter
    text, at least, whatever their case. Tokens are those of the texts' normal forms, shared where they are equal, each once.
    """
    if answer == right and offset in (None, 0):
        own = _tokens(answer, normalizer)
        spans, whole = _marked(own, Counter(form for _, form in own)), ((0, len(answer)),) if answer else ()
        return Overlap((whole, whole), (spans, spans), float(bool(answer)), float(bool(own)))
    characters = _same_places(len(answer), len(right), offset) if offset is not None else _same_pieces(answer, right)
    mine, theirs = _tokens(answer, normalizer), _tokens(right, normalizer)
    left = Counter(form for _, form in mine) & Counter(form for _, form in theirs)
    shared = sum(left.values())
    return Overlap(
        characters=characters,
        tokens=(_marked(mine, left), _marked(theirs, left)),
        char_f1=_f1(sum(end - start for start, end in characters[0]), len(answer), len(right)),
        token_f1=_f1(shared, len(mine), len(theirs)),
    )


def _same_places(size: int, other: int, offset: int) -> tuple[Spans, Spans]:
    start, end = max(0, offset), min(size, offset + other)
    return (((start, end),), ((start - offset, end - offset),)) if end > start else ((), ())


def _same_pieces(answer: str, right: str) -> tuple[Spans, Spans]:
    # Letter by letter, as lower case may be longer than the letter.
    one, other = [letter.lower() for letter in answer[:_LONGEST]], [letter.lower() for letter in right[:_LONGEST]]
    if one == other:
        return (((0, len(answer)),), ((0, len(right)),)) if answer else ((), ())
    least = min(_SHORTEST, (min(len(one), len(other)) + 1) // 2)
    found = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    blocks = [each for each in found if each.size >= max(least, 1)]
    return tuple((each.a, each.a + each.size) for each in blocks), tuple((each.b, each.b + each.size) for each in blocks)


@lru_cache(maxsize=1 << 12)
def _tokens(text: str, normalizer: Normalizer) -> tuple[tuple[tuple[int, int], str], ...]:
    """The tokens of the whole text's normal form, each with its place in the text, or that of its word where it has none alone.

    What normalising leaves of a text is not what it leaves of its words: an article alone may stay.
    """
    pieces = [piece for match in _WORD.finditer(text) for piece in _pieces(match, normalizer)]
    found: list[tuple[tuple[int, int], str]] = []
    place = 0
    for form in normalizer(text).split():
        at = next((row for row in range(place, len(pieces)) if pieces[row][1] == form), None)
        found.append(((0, 0), form) if at is None else pieces[at])
        place = place if at is None else at + 1
    return tuple(found)


def _pieces(word: re.Match[str], normalizer: Normalizer) -> list[tuple[tuple[int, int], str]]:
    """The tokens of one word: where the word is cut, each has the part that reads as it does."""
    forms = _forms(word.group(), normalizer)
    if len(forms) == 1:
        return [(word.span(), forms[0])]
    low = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in word.group())
    spans, place = list[tuple[int, int]](), 0
    for form in forms:
        at = low.find(form, place)
        if at < 0:
            return [(word.span(), each) for each in forms]
        place = at + len(form)
        spans.append((word.start() + at, word.start() + place))
    return list(zip(spans, forms, strict=True))


@lru_cache(maxsize=1 << 16)
def _forms(word: str, normalizer: Normalizer) -> tuple[str, ...]:
    return tuple(normalizer(word).split())


def _marked(tokens: Sequence[tuple[tuple[int, int], str]], shared: Counter[str]) -> Spans:
    left, spans = Counter(shared), list[tuple[int, int]]()
    for span, form in tokens:
        if left[form]:
            left[form] -= 1
            spans.append(span)
    return tuple(dict.fromkeys(span for span in spans if span[0] < span[1]))


def _f1(shared: int, given: int, right: int) -> float:
    return 2 * shared / (given + right) if shared else 0.0
