"""Answers of a reader joined with the questions, and the outcome of each question: right, or failed
by retriever or reader.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.core.registry import Measure
from rankwell.core.tables import Bools
from rankwell.evaluation.judged import JudgedRun, MeasuredQueries
from rankwell.tasks.answers.answer_pairs import AnswerPairs, Predictions, Questions, is_blank
from rankwell.tasks.answers.retrieval import RetrieverRun

Failed = Literal["retriever", "reader", "no-answer", "none"]
_RIGHT_FROM = 0.5
_ORDER = ("retriever", "reader", "no-answer", "none")


class RankedAnswer(NamedTuple):
    """One answer. text: None where it says that there is none. start, end: -1 where unknown. score:
    NaN where unknown.
    """

    rank: int
    text: str | None
    document: str | None
    start: int
    end: int
    score: float


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
        table = self.predictions
        columns = (table.starts.tolist(), table.ends.tolist(), table.scores.tolist())
        cells = list(zip(table.texts, table.documents, *columns, strict=True))
        bounds = dict(zip(table.ids, pairwise(table.offsets.tolist()), strict=True))
        return {
            query: [
                RankedAnswer(rank, *each)
                for rank, each in enumerate(cells[slice(*bounds.get(query, (0, 0)))], start=1)
            ]
            for query in self.pairs.queries
        }

    @cached_property
    def silent(self) -> Bools:
        """(questions,) whether the first answer says that there is none, or there is no answer at
        all.
        """
        none = np.ones(len(self.pairs.queries), dtype=np.bool_)
        filled = np.flatnonzero(np.diff(self.pairs.offsets))
        none[filled] = [
            is_blank(self.pairs.texts[row]) for row in self.pairs.offsets[:-1][filled].tolist()
        ]
        return none

    def position_notes(self, questions: Questions) -> list[str]:
        """Notes on answers whose positions are compared: those that cannot be right, or whose text
        is elsewhere.
        """
        homes = any(document is not None for document in questions.answer_documents)
        given = [
            (query, each)
            for query, listed in self.answers.items()
            for each in listed
            if not is_blank(each.text)
        ]
        odd: dict[str, list[tuple[str, RankedAnswer]]] = {}
        for query, each in given:
            problem = _position_problem(each, questions.contexts, homes=homes)
            if problem:
                odd.setdefault(problem, []).append((query, each))
        counts = {
            problem: f"{self.name}: {len(found)} of {len(given)} answers {problem}"
            for problem, found in odd.items()
        }
        return [
            f"{counts[problem]} (question {query!r}, rank {each.rank})"
            for problem, ((query, each), *_) in odd.items()
        ]


def answerable_counts(impossible: Bools) -> dict[str, int]:
    """The number of answerable and of impossible questions."""
    n = int(np.count_nonzero(impossible))
    return {"answerable": len(impossible) - n, "impossible": n}


def _position_problem(answer: RankedAnswer, contexts: Mapping[str, str], *, homes: bool) -> str:
    """The problem with the position of an answer, or the empty string. homes: whether right answers
    name documents.
    """
    if answer.start < 0:
        return "have no position, so that they are wrong"
    if answer.end < answer.start:
        return "end before they start, so that they are wrong"
    if answer.document is None:
        return "have a position but no document, so that they are wrong" if homes else ""
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
    found = {} if retriever is None else dict(zip(queries, map(bool, retriever.found), strict=True))
    integrated = None if reader is None or judge is None else _first_answers(reader, judge)
    alone = {} if isolated is None or judge is None else _first_answers(isolated, judge)
    result: list[Outcome] = []
    for query, none in zip(queries, impossible, strict=True):
        mine, other = None if integrated is None else integrated.get(query), alone.get(query)
        if integrated is None:
            failed, why = (
                ("none", "retrieved") if found[query] else ("retriever", "document not retrieved")
            )
            result.append(Outcome(query, none, failed, why))
        elif mine is None:
            result.append(Outcome(query, none, None, "left out, as it has no prediction"))
        else:
            ends = (None, None) if other is None else (other.value, other.partial)
            result.append(
                Outcome(query, none, *_attribute(mine, none, found.get(query)), *mine[:3], *ends)
            )
    return result


def _attribute(first: _FirstAnswer, impossible: bool, found: bool | None) -> tuple[Failed, str]:
    if first.value >= _RIGHT_FROM:
        if impossible:
            return "none", "rightly silent"
        return "none", "right without its document" if found is False else "right"
    if impossible:
        if first.missing:
            return "no-answer", "no prediction"
        # Some conventions require an explicit None, others have no right answer to such a question.
        return (
            "no-answer",
            "silent, in a way that counts wrong" if first.silent else "answered, though impossible",
        )
    if found is False:
        return "retriever", "document not retrieved"
    if first.missing:
        return "reader", "no prediction"
    if first.silent:
        return "no-answer", "silent, though answerable"
    if first.later >= _RIGHT_FROM:
        return "reader", "right, but not first"
    return "reader", "partly right" if first.partial > 0 else "wrong answer"


def _first_answers(reader: ReaderRun, judge: Judge) -> dict[str, _FirstAnswer]:
    pairs, silent, threshold = (
        reader.pairs,
        reader.silent,
        judge.right.parameters.get("na_threshold"),
    )
    if threshold is not None:
        silent = silent | (np.nan_to_num(pairs.no_answer, nan=-np.inf) > threshold)
    columns = (judge.right(pairs), judge.partial(pairs), judge.later(pairs), silent, pairs.missing)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {query: _FirstAnswer(*row) for query, row in zip(pairs.queries, rows, strict=True)}


def failure_rows(found: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The number of questions that each stage failed, and why; `right_alone` of them are right from
    the right passage.
    """
    counted = [each for each in found if each.failed is not None]
    groups = Counter((each.failed, each.why) for each in counted)
    rows: list[dict[str, Any]] = []
    for (failed, why), n in sorted(
        groups.items(), key=lambda each: (_ORDER.index(each[0][0] or "none"), -each[1], each[0][1])
    ):
        row: dict[str, Any] = {
            "failed": failed,
            "why": why,
            "questions": n,
            "share": n / len(counted),
        }
        if any(each.alone is not None for each in counted):
            mine = [each for each in counted if (each.failed, each.why) == (failed, why)]
            row["right_alone"] = sum(
                each.alone is not None and each.alone >= _RIGHT_FROM for each in mine
            )
        rows.append(row)
    return rows


def hardest(found: Sequence[Outcome]) -> list[Outcome]:
    """The failed questions, the hardest first: not right further down, least right in part; equally
    hard ones take turns.
    """
    wrong = [each for each in found if each.failed not in (None, "none")]
    turns: Counter[Any] = Counter()
    placed: list[tuple[Any, ...]] = []
    for place, each in enumerate(wrong):
        key = (each.later or 0.0, each.partial or 0.0, each.partial_alone or 0.0)
        turns[key, each.failed] += 1
        placed.append((*key, turns[key, each.failed], _ORDER.index(each.failed or "none"), place))
    return [wrong[row[-1]] for row in sorted(placed)]
