"""Logged rounds under one policy: rewards with importance weights, and what a model of rewards
expects of them.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from rankwell.data.tables import Bools, Floats, Ints, segment_offsets, sum_by
from rankwell.errors import BadUsage, flag


class LoggedRows(NamedTuple):
    """Rows of a log. Every array is (rows,).

    rewards: reward for showing an item.
    weights: the policy's probability of the item over the propensity; 1 for the logging policy.
    slots: the slot within which weights are normalised, from 0.
    estimates: reward that a model expects for the shown item; None without a model.
    expected: mean of that reward over what the policy would show; None where that is unknown.
    """

    rewards: Floats
    weights: Floats
    slots: Ints
    estimates: Floats | None = None
    expected: Floats | None = None

    def of(self, rows: Ints | Bools) -> "LoggedRows":
        """Some of the rows, in the order of their numbers."""
        return LoggedRows(*(None if column is None else column[rows] for column in self))  # pyright: ignore[reportArgumentType]

    def model(self, measure: str) -> tuple[Floats, Floats]:
        """Estimates and expectations. Raises BadUsage without a model of rewards."""
        if self.estimates is None:
            raise BadUsage(
                f"{measure} needs a model of rewards; name a table or a column of its "
                f"estimates by {flag('--reward-model')}."
            )
        if self.expected is None:
            expectations = "what it expects under the policy, too"
            raise BadUsage(
                f"{measure} needs {expectations}; name a column by {flag('--expected')}, or give "
                "policy and model as tables."
            )
        return self.estimates, self.expected


class SelfNormalised(NamedTuple):
    """Means of each slot.

    weight: (slots,) mean weight; NaN where all weights are 0.
    centre: (slots,) weighted mean of a variable; NaN where all weights are 0.
    """

    weight: Floats
    centre: Floats

    @classmethod
    def of(cls, rows: LoggedRows, variable: Floats) -> "SelfNormalised":
        """Those of rows."""
        size = int(rows.slots.max(initial=0)) + 1
        n, weights, sums = (
            sum_by(rows.slots, weights, size)
            for weights in (np.ones(len(variable)), rows.weights, rows.weights * variable)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls(np.where(weights > 0, weights / n, np.nan), sums / weights)


@dataclass(frozen=True, eq=False)
class LoggedRounds:
    """The rows of a log by query.

    queries: ids of the queries.
    offsets: (queries + 1,) where the rows of each query begin.
    rows: the rows of all queries, one query after the other.
    whole: the rows over which weights are normalised, which are those of the whole log also where
        the view is a part of it.
    sums: whether the value of a query is the sum of its rows, as for a slate, and not their mean.
    """

    needs: ClassVar[str] = "logged rewards"
    command: ClassVar[str] = "clicks"
    queries: tuple[str, ...]
    offsets: Ints
    rows: LoggedRows
    whole: LoggedRows
    sums: bool = False

    def at(self, slot: Ints, number: int) -> "LoggedRounds":
        """The rows of one position alone. slot: (rows,) the position of each. Queries without such
        a row are left out.
        """
        is_here = slot == number
        owners = np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))[is_here]
        queries, counts = np.unique(owners, return_counts=True)
        rows = self.rows.of(is_here)
        names = tuple(self.queries[query] for query in queries.tolist())
        return LoggedRounds(names, segment_offsets(counts), rows, rows, self.sums)

    @property
    def counts(self) -> Ints:
        """The number of rows: (queries,)."""
        return np.diff(self.offsets)

    def by_query(self, values: Floats) -> Floats:
        """The mean, or the sum, of the values of rows, (queries,); NaN for a query without rows."""
        counts = self.counts
        owners = np.repeat(np.arange(len(self.queries)), counts)
        totals = sum_by(owners, values, len(self.queries))
        with np.errstate(invalid="ignore"):
            return np.where(
                counts > 0, totals / (1 if self.sums else np.maximum(counts, 1)), np.nan
            )
