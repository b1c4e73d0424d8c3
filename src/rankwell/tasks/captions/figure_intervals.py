"""Intervals of figures that are made of several means, such as the sum of six recalls."""

from collections.abc import Callable, Sequence

import numpy as np

from rankwell.core.tables import Floats
from rankwell.stats import MIN_QUERIES, percentile_interval, resampled_sums

Figure = Callable[[Sequence[float]], float]


def figure_interval(
    groups: Sequence[Floats], figure: Figure, *, resamples: int = 10_000, seed: int = 0, level: float = 0.95
) -> tuple[float, float] | None:
    """The percentile bootstrap interval of a figure of means, queries being drawn with replacement.

    groups: for each set of queries (queries, means) the values that are averaged, in the order in which `figure` takes the means.
    Sets of as many queries are drawn alike, for where captions and videos are in pairs the same pair is drawn for both; sets of
    different sizes are drawn apart. None below 10 queries in any set. Source: Efron and Tibshirani 1993, 13.3.
    """
    if not groups or min(map(len, groups)) < MIN_QUERIES:
        return None
    sizes = list(dict.fromkeys(map(len, groups)))
    drawn = {
        n: _means([group for group in groups if len(group) == n], n, resamples, seed + place) for place, n in enumerate(sizes)
    }
    taken = {
        n: iter(np.split(means, _edges([group for group in groups if len(group) == n]), axis=1)) for n, means in drawn.items()
    }
    columns = np.hstack([next(taken[len(group)]) for group in groups])
    return percentile_interval(np.array([figure(row) for row in columns.tolist()]), level)


def _edges(groups: Sequence[Floats]) -> list[int]:
    return np.cumsum([group.shape[1] for group in groups])[:-1].tolist()


def _means(groups: Sequence[Floats], n: int, resamples: int, seed: int) -> Floats:
    """(resamples, columns) the means of all columns of sets of n queries that are drawn alike."""
    return resampled_sums(np.hstack(groups), resamples, seed=seed) / n
