"""Whether a confidence separates queries of high and low value: the gain of abstaining from the
least confident ones, and how well answered queries are detected.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from rankwell._native.resamples import over_resamples
from rankwell.data.tables import Floats, Ints, exact_mean, ratio
from rankwell.stats import MIN_QUERIES
from rankwell.stats.intervals import Interval, percentile_interval

RATES: Floats = np.linspace(0, 1, 11)[:-1]
"""The shares of the queries that are abstained from, as in MTEB: 0, 0.1, …, 0.9."""
Area = Literal["step", "trapezoid"]
"""The area under a precision-recall curve: precision times the recall that it adds, or straight
lines from precision 1 on.
"""
_DRAWS = 5_000_000
_CURVE_POINTS = 101


class AbstentionFigure(NamedTuple):
    """A figure of abstention over all queries.

    value: the figure; None where it is undefined.
    interval: the 95 % interval; None below 10 queries, where it is undefined, where no resample has
        the statistic's distribution and where resamples do not differ.
    ceiling: the figure of a confidence that orders queries as their values do.
    chance: the mean of the figure over random orders.
    """

    value: float | None
    interval: Interval | None
    ceiling: float
    chance: float


def nauc(
    values: Floats, confidence: Floats, *, resamples: int = 10_000, seed: int = 0
) -> AbstentionFigure:
    """The normalised area under the abstention curve: 0 for a random order of the queries, 1 for
    the order of their values.

    The curve has the mean value of the queries that are left without the round(rate · n) least
    confident ones, at least one, at each rate of `RATES`; a cut inside a tie of confidences leaves
    its mean value, the expected one over orders of the tie. Undefined where all values are equal.
    values, confidence: (n,) finite, n at least 1. The interval is of percentiles over resampled
    queries. resamples: 0 for none; fewer are drawn of more than 500 queries (5 million draws, at
    least 1,000).
    Source: Gisserot-Boukhlef and others 2024, Towards trustworthy reranking; MTEB 2.26.24,
    retrieval_metrics.py, nauc.
    """
    best = np.argsort(values, kind="stable")

    def _of_resamples(counts: Floats) -> Floats:
        curve, ideal = (
            _abstention_curve(values, counts, scores) for scores in (confidence, values)
        )
        flat = ideal[:, 0] * (RATES[-1] - RATES[0])
        least, most = ((counts[:, order] > 0).argmax(axis=1) for order in (best, best[::-1]))
        varied = values[best[least]] < values[best[::-1][most]]
        return np.where(varied, ratio(_area(curve) - flat, _area(ideal) - flat), np.nan)

    return _figure(_of_resamples, len(values), resamples, seed, chance=0.0)


def aurc(
    losses: Floats, confidence: Floats, *, resamples: int = 10_000, seed: int = 0
) -> AbstentionFigure:
    """The area under the risk-coverage curve: the mean of the risks that each query's confidence as
    the threshold leaves.

    The risk of a threshold is the mean loss of the queries whose confidence is at least as high, so
    that queries of one confidence are answered together. Lower is better; chance is the mean loss.
    losses, confidence: (n,) finite, n at least 1. The interval is that of `nauc`.
    Source: Geifman, Uziel and El-Yaniv 2019, Bias-reduced uncertainty estimation for deep neural
    classifiers, section 3.
    """

    def _of_resamples(counts: Floats) -> Floats:
        answered, lost = _by_threshold(losses, counts, confidence)
        risks = np.diff(answered, axis=1, prepend=0) * ratio(lost, answered)
        return risks.sum(axis=1) / len(losses)

    # The best order has no ties: of equal losses one is taken after the other.
    ceiling = float((np.sort(losses).cumsum() / np.arange(1, len(losses) + 1)).mean())
    return _figure(
        _of_resamples, len(losses), resamples, seed, ceiling=ceiling, chance=exact_mean(losses)
    )


def risk_coverage(losses: Floats, confidence: Floats) -> list[tuple[float, float]]:
    """The points of the risk-coverage curve: the share of the queries that a threshold answers, and
    their mean loss.

    A point for each confidence, highest first; of more than 101 those nearest to even steps of
    coverage, ends included. losses, confidence: (n,) finite, n at least 1. Source: El-Yaniv and
    Wiener 2010, On the foundations of noise-free selective classification.
    """
    (answered,), (lost,) = _by_threshold(losses, np.ones((1, len(losses))), confidence)
    if len(answered) > _CURVE_POINTS:
        steps = np.linspace(answered[0], answered[-1], _CURVE_POINTS)
        points = np.unique(np.searchsorted(answered, steps))
        answered, lost = answered[points], lost[points]
    shares, risks = answered / len(losses), lost / answered
    return list(zip(shares.tolist(), risks.tolist(), strict=True))


def auroc(
    is_answered: Floats, confidence: Floats, *, resamples: int = 10_000, seed: int = 0
) -> AbstentionFigure:
    """The area under the ROC curve over queries: the chance that an answered query is more
    confident than another.

    Ties count half. Undefined where all queries or none are answered. is_answered: (n,) 0 or 1.
    confidence: (n,) finite. The interval is that of `nauc`. Source: Fawcett 2006, An introduction
    to ROC analysis.
    """

    def _of_resamples(counts: Floats) -> Floats:
        accepted, hits = _by_threshold(is_answered, counts, confidence)
        true, false = (
            np.hstack([np.zeros((len(cumulative), 1)), cumulative])
            for cumulative in (hits, accepted - hits)
        )
        area = (np.diff(false, axis=1) * (true[:, 1:] + true[:, :-1]) / 2).sum(axis=1)
        pairs = true[:, -1] * false[:, -1]
        return np.where(pairs > 0, ratio(area, pairs), np.nan)

    return _figure(_of_resamples, len(is_answered), resamples, seed, chance=0.5)


def auprc(
    is_answered: Floats,
    confidence: Floats,
    *,
    area: Area = "step",
    resamples: int = 10_000,
    seed: int = 0,
) -> AbstentionFigure:
    """The area under the precision-recall curve over queries: average precision, or the trapezoids
    of `area`.

    Queries at least as confident as a threshold are accepted; precision is the share of them that
    is answered, recall the share of the answered ones that is accepted. Undefined where none is
    answered. is_answered: (n,) 0 or 1. confidence: (n,) finite. The interval is that of `nauc`.
    Source: Davis and Goadrich 2006, The relationship between precision-recall and ROC curves;
    scikit-learn.
    """

    def _of_resamples(counts: Floats) -> Floats:
        accepted, hits = _by_threshold(is_answered, counts, confidence)
        precision = np.where(accepted > 0, ratio(hits, accepted), 1.0)
        gained = np.diff(ratio(hits, hits[:, -1:]), axis=1, prepend=0)
        before = np.hstack([np.ones((len(counts), 1)), precision[:, :-1]])
        height = precision if area == "step" else (precision + before) / 2
        return np.where(hits[:, -1] > 0, (gained * height).sum(axis=1), np.nan)

    n, answered = len(is_answered), float(is_answered.sum())
    ranks = np.arange(1, n + 1)
    # The means over random orders of the precision at each answered query, and of that before it.
    chance = exact_mean(1 / ranks + (ranks - 1) / ranks * (answered - 1) / max(n - 1, 1))
    if area == "trapezoid":
        chance = (chance + answered / n) / 2
    return _figure(_of_resamples, n, resamples, seed, chance=chance)


def extended_precision(is_answered: Floats, confidence: Floats) -> AbstentionFigure:
    """Extended precision: the mean of the precision at the lowest recall, and of the highest recall
    with a precision of 1.

    The first is the share of answered queries among the most confident; the second the share of the
    answered queries that are more confident than any other. Undefined where none is answered. It
    has no interval: both ends are extremes of the order, whose distribution resampled queries do
    not have. is_answered: (n,) 0 or 1. confidence: (n,) finite.
    Source: Ferrarini and others 2020, Exploring performance bounds of visual place recognition
    using extended precision; VPR-Bench, compute_extendedprecision.
    """
    (accepted,), (hits,) = _by_threshold(is_answered, np.ones((1, len(is_answered))), confidence)
    n, answered = len(is_answered), float(hits[-1])
    sure = float(hits[hits == accepted].max(initial=0))
    chance = (answered / n + 1 / (n - answered + 1)) / 2
    value = (float(hits[0] / accepted[0]) + sure / answered) / 2 if answered else None
    return AbstentionFigure(value, None, 1.0, chance)


def _figure(
    statistic: Callable[[Floats], Floats],
    n: int,
    resamples: int,
    seed: int,
    *,
    chance: float,
    ceiling: float = 1.0,
) -> AbstentionFigure:
    """The figure of the sample itself, and its interval over resamples. statistic: (resamples, n)
    counts -> (resamples,).
    """
    value, interval = float(statistic(np.ones((1, n)))[0]), None
    if resamples and n >= MIN_QUERIES and not np.isnan(value):
        n_resamples = min(resamples, max(1_000, _DRAWS // n))
        interval = percentile_interval(
            np.concatenate(over_resamples(n, n_resamples, statistic, seed=seed)), 0.95
        )
        if interval is not None and interval[0] == interval[1]:
            interval = None
    return AbstentionFigure(None if np.isnan(value) else value, interval, ceiling, chance)


def _abstention_curve(values: Floats, counts: Floats, confidence: Floats) -> Floats:
    """Mean value of the queries that are left, each taken as often as it was drawn. Returns
    (resamples, rates).
    """
    n, rows = len(values), np.arange(len(counts))[:, np.newaxis]
    left: Ints = n - np.minimum(np.rint(RATES * n), n - 1).astype(np.int64)
    answered, total = _by_threshold(values, counts, confidence)
    # Every row of numbers ends in n, so that all of them are one ascending sequence.
    positions = np.searchsorted((answered + rows * n).ravel(), (left + rows * n).ravel()).reshape(
        -1, len(left)
    )
    # A cut inside a tie leaves as many of its queries at their mean value.
    numbers, sums = (
        np.diff(totals, axis=1, prepend=0).ravel()[positions] for totals in (answered, total)
    )
    excess = answered.ravel()[positions] - left
    return (total.ravel()[positions] - excess * ratio(sums, numbers)) / left


def _by_threshold(values: Floats, counts: Floats, confidence: Floats) -> tuple[Floats, Floats]:
    """Number of queries that are at least as confident as each confidence, and the sum of their
    values, highest confidence first. Both are (resamples, confidences).
    """
    order = np.argsort(-confidence, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(confidence[order]) != 0, True))
    drawn = counts[:, order]
    return drawn.cumsum(axis=1)[:, ends], (drawn * values[order]).cumsum(axis=1)[:, ends]


def _area(curve: Floats) -> Floats:
    """Area under each resample's curve over the rates, by the trapezoidal rule."""
    return ((curve[:, 1:] + curve[:, :-1]) * np.diff(RATES)).sum(axis=1) / 2
