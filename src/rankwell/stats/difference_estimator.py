"""Means and differences of linear measures from sampled items, with predictions: the difference
estimator and two intervals.

Sources: Cassel, Särndal and Wretman 1976, Some results on generalized difference estimation; Zrnic
and Candès 2024, Active statistical inference.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from rankwell.data.tables import Bools, Floats, Ints, exact_mean, exact_sd
from rankwell.stats.intervals import student_quantile

FEWEST_QUERIES = 10
"""Below so many queries there is no interval for queries like these."""
_FEWEST_POSITIVE = 5
_ROUNDING = 1e-12

Interval = tuple[float, float]


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledItems:
    """All items of a pool, for one mean or difference; every array is (items,).

    n_queries: of the whole study. query: index. weight: the factor c of the item's gain.
    prediction: of the gain. inclusion: the probability π of being judged, 0 where that is
    impossible. sampled: whether it was drawn. gain: NaN where it is unknown.
    """

    n_queries: int
    query: Ints
    weight: Floats
    prediction: Floats
    inclusion: Floats
    sampled: Bools
    gain: Floats

    @property
    def has_gain(self) -> Bools:
        """Whether an item was drawn and its gain is known."""
        return self.sampled & ~np.isnan(self.gain)


@dataclass(frozen=True, eq=False)
class SampleEstimate:
    """An estimated mean. totals: (queries,) of each query. sampling_variance: of the mean, of
    drawing items alone.

    is_exact: whether every item that decides was certain to be judged, so that nothing is left to
    chance for these queries.
    """

    totals: Floats
    sampling_variance: float
    is_exact: bool

    @cached_property
    def mean(self) -> float:
        """The estimate."""
        return exact_mean(self.totals)

    @property
    def standard_error(self) -> float:
        """The standard error of the mean for queries like these; NaN for a single query."""
        return (
            exact_sd(self.totals) / math.sqrt(len(self.totals))
            if len(self.totals) > 1
            else math.nan
        )

    def these_queries(self, level: float) -> Interval | None:
        """The interval of the mean of these queries, by the normal quantile.

        None where every judged item is as predicted, or none is judged: the error of the
        predictions is unknown then, not 0.
        """
        if self.sampling_variance == 0 and not self.is_exact:
            return None
        reach = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(self.sampling_variance)
        return self.mean - reach, self.mean + reach

    def queries_like_these(self, level: float) -> Interval | None:
        """The interval of the mean of queries of the same kind, by Student's t; None below 10
        queries, and where none differs.
        """
        if len(self.totals) < FEWEST_QUERIES or np.ptp(self.totals) == 0:
            return None
        reach = student_quantile(level, len(self.totals) - 1) * self.standard_error
        return self.mean - reach, self.mean + reach


def cross_fitted(items: SampledItems, first_half: Bools) -> Floats:
    """Share λ of the predictions that each query's total uses, fitted on the other half of the
    queries.

    first_half: (queries,). λ is Σ v·m·g / Σ v·m² within [0, 1] over judged items with π < 1, v =
    c²(1 − π)/π²; and 1 where the half has fewer than 5 of these with a gain, or nothing to divide
    by.
    """
    rows = _uncertain_rows(items)
    shares = [1.0, 1.0]
    for half in (0, 1):
        half_rows = rows[first_half[items.query[rows]] == bool(half)]
        if np.count_nonzero(items.gain[half_rows] > 0) >= _FEWEST_POSITIVE:
            shares[half] = _fitted_share(items, half_rows)
    return np.where(first_half, *shares)


def _uncertain_rows(items: SampledItems) -> Ints:
    """The judged items that were not certain to be judged."""
    return np.flatnonzero(items.has_gain & (items.inclusion < 1))


def _fitted_share(items: SampledItems, rows: Ints) -> float:
    """λ fitted on these items; 1 where there is nothing to divide by."""
    pi, gain, prediction = items.inclusion[rows], items.gain[rows], items.prediction[rows]
    variance = items.weight[rows] ** 2 * (1 - pi) / pi**2
    below = float((variance * prediction**2).sum())
    share = float((variance * prediction * gain).sum()) / below if below > 0 else 1.0
    return min(max(share, 0.0), 1.0)


def expected_shares(items: SampledItems, first_half: Bools, inclusion: Floats) -> Floats:
    """Shares λ to expect from `cross_fitted` once items are judged with the probabilities
    `inclusion`.

    λ is fitted on the judged items of all queries, for what the other half will know is not known
    yet; it is 1 where fewer than 5 items with a gain are expected in a half: those that it has, and
    half of those that are to come.
    """
    rows = _uncertain_rows(items)
    positive = rows[items.gain[rows] > 0]
    to_come = float((inclusion[positive] / items.inclusion[positive] - 1).sum())
    fitted, in_first_half = _fitted_share(items, rows), first_half[items.query[positive]]
    counts = [np.count_nonzero(in_first_half == bool(half)) + to_come / 2 for half in (0, 1)]
    shares = [fitted if count >= _FEWEST_POSITIVE else 1.0 for count in counts]
    return np.where(first_half, *shares)


def estimate(items: SampledItems, shares: Floats, unknown: Floats | None = None) -> SampleEstimate:
    """The estimate from a sample. shares: (queries,) λ of each. unknown: (items,) gains in place of
    those that are not known.

    T_q = Σ c·λ·m over all items of a query + Σ c·(g − λ·m)/π over the drawn ones; by default an
    unknown gain is λ·m.
    """
    share = shares[items.query]
    predicted = share * items.prediction
    rows = np.flatnonzero(items.sampled)
    gain = items.gain[rows]
    gain = np.where(np.isnan(gain), (predicted if unknown is None else unknown)[rows], gain)
    pi, residual = items.inclusion[rows], items.weight[rows] * (gain - predicted[rows])
    # A fitted λ of 1 may be 1 less its last bit.
    is_off = np.abs(gain - predicted[rows]) > _ROUNDING * np.abs(gain)
    totals = np.bincount(
        items.query, weights=items.weight * predicted, minlength=items.n_queries
    ).astype(np.float64)
    totals = totals + np.bincount(
        items.query[rows], weights=residual / pi, minlength=items.n_queries
    )
    variance = float((is_off * (1 - pi) / pi**2 * residual**2).sum()) / items.n_queries**2
    return SampleEstimate(totals, variance, bool((items.inclusion[items.weight != 0] >= 1).all()))


def most_and_least(items: SampledItems, highest: float) -> tuple[Floats, Floats]:
    """Gains that make the mean least, and those that make it greatest, where they are not known."""
    up = items.weight > 0
    return np.where(up, 0.0, highest), np.where(up, highest, 0.0)
