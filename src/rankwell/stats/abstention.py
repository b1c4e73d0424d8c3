"""Whether a confidence separates queries of high and low value: the gain of abstaining from the least confident ones."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankwell.core.kernels.resamples import over_resamples
from rankwell.core.tables import Floats, Ints, ratio
from rankwell.stats import MIN_QUERIES
from rankwell.stats.intervals import percentile_interval

RATES: Floats = np.linspace(0, 1, 11)[:-1]
"""The shares of the queries that are abstained from, as in MTEB: 0, 0.1, …, 0.9."""
_DRAWS = 5_000_000


class AbstentionFigure(NamedTuple):
    """A figure of all queries. value: None where undefined. interval: 95 %, None below 10 queries and where undefined.

    ceiling: of the confidence that orders queries as their values do. chance: the mean over random orders.
    """

    value: float | None
    interval: tuple[float, float] | None
    ceiling: float
    chance: float


def nauc(values: Floats, confidence: Floats, *, resamples: int = 10_000, seed: int = 0) -> AbstentionFigure:
    """The normalised area under the abstention curve: 0 for a random order of the queries, 1 for the order of their values.

    The curve has the mean value of the queries that are left without the round(rate · n) least confident ones, at least one, at
    each rate of `RATES`; a cut inside a tie of confidences leaves its mean value, the expected one over orders of the
    tie. Undefined where all values are equal. values, confidence: (n,) finite, n at least 1. The interval is of percentiles over
    resampled queries. resamples: 0 for none; fewer are drawn of more than 500 queries (5 million draws, at least 1,000).
    Source: Gisserot-Boukhlef and others 2024, Towards trustworthy reranking; MTEB 2.26.24, retrieval_metrics.py, nauc.
    """
    best = np.argsort(values, kind="stable")

    def _of_resamples(counts: Floats) -> Floats:
        curve, ideal = (_abstention_curve(values, counts, each) for each in (confidence, values))
        flat = ideal[:, 0] * (RATES[-1] - RATES[0])
        least, most = ((counts[:, each] > 0).argmax(axis=1) for each in (best, best[::-1]))
        varied = values[best[least]] < values[best[::-1][most]]
        return np.where(varied, ratio(_area(curve) - flat, _area(ideal) - flat), np.nan)

    return _figure(_of_resamples, len(values), resamples, seed, ceiling=1.0, chance=0.0)


def aurc(losses: Floats, confidence: Floats, *, resamples: int = 10_000, seed: int = 0) -> AbstentionFigure:
    """The area under the risk-coverage curve: the mean of the risks that each query's confidence as the threshold leaves.

    The risk of a threshold is the mean loss of the queries whose confidence is at least as high, so that queries of one
    confidence are answered together. Lower is better; chance is the mean loss. losses, confidence: (n,) finite, n at least 1.
    The interval is that of `nauc`.
    Source: Geifman, Uziel and El-Yaniv 2019, Bias-reduced uncertainty estimation for deep neural classifiers, section 3.
    """

    def _of_resamples(counts: Floats, by: Floats = confidence) -> Floats:
        answered, lost = _by_threshold(losses, counts, by)
        return (np.diff(answered, axis=1, prepend=0) * ratio(lost, answered)).sum(axis=1) / len(losses)

    ceiling = float(_of_resamples(np.ones((1, len(losses))), -losses)[0])
    return _figure(_of_resamples, len(losses), resamples, seed, ceiling=ceiling, chance=float(losses.mean()))


def _figure(
    statistic: Callable[[Floats], Floats], n: int, resamples: int, seed: int, *, ceiling: float, chance: float
) -> AbstentionFigure:
    """The figure of the sample itself, and its interval over resamples. statistic: (resamples, n) counts -> (resamples,)."""
    value, interval = float(statistic(np.ones((1, n)))[0]), None
    if resamples and n >= MIN_QUERIES and not np.isnan(value):
        most = min(resamples, max(1_000, _DRAWS // n))
        interval = percentile_interval(np.concatenate(over_resamples(n, most, statistic, seed=seed)), 0.95)
    return AbstentionFigure(None if np.isnan(value) else value, interval, ceiling, chance)


def _abstention_curve(values: Floats, counts: Floats, confidence: Floats) -> Floats:
    """(resamples, rates) the mean value of the queries that are left, each taken as often as it was drawn."""
    n, rows = len(values), np.arange(len(counts))[:, np.newaxis]
    left: Ints = n - np.minimum(np.rint(RATES * n), n - 1).astype(np.int64)
    answered, total = _by_threshold(values, counts, confidence)
    # Every row of numbers ends in n, so that all of them are one ascending sequence.
    place = np.searchsorted((answered + rows * n).ravel(), (left + rows * n).ravel()).reshape(-1, len(left))
    # A cut inside a tie leaves as many of its queries at their mean value.
    numbers, sums = (np.diff(each, axis=1, prepend=0).ravel()[place] for each in (answered, total))
    beyond = answered.ravel()[place] - left
    return (total.ravel()[place] - beyond * ratio(sums, numbers)) / left


def _by_threshold(values: Floats, counts: Floats, confidence: Floats) -> tuple[Floats, Floats]:
    """(resamples, confidences) how many queries are at least as confident, and the sum of their values, highest first."""
    order = np.argsort(-confidence, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(confidence[order]) != 0, True))
    drawn = counts[:, order]
    return drawn.cumsum(axis=1)[:, ends], (drawn * values[order]).cumsum(axis=1)[:, ends]


def _area(curve: Floats) -> Floats:
    """(resamples,) the area under a curve over the rates, by the trapezoidal rule."""
    return ((curve[:, 1:] + curve[:, :-1]) * np.diff(RATES)).sum(axis=1) / 2
