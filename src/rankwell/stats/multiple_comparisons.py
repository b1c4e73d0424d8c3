"""Corrections of p-values for having compared several pairs."""

from collections.abc import Sequence

from rankwell.errors import BadUsage


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values as they are after Holm's step-down correction, in the given order: at level α all that are at most α hold.

    The chance of even one wrong one among them is at most α, whatever the tests have in common. Each is at most 1, and never
    smaller than that of a smaller p-value. Raises BadUsage for a number that is not a probability.
    Source: Holm 1979, A simple sequentially rejective multiple test procedure.

    >>> holm([0.04, 0.01, 0.03])
    [0.06, 0.03, 0.06]
    """
    wrong = next((p for p in p_values if not 0 <= p <= 1), None)
    if wrong is not None:
        raise BadUsage(f"{wrong!r} is not a p-value; expected a number from 0 to 1.")
    adjusted, reached = [0.0] * len(p_values), 0.0
    for place, at in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        reached = max(reached, min(1.0, (len(p_values) - place) * p_values[at]))
        adjusted[at] = reached
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The p-values as they are after Benjamini and Hochberg's step-up correction, in the given order.

    At level α all that are at most α hold, and on average no more than a share of α of them is wrong, where the tests are
    independent or positively dependent. Raises BadUsage for a number that is not a probability.
    Source: Benjamini and Hochberg 1995, Controlling the false discovery rate.

    >>> benjamini_hochberg([0.04, 0.01, 0.03])
    [0.04, 0.03, 0.04]
    """
    wrong = next((p for p in p_values if not 0 <= p <= 1), None)
    if wrong is not None:
        raise BadUsage(f"{wrong!r} is not a p-value; expected a number from 0 to 1.")
    adjusted, reached = [0.0] * len(p_values), 1.0
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    for place, at in reversed(list(enumerate(order))):
        reached = min(reached, len(p_values) * p_values[at] / (place + 1))
        adjusted[at] = reached
    return adjusted
