"""The report on a model's grades beside those of people: agreement, bias by system, and the signs
of differences.
"""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankwell.data.findings import Finding
from rankwell.data.tables import Floats, Ints, exact_mean, format_value
from rankwell.errors import NothingToEvaluate, count_of
from rankwell.reporting import Answer, Format, Output, PrintedFigure, Row
from rankwell.reporting.options import Progress
from rankwell.stats.samples import WholeQueries
from rankwell.store import writing_to
from rankwell.store.locks import locked
from rankwell.task import printed_rows
from rankwell.tasks.judge.agreement import JudgeComparison, RatedItems, compare_raters, item_weights
from rankwell.tasks.judge.estimate_report import shown_interval
from rankwell.tasks.judge.estimation import StudyEstimates
from rankwell.tasks.judge.findings import (
    documents_order_grades,
    judged_items_not_asked,
    model_favours,
    nothing_graded_twice,
    replies_unused,
)
from rankwell.tasks.judge.folder import Pair, Study, read_study
from rankwell.tasks.judge.journal import read_journals
from rankwell.tasks.judge.model_asking import ask, judge_of
from rankwell.tasks.judge.model_replies import (
    MODELS,
    ModelGrades,
    model_grades,
    read_replies,
    replies_of,
)
from rankwell.tasks.judge.options import ModelOptions

LEVEL = 0.95
PEOPLE = "people"


class Bias(NamedTuple):
    """The difference between a measure by a model's grades and by people's grades.

    run: name of the run.
    against: the run whose bias is subtracted; empty for the bias of one run.
    query_biases: the bias of each query.
    """

    run: str
    against: str
    query_biases: WholeQueries

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval for queries like these; None below 10 queries."""
        return self.query_biases.queries_like_these(LEVEL)


@dataclass(frozen=True, eq=False)
class ModelReport:
    """The grades of a model beside those of people.

    estimates: the estimates that use the model.
    model: grades of the model.
    """

    estimates: StudyEstimates
    model: ModelGrades

    @cached_property
    def both(self) -> Ints:
        """The rows of the pool with a grade of people and one of the model."""
        return np.flatnonzero(~np.isnan(self.estimates.answers.grade) & ~np.isnan(self.model.grade))

    @cached_property
    def comparison(self) -> JudgeComparison | None:
        """The agreement of people and the model; None without an item that both graded."""
        rows, study = self.both, self.estimates.study
        if not len(rows):
            return None
        columns = (self.estimates.answers.grade[rows], self.model.grade[rows])
        raters = (PEOPLE, self.model.model)
        rated = RatedItems(raters, study.pairs(rows), np.column_stack(columns))
        return compare_raters(study, rated, item_weights(self.estimates), LEVEL)

    @cached_property
    def biases(self) -> list[Bias]:
        """The bias for each run, then for each pair; none without an item, or a query, that both
        judged.
        """
        estimates, bias_of = self.estimates, self._whole_bias
        if estimates.study.design == "items":
            if not estimates.sampled.any():
                return []
            bias_of = self._sampled_bias
        pairs = [*((run, "") for run in estimates.names), *estimates.pairs]
        biases = [(pair, bias_of(pair)) for pair in pairs]
        return [
            Bias(*pair, WholeQueries(values, 2**53)) for pair, values in biases if len(values) > 1
        ]

    def _sampled_bias(self, pair: Pair) -> Floats:
        """Σ c(model - human)/π over sampled items of each query that both graded: (queries,)."""
        estimates = self.estimates
        rows = self.both[estimates.sampled[self.both]]
        off = estimates.gains(self.model.grade[rows]) - estimates.gains(
            estimates.answers.grade[rows]
        )
        terms = estimates.of_pair(estimates.weights[rows], pair) * off / estimates.inclusion[rows]
        queries, n = estimates.study.pool.query[rows], len(estimates.study.queries)
        return np.bincount(queries, weights=terms, minlength=n).astype(np.float64)

    def _whole_bias(self, pair: Pair) -> Floats:
        """The difference of the values by both, over queries that both judged completely:
        (queries,).
        """
        estimates = self.estimates
        differences = [
            estimates.model_values[query] - people
            for query, (people, _) in zip(estimates.drawn.tolist(), estimates.values, strict=True)
            if query in estimates.model_values
        ]
        return estimates.of_pair(np.array(differences).reshape(-1, len(estimates.names)), pair)

    @cached_property
    def differences(self) -> list[Row]:
        """The sign of each difference by the model alone, and by the estimate that people
        correct.
        """
        corrected: dict[Pair, float] = {}
        with suppress(NothingToEvaluate):
            corrected = {
                (estimate.run, estimate.against): estimate.with_predictions.mean
                for estimate in self.estimates.differences()
            }
        return [
            {
                "run": pair[0],
                "against": pair[1],
                "model alone": _sign(self._alone(pair)),
                "corrected": _sign(corrected.get(pair)),
            }
            for pair in self.estimates.pairs
        ]

    def _alone(self, pair: Pair) -> float | None:
        """The difference by the model's grades alone, over what it answered."""
        estimates = self.estimates
        if estimates.study.design != "items":
            values = [
                estimates.of_pair(of_runs, pair) for of_runs in estimates.model_values.values()
            ]
            return exact_mean(np.array(values)) if values else None
        rows = ~np.isnan(self.model.grade)
        weights = estimates.of_pair(estimates.weights[rows], pair)
        return float((weights * estimates.gains(self.model.grade[rows])).sum())

    def findings(self) -> Iterator[Finding]:
        """The findings on missing figures, and on a bias that differs between systems."""
        if self.comparison is None:
            yield nothing_graded_twice(
                f"no item has a grade of people and of {self.model.model}; judge some with "
                "`rankwell judge label`"
            )
            return
        if lacking := int((self.estimates.answers.answered & ~self.model.replied).sum()):
            yield judged_items_not_asked(lacking)
        for bias in self.biases:
            if bias.against and bias.interval and not bias.interval[0] <= 0 <= bias.interval[1]:
                runs = (bias.run, bias.against)
                better, worse = runs if bias.query_biases.mean > 0 else reversed(runs)
                yield model_favours(
                    self.model.model,
                    better,
                    worse,
                    f"{format_value(bias.query_biases.mean, 'share', signed=True)} "
                    f"{shown_interval(bias.interval, 'share', signed=True)}",
                )

    def tables(self) -> list[list[Row]]:
        """The tables for people."""
        biases: list[Row] = [
            {
                "run": bias.run,
                "bias of the model": PrintedFigure(
                    format_value(bias.query_biases.mean, "share", signed=True)
                ),
                f"{100 * LEVEL:g} % interval": shown_interval(bias.interval, "share", signed=True),
            }
            for bias in self.biases
            if not bias.against
        ]
        tables = [biases, self.differences]
        if self.comparison is None:
            return tables
        return [self.comparison.coefficient_table(), self.comparison.confusion_table(), *tables]

    def answer(self) -> Answer:
        """How often the model agrees with people, and what it says of the runs."""
        if self.comparison is None:
            return Answer(table=[*self.differences])
        return Answer(self.comparison.sentence(), table=self.comparison.answer())

    def rows(self) -> Iterator[Row]:
        """The rows for programs."""
        if self.comparison is not None:
            yield from self.comparison.rows()
        for bias in self.biases:
            low, high = bias.interval or (None, None)
            yield {
                "kind": "bias",
                "judge": self.model.model,
                "against": PEOPLE,
                "run": bias.run,
                "other_run": bias.against or None,
                "value": bias.query_biases.mean,
                "low": low,
                "high": high,
                "queries": len(bias.query_biases.values),
            }
        for row in self.differences:
            yield {
                "kind": "sign",
                "judge": self.model.model,
                "run": row["run"],
                "other_run": row["against"],
                "model_alone": row["model alone"],
                "corrected": row["corrected"],
            }


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
    with writing_to(study.folder):
        (study.folder / MODELS).mkdir(exist_ok=True)
        with locked(replies_of(study, judge.model)):
            notes, is_failed = ask(study, judge, options, progress)
    exit_code = 5 if is_failed else 0
    if not read_replies(study, judge.model):
        return Output(messages=tuple(notes), exit_code=exit_code)
    grades, journals = model_grades(study, judge.model), read_journals(study)
    report = ModelReport(StudyEstimates.of(study, journals.lines, grades), grades)
    findings = [*journals.findings, *_on_replies(study, grades), *report.findings()]
    text = printed_rows(
        list(report.rows()),
        format,
        tables=report.tables(),
        findings=findings,
        answer=report.answer(),
    )
    return Output.of(text, [*notes, *(() if format == "json" else findings)], exit_code)


def _on_replies(study: Study, grades: ModelGrades) -> Iterator[Finding]:
    n_replies = int(grades.replied.sum())
    if grades.n_invalid:
        yield replies_unused(
            f"{grades.n_invalid} of {n_replies} replies have not exactly one grade of the "
            "scale; they count as no grade"
        )
    if grades.n_flagged:
        yield documents_order_grades(grades.n_flagged, replies_of(study, grades.model).name)
    if grades.n_unused:
        yield replies_unused(
            count_of(
                grades.n_unused,
                "reply was made under another prompt or other parameters, and is not used",
                "replies were made under other prompts or parameters, and are not used",
            )
        )
