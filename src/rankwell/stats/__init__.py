"""Statistics over queries: the figure of a collection from one value per query, with its interval, and distributions."""

import importlib
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any, Literal, get_args

import numpy as np

from rankwell.core.kernels.resamples import MANY, over_resamples, sums_over_resamples
from rankwell.core.tables import Floats, Ints, Summary, Values
from rankwell.errors import BadInput, BadUsage

Intervals = Literal["bootstrap", "t", "none"]

MIN_QUERIES = 10
"""Below this many counted queries an interval would look exact and mean nothing, so there is none."""
SUMMARY_COLUMNS = ("run", "measure", "label", "mean", "sd", "ci_low", "ci_high", "n", "unit")
_FLOOR = 1e-5
_MEDIANS = ("median", "median_low", "median_floor")


class SummaryRow(dict[str, Any]):
    """One run and measure over all counted queries; a task's further columns follow. Columns are keys, and attributes too.

    mean: the measure's own summary. sd: of single queries' values. ci_low, ci_high: the interval of `mean`. n: counted queries.
    None: undefined.
    """

    @classmethod
    def of(cls, *cells: str | float | None) -> "SummaryRow":
        """The row with these cells, in the order of `SUMMARY_COLUMNS`."""
        return cls(zip(SUMMARY_COLUMNS, cells, strict=True))

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the summary has no column {name!r}") from None


def summarise(
    values: Sequence[Values],
    *,
    intervals: Intervals = "bootstrap",
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    population_sd: bool = False,
    block: int | None = None,
) -> list[SummaryRow]:
    """The summary of each run and measure, with an interval: one row per element, in the same order.

    `mean` is the arithmetic mean (with weights: the ratio of sums), the sum, a median, or the geometric mean of
    max(value, 1e-5), which is trec_eval's gm_map; None where no query is counted. Of an even number of values, `median` is the
    mean of the two middle ones, `median_low` the lower, `median_floor` their mean rounded down to an integer. sd divides by
    n - 1 (`population_sd`: by n), and is None where that is 0.
    intervals: `bootstrap` is the percentile interval over resampled queries (Efron and Tibshirani 1993, 13.3), seeded, with
    10 significant digits; a row's interval depends neither on the other rows nor on `block`, the resamples worked on at once.
    `t` is mean ± t · sd / √n, for arithmetic means without weights only. Below 10 counted queries there is no interval.
    `summary_notes` says in words which intervals are missing and why.
    Raises BadUsage for a level outside (0, 1) and for less than one resample.
    """
    check_level(level)
    if resamples < 1:
        raise BadUsage(f"{resamples} resamples; expected a positive integer; 10000 is usual.")
    counted = [_Counted.of(each) for each in values]
    bounds: list[tuple[float, float] | None] = [None] * len(values)
    if intervals == "bootstrap":
        for n in sorted({each.n for each in counted if each.n >= MIN_QUERIES}):
            places = [place for place, each in enumerate(counted) if each.n == n]
            drawn = _resampled([counted[place] for place in places], n, resamples, seed, block)
            for place, column in zip(places, drawn.T, strict=True):
                bounds[place] = percentile_interval(column, level)
    elif intervals == "t":
        bounds = [_student(each, level) for each in counted]
    return [
        SummaryRow.of(
            *(source.run, source.measure, source.label, each.centre(), each.sd(population=population_sd)),
            *(bound or (None, None)),
            *(each.n, source.unit),
        )
        for source, each, bound in zip(values, counted, bounds, strict=True)
    ]


def figure_of(values: Floats, summary: Summary, weights: Floats | None = None) -> float | None:
    """The summary alone of one column of values, (n,), NaN where a query is not counted; None as in `summarise`."""
    kept = ~np.isnan(values)
    return _Counted(values[kept], None if weights is None else weights[kept], summary).centre()


def summary_notes(values: Sequence[Values], *, intervals: Intervals = "bootstrap") -> list[str]:
    """Notes on undefined figures of the summary of these values: a sentence per reason, none where all are defined."""
    notes: list[str] = []
    few = [each for each in values if each.counted.sum() < MIN_QUERIES]
    if few and intervals != "none":
        sizes = sorted({int(each.counted.sum()) for each in few})
        span = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        notes.append(f"no interval below {MIN_QUERIES} counted queries (here {span}): {_named(few)}")
    single = [each for each in values if each.counted.sum() == 1]
    if single:
        notes.append(f"no sd with a single counted query: {_named(single)}")
    other = [each for each in values if each.summary != "mean" or each.weights is not None]
    if intervals == "t" and other:
        notes.append(f"a t interval exists for arithmetic means only, none for: {_named(other)}")
    return notes


def _named(values: Sequence[Values]) -> str:
    names = list(dict.fromkeys(f"{each.run} {each.measure}" for each in values))
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


@dataclass(frozen=True, eq=False)
class _Counted:
    """The values of counted queries only, (n,), with their weights."""

    values: Floats
    weights: Floats | None
    summary: Summary

    @classmethod
    def of(cls, source: Values) -> "_Counted":
        """Those of one run and measure."""
        kept = source.counted
        return cls(source.values[kept], None if source.weights is None else source.weights[kept], source.summary)

    @property
    def n(self) -> int:
        """Number of counted queries."""
        return len(self.values)

    def centre(self) -> float | None:
        """The figure that the summary names; None where there is no value (except for a sum), and where all weights are 0."""
        if self.summary == "sum":
            return float(self.values.sum())
        if self.n == 0 or (self.weights is not None and not self.weights.any()):
            return None
        if self.summary in _MEDIANS:
            ordered = np.sort(self.values)
            return float(self._middle(ordered[(self.n - 1) // 2], ordered[self.n // 2]))
        if self.summary == "geometric":
            return math.exp(float(np.log(np.maximum(self.values, _FLOOR)).mean()))
        if self.weights is not None:
            return float((self.values * self.weights).sum() / self.weights.sum())
        return float(self.values.mean())

    def sd(self, *, population: bool) -> float | None:
        """The standard deviation, divided by n or by n - 1; None where that is not above 0."""
        freedom = 0 if population else 1
        return float(self.values.std(ddof=freedom)) if self.n > freedom else None

    def columns(self) -> list[Floats]:
        """The columns that a resample adds up; none for a median."""
        if self.summary in _MEDIANS:
            return []
        if self.summary == "geometric":
            return [np.log(np.maximum(self.values, _FLOOR))]
        return [self.values] if self.weights is None else [self.values * self.weights, self.weights]

    def resampled(self, sums: Iterator[Floats], counts: Floats) -> Floats:
        """(resamples,) the summary of each resample; NaN where all its weights are 0.

        sums: those of `columns`, taken from the iterator. counts: (resamples, n) how often each value is drawn.
        """
        if self.summary in _MEDIANS:
            return self._medians(counts)
        total = next(sums)
        if self.weights is not None:
            with np.errstate(invalid="ignore"):
                return total / next(sums)
        if self.summary == "sum":
            return total
        return np.exp(total / self.n) if self.summary == "geometric" else total / self.n

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.values, kind="stable")

    def _medians(self, counts: Floats, piece: int = 32) -> Floats:
        """The values are sorted once, and each resample only counts how far its middle is. piece: resamples at a time."""
        ordered, found = self.values[self._order], np.empty(len(counts))
        for start in range(0, len(counts), piece):
            reached = np.cumsum(counts[start : start + piece, self._order], axis=1)
            lower = np.count_nonzero(reached <= (self.n - 1) // 2, axis=1)
            upper = np.count_nonzero(reached <= self.n // 2, axis=1)
            found[start : start + piece] = self._middle(ordered[lower], ordered[upper])
        return found

    def _middle(self, lower: Floats, upper: Floats) -> Floats:
        """A median from the two middle values, which are one and the same where their number is odd."""
        if self.summary == "median_low":
            return lower
        return np.floor((lower + upper) / 2) if self.summary == "median_floor" else (lower + upper) / 2


def _student(counted: _Counted, level: float) -> tuple[float, float] | None:
    if counted.n < MIN_QUERIES or counted.summary != "mean" or counted.weights is not None:
        return None
    mean, sd = float(counted.values.mean()), float(counted.values.std(ddof=1))
    reach = student_quantile(level, counted.n - 1) * sd / math.sqrt(counted.n)
    return mean - reach, mean + reach


def _resampled(counted: Sequence[_Counted], n: int, resamples: int, seed: int, block: int | None) -> Floats:
    """(resamples, columns) the summary of each column, all of n values, from one matrix of counts."""
    columns = [column for each in counted for column in each.columns()]
    table = on_exact_grid(np.column_stack(columns)) if columns else np.empty((n, 0))

    if n > MANY and not any(each.summary in _MEDIANS for each in counted):
        sums = iter(sums_over_resamples(table, resamples, seed=seed, block=block).T)
        return np.column_stack([each.resampled(sums, table) for each in counted])

    def _drawn(counts: Floats) -> Floats:
        sums = iter((counts @ table).T)
        return np.column_stack([each.resampled(sums, counts) for each in counted])

    return np.concatenate(over_resamples(n, resamples, _drawn, seed=seed, block=block))


def resampled_sums(table: Floats, resamples: int, *, seed: int, block: int | None = None) -> Floats:
    """(resamples, columns) the sums of each column over bootstrap resamples of its rows, which all columns share.

    table: (n, columns) finite. The sums depend neither on other columns nor on block, the resamples worked on at once.
    """
    exact = on_exact_grid(table)
    return sums_over_resamples(exact, resamples, seed=seed, block=block)


def on_exact_grid(columns: Floats) -> Floats:
    """The values rounded so that every sum of n of them, with repetition, is exact in float64 whatever the order of adding.

    columns: (n, columns) finite. A matrix product of whole counts that sum to n with the result therefore has the same bytes for
    any block size, number of threads, other columns and BLAS. Each value moves by at most n · 2⁻⁵² of its column's largest one:
    5e-13 for shares of 7,000 queries.
    """
    n = len(columns)
    largest = np.abs(columns).max(axis=0, initial=0.0)
    mantissa, exponent = np.frexp(largest)
    # The largest value is at most 2 ** (exponent or one less), so that n of them stay below 2⁵³ grid steps.
    shift = 53 - math.ceil(math.log2(max(n, 2))) - exponent + (mantissa == 0.5)
    return np.ldexp(np.rint(np.ldexp(columns, shift)), -shift)


def rounded(value: float) -> float:
    """The value with 10 significant digits, as every figure that comes out of a matrix product is written."""
    return float(f"{value:.10g}")


@cache
def special_functions() -> Any:
    """SciPy's compiled special functions, without the package around them, which takes 0.3 s more to import (ADR 4)."""
    import scipy

    if "scipy.special" not in sys.modules:
        package = ModuleType("scipy.special")
        package.__path__ = [f"{folder}/special" for folder in scipy.__path__]
        sys.modules["scipy.special"] = package
        try:
            return importlib.import_module("scipy.special._ufuncs")
        except ImportError:  # A later SciPy may name the file differently.
            pass
        finally:
            # Whoever imports the package gets the true one.
            del sys.modules["scipy.special"]
    return importlib.import_module("scipy.special")


def student_quantile(level: float, freedom: int) -> float:
    """The t with P(-t < T < t) = level under Student's t distribution. Raises BadUsage for a level outside (0, 1)."""
    check_level(level)
    return float(special_functions().stdtrit(freedom, (1 + level) / 2))


def student_p(t: float, freedom: float) -> float:
    """The two-sided p-value of a t statistic; 0 below the smallest float64. freedom: degrees of freedom, above 0."""
    square = t * t
    if math.isinf(square):
        return 0.0
    special = special_functions()
    # One and the same function; each form keeps its digits where its argument is not near 1.
    if square > freedom:
        return float(special.betainc(freedom / 2, 0.5, freedom / (freedom + square)))
    return float(special.betaincc(0.5, freedom / 2, square / (freedom + square)))


def binomial_p(n: int, up: int) -> float:
    """The two-sided probability of a split of n coins at least as uneven as `up` of them; 1 where it is even."""
    low = min(up, n - up)
    if 2 * low == n:
        return 1.0
    # Integers all the way: the quotient is rounded once.
    coefficient, total = 1, 1
    for place in range(low):
        coefficient = coefficient * (n - place) // (place + 1)
        total += coefficient
    return 2 * total / (1 << n)


def percentile_interval(drawn: Floats, level: float) -> tuple[float, float] | None:
    """The interval between the outer percentiles of resampled figures; None where a resample has no figure (NaN)."""
    if np.isnan(drawn).any():
        return None
    ordered = np.sort(drawn)
    return rounded(_percentile(ordered, (1 - level) / 2)), rounded(_percentile(ordered, (1 + level) / 2))


def _percentile(ordered: Floats, share: float) -> float:
    # The same as NumPy's quantile, whose first call loads masked arrays: that takes longer than a small evaluation.
    place = share * (len(ordered) - 1)
    low = int(place)
    below, above = float(ordered[low]), float(ordered[min(low + 1, len(ordered) - 1)])
    return below + (above - below) * (place - low)


def counted_in_both(first: Floats, other: Floats, what: str) -> tuple[Floats, Floats]:
    """Two columns of values without the queries that either does not count (NaN). Raises BadInput for different lengths."""
    if first.shape != other.shape:
        raise BadInput(f"{len(first)} values against {len(other)}; {what} is over the same queries.")
    both = ~(np.isnan(first) | np.isnan(other))
    return first[both], other[both]


def check_intervals(intervals: str, seed: int) -> None:
    """Raises BadUsage for intervals of no known kind, and for a seed below 0."""
    if intervals not in get_args(Intervals) or seed < 0:
        options = f"intervals={intervals!r}, seed={seed!r}"
        raise BadUsage(f"{options}: expected bootstrap, t or none, and a non-negative integer as the seed.")


def check_level(level: float) -> None:
    """Raises BadUsage for a confidence level outside (0, 1)."""
    if not 0 < level < 1:
        raise BadUsage(f"the confidence level is {level}; expected a number between 0 and 1, such as 0.95.")
