"""The output of `judge plan`: the half-widths of the intervals of a study after more judgments, and
the number that finds a difference.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Floats, format_value
from rankwell.errors import BadUsage, NothingToEvaluate, count_of
from rankwell.reporting import FOR_PEOPLE, Format, Output, Row
from rankwell.stats.intervals import student_quantile
from rankwell.stats.paired_tests import minimal_detectable_difference
from rankwell.stats.samples import (
    Forecast,
    SampledItems,
    expected_shares,
    forecast,
    inclusion,
    priorities,
    query_forecast,
)
from rankwell.task import printed_rows
from rankwell.tasks.judge.batches import queries_read_together
from rankwell.tasks.judge.estimation import StudyEstimates
from rankwell.tasks.judge.folder import Pair, read_journals, read_looks, read_study
from rankwell.tasks.judge.options import PlanOptions

FIRST = 50
POWER = 0.8
_FEWEST = 10


class PlannedStep(NamedTuple):
    """The end of a batch.

    more: number of further judgments up to this end.
    judged: number of all judgments at this end.
    forecast: standard errors at this end.
    queries: number of queries in the estimate.
    """

    more: int
    judged: int
    forecast: Forecast
    queries: int

    def half_widths(self, level: float) -> tuple[list[float], list[float]]:
        """Half-widths for these queries and for queries like these, each with its range."""
        t = student_quantile(level, max(self.queries - 1, 1))
        z = NormalDist().inv_cdf((1 + level) / 2)
        return (
            [z * error for error in self.forecast.these_queries],
            [t * error for error in self.forecast.queries_like_these],
        )

    def finds(self, difference: float, level: float, bound: int) -> bool:
        """Whether a difference of this size is found with 80 % power. bound: 0 for the forecast, 1
        and 2 for its range.
        """
        sd = self.forecast.queries_like_these[bound] * math.sqrt(self.queries)
        least = minimal_detectable_difference(sd, self.queries, alpha=1 - level, power=POWER)
        return least is not None and least <= difference


@dataclass(frozen=True, eq=False)
class StudyForecasts:
    """The forecasts of a study for one pair of runs, at every end of a batch from now on. At the
    last one everything is judged.

    estimates: estimates from the judgments so far.
    pair: names of the runs, the later one first.
    """

    estimates: StudyEstimates
    pair: Pair
    _steps: dict[int, PlannedStep] = field(default_factory=dict[int, PlannedStep])

    @cached_property
    def more(self) -> list[int]:
        """The number of judgments from now to each batch end, ascending."""
        return [more for _, more in self._ends]

    @property
    def problem(self) -> str:
        """The reason why there is no forecast; "" where there is one. No item may decide between
        the runs; or judged queries do not show how far others may differ.
        """
        study, names = self.estimates.study, " and ".join(self.pair)
        if study.design != "items":
            if np.ptp(self._values) == 0:
                return f"{names}: no forecast, as every judged query has the same difference."
        elif not self._items.weight.any():
            return f"{names} never differ in the first {study.depth}; nothing to judge."
        return ""

    def step(self, position: int) -> PlannedStep:
        """The forecast at a batch end; made when it is needed, as each goes through all items."""
        if position not in self._steps:
            end, more = self._ends[position]
            is_sampled = self.estimates.study.design == "items"
            self._steps[position] = self._sampled(end) if is_sampled else self._whole(end, more)
        return self._steps[position]

    def listed_steps(self) -> list[PlannedStep]:
        """The batch ends at or after 50, 100, 200, … more judgments, and the last."""
        targets = FIRST << np.arange(40)
        return [
            self.step(end) for end in np.unique(np.searchsorted(self.more[:-1], targets)).tolist()
        ]

    def judgments_needed(self, difference: float, level: float) -> Iterator[int | None]:
        """More judgments for 80 % power at a difference, with the range that the forecast leaves;
        None where all are not enough.
        """
        for bound in range(3):
            position = bisect_left(
                range(len(self.more)),
                True,
                key=lambda position: self.step(position).finds(difference, level, bound),
            )
            yield self.more[position] if position < len(self.more) else None

    @cached_property
    def _items(self) -> SampledItems:
        return self.estimates.items_of(self.pair)

    @cached_property
    def _values(self) -> Floats:
        study = self.estimates.study
        if len(self.estimates.drawn) < 2:
            condition = "two queries are judged completely"
            if study.design == "reading":
                n_first = min(queries_read_together(study), len(study.queries))
                condition = f"the first {n_first} queries are read down to their ends"
            raise NothingToEvaluate(
                f"{study.folder}: no forecast before {condition}, because the spread of their "
                "differences is not known; judge them with `rankwell judge label`."
            )
        return self.estimates.whole_values(self.pair)

    @cached_property
    def _ends(self) -> list[tuple[int, int]]:
        """The ends, as numbers of finished batches of the last round or of judged queries, with the
        judgments from now.
        """
        study = self.estimates.study
        if study.design == "items":
            batches = study.pool.batches[:, -1]
            tau = self.estimates.thresholds[-1]
            left = (priorities(study.pool.u, study.pool.sizes[:, -1]) >= tau) & (batches >= 0)
            more = np.cumsum(np.bincount(batches[left & ~self.estimates.sampled]))
            return [(batch + 1, int(more[batch])) for batch in np.unique(batches[left]).tolist()]
        n_all, done = study.drawn or len(study.queries), len(self._values)
        apart = queries_read_together(study) if study.design == "reading" else _FEWEST
        numbers = dict.fromkeys([*range(done + apart, n_all, apart), n_all])
        return [(n, round((n - done) * self._per_query)) for n in numbers if n > done]

    @cached_property
    def _per_query(self) -> float:
        """The number of judgments that a whole query takes."""
        estimates, study = self.estimates, self.estimates.study
        if study.design == "reading":
            read = estimates.answers.answered & np.isin(study.pool.query, estimates.drawn)
            return float(read.sum()) / len(self._values)
        return float((study.pool.sizes[:, -1] > 0).sum()) / (study.drawn or len(study.queries))

    def _sampled(self, end: int) -> PlannedStep:
        """The forecast after so many batches of the last round."""
        estimates, study, items = self.estimates, self.estimates.study, self._items
        pool, batches = study.pool, study.pool.batches[:, -1]
        tau = estimates.threshold_after(end, -1)
        pi = np.maximum(estimates.inclusion, inclusion(pool.sizes[:, -1], tau))
        sampled = estimates.sampled | ((batches >= 0) & (batches < end))
        judged = int(sampled.sum())
        prior = pool.prior * (1 - pool.prior) * estimates.highest_gain**2
        shares = expected_shares(items, estimates.halves, pi)
        expected = forecast(items, shares, prior, pi, sampled, seed=study.seed)
        return PlannedStep(judged - int(items.sampled.sum()), judged, expected, items.n_queries)

    def _whole(self, n: int, more: int) -> PlannedStep:
        study = self.estimates.study
        expected = query_forecast(self._values, n, len(study.queries), seed=study.seed)
        return PlannedStep(more, round(n * self._per_query), expected, n)


def print_forecasts(folder: str, *, options: PlanOptions, format: Format = "table") -> Output:
    """The half-widths after more judgments for every pair of runs."""
    if not options.difference > 0:
        raise BadUsage(
            f"--difference is {options.difference:g}; expected a number above 0, such as 0.05."
        )
    study = read_study(folder)
    findings = study.refuse_changed_files()
    journals = read_journals(study)
    estimates = StudyEstimates.of(study, journals.lines)
    looks = read_looks(study)
    level, rows, words = looks.corrected_level, list[Row](), list[str]()
    for pair in estimates.pairs:
        forecasts = StudyForecasts(estimates, pair)
        if not forecasts.more:
            continue
        if not (problem := forecasts.problem):
            rows += _rows(forecasts, level, plain=format == "table")
        words.append(problem or _sentence(forecasts, options.difference, level))
    if not rows:
        raise NothingToEvaluate(
            f"{folder}: {' '.join(words) or 'everything is judged; nothing is left to plan.'}"
        )
    n, n_planned = len(looks.looks), study.plan.looks
    taken = f"{n} of {count_of(n_planned, 'look')} taken"
    if n > n_planned:
        taken = f"{count_of(n, 'look')} taken, {n_planned} planned"
    taken += "" if n < n_planned else ": an estimate from more judgments has no verdict"
    rule = f"{estimates.label}; half-widths of {100 * level:.4g} % intervals; {taken}"
    tables = ["\n".join(words) + "\n", rows, f"{rule}\n"]
    findings = [*journals.findings, *findings]
    text = printed_rows(rows, format, tables=tables, rules={"rule": rule}, findings=findings)
    printed = [*words, rule] if format not in FOR_PEOPLE else []
    return Output.of(text, printed if format == "json" else [*printed, *findings])


def _rows(forecasts: StudyForecasts, level: float, *, plain: bool) -> Iterator[Row]:
    steps = forecasts.listed_steps()
    for step in steps:
        # Nothing is left to chance for these queries.
        is_exact = step is steps[-1] and step.forecast.these_queries[0] == 0
        same, like = step.half_widths(level)
        run, against = forecasts.pair
        row: Row = {"run": run, "against": against, "more": step.more, "judged": step.judged}
        if plain:
            row["these queries"] = "exact" if is_exact else _range(same)
            yield {**row, "queries like these": _range(like)}
        else:
            same = [0.0] * 3 if is_exact else same
            names = (name + end for name in ("these", "like") for end in ("", "_low", "_high"))
            yield row | dict(zip(names, (*same, *like), strict=True))


def _range(widths: list[float]) -> str:
    middle, low, high = (format_value(width, "share") for width in widths)
    return f"± {middle} ({low} to {high})"


def _sentence(forecasts: StudyForecasts, difference: float, level: float) -> str:
    """The number of judgments for 80 % power, or what is the limit."""
    middle, *bounds = forecasts.judgments_needed(difference, level)
    size, names = f"a difference of {difference:g} with 80 % power", " and ".join(forecasts.pair)
    if middle is None:
        last = forecasts.step(len(forecasts.more) - 1).half_widths(level)[1][0]
        return (
            f"{names}: judging everything leaves ± {format_value(last, 'share')} for queries like "
            f"these; for {size}, add queries."
        )
    ends = " to ".join("more than all" if bound is None else str(bound) for bound in bounds)
    return f"{names}: {size} takes about {middle} more judgments ({ends})."
