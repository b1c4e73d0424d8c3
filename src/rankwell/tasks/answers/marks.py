"""Marks in texts: the characters and tokens that an answer shares with a right one, and the words
around an answer.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from rankwell.media.texts import Normalizer

Span = tuple[int, int]
Spans = tuple[Span, ...]
_WORD = re.compile(r"\S+")
# Texts share a few letters by chance, and comparing pages letter by letter would take minutes.
_SHORTEST, _LONGEST = 4, 2000
_AROUND, _LONGEST_CONTEXT = 90, 400


class Overlap(NamedTuple):
    """The parts that an answer (first) and a right one share, as spans of characters, and the F1 of
    both kinds of parts.
    """

    characters: tuple[Spans, Spans]
    tokens: tuple[Spans, Spans]
    char_f1: float
    token_f1: float


def overlap(answer: str, right: str, *, offset: int | None, normalizer: Normalizer) -> Overlap:
    """The characters and tokens that two texts share; tokens are those of their normal forms, each
    shared once.

    offset: the place of the right answer less that of the answer, where both are known in one
    document: then characters are shared where they are the same place. Otherwise they are those of
    common pieces of four letters, or half of the shorter text.
    """
    if offset is None:
        characters = _same_pieces(answer, right)
    else:
        start, end = max(0, offset), min(len(answer), offset + len(right))
        characters = (
            (((start, end),), ((start - offset, end - offset),)) if end > start else ((), ())
        )
    mine, theirs = _tokens(answer, normalizer), _tokens(right, normalizer)
    left = Counter(form for _, form in mine) & Counter(form for _, form in theirs)
    shared = sum(end - start for start, end in characters[0])
    return Overlap(
        characters=characters,
        tokens=(_marked(mine, left), _marked(theirs, left)),
        char_f1=_f1(shared, len(answer), len(right)),
        token_f1=_f1(left.total(), len(mine), len(theirs)),
    )


def _same_pieces(answer: str, right: str) -> tuple[Spans, Spans]:
    # Letter by letter, as lower case may be longer than the letter.
    one, other = (
        [letter.lower() for letter in answer[:_LONGEST]],
        [letter.lower() for letter in right[:_LONGEST]],
    )
    if one == other:
        return (((0, len(answer)),), ((0, len(right)),)) if answer else ((), ())
    least = max(min(_SHORTEST, (min(len(one), len(other)) + 1) // 2), 1)
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    starts = [(a, b, size) for a, b, size in blocks if size >= least]
    return tuple((a, a + size) for a, _, size in starts), tuple(
        (b, b + size) for _, b, size in starts
    )


@lru_cache(maxsize=1 << 12)
def _tokens(text: str, normalizer: Normalizer) -> tuple[tuple[Span, str], ...]:
    """The tokens of the normal form of a whole text, each with its place in the text, or that of
    its word.
    """
    words = [(match.start(), match.group()) for match in _WORD.finditer(text)]
    pieces = [
        ((at + low, at + high), form)
        for at, word in words
        for (low, high), form in _pieces(word, normalizer)
    ]
    found: list[tuple[Span, str]] = []
    place = 0
    for form in normalizer(text).split():
        at = next((row for row in range(place, len(pieces)) if pieces[row][1] == form), None)
        found.append(((0, 0), form) if at is None else pieces[at])
        place = place if at is None else at + 1
    return tuple(found)


@lru_cache(maxsize=1 << 16)
def _pieces(word: str, normalizer: Normalizer) -> list[tuple[Span, str]]:
    """The tokens of one word: where the word is cut, each has the part that reads as it does."""
    forms, whole = normalizer(word).split(), (0, len(word))
    if len(forms) == 1:
        return [(whole, forms[0])]
    low = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in word)
    found, place = list[tuple[Span, str]](), 0
    for form in forms:
        at = low.find(form, place)
        if at < 0:
            return [(whole, each) for each in forms]
        place = at + len(form)
        found.append(((at, place), form))
    return found


def _marked(tokens: Sequence[tuple[Span, str]], shared: Counter[str]) -> Spans:
    left, spans = Counter(shared), list[Span]()
    for span, form in tokens:
        if left[form]:
            left[form] -= 1
            spans.append(span)
    return tuple(dict.fromkeys(span for span in spans if span[0] < span[1]))


def _f1(shared: int, given: int, right: int) -> float:
    return 2 * shared / (given + right) if shared else 0.0


def context(text: str, answer: Span | None, rights: Sequence[Span]) -> dict[str, Any] | None:
    """A cut of a document around an answer, or around the first right one where there is none; None
    where there is neither.

    answer, rights: spans of characters, end exclusive; those outside the document are ignored.
    `text` is the cut, with … where something is left out; `spans` its parts that are `both`
    answered and right, `gold` or `predicted` alone, as start, end and word.
    """
    known = [span for span in rights if 0 <= span[0] < span[1] <= len(text)]
    mine = answer if answer is not None and 0 <= answer[0] < answer[1] <= len(text) else None
    centre = mine or min(known, default=None)
    if centre is None:
        return None
    near = [
        centre,
        *(
            span
            for span in known
            if centre[0] - _AROUND <= span[0] and span[1] <= centre[1] + _AROUND
        ),
    ]
    begin, end = _whole_words(
        text,
        max(0, min(start for start, _ in near) - _AROUND),
        max(stop for _, stop in near) + _AROUND,
    )
    end = min(end, begin + _LONGEST_CONTEXT)
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    shift = len(before) - begin
    spans = [
        [start + shift, stop + shift, word]
        for start, stop, word in _marked_parts(mine, known, begin, end)
    ]
    return {"text": f"{before}{text[begin:end]}{after}", "spans": spans}


def shortened(text: str, longest: int) -> str:
    """The begin of a text, up to so many characters, with … where more follows."""
    if len(text) <= longest:
        return text
    return text[: _whole_words(text, 0, longest)[1]].rstrip() + " …"


def _whole_words(text: str, begin: int, end: int) -> Span:
    """The cut without the word that it would break at its begin, and that at its end, where these
    are not too long.
    """
    if begin:
        blank = text.find(" ", begin, begin + _AROUND // 2)
        begin = begin if blank < 0 else blank + 1
    if end < len(text):
        blank = text.rfind(" ", max(begin, end - _AROUND // 2), end)
        end = end if blank < 0 else blank
    return begin, min(end, len(text))


def _marked_parts(
    answer: Span | None, rights: Iterable[Span], begin: int, end: int
) -> list[tuple[int, int, str]]:
    """The parts of a cut in order, each with what marks it."""
    spans = [(span, True) for span in rights] + ([(answer, False)] if answer is not None else [])
    cuts = sorted(
        {begin, end, *(place for span, _ in spans for place in span if begin < place < end)}
    )
    found: list[tuple[int, int, str]] = []
    for start, stop in pairwise(cuts):
        kinds = {is_right for span, is_right in spans if span[0] <= start and stop <= span[1]}
        if not kinds:
            continue
        word = "both" if len(kinds) == 2 else "gold" if True in kinds else "predicted"
        if found and found[-1][1:] == (start, word):
            start = found.pop()[0]
        found.append((start, stop, word))
    return found
