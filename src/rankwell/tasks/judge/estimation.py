"""Estimates of a study: means and differences of runs with two intervals each, bounded where grades
are unknown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, compress, product
from typing import NamedTuple

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.rankings import Ranking, hits_of_ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import Bools, Floats, Ints, Judgments
from rankwell.errors import BadUsage, NothingToEvaluate, shown
from rankwell.evaluation.bounds import is_reciprocal
from rankwell.evaluation.judged import LinearMeasure
from rankwell.stats.samples import (
    FEWEST_JUDGED,
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
from rankwell.store import encode_id
from rankwell.tasks.judge.batches import finished_batches, needed_rows, queries_read_together
from rankwell.tasks.judge.folder import Pair, Study
from rankwell.tasks.judge.journal import JournalLine, StudyAnswers
from rankwell.tasks.judge.model_replies import ModelGrades
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
