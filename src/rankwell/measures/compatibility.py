"""Compatibility: the overlap of a ranking with the nearest ideal ranking."""

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import measure
from rankwell.data.tables import Floats, Ints, position_in_segment, ratio
from rankwell.errors import BadUsage


def _ideal_ranks(view: JudgedRankings, positive: Ints) -> Ints:
    """The rank of each positive row in the ideal list: higher grades first, ties in the order of
    the ranking.
    """
    codes = np.unique(-view.judged_grades)
    stride = len(codes) + 1
    query, grade = view.query_of_row[positive], np.searchsorted(codes, -view.grades[positive])
    truth = view.query_of_judged * stride + np.searchsorted(codes, -view.judged_grades)
    better = np.searchsorted(truth, query * stride + grade) - view.judged_offsets[query]
    order = np.lexsort((view.ranks[positive], grade, query))
    edges = np.flatnonzero(np.diff((query * stride + grade)[order], prepend=-1, append=-1))
    positions = np.empty_like(order)
    positions[order] = position_in_segment(edges if len(edges) else np.zeros(1, dtype=np.int64))
    return better + positions + 1


def _added(worth: Floats, ranks: Ints, last: Ints) -> Floats:
    """What items add that both lists have from a rank on, down to the last one."""
    return np.where(ranks <= last, worth[last] - worth[np.minimum(ranks, last) - 1], 0.0)


@measure(
    "Compat",
    source="Clarke, Vtyurina and Smucker 2021, Assessing top-k preferences",
    aliases="compat compatibility",
    exempt={"unjudged tail": "the overlap is looked at as deep as the list goes"},
)
def compat(
    view: JudgedRankings, *, p: float = 0.95, normalize: bool = True, k: int | None = None
) -> Floats:
    """The rank-biased overlap with the closest ideal ranking, to the depth of the longer ranking; 0
    if nothing is relevant.

    Compatibility, for preferences, where the order of the best items matters:

        Compat = overlap(list, ideal) / overlap(ideal, ideal)
        overlap(a, b) = Σ(d=1…D) p^(d - 1) · |first d of a ∩ first d of b| / d / Σ(d=1…D) p^(d - 1)

    The ideal ranking holds every item with a grade above 0, higher grades first, and items of equal
    grade in the order of the ranking. The overlap is the weighted mean of the shared proportion at
    each depth, with weights p^(depth - 1), down to `k` at most. normalize: divide by the value of
    the ideal ranking.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"b": 3.0, "x": 2.0}})
    >>> compat(view, p=0.5).tolist(), compat(view, p=0.5, k=1).tolist()
    ([0.8333333333333334], [1.0])
    """
    if not 0 < p <= 1:
        raise BadUsage(f"p={p!r}: the persistence of compatibility is above 0 and at most 1.")
    ideal = view.sum_judged(view.judged_grades > 0).astype(np.int64)
    depth = np.maximum(view.n_retrieved, ideal)
    depth = depth if k is None else np.minimum(depth, k)
    weights = p ** np.arange(int(depth.max(initial=0)), dtype=np.float64)
    # worth[d] is what an item adds that both lists have in every prefix from the first to the d-th.
    worth = np.concatenate([[0.0], np.cumsum(weights / np.arange(1, len(weights) + 1))])
    positive = np.flatnonzero(view.grades > 0)
    shared = np.maximum(view.ranks[positive], _ideal_ranks(view, positive))
    last = depth[view.query_of_row[positive]]
    added = np.zeros(len(view.grades))
    added[positive] = _added(worth, shared, last)
    overlap = view.sum_rows(added)
    if normalize:
        added = _added(worth, view.judged_positions, depth[view.query_of_judged])
        return ratio(overlap, view.sum_judged(np.where(view.judged_grades > 0, added, 0.0)))
    return ratio(overlap, np.concatenate([[0.0], np.cumsum(weights)])[depth])
