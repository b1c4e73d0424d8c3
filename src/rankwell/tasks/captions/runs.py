"""One direction of one matrix as a judged run, ties open."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwell.core.registry import Measure
from rankwell.core.tables import Bools, Floats, Ints, Judgments, MatrixTies, offsets_of, order_ids, tie_order
from rankwell.core.tables.matrices import Positions, Positives
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import NothingToEvaluate
from rankwell.evaluation.details import Details, details_of
from rankwell.evaluation.judged import Ceiling, JudgedRun, ReferenceLevels
from rankwell.evaluation.results import DETAIL_DEPTH, counted_queries
from rankwell.neighbours.positive_counts import Compared

if TYPE_CHECKING:
    from rankwell.tasks.captions.ceilings import CopyCeilings

Progress = Callable[[int, int], None]


class Direction(NamedTuple):
    """A direction: `t2v`, `v2t` (the best caption among all captions) or `v2t-videos` (captions collapsed, among videos)."""

    name: str
    ties: MatrixTies
    words: dict[str, str]
    video_to_text: bool = False
    collapsed: bool = False


class Copies(NamedTuple):
    """For each caption and each video the first one that is the same; None where none is, or where that is not known."""

    captions: Ints | None
    videos: Ints | None


@dataclass(frozen=True, eq=False, kw_only=True)
class CaptionRun(JudgedRun):
    """The queries of a direction with the rank counts of their positives.

    items: the names of what is ranked, n_items of which take part. place: that of each item among items of equal score, None for
    that of the table. copies: what no scorer can distinguish. positives: by judgments. groups: the captions of collapsed videos.
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
        from_video, groups = direction.video_to_text, None
        right, names = (positives.transposed, videos) if from_video else (positives, captions)
        items = captions if from_video and not direction.collapsed else videos
        place, n_items = tie_order(direction.ties, items), len(items)
        if direction.collapsed:
            groups = right
            counts = compared.count_groups(groups, order=place, progress=progress)
            # The one positive of a video with captions is the video itself.
            right = Positives(offsets_of((groups.counts > 0).astype(np.int64)), counts.pairs, len(videos))
            n_items = len(counts.pairs)
            counts = counts._replace(pairs=np.arange(n_items))
        else:
            counts = compared.count(right, transposed=from_video, best=best, order=place, progress=progress)
        order = None if isinstance(names, Positions) else order_ids(list(names))
        judgments, retrieved = right.judgments(names, items), np.full(right.n_queries, n_items, dtype=np.int64)
        hits = Hits(right.owner[counts.pairs], *counts, retrieved, np.ones(right.n_queries, dtype=np.bool_))
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
        limits = [] if all(first is None for first in self.copies) else self._ceilings.of(measure)
        if limits and limits[0].values is None:
            return limits[0]
        order = slice(None) if self.levels is None or self.levels.order is None else self.levels.order
        best = [each.values[order] for each in limits if each.values is not None]
        perfect = super().ceiling(measure, counted).values
        tightest = max if measure.entry.better == "lower" else min
        known = best if perfect is None else [perfect, *best]
        return Ceiling(tightest(known, key=lambda values: float(values[counted].mean())))

    @cached_property
    def _ceilings(self) -> "CopyCeilings":
        from rankwell.tasks.captions.ceilings import CopyCeilings, choices_among, choices_of_collapsed

        captions, videos = self.copies
        queries, items = (videos, captions) if self.direction.video_to_text else (captions, videos)
        choices = None
        if items is not None:
            find, among = (choices_among, self.positives) if self.groups is None else (choices_of_collapsed, self.groups)
            choices = find(among, items, self.place)
        return CopyCeilings(self.direction.ties, self.judgments, self.hits.retrieved, queries, choices)

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
    """(videos, depth) positions and scores of the first videos of each, which score as the best of their captions (`groups`)."""
    n, by_caption = len(compared.names[0]), groups.transposed
    videos = [by_caption.items[start:stop].tolist() for start, stop in pairwise(by_caption.offsets.tolist())]
    places = range(groups.n_queries) if place is None else place.tolist()
    # If every caption has a video, no more captions than these stand before the first one of the last video.
    wide = min(n, (depth - 1) * int(groups.counts.max(initial=1)) + 2)
    while True:
        captions, scores = compared.first_items(wide, transposed=True)
        found = [
            _collapsed(zip(*row, strict=True), videos, places, depth)
            for row in zip(captions.tolist(), scores.tolist(), strict=True)
        ]
        if wide == n or all(is_sure for _, is_sure in found):
            break
        wide = min(n, 2 * wide)
    table = np.array([listed for listed, _ in found])
    return table[:, :, 0].astype(np.int64), table[:, :, 1]


def _collapsed(
    captions: Iterable[tuple[int, float]], videos: Sequence[Sequence[int]], places: Sequence[int], depth: int
) -> tuple[list[tuple[int, float]], bool]:
    """The first videos, of the first captions with their scores; and whether no further caption can change them."""
    best: dict[int, float] = {}
    last, is_sure = -np.inf, False
    for caption, score in captions:
        is_sure = len(best) >= depth and score < last
        if is_sure:
            break
        last = score if len(best) < depth else last
        for video in videos[caption]:
            best.setdefault(video, score)
    return sorted(best.items(), key=lambda pair: (-pair[1], places[pair[0]]))[:depth], is_sure
