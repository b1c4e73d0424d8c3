"""Estimates of a study: means and differences of runs with two intervals each, bounded where grades
are unknown.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from rankwell.core.registry import Measure
from rankwell.core.tables import Bools, Floats, Ints, Judgments
from rankwell.core.tables.ranking import Ranking, hits_of_ranking
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadUsage, NothingToEvaluate, shown
from rankwell.evaluation.bounds import is_reciprocal
from rankwell.evaluation.linear import LinearMeasure
from rankwell.stats.difference_estimator import (
    SampledItems,
    SampleEstimate,
    cross_fitted,
    estimate,
    most_and_least,
)
from rankwell.stats.prediction_powered import FEWEST_JUDGED, PredictedQueries, folds_of
from rankwell.stats.priority_sampling import inclusion, permanent_numbers, priorities
from rankwell.stats.query_sample import WholeQueries
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
        what = f"{measure} cannot be estimated from sampled items"
        raise BadUsage(
            f"{what}; pool a study with --by queries N, or choose P, SDCG or RBP with a cut-off."
        )
    if study.design == "reading" and not (
        is_reciprocal(measure)
        and measure.parameters["rel"] == study.parsed_measure.parameters["rel"]
    ):
        raise BadUsage(
            f"{measure}: this study was read down for {study.measure}; pool another one."
        )
    if (
        measure.cutoff or study.depth + 1
    ) > study.depth and measure.cutoff != study.parsed_measure.cutoff:
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
        return [
            self._sampled(pair) if self.study.design == "items" else self._whole(pair)
            for pair in self.pairs
        ]

    def means(self) -> list[StudyEstimate]:
        """The means of all runs. Raises BadUsage where the study was not pooled for them, else as
        `differences`.
        """
        runs = [self.study.run_names[column] for column in self.columns]
        return [
            self._sampled((run, "")) if self.study.design == "items" else self._whole((run, ""))
            for run in runs
        ]

    @cached_property
    def thresholds(self) -> list[tuple[float, int]]:
        """Of each round the priority of the first item that is not in finished batches, and the
        number of items before it.
        """
        pool, found = self.study.pool, list[tuple[float, int]]()
        for number in range(1, self.study.rounds + 1):
            done = finished_batches(self.study, self.answers.answered, number)
            batches, ranked = (
                pool.batches[:, number - 1],
                priorities(pool.u, pool.sizes[:, number - 1]),
            )
            rest = ranked[(batches < 0) | (batches >= done)]
            found.append(
                (float(rest.min(initial=np.inf)), int(((batches >= 0) & (batches < done)).sum()))
            )
        return found

    @cached_property
    def inclusion(self) -> Floats:
        """(items,) the probability that each item was judged: the greatest over the rounds."""
        rounds = [
            inclusion(sizes, tau)
            for sizes, (tau, _) in zip(self.study.pool.sizes.T, self.thresholds, strict=True)
        ]
        return np.max(rounds, axis=0)

    @cached_property
    def sampled(self) -> Bools:
        """(items,) whether each item was drawn, in any round."""
        rounds = zip(self.study.pool.sizes.T, self.thresholds, strict=True)
        return np.any(
            [priorities(self.study.pool.u, sizes) < tau for sizes, (tau, _) in rounds], axis=0
        )

    @cached_property
    def halves(self) -> Bools:
        """(queries,) the half of each query, by a hash of seed and id."""
        ids = [encode_id(query) for query in self.study.queries]
        return permanent_numbers(self.study.seed, ids, [b"half"] * len(ids)) < 0.5

    @cached_property
    def weights(self) -> Floats:
        """(items, runs) the weight of each item in the measure of each run."""
        return rank_weights(self.measure, self.study.pool.ranks)

    def items_of(self, pair: tuple[str, str]) -> SampledItems:
        """The sample for a difference, or for the mean of a run. Raises BadUsage for an item that
        had no chance to be judged.
        """
        linear, names = LinearMeasure.of(self.measure), self.study.run_names
        if linear is None:
            raise BadUsage(
                f"{self.measure} is not linear in the gains of items; pool a study with --by "
                "queries N."
            )
        weight = self.weights[:, names.index(pair[0])]
        if pair[1]:
            weight = weight - self.weights[:, names.index(pair[1])]
        lost = np.flatnonzero((weight != 0) & (self.study.pool.sizes.max(axis=1) == 0))
        if len(lost):
            item = self.study.pool.item[lost[0]]
            what = (
                f"item {shown(item)} decides {'a difference' if pair[1] else 'a mean'} and had no "
                "chance to be judged"
            )
            raise BadUsage(
                f"{what}; pool a study {'for this measure' if pair[1] else 'with --for means'}."
            )
        return SampledItems(
            n_queries=len(self.study.queries),
            query=self.study.pool.query,
            weight=weight,
            prediction=self.predictions,
            inclusion=self.inclusion,
            sampled=self.sampled,
            gain=np.where(
                np.isnan(self.answers.grade),
                np.nan,
                linear.gains(np.nan_to_num(self.answers.grade)),
            ),
        )

    @cached_property
    def predictions(self) -> Floats:
        """(items,) the predicted gains: those of the model's valid grades, else of the guess from
        ranks.
        """
        linear, guessed = LinearMeasure.of(self.measure), self.study.pool.prior * self.highest_gain
        if self.model is None or linear is None:
            return guessed
        return np.where(
            np.isnan(self.model.grade), guessed, linear.gains(np.nan_to_num(self.model.grade))
        )

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
        chosen = pool.sizes[:, -1] > 0
        order = pool.query[chosen][np.sort(np.unique(pool.query[chosen], return_index=True)[1])]
        if study.design == "reading":
            open_ = np.unique(pool.query[needed_rows(study, self.answers)])
        else:
            open_ = np.unique(pool.query[chosen & ~self.answers.answered])
        undone = np.flatnonzero(np.isin(order, open_))
        if not len(undone):
            return np.sort(order)
        done = int(undone[0])
        # Of reading down whole batches of queries: those that end early are the easy ones.
        return np.sort(
            order[
                : done - done % queries_read_together(study) if study.design == "reading" else done
            ]
        )

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
        grades = self.answers.grade[rows]
        unknown = np.flatnonzero(self.answers.answered[rows] & np.isnan(grades))
        known = {
            item: grade
            for item, grade in zip(pool.item[rows].tolist(), grades.tolist(), strict=True)
            if not np.isnan(grade)
        }
        base = self.values_of(query, rows, known)
        if not len(unknown):
            return base, [base]
        if len(scale) ** len(unknown) > _MOST_COMPLETED:
            low, high = self.measure.entry.bounds
            if not np.isfinite([low, high]).all():
                return base, [np.full(len(self.columns), np.nan)]  # it leaves everything open
            corners = product((low, high), repeat=len(self.columns))
            return base, [np.array(corner) for corner in corners]
        items = pool.item[rows][unknown].tolist()
        tried = product(scale, repeat=len(unknown))
        return base, [
            self.values_of(query, rows, known | dict(zip(items, each, strict=True)))
            for each in tried
        ]

    @cached_property
    def model_values(self) -> dict[int, Floats]:
        """(runs,) by the model's valid grades, for each query of which it answered every item."""
        if self.model is None:
            return {}
        pool, replied = self.study.pool, self.model.replied
        order = np.argsort(pool.query, kind="stable")
        ends = np.searchsorted(pool.query[order], np.arange(len(self.study.queries) + 1))
        found: dict[int, Floats] = {}
        for query, (start, end) in enumerate(
            zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        ):
            rows = order[start:end]
            if len(rows) and replied[rows].all():
                rows = rows[np.argsort(pool.item[rows])]
                grades = zip(pool.item[rows].tolist(), self.model.grade[rows].tolist(), strict=True)
                found[query] = self.values_of(
                    query, rows, {item: grade for item, grade in grades if not np.isnan(grade)}
                )
        return found

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
        found = np.zeros(len(self.columns))
        for place, column in enumerate(self.columns):
            own = rows[pool.ranks[rows, column] > 0]
            ranking = Ranking.from_dict(
                {
                    name: {
                        str(pool.item[row]): -float(pool.ranks[row, column]) for row in own.tolist()
                    }
                }
            )
            view = JudgedRankings.join(judgments, hits_of_ranking(ranking, judgments, ties="input"))
            found[place] = float(self.measure(view)[0])
        return found

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
            some = "fewer than two queries are judged completely"
            if self.study.design == "reading":
                first = min(queries_read_together(self.study), len(self.study.queries))
                some = f"the first {first} queries are not read down to their ends"
            raise NothingToEvaluate(f"{self.study.place}: {some}; judge more of them.")
        names = [self.study.run_names[column] for column in self.columns]

        def _of(values: Floats) -> float:
            return float(
                values[names.index(pair[0])] - (values[names.index(pair[1])] if pair[1] else 0.0)
            )

        def _sample(
            choose: Callable[[tuple[Floats, list[Floats]]], float],
        ) -> WholeQueries | PredictedQueries:
            values = np.array([choose(each) for each in self.values])
            if self.without_model:
                return WholeQueries(values, len(self.study.queries))
            return PredictedQueries(
                values=values,
                predictions=np.array(
                    [_of(self.model_values[query]) for query in self.drawn.tolist()]
                ),
                folds=self.folds,
                other_predictions=np.array(
                    [
                        _of(own)
                        for query, own in self.model_values.items()
                        if query not in self.drawn
                    ]
                ),
                population=len(self.study.queries),
            )

        judged = np.isin(self.study.pool.query, self.drawn) & self.answers.answered
        return StudyEstimate(
            *pair,
            middle=_sample(lambda each: _of(each[0])),
            least=_sample(lambda each: min(map(_of, each[1]))),
            most=_sample(lambda each: max(map(_of, each[1]))),
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
        rows = np.flatnonzero(
            self.sampled
            if self.study.design == "items"
            else np.isin(self.study.pool.query, self.drawn)
        )
        used = rows[self.answers.answered[rows]]
        pairs = zip(
            self.study.pool.query[used].tolist(),
            self.study.pool.item[used].tolist(),
            self.answers.grade[used].tolist(),
            strict=True,
        )
        yield sorted((query, item, str(grade)) for query, item, grade in pairs)
