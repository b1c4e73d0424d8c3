"""Things that we run to be judged: search engines, readers, whatever ranks items for a question. One file each."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from rankwell.core.catalogue import entry_points_of, load_entry_point
from rankwell.core.catalogue import load_anything as load_anything
from rankwell.core.catalogue import load_object as load_object

GROUP = "rankwell.engines"
"""The entry points by which other packages add engines under a name."""


def find_engine(text: str) -> Any:
    """The object that `module:object` names, or the engine that another package adds under this name; see `load_object`."""
    if ":" not in text and text in entry_points_of(GROUP):
        return load_entry_point(GROUP, text)
    return load_anything(text)


class System(Protocol):
    """A system that ranks documents for a question."""

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        """The best `k` documents as (id, score), best first; fewer where fewer match, none for an empty query."""
        ...


class Passage(NamedTuple):
    """A text in which a reader looks for an answer, with the id of its document."""

    document: str
    text: str


class Answer(NamedTuple):
    """The answer of a reader.

    text: None where the reader finds no answer. score: finite, higher is better. document: the id of the passage that
    holds it, None where unknown. start, end: in characters of that passage, end exclusive, -1 where unknown.
    """

    text: str | None
    score: float
    document: str | None = None
    start: int = -1
    end: int = -1


class Reader(Protocol):
    """A reader that extracts answers to a question from passages."""

    def read(self, question: str, passages: Sequence[Passage], k: int) -> list[Answer]:
        """The best `k` answers with a text, and one that says there is none, best first; only that one where nothing is read."""
        ...


def ranked(answers: Iterable[Answer]) -> list[Answer]:
    """The answers by score descending; those of one score keep their order, but that there is none comes after the others."""
    return sorted(answers, key=lambda answer: (-answer.score, answer.text is None))
