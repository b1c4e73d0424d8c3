"""Statistics over queries: the figure of a collection from one value per query, with its
interval.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from rankwell._native.resamples import MANY, over_resamples, sums_over_resamples
from rankwell.data.findings import Finding, FindingKind
from rankwell.data.findings.kinds import (
    close_values,
    equal_values,
    few_queries,
    long_tail,
    no_deviation,
    no_t_interval,
    small_sample,
)
from rankwell.data.tables import (
    Floats,
    Ints,
    Summary,
    Unit,
    Values,
    exact_mean,
    exact_ratio,
    exact_sd,
    exact_sum,
    rounded,
)
from rankwell.errors import BadUsage, first_of
from rankwell.stats.intervals import (
    RANGES,
    Deviations,
    Interval,
    clopper_pearson,
    percentile_interval,
    skew_of,
    student_quantile,
    unseen_share,
)

Intervals = Literal["bootstrap-t", "bootstrap", "t", "none"]

MIN_QUERIES = 10
"""Below this many counted queries an interval would look exact and mean nothing, so there is none.
"""
FEW_QUERIES = 20
"""Below this many an interval of values other than 0 and 1 covers less than its level in some
worlds (docs/understand/intervals.md).
"""
SUMMARY_COLUMNS = ("run", "measure", "label", "mean", "sd", "ci_low", "ci_high", "n", "unit")
_LEVEL = 0.95
_FLOOR = 1e-5
_TOGETHER = 256
"""Rows whose intervals are resampled at a time."""
_MEDIANS = ("median", "median_low", "median_floor")
_MEDIANS_TOGETHER = 32


class SummaryRow(dict[str, Any]):
    """The figures of one run and measure over all counted queries. Columns are keys. The columns of
    every task, `SUMMARY_COLUMNS`, come first and are attributes as well.
    """

    @classmethod
    def of(cls, *cells: str | float | None) -> "SummaryRow":
        """The row with these cells, in the order of `SUMMARY_COLUMNS`."""
        return cls(zip(SUMMARY_COLUMNS, cells, strict=True))

    @property
    def run(self) -> str:
        """The name of the run."""
        return self["run"]

    @property
    def measure(self) -> str:
        """The exact name of the measure, with its parameters."""
        return self["measure"]

    @property
    def label(self) -> str:
        """The convention's word for the measure."""
        return self["label"]

    @property
    def mean(self) -> float | None:
        """The measure's own summary over all counted queries, None where it is undefined."""
        return self["mean"]

    @property
    def sd(self) -> float | None:
        """The standard deviation of single queries' values, None where it is undefined."""
        return self["sd"]

    @property
    def ci_low(self) -> float | None:
        """The lower end of the interval of `mean`, None where there is none."""
        return self["ci_low"]

    @property
    def ci_high(self) -> float | None:
        """The upper end of the interval of `mean`, None where there is none."""
        return self["ci_high"]

    @property
    def n(self) -> int:
        """Number of counted queries."""
        return self["n"]

    @property
    def unit(self) -> str:
        """The unit of `mean`, `sd` and the interval, such as `share` or `percent`."""
        return self["unit"]


def summarise(
    values: Sequence[Values],
    *,
    intervals: Intervals = "bootstrap-t",
    resamples: int = 10_000,
    seed: int = 0,
    population_sd: bool = False,
) -> list[SummaryRow]:
    """The summary of each run and measure, with an interval: one row per element, in the same
    order.

    `mean` is the arithmetic mean (with weights: the ratio of sums), the sum, a median, or the
    geometric mean of max(value, 1e-5), which is trec_eval's gm_map; None where no query is counted.
    Of an even number of values, `median` is the mean of the two middle ones, `median_low` the
    lower, `median_floor` their mean rounded down to an integer. sd divides by n - 1
    (`population_sd`: by n), and is None where that is 0.
    intervals: `bootstrap-t` is Clopper and Pearson's exact interval of a mean of shares that are
    all 0 or 1, else the wider of the studentised bootstrap's and Student's t at each end, cut at
    the range of the unit; of a median it is that of `bootstrap`, the percentile interval over
    resampled queries (Efron and Tibshirani 1993, 13.3). Both are seeded and have 10 significant
    digits; a row's interval does not depend on the other rows.
    `t` is mean ± t · sd / √n, for arithmetic means without weights only. Below 10 counted queries
    there is no interval, nor a studentised one of equal values. `summary_findings` say which
    intervals are missing and why.
    """
    columns = [_Counted.of(column, intervals) for column in values]
    bounds = [column.interval() if column.is_analytic else None for column in columns]
    resampled_sizes = [
        0 if column.is_analytic or intervals not in ("bootstrap-t", "bootstrap") else column.n
        for column in columns
    ]
    for batch in of_one_size(resampled_sizes, _TOGETHER):
        figures = _resampled([columns[index] for index in batch], resamples, seed)
        for index, column_figures in zip(batch, figures.T, strict=True):
            bounds[index] = columns[index].interval(column_figures)
    return [
        SummaryRow.of(
            source.run,
            source.measure,
            source.label,
            counted.centre(),
            counted.sd(population=population_sd),
            *(bound or (None, None)),
            counted.n,
            source.unit,
        )
        for source, counted, bound in zip(values, columns, bounds, strict=True)
    ]


def of_one_size(sizes: Sequence[int], most: int) -> Iterator[list[int]]:
    """The indices of columns that share their resamples, so many at once that memory does not grow
    with their number. sizes: of the columns, which are left out below 10.
    """
    for n in sorted({size for size in sizes if size >= MIN_QUERIES}):
        indices = [index for index, size in enumerate(sizes) if size == n]
        yield from (indices[start : start + most] for start in range(0, len(indices), most))


def figure_of(values: Floats, summary: Summary, weights: Floats | None = None) -> float | None:
    """The summary alone of one column of values, (n,), NaN where a query is not counted; None as in
    `summarise`.
    """
    is_counted = ~np.isnan(values)
    return _Counted(
        values[is_counted], None if weights is None else weights[is_counted], summary
    ).centre()


def summary_findings(
    values: Sequence[Values],
    *,
    parts: Sequence[str] = (),
    intervals: Intervals = "bootstrap-t",
    population_sd: bool = False,
) -> list[Finding]:
    """Findings on the summary of these values: what is undefined, and which intervals rest on few
    or equal values.

    parts: what tells apart values of the same run and measure, such as the direction.
    population_sd: whether a single query has a standard deviation, 0.
    """
    columns = [_Counted.of(column, intervals) for column in values]
    short = sorted({column.n for column in columns if column.n < MIN_QUERIES})
    names = [f"{column.run} {column.label}" for column in values]
    columns_by_fact: dict[tuple[Any, ...], list[int]] = {}
    for number, counted in enumerate(columns):
        if counted.n == 1 and not population_sd:
            columns_by_fact.setdefault((5,), []).append(number)
        for fact in _facts_of(counted, intervals, short):
            columns_by_fact.setdefault(fact, []).append(number)

    def _named(numbers: Sequence[int]) -> str:
        return first_of(told_apart(names, parts or [""] * len(names), numbers), 6)

    return [
        SUMMARY_KINDS[place](*facts, columns=_named(columns_by_fact[place, *facts]))
        for place, *facts in sorted(columns_by_fact)
    ]


def told_apart(names: Sequence[str], parts: Sequence[str], numbers: Sequence[int]) -> list[str]:
    """The names of these elements; with their parts where others of the same name are not among
    them.
    """
    uses, used = Counter(names), Counter(names[number] for number in numbers)
    return list(
        dict.fromkeys(
            names[number]
            if used[names[number]] == uses[names[number]] or not parts[number]
            else f"{names[number]} ({parts[number]})"
            for number in numbers
        )
    )


SUMMARY_KINDS: tuple[FindingKind[...], ...] = (
    few_queries,
    small_sample,
    equal_values,
    close_values,
    long_tail,
    no_deviation,
    no_t_interval,
)


def _facts_of(
    counted: "_Counted", intervals: Intervals, short: Sequence[int]
) -> Iterator[tuple[Any, ...]]:
    """The places in `SUMMARY_KINDS` of findings on one column, with their words. short: the numbers
    of queries, ascending, of all columns that have too few.
    """
    n, is_studentised = counted.n, intervals == "bootstrap-t"
    if intervals == "t" and not counted.is_plain_mean:
        yield (6,)
    if intervals == "none":
        return
    if n < MIN_QUERIES:
        span = f"{short[0]}" if len(short) == 1 else f"{short[0]} to {short[-1]}"
        yield 0, MIN_QUERIES, span, "counted queries"
    elif np.ptp(counted.values) == 0 and counted.summary not in _MEDIANS:
        if not is_studentised:
            reason = "so that the interval has no width; other queries may differ"
            yield 2, f"every query has the same value, {reason}"
        elif counted.successes is None:
            yield 2, "no interval where every query has the same value"
        else:
            reason = "the interval says how far other queries may differ"
            yield 2, f"every query has the same value, 0 or 1; {reason}"
    elif counted.skewed == "tail":
        yield (4,)
    elif counted.skewed:
        yield 3, n, 100 * unseen_share(n)
    elif is_studentised and n < FEW_QUERIES and counted.successes is None:
        held = "of values other than 0 and 1 held the true mean in 89 to 98 % of simulations"
        yield 1, n, "queries", held


@dataclass(frozen=True, eq=False)
class _Counted:
    """The values of the counted queries.

    values: (n,) finite values.
    weights: (n,) weights of the queries in the mean; None for equal weights.
    summary: how the values become one figure.
    unit: the unit of the values; shares may all be 0 or 1, for which the interval is exact.
    intervals: the kind of interval.
    """

    values: Floats
    weights: Floats | None
    summary: Summary
    unit: Unit = "score"
    intervals: Intervals = "none"

    @classmethod
    def of(cls, source: Values, intervals: Intervals) -> "_Counted":
        """The counted values of one run and measure."""
        is_counted = source.counted
        weights = None if source.weights is None else source.weights[is_counted]
        return cls(source.values[is_counted], weights, source.summary, source.unit, intervals)

    @property
    def n(self) -> int:
        """Number of counted queries."""
        return len(self.values)

    @property
    def is_plain_mean(self) -> bool:
        """Whether the figure is an arithmetic mean without weights."""
        return self.summary == "mean" and self.weights is None

    @cached_property
    def _terms(self) -> Floats:
        """What a mean or a sum adds up."""
        if self.summary == "geometric":
            return np.log(np.maximum(self.values, _FLOOR))
        return self.values if self.weights is None else self.values * self.weights

    def centre(self) -> float | None:
        """The figure that the summary names; None where there is no value (except for a sum), and
        where all weights are 0.
        """
        if self.summary == "sum":
            return exact_sum(self.values)
        if self.n == 0 or (self.weights is not None and not self.weights.any()):
            return None
        if self.summary in _MEDIANS:
            ordered = np.sort(self.values)
            return float(self._middle(ordered[(self.n - 1) // 2], ordered[self.n // 2]))
        mean = exact_ratio(self._terms, self.weights)
        return math.exp(mean) if self.summary == "geometric" else mean

    def sd(self, *, population: bool) -> float | None:
        """The standard deviation, divided by n or by n - 1; None where that is not above 0."""
        has_sd = self.n > (0 if population else 1)
        return exact_sd(self.values, population=population) if has_sd else None

    @cached_property
    def successes(self) -> int | None:
        """The number of values that are 1 (100 in per cent), where all others are 0 and the figure
        is their mean; else None.
        """
        top = {"share": 1.0, "percent": 100.0}.get(self.unit)
        if top is None or not self.is_plain_mean:
            return None
        ones = int(np.count_nonzero(self.values == top))
        return ones if ones + np.count_nonzero(self.values == 0) == self.n else None

    @cached_property
    def skewed(self) -> Literal["end", "tail", ""]:
        """The reason why an interval of the mean is too narrow: values far from an end of their
        range, or a long tail; empty where it is not.
        """
        is_exact = self.intervals == "bootstrap-t" and self.successes is not None
        if is_exact or not self.is_plain_mean or np.ptp(self.values) == 0:
            return ""
        return skew_of(self.values, self.unit)

    @property
    def is_analytic(self) -> bool:
        """Whether the interval needs no resamples: those of 0/1 values are exact, those of very
        many are computed.
        """
        if self.n < MIN_QUERIES or self.intervals != "bootstrap-t":
            return self.intervals == "t" and self.n >= MIN_QUERIES and self.is_plain_mean
        return self.successes is not None or (
            self._deviations is not None and self._deviations.expands
        )

    def interval(self, figures: Floats | None = None) -> Interval | None:
        """The 95 % interval of the figure; None where a resample has none, and where nothing
        varies.

        figures: those of `resampled`; None where the interval is analytic.
        """
        if self.intervals == "t":
            mean, sd = exact_mean(self.values), exact_sd(self.values)
            reach = student_quantile(_LEVEL, self.n - 1) * sd / math.sqrt(self.n)
            return mean - reach, mean + reach
        low, high = RANGES.get(self.unit, (-math.inf, math.inf))
        if figures is None and self.successes is not None:
            least, most = clopper_pearson(self.successes, self.n, _LEVEL)
            return rounded(least * high), rounded(most * high)
        if self._deviations is None:
            return None if figures is None else percentile_interval(figures, _LEVEL)
        bounds = self._deviations.interval(_LEVEL, figures)
        if bounds is None:
            return None
        if self.summary == "geometric":
            bounds = math.exp(bounds[0]), math.exp(bounds[1])
        if self.values.min() >= low and self.values.max() <= high:
            bounds = max(bounds[0], low), min(bounds[1], high)
        scale = self.n if self.summary == "sum" else 1
        return rounded(bounds[0] * scale), rounded(bounds[1] * scale)

    @cached_property
    def _deviations(self) -> Deviations | None:
        """The deviations that a studentised figure is resampled by; None of medians, and where all
        weights are 0.
        """
        has_none = self.weights is not None and not self.weights.any()
        if self.intervals != "bootstrap-t" or self.summary in _MEDIANS or has_none:
            return None
        return Deviations.of(self._terms, self.weights)

    def columns(self) -> list[Floats]:
        """The columns that a resample adds up; none for a median."""
        if self.summary in _MEDIANS:
            return []
        if self._deviations is not None:
            return self._deviations.columns()
        return [self._terms] if self.weights is None else [self._terms, self.weights]

    def resampled(self, sums: Iterator[Floats], counts: Floats) -> Floats:
        """Summary of each resample, or its deviation over its error; NaN where all its weights are
        0.

        sums: those of `columns`, taken from the iterator. counts: (resamples, n) how often each
        value is drawn.
        """
        if self.summary in _MEDIANS:
            return self._medians(counts)
        if self._deviations is not None:
            return self._deviations.studentised(sums)
        figures = next(sums)
        if self.summary != "sum":
            with np.errstate(invalid="ignore"):
                figures = figures / (self.n if self.weights is None else next(sums))
        return np.exp(figures) if self.summary == "geometric" else figures

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.values, kind="stable")

    def _medians(self, counts: Floats) -> Floats:
        """The median of each resample: the values are sorted once, and a resample only counts how
        far its middle is.
        """
        ordered, medians = self.values[self._order], np.empty(len(counts))
        for start in range(0, len(counts), _MEDIANS_TOGETHER):
            piece = slice(start, start + _MEDIANS_TOGETHER)
            reached = np.cumsum(counts[piece, self._order], axis=1)
            lower = np.count_nonzero(reached <= (self.n - 1) // 2, axis=1)
            upper = np.count_nonzero(reached <= self.n // 2, axis=1)
            medians[piece] = self._middle(ordered[lower], ordered[upper])
        return medians

    def _middle(self, lower: Floats, upper: Floats) -> Floats:
        """A median from the two middle values, which are one and the same where their number is
        odd.
        """
        if self.summary == "median_low":
            return lower
        middle = (lower + upper) / 2
        return np.floor(middle) if self.summary == "median_floor" else middle


def _resampled(counted: Sequence[_Counted], resamples: int, seed: int) -> Floats:
    """The summary of each column, all of one number of values, from one matrix of counts.

    Returns (resamples, columns).
    """
    n = counted[0].n
    columns = [column for source in counted for column in source.columns()]
    table = on_exact_grid(np.column_stack(columns)) if columns else np.empty((n, 0))

    def _figures_of(sums: Floats, counts: Floats) -> Floats:
        summands = iter(sums.T)
        return np.column_stack([column.resampled(summands, counts) for column in counted])

    if n > MANY and not any(column.summary in _MEDIANS for column in counted):
        return _figures_of(sums_over_resamples(table, resamples, seed=seed), table)
    figures = over_resamples(
        n, resamples, lambda counts: _figures_of(counts @ table, counts), seed=seed
    )
    return np.concatenate(figures)


def resampled_sums(table: Floats, resamples: int, *, seed: int) -> Floats:
    """Sums of each column over bootstrap resamples of its rows, which all columns share.

    table: (n, columns) finite. The sums do not depend on other columns. Returns (resamples,
    columns).
    """
    return sums_over_resamples(on_exact_grid(table), resamples, seed=seed)


def on_exact_grid(columns: Floats) -> Floats:
    """The values rounded so that every sum of n of them, with repetition, is exact in float64
    whatever the order of adding.

    columns: (n, columns) finite. A matrix product of whole counts that sum to n with the result
    therefore has the same bytes for any block size, number of threads, other columns and BLAS. Each
    value moves by at most n · 2⁻⁵² of its column's largest one: 5e-13 for shares of 7,000 queries.
    """
    n = len(columns)
    largest = np.maximum(columns.max(axis=0, initial=0.0), -columns.min(axis=0, initial=0.0))
    mantissa, exponent = np.frexp(largest)
    # The largest value is at most 2 ** (exponent or one less), so that n of them stay below 2⁵³
    # grid steps.
    shift = 53 - math.ceil(math.log2(max(n, 2))) - exponent + (mantissa == 0.5)
    grid = np.ldexp(columns, shift)
    return np.ldexp(np.rint(grid, out=grid), -shift, out=grid)


def midranks(values: Floats) -> Floats:
    """Rank of each value from 1, ascending; equal values share the mean of their ranks."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(sizes) - (sizes - 1) / 2)[group]


def check_level(level: float) -> None:
    """Raises BadUsage for a confidence level outside (0, 1)."""
    if not 0 < level < 1:
        raise BadUsage(
            f"the confidence level is {level}; expected a number between 0 and 1, such as 0.95."
        )
