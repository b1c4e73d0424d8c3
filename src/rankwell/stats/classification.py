"""Figures of scores that should separate two classes: average precision, and the thresholds of best
accuracy and best F1.
"""

from typing import Any, NamedTuple

import numpy as np

from rankwell.data.tables import Bools, Floats, ratio


class Classification(NamedTuple):
    """Figures of one sample, or (resamples,) arrays. A score at a threshold or above is positive.

    accuracy: the share of right decisions at `accuracy_threshold`.
    accuracy_threshold: the highest of the thresholds with the best accuracy; above all scores where
        it is best to accept none.
    f1: the best F1, at `f1_threshold`.
    precision, recall: precision and recall at `f1_threshold`.
    f1_threshold: the highest of the thresholds with the best F1; 0 where every F1 is 0.
    ap: average precision, over all thresholds.
    mcc: Matthews' correlation (1975) at `f1_threshold`.
    """

    accuracy: Any
    accuracy_threshold: Any
    f1: Any
    precision: Any
    recall: Any
    f1_threshold: Any
    ap: Any
    mcc: Any


def classify(labels: Bools, scores: Any) -> Classification:
    """The figures of scores that should be higher where there is a label; equal scores are on the
    same side of any threshold.

    A score at the threshold or above is positive; it lies midway between two scores, in their
    precision, and the highest of the best ones is taken. AP is the sum of the precision at each
    score times the recall that it adds. Without a label, or with labels alone, figures that would
    divide by 0 are 0. labels, scores: (n,), n at least 1. Source: scikit-learn 1.9.
    """
    figures = classify_resamples(labels, scores, np.ones((1, len(labels))))
    return Classification(*(figure[0].item() for figure in figures))


def classify_resamples(labels: Bools, scores: Any, counts: Floats) -> Classification:
    """The figures of each resample, with the thresholds chosen anew. counts: (resamples, n) how
    often each score is drawn.
    """
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    above = counts[:, order].cumsum(axis=1)[:, ends]
    right = (counts[:, order] * labels[order]).cumsum(axis=1)[:, ends]
    total, positive = above[:, -1:], right[:, -1:]
    precision, recall = ratio(right, above), ratio(right, positive)
    f1 = ratio(2 * precision * recall, precision + recall)
    accuracy = np.hstack([total - positive, total - positive + 2 * right - above]) / total
    lower = np.append(ranked[ends[1:]], ranked[-1])
    midpoints = (ranked[ends] + lower) / 2
    # A midpoint that is rounded to the lower score would include it.
    midpoints = np.where(midpoints == lower, ranked[ends], midpoints)
    best, best_f1, rows = f1.argmax(axis=1), f1.max(axis=1), np.arange(len(counts))
    spread = np.sqrt(above * (total - above)) * np.sqrt(positive * (total - positive))
    return Classification(
        accuracy=accuracy.max(axis=1),
        accuracy_threshold=np.append(np.nextafter(ranked[:1], np.inf), midpoints)[
            accuracy.argmax(axis=1)
        ],
        f1=best_f1,
        f1_threshold=np.where(best_f1 > 0, midpoints[best], 0),
        precision=precision[rows, best],
        recall=recall[rows, best],
        ap=(np.diff(recall, axis=1, prepend=0) * precision).sum(axis=1),
        mcc=ratio(right * total - above * positive, spread)[rows, best],
    )
