"""What an answer and a right one have in common: which characters and which words, in both of them."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from rankwell.texts import Normalizer

Spans = tuple[tuple[int, int], ...]
_TOKEN = re.compile(r"\S+")
# A few letters that two texts happen to share tell nothing, and comparing pages letter by letter would take minutes.
_SHORTEST, _LONGEST = 4, 2000


class Overlap(NamedTuple):
    """Where two texts have the same, as spans of characters, end exclusive.

    characters, tokens: shared ones, in the answer and in the right one.
    char_f1, token_f1: 2 P R / (P + R) of the marked characters, and of the words that leave something in their normal form.
    """

    characters: tuple[Spans, Spans]
    tokens: tuple[Spans, Spans]
    char_f1: float
    token_f1: float


def overlap(answer: str, right: str, *, offset: int | None, normalizer: Normalizer) -> Overlap:
    """What two texts share.

    offset: the place of the right answer less that of the answer, where both are known in one document: then characters are
    shared where they are the same place. Otherwise they are those of common pieces of four letters, or half of the shorter
    text, at least, whatever their case. Words are shared where their normal forms are equal, each once.
    """
    if answer == right and offset in (None, 0):
        spans = tuple(span for span, _ in _tokens(answer, normalizer))
        whole: Spans = ((0, len(answer)),) if answer else ()
        return Overlap((whole, whole), (spans, spans), float(bool(answer)), float(bool(spans)))
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


def _tokens(text: str, normalizer: Normalizer) -> list[tuple[tuple[int, int], str]]:
    """The words with their normal forms; those of which nothing is left are passed over."""
    found = [(match.span(), _form(match.group(), normalizer)) for match in _TOKEN.finditer(text[:_LONGEST])]
    return [(span, form) for span, form in found if form]


@lru_cache(maxsize=1 << 16)
def _form(word: str, normalizer: Normalizer) -> str:
    """The normal form of a word, empty where nothing is left of it."""
    form = normalizer(word)
    return form if form.strip() else ""


def _marked(tokens: Sequence[tuple[tuple[int, int], str]], shared: Counter[str]) -> Spans:
    left, spans = Counter(shared), list[tuple[int, int]]()
    for span, form in tokens:
        if left[form]:
            left[form] -= 1
            spans.append(span)
    return tuple(spans)


def _f1(shared: int, given: int, right: int) -> float:
    return 2 * shared / (given + right) if shared else 0.0
