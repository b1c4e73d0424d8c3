"""Measures of a user who inspects items one by one and may stop: RBP with its residual, and ERR."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import Scale, measure
from rankwell.data.tables import Floats, Ints
from rankwell.errors import BadInput, BadUsage

GainScale = Literal["grade", "topic", "max"]
Gains = tuple[tuple[float, float], ...] | None

_RBP = "Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness"
# The highest grade of gdeval.pl, which refuses higher ones and divides by 2 to its power, whatever
# the scale in use.
_TOP_GRADE = 4


def _persistence(p: float) -> float:
    if not 0 <= p < 1:
        raise BadUsage(
            f"p={p!r}: the chance of going on to the next item is at least 0 and below 1."
        )
    return p


def _gain(
    view: JudgedRankings, rel: float | None, scale: GainScale, max_rel: float | None, gains: Gains
) -> Floats:
    """The worth of each item to the user."""
    if rel is not None and (scale != "grade" or gains is not None):
        raise BadUsage(
            "with rel every relevant item has gain 1; leave out scale and gains, or rel."
        )
    if (scale == "max") != (max_rel is not None):
        raise BadUsage(
            f"scale={scale!r} with max_rel={max_rel!r}: max_rel is the highest grade of the "
            "scale that scale='max' divides by."
        )
    if rel is not None:
        return view.relevant(rel).astype(np.float64)
    worth = _worth(view.grades, gains)
    if max_rel is not None:
        if max_rel <= 0:
            raise BadUsage(f"max_rel={max_rel!r}: the highest grade of the scale is above 0.")
        return np.minimum(worth / max_rel, 1.0)
    if scale == "topic":
        low, high = (bound[view.query_of_row] for bound in _range_in_topic(view, gains))
        return np.where(
            (low < 0) | (high > 1),
            np.where(view.grades >= 0, worth - low, 0.0) / np.maximum(high - low, 1e-300),
            worth,
        )
    return worth


def _worth(grades: Floats, gains: Gains) -> Floats:
    worth = np.maximum(grades, 0.0)
    for grade, gain in gains or ():
        worth[grades == grade] = gain
    worth[grades < 0] = 0.0
    return worth


def _range_in_topic(view: JudgedRankings, gains: Gains) -> tuple[Floats, Floats]:
    """The least and the greatest gain in trec_eval's table of each query: that of every whole grade
    up to its highest, of every judged grade, and whatever `gains` names; 0 is always among them.
    """
    high = np.zeros(len(view.queries))
    mapped, values = zip(*gains, strict=True) if gains else ((), ())
    plain = ~np.isin(view.judged_grades, mapped)
    np.maximum.at(high, view.query_of_judged[plain], view.judged_grades[plain])
    top = np.zeros(len(view.queries))
    np.maximum.at(top, view.query_of_judged, np.floor(view.judged_grades))
    for grade in sorted(mapped, reverse=True):
        top[top == grade] -= 1
    low = np.full(len(view.queries), min([0.0, *values]))
    return low, np.maximum(np.maximum(high, top), max([0.0, *values]))


def _reach(p: float) -> Callable[[Ints], Floats]:
    """The chance that the user comes as far as a rank."""
    return lambda rank: np.power(p, rank.astype(np.float64) - 1.0)


@measure(
    "RBP",
    source=_RBP,
    scale=Scale((0.0, np.inf)),
    aliases="rbp rank_biased_precision",
    expected="linear",
)
def rbp(
    view: JudgedRankings,
    *,
    p: float = 0.8,
    rel: float | None = None,
    scale: GainScale = "grade",
    max_rel: float | None = None,
    gains: Gains = None,
    k: int | None = None,
) -> Floats:
    """The expected rate of gain of a user who continues with probability p: (1 - p) Σ gain ·
    p^(rank - 1), down to rank `k`.

    Rank-biased precision, for users of known persistence:

        RBP@k = (1 - p) · Σ(i=1…k) g(i) · p^(i - 1)
        g(i): the gain of the item at rank i

    rel: items of this grade or more have gain 1, others 0 (ir_measures). Without it, the gain is
    the grade. scale: how a grade becomes a gain: `grade` uses the grade itself, so that values may
    exceed 1 (ranx); `topic` divides by the highest grade judged in the query if that exceeds 1
    (trec_eval 10, where p is 0.9); `max` divides by `max_rel` and caps at 1. max_rel: the highest
    grade of the scale. gains: pairs of a grade and its gain; other grades are their own gains.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 1, "b": 2}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    >>> (
    ...     rbp(view, p=0.5, rel=1).tolist(),
    ...     rbp(view, p=0.5).tolist(),
    ...     rbp(view, p=0.5, scale="max", max_rel=4).tolist(),
    ... )
    ([0.625], [0.75], [0.1875])
    """
    gain = _gain(view, rel, scale, max_rel, gains)
    return (1 - p) * view.sum_rows(gain * view.value_within(_reach(_persistence(p)), k))


@measure(
    "RBPResid",
    source=_RBP,
    scale=Scale(better="neither", empty=1.0),
    aliases="rbp_resid rbp_residual",
    exempt={"unjudged tail": "it measures what unjudged items may add"},
)
def rbp_residual(
    view: JudgedRankings, *, p: float = 0.8, quirk: bool = False, k: int | None = None
) -> Floats:
    """The residual of RBP: p^n for the ranks beyond the first n, plus (1 - p) p^(rank - 1) for each
    unjudged item within them.

    Residual of rank-biased precision, for how much unjudged items could add to RBP:

        RBPResid = p^n + (1 - p) · Σ(unjudged items at rank i ≤ n) p^(i - 1)
        n: the length of the list, k at most

    1 for an empty ranking. quirk: 0 if the list has no unjudged item, without the part for the
    ranks beyond it, as in trec_eval 10 (where p is 0.9).

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 1, "b": 2}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    >>> rbp_residual(view, p=0.5).tolist(), rbp_residual(view.condensed, p=0.5, quirk=True).tolist()
    ([0.375], [0.0])
    """
    is_counted = view.is_judged & view.within(k)
    # The weights of all places and of the tail sum to 1, so what is not judged is what the judged
    # places leave.
    weights = np.where(is_counted, _reach(_persistence(p))(view.ranks), 0.0)
    left = np.maximum(1.0 - (1 - p) * view.sum_rows(weights), 0.0)
    if not quirk:
        return left
    return np.where(view.sum_rows(is_counted) == view.list_length(k), 0.0, left)


@measure(
    "ERR",
    source="Chapelle, Metzler, Zhang and Grinspan 2009, Expected reciprocal rank for graded "
    "relevance; gdeval.pl 2010",
    aliases="err err_cut",
)
def err(view: JudgedRankings, *, k: int | None = None) -> Floats:
    """The expected reciprocal rank of the first satisfying item down to `k`; items satisfy with
    probability (2^grade - 1) / 2^4.

    Expected reciprocal rank, for users who stop at the first result that satisfies them:

        ERR@k = Σ(i=1…k) 1/i · s(i) · Π(j<i) (1 - s(j))
        s(i) = (2^grade - 1) / 2^4: the probability that the item at rank i satisfies

    The 4 is fixed, whatever your scale, and a higher grade is an error, as in gdeval.pl.

    >>> from rankwell import judged_rankings
    >>> err(judged_rankings({"q": {"a": 1, "b": 4}}, {"q": {"a": 3.0, "b": 2.0}})).tolist()
    [0.501953125]
    """
    highest = view.judged_grades.max(initial=0.0)
    if highest > _TOP_GRADE:
        raise BadInput(
            f"grade {highest:g} is above {_TOP_GRADE}, the top of ERR's scale; map the grades "
            f"to 0 … {_TOP_GRADE}, or use NERR8."
        )
    chance = (np.exp2(np.maximum(view.grades, 0.0)) - 1) / 2**_TOP_GRADE
    still_reading = np.ones(len(chance))
    for start, stop in zip(view.offsets[:-1].tolist(), view.offsets[1:].tolist(), strict=True):
        if stop > start + 1:
            np.cumprod(1 - chance[start : stop - 1], out=still_reading[start + 1 : stop])
    return view.sum_rows(np.where(view.within(k), still_reading * chance / view.ranks, 0.0))
