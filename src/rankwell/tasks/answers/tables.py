"""The tables of details, questions and documents: answers with what they share with the right ones,
and the hardest questions.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables import sort_ids
from rankwell.evaluation.details import Details, detail_columns
from rankwell.evaluation.results import DETAIL_DEPTH
from rankwell.media.texts import Normalizer, normalizer
from rankwell.tasks.answers.answer_pairs import Questions
from rankwell.tasks.answers.marks import Overlap, context, overlap, shortened
from rankwell.tasks.answers.outcomes import (
    Judge,
    Outcome,
    RankedAnswer,
    ReaderRun,
    hardest,
    over_all_questions,
)
from rankwell.tasks.answers.plan import compares_positions
from rankwell.tasks.answers.retrieval import RetrieverRun

_SNIPPET = 300


class RightAnswer(NamedTuple):
    """A right answer, and its place; start: -1 where unknown."""

    text: str
    document: str | None
    start: int


@dataclass(frozen=True, eq=False)
class AnswerTables:
    """The questions with their outcomes and the runs that were judged."""

    questions: Questions
    outcomes: Sequence[Outcome]
    retriever: RetrieverRun | None
    reader: ReaderRun | None
    isolated: ReaderRun | None
    judge: Judge | None

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.questions.ids)}

    @cached_property
    def _compared(self) -> tuple[bool, Normalizer]:
        """Whether positions decide, and the normal form of words."""
        right = self.judge.right if self.judge is not None else None
        name = None if right is None else right.parameters.get("normalizer")
        return right is not None and compares_positions(right), normalizer(name or "squad")

    def rights(self, query: str) -> list[RightAnswer]:
        """The right answers of a question."""
        questions, place = self.questions, self._place[query]
        mine = slice(*questions.offsets[place : place + 2].tolist())
        columns = (
            questions.answers[mine],
            questions.answer_documents[mine],
            questions.starts[mine].tolist(),
        )
        return [RightAnswer(*each) for each in zip(*columns, strict=True)]

    def shared(self, answer: RankedAnswer, query: str) -> tuple[RightAnswer | None, Overlap | None]:
        """The right answer that shares most with an answer, and what they share; None where either
        is missing.
        """
        rights = self.rights(query)
        if answer.text is None or self.judge is None or not rights:
            return None, None
        positions, rule = self._compared
        if not positions:
            rights = [right for right in rights if right.text == answer.text][:1] or rights
        found: list[tuple[float, float, RightAnswer, Overlap]] = []
        for right in rights:
            same = (
                positions
                and answer.start >= 0
                and right.start >= 0
                and answer.document == right.document
            )
            both = overlap(
                answer.text,
                right.text,
                offset=right.start - answer.start if same else None,
                normalizer=rule,
            )
            found.append((both.char_f1 if same else both.token_f1, both.char_f1, right, both))
        return max(found, key=lambda each: each[:2])[2:]

    def row(self, outcome: Outcome) -> dict[str, Any]:
        """The text of a question with its outcome, what is right, found and answered."""
        query = outcome.query
        place, rights = self._place[query], self.rights(outcome.query)
        answers = {} if self.reader is None else self.reader.answers
        first = next(iter(answers.get(query, ())), None)
        right, marks = (None, None) if first is None else self.shared(first, query)
        right = right or next(iter(rights), None)
        row: dict[str, Any] = {
            "query": query,
            "text": self.questions.texts[place],
            **{name: getattr(outcome, name) for name in ("failed", "why", "impossible")},
            "right": None if right is None else right.text,
            "right_document": self.questions.documents[place] if right is None else right.document,
            "other_right": max(len({each.text for each in rights}) - 1, 0),
        }
        if self.reader is not None:
            row |= {
                "answered": first is not None,
                "answer": None if first is None else first.text,
                "answer_document": None if first is None else first.document,
                **{name: getattr(outcome, name) for name in ("value", "partial", "later")},
                **_spans(marks),
            }
        if self.retriever is not None:
            row["document_rank"] = self.retriever.first_ranks[place]
        if self.isolated is not None:
            alone = next(iter(self.isolated.answers.get(query, ())), None)
            row |= {"alone": outcome.alone, "answer_alone": None if alone is None else alone.text}
        return row

    def details(self) -> Mapping[str, list[Any]]:
        """The columns of details.parquet: the first documents and answers of every question, and
        what is right but not there.

        `detail` of an answer has its place, the right answer that it shares most with, the spans
        shared in both, and its `context`.
        """
        parts: list[tuple[str, Details, list[str] | None]] = []
        if self.retriever is not None:
            parts.append((self.retriever.name, self.retriever.details, None))
        for reader in (self.reader, self.isolated):
            if reader is not None and self.judge is not None:
                rows = self._answer_rows(reader, self.judge)
                columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)] or [
                    [] for _ in range(7)
                ]
                query, item, *numbers, state, detail = columns
                ranks, scores, grades = (np.array(column, dtype=np.float64) for column in numbers)
                parts.append(
                    (reader.name, Details(query, item, ranks, scores, grades, state), detail)
                )
        return detail_columns(parts)

    def _answer_rows(self, reader: ReaderRun, judge: Judge) -> list[tuple[Any, ...]]:
        """Query, item, rank, score, grade, state and detail of each row; NaN for a missing rank or
        score.
        """
        pairs = reader.pairs
        rows = np.flatnonzero(pairs.ranks <= DETAIL_DEPTH)
        measure = over_all_questions(judge.right).with_parameters(na_threshold=None)
        # Each answer as if it were the only one.
        grades = measure(pairs.take(pairs.question_of_row[rows], rows)).tolist()
        answers, at = reader.answers, 0
        found: list[tuple[Any, ...]] = []
        for query, impossible, silence in zip(
            pairs.queries, pairs.impossible.tolist(), pairs.no_answer.tolist(), strict=True
        ):
            listed = answers[query][:DETAIL_DEPTH]
            for each, grade in zip(listed, grades[at : at + len(listed)], strict=True):
                state = "relevant" if grade >= 0.5 else "nonrelevant"
                detail = self._detail(
                    each, query, None if isnan(silence) or each.rank > 1 else silence
                )
                found.append((query, each.text or "", each.rank, each.score, grade, state, detail))
            at += len(listed)
            there = {each.text or "" for each in listed}
            expected = [RightAnswer("", None, -1)] if impossible else self.rights(query)
            for right in dict.fromkeys(expected):
                if right.text not in there:
                    detail = json.dumps(
                        {
                            "right": right.text or None,
                            "document": right.document,
                            "start": _known(right.start),
                        }
                    )
                    found.append((query, right.text, nan, nan, 1.0, "relevant", detail))
        return found

    def _detail(self, answer: RankedAnswer, query: str, no_answer: float | None) -> str:
        right, marks = self.shared(answer, query)
        cells: dict[str, Any] = {
            "document": answer.document,
            "start": _known(answer.start),
            "end": _known(answer.end),
        }
        cells |= {"right": right and right.text, "right_start": right and _known(right.start)}
        further = {"no_answer": no_answer, "context": self._context(answer, query)}
        cells |= _spans(marks) | {name: each for name, each in further.items() if each is not None}
        return json.dumps(cells, ensure_ascii=False)

    def _context(self, answer: RankedAnswer, query: str) -> dict[str, Any] | None:
        """The words around an answer; one without a position is looked for in its document or else
        in the question's own.
        """
        document = answer.document or self.questions.documents[self._place[query]]
        text = None if document is None else self._texts.get(document)
        if text is None:
            return None
        span = answer.start, answer.end
        if answer.text and text[slice(*span)] != answer.text:
            start = text.find(answer.text)
            span = start, start + len(answer.text)
        rights = [
            right
            for right in self.rights(query)
            if right.start >= 0 and right.document in (document, None)
        ]
        return context(
            text,
            span if answer.text else None,
            [(each.start, each.start + len(each.text)) for each in rights],
        )

    @property
    def _texts(self) -> Mapping[str, str]:
        return self.questions.contexts if self.retriever is None else self.retriever.texts

    def items(self) -> dict[str, list[Any]]:
        """The columns of items.parquet: the beginnings of the texts of retrieved and right
        documents.
        """
        if self.retriever is None:
            return {}
        named = [
            item for item in sort_ids(set(self.retriever.details.item)) if self._texts.get(item)
        ]
        texts = [shortened(self._texts[item], _SNIPPET) for item in named]
        return {"item": named, "of": [self.retriever.name] * len(named), "text": texts}

    def queries(self) -> dict[str, Sequence[Any]]:
        """The columns of queries.parquet: text, whether there is an answer, the stage that failed,
        and its file's attributes.
        """
        questions = self.questions
        order = {each.query: place for place, each in enumerate(hardest(self.outcomes), start=1)}
        columns: dict[str, Sequence[Any]] = {
            "query": questions.ids,
            "text": questions.texts,
            "answerable": ["no" if each.impossible else "yes" for each in self.outcomes],
            "failed": [each.failed for each in self.outcomes],
            "why": [each.why for each in self.outcomes],
            "hardest": [order.get(name) for name in questions.ids],
            "document": questions.documents,
            "right": [[right.text for right in self.rights(name)] for name in questions.ids],
        }
        if self.reader is not None:
            columns |= {
                "value": [each.value for each in self.outcomes],
                "partial": [each.partial for each in self.outcomes],
            }
        if self.retriever is not None:
            columns["document_rank"] = self.retriever.first_ranks
        if self.isolated is not None:
            columns["alone"] = [each.alone for each in self.outcomes]
        for key in dict.fromkeys(key for about in questions.attributes.values() for key in about):
            columns.setdefault(
                key, [questions.attributes.get(name, {}).get(key) for name in questions.ids]
            )
        return columns


def _spans(marks: Overlap | None) -> dict[str, Any]:
    """The shared parts of an answer and the right one, as columns."""
    names = ("characters", "right_characters", "tokens", "right_tokens")
    spans = ((),) * 4 if marks is None else (*marks.characters, *marks.tokens)
    # Of characters in their order, whereas the measure counts them in any order.
    shares = {"aligned_char_f1": marks and marks.char_f1, "token_f1": marks and marks.token_f1}
    return {
        name: [list(each) for each in own] for name, own in zip(names, spans, strict=True)
    } | shares


def _known(place: int) -> int | None:
    return None if place < 0 else place
