"""The report on a model's grades beside those of people: agreement, bias by system, and the signs
of differences.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Floats, Ints, exact_mean, figure
from rankwell.errors import NothingToEvaluate, count_of
from rankwell.evaluation.judged import LinearMeasure
from rankwell.reporting import Aside, Format, Output, PrintedFigure, Row
from rankwell.reporting.options import Progress
from rankwell.stats.samples import WholeQueries
from rankwell.store import writing_to
from rankwell.store.locks import locked
from rankwell.task import printed_rows
from rankwell.tasks.study.agreement import (
    InclusionWeights,
    JudgeComparison,
    RatedItems,
    compare_raters,
)
from rankwell.tasks.study.answers import StudyAnswers
from rankwell.tasks.study.estimation import StudyEstimates
from rankwell.tasks.study.folder import Pair, Study, read_study
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
        rows, people = self.both, self.estimates.answers.grade
        pairs = zip(people[rows].tolist(), self.model.grade[rows].tolist(), strict=True)
        grades = dict(zip(self.study.pairs(rows), pairs, strict=True))
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
        is_sampled = self.study.design == "items"
        if is_sampled and not self.estimates.sampled.any():
            return []
        bias_of = self._sampled_bias if is_sampled else self._whole_bias
        pairs = [(run, "") for run in self.study.run_names] + self.estimates.pairs
        biases = [(pair, bias_of(pair)) for pair in pairs]
        return [
            Bias(*pair, WholeQueries(values, 2**53)) for pair, values in biases if len(values) > 1
        ]

    def _sampled_bias(self, pair: Pair) -> Floats:
        """(queries,) Σ c(model - human)/π over the sampled items of each query that both graded."""
        estimates, linear = self.estimates, LinearMeasure.of(self.study.parsed_measure)
        if linear is None:
            return np.zeros(0)
        rows = self.both[estimates.sampled[self.both]]
        off = linear.gains(self.model.grade[rows]) - linear.gains(estimates.answers.grade[rows])
        terms = estimates.weights_of(pair)[rows] * off / estimates.inclusion[rows]
        queries, n = self.study.pool.query[rows], len(self.study.queries)
        return np.bincount(queries, weights=terms, minlength=n).astype(np.float64)

    def _whole_bias(self, pair: Pair) -> Floats:
        """(queries,) the difference of the values by both, over queries that both judged
        completely.
        """
        estimates, names = self.estimates, self.study.run_names
        differences = [
            estimates.model_values[query] - people
            for query, (people, _) in zip(estimates.drawn.tolist(), estimates.values, strict=True)
            if query in estimates.model_values
        ]
        off = np.array(differences).reshape(-1, len(names))
        return off[:, names.index(pair[0])] - (off[:, names.index(pair[1])] if pair[1] else 0.0)

    def differences(self) -> Iterator[Row]:
        """The sign of each difference by the model alone, and by the estimate that people
        correct.
        """
        try:
            corrected = {
                (estimate.run, estimate.against): estimate.middle.mean
                for estimate in self.estimates.differences()
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
        estimates, names = self.estimates, self.study.run_names
        linear = LinearMeasure.of(self.study.parsed_measure)
        if self.study.design != "items" or linear is None:
            values = np.array(list(estimates.model_values.values())).reshape(-1, len(names))
            run, against = (values[:, names.index(name)] for name in pair)
            return exact_mean(run - against) if len(values) else None
        rows = ~np.isnan(self.model.grade)
        return float(
            (estimates.weights_of(pair)[rows] * linear.gains(self.model.grade[rows])).sum()
        )

    def notes(self) -> list[str]:
        """Notes on missing figures, and warnings of a bias that differs between systems."""
        if self.comparison is None:
            return [
                f"no item has a grade of people and of {self.model.model}; judge some with "
                "`rankwell study judge`"
            ]
        lacking = int((self.estimates.answers.answered & ~self.model.replied).sum())
        notes = (
            [f"{lacking} judged items are not asked yet; agreement and bias leave them out"]
            if lacking
            else []
        )
        for bias in self.biases:
            if bias.against and bias.interval and not bias.interval[0] <= 0 <= bias.interval[1]:
                runs = (bias.run, bias.against)
                better, worse = runs if bias.sample.mean > 0 else reversed(runs)
                notes.append(
                    f"warning: {self.model.model} favours {better} over {worse}: its bias differs "
                    f"by {figure(bias.sample.mean, 'share', signed=True)} "
                    f"{shown_interval(bias.interval, 'share', signed=True)}"
                )
        return notes

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
                "run": bias.run,
                "bias of the model": PrintedFigure(figure(bias.sample.mean, "share", signed=True)),
                f"{100 * LEVEL:g} % interval": shown_interval(bias.interval, "share", signed=True),
            }
            for bias in self.biases
            if not bias.against
        ]
        return [coefficients, confusion, biases, list(self.differences())]

    def rows(self) -> list[Row]:
        """The rows for programs."""
        comparison, grades = self.comparison, list(self.study.grades)
        rows = [] if comparison is None else list(comparison.rows(grades))
        for bias in self.biases:
            low, high = bias.interval or (None, None)
            rows.append(
                {
                    "kind": "bias",
                    "judge": self.model.model,
                    "against": PEOPLE,
                    "run": bias.run,
                    "other_run": bias.against or None,
                    "value": bias.sample.mean,
                    "low": low,
                    "high": high,
                    "queries": len(bias.sample.values),
                }
            )
        for row in self.differences():
            rows.append(
                {
                    "kind": "sign",
                    "judge": self.model.model,
                    "run": row["run"],
                    "other_run": row["against"],
                    "model_alone": row["model alone"],
                    "corrected": row["corrected"],
                }
            )
        return rows


def _sign(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    return "0" if value == 0 else "+" if value > 0 else "−"


def print_model_report(
    folder: str, *, options: ModelOptions, format: Format = "table", progress: Progress = None
) -> Output:
    """Asks a model for what it has not answered, and compares its grades with those of people."""
    study = read_study(folder)
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
