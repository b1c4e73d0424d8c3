"""Preferences: the better of two items, stated by ranking items against each other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, offsets_of, order_ids, sort_ids
from rankwell.core.tables.judgments import Judgments
from rankwell.errors import BadInput, DuplicateItem


@dataclass(frozen=True, eq=False)
class PreferenceGroup:
    """The preferences of one assessor, or one group of them, in one query.

    items: (items,) which of the query's items it ranks, ascending, counted from the query's first item by the bytes of its id.
    levels: (items,) their levels, from the last subgroup that names an item. chained: the preferences of several subgroups with
    all that follow from them; None with a single subgroup, where the levels tell them.
    """

    items: Ints
    levels: Floats
    chained: Bools | None

    @property
    def better(self) -> Bools:
        """(items, items) whether the item of the row is preferred to the item of the column."""
        return self.levels[:, None] > self.levels[None, :] if self.chained is None else self.chained


@dataclass(frozen=True, eq=False)
class Preferences:
    """Items with levels by query, group and subgroup, sorted by the bytes of all of them and of the item.

    Within a subgroup an item of higher level is preferred to one of lower level. If a group has several subgroups, preferences
    chain: a over b in one and b over c in another give a over c. What different groups prefer may differ.
    queries: every query, also one without rows. offsets: (queries + 1,) where the rows of each query begin.
    groups, subgroups, items: (rows,) ids. levels: (rows,) finite; 0 means not relevant.
    """

    queries: tuple[str, ...]
    offsets: Ints
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

        Raises DuplicateItem if a subgroup names an item twice; BadInput if a level is not finite, if an item is not relevant
        (level 0) in one subgroup and relevant in another of its group, or if the preferences of a group contradict each other.
        """
        level = np.asarray(levels, dtype=np.float64)
        if not np.isfinite(level).all():
            row = int(np.flatnonzero(~np.isfinite(level))[0])
            raise BadInput(f"query {queries[row]!r}, item {items[row]!r}: the level is {level[row]}; levels are finite numbers.")
        order = order_ids(queries, groups, subgroups, items)
        rows: list[int] = order.tolist()
        names = sort_ids({*queries, *all_queries})
        index = {name: position for position, name in enumerate(names)}
        counts = np.bincount([index[query] for query in queries], minlength=len(names)).astype(np.int64)
        table = cls(
            queries=tuple(names),
            offsets=offsets_of(counts),
            groups=[groups[row] for row in rows],
            subgroups=[subgroups[row] for row in rows],
            items=[items[row] for row in rows],
            levels=level[order],
        )
        table._refuse_duplicates([queries[row] for row in rows], rows)
        _ = table.by_group  # chains the preferences, and so finds what contradicts
        return table

    @classmethod
    def from_dict(cls, preferences: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]) -> Self:
        """The table of a mapping query -> group -> subgroup -> item -> level."""
        rows = [
            (query, group, subgroup, item, level)
            for query, groups in preferences.items()
            for group, subgroups in groups.items()
            for subgroup, leveled in subgroups.items()
            for item, level in leveled.items()
        ]
        queries, groups, subgroups, items, levels = zip(*rows, strict=True) if rows else ((),) * 5
        return cls.from_rows(queries, groups, subgroups, items, np.array(levels, dtype=np.float64), all_queries=preferences)

    @classmethod
    def from_judgments(cls, judgments: Judgments) -> Self:
        """Judgments read as preferences, one subgroup per group (trec_eval's format qrels_prefs); grades become levels."""
        queries = [judgments.queries[position] for position in judgments.query_of_row.tolist()]
        constant = ["0"] * len(queries)
        groups = constant if judgments.aspects is None else judgments.aspects
        return cls.from_rows(queries, groups, constant, judgments.items, judgments.grades, all_queries=judgments.queries)

    def _refuse_duplicates(self, queries: Sequence[str], rows: Sequence[int]) -> None:
        keys = zip(queries, self.groups, self.subgroups, self.items, strict=True)
        for place, (key, following) in enumerate(pairwise(keys)):
            if key == following:
                first, second = sorted((rows[place] + 1, rows[place + 1] + 1))
                query, group, subgroup, item = key
                raise DuplicateItem(
                    f"query {query!r}, group {group!r}, subgroup {subgroup!r} names item {item!r} twice, "
                    f"in rows {first} and {second}; keep one of them."
                )

    @cached_property
    def judgments(self) -> Judgments:
        """One row per query and item, with the highest level that any group gives it: what hits are found in."""
        highest: dict[tuple[int, str], float] = {}
        owners = np.repeat(np.arange(len(self.queries)), np.diff(self.offsets)).tolist()
        for query, item, level in zip(owners, self.items, self.levels.tolist(), strict=True):
            highest[query, item] = max(level, highest.get((query, item), level))
        return Judgments.from_rows(
            [self.queries[query] for query, _ in highest],
            [item for _, item in highest],
            list(highest.values()),
            all_queries=self.queries,
        )

    @cached_property
    def by_group(self) -> tuple[tuple[PreferenceGroup, ...], ...]:
        """(queries,) the groups of each query in the order of their names."""
        flat, found = self.judgments, list[tuple[PreferenceGroup, ...]]()
        for query, (start, stop) in enumerate(pairwise(self.offsets.tolist())):
            own = flat.items[flat.offsets[query] : flat.offsets[query + 1]]
            place = {item: position for position, item in enumerate(own)}
            edges = [row for row in range(start, stop) if row == start or self.groups[row] != self.groups[row - 1]]
            found.append(tuple(self._group(query, rows, place) for rows in map(range, edges, [*edges[1:], stop])))
        return tuple(found)

    def _group(self, query: int, rows: range, place: Mapping[str, int]) -> PreferenceGroup:
        levels = {place[self.items[row]]: float(self.levels[row]) for row in rows}
        items = np.array(sorted(levels), dtype=np.int64)
        chained = None
        if self.subgroups[rows[0]] != self.subgroups[rows[-1]]:
            self._refuse_doubts(query, rows)
            chained = self._chain(query, rows, items, place)
        return PreferenceGroup(items, np.array([levels[item] for item in items.tolist()]), chained)

    def _refuse_doubts(self, query: int, rows: range) -> None:
        """Raises BadInput where one subgroup calls an item not relevant that another calls relevant."""
        relevant: dict[str, bool] = {}
        for row in rows:
            item, level = self.items[row], float(self.levels[row])
            if level >= 0 and relevant.setdefault(item, level > 0) != (level > 0):
                raise BadInput(
                    f"query {self.queries[query]!r}, group {self.groups[row]!r}: item {item!r} has level 0 (not relevant) in one "
                    "subgroup and a higher one in another; agree on one, or make them two groups."
                )

    def _chain(self, query: int, rows: range, items: Ints, place: Mapping[str, int]) -> Bools:
        """(items, items) the preferences of all subgroups and what follows from them. Raises BadInput where they contradict."""
        edges = [row for row in rows if row == rows.start or self.subgroups[row] != self.subgroups[row - 1]]
        better = np.zeros((len(items), len(items)), dtype=np.bool_)
        for start, stop in pairwise([*edges, rows.stop]):
            own = np.searchsorted(items, [place[self.items[row]] for row in range(start, stop)])
            level = self.levels[start:stop]
            better[np.ix_(own, own)] |= level[:, None] > level[None, :]
        grew = True
        while grew:
            steps = better.astype(np.float32)
            longer = better | (steps @ steps > 0)
            grew = bool((longer != better).any())
            better = longer
        if better.diagonal().any():
            first = int(np.flatnonzero(better.diagonal())[0])
            second = int(np.flatnonzero(better[first] & better[:, first] & (np.arange(len(items)) != first))[0])
            names = self.judgments.items[self.judgments.offsets[query] : self.judgments.offsets[query + 1]]
            raise BadInput(
                f"query {self.queries[query]!r}, group {self.groups[rows.start]!r}: items {names[int(items[first])]!r} and "
                f"{names[int(items[second])]!r} are each preferred to the other; make them preferences of two groups."
            )
        return better
