"""Normalisations: what the scores of one list become, so that those of several runs can be added."""

import numpy as np

from rankwell.core.tables import Floats
from rankwell.transforms.fusion import Segments, normalisation


@normalisation("none")
def none(items: Segments) -> Floats:
    """The scores as they are."""
    return items.scores


@normalisation("min-max")
def min_max(items: Segments) -> Floats:
    """(score - lowest) / (highest - lowest) of the list; 1 where all its scores are the same, as in a list of one item.

    Items that were found count more than items that were not. Source: Lee 1997, Analyses of multiple evidence combination.
    """
    low, high = items.lowest(items.scores), items.highest(items.scores)
    return np.where(high > low, (items.scores - low) / (high - low), 1.0)


@normalisation("sum")
def by_sum(items: Segments) -> Floats:
    """(score - lowest) over the sum of these in the list; 1 / n where all n scores are the same.

    Source: Montague and Aslam 2001, Relevance score normalization for metasearch.
    """
    unit = min_max(items)
    return unit / items.total(unit)


@normalisation("max")
def by_max(items: Segments) -> Floats:
    """score / highest of the list, for scores from 0; a list whose highest score is not above 0 is refused."""
    high = items.highest(items.scores)
    return np.where(high > 0, items.scores / high, np.nan)


@normalisation("z-score", absent="lowest")
def z_score(items: Segments) -> Floats:
    """(score - mean) / sd of the list, by the population sd; 0 where all its scores are the same.

    0 is the mean of a list, so what a run lacks counts as its lowest score and not as an average item.
    Source: Montague and Aslam 2001 (zero mean and unit variance).
    """
    # The unit interval first: neither very large nor very small scores are squared.
    unit = np.where(items.lowest(items.scores) < items.highest(items.scores), min_max(items), 0.0)
    size = items.lengths[items.owner]
    away = unit - items.total(unit) / size
    sd = np.sqrt(items.total(away * away) / size)
    return np.where(sd > 0, away / np.where(sd > 0, sd, 1.0), 0.0)


@normalisation("rank")
def by_rank(items: Segments) -> Floats:
    """1 - (rank - 1) / n in the list of n items: 1 for the first, 1 / n for the last."""
    return 1.0 - (items.ranks - 1) / items.lengths[items.owner]
