"""The report on a model's grades beside those of people: agreement, bias by system, and the signs
of differences.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankwell.core.exact import exact_mean
from rankwell.core.tables import Floats, Ints, figure
from rankwell.errors import NothingToEvaluate, count_of
from rankwell.evaluation.linear import LinearMeasure
from rankwell.locks import locked
from rankwell.report import Aside, Format, Output, PrintedFigure, Row
from rankwell.report.options import Progress
from rankwell.stats.query_sample import WholeQueries
from rankwell.store import writing_to
from rankwell.task import printed_rows
from rankwell.tasks.study.agreement import (
    InclusionWeights,
    JudgeComparison,
    Pair,
    RatedItems,
    compare_raters,
)
from rankwell.tasks.study.answers import StudyAnswers
from rankwell.tasks.study.estimation import StudyEstimates
from rankwell.tasks.study.folder import Study, read_study
from rankwell.tasks.study.journal import JournalLine, read_journals
from rankwell.tasks.study.model_asking import AskingOutcome, ask, judge_of
from rankwell.tasks.study.model_replies import (
    MODELS,
    ModelGrades,
    model_grades,
    read_replies,
    replies_of,
)
from rankwell.tasks.study.options import ModelOptions
from rankwell.tasks.study.verdicts import shown_interval

LEVEL = 0.95
PEOPLE = "people"


class Bias(NamedTuple):
    """The measure by the model's grades less that by people's: of a run, or of a run less another.
    sample: over queries.
    """

    run: str
    against: str
    sample: WholeQueries

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval for queries like these; None below 10 queries."""
        return self.sample.queries_like_these(LEVEL)


@dataclass(frozen=True, eq=False)
class ModelReport:
    """The grades of a model beside those of people. lines: of all journals."""

    study: Study
    lines: Sequence[JournalLine]
    model: ModelGrades

    @cached_property
    def estimates(self) -> StudyEstimates:
        """The estimates that use the model."""
        answers = StudyAnswers.of(self.study, self.lines)
        return StudyEstimates(self.study, answers, self.study.parsed_measure, (), self.model)

    @cached_property
    def both(self) -> Ints:
        """The rows of the pool with a grade of people and one of the model."""
        return np.flatnonzero(~np.isnan(self.estimates.answers.grade) & ~np.isnan(self.model.grade))

    @cached_property
    def comparison(self) -> JudgeComparison | None:
        """The agreement of people and the model; None without an item that both graded."""
        if not len(self.both):
            return None
        pool, names, grade = self.study.pool, self.study.queries, self.estimates.answers.grade
        grades: dict[Pair, Sequence[float]] = {
            (names[pool.query[row]], str(pool.item[row])): (
                float(grade[row]),
                float(self.model.grade[row]),
            )
            for row in self.both.tolist()
        }
        weights = InclusionWeights.of(self.study, self.lines).weights
        rated = RatedItems((PEOPLE, self.model.model), grades)
        return compare_raters(
            rated, list(self.study.grades), weights, level=LEVEL, seed=self.study.seed
        )

    @cached_property
    def biases(self) -> list[Bias]:
        """The bias for each run, then for each pair; none without an item, or a query, that both
        judged.
        """
        names = self.study.run_names
        chosen = [(run, "") for run in names] + self.estimates.pairs
        if self.study.design == "items":
            found = (
                [(*pair, self._sampled_bias(pair)) for pair in chosen]
                if self.estimates.sampled.any()
                else []
            )
        else:
            found = [(*pair, self._whole_bias(pair)) for pair in chosen]
        return [
            Bias(run, against, WholeQueries(values, 2**53))
            for run, against, values in found
            if len(values) > 1
        ]

    def _sampled_bias(self, pair: Pair) -> Floats:
        """(queries,) Σ c(model - human)/π over the sampled items of each query that both graded."""
        found, linear = self.estimates, LinearMeasure.of(self.study.parsed_measure)
        if linear is None:
            return np.zeros(0)
        rows = self.both[found.sampled[self.both]]
        weight = found.weights[rows, self.study.run_names.index(pair[0])]
        if pair[1]:
            weight = weight - found.weights[rows, self.study.run_names.index(pair[1])]
        off = linear.gains(self.model.grade[rows]) - linear.gains(found.answers.grade[rows])
        terms, n = weight * off / found.inclusion[rows], len(self.study.queries)
        return np.bincount(self.study.pool.query[rows], weights=terms, minlength=n).astype(
            np.float64
        )

    def _whole_bias(self, pair: Pair) -> Floats:
        """(queries,) the difference of the values by both, over queries that both judged
        completely.
        """
        found, names = self.estimates, self.study.run_names
        rows = [
            (own[0], found.model_values.get(query))
            for query, own in zip(found.drawn.tolist(), found.values, strict=True)
        ]
        off = np.array([model - people for people, model in rows if model is not None]).reshape(
            -1, len(names)
        )
        return off[:, names.index(pair[0])] - (off[:, names.index(pair[1])] if pair[1] else 0.0)

    def differences(self) -> Iterator[Row]:
        """The sign of each difference by the model alone, and by the estimate that people
        correct.
        """
        try:
            corrected = {
                (each.run, each.against): each.middle.mean for each in self.estimates.differences()
            }
        except NothingToEvaluate:
            corrected = {}
        for pair in self.estimates.pairs:
            yield {
                "run": pair[0],
                "against": pair[1],
                "model alone": _sign(self._alone(pair)),
                "corrected": _sign(corrected.get(pair)),
            }

    def _alone(self, pair: Pair) -> float | None:
        """The difference by the model's grades alone, over what it answered."""
        found, names = self.estimates, self.study.run_names
        columns = [names.index(run) for run in pair]
        linear = LinearMeasure.of(self.study.parsed_measure)
        if self.study.design != "items" or linear is None:
            own = np.array(list(found.model_values.values())).reshape(-1, len(names))
            return exact_mean(own[:, columns[0]] - own[:, columns[1]]) if len(own) else None
        rows = ~np.isnan(self.model.grade)
        gains = linear.gains(self.model.grade[rows])
        return float(
            ((found.weights[rows, columns[0]] - found.weights[rows, columns[1]]) * gains).sum()
        )

    def notes(self) -> list[str]:
        """Notes on missing figures, and warnings of a bias that differs between systems."""
        if self.comparison is None:
            return [
                f"no item has a grade of people and of {self.model.model}; judge some with "
                "`rankwell study judge`"
            ]
        lacking = int((self.estimates.answers.answered & ~self.model.replied).sum())
        found = (
            [f"{lacking} judged items are not asked yet; agreement and bias leave them out"]
            if lacking
            else []
        )
        for each in self.biases:
            if (
                each.against
                and each.interval is not None
                and not each.interval[0] <= 0 <= each.interval[1]
            ):
                better, worse = (
                    (each.run, each.against) if each.sample.mean > 0 else (each.against, each.run)
                )
                low, high = (figure(end, "share", signed=True) for end in each.interval)
                what = (
                    f"warning: {self.model.model} favours {better} over {worse}: its bias differs "
                    "by"
                )
                found.append(
                    f"{what} {figure(each.sample.mean, 'share', signed=True)} [{low}, {high}]"
                )
        return found

    def tables(self) -> list[list[Row]]:
        """The tables for people."""
        comparison = self.comparison
        coefficients = (
            []
            if comparison is None
            else list(comparison.shown(LEVEL, weighted=self.study.design == "items"))
        )
        confusion = [] if comparison is None else comparison.shown_confusion(self.study.grades)
        biases: list[Row] = [
            {
                "run": each.run,
                "bias of the model": PrintedFigure(figure(each.sample.mean, "share", signed=True)),
                f"{100 * LEVEL:g} % interval": shown_interval(each.interval, "share", signed=True),
            }
            for each in self.biases
            if not each.against
        ]
        return [coefficients, confusion, biases, list(self.differences())]

    def rows(self) -> list[Row]:
        """The rows for programs."""
        found = (
            [] if self.comparison is None else list(self.comparison.rows(list(self.study.grades)))
        )
        for each in self.biases:
            low, high = each.interval or (None, None)
            names = {
                "kind": "bias",
                "judge": self.model.model,
                "against": PEOPLE,
                "run": each.run,
                "other_run": each.against or None,
            }
            found.append(
                {
                    **names,
                    "value": each.sample.mean,
                    "low": low,
                    "high": high,
                    "queries": len(each.sample.values),
                }
            )
        for row in self.differences():
            names = {
                "kind": "sign",
                "judge": self.model.model,
                "run": row["run"],
                "other_run": row["against"],
            }
            found.append(
                {**names, "model_alone": row["model alone"], "corrected": row["corrected"]}
            )
        return found


def _sign(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    return "0" if value == 0 else "+" if value > 0 else "−"


def print_model_report(
    place: str, *, options: ModelOptions, format: Format = "table", progress: Progress = None
) -> Output:
    """Asks a model for what it has not answered, and compares its grades with those of people."""
    study = read_study(place)
    study.refuse_changed_files()
    judge = judge_of(study, options)
    with writing_to(study.place):
        (study.place / MODELS).mkdir(exist_ok=True)
        with locked(replies_of(study, judge.model)):
            done = ask(
                study,
                judge,
                at_most=options.at_most,
                longest=options.longest,
                jobs=options.jobs,
                progress=progress,
            )
    exit_code = 5 if done.failed else 0
    if not read_replies(study, judge.model):
        return Output(notes=tuple(_outcome_notes(study, done, None)), exit_code=exit_code)
    grades, journals = model_grades(study, judge.model), read_journals(study)
    report = ModelReport(study, journals.lines, grades)
    notes = (*journals.notes, *_outcome_notes(study, done, grades), *report.notes())
    text = printed_rows(report.rows(), format, tables=report.tables(), notes=notes)
    return Output(text, notes, exit_code)


def _outcome_notes(study: Study, done: AskingOutcome, grades: ModelGrades | None) -> list[str]:
    """Notes on the run and on the replies."""
    notes: list[str] = [
        Aside(
            f"{count_of(done.new, 'new reply', 'new replies')}, {done.known} known, "
            f"{count_of(done.left, 'item')} left"
        )
    ]
    if done.failed:
        notes.append(
            f"{count_of(done.failed, 'item has', 'items have')} no answer ({done.failure}); "
            "run the same command again"
        )
    if grades is not None:
        n_replies = int(grades.replied.sum())
        if grades.invalid:
            notes.append(
                f"{grades.invalid} of {n_replies} replies have not exactly one grade of the "
                "scale; they count as no grade"
            )
        if grades.flagged:
            flagged = count_of(
                grades.flagged, "document looks as if it", "documents look as if they"
            )
            notes.append(
                f"{flagged} ordered a grade (flagged in {replies_of(study, grades.model).name})"
            )
        if grades.others:
            notes.append(
                count_of(
                    grades.others,
                    "reply was made under another prompt or other parameters, and is not used",
                    "replies were made under other prompts or parameters, and are not used",
                )
            )
    return notes
