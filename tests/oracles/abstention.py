"""nAUC and AURC as their sources define them, in plain Python over lists; nothing here comes from rankwell."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean


def confidence(scores: Sequence[float], kind: str) -> float:
    """MTEB 2, confidence_scores: of a query with at least one item."""
    ordered = sorted(scores, reverse=True)
    if kind == "max":
        return ordered[0]
    if kind == "diff1":
        return ordered[0] - ordered[1] if len(ordered) > 1 else 0.0
    mean = fmean(scores)
    return math.sqrt(fmean([(score - mean) ** 2 for score in scores]))


def nauc(values: Sequence[float], confidences: Sequence[float]) -> float | None:
    """MTEB 2.26.24, nauc; None where it divides by 0. A query of a tie counts as the mean of the tie."""

    def curve(keys: Sequence[float]) -> list[float]:
        order = sorted(range(len(values)), key=keys.__getitem__)
        ties = {key: fmean([value for value, each in zip(values, keys, strict=True) if each == key]) for key in keys}
        gone = [min(round(rate * 0.1 * len(values)), len(values) - 1) for rate in range(10)]
        return [fmean([ties[keys[place]] for place in order[number:]]) for number in gone]

    def area(points: Sequence[float]) -> float:
        return sum((left + right) / 20 for left, right in pairwise(points))

    if len(set(values)) == 1:
        return None
    flat = fmean(values) * 0.9
    return (area(curve(confidences)) - flat) / (area(curve(values)) - flat)


def aurc(losses: Sequence[float], confidences: Sequence[float]) -> float:
    """Geifman, Uziel and El-Yaniv 2019, section 3: each confidence is the threshold of a selective classifier once."""
    risks = list[float]()
    for threshold in confidences:
        answered = [loss for loss, each in zip(losses, confidences, strict=True) if each >= threshold]
        risks.append(fmean(answered))
    return fmean(risks)
