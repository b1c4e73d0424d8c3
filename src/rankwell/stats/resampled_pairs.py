"""Bootstrap intervals of statistics other than means over pairs: correlations, and the error after calibration."""

from typing import NamedTuple

import numpy as np

from rankwell.core.kernels.resamples import over_resamples
from rankwell.core.tables import Floats, Ints
from rankwell.stats import check_level, on_exact_grid, percentile_interval


class PairIntervals(NamedTuple):
    """The interval of each figure; None where some resample has no such figure, for it draws only equal values of a column."""

    pearson: tuple[float, float] | None
    spearman: tuple[float, float] | None
    calibrated_mae: tuple[float, float] | None


def bootstrap_pairs(
    targets: Floats, similarities: Floats, *, resamples: int, seed: int = 0, level: float = 0.95, block: int | None = None
) -> PairIntervals:
    """Percentile intervals over resampled pairs; every resample is ranked and calibrated anew.

    targets, similarities: (n,) finite, neither constant. The figures have 10 significant digits and depend neither on `block`,
    the resamples worked on at once, nor on the order of the pairs. Raises BadUsage for a level outside (0, 1).
    Source: Efron and Tibshirani 1993, 13.3.
    """
    check_level(level)
    order = np.lexsort((similarities, targets))
    target, similarity = _unit(targets[order]), _unit(similarities[order])
    n = len(order)
    table = on_exact_grid(
        np.column_stack(
            [target.values, similarity.values, target.values**2, similarity.values**2, target.values * similarity.values]
        )
    )
    first, second = _Ranks(target.values), _Ranks(similarity.values)

    def _drawn(counts: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            ranks, varied = _spearman(counts, first.of(counts), second.of(counts))
            sums = np.where(varied[:, None], counts @ table, np.nan)
            straight, slope, intercept = _moments(sums, n)
            off = target.values - slope[:, None] * similarity.values - intercept[:, None]
            error = (counts * np.abs(off)).sum(axis=1) / n * target.scale
        return np.stack([straight.clip(-1, 1), ranks.clip(-1, 1), error])

    drawn = np.concatenate(over_resamples(n, resamples, _drawn, seed=seed, block=block), axis=1)
    return PairIntervals(*(percentile_interval(each, level) for each in drawn))


class _Unit(NamedTuple):
    values: Floats
    scale: float


def _unit(values: Floats) -> _Unit:
    """The values moved and scaled to lie about 0, within ±1: neither correlations nor lines look at place and scale."""
    moved = values - values.mean()
    scale = float(np.abs(moved).max())
    return _Unit(moved / scale, scale)


def _moments(sums: Floats, n: int) -> tuple[Floats, Floats, Floats]:
    """(resamples,) Pearson's correlation, and slope and intercept of the line to the targets."""
    target, similarity, target_square, similarity_square, product = sums.T
    common = product - target * similarity / n
    spread = similarity_square - similarity * similarity / n
    slope = common / spread
    return common / np.sqrt(spread * (target_square - target * target / n)), slope, (target - slope * similarity) / n


def _spearman(counts: Floats, first: Floats, second: Floats) -> tuple[Floats, np.ndarray]:
    """(resamples,) Spearman's correlation, and whether both columns vary; ranks and their products are exact."""
    one, two = (counts * first * first).sum(axis=1), (counts * second * second).sum(axis=1)
    both = (counts * first * second).sum(axis=1)
    return both / (np.sqrt(one) * np.sqrt(two)), (one > 0) & (two > 0)


class _Ranks:
    """The ranks of resamples: the values are sorted once, and each resample only adds up how often they were drawn."""

    def __init__(self, values: Floats) -> None:
        self._order: Ints = np.argsort(values, kind="stable")
        _, self._group, sizes = np.unique(values, return_inverse=True, return_counts=True)
        self._starts = np.cumsum(sizes) - sizes

    def of(self, counts: Floats) -> Floats:
        """(resamples, n) the mean rank that a value has in each resample, less the mean of all ranks."""
        groups = np.add.reduceat(counts[:, self._order], self._starts, axis=1)
        ranks = np.cumsum(groups, axis=1) - groups / 2
        return (ranks - counts.shape[1] / 2)[:, self._group]
