"""The output of `judge agreement` and `judge llm`: judges with each other, with themselves, with
known grades and with a model; their drift in a session; the bias of a model by system.
"""

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from rankwell.data.columns import refuse_unused_columns
from rankwell.data.findings import Finding
from rankwell.data.tables import (
    Floats,
    Ints,
    exact_mean,
    format_value,
    positions_by_id,
    sum_by,
    without_none,
)
from rankwell.errors import BadInput, NothingToEvaluate, count_of, flag, shown
from rankwell.io.formats import find_judgments
from rankwell.reporting import Answer, Format, Output, PrintedFigure, Row, terminal_of
from rankwell.reporting.options import Progress
from rankwell.stats.agreement import (
    COHEN,
    SHARED,
    Coefficient,
    Ratings,
    agreement,
    confusion,
    trend,
)
from rankwell.stats.samples import WholeQueries
from rankwell.store import writing_to
from rankwell.store.locks import locked
from rankwell.task import printed_rows
from rankwell.tasks.judge.estimation import StudyEstimates, shown_interval
from rankwell.tasks.judge.findings import (
    documents_order_grades,
    judged_items_not_asked,
    model_favours,
    nothing_graded_twice,
    replies_unused,
)
from rankwell.tasks.judge.folder import (
    MODELS,
    JournalLine,
    ModelGrades,
    Pair,
    Study,
    last_answers,
    model_grades,
    read_journals,
    read_replies,
    read_study,
    replies_of,
)
from rankwell.tasks.judge.model_asking import ask, judge_of
from rankwell.tasks.judge.options import AgreementOptions, ModelOptions

PLACES = 100
"""A drift is the change of the grade over so many places of a session."""


class RatedItems(NamedTuple):
    """Items that several raters graded.

    raters: names of the raters.
    pairs: query and item of each.
    grades: (items, raters) grades; NaN where a rater gave none.
    is_sample: whether the study drew the items; False for known grades, whose items were chosen.
    """

    raters: tuple[str, ...]
    pairs: Sequence[Pair]
    grades: Floats
    is_sample: bool = True


@dataclass(frozen=True, eq=False)
class JudgeComparison:
    """The agreement of raters.

    study: the study, which has the scale of grades.
    level: level of the intervals.
    raters: names of the raters, two or more.
    coefficients: name -> coefficient with items weighted by 1/π, and that of the judged sample, in
        which every item counts 1; they are the same where items were not drawn.
    confusion: (grades, grades) weighted shares of the items, the first rater by row; (0, 0) for
        more than two raters.
    sample_confusion: (grades, grades) numbers of items in the judged sample; (0, 0) for more than
        two raters.
    items, queries: number of items with two grades or more, and of their queries.
    """

    study: Study
    level: float
    raters: tuple[str, ...]
    coefficients: Mapping[str, tuple[Coefficient, Coefficient]]
    confusion: Floats
    sample_confusion: Floats
    items: int
    queries: int

    def rows(self) -> Iterator[Row]:
        """The rows for programs: a coefficient each, and of two raters a cell of the confusion
        each.
        """
        judge, against = self.raters if len(self.raters) == 2 else ("all", None)
        for name, (coefficient, of_sample) in self.coefficients.items():
            low, high = coefficient.interval or (None, None)
            yield {
                "kind": "coefficient",
                "judge": judge,
                "against": against,
                "name": name,
                "grade": None,
                "against_grade": None,
                "value": coefficient.value,
                "low": low,
                "high": high,
                "sample": of_sample.value,
                "items": self.items,
                "queries": self.queries,
            }
        scale = list(self.study.grades)
        for (row, column), value in np.ndenumerate(self.confusion):
            n = int(self.sample_confusion[row, column])
            yield {
                "kind": "confusion",
                "judge": judge,
                "against": against,
                "name": "share",
                "grade": scale[row],
                "against_grade": scale[column],
                "value": value,
                "sample": n / self.items,
                "items": n,
            }

    def coefficient_table(self) -> list[Row]:
        """The coefficients for people; of sampled items also those of the judged sample."""
        raters = f"all {len(self.raters)} judges"
        if len(self.raters) == 2:
            raters = ", ".join(self.raters)
        table = list[Row]()
        for name, (coefficient, of_sample) in self.coefficients.items():
            row = {"judges": raters, "coefficient": name, "value": _printed(coefficient.value)}
            row[f"{100 * self.level:g} % interval"] = shown_interval(coefficient.interval, "score")
            if self.study.design == "items":
                row["of the judged sample"] = _printed(of_sample.value)
            table.append({**row, "items": self.items, "queries": self.queries})
        return table

    def answer(self) -> list[Row]:
        """The coefficients that are read most, for people."""
        dropped = ("of the judged sample", "queries")
        return [
            {name: row[name] for name in row if name not in dropped}
            for row in self.coefficient_table()
            if row["coefficient"] in _READ_FIRST
        ]

    def sentence(self) -> str:
        """How often the raters agree."""
        share = self.coefficients[_READ_FIRST[0]][0].value
        agree = "–" if share is None else f"{100 * share:.0f}%"
        raters = " and ".join(self.raters) if len(self.raters) == 2 else "All judges"
        return f"{raters} give the same grade to {agree} of {count_of(self.items, 'item')}."

    def confusion_table(self) -> list[Row]:
        """The confusion of two raters, the first by row: shares of all items, and in brackets items
        of the judged sample; nothing of more raters.
        """
        if len(self.raters) != 2:
            return []
        first, second = self.raters
        cells = zip(self.confusion.tolist(), self.sample_confusion.tolist(), strict=True)
        return [
            {f"{first} \\ {second}": f"{grade:g} {name}"}
            | {
                f"{column_grade:g}": f"{format_value(100 * share, 'percent')} % ({n:.0f})"
                for column_grade, share, n in zip(self.study.grades, *row, strict=True)
            }
            for (grade, name), row in zip(self.study.grades.items(), cells, strict=True)
        ]


_READ_FIRST = ("agreement", "Cohen's kappa (quadratic)", "Krippendorff's alpha (ordinal)")


def _printed(value: float | None, unit: str = "score", *, signed: bool = False) -> PrintedFigure:
    return PrintedFigure(format_value(value, unit, signed=signed))


def item_weights(estimates: StudyEstimates) -> dict[Pair, float] | None:
    """The weight 1/π of each judged item in finished batches; None where items are not drawn."""
    if estimates.study.design != "items":
        return None
    rows = np.flatnonzero(estimates.answers.answered & estimates.sampled)
    weights = (1 / estimates.inclusion[rows]).tolist()
    return dict(zip(estimates.study.pairs(rows), weights, strict=True))


def _rated_items(
    lines: Sequence[JournalLine], known_grades: Mapping[Pair, float]
) -> Iterator[RatedItems]:
    """Each two judges with items in common, all judges where there are three, each with themselves,
    and with known grades.
    """
    answers = last_answers(lines)
    judges = sorted({line.judge for line in lines})
    grades_of = {
        judge: _grades(by_judge[judge] for by_judge in answers.values() if judge in by_judge)
        for judge in judges
    }
    for judge, other_judge in combinations(judges, 2):
        yield _rated_by_two((judge, other_judge), grades_of[judge], grades_of[other_judge])
    if len(judges) > 2:
        pairs = [pair for pair in answers if any(pair in grades_of[judge] for judge in judges)]
        columns = [[grades_of[judge].get(pair, np.nan) for pair in pairs] for judge in judges]
        yield RatedItems(tuple(judges), pairs, np.array(columns).T)
    for judge in judges:
        again = _grades(
            line
            for line in lines
            if line.judge == judge and line.purpose == "repeat" and line.grade is not None
        )
        yield _rated_by_two((judge, f"{judge} again"), grades_of[judge], again)
    for judge in judges if known_grades else ():
        grades = _grades(
            line
            for line in lines
            if line.judge == judge and (line.is_answer or line.purpose == "gold")
        )
        yield _rated_by_two((judge, "known grades"), grades, known_grades)._replace(is_sample=False)


def _grades(lines: Iterable[JournalLine]) -> dict[Pair, float]:
    """The last grade of each pair, without pairs whose last line has none."""
    grades = {line.pair: line.grade for line in lines}
    return without_none(grades)


def _rated_by_two(
    raters: tuple[str, str], first: Mapping[Pair, float], second: Mapping[Pair, float]
) -> RatedItems:
    """The items that both raters graded."""
    pairs = [pair for pair in second if pair in first]
    grades = np.array([(first[pair], second[pair]) for pair in pairs])
    return RatedItems(raters, pairs, grades)


def compare_raters(
    study: Study, rated: RatedItems, weights: Mapping[Pair, float] | None, level: float
) -> JudgeComparison:
    """The figures. weights: 1/π by query and item; items without one count in the sample alone.
    None: every item counts 1.
    """
    ids = np.array([query for query, _ in rated.pairs], dtype=object)
    queries = np.unique(ids, return_inverse=True)[1]
    sample = Ratings(grades=rated.grades, scale=list(study.grades), queries=queries)
    weighted = sample
    if weights is not None and rated.is_sample:
        item_weights = np.array([weights.get(pair, 0.0) for pair in rated.pairs])
        is_weighted = item_weights > 0
        weighted = replace(
            sample,
            grades=rated.grades[is_weighted],
            weights=item_weights[is_weighted],
            queries=queries[is_weighted],
        )
    is_pair = len(rated.raters) == 2
    names = [*SHARED[:1], *COHEN, *SHARED[2:]] if is_pair else SHARED
    of_weighted, of_sample = (
        agreement(ratings, level=level, seed=study.seed) for ratings in (weighted, sample)
    )
    cells, of_cells = (
        confusion(ratings) if is_pair else np.zeros((0, 0)) for ratings in (weighted, sample)
    )
    return JudgeComparison(
        study,
        level,
        rated.raters,
        {name: (of_weighted[name], of_sample[name]) for name in names},
        cells / (cells.sum() or 1.0),
        of_cells,
        sample.n_rated,
        len(np.unique(queries[np.count_nonzero(~np.isnan(rated.grades), axis=1) > 1])),
    )


def _drift_rows(
    estimates: StudyEstimates, lines: Sequence[JournalLine], level: float
) -> Iterator[Row]:
    """Per judge the change of the grade over 100 places of a session, and figures of each quarter
    of the places.

    The change is that of the grade less the one expected from ranks, for later batches hold other
    items than the first.
    """
    study, answers = estimates.study, last_answers(lines)
    rows = np.flatnonzero(estimates.answers.answered)
    guesses = (study.pool.prior[rows] * max(study.grades)).tolist()
    expected = dict(zip(study.pairs(rows), guesses, strict=True))
    names = positions_by_id(study.queries)
    placed_lines = [
        line
        for line in lines
        if line.place is not None
        and line.grade is not None
        and answers.get(line.pair, {}).get(line.judge) is line
    ]
    for judge in sorted({line.judge for line in placed_lines}):
        judge_lines = [line for line in placed_lines if line.judge == judge]
        places = np.array([line.place for line in judge_lines], dtype=np.float64)
        off = np.array([(line.grade or 0.0) - expected[line.pair] for line in judge_lines])
        queries = np.array([names[line.query] for line in judge_lines])
        drift = trend(places, off, queries, level=level, seed=study.seed)
        value, low, high = (
            None if slope is None else PLACES * slope
            for slope in (drift.slope, *(drift.interval or (None, None)))
        )
        yield {
            "kind": "drift",
            "judge": judge,
            "name": f"grade per {PLACES} places",
            "value": value,
            "low": low,
            "high": high,
            "items": len(judge_lines),
            "queries": len(set(queries.tolist())),
        }
        judge_lines.sort(key=lambda line: line.place or 0)
        ends = [round(len(judge_lines) * quarter / 4) for quarter in range(5)]
        for start, end in pairwise(ends):
            if start < end:
                yield _quarter(judge_lines[start:end], answers)


def _quarter(
    lines: Sequence[JournalLine], answers: Mapping[Pair, Mapping[str, JournalLine]]
) -> Row:
    """The mean grade of some lines of a judge, its difference from the other judges', and the
    median time.
    """
    judge, apart = lines[0].judge, list[float]()
    seconds = [line.seconds for line in lines if line.seconds is not None]
    for line in lines:
        grades = [
            answer.grade
            for answer in answers[line.pair].values()
            if answer.judge != judge and answer.grade is not None
        ]
        apart += [(line.grade or 0.0) - statistics.fmean(grades)] if grades else []
    return {
        "kind": "quarter",
        "judge": judge,
        "name": f"places {lines[0].place} to {lines[-1].place}",
        "value": statistics.fmean(line.grade or 0.0 for line in lines),
        "above_others": statistics.fmean(apart) if apart else None,
        "seconds": statistics.median(seconds) if seconds else None,
        "items": len(lines),
        "queries": len({line.query for line in lines}),
    }


def print_agreement(folder: str, *, options: AgreementOptions, format: Format = "table") -> Output:
    """The agreement of all judges of a study."""
    study, level = read_study(folder), options.level
    journals = read_journals(study)
    if not any(line.grade is not None for line in journals.lines):
        raise NothingToEvaluate(
            f"{folder}: no item is judged; judge some with `rankwell judge label`."
        )
    known_grades, on_known_grades = _known_grades(study, options)
    estimates = StudyEstimates.of(study, journals.lines)
    weights = item_weights(estimates)
    compared = [
        comparison
        for rated in _rated_items(journals.lines, known_grades)
        if rated.pairs and (comparison := compare_raters(study, rated, weights, level)).items
    ]
    drift = list(_drift_rows(estimates, journals.lines, level))
    findings = [*journals.findings, *on_known_grades]
    rules: dict[str, object] = {"level": level}
    if compared:
        rules["weights"] = "1/π" if study.design == "items" else "1"
    elif format != "table" or terminal_of().details:  # The answer says so itself.
        findings.append(
            nothing_graded_twice("there is no item that two judges graded, or one judge twice")
        )
    tables = [
        [row for comparison in compared for row in comparison.coefficient_table()],
        *(comparison.confusion_table() for comparison in compared),
        *_drift_tables(drift, level),
    ]
    rows = [row for comparison in compared for row in comparison.rows()] + drift
    answer = Answer(
        "\n".join(comparison.sentence() for comparison in compared)
        or "No item was graded by two judges, or twice by one.",
        table=[row for comparison in compared for row in comparison.answer()],
    )
    text = printed_rows(rows, format, tables=tables, rules=rules, findings=findings, answer=answer)
    return Output.of(text, () if format == "json" else findings)


def _known_grades(
    study: Study, options: AgreementOptions
) -> tuple[dict[Pair, float], tuple[Finding, ...]]:
    """The known grades, none without a file of them, and the findings of its reader. Raises
    BadInput for one outside the scale of the study.
    """
    if options.qrels is None:
        refuse_unused_columns(options.qrels_columns, "judgments", flag("--qrels"))
        return {}, ()
    found_judgments = find_judgments(options.qrels, qrels_columns=options.qrels_columns)
    judgments = found_judgments.judgments.flat
    known_grades = dict(zip(judgments.pairs, judgments.grades.tolist(), strict=True))
    for (query, item), grade in known_grades.items():
        if grade not in study.grades:
            problem = f"item {shown(item)} of query {shown(query)} has the grade {grade:g}"
            raise BadInput(f"{options.qrels}: {problem}; the scale of the study is {study.scale}.")
    return known_grades, found_judgments.findings


def _drift_tables(drift: Sequence[Row], level: float) -> Iterator[list[Row]]:
    """The tables of drift: the change of the grade, and the quarters of the places."""
    yield [
        {
            "judge": row["judge"],
            "drift": row["name"],
            "value": _printed(row["value"], signed=True),
            f"{100 * level:g} % interval": shown_interval(
                None if row["low"] is None else (row["low"], row["high"]), "score", signed=True
            ),
            "items": row["items"],
        }
        for row in drift
        if row["kind"] == "drift"
    ]
    yield [
        {
            "judge": row["judge"],
            "session": row["name"],
            "mean grade": _printed(row["value"]),
            "less others'": _printed(row["above_others"], signed=True),
            "median seconds": _printed(row["seconds"], "seconds"),
            "items": row["items"],
        }
        for row in drift
        if row["kind"] == "quarter"
    ]


LEVEL = 0.95
PEOPLE = "people"


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
    def biases(self) -> dict[Pair, WholeQueries]:
        """The difference of each query between a measure by the model's grades and by people's, for
        each run, whose second name is empty, then for each pair; none without an item, or a query,
        that both judged.
        """
        estimates, bias_of = self.estimates, self._whole_bias
        if estimates.study.design == "items":
            if not estimates.sampled.any():
                return {}
            bias_of = self._sampled_bias
        pairs = [*((run, "") for run in estimates.names), *estimates.pairs]
        return {
            pair: WholeQueries(values, 2**53) for pair in pairs if len(values := bias_of(pair)) > 1
        }

    def _sampled_bias(self, pair: Pair) -> Floats:
        """Σ c(model - human)/π over sampled items of each query that both graded: (queries,)."""
        estimates = self.estimates
        rows = self.both[estimates.sampled[self.both]]
        off = estimates.gains(self.model.grade[rows]) - estimates.gains(
            estimates.answers.grade[rows]
        )
        terms = estimates.of_pair(estimates.weights[rows], pair) * off / estimates.inclusion[rows]
        return sum_by(estimates.study.pool.query[rows], terms, len(estimates.study.queries))

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
                estimate[:2]: estimate.with_predictions.mean
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
        for runs, bias in self.biases.items():
            interval = bias.queries_like_these(LEVEL)
            if all(runs) and interval and not interval[0] <= 0 <= interval[1]:
                better, worse = runs if bias.mean > 0 else reversed(runs)
                yield model_favours(
                    self.model.model,
                    better,
                    worse,
                    f"{format_value(bias.mean, 'share', signed=True)} "
                    f"{shown_interval(interval, 'share', signed=True)}",
                )

    def tables(self) -> list[list[Row]]:
        """The tables for people."""
        biases: list[Row] = [
            {
                "run": run,
                "bias of the model": _printed(bias.mean, "share", signed=True),
                f"{100 * LEVEL:g} % interval": shown_interval(
                    bias.queries_like_these(LEVEL), "share", signed=True
                ),
            }
            for (run, against), bias in self.biases.items()
            if not against
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
        for (run, against), bias in self.biases.items():
            low, high = bias.queries_like_these(LEVEL) or (None, None)
            yield {
                "kind": "bias",
                "judge": self.model.model,
                "against": PEOPLE,
                "run": run,
                "other_run": against or None,
                "value": bias.mean,
                "low": low,
                "high": high,
                "queries": len(bias.values),
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
        return "?"
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
