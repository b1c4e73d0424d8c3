"""Passages of documents: the gold ones of a question, and the chunks retrieved for it, as positions
and as texts.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, NamedTuple

from rankwell.errors import BadUsage, flag
from rankwell.tasks.rag.tokens import Positions, Unit, tokenizer_of

Span = tuple[int, int]


class DocumentPassage(NamedTuple):
    """A part of a document.

    document: id of the document; None where only the text is known.
    start, end: positions in characters, end exclusive; -1 where unknown.
    text: text of the passage; None where unknown.
    """

    document: str | None
    start: int = -1
    end: int = -1
    text: str | None = None

    @property
    def span(self) -> Span:
        """The position in characters."""
        return self.start, self.end


@dataclass(frozen=True, eq=False)
class RetrievedPassages:
    """The passages of each question.

    queries: ids of the questions.
    gold: for each question the passages that hold the answer.
    chunks: for each question the retrieved chunks, best first.
    documents: document id -> text, for counts of words.
    every_chunk: all chunks of the collection; empty where they are unknown.
    """

    needs: ClassVar[str] = "retrieved chunks and gold passages with their positions or texts"
    command: ClassVar[str] = "rag"
    queries: tuple[str, ...]
    gold: tuple[tuple[DocumentPassage, ...], ...]
    chunks: tuple[tuple[DocumentPassage, ...], ...]
    documents: Mapping[str, str] = field(default_factory=dict[str, str])
    every_chunk: tuple[DocumentPassage, ...] = ()
    _words: dict[tuple[Unit, str], Positions] = field(
        default_factory=dict[tuple[Unit, str], Positions]
    )

    def spans(self, passages: Iterable[DocumentPassage], unit: Unit) -> dict[str, list[Span]]:
        """The parts of each document that passages cover, in units, as disjoint spans in order.

        A word of `tokenizer_of` is covered where one of its characters is. Raises BadUsage for a
        passage without a position, and for words of an unknown text.
        """
        spans_of_document: dict[str, list[Span]] = {}
        for passage in passages:
            if passage.document is None or passage.start < 0:
                raise BadUsage(
                    f"a passage without a position ({(passage.text or '')[:40]!r}); give document, "
                    "start and end, or choose ContextP and ContextR, which compare texts."
                )
            spans_of_document.setdefault(passage.document, []).append(
                passage.span if unit == "characters" else self._in_words(passage, unit)
            )
        return {document: merged(spans) for document, spans in spans_of_document.items()}

    def _in_words(self, passage: DocumentPassage, unit: Unit) -> Span:
        document = str(passage.document)
        if (unit, document) not in self._words:
            positions = tokenizer_of(unit).positions
            if document not in self.documents:
                raise BadUsage(
                    f"unit={unit!r}: the text of the document {document!r} is unknown; name a file "
                    f"with it by {flag('--documents')}."
                )
            self._words[unit, document] = positions(self.documents[document])
        starts, ends = self._words[unit, document]
        first = bisect_right(ends, passage.start)
        return first, max(first, bisect_left(starts, passage.end))


def merged(spans: Iterable[Span]) -> list[Span]:
    """The union of spans, as disjoint ones in order."""
    disjoint: list[Span] = []
    for start, end in sorted(spans):
        if disjoint and start <= disjoint[-1][1]:
            disjoint[-1] = disjoint[-1][0], max(disjoint[-1][1], end)
        else:
            disjoint.append((start, end))
    return disjoint


def size(spans: Iterable[Span]) -> int:
    """The sum of the lengths of spans."""
    return sum(end - start for start, end in spans)


def shared(spans: Sequence[Span], other_spans: Sequence[Span]) -> int:
    """The size of the intersection of two unions of spans."""
    return (
        size(spans) + size(other_spans) - size(merged([*spans, *other_spans]))
        if spans and other_spans
        else 0
    )


@lru_cache(maxsize=1 << 12)
def folded(text: str) -> str:
    """A text in one normal form of Unicode (NFC), with one blank for white space and none at its
    ends; case is kept.
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


def holds(text: str, part: str) -> bool:
    """Whether a folded text holds another, which is not empty; a single word as a word, so that
    `9th` is not in `19th`.
    """
    if part == "" or " " in part:
        return part != "" and part in text
    start = text.find(part)
    while start >= 0 and _is_inside_word(text, start, start + len(part)):
        start = text.find(part, start + 1)
    return start >= 0


def _is_inside_word(text: str, start: int, stop: int) -> bool:
    """Whether a letter that has case, or a digit, stands on both sides of an end; other scripts do
    without blanks.
    """
    ends = (text[max(position - 1, 0) : position + 1] for position in (start, stop))
    return any(
        len(end) == 2
        and all(letter.isdecimal() or letter.upper() != letter.lower() for letter in end)
        for end in ends
    )


def are_nested(chunk: str, passage: str) -> bool:
    """Whether a folded chunk holds a folded gold passage or is a part of one; what has no text
    neither holds nor is held.
    """
    return chunk != "" and (holds(chunk, passage) or holds(passage, chunk))
