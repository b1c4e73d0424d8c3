"""One direction of one matrix as a judged run, ties open; the tie rules that papers on text-video
retrieval have to themselves, and the best values where captions or videos are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.matrices import Positions, Positives
from rankwell.data.options import CountProgress
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Judgments,
    order_ids,
    position_in_segment,
    segment_offsets,
)
from rankwell.errors import BadUsage, NothingToEvaluate, flag
from rankwell.evaluation.details import Details, details_of
from rankwell.evaluation.judged import (
    Ceiling,
    JudgedRun,
    MeasuredQueries,
    ReferenceLevels,
    ideal_if_shared,
)
from rankwell.evaluation.results import counted_queries
from rankwell.measures.first_rank import median_rank, reads_best_only
from rankwell.runtime.parts.compared import Question
from rankwell.tasks.crossmodal.conventions import CaptionTies
from rankwell.tasks.crossmodal.inputs import CaptionInputs, Copies, Direction
from rankwell.vectors.neighbours.positive_counts import Compared


def averaged(measure: Measure, view: JudgedRankings) -> Floats:
    """The values of a measure where tied items all stand at the middle of their places: the rule of
    Collaborative Experts and MMT.

    That is not the mean of the measure (`expected`): a positive tied with one other at the top has
    the rank 1.5, which `Success@1` does not accept. Raises BadUsage for other measures. Source: Liu
    and others 2019, Use what you have.
    """
    parameters = measure.parameters
    if measure.name == "MnR" and parameters["of"] == "all":
        # The mean place of a tied item is the middle of its places anyway.
        return measure(view.with_random_order)
    if measure.name in ("MedR", "MedRLow", "MedRFloor", "MnR"):
        return measure(_best_alone(view, parameters["rel"]).with_random_order)
    if measure.name == "Success" and not parameters["judged_only"]:
        best = _best_alone(view, parameters["rel"]).with_random_order
        rank, k = median_rank(best, rel=parameters["rel"], missing="skip"), parameters["k"]
        return (rank == 1 if k == 1 else rank < k + 1).astype(np.float64)
    raise BadUsage(
        f"{measure} has no value under the tie rule averaged, as Success@k, MedR, MedRLow, "
        "MedRFloor and MnR have; name another tie rule."
    )


def multiplied_values(measure: Measure, view: JudgedRankings) -> tuple[Floats, Ints]:
    """The values of a measure where a query whose positive is tied counts once for every place of
    the tie, the rule of CLIP4Clip; and the query of each.

    Raises BadUsage for a measure of all positives.
    """
    if not reads_best_only(measure):
        raise BadUsage(
            f"{measure} has no value under the tie rule multiplied, which places best "
            "positives alone, as Success@k, RR, "
            "MedR, MedRLow, MedRFloor and MnR read them; name another tie rule."
        )
    wide, source = multiplied(view)
    return measure(wide), source


def multiplied(view: JudgedRankings) -> tuple[JudgedRankings, Ints]:
    """The view with a query of its own for every place that the best positive may take by its ties,
    and the query of each.

    A query without a positive stays one. Source: Luo and others 2021, CLIP4Clip, metrics.py.
    """
    best = _best_alone(view, 1)
    n_places = np.ones(len(view.queries), dtype=np.int64)
    n_places[best.query_of_row] = best.tied
    source = np.repeat(np.arange(len(n_places), dtype=np.int64), n_places)
    wide = best.take(source)
    place, ones = position_in_segment(segment_offsets(n_places)), np.ones_like(wide.tied)
    return replace(
        wide, above=wide.above + place[wide.query_of_row], tied=ones, before=ones - 1
    ), source


def _best_alone(view: JudgedRankings, rel: float) -> JudgedRankings:
    """The view without all but the first positive of each query."""
    positives = np.flatnonzero(view.relevant(rel))
    first = np.unique(view.query_of_row[positives], return_index=True)[1]
    return view.keep(np.isin(np.arange(len(view.items)), positives[first]))


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
        progress: CountProgress | None,
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
