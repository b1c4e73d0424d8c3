"""Relative changes: by which share the mean of one system is above or below that of another on the same queries."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rankwell.core.tables import Floats
from rankwell.errors import BadInput
from rankwell.stats import MIN_QUERIES, check_level, percentile_interval, resampled_sums


class Change(NamedTuple):
    """value: mean of the other over mean of the first, less 1; None where the first's is not above 0. interval: of the value.

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
    """The change of each pair of columns (the first's values, the other's), over the queries that count in both.

    pairs: (queries,) each, NaN where a query is not counted. The interval is between percentiles of ratios of means, in which
    both means come of the same resampled queries; none below 10 queries and where a resample's first mean is not above 0.
    Raises BadInput where the columns of a pair differ in length, BadUsage for a level outside (0, 1).
    Source: Efron and Tibshirani 1993, 13.3.
    """
    check_level(level)
    kept: list[tuple[Floats, Floats]] = []
    for first, other in pairs:
        if first.shape != other.shape:
            raise BadInput(f"{len(first)} values against {len(other)}; a relative change is over the same queries.")
        both = ~(np.isnan(first) | np.isnan(other))
        kept.append((first[both], other[both]))
    found = [Change(_ratio(first, other), None, len(first)) for first, other in kept]
    for n in sorted({len(first) for first, _ in kept if len(first) >= MIN_QUERIES}) if bootstrap else ():
        places = [place for place, each in enumerate(found) if each.n == n and each.value is not None]
        if not places:
            continue
        # A column that several pairs share, as that of the first candidate, is added up once for each.
        table = np.column_stack([column for place in places for column in kept[place]])
        sums = resampled_sums(table, resamples, seed=seed, block=block)
        for at, place in enumerate(places):
            first, other = sums[:, 2 * at], sums[:, 2 * at + 1]
            ratios = np.divide(other, first, out=np.full(resamples, np.nan), where=first > 0) - 1.0
            found[place] = found[place]._replace(interval=percentile_interval(ratios, level))
    return found


def _ratio(first: Floats, other: Floats) -> float | None:
    mean = float(first.mean()) if len(first) else 0.0
    return float(other.mean()) / mean - 1.0 if mean > 0 else None
