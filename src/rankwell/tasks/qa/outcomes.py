"""The outcome of each question, right or failed by retriever or reader, and the tables that explain
it: details, questions and documents, answers with what they share with the right ones.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from math import isnan, nan
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.data.findings import Finding
from rankwell.data.tables import Bools, grouped, positions_by_id, sort_ids
from rankwell.evaluation.details import Columns, Details, detail_columns
from rankwell.evaluation.judged import JudgedRun
from rankwell.evaluation.results import DETAIL_DEPTH
from rankwell.tasks.qa.answer_pairs import (
    AnswerPairs,
    Predictions,
    Questions,
    RankedAnswer,
    RightAnswer,
    is_blank,
    place_or_none,
)
from rankwell.tasks.qa.findings import odd_answers
from rankwell.tasks.qa.marks import Overlap, context, overlap, shortened
from rankwell.tasks.qa.plan import Judge, compares_positions, over_all_questions
from rankwell.tasks.qa.retrieval import RetrieverRun
from rankwell.vectors.media.texts import Normalizer, normalizer

Failed = Literal["retriever", "reader", "no-answer", "none"]
_RIGHT_FROM = 0.5
_ORDER = ("retriever", "reader", "no-answer", "none")
_SNIPPET = 300


@dataclass(frozen=True, eq=False, kw_only=True)
class ReaderRun(JudgedRun):
    """The answers of one reader joined with the questions that count for it.

    view: the answers with the right answers, an AnswerPairs.
    ties: the tie rule; lists of answers are in a definite order.
    predictions: the answers as they were read, including answers to questions that are not
        evaluated.
    """

    view: Any
    ties: str = "input"
    predictions: Predictions

    @property
    def pairs(self) -> AnswerPairs:
        """The view."""
        return self.view

    @cached_property
    def answers(self) -> Mapping[str, list[RankedAnswer]]:
        """The answers to every question that counts, best first."""
        return {query: self.predictions.ranked.get(query, []) for query in self.pairs.queries}

    def position_findings(self, questions: Questions) -> list[Finding]:
        """The findings on answers whose positions are compared: those that cannot be right, or
        whose text is elsewhere.
        """
        has_documents = any(document is not None for document in questions.answer_documents)
        answers = [
            (query, answer)
            for query, ranked in self.answers.items()
            for answer in ranked
            if not is_blank(answer.text)
        ]
        places: dict[str, list[tuple[str, int]]] = {}
        for query, answer in answers:
            problem = _position_problem(answer, questions.contexts, has_documents)
            if problem:
                places.setdefault(problem, []).append((query, answer.rank))
        return [
            odd_answers(
                self.name,
                f"{len(found)} of {len(answers)} answers {problem} (question {found[0][0]!r}, rank "
                f"{found[0][1]})",
            )
            for problem, found in places.items()
        ]


def answerable_counts(impossible: Bools) -> dict[str, int]:
    """The number of answerable and of impossible questions."""
    n = int(np.count_nonzero(impossible))
    return {"answerable": len(impossible) - n, "impossible": n}


def _position_problem(
    answer: RankedAnswer, contexts: Mapping[str, str], has_documents: bool
) -> str:
    """The problem with the position of an answer, or the empty string. has_documents: whether right
    answers name documents.
    """
    if answer.start < 0:
        return "have no position, so that they are wrong"
    if answer.end < answer.start:
        return "end before they start, so that they are wrong"
    if answer.document is None:
        return "have a position but no document, so that they are wrong" * has_documents
    context = contexts.get(answer.document)
    if context is not None and context[answer.start : answer.end] != answer.text:
        return "are not the text at their position, which alone is compared"
    return ""


class Outcome(NamedTuple):
    """The outcome of a question. Its values are None where no answers are judged, and where the
    question is not counted.

    query: id of the question.
    impossible: whether the only right answer is to give none.
    failed: the stage that failed the question; `none` where no stage failed, None where it is not
        counted.
    why: the reason in words.
    value: value of the first answer by the judge's `right`, from 0 to 1.
    partial: value of the first answer by the judge's `partial`.
    later: value of the best of the first answers by the judge's `later`.
    alone, partial_alone: `value` and `partial` of the first answer from the right passages alone;
        None without such answers.
    """

    query: str
    impossible: bool
    failed: Failed | None
    why: str
    value: float | None = None
    partial: float | None = None
    later: float | None = None
    alone: float | None = None
    partial_alone: float | None = None


class _FirstAnswer(NamedTuple):
    """One reader's answer to one question.

    value: value of the first answer by the judge's `right`, from 0 to 1.
    partial: value of the first answer by the judge's `partial`.
    later: value of the best of the first answers by the judge's `later`.
    silent: whether the reader gave no answer, or said that there is none.
    missing: whether the question has no prediction, which makes its value 0.
    """

    value: float
    partial: float
    later: float
    silent: bool
    missing: bool


def _attribute(
    answer: _FirstAnswer, impossible: bool, retrieved: bool | None
) -> tuple[Failed, str]:
    if answer.value >= _RIGHT_FROM:
        if impossible:
            return "none", "correctly gave no answer"
        return "none", "right without its document" if retrieved is False else "right"
    if impossible:
        if answer.missing:
            return "no-answer", "no prediction"
        # Some conventions require an explicit None, others have no right answer to such a question.
        if answer.silent:
            return "no-answer", "gave no answer, in a form that counts as wrong"
        return "no-answer", "answered, though impossible"
    if retrieved is False:
        return "retriever", "document not retrieved"
    if answer.missing:
        return "reader", "no prediction"
    if answer.silent:
        return "no-answer", "gave no answer although there is one"
    if answer.later >= _RIGHT_FROM:
        return "reader", "right, but not first"
    return "reader", "partly right" if answer.partial > 0 else "wrong answer"


def _first_answers(reader: ReaderRun, judge: Judge) -> dict[str, _FirstAnswer]:
    """The first answers by question; silence is no answer at all, or one that says so."""
    pairs = reader.pairs
    bounds = pairwise(pairs.offsets.tolist())
    silent = np.array([start == stop or is_blank(pairs.texts[start]) for start, stop in bounds])
    threshold = judge.right.parameters.get("na_threshold")
    if threshold is not None:
        silent = silent | (np.nan_to_num(pairs.no_answer, nan=-np.inf) > threshold)
    columns = (judge.right(pairs), judge.partial(pairs), judge.later(pairs), silent, pairs.missing)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {query: _FirstAnswer(*row) for query, row in zip(pairs.queries, rows, strict=True)}


@dataclass(frozen=True, eq=False)
class AnswerOutcomes:
    """The questions with the judged runs, and the outcome of each question.

    questions: the questions with their right answers.
    impossible: (questions,) whether the only right answer is to give none.
    retriever: the retriever's lists; None where no retrieved documents are judged.
    reader: the reader's answers; None where no answers are judged.
    isolated: the reader's answers from the right passages alone; None without them.
    judge: the measures that decide outcomes; None without a reader.
    """

    questions: Questions
    impossible: Bools
    retriever: RetrieverRun | None
    reader: ReaderRun | None
    isolated: ReaderRun | None
    judge: Judge | None

    @cached_property
    def by_question(self) -> list[Outcome]:
        """The outcome of every question, by the first stage that failed it; without answers the
        retriever alone is judged.

        A wrong answer is the retriever's where no relevant document was found, else the fault of
        silence where nothing was answered, else the reader's. An impossible question that was
        answered is the fault of silence, too.
        """
        found: dict[str, bool] = {} if self.retriever is None else self.retriever.found
        integrated, alone = (
            {} if run is None or self.judge is None else _first_answers(run, self.judge)
            for run in (self.reader, self.isolated)
        )
        outcomes: list[Outcome] = []
        for query, impossible in zip(self.questions.ids, self.impossible.tolist(), strict=True):
            values: tuple[float, ...] = ()
            if self.reader is None:
                failed, why = "retriever", "document not retrieved"
                if found[query]:
                    failed, why = "none", "retrieved"
            elif query not in integrated:
                failed, why = None, "left out, as it has no prediction"
            else:
                answer = integrated[query]
                failed, why = _attribute(answer, impossible, found.get(query))
                values = (*answer[:3], *alone.get(query, ())[:2])
            outcomes.append(Outcome(query, impossible, failed, why, *values))
        return outcomes

    @cached_property
    def failures(self) -> list[dict[str, Any]]:
        """The number of questions that each stage failed, and why; `right_alone` of them are right
        from the right passage.
        """
        counted = [outcome for outcome in self.by_question if outcome.failed is not None]
        groups = grouped(((outcome.failed, outcome.why), outcome) for outcome in counted)
        rows: list[dict[str, Any]] = []
        for (failed, why), group in groups.items():
            share = len(group) / len(counted)
            row = {"failed": failed, "why": why, "questions": len(group), "share": share}
            if any(outcome.alone is not None for outcome in self.by_question):
                row["right_alone"] = sum((outcome.alone or 0) >= _RIGHT_FROM for outcome in group)
            rows.append(row)
        return sorted(
            rows, key=lambda row: (_ORDER.index(row["failed"]), -row["questions"], row["why"])
        )

    @cached_property
    def hardest(self) -> list[Outcome]:
        """The failed questions, the hardest first: not right further down, least right in part;
        equally hard ones take turns.
        """
        turns = Counter[Any]()
        order: list[tuple[Any, ...]] = []
        for number, outcome in enumerate(self.by_question):
            if outcome.failed not in (None, "none"):
                key = (outcome.later or 0.0, outcome.partial or 0.0, outcome.partial_alone or 0.0)
                turns[key, outcome.failed] += 1
                turn = turns[key, outcome.failed]
                order.append((*key, turn, _ORDER.index(outcome.failed), number))
        return [self.by_question[number] for *_, number in sorted(order)]

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return positions_by_id(self.questions.ids)

    @cached_property
    def _compared(self) -> tuple[bool, Normalizer]:
        """Whether positions decide, and the normal form of words."""
        if self.judge is None:
            return False, normalizer("squad")
        right = self.judge.right
        return compares_positions(right), normalizer(right.parameters.get("normalizer") or "squad")

    def shared(
        self, answer: RankedAnswer | None, query: str
    ) -> tuple[RightAnswer | None, Overlap | None]:
        """The right answer that shares most with an answer, and what they share; None where either
        is missing.
        """
        rights = self.questions.rights[query]
        if answer is None or answer.text is None or self.judge is None or not rights:
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
        first = _first(self.reader, query)
        right, marks = self.shared(first, query)
        right = right or next(iter(rights), None)
        row: dict[str, Any] = {
            "query": query,
            "text": self.questions.texts[number],
            **{name: getattr(outcome, name) for name in ("failed", "why", "impossible")},
            "right": right and right.text,
            "right_document": self.questions.documents[number] if right is None else right.document,
            "other_right": max(len({answer.text for answer in rights}) - 1, 0),
        }
        if self.reader is not None:
            row |= {
                "answered": first is not None,
                "answer": first and first.text,
                "answer_document": first and first.document,
                **{name: getattr(outcome, name) for name in ("value", "partial", "later")},
                **_spans(marks),
            }
        if self.retriever is not None:
            row["document_rank"] = self.retriever.first_ranks[number]
        if self.isolated is not None:
            alone = _first(self.isolated, query)
            row |= {"alone": outcome.alone, "answer_alone": alone and alone.text}
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
                columns = np.array(rows, dtype=object).reshape(len(rows), 7).T
                query, item, *numbers, state, detail = columns
                ranks, scores, grades = (column.astype(np.float64) for column in numbers)
                details = Details(query, item, ranks, scores, grades, state)
                parts.append((reader.name, details, detail.tolist()))
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

    def items(self) -> Columns:
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
        questions, outcomes = self.questions, self.by_question
        order = {outcome.query: rank for rank, outcome in enumerate(self.hardest, start=1)}
        texts = {
            name: [right.text for right in rights] for name, rights in questions.rights.items()
        }
        columns: dict[str, Sequence[Any]] = {
            "query": questions.ids,
            "text": questions.texts,
            "answerable": ["no" if outcome.impossible else "yes" for outcome in outcomes],
            "failed": [outcome.failed for outcome in outcomes],
            "why": [outcome.why for outcome in outcomes],
            "hardest": list(map(order.get, questions.ids)),
            "document": questions.documents,
            "right": list(texts.values()),
        }
        if self.reader is not None:
            columns["value"] = [outcome.value for outcome in outcomes]
            columns["partial"] = [outcome.partial for outcome in outcomes]
        if self.retriever is not None:
            columns["document_rank"] = self.retriever.first_ranks
        if self.isolated is not None:
            columns["alone"] = [outcome.alone for outcome in outcomes]
        attributes = [questions.attributes.get(name, {}) for name in questions.ids]
        for key in dict.fromkeys(chain.from_iterable(questions.attributes.values())):
            columns.setdefault(key, [about.get(key) for about in attributes])
        return columns


def _first(reader: ReaderRun | None, query: str) -> RankedAnswer | None:
    return next(iter(reader.answers.get(query, ())), None) if reader else None


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
