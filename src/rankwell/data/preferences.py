"""Preferences: the better of two items, stated by ranking items against each other; and rankings
judged by them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import ClassVar, NamedTuple, Self

import numpy as np

from rankwell.data.rankings import Hits
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Judgments,
    QueryRows,
    first_true,
    index_queries,
    nested_columns,
    offsets_from_rows,
    order_distinct,
    position_in_segment,
    positions_by_id,
    segment_of_row,
    segment_offsets,
    sum_by,
    take_segments,
)
from rankwell.errors import BadInput


@dataclass(frozen=True, eq=False)
class PreferenceGroup:
    """The preferences of one group of assessors in one query.

    items: (items,) positions among the items of the query, ascending.
    levels: (items,) the level of each in the last subgroup that names it.
    chained: the preferences of several subgroups with all that follow from them; None for a single
        subgroup, whose levels are enough.
    """

    items: Ints
    levels: Floats
    chained: Bools | None

    @property
    def better(self) -> Bools:
        """Whether the item of the row is preferred to the item of the column: (items, items)."""
        return self.levels[:, None] > self.levels[None, :] if self.chained is None else self.chained


@dataclass(frozen=True, eq=False)
class Preferences(QueryRows):
    """Items with levels by query, group and subgroup, sorted by the bytes of all of them and of the
    item.

    queries: every query, also one without rows.
    offsets: (queries + 1,) where the rows of each query begin.
    groups: (rows,) ids of the groups.
    subgroups: (rows,) ids of the subgroups.
    items: (rows,) ids of the items.
    levels: (rows,) finite numbers; 0 means not relevant.

    Within a subgroup an item of higher level is preferred to one of lower level. If a group has
    several subgroups, preferences chain: a over b in one and b over c in another give a over c.
    What different groups prefer may differ.

    >>> import rankwell as rw
    >>> stated = rw.Preferences.from_dict({"q": {"alice": {"1": {"a": 2.0, "b": 1.0}}}})
    >>> rw.preference_rankings(stated, {"q": ["b", "a"]}).ranks
    array([2, 1])
    """

    groups: Sequence[str]
    subgroups: Sequence[str]
    items: Sequence[str]
    levels: Floats

    @classmethod
    def from_rows(
        cls,
        queries: Sequence[str],
        groups: Sequence[str],
        subgroups: Sequence[str],
        items: Sequence[str],
        levels: Sequence[float] | Floats,
        *,
        all_queries: Iterable[str] = (),
    ) -> Self:
        """The table of rows given in any order; `all_queries` adds queries that have no row.

        Raises DuplicateItem if a subgroup names an item twice; BadInput if a level is not finite,
        if an item is not relevant (level 0) in one subgroup and relevant in another of its group,
        or if the preferences of a group contradict each other.
        """
        level = np.asarray(levels, dtype=np.float64)
        if (row := first_true(~np.isfinite(level))) >= 0:
            raise BadInput(
                f"query {queries[row]!r}, item {items[row]!r}: the level is {level[row]}; "
                "levels are finite numbers."
            )
        rows = order_distinct(
            "query {!r}, group {!r}, subgroup {!r} names item {!r} twice",
            queries,
            groups,
            subgroups,
            items,
        )
        names, owner = index_queries(queries, all_queries)
        table = cls(
            queries=names,
            offsets=offsets_from_rows(owner, len(names)),
            groups=[groups[row] for row in rows],
            subgroups=[subgroups[row] for row in rows],
            items=[items[row] for row in rows],
            levels=level[rows],
        )
        _ = table.by_group  # chains the preferences, and so finds what contradicts
        return table

    @classmethod
    def from_dict(
        cls, preferences: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]
    ) -> Self:
        """The table of a mapping query -> group -> subgroup -> item -> level."""
        return cls.from_rows(*nested_columns(preferences, 4), all_queries=preferences)

    @classmethod
    def from_judgments(cls, judgments: Judgments) -> Self:
        """Judgments read as preferences, one subgroup per group (trec_eval's format qrels_prefs);
        grades become levels.
        """
        constant = ["0"] * len(judgments.items)
        return cls.from_rows(
            judgments.row_queries,
            constant if judgments.aspects is None else judgments.aspects,
            constant,
            judgments.items,
            judgments.grades,
            all_queries=judgments.queries,
        )

    @cached_property
    def judgments(self) -> Judgments:
        """One row per query and item, with the highest level that any group gives it: what hits are
        found in.
        """
        return Judgments(self.queries, self.offsets, self.items, self.levels, self.groups).flat

    @cached_property
    def by_group(self) -> tuple[tuple[PreferenceGroup, ...], ...]:
        """Groups of each query in the order of their names."""
        flat, group_lists = self.judgments, list[tuple[PreferenceGroup, ...]]()
        for query, (start, stop) in enumerate(pairwise(self.offsets.tolist())):
            query_items = flat.items[flat.rows_of(self.queries[query])]
            positions = positions_by_id(query_items)
            by_group = groupby(range(start, stop), self.groups.__getitem__)
            group_lists.append(
                tuple(self._group(query, list(rows), positions) for _, rows in by_group)
            )
        return tuple(group_lists)

    def _group(self, query: int, rows: Sequence[int], place: Mapping[str, int]) -> PreferenceGroup:
        levels = {place[self.items[row]]: float(self.levels[row]) for row in rows}
        items = np.array(sorted(levels), dtype=np.int64)
        item_levels = np.array([levels[item] for item in items.tolist()])
        if self.subgroups[rows[0]] == self.subgroups[rows[-1]]:
            return PreferenceGroup(items, item_levels, None)
        relevant: dict[str, bool] = {}
        for row in rows:
            item, level = self.items[row], float(self.levels[row])
            if level >= 0 and relevant.setdefault(item, level > 0) != (level > 0):
                raise BadInput(
                    f"query {self.queries[query]!r}, group {self.groups[row]!r}: item "
                    f"{item!r} has level 0 (not relevant) in one "
                    "subgroup and a higher one in another; agree on one, or make them two groups."
                )
        return PreferenceGroup(items, item_levels, self._chain(query, rows, items, place))

    def _chain(
        self, query: int, rows: Sequence[int], items: Ints, place: Mapping[str, int]
    ) -> Bools:
        """Preferences of all subgroups and what follows from them: (items, items). Raises BadInput
        where they contradict.
        """
        better = np.zeros((len(items), len(items)), dtype=np.bool_)
        for _, by_subgroup in groupby(rows, self.subgroups.__getitem__):
            subgroup_rows = list(by_subgroup)
            members = np.searchsorted(items, [place[self.items[row]] for row in subgroup_rows])
            level = self.levels[subgroup_rows]
            better[np.ix_(members, members)] |= level[:, None] > level[None, :]
        grew = True
        while grew:
            steps = better.astype(np.float32)
            longer = better | (steps @ steps > 0)
            grew = bool((longer != better).any())
            better = longer
        if (first := first_true(better.diagonal())) >= 0:
            others = better[first] & better[:, first] & (np.arange(len(items)) != first)
            names = self.judgments.items[self.judgments.rows_of(self.queries[query])]
            raise BadInput(
                f"query {self.queries[query]!r}, group {self.groups[rows[0]]!r}: items "
                f"{names[items[first]]!r} and {names[items[first_true(others)]]!r} are each "
                "preferred to the other; make them preferences of two groups."
            )
        return better


class PlacedGroup(NamedTuple):
    """A group's items from first to last: those retrieved by rank, then the others by the bytes of
    their ids.
    """

    item_places: Ints
    """The places of the group's items among all items of the query, ascending: (items,)."""
    levels: Floats
    """The level of each item: (items,)."""
    better: Bools
    """Whether the item of the row is preferred to that of the column: (items, items)."""
    n_retrieved: int
    """Number of items that are retrieved."""
    chained: bool
    """Whether subgroups were joined."""


class Tally(NamedTuple):
    """Preferences by how many of their two items are retrieved.

    both_retrieved, one_retrieved, none_retrieved: (groups,) numbers of preferences; or (queries,)
        numbers of pairs of items, where fulfilled pairs count as the sums of the groups' shares.
    """

    both_retrieved: Floats
    one_retrieved: Floats
    none_retrieved: Floats


@dataclass(frozen=True, eq=False)
class PreferenceRankings:
    """Ranks of the items of every preference. A preference is fulfilled if its better item is
    retrieved, above the other if that is retrieved too.

    queries: ids of the queries.
    groups: (groups,) the preferences of each group, those of one query together.
    group_offsets: (queries + 1,) where the groups of each query begin.
    item_offsets: (queries + 1,) where the items of each query begin.
    ranks: (items,) ranks in the whole ranking, from 1; 0 for an item that was not retrieved. Within
        a query items are in the order of the bytes of their ids.
    present: (queries,) whether the ranking has the query.
    """

    needs: ClassVar[str] = "preferences between items in place of grades"
    queries: tuple[str, ...]
    groups: tuple[PreferenceGroup, ...]
    group_offsets: Ints
    item_offsets: Ints
    ranks: Ints
    present: Bools

    @classmethod
    def join(cls, preferences: Preferences, hits: Hits) -> Self:
        """The view of one ranking; `hits` are those of `preferences.judgments`. trec_eval breaks
        ties by `id-asc` here.
        """
        judgments = preferences.judgments
        ranks = np.zeros(len(judgments.items), dtype=np.int64)
        ranks[hits.row] = hits.above + hits.before + 1
        return cls(
            queries=preferences.queries,
            groups=tuple(group for groups in preferences.by_group for group in groups),
            group_offsets=segment_offsets(
                np.array([len(groups) for groups in preferences.by_group], dtype=np.int64)
            ),
            item_offsets=judgments.offsets,
            ranks=ranks,
            present=hits.has_ranking,
        )

    @property
    def with_unjudged_pool(self) -> Self:
        """The same: a preference has no grade that could be negative."""
        return self

    @cached_property
    def query_of_group(self) -> Ints:
        """Index of each group's query."""
        return segment_of_row(self.group_offsets)

    @cached_property
    def places(self) -> Ints:
        """Place of each item, from 0, among all items of its query, those not retrieved last."""
        query = segment_of_row(self.item_offsets)
        order = np.lexsort((self.ranks, self.ranks == 0, query))
        item_places = np.empty_like(self.ranks)
        item_places[order] = position_in_segment(self.item_offsets)
        return item_places

    def placed(self, group: int) -> PlacedGroup:
        """One group with its items in order."""
        preference_group = self.groups[group]
        items = self.item_offsets[self.query_of_group[group]] + preference_group.items
        order = np.argsort(self.places[items])
        return PlacedGroup(
            self.places[items][order],
            preference_group.levels[order],
            preference_group.better[np.ix_(order, order)],
            count_true(self.ranks[items] > 0),
            preference_group.chained is not None,
        )

    @cached_property
    def tallies(self) -> tuple[Tally, Tally]:
        """The preferences of each group that are fulfilled, and all of them."""
        group_tallies = [
            tally(placed.better, placed.n_retrieved)
            for placed in map(self.placed, range(len(self.groups)))
        ]
        table = np.array(group_tallies, dtype=np.float64).reshape(len(group_tallies), 2, 3)
        return _both(table)

    @cached_property
    def pairs(self) -> tuple[Tally, Tally]:
        """Over the pairs of items of each query with a stated preference: the sum of the share of
        groups whose preference is fulfilled, and the number of pairs.
        """
        table = np.zeros((len(self.queries), 2, 3))
        for query, (start, stop) in enumerate(pairwise(self.group_offsets.tolist())):
            if stop == start + 1:
                # One group states a pair once: the shares are 0 and 1.
                table[query] = [[column[start] for column in tallies] for tallies in self.tallies]
            elif stop > start:
                table[query] = self._pairs(range(start, stop))
        return _both(table)

    def _pairs(self, groups: range) -> Floats:
        bounds = self.item_offsets[self.query_of_group[groups[0]] :][:2]
        n = int(bounds[1] - bounds[0])
        n_retrieved = count_true(self.ranks[bounds[0] : bounds[1]] > 0)
        votes = np.zeros((n, n))
        for group in groups:
            placed = self.placed(group)
            votes[np.ix_(placed.item_places, placed.item_places)] += placed.better
        stated = np.triu(votes + votes.T)
        share = np.divide(np.triu(votes), stated, out=np.zeros_like(votes), where=stated > 0)
        first, last = slice(0, n_retrieved), slice(n_retrieved, n)
        return np.array(
            [
                [share[first, first].sum(), share[first, last].sum(), 0.0],
                [
                    count_true(stated[part] > 0)
                    for part in ((first, first), (first, last), (last, last))
                ],
            ]
        )

    def sum_groups(self, values: Floats) -> Floats:
        """Sum of the groups' values of each query, in the order of the groups; 0 without groups."""
        return sum_by(self.query_of_group, values, len(self.queries))

    def cut(self, depth: int) -> Self:
        """The view of rankings cut to their first `depth` items; the preferences stay whole."""
        return replace(self, ranks=np.where(self.ranks <= depth, self.ranks, 0))

    def take(self, queries: Ints) -> Self:
        """The view of some queries only, in the order given by their indices."""
        groups, group_offsets = take_segments(self.group_offsets, queries)
        items, item_offsets = take_segments(self.item_offsets, queries)
        return replace(
            self,
            queries=tuple(self.queries[query] for query in queries.tolist()),
            groups=tuple(self.groups[group] for group in groups.tolist()),
            group_offsets=group_offsets,
            item_offsets=item_offsets,
            ranks=self.ranks[items],
            present=self.present[queries],
        )


def _both(table: Floats) -> tuple[Tally, Tally]:
    """The tallies of a table, (n, 2, 3)."""
    return Tally(*table[:, 0].T), Tally(*table[:, 1].T)


def tally(better: Bools, n_retrieved: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Of the preferences between items in order, the fulfilled ones and all of them: both, one,
    none of the two retrieved.
    """
    first, last = slice(n_retrieved), slice(n_retrieved, None)
    both_retrieved, one_retrieved = better[first, first], count_true(better[first, last])
    possible = (
        count_true(both_retrieved),
        one_retrieved + count_true(better[last, first]),
        count_true(better[last, last]),
    )
    return (count_true(np.triu(both_retrieved)), one_retrieved, 0), possible


def count_true(values: Bools) -> int:
    """Number of true values."""
    return int(np.count_nonzero(values))
