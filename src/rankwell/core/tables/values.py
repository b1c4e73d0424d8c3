"""Values: what a measure says about each query of a run."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any, Literal, overload

import numpy as np

from rankwell.core.tables import Bools, Floats
from rankwell.errors import BadInput

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
                raise BadInput(f"{where}: {name} have the shape {column.shape}; expected one per query, ({len(self.queries)},).")
        if np.isinf(self.values).any():
            query = self.queries[int(np.flatnonzero(np.isinf(self.values))[0])]
            raise BadInput(f"{where}: query {query!r} has an infinite value; use NaN for a query that is not counted.")
        if self.weights is not None:
            if self.summary != "mean":
                raise BadInput(f"{where}: weights require the summary 'mean', not {self.summary!r}.")
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


class ValueRows(Sequence[dict[str, Any]]):
    """The values of single queries as rows, by run, query and measure; a row is made when it is read.

    groups: (runs,) the values of each run, all of the same queries. `value` is None where a query is not counted.
    """

    columns = ("run", "query", "measure", "label", "value", "unit")

    def __init__(self, values: Sequence[Values]) -> None:
        self.groups = [list(group) for _, group in itertools.groupby(values, key=lambda each: each.run)]

    def __len__(self) -> int:
        return sum(len(each.queries) for group in self.groups for each in group)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for group in self.groups:
            numbers = [each.values.tolist() for each in group]
            for position, query in enumerate(group[0].queries):
                for each, values in zip(group, numbers, strict=True):
                    value = values[position]
                    yield {
                        "run": each.run,
                        "query": query,
                        "measure": each.measure,
                        "label": each.label,
                        "value": None if isnan(value) else value,
                        "unit": each.unit,
                    }

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return list(self)[index]
        return next(itertools.islice(self, range(len(self))[index], None))
