"""Values: what a measure says about each query of a run."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from rankwell.errors import BadInput
from rankwell.tables import Bools, Floats

Summary = Literal["mean", "sum", "median", "median_low", "median_floor", "geometric"]
Unit = Literal["share", "percent", "rank", "count", "score"]


@dataclass(frozen=True, eq=False)
class Values:
    """One number per query for one run and one measure, in the unit that is named: percentages are 0 to 100.

    run: its name. measure: the exact name. label: the word that the convention uses for it, the same where there is no other.
    summary: how the queries become one figure. queries: ids. values: (queries,) NaN where a query is not counted.
    weights: (queries,) make the mean a ratio of sums, Σ weight · value / Σ weight; finite and not negative where counted.
    Raises BadInput where the lengths differ, a value is infinite, or a weight cannot be one.
    """

    run: str
    measure: str
    label: str
    unit: Unit
    summary: Summary
    queries: tuple[str, ...]
    values: Floats
    weights: Floats | None = None

    def __post_init__(self) -> None:
        where = f"run {self.run!r}, measure {self.measure!r}"
        for name, column in (("values", self.values), ("weights", self.weights)):
            if column is not None and column.shape != (len(self.queries),):
                raise BadInput(f"{where}: {name} have the shape {column.shape}; one per query is wanted, ({len(self.queries)},).")
        if np.isinf(self.values).any():
            query = self.queries[int(np.flatnonzero(np.isinf(self.values))[0])]
            raise BadInput(f"{where}: query {query!r} has an infinite value; use NaN for a query that is not counted.")
        if self.weights is not None:
            if self.summary != "mean":
                raise BadInput(f"{where}: weights go with the summary 'mean', not with {self.summary!r}.")
            wrong = self.counted & ~((self.weights >= 0) & np.isfinite(self.weights))
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                raise BadInput(
                    f"{where}: query {self.queries[row]!r} has the weight {self.weights[row]}; weights are finite, from 0."
                )

    @cached_property
    def counted(self) -> Bools:
        """(queries,) whether a query has a value."""
        return ~np.isnan(self.values)
