"""Samples of queries and of items: how they are drawn, what they say of a mean, and forecasts of
the precision that more judgments will bring.

Items are drawn by priority sampling. Their means are those of the difference estimator with
predictions, two intervals each: Cassel, Särndal and Wretman 1976, Some results on generalized
difference estimation; Zrnic and Candès 2024, Active statistical inference. Drawn queries with
predictions for further ones have prediction-powered inference with a fitted share (PPI++):
Angelopoulos, Duchi and Zrnic 2023, PPI++: efficient prediction-powered inference; Oosterhuis,
Jagerman, Qin, Wang and Bendersky 2024, Reliable confidence intervals for information retrieval
evaluation using generative A.I.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from rankwell._native.resamples import over_resamples
from rankwell.data.tables import Bools, Floats, Ints, exact_mean, exact_sd, sum_by
from rankwell.stats.intervals import Interval, student_quantile

FEWEST_QUERIES = 10
"""Below so many drawn queries there is no interval for queries like these."""
FEWEST_JUDGED = 20
"""Below so many drawn queries predictions are not used: their share cannot be fitted."""
FOLDS = 5
_FEWEST_POSITIVE = 5
_ROUNDING = 1e-12
_RESAMPLES = 400
_FEWEST_ITEMS = 10
"""Below so many judged items the prior alone says how much they vary."""
_BLOCK = 1 << 16
"""Digests in memory at once."""


def balanced_mixture(scores: Floats, balances: Floats) -> Floats | None:
    """Probabilities of n alternatives with the largest mean score whose mean balances are all 0;
    None without any.

    scores: (n,). balances: (n, quantities).
    """
    # It takes a fifth of a second to import.
    from scipy.optimize import linprog

    constraints = np.vstack([np.ones(len(scores)), balances.T])
    target = np.zeros(len(constraints))
    target[0] = 1.0
    solution = linprog(-scores, A_eq=constraints, b_eq=target, bounds=(0, 1), method="highs-ds")
    if not solution.success:
        return None
    # A solver's rounding may leave a tiny weight below 0.
    weights = np.where(solution.x > 1e-9, solution.x, 0.0)
    return weights / weights.sum()


def permanent_numbers(seed: int, *parts: Sequence[bytes], rows: Sequence[Ints] = ()) -> Floats:
    """A number in [0, 1) for each tuple of ids, which depends on the seed and these ids alone.

    It is the first 53 bits of SHA-256 of the seed and the ids, each after its length in 8 bytes,
    over 2⁵³.
    rows: of each part, whose ids are listed once, the place of each row's id; by default rows are
    in the order of the ids.

    >>> permanent_numbers(0, [b"q1", b"q1"], [b"d1", b"d2"]).round(6).tolist()
    [0.549569, 0.46726]
    >>> permanent_numbers(
    ...     0, [b"q1"], [b"d1", b"d2"], rows=[np.array([0, 0]), np.array([0, 1])]
    ... ).round(6).tolist()
    [0.549569, 0.46726]
    """
    sha256, head = _sha256(), _prefixed(str(seed).encode())
    texts = [np.fromiter(map(_prefixed, ids), dtype=object, count=len(ids)) for ids in parts]
    texts[0] = head + texts[0]
    row_indices = rows or [np.arange(len(ids)) for ids in parts]
    bits = np.empty(len(row_indices[0]), dtype=np.uint64)
    for start in range(0, len(bits), _BLOCK):
        block = slice(start, start + _BLOCK)
        columns = [
            part_texts[indices[block]].tolist()
            for part_texts, indices in zip(texts, row_indices, strict=True)
        ]
        digests = b"".join([sha256(b"".join(row)).digest() for row in zip(*columns, strict=True)])
        bits[block] = np.frombuffer(digests, dtype=">u8")[::4]
    return (bits >> np.uint64(11)) / 2.0**53


def _sha256() -> Callable[[bytes], Any]:
    """CPython's own SHA-256 where it is there, as OpenSSL takes twice as long for so few bytes."""
    for name in ("_sha2", "_sha256"):
        with suppress(ImportError):
            return import_module(name).sha256
    return hashlib.sha256


def _prefixed(text: bytes) -> bytes:
    return len(text).to_bytes(8, "big") + text


def sampling_sizes(weights: Floats, relevance: Floats, *, for_means: bool = False) -> Floats:
    """Size of each item: the spread of its weights over the runs times √(p(1 − p)); for means the
    largest weight.

    weights: (items, runs). relevance: (items,) the prior chance p that an item is relevant.
    """
    spread = weights.max(axis=1) if for_means else weights.max(axis=1) - weights.min(axis=1)
    return spread * np.sqrt(relevance * (1 - relevance))


def prior_relevance(best_rank: Ints, in_all: Bools) -> Floats:
    """A guess at the relevance of each item: its chance, from the best rank and whether all runs
    have the item.

    A poor guess makes intervals wider and leaves them valid.
    """
    return np.clip(0.55 / np.sqrt(best_rank) + 0.15 * in_all, 0.03, 0.9)


def priorities(numbers: Floats, sizes: Floats) -> Floats:
    """Permanent number over the size, infinite where the size is 0: items are judged from the
    lowest on.
    """
    return np.divide(numbers, sizes, out=np.full(len(sizes), np.inf), where=sizes > 0)


def inclusion(sizes: Floats, threshold: float) -> Floats:
    """Probability π of being judged under a threshold, the priority of the first item that is not.

    The threshold is infinite once all items of a size above 0 are judged, whose π is 1.
    """
    if np.isinf(threshold):
        return (sizes > 0).astype(np.float64)
    return np.minimum(1.0, threshold * sizes)


@dataclass(frozen=True, eq=False)
class QueryValues:
    """A mean that is estimated from one value of each drawn query.

    values: (n,) finite values of the drawn queries.
    """

    values: Floats

    @cached_property
    def mean(self) -> float:
        """The estimate."""
        return exact_mean(self.values)

    @property
    def standard_error(self) -> float:
        """The standard error of the mean for queries like these; NaN for a single query."""
        n = len(self.values)
        return exact_sd(self.values) / math.sqrt(n) if n > 1 else math.nan

    def queries_like_these(self, level: float) -> Interval | None:
        """The interval of the mean of queries of the same kind, by Student's t with n - 1 degrees
        of freedom.

        None below 10 drawn ones, and where all have one value: they do not show how far others may
        differ.
        """
        return self._interval(level, self.standard_error)

    def _interval(self, level: float, error: float, factor: float = 1.0) -> Interval | None:
        if len(self.values) < FEWEST_QUERIES or np.ptp(self.values) == 0:
            return None
        reach = student_quantile(level, len(self.values) - 1) * error * factor
        return self.mean - reach, self.mean + reach


@dataclass(frozen=True, eq=False)
class WholeQueries(QueryValues):
    """The values of queries that were drawn without replacement and are known without error.

    population: number of queries from which they were drawn.
    """

    population: int

    @property
    def is_exact(self) -> bool:
        """Whether all queries were drawn."""
        return len(self.values) == self.population

    def these_queries(self, level: float) -> Interval | None:
        """The interval of the mean of all queries that could have been drawn; None as for queries
        like these, unless all are.
        """
        if self.is_exact:
            return self.mean, self.mean
        factor = math.sqrt(1 - len(self.values) / self.population)
        return self._interval(level, self.standard_error, factor)


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictedQueries(QueryValues):
    """Drawn queries with values and predictions, and further queries of the same kind with
    predictions alone.

    values: (n,) finite values of the drawn queries.
    predictions: (n,) predictions for the drawn queries.
    folds: (n,) fold of each drawn query, a number from 0 to 4 drawn at random.
    other_predictions: (N,) predictions for the further queries.
    population: the number of queries that could have been drawn.
    """

    predictions: Floats
    folds: Ints
    other_predictions: Floats
    population: int
    is_exact = False
    """Whether all queries were drawn; then none is left to predict."""

    @cached_property
    def shares(self) -> Floats:
        """Share λ of each query's prediction, fitted on the other folds: cov(Y, f) / var(f) / (1 +
        n/N) in [0, 1].

        It is 0 where the predictions of the other folds are all the same.
        """
        n, shares = len(self.values), np.zeros(len(self.values))
        for fold in range(FOLDS):
            other_folds = self.folds != fold
            centred = self.predictions[other_folds] - self.predictions[other_folds].mean()
            below = float(centred @ centred)
            if below > 0:
                slope = float(centred @ self.values[other_folds]) / below
                share = slope / (1 + n / len(self.other_predictions))
                shares[~other_folds] = min(max(share, 0.0), 1.0)
        return shares

    @property
    def share(self) -> float:
        """The mean share λ."""
        return exact_mean(self.shares)

    @cached_property
    def mean(self) -> float:
        """The estimate: mean_N(λf) + mean_n(Y - λf), the first with the mean λ."""
        return self.share * exact_mean(self.other_predictions) + exact_mean(
            self.values - self.shares * self.predictions
        )

    @property
    def standard_error(self) -> float:
        """The error of the mean for queries like these: the root of s²(Y - λf)/n + λ²s²(f)/N.

        Residuals have the λ of their fold: those of a mean λ, which was fitted on them, are too
        small with 20 queries.
        """
        residual = _variance(self.values - self.shares * self.predictions)
        return math.sqrt(
            residual / len(self.values)
            + self.share**2 * _variance(self.other_predictions) / len(self.other_predictions)
        )

    def these_queries(self, level: float) -> Interval | None:
        """The interval of the mean of all queries that could have been drawn, by Student's t with n
        - 1 degrees of freedom.

        The estimate is a regression estimator in the M = n + N queries with predictions, which were
        drawn as well: its variance is (1 - n/M)·s²(Y - λM/N·f)/n + (1 - M/population)·s²(Y)/M.
        Source: Cochran 1977, Sampling techniques, chapter 12.
        """
        n, n_others = len(self.values), len(self.other_predictions)
        m = n + n_others
        residual = _variance(self.values - self.shares * m / n_others * self.predictions)
        spread = (1 - m / self.population) * _variance(self.values) / m
        variance = (1 - n / m) * residual / n + spread
        return self._interval(level, math.sqrt(max(variance, 0.0)))


def folds_of(numbers: Floats) -> Ints:
    """Five folds of nearly equal size, in the order of random numbers of the queries."""
    folds = np.empty(len(numbers), dtype=np.int64)
    folds[np.argsort(numbers, kind="stable")] = np.arange(len(numbers)) % FOLDS
    return folds


def _variance(values: Floats) -> float:
    return exact_sd(values) ** 2 if len(values) > 1 else 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledItems:
    """All items of a pool, for the estimate of one mean or difference. Every array is (items,).

    n_queries: number of queries in the whole study.
    query: index of the query.
    weight: the factor c by which the item's gain counts.
    prediction: the predicted gain.
    inclusion: the probability π of being judged, 0 where that is impossible.
    sampled: whether the item was drawn.
    gain: the gain; NaN where it is unknown.
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

    @property
    def are_certain(self) -> bool:
        """Whether every item that decides is judged with certainty."""
        return bool((self.inclusion[self.weight != 0] >= 1).all())


@dataclass(frozen=True, eq=False)
class SampleEstimate(QueryValues):
    """A mean estimated from sampled items.

    values: (queries,) the total of each query.
    sampling_variance: variance of the mean that comes from drawing items alone.
    is_exact: whether every item that affects the mean was certain to be judged, so that nothing is
        left to chance for these queries.
    """

    sampling_variance: float
    is_exact: bool

    def these_queries(self, level: float) -> Interval | None:
        """The interval of the mean of these queries, by the normal quantile.

        None where every judged item is as predicted, or none is judged: the error of the
        predictions is unknown then, not 0.
        """
        if self.sampling_variance == 0 and not self.is_exact:
            return None
        reach = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(self.sampling_variance)
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
    n = items.n_queries
    totals = sum_by(items.query, items.weight * predicted, n)
    totals = totals + sum_by(items.query[rows], residual / pi, n)
    variance = float((is_off * (1 - pi) / pi**2 * residual**2).sum()) / n**2
    return SampleEstimate(totals, variance, items.are_certain)


def most_and_least(items: SampledItems, highest: float) -> tuple[Floats, Floats]:
    """Gains that make the mean least, and those that make it greatest, where they are not known."""
    up = items.weight > 0
    return np.where(up, 0.0, highest), np.where(up, highest, 0.0)


class Forecast(NamedTuple):
    """The standard errors that a mean is expected to have, each with the 5th and the 95th
    percentile of its resamples.

    these_queries: standard error of the mean over the queries at hand.
    queries_like_these: standard error of the mean over queries of the same kind.
    """

    these_queries: Sequence[float]
    queries_like_these: Sequence[float]


def forecast(
    items: SampledItems,
    shares: Floats,
    prior: Floats,
    inclusion: Floats,
    sampled: Bools,
    *,
    seed: int = 0,
) -> Forecast:
    """The standard errors once `sampled` items are judged with the probabilities `inclusion`.

    items: as they are now. shares: (queries,) λ of each. prior: (items,) the variance of gains by
    the prior.
    The squared residual c(g − λm) of an item that is not judged is the prior's variance times c²,
    scaled to the judged ones. The variance of true totals is that of the estimates less what
    drawing items adds, averaged with the one of independent residuals, which is surer where few
    items are judged. The ranges come from resamples of queries.
    """
    n, judged = items.n_queries, items.has_gain
    expected = items.weight * shares[items.query] * items.prediction
    residual_squares = (items.weight * items.gain - expected) ** 2
    squares = items.weight**2 * prior
    if np.count_nonzero(judged & (items.inclusion < 1)) >= _FEWEST_ITEMS:
        probabilities = items.inclusion[judged]
        below = float((squares[judged] / probabilities).sum())
        above = float((residual_squares[judged] / probabilities).sum())
        squares = squares * (above / below if below else 1.0)
    squares = np.where(judged, residual_squares, squares)

    def _within_queries(is_judged: Bools, chance: Floats) -> Floats:
        rows = np.flatnonzero(is_judged & (chance > 0))
        return sum_by(items.query[rows], (1 - chance[rows]) / chance[rows] ** 2 * squares[rows], n)

    totals, predicted = estimate(items, shares).values, sum_by(items.query, expected, n)
    table = np.column_stack(
        [
            totals,
            totals**2,
            _within_queries(judged, items.inclusion),
            _within_queries(sampled, inclusion),
            predicted,
            predicted**2,
            sum_by(items.query, squares, n),
        ]
    )
    means, trust = table.mean(axis=0), 1.0
    if not items.are_certain:
        trust = _trust(means, n)
    drawn = over_resamples(
        n, _RESAMPLES, lambda counts: _errors(counts @ table / n, n, trust), seed=seed
    )
    ends = np.quantile(np.concatenate(drawn), [0.05, 0.95], axis=0)
    return Forecast(*zip(*_errors(means[None, :], n, trust).tolist(), *ends.tolist(), strict=True))


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
    bias_square = (float(independent) / 2) ** 2
    total = 2 * float(spread) ** 2 / max(n - 1, 1) + bias_square
    return bias_square / total if means[2] > 0 and total > 0 else 0.0


def _errors(means: Floats, n: int, trust: float) -> Floats:
    """Standard errors for these queries and for queries like these, from means over queries.

    trust: the weight of the variance by moments. Returns (resamples, 2).
    """
    spread, moments, independent = _spreads(means, n)
    mixed = trust * moments + (1 - trust) * independent
    between = np.maximum(mixed, 0.05 * np.minimum(spread, independent))
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
    ends = np.quantile(sds, [0.05, 0.95]).tolist()
    errors = tuple(sd / math.sqrt(n) for sd in (exact_sd(values), *ends))
    factor = math.sqrt(max(0.0, 1 - n / population))
    return Forecast(tuple(error * factor for error in errors), errors)
