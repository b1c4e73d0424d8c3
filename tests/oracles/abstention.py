"""nAUC and AURC as their sources define them, in plain Python over lists; nothing here comes from
rankwell.
"""

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
    """MTEB 2.26.24, nauc; None where it divides by 0. A query of a tie counts as the mean of the
    tie.
    """

    def curve(keys: Sequence[float]) -> list[float]:
        order = sorted(range(len(values)), key=keys.__getitem__)
        ties = {
            key: fmean([value for value, each in zip(values, keys, strict=True) if each == key])
            for key in keys
        }
        gone = [min(round(rate * 0.1 * len(values)), len(values) - 1) for rate in range(10)]
        return [fmean([ties[keys[place]] for place in order[number:]]) for number in gone]

    def area(points: Sequence[float]) -> float:
        return sum((left + right) / 20 for left, right in pairwise(points))

    if len(set(values)) == 1:
        return None
    flat = fmean(values) * 0.9
    return (area(curve(confidences)) - flat) / (area(curve(values)) - flat)


def aurc(losses: Sequence[float], confidences: Sequence[float]) -> float:
    """Geifman, Uziel and El-Yaniv 2019, section 3: each confidence is the threshold of a selective
    classifier once.
    """
    risks = list[float]()
    for threshold in confidences:
        answered = [
            loss for loss, each in zip(losses, confidences, strict=True) if each >= threshold
        ]
        risks.append(fmean(answered))
    return fmean(risks)


def curve(answers: Sequence[float], confidences: Sequence[float]) -> list[tuple[int, int]]:
    """At each threshold, highest first, how many queries are accepted, and how many of these are
    answered.
    """
    found = list[tuple[int, int]]()
    for threshold in sorted(set(confidences), reverse=True):
        accepted = [
            answer for answer, each in zip(answers, confidences, strict=True) if each >= threshold
        ]
        found.append((len(accepted), int(sum(accepted))))
    return found


def auroc(answers: Sequence[float], confidences: Sequence[float]) -> float | None:
    """Pairs of an answered query and another in which the first is more confident, ties counting
    half.
    """
    ones, others = (
        [each for answer, each in zip(answers, confidences, strict=True) if answer == key]
        for key in (1, 0)
    )
    pairs = [(one > other) + (one == other) / 2 for one in ones for other in others]
    return fmean(pairs) if pairs else None


def auprc(
    answers: Sequence[float], confidences: Sequence[float], area: str = "step"
) -> float | None:
    """Average precision, or the trapezoids of the points from recall 0 and precision 1 on, as
    scikit-learn's `auc` adds them.
    """
    if not any(answers):
        return None
    points = [(0.0, 1.0)] + [
        (right / sum(answers), right / n) for n, right in curve(answers, confidences)
    ]
    if area == "step":
        return sum(
            (recall - before) * precision for (before, _), (recall, precision) in pairwise(points)
        )
    return sum(
        (recall - before) * (precision + high) / 2
        for (before, high), (recall, precision) in pairwise(points)
    )


def extended_precision(answers: Sequence[float], confidences: Sequence[float]) -> float | None:
    """VPR-Bench, compute_extendedprecision: 0 recall at precision 1 where the first precision is
    lower.
    """
    if not any(answers):
        return None
    points = [(right / sum(answers), right / n) for n, right in curve(answers, confidences)]
    lowest = points[0][1]
    return (
        lowest
        + (max(recall for recall, precision in points if precision == 1) if lowest == 1 else 0)
    ) / 2
