"""Estimates of a study: means and differences of runs with two intervals each, bounded where grades
are unknown.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.rankings import Ranking, hits_of_ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import Bools, Floats, Ints, Judgments
from rankwell.errors import BadUsage, NothingToEvaluate, shown
from rankwell.evaluation.bounds import is_reciprocal
from rankwell.evaluation.judged import LinearMeasure
from rankwell.stats.difference_estimator import (
    SampledItems,
    SampleEstimate,
    cross_fitted,
    estimate,
    most_and_least,
)
from rankwell.stats.prediction_powered import FEWEST_JUDGED, PredictedQueries, folds_of
from rankwell.stats.samples import WholeQueries, inclusion, permanent_numbers, priorities
from rankwell.store import encode_id
from rankwell.tasks.study.answers import StudyAnswers
from rankwell.tasks.study.batches import finished_batches, needed_rows, queries_read_together
from rankwell.tasks.study.folder import Study
from rankwell.tasks.study.model_replies import ModelGrades
from rankwell.tasks.study.options import EstimateOptions
from rankwell.tasks.study.pooling import rank_weights, refuse_shallow, study_measure

_MOST_COMPLETED = 256
"""Completions of the unknown grades of a query that are tried; beyond, the measure's own bounds
hold.
"""


class StudyEstimate(NamedTuple):
    """A mean or a difference with its bounds: the estimate with predictions in place of unknown
    gains, the least, the greatest.

    against: "" for a mean. judged, unknown: numbers of judged items that decide it. queries: number
    in the estimate.
    """

    run: str
    against: str
    middle: "SampleEstimate | WholeQueries | PredictedQueries"
    least: "SampleEstimate | WholeQueries | PredictedQueries"
    most: "SampleEstimate | WholeQueries | PredictedQueries"
    judged: int
    unknown: int
    queries: int


def chosen_measure(study: Study, options: EstimateOptions) -> Measure:
    """The measure of an estimate. Raises BadUsage for one that the study cannot estimate."""
    if options.measure is None:
        return study.parsed_measure
    measure = study_measure(options.measure, tuple(study.grades))
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


def measure_label(study: Study, measure: Measure) -> str:
    """The measure in tables and sentences: with the pool as its recall base, where it has one."""
    plain = is_reciprocal(measure) or LinearMeasure.of(measure) is not None
    return str(measure) if plain else f"{measure} over the pool of the first {study.depth}"


@dataclass(frozen=True, eq=False)
class StudyEstimates:
    """The estimates of a study under one choice of options. model: the grades of a model, as
    predictions.
    """

    study: Study
    answers: StudyAnswers
    measure: Measure
    runs: tuple[str, ...] = field(default=())
    model: ModelGrades | None = None

    @cached_property
    def columns(self) -> list[int]:
        """The columns of the chosen runs in the pool, ascending, so that a pair is the same in any
        order of its names.
        """
        return sorted(self.study.run_names.index(run) for run in self.runs or self.study.run_names)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """All pairs of runs, the later against the earlier."""
        names = self.study.run_names
        return [(names[later], names[earlier]) for earlier, later in combinations(self.columns, 2)]

    def differences(self) -> list[StudyEstimate]:
        """The differences of all pairs. Raises NothingToEvaluate before the first finished
        batch.
        """
        return [self._estimate(pair) for pair in self.pairs]

    def means(self) -> list[StudyEstimate]:
        """The means of all runs. Raises BadUsage where the study was not pooled for them, else as
        `differences`.
        """
        return [self._estimate((self.study.run_names[column], "")) for column in self.columns]

    def _estimate(self, pair: tuple[str, str]) -> StudyEstimate:
        return self._sampled(pair) if self.study.design == "items" else self._whole(pair)

    def threshold_after(self, end: int, round_number: int) -> float:
        """The priority of the first item of a round, from 1, that so many batches leave out."""
        pool = self.study.pool
        batches, sizes = pool.batches[:, round_number - 1], pool.sizes[:, round_number - 1]
        left = priorities(pool.u, sizes)[(batches < 0) | (batches >= end)]
        return float(left.min(initial=np.inf))

    @cached_property
    def thresholds(self) -> list[float]:
        """Of each round the priority of the first item that is not in finished batches."""
        answered = self.answers.answered
        return [
            self.threshold_after(finished_batches(self.study, answered, number), number)
            for number in range(1, self.study.rounds + 1)
        ]

    @cached_property
    def inclusion(self) -> Floats:
        """(items,) the probability that each item was judged: the greatest over the rounds."""
        rounds = zip(self.study.pool.sizes.T, self.thresholds, strict=True)
        return np.max([inclusion(sizes, tau) for sizes, tau in rounds], axis=0)

    @cached_property
    def sampled(self) -> Bools:
        """(items,) whether each item was drawn, in any round."""
        rounds = zip(self.study.pool.sizes.T, self.thresholds, strict=True)
        return np.any([priorities(self.study.pool.u, sizes) < tau for sizes, tau in rounds], axis=0)

    @cached_property
    def halves(self) -> Bools:
        """(queries,) the half of each query, by a hash of seed and id."""
        ids = [encode_id(query) for query in self.study.queries]
        return permanent_numbers(self.study.seed, ids, [b"half"] * len(ids)) < 0.5

    @cached_property
    def weights(self) -> Floats:
        """(items, runs) the weight of each item in the measure of each run."""
        return rank_weights(self.measure, self.study.pool.ranks)

    def weights_of(self, pair: tuple[str, str]) -> Floats:
        """(items,) the weight of each item in a difference, or in the mean of a run."""
        run, against = pair
        names, weights = self.study.run_names, self.weights
        of_run = weights[:, names.index(run)]
        return of_run - weights[:, names.index(against)] if against else of_run

    def items_of(self, pair: tuple[str, str]) -> SampledItems:
        """The sample for a difference, or for the mean of a run. Raises BadUsage for an item that
        had no chance to be judged.
        """
        study, linear = self.study, LinearMeasure.of(self.measure)
        if linear is None:
            raise BadUsage(
                f"{self.measure} is not linear in the gains of items; pool a study with --by "
                "queries N."
            )
        weight = self.weights_of(pair)
        lost = np.flatnonzero((weight != 0) & (study.pool.sizes.max(axis=1) == 0))
        if len(lost):
            decided, how = (
                ("a difference", "for this measure") if pair[1] else ("a mean", "with --for means")
            )
            raise BadUsage(
                f"item {shown(study.pool.item[lost[0]])} decides {decided} and had no chance to be "
                f"judged; pool a study {how}."
            )
        return SampledItems(
            n_queries=len(study.queries),
            query=study.pool.query,
            weight=weight,
            prediction=self.predictions,
            inclusion=self.inclusion,
            sampled=self.sampled,
            gain=_gains(linear, self.answers.grade, np.nan),
        )

    @cached_property
    def predictions(self) -> Floats:
        """(items,) the predicted gains: those of the model's valid grades, else of the guess from
        ranks.
        """
        linear, guessed = LinearMeasure.of(self.measure), self.study.pool.prior * self.highest_gain
        if self.model is None or linear is None:
            return guessed
        return _gains(linear, self.model.grade, guessed)

    @property
    def highest_gain(self) -> float:
        """The highest gain on the scale of the study."""
        linear = LinearMeasure.of(self.measure)
        return 1.0 if linear is None else float(linear.gains(np.array([max(self.study.grades)]))[0])

    def _sampled(self, pair: tuple[str, str]) -> StudyEstimate:
        items = self.items_of(pair)
        if not self.sampled.any():
            raise NothingToEvaluate(
                f"{self.study.place}: no batch is finished; judge one with `rankwell study judge`."
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
        waiting = (
            needed_rows(study, self.answers)
            if study.design == "reading"
            else is_drawn & ~self.answers.answered
        )
        undone = np.flatnonzero(np.isin(order, pool.query[waiting]))
        done = int(undone[0]) if len(undone) else len(order)
        if len(undone) and study.design == "reading":
            # Whole batches of queries: those that end early are the easy ones.
            done -= done % queries_read_together(study)
        return np.sort(order[:done])

    @cached_property
    def values(self) -> list[tuple[Floats, list[Floats]]]:
        """Of each drawn query the values of all runs with unknown grades as predicted least,
        (runs,), and under completions.
        """
        return [self._completed(int(query)) for query in self.drawn]

    def _completed(self, query: int) -> tuple[Floats, list[Floats]]:
        """The values of the runs for a query, and those under every completion of its unknown
        grades that is tried.
        """
        pool, scale = self.study.pool, list(self.study.grades)
        rows = np.flatnonzero(pool.query == query)
        rows = rows[np.argsort(pool.item[rows])]
        items, grades = pool.item[rows], self.answers.grade[rows]
        unknown = items[self.answers.answered[rows] & np.isnan(grades)].tolist()
        known_grades = _graded(items, grades)
        base = self.values_of(query, rows, known_grades)
        if not unknown:
            return base, [base]
        if len(scale) ** len(unknown) > _MOST_COMPLETED:
            low, high = self.measure.entry.bounds
            if not np.isfinite([low, high]).all():
                return base, [np.full(len(self.columns), np.nan)]  # it leaves everything open
            corners = product((low, high), repeat=len(self.columns))
            return base, [np.array(corner) for corner in corners]
        return base, [
            self.values_of(query, rows, known_grades | dict(zip(unknown, completion, strict=True)))
            for completion in product(scale, repeat=len(unknown))
        ]

    @cached_property
    def model_values(self) -> dict[int, Floats]:
        """(runs,) by the model's valid grades, for each query of which it answered every item."""
        if self.model is None:
            return {}
        pool, replied = self.study.pool, self.model.replied
        order = np.argsort(pool.query, kind="stable")
        ends = np.searchsorted(pool.query[order], np.arange(len(self.study.queries) + 1))
        values: dict[int, Floats] = {}
        for query, (start, end) in enumerate(pairwise(ends.tolist())):
            rows = order[start:end]
            if len(rows) and replied[rows].all():
                rows = rows[np.argsort(pool.item[rows])]
                grades = _graded(pool.item[rows], self.model.grade[rows])
                values[query] = self.values_of(query, rows, grades)
        return values

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
        return (
            ""
            if len(self.model_values) > len(drawn) + 1
            else "the model answered fewer than two further queries"
        )

    def values_of(self, query: int, rows: Ints, grades: dict[str, float]) -> Floats:
        """(runs,) the values of a query under some grades. rows: its items in the pool, by the
        bytes of their ids.
        """
        name, pool = self.study.queries[query], self.study.pool
        judgments = Judgments.from_dict({name: grades})
        values = np.zeros(len(self.columns))
        for position, column in enumerate(self.columns):
            ranks = pool.ranks[rows, column]
            item_ranks = zip(pool.item[rows].tolist(), ranks.tolist(), strict=True)
            ranking = Ranking.from_dict(
                {name: {str(item): -float(rank) for item, rank in item_ranks if rank > 0}}
            )
            view = JudgedRankings.join(judgments, hits_of_ranking(ranking, judgments, ties="input"))
            values[position] = float(self.measure(view)[0])
        return values

    @cached_property
    def folds(self) -> Ints:
        """(drawn,) the fold of each drawn query, by a hash of seed and id."""
        ids = [encode_id(self.study.queries[query]) for query in self.drawn.tolist()]
        return folds_of(permanent_numbers(self.study.seed, ids, [b"fold"] * len(ids)))

    def whole_values(self, pair: tuple[str, str]) -> Floats:
        """(drawn,) the difference of a pair for each completely judged query. Raises
        NothingToEvaluate below two.
        """
        return self._whole(pair).middle.values  # pyright: ignore[reportAttributeAccessIssue]

    def _whole(self, pair: tuple[str, str]) -> StudyEstimate:
        if len(self.drawn) < 2:
            reason = "fewer than two queries are judged completely"
            if self.study.design == "reading":
                n_first = min(queries_read_together(self.study), len(self.study.queries))
                reason = f"the first {n_first} queries are not read down to their ends"
            raise NothingToEvaluate(f"{self.study.place}: {reason}; judge more of them.")
        names = [self.study.run_names[column] for column in self.columns]

        def _of(values: Floats) -> float:
            run, against = (values[names.index(name)] if name else 0.0 for name in pair)
            return float(run - against)

        def _sample(
            choose: Callable[[tuple[Floats, list[Floats]]], float],
        ) -> WholeQueries | PredictedQueries:
            values = np.array(list(map(choose, self.values)))
            if self.without_model:
                return WholeQueries(values, len(self.study.queries))
            drawn = self.drawn.tolist()
            predicted = {query: _of(of_runs) for query, of_runs in self.model_values.items()}
            return PredictedQueries(
                values=values,
                predictions=np.array([predicted[query] for query in drawn]),
                folds=self.folds,
                other_predictions=np.array(
                    [value for query, value in predicted.items() if query not in drawn]
                ),
                population=len(self.study.queries),
            )

        judged = np.isin(self.study.pool.query, self.drawn) & self.answers.answered
        return StudyEstimate(
            *pair,
            middle=_sample(lambda values: _of(values[0])),
            least=_sample(lambda values: min(map(_of, values[1]))),
            most=_sample(lambda values: max(map(_of, values[1]))),
            judged=int(judged.sum()),
            unknown=int((judged & np.isnan(self.answers.grade)).sum()),
            queries=len(self.drawn),
        )

    def data(self) -> Iterator[object]:
        """All that decides the estimates, as JSON can hold it."""
        yield [
            str(self.measure),
            [self.study.run_names[column] for column in self.columns],
            self.study.rounds,
        ]
        if self.model is not None:
            yield [
                self.model.model,
                self.model.prompt,
                [str(grade) for grade in self.model.grade.tolist()],
            ]
        pool = self.study.pool
        is_used = (
            self.sampled if self.study.design == "items" else np.isin(pool.query, self.drawn)
        ) & self.answers.answered
        columns = (pool.query, pool.item, self.answers.grade)
        rows = zip(*(column[is_used].tolist() for column in columns), strict=True)
        yield sorted((query, item, str(grade)) for query, item, grade in rows)


def _gains(linear: LinearMeasure, grades: Floats, unknown: Floats | float) -> Floats:
    """The gains of grades, and others where a grade is unknown."""
    return np.where(np.isnan(grades), unknown, linear.gains(np.nan_to_num(grades)))


def _graded(items: NDArray[Any], grades: Floats) -> dict[str, float]:
    """item -> its grade, without unknown ones."""
    pairs = zip(items.tolist(), grades.tolist(), strict=True)
    return {item: grade for item, grade in pairs if not np.isnan(grade)}
