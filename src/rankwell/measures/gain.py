"""Discounted cumulative gain and its relatives: graded relevance, worth less further down."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import Scale, measure
from rankwell.data.tables import Bools, Floats, Ints, ranks_to, ratio, running_sum, sum_by
from rankwell.errors import BadInput, BadUsage

Gain = Literal["log2", "exp-log2", "binary-log2"]
Gains = tuple[tuple[float, float], ...] | None

_JARVELIN = "Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques"
_SOURCE = (
    _JARVELIN + "; dcg='exp-log2': Burges and others 2005, Learning to rank using gradient descent"
)


def _worth(grades: Floats, gains: Gains, dcg: Gain = "log2", rel: float | None = None) -> Floats:
    """The gain of each grade; 0 for a negative grade and one below `rel`."""
    if dcg == "exp-log2":
        if grades.max(initial=0.0) > 1023:
            raise BadInput(
                f"grade {grades.max():g} has no gain 2^grade - 1 in float64; use dcg='log2', "
                "or name its gain in gains."
            )
        worth = np.exp2(np.maximum(grades, 0.0)) - 1.0
    elif dcg == "binary-log2":
        worth = (grades >= (1 if rel is None else rel)).astype(np.float64)
    else:
        worth = grades.copy()
    for grade, gain in gains or ():
        worth[grades == grade] = gain
    worth[grades < max(0.0, rel or 0.0)] = 0.0
    return worth


def _discount(rank: Ints | Floats) -> Floats:
    return np.log2(rank + 1.0)


def _discounted(worth: Floats, rank: Ints, is_counted: Bools) -> Floats:
    """The gain over its discount where it counts, else 0; logarithms are taken only where they
    count.
    """
    rows = np.flatnonzero(is_counted & (worth != 0))
    terms = np.zeros(len(worth))
    terms[rows] = worth[rows] / _discount(rank[rows])
    return terms


def _sum_discounted(
    view: JudgedRankings, worth: Callable[[Floats], Floats], k: int | None
) -> Floats:
    """The discounted worth of the first `k` places, per query; the mean over random orders of ties
    (McSherry and Najork 2008).
    """
    if not view.in_random_order:
        return view.sum_rows(_discounted(worth(view.grades), view.ranks, view.within(k)))
    return view.sum_rows(
        worth(view.grades) * view.mean_over_ties(lambda rank: 1.0 / _discount(rank), k)
    )


def _ideal(
    view: JudgedRankings, gains: Gains, dcg: Gain = "log2", rel: float | None = None
) -> Floats:
    """The positive gains of all judged items, highest first within each query, then zeros."""
    worth = np.maximum(_worth(view.judged_grades, gains, dcg, rel), 0.0)
    # Only a table of gains can order items otherwise than their grades do.
    return worth if gains is None else worth[np.lexsort((-worth, view.query_of_judged))]


@measure(
    "DCG",
    source=_SOURCE,
    scale=Scale((0.0, np.inf), unit="score"),
    aliases="dcg_burges(dcg='exp-log2')",
    expected="linear",
)
def discounted_gain(
    view: JudgedRankings,
    *,
    dcg: Gain = "log2",
    gains: Gains = None,
    rel: float | None = None,
    judged_only: bool = False,
    k: int | None = None,
) -> Floats:
    """The sum of gain / log2(rank + 1) over the first `k` places; unjudged items have gain 0.

    Discounted cumulative gain, for comparing lists of the same query by graded judgments:

        DCG@k = Σ(i=1…k) g(i) / log2(i + 1)
        g(i): the gain of the item at rank i, by default its grade

    dcg: the gain of an item is its grade (`log2`), 2^grade - 1 (`exp-log2`), or 1 for grades of
    `rel` or more, by default 1 (`binary-log2`). gains: pairs of a grade and its gain, which
    override that rule. rel: grades below it have gain 0. judged_only: remove unjudged items before
    counting ranks. Raises BadInput for a grade whose exponential gain overflows float64.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 3, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    >>> discounted_gain(view).tolist(), discounted_gain(view, dcg="exp-log2").tolist()
    ([3.5], [7.5])
    """
    return _sum_discounted(
        view.without_unjudged(judged_only), lambda grades: _worth(grades, gains, dcg, rel), k
    )


@measure(
    "IDCG",
    source=_SOURCE,
    scale=Scale((0.0, np.inf), better="neither", unit="score"),
    aliases="ideal_dcg idcg_burges(dcg='exp-log2')",
    expected="same",
    exempt={"empty": "the ideal does not depend on the ranking"},
)
def ideal_gain(
    view: JudgedRankings,
    *,
    dcg: Gain = "log2",
    gains: Gains = None,
    rel: float | None = None,
    k: int | None = None,
) -> Floats:
    """The DCG of the best possible list: the first `k` of all judged items, retrieved or not, best
    first.

    Ideal discounted cumulative gain, for the highest possible DCG:

        IDCG@k = DCG@k of all judged items, best first

    Parameters as for `DCG`.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 3, "b": 1, "c": 2}}, {"q": {}})
    >>> ideal_gain(view, k=1).tolist()
    [3.0]
    """
    ideal, ideal_ranks = _ideal(view, gains, dcg, rel), view.judged_positions
    return view.sum_judged(_discounted(ideal, ideal_ranks, ideal_ranks <= (k or np.inf)))


@measure(
    "nDCG",
    source=_SOURCE,
    aliases="ndcg_cut normalized_dcg retrieval_normalized_dcg RetrievalNormalizedDCG "
    "ndcg_burges(dcg='exp-log2') ndcg_exp(dcg='exp-log2')",
    expected="linear",
)
def ndcg(
    view: JudgedRankings,
    *,
    dcg: Gain = "log2",
    gains: Gains = None,
    rel: float | None = None,
    judged_only: bool = False,
    k: int | None = None,
) -> Floats:
    """DCG divided by the DCG of the best possible list of all judged items, both cut at `k`; 0 if
    no item has a gain.

    Normalized discounted cumulative gain, for graded judgments, where the top of the list matters
    most:

        nDCG@k = DCG@k / IDCG@k
        DCG@k = Σ(i=1…k) g(i) / log2(i + 1)
        g(i): the gain of the item at rank i, by default its grade

    Parameters as for `DCG`.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings(
    ...     {"q": {"a": 1, "b": 2, "c": 3, "d": 2}}, {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "x": 1.0}}
    ... )
    >>> ndcg(view, k=3).round(5).tolist(), ndcg(view, k=3, dcg="exp-log2").round(5).tolist()
    ([0.71493], [0.61512])
    """
    best = ideal_gain(view, dcg=dcg, gains=gains, rel=rel, k=k)
    view = view.without_unjudged(judged_only)
    return ratio(discounted_gain(view, dcg=dcg, gains=gains, rel=rel, k=k), best)


def _ideal_sums(view: JudgedRankings, ideal: Floats) -> Floats:
    """The ideal DCG down to each rank of the ideal list."""
    return running_sum(ideal / _discount(view.judged_positions), view.judged_offsets)


@measure(
    "RnDCG",
    source="trec_eval Rndcg, Buckley 2008",
    aliases="Rndcg",
    exempt={"unjudged tail": "a list longer than the ideal one is looked at once more at its end"},
)
def rndcg(view: JudgedRankings, *, gains: Gains = None) -> Floats:
    """The mean nDCG over the ranks at which the ideal gain changes, including its drop to 0; 0 if
    no item has a gain.

    Rank-averaged nDCG, for nDCG averaged over the depths at which the ideal gain changes:

        RnDCG = mean of nDCG@i over the ranks i at which the ideal gain changes

    The end of the list is one more such rank if the list has at least two items more than there are
    items with a gain.
    gains: pairs of a grade and its gain; other grades are their own gains.

    >>> from rankwell import judged_rankings
    >>> rndcg(judged_rankings({"q": {"a": 1, "b": 2}}, {"q": {"b": 3.0, "a": 2.0}})).tolist()
    [1.0]
    """
    ideal = _ideal(view, gains)
    owner, ideal_ranks = view.query_of_judged, view.judged_positions
    following = np.append(ideal[1:], 0.0)
    following[view.judged_offsets[1:][np.diff(view.judged_offsets) > 0] - 1] = 0.0
    turns = np.flatnonzero((ideal > 0) & (following != ideal))
    worth = _worth(view.grades, gains) / _discount(view.ranks)
    best = _ideal_sums(view, ideal)[turns]
    reached = view.sum_until(worth, owner[turns], ideal_ranks[turns]) / best
    n_ideal = view.sum_judged(ideal > 0)
    at_end = (n_ideal > 0) & (view.n_retrieved > n_ideal + 1)
    full_value = ratio(view.sum_rows(worth), view.sum_judged(ideal / _discount(ideal_ranks)))
    n, owner = len(view.queries), owner[turns]
    total = sum_by(owner, reached, n) + np.where(at_end, full_value, 0.0)
    return ratio(total, np.bincount(owner, minlength=n) + at_end)


@measure(
    "nDCGrel",
    source="trec_eval ndcg_rel, Buckley 2008",
    aliases="ndcg_rel",
    exempt={
        "swap for the better": "it looks at the ranks of the relevant items, and moving one up "
        "moves where it looks"
    },
)
def ndcg_rel(view: JudgedRankings, *, gains: Gains = None) -> Floats:
    """The mean nDCG over all items with a gain, taken at the item's rank, or for the whole list if
    it is not retrieved.

    nDCG averaged at the relevant items, for nDCG without choosing a cut-off:

        nDCGrel = (Σ(retrieved items with a gain, at rank i) DCG@i / IDCG@i + m · DCG / IDCG) / R
        m, R: the number of items with a gain that are not retrieved, and of all such items

    0 if no item has a gain. gains: pairs of a grade and its gain; other grades are their own gains.

    >>> from rankwell import judged_rankings
    >>> ndcg_rel(
    ...     judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    ... ).round(4).tolist()
    [0.9599]
    """
    ideal = _ideal(view, gains)
    n_ideal = view.sum_judged(ideal > 0).astype(np.int64)
    worth = _worth(view.grades, gains)
    gained = (worth > 0) & (n_ideal > 0)[view.query_of_row]
    rows, owner = np.flatnonzero(gained), view.query_of_row[gained]
    reached = running_sum(worth / _discount(view.ranks), view.offsets)[rows]
    best = _ideal_sums(view, ideal)[
        view.judged_offsets[owner] + np.minimum(view.ranks[rows], n_ideal[owner]) - 1
    ]
    at_items = sum_by(owner, reached / best, len(view.queries))
    full_value = ratio(
        view.sum_rows(worth / _discount(view.ranks)),
        view.sum_judged(ideal / _discount(view.judged_positions)),
    )
    return ratio(
        np.maximum(at_items + (n_ideal - view.sum_rows(gained)) * full_value, 0.0), n_ideal
    )


@measure(
    "G",
    source="trec_eval G, Buckley 2008",
    exempt={
        "swap for the better": "the discount of an item depends on the gains above it, so that one "
        "item's rise may cost another"
    },
)
def graded_g(view: JudgedRankings, *, gains: Gains = None) -> Floats:
    """The sum of gain / log2(2 + cost - gain so far), divided by the sum of all gains; 0 if no item
    has a gain.

    Graded G, for gain weighed against the cost of reading:

        G = Σ(i) g(i) / log2(2 + cost(i) - gain(i)) / Σ(all items) g
        gain(i): the sum of gains down to rank i
        cost(i): max(ideal gain, 1) down to rank i

    At each rank the cost grows by the ideal gain there, or by 1 if that gain is less.
    gains: pairs of a grade and its gain; other grades are their own gains.

    >>> from rankwell import judged_rankings
    >>> graded_g(judged_rankings({"q": {"a": 1, "b": 2}}, {"q": {"b": 3.0, "a": 2.0}})).tolist()
    [1.0]
    """
    ideal = _ideal(view, gains)
    n_ideal = view.sum_judged(ideal > 0).astype(np.int64)
    worth, owner = _worth(view.grades, gains), view.query_of_row
    costs = np.concatenate([[0.0], running_sum(np.maximum(ideal, 1.0), view.judged_offsets)])
    depth = np.minimum(view.ranks, n_ideal[owner])
    ideal_cost = np.where(depth > 0, costs[view.judged_offsets[owner] + depth], 0.0)
    cost = ideal_cost + (view.ranks - depth)
    total = view.sum_rows(worth / np.log2(2.0 + cost - running_sum(worth, view.offsets)))
    return ratio(total, view.sum_judged(ideal))


@measure("BinG", source="trec_eval binG, Buckley 2008", aliases="binG")
def binary_g(view: JudgedRankings, *, rel: float = 1) -> Floats:
    """The mean of 1 / log2(2 + non-relevant items above) over all items with grade `rel` or more; 0
    if there are none.

    Binary G, for G with binary relevance:

        BinG = Σ(relevant items) 1 / log2(2 + m) / R
        m: the items above it that are not relevant

    A relevant item that is not retrieved adds 0.

    >>> from rankwell import judged_rankings
    >>> binary_g(
    ...     judged_rankings(
    ...         {"q": {"a": 1, "b": 1}}, {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}}
    ...     )
    ... ).tolist()
    [0.75]
    """
    hit = view.relevant(rel)
    above = np.where(hit, view.ranks - view.count_so_far(hit), 0)
    return ratio(view.sum_rows(hit / np.log2(2.0 + above)), view.n_relevant(rel))


@measure(
    "SDCG",
    source="Azzopardi, Thomas and Moffat 2019, cwl_eval; " + _JARVELIN,
    aliases="sdcg",
    expected="linear",
)
def sdcg(view: JudgedRankings, *, k: int, max_rel: float, min_rel: float = 0.0) -> Floats:
    """DCG of grades scaled to 0…1 by their declared range, divided by the DCG of `k` perfect items,
    whether these exist or not.

    Scaled discounted cumulative gain, for comparing queries by absolute quality, even if little is
    relevant:

        SDCG@k = Σ(i=1…k) s(i) / log2(i + 1) / Σ(i=1…k) 1 / log2(i + 1)
        s(i) = (grade at rank i - min_rel) / (max_rel - min_rel)

    Grades outside the range are clipped to it; unjudged items count as 0. Raises BadUsage unless
    max_rel is above min_rel.

    min_rel: lowest grade of the scale. max_rel: highest grade of the scale.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings(
    ...     {"q": {"a": 1, "b": 2, "c": 3, "d": 2}}, {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "x": 1.0}}
    ... )
    >>> sdcg(view, k=3, max_rel=3.0).round(5).tolist()
    [0.58845]
    """
    if not max_rel > min_rel:
        raise BadUsage(
            f"SDCG with max_rel={max_rel:g} and min_rel={min_rel:g} has no scale; max_rel is "
            "the larger one."
        )

    def _scaled(grades: Floats) -> Floats:
        return np.where(
            grades < 0, 0.0, (np.clip(grades, min_rel, max_rel) - min_rel) / (max_rel - min_rel)
        )

    return _sum_discounted(view, _scaled, k) / float(np.cumsum(1.0 / _discount(ranks_to(k)))[-1])
