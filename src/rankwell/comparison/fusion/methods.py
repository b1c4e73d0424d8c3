"""Fusion methods that read ranks only, methods that combine normalised scores, and the
normalisations of a list's scores.
"""

from dataclasses import replace
from functools import cmp_to_key
from itertools import pairwise
from math import fsum

import numpy as np

from rankwell.comparison.fusion import Segments, Votes, fusion_method, normalisation
from rankwell.data.tables import Floats
from rankwell.errors import BadUsage

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
    return votes.sum(np.where(votes.lists.found, 1.0 / np.maximum(k + votes.lists.ranks, 1.0), 0.0))


@fusion_method(
    "isr", reads="ranks", source="Mourão, Martins and Magalhães 2015, Unsupervised rank fusion"
)
def isr(votes: Votes) -> Floats:
    """Inverse square rank: the sum over runs of 1 / rank², times the number of runs that have the
    item.
    """
    return votes.lists.counts * votes.sum(_inverse_squares(votes))


@fusion_method(
    "log-isr", reads="ranks", source="Mourão, Martins and Magalhães 2015, Unsupervised rank fusion"
)
def log_isr(votes: Votes) -> Floats:
    """The sum over runs of 1 / rank², times the logarithm of the number of runs that have the item:
    0 for items of one run.
    """
    return np.log(votes.lists.counts) * votes.sum(_inverse_squares(votes))


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
    """The sum over runs of 1 / rank², times log(sigma + number of runs that have the item): above 0
    for items of one run, too.
    """
    if not 0 < sigma <= 1:
        raise BadUsage(
            f"logn-isr(sigma={sigma!r}): expected a number above 0, at most 1; 0.01 is usual, "
            "and 0 is log-isr."
        )
    return np.log(votes.lists.counts + sigma) * votes.sum(_inverse_squares(votes))


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
    return votes.sum(np.where(votes.lists.found, (1 - phi) * phi ** (votes.lists.ranks - 1.0), 0.0))


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
    weights: list[float] = votes.weights.tolist()

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
    ranks = np.maximum(votes.lists.ranks, 1).astype(np.float64)
    return np.where(votes.lists.found, 1.0 / (ranks * ranks), 0.0)


@fusion_method("combsum", reads="scores", source=_FOX)
def combsum(votes: Votes) -> Floats:
    """CombSUM: the sum of the scores over all runs; with weights, the weighted sum."""
    return votes.sum(votes.filled)


@fusion_method("combmnz", reads="scores", source=_FOX)
def combmnz(votes: Votes) -> Floats:
    """CombMNZ: CombSUM times the number of runs that have the item."""
    return votes.lists.counts * votes.sum(votes.filled)


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
    return votes.lists.counts.astype(np.float64) ** gamma * votes.sum(votes.filled)


@fusion_method("wmnz", reads="scores", source=_WU)
def wmnz(votes: Votes) -> Floats:
    """Weighted CombMNZ: the sum of the scores times the sum of the weights, each over the runs that
    have the item.
    """
    has_item = votes.lists.found
    return replace(votes, weights=np.ones(len(votes.weights))).sum(
        np.where(has_item, votes.values, 0.0)
    ) * votes.sum(has_item.astype(np.float64))


@fusion_method("mixed", reads="scores", source=_WU)
def mixed(votes: Votes) -> Floats:
    """The weighted sum of the scores over the runs that have the item, times the square root of the
    number of these runs.
    """
    return np.sqrt(votes.lists.counts) * votes.sum(np.where(votes.lists.found, votes.values, 0.0))


@fusion_method("combanz", reads="scores", weighted=False, source=_FOX)
def combanz(votes: Votes) -> Floats:
    """CombANZ: the mean of the scores over the runs that have the item."""
    return votes.sum(np.where(votes.lists.found, votes.values, 0.0)) / votes.lists.counts


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
    low, high = items.lowest(items.scores), items.highest(items.scores)
    return np.where(high > low, (items.scores - low) / (high - low), 1.0)


@normalisation("min-max-inverted", lower=True)
def min_max_inverted(items: Segments) -> Floats:
    """(highest - score) / (highest - lowest) of the list, for distances; 1 where all its scores are
    the same.
    """
    low, high = items.lowest(items.scores), items.highest(items.scores)
    return np.where(high > low, (high - items.scores) / (high - low), 1.0)


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
    high = items.highest(items.scores)
    return np.where(high > 0, items.scores / high, np.nan)


@normalisation("z-score", absent="lowest")
def z_score(items: Segments) -> Floats:
    """(score - mean) / sd of the list, by the population sd; 0 where all its scores are the same.

    0 is the mean of a list, so what a run lacks counts as its lowest score and not as an average
    item.
    Source: Montague and Aslam 2001 (zero mean and unit variance).
    """
    # The unit interval first: neither very large nor very small scores are squared.
    low, high = items.lowest(items.scores), items.highest(items.scores)
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
