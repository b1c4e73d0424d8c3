"""Marks in texts: the characters and tokens that an answer shares with a right one, and the words
around an answer.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby, repeat
from typing import Any, NamedTuple

from rankwell.vectors.media.texts import Normalizer

Span = tuple[int, int]
Spans = tuple[Span, ...]
_WORD = re.compile(r"\S+")
# Texts share a few letters by chance, and comparing pages letter by letter would take minutes.
_SHORTEST, _LONGEST = 4, 2000
_AROUND, _LONGEST_CONTEXT = 90, 400
_MARKS = ("", "gold", "predicted", "both")


class Overlap(NamedTuple):
    """The parts that an answer and a right one share.

    characters: spans of shared characters in the answer, and in the right answer.
    tokens: spans of shared tokens in the answer, and in the right answer.
    char_f1: F1 of the characters.
    token_f1: F1 of the tokens, where repeated tokens count repeatedly.
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
    tokens, right_tokens = _tokens(answer, normalizer), _tokens(right, normalizer)
    common = Counter(form for _, form in tokens) & Counter(form for _, form in right_tokens)
    shared = sum(end - start for start, end in characters[0])
    return Overlap(
        characters=characters,
        tokens=(_marked(tokens, common), _marked(right_tokens, common)),
        char_f1=_f1(shared, len(answer), len(right)),
        token_f1=_f1(common.total(), len(tokens), len(right_tokens)),
    )


def _same_pieces(answer: str, right: str) -> tuple[Spans, Spans]:
    # Letter by letter, as lower case may be longer than the letter.
    letters, right_letters = (
        [letter.lower() for letter in text[:_LONGEST]] for text in (answer, right)
    )
    if letters == right_letters:
        return (((0, len(answer)),), ((0, len(right)),)) if answer else ((), ())
    shorter = min(len(letters), len(right_letters))
    least = max(min(_SHORTEST, (shorter + 1) // 2), 1)
    matcher = SequenceMatcher(None, letters, right_letters, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size >= least]
    return (
        tuple((block.a, block.a + block.size) for block in blocks),
        tuple((block.b, block.b + block.size) for block in blocks),
    )


@lru_cache(maxsize=1 << 12)
def _tokens(text: str, normalizer: Normalizer) -> tuple[tuple[Span, str], ...]:
    """The tokens of the normal form of a whole text, each with its place in the text, or that of
    its word.
    """
    pieces = [
        ((match.start() + low, match.start() + high), form)
        for match in _WORD.finditer(text)
        for (low, high), form in _pieces(match.group(), normalizer)
    ]
    tokens: list[tuple[Span, str]] = []
    begin = 0
    for form in normalizer(text).split():
        at = next((row for row in range(begin, len(pieces)) if pieces[row][1] == form), None)
        tokens.append(((0, 0), form) if at is None else pieces[at])
        begin = begin if at is None else at + 1
    return tuple(tokens)


@lru_cache(maxsize=1 << 16)
def _pieces(word: str, normalizer: Normalizer) -> list[tuple[Span, str]]:
    """The tokens of one word: where the word is cut, each has the part that reads as it does."""
    forms, word_span = normalizer(word).split(), (0, len(word))
    lower = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in word)
    pieces, end = list[tuple[Span, str]](), 0
    for form in forms if len(forms) > 1 else ():
        at = lower.find(form, end)
        if at < 0:
            break
        end = at + len(form)
        pieces.append(((at, end), form))
    return pieces if len(pieces) == len(forms) else [(word_span, form) for form in forms]


def _marked(tokens: Sequence[tuple[Span, str]], shared: Counter[str]) -> Spans:
    remaining, spans = Counter(shared), dict[Span, None]()
    for span, form in tokens:
        if remaining[form]:
            remaining[form] -= 1
            spans[span] = None
    return tuple(span for span in spans if span[0] < span[1])


def _f1(shared: int, answer: int, right: int) -> float:
    return 2 * shared / (answer + right) if shared else 0.0


def context(text: str, answer: Span | None, rights: Sequence[Span]) -> dict[str, Any] | None:
    """A cut of a document around an answer, or around the first right one where there is none; None
    where there is neither.

    answer, rights: spans of characters, end exclusive; those outside the document are ignored.
    `text` is the cut, with … where something is left out; `spans` its parts that are `both`
    answered and right, `gold` or `predicted` alone, as start, end and word.
    """
    rights = [span for span in rights if 0 <= span[0] < span[1] <= len(text)]
    if answer is not None and not 0 <= answer[0] < answer[1] <= len(text):
        answer = None
    centre = answer or min(rights, default=None)
    if centre is None:
        return None
    low, high = centre[0] - _AROUND, centre[1] + _AROUND
    near = [centre, *(span for span in rights if low <= span[0] and span[1] <= high)]
    starts, stops = zip(*near, strict=True)
    begin, end = _whole_words(text, max(0, min(starts) - _AROUND), max(stops) + _AROUND)
    end = min(end, begin + _LONGEST_CONTEXT)
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    shift = len(before) - begin
    spans = [
        [start + shift, stop + shift, word]
        for start, stop, word in _marked_parts(answer, rights, begin, end)
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
    marks = [0] * (end - begin)
    for (start, stop), mark in [*zip(rights, repeat(1)), *([(answer, 2)] if answer else [])]:
        for at in range(max(start, begin), min(stop, end)):
            marks[at - begin] |= mark
    parts, stop = list[tuple[int, int, str]](), begin
    for mark, letters in groupby(marks):
        start, stop = stop, stop + len(list(letters))
        if mark:
            parts.append((start, stop, _MARKS[mark]))
    return parts
