"""Pairs excluded from neighbour search: the query's own item, and items with the query's label. By name, never by position."""

from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Ints
from rankwell.core.tables.embeddings import Embeddings
from rankwell.errors import BadInput, UnknownName

Exclude = Literal["none", "self"]


class Groups(NamedTuple):
    """A label per query and per item; an item is excluded for a query with the same label. None means unlabelled."""

    queries: Sequence[Hashable]
    items: Sequence[Hashable]


class ExcludedPairs(NamedTuple):
    """Pairs of a query and an item of a block that are excluded."""

    rows: Ints
    columns: Ints


class Exclusion:
    """The excluded pairs of two tables. Raises BadInput for a number of labels that does not fit, UnknownName."""

    def __init__(self, queries: Embeddings, items: Embeddings, exclude: Exclude, groups: Groups | None) -> None:
        if exclude not in ("none", "self"):
            raise UnknownName(f"exclude={exclude!r}; none or self.")
        self._self = _same_name(queries, items) if exclude == "self" else None
        self._labels = None if groups is None else _numbered(groups, queries.n, items.n)

    def excluded(self, rows: slice, start: int, n: int) -> ExcludedPairs:
        """The excluded pairs of some queries with n items from `start` on; counted within both."""
        found = [(np.empty(0, np.int64), np.empty(0, np.int64))]
        if self._self is not None:
            place = self._self[rows] - start
            inside = np.flatnonzero((place >= 0) & (place < n))
            found.append((inside, place[inside]))
        if self._labels is not None:
            labels, others = self._labels
            row, column = np.nonzero(labels[rows][:, None] == others[start : start + n])
            found.append((row, column))
        return ExcludedPairs(*(np.concatenate(column) for column in zip(*found, strict=True)))

    def is_excluded(self, rows: Ints, columns: Ints) -> Bools:
        """(pairs,) whether the item is excluded for the query."""
        excluded = np.zeros(len(rows), dtype=np.bool_)
        if self._self is not None:
            excluded |= self._self[rows] == columns
        if self._labels is not None:
            excluded |= self._labels[0][rows] == self._labels[1][columns]
        return excluded


def _same_name(queries: Embeddings, items: Embeddings) -> Ints:
    """(queries,) the position of the item with the query's name, -1 where there is none."""
    if queries.ids is None and items.ids is None:
        place = np.arange(queries.n)
        return np.where(place < items.n, place, -1)
    row = {name: position for position, name in enumerate(queries.names())}
    found = np.full(queries.n, -1, dtype=np.int64)
    for position, name in enumerate(items.names()):
        if name in row:
            found[row[name]] = position
    return found


def _numbered(groups: Groups, n_queries: int, n_items: int) -> tuple[Ints, Ints]:
    """Labels as numbers; no label is -1 on one side and -2 on the other, so that it equals nothing."""
    if len(groups.queries) != n_queries or len(groups.items) != n_items:
        raise BadInput(
            f"{len(groups.queries)} and {len(groups.items)} group labels for {n_queries} queries and {n_items} items; "
            "each has one, or None."
        )
    numbers: dict[Hashable, int] = {}
    queries, items = (
        np.array([none if label is None else numbers.setdefault(label, len(numbers)) for label in side], dtype=np.int64)
        for side, none in ((groups.queries, -1), (groups.items, -2))
    )
    return queries, items
