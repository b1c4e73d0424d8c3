"""Paired bootstraps: intervals and tests of mean differences, and of relative changes."""

import math
from collections.abc import Sequence
from itertools import chain
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Floats, Ints, exact_mean, exact_ratio, rounded, sum_by
from rankwell.stats import of_one_size, resampled_sums
from rankwell.stats.intervals import Deviations, Interval, percentile_interval

_PIECE = 512
"""Columns that are resampled at once: 40 MiB of sums."""


class Differences(NamedTuple):
    """Paired differences of queries, or their sums over clusters. Weighted differences are such
    sums too: weight times difference, with the weight as the size.

    sums: (n,) finite differences, or their sums.
    sizes: (n,) number of queries, or weight, of each sum; None for plain differences.
    largest: the largest difference that two values can have; infinite where there is none, and
        where sums are of clusters or weighted.
    """

    sums: Floats
    sizes: Floats | None = None
    largest: float = math.inf

    @property
    def mean(self) -> float:
        """The mean over queries."""
        return exact_ratio(self.sums, self.sizes)


class Bootstrapped(NamedTuple):
    """Figures of a bootstrap of paired differences; None below 10 queries or clusters.

    interval: interval of the mean difference.
    p: two-sided p-value; None where it was not requested.
    """

    interval: Interval | None = None
    p: float | None = None


def cluster_sums(differences: Floats, clusters: Ints, weights: Floats | None = None) -> Differences:
    """The differences added up by cluster; queries of one cluster (of a document, a user, a
    session) are drawn together.

    differences: (n,) finite. clusters: (n,) which cluster a query belongs to; the numbers order the
    sums. Clusters that have no query here are left out. weights: (n,) of the queries in the mean; 1
    for each where there are none.
    """
    _, cluster = np.unique(clusters, return_inverse=True)
    sizes = np.ones(len(differences)) if weights is None else weights
    return Differences(sum_by(cluster, differences * sizes, 0), sum_by(cluster, sizes, 0))


def paired_bootstrap(
    columns: Sequence[Differences],
    *,
    test: bool = False,
    studentised: bool = False,
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> list[Bootstrapped]:
    """Intervals of mean differences, and the p-value of the studentised bootstrap test where `test`
    asks for it.

    Intervals are between percentiles; `studentised`: at each end the wider of the studentised
    bootstrap's and Student's t, or Bonett and Price's where all differences are -`largest`, 0 or
    `largest`. Where all are the same it is their value.

    Columns of as many queries (or clusters) share the resamples. The figures have 10 significant
    digits and do not depend on the other columns. The test asks how often |t| of a resample about
    the observed mean is at least the observed |t|; the observed one counts as a resample.
    Source: Efron and Tibshirani 1993, 13.3 and 16.4; Sakai 2006; for clusters Davison and Hinkley
    1997, 3.8; Bonett and Price 2012, Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data.
    """
    outcomes = [Bootstrapped()] * len(columns)
    sizes = [len(column.sums) for column in columns]
    for batch in of_one_size(sizes, _PIECE // (2 if test and studentised else 1)):
        summands = [
            _summands(columns[index], test=test, studentised=studentised) for index in batch
        ]
        table, sums = list(chain(*summands)), np.empty((resamples, 0))
        if table:
            sums = resampled_sums(np.column_stack(table), resamples, seed=seed)
        ends = np.cumsum([len(column_summands) for column_summands in summands])
        for index, column_sums in zip(batch, np.split(sums, ends[:-1], axis=1), strict=True):
            column = columns[index]
            outcomes[index] = Bootstrapped(
                _interval(column, column_sums, level)
                if studentised
                else percentile_interval(_means(column, column_sums), level),
                _p(column, column_sums) if test else None,
            )
    return outcomes


def _summands(column: Differences, *, test: bool, studentised: bool) -> list[Floats]:
    """The columns summed over a resample: differences and sizes, for the test the products that
    make up its variance, and last those that are studentised; none where the interval needs no
    resamples.
    """
    sums, sizes, _ = column
    summands = [sums] if sizes is None else [sums, sizes]
    if test:
        summands += [sums * sums] if sizes is None else [sums * sums, sums * sizes, sizes * sizes]
    if not studentised:
        return summands
    deviations = Deviations.of(sums, sizes)
    if test:
        return [*summands, *deviations.columns()]
    # A studentised interval is made of the deviations alone.
    return [] if deviations.expands else deviations.columns()


def _interval(column: Differences, sums: Floats, level: float) -> Interval | None:
    """The interval that holds its level with few queries. sums: of `_summands`, the studentised
    last.
    """
    differences, sizes, largest = column
    if exact := _bonett_price(differences / largest, level) if math.isfinite(largest) else None:
        return rounded(exact[0] * largest), rounded(exact[1] * largest)
    if not differences.any() or (sizes is None and np.ptp(differences) == 0):
        return rounded(column.mean), rounded(column.mean)
    deviations, drawn = Deviations.of(differences, sizes), None
    if not deviations.expands:
        drawn = deviations.studentised(iter(sums[:, -len(deviations.columns()) :].T))
    bounds = deviations.interval(level, drawn)
    return bounds and (rounded(max(bounds[0], -largest)), rounded(min(bounds[1], largest)))


def _bonett_price(differences: Floats, level: float) -> Interval | None:
    """The interval of differences of 0/1 values; None where some are of other values, and where all
    are 0.
    """
    won, lost = (int(np.count_nonzero(differences == sign)) for sign in (1, -1))
    if won + lost == 0 or won + lost + np.count_nonzero(differences == 0) < len(differences):
        return None
    n, mean = len(differences) + 2, (won - lost) / (len(differences) + 2)
    reach = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(
        ((won + lost + 2) / n - mean * mean) / n
    )
    return max(mean - reach, -1.0), min(mean + reach, 1.0)


def _means(column: Differences, sums: Floats) -> Floats:
    return sums[:, 0] / (len(column.sums) if column.sizes is None else sums[:, 1])


def _p(column: Differences, sums: Floats) -> float:
    """The p-value of the studentised bootstrap test. sums: of `_summands`."""
    observed_sums = np.array(
        [[float(summand.sum()) for summand in _summands(column, test=True, studentised=False)]]
    )
    mean = np.array([column.mean])
    observed = _absolute_t(column, observed_sums, mean, 0.0)[0]
    resampled = _absolute_t(column, sums, _means(column, sums), mean[0])
    n_larger = int(np.count_nonzero(resampled >= observed * (1 - 1e-12)))
    return (1 + n_larger) / (1 + len(sums))


def _absolute_t(column: Differences, sums: Floats, means: Floats, centre: float) -> Floats:
    """|t| of the distance of each mean from a centre, up to a constant factor; 0 where the distance
    is 0.
    """
    if column.sizes is None:
        totals, products = len(column.sums), sums[:, 1]
        squares = products - totals * means * means
    else:
        totals, products = sums[:, 1], sums[:, 2]
        squares = products - 2 * means * sums[:, 3] + means * means * sums[:, 4]
    # The rounding error of a difference of equal numbers is not spread.
    squares[squares <= 1e-12 * products] = 0.0
    spread, distance = np.sqrt(squares) / totals, np.abs(means - centre)
    distance[distance <= 1e-15] = 0.0
    return np.divide(distance, spread, out=np.where(distance > 0, np.inf, 0.0), where=spread > 0)


class Change(NamedTuple):
    """The relative change from one mean to another, with its interval.

    value: mean of the second over mean of the first, less 1; None where the first's is not above 0.
    interval: interval of the value.
    n: number of queries that are counted in both.
    """

    value: float | None
    interval: Interval | None
    n: int


def relative_changes(
    pairs: Sequence[tuple[Floats, Floats]],
    *,
    bootstrap: bool = True,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Change]:
    """The change of each pair of columns (the first's values, the second's), over the queries that
    count in both.

    pairs: (queries,) each, NaN where a query is not counted. The interval is between percentiles of
    ratios of means, at 95 %, in which both means come of the same resampled queries; none below 10
    queries and where a resample's first mean is not above 0.
    Source: Efron and Tibshirani 1993, 13.3.
    """
    changes, counted_pairs = list[Change](), list[tuple[Floats, Floats]]()
    for first, second in pairs:
        counted = ~(np.isnan(first) | np.isnan(second))
        first, second = first[counted], second[counted]
        counted_pairs.append((first, second))
        mean = exact_mean(first) if len(first) else 0.0
        value = exact_mean(second) / mean - 1.0 if mean > 0 else None
        changes.append(Change(value, None, len(first)))
    sizes = [change.n if change.value is not None else 0 for change in changes]
    for batch in of_one_size(sizes, _PIECE) if bootstrap else ():
        # A column that several pairs share, as that of the first candidate, is added up once for
        # each.
        table = np.column_stack([column for index in batch for column in counted_pairs[index]])
        sums = resampled_sums(table, resamples, seed=seed)
        for index, first, second in zip(batch, sums.T[::2], sums.T[1::2], strict=True):
            ratios = np.divide(second, first, out=np.full(resamples, np.nan), where=first > 0) - 1.0
            changes[index] = changes[index]._replace(interval=percentile_interval(ratios, 0.95))
    return changes
