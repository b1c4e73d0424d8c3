"""The reader's part: what was answered to each question, how right it is, and whether anything was answered at all."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.registry import Measure
from rankwell.core.tables import Bools, Floats, Ints
from rankwell.tasks.answers.answer_pairs import AnswerPairs, Extra, Impossible, Missing, unmatched
from rankwell.tasks.answers.questions import Predictions, Questions


class Given(NamedTuple):
    """One answer. text: None where it says that there is none. start, end: -1 where unknown. score: NaN where unknown."""

    rank: int
    text: str | None
    document: str | None
    start: int
    end: int
    score: float


@dataclass(frozen=True, eq=False)
class Readings:
    """One reader's answers joined with the questions that count for it. counts: what became of questions and predictions."""

    run: str
    pairs: AnswerPairs
    predictions: Predictions
    counts: Mapping[str, int]

    @classmethod
    def of(
        cls,
        run: str,
        questions: Questions,
        predictions: Predictions,
        *,
        impossible: Impossible,
        missing: Missing,
        extra: Extra,
        retrieved: Mapping[str, bool] | None,
    ) -> "Readings":
        """The join. Raises NothingToEvaluate where no question has a prediction, BadInput where a policy is `error`."""
        away = unmatched(questions, predictions)
        pairs = AnswerPairs.pair(questions, predictions, impossible=impossible, missing=missing, extra=extra, retrieved=retrieved)
        silent = int(np.count_nonzero(pairs.impossible))
        counts = {
            "questions": len(pairs.queries),
            "answerable": len(pairs.queries) - silent,
            "impossible": silent,
            "missing": len(away.missing),
            "extra": len(away.extra),
        }
        return cls(run, pairs, predictions, counts)

    @cached_property
    def answers(self) -> Mapping[str, list[Given]]:
        """The answers to every question that counts, best first."""
        table = self.predictions
        place = {name: row for row, name in enumerate(table.ids)}
        columns = (table.starts.tolist(), table.ends.tolist(), table.scores.tolist())
        cells = list(zip(table.texts, table.documents, *columns, strict=True))
        bounds = table.offsets.tolist()
        found: dict[str, list[Given]] = {}
        for query in self.pairs.queries:
            row = place.get(query)
            mine = [] if row is None else cells[bounds[row] : bounds[row + 1]]
            found[query] = [Given(rank, *each) for rank, each in enumerate(mine, start=1)]
        return found

    @cached_property
    def silent(self) -> Bools:
        """(questions,) whether the first answer says that there is none, or there is no answer at all."""
        none = np.ones(len(self.pairs.queries), dtype=np.bool_)
        filled = np.flatnonzero(np.diff(self.pairs.offsets))
        firsts = [self.pairs.texts[row] for row in self.pairs.offsets[:-1][filled].tolist()]
        none[filled] = [text is None or not text.strip() for text in firsts]
        return none

    def abstained(self, na_threshold: float | None) -> Bools:
        """(questions,) whether nothing was answered, or no answer was likelier than the threshold."""
        return (
            self.silent
            if na_threshold is None
            else self.silent | (np.nan_to_num(self.pairs.no_answer, nan=-np.inf) > na_threshold)
        )

    def grades(self, measure: Measure, rows: Ints) -> Floats:
        """(rows,) what the measure says of single answers, given by their rows, as if each were the only one."""
        owner = self.pairs.question_of_row[rows]
        alone = replace(
            self.pairs.take(owner),
            offsets=np.arange(len(rows) + 1, dtype=np.int64),
            texts=tuple(self.pairs.texts[row] for row in rows.tolist()),
            documents=self.pairs.documents[rows],
            starts=self.pairs.starts[rows],
            ends=self.pairs.ends[rows],
            _known={},
        )
        return measure(alone)

    def position_notes(self, questions: Questions) -> list[str]:
        """What there is to say of answers whose positions are compared: those that cannot be right, or say something else."""
        homes = any(document is not None for document in questions.answer_documents)
        given = [(query, each) for query, listed in self.answers.items() for each in listed if each.text and each.text.strip()]
        odd: dict[str, list[tuple[str, Given]]] = {}
        for query, each in given:
            what = _odd_position(each, questions.contexts, homes=homes)
            if what:
                odd.setdefault(what, []).append((query, each))
        return [
            f"{self.run}: {len(found)} of {len(given)} answers {what} (question {found[0][0]!r}, rank {found[0][1].rank})"
            for what, found in odd.items()
        ]


def _odd_position(answer: Given, contexts: Mapping[str, str], *, homes: bool) -> str:
    """What is odd about where an answer says that it stands, or the empty text. homes: whether right answers name documents."""
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


def whole(measure: Measure) -> Measure:
    """The same measure over all questions, retrieved or not."""
    neutral: dict[str, Any] = {"population": "all", "retrieval": "ignored"}
    return measure.with_parameters(**{name: value for name, value in neutral.items() if measure.accepts(name)})


def compares_positions(measure: Measure) -> bool:
    """Whether a measure of answers looks at where they stand."""
    return measure.parameters.get("match", measure.parameters.get("unit")) in ("offset", "overlap", "intersect")
