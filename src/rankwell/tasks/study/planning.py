"""Forecasts of a study: the half-widths of its intervals after more judgments, and the number that
finds a difference.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Bools, Floats
from rankwell.errors import NothingToEvaluate
from rankwell.stats.detectable import minimal_detectable_difference
from rankwell.stats.difference_estimator import SampledItems, expected_shares
from rankwell.stats.intervals import student_quantile
from rankwell.stats.sample_forecast import Forecast, ForecastItems, forecast, query_forecast
from rankwell.stats.samples import inclusion, priorities
from rankwell.tasks.study.batches import queries_read_together
from rankwell.tasks.study.estimation import StudyEstimates

FIRST = 50
POWER = 0.8
_FEWEST = 10


class PlannedStep(NamedTuple):
    """A batch end. more, judged: judgments from now, and in all. forecast: standard errors there.
    queries: in the estimate.
    """

    more: int
    judged: int
    forecast: Forecast
    queries: int

    def half_widths(
        self, level: float, *, exact: bool
    ) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Half-widths for these queries and for queries like these. exact: whether nothing is left
        to chance for these.
        """
        from statistics import NormalDist

        t = student_quantile(level, max(self.queries - 1, 1))
        z = 0.0 if exact else NormalDist().inv_cdf((1 + level) / 2)
        same, like = (
            tuple(factor * error for error in errors)
            for factor, errors in (
                (z, self.forecast.these_queries),
                (t, self.forecast.queries_like_these),
            )
        )
        return (same[0], same[1], same[2]), (like[0], like[1], like[2])

    def finds(self, difference: float, level: float, bound: int = 0) -> bool:
        """Whether a difference of this size is found with 80 % power. place: 0 for the forecast, 1
        and 2 for its range.
        """
        sd = self.forecast.queries_like_these[bound] * math.sqrt(self.queries)
        least = minimal_detectable_difference(sd, self.queries, alpha=1 - level, power=POWER)
        return least is not None and least <= difference


@dataclass(frozen=True, eq=False)
class StudyForecasts:
    """The forecasts of a study for one pair of runs: at every batch end from now on, the last one
    with everything judged.
    """

    estimates: StudyEstimates
    pair: tuple[str, str]

    @cached_property
    def more(self) -> list[int]:
        """The number of judgments from now to each batch end, ascending."""
        return [more for _, more in self._ends]

    @property
    def never_differ(self) -> bool:
        """Whether no item decides between the runs, so that no judgment would."""
        return self.estimates.study.design == "items" and not self._items.weight.any()

    @property
    def is_flat(self) -> bool:
        """Whether all judged queries have the same difference, which does not show how far others
        may differ.
        """
        return self.estimates.study.design != "items" and bool(np.ptp(self._values) == 0)

    def step(self, end_number: int) -> PlannedStep:
        """The forecast at a batch end, by its place; made when it is needed, as each goes through
        all items.
        """
        if end_number not in self._steps:
            end, more = self._ends[end_number]
            self._steps[end_number] = (
                self._sampled(end)
                if self.estimates.study.design == "items"
                else self._whole(end, more)
            )
        return self._steps[end_number]

    @cached_property
    def _steps(self) -> dict[int, PlannedStep]:
        return {}

    @cached_property
    def _items(self) -> SampledItems:
        return self.estimates.items_of(self.pair)

    @cached_property
    def _values(self) -> Floats:
        study = self.estimates.study
        if len(self.estimates.drawn) < 2:
            condition = "two queries are judged completely"
            if study.design == "reading":
                n_first = min(queries_read_together(study), len(study.queries))
                condition = f"the first {n_first} queries are read down to their ends"
            raise NothingToEvaluate(
                f"{study.place}: no forecast before {condition}, because the spread of their "
                "differences is not known; judge them with `rankwell study judge`."
            )
        return self.estimates.whole_values(self.pair)

    @cached_property
    def _ends(self) -> list[tuple[int, int]]:
        """The ends, as numbers of finished batches of the last round or of judged queries, with the
        judgments from now.
        """
        study = self.estimates.study
        if study.design == "items":
            batches = study.pool.batches[:, -1]
            tau = self.estimates.thresholds[-1]
            left = (priorities(study.pool.u, study.pool.sizes[:, -1]) >= tau) & (batches >= 0)
            more = np.cumsum(np.bincount(batches[left & ~self.estimates.sampled]))
            return [(batch + 1, int(more[batch])) for batch in np.unique(batches[left]).tolist()]
        n_all, done = study.drawn or len(study.queries), len(self._values)
        apart = queries_read_together(study) if study.design == "reading" else _FEWEST
        numbers = dict.fromkeys([*range(done + apart, n_all, apart), n_all])
        return [(n, round((n - done) * self._per_query)) for n in numbers if n > done]

    @cached_property
    def _per_query(self) -> float:
        """The number of judgments that a whole query takes."""
        estimates, study = self.estimates, self.estimates.study
        if study.design == "reading":
            read = estimates.answers.answered & np.isin(study.pool.query, estimates.drawn)
            return float(read.sum()) / max(len(self._values), 1)
        return float((study.pool.sizes[:, -1] > 0).sum()) / (study.drawn or len(study.queries))

    def _sampled(self, end: int) -> PlannedStep:
        estimates, study, items = self.estimates, self.estimates.study, self._items
        prior = study.pool.prior * (1 - study.pool.prior) * estimates.highest_gain**2
        sampled, pi = self._drawn(end)
        judged = int(sampled.sum())
        base = ForecastItems.of(items, expected_shares(items, estimates.halves, pi), prior)
        expected = forecast(base, pi, sampled, seed=study.seed)
        return PlannedStep(judged - int(items.sampled.sum()), judged, expected, items.n_queries)

    def _drawn(self, end: int) -> tuple[Bools, Floats]:
        """(items,) which are judged after so many batches of the last round, and the probability of
        each.
        """
        estimates, pool = self.estimates, self.estimates.study.pool
        batches, tau = pool.batches[:, -1], estimates.threshold_after(end, estimates.study.rounds)
        pi = np.maximum(estimates.inclusion, inclusion(pool.sizes[:, -1], tau))
        return estimates.sampled | ((batches >= 0) & (batches < end)), pi

    def _whole(self, n: int, more: int) -> PlannedStep:
        study = self.estimates.study
        expected = query_forecast(self._values, n, len(study.queries), seed=study.seed)
        return PlannedStep(more, round(n * self._per_query), expected, n)


def listed_steps(forecasts: StudyForecasts) -> list[PlannedStep]:
    """The batch ends at or after 50, 100, 200, … more judgments, and the last."""
    positions, target = list[int](), FIRST
    for position, more in enumerate(forecasts.more[:-1]):
        if more >= target:
            positions.append(position)
            while target <= more:
                target *= 2
    return [forecasts.step(position) for position in (*positions, len(forecasts.more) - 1)]


def judgments_needed(
    forecasts: StudyForecasts, difference: float, level: float
) -> tuple[int | None, ...]:
    """More judgments for 80 % power at a difference, with the range that the forecast leaves; None
    where all are not enough.
    """

    def _needed(bound: int) -> int | None:
        n = len(forecasts.more)
        end_number = bisect_left(
            range(n),
            True,
            key=lambda end_number: forecasts.step(end_number).finds(difference, level, bound),
        )
        return forecasts.more[end_number] if end_number < n else None

    return tuple(map(_needed, (0, 1, 2)))
