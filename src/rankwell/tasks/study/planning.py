"""Forecasts of a study: the half-widths of its intervals after more judgments, and the number that finds a difference."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Floats
from rankwell.stats.detectable import minimal_detectable_difference
from rankwell.stats.difference_estimator import expected_shares
from rankwell.stats.intervals import student_quantile
from rankwell.stats.priority_sampling import inclusion, priorities
from rankwell.stats.sample_forecast import Forecast, ForecastItems, forecast, query_forecast
from rankwell.tasks.study.estimation import StudyEstimates

FIRST = 50
POWER = 0.8
_FEWEST = 10


class PlannedStep(NamedTuple):
    """A batch end. more, judged: judgments from now, and in all. forecast: standard errors there. queries: in the estimate."""

    more: int
    judged: int
    forecast: Forecast
    queries: int

    def half_widths(self, level: float, *, exact: bool) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Half-widths for these queries and for queries like these. exact: whether nothing is left to chance for these."""
        from statistics import NormalDist

        t = student_quantile(level, max(self.queries - 1, 1))
        z = 0.0 if exact else NormalDist().inv_cdf((1 + level) / 2)
        these, like = (
            tuple(factor * each for each in errors) for factor, errors in ((z, self.forecast.these), (t, self.forecast.like))
        )
        return (these[0], these[1], these[2]), (like[0], like[1], like[2])

    def finds(self, difference: float, level: float, place: int = 0) -> bool:
        """Whether a difference of this size is found with 80 % power. place: 0 for the forecast, 1 and 2 for its range."""
        sd = self.forecast.like[place] * math.sqrt(self.queries)
        least = minimal_detectable_difference(sd, self.queries, alpha=1 - level, power=POWER)
        return least is not None and least <= difference


@dataclass(frozen=True, eq=False)
class StudyForecasts:
    """The forecasts of a study for one pair of runs."""

    estimates: StudyEstimates
    pair: tuple[str, str]

    def steps(self) -> Iterator[PlannedStep]:
        """Every batch end from now on, the last one with everything judged."""
        return self._sampled() if self.estimates.study.design == "items" else self._whole()

    def _sampled(self) -> Iterator[PlannedStep]:
        found, study = self.estimates, self.estimates.study
        items = found.items_of(self.pair)
        prior = study.pool.prior * (1 - study.pool.prior) * found.highest_gain**2
        done = int(items.sampled.sum())
        for end in self._ends():
            sampled, pi = self._drawn(end)
            judged = int(sampled.sum())
            base = ForecastItems.of(items, expected_shares(items, found.halves, pi), prior)
            yield PlannedStep(judged - done, judged, forecast(base, pi, sampled, seed=study.seed), items.n_queries)

    def _ends(self) -> list[int]:
        """The numbers of batches of the last round that will be finished."""
        batches = self.estimates.study.pool.batches[:, -1]
        tau, _ = self.estimates.thresholds[-1]
        ranked = priorities(self.estimates.study.pool.u, self.estimates.study.pool.sizes[:, -1])
        left = batches[(ranked >= tau) & (batches >= 0)]
        return sorted({each + 1 for each in left.tolist()})

    def _drawn(self, end: int) -> tuple[Bools, Floats]:
        """(items,) which are judged after so many batches of the last round, and the probability of each."""
        found, pool = self.estimates, self.estimates.study.pool
        batches, ranked = pool.batches[:, -1], priorities(pool.u, pool.sizes[:, -1])
        rest = ranked[(batches < 0) | (batches >= end)]
        pi = np.maximum(found.inclusion, inclusion(pool.sizes[:, -1], float(rest.min(initial=np.inf))))
        return found.sampled | ((batches >= 0) & (batches < end)), pi

    def _whole(self) -> Iterator[PlannedStep]:
        found, study = self.estimates, self.estimates.study
        values = found.whole_values(self.pair)
        pool, n_all = study.pool, study.drawn or len(study.queries)
        chosen = pool.sizes[:, -1] > 0
        per_query = float(chosen.sum()) / n_all
        if study.design == "reading":
            per_query = float(found.answers.answered.sum()) / max(len(values), 1)
        for n in dict.fromkeys([*range(len(values) + _FEWEST, n_all, _FEWEST), n_all]):
            more, judged = (round((each) * per_query) for each in (n - len(values), n))
            if n > len(values):
                yield PlannedStep(more, judged, query_forecast(values, n, len(study.queries), seed=study.seed), n)


def listed_steps(steps: list[PlannedStep]) -> list[PlannedStep]:
    """The batch ends at or after 50, 100, 200, … more judgments, and the last."""
    found, target = list[PlannedStep](), FIRST
    for step in steps[:-1]:
        if step.more >= target:
            found.append(step)
            while target <= step.more:
                target *= 2
    return [*found, *steps[-1:]]


def judgments_needed(steps: list[PlannedStep], difference: float, level: float) -> tuple[int | None, int | None, int | None]:
    """More judgments for 80 % power at a difference, with the range that the forecast leaves; None where all are not enough."""
    return tuple(next((step.more for step in steps if step.finds(difference, level, place)), None) for place in (0, 1, 2))  # pyright: ignore[reportReturnType]
