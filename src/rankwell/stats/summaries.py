"""Summaries: the figure of a whole collection from one value per query, and how sure one may be of it."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.kernels.resamples import over_resamples
from rankwell.core.tables import Floats, Summary, Values
from rankwell.errors import BadUsage
from rankwell.stats import MIN_QUERIES, Intervals, check_level, on_exact_grid, percentile_interval, student_quantile

_FLOOR = 1e-5
_MEDIANS = ("median", "median_low", "median_floor")


SUMMARY_COLUMNS = ("run", "measure", "label", "mean", "sd", "ci_low", "ci_high", "n", "unit")


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
            found = _bootstrap([counted[place] for place in places], n, resamples, seed, level, block)
            for place, bound in zip(places, found, strict=True):
                bounds[place] = bound
    elif intervals == "t":
        bounds = [_student(each, level) for each in counted]
    rows: list[SummaryRow] = []
    for source, each, bound in zip(values, counted, bounds, strict=True):
        low, high = bound or (None, None)
        sd = each.sd(population=population_sd)
        rows.append(SummaryRow.of(source.run, source.measure, source.label, each.centre(), sd, low, high, each.n, source.unit))
    return rows


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


class _Counted(NamedTuple):
    """The values of counted queries only, (n,), with their weights."""

    values: Floats
    weights: Floats | None
    summary: Summary

    @classmethod
    def of(cls, source: Values) -> "_Counted":
        kept = source.counted
        return cls(source.values[kept], None if source.weights is None else source.weights[kept], source.summary)

    @property
    def n(self) -> int:
        return len(self.values)

    def centre(self) -> float | None:
        """The figure that the summary names; None where there is no value (except for a sum), and where all weights are 0."""
        if self.summary == "sum":
            return float(self.values.sum())
        if self.n == 0 or (self.weights is not None and not self.weights.any()):
            return None
        if self.summary in _MEDIANS:
            ordered = np.sort(self.values)
            return float(_middle(ordered[(self.n - 1) // 2], ordered[self.n // 2], self.summary))
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


def _student(counted: _Counted, level: float) -> tuple[float, float] | None:
    if counted.n < MIN_QUERIES or counted.summary != "mean" or counted.weights is not None:
        return None
    mean, sd = float(counted.values.mean()), float(counted.values.std(ddof=1))
    reach = student_quantile(level, counted.n - 1) * sd / math.sqrt(counted.n)
    return mean - reach, mean + reach


def _bootstrap(
    counted: Sequence[_Counted], n: int, resamples: int, seed: int, level: float, block: int | None
) -> list[tuple[float, float] | None]:
    """The interval of each, all of n values, from one matrix of counts."""
    columns = [column for each in counted for column in each.columns()]
    table = on_exact_grid(np.column_stack(columns)) if columns else np.empty((n, 0))
    medians = {place: _Median(each.values, each.summary) for place, each in enumerate(counted) if each.summary in _MEDIANS}

    def _drawn(counts: Floats) -> Floats:
        return np.column_stack([counts @ table, *(median.of(counts) for median in medians.values())])

    drawn = np.concatenate(over_resamples(n, resamples, _drawn, seed=seed, block=block))
    sums, middle = drawn[:, : len(columns)], dict(zip(medians, drawn[:, len(columns) :].T, strict=True))
    at, found = 0, list[tuple[float, float] | None]()
    for place, each in enumerate(counted):
        width = len(each.columns())
        values = middle[place] if place in middle else _statistic(each, sums[:, at : at + width])
        at += width
        found.append(percentile_interval(values, level))
    return found


def _statistic(counted: _Counted, sums: Floats) -> Floats:
    """(resamples,) the summary of each resample from its sums; NaN where all its weights are 0."""
    if counted.weights is not None:
        with np.errstate(invalid="ignore"):
            return sums[:, 0] / sums[:, 1]
    if counted.summary == "sum":
        return sums[:, 0]
    means = sums[:, 0] / counted.n
    return np.exp(means) if counted.summary == "geometric" else means


def _middle(lower: Floats, upper: Floats, summary: Summary) -> Floats:
    """A median from the two middle values, which are one and the same where their number is odd."""
    if summary == "median_low":
        return lower
    return np.floor((lower + upper) / 2) if summary == "median_floor" else (lower + upper) / 2


class _Median:
    """The medians of resamples: the values are sorted once, and each resample only counts how far its middle is."""

    def __init__(self, values: Floats, summary: Summary) -> None:
        self._summary: Summary = summary
        self._order = np.argsort(values, kind="stable")
        self._sorted = values[self._order]

    def of(self, counts: Floats, piece: int = 32) -> Floats:
        """(resamples,) the medians. counts: (resamples, n) how often each value is drawn. piece: resamples at a time."""
        n = len(self._sorted)
        found = np.empty(len(counts))
        for start in range(0, len(counts), piece):
            reached = np.cumsum(counts[start : start + piece, self._order], axis=1)
            lower = np.count_nonzero(reached <= (n - 1) // 2, axis=1)
            upper = np.count_nonzero(reached <= n // 2, axis=1)
            found[start : start + piece] = _middle(self._sorted[lower], self._sorted[upper], self._summary)
        return found
