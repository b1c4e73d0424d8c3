"""Agreement of judges: raw agreement, the kappas of Cohen and Fleiss, Krippendorff's alpha, Gwet's
AC1 and AC2, with intervals; and its trend, the slope of a straight line.

Every coefficient is a function of sums over items, so that a bootstrap over queries adds up sums of
queries. Judges may leave items out. Sources: Cohen 1960, A coefficient of agreement for nominal
scales, and 1968, Weighted kappa; Fleiss 1971, Measuring nominal scale agreement among many raters;
Krippendorff 2004, Content analysis, 11.3; Gwet 2014, Handbook of inter-rater reliability, which
also gives Fleiss' kappa where judges leave items out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankwell._native.resamples import over_resamples
from rankwell.data.tables import Floats, Ints, sum_by
from rankwell.stats import MIN_QUERIES, on_exact_grid, resampled_sums
from rankwell.stats.intervals import Interval, percentile_interval

COHEN = ("Cohen's kappa", "Cohen's kappa (quadratic)")
"""Coefficients of two judges only."""
SHARED = (
    "agreement",
    "Fleiss' kappa",
    "Krippendorff's alpha (nominal)",
    "Krippendorff's alpha (ordinal)",
    "Krippendorff's alpha (interval)",
    "Gwet's AC1",
    "Gwet's AC2 (quadratic)",
)
"""Coefficients of any number of judges."""
_MOST_UNDEFINED = 0.01
"""The share of resamples without a coefficient that an interval may leave out."""


class Coefficient(NamedTuple):
    """A coefficient of agreement.

    value: the coefficient; None where it is undefined, as with a single grade.
    interval: the interval of the value; None below 10 queries, or where undefined.
    """

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Ratings:
    """Grades of several judges. Raises ValueError for a grade outside the scale.

    grades: (items, judges), NaN where a judge has none.
    scale: all possible grades, ascending, two or more.
    weights: (items,) weight of each item, such as 1/π in a sample; 1 by default.
    queries: (items,) numbers of the queries, which a bootstrap draws; by default each item has its
        own.
    """

    grades: Floats
    scale: Sequence[float]
    weights: Floats | None = None
    queries: Ints | None = None

    @property
    def n_rated(self) -> int:
        """The number of items with two grades or more."""
        return int(np.count_nonzero((~np.isnan(self.grades)).sum(axis=1) >= 2))


def confusion(ratings: Ratings) -> Floats:
    """Weights of items by the grades of two judges, the first by row; items that lack one are left
    out.
    """
    n_grades = len(ratings.scale)
    return _sums(ratings).sum(axis=0)[-(n_grades**2) :].reshape(n_grades, n_grades)


def coefficients(ratings: Ratings) -> dict[str, float | None]:
    """The coefficients by name: those of `SHARED`, and of two judges those of `COHEN`; None where
    undefined.

    Quadratic weights are squared distances of grades, as numbers. A grade of a single judge counts
    in the chance agreement of Fleiss and Gwet, and in nothing else.
    """
    values = _values(_sums(ratings).sum(axis=0, keepdims=True), ratings.scale)
    return {name: None if np.isnan(value) else float(value) for name, (value,) in values.items()}


def agreement(
    ratings: Ratings, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> dict[str, Coefficient]:
    """The coefficients with percentile bootstrap intervals over queries; none below 10 queries with
    items of two grades.

    Resamples without a coefficient are left out; where they are more than 1 % there is no interval.
    Source: Efron and Tibshirani 1993, An introduction to the bootstrap, 13.3.
    """
    values, sums, scale = coefficients(ratings), _sums(ratings), ratings.scale
    if np.count_nonzero(sums[:, : len(scale) ** 2].any(axis=1)) < MIN_QUERIES:
        return {name: Coefficient(value, None) for name, value in values.items()}
    table = on_exact_grid(sums)
    blocks = over_resamples(
        len(table),
        resamples,
        lambda counts: np.stack(list(_values(counts @ table, scale).values())),
        seed=seed,
    )
    resampled = np.concatenate(blocks, axis=1)
    return {
        name: Coefficient(value, _interval(figures, level))
        for (name, value), figures in zip(values.items(), resampled, strict=True)
    }


def _interval(resampled: Floats, level: float) -> Interval | None:
    defined = resampled[~np.isnan(resampled)]
    if len(defined) < (1 - _MOST_UNDEFINED) * len(resampled):
        return None
    return percentile_interval(defined, level)


def _sums(ratings: Ratings) -> Floats:
    """The weighted sums of items over each query: pairs of grades of one item, each item of weight
    1, then of one per judge, each pair a column; shares of grades; and of two judges the confusion.
    """
    is_grade = ratings.grades[:, :, None] == np.asarray(ratings.scale)
    counts = is_grade.sum(axis=1).astype(np.float64)
    if counts.sum() != np.count_nonzero(~np.isnan(ratings.grades)):
        raise ValueError("a grade is not on the scale")
    n, n_judges = len(counts), counts.sum(axis=1)
    of_judges = np.maximum(n_judges, 1)[:, None]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    pairs /= np.maximum(n_judges - 1, 1)[:, None, None]
    columns = [pairs / of_judges[:, :, None], pairs, counts / of_judges]
    if ratings.grades.shape[1] == 2:
        columns.append((is_grade[:, 0, :, None] & is_grade[:, 1, None, :]).astype(np.float64))
    items = np.hstack([column.reshape(n, math.prod(column.shape[1:])) for column in columns])
    _, query_index = np.unique(
        np.arange(n) if ratings.queries is None else ratings.queries, return_inverse=True
    )
    if ratings.weights is not None:
        items *= ratings.weights[:, None]
    sums = np.zeros((int(query_index.max(initial=-1)) + 1, items.shape[1]))
    np.add.at(sums, query_index, items)
    return sums


def _values(sums: Floats, grades: Sequence[float]) -> dict[str, Floats]:
    """The coefficients from sums over items, one row each; NaN where undefined."""
    scale, n_grades = np.asarray(grades, dtype=np.float64), len(grades)
    squares = (scale[:, None] - scale) ** 2
    distances = {"nominal": 1 - np.eye(n_grades), "quadratic": squares / squares.max()}
    pairs, coincidences, shares, joint = np.split(
        sums, np.cumsum([n_grades**2, n_grades**2, n_grades]), axis=1
    )
    pairs, coincidences, joint = (
        part.reshape(-1, n_grades, n_grades) for part in (pairs, coincidences, joint)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        pairs = pairs / pairs.sum(axis=(-1, -2), keepdims=True)
        shares = shares / shares.sum(axis=-1, keepdims=True)
        values = {
            "agreement": (pairs * np.eye(n_grades)).sum(axis=(-1, -2)),
            "Fleiss' kappa": _chance_corrected(
                pairs, distances["nominal"], 1 - (shares**2).sum(axis=-1)
            ),
        }
        for kind in ("nominal", "ordinal", "interval"):
            values[f"Krippendorff's alpha ({kind})"] = _alpha(coincidences, kind, squares)
        for name, kind in (("Gwet's AC1", "nominal"), ("Gwet's AC2 (quadratic)", "quadratic")):
            weights = (1 - distances[kind]).sum() / (n_grades * (n_grades - 1))
            chance = weights * (shares * (1 - shares)).sum(axis=-1)
            values[name] = _chance_corrected(pairs, distances[kind], 1 - chance)
        if joint.size:
            joint = joint / joint.sum(axis=(-1, -2), keepdims=True)
            by_chance = joint.sum(axis=-1)[..., :, None] * joint.sum(axis=-2)[..., None, :]
            for name, distance in zip(COHEN, distances.values(), strict=True):
                expected = (by_chance * distance).sum(axis=(-1, -2))
                values[name] = _chance_corrected(joint, distance, expected)
    return values


def _chance_corrected(pairs: Floats, distance: Floats, expected: Floats) -> Floats:
    """One minus observed over expected disagreement; NaN where less than 1e-12 is expected, which
    is rounding.
    """
    observed = (pairs * distance).sum(axis=(-1, -2))
    return np.where(expected > 1e-12, 1 - observed / expected, np.nan)


def _alpha(coincidences: Floats, kind: str, squares: Floats) -> Floats:
    """Krippendorff's alpha of coincidences, (…, grades, grades)."""
    totals = coincidences.sum(axis=-1)
    n = totals.sum(axis=-1)
    distance = 1 - np.eye(totals.shape[-1]) if kind == "nominal" else squares
    if kind == "ordinal":
        middles = np.cumsum(totals, axis=-1) - totals / 2
        distance = (middles[..., :, None] - middles[..., None, :]) ** 2
    observed = (coincidences * distance).sum(axis=(-1, -2))
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-1, -2))
    return np.where(expected > 0, 1 - (n - 1) * observed / expected, np.nan)


class Trend(NamedTuple):
    """A slope by least squares.

    slope: change of y per unit of x; None where all x are equal.
    interval: the interval of the slope; None below 10 clusters or where a resample has no slope.
    """

    slope: float | None
    interval: Interval | None


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

    Source: Davison and Hinkley 1997, Bootstrap methods and their application, 3.8.
    """
    if not len(x) or np.ptp(x) == 0:
        return Trend(None, None)
    _, cluster_index = np.unique(clusters, return_inverse=True)
    off_x, off_y = x - x.mean(), y - y.mean()
    products = (np.ones(len(x)), off_x, off_y, off_x * off_x, off_x * off_y)
    table = np.column_stack([sum_by(cluster_index, product, 0) for product in products])
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
