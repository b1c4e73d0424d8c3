"""Passages and the answers that readers find in them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol


class Passage(NamedTuple):
    """A text in which a reader looks for an answer, with the id of its document."""

    document: str
    text: str


class Answer(NamedTuple):
    """The answer of a reader.

    text: None where the reader finds no answer. score: finite, higher is better. document: the id
    of the passage that
    holds it, None where unknown. start, end: in characters of that passage, end exclusive, -1 where
    unknown.
    """

    text: str | None
    score: float
    document: str | None = None
    start: int = -1
    end: int = -1


class Reader(Protocol):
    """A reader that extracts answers to a question from passages."""

    def read(self, question: str, passages: Sequence[Passage], k: int) -> list[Answer]:
        """The best `k` answers with a text, and one that says there is none, best first; only that
        one where nothing is read.
        """
        ...


def ranked(answers: Iterable[Answer]) -> list[Answer]:
    """The answers by score descending; those of one score keep their order, but that there is none
    comes after the others.
    """
    return sorted(answers, key=lambda answer: (-answer.score, answer.text is None))
