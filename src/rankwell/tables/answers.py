"""Questions with their right answers, and what a system answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rankwell.errors import BadInput
from rankwell.tables import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Questions:
    """What is asked and what is right: a row per question in the order of the ids' bytes, and a row per right answer.

    ids, texts: (questions,) the text is "" where unknown. impossible: (questions,) nothing in the document answers it.
    documents: (questions,) the id of the document that was asked about, None where unknown.
    offsets: (questions + 1,) where the answers of each question begin. answers: (answers,) their texts, as given.
    answer_documents: (answers,) ids, None where unknown. starts: (answers,) in characters of the document, -1 where unknown.
    contexts: document id -> its text. attributes: question id -> what else its file says of it.
    Raises BadInput where lengths differ or an id comes twice.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    impossible: Bools
    documents: tuple[str | None, ...]
    offsets: Ints
    answers: tuple[str, ...]
    answer_documents: tuple[str | None, ...]
    starts: Ints
    contexts: Mapping[str, str] = field(default_factory=dict[str, str])
    attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    def __post_init__(self) -> None:
        _check_rows("questions", self.ids, self.offsets, (self.texts, self.impossible, self.documents))
        _check_columns("right answers", int(self.offsets[-1]), (self.answers, self.answer_documents, self.starts))

    @cached_property
    def question_of_row(self) -> Ints:
        """(answers,) the index of each right answer's question."""
        return np.repeat(np.arange(len(self.ids), dtype=np.int64), np.diff(self.offsets))


@dataclass(frozen=True, eq=False)
class Predictions:
    """Ranked answers of one system: a row per question that it was given, in the order of the ids' bytes, and a row per answer.

    ids: (questions,). offsets: (questions + 1,) where the answers of each begin, best first.
    texts: (answers,) None, or "", says that there is no answer. documents: (answers,) None where unknown.
    starts, ends: (answers,) in characters of the document, end exclusive, -1 where unknown. scores: (answers,) NaN where unknown.
    no_answer: (questions,) the probability or score of there being no answer, NaN where unknown; None where nothing says it.
    Raises BadInput where lengths differ or an id comes twice.
    """

    ids: tuple[str, ...]
    offsets: Ints
    texts: tuple[str | None, ...]
    documents: tuple[str | None, ...]
    starts: Ints
    ends: Ints
    scores: Floats
    no_answer: Floats | None = None

    def __post_init__(self) -> None:
        own = () if self.no_answer is None else (self.no_answer,)
        _check_rows("predictions", self.ids, self.offsets, own)
        columns = (self.texts, self.documents, self.starts, self.ends, self.scores)
        _check_columns("predicted answers", int(self.offsets[-1]), columns)

    @cached_property
    def question_of_row(self) -> Ints:
        """(answers,) the index of each answer's question."""
        return np.repeat(np.arange(len(self.ids), dtype=np.int64), np.diff(self.offsets))


def _check_rows(what: str, ids: tuple[str, ...], offsets: Ints, columns: tuple[Any, ...]) -> None:
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise BadInput(f"{what}: the id {twice!r} comes twice; give each question an id of its own.")
    _check_columns(what, len(ids), columns)
    if offsets.shape != (len(ids) + 1,) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
        raise BadInput(f"{what}: offsets of shape {offsets.shape} do not divide rows among {len(ids)} questions.")


def _check_columns(what: str, size: int, columns: tuple[Any, ...]) -> None:
    wrong = next((column for column in columns if len(column) != size), None)
    if wrong is not None:
        raise BadInput(f"{what}: a column has {len(wrong)} rows, another {size}; give every column one length.")
