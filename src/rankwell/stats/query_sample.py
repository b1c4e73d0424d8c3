"""Means over queries that were drawn and judged completely, with intervals for these queries and
for queries like these.

Source: Cochran 1977, Sampling techniques, 2.6: the correction for a finite population.
"""

import math
from dataclasses import dataclass

import numpy as np

from rankwell.core.exact import exact_mean, exact_sd
from rankwell.core.tables import Floats
from rankwell.stats.intervals import student_quantile

FEWEST_QUERIES = 10
"""Below so many drawn queries there is no interval."""


@dataclass(frozen=True, eq=False)
class WholeQueries:
    """The values of drawn queries, (n,), out of a number of queries in all."""

    values: Floats
    population: int

    @property
    def mean(self) -> float:
        """The estimate."""
        return exact_mean(self.values)

    @property
    def is_exact(self) -> bool:
        """Whether all queries were drawn."""
        return len(self.values) == self.population

    @property
    def standard_error(self) -> float:
        """The standard error of the mean for queries like these; NaN for a single query."""
        n = len(self.values)
        return exact_sd(self.values) / math.sqrt(n) if n > 1 else math.nan

    def these_queries(self, level: float) -> tuple[float, float] | None:
        """The interval of the mean of all queries that could have been drawn; None as for queries
        like these, unless all are.
        """
        if self.is_exact:
            return self.mean, self.mean
        return self._interval(level, math.sqrt(1 - len(self.values) / self.population))

    def queries_like_these(self, level: float) -> tuple[float, float] | None:
        """The interval of the mean of queries of the same kind, by Student's t.

        None below 10 drawn ones, and where all have one value: they do not show how far others may
        differ.
        """
        return self._interval(level, 1.0)

    def _interval(self, level: float, factor: float) -> tuple[float, float] | None:
        if len(self.values) < FEWEST_QUERIES or np.ptp(self.values) == 0:
            return None
        reach = student_quantile(level, len(self.values) - 1) * self.standard_error * factor
        return self.mean - reach, self.mean + reach
