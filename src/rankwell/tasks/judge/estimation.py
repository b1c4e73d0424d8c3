"""Estimates of a study: means and differences of runs with two intervals each, bounded where grades
are unknown; and in words: which run is better, with which confidence, and what leaves it open.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, compress, product
from typing import NamedTuple

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.rankings import Ranking, hits_of_ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import Bools, Floats, Ints, Judgments, Unit, format_value
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, count_of, shown, typed
from rankwell.evaluation.bounds import is_reciprocal
from rankwell.evaluation.judged import LinearMeasure, name_runs
from rankwell.io.result_folder import digest_of
from rankwell.reporting import FOR_PEOPLE, Format, Output, Row
from rankwell.stats.samples import (
    FEWEST_JUDGED,
    FEWEST_QUERIES,
    PredictedQueries,
    SampledItems,
    SampleEstimate,
    WholeQueries,
    cross_fitted,
    estimate,
    folds_of,
    inclusion,
    most_and_least,
    permanent_numbers,
    priorities,
)
from rankwell.store import Source, encode_id, writing_to
from rankwell.store.locks import locked
from rankwell.task import printed_rows
from rankwell.tasks.judge.batches import (
    Progress,
    finished_batches,
    needed_rows,
    progress,
    queries_read_together,
)
from rankwell.tasks.judge.folder import (
    JournalLine,
    ModelGrades,
    Pair,
    Study,
    StudyAnswers,
    model_grades,
    read_journals,
    read_looks,
    read_study,
)
from rankwell.tasks.judge.options import EstimateOptions
from rankwell.tasks.judge.pooling import rank_weights, refuse_shallow, study_measure

_MOST_COMPLETED = 256
"""Completions of the unknown grades of a query that are tried; beyond, the measure's own bounds
hold.
"""


Sample = SampleEstimate | WholeQueries | PredictedQueries


class StudyEstimate(NamedTuple):
    """The mean of a run, or the difference of two, with its bounds.

    run: name of the run; for a difference, of the first run.
    against: name of the run that is subtracted; empty for a mean.
    with_predictions: the estimate with predictions in place of unknown gains.
    least, most: the estimates under the unknown grades that make it smallest and largest.
    judged: number of answered items that affect it.
    unknown: number of these items without a grade.
    queries: number of queries in the estimate.
    """

    run: str
    against: str
    with_predictions: Sample
    least: Sample
    most: Sample
    judged: int
    unknown: int
    queries: int


def chosen_measure(study: Study, options: EstimateOptions) -> Measure:
    """The measure of an estimate. Raises BadUsage for one that the study cannot estimate."""
    if options.measure is None:
        return study.parsed_measure
    measure = study_measure(options.measure, study.grades)
    if study.design == "items" and LinearMeasure.of(measure) is None:
        raise BadUsage(
            f"{measure} cannot be estimated from sampled items; pool a study with --by queries N, "
            "or choose P, SDCG or RBP with a cut-off."
        )
    pooled = study.parsed_measure
    if study.design == "reading" and not (
        is_reciprocal(measure) and measure.parameters["rel"] == pooled.parameters["rel"]
    ):
        raise BadUsage(
            f"{measure}: this study was read down for {study.measure}; pool another one."
        )
    if measure.cutoff != pooled.cutoff and (measure.cutoff or study.depth + 1) > study.depth:
        raise BadUsage(
            f"{measure} looks beyond the first {study.depth} ranks, which were pooled; pool a "
            "study with --depth."
        )
    if study.design == "queries":
        refuse_shallow(measure, study.depth)
    return measure


@dataclass(frozen=True, eq=False)
class StudyEstimates:
    """The estimates of a study under one choice of options.

    study: the study with its pool.
    answers: the grades of people.
    measure: a measure that the design of the study can estimate.
    runs: names of the chosen runs; empty for all.
    model: grades of a model as predictions; None to use the answers alone.
    """

    study: Study
    answers: StudyAnswers
    measure: Measure
    runs: tuple[str, ...] = ()
    model: ModelGrades | None = None

    @classmethod
    def of(
        cls, study: Study, lines: Sequence[JournalLine], model: ModelGrades | None = None
    ) -> "StudyEstimates":
        """Those of all runs by the measure of the study."""
        return cls(study, StudyAnswers.of(study, lines), study.parsed_measure, model=model)

    @cached_property
    def linear(self) -> LinearMeasure | None:
        """The parts of the measure where it is linear in the gains of items."""
        return LinearMeasure.of(self.measure)

    @property
    def label(self) -> str:
        """The measure in tables and sentences: with the pool as its recall base, where it has
        one.
        """
        if is_reciprocal(self.measure) or self.linear is not None:
            return str(self.measure)
        return f"{self.measure} over the pool of the first {self.study.depth}"

    @cached_property
    def names(self) -> list[str]:
        """The chosen runs in the order of the study, so that a pair is the same in any order of its
        names.
        """
        return [name for name in self.study.run_names if not self.runs or name in self.runs]

    @cached_property
    def ranks(self) -> Ints:
        """The ranks in the chosen runs: (items, runs)."""
        return self.study.pool.ranks[:, list(map(self.study.run_names.index, self.names))]

    @property
    def pairs(self) -> list[Pair]:
        """All pairs of runs, the later against the earlier."""
        return [(later, earlier) for earlier, later in combinations(self.names, 2)]

    def of_pair(self, columns: Floats, pair: Pair) -> Floats:
        """The column of the first run less that of the second, if there is one. columns: (...,
        runs).
        """
        run = columns[..., self.names.index(pair[0])]
        return run - columns[..., self.names.index(pair[1])] if pair[1] else run

    def differences(self) -> list[StudyEstimate]:
        """The differences of all pairs. Raises NothingToEvaluate before the first finished
        batch.
        """
        return list(map(self._estimate, self.pairs))

    def means(self) -> list[StudyEstimate]:
        """The means of all runs. Raises BadUsage where the study was not pooled for them, else as
        `differences`.
        """
        return [self._estimate((name, "")) for name in self.names]

    def _estimate(self, pair: Pair) -> StudyEstimate:
        return self._of_items(pair) if self.study.design == "items" else self._of_queries(pair)

    def threshold_after(self, end: int, round_index: int) -> float:
        """The priority of the first item of a round, from 0, that so many batches leave out."""
        pool = self.study.pool
        batches, sizes = pool.batches[:, round_index], pool.sizes[:, round_index]
        left = priorities(pool.u, sizes)[(batches < 0) | (batches >= end)]
        return float(left.min(initial=np.inf))

    @cached_property
    def thresholds(self) -> list[float]:
        """Of each round the priority of the first item that is not in finished batches."""
        return [
            self.threshold_after(finished_batches(batches, self.answers.answered), index)
            for index, batches in enumerate(self.study.pool.batches.T)
        ]

    @cached_property
    def inclusion(self) -> Floats:
        """The probability that each item was judged, the greatest over the rounds: (items,)."""
        return np.max(list(map(inclusion, self.study.pool.sizes.T, self.thresholds)), axis=0)

    @cached_property
    def sampled(self) -> Bools:
        """Whether each item was drawn, in any round: (items,)."""
        pool = self.study.pool
        rounds = zip(pool.sizes.T, self.thresholds, strict=True)
        return np.any([priorities(pool.u, sizes) < tau for sizes, tau in rounds], axis=0)

    @cached_property
    def halves(self) -> Bools:
        """The half of each query, by a hash of seed and id: (queries,)."""
        return self._numbers(self.study.queries, b"half") < 0.5

    def _numbers(self, queries: Sequence[str], purpose: bytes) -> Floats:
        """The permanent number of each query for a purpose."""
        ids = list(map(encode_id, queries))
        return permanent_numbers(self.study.seed, ids, [purpose] * len(ids))

    @cached_property
    def weights(self) -> Floats:
        """The weight of each item in the measure of each run: (items, runs)."""
        return rank_weights(self.measure, self.ranks)

    def items_of(self, pair: Pair) -> SampledItems:
        """The sample for a difference, or for the mean of a run. Raises BadUsage for an item that
        had no chance to be judged.
        """
        pool = self.study.pool
        if self.linear is None:
            raise BadUsage(
                f"{self.measure} is not linear in the gains of items; pool a study with --by "
                "queries N."
            )
        weight = self.of_pair(self.weights, pair)
        lost = np.flatnonzero((weight != 0) & (pool.sizes.max(axis=1) == 0))
        if len(lost):
            decided, how = (
                ("a difference", "for this measure")
                if pair[1]
                else ("a mean", "with --estimate means")
            )
            raise BadUsage(
                f"item {shown(pool.item[lost[0]])} decides {decided} and had no chance to be "
                f"judged; pool a study {how}."
            )
        return SampledItems(
            n_queries=len(self.study.queries),
            query=pool.query,
            weight=weight,
            prediction=self._predictions,
            inclusion=self.inclusion,
            sampled=self.sampled,
            gain=self.gains(self.answers.grade),
        )

    @cached_property
    def _predictions(self) -> Floats:
        """The predicted gains, (items,): those of the model's valid grades, else of the guess from
        ranks.
        """
        guessed = self.study.pool.prior * self.highest_gain
        return guessed if self.model is None else self.gains(self.model.grade, guessed)

    def gains(self, grades: Floats, unknown: Floats | float = np.nan) -> Floats:
        """The gains of grades, and others where a grade is unknown; grades themselves where the
        measure is not linear in gains.
        """
        known_grades = np.nan_to_num(grades)
        gains = known_grades if self.linear is None else self.linear.gains(known_grades)
        return np.where(np.isnan(grades), unknown, gains)

    @property
    def highest_gain(self) -> float:
        """The highest gain on the scale of the study."""
        return float(self.gains(np.array([max(self.study.grades)]))[0])

    def _of_items(self, pair: Pair) -> StudyEstimate:
        items = self.items_of(pair)
        if not self.sampled.any():
            raise NothingToEvaluate(
                f"{self.study.folder}: no batch is finished; judge one with `rankwell judge label`."
            )
        shares = cross_fitted(items, self.halves)
        low, high = most_and_least(items, self.highest_gain)
        decides = items.sampled & (items.weight != 0)
        return StudyEstimate(
            *pair,
            *(estimate(items, shares, unknown) for unknown in (None, low, high)),
            judged=int(decides.sum()),
            unknown=int((decides & np.isnan(items.gain)).sum()),
            queries=len(self.study.queries),
        )

    @cached_property
    def drawn(self) -> Ints:
        """The drawn queries that are judged completely, one after the other in the order of
        drawing.
        """
        study, pool = self.study, self.study.pool
        is_drawn = pool.sizes[:, -1] > 0
        queries = pool.query[is_drawn]
        order = queries[np.sort(np.unique(queries, return_index=True)[1])]
        waiting = is_drawn & ~self.answers.answered
        if study.design == "reading":
            waiting = needed_rows(study, self.answers)
        undone = np.flatnonzero(np.isin(order, pool.query[waiting]))
        done = int(undone[0]) if len(undone) else len(order)
        if len(undone) and study.design == "reading":
            # Whole batches of queries: those that end early are the easy ones.
            done -= done % queries_read_together(study)
        return np.sort(order[:done])

    @cached_property
    def _rows(self) -> list[Ints]:
        """The rows of each query in the pool: (queries,)."""
        query = self.study.pool.query
        order = np.argsort(query, kind="stable")
        return np.split(order, np.searchsorted(query[order], np.arange(1, len(self.study.queries))))

    @cached_property
    def values(self) -> list[tuple[Floats, Floats]]:
        """Of each drawn query the values of all runs with unknown grades as predicted least,
        (runs,), and under completions of them, (completions, runs).
        """
        return list(map(self._completed, self.drawn.tolist()))

    def _completed(self, query: int) -> tuple[Floats, Floats]:
        """The values of the runs for a query, and those under every completion of its unknown
        grades that is tried.
        """
        rows, scale = self._rows[query], list(self.study.grades)
        grades = self.answers.grade[rows]
        unknown = self.answers.answered[rows] & np.isnan(grades)
        base, n_unknown = self._values_of(query, grades), int(unknown.sum())
        if not n_unknown:
            return base, base[None]
        if len(scale) ** n_unknown > _MOST_COMPLETED:
            low, high = self.measure.entry.bounds
            if not np.isfinite([low, high]).all():
                return base, np.full((1, len(base)), np.nan)  # it leaves everything open
            return base, np.array(list(product((low, high), repeat=len(base))))
        completions = list[Floats]()
        for completion in product(scale, repeat=n_unknown):
            grades[unknown] = completion
            completions.append(self._values_of(query, grades))
        return base, np.array(completions)

    @cached_property
    def model_values(self) -> dict[int, Floats]:
        """The values of the runs by the model's valid grades, (runs,), for each query of which it
        answered every item.
        """
        if self.model is None:
            return {}
        return {
            query: self._values_of(query, self.model.grade[rows])
            for query, rows in enumerate(self._rows)
            if len(rows) and self.model.replied[rows].all()
        }

    @cached_property
    def without_model(self) -> str:
        """The reason why whole queries are estimated from people alone; "" where the model's grades
        are used.
        """
        drawn = self.drawn.tolist()
        if self.model is None:
            return "no model"
        if len(drawn) < FEWEST_JUDGED:
            return f"fewer than {FEWEST_JUDGED} queries are judged by people"
        if any(query not in self.model_values for query in drawn):
            return "the model has not answered every judged query"
        if len(self.model_values) < len(drawn) + 2:
            return "the model answered fewer than two further queries"
        return ""

    def _values_of(self, query: int, grades: Floats) -> Floats:
        """The values of a query under some grades of its items, NaN for unknown ones: (runs,)."""
        name, rows = self.study.queries[query], self._rows[query]
        items, is_graded = self.study.pool.item[rows].tolist(), ~np.isnan(grades)
        graded = dict(zip(compress(items, is_graded), grades[is_graded].tolist(), strict=True))
        judgments = Judgments.from_dict({name: graded})
        values = np.zeros(len(self.names))
        for column, ranks in enumerate(self.ranks[rows].T.tolist()):
            scored = {item: -rank for item, rank in zip(items, ranks, strict=True) if rank > 0}
            hits = hits_of_ranking(Ranking.from_dict({name: scored}), judgments, ties="input")
            values[column] = self.measure(JudgedRankings.join(judgments, hits))[0]
        return values

    def _of_queries(self, pair: Pair) -> StudyEstimate:
        if len(self.drawn) < 2:
            reason = "fewer than two queries are judged completely"
            if self.study.design == "reading":
                n_first = min(queries_read_together(self.study), len(self.study.queries))
                reason = f"the first {n_first} queries are not read down to their ends"
            raise NothingToEvaluate(f"{self.study.folder}: {reason}; judge more of them.")
        ends = [self.of_pair(completions, pair) for _, completions in self.values]
        judged = np.isin(self.study.pool.query, self.drawn) & self.answers.answered
        return StudyEstimate(
            *pair,
            self._sample(self.whole_values(pair), pair),
            self._sample(np.array([values.min() for values in ends]), pair),
            self._sample(np.array([values.max() for values in ends]), pair),
            judged=int(judged.sum()),
            unknown=int((judged & np.isnan(self.answers.grade)).sum()),
            queries=len(self.drawn),
        )

    def whole_values(self, pair: Pair) -> Floats:
        """The difference of a pair for each completely judged query: (drawn,)."""
        return self.of_pair(np.array([values for values, _ in self.values]), pair)

    def _sample(self, values: Floats, pair: Pair) -> WholeQueries | PredictedQueries:
        """Some values of the drawn queries, with the predictions of the model where they are
        used.
        """
        population, drawn = len(self.study.queries), self.drawn.tolist()
        if self.without_model:
            return WholeQueries(values, population)
        predicted = {
            query: self.of_pair(of_runs, pair) for query, of_runs in self.model_values.items()
        }
        names = [self.study.queries[query] for query in drawn]
        return PredictedQueries(
            values=values,
            predictions=np.array([predicted.pop(query) for query in drawn]),
            folds=folds_of(self._numbers(names, b"fold")),
            other_predictions=np.array(list(predicted.values())),
            population=population,
        )

    def data(self) -> Iterator[object]:
        """All that decides the estimates, as JSON can hold it."""
        yield [str(self.measure), self.names, self.study.rounds]
        if self.model is not None:
            grades = list(map(str, self.model.grade.tolist()))
            yield [self.model.model, self.model.prompt, grades]
        pool, is_used = self.study.pool, self.sampled
        if self.study.design != "items":
            is_used = np.isin(pool.query, self.drawn)
        is_used = is_used & self.answers.answered
        columns = (pool.query, pool.item, self.answers.grade)
        rows = zip(*(column[is_used].tolist() for column in columns), strict=True)
        yield sorted((query, item, str(grade)) for query, item, grade in rows)


Bounds = tuple[float, float] | None


class StudyVerdict(NamedTuple):
    """An estimate with its intervals at a level, and the verdict.

    estimate: the mean or the difference.
    these, like: the intervals for these queries and for queries like these, widened by the effect
        of unknown grades; None where there is none.
    level: level of the intervals.
    sign: 1 where the run is better, -1 where it is worse, 0 for no significant difference, None for
        no verdict.
    reason: the reason for no verdict; empty where there is one.
    """

    estimate: StudyEstimate
    these: Bounds
    like: Bounds
    level: float
    sign: int | None
    reason: str = ""

    @classmethod
    def of(cls, estimate: StudyEstimate, level: float, refusal: str = "") -> "StudyVerdict":
        """The verdict, that of queries like these. refusal: the reason why there must be none."""
        least, most, unknown = estimate.least, estimate.most, estimate.unknown
        depends = f"it depends on {count_of(unknown, 'judged item')} without a grade"
        if not math.isfinite(most.mean - least.mean):
            return cls(estimate, None, None, level, None, refusal or depends)
        these_bounds, like = (
            _hull(getattr(least, name)(level), getattr(most, name)(level))
            for name in ("these_queries", "queries_like_these")
        )
        low, high = (_sign(end.queries_like_these(level)) for end in (least, most))
        reason = refusal
        if not reason and like is None:
            reason = (
                f"fewer than {FEWEST_QUERIES} queries"
                if estimate.queries < FEWEST_QUERIES
                else "every query has the same value, which shows nothing of others"
            )
        elif not reason and low != high:
            reason = depends
        return cls(estimate, these_bounds, like, level, None if reason else low, reason)

    def row(self, measure: str) -> Row:
        """The row for programs."""
        estimate, better = self.estimate, None
        these_low, these_high = self.these or (None, None)
        like_low, like_high = self.like or (None, None)
        if estimate.against and self.sign is not None:
            better = ("neither", estimate.run, estimate.against)[self.sign]
        return {
            "run": estimate.run,
            "against": estimate.against or None,
            "measure": measure,
            "mean": estimate.with_predictions.mean,
            "these_low": these_low,
            "these_high": these_high,
            "like_low": like_low,
            "like_high": like_high,
            "level": self.level,
            "queries": estimate.queries,
            "judged": estimate.judged,
            "unknown": estimate.unknown,
            "better": better,
        }

    def shown(self, unit: Unit) -> Row:
        """The row for people."""
        estimate = self.estimate
        signed = bool(estimate.against)
        these_queries = shown_interval(self.these, unit, signed=signed)
        if estimate.with_predictions.is_exact and not estimate.unknown:
            these_queries = "exact"
        return {
            "run": estimate.run,
            **({"against": estimate.against} if signed else {}),
            "difference" if signed else "mean": format_value(
                estimate.with_predictions.mean, unit, signed=signed
            ),
            "these queries": these_queries,
            "queries like these": shown_interval(self.like, unit, signed=signed),
        }

    def sentence(self, measure: str) -> str:
        """The verdict in a sentence."""
        estimate, unit = self.estimate, "share"
        if self.sign is None:
            return (
                f"No verdict on {estimate.run} and {estimate.against} by {measure}: {self.reason}."
            )
        like, mean = self.like, estimate.with_predictions.mean
        better, worse = estimate.run, estimate.against
        if self.sign < 0:  # the better run comes first
            better, worse = worse, better
            like, mean = None if like is None else (-like[1], -like[0]), -mean
        size = (
            f"({format_value(mean, unit, signed=True)}, {100 * self.level:.4g} % interval "
            f"{shown_interval(like, unit, signed=True)})."
        )
        if self.sign == 0:
            return f"No significant difference between {better} and {worse} by {measure} {size}"
        return f"{better} is better than {worse} by {measure} {size}"


def _hull(least: Bounds, most: Bounds) -> Bounds:
    return None if least is None or most is None else (least[0], most[1])


def _sign(interval: Bounds) -> int:
    return 0 if interval is None else (interval[0] > 0) - (interval[1] < 0)


def shown_interval(bounds: Bounds, unit: Unit, *, signed: bool = False) -> str:
    """An interval in a table or sentence."""
    if bounds is None:
        return "none"
    return f"[{', '.join(format_value(end, unit, signed=signed) for end in bounds)}]"


def print_estimates(
    folder: str, runs: Sequence[str] = (), *, options: EstimateOptions, format: Format = "table"
) -> Output:
    """The verdicts on pairs of runs, and the means that were asked for; a look is recorded."""
    study = read_study(folder)
    findings = study.refuse_changed_files()
    names = _run_names(study, runs)
    measure = chosen_measure(study, options)
    journals = read_journals(study)
    answers = StudyAnswers.of(study, journals.lines, options.grade_by)
    if len(answers.guidelines) > 1 and not options.mix_guidelines:
        raise BadInput(
            f"{folder}: judgments under {len(answers.guidelines)} guidelines; judge again under "
            "the present one, or use them together with --mix-guidelines."
        )
    if options.model is not None and study.design == "reading":
        raise BadUsage(
            "--model has no effect on a study that is read down, which is exact; leave it out."
        )
    model = None if options.model is None else model_grades(study, options.model)
    estimates = StudyEstimates(study, answers, measure, names, model)
    try:
        means = estimates.means() if (options.estimate or study.purpose) == "means" else []
        differences = estimates.differences()
    except NothingToEvaluate as error:
        raise NothingToEvaluate(
            " ".join([str(error), *(f"{finding}." for finding in journals.findings)])
        ) from error
    with writing_to(study.folder), locked(study.folder, wait=10):
        looks = read_looks(study)
        look = looks.take(list(estimates.data()))
    plan, label, refusal = study.plan, estimates.label, ""
    if look > plan.looks:
        refusal = f"{count_of(plan.looks, 'look')} had been planned, and this is number {look}"
    late = (
        f"{count_of(looks.pairs, 'pair')} had been planned before the first look "
        "(rankwell judge pool --pairs-planned)"
    )
    # Pairs of the runs that were added last are beyond the plan.
    pairs = [
        (later, earlier)
        for n, later in enumerate(study.run_names)
        for earlier in study.run_names[:n]
    ]
    of_means = [StudyVerdict.of(mean, plan.level, "a mean") for mean in means]
    verdicts = [
        StudyVerdict.of(
            difference,
            looks.corrected_level,
            refusal or late * (difference[:2] not in pairs[: looks.pairs]),
        )
        for difference in differences
    ]
    rule = (
        f"{_judging_rule(estimates, progress(study, journals.lines), options)}; {looks.words(look)}"
    )
    rule += f"; means have {100 * plan.level:g} % intervals" if means else ""
    rule += _sample_rules([*means, *differences]) + _model_rule(estimates)
    tables = [
        "\n".join(verdict.sentence(label) for verdict in verdicts) + "\n",
        *([row.shown(measure.entry.unit) for row in rows] for rows in (of_means, verdicts)),
        f"{rule}\n",
    ]
    rows = [verdict.row(label) for verdict in (*of_means, *verdicts)]
    findings = [*journals.findings, *findings]
    text = printed_rows(rows, format, tables=tables, rules={"rule": rule}, findings=findings)
    printed = [rule] * (format not in FOR_PEOPLE and format != "json")
    return Output.of(text, printed if format == "json" else [*printed, *findings])


def _run_names(study: Study, runs: Sequence[str]) -> tuple[str, ...]:
    """The names of the runs to estimate. Raises BadUsage for one that was not pooled, and for one
    run alone.
    """
    names, name_of = dict[str, None](), {run.digest: run.name for run in study.runs}
    for run in runs:
        name = run if run in study.run_names else None
        if name is None and (file := Source(run).file) is not None:
            name = name_of.get(digest_of(file))
        if name is None:
            adding = typed("rankwell", "judge", "pool", study.folder, "--add", run)
            raise BadUsage(
                f"{next(iter(name_runs([run])))} was not pooled, so that items only it returned "
                f"had no chance to be judged; add it with: {adding}"
            )
        names[name] = None
    if len(names) == 1:
        raise BadUsage("a difference needs two runs; name two, or none for all.")
    return tuple(names)


def _judging_rule(estimates: StudyEstimates, state: Progress, options: EstimateOptions) -> str:
    """The part of the rules about judging: what was judged by whom."""
    study, answers = estimates.study, estimates.answers
    by = ", ".join(answers.judges)
    by += f" (grade by {options.grade_by})" if len(answers.judges) > 1 else ""
    design = {
        "items": "sampled items",
        "queries": f"queries drawn over the pool of the first {study.depth}",
        "reading": "runs read down",
    }
    judged = f"{state.judged} of {count_of(state.items, 'item')}"
    if study.design == "reading":
        judged = count_of(state.judged, "item")
    if study.design == "items":
        finished = int((estimates.sampled & answers.answered).sum())
        by += f", {finished} of them in finished batches" if finished < state.judged else ""
    mixed = "; several guidelines" if len(answers.guidelines) > 1 else ""
    return f"{design[study.design]}, {judged} judged by {by}{mixed}"


def _sample_rules(estimates: Sequence[StudyEstimate]) -> str:
    """The parts of the rules about judged items without a grade, and about estimates without an
    interval for these queries, as no error of a prediction was seen.
    """
    rule, unknown = "", max(estimate.unknown for estimate in estimates)
    if unknown:
        items = count_of(unknown, "judged item has", "judged items have")
        rule = f"; {items} no grade, and the intervals cover every grade they may have"
    samples = [estimate.with_predictions for estimate in estimates]
    if any(
        isinstance(sample, SampleEstimate) and sample.sampling_variance == 0 and not sample.is_exact
        for sample in samples
    ):
        rule += (
            "; no judged item differs from its prediction, so that these queries have no interval"
        )
    return rule


def _model_rule(estimates: StudyEstimates) -> str:
    """The part of the rules about the model: which grades are used, and how."""
    model = estimates.model
    if model is None:
        return ""
    name = f"model {model.model}" + (f" ({model.prompt[:15]})" if model.prompt else "")
    if estimates.study.design == "items":
        return f"; {name} predicts {count_of(int((~np.isnan(model.grade)).sum()), 'item')}"
    if estimates.without_model:
        return f"; {name} is not used: {estimates.without_model}"
    return (
        f"; {name} predicts {len(estimates.model_values) - len(estimates.drawn)} further queries "
        "(PPI++)"
    )
