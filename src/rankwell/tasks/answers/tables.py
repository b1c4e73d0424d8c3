"""The tables of details, questions and documents: answers with what they share with the right ones,
and the hardest questions.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import Any

import numpy as np

from rankwell.data.tables import sort_ids
from rankwell.evaluation.details import Details, detail_columns
from rankwell.evaluation.results import DETAIL_DEPTH
from rankwell.tasks.answers.answer_pairs import Questions, RankedAnswer, RightAnswer, place_or_none
from rankwell.tasks.answers.marks import Overlap, context, overlap, shortened
from rankwell.tasks.answers.outcomes import Judge, Outcome, ReaderRun, hardest, over_all_questions
from rankwell.tasks.answers.plan import compares_positions
from rankwell.tasks.answers.retrieval import RetrieverRun
from rankwell.vectors.media.texts import Normalizer, normalizer

_SNIPPET = 300


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
    def _row_of(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.questions.ids)}

    @cached_property
    def _compared(self) -> tuple[bool, Normalizer]:
        """Whether positions decide, and the normal form of words."""
        right = self.judge.right if self.judge is not None else None
        name = None if right is None else right.parameters.get("normalizer")
        return right is not None and compares_positions(right), normalizer(name or "squad")

    def shared(self, answer: RankedAnswer, query: str) -> tuple[RightAnswer | None, Overlap | None]:
        """The right answer that shares most with an answer, and what they share; None where either
        is missing.
        """
        rights = self.questions.rights[query]
        if answer.text is None or self.judge is None or not rights:
            return None, None
        by_position, rule = self._compared
        if not by_position:
            rights = [right for right in rights if right.text == answer.text][:1] or rights
        best: list[tuple[float, float, RightAnswer, Overlap]] = []
        for right in rights:
            same = (
                by_position
                and answer.start >= 0
                and right.start >= 0
                and answer.document == right.document
            )
            offset = right.start - answer.start if same else None
            marks = overlap(answer.text, right.text, offset=offset, normalizer=rule)
            share = marks.char_f1 if same else marks.token_f1
            best.append((share, marks.char_f1, right, marks))
        return max(best, key=lambda pair: pair[:2])[2:]

    def row(self, outcome: Outcome) -> dict[str, Any]:
        """The text of a question with its outcome, what is right, found and answered."""
        query = outcome.query
        number, rights = self._row_of[query], self.questions.rights[query]
        first = self._first(self.reader, query)
        right, marks = (None, None) if first is None else self.shared(first, query)
        right = right or next(iter(rights), None)
        row: dict[str, Any] = {
            "query": query,
            "text": self.questions.texts[number],
            **{name: getattr(outcome, name) for name in ("failed", "why", "impossible")},
            "right": None if right is None else right.text,
            "right_document": self.questions.documents[number] if right is None else right.document,
            "other_right": max(len({answer.text for answer in rights}) - 1, 0),
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
            row["document_rank"] = self.retriever.first_ranks[number]
        if self.isolated is not None:
            alone = self._first(self.isolated, query)
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
                columns = [[row[column] for row in rows] for column in range(7)]
                query, item, *numbers, state, detail = columns
                ranks, scores, grades = (np.array(column, dtype=np.float64) for column in numbers)
                details = Details(query, item, ranks, scores, grades, state)
                parts.append((reader.name, details, detail))
        return detail_columns(parts)

    def _first(self, reader: ReaderRun | None, query: str) -> RankedAnswer | None:
        return None if reader is None else next(iter(reader.answers.get(query, ())), None)

    def _answer_rows(self, reader: ReaderRun, judge: Judge) -> list[tuple[Any, ...]]:
        """Query, item, rank, score, grade, state and detail of each row; NaN for a missing rank or
        score.
        """
        pairs = reader.pairs
        rows = np.flatnonzero(pairs.ranks <= DETAIL_DEPTH)
        measure = over_all_questions(judge.right).with_parameters(na_threshold=None)
        # Each answer as if it were the only one.
        grades = measure(pairs.take(pairs.question_of_row[rows], rows)).tolist()
        grade_of_row = iter(grades)
        table: list[tuple[Any, ...]] = []
        for query, impossible, odd in zip(
            pairs.queries, pairs.impossible.tolist(), pairs.no_answer.tolist(), strict=True
        ):
            texts: set[str] = set()
            for answer in reader.answers[query][:DETAIL_DEPTH]:
                rank, text, grade = answer.rank, answer.text or "", next(grade_of_row)
                state = "relevant" if grade >= 0.5 else "nonrelevant"
                detail = self._detail(answer, query, None if isnan(odd) or rank > 1 else odd)
                table.append((query, text, rank, answer.score, grade, state, detail))
                texts.add(text)
            rights = [RightAnswer("", None, -1)] if impossible else self.questions.rights[query]
            for text, document, start in dict.fromkeys(rights):
                if text not in texts:
                    cells = {"right": text or None, "document": document}
                    detail = json.dumps(cells | {"start": place_or_none(start)})
                    table.append((query, text, nan, nan, 1.0, "relevant", detail))
        return table

    def _detail(self, answer: RankedAnswer, query: str, no_answer: float | None) -> str:
        right, marks = self.shared(answer, query)
        cells: dict[str, Any] = {
            "document": answer.document,
            "start": place_or_none(answer.start),
            "end": place_or_none(answer.end),
            "right": right and right.text,
            "right_start": right and place_or_none(right.start),
            **_spans(marks),
        }
        if no_answer is not None:
            cells["no_answer"] = no_answer
        if (around := self._context(answer, query)) is not None:
            cells["context"] = around
        return json.dumps(cells, ensure_ascii=False)

    def _context(self, answer: RankedAnswer, query: str) -> dict[str, Any] | None:
        """The words around an answer; one without a position is looked for in its document or else
        in the question's own.
        """
        document = answer.document or self.questions.documents[self._row_of[query]]
        text = None if document is None else self._texts.get(document)
        if text is None:
            return None
        span = answer.start, answer.end
        if answer.text and text[slice(*span)] != answer.text:
            start = text.find(answer.text)
            span = start, start + len(answer.text)
        rights = [
            (right.start, right.start + len(right.text))
            for right in self.questions.rights[query]
            if right.start >= 0 and right.document in (document, None)
        ]
        return context(text, span if answer.text else None, rights)

    @property
    def _texts(self) -> Mapping[str, str]:
        return self.questions.contexts if self.retriever is None else self.retriever.texts

    def items(self) -> dict[str, list[Any]]:
        """The columns of items.parquet: the beginnings of the texts of retrieved and right
        documents.
        """
        if self.retriever is None:
            return {}
        details, texts = self.retriever.details, self._texts
        items = [item for item in sort_ids(set(details.item)) if texts.get(item)]
        return {
            "item": items,
            "of": [self.retriever.name] * len(items),
            "text": [shortened(texts[item], _SNIPPET) for item in items],
        }

    def queries(self) -> dict[str, Sequence[Any]]:
        """The columns of queries.parquet: text, whether there is an answer, the stage that failed,
        and its file's attributes.
        """
        questions, outcomes = self.questions, self.outcomes
        order = {outcome.query: rank for rank, outcome in enumerate(hardest(outcomes), start=1)}
        columns: dict[str, Sequence[Any]] = {
            "query": questions.ids,
            "text": questions.texts,
            "answerable": ["no" if outcome.impossible else "yes" for outcome in outcomes],
            "failed": [outcome.failed for outcome in outcomes],
            "why": [outcome.why for outcome in outcomes],
            "hardest": [order.get(name) for name in questions.ids],
            "document": questions.documents,
            "right": [[right.text for right in questions.rights[name]] for name in questions.ids],
        }
        if self.reader is not None:
            columns["value"] = [outcome.value for outcome in outcomes]
            columns["partial"] = [outcome.partial for outcome in outcomes]
        if self.retriever is not None:
            columns["document_rank"] = self.retriever.first_ranks
        if self.isolated is not None:
            columns["alone"] = [outcome.alone for outcome in outcomes]
        attributes = [questions.attributes.get(name, {}) for name in questions.ids]
        for key in dict.fromkeys(key for about in questions.attributes.values() for key in about):
            columns.setdefault(key, [about.get(key) for about in attributes])
        return columns


def _spans(marks: Overlap | None) -> dict[str, Any]:
    """The shared parts of an answer and the right one, as columns."""
    names = ("characters", "right_characters", "tokens", "right_tokens")
    columns = ((),) * 4 if marks is None else (*marks.characters, *marks.tokens)
    return {
        **{name: list(map(list, spans)) for name, spans in zip(names, columns, strict=True)},
        # Of characters in their order, whereas the measure counts them in any order.
        "aligned_char_f1": marks and marks.char_f1,
        "token_f1": marks and marks.token_f1,
    }
