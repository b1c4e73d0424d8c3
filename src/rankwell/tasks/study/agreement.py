"""Agreement in a study: judges with each other, with themselves and with known grades; their drift
in a session.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from rankwell.core.tables import Floats, figure
from rankwell.report import PrintedFigure, Row
from rankwell.stats.agreement import COHEN, SHARED, Coefficient, Ratings, agreement, confusion
from rankwell.stats.trend import trend
from rankwell.tasks.study.answers import StudyAnswers
from rankwell.tasks.study.estimation import StudyEstimates
from rankwell.tasks.study.folder import Study
from rankwell.tasks.study.journal import JournalLine, last_answers
from rankwell.tasks.study.verdicts import shown_interval

PLACES = 100
"""A drift is the change of the grade over so many places of a session."""

Pair = tuple[str, str]
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
        counts = {"items": self.items, "queries": self.queries}
        for name, found in self.weighted.items():
            low, high = found.interval or (None, None)
            own = {
                "value": found.value,
                "low": low,
                "high": high,
                "sample": self.sample[name].value,
            }
            yield {
                "kind": "coefficient",
                **names,
                "name": name,
                "grade": None,
                "against_grade": None,
                **own,
                **counts,
            }
        if len(self.rated.raters) != 2:
            return
        for (row, column), value in np.ndenumerate(self.confusion):
            n = int(self.sample_confusion[row, column])
            cell = {
                "grade": scale[row],
                "against_grade": scale[column],
                "value": value,
                "low": None,
                "high": None,
            }
            yield {
                "kind": "confusion",
                **names,
                "name": "share",
                **cell,
                "sample": n / self.items,
                "items": n,
                "queries": None,
            }

    def shown(self, level: float, *, weighted: bool) -> Iterator[Row]:
        """The coefficients for people. weighted: whether the judged sample has figures of its
        own.
        """
        for name, found in self.weighted.items():
            value = PrintedFigure(figure(found.value, "score"))
            row = {"judges": self.rated.shown_raters, "coefficient": name, "value": value}
            row[f"{100 * level:g} % interval"] = shown_interval(found.interval, "score")
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
                f"{other:g}": (
                    f"{_share(self.confusion[row, column])} "
                    f"({self.sample_confusion[row, column]:.0f})"
                )
                for column, other in enumerate(grades)
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
        pool, names, answers = study.pool, study.queries, StudyAnswers.of(study, lines)
        rows = np.flatnonzero(answers.answered)
        pairs = [
            (names[query], item)
            for query, item in zip(pool.query[rows].tolist(), pool.item[rows].tolist(), strict=True)
        ]
        expected = dict(zip(pairs, (pool.prior[rows] * max(study.grades)).tolist(), strict=True))
        if study.design != "items":
            return cls(None, expected)
        found = StudyEstimates(study, answers, study.parsed_measure)
        pi = zip(pairs, found.sampled[rows].tolist(), found.inclusion[rows].tolist(), strict=True)
        return cls({pair: 1 / chance for pair, sampled, chance in pi if sampled}, expected)


def rated_items(
    lines: Sequence[JournalLine], known: KnownGrades | None = None
) -> Iterator[RatedItems]:
    """Each two judges with items in common, all judges where there are three, each with themselves,
    and with known grades.
    """
    answers = last_answers(lines)
    judges = sorted({line.judge for line in lines})
    grades = {
        pair: {judge: line.grade for judge, line in own.items()} for pair, own in answers.items()
    }
    for two in combinations(judges, 2):
        yield _common(
            two, {pair: [own.get(judge) for judge in two] for pair, own in grades.items()}
        )
    if len(judges) > 2:
        every = {
            pair: [_number(own.get(judge)) for judge in judges] for pair, own in grades.items()
        }
        yield RatedItems(
            tuple(judges), {pair: own for pair, own in every.items() if not np.isnan(own).all()}
        )
    for judge in judges:
        again = {
            line.pair: line.grade
            for line in lines
            if line.judge == judge and line.purpose == "repeat" and line.grade is not None
        }
        yield _common(
            (judge, f"{judge} again"),
            {pair: [grades.get(pair, {}).get(judge), each] for pair, each in again.items()},
        )
    for judge in judges if known is not None else ():
        own = {
            line.pair: line.grade
            for line in lines
            if line.judge == judge and (line.is_answer or line.purpose == "gold")
        }
        both = (
            {pair: [grade, known.get(pair[0], {}).get(pair[1])] for pair, grade in own.items()}
            if known
            else {}
        )
        yield replace(_common((judge, "known grades"), both), is_sample=False)


def _share(share: float) -> str:
    return f"{figure(100 * share, 'percent')} %"


def _common(raters: tuple[str, str], grades: Mapping[Pair, Sequence[float | None]]) -> RatedItems:
    """The items that both raters graded."""
    return RatedItems(
        raters,
        {pair: [_number(each) for each in own] for pair, own in grades.items() if None not in own},
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
        own = np.array([weights.get(pair, 0.0) for pair in rated.grades])
        kept = own > 0
        weighted = Ratings(
            grades=table[kept], scale=scale, weights=own[kept], queries=queries[kept]
        )
    names = [*SHARED[:1], *COHEN, *SHARED[2:]] if len(rated.raters) == 2 else list(SHARED)
    of_weighted, of_sample = (
        agreement(weighted, level=level, seed=seed),
        agreement(sample, level=level, seed=seed),
    )
    two = len(rated.raters) == 2
    cells = [confusion(each) if two else np.zeros((0, 0)) for each in (weighted, sample)]
    return JudgeComparison(
        rated,
        {name: of_weighted[name] for name in names},
        {name: of_sample[name] for name in names},
        cells[0] / cells[0].sum() if cells[0].any() else cells[0],
        cells[1],
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
        own = [
            line
            for line in lines
            if line.judge == judge and line.place is not None and line.grade is not None
        ]
        own = [
            line
            for line in own
            if line.pair in expected and answers.get(line.pair, {}).get(judge) is line
        ]
        if not own:
            continue
        places = np.array([line.place for line in own], dtype=np.float64)
        off = np.array([line.grade - expected[line.pair] for line in own if line.grade is not None])
        queries = np.array([names[line.query] for line in own])
        found = trend(places, off, queries, level=level, seed=study.seed)
        low, high = (
            (None, None) if found.interval is None else (PLACES * each for each in found.interval)
        )
        slope = None if found.slope is None else PLACES * found.slope
        counts = {"items": len(own), "queries": len(set(queries.tolist()))}
        yield {
            "kind": "drift",
            "judge": judge,
            "name": f"grade per {PLACES} places",
            "value": slope,
            "low": low,
            "high": high,
        } | counts
        for quarter in _quarters(sorted(own, key=lambda line: line.place or 0)):
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
        others = [
            each.grade
            for judge, each in answers[line.pair].items()
            if judge != line.judge and each.grade is not None
        ]
        apart += [(line.grade or 0.0) - statistics.fmean(others)] if others else []
    return {
        "name": f"places {lines[0].place} to {lines[-1].place}",
        "value": statistics.fmean(line.grade or 0.0 for line in lines),
        "above_others": statistics.fmean(apart) if apart else None,
        "seconds": statistics.median(seconds) if seconds else None,
        "items": len(lines),
    }
