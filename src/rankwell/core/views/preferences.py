"""Rankings held against preferences: per query and group which item is preferred to which, and where they stand."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, offsets_of
from rankwell.core.tables.hits import Hits
from rankwell.core.tables.preferences import PreferenceGroup, Preferences
from rankwell.core.views import gather, position_in_segment


class PlacedGroup(NamedTuple):
    """A group's items from first to last: those retrieved by rank, then the others by the bytes of their ids.

    places: (items,) ascending, among all items of the query. levels: (items,). retrieved: how many of them are retrieved.
    better: (items, items) whether the item of the row is preferred to that of the column. chained: whether subgroups were joined.
    """

    places: Ints
    levels: Floats
    better: Bools
    retrieved: int
    chained: bool


class Tally(NamedTuple):
    """Preferences by how many of their two items are retrieved: both, one, none. Each is (groups,)."""

    both: Floats
    one: Floats
    none: Floats


@dataclass(frozen=True, eq=False)
class PreferenceRankings:
    """Ranks of the items of every preference. A preference is fulfilled if its better item is retrieved, above the other if
    that is retrieved too.

    queries: ids. groups: (groups,) those of a query together. group_offsets: (queries + 1,) where those of each query begin.
    item_offsets: (queries + 1,) where the items of each query begin. ranks: (items,) in the whole ranking from 1, 0 for an item
    that was not retrieved; items in the order of the bytes of their ids. present: (queries,) whether the ranking has the query.
    """

    queries: tuple[str, ...]
    groups: tuple[PreferenceGroup, ...]
    group_offsets: Ints
    item_offsets: Ints
    ranks: Ints
    present: Bools

    @classmethod
    def join(cls, preferences: Preferences, hits: Hits) -> Self:
        """The view of one ranking; `hits` are those of `preferences.judgments`. trec_eval breaks ties by `id-asc` here."""
        judgments = preferences.judgments
        ranks = np.zeros(len(judgments.items), dtype=np.int64)
        ranks[hits.row] = hits.above + hits.before + 1
        return cls(
            queries=preferences.queries,
            groups=tuple(group for groups in preferences.by_group for group in groups),
            group_offsets=offsets_of(np.array([len(groups) for groups in preferences.by_group], dtype=np.int64)),
            item_offsets=judgments.offsets,
            ranks=ranks,
            present=hits.present,
        )

    @cached_property
    def query_of_group(self) -> Ints:
        """(groups,) the index of each group's query."""
        return np.repeat(np.arange(len(self.queries), dtype=np.int64), np.diff(self.group_offsets))

    @cached_property
    def places(self) -> Ints:
        """(items,) the place of each item, from 0, among all items of its query, those not retrieved last."""
        query = np.repeat(np.arange(len(self.queries)), np.diff(self.item_offsets))
        order = np.lexsort((self.ranks, self.ranks == 0, query))
        places = np.empty_like(self.ranks)
        places[order] = position_in_segment(self.item_offsets)
        return places

    def placed(self, group: int) -> PlacedGroup:
        """One group with its items in order."""
        each, start = self.groups[group], int(self.item_offsets[self.query_of_group[group]])
        places = self.places[start + each.items]
        order = np.argsort(places)
        return PlacedGroup(
            places=places[order],
            levels=each.levels[order],
            better=each.better[np.ix_(order, order)],
            retrieved=count_true(self.ranks[start + each.items] > 0),
            chained=each.chained is not None,
        )

    @cached_property
    def tallies(self) -> tuple[Tally, Tally]:
        """The preferences of each group that are fulfilled, and all of them."""
        found = [tally(placed.better, placed.retrieved) for placed in map(self.placed, range(len(self.groups)))]
        table = np.array(found, dtype=np.float64).reshape(len(found), 2, 3)
        return Tally(*table[:, 0].T), Tally(*table[:, 1].T)

    @cached_property
    def pairs(self) -> tuple[Tally, Tally]:
        """(queries,) over the pairs of items with a stated preference: the sum of the share of groups whose preference is
        fulfilled, and the number of pairs."""
        table = np.zeros((len(self.queries), 2, 3))
        for query, (start, stop) in enumerate(pairwise(self.group_offsets.tolist())):
            if stop == start + 1:
                # One group states a pair once: the shares are 0 and 1.
                table[query] = [[each[start] for each in tallies] for tallies in self.tallies]
            elif stop > start:
                table[query] = self._pairs(range(start, stop))
        return Tally(*table[:, 0].T), Tally(*table[:, 1].T)

    def _pairs(self, groups: range) -> Floats:
        bounds = self.item_offsets[self.query_of_group[groups[0]] :][:2]
        n, retrieved = int(bounds[1] - bounds[0]), count_true(self.ranks[bounds[0] : bounds[1]] > 0)
        votes = np.zeros((n, n))
        for group in groups:
            placed = self.placed(group)
            votes[np.ix_(placed.places, placed.places)] += placed.better
        stated = np.triu(votes + votes.T)
        share = np.divide(np.triu(votes), stated, out=np.zeros_like(votes), where=stated > 0)
        parts = [(slice(0, retrieved), slice(0, retrieved)), (slice(0, retrieved), slice(retrieved, n))]
        known = [stated[part] > 0 for part in [*parts, (slice(retrieved, n), slice(retrieved, n))]]
        return np.array([[*(share[part].sum() for part in parts), 0.0], [count_true(part) for part in known]])

    def sum_groups(self, values: Floats) -> Floats:
        """(queries,) the sum of (groups,) values per query, in the order of the groups; 0 without groups."""
        return np.bincount(self.query_of_group, weights=values, minlength=len(self.queries)).astype(np.float64, copy=False)

    def cut(self, depth: int) -> Self:
        """The view of rankings cut to their first `depth` items; the preferences stay whole."""
        return replace(self, ranks=np.where(self.ranks <= depth, self.ranks, 0))

    def take(self, queries: Ints) -> Self:
        """The view of some queries only, in the order given by their indices."""
        groups, group_offsets = gather(self.group_offsets, queries)
        items, item_offsets = gather(self.item_offsets, queries)
        return replace(
            self,
            queries=tuple(self.queries[query] for query in queries.tolist()),
            groups=tuple(self.groups[group] for group in groups.tolist()),
            group_offsets=group_offsets,
            item_offsets=item_offsets,
            ranks=self.ranks[items],
            present=self.present[queries],
        )


def tally(better: Bools, retrieved: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Of the preferences between items in order, the fulfilled ones and all of them: both, one, none of the two retrieved."""
    upper, right, below = better[:retrieved, :retrieved], better[:retrieved, retrieved:], better[retrieved:]
    one = count_true(right)
    possible = (count_true(upper), one + count_true(below[:, :retrieved]), count_true(below[:, retrieved:]))
    return (count_true(np.triu(upper)), one, 0), possible


def count_true(values: Bools) -> int:
    """Number of true values."""
    return int(np.count_nonzero(values))
