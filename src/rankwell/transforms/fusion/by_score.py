"""Methods that combine normalised scores. "Runs that have the item" are those whose list it is in, whatever its score there."""

import numpy as np

from rankwell.core.tables import Floats
from rankwell.errors import BadUsage
from rankwell.transforms.fusion import Votes, fusion_method

_FOX = "Fox and Shaw 1994, Combination of multiple searches"


@fusion_method("combsum", reads="scores", source=_FOX)
def combsum(votes: Votes) -> Floats:
    """CombSUM: the sum of the scores over all runs; with weights, the weighted sum."""
    return votes.sum(votes.filled)


@fusion_method("combmnz", reads="scores", source=_FOX)
def combmnz(votes: Votes) -> Floats:
    """CombMNZ: CombSUM times the number of runs that have the item."""
    return votes.lists.counts * votes.sum(votes.filled)


@fusion_method("combgmnz", reads="scores", source="Lee 1997, Analyses of multiple evidence combination")
def combgmnz(votes: Votes, *, gamma: float) -> Floats:
    """CombGMNZ: CombSUM times the number of runs that have the item to the power gamma: CombSUM at 0, CombMNZ at 1."""
    if not 0 <= gamma <= 100:
        raise BadUsage(f"combgmnz(gamma={gamma!r}): expected a number from 0 to 100; 0 is combsum, 1 is combmnz.")
    return votes.lists.counts.astype(np.float64) ** gamma * votes.sum(votes.filled)


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
    """CombMED: the median of the scores over the runs that have the item; the mean of the two middle ones of an even number."""
    # Sorting puts what is absent, NaN, last.
    ordered, n = np.sort(votes.values, axis=0), votes.lists.counts
    every = np.arange(len(n))
    return (ordered[(n - 1) // 2, every] + ordered[n // 2, every]) / 2
