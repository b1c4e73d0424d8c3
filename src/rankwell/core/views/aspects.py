"""Rankings judged under several aspects of each query: judgment groups of trec_eval, or intents
(subtopics) of ndeval.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np

from rankwell.core.tables import (
    Bools,
    Floats,
    Ints,
    Judgments,
    gather,
    offsets_from_rows,
    segment_of_row,
    sum_by,
)
from rankwell.core.tables.ranking import Hits
from rankwell.core.views.judged import JudgedRankings


@dataclass(frozen=True, eq=False)
class AspectRankings:
    """A ranking per query and a truth per query and aspect; junk is gone and counted nowhere.

    flat: the rankings under the judgments of all aspects together, each item with its highest
    grade.
    aspects: (aspects,) names, the aspects of a query together. aspect_offsets: (queries + 1,) where
    those of each query begin. truth_offsets: (aspects + 1,) where the truth of each aspect begins.
    truth_items: (truth,) rows of the flat judgments, within an aspect in the order of the bytes of
    their ids. truth_grades: (truth,). own_items_only: whether each aspect sees the ranking without
    the items that it did not judge.
    """

    flat: JudgedRankings
    aspects: tuple[str, ...]
    aspect_offsets: Ints
    truth_offsets: Ints
    truth_items: Ints
    truth_grades: Floats
    own_items_only: bool = False

    @classmethod
    def join(cls, judgments: Judgments, hits: Hits, flat: Judgments | None = None) -> Self:
        """The view of one ranking under judgments with aspects. flat: those of the hits,
        `judgments.flat` unless given.
        """
        flat = judgments.flat if flat is None else flat
        names = ["0"] * len(judgments.items) if judgments.aspects is None else judgments.aspects
        starts = [
            row
            for start, stop in pairwise(judgments.offsets.tolist())
            for row in range(start, stop)
            if row == start or names[row] != names[row - 1]
        ]
        owner = judgments.query_of_row[starts]
        items = judgments.rows_in(flat)
        truth_rows = np.flatnonzero(flat.real[items])
        aspect = np.searchsorted(np.array(starts, dtype=np.int64), truth_rows, side="right") - 1
        return cls(
            flat=JudgedRankings.join(flat, hits),
            aspects=tuple(names[row] for row in starts),
            aspect_offsets=offsets_from_rows(owner, len(judgments.queries)),
            truth_offsets=offsets_from_rows(aspect, len(starts)),
            truth_items=items[truth_rows],
            truth_grades=judgments.grades[truth_rows],
        )

    @property
    def queries(self) -> tuple[str, ...]:
        """The ids of the queries."""
        return self.flat.queries

    @cached_property
    def query_of_aspect(self) -> Ints:
        """Index of each aspect's query."""
        return segment_of_row(self.aspect_offsets)

    @cached_property
    def aspect_of_truth(self) -> Ints:
        """Index of the aspect that each judgment belongs to."""
        return segment_of_row(self.truth_offsets)

    @cached_property
    def by_aspect(self) -> JudgedRankings:
        """The same rankings judged under each aspect alone; its `queries` are the aspects, its
        `items` rows of the truth here.
        """
        row_of_item = np.full(
            int(max(self.flat.items.max(initial=-1), self.truth_items.max(initial=-1))) + 1, -1
        )
        row_of_item[self.flat.items] = np.arange(len(self.flat.items))
        row_of_truth = row_of_item[self.truth_items]
        judged_truth = np.flatnonzero(row_of_truth >= 0)
        judged_truth = judged_truth[
            np.lexsort((row_of_truth[judged_truth], self.aspect_of_truth[judged_truth]))
        ]
        rows, flat = row_of_truth[judged_truth], self.flat
        view = JudgedRankings(
            queries=self.aspects,
            offsets=offsets_from_rows(self.aspect_of_truth[judged_truth], len(self.aspects)),
            items=judged_truth,
            grades=self.truth_grades[judged_truth],
            **{name: getattr(flat, name)[rows] for name in ("scores", "above", "tied", "before")},
            retrieved=flat.retrieved[self.query_of_aspect],
            present=flat.present[self.query_of_aspect],
            judged_offsets=self.truth_offsets,
            judged_grades=self.truth_grades[np.lexsort((-self.truth_grades, self.aspect_of_truth))],
            least_judged=flat.least_judged,
        )
        return view.condensed if self.own_items_only else view

    def sum_aspects(self, values: Floats) -> Floats:
        """Sum of the aspects' values of each query, in the order of the aspects; 0 without
        aspects.
        """
        return sum_by(self.query_of_aspect, values, len(self.queries))

    @property
    def with_unjudged_pool(self) -> Self:
        """The view in which a negative grade leaves an item unjudged, as in trec_eval."""
        return replace(self, flat=self.flat.with_unjudged_pool)

    def cut(self, depth: int) -> Self:
        """The view of rankings cut to their first `depth` items; the truth stays whole."""
        return replace(self, flat=self.flat.cut(depth))

    def take(self, queries: Ints) -> Self:
        """The view of some queries only, in the order given by their indices."""
        aspects, aspect_offsets = gather(self.aspect_offsets, queries)
        truth, truth_offsets = gather(self.truth_offsets, aspects)
        return replace(
            self,
            flat=self.flat.take(queries),
            aspects=tuple(self.aspects[aspect] for aspect in aspects.tolist()),
            aspect_offsets=aspect_offsets,
            truth_offsets=truth_offsets,
            truth_items=self.truth_items[truth],
            truth_grades=self.truth_grades[truth],
        )


@dataclass(frozen=True, eq=False)
class GroupRankings(AspectRankings):
    """A ranking per query and a truth per query and judgment group; the aspects are the groups."""

    needs: ClassVar[str] = "judgments in groups, of assessors or of evidence"

    @property
    def condensed(self) -> "GroupRankings":
        """The view of rankings without the items that a group did not judge, for each group on its
        own, as under trec_eval -J.
        """
        return replace(self, own_items_only=True)


@dataclass(frozen=True, eq=False)
class IntentRankings(AspectRankings):
    """A ranking per query and a truth per query and intent; the aspects are the intents."""

    needs: ClassVar[str] = "judgments of intents (subtopics) of the queries"

    @cached_property
    def condensed(self) -> "IntentRankings":
        """The view of rankings without the items that are judged for no intent."""
        return replace(self, flat=self.flat.condensed)

    def serving(self, rel: float) -> Iterator[tuple[int, Bools]]:
        """Each query with (items by id descending, intents) whether grade `rel` is reached; those
        without any are left out.
        """
        good = np.flatnonzero(self.truth_grades >= max(rel, 0))
        owner = self.query_of_aspect[self.aspect_of_truth[good]]
        edges = np.flatnonzero(np.diff(owner, prepend=-1, append=-1))
        for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            items, row = np.unique(-self.truth_items[good[start:stop]], return_inverse=True)
            intents, column = np.unique(self.aspect_of_truth[good[start:stop]], return_inverse=True)
            serves = np.zeros((len(items), len(intents)), dtype=np.bool_)
            serves[row, column] = True
            yield int(owner[start]), serves
