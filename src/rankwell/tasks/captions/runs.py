"""One direction of one matrix as a judged run, ties open, and the best that a scorer of its copies can reach."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankwell.core.kernels.matrix_counts import PositiveCounts
from rankwell.core.registry import Measure
from rankwell.core.tables import Bools, Floats, Ints, MatrixTies, RankCounts, offsets_of, position_in_segment, tie_order
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.core.tables.scores import Positives
from rankwell.core.views.ideal import ideal, ideal_if_shared
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import NothingToEvaluate
from rankwell.evaluation.details import Details, details_of
from rankwell.evaluation.judged import Ceiling, JudgedRun, ReferenceLevels
from rankwell.evaluation.results import DETAIL_DEPTH, counted_queries
from rankwell.measures.first_rank import averaged, reads_best_only
from rankwell.neighbours.positive_counts import Compared
from rankwell.tasks.captions.options import Direction, sorted_queries

_MEANS = ("mean", "sum")


class Choices(NamedTuple):
    """Sets of items that are the same and hold a positive of a query: (choices,) each, by query.

    size: of the set. right: how many of it are positives. place: that of the first of these in the set, from 0, by the order
    among items of equal score. lone: whether a query's other sets do not matter, for it is served by a single one.
    """

    query: Ints
    size: Ints
    right: Ints
    place: Ints
    lone: bool = False


@dataclass(frozen=True, eq=False)
class Ceilings:
    """Limits on the values of any scorer in one direction.

    judgments: of the queries. retrieved: (queries,) items of each. alike: (queries,) the first query that is the same; None where
    none is the same or that is not known. choices: as there are, where items are the same.
    """

    ties: MatrixTies
    judgments: Judgments
    retrieved: Ints
    alike: Ints | None
    choices: Choices | None

    def of(self, measure: Measure) -> list[Ceiling]:
        """Every limit of a measure, in the order of the judgments; each holds by itself."""
        limits = [Ceiling(measure(ideal(self.judgments, self.retrieved)))]
        # Where ties are placed in a query's favour, a scorer that gives all items one score has everything right.
        if self.ties == "optimistic" or (self.alike is None and self.choices is None):
            return limits
        if not reads_best_only(measure):
            return [Ceiling(None, "what measures of all positives can reach is not known where captions or videos are the same")]
        if self.ties == "multiplied":
            return [Ceiling(None, "under the tie rule multiplied a scorer can make queries count more often by ties")]
        if self.alike is not None:
            limits.append(self._of_queries(measure))
        if self.choices is not None:
            limits.append(self._of_items(measure, self.choices))
        return [each for each in limits if each.values is None] or limits

    def _of_queries(self, measure: Measure) -> Ceiling:
        """Queries that are the same share one ranking."""
        single = measure.name == "Success" and measure.cutoff == 1
        if self.overlapping and not single:
            return Ceiling(
                None, "the positives of captions that are the same overlap in part, and who comes best first is not known"
            )
        if self.ties in ("expected", "averaged") and measure.entry.summary not in _MEANS:
            return Ceiling(None, f"under the tie rule {self.ties} a scorer can lower medians by ties")
        if self.ties == "averaged" and measure.name == "Success" and not single:
            # Twice as many items can share the first places in one tie, whose middle is K + 1/2.
            measure = measure.with_parameters(k=2 * (measure.cutoff or 1))
        return Ceiling(measure(self._shared))

    @cached_property
    def _shared(self) -> JudgedRankings:
        return ideal_if_shared(self.judgments, [] if self.alike is None else self.alike, self.retrieved)

    @cached_property
    def overlapping(self) -> bool:
        """Whether two queries that are the same have positives in common and others besides."""
        alike: list[int] = [] if self.alike is None else self.alike.tolist()
        ends: list[int] = self.judgments.offsets.tolist()
        known: dict[tuple[int, str], frozenset[str]] = {}
        for group, (start, stop) in zip(alike, pairwise(ends), strict=True):
            mine = frozenset(self.judgments.items[start:stop])
            if any(known.setdefault((group, item), mine) != mine for item in mine):
                return True
        return False

    def _of_items(self, measure: Measure, choices: Choices) -> Ceiling:
        """Items that are the same share one score: the best set of a query stands first, its items by the tie rule."""
        query, size, right, place, lone = choices
        if self.ties == "averaged":
            return Ceiling(averaged(measure, self._view(query, size, np.zeros_like(size), size, np.ones_like(size))))
        if self.ties != "expected":
            above = size - right if self.ties == "pessimistic" else place
            return Ceiling(measure(self._view(query, above, above, np.ones_like(size), np.ones_like(size))))
        single = measure.name == "Success" and measure.cutoff == 1
        if not lone and not single and self._undecided(query, right / size):
            return Ceiling(None, "which of several sets of videos or captions that are the same comes best first is not known")
        expected = measure.entry.expected
        view = self._view(query, -right / size, np.zeros_like(size), size, right)
        return Ceiling(measure(view) if expected is None else expected(view, **dict(measure.given)))

    def _undecided(self, query: Ints, share: Floats) -> bool:
        """Whether a query has several sets to choose from, none of positives alone."""
        several = np.bincount(query, minlength=len(self.judgments.queries)) > 1
        pure = np.bincount(query[share == 1], minlength=len(self.judgments.queries)) > 0
        return bool((several & ~pure).any())

    def _view(self, query: Ints, cost: Ints | Floats, above: Ints, tied: Ints, rows: Ints) -> JudgedRankings:
        """The view of the cheapest choice of each query, with so many of its positives in it."""
        order = np.lexsort((tied, cost, query))
        owners, first = np.unique(query[order], return_index=True)
        chosen = order[first]
        many = rows[chosen]
        owner = np.repeat(owners, many)
        within = position_in_segment(offsets_of(many))
        counts = RankCounts(np.repeat(above[chosen], many), np.repeat(tied[chosen], many), np.zeros(len(owner)), within)
        hits = Hits.of_counts(owner, self.judgments.offsets[owner] + within, counts, self.retrieved)
        return JudgedRankings.join(self.judgments, hits)


def choices_among(right: Positives, first: Ints, order: Ints | None) -> Choices:
    """The choices where items are the same. right: positives of each query. first: (items,) the first item that is the same."""
    place = _places(first, np.arange(len(first)), order)
    size = np.bincount(first, minlength=len(first))
    sets, inside, counts = np.unique(
        np.column_stack([right.owner, first[right.items]]), axis=0, return_inverse=True, return_counts=True
    )
    earliest = np.full(len(sets), len(first), dtype=np.int64)
    np.minimum.at(earliest, inside.reshape(-1), place[right.items])
    return Choices(sets[:, 0], size[sets[:, 1]], counts.astype(np.int64), earliest)


def choices_of_collapsed(groups: Positives, first: Ints, order: Ints | None) -> Choices:
    """The choices of videos that are ranked by their best caption: one per caption, among all videos that have the same.

    groups: captions of each video. first: (captions,) the first caption that is the same.
    """
    pairs = np.unique(np.column_stack([first[groups.items], groups.owner]), axis=0)
    said, video = pairs[:, 0], pairs[:, 1]
    size = np.bincount(said, minlength=len(first))[said]
    return Choices(video, size, np.ones_like(size), _places(said, video, order), lone=True)


def _places(sets: Ints, members: Ints, order: Ints | None) -> Ints:
    """(members,) the place of each in its set, from 0. order: (items,) places among equal scores; None for those of the table."""
    listed = np.lexsort((members if order is None else order[members], sets))
    place = np.empty(len(sets), dtype=np.int64)
    starts = np.flatnonzero(np.diff(sets[listed], prepend=-1))
    place[listed] = np.arange(len(sets)) - np.repeat(starts, np.diff(starts, append=len(sets)))
    return place


Progress = Callable[[int, int], None]


class Copies(NamedTuple):
    """For each caption and each video the first one that is the same; None where that is not known."""

    captions: Ints | None
    videos: Ints | None


@dataclass(frozen=True, eq=False, kw_only=True)
class CaptionRun(JudgedRun):
    """The queries of a direction with the rank counts of their positives.

    items: the names of what is ranked, n_items of which take part. place: that of each item among items of equal score, None for
    that of the table. copies: captions and videos that no scorer can distinguish. positives: of each query, in the order of the
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
