"""Paired bootstraps: intervals and tests of mean differences, and of relative changes."""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from rankwell.core.exact import exact_mean, exact_ratio
from rankwell.core.tables import Floats, Ints, rounded
from rankwell.stats import MIN_QUERIES, check_level, counted_in_both, resampled_sums
from rankwell.stats.intervals import Deviations, percentile_interval

_PIECE = 512
"""Columns that are resampled at once: 40 MiB of sums."""


class Differences(NamedTuple):
    """Paired differences, (n,) finite; or their sums over clusters with sizes: (n,) how many
    queries each cluster has.

    Weighted differences are such sums too: weight times difference, with the weight as the size.
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
    """interval: of the mean difference. p: two-sided. None below 10 queries or clusters, and p
    where it was not requested.
    """

    interval: tuple[float, float] | None
    p: float | None


def cluster_sums(differences: Floats, clusters: Ints, weights: Floats | None = None) -> Differences:
    """The differences added up by cluster; queries of one cluster (of a document, a user, a
    session) are drawn together.

    differences: (n,) finite. clusters: (n,) which cluster a query belongs to; the numbers order the
    sums. Clusters that
    have no query here are left out. weights: (n,) of the queries in the mean; 1 for each where
    there are none.
    """
    _, place = np.unique(clusters, return_inverse=True)
    sizes = np.ones(len(differences)) if weights is None else weights
    sums, totals = (
        np.bincount(place, weights=each).astype(np.float64) for each in (differences * sizes, sizes)
    )
    return Differences(sums, totals)


def paired_bootstrap(
    columns: Sequence[Differences],
    *,
    test: bool = False,
    studentised: bool = False,
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    block: int | None = None,
) -> list[Bootstrapped]:
    """Intervals of mean differences, and the p-value of the studentised bootstrap test where `test`
    asks for it.

    Intervals are between percentiles; `studentised`: at each end the wider of the studentised
    bootstrap's and Student's t, or Bonett and Price's where all differences are -`largest`, 0 or
    `largest`. Where all are the same it is their value.

    Columns of as many queries (or clusters) share the resamples. The figures have 10 significant
    digits and depend neither on the other columns nor on `block`, the resamples worked on at once.
    The test asks how often |t| of a resample about the observed mean is at least the observed |t|;
    the observed one counts as a resample.
    Raises BadUsage for a level outside (0, 1). Source: Efron and Tibshirani 1993, 13.3 and 16.4;
    Sakai 2006; for clusters Davison and Hinkley 1997, 3.8; Bonett and Price 2012, Adjusted Wald
    confidence interval for a difference of binomial proportions based on paired data.
    """
    check_level(level)
    found = [Bootstrapped(None, None)] * len(columns)
    for places in _pieces(
        [len(each.sums) for each in columns], _PIECE // (2 if test and studentised else 1)
    ):
        parts = [_parts(columns[place], test=test, studentised=studentised) for place in places]
        columns_drawn = [part for each in parts for part in each]
        none = np.empty((resamples, 0))
        sums = (
            resampled_sums(np.column_stack(columns_drawn), resamples, seed=seed, block=block)
            if columns_drawn
            else none
        )
        at = 0
        for place, part in zip(places, parts, strict=True):
            own = sums[:, at : at + len(part)]
            at += len(part)
            found[place] = _outcome(columns[place], own, level, test=test, studentised=studentised)
    return found


def _pieces(sizes: Sequence[int], most: int) -> Iterator[list[int]]:
    """The places of columns that share their resamples, so many at once that memory does not grow
    with the number of pairs.
    """
    for n in sorted({size for size in sizes if size >= MIN_QUERIES}):
        places = [place for place, size in enumerate(sizes) if size == n]
        yield from (places[start : start + most] for start in range(0, len(places), most))


def _parts(column: Differences, *, test: bool, studentised: bool = False) -> list[Floats]:
    """The columns summed over a resample: differences and sizes, for the test the products that
    make up its variance, and last those that are studentised; none where the interval needs no
    resamples.
    """
    sums, sizes, _ = column
    deviations = Deviations.of(sums, sizes) if studentised else None
    if not test and deviations is not None and deviations.expands:
        return []
    # A studentised interval is made of the deviations alone.
    parts = (
        [] if deviations is not None and not test else [sums] if sizes is None else [sums, sizes]
    )
    if test:
        parts += [sums * sums] if sizes is None else [sums * sums, sums * sizes, sizes * sizes]
    return parts if deviations is None else [*parts, *deviations.columns()]


def _interval(column: Differences, sums: Floats, level: float) -> tuple[float, float] | None:
    """The interval that holds its level with few queries. sums: of `_parts`, the studentised
    last.
    """
    differences, sizes, largest = column
    exact = (
        _bonett_price(differences / largest, level)
        if sizes is None and math.isfinite(largest)
        else None
    )
    if exact is not None:
        return rounded(exact[0] * largest), rounded(exact[1] * largest)
    if not differences.any() or (sizes is None and np.ptp(differences) == 0):
        return rounded(column.mean), rounded(column.mean)
    deviations = Deviations.of(differences, sizes)
    drawn = (
        None
        if deviations.expands
        else deviations.studentised(iter(sums[:, -len(deviations.columns()) :].T))
    )
    found = deviations.interval(level, drawn)
    return (
        None
        if found is None
        else (rounded(max(found[0], -largest)), rounded(min(found[1], largest)))
    )


def _bonett_price(differences: Floats, level: float) -> tuple[float, float] | None:
    """The interval of differences of 0/1 values; None where some are of other values, and where all
    are 0.
    """
    won, lost = (int(np.count_nonzero(differences == each)) for each in (1, -1))
    if won + lost == 0 or won + lost + np.count_nonzero(differences == 0) < len(differences):
        return None
    n, mean = len(differences) + 2, (won - lost) / (len(differences) + 2)
    reach = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(
        ((won + lost + 2) / n - mean * mean) / n
    )
    return max(mean - reach, -1.0), min(mean + reach, 1.0)


def _outcome(
    column: Differences, sums: Floats, level: float, *, test: bool, studentised: bool
) -> Bootstrapped:
    if studentised and not test:
        return Bootstrapped(_interval(column, sums, level), None)
    n = len(column.sums)
    totals = np.full(len(sums), float(n)) if column.sizes is None else sums[:, 1]
    means = sums[:, 0] / totals
    interval = _interval(column, sums, level) if studentised else percentile_interval(means, level)
    if not test:
        return Bootstrapped(interval, None)
    spread = _spread(sums[:, 1:2] if column.sizes is None else sums[:, 2:5], means, totals)
    whole = np.array([[float(part.sum()) for part in _parts(column, test=True)]])
    mean = np.array([column.mean])
    size = np.array([n if column.sizes is None else float(column.sizes.sum())])
    observed = _t(
        mean, _spread(whole[:, 1:] if column.sizes is None else whole[:, 2:], mean, size)
    )[0]
    moved = _t(means - mean, spread)
    beyond = int(np.count_nonzero(moved >= observed * (1 - 1e-12)))
    return Bootstrapped(interval, (1 + beyond) / (1 + len(sums)))


def _spread(products: Floats, means: Floats, totals: Floats) -> Floats:
    """(resamples,) the standard error of each mean, up to a constant factor."""
    if products.shape[1] == 1:
        squares = products[:, 0] - totals * means * means
    else:
        squares = products[:, 0] - 2 * means * products[:, 1] + means * means * products[:, 2]
    # The rounding error of a difference of equal numbers is not spread.
    squares[squares <= 1e-12 * products[:, 0]] = 0.0
    return np.sqrt(squares) / totals


def _t(off: Floats, spread: Floats) -> Floats:
    """(resamples,) |off| / spread; 0 where nothing is off."""
    size = np.abs(off)
    size[size <= 1e-15] = 0.0
    return np.divide(size, spread, out=np.where(size > 0, np.inf, 0.0), where=spread > 0)


class Change(NamedTuple):
    """value: mean of the other over mean of the first, less 1; None where the first's is not above
    0. interval: of the value.

    n: queries that count in both.
    """

    value: float | None
    interval: tuple[float, float] | None
    n: int


def relative_changes(
    pairs: Sequence[tuple[Floats, Floats]],
    *,
    bootstrap: bool = True,
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    block: int | None = None,
) -> list[Change]:
    """The change of each pair of columns (the first's values, the other's), over the queries that
    count in both.

    pairs: (queries,) each, NaN where a query is not counted. The interval is between percentiles of
    ratios of means, in which both means come of the same resampled queries; none below 10 queries
    and where a resample's first mean is not above 0.
    Raises BadInput where the columns of a pair differ in length, BadUsage for a level outside (0,
    1).
    Source: Efron and Tibshirani 1993, 13.3.
    """
    check_level(level)
    kept = [counted_in_both(first, other, "a relative change") for first, other in pairs]
    found = [Change(_ratio(first, other), None, len(first)) for first, other in kept]
    sizes = [each.n if each.value is not None else 0 for each in found]
    for places in _pieces(sizes, _PIECE) if bootstrap else ():
        # A column that several pairs share, as that of the first candidate, is added up once for
        # each.
        table = np.column_stack([column for place in places for column in kept[place]])
        sums = resampled_sums(table, resamples, seed=seed, block=block)
        for at, place in enumerate(places):
            first, other = sums[:, 2 * at], sums[:, 2 * at + 1]
            ratios = np.divide(other, first, out=np.full(resamples, np.nan), where=first > 0) - 1.0
            found[place] = found[place]._replace(interval=percentile_interval(ratios, level))
    return found


def _ratio(first: Floats, other: Floats) -> float | None:
    mean = exact_mean(first) if len(first) else 0.0
    return exact_mean(other) / mean - 1.0 if mean > 0 else None
