"""Mutual information of two partitions in plain Python; nothing here comes from rankwell."""

from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Any


def entropy(groups: Sequence[Any]) -> float:
    """Of a partition, in nats."""
    return -sum(n / len(groups) * log(n / len(groups)) for n in Counter(groups).values())


def information(first: Sequence[Any], second: Sequence[Any]) -> float:
    """The sum of both entropies without that of the pairs."""
    return entropy(first) + entropy(second) - entropy(list(zip(first, second, strict=True)))


def over_mean(first: Sequence[Any], second: Sequence[Any], value: float) -> float:
    """A value over the mean entropy; 1 for two partitions of one group."""
    mean = (entropy(first) + entropy(second)) / 2
    return value / mean if mean else 1.0


def nmi(first: Sequence[Any], second: Sequence[Any]) -> float:
    """Normalised by the mean of both entropies."""
    return over_mean(first, second, information(first, second))


def ami(first: Sequence[Any], second: Sequence[Any], expected: float) -> float:
    """Adjusted by the mean of the information over orders; equal partitions have 1."""
    most = (entropy(first) + entropy(second)) / 2 - expected
    value = information(first, second) - expected
    return (
        value / most
        if abs(most) > 1e-12
        else float(abs(value - most) < 1e-12 and nmi(first, second) > 1 - 1e-12)
    )
