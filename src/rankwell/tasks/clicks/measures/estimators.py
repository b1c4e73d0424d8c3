"""Estimators of the value of a policy from rounds that another policy logged, as in the Open Bandit
Pipeline.

Those that normalise weights give each row its influence on the estimate: the values average to the
estimate, and their spread is that of its error.
"""

import math

import numpy as np

from rankwell.data.registry import Scale, measure
from rankwell.data.tables import Floats
from rankwell.errors import BadUsage
from rankwell.tasks.clicks.inputs import LoggedRounds, SelfNormalised

_VALUE = Scale((-math.inf, math.inf), "higher", "score", math.nan)
_DUDIK = (
    "Dudík, Erhan, Langford and Li 2014, Doubly robust policy evaluation and optimization; "
    "Open Bandit Pipeline 0.5.7"
)


def _clipped(weights: Floats, clip: float | None, name: str) -> Floats:
    if clip is not None and clip <= 0:
        raise BadUsage(f"{name}(clip={clip:g}): the largest weight is above 0, such as 10.")
    return weights if clip is None else np.minimum(weights, clip)


def _self_normalised(view: LoggedRounds, variable: Floats, residuals: Floats) -> Floats:
    """The self-normalised values, centre + weight · (variable - centre) / mean weight of the slot
    of each row: (rows,).
    """
    normalised, slots = SelfNormalised.of(view.whole, residuals), view.rows.slots
    centre = normalised.centre[slots]
    return centre + view.rows.weights * (variable - centre) / normalised.weight[slots]


@measure(
    "CTR",
    source="Richardson, Dominowska and Ragno 2007, Predicting clicks",
    scale=Scale(empty=math.nan),
)
def ctr(view: LoggedRounds) -> Floats:
    """The click-through rate: the share of rows with a click, whatever the policy; rewards must be
    0 or 1.

    Click-through rate, for how often a logged result is clicked:

        CTR = clicks / rows

    >>> import numpy as np
    >>> from rankwell.tasks.clicks.inputs import LoggedRounds, LoggedRows
    >>> rows = LoggedRows(np.array([1.0, 0.0]), np.ones(2), np.zeros(2, dtype=int))
    >>> ctr(LoggedRounds(("q",), np.array([0, 2]), rows, rows)).tolist()
    [0.5]
    """
    if not np.isin(view.rows.rewards, (0, 1)).all():
        raise BadUsage("CTR needs rewards of 0 and 1; take MeanReward for others.")
    return view.by_query(view.rows.rewards)


@measure(
    "MeanReward",
    source="Open Bandit Pipeline 0.5.7, on-policy value; Saito and others 2021, Open Bandit "
    "Dataset",
    scale=_VALUE,
)
def mean_reward(view: LoggedRounds) -> Floats:
    """The mean reward of all rows, whatever the policy: the value of the policy that logged them.

    Mean reward, for what the logging policy earns:

        MeanReward = Σ reward / rows

    >>> import numpy as np
    >>> from rankwell.tasks.clicks.inputs import LoggedRounds, LoggedRows
    >>> rows = LoggedRows(np.array([3.0, 0.0]), np.ones(2), np.zeros(2, dtype=int))
    >>> mean_reward(LoggedRounds(("q",), np.array([0, 2]), rows, rows)).tolist()
    [1.5]
    """
    return view.by_query(view.rows.rewards)


@measure(
    "IPS",
    source="Strehl, Langford, Li and Kakade 2010, Learning from logged implicit exploration data; "
    "Open Bandit Pipeline 0.5.7",
    scale=_VALUE,
    aliases="ipw",
)
def ips(view: LoggedRounds, *, clip: float | None = None) -> Floats:
    """Inverse propensity scoring: the mean of reward times weight, the policy's probability of the
    item divided by its propensity.

    Inverse propensity scoring, for what another policy would have earned:

        IPS = mean of w · reward
        w = π(item) / propensity: the policy's probability divided by the logged one

    The estimate is unbiased if the propensities are right and the log could show everything that
    the policy may show. clip: cap on the weights, which reduces variance at the price of bias.

    >>> import numpy as np
    >>> from rankwell.tasks.clicks.inputs import LoggedRounds, LoggedRows
    >>> rows = LoggedRows(np.array([1.0, 1.0]), np.array([4.0, 0.5]), np.zeros(2, dtype=int))
    >>> view = LoggedRounds(("q1", "q2"), np.array([0, 1, 2]), rows, rows)
    >>> ips(view).tolist(), ips(view, clip=2.0).tolist()
    ([4.0, 0.5], [2.0, 0.5])
    """
    return view.by_query(_clipped(view.rows.weights, clip, "IPS") * view.rows.rewards)


@measure(
    "SNIPS",
    source="Swaminathan and Joachims 2015, The self-normalized estimator for counterfactual "
    "learning; Open Bandit Pipeline 0.5.7",
    scale=_VALUE,
    aliases="snipw",
)
def snips(view: LoggedRounds) -> Floats:
    """Self-normalised inverse propensity scoring: Σ weight · reward / Σ weight; consistent but
    biased, within the range of rewards.

    Self-normalised inverse propensity scoring, for less variance than IPS:

        SNIPS = Σ w · reward / Σ w
        w = π(item) / propensity: the policy's probability divided by the logged one

    The value of a row is its influence on the estimate V: V + weight · (reward - V) / mean weight.
    The mean of these values is V.

    >>> import numpy as np
    >>> from rankwell.tasks.clicks.inputs import LoggedRounds, LoggedRows
    >>> rows = LoggedRows(np.array([1.0, 0.0]), np.array([3.0, 1.0]), np.zeros(2, dtype=int))
    >>> snips(LoggedRounds(("q1", "q2"), np.array([0, 1, 2]), rows, rows)).tolist()
    [1.125, 0.375]
    """
    return view.by_query(_self_normalised(view, view.rows.rewards, view.whole.rewards))


@measure("DM", source=_DUDIK, scale=_VALUE)
def dm(view: LoggedRounds) -> Floats:
    """The direct method: the mean reward that a model expects under the policy.

    Direct method, for what a reward model expects:

        DM = mean of Σ(items) π(item) · q(item)
        π: the policy's probability
        q: the reward that the model expects

    The estimate is only as good as the model.

    >>> import numpy as np
    >>> from rankwell.tasks.clicks.inputs import LoggedRounds, LoggedRows
    >>> rows = LoggedRows(
    ...     np.ones(1), np.ones(1), np.zeros(1, dtype=int), np.array([0.5]), np.array([0.25])
    ... )
    >>> dm(LoggedRounds(("q",), np.array([0, 1]), rows, rows)).tolist()
    [0.25]
    """
    return view.by_query(view.rows.model("DM")[1])


@measure("DR", source=_DUDIK, scale=_VALUE)
def dr(view: LoggedRounds, *, clip: float | None = None) -> Floats:
    """Doubly robust: the model's expected reward under the policy, plus weight · (reward - the
    model's estimate).

    Doubly robust, for a reward model corrected by the log:

        DR = mean of (q_π + w · (reward - q))
        q_π, q: the reward that the model expects under the policy, and of the logged item
        w: as for IPS

    The estimate is unbiased if the propensities are right, and consistent if they or the model are
    right. clip: as for `IPS`.

    >>> import numpy as np
    >>> from rankwell.tasks.clicks.inputs import LoggedRounds, LoggedRows
    >>> rows = LoggedRows(
    ...     np.ones(1), np.array([2.0]), np.zeros(1, dtype=int), np.array([0.5]), np.array([0.25])
    ... )
    >>> dr(LoggedRounds(("q",), np.array([0, 1]), rows, rows)).tolist()
    [1.25]
    """
    estimates, expected = view.rows.model("DR")
    return view.by_query(
        expected + _clipped(view.rows.weights, clip, "DR") * (view.rows.rewards - estimates)
    )


@measure(
    "SNDR",
    source="Kallus and Uehara 2019, Intrinsically efficient, stable, and bounded off-policy "
    "evaluation; obp 0.5.7",
    scale=_VALUE,
)
def sndr(view: LoggedRounds) -> Floats:
    """Self-normalised doubly robust: the model's expected reward under the policy, plus Σ weight ·
    (reward - estimate) / Σ weight.

    Self-normalised doubly robust, for less variance than DR:

        SNDR = mean of q_π + Σ w · (reward - q) / Σ w
        q_π, q, w: as for DR

    The value of a row is its influence on the estimate, as for `SNIPS`.

    >>> import numpy as np
    >>> from rankwell.tasks.clicks.inputs import LoggedRounds, LoggedRows
    >>> rows = LoggedRows(
    ...     np.ones(1), np.array([2.0]), np.zeros(1, dtype=int), np.array([0.5]), np.array([0.25])
    ... )
    >>> sndr(LoggedRounds(("q",), np.array([0, 1]), rows, rows)).tolist()
    [0.75]
    """
    estimates, expected = view.rows.model("SNDR")
    residuals = view.whole.rewards - view.whole.model("SNDR")[0]
    return view.by_query(
        expected + _self_normalised(view, view.rows.rewards - estimates, residuals)
    )
