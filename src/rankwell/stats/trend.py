"""Trends: the slope of a straight line, with an interval that draws clusters."""

from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Floats, Ints
from rankwell.stats import MIN_QUERIES, check_level, resampled_sums
from rankwell.stats.intervals import percentile_interval


class Trend(NamedTuple):
    """A slope by least squares, None where all x are equal. interval: None below 10 clusters or
    where a resample has no slope.
    """

    slope: float | None
    interval: tuple[float, float] | None


def trend(
    x: Floats,
    y: Floats,
    clusters: Ints,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Trend:
    """The slope of y on x with a percentile bootstrap interval over clusters. x, y, clusters: (n,).

    Raises BadUsage for a level outside (0, 1). Source: Davison and Hinkley 1997, Bootstrap methods
    and their application, 3.8.
    """
    check_level(level)
    if not len(x) or np.ptp(x) == 0:
        return Trend(None, None)
    _, cluster_index = np.unique(clusters, return_inverse=True)
    off_x, off_y = x - x.mean(), y - y.mean()
    products = (np.ones(len(x)), off_x, off_y, off_x * off_x, off_x * off_y)
    table = np.column_stack(
        [np.bincount(cluster_index, weights=product) for product in products]
    ).astype(np.float64)
    slope = float(_slopes(table.sum(axis=0)[None])[0])
    if len(table) < MIN_QUERIES:
        return Trend(slope, None)
    return Trend(
        slope, percentile_interval(_slopes(resampled_sums(table, resamples, seed=seed)), level)
    )


def _slopes(sums: Floats) -> Floats:
    """The slope of each row of sums of 1, x, y, x² and xy; NaN where no x differs."""
    n, x, y, xx, xy = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = xx - x * x / n
        return np.where(spread > 1e-9 * xx, (xy - x * y / n) / spread, np.nan)
