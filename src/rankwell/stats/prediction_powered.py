"""Means over drawn queries with predictions for further queries: prediction-powered inference with
a fitted share (PPI++).

Sources: Angelopoulos, Duchi and Zrnic 2023, PPI++: efficient prediction-powered inference;
Oosterhuis, Jagerman, Qin, Wang and Bendersky 2024, Reliable confidence intervals for information
retrieval evaluation using generative A.I.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankwell.data.tables import Floats, Ints, exact_mean, exact_sd
from rankwell.stats.intervals import student_quantile

FEWEST_JUDGED = 20
"""Below so many drawn queries predictions are not used: their share cannot be fitted."""
FOLDS = 5


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictedQueries:
    """Drawn queries with values and predictions, and further queries of the same kind with
    predictions alone.

    values, predictions, folds: (n,) of drawn queries; folds are numbers from 0 to 4, drawn at
    random. other_predictions: (N,) predictions. population: the number of queries that could have
    been drawn.
    """

    values: Floats
    predictions: Floats
    folds: Ints
    other_predictions: Floats
    population: int

    @cached_property
    def shares(self) -> Floats:
        """Share λ of each query's prediction, fitted on the other folds: cov(Y, f) / var(f) / (1 +
        n/N) in [0, 1].

        It is 0 where the predictions of the other folds are all the same.
        """
        n, shares = len(self.values), np.zeros(len(self.values))
        for fold in range(FOLDS):
            other_folds = self.folds != fold
            centred = self.predictions[other_folds] - self.predictions[other_folds].mean()
            below = float(centred @ centred)
            if below > 0:
                slope = float(centred @ self.values[other_folds]) / below
                shares[~other_folds] = min(
                    max(slope / (1 + n / len(self.other_predictions)), 0.0), 1.0
                )
        return shares

    @property
    def share(self) -> float:
        """The mean share λ."""
        return exact_mean(self.shares)

    @cached_property
    def mean(self) -> float:
        """The estimate: mean_N(λf) + mean_n(Y - λf), the first with the mean λ."""
        return self.share * exact_mean(self.other_predictions) + exact_mean(
            self.values - self.shares * self.predictions
        )

    @property
    def is_exact(self) -> bool:
        """Whether all queries were drawn; then none is left to predict."""
        return False

    @property
    def standard_error(self) -> float:
        """The error of the mean for queries like these: the root of s²(Y - λf)/n + λ²s²(f)/N.

        Residuals have the λ of their fold: those of a mean λ, which was fitted on them, are too
        small with 20 queries.
        """
        residual = _variance(self.values - self.shares * self.predictions)
        return math.sqrt(
            residual / len(self.values)
            + self.share**2 * _variance(self.other_predictions) / len(self.other_predictions)
        )

    def these_queries(self, level: float) -> tuple[float, float] | None:
        """The interval of the mean of all queries that could have been drawn, by Student's t with n
        - 1 degrees of freedom.

        The estimate is a regression estimator in the M = n + N queries with predictions, which were
        drawn as well: its variance is (1 - n/M)·s²(Y - λM/N·f)/n + (1 - M/population)·s²(Y)/M.
        Source: Cochran 1977, Sampling techniques, chapter 12.
        """
        n, m = len(self.values), len(self.values) + len(self.other_predictions)
        residual = _variance(
            self.values - self.shares * m / len(self.other_predictions) * self.predictions
        )
        variance = (1 - n / m) * residual / n + (1 - m / self.population) * _variance(
            self.values
        ) / m
        return self._interval(level, math.sqrt(max(variance, 0.0)))

    def queries_like_these(self, level: float) -> tuple[float, float] | None:
        """The interval of the mean of queries of the same kind, by Student's t with n - 1 degrees
        of freedom.

        None where all drawn queries have one value: they do not show how far others may differ.
        """
        return self._interval(level, self.standard_error)

    def _interval(self, level: float, error: float) -> tuple[float, float] | None:
        if np.ptp(self.values) == 0:
            return None
        reach = student_quantile(level, len(self.values) - 1) * error
        return self.mean - reach, self.mean + reach


def folds_of(numbers: Floats) -> Ints:
    """Five folds of nearly equal size, in the order of random numbers of the queries."""
    folds = np.empty(len(numbers), dtype=np.int64)
    folds[np.argsort(numbers, kind="stable")] = np.arange(len(numbers)) % FOLDS
    return folds


def _variance(values: Floats) -> float:
    return exact_sd(values) ** 2 if len(values) > 1 else 0.0
