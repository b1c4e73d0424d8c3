"""Answers of a reader joined with the questions, and the outcome of each question: right, or failed
by retriever or reader.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.data.registry import Measure
from rankwell.data.tables import Bools
from rankwell.evaluation.judged import JudgedRun, MeasuredQueries
from rankwell.tasks.answers.answer_pairs import (
    AnswerPairs,
    Predictions,
    Questions,
    RankedAnswer,
    is_blank,
)
from rankwell.tasks.answers.retrieval import RetrieverRun

Failed = Literal["retriever", "reader", "no-answer", "none"]
_RIGHT_FROM = 0.5
_ORDER = ("retriever", "reader", "no-answer", "none")


@dataclass(frozen=True, eq=False, kw_only=True)
class ReaderRun(JudgedRun):
    """The answers of one reader joined with the questions that count for it; its view is an
    AnswerPairs.
    """

    view: Any
    ties: str = "input"
    predictions: Predictions

    @property
    def pairs(self) -> AnswerPairs:
        """The view."""
        return self.view

    def evaluate(self, measure: Measure) -> MeasuredQueries:
        """The values of a measure of answers; NaN where it does not count a question."""
        return MeasuredQueries(measure(self.pairs))

    @cached_property
    def answers(self) -> Mapping[str, list[RankedAnswer]]:
        """The answers to every question that counts, best first."""
        return {query: self.predictions.ranked.get(query, []) for query in self.pairs.queries}

    @cached_property
    def silent(self) -> Bools:
        """(questions,) whether the first answer says that there is none, or there is no answer at
        all.
        """
        pairs = self.pairs
        silent = np.ones(len(pairs.queries), dtype=np.bool_)
        filled = np.flatnonzero(np.diff(pairs.offsets))
        silent[filled] = [is_blank(pairs.texts[row]) for row in pairs.offsets[filled].tolist()]
        return silent

    def position_notes(self, questions: Questions) -> list[str]:
        """Notes on answers whose positions are compared: those that cannot be right, or whose text
        is elsewhere.
        """
        has_documents = any(document is not None for document in questions.answer_documents)
        total, counts, first = 0, Counter[str](), dict[str, str]()
        for query, answers in self.answers.items():
            for answer in answers:
                if is_blank(answer.text):
                    continue
                total += 1
                problem = _position_problem(answer, questions.contexts, has_documents)
                if problem:
                    counts[problem] += 1
                    first.setdefault(problem, f"question {query!r}, rank {answer.rank}")
        return [
            f"{self.name}: {n} of {total} answers {problem} ({first[problem]})"
            for problem, n in counts.items()
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


def over_all_questions(measure: Measure) -> Measure:
    """The same measure over all questions, retrieved or not."""
    neutral: dict[str, Any] = {"population": "all", "retrieval": "ignored"}
    return measure.with_parameters(
        **{name: value for name, value in neutral.items() if measure.accepts(name)}
    )


class Outcome(NamedTuple):
    """The outcome of a question. failed: the stage that failed it, None where it is not counted.
    why: in words.

    value, partial: of the first answer. later: of the best further one. alone, partial_alone: of
    that from the right passage.
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


class Judge(NamedTuple):
    """The measures that decide outcomes: `right` from 0.5 on, `partial` for parts, `later` further
    down. label: a word for it.
    """

    right: Measure
    partial: Measure
    later: Measure
    label: str


class _FirstAnswer(NamedTuple):
    """One reader's answer to one question."""

    value: float
    partial: float
    later: float
    silent: bool
    missing: bool


def outcomes(
    queries: Sequence[str],
    impossible: Sequence[bool],
    *,
    retriever: RetrieverRun | None,
    reader: ReaderRun | None,
    isolated: ReaderRun | None,
    judge: Judge | None,
) -> list[Outcome]:
    """The outcome of every question, by the first stage that failed it; without answers the
    retriever alone is judged.

    A wrong answer is the retriever's where no relevant document was found, else the fault of
    silence where nothing was answered, else the reader's. An impossible question that was answered
    is the fault of silence, too.
    """
    retrieved: dict[str, bool] = {}
    if retriever is not None:
        retrieved = dict(zip(queries, map(bool, retriever.is_found), strict=True))
    integrated, alone = (
        None if run is None or judge is None else _first_answers(run, judge)
        for run in (reader, isolated)
    )
    result: list[Outcome] = []
    for query, is_impossible in zip(queries, impossible, strict=True):
        if integrated is None:
            failed, why = "retriever", "document not retrieved"
            if retrieved[query]:
                failed, why = "none", "retrieved"
            result.append(Outcome(query, is_impossible, failed, why))
        elif query not in integrated:
            why = "left out, as it has no prediction"
            result.append(Outcome(query, is_impossible, None, why))
        else:
            answer, answer_alone = integrated[query], (alone or {}).get(query)
            failed, why = _attribute(answer, is_impossible, retrieved.get(query))
            ends = () if answer_alone is None else answer_alone[:2]
            result.append(Outcome(query, is_impossible, failed, why, *answer[:3], *ends))
    return result


def _attribute(
    answer: _FirstAnswer, impossible: bool, retrieved: bool | None
) -> tuple[Failed, str]:
    if answer.value >= _RIGHT_FROM:
        if impossible:
            return "none", "rightly silent"
        return "none", "right without its document" if retrieved is False else "right"
    if impossible:
        if answer.missing:
            return "no-answer", "no prediction"
        # Some conventions require an explicit None, others have no right answer to such a question.
        if answer.silent:
            return "no-answer", "silent, in a way that counts wrong"
        return "no-answer", "answered, though impossible"
    if retrieved is False:
        return "retriever", "document not retrieved"
    if answer.missing:
        return "reader", "no prediction"
    if answer.silent:
        return "no-answer", "silent, though answerable"
    if answer.later >= _RIGHT_FROM:
        return "reader", "right, but not first"
    return "reader", "partly right" if answer.partial > 0 else "wrong answer"


def _first_answers(reader: ReaderRun, judge: Judge) -> dict[str, _FirstAnswer]:
    pairs, silent = reader.pairs, reader.silent
    threshold = judge.right.parameters.get("na_threshold")
    if threshold is not None:
        silent = silent | (np.nan_to_num(pairs.no_answer, nan=-np.inf) > threshold)
    columns = (judge.right(pairs), judge.partial(pairs), judge.later(pairs), silent, pairs.missing)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {query: _FirstAnswer(*row) for query, row in zip(pairs.queries, rows, strict=True)}


def failure_rows(questions: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The number of questions that each stage failed, and why; `right_alone` of them are right from
    the right passage.
    """
    groups: dict[tuple[Failed, str], list[Outcome]] = {}
    for outcome in questions:
        if outcome.failed is not None:
            groups.setdefault((outcome.failed, outcome.why), []).append(outcome)
    total = sum(map(len, groups.values()))
    has_isolated = any(outcome.alone is not None for outcome in questions)
    rows: list[dict[str, Any]] = []
    for (failed, why), group in sorted(
        groups.items(), key=lambda item: (_ORDER.index(item[0][0]), -len(item[1]), item[0][1])
    ):
        row = {"failed": failed, "why": why, "questions": len(group), "share": len(group) / total}
        if has_isolated:
            row["right_alone"] = sum((outcome.alone or 0) >= _RIGHT_FROM for outcome in group)
        rows.append(row)
    return rows


def hardest(questions: Sequence[Outcome]) -> list[Outcome]:
    """The failed questions, the hardest first: not right further down, least right in part; equally
    hard ones take turns.
    """
    turns = Counter[Any]()
    order: list[tuple[Any, ...]] = []
    for number, outcome in enumerate(questions):
        if outcome.failed not in (None, "none"):
            key = (outcome.later or 0.0, outcome.partial or 0.0, outcome.partial_alone or 0.0)
            turns[key, outcome.failed] += 1
            turn = turns[key, outcome.failed]
            order.append((*key, turn, _ORDER.index(outcome.failed), number))
    return [questions[number] for *_, number in sorted(order)]
