"""Agreement of judges: raw agreement, the kappas of Cohen and Fleiss, Krippendorff's alpha, Gwet's
AC1 and AC2, with intervals.

Every coefficient is a function of sums over items, so that a bootstrap over queries adds up sums of
queries. Judges may leave items out. Sources: Cohen 1960, A coefficient of agreement for nominal
scales, and 1968, Weighted kappa; Fleiss 1971, Measuring nominal scale agreement among many raters;
Krippendorff 2004, Content analysis, 11.3; Gwet 2014, Handbook of inter-rater reliability, which
also gives Fleiss' kappa where judges leave items out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankwell._native.resamples import over_resamples
from rankwell.data.tables import Floats, Ints
from rankwell.stats import MIN_QUERIES, check_level, on_exact_grid
from rankwell.stats.intervals import percentile_interval

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
    """A coefficient: None where it is undefined, as with a single grade. interval: None below 10
    queries, or where undefined.
    """

    value: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Ratings:
    """Grades of several judges. Raises ValueError for a grade outside the scale.

    grades: (items, judges), NaN where a judge has none. scale: every grade that there is,
    ascending, two or more. weights: (items,) what each item counts, such as 1/π of a sample; 1 for
    each by default. queries: (items,) numbers of the queries, which a bootstrap draws; by default
    each item has its own.
    """

    grades: Floats
    scale: Sequence[float]
    weights: Floats | None = None
    queries: Ints | None = None

    def counts(self) -> Floats:
        """Number of judges that gave each grade. Returns (items, grades)."""
        counts = (self.grades[:, :, None] == np.asarray(self.scale)).sum(axis=1).astype(np.float64)
        if counts.sum() != np.count_nonzero(~np.isnan(self.grades)):
            raise ValueError("a grade is not on the scale")
        return counts

    @property
    def n_rated(self) -> int:
        """The number of items with two grades or more."""
        return int(np.count_nonzero((~np.isnan(self.grades)).sum(axis=1) >= 2))


def confusion(ratings: Ratings) -> Floats:
    """Weights of items by the grades of two judges, the first by row; items that lack one are left
    out.
    """
    return _confusions(ratings).sum(axis=0)


def coefficients(ratings: Ratings) -> dict[str, float | None]:
    """The coefficients by name: those of `SHARED`, and of two judges those of `COHEN`; None where
    undefined.

    Quadratic weights are squared distances of grades, as numbers. A grade of a single judge counts
    in the chance agreement of Fleiss and Gwet, and in nothing else.
    """
    sums = {name: totals.sum(axis=0) for name, totals in _sums(ratings).items()}
    values = _values(sums, np.asarray(ratings.scale, dtype=np.float64))
    return {name: None if np.isnan(value) else float(value) for name, value in values.items()}


def agreement(
    ratings: Ratings, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> dict[str, Coefficient]:
    """The coefficients with percentile bootstrap intervals over queries; none below 10 queries with
    items of two grades.

    Resamples without a coefficient are left out; where they are more than 1 % there is no interval.
    Raises BadUsage for a level outside (0, 1). Source: Efron and Tibshirani 1993, An introduction
    to the bootstrap, 13.3.
    """
    check_level(level)
    values, scale = coefficients(ratings), np.asarray(ratings.scale, dtype=np.float64)
    sums = _sums(ratings)
    if np.count_nonzero(sums["pairs"].any(axis=(1, 2))) < MIN_QUERIES:
        return {name: Coefficient(value, None) for name, value in values.items()}
    shapes = {name: totals.shape[1:] for name, totals in sums.items()}
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
    table = on_exact_grid(
        np.column_stack([totals.reshape(len(totals), -1) for totals in sums.values()])
    )

    def _figures_of(counts: Floats) -> Floats:
        parts = np.split(counts @ table, ends[:-1], axis=1)
        resample_sums = {
            name: part.reshape(-1, *shape)
            for part, (name, shape) in zip(parts, shapes.items(), strict=True)
        }
        return np.column_stack(list(_values(resample_sums, scale).values()))

    resampled = np.concatenate(over_resamples(len(table), resamples, _figures_of, seed=seed))
    return {
        name: Coefficient(value, _interval(resampled[:, index], level))
        for index, (name, value) in enumerate(values.items())
    }


def _interval(resampled: Floats, level: float) -> tuple[float, float] | None:
    defined = resampled[~np.isnan(resampled)]
    return (
        None
        if len(defined) < (1 - _MOST_UNDEFINED) * len(resampled)
        else percentile_interval(defined, level)
    )


def _confusions(ratings: Ratings) -> Floats:
    """The confusion matrix of two judges, by query."""
    first, second = (
        (ratings.grades[:, [judge]] == np.asarray(ratings.scale)).astype(np.float64)
        for judge in (0, 1)
    )
    return _by_query(ratings, first[:, :, None] * second[:, None, :])


def _by_query(ratings: Ratings, items: Floats) -> Floats:
    """The weighted sums of items over each query."""
    n = len(ratings.grades)
    weights = np.ones(n) if ratings.weights is None else ratings.weights
    _, query_index = np.unique(
        np.arange(n) if ratings.queries is None else ratings.queries, return_inverse=True
    )
    sums = np.zeros((int(query_index.max(initial=-1)) + 1, *items.shape[1:]))
    np.add.at(sums, query_index, weights.reshape(-1, *[1] * (items.ndim - 1)) * items)
    return sums


def _sums(ratings: Ratings) -> dict[str, Floats]:
    """By query: pairs of grades of one item, each item of weight 1 (`pairs`) or of one per judge
    (`coincidences`); shares of grades (`shares`); and of two judges the confusion.
    """
    counts = ratings.counts()
    n_judges = counts.sum(axis=1)
    other_judges = np.maximum(n_judges - 1, 1)
    pairs = (
        counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    ) / other_judges[:, None, None]
    by_item = {
        "pairs": pairs / np.maximum(n_judges, 1)[:, None, None],
        "coincidences": pairs,
        "shares": counts / np.maximum(n_judges, 1)[:, None],
    }
    sums = {name: _by_query(ratings, items) for name, items in by_item.items()}
    return sums | ({"confusion": _confusions(ratings)} if ratings.grades.shape[1] == 2 else {})


def _values(sums: Mapping[str, Floats], scale: Floats) -> dict[str, Floats]:
    """The coefficients from sums over items, whose first axes are free; NaN where undefined."""
    squares = (scale[:, None] - scale) ** 2
    distances = {"nominal": 1 - np.eye(len(scale)), "quadratic": squares / squares.max()}
    with np.errstate(invalid="ignore", divide="ignore"):
        pairs = sums["pairs"] / sums["pairs"].sum(axis=(-1, -2), keepdims=True)
        shares = sums["shares"] / sums["shares"].sum(axis=-1, keepdims=True)
        values = {
            "agreement": (pairs * np.eye(len(scale))).sum(axis=(-1, -2)),
            "Fleiss' kappa": _chance_corrected(
                (pairs * distances["nominal"]).sum(axis=(-1, -2)), 1 - (shares**2).sum(axis=-1)
            ),
        }
        for kind in ("nominal", "ordinal", "interval"):
            values[f"Krippendorff's alpha ({kind})"] = _alpha(sums["coincidences"], kind, squares)
        for name, kind in (("Gwet's AC1", "nominal"), ("Gwet's AC2 (quadratic)", "quadratic")):
            chance = (
                (1 - distances[kind]).sum()
                / (len(scale) * (len(scale) - 1))
                * (shares * (1 - shares)).sum(axis=-1)
            )
            values[name] = _chance_corrected(
                (pairs * distances[kind]).sum(axis=(-1, -2)), 1 - chance
            )
        if "confusion" in sums:
            joint = sums["confusion"] / sums["confusion"].sum(axis=(-1, -2), keepdims=True)
            by_chance = joint.sum(axis=-1)[..., :, None] * joint.sum(axis=-2)[..., None, :]
            for name, kind in zip(COHEN, distances, strict=True):
                values[name] = _chance_corrected(
                    (joint * distances[kind]).sum(axis=(-1, -2)),
                    (by_chance * distances[kind]).sum(axis=(-1, -2)),
                )
    return values


def _chance_corrected(observed: Floats, expected: Floats) -> Floats:
    """One minus observed over expected disagreement; NaN where less than 1e-12 is expected, which
    is rounding.
    """
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
