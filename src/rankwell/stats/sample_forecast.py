"""Forecasts of the precision that more judgments will bring, from a sample of items, or of whole
queries.
"""

import math
from typing import NamedTuple

import numpy as np

from rankwell._native.resamples import over_resamples
from rankwell.data.tables import Bools, Floats, Ints, exact_sd
from rankwell.stats.difference_estimator import SampledItems, estimate

_RESAMPLES = 400
_FEWEST = 10
"""Below so many judged items the prior alone says how much they vary."""


class ForecastItems(NamedTuple):
    """The items of a pool; every array is (items,). n_queries: of the study. query: index. weight:
    the factor c of the gain.

    prior: the variance of the gain by the prior. residual: c(g − λm) of judged items, NaN
    elsewhere. inclusion: now. predicted, totals: (queries,) Σ c·λ·m, and the estimates so far.
    """

    n_queries: int
    query: Ints
    weight: Floats
    prior: Floats
    residual: Floats
    inclusion: Floats
    predicted: Floats
    totals: Floats

    @classmethod
    def of(cls, items: SampledItems, shares: Floats, prior: Floats) -> "ForecastItems":
        """The items of a sample. shares: (queries,) λ of each. prior: (items,) the variance of
        gains by the prior.
        """
        expected = items.weight * shares[items.query] * items.prediction
        residual = np.where(items.has_gain, items.weight * items.gain - expected, np.nan)
        sums = np.bincount(items.query, weights=expected, minlength=items.n_queries).astype(
            np.float64
        )
        totals = estimate(items, shares).totals
        return cls(
            items.n_queries,
            items.query,
            items.weight,
            prior,
            residual,
            items.inclusion,
            sums,
            totals,
        )


class Forecast(NamedTuple):
    """Standard errors of a mean for these queries and for queries like these, each with its range
    from 5 to 95 %.
    """

    these_queries: tuple[float, float, float]
    queries_like_these: tuple[float, float, float]


def forecast(items: ForecastItems, inclusion: Floats, sampled: Bools, *, seed: int = 0) -> Forecast:
    """The standard errors once `sampled` items are judged with the probabilities `inclusion`.

    The squared residual of an item that is not judged is the prior's variance times c²,
    scaled to the judged ones. The variance of true totals is that of the estimates less what
    drawing items adds, averaged with the one of independent residuals, which is surer where few
    items are judged. The ranges come from resamples of queries.
    """
    judged = ~np.isnan(items.residual)
    squares = items.weight**2 * items.prior
    if np.count_nonzero(judged & (items.inclusion < 1)) >= _FEWEST:
        rows = np.flatnonzero(judged)
        probabilities = items.inclusion[rows]
        below = float((squares[rows] / probabilities).sum())
        squares = squares * (
            float((items.residual[rows] ** 2 / probabilities).sum()) / below if below else 1.0
        )
    squares = np.where(judged, np.nan_to_num(items.residual) ** 2, squares)

    def _within_queries(is_judged: Bools, chance: Floats) -> Floats:
        rows = np.flatnonzero(is_judged & (chance > 0))
        terms = (1 - chance[rows]) / chance[rows] ** 2 * squares[rows]
        return np.bincount(items.query[rows], weights=terms, minlength=items.n_queries).astype(
            np.float64
        )

    within_now, within_then = (
        _within_queries(judged, items.inclusion),
        _within_queries(sampled, inclusion),
    )
    independent = np.bincount(items.query, weights=squares, minlength=items.n_queries).astype(
        np.float64
    )
    table = np.column_stack(
        [
            items.totals,
            items.totals**2,
            within_now,
            within_then,
            items.predicted,
            items.predicted**2,
            independent,
        ]
    )
    is_exact = bool((items.inclusion[items.weight != 0] >= 1).all())
    trust = 1.0 if is_exact else _trust(table.mean(axis=0), items.n_queries)
    middle = _errors(table.mean(axis=0)[None, :], items.n_queries, trust)[0]
    drawn = np.concatenate(
        over_resamples(
            items.n_queries,
            _RESAMPLES,
            lambda counts: _errors(counts @ table / items.n_queries, items.n_queries, trust),
            seed=seed,
        )
    )
    low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
    return Forecast(
        *((float(middle[column]), float(low[column]), float(high[column])) for column in (0, 1))
    )


def _spreads(means: Floats, n_queries: int) -> tuple[Floats, Floats, Floats]:
    """Variance of each resample's totals, of true totals by moments, and of true totals were
    residuals of items independent.
    """
    factor = n_queries / max(n_queries - 1, 1)
    spread = np.maximum(means[..., 1] - means[..., 0] ** 2, 0) * factor
    independent = np.maximum(means[..., 5] - means[..., 4] ** 2, 0) * factor + means[..., 6]
    return spread, spread - means[..., 2], independent


def _trust(means: Floats, n: int) -> float:
    """The weight of the variance by moments: its error is that of a sample's variance, the other is
    off by half at most.
    """
    spread, _, independent = _spreads(means, n)
    error_square, bias_square = (
        2 * float(spread) ** 2 / max(n - 1, 1),
        (float(independent) / 2) ** 2,
    )
    return (
        bias_square / (error_square + bias_square)
        if means[2] > 0 and error_square + bias_square > 0
        else 0.0
    )


def _errors(means: Floats, n: int, trust: float) -> Floats:
    """Standard errors for these queries and for queries like these, from means over queries.

    trust: the weight of the variance by moments. Returns (resamples, 2).
    """
    spread, moments, independent = _spreads(means, n)
    between = np.maximum(
        trust * moments + (1 - trust) * independent, 0.05 * np.minimum(spread, independent)
    )
    return np.sqrt(np.column_stack([means[:, 3] / n, (between + means[:, 3]) / n]))


def query_forecast(values: Floats, n: int, population: int, *, seed: int = 0) -> Forecast:
    """The standard errors once n queries are judged completely, from the values of those that
    are.
    """
    sums = np.column_stack([values, values**2])

    def _sd(counts: Floats) -> Floats:
        mean, square = (counts @ sums / len(values)).T
        return np.sqrt(np.maximum(square - mean**2, 0) * len(values) / max(len(values) - 1, 1))

    sds = np.concatenate(over_resamples(len(values), _RESAMPLES, _sd, seed=seed))
    sd = exact_sd(values)
    for_like_queries = tuple(
        sd / math.sqrt(n) for sd in (sd, *np.quantile(sds, [0.05, 0.95]).tolist())
    )
    factor = math.sqrt(max(0.0, 1 - n / population))
    return Forecast(
        (for_like_queries[0] * factor, for_like_queries[1] * factor, for_like_queries[2] * factor),
        (for_like_queries[0], for_like_queries[1], for_like_queries[2]),
    )
