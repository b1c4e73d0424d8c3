"""The words around an answer: what a page shows of a document, with the answer and the right ones marked in it."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

Span = tuple[int, int]
_AROUND, _LONGEST = 90, 400


def context(text: str, answer: Span | None, rights: Sequence[Span]) -> dict[str, Any] | None:
    """A cut of a document around an answer, or around the first right one where there is none; None where there is neither.

    answer, rights: spans of characters, end exclusive; what lies outside the document is passed over. `text` is the cut, of 400
    characters at most, with … where something is left out; `spans` its parts that are `both` answered and right, `gold` or
    `predicted` alone, as start, end and word, in order.
    """
    known = [span for span in rights if 0 <= span[0] < span[1] <= len(text)]
    mine = answer if answer is not None and 0 <= answer[0] < answer[1] <= len(text) else None
    centre = mine or min(known, default=None)
    if centre is None:
        return None
    near = [centre, *(span for span in known if centre[0] - _AROUND <= span[0] and span[1] <= centre[1] + _AROUND)]
    begin, end = _whole_words(text, max(0, min(start for start, _ in near) - _AROUND), max(stop for _, stop in near) + _AROUND)
    end = min(end, begin + _LONGEST)
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    shift = len(before) - begin
    marks = _marks(mine, known, begin, end)
    return {
        "text": f"{before}{text[begin:end]}{after}",
        "spans": [[start + shift, stop + shift, word] for start, stop, word in marks],
    }


def shortened(text: str, longest: int) -> str:
    """The begin of a text, up to so many characters, with … where more follows."""
    if len(text) <= longest:
        return text
    return text[: _whole_words(text, 0, longest)[1]].rstrip() + " …"


def _whole_words(text: str, begin: int, end: int) -> Span:
    """The cut without the word that it would break at its begin, and that at its end, where these are not too long."""
    if begin:
        blank = text.find(" ", begin, begin + _AROUND // 2)
        begin = begin if blank < 0 else blank + 1
    if end < len(text):
        blank = text.rfind(" ", max(begin, end - _AROUND // 2), end)
        end = end if blank < 0 else blank
    return begin, min(end, len(text))


def _marks(answer: Span | None, rights: Iterable[Span], begin: int, end: int) -> list[tuple[int, int, str]]:
    """The parts of a cut in order, each with what marks it."""
    spans = [(span, True) for span in rights] + ([(answer, False)] if answer is not None else [])
    cuts = sorted({begin, end, *(place for span, _ in spans for place in span if begin < place < end)})
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
