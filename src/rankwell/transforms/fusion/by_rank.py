"""Methods that read ranks only, and so need no scores that compare."""

import numpy as np

from rankwell.core.tables import Floats
from rankwell.errors import BadUsage
from rankwell.transforms.fusion import Votes, fusion_method


@fusion_method("rrf", reads="ranks", source="Cormack, Clarke and Büttcher 2009, Reciprocal rank fusion")
def rrf(votes: Votes, *, k: float = 60) -> Floats:
    """Reciprocal rank fusion: the sum over runs of 1 / (k + rank), ranks from 1; a run that lacks the item adds nothing."""
    if not 0 <= k < float("inf"):
        raise BadUsage(f"rrf(k={k!r}): expected a finite number from 0; 60 is usual.")
    return votes.sum(np.where(votes.lists.found, 1.0 / np.maximum(k + votes.lists.ranks, 1.0), 0.0))


@fusion_method("isr", reads="ranks", source="Mourão, Martins and Magalhães 2015, Unsupervised rank fusion")
def isr(votes: Votes) -> Floats:
    """Inverse square rank: the sum over runs of 1 / rank², times the number of runs that have the item."""
    return votes.lists.counts * votes.sum(_inverse_squares(votes))


@fusion_method("log-isr", reads="ranks", source="Mourão, Martins and Magalhães 2015, Unsupervised rank fusion")
def log_isr(votes: Votes) -> Floats:
    """The sum over runs of 1 / rank², times the logarithm of the number of runs that have the item: 0 for items of one run."""
    return np.log(votes.lists.counts) * votes.sum(_inverse_squares(votes))


@fusion_method("borda", reads="ranks", source="Aslam and Montague 2001, Models for metasearch")
def borda(votes: Votes) -> Floats:
    """Borda count: with c items in all lists of a query, a run gives c points to its first, c - 1 to its second and so on.

    The items that it lacks share the points that are left: (c - n + 1) / 2 each beside a list of n.
    """
    lists = votes.lists
    candidates = np.diff(lists.offsets)[lists.owner]
    rest = (candidates - lists.lengths[:, lists.owner] + 1) / 2
    return votes.sum(np.where(lists.found, candidates - lists.ranks + 1.0, rest))


def _inverse_squares(votes: Votes) -> Floats:
    ranks = np.maximum(votes.lists.ranks, 1).astype(np.float64)
    return np.where(votes.lists.found, 1.0 / (ranks * ranks), 0.0)
