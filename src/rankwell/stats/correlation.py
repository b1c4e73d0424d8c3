"""Correlations of pairs, the line that calibrates them, and bootstrap intervals of both."""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from rankwell._native.resamples import over_resamples
from rankwell.data.tables import Floats, Ints
from rankwell.stats import midranks, on_exact_grid
from rankwell.stats.intervals import Interval, percentile_interval, student_p

MIN_PAIRS = 3
"""Two pairs lie on a line whatever they are."""

_EXACT_BELOW = 34
_REACH = NormalDist().inv_cdf(0.975)
"""Standard errors on each side of a 95 % interval."""


class Correlation(NamedTuple):
    """A correlation of two columns.

    value: the coefficient, from -1 to 1.
    p: two-sided p-value: the probability of a value as far from 0 where the columns are
        independent.
    """

    value: float
    p: float


class Concordance(NamedTuple):
    """Pairs of rows of two columns, by the order of both rows in each; a tie in either column
    counts as neither.

    concordant: number of pairs ordered alike in both columns.
    discordant: number of pairs ordered one way in the first column and the other way in the second.
    balance: (n,) for each row, the number of rows ordered alike with it less the number ordered
        against it.
    first_ties, second_ties: (n,) number of rows with the row's own value in the first and in the
        second column, itself included.
    """

    concordant: int
    discordant: int
    balance: Ints
    first_ties: Ints
    second_ties: Ints


def is_constant(values: Floats) -> bool:
    """Whether all values are the same, or there is none; such a column has no correlation with any
    other.
    """
    return not len(values) or bool(values.min() == values.max())


def _is_undefined(first: Floats, second: Floats) -> bool:
    return len(first) < MIN_PAIRS or is_constant(first) or is_constant(second)


def pearson(first: Floats, second: Floats) -> Correlation | None:
    """The product-moment correlation; None where a column is constant or there are fewer than 3
    rows.

    p from Student's t with n - 2 degrees of freedom, which is exact for normal columns.
    first, second: (n,) finite. Source: Pearson 1895; Student 1908.
    """
    return _correlation(first, second, _deviations)


def spearman(first: Floats, second: Floats) -> Correlation | None:
    """The correlation of the ranks, equal values sharing the mean of their ranks; None as for
    `pearson`, p likewise.

    Source: Spearman 1904; for ties and p Kendall 1970, Rank Correlation Methods, chapters 3 and 5.
    """
    return _correlation(first, second, lambda values: midranks(values) - (len(values) + 1) / 2)


def kendall(
    first: Floats, second: Floats, *, counts: Concordance | None = None
) -> Correlation | None:
    """Kendall's tau-b: (concordant - discordant) / √(pairs not tied in the first · pairs not tied
    in the second).

    None where a column is constant or there are fewer than 3 rows. p is exact up to 33 rows without
    ties, else from the normal distribution with the variance that accounts for ties. counts: their
    `concordance`, where it is known.
    In O(n log n). Source: Kendall 1970, chapters 1, 3 and 5.
    """
    if _is_undefined(first, second):
        return None
    counts = counts or concordance(first, second)
    untied = counts.concordant + counts.discordant == len(first) * (len(first) - 1) // 2
    if not untied or len(first) >= _EXACT_BELOW:
        return Correlation(_tau_b(counts), _normal_p(counts))
    # Loaded on first use: it takes a second.
    from scipy.stats import kendalltau

    test: Any = kendalltau(first, second, method="exact")
    return Correlation(_tau_b(counts), float(test.pvalue))


def kendall_tau(first: Floats, second: Floats) -> float | None:
    """The value of `kendall` alone."""
    if _is_undefined(first, second):
        return None
    return _tau_b(concordance(first, second))


def fisher_interval(value: float, n: int, *, ranks: bool = False) -> Interval | None:
    """The 95 % interval of a correlation of n rows by Fisher's z; None for fewer than 4 rows.

    ranks: whether it is Spearman's, whose z varies more: by (1 + ρ²/2) / (n - 3).
    Source: Fisher 1921; for ranks Bonett and Wright 2000.
    """
    if n < 4:
        return None
    if abs(value) == 1:
        return value, value
    reach = _REACH * math.sqrt((1 + value * value / 2 if ranks else 1) / (n - 3))
    return math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)


def kendall_interval(counts: Concordance) -> Interval:
    """The asymptotic 95 % interval of tau-b, which holds for any ties, cut off at ±1. Neither
    column is constant. Source: Brown and Benedetti 1977.
    """
    tau, n = _tau_b(counts), len(counts.balance)
    first, second = n * n - float(counts.first_ties.sum()), n * n - float(counts.second_ties.sum())
    denominator = math.sqrt(first * second)
    parts = 2 * counts.balance + tau / denominator * (
        second * counts.first_ties + first * counts.second_ties
    )
    spread = math.sqrt(float(((parts - parts.mean()) ** 2).sum())) / denominator
    reach = _REACH * spread
    return max(tau - reach, -1.0), min(tau + reach, 1.0)


def concordance(first: Floats, second: Floats) -> Concordance:
    """Counts the pairs of rows that two columns order alike and against each other, in O(n log n).
    Source: Knight 1966.
    """
    n = len(first)
    (x, x_below, x_same), (y, y_below, y_same) = _counts(first), _counts(second)
    # Every row stands in one of nine fields as seen from another: below, at or above it in x, and
    # in y.
    below = _both_below(x, y)
    _, before, same = _counts(y * n + x)
    left_above = x_below - below - (before - y_below)
    _, before, _ = _counts(x * n + y)
    right_below = y_below - below - (before - x_below)
    above = n - x_same - y_same + same - below - left_above - right_below
    balance = below + above - left_above - right_below
    return Concordance(int(below.sum()), int(left_above.sum()), balance, x_same, y_same)


def _counts(values: Floats | Ints) -> tuple[Ints, Ints, Ints]:
    """For each row, the place of its value among the different ones, and the numbers of rows with
    a smaller one and with the same.
    """
    _, code, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return code, (np.cumsum(sizes) - sizes)[code], sizes[code]


def _deviations(values: Floats) -> Floats:
    scaled = values / np.abs(values).max()
    return scaled - scaled.mean()


def _correlation(
    first: Floats, second: Floats, centred: Callable[[Floats], Floats]
) -> Correlation | None:
    """The product-moment correlation of two columns moved about 0, with the p-value of
    Student's t.
    """
    if _is_undefined(first, second):
        return None
    x, y, freedom = centred(first), centred(second), len(first) - 2
    spread = math.sqrt(float((x * x).sum())) * math.sqrt(float((y * y).sum()))
    value = min(max(float((x * y).sum()) / spread, -1.0), 1.0)
    unexplained = (1 - value) * (1 + value)
    return Correlation(
        value,
        student_p(
            math.inf if unexplained == 0 else value * math.sqrt(freedom / unexplained), freedom
        ),
    )


def _tau_b(counts: Concordance) -> float:
    n = len(counts.balance)
    first, second = (n * n - int(ties.sum()) for ties in (counts.first_ties, counts.second_ties))
    value = 2 * (counts.concordant - counts.discordant) / math.sqrt(first) / math.sqrt(second)
    return min(max(value, -1.0), 1.0)


def _normal_p(counts: Concordance) -> float:
    n = len(counts.balance)
    # Sums over groups of tied rows, each of t: every row of a group brings its share of the group's
    # term.
    (x_pairs, x_triples, x_fives), (y_pairs, y_triples, y_fives) = (
        [float(term.sum()) for term in (t - 1, (t - 1) * (t - 2), (t - 1) * (2 * t + 5))]
        for t in (counts.first_ties.astype(np.float64), counts.second_ties.astype(np.float64))
    )
    ordered = n * (n - 1)
    variance = (ordered * (2 * n + 5) - x_fives - y_fives) / 18 + x_pairs * y_pairs / (2 * ordered)
    variance += x_triples * y_triples / (9 * ordered * (n - 2))
    return math.erfc(abs(counts.concordant - counts.discordant) / math.sqrt(2 * variance))


def _both_below(x: Ints, y: Ints) -> Ints:
    """For each row, the number of rows with a smaller x and a smaller y.

    The rows stand in the order of y, in blocks by the high bits of their place in the order of x;
    each level splits every block by the next bit, and a row of the right half passes all rows of
    the left half that stand before it.
    """
    n = len(x)
    # Among equals the other order is turned round, so that no row passes another that it ties with.
    x_rank = np.empty(n, dtype=np.int64)
    x_rank[np.lexsort((-y, x))] = np.arange(n)
    rows = np.lexsort((-x_rank, y))
    passed = np.zeros(n, dtype=np.int64)
    ranks = x_rank[rows]
    position = np.arange(n)
    for bit in reversed(range(max(n - 1, 1).bit_length())):
        right = (ranks >> bit & 1).astype(np.bool_)
        before = np.cumsum(~right) - ~right
        # A block has all ranks that it may have, so that its first rank is its place.
        base = ranks >> (bit + 1) << (bit + 1)
        left_before = before - before[base]
        passed[ranks[right]] += left_before[right]
        right_target = (1 << bit) + position - base - left_before
        split_ranks = np.empty(n, dtype=np.int64)
        split_ranks[base + np.where(right, right_target, left_before)] = ranks
        ranks = split_ranks
    return passed[x_rank]


class FittedLine(NamedTuple):
    """A fitted line: target ≈ slope · similarity + intercept.

    slope: change of the target per unit of similarity.
    intercept: the target at a similarity of 0.
    """

    slope: float
    intercept: float

    def predict(self, similarities: Floats) -> Floats:
        """Targets that the line predicts."""
        return self.slope * similarities + self.intercept


def fit_line(targets: Floats, similarities: Floats) -> FittedLine | None:
    """The least-squares line from similarities to targets; None where either is constant or there
    is none.

    A constant similarity has no slope; a constant target would be met exactly by a line that looks
    at nothing.
    targets, similarities: (n,) finite. Source: Legendre 1805.
    """
    if not len(targets) or np.ptp(similarities) == 0 or np.ptp(targets) == 0:
        return None
    centre, middle = float(similarities.mean()), float(targets.mean())
    moved = similarities - centre
    slope = float((moved * (targets - middle)).sum() / (moved * moved).sum())
    return FittedLine(slope, middle - slope * centre)


class PairIntervals(NamedTuple):
    """The interval of each figure of pairs; None where a resample has only equal values in a
    column, and so no such figure.

    pearson, spearman: intervals of the correlations.
    calibrated_mae: interval of the mean absolute error of a line fitted to each resample.
    """

    pearson: Interval | None
    spearman: Interval | None
    calibrated_mae: Interval | None


def bootstrap_pairs(
    targets: Floats, similarities: Floats, *, resamples: int, seed: int = 0
) -> PairIntervals:
    """Percentile intervals at 95 % over resampled pairs; every resample is ranked and calibrated
    anew.

    targets, similarities: (n,) finite, neither constant. The figures have 10 significant digits and
    do not depend on the order of the pairs.
    Source: Efron and Tibshirani 1993, 13.3.
    """
    order = np.lexsort((similarities, targets))
    (target, scale), (similarity, _) = _unit(targets[order]), _unit(similarities[order])
    n = len(order)
    table = on_exact_grid(
        np.column_stack([target, similarity, target**2, similarity**2, target * similarity])
    )
    ranks = _Ranks(target), _Ranks(similarity)

    def _figures_of(counts: Floats) -> Floats:
        # Ranks and their products are exact.
        x, y = (column.of(counts) for column in ranks)
        x_spread, y_spread, product = (
            (counts * first * second).sum(axis=1) for first, second in ((x, x), (y, y), (x, y))
        )
        varied = (x_spread > 0) & (y_spread > 0)
        sums = np.where(varied[:, None], counts @ table, np.nan).T
        with np.errstate(invalid="ignore", divide="ignore"):
            by_ranks = product / (np.sqrt(x_spread) * np.sqrt(y_spread))
            common = sums[4] - sums[0] * sums[1] / n
            spread = sums[3] - sums[1] * sums[1] / n
            straight = common / np.sqrt(spread * (sums[2] - sums[0] * sums[0] / n))
            slope = common / spread
            intercept = (sums[0] - slope * sums[1]) / n
            residuals = target - slope[:, None] * similarity - intercept[:, None]
            error = (counts * np.abs(residuals)).sum(axis=1) / n * scale
        return np.stack([straight.clip(-1, 1), by_ranks.clip(-1, 1), error])

    figures = np.concatenate(over_resamples(n, resamples, _figures_of, seed=seed), axis=1)
    return PairIntervals(*(percentile_interval(resampled, 0.95) for resampled in figures))


def _unit(values: Floats) -> tuple[Floats, float]:
    """The values moved and scaled to lie about 0, within ±1, and the scale: neither correlations
    nor lines look at the two.
    """
    moved = values - values.mean()
    scale = float(np.abs(moved).max())
    return moved / scale, scale


class _Ranks:
    """The ranks of resamples: the values are sorted once, and each resample only adds up how often
    they were drawn.
    """

    def __init__(self, values: Floats) -> None:
        self._order: Ints = np.argsort(values, kind="stable")
        _, self._group, sizes = np.unique(values, return_inverse=True, return_counts=True)
        self._starts = np.cumsum(sizes) - sizes

    def of(self, counts: Floats) -> Floats:
        """Mean rank of every value in each resample, less the mean of all ranks. Returns
        (resamples, n).
        """
        groups = np.add.reduceat(counts[:, self._order], self._starts, axis=1)
        ranks = np.cumsum(groups, axis=1) - groups / 2
        return (ranks - counts.shape[1] / 2)[:, self._group]
