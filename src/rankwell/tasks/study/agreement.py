"""Agreement in a study: judges with each other, with themselves and with known grades; their drift
in a session.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Floats, figure
from rankwell.reporting import PrintedFigure, Row
from rankwell.stats.agreement import COHEN, SHARED, Coefficient, Ratings, agreement, confusion
from rankwell.stats.trend import trend
from rankwell.tasks.study.answers import StudyAnswers
from rankwell.tasks.study.estimation import StudyEstimates
from rankwell.tasks.study.folder import Pair, Study
from rankwell.tasks.study.journal import JournalLine, last_answers
from rankwell.tasks.study.verdicts import shown_interval

PLACES = 100
"""A drift is the change of the grade over so many places of a session."""

KnownGrades = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class RatedItems:
    """The items that several raters graded. raters: their names. grades: by query and item,
    (raters,) each, NaN for none.

    is_sample: whether items of the study were drawn; known grades are of chosen items.
    """

    raters: tuple[str, ...]
    grades: Mapping[Pair, Sequence[float]]
    is_sample: bool = True

    @property
    def shown_raters(self) -> str:
        """The raters in a table."""
        return ", ".join(self.raters) if len(self.raters) == 2 else f"all {len(self.raters)} judges"


@dataclass(frozen=True, eq=False)
class JudgeComparison:
    """The agreement of raters: weighted by 1/π, and of the judged sample alone. confusion,
    sample_confusion: of two raters.

    items, queries: the number with two grades or more.
    """

    rated: RatedItems
    weighted: Mapping[str, Coefficient]
    sample: Mapping[str, Coefficient]
    confusion: Floats
    sample_confusion: Floats
    items: int
    queries: int

    def rows(self, scale: Sequence[float]) -> Iterator[Row]:
        """The rows for programs: a coefficient each, and of two raters a cell of the confusion
        each.
        """
        judge, against = self.rated.raters if len(self.rated.raters) == 2 else ("all", None)
        names = {"judge": judge, "against": against}
        for name, coefficient in self.weighted.items():
            low, high = coefficient.interval or (None, None)
            yield {
                "kind": "coefficient",
                **names,
                "name": name,
                "grade": None,
                "against_grade": None,
                "value": coefficient.value,
                "low": low,
                "high": high,
                "sample": self.sample[name].value,
                "items": self.items,
                "queries": self.queries,
            }
        for (row, column), value in np.ndenumerate(self.confusion):
            n = int(self.sample_confusion[row, column])
            yield {
                "kind": "confusion",
                **names,
                "name": "share",
                "grade": scale[row],
                "against_grade": scale[column],
                "value": value,
                "low": None,
                "high": None,
                "sample": n / self.items,
                "items": n,
                "queries": None,
            }

    def shown(self, level: float, *, weighted: bool) -> Iterator[Row]:
        """The coefficients for people. weighted: whether the judged sample has figures of its
        own.
        """
        for name, coefficient in self.weighted.items():
            value = PrintedFigure(figure(coefficient.value, "score"))
            row = {"judges": self.rated.shown_raters, "coefficient": name, "value": value}
            row[f"{100 * level:g} % interval"] = shown_interval(coefficient.interval, "score")
            if weighted:
                row["of the judged sample"] = PrintedFigure(
                    figure(self.sample[name].value, "score")
                )
            yield {**row, "items": self.items, "queries": self.queries}

    def shown_confusion(self, grades: Mapping[float, str]) -> list[Row]:
        """The confusion of two raters, the first by row: shares of all items, and in brackets items
        of the judged sample.
        """
        first, second = self.rated.raters
        return [
            {f"{first} \\ {second}": f"{grade:g} {grades[grade]}"}
            | {
                f"{column_grade:g}": (
                    f"{_share(self.confusion[row, column])} "
                    f"({self.sample_confusion[row, column]:.0f})"
                )
                for column, column_grade in enumerate(grades)
            }
            for row, grade in enumerate(grades)
        ]


class InclusionWeights(NamedTuple):
    """The weight 1/π of each judged item in finished batches; None where items are not drawn.
    expected: the grade, from ranks.
    """

    weights: Mapping[Pair, float] | None
    expected: Mapping[Pair, float]

    @classmethod
    def of(cls, study: Study, lines: Sequence[JournalLine]) -> "InclusionWeights":
        """Those of a study with the judgments so far."""
        answers = StudyAnswers.of(study, lines)
        rows = np.flatnonzero(answers.answered)
        pairs, prior = study.pairs(rows), study.pool.prior[rows]
        expected = dict(zip(pairs, (prior * max(study.grades)).tolist(), strict=True))
        if study.design != "items":
            return cls(None, expected)
        estimates = StudyEstimates(study, answers, study.parsed_measure)
        sampled, pi = estimates.sampled[rows].tolist(), estimates.inclusion[rows].tolist()
        chances = zip(pairs, sampled, pi, strict=True)
        return cls({pair: 1 / chance for pair, is_drawn, chance in chances if is_drawn}, expected)


def rated_items(
    lines: Sequence[JournalLine], known_grades: KnownGrades | None = None
) -> Iterator[RatedItems]:
    """Each two judges with items in common, all judges where there are three, each with themselves,
    and with known grades.
    """
    answers = last_answers(lines)
    judges = sorted({line.judge for line in lines})
    grades = {
        pair: {judge: line.grade for judge, line in by_judge.items()}
        for pair, by_judge in answers.items()
    }
    for judge_pair in combinations(judges, 2):
        yield _common(
            judge_pair,
            {
                pair: [by_judge.get(judge) for judge in judge_pair]
                for pair, by_judge in grades.items()
            },
        )
    if len(judges) > 2:
        table = {
            pair: [_number(by_judge.get(judge)) for judge in judges]
            for pair, by_judge in grades.items()
        }
        yield RatedItems(
            tuple(judges), {pair: row for pair, row in table.items() if not np.isnan(row).all()}
        )
    for judge in judges:
        again = {
            line.pair: line.grade
            for line in lines
            if line.judge == judge and line.purpose == "repeat" and line.grade is not None
        }
        yield _common(
            (judge, f"{judge} again"),
            {pair: [grades.get(pair, {}).get(judge), grade] for pair, grade in again.items()},
        )
    for judge in judges if known_grades is not None else ():
        of_judge = {
            line.pair: line.grade
            for line in lines
            if line.judge == judge and (line.is_answer or line.purpose == "gold")
        }
        twice_graded = (
            {
                pair: [grade, known_grades.get(pair[0], {}).get(pair[1])]
                for pair, grade in of_judge.items()
            }
            if known_grades
            else {}
        )
        yield replace(_common((judge, "known grades"), twice_graded), is_sample=False)


def _share(share: float) -> str:
    return f"{figure(100 * share, 'percent')} %"


def _common(raters: tuple[str, str], grades: Mapping[Pair, Sequence[float | None]]) -> RatedItems:
    """The items that both raters graded."""
    return RatedItems(
        raters,
        {
            pair: [_number(grade) for grade in row]
            for pair, row in grades.items()
            if None not in row
        },
    )


def _number(grade: float | None) -> float:
    return np.nan if grade is None else grade


def compare_raters(
    rated: RatedItems,
    scale: Sequence[float],
    weights: Mapping[Pair, float] | None,
    *,
    level: float,
    seed: int,
) -> JudgeComparison:
    """The figures. weights: 1/π by query and item; items without one count in the sample alone.
    None: every item counts 1.
    """
    table = np.array(list(rated.grades.values())).reshape(len(rated.grades), len(rated.raters))
    numbers = {
        query: number for number, query in enumerate(sorted({query for query, _ in rated.grades}))
    }
    queries = np.array([numbers[query] for query, _ in rated.grades], dtype=np.int64)
    sample = Ratings(grades=table, scale=scale, queries=queries)
    weighted = sample
    if weights is not None and rated.is_sample:
        item_weights = np.array([weights.get(pair, 0.0) for pair in rated.grades])
        is_weighted = item_weights > 0
        weighted = Ratings(
            grades=table[is_weighted],
            scale=scale,
            weights=item_weights[is_weighted],
            queries=queries[is_weighted],
        )
    is_pair = len(rated.raters) == 2
    names = [*SHARED[:1], *COHEN, *SHARED[2:]] if is_pair else SHARED
    of_weighted, of_sample = (
        agreement(ratings, level=level, seed=seed) for ratings in (weighted, sample)
    )
    cells, of_cells = (
        confusion(ratings) if is_pair else np.zeros((0, 0)) for ratings in (weighted, sample)
    )
    return JudgeComparison(
        rated,
        {name: of_weighted[name] for name in names},
        {name: of_sample[name] for name in names},
        cells / cells.sum() if cells.any() else cells,
        of_cells,
        sample.n_rated,
        len(np.unique(queries[np.count_nonzero(~np.isnan(table), axis=1) > 1])),
    )


def drift_rows(
    study: Study, lines: Sequence[JournalLine], expected: Mapping[Pair, float], *, level: float
) -> Iterator[Row]:
    """Per judge the change of the grade over 100 places of a session, and figures of each quarter
    of the places.

    The change is that of the grade less the one expected from ranks, for later batches hold other
    items than the first.
    """
    names = {query: number for number, query in enumerate(study.queries)}
    answers = last_answers(lines)
    for judge in sorted({line.judge for line in lines}):
        judge_lines = [
            line
            for line in lines
            if line.judge == judge
            and line.place is not None
            and line.grade is not None
            and line.pair in expected
            and answers.get(line.pair, {}).get(judge) is line
        ]
        if not judge_lines:
            continue
        line_places = np.array([line.place for line in judge_lines], dtype=np.float64)
        off = np.array(
            [line.grade - expected[line.pair] for line in judge_lines if line.grade is not None]
        )
        queries = np.array([names[line.query] for line in judge_lines])
        drift = trend(line_places, off, queries, level=level, seed=study.seed)
        low, high = (
            (None, None) if drift.interval is None else (PLACES * bound for bound in drift.interval)
        )
        slope = None if drift.slope is None else PLACES * drift.slope
        counts = {"items": len(judge_lines), "queries": len(set(queries.tolist()))}
        yield {
            "kind": "drift",
            "judge": judge,
            "name": f"grade per {PLACES} places",
            "value": slope,
            "low": low,
            "high": high,
        } | counts
        for quarter in _quarters(sorted(judge_lines, key=lambda line: line.place or 0)):
            yield {
                "kind": "quarter",
                "judge": judge,
                **_quarter(quarter, answers),
                "queries": len({line.query for line in quarter}),
            }


def _quarters(lines: Sequence[JournalLine]) -> Iterator[Sequence[JournalLine]]:
    ends = [round(len(lines) * quarter / 4) for quarter in range(5)]
    return (lines[start:end] for start, end in pairwise(ends) if end > start)


def _quarter(
    lines: Sequence[JournalLine], answers: Mapping[Pair, Mapping[str, JournalLine]]
) -> Row:
    """The mean grade of some lines, its difference from the other judges', and the median time."""
    apart, seconds = list[float](), [line.seconds for line in lines if line.seconds is not None]
    for line in lines:
        other_grades = [
            line_of_judge.grade
            for judge, line_of_judge in answers[line.pair].items()
            if judge != line.judge and line_of_judge.grade is not None
        ]
        apart += [(line.grade or 0.0) - statistics.fmean(other_grades)] if other_grades else []
    return {
        "name": f"places {lines[0].place} to {lines[-1].place}",
        "value": statistics.fmean(line.grade or 0.0 for line in lines),
        "above_others": statistics.fmean(apart) if apart else None,
        "seconds": statistics.median(seconds) if seconds else None,
        "items": len(lines),
    }
