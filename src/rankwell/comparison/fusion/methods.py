"""Fusion methods that read ranks only, methods that combine normalised scores, the normalisations
of a list's scores, and methods whose weights are trained on judged queries.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key
from itertools import pairwise
from math import fsum

import numpy as np

from rankwell.comparison.fusion import (
    RunLists,
    Segments,
    Votes,
    fusion_method,
    normalisation,
    trained_method,
)
from rankwell.data.rankings import Ranking
from rankwell.data.tables import Bools, Floats, Ints, Judgments, position_in_segment
from rankwell.errors import BadUsage, NothingToEvaluate

_WU = "Wu and Crestani 2002, Data fusion with estimated weights"
_FOX = "Fox and Shaw 1994, Combination of multiple searches"


@fusion_method(
    "rrf", reads="ranks", source="Cormack, Clarke and Büttcher 2009, Reciprocal rank fusion"
)
def rrf(votes: Votes, *, k: float = 60) -> Floats:
    """Reciprocal rank fusion: the sum over runs of 1 / (k + rank), ranks from 1; a run that lacks
    the item adds nothing.
    """
    if not 0 <= k < float("inf"):
        raise BadUsage(f"rrf(k={k!r}): expected a finite number from 0; 60 is usual.")
    return votes.sum_found(1.0 / np.maximum(k + votes.lists.ranks, 1.0))


@fusion_method(
    "isr", reads="ranks", source="Mourão, Martins and Magalhães 2015, Unsupervised rank fusion"
)
def isr(votes: Votes) -> Floats:
    """Inverse square rank: the sum over runs of 1 / rank², times the number of runs that have the
    item.
    """
    return votes.lists.counts * _inverse_squares(votes)


@fusion_method(
    "log-isr", reads="ranks", source="Mourão, Martins and Magalhães 2015, Unsupervised rank fusion"
)
def log_isr(votes: Votes) -> Floats:
    """The sum over runs of 1 / rank², times the logarithm of the number of runs that have the item:
    0 for items of one run.
    """
    return np.log(votes.lists.counts) * _inverse_squares(votes)


@fusion_method("borda", reads="ranks", source="Aslam and Montague 2001, Models for metasearch")
def borda(votes: Votes) -> Floats:
    """Borda count: with c items in all lists of a query, a run gives c points to its first, c - 1
    to its second and so on.

    The items that it lacks share the points that are left: (c - n + 1) / 2 each beside a list of n.
    """
    lists = votes.lists
    candidates = np.diff(lists.offsets)[lists.query_of_row]
    shared_points = (candidates - lists.lengths[:, lists.query_of_row] + 1) / 2
    return votes.sum(np.where(lists.found, candidates - lists.ranks + 1.0, shared_points))


@fusion_method(
    "logn-isr", reads="ranks", source="Mourão, Martins and Magalhães 2015, Unsupervised rank fusion"
)
def logn_isr(votes: Votes, *, sigma: float = 0.01) -> Floats:
    """The sum over runs of 1 / rank², times log(sigma + number of runs that have the item). An item
    that only one run has scores above 0, unlike with `log-isr`.
    """
    if not 0 < sigma <= 1:
        raise BadUsage(
            f"logn-isr(sigma={sigma!r}): expected a number above 0, at most 1; 0.01 is usual, "
            "and 0 is log-isr."
        )
    return np.log(votes.lists.counts + sigma) * _inverse_squares(votes)


@fusion_method(
    "rbc", reads="ranks", source="Bailey, Moffat, Scholer and Thomas 2017, Retrieval consistency"
)
def rbc(votes: Votes, *, phi: float) -> Floats:
    """Rank-biased centroid: the sum over runs of (1 - phi) · phi^(rank - 1); a run that lacks the
    item adds nothing.
    """
    if not 0 < phi < 1:
        raise BadUsage(
            f"rbc(phi={phi!r}): expected a persistence between 0 and 1; 0.8 to 0.99 are usual."
        )
    return votes.sum_found((1 - phi) * np.power(phi, votes.lists.ranks - 1.0))


@fusion_method(
    "condorcet",
    reads="ranks",
    source="Montague and Aslam 2002, Condorcet fusion for improved retrieval",
)
def condorcet(votes: Votes) -> Floats:
    """Condorcet fusion: an item beats another where more runs, by their weights, rank it higher;
    the winners come first.

    A run ranks the items that it has above those that it lacks. Majorities may be circular; then
    the order is one in which no item is beaten by the next, found by a stable sort from the order
    of ties. Scores fall from the number of items to 1.
    """
    lists = votes.lists
    ranks = np.where(lists.found, lists.ranks, np.iinfo(np.int64).max).T.tolist()
    weights = votes.weights.tolist()

    def beaten(row: int, other_row: int) -> int:
        """-1, 0 or 1: the sign of the majority of weights that rank the first item below the
        second.
        """
        margin = fsum(
            weight * ((a > b) - (a < b))
            for weight, a, b in zip(weights, ranks[row], ranks[other_row], strict=True)
        )
        return (margin > 0) - (margin < 0)

    scores = np.empty(len(lists.items))
    for start, stop in pairwise(lists.offsets.tolist()):
        scores[sorted(range(start, stop), key=cmp_to_key(beaten))] = np.arange(stop - start, 0, -1)
    return scores


def _inverse_squares(votes: Votes) -> Floats:
    """The sum over runs of 1 / rank²."""
    ranks = np.maximum(votes.lists.ranks, 1).astype(np.float64)
    return votes.sum_found(1.0 / (ranks * ranks))


@fusion_method("combsum", reads="scores", source=_FOX)
def combsum(votes: Votes) -> Floats:
    """CombSUM: the sum of the scores over all runs; with weights, the weighted sum."""
    return votes.sum(votes.filled_values)


@fusion_method("combmnz", reads="scores", source=_FOX)
def combmnz(votes: Votes) -> Floats:
    """CombMNZ: CombSUM times the number of runs that have the item."""
    return votes.lists.counts * votes.sum(votes.filled_values)


@fusion_method(
    "combgmnz", reads="scores", source="Lee 1997, Analyses of multiple evidence combination"
)
def combgmnz(votes: Votes, *, gamma: float) -> Floats:
    """CombGMNZ: CombSUM times the number of runs that have the item to the power gamma: CombSUM at
    0, CombMNZ at 1.
    """
    if not 0 <= gamma <= 100:
        raise BadUsage(
            f"combgmnz(gamma={gamma!r}): expected a number from 0 to 100; 0 is combsum, 1 is "
            "combmnz."
        )
    return votes.lists.counts.astype(np.float64) ** gamma * votes.sum(votes.filled_values)


@fusion_method("wmnz", reads="scores", source=_WU)
def wmnz(votes: Votes) -> Floats:
    """Weighted CombMNZ: the sum of the scores times the sum of the weights, each over the runs that
    have the item.
    """
    plain = replace(votes, weights=np.ones(len(votes.weights)))
    return plain.sum_found(votes.values) * votes.sum(votes.lists.found.astype(np.float64))


@fusion_method("mixed", reads="scores", source=_WU)
def mixed(votes: Votes) -> Floats:
    """The weighted sum of the scores over the runs that have the item, times the square root of the
    number of these runs.
    """
    return np.sqrt(votes.lists.counts) * votes.sum_found(votes.values)


@fusion_method("combanz", reads="scores", weighted=False, source=_FOX)
def combanz(votes: Votes) -> Floats:
    """CombANZ: the mean of the scores over the runs that have the item."""
    return votes.sum_found(votes.values) / votes.lists.counts


@fusion_method("combmin", reads="scores", weighted=False, source=_FOX)
def combmin(votes: Votes) -> Floats:
    """CombMIN: the lowest score over the runs that have the item."""
    return np.fmin.reduce(votes.values, axis=0)


@fusion_method("combmax", reads="scores", weighted=False, source=_FOX)
def combmax(votes: Votes) -> Floats:
    """CombMAX: the highest score over the runs that have the item."""
    return np.fmax.reduce(votes.values, axis=0)


@fusion_method("combmed", reads="scores", weighted=False, source=_FOX)
def combmed(votes: Votes) -> Floats:
    """CombMED: the median of the scores over the runs that have the item; the mean of the two
    middle ones of an even number.
    """
    # Sorting puts what is absent, NaN, last.
    ordered, n = np.sort(votes.values, axis=0), votes.lists.counts
    columns = np.arange(len(n))
    return (ordered[(n - 1) // 2, columns] + ordered[n // 2, columns]) / 2


@normalisation("none")
def none(items: Segments) -> Floats:
    """The scores as they are."""
    return items.scores


@normalisation("min-max")
def min_max(items: Segments) -> Floats:
    """(score - lowest) / (highest - lowest) of the list; 1 where all its scores are the same, as in
    a list of one item.

    Items that were found count more than items that were not. Source: Lee 1997, Analyses of
    multiple evidence combination.
    """
    low, high = items.lowest, items.highest
    return np.where(high > low, (items.scores - low) / (high - low), 1.0)


@normalisation("min-max-inverted", lower=True)
def min_max_inverted(items: Segments) -> Floats:
    """(highest - score) / (highest - lowest) of the list, for distances; 1 where all its scores are
    the same.
    """
    return min_max(items._replace(scores=-items.scores))


@normalisation("sum")
def by_sum(items: Segments) -> Floats:
    """(score - lowest) over the sum of these in the list; 1 / n where all n scores are the same.

    Source: Montague and Aslam 2001, Relevance score normalization for metasearch.
    """
    unit = min_max(items)
    return unit / items.total(unit)


@normalisation("max")
def by_max(items: Segments) -> Floats:
    """score / highest of the list, for scores from 0; a list whose highest score is not above 0 is
    refused.
    """
    high = items.highest
    return np.where(high > 0, items.scores / high, np.nan)


@normalisation("z-score", absent="lowest")
def z_score(items: Segments) -> Floats:
    """(score - mean) / sd of the list, by the population sd; 0 where all its scores are the same.

    0 is the mean of a list, so what a run lacks counts as its lowest score and not as an average
    item.
    Source: Montague and Aslam 2001 (zero mean and unit variance).
    """
    # The unit interval first: neither very large nor very small scores are squared.
    low, high = items.lowest, items.highest
    unit = np.where(np.isfinite(high - low), np.where(low < high, min_max(items), 0.0), np.nan)
    size = items.lengths[items.owner]
    deviations = unit - items.total(unit) / size
    sd = np.sqrt(items.total(deviations * deviations) / size)
    return np.where(sd == 0, 0.0, deviations / np.where(sd == 0, 1.0, sd))


@normalisation("rank")
def by_rank(items: Segments) -> Floats:
    """1 - (rank - 1) / n in the list of n items: 1 for the first, 1 / n for the last."""
    return 1.0 - (items.ranks - 1) / items.lengths[items.owner]


@normalisation("borda", absent="rest")
def by_borda(items: Segments) -> Floats:
    """1 - (rank - 1) / c with c items in all lists of the query; those that a list lacks share its
    remaining places evenly.

    Source: Aslam and Montague 2001, Models for metasearch. The sum is that of the method borda over
    c.
    """
    return 1.0 - (items.ranks - 1) / items.candidates[items.owner]


_BLOCK = 16


@dataclass(frozen=True, eq=False)
class Training:
    """Ranks and grades of the judged items in the lists of several runs, for the queries that a
    method learns from.

    lengths: (runs, queries) number of items in each list, 0 where a run lacks the query.
    run, query, rank, grade: (hits,) the judged items in these lists, by run, query and rank; ranks
        from 1.
    judged_query, judged_grade: (rows,) all judgments of the queries.
    """

    lengths: Ints
    run: Ints
    query: Ints
    rank: Ints
    grade: Floats
    judged_query: Ints
    judged_grade: Floats

    @classmethod
    def of(
        cls, rankings: Sequence[Ranking], truth: Judgments, *, depth: int | None = None
    ) -> "Training":
        """The judged lists of all queries of the judgments. depth: number of first items of each
        list that are read.
        """
        lengths = list[Ints]()
        columns = list[tuple[Ints, Ints, Ints, Floats]]()
        for start in range(0, len(truth.queries), _BLOCK):
            lists = RunLists.of(rankings, truth.queries[start : start + _BLOCK], depth=depth)
            lengths.append(lists.lengths)
            rows, judged = judged_rows(lists, truth)
            run, hit = np.nonzero(lists.ranks[:, rows])
            rows, grades = rows[hit], truth.grades[judged[hit]]
            columns.append((run, start + lists.query_of_row[rows], lists.ranks[run, rows], grades))
        run, query, rank, grade = (np.concatenate(parts) for parts in zip(*columns, strict=True))
        order = np.lexsort((rank, query, run))
        hits = run[order], query[order], rank[order], grade[order]
        return cls(np.concatenate(lengths, axis=1), *hits, truth.query_of_row, truth.grades)

    def only(self, is_kept: Bools) -> "Training":
        """The same for some of the queries. is_kept: (queries,)."""
        number = np.cumsum(is_kept) - 1
        rows, judged = is_kept[self.query], is_kept[self.judged_query]
        return replace(
            self,
            lengths=self.lengths[:, is_kept],
            run=self.run[rows],
            query=number[self.query[rows]],
            rank=self.rank[rows],
            grade=self.grade[rows],
            judged_query=number[self.judged_query[judged]],
            judged_grade=self.judged_grade[judged],
        )

    def relevant(self, rel: float) -> "Training":
        """The same with the relevant hits alone. Raises NothingToEvaluate without one, BadUsage for
        a grade from 0 down.
        """
        if not 0 < rel < float("inf"):
            raise BadUsage(f"rel={rel!r}: expected a grade above 0, from which items are relevant.")
        rows = self.grade >= rel
        if not rows.any():
            raise NothingToEvaluate(
                f"no run has a relevant item (grade {rel:g} or more) for any of the "
                f"{self.lengths.shape[1]} training queries; train on other queries, or on more of "
                "them."
            )
        columns = ("run", "query", "rank", "grade")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def count(self, cell: Ints, cells: int, weights: Floats | None = None) -> Floats:
        """The number of hits of each run in each cell, or the sum of their weights. cell: of each
        hit, from 0. Returns (runs, cells).
        """
        runs = len(self.lengths)
        return (
            np.bincount(self.run * cells + cell, weights, minlength=runs * cells)
            .reshape(runs, cells)
            .astype(np.float64)
        )


def judged_rows(lists: RunLists, truth: Judgments) -> tuple[Ints, Ints]:
    """The rows of judged items in the lists, ascending, and those of their judgments."""
    rows, judged = list[int](), list[int]()
    for query, (start, stop) in zip(lists.queries, pairwise(lists.offsets.tolist()), strict=True):
        places = truth.rows_of(query)
        row_of_item = dict(zip(truth.items[places], range(places.start, places.stop), strict=True))
        for row in range(start, stop):
            if (judgment := row_of_item.get(lists.items[row])) is not None:
                rows.append(row)
                judged.append(judgment)
    return np.array(rows, dtype=np.int64), np.array(judged, dtype=np.int64)


Scoring = Callable[[Votes], Floats]

_LEVELS = (0, 5, 10, 15, 20, 30, 100, 200, 500, 1000)
_RARE = 0.001
_LILLIS_2006 = (
    "Lillis, Toolan, Collier and Dunnion 2006, ProbFuse: a probabilistic approach to data fusion"
)
_LILLIS_2008 = (
    "Lillis, Toolan, Collier and Dunnion 2008, Extending probabilistic data fusion using "
    "sliding windows"
)
_LILLIS_2010 = (
    "Lillis, Zhang, Toolan, Collier, Leonard and Dunnion 2010, Estimating probabilities for "
    "effective data fusion"
)
_SHOKOUHI = "Shokouhi 2007, Segmentation of search engine results for effective data-fusion"


@trained_method("bayesfuse", reads="ranks", source="Aslam and Montague 2001, Models for metasearch")
def bayesfuse(training: Training, *, rel: float = 1) -> Scoring:
    """BayesFuse: the sum over runs of the log odds that an item at this level of ranks is relevant.

    Levels end at ranks 5, 10, 15, 20, 30, 100, 200, 500 and 1000. The probability is the mean
    precision within the level; one of 0, and that of an item which the run lacks or ranks below
    1000, counts as 0.001, and 1 minus one of 1 likewise.
    """
    share = _share_of_segments(training.relevant(rel), _LEVELS)
    hit_share = np.where(share == 0, _RARE, share)
    miss_share = np.where(share == 1, _RARE, 1 - hit_share)
    odds = np.repeat(np.log(hit_share / miss_share), np.diff(_LEVELS), axis=1)
    return lambda votes: votes.sum(
        _at(odds, votes.lists.ranks, elsewhere=float(np.log(_RARE / (1 - _RARE))))
    )


@trained_method("mapfuse", reads="ranks", source=_LILLIS_2010)
def mapfuse(training: Training, *, rel: float = 1) -> Scoring:
    """MAPFuse: the sum over runs of their mean average precision on the training queries, divided
    by the rank of the item.
    """
    hits = training.relevant(rel)
    relevant = np.bincount(
        training.judged_query[training.judged_grade >= rel], minlength=training.lengths.shape[1]
    )
    lists = hits.run * training.lengths.shape[1] + hits.query
    starts = np.flatnonzero(np.concatenate([[True], lists[1:] != lists[:-1], [True]]))
    precision = (position_in_segment(starts) + 1) / hits.rank
    total = hits.count(np.zeros_like(hits.run), 1, precision / relevant[hits.query])
    average = total / np.count_nonzero(relevant)
    return lambda votes: votes.sum_found(average / np.maximum(votes.lists.ranks, 1))


@trained_method("posfuse", reads="ranks", source=_LILLIS_2010)
def posfuse(training: Training, *, rel: float = 1) -> Scoring:
    """PosFuse: the sum over runs of the share of training queries with a relevant item at this
    rank.

    Of the queries for which the run has an item at that rank; 0 at ranks that no training list
    reaches.
    """
    share = _share_of_ranks(training, rel)
    return lambda votes: votes.sum(_at(share, votes.lists.ranks))


@trained_method("slidefuse", reads="ranks", source=_LILLIS_2008)
def slidefuse(training: Training, *, window: float = 5, rel: float = 1) -> Scoring:
    """SlideFuse: the sum over runs of the mean of PosFuse's shares from `window` ranks above to
    `window` ranks below the item.

    The window ends at the first and at the last rank of the list that is fused.
    """
    if not 0 <= window <= 1000 or window % 1:
        raise BadUsage(
            f"slidefuse(window={window!r}): expected an integer from 0 to 1000; 5 is usual, "
            "and 0 is posfuse."
        )
    share, width = _share_of_ranks(training, rel), int(window)

    def _score(votes: Votes) -> Floats:
        lists = votes.lists
        last = lists.lengths[:, lists.query_of_row]
        total = np.zeros(lists.ranks.shape)
        for offset in range(-width, width + 1):
            ranks = lists.ranks + offset
            total += _at(share, np.where((ranks >= 1) & (ranks <= last), ranks, 0))
        size = np.minimum(lists.ranks + width, last) - np.maximum(lists.ranks - width, 1) + 1
        return votes.sum_found(total / np.maximum(size, 1))

    return _score


@trained_method("probfuse", reads="ranks", source=_LILLIS_2006)
def probfuse(
    training: Training, *, segments: float, judged: bool = False, rel: float = 1
) -> Scoring:
    """ProbFuse: the sum over runs of the mean share of relevant items in segment k of a list,
    divided by k.

    A list of n items is cut into segments of n / segments items, rounded up. The mean is over all
    training queries. judged: the share is that of judged items (probFuseJudged), else of all items
    (probFuseAll).
    """
    if not 1 <= segments <= 1_000_000 or segments % 1:
        raise BadUsage(
            f"probfuse(segments={segments!r}): expected a positive integer; a list is cut "
            "into so many segments."
        )
    hits = training.relevant(rel)
    queries = training.lengths.shape[1]
    cuts = int(segments)
    sizes = _sizes(training.lengths, cuts)
    size = sizes[hits.run, hits.query]
    segment = (hits.rank - 1) // size
    if judged:
        run, query = training.run, training.query
        cells = _cell(run, query, (training.rank - 1) // sizes[run, query], queries, cuts)
        names, counts = np.unique(cells, return_counts=True)
        number = counts[np.searchsorted(names, _cell(hits.run, hits.query, segment, queries, cuts))]
    else:
        number = np.minimum(size, training.lengths[hits.run, hits.query] - segment * size)
    share = hits.count(segment, cuts, 1 / number) / queries / np.arange(1, cuts + 1)

    def _score(votes: Votes) -> Floats:
        lists = votes.lists
        segment_sizes = _sizes(lists.lengths, cuts)[:, lists.query_of_row]
        return votes.sum(
            _at(share, np.where(lists.found, (lists.ranks - 1) // segment_sizes + 1, 0))
        )

    return _score


@trained_method("segfuse", reads="scores", source=_SHOKOUHI)
def segfuse(training: Training, *, ends: bool = False, rel: float = 1) -> Scoring:
    """SegFuse: the sum over runs of the mean precision of the item's segment on the training
    queries, times (1 + score).

    Segment k has 10 · 2^(k-1) - 5 ranks: 5, 15, 35 and so on. ends: these numbers are the ranks at
    which segments end, as in ranx. Ranks that a list does not reach count as not relevant; segments
    that no training list reaches have precision 0.
    """
    deepest = int(training.lengths.max(initial=0))
    bounds = [0]
    power = 10
    while bounds[-1] < deepest:
        bounds.append(power - 5 + (0 if ends else bounds[-1]))
        power *= 2
    share = np.repeat(_share_of_segments(training.relevant(rel), bounds), np.diff(bounds), axis=1)
    return lambda votes: votes.sum_found(_at(share, votes.lists.ranks) * (votes.values + 1))


def _at(values: Floats, positions: Ints, *, elsewhere: float = 0.0) -> Floats:
    """The value of each run at positions from 1, (runs, rows); `elsewhere` at position 0 and beyond
    the last.
    """
    padded = np.pad(values, ((0, 0), (1, 1)), constant_values=elsewhere)
    return np.take_along_axis(padded, np.minimum(positions, padded.shape[1] - 1), axis=1)


def _share_of_ranks(training: Training, rel: float) -> Floats:
    """The share of lists that reach a rank with a relevant item there, (runs, ranks)."""
    deepest = int(training.lengths.max(initial=0))
    hits = training.relevant(rel)
    of_length = np.array(
        [np.bincount(lengths_of_run, minlength=deepest + 1) for lengths_of_run in training.lengths]
    )
    reached = of_length[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    return hits.count(hits.rank - 1, deepest) / np.maximum(reached, 1)


def _share_of_segments(hits: Training, bounds: Sequence[int]) -> Floats:
    """The mean precision between consecutive bounds of ranks, (runs, segments)."""
    segment = np.searchsorted(bounds, hits.rank) - 1
    counts = hits.count(segment, len(bounds))[:, : len(bounds) - 1]
    return counts / (np.diff(bounds) * hits.lengths.shape[1])


def _sizes(lengths: Ints, segments: int) -> Ints:
    """The sizes of the segments of lists, at least 1."""
    return np.maximum(-(-lengths // segments), 1)


def _cell(run: Ints, query: Ints, segment: Ints, queries: int, segments: int) -> Ints:
    return (run * queries + query) * segments + segment
