"""Tests of paired differences: Student's t, also for clusters of queries, the sign test,
Wilcoxon's signed ranks, and the randomisation test: would the difference be as large if each
query's two values had been swapped at random?
"""

import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.data.tables import Bools, Floats, Ints, exact_mean, exact_ratio, exact_sum
from rankwell.errors import BadUsage
from rankwell.stats import check_level, counted_in_both, midranks, on_exact_grid
from rankwell.stats.intervals import binomial_p, student_p, student_quantile


class PairedT(NamedTuple):
    """t: mean over its standard error. p: two-sided. error: the standard error. freedom: degrees of
    freedom, clusters less 1.
    """

    t: float
    p: float
    error: float
    freedom: int

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval of the mean. Raises BadUsage for a level outside (0, 1)."""
        check_level(level)
        reach = student_quantile(level, self.freedom) * self.error
        mean = 0.0 if self.t == 0 else self.t * self.error
        return mean - reach, mean + reach


def paired_t(sums: Floats, sizes: Floats | None = None) -> PairedT | None:
    """Student's test of the mean of differences; None for fewer than two of them, and where all are
    the same but 0.

    sums: (n,) the differences, or the sum of those of each cluster, with sizes: (n,) how many each
    cluster has; the mean is
    then Σ sums / Σ sizes and its error that of a ratio, by linearisation. Where every difference is
    0, p is 1.
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
    """Numbers of differences above, at and below 0, and the two-sided p-value."""

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


Zeros = Literal["drop", "pratt"]
Mode = Literal["auto", "exact", "approximate"]
_EXACT_TO = 50


class Wilcoxon(NamedTuple):
    """positive, negative: the sums of the ranks of differences above and below 0. p: two-sided.
    exact: whether p is.
    """

    positive: float
    negative: float
    p: float
    exact: bool


def wilcoxon(
    differences: Floats, *, zeros: Zeros = "drop", mode: Mode = "auto", continuity: bool = False
) -> Wilcoxon:
    """The test of differences; equal sizes share the mean of their ranks. p is 1 where every
    difference is 0, or there is none.

    differences: (n,) finite. zeros: `drop` leaves out differences of 0 before ranking, `pratt`
    after it.
    mode: `exact` counts, over all signs, the sums of these very ranks, so that it holds with ties
    too; `approximate` is a normal distribution with the variance that accounts for ties, moved by a
    half with `continuity`; `auto` is exact to 50 differences. Source: Wilcoxon 1945; Pratt 1959;
    for ties Hollander and Wolfe 1999, 3.1.
    """
    sample = differences if zeros == "pratt" else differences[differences != 0]
    ranks = midranks(np.abs(sample))
    ranked = ranks[sample != 0]
    positive, negative = float(ranks[sample > 0].sum()), float(ranks[sample < 0].sum())
    exact = mode == "exact" or (mode == "auto" and len(ranked) <= _EXACT_TO)
    if not len(ranked):
        return Wilcoxon(0.0, 0.0, 1.0, exact)
    if exact:
        return Wilcoxon(positive, negative, _exact_p(ranked, min(positive, negative)), exact)
    # The variance of the sum is a quarter of the sum of squared ranks: with shared ranks this is
    # the correction for ties.
    error = math.sqrt(float((ranked * ranked).sum()) / 4)
    distance = abs(positive - negative) / 2
    if continuity:
        distance = max(distance - 0.5, 0.0)
    return Wilcoxon(positive, negative, math.erfc(distance / error / math.sqrt(2)), exact)


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


Method = Literal["binomial", "enumerated", "drawn"]
# Signs that are worked on at once: a product prepares its second factor anew for every block.
_BUFFER = 1 << 22
_SUMS = 1 << 20  # sums at once, so that memory does not grow with the number of pairs


class PairedTest(NamedTuple):
    """difference: mean of the second less that of the first, None without queries. p: two-sided,
    None likewise.

    n: queries that count in both. method: `binomial` and `enumerated` are exact, over all 2ⁿ ways
    to swap; `drawn` over some.
    """

    difference: float | None
    p: float | None
    n: int
    method: Method


def paired_randomisation(
    pairs: Sequence[tuple[Floats, Floats]], *, resamples: int = 100_000, seed: int = 0
) -> list[PairedTest]:
    """The test of each pair of columns (the first's values, the second's), over the queries that
    count in both.

    pairs: (queries,) each, NaN where a query is not counted. p is the share of all ways to swap a
    query's values in which the means differ at least as much as they do, in either direction. Exact
    where the differences that are not 0 have one size,
    as for shares of 0 and 1 (it is McNemar's exact test then), and where there are no more
    assignments than `resamples`. Else
    (1 + those that differ as much) / (1 + resamples), with the same swaps for all pairs with the
    same number of queries. Differences that are equal up to rounding count as equal. Raises
    BadInput where the columns of a pair differ in length, BadUsage for less than one resample.
    Sources: Fisher 1935, The design of experiments, section 21; Smucker, Allan and Carterette 2007;
    for the ones that are added, Phipson and Smyth 2010.
    """
    _check_resamples(resamples)
    differences = [
        second - first
        for first, second in (counted_in_both(*pair, "a paired test") for pair in pairs)
    ]
    tests = [_exact(column, resamples) for column in differences]
    undecided = [index for index, test in enumerate(tests) if test is None]
    for n in sorted({len(differences[index]) for index in undecided}):
        indices = [index for index in undecided if len(differences[index]) == n]
        table = np.column_stack([differences[index] for index in indices])
        extreme, thresholds = np.zeros(len(indices), dtype=np.int64), _thresholds(table)
        for sums in flipped_sums(table, resamples=resamples, seed=seed):
            extreme += np.count_nonzero(np.abs(sums) >= thresholds, axis=0)
        for index, count in zip(indices, extreme.tolist(), strict=True):
            tests[index] = PairedTest(
                exact_mean(differences[index]), (1 + count) / (1 + resamples), n, "drawn"
            )
    return [test for test in tests if test is not None]


def _check_resamples(resamples: int) -> None:
    if resamples < 1:
        raise BadUsage(f"{resamples} resamples; expected at least 1 (100000 is usual).")


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
    """Columns as integers in float32, digit beside digit, so small that no sum of them is rounded
    in whatever order.

    Products in single precision take half the time, and more columns little. table: (n, digits ·
    columns), the highest digits first. width: bits of a digit. exponents: (columns,) of the lowest.
    lost: (columns,) the sum of what was rounded off.
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
    Exact where there are no more ways than `resamples`. Raises BadUsage for less than one resample.
    Source: Westfall and Young 1993, Resampling-based multiple testing, algorithm 4.1; Ge, Dudoit
    and Speed 2003, box 2.
    """
    _check_resamples(resamples)
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
    values: (queries, systems) finite, higher is better. Raises BadUsage for less than one resample.
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


def _exact(differences: Floats, resamples: int) -> PairedTest | None:
    """The test over all ways to swap, None where there are too many of them. Queries without a
    difference change nothing.
    """
    n = len(differences)
    if n == 0:
        return PairedTest(None, None, 0, "binomial")
    mean, moved = exact_mean(differences), differences[differences != 0]
    sizes = np.abs(moved)
    if not len(moved) or float(sizes.max() - sizes.min()) <= n * 2.0**-52 * float(sizes.max()):
        return PairedTest(
            mean, binomial_p(len(moved), int(np.count_nonzero(moved > 0))), n, "binomial"
        )
    if 1 << len(moved) > resamples:
        return None
    column = moved[:, None]
    thresholds = _thresholds(column)
    extreme = sum(int(np.count_nonzero(np.abs(sums) >= thresholds)) for sums in _all_sums(column))
    return PairedTest(mean, extreme / (1 << len(moved)), n, "enumerated")
