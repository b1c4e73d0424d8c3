"""The best values that any scorer can reach where captions or videos are the same."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.matrices import Positives
from rankwell.data.rankings import Hits
from rankwell.data.registry import Measure
from rankwell.data.tables import Floats, Ints, Judgments, position_in_segment, segment_offsets
from rankwell.evaluation.judged import Ceiling, ideal_if_shared
from rankwell.measures.first_rank import reads_best_only
from rankwell.tasks.crossmodal.conventions import CaptionTies
from rankwell.tasks.crossmodal.ties import averaged

_MEANS = ("mean", "sum")


class Choices(NamedTuple):
    """Sets of items that are the same and hold a positive of a query, ascending by query.

    query: (n,) the query of each set.
    size: (n,) number of items in the set.
    right: (n,) number of positives in the set.
    position: (n,) position of the first positive in the set, in the order of items of equal score.
    lone: whether other sets do not matter.
    """

    query: Ints
    size: Ints
    right: Ints
    position: Ints
    lone: bool = False


@dataclass(frozen=True, eq=False)
class CopyCeilings:
    """The limits of any scorer in one direction, where some queries or items are the same.

    ties: the tie rule.
    judgments: the positives of each query.
    retrieved: (queries,) number of ranked items.
    alike: (queries,) the first query that is the same; None where all differ or where that is
        unknown.
    choices: sets of items that are the same; None where all differ or where that is unknown.
    """

    ties: CaptionTies
    judgments: Judgments
    retrieved: Ints
    alike: Ints | None
    choices: Choices | None

    def of(self, measure: Measure) -> list[Ceiling]:
        """Every limit of a measure, in the order of the judgments; those alone that are not known,
        where one is not.
        """
        # Where ties are placed in a query's favour, a scorer that gives all items one score has
        # everything right.
        if self.ties == "optimistic" or (self.alike is None and self.choices is None):
            return []
        unknown = ""
        if not reads_best_only(measure):
            unknown = (
                "what measures of all positives can reach is not known where captions or videos "
                "are the same"
            )
        elif self.ties == "multiplied":
            unknown = (
                "under the tie rule multiplied a scorer can make queries count more often by ties"
            )
        if unknown:
            return [Ceiling(None, unknown)]
        limits = [] if self.alike is None else [self._of_queries(measure)]
        limits += [] if self.choices is None else [self._of_items(measure, self.choices)]
        return [limit for limit in limits if limit.values is None] or limits

    def _of_queries(self, measure: Measure) -> Ceiling:
        """Queries that are the same share one ranking."""
        single = measure.name == "Success" and measure.cutoff == 1
        if self.overlapping and not single:
            return Ceiling(
                None,
                "the positives of captions that are the same overlap in part, and who comes best "
                "first is not known",
            )
        if self.ties in ("expected", "averaged") and measure.entry.summary not in _MEANS:
            return Ceiling(
                None, f"under the tie rule {self.ties} a scorer can lower medians by ties"
            )
        if self.ties == "averaged" and measure.name == "Success" and not single:
            # Twice as many items can share the first places in one tie, whose middle is K + 1/2.
            measure = measure.with_parameters(k=2 * (measure.cutoff or 1))
        return Ceiling(measure(self._shared))

    @cached_property
    def _shared(self) -> JudgedRankings:
        return ideal_if_shared(
            self.judgments, [] if self.alike is None else self.alike, self.retrieved
        )

    @cached_property
    def overlapping(self) -> bool:
        """Whether two queries that are the same have positives in common and others besides."""
        alike: list[int] = [] if self.alike is None else self.alike.tolist()
        positives_of_copy: dict[tuple[int, str], frozenset[str]] = {}
        for group, (start, stop) in zip(
            alike, pairwise(self.judgments.offsets.tolist()), strict=True
        ):
            positives = frozenset(self.judgments.items[start:stop])
            if any(
                positives_of_copy.setdefault((group, item), positives) != positives
                for item in positives
            ):
                return True
        return False

    def _of_items(self, measure: Measure, choices: Choices) -> Ceiling:
        """Items that are the same share one score: the best set of a query stands first, its items
        by the tie rule.
        """
        query, size, right, best_position, lone = choices
        nothing, ones = np.zeros_like(size), np.ones_like(size)
        if self.ties == "averaged":
            return Ceiling(averaged(measure, self._view(query, size, nothing, size, ones)))
        if self.ties != "expected":
            above = size - right if self.ties == "pessimistic" else best_position
            return Ceiling(measure(self._view(query, above, above, ones, ones)))
        single = measure.name == "Success" and measure.cutoff == 1
        # Several sets to choose from, none of positives alone.
        sets, pure = (
            np.bincount(owners, minlength=len(self.judgments.queries))
            for owners in (query, query[right == size])
        )
        if not lone and not single and ((sets > 1) & (pure == 0)).any():
            return Ceiling(
                None,
                "which of several sets of videos or captions that are the same comes best "
                "first is not known",
            )
        expected = measure.entry.expected
        view = self._view(query, -right / size, nothing, size, right)
        return Ceiling(
            measure(view) if expected is None else expected(view, **dict(measure.arguments))
        )

    def _view(
        self, query: Ints, cost: Ints | Floats, above: Ints, tied: Ints, rows: Ints
    ) -> JudgedRankings:
        """The view of the cheapest choice of each query, with so many of its positives in it."""
        order = np.lexsort((tied, cost, query))
        owners, first = np.unique(query[order], return_index=True)
        cheapest = order[first]
        n_rows = rows[cheapest]
        owner, within = np.repeat(owners, n_rows), position_in_segment(segment_offsets(n_rows))
        counts = (
            np.zeros(len(owner)),
            np.repeat(above[cheapest], n_rows),
            np.repeat(tied[cheapest], n_rows),
            within,
        )
        rows = self.judgments.offsets[owner] + within
        present = np.ones(len(self.retrieved), dtype=np.bool_)
        return JudgedRankings.join(
            self.judgments, Hits(owner, rows, *counts, self.retrieved, present)
        )


def choices_among(right: Positives, first: Ints, order: Ints | None) -> Choices:
    """The choices where items are the same. right: positives of each query. first: (items,) the
    first item that is the same.
    """
    positions = _places(first, np.arange(len(first)), order)
    size = np.bincount(first, minlength=len(first))
    pairs = np.column_stack([right.owner, first[right.items]])
    sets, inside, counts = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    earliest = np.full(len(sets), len(first), dtype=np.int64)
    np.minimum.at(earliest, inside.reshape(-1), positions[right.items])
    return Choices(sets[:, 0], size[sets[:, 1]], counts.astype(np.int64), earliest)


def choices_collapsed(groups: Positives, first: Ints, order: Ints | None) -> Choices:
    """The choices of videos ranked by their best caption: one per caption, among all videos that
    have the same (`groups`).
    """
    pairs = np.unique(np.column_stack([first[groups.items], groups.owner]), axis=0)
    caption, video = pairs[:, 0], pairs[:, 1]
    size = np.bincount(caption, minlength=len(first))[caption]
    return Choices(video, size, np.ones_like(size), _places(caption, video, order), lone=True)


def _places(sets: Ints, members: Ints, order: Ints | None) -> Ints:
    """The position of each member in its set, from 0. order: of all items among equal scores; None
    for that of the table.
    """
    sorted_members = np.lexsort((members if order is None else order[members], sets))
    positions = np.empty(len(sets), dtype=np.int64)
    positions[sorted_members] = position_in_segment(
        segment_offsets(np.unique(sets, return_counts=True)[1])
    )
    return positions
