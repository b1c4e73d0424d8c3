"""Questions with their right answers, ranked answers of a system, and both joined."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np

from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    columns_of,
    order_ids,
    position_in_segment,
    positions_by_id,
    segment_of_row,
    segment_offsets,
    take_segments,
)
from rankwell.documents import repeated_name
from rankwell.errors import BadInput, NothingToEvaluate
from rankwell.vectors.media.texts import normalize_all, normalizer

Impossible = Literal["unanswered", "flagged"]
Missing = Literal["zero", "empty", "skip", "error"]
Extra = Literal["ignore", "error"]
Row = TypeVar("Row")


class RankedAnswer(NamedTuple):
    """One answer of a system to a question.

    rank: rank in the list of answers, from 1.
    text: text of the answer; None where it says that there is no answer.
    document: id of the document; None where unknown.
    start, end: positions in the characters of the document, end exclusive; -1 where unknown.
    score: score of the answer; NaN where unknown.
    """

    rank: int
    text: str | None
    document: str | None
    start: int
    end: int
    score: float


class RightAnswer(NamedTuple):
    """A right answer to a question.

    text: text of the answer as given.
    document: id of the document; None where unknown.
    start: position in the characters of the document; -1 where unknown.
    """

    text: str
    document: str | None
    start: int


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions and their right answers, as `read_questions` reads them.

    A row per question in the order of the ids' bytes, and a row per right answer.

    Raises BadInput where lengths differ or an id appears twice.

    ids: (questions,) ids of the questions, all different.
    texts: (questions,) texts of the questions; empty where unknown.
    impossible: (questions,) whether nothing in the document answers it.
    documents: (questions,) id of the document that the question is about; None where unknown.
    offsets: (questions + 1,) where the answers of each question begin.
    answers: (answers,) texts of the right answers as given.
    answer_documents: (answers,) ids of the documents; None where unknown.
    starts: (answers,) positions in the characters of the document; -1 where unknown.
    contexts: document id -> its text.
    attributes: question id -> further attributes in its file.
    evidence: question id -> sets of documents, each of which is enough to answer it; empty where
        the file has no such sets.

    >>> import rankwell as rw
    >>> rw.Questions.from_texts({"q1": ["Paris"], "q2": ["Rome", "Roma"]}).answers
    ('Paris', 'Rome', 'Roma')
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
    attributes: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict[str, Mapping[str, Any]]
    )
    evidence: Mapping[str, tuple[tuple[str, ...], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, ...], ...]]
    )

    def __post_init__(self) -> None:
        _check_rows(
            "questions", self.ids, self.offsets, (self.texts, self.impossible, self.documents)
        )
        _check_columns(
            "right answers",
            int(self.offsets[-1]),
            (self.answers, self.answer_documents, self.starts),
        )

    @cached_property
    def rights(self) -> dict[str, list[RightAnswer]]:
        """The right answers of each question."""
        columns = (self.answers, self.answer_documents, self.starts.tolist())
        rows = list(map(RightAnswer._make, zip(*columns, strict=True)))
        return _lists(self.ids, self.offsets, rows)

    @classmethod
    def from_texts(
        cls, answers: Mapping[str, Sequence[str]], *, impossible: Sequence[str] | None = None
    ) -> "Questions":
        """Questions of which only the right answers' texts are known: id -> texts.

        impossible: their ids; by default the questions without a right answer.
        """
        flagged = {name for name in answers if not answers[name]}
        flagged = flagged if impossible is None else set(impossible)
        return cls.from_lists(
            [(name, "", name in flagged, None) for name in answers],
            [[(text, None, -1) for text in texts] for texts in answers.values()],
        )

    @classmethod
    def from_lists(
        cls,
        rows: Sequence[tuple[str, str, bool, str | None]],
        lists: Sequence[Sequence[tuple[str, str | None, int]]],
        **kept: Any,
    ) -> "Questions":
        """The questions (id, text, impossible, document), and the right answers (text, document,
        start) to each. kept: the other fields.
        """
        order: list[int] = order_ids([name for name, *_ in rows]).tolist()
        ids, texts, impossible, documents = map(tuple, columns_of([rows[row] for row in order], 4))
        offsets, (answers, answer_documents, starts) = _flat([lists[row] for row in order], 3)
        return cls(
            ids,
            texts,
            np.array(impossible, dtype=np.bool_),
            documents,
            offsets,
            answers,
            answer_documents,
            np.array(starts, dtype=np.int64),
            **kept,
        )


@dataclass(frozen=True, eq=False)
class Predictions:
    """Ranked answers of one system, as `read_predictions` reads them.

    A row per question that the system was given, in the order of the ids' bytes, and a row per
    answer.

    Raises BadInput where lengths differ or an id appears twice.

    ids: (questions,) ids of the questions, all different.
    offsets: (questions + 1,) where the answers of each question begin, best first.
    texts: (answers,) texts of the answers; None or an empty text says that there is no answer.
    documents: (answers,) ids of the documents; None where unknown.
    starts: (answers,) position of the first character in the document; -1 where unknown.
    ends: (answers,) position after the last character in the document; -1 where unknown.
    scores: (answers,) scores of the answers; NaN where unknown.
    no_answer: (questions,) probability or score that there is no answer, NaN where unknown; None
        where it is unknown for all.

    >>> import rankwell as rw
    >>> rw.Predictions.from_texts({"q1": ["Paris", "Lyon"]}).texts
    ('Paris', 'Lyon')
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
        """The same answers with a probability or score of there being none, by question id; NaN
        where the mapping has none.
        """
        return replace(
            self,
            no_answer=np.array([values.get(name, np.nan) for name in self.ids], dtype=np.float64),
        )

    def __post_init__(self) -> None:
        odds = () if self.no_answer is None else (self.no_answer,)
        _check_rows("predictions", self.ids, self.offsets, odds)
        columns = (self.texts, self.documents, self.starts, self.ends, self.scores)
        _check_columns("predicted answers", int(self.offsets[-1]), columns)

    @cached_property
    def ranked(self) -> dict[str, list[RankedAnswer]]:
        """The answers to each question, best first."""
        ranks = (position_in_segment(self.offsets) + 1).tolist()
        spans = (self.starts.tolist(), self.ends.tolist(), self.scores.tolist())
        rows = zip(ranks, self.texts, self.documents, *spans, strict=True)
        return _lists(self.ids, self.offsets, list(map(RankedAnswer._make, rows)))

    @classmethod
    def from_texts(
        cls,
        answers: Mapping[str, Sequence[str | None]],
        *,
        no_answer: Mapping[str, float] | None = None,
    ) -> "Predictions":
        """Answers of which only the texts are known: question id -> texts, best first.

        no_answer: question id -> probability or score of there being no answer, NaN where it is
        absent.
        """
        lists = [[(text, None, -1, -1, np.nan) for text in texts] for texts in answers.values()]
        table = cls.from_lists(list(answers), lists)
        return table if no_answer is None else table.with_no_answer(no_answer)

    @classmethod
    def from_lists(
        cls,
        names: Sequence[str],
        lists: Sequence[Sequence[tuple[Any, ...]]],
        no_answer: Sequence[float] | None = None,
    ) -> "Predictions":
        """The answers (text, document, start, end, score) to each question, best first; see the
        class for what is unknown.
        """
        order: list[int] = order_ids(names).tolist()
        offsets, (texts, documents, starts, ends, scores) = _flat([lists[row] for row in order], 5)
        return cls(
            ids=tuple(names[row] for row in order),
            offsets=offsets,
            texts=texts,
            documents=documents,
            starts=np.array(starts, dtype=np.int64),
            ends=np.array(ends, dtype=np.int64),
            scores=np.array(scores, dtype=np.float64),
            no_answer=None
            if no_answer is None
            else np.array([no_answer[row] for row in order], dtype=np.float64),
        )


def _flat(
    lists: Sequence[Sequence[tuple[Any, ...]]], width: int
) -> tuple[Ints, Sequence[tuple[Any, ...]]]:
    """The begin of each list in the columns of all rows, and these columns."""
    offsets = segment_offsets(np.array(list(map(len, lists)), dtype=np.int64))
    return offsets, list(map(tuple, columns_of(chain.from_iterable(lists), width)))


def _lists(ids: Sequence[str], offsets: Ints, rows: list[Row]) -> dict[str, list[Row]]:
    """The rows of each question."""
    bounds = zip(ids, pairwise(offsets.tolist()), strict=True)
    return {name: rows[begin:end] for name, (begin, end) in bounds}


def unmatched(
    questions: Questions, predictions: Predictions
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of questions without a prediction, and of predictions without a question, in the
    order of their tables.
    """
    ids, answered = set(questions.ids), set(predictions.ids)
    missing = tuple(name for name in questions.ids if name not in answered)
    return missing, tuple(name for name in predictions.ids if name not in ids)


class NormalForms(NamedTuple):
    """The numbered normal forms of the answers to some questions.

    texts: (forms,) the normal forms, all different.
    vanished: (forms,) whether the form is nothing but white space.
    answers: (answers,) the number of each answer's form.
    right: (right answers,) the number of each right answer's form.
    """

    texts: tuple[str, ...]
    vanished: Bools
    answers: Ints
    right: Ints


@dataclass(frozen=True, eq=False)
class AnswerPairs:
    """Questions with their right answers and the answers of a system, as measures read them.

    queries: (questions,) ids of the questions.
    impossible: (questions,) whether the only right answer is to give none.
    missing: (questions,) whether the question is 0 by every measure, as it has no prediction.
    right_offsets: (questions + 1,) where the right answers of each question begin.
    right_answers: (right answers,) texts of the right answers.
    right_documents: (right answers,) numbers of the documents; all unknown documents have the same
        number.
    right_starts, right_ends: (right answers,) positions in characters, end exclusive; -1 where
        unknown.
    offsets: (questions + 1,) where the ranked answers of each question begin.
    texts: (answers,) texts of the answers; None or a blank text says that there is no answer.
    documents: (answers,) numbers of the documents, as in `right_documents`.
    starts, ends: (answers,) positions, as in `right_starts` and `right_ends`.
    no_answer: (questions,) probability or score that there is no answer; NaN where unknown.
    retrieved: (questions,) whether the retriever found what an answer needs; None where that is
        unknown.
    question_texts: (questions,) texts of the questions; empty or None where unknown.
    positions: the reason why rules on positions cannot be applied; empty where they can.
    cache: results that measures have computed, for other cut-offs.
    """

    needs: ClassVar[str] = "answers to questions whose right answers are known"
    command: ClassVar[str] = "qa"
    queries: tuple[str, ...]
    impossible: Bools
    missing: Bools
    right_offsets: Ints
    right_answers: tuple[str, ...]
    right_documents: Ints
    right_starts: Ints
    right_ends: Ints
    offsets: Ints
    texts: tuple[str | None, ...]
    documents: Ints
    starts: Ints
    ends: Ints
    no_answer: Floats
    retrieved: Bools | None = None
    question_texts: tuple[str | None, ...] = ()
    positions: str = ""
    cache: dict[Any, Any] = field(default_factory=dict[Any, Any], repr=False)

    @classmethod
    def pair(
        cls,
        questions: Questions,
        predictions: Predictions,
        *,
        impossible: Impossible = "unanswered",
        missing: Missing = "zero",
        extra: Extra = "ignore",
        retrieved: Mapping[str, bool] | None = None,
    ) -> "AnswerPairs":
        """The questions in their order, each with the answers that it was given.

        impossible: a question is impossible if it is `unanswered`, that is without a right answer,
        or only if it is `flagged` besides; one that is neither is answerable and never answered.
        missing: a question without a prediction counts `zero`, as one that was answered by an
        `empty` list, is left out (`skip`), or is an `error`; extra: likewise a prediction without a
        question. retrieved: question id -> whether what its answer needs was retrieved; not, where
        it is absent.
        Raises BadInput for what is an error, NothingToEvaluate where no question has a prediction.
        """
        _check(questions, predictions, (missing, extra))
        # A question without a prediction has the empty list after the last one.
        n = len(predictions.ids)
        row_of = positions_by_id(predictions.ids)
        columns = np.array([row_of.get(name, n) for name in questions.ids], dtype=np.int64)
        rows, offsets = take_segments(
            np.append(predictions.offsets, predictions.offsets[-1]), columns
        )
        no_answer = np.full(n, np.nan) if predictions.no_answer is None else predictions.no_answer
        documents = dict.fromkeys((*questions.answer_documents, *predictions.documents))
        codes = positions_by_id(documents)
        lengths = np.array(list(map(len, questions.answers)), dtype=np.int64)
        lost, unanswered = columns == n, np.diff(questions.offsets) == 0
        view = cls(
            queries=questions.ids,
            impossible=unanswered & questions.impossible if impossible == "flagged" else unanswered,
            missing=lost if missing == "zero" else np.zeros_like(lost),
            right_offsets=questions.offsets,
            right_answers=questions.answers,
            right_documents=_coded(questions.answer_documents, codes),
            right_starts=questions.starts,
            right_ends=np.where(questions.starts < 0, -1, questions.starts + lengths),
            offsets=offsets,
            texts=_taken(predictions.texts, rows),
            documents=_coded(predictions.documents, codes)[rows],
            starts=predictions.starts[rows],
            ends=predictions.ends[rows],
            no_answer=np.append(no_answer, np.nan)[columns],
            retrieved=None
            if retrieved is None
            else np.array([bool(retrieved.get(name)) for name in questions.ids], dtype=np.bool_),
            question_texts=questions.texts,
            positions=_without_positions(questions, predictions),
        )
        return view.take(np.flatnonzero(~lost)) if missing == "skip" else view

    def take(self, queries: Ints, single: Ints | None = None) -> "AnswerPairs":
        """The view of some questions only, in the order given by their indices. single: the row of
        the only answer of each.
        """
        right_rows, right_offsets = take_segments(self.right_offsets, queries)
        rows, offsets = (
            take_segments(self.offsets, queries)
            if single is None
            else (single, np.arange(len(single) + 1))
        )
        columns: dict[str, Any] = {}
        for column_rows, names in (
            (
                queries,
                ("queries", "impossible", "missing", "no_answer", "retrieved", "question_texts"),
            ),
            (right_rows, ("right_answers", "right_documents", "right_starts", "right_ends")),
            (rows, ("texts", "documents", "starts", "ends")),
        ):
            columns |= {name: _taken(getattr(self, name), column_rows) for name in names}
        return replace(self, **columns, right_offsets=right_offsets, offsets=offsets, cache={})

    def without_refusals(self, refusals: Sequence[str]) -> "AnswerPairs":
        """The view in which an answer that reads like one of the refusals is none, unless it is a
        right one; see `AnswerConvention`.
        """
        form_of = normalizer("squad")
        begins = tuple(form_of(text) + " " for text in refusals if text.endswith("*"))
        whole = {form_of(text) for text in refusals if not text.endswith("*")}
        forms = self.normal_forms("squad")
        # The normal form keeps a typographic apostrophe.
        plain = [form.replace("’", "") for form in forms.texts]
        is_refusal = [form in whole or f"{form} ".startswith(begins) for form in plain]
        bounds, right = self.right_offsets.tolist(), forms.right.tolist()
        rows = zip(self.texts, forms.answers.tolist(), self.question_of_row.tolist(), strict=True)
        texts = [
            None if is_refusal[form] and form not in right[bounds[row] : bounds[row + 1]] else text
            for text, form, row in rows
        ]
        return replace(self, texts=tuple(texts), cache={})

    @cached_property
    def question_of_row(self) -> Ints:
        """The index of each answer's question: (answers,)."""
        return segment_of_row(self.offsets)

    @cached_property
    def ranks(self) -> Ints:
        """The place of each answer in its list, from 1: (answers,)."""
        return position_in_segment(self.offsets) + 1

    def normal_forms(self, name: str) -> NormalForms:
        """The normal forms of all answers, given and right, under a normaliser; computed once.
        Raises UnknownName.
        """
        if name not in self.cache:
            texts = [text or "" for text in self.texts]
            forms = normalize_all([*texts, *self.right_answers], normalizer(name))
            number: dict[str, int] = {}
            codes = {text: number.setdefault(form, len(number)) for text, form in forms.items()}
            vanished = np.array([not form or form.isspace() for form in number], dtype=np.bool_)
            self.cache[name] = NormalForms(
                tuple(number), vanished, _coded(texts, codes), _coded(self.right_answers, codes)
            )
        return self.cache[name]


def is_blank(text: str | None) -> bool:
    """Whether the text of an answer says that there is none."""
    return text is None or not text.strip()


def place_or_none(start: int) -> int | None:
    """A place in a text, None where it is unknown."""
    return None if start < 0 else start


def _taken(column: Any, rows: Ints) -> Any:
    """The chosen rows of a column, which may be an array, a tuple or unknown."""
    if isinstance(column, tuple):
        return tuple(column[row] for row in rows.tolist())
    return None if column is None else column[rows]


def _coded(names: Sequence[str | None], codes: Mapping[Any, int]) -> Ints:
    return np.fromiter(map(codes.__getitem__, names), dtype=np.int64, count=len(names))


def _check(questions: Questions, predictions: Predictions, policies: Sequence[str]) -> None:
    missing, extra = unmatched(questions, predictions)
    if len(missing) == len(questions.ids):
        example = ""
        if questions.ids and predictions.ids:
            example = (
                f" (questions have ids like {questions.ids[0]!r}, predictions like "
                f"{predictions.ids[0]!r})"
            )
        raise NothingToEvaluate(
            f"none of the {len(questions.ids)} questions has a prediction{example}; are these the "
            "predictions of another data set?"
        )
    kinds = ("question without a prediction", "prediction without a question")
    for names, policy, kind in zip((missing, extra), policies, kinds, strict=True):
        if names and policy == "error":
            raise BadInput(
                f"{len(names)} × {kind}, the first {names[0]!r}; complete the files, or choose "
                "another policy."
            )


def _without_positions(questions: Questions, predictions: Predictions) -> str:
    """Why rules about positions cannot be applied, or the empty string."""
    answered = not all(map(is_blank, predictions.texts))
    for kind, starts, has_texts in (
        ("right", questions.starts, len(questions.starts)),
        ("predicted", predictions.starts, answered),
    ):
        if has_texts and not (starts >= 0).any():
            return (
                f"the {kind} answers have no positions in their documents, which this rule "
                "compares; take a convention that compares texts, such as squad2 or piaf-article."
            )
    return ""


def answer_pairs(
    right: Mapping[str, Sequence[str]], answers: Mapping[str, Sequence[str | None]]
) -> AnswerPairs:
    """The view of texts alone: question id -> right answers (none: impossible), and question id ->
    ranked answers.
    """
    return AnswerPairs.pair(Questions.from_texts(right), Predictions.from_texts(answers))


def _check_rows(kind: str, ids: tuple[str, ...], offsets: Ints, columns: tuple[Any, ...]) -> None:
    if len(set(ids)) < len(ids):
        raise BadInput(
            f"{kind}: the id {repeated_name(ids)!r} appears twice; give each question an id of "
            "its own."
        )
    _check_columns(kind, len(ids), columns)
    if offsets.shape != (len(ids) + 1,) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
        raise BadInput(
            f"{kind}: offsets of shape {offsets.shape} do not divide rows among {len(ids)} "
            "questions."
        )


def _check_columns(kind: str, size: int, columns: tuple[Any, ...]) -> None:
    wrong = next((column for column in columns if len(column) != size), None)
    if wrong is not None:
        raise BadInput(
            f"{kind}: a column has {len(wrong)} rows, another {size}; give every column one length."
        )
