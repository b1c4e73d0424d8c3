"""Questions with their right answers, ranked answers of a system, and both joined."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, gather, offsets_of, position_in_segment, sort_ids
from rankwell.errors import BadInput, NothingToEvaluate
from rankwell.media.texts import normalize_all, normalizer

Impossible = Literal["unanswered", "flagged"]
Missing = Literal["zero", "empty", "skip", "error"]
Extra = Literal["ignore", "error"]


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions and right answers: a row per question in the order of the ids' bytes, and a row per right answer.

    ids, texts: (questions,) the text is "" where unknown. impossible: (questions,) nothing in the document answers it.
    documents: (questions,) the id of the document that was asked about, None where unknown.
    offsets: (questions + 1,) where the answers of each question begin. answers: (answers,) their texts, as given.
    answer_documents: (answers,) ids, None where unknown. starts: (answers,) in characters of the document, -1 where unknown.
    contexts: document id -> its text. attributes: question id -> what else its file says of it.
    evidence: question id -> sets of documents, each of which is enough to answer it, where the file has such sets.
    Raises BadInput where lengths differ or an id appears twice.
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
    Raises BadInput where lengths differ or an id appears twice.
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


class Unmatched(NamedTuple):
    """Ids of questions without a prediction, and of predictions without a question."""

    missing: tuple[str, ...]
    extra: tuple[str, ...]


def unmatched(questions: Questions, predictions: Predictions) -> Unmatched:
    """The ids without a counterpart on the other side, each in the order of its own table."""
    if questions.ids == predictions.ids:
        return Unmatched((), ())
    known, answered = set(questions.ids), set(predictions.ids)
    return Unmatched(
        missing=tuple(each for each in questions.ids if each not in answered),
        extra=tuple(each for each in predictions.ids if each not in known),
    )


class NormalForms(NamedTuple):
    """The normal forms of answers by number, equal where the forms are.

    texts: (forms,). vanished: (forms,) whether nothing is left. given: (answers,) and right: (right answers,) numbers of forms.
    """

    texts: tuple[str, ...]
    vanished: Bools
    given: Ints
    right: Ints


@dataclass(frozen=True, eq=False)
class AnswerPairs:
    """queries: ids of the questions. impossible: (questions,) nothing is right but to give no answer.

    missing: (questions,) no prediction says anything of the question, which makes it 0 whatever the measure.
    gold_offsets: (questions + 1,) where the right answers of each begin; golds: their texts; gold_documents: numbers of their
    documents; gold_starts, gold_ends: in characters, end exclusive, -1 where unknown.
    offsets: (questions + 1,) where the ranked answers of each begin; texts: None or blank says that there is none; documents,
    starts, ends: as of the right answers. no_answer: (questions,) how likely there is no answer, NaN where unknown.
    retrieved: (questions,) whether what an answer needs was retrieved, or None where that is unknown.
    positions: why rules about positions cannot be applied, or the empty string.
    """

    queries: tuple[str, ...]
    impossible: Bools
    missing: Bools
    gold_offsets: Ints
    golds: tuple[str, ...]
    gold_documents: Ints
    gold_starts: Ints
    gold_ends: Ints
    offsets: Ints
    texts: tuple[str | None, ...]
    documents: Ints
    starts: Ints
    ends: Ints
    no_answer: Floats
    retrieved: Bools | None = None
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

        impossible: a question is impossible if it is `unanswered`, that is without a right answer, or only if it is `flagged`
        besides; one that is neither is answerable and never answered. missing: a question without a prediction counts `zero`, as
        one that was answered by an `empty` list, is left out (`skip`), or is an `error`; extra: likewise a prediction without a
        question. retrieved: question id -> whether what its answer needs was retrieved; not, where it is absent.
        Raises BadInput for what is an error, NothingToEvaluate where no question has a prediction.
        """
        away = unmatched(questions, predictions)
        _check(questions, predictions, away, missing, extra)
        rows, columns = _match(questions, predictions)
        codes = _number(*questions.answer_documents, *predictions.documents)
        cut = len(questions.answers)
        unanswered = np.diff(questions.offsets) == 0
        lost = columns < 0
        given, offsets = gather(
            np.append(predictions.offsets, predictions.offsets[-1]), np.where(lost, len(predictions.ids), columns)
        )
        listed = given.tolist()
        view = cls(
            queries=questions.ids,
            impossible=unanswered & questions.impossible if impossible == "flagged" else unanswered,
            missing=lost if missing == "zero" else np.zeros_like(lost),
            gold_offsets=questions.offsets,
            golds=questions.answers,
            gold_documents=codes[:cut],
            gold_starts=questions.starts,
            gold_ends=_ends(questions),
            offsets=offsets,
            texts=tuple(predictions.texts[row] for row in listed),
            documents=codes[cut:][given],
            starts=predictions.starts[given],
            ends=predictions.ends[given],
            no_answer=_no_answer(predictions, columns),
            positions=_without_positions(questions, predictions),
        )
        view = view if retrieved is None else view.with_retrieved(retrieved)
        return view.take(rows) if missing == "skip" else view

    def with_retrieved(self, retrieved: Mapping[str, bool]) -> "AnswerPairs":
        """The same answers, with other knowledge of what was retrieved."""
        return replace(self, retrieved=np.array([bool(retrieved.get(each, False)) for each in self.queries], dtype=np.bool_))

    def take(self, queries: Ints) -> "AnswerPairs":
        """The view of some questions only, in the order given by their indices."""
        gold, gold_offsets = gather(self.gold_offsets, queries)
        rows, offsets = gather(self.offsets, queries)
        return replace(
            self,
            queries=tuple(self.queries[query] for query in queries.tolist()),
            impossible=self.impossible[queries],
            missing=self.missing[queries],
            gold_offsets=gold_offsets,
            golds=tuple(self.golds[row] for row in gold.tolist()),
            gold_documents=self.gold_documents[gold],
            gold_starts=self.gold_starts[gold],
            gold_ends=self.gold_ends[gold],
            offsets=offsets,
            texts=tuple(self.texts[row] for row in rows.tolist()),
            documents=self.documents[rows],
            starts=self.starts[rows],
            ends=self.ends[rows],
            no_answer=self.no_answer[queries],
            retrieved=None if self.retrieved is None else self.retrieved[queries],
            cache={},
        )

    @cached_property
    def question_of_row(self) -> Ints:
        """(answers,) the index of each answer's question."""
        return np.repeat(np.arange(len(self.queries), dtype=np.int64), np.diff(self.offsets))

    @cached_property
    def ranks(self) -> Ints:
        """(answers,) the place of each answer in its list, from 1."""
        return position_in_segment(self.offsets) + 1

    def normal_forms(self, name: str) -> NormalForms:
        """The normal forms of all answers, given and right, under a normaliser; computed once. Raises UnknownName."""
        if name not in self.cache:
            given = ["" if text is None else text for text in self.texts]
            forms = normalize_all([*given, *self.golds], normalizer(name))
            number: dict[str, int] = {}
            codes = {text: number.setdefault(form, len(number)) for text, form in forms.items()}
            first = np.fromiter(map(codes.__getitem__, given), dtype=np.int64, count=len(given))
            right = np.fromiter(map(codes.__getitem__, self.golds), dtype=np.int64, count=len(self.golds))
            vanished = np.array([not form or form.isspace() for form in number], dtype=np.bool_)
            self.cache[name] = NormalForms(tuple(number), vanished, first, right)
        return self.cache[name]


def _match(questions: Questions, predictions: Predictions) -> tuple[Ints, Ints]:
    """The questions that have a prediction, and for every question the row of its prediction or -1."""
    if questions.ids == predictions.ids:
        return np.arange(len(questions.ids)), np.arange(len(questions.ids))
    place = {name: row for row, name in enumerate(predictions.ids)}
    columns = np.array([place.get(name, -1) for name in questions.ids], dtype=np.int64)
    return np.flatnonzero(columns >= 0), columns


def _number(*names: str | None) -> Ints:
    """(names,) a number for each, equal where the names are."""
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    if len(number) < 2:
        return np.zeros(len(names), dtype=np.int64)
    return np.fromiter(map(number.__getitem__, names), dtype=np.int64, count=len(names))


def _ends(questions: Questions) -> Ints:
    """(right answers,) where each ends, exclusive, -1 where its start is unknown."""
    lengths = np.fromiter(map(len, questions.answers), dtype=np.int64, count=len(questions.answers))
    return np.where(questions.starts < 0, -1, questions.starts + lengths)


def _no_answer(predictions: Predictions, columns: Ints) -> Floats:
    """(questions,) how likely each has no answer. columns: (questions,) the row of its prediction, -1 for none."""
    known = np.full(len(columns), np.nan)
    if predictions.no_answer is not None:
        known[columns >= 0] = predictions.no_answer[columns[columns >= 0]]
    return known


def _check(questions: Questions, predictions: Predictions, away: Unmatched, missing: str, extra: str) -> None:
    if len(away.missing) == len(questions.ids):
        raise NothingToEvaluate(
            f"none of the {len(questions.ids)} questions has a prediction{_example(questions.ids, predictions.ids)}; "
            "are these the predictions of another data set?"
        )
    for found, policy, what in (
        (away.missing, missing, "question without a prediction"),
        (away.extra, extra, "prediction without a question"),
    ):
        if found and policy == "error":
            raise BadInput(f"{len(found)} × {what}, the first {found[0]!r}; complete the files, or choose another policy.")


def _example(ids: Sequence[str], answered: Sequence[str]) -> str:
    return f" (questions have ids like {ids[0]!r}, predictions like {answered[0]!r})" if ids and answered else ""


def _without_positions(questions: Questions, predictions: Predictions) -> str:
    """Why rules about positions cannot be applied, or the empty string."""
    advice = "take a convention that compares texts, such as squad2 or piaf-article"
    if len(questions.starts) and not (questions.starts >= 0).any():
        return f"the right answers have no positions in their documents, which this rule compares; {advice}."
    texts = any(text is not None and text.strip() for text in predictions.texts)
    if texts and not (predictions.starts >= 0).any():
        return f"the predicted answers have no positions in their documents, which this rule compares; {advice}."
    return ""


def answer_pairs(right: Mapping[str, Sequence[str]], given: Mapping[str, Sequence[str | None]]) -> AnswerPairs:
    """The view of texts alone: question id -> right answers (none: impossible), and question id -> ranked answers."""
    return AnswerPairs.pair(Questions.from_texts(right), Predictions.from_texts(given))


def _check_rows(what: str, ids: tuple[str, ...], offsets: Ints, columns: tuple[Any, ...]) -> None:
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise BadInput(f"{what}: the id {twice!r} appears twice; give each question an id of its own.")
    _check_columns(what, len(ids), columns)
    if offsets.shape != (len(ids) + 1,) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
        raise BadInput(f"{what}: offsets of shape {offsets.shape} do not divide rows among {len(ids)} questions.")


def _check_columns(what: str, size: int, columns: tuple[Any, ...]) -> None:
    wrong = next((column for column in columns if len(column) != size), None)
    if wrong is not None:
        raise BadInput(f"{what}: a column has {len(wrong)} rows, another {size}; give every column one length.")
