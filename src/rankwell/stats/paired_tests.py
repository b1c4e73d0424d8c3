"""Tests of paired differences: Student's t, also for clusters of queries, the sign test, Wilcoxon's
signed ranks, and the randomisation test: would the difference be as large if each query's two
values had been swapped at random? And the size of an effect, and the smallest difference that a
paired t-test would find.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.data.tables import Bools, Floats, Ints, exact_mean, exact_ratio, exact_sd, exact_sum
from rankwell.errors import BadUsage
from rankwell.stats import check_level, midranks, on_exact_grid
from rankwell.stats.intervals import Interval, binomial_p, student_p, student_quantile


class PairedT(NamedTuple):
    """The paired t test of differences, or of their sums over clusters.

    t: the mean over its standard error.
    p: two-sided p-value.
    error: standard error of the mean.
    freedom: degrees of freedom, the number of queries or clusters less 1.
    """

    t: float
    p: float
    error: float
    freedom: int

    def interval(self, level: float = 0.95) -> Interval:
        """The interval of the mean."""
        reach = student_quantile(level, self.freedom) * self.error
        mean = 0.0 if self.t == 0 else self.t * self.error
        return mean - reach, mean + reach


def paired_t(sums: Floats, sizes: Floats | None = None) -> PairedT | None:
    """Student's test of the mean of differences; None for fewer than two of them, and where all are
    the same but 0.

    sums: (n,) the differences, or the sum of those of each cluster, with sizes: (n,) how many each
    cluster has; the mean is then Σ sums / Σ sizes and its error that of a ratio, by linearisation.
    Where every difference is 0, p is 1.
    Source: Student 1908; for clusters Cochran 1977, Sampling Techniques, 6.4.
    """
    n = len(sums)
    if n < 2:
        return None
    total = n if sizes is None else exact_sum(sizes)
    mean = exact_ratio(sums, sizes)
    off = sums - mean * (1.0 if sizes is None else sizes)
    error = math.sqrt(n / (n - 1) * float((off * off).sum())) / total
    if not sums.any():
        return PairedT(0.0, 1.0, 0.0, n - 1)
    if error <= 1e-12 * abs(mean):
        return None
    return PairedT(mean / error, student_p(mean / error, n - 1), error, n - 1)


class Sign(NamedTuple):
    """The sign test of paired differences.

    wins: number of differences above 0.
    ties: number of differences of 0, which the test leaves out.
    losses: number of differences below 0.
    p: two-sided p-value by the binomial distribution.
    """

    wins: int
    ties: int
    losses: int
    p: float


def sign_test(differences: Floats) -> Sign:
    """The exact binomial test of wins against losses; differences of 0 are left out. p is 1 where
    there is no other.

    differences: (n,) finite. Source: Conover 1999, Practical Nonparametric Statistics, 3.4.
    """
    wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    return Sign(wins, len(differences) - wins - losses, losses, binomial_p(wins + losses, wins))


_EXACT_TO = 50


def wilcoxon(differences: Floats) -> float:
    """The two-sided p-value of the test of signed ranks; equal sizes share the mean of their ranks,
    and differences of 0 are left out. 1 where there is no other.

    differences: (n,) finite. To 50 differences it counts, over all signs, the sums of these very
    ranks, so that it holds with ties too; above it is that of a normal distribution with the
    variance that accounts for ties. Source: Wilcoxon 1945; for ties Hollander and Wolfe 1999, 3.1.
    """
    moved = differences[differences != 0]
    if not len(moved):
        return 1.0
    ranks = midranks(np.abs(moved))
    positive, negative = float(ranks[moved > 0].sum()), float(ranks[moved < 0].sum())
    if len(moved) <= _EXACT_TO:
        return _exact_p(ranks, min(positive, negative))
    # The variance of the sum is a quarter of the sum of squared ranks: with shared ranks this is
    # the correction for ties.
    error = math.sqrt(float((ranks * ranks).sum()) / 4)
    return math.erfc(abs(positive - negative) / 2 / error / math.sqrt(2))


def _exact_p(ranks: Floats, smaller: float) -> float:
    """Twice the share of sign patterns whose sum of positive ranks is at most so large; means of
    two ranks are doubled first.
    """
    steps = np.rint(2 * ranks).astype(np.int64)
    shares = np.zeros(int(steps.sum()) + 1)
    shares[0] = 1.0
    for step in steps.tolist():
        shares[step:] = shares[step:] + shares[: len(shares) - step]
        shares /= 2
    return min(1.0, 2 * float(shares[: round(2 * smaller) + 1].sum()))


# Signs that are worked on at once: a product prepares its second factor anew for every block.
_BUFFER = 1 << 22
_SUMS = 1 << 20  # sums at once, so that memory does not grow with the number of pairs


def paired_randomisation(
    columns: Sequence[Floats], *, resamples: int = 100_000, seed: int = 0
) -> list[float | None]:
    """The two-sided p-value of each column of differences, (n,) finite; None of no differences.

    p is the share of all ways to swap a query's two values in which the means differ at least as
    much as they do, in either direction. Exact where the differences that are not 0 have one size,
    as for shares of 0 and 1 (it is McNemar's exact test then), and where there are no more
    assignments than `resamples`. Else (1 + those that differ as much) / (1 + resamples), with the
    same swaps for all columns with the same number of queries. Differences that are equal up to
    rounding count as equal.
    Sources: Fisher 1935, The design of experiments, section 21; Smucker, Allan and Carterette 2007;
    for the ones that are added, Phipson and Smyth 2010.
    """
    p_values: list[float | None] = [None] * len(columns)
    undecided: dict[int, list[int]] = {}
    for index, differences in enumerate(columns):
        n, moved = len(differences), differences[differences != 0]
        sizes = np.abs(moved)
        if not n:
            continue
        if not len(moved) or float(np.ptp(sizes)) <= n * 2.0**-52 * float(sizes.max()):
            p_values[index] = binomial_p(len(moved), int(np.count_nonzero(moved > 0)))
        elif 1 << len(moved) <= resamples:
            # Queries without a difference change nothing.
            (n_extreme,) = _n_extreme(moved[:, None], _all_sums(moved[:, None]))
            p_values[index] = n_extreme / (1 << len(moved))
        else:
            undecided.setdefault(n, []).append(index)
    for indices in undecided.values():
        table = np.column_stack([columns[index] for index in indices])
        numbers = _n_extreme(table, flipped_sums(table, resamples=resamples, seed=seed))
        for index, n_extreme in zip(indices, numbers, strict=True):
            p_values[index] = (1 + n_extreme) / (1 + resamples)
    return p_values


def _n_extreme(table: Floats, sums_by_block: Iterable[Floats]) -> list[int]:
    """The number of sums of each column that are as far from 0 as the observed one."""
    thresholds, numbers = _thresholds(table), np.zeros(table.shape[1], dtype=np.int64)
    for sums in sums_by_block:
        numbers += np.count_nonzero(np.abs(sums) >= thresholds, axis=0)
    return numbers.tolist()


def flipped_sums(differences: Floats, *, resamples: int, seed: int) -> Iterator[Floats]:
    """Sums of each column with the signs of rows flipped at random, a block of resamples at a time:
    (block, columns).

    differences: (n, columns) finite. One draw of signs serves all columns, so that what they have
    in common is kept (Westfall and Young 1993 need that for the largest of them). The signs depend
    on n and the seed (PCG64) alone, the sums on nothing else.
    """
    n = len(differences)
    digits = _Digits.of(differences)
    words = -(-n // 64)
    generator = np.random.PCG64(seed)
    rows = max(1, min(resamples, _BUFFER // n, _SUMS // differences.shape[1]))
    plus = np.empty((rows, n), dtype=np.float32)
    for first in range(0, resamples, rows):
        size = min(rows, resamples - first)
        raw = (
            generator.random_raw(size * words).astype("<u8").view(np.uint8).reshape(size, words * 8)
        )
        plus[:size] = np.unpackbits(raw, axis=1, count=n, bitorder="little")
        # Σ ± difference is twice the sum of those with a plus, less the sum of all.
        yield 2 * digits.join(plus[:size] @ digits.table) - digits.join(
            digits.table.sum(axis=0, dtype=np.float64)
        )


class _Digits(NamedTuple):
    """Columns as integers in float32, digit beside digit. They are so small that no sum of them is
    rounded, whatever its order.

    Products in single precision take half the time, and the additional columns take little.

    table: (n, digits · columns), the highest digits first.
    width: number of bits in a digit.
    exponents: (columns,) exponent of the lowest digit.
    lost: (columns,) the sum of the parts that were rounded off.
    """

    table: NDArray[np.float32]
    width: int
    exponents: Ints
    lost: Floats

    @classmethod
    def of(cls, columns: Floats) -> "_Digits":
        """22 bits of the largest value at least: n times that is far below what any number of
        resamples shows.
        """
        n = len(columns)
        width = min(20, max(1, ((1 << 24) // n).bit_length() - 1))
        count = max(2, -(-22 // width))
        exponents = (
            np.frexp(np.abs(columns).max(axis=0, initial=0.0))[1].astype(np.int64) - count * width
        )
        integers = np.rint(np.ldexp(columns, -exponents))
        lost = np.abs(columns - np.ldexp(integers, exponents)).sum(axis=0)
        parts: list[Floats] = []
        for digit in reversed(range(count)):
            parts.append(np.rint(np.ldexp(integers, -digit * width)))
            integers = integers - np.ldexp(parts[-1], digit * width)
        return cls(np.hstack(parts).astype(np.float32), width, exponents, lost)

    def join(self, sums: np.ndarray) -> Floats:
        """The sums of the columns from the sums of their digits."""
        parts = np.split(sums.astype(np.float64), sums.shape[-1] // len(self.exponents), axis=-1)
        total = np.zeros_like(parts[0])
        for part in parts:
            total = np.ldexp(total, self.width) + part
        return np.ldexp(total, self.exponents)


def max_t(differences: Floats, *, resamples: int = 100_000, seed: int = 0) -> Floats:
    """P-values that hold for all columns at once: the step-down test of the largest |t| under
    shared sign flips.

    As `paired_randomisation`, but a column is held against the largest of all columns that are not
    beyond it, so that the chance of any false finding stays at the level while what columns have in
    common is made use of. NaN for a column without queries. differences: (queries, columns) NaN
    where a query is not counted in a column; signs belong to queries.
    Exact where there are no more ways than `resamples`.
    Source: Westfall and Young 1993, Resampling-based multiple testing, algorithm 4.1; Ge, Dudoit
    and Speed 2003, box 2.
    """
    p_values = np.where(np.isnan(differences).all(axis=0), np.nan, 1.0)
    table = np.nan_to_num(differences)
    moving = table.any(axis=0)
    table = table[table.any(axis=1)][:, moving]
    if not table.size:
        return p_values
    # Flips leave the sum of squares as it is, so that a sum over its root orders resamples as t
    # does.
    scale = np.sqrt((table * table).sum(axis=0))
    observed = _thresholds(table) / scale
    order = np.argsort(-observed, kind="stable")
    is_exact = 1 << len(table) <= resamples
    sums_by_block = (
        _all_sums(table) if is_exact else flipped_sums(table, resamples=resamples, seed=seed)
    )
    n_larger = np.zeros(len(order), dtype=np.int64)
    for sums in sums_by_block:
        t = (np.abs(sums) / scale)[:, order]
        largest = np.maximum.accumulate(t[:, ::-1], axis=1)[:, ::-1]
        n_larger += np.count_nonzero(largest >= observed[order], axis=0)
    p = n_larger / (1 << len(table)) if is_exact else (1 + n_larger) / (1 + resamples)
    steps = np.empty(len(order))
    steps[order] = np.maximum.accumulate(p)
    p_values[moving] = steps
    return p_values


def set_of_best(values: Floats, *, resamples: int = 10_000, seed: int = 0) -> Bools:
    """Whether no other system is significantly better, by `max_t` over all pairs of systems.

    Where all systems are equal, the chance that any of them is left out is at most 5 %.
    values: (queries, systems) finite, higher is better.
    Source: Hansen, Lunde and Nason 2011, The model confidence set; Westfall and Young 1993 for the
    correction.
    """
    systems = values.shape[1]
    first, second = np.triu_indices(systems, 1)
    differences = values[:, second] - values[:, first]
    beaten = np.zeros(systems, dtype=np.bool_)
    significant = max_t(differences, resamples=resamples, seed=seed) <= 1 - 0.95 + 1e-12
    sums = on_exact_grid(differences).sum(axis=0)
    beaten[first[significant & (sums > 0)]] = True
    beaten[second[significant & (sums < 0)]] = True
    return ~beaten


def _all_sums(table: Floats) -> Iterator[Floats]:
    """Σ ± difference under all ways to flip signs. On the exact grid no order of adding can change
    a sum.
    """
    n, exact = np.arange(len(table), dtype=np.uint64), on_exact_grid(table)
    size = min(1 << 16, max(1, _SUMS // table.shape[1]))
    for first in range(0, 1 << len(table), size):
        signs = np.arange(first, min(1 << len(table), first + size), dtype=np.uint64)[:, None]
        yield 2 * (((signs >> n) & np.uint64(1)).astype(np.float64) @ exact) - exact.sum(axis=0)


def _thresholds(table: Floats) -> Floats:
    """The least absolute sum of each column that is as far from 0 as the observed one, up to
    rounding.
    """
    slack = (
        len(table) ** 2 * 2.0**-52 * np.abs(table).max(axis=0, initial=0.0)
        + 2 * _Digits.of(table).lost
    )
    return np.abs(on_exact_grid(table).sum(axis=0)) - slack


_MOST = 10**9
_STEEP = 40
"""In so many steps of 1 standard error nodes are close enough; above, the fall of the conditional
power is integrated apart.
"""


def minimal_detectable_difference(
    sd: float, n: int, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """The true mean difference that a two-sided paired t-test at level alpha finds with this power;
    None below 2 queries.

    sd: of the differences, n: how many. Raises BadUsage for alpha or a power outside (0, 1), and
    for a power not above alpha. Source: Cohen 1988, chapter 2; Sakai 2018, Laboratory Experiments
    in Information Retrieval, 6.
    """
    _check(alpha, power)
    return None if n < 2 else _noncentrality(n - 1, alpha, power) * sd / math.sqrt(n)


def queries_needed(
    difference: float, sd: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """The smallest number of queries with which a true difference of this size is found with this
    power, at least 2.

    None where the difference is 0, or where it would take more than a thousand million. Errors and
    source as for `minimal_detectable_difference`.
    """
    _check(alpha, power)
    if difference == 0:
        return None
    effect = abs(difference) / sd if sd else math.inf

    def _is_enough(n: int) -> bool:
        return _power(effect * math.sqrt(n), n - 1, alpha) >= power

    # The normal distribution gives a number that is a few too small, and every step costs an
    # integral.
    distance = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)
    root_n = distance / effect if effect else math.inf
    start = max(2, math.ceil(root_n * root_n) - 2) if root_n < math.sqrt(_MOST) else _MOST
    for last in (min(start + 16, _MOST), _MOST):
        n = start + bisect_left(range(start, last + 1), True, key=_is_enough)
        if n <= last:
            return n
    return None


def _check(alpha: float, power: float) -> None:
    check_level(1 - alpha)
    if not alpha < power < 1:
        raise BadUsage(
            f"the power is {power}; expected a number between the level {alpha:g} and 1, such "
            "as 0.8."
        )


@lru_cache(maxsize=4096)
def _noncentrality(freedom: int, alpha: float, power: float) -> float:
    """The true mean, in standard errors, at which the test has this power."""
    low, high = 0.0, 1.0
    while _power(high, freedom, alpha) < power:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(middle, freedom, alpha) >= power else (middle, high)
    return (low + high) / 2


def _power(noncentrality: float, freedom: int, alpha: float) -> float:
    """The probability that |t| exceeds its quantile where the true mean is so many standard errors
    from 0.
    """
    if math.isinf(noncentrality):
        return 1.0
    # SciPy's own noncentral t, `nctdtr`, is NaN for some of these numbers, as for 5 degrees of
    # freedom and a mean of 10.
    beyond, root = student_quantile(1 - alpha, freedom), math.sqrt(2)
    reach = 9 / math.sqrt(2 * freedom)
    edges = [max(0.0, 1 - reach), 1 + reach]
    if beyond * (edges[1] - edges[0]) > _STEEP:
        edges[1:1] = [
            edge
            for edge in ((noncentrality - 9) / beyond, (noncentrality + 9) / beyond)
            if edges[0] < edge < edges[1]
        ]
    return math.fsum(
        weight
        * (
            math.erfc((beyond * s - noncentrality) / root)
            + math.erfc((beyond * s + noncentrality) / root)
        )
        / 2
        for low, high in pairwise(edges)
        for s, weight in zip(*_spread(freedom, low, high), strict=True)
    )


@lru_cache(maxsize=256)
def _spread(freedom: int, low: float, high: float) -> tuple[list[float], list[float]]:
    """Nodes and weights that integrate over a sample's standard deviation, from low to high, in
    units of the true one.
    """
    nodes, weights = _nodes()
    sds = (low + high) / 2 + (high - low) / 2 * nodes
    constant = math.log(2) + freedom / 2 * math.log(freedom / 2) - math.lgamma(freedom / 2)
    density = np.exp(constant + (freedom - 1) * np.log(sds) - freedom / 2 * sds**2)
    scaled = (high - low) / 2 * weights * density
    return sds.tolist(), scaled.tolist()


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(120)


def cohen_dz(differences: Floats) -> float | None:
    """The mean of paired differences over their standard deviation; None for fewer than two, and
    where all are the same.

    differences: (n,) finite. Source: Cohen 1988, Statistical Power Analysis, 2.3.5.
    """
    if len(differences) < 2 or differences.min() == differences.max():
        return None
    return exact_mean(differences) / exact_sd(differences)
