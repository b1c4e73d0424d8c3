"""One direction of one matrix: the right items of every query with their places, and what a perfect and a blind scorer reach."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankwell.conventions import MatrixTies
from rankwell.core.kernels.matrix_counts import Counts
from rankwell.core.registry import Measure
from rankwell.core.tables import Bools, Floats, Ints, offsets_of
from rankwell.core.tables.hits import Hits
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.order import TIE_RULES, TieRule
from rankwell.core.tables.ranking import Ranking
from rankwell.core.tables.scores import Positives
from rankwell.core.views.details import Details, details_of
from rankwell.core.views.ideal import constant
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.evaluation.clip4clip_ties import multiplied
from rankwell.measures.best_only import reads_best_only
from rankwell.measures.chance import expected_values
from rankwell.measures.first_rank import averaged
from rankwell.neighbours.positive_counts import Compared
from rankwell.tasks.captions.ceilings import Ceilings, choices_among, choices_of_collapsed
from rankwell.tasks.captions.directions import Way, sorted_queries, tie_order

Progress = Callable[[int, int], None]
DETAIL_DEPTH = 20


class Levels(NamedTuple):
    """A value per counted query that a scorer without mistakes reaches (None: not known), and one that a blind scorer does."""

    ceiling: Floats | None
    chance: Floats
    reason: str = ""


class Copies(NamedTuple):
    """For each caption and each video the first one that is the same; None where that is not known."""

    captions: Ints | None
    videos: Ints | None


@dataclass(frozen=True, eq=False)
class Ranked:
    """The queries of a direction with their right items' places; how ties are placed is decided when values are asked for.

    items: the names of what is ranked. n_items: how many of them take part. order: in which queries are reported, None for that
    of the table. place: that of each item among items of equal score, likewise. copies: what no scorer can tell apart.
    right: the positives of each query. groups: the captions of each video where they are collapsed.
    """

    way: Way
    judgments: Judgments
    hits: Hits
    items: Sequence[str]
    n_items: int
    order: Ints | None
    place: Ints | None
    copies: Copies
    right: Positives
    groups: Positives | None = None

    @classmethod
    def of(
        cls, compared: Compared, positives: Positives, way: Way, copies: Copies, *, best: bool, progress: Progress | None
    ) -> "Ranked":
        """Counts the right items of every query. positives: videos of each caption. best: only the best one of each query."""
        captions, videos = compared.names
        groups = None
        if way.collapsed:
            place = tie_order(way.ties, videos)
            groups = positives.transposed
            counts = compared.count_groups(groups, order=place, progress=progress)
            has_any = (groups.counts > 0).astype(np.int64)
            right, names, items = Positives(offsets_of(has_any), counts.pairs, len(videos)), videos, videos
            counts, n_items = counts._replace(pairs=np.arange(len(counts.pairs))), len(counts.pairs)
        else:
            right, names, items = (positives.transposed, videos, captions) if way.down else (positives, captions, videos)
            place = tie_order(way.ties, items)
            counts = compared.count(right, down=way.down, best=best, order=place, progress=progress)
            n_items = len(items)
        order = sorted_queries(names)
        judgments, hits = right.judgments(names, items), _hits(counts, right, n_items)
        return cls(way, judgments, hits, items, n_items, order, place, copies, right, groups)

    @cached_property
    def joined(self) -> JudgedRankings:
        """The view in which ties are still open, queries with ids in the order of their bytes."""
        return self._sorted(self._unsorted)

    @cached_property
    def _unsorted(self) -> JudgedRankings:
        return JudgedRankings.join(self.judgments, self.hits)

    def _sorted(self, view: JudgedRankings) -> JudgedRankings:
        return view if self.order is None else view.take(self.order)

    @cached_property
    def without_positives(self) -> Bools:
        """(queries,) whether a query has none."""
        return self.joined.n_relevant(1) == 0

    @cached_property
    def tied(self) -> int:
        """How many queries have a best positive that ties with an item that is none."""
        view = self.joined
        size = np.bincount(view.tie_of_row, minlength=1)[view.tie_of_row] if len(view.ranks) else view.tied
        queries, first = np.unique(view.query_of_row, return_index=True)
        return int((view.tied[first] > size[first]).sum()) if len(queries) else 0

    def counted(self, no_relevant: str) -> Bools:
        """(queries,) which queries count. Raises BadInput for one without positives under `error`, NothingToEvaluate."""
        bare = self.without_positives
        if bare.all():
            raise NothingToEvaluate(f"{self.way.name}: none of the {len(bare)} queries has a positive; name at least one.")
        if bare.any() and no_relevant == "error":
            query = self.joined.queries[int(np.flatnonzero(bare)[0])]
            raise BadInput(
                f"{self.way.name}: query {query!r} has no positive; mask it, or choose --no-relevant skip (it is left out) or "
                "empty (it ranks after all items)."
            )
        return ~bare if no_relevant == "skip" else np.ones(len(bare), dtype=np.bool_)

    def values(self, measure: Measure, chosen: Bools, notes: list[str]) -> tuple[tuple[str, ...], Floats]:
        """The queries and values, NaN where one is not counted; under `multiplied` each stands there for every place of its tie.

        Raises BadUsage for a measure of all positives under `multiplied`.
        """
        view, ties = self.joined, self.way.ties
        source = np.arange(len(view.queries))
        if ties == "averaged":
            found = averaged(measure, view)
        elif ties == "multiplied":
            if not reads_best_only(measure):
                raise BadUsage(
                    f"{measure} has no value under the tie rule multiplied, which places best positives alone, as Success@k, RR, "
                    "MedR, MedRLow, MedRFloor and MnR read them; name another tie rule."
                )
            wide, source = multiplied(view)
            found = measure(wide)
        elif ties == "expected" and (view.tied > 1).any() and measure.entry.expected is not None:
            found = measure.entry.expected(view, **dict(measure.given))
        else:
            if ties == "expected" and (view.tied > 1).any():
                notes.append(f"{measure} has no closed form under random order of ties; tied items keep the order of the table")
            found = measure(view.resolve(_rule(ties)))
        return tuple(view.queries[query] for query in map(int, source)), np.where(chosen[source], found, np.nan)

    def levels(self, measure: Measure, chosen: Bools) -> Levels:
        """What the measure reaches at best and by chance."""
        chance = expected_values(measure, self._blind)[chosen]
        limits = self._ceilings.of(measure)
        if limits[0].values is None:
            return Levels(None, chance, limits[0].reason)
        # Every limit holds by itself; the figure of the tightest one is the ceiling.
        best = [each.values if self.order is None else each.values[self.order] for each in limits if each.values is not None]
        worst = max if measure.entry.better == "lower" else min
        return Levels(worst((each[chosen] for each in best), key=lambda values: float(values.mean())), chance)

    @cached_property
    def _all(self) -> Ints:
        return np.full(len(self.judgments.queries), self.n_items, dtype=np.int64)

    @cached_property
    def _blind(self) -> JudgedRankings:
        return self._sorted(constant(self.judgments, self._all))

    @cached_property
    def _ceilings(self) -> Ceilings:
        captions, videos = (None if first is None or not has_copies(first) else first for first in self.copies)
        queries, items = (videos, captions) if self.way.down else (captions, videos)
        choices = None
        if items is not None:
            find, among = (choices_among, self.right) if self.groups is None else (choices_of_collapsed, self.groups)
            choices = find(among, items, self.place)
        return Ceilings(self.way.ties, self.judgments, self._all, queries, choices)

    def details(self, compared: Compared) -> Details:
        """The first items of each query, and every positive wherever it stands."""
        depth = min(DETAIL_DEPTH, self.n_items)
        if self.groups is None:
            positions, scores = compared.first_items(depth, down=self.way.down, order=self.place)
        else:
            positions, scores = _first_videos(compared, self.groups, self.place, depth)
        queries = self.judgments.queries
        listed = [self.items[position] for position in map(int, positions.ravel())]
        offsets = np.arange(len(queries) + 1, dtype=np.int64) * depth
        hits = replace(self.hits, top=Ranking(queries, offsets, listed, scores.ravel()))
        return details_of(self.judgments, hits, self._unsorted.resolve(_rule(self.way.ties)))


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
        captions, scores = compared.first_items(wide, down=True, order=None)
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


def _rule(ties: MatrixTies) -> TieRule:
    """The rule of a single ranking; the others of a matrix name an order that the counts have already."""
    for rule in TIE_RULES:
        if rule == ties:
            return rule
    return "input"


def _hits(counts: Counts, right: Positives, n_items: int) -> Hits:
    return Hits(
        query=right.owner[counts.pairs],
        row=counts.pairs,
        score=counts.scores,
        above=counts.above,
        tied=counts.tied,
        before=counts.before,
        retrieved=np.full(right.n_queries, n_items, dtype=np.int64),
        present=np.ones(right.n_queries, dtype=np.bool_),
        unknown={},
    )
