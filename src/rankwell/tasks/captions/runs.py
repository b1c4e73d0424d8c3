"""One direction of one matrix as a judged run, ties open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.matrices import Positions, Positives
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Judgments,
    MatrixTies,
    order_ids,
    segment_offsets,
    tie_order,
)
from rankwell.errors import NothingToEvaluate, flag
from rankwell.evaluation.details import Details, details_of
from rankwell.evaluation.judged import Ceiling, JudgedRun, MeasuredQueries, ReferenceLevels
from rankwell.evaluation.results import DETAIL_DEPTH, counted_queries
from rankwell.runtime.parts.compared import Question
from rankwell.vectors.neighbours.positive_counts import Compared

if TYPE_CHECKING:
    from rankwell.tasks.captions.ceilings import CopyCeilings

Progress = Callable[[int, int], None]


class Direction(NamedTuple):
    """A direction: `t2v`, `v2t` (the best caption among all captions) or `v2t-videos` (captions
    collapsed, among videos).
    """

    name: str
    ties: MatrixTies
    words: dict[str, str]
    video_to_text: bool = False
    collapsed: bool = False


def question_of(
    direction: Direction,
    names: tuple[Sequence[str], Sequence[str]],
    positives: Positives,
    *,
    best: bool,
    details: bool,
    sized: bool = False,
) -> Question:
    """The question of a direction about captions and videos with these names. best: only of the
    best positive of each query.

    sized: for a forecast, without the order of the items.
    """
    captions, videos = names
    items = captions if direction.video_to_text and not direction.collapsed else videos
    n_items = len(np.unique(positives.items)) if direction.collapsed else len(items)
    depth = min(DETAIL_DEPTH, n_items) if details else 0
    order = tie_order(direction.ties, () if sized else items)
    return Question(direction.video_to_text, direction.collapsed, order, best, depth)


class Copies(NamedTuple):
    """For each caption and each video the first one that is the same; None where none is, or where
    that is not known.
    """

    captions: Ints | None
    videos: Ints | None


@dataclass(frozen=True, eq=False, kw_only=True)
class CaptionRun(JudgedRun):
    """The queries of a direction with the rank counts of their positives.

    items: the names of what is ranked, n_items of which take part. positions: that of each item
    among items of equal score, None for that of the table. copies: what no scorer can distinguish.
    positives: by judgments. groups: the captions of collapsed videos. hits_after_last: as in
    `CaptionConvention`.
    """

    direction: Direction
    judgments: Judgments
    hits: Hits
    items: Sequence[str]
    n_items: int
    positions: Ints | None
    copies: Copies
    positives: Positives
    groups: Positives | None = None
    hits_after_last: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        compared: Compared,
        positives: Positives,
        direction: Direction,
        copies: Copies,
        *,
        best: bool,
        hits_after_last: bool = False,
        progress: Progress | None,
    ) -> "CaptionRun":
        """Counts the positives of every query. positives: videos of each caption. best: only the
        best one of each query.
        """
        captions, videos = compared.names
        question = question_of(direction, (captions, videos), positives, best=best, details=False)
        right, names = (
            (positives.transposed, videos) if question.transposed else (positives, captions)
        )
        items, groups = captions if question.transposed and not question.grouped else videos, None
        n_items = len(items)
        if question.grouped:
            groups = right
            counts = compared.count_groups(groups, order=question.order, progress=progress)
            # The one positive of a video with captions is the video itself.
            right = Positives(
                segment_offsets((groups.counts > 0).astype(np.int64)), counts.pairs, len(videos)
            )
            n_items = len(counts.pairs)
            counts = counts._replace(pairs=np.arange(n_items))
        else:
            counts = compared.count(
                right,
                transposed=question.transposed,
                best=best,
                order=question.order,
                progress=progress,
            )
        order = None if isinstance(names, Positions) else order_ids(list(names))
        judgments = right.judgments(names, items)
        retrieved = np.full(right.n_queries, n_items, dtype=np.int64)
        hits = Hits(
            right.owner[counts.pairs], *counts, retrieved, np.ones(right.n_queries, dtype=np.bool_)
        )
        view = JudgedRankings.join(judgments, hits)
        return cls(
            name=name,
            view=view if order is None else view.take(order),
            ties=direction.ties,
            attributes={"direction": direction.name},
            levels=ReferenceLevels(judgments, retrieved, order),
            tied_items="tied items keep the order of the table",
            direction=direction,
            judgments=judgments,
            hits=hits,
            items=items,
            n_items=n_items,
            positions=question.order,
            copies=copies,
            positives=right,
            groups=groups,
            hits_after_last=hits_after_last,
        )

    @cached_property
    def without_positives(self) -> Bools:
        """Whether each query has no positive."""
        return self.view.n_relevant(1) == 0

    def counted(self, no_relevant: str) -> Bools:
        """Whether each query counts. Raises BadInput for one without positives under `error`,
        NothingToEvaluate.

        Where a convention has the ranks of queries without positives, these alone are something to
        evaluate.
        """
        bare, name = self.without_positives, self.direction.name
        if bare.all() and not (self.hits_after_last and no_relevant == "empty"):
            raise NothingToEvaluate(
                f"{name}: none of the {len(bare)} queries has a positive; name at least one."
            )
        return counted_queries(
            self.view.queries,
            bare,
            no_relevant,
            refuse=lambda query, _: (
                f"{name}: query {query!r} has no positive; mask it, or choose "
                f"{flag('--no-relevant', 'skip')} "
                "(it is left out) or empty (it ranks after all items)."
            ),
        )

    def hits_beyond(self, measure: Measure) -> Bools:
        """Whether each query has no positive and counts as a hit, because K is beyond the last
        item.
        """
        k = measure.parameters["k"] if measure.name == "Success" and self.hits_after_last else None
        return self.without_positives & (k is not None and k > self.n_items)

    def evaluate(self, measure: Measure) -> MeasuredQueries:
        """As of any run, and 1 for `hits_beyond`."""
        measured, beyond = super().evaluate(measure), self.hits_beyond(measure)
        hits = beyond if measured.source is None else beyond[measured.source]
        return measured._replace(values=np.where(hits, 1.0, measured.values))

    def chance(self, measure: Measure) -> Floats | None:
        """As of any run, and 1 for `hits_beyond`."""
        values = super().chance(measure)
        return None if values is None else np.where(self.hits_beyond(measure), 1.0, values)

    def ceiling(self, measure: Measure, counted: Bools) -> Ceiling:
        """As `_ceiling`, and 1 for `hits_beyond`."""
        ceiling = self._ceiling(measure, counted)
        return (
            ceiling
            if ceiling.values is None
            else Ceiling(np.where(self.hits_beyond(measure), 1.0, ceiling.values))
        )

    def _ceiling(self, measure: Measure, counted: Bools) -> Ceiling:
        """The tightest of the limits of a measure, by its mean over the counted queries; each holds
        by itself.
        """
        limits = [] if all(first is None for first in self.copies) else self._ceilings.of(measure)
        if limits and limits[0].values is None:
            return limits[0]
        order = (
            slice(None) if self.levels is None or self.levels.order is None else self.levels.order
        )
        best = [limit.values[order] for limit in limits if limit.values is not None]
        perfect = super().ceiling(measure, counted).values
        tightest = max if measure.entry.better == "lower" else min
        all_limits = best if perfect is None else [perfect, *best]
        return Ceiling(tightest(all_limits, key=lambda values: float(values[counted].mean())))

    @cached_property
    def _ceilings(self) -> "CopyCeilings":
        from rankwell.tasks.captions.ceilings import (
            CopyCeilings,
            choices_among,
            choices_of_collapsed,
        )

        captions, videos = self.copies
        queries, items = (videos, captions) if self.direction.video_to_text else (captions, videos)
        choices = None
        if items is not None:
            find_choices, candidates = (
                (choices_among, self.positives)
                if self.groups is None
                else (choices_of_collapsed, self.groups)
            )
            choices = find_choices(candidates, items, self.positions)
        return CopyCeilings(
            self.direction.ties, self.judgments, self.hits.retrieved, queries, choices
        )

    def details(self, compared: Compared) -> Details:
        """The first items of each query, and every positive wherever it stands."""
        depth = min(DETAIL_DEPTH, self.n_items)
        if self.groups is None:
            positions, scores = compared.first_items(
                depth, transposed=self.direction.video_to_text, order=self.positions
            )
        else:
            positions, scores = compared.first_groups(self.groups, depth, order=self.positions)
        queries = self.judgments.queries
        first_items = [self.items[position] for position in map(int, positions.ravel())]
        offsets = np.arange(len(queries) + 1, dtype=np.int64) * depth
        hits = replace(self.hits, top=Ranking(queries, offsets, first_items, scores.ravel()))
        return details_of(
            self.judgments,
            hits,
            JudgedRankings.join(self.judgments, self.hits).resolve(self.tie_rule),
        )
