"""One direction of one matrix as a judged run, ties open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.matrices import Positions, Positives
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import Bools, Floats, Judgments, order_ids, segment_offsets
from rankwell.errors import NothingToEvaluate, flag
from rankwell.evaluation.details import Details, details_of
from rankwell.evaluation.judged import Ceiling, JudgedRun, MeasuredQueries, ReferenceLevels
from rankwell.evaluation.results import counted_queries
from rankwell.runtime.parts.compared import Question
from rankwell.tasks.crossmodal.inputs import CaptionInputs, Copies, Direction
from rankwell.tasks.crossmodal.ties import averaged, multiplied_values
from rankwell.vectors.neighbours.positive_counts import Compared

if TYPE_CHECKING:
    from rankwell.tasks.crossmodal.ceilings import CopyCeilings


@dataclass(frozen=True, eq=False, kw_only=True)
class CaptionRun(JudgedRun):
    """The queries of a direction with the rank counts of their positives.

    direction: from text to video or back, with its tie rule.
    compared: the scores or vectors that rank the items.
    question: the comparison that was counted, with the order of items of equal score.
    judgments: the positives by name, with grade 1.
    hits: rank counts of the positives.
    items: names of the items, of which the first `n_items` take part.
    n_items: number of items in every ranking.
    copies: captions and videos that no scorer can distinguish.
    input_positives: positives of each query; for collapsed videos their captions.
    """

    direction: Direction
    compared: Compared
    question: Question
    judgments: Judgments
    hits: Hits
    items: Sequence[str]
    n_items: int
    copies: Copies
    input_positives: Positives

    @classmethod
    def of(
        cls,
        name: str,
        direction: Direction,
        inputs: CaptionInputs,
        *,
        details: bool,
        progress: Callable[[int, int], None] | None,
    ) -> "CaptionRun":
        """Counts the positives of every query, or only the best one of each where measures need no
        other.
        """
        compared, copies = inputs.compared(name, direction), inputs.copies(name)
        captions, videos = compared.names
        question = direction.question((captions, videos), inputs.positives, details=details)
        positives, names, items = inputs.positives, captions, videos
        if direction.video_to_text:
            positives, names = positives.transposed, videos
        if question.grouped:
            counts = compared.count_groups(positives, order=question.order, progress=progress)
            n_items = len(counts.positions)
            # The one positive of a video with captions is the video itself.
            right = Positives(
                segment_offsets((positives.counts > 0).astype(np.int64)),
                counts.positions,
                len(videos),
            )
            counts = counts._replace(positions=np.arange(n_items))
        else:
            right, items = positives, captions if question.transposed else videos
            counts = compared.count(
                right,
                transposed=question.transposed,
                best=question.best,
                order=question.order,
                progress=progress,
            )
            n_items = len(items)
        order = None if isinstance(names, Positions) else order_ids(list(names))
        judgments = right.judgments(names, items)
        retrieved = np.full(right.n_queries, n_items, dtype=np.int64)
        hits = Hits(
            right.owner[counts.positions],
            *counts,
            retrieved,
            np.ones(right.n_queries, dtype=np.bool_),
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
            compared=compared,
            question=question,
            judgments=judgments,
            hits=hits,
            items=items,
            n_items=n_items,
            copies=copies,
            input_positives=positives,
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
        if bare.all() and not (self.direction.hits_after_last and no_relevant == "empty"):
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
        is_hit = self.direction.hits_after_last and measure.name == "Success"
        k = measure.parameters["k"] if is_hit else None
        return self.without_positives & (k is not None and k > self.n_items)

    def evaluate(self, measure: Measure) -> MeasuredQueries:
        """As of any run, with the tie rules of MMT and CLIP4Clip, and 1 for `hits_beyond`."""
        if self.ties == "averaged":
            measured = MeasuredQueries(averaged(measure, self.view))
        elif self.ties == "multiplied":
            measured = MeasuredQueries(*multiplied_values(measure, self.view))
        else:
            measured = super().evaluate(measure)
        beyond = self.hits_beyond(measure)
        hits = beyond if measured.source is None else beyond[measured.source]
        return measured._replace(values=np.where(hits, 1.0, measured.values))

    def chance(self, measure: Measure) -> Floats | None:
        """As of any run, and 1 for `hits_beyond`."""
        values = super().chance(measure)
        return None if values is None else np.where(self.hits_beyond(measure), 1.0, values)

    def ceiling(self, measure: Measure, counted: Bools) -> Ceiling:
        """The tightest of the limits of a measure, by its mean over the counted queries, for each
        holds by itself; and 1 for `hits_beyond`.
        """
        limits = [] if all(first is None for first in self.copies) else self._ceilings.of(measure)
        if limits and limits[0].values is None:
            return limits[0]
        order = None if self.levels is None else self.levels.order
        levels = [
            limit.values if order is None else limit.values[order]
            for limit in limits
            if limit.values is not None
        ]
        if (perfect := super().ceiling(measure, counted).values) is not None:
            levels.insert(0, perfect)
        tightest = max if measure.entry.better == "lower" else min
        values = tightest(levels, key=lambda level: float(level[counted].mean()))
        return Ceiling(np.where(self.hits_beyond(measure), 1.0, values))

    @cached_property
    def _ceilings(self) -> "CopyCeilings":
        from rankwell.tasks.crossmodal.ceilings import (
            CopyCeilings,
            choices_among,
            choices_collapsed,
        )

        queries, items = self.copies[:: -1 if self.question.transposed else 1]
        find_choices = choices_collapsed if self.question.grouped else choices_among
        choices = (
            None
            if items is None
            else find_choices(self.input_positives, items, self.question.order)
        )
        return CopyCeilings(
            self.direction.ties, self.judgments, self.hits.n_retrieved, queries, choices
        )

    def details(self) -> Details:
        """The first items of each query, and every positive wherever it stands."""
        depth, order = self.question.depth, self.question.order
        positions, scores = (
            self.compared.first_groups(self.input_positives, depth, order=order)
            if self.question.grouped
            else self.compared.first_items(depth, transposed=self.question.transposed, order=order)
        )
        queries = self.judgments.queries
        first_items = [self.items[position] for position in map(int, positions.ravel())]
        offsets = np.arange(len(queries) + 1, dtype=np.int64) * depth
        hits = replace(self.hits, top=Ranking(queries, offsets, first_items, scores.ravel()))
        return details_of(
            self.judgments,
            hits,
            JudgedRankings.join(self.judgments, self.hits).resolve(self.tie_rule),
        )
