"""Questions with their right answers, and what a system answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, offsets_of, sort_ids
from rankwell.errors import BadInput


@dataclass(frozen=True, eq=False)
class Questions:
    """What is asked and what is right: a row per question in the order of the ids' bytes, and a row per right answer.

    ids, texts: (questions,) the text is "" where unknown. impossible: (questions,) nothing in the document answers it.
    documents: (questions,) the id of the document that was asked about, None where unknown.
    offsets: (questions + 1,) where the answers of each question begin. answers: (answers,) their texts, as given.
    answer_documents: (answers,) ids, None where unknown. starts: (answers,) in characters of the document, -1 where unknown.
    contexts: document id -> its text. attributes: question id -> what else its file says of it.
    evidence: question id -> sets of documents, each of which is enough to answer it, where the file has such sets.
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
    evidence: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict[str, tuple[tuple[str, ...], ...]])

    def __post_init__(self) -> None:
        _check_rows("questions", self.ids, self.offsets, (self.texts, self.impossible, self.documents))
        _check_columns("right answers", int(self.offsets[-1]), (self.answers, self.answer_documents, self.starts))

    @classmethod
    def from_texts(cls, answers: Mapping[str, Sequence[str]], *, impossible: Sequence[str] | None = None) -> "Questions":
        """Questions of which only the right answers' texts are known: id -> texts.

        impossible: their ids; by default the questions without a right answer.
        """
        ids = tuple(sort_ids(answers))
        flagged = {each for each in ids if not answers[each]} if impossible is None else set(impossible)
        texts = [text for each in ids for text in answers[each]]
        return cls(
            ids=ids,
            texts=("",) * len(ids),
            impossible=np.array([each in flagged for each in ids], dtype=np.bool_),
            documents=(None,) * len(ids),
            offsets=offsets_of(np.array([len(answers[each]) for each in ids], dtype=np.int64)),
            answers=tuple(texts),
            answer_documents=(None,) * len(texts),
            starts=np.full(len(texts), -1, dtype=np.int64),
        )

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

    def with_no_answer(self, values: Mapping[str, float]) -> "Predictions":
        """The same answers with a probability or score of there being none, by question id; NaN where the mapping has none."""
        own = np.array([values.get(name, np.nan) for name in self.ids], dtype=np.float64)
        return replace(self, no_answer=own)

    def __post_init__(self) -> None:
        own = () if self.no_answer is None else (self.no_answer,)
        _check_rows("predictions", self.ids, self.offsets, own)
        columns = (self.texts, self.documents, self.starts, self.ends, self.scores)
        _check_columns("predicted answers", int(self.offsets[-1]), columns)

    @classmethod
    def from_texts(
        cls, answers: Mapping[str, Sequence[str | None]], *, no_answer: Mapping[str, float] | None = None
    ) -> "Predictions":
        """Answers of which only the texts are known: question id -> texts, best first.

        no_answer: question id -> probability or score of there being no answer, NaN where it is absent.
        """
        ids = tuple(sort_ids(answers))
        texts = [text for each in ids for text in answers[each]]
        unknown = np.full(len(texts), -1, dtype=np.int64)
        said = None if no_answer is None else np.array([no_answer.get(each, np.nan) for each in ids], dtype=np.float64)
        return cls(
            ids=ids,
            offsets=offsets_of(np.array([len(answers[each]) for each in ids], dtype=np.int64)),
            texts=tuple(texts),
            documents=(None,) * len(texts),
            starts=unknown,
            ends=unknown,
            scores=np.full(len(texts), np.nan),
            no_answer=said,
        )

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
