"""Scores: a number for every query and item, and which items are right for each query, by position."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankwell.core.tables import Bools, Ints, offsets_of
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.names import Positions
from rankwell.errors import BadInput, DuplicateItem

Matrix = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Scores:
    """Similarities of queries (rows) and items (columns), higher is better; they may be memory-mapped and are never changed.

    matrix: (queries, items) real numbers of any kind. query_ids, item_ids: all different; None where positions are the names.
    NaN and infinite scores are looked for by whoever reads them all. Raises BadInput for another shape, for kinds other than
    real numbers, for an empty gallery and for another number of ids; DuplicateItem for an id that appears twice.
    """

    matrix: Matrix
    query_ids: Sequence[str] | None = None
    item_ids: Sequence[str] | None = None

    def __post_init__(self) -> None:
        shape, kind = self.matrix.shape, self.matrix.dtype
        if len(shape) != 2:
            raise BadInput(f"the scores have shape {shape}; expected a table with a row per query and a column per item.")
        if kind.kind not in "fiub" or kind.itemsize > 8:
            raise BadInput(f"the scores are of type {kind}; expected real numbers. Convert them with .astype('float32').")
        for what, number in (("no query (no row)", shape[0]), ("an empty gallery (no column)", shape[1])):
            if not number:
                raise BadInput(f"the scores have shape {shape}: {what}; expected at least one of each.")
        for what, ids, number in (("row", self.query_ids, shape[0]), ("column", self.item_ids, shape[1])):
            if ids is not None:
                _refuse_ids(what, ids, number)

    @property
    def query_names(self) -> Sequence[str]:
        """(queries,) the ids, or the positions as text."""
        return Positions(self.matrix.shape[0]) if self.query_ids is None else self.query_ids

    @property
    def item_names(self) -> Sequence[str]:
        """(items,) the ids, or the positions as text."""
        return Positions(self.matrix.shape[1]) if self.item_ids is None else self.item_ids

    def place(self, row: int, column: int) -> str:
        """The name of a score in messages: row and column, from 0, and their ids where they have any."""
        query = "" if self.query_ids is None else f" ({self.query_ids[row]!r})"
        item = "" if self.item_ids is None else f" ({self.item_ids[column]!r})"
        return f"row {row}{query}, column {column}{item}"


def _refuse_ids(what: str, ids: Sequence[str], number: int) -> None:
    if len(ids) != number:
        raise BadInput(f"{len(ids)} ids for {number} {what}s of scores; every {what} has one id.")
    seen: dict[str, int] = {}
    for position, name in enumerate(ids):
        if seen.setdefault(name, position) != position:
            raise DuplicateItem(
                f"id {name!r} stands for {what}s {seen[name]} and {position} of the scores; ids are all different."
            )


@dataclass(frozen=True, eq=False)
class Positives:
    """The items that are right for each query, by position; a query may have none.

    offsets: (queries + 1,) where the items of each query begin. items: (pairs,) positions, ascending within a query.
    """

    offsets: Ints
    items: Ints
    n_items: int

    @classmethod
    def of(cls, queries: Ints, items: Ints, n_queries: int, n_items: int) -> Self:
        """The table of pairs in any order. Raises DuplicateItem for a pair that is given twice."""
        order = np.lexsort((items, queries))
        rows, columns = queries[order], items[order]
        twice = np.flatnonzero((np.diff(rows) == 0) & (np.diff(columns) == 0))
        if twice.size:
            row, column = int(rows[twice[0]]), int(columns[twice[0]])
            raise DuplicateItem(f"row {row} has the positive {column} twice; name every positive once.")
        return cls(offsets_of(np.bincount(rows, minlength=n_queries).astype(np.int64)), columns, n_items)

    @classmethod
    def diagonal(cls, n_queries: int, n_items: int) -> Self:
        """Each query's positive is the item of the same position. Raises BadInput unless there are as many of both."""
        if n_queries != n_items:
            shape = f"{n_queries} rows (queries) and {n_items} columns (items)"
            raise BadInput(f"scores of {shape} have no diagonal of positives; name them, as a list per row.")
        return cls(np.arange(n_items + 1, dtype=np.int64), np.arange(n_items, dtype=np.int64), n_items)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.offsets) - 1

    @cached_property
    def counts(self) -> Ints:
        """(queries,) how many positives each query has."""
        return np.diff(self.offsets)

    @cached_property
    def owner(self) -> Ints:
        """(pairs,) the query of each pair."""
        return np.repeat(np.arange(self.n_queries, dtype=np.int64), self.counts)

    @cached_property
    def transposed(self) -> "Positives":
        """The queries that are right for each item."""
        return Positives.of(self.items, self.owner, self.n_items, self.n_queries)

    def only(self, queries: Ints) -> "Positives":
        """The table of some queries, in the order given."""
        counts = self.counts[queries]
        offsets = offsets_of(counts)
        rows = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], counts) + np.repeat(self.offsets[queries], counts)
        return Positives(offsets, self.items[rows], self.n_items)

    def is_best(self, scores: Matrix) -> Bools:
        """(pairs,) whether a pair's score is the greatest of its query's pairs; several where they tie. scores: (pairs,)."""
        some = np.flatnonzero(self.counts)
        if not some.size:
            return np.zeros(0, dtype=np.bool_)
        return scores == np.repeat(np.maximum.reduceat(scores, self.offsets[some]), self.counts[some])

    def judgments(self, queries: Sequence[str], items: Sequence[str]) -> Judgments:
        """The same as judgments of grade 1, a row per pair; queries keep their order."""
        listed: list[int] = self.items.tolist()
        return Judgments(
            queries=tuple(queries), offsets=self.offsets, items=[items[item] for item in listed], grades=np.ones(len(self.items))
        )
