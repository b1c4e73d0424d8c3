"""The C/W/L family: the expected gain per item inspected, for a user who continues with a
probability that depends on rank and gain.

Source: Moffat, Bailey, Scholer and Thomas 2017, Incorporating user expectations and behavior into
the measurement of search effectiveness; Azzopardi, Thomas and Moffat 2019, cwl_eval. Rankings are
padded with gain 0 to 1,000 ranks, as cwl-eval and so ir_measures do; the slow users (NERR11, INST,
INSQ) have weights like 1 / rank^2, so that this depth shows in the third decimal.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import measure
from rankwell.data.tables import Floats, ranks_to
from rankwell.errors import BadUsage

_DEPTH = 1000
# Queries are computed together up to this many gains, 1 MiB, whatever the depth is.
_CELLS = 1 << 17
_NERR = "Azzopardi, Mackenzie and Moffat 2021, ERR is not C/W/L, equation "

# (ranks, gains) -> the probability of continuing past each rank; ranks (depth,) from 1, gains
# (queries, depth).
GoesOn = Callable[[Floats, Floats], Floats]


def _gain_per_item(
    view: JudgedRankings, goes_on: GoesOn, k: int | None, min_rel: float, max_rel: float
) -> Floats:
    """The mean gain of the items in the first `k` ranks, weighted by the probability that each is
    inspected; per query.
    """
    if not max_rel > min_rel:
        raise BadUsage(
            f"min_rel={min_rel!r}, max_rel={max_rel!r}: the highest grade of the scale must "
            "be above the lowest."
        )
    depth = k or _DEPTH
    ranks = ranks_to(depth)
    values = np.empty(len(view.queries))
    size = max(1, _CELLS // depth)
    for start in range(0, len(values), size):
        stop = min(start + size, len(values))
        rows = np.arange(*view.offsets[[start, stop]])
        rows = rows[(view.ranks[rows] <= depth) & (view.grades[rows] >= 0)]
        scaled = (np.clip(view.grades[rows], min_rel, max_rel) - min_rel) / (max_rel - min_rel)
        # 0 for what is not judged and beyond the list.
        gains = np.zeros((stop - start, depth))
        gains[view.query_of_row[rows] - start, view.ranks[rows] - 1] = scaled
        reached = np.ones_like(gains)
        np.cumprod(goes_on(ranks, gains)[:, :-1], axis=1, out=reached[:, 1:])
        values[start:stop] = (reached * gains).sum(axis=1) / reached.sum(axis=1)
    return values


def _goal(t: float) -> float:
    if not t > 0:
        raise BadUsage(f"T={t!r}; expected a target gain above 0.")
    return t


def _patience(left: Floats) -> Floats:
    return ((left - 1) / left) ** 2


@measure("NERR8", source=_NERR + "8", aliases="nERR8")
def nerr8(view: JudgedRankings, *, k: int, max_rel: float, min_rel: float = 0) -> Floats:
    """The expected gain per item inspected, for a user who continues with probability 1 - gain,
    down to rank `k`.

    Normalised expected reciprocal rank, equation 8, for ERR as a gain per item inspected, with a
    cut-off:

        NERR8@k = Σ(i) w(i) · g(i) / Σ(i) w(i), w(i) = Π(j<i) C(j)
        C(i) = 1 - g(i) for i < k, else 0

    min_rel, max_rel: grades are clipped to this range and scaled to gains from 0 to 1; unjudged
    items have gain 0.

    >>> from rankwell import judged_rankings
    >>> nerr8(
    ...     judged_rankings({"q": {"a": 1, "b": 2}}, {"q": {"a": 3.0, "b": 2.0}}), k=2, max_rel=2
    ... ).tolist()
    [0.6666666666666666]
    """
    return _gain_per_item(view, lambda _, gains: 1 - gains, k, min_rel, max_rel)


@measure("NERR9", source=_NERR + "9", aliases="nERR9")
def nerr9(view: JudgedRankings, *, k: int, max_rel: float, min_rel: float = 0) -> Floats:
    """The expected gain per item inspected if users continue with probability (1 - gain) rank /
    (rank + 1), down to rank `k`.

    Normalised expected reciprocal rank, equation 9, for ERR with weights that also fall as 1 /
    rank:

        NERR9@k = Σ(i) w(i) · g(i) / Σ(i) w(i), w(i) = Π(j<i) C(j)
        C(i) = (1 - g(i)) · i / (i + 1) for i < k, else 0

    min_rel, max_rel: grades are clipped to this range and scaled to gains from 0 to 1; unjudged
    items have gain 0.

    >>> from rankwell import judged_rankings
    >>> nerr9(
    ...     judged_rankings({"q": {"a": 1, "b": 2}}, {"q": {"a": 3.0, "b": 2.0}}), k=2, max_rel=2
    ... ).tolist()
    [0.6]
    """
    return _gain_per_item(
        view, lambda ranks, gains: ranks / (ranks + 1) * (1 - gains), k, min_rel, max_rel
    )


@measure("NERR10", source=_NERR + "10", aliases="nERR10")
def nerr10(
    view: JudgedRankings,
    *,
    p: float = 0.9,
    max_rel: float,
    min_rel: float = 0,
    k: int | None = None,
) -> Floats:
    """The expected gain per item inspected, for a user who continues with probability p (1 - gain).

    Normalised expected reciprocal rank, equation 10, for ERR with the persistence of RBP:

        NERR10 = Σ(i) w(i) · g(i) / Σ(i) w(i), w(i) = Π(j<i) C(j)
        C(i) = p · (1 - g(i))

    min_rel, max_rel: grades are clipped to this range and scaled to gains from 0 to 1; unjudged
    items have gain 0.
    k: number of ranks to inspect, even if the list is shorter; 1,000 by default.

    >>> from rankwell import judged_rankings
    >>> nerr10(judged_rankings({"q": {"a": 1}}, {"q": {"a": 3.0}}), p=0.5, max_rel=1).tolist()
    [1.0]
    """
    if not 0 <= p <= 1:
        raise BadUsage(f"p={p!r}: the chance of going on to the next item is from 0 to 1.")
    return _gain_per_item(view, lambda _, gains: p * (1 - gains), k, min_rel, max_rel)


@measure("NERR11", source=_NERR + "11", aliases="nERR11")
def nerr11(
    view: JudgedRankings,
    *,
    T: float = 1.0,  # noqa: N803
    max_rel: float,
    min_rel: float = 0,
    k: int | None = None,
) -> Floats:
    """The expected gain per item inspected if users continue with probability (1 - gain) ((rank +
    2T - 1) / (rank + 2T))^2.

    Normalised expected reciprocal rank, equation 11, for ERR with the patience of INSQ:

        NERR11 = Σ(i) w(i) · g(i) / Σ(i) w(i), w(i) = Π(j<i) C(j)
        C(i) = (1 - g(i)) · ((i + 2T - 1) / (i + 2T))²

    T: the user's target gain. min_rel, max_rel: grades are clipped to this range and scaled to
    gains from 0 to 1; unjudged items have gain 0. k: number of ranks to inspect, even if the list
    is shorter; 1,000 by default.

    >>> from rankwell import judged_rankings
    >>> nerr11(judged_rankings({"q": {"a": 1}}, {"q": {"a": 3.0}}), max_rel=1).tolist()
    [1.0]
    """
    left = 2 * _goal(T)
    return _gain_per_item(
        view, lambda ranks, gains: _patience(ranks + left) * (1 - gains), k, min_rel, max_rel
    )


@measure(
    "INST",
    source="Bailey, Moffat, Scholer and Thomas 2015, User variability and IR system evaluation",
    aliases="inst",
)
def inst(
    view: JudgedRankings,
    *,
    T: float = 1.0,  # noqa: N803
    max_rel: float,
    min_rel: float = 0,
    k: int | None = None,
) -> Floats:
    """The expected gain per item inspected if users continue with probability ((m - 1) / m)^2,
    where m = rank + 2T - gain so far.

    Adaptive inverse squares, for users who want T relevant items and keep count of those found:

        INST = Σ(i) w(i) · g(i) / Σ(i) w(i), w(i) = Π(j<i) C(j)
        C(i) = ((i + 2T - G - 1) / (i + 2T - G))², G = g(1) + … + g(i)

    T: the user's target gain. min_rel, max_rel: grades are clipped to this range and scaled to
    gains from 0 to 1; unjudged items have gain 0. k: number of ranks to inspect, even if the list
    is shorter; 1,000 by default.

    >>> from rankwell import judged_rankings
    >>> inst(judged_rankings({"q": {"a": 1}}, {"q": {"a": 3.0}}), max_rel=1, k=2).tolist()
    [0.8]
    """
    left = 2 * _goal(T)
    return _gain_per_item(
        view,
        lambda ranks, gains: _patience(ranks + left - np.cumsum(gains, axis=1)),
        k,
        min_rel,
        max_rel,
    )


@measure(
    "INSQ",
    source="Moffat, Scholer and Thomas 2012, Models and metrics: IR evaluation as a user process",
    aliases="insq",
)
def insq(
    view: JudgedRankings,
    *,
    T: float = 1.0,  # noqa: N803
    max_rel: float,
    min_rel: float = 0,
    k: int | None = None,
) -> Floats:
    """The expected gain per item inspected, for a user who continues with probability ((rank + 2T -
    1) / (rank + 2T))^2.

    Inverse squares, for users who want T relevant items and grow more patient with depth:

        INSQ = Σ(i) w(i) · g(i) / Σ(i) w(i), w(i) = Π(j<i) C(j)
        C(i) = ((i + 2T - 1) / (i + 2T))²

    T: the user's target gain. min_rel, max_rel: grades are clipped to this range and scaled to
    gains from 0 to 1; unjudged items have gain 0. k: number of ranks to inspect, even if the list
    is shorter; 1,000 by default.

    >>> from rankwell import judged_rankings
    >>> insq(judged_rankings({"q": {"a": 1}}, {"q": {"a": 3.0}}), max_rel=1, k=2).round(4).tolist()
    [0.6923]
    """
    left = 2 * _goal(T)
    return _gain_per_item(
        view,
        lambda ranks, gains: np.broadcast_to(_patience(ranks + left), gains.shape),
        k,
        min_rel,
        max_rel,
    )


@measure(
    "BPM",
    source="Zhang, Liu, Li, Zhang, Xu and Ma 2017, Evaluating web search with a bejeweled player "
    "model",
    aliases="bpm",
)
def bpm(
    view: JudgedRankings,
    *,
    k: int,
    T: float = 1.0,  # noqa: N803
    max_rel: float,
    min_rel: float = 0,
) -> Floats:
    """The expected gain per item inspected, for a user who continues while the gain so far is below
    `T`, down to rank `k` at most.

    Bejeweled player model, for users who stop at a goal or at a limit of effort:

        BPM@k = Σ(i) w(i) · g(i) / Σ(i) w(i), w(i) = Π(j<i) C(j)
        C(i) = 1 while g(1) + … + g(i) < T and i < k, else 0

    This is the static model of the paper. min_rel, max_rel: grades are clipped to this range and
    scaled to gains from 0 to 1; unjudged items have gain 0.

    >>> from rankwell import judged_rankings
    >>> bpm(judged_rankings({"q": {"b": 1}}, {"q": {"a": 3.0, "b": 2.0}}), k=5, max_rel=1).tolist()
    [0.5]
    """
    return _gain_per_item(
        view,
        lambda _, gains: (np.cumsum(gains, axis=1) < _goal(T)).astype(np.float64),
        k,
        min_rel,
        max_rel,
    )


@measure(
    "IFT",
    source="Azzopardi, Thomas and Craswell 2018, Measuring the utility of search engine result "
    "pages; cwl_eval 1.0.12",
)
def information_foraging(
    view: JudgedRankings,
    *,
    by: Literal["goal", "rate", "both"] = "both",
    T: float = 2.0,  # noqa: N803 - as in the paper
    b1: float = 0.9,
    R1: float = 1.0,  # noqa: N803
    A: float = 0.2,  # noqa: N803
    b2: float = 0.9,
    R2: float = 1.0,  # noqa: N803
    max_rel: float,
    min_rel: float = 0,
    k: int | None = None,
) -> Floats:
    """The expected gain per item inspected, for a user who stops near a goal, or when the rate of
    gain falls below the usual one.

    Information foraging, for users who stop at a goal or when results get poor:

        IFT = Σ(i) w(i) · g(i) / Σ(i) w(i), w(i) = Π(j<i) C(j)
        C(i) = C1(i) · C2(i), G = g(1) + … + g(i)
        C1(i) = 1 - 1 / (1 + b1 · e^((T - G) · R1)), C2(i) = 1 / (1 + b2 · e^((A - G / i) · R2))

    by: stop by `goal`, by `rate`, or by `both`. T: the user's target gain. A: the usual gain per
    item inspected. b1: how gradually the user stops by goal. b2: how gradually the user stops by
    rate. R1: how strictly the user keeps to the goal. R2: how strictly the user keeps to the rate.
    min_rel, max_rel, k: as for `INST`.

    >>> from rankwell import judged_rankings
    >>> view = judged_rankings({"q": {"a": 1}}, {"q": {"a": 3.0}})
    >>> information_foraging(view, by="goal", b1=1, T=1, max_rel=1, k=2).round(4).tolist()
    [0.6667]
    """
    for name, value in (("b1", b1), ("R1", R1), ("b2", b2), ("R2", R2)):
        if value < 0:
            raise BadUsage(f"{name}={value:g}: IFT takes numbers from 0.")

    def _goes_on(ranks: Floats, gains: Floats) -> Floats:
        gain_so_far = np.cumsum(gains, axis=1)
        by_goal = 1 - 1 / (1 + b1 * np.exp(np.minimum((T - gain_so_far) * R1, 700)))
        rate = 1 / (1 + b2 * np.exp(np.minimum((A - gain_so_far / ranks) * R2, 700)))
        return {"goal": by_goal, "rate": rate, "both": by_goal * rate}[by]

    return _gain_per_item(view, _goes_on, k, min_rel, max_rel)


@measure(
    "TBG",
    source="Smucker and Clarke 2012, Time-based calibration of effectiveness measures, as "
    "normalised in cwl_eval 1.0.12",
    aliases="tbg",
)
def time_biased_gain(
    view: JudgedRankings,
    *,
    h: float = 224.0,
    seconds: float = 1.0,
    max_rel: float,
    min_rel: float = 0,
    k: int | None = None,
) -> Floats:
    """The expected gain per item inspected, for a user who spends `seconds` per item and whose
    attention halves every `h` seconds.

    Time-biased gain, for users whose cost is time:

        TBG = Σ(i) w(i) · g(i) / Σ(i) w(i)
        w(i) = 2^(-seconds · (i - 1) / h)

    The user is that of rank-biased precision with persistence 2^(-seconds / h), since all items
    take equally long here. Weights sum to 1, as in cwl_eval; the paper adds up gains.

    h: the time in seconds after which half of the users have stopped. seconds: the time that an
    item takes. min_rel, max_rel, k: as for `INST`.

    >>> from rankwell import judged_rankings
    >>> time_biased_gain(
    ...     judged_rankings({"q": {"a": 1}}, {"q": {"a": 3.0}}), h=1, max_rel=1, k=2
    ... ).round(4).tolist()
    [0.6667]
    """
    if not (h > 0 and seconds > 0):
        raise BadUsage(f"h={h:g}, seconds={seconds:g}: TBG takes numbers above 0.")
    return _gain_per_item(
        view, lambda _, gains: np.full_like(gains, 2 ** (-seconds / h)), k, min_rel, max_rel
    )
