"""Retrieved pages against sets of evidence: a question may be answered from any one of its sets,
which takes all its pages.
"""

from itertools import pairwise

import numpy as np

from rankwell.data.judged_rankings import GroupRankings
from rankwell.data.registry import measure
from rankwell.data.tables import Floats, ratio

_KILT = (
    "Petroni and others 2021, KILT: a benchmark for knowledge intensive language tasks, "
    "evaluation script"
)


@measure("EvidenceRprec", source=_KILT, aliases="kilt_rprec")
def evidence_rprec(grouped: GroupRankings, *, rel: float = 1) -> Floats:
    """The best R-precision over the evidence sets: the share of the first R places that hold one of
    a set's R items.

    KILT R-precision, for evidence without choosing a cut-off:

        EvidenceRprec = max over the sets of |set ∩ first R places| / R
        R: the number of items of the set

    A set is the items of a group of the judgments with grade `rel` or more. A question without such
    items scores 0.

    >>> from rankwell import group_rankings
    >>> evidence_rprec(
    ...     group_rankings(
    ...         {"q": {"one": {"a": 1, "b": 1}, "two": {"c": 1}}}, {"q": {"b": 3.0, "c": 2.0}}
    ...     )
    ... ).tolist()
    [0.5]
    """
    view = grouped.by_aspect
    relevant = view.n_relevant(rel)
    share = ratio(
        view.sum_rows(view.relevant(rel) & view.within(relevant.astype(np.int64))), relevant
    )
    value = np.zeros(len(grouped.queries))
    np.maximum.at(value, grouped.query_of_aspect, share)
    return value


def _completed(grouped: GroupRankings, rel: float, k: int | None) -> tuple[Floats, Floats]:
    """Per question the number of its sets that are complete in the first k places, where each takes
    one, and of its sets.
    """
    view, flat = grouped.by_aspect, grouped.flat
    hit, ranks = view.relevant(rel), view.ranks
    flat_relevant = flat.relevant(rel)
    complete, distinct = np.zeros((2, len(grouped.queries)))
    for query, (start, stop) in enumerate(pairwise(grouped.aspect_offsets.tolist())):
        sets: dict[tuple[int, ...], list[int]] = {}
        for aspect in range(start, stop):
            rows = slice(*view.offsets[aspect : aspect + 2].tolist())
            truth = slice(*grouped.truth_offsets[aspect : aspect + 2].tolist())
            items = grouped.truth_items[truth][grouped.truth_grades[truth] >= rel]
            if len(items):
                sets.setdefault(tuple(items.tolist()), ranks[rows][hit[rows]].tolist())
        distinct[query] = len(sets)
        rows = slice(*flat.offsets[query : query + 2].tolist())
        evidence = np.sort(flat.ranks[rows][flat_relevant[rows]])
        ends = [
            (max(retrieved), number, len(retrieved) == len(items))
            for number, (items, retrieved) in enumerate(sets.items())
            if retrieved
        ]
        # Items of no set before the last item of a set stand before it, and so do the sets that end
        # earlier.
        for number, (last, _, is_complete) in enumerate(sorted(ends), start=1):
            at = int(last - 1 - np.searchsorted(evidence, last)) + number
            complete[query] += is_complete and (k is None or at <= k)
    return complete, distinct


@measure("EvidenceP", source=_KILT, aliases="kilt_precision")
def evidence_precision(grouped: GroupRankings, *, k: int, rel: float = 1) -> Floats:
    """The share of the first `k` places that complete an evidence set; all retrieved items of a set
    take one place.

    KILT precision, for evidence that consists of several passages:

        EvidenceP@k = (places in the first k at which a set is complete) / k

    >>> from rankwell import group_rankings
    >>> evidence_precision(
    ...     group_rankings({"q": {"one": {"a": 1, "b": 1}}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}),
    ...     k=2,
    ... ).tolist()
    [0.5]
    """
    return ratio(_completed(grouped, rel, k)[0], k)


@measure("EvidenceR", source=_KILT, aliases="kilt_recall")
def evidence_recall(grouped: GroupRankings, *, rel: float = 1, k: int | None = None) -> Floats:
    """The share of the distinct evidence sets that are complete in the first `k` places; a set
    takes one place.

    KILT recall, for evidence that consists of several passages:

        EvidenceR@k = (sets complete in the first k places) / (sets)

    >>> from rankwell import group_rankings
    >>> evidence_recall(
    ...     group_rankings({"q": {"one": {"a": 1}, "two": {"b": 1}}}, {"q": {"b": 2.0, "a": 1.0}}),
    ...     k=1,
    ... ).tolist()
    [0.5]
    """
    return ratio(*_completed(grouped, rel, k))


@measure("EvidenceSuccess", source=_KILT, aliases="kilt_success_rate")
def evidence_success(grouped: GroupRankings, *, k: int, rel: float = 1) -> Floats:
    """1 if an evidence set is complete in the first `k` places, else 0; a set takes one place.

    KILT success rate, for whether one complete set of evidence is found:

        EvidenceSuccess@k = 1 if a set is complete in the first k places, else 0

    >>> from rankwell import group_rankings
    >>> evidence_success(
    ...     group_rankings({"q": {"one": {"a": 1, "b": 1}}}, {"q": {"a": 2.0, "x": 1.0}}), k=5
    ... ).tolist()
    [0.0]
    """
    return (_completed(grouped, rel, k)[0] > 0).astype(np.float64)
