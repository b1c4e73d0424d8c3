"""One direction of one matrix as a judged run: the positives of every query with their rank counts, ties open."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankwell.core.kernels.matrix_counts import PositiveCounts
from rankwell.core.registry import Measure
from rankwell.core.tables import Bools, Floats, Ints, offsets_of
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.core.tables.scores import Positives
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import NothingToEvaluate
from rankwell.evaluation.details import Details, details_of
from rankwell.evaluation.judged import Ceiling, JudgedRun, ReferenceLevels
from rankwell.evaluation.results import DETAIL_DEPTH, counted_queries
from rankwell.neighbours.positive_counts import Compared
from rankwell.tasks.captions.ceilings import Ceilings, choices_among, choices_of_collapsed
from rankwell.tasks.captions.directions import Direction, sorted_queries, tie_order

Progress = Callable[[int, int], None]


class Copies(NamedTuple):
    """For each caption and each video the first one that is the same; None where that is not known."""

    captions: Ints | None
    videos: Ints | None


@dataclass(frozen=True, eq=False, kw_only=True)
class CaptionRun(JudgedRun):
    """The queries of a direction with the rank counts of their positives.

    items: the names of what is ranked, n_items of which take part. place: that of each item among items of equal score, None for
    that of the table. copies: captions and videos that no scorer can tell apart. positives: of each query, in the order of the
    judgments. groups: the captions of each video where they are collapsed.
    """

    direction: Direction
    judgments: Judgments
    hits: Hits
    items: Sequence[str]
    n_items: int
    place: Ints | None
    copies: Copies
    positives: Positives
    groups: Positives | None = None

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
        progress: Progress | None,
    ) -> "CaptionRun":
        """Counts the positives of every query. positives: videos of each caption. best: only the best one of each query."""
        captions, videos = compared.names
        groups = None
        if direction.collapsed:
            place = tie_order(direction.ties, videos)
            groups = positives.transposed
            counts = compared.count_groups(groups, order=place, progress=progress)
            has_any = (groups.counts > 0).astype(np.int64)
            right, names, items = Positives(offsets_of(has_any), counts.pairs, len(videos)), videos, videos
            counts, n_items = counts._replace(pairs=np.arange(len(counts.pairs))), len(counts.pairs)
        else:
            from_video = direction.video_to_text
            right, names, items = (positives.transposed, videos, captions) if from_video else (positives, captions, videos)
            place = tie_order(direction.ties, items)
            counts = compared.count(right, transposed=from_video, best=best, order=place, progress=progress)
            n_items = len(items)
        order = sorted_queries(names)
        judgments, hits = right.judgments(names, items), _hits(counts, right, n_items)
        view = JudgedRankings.join(judgments, hits)
        return cls(
            name=name,
            view=view if order is None else view.take(order),
            ties=direction.ties,
            attributes={"direction": direction.name},
            levels=ReferenceLevels(judgments, np.full(len(judgments.queries), n_items, dtype=np.int64), order),
            tied_items="tied items keep the order of the table",
            direction=direction,
            judgments=judgments,
            hits=hits,
            items=items,
            n_items=n_items,
            place=place,
            copies=copies,
            positives=right,
            groups=groups,
        )

    @cached_property
    def without_positives(self) -> Bools:
        """(queries,) whether a query has none."""
        return self.view.n_relevant(1) == 0

    def counted(self, no_relevant: str) -> Bools:
        """(queries,) which queries count. Raises BadInput for one without positives under `error`, NothingToEvaluate."""
        bare, name = self.without_positives, self.direction.name
        if bare.all():
            raise NothingToEvaluate(f"{name}: none of the {len(bare)} queries has a positive; name at least one.")
        return counted_queries(
            self.view.queries,
            bare,
            no_relevant,
            refuse=lambda query, _: (
                f"{name}: query {query!r} has no positive; mask it, or choose --no-relevant skip (it is left out) or "
                "empty (it ranks after all items)."
            ),
        )

    def ceiling(self, measure: Measure, counted: Bools) -> Ceiling:
        """(queries,) the tightest of the limits of a measure, by its mean over the counted queries; each holds by itself."""
        limits = self._ceilings.of(measure)
        if limits[0].values is None:
            return limits[0]
        order = None if self.levels is None else self.levels.order
        best = [each.values if order is None else each.values[order] for each in limits if each.values is not None]
        tightest = max if measure.entry.better == "lower" else min
        return Ceiling(tightest(best, key=lambda values: float(values[counted].mean())))

    @cached_property
    def _ceilings(self) -> Ceilings:
        captions, videos = (None if first is None or not has_copies(first) else first for first in self.copies)
        queries, items = (videos, captions) if self.direction.video_to_text else (captions, videos)
        choices = None
        if items is not None:
            find, among = (choices_among, self.positives) if self.groups is None else (choices_of_collapsed, self.groups)
            choices = find(among, items, self.place)
        n_items = np.full(len(self.judgments.queries), self.n_items, dtype=np.int64)
        return Ceilings(self.direction.ties, self.judgments, n_items, queries, choices)

    def details(self, compared: Compared) -> Details:
        """The first items of each query, and every positive wherever it stands."""
        depth = min(DETAIL_DEPTH, self.n_items)
        if self.groups is None:
            positions, scores = compared.first_items(depth, transposed=self.direction.video_to_text, order=self.place)
        else:
            positions, scores = _first_videos(compared, self.groups, self.place, depth)
        queries = self.judgments.queries
        listed = [self.items[position] for position in map(int, positions.ravel())]
        offsets = np.arange(len(queries) + 1, dtype=np.int64) * depth
        hits = replace(self.hits, top=Ranking(queries, offsets, listed, scores.ravel()))
        return details_of(self.judgments, hits, JudgedRankings.join(self.judgments, self.hits).resolve(self.tie_rule))


def _first_videos(compared: Compared, groups: Positives, place: Ints | None, depth: int) -> tuple[Ints, Floats]:
    """(videos, depth) positions and scores of the first videos of each, which score as the best of their captions.

    groups: the captions of each video. place: that of each video among equal scores, None for that of the table.
    """
    n, by_caption = len(compared.names[0]), groups.transposed
    videos = [by_caption.items[start:stop].tolist() for start, stop in pairwise(by_caption.offsets.tolist())]
    places = range(groups.n_queries) if place is None else place.tolist()
    # If every caption has a video, no more captions than these stand before the first one of the last video.
    wide = min(n, (depth - 1) * int(groups.counts.max(initial=1)) + 2)
    while True:
        captions, scores = compared.first_items(wide, transposed=True, order=None)
        found = [
            _collapsed(zip(*row, strict=True), videos, places, depth)
            for row in zip(captions.tolist(), scores.tolist(), strict=True)
        ]
        if wide == n or all(is_sure for _, is_sure in found):
            break
        wide = min(n, 2 * wide)
    pairs = [listed for listed, _ in found]
    positions = np.array([[video for video, _ in listed] for listed in pairs], dtype=np.int64)
    return positions, np.array([[score for _, score in listed] for listed in pairs])


def _collapsed(
    captions: Iterable[tuple[int, float]], videos: Sequence[Sequence[int]], places: Sequence[int], depth: int
) -> tuple[list[tuple[int, float]], bool]:
    """The first videos, of the first captions with their scores; and whether no further caption can change them."""
    best: dict[int, float] = {}
    last = -np.inf
    for caption, score in captions:
        if len(best) >= depth and score < last:
            return _ordered(best, places, depth), True
        last = score if len(best) < depth else last
        for video in videos[caption]:
            best.setdefault(video, score)
    return _ordered(best, places, depth), False


def _ordered(best: Mapping[int, float], places: Sequence[int], depth: int) -> list[tuple[int, float]]:
    return sorted(best.items(), key=lambda pair: (-pair[1], places[pair[0]]))[:depth]


def has_copies(first: Ints) -> bool:
    """Whether something is the same as another. first: as in `Copies`."""
    return bool((first != np.arange(len(first))).any())


def _hits(counts: PositiveCounts, right: Positives, n_items: int) -> Hits:
    retrieved = np.full(right.n_queries, n_items, dtype=np.int64)
    return Hits.of_counts(right.owner[counts.pairs], counts.pairs, counts.ranks, retrieved)
