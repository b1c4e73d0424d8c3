"""Figures of no-answer numbers as a decision; `thresholds.py` of the task computes them."""

from rankwell.data.registry import add_figure

_SOURCE = (
    "Rajpurkar, Jia and Liang 2018, evaluate-v2.0.py; equal numbers stay on one side of a threshold"
)
_EXAMPLE = """
>>> import numpy as np
>>> from rankwell.tasks.qa.thresholds import {function}
>>> {function}(np.array([1.0, 0.0]), np.array([True, False]), np.array([0.2, 0.7])).{name}
{value}
"""

add_figure(
    "Best",
    "the highest mean over thresholds on the no-answer probability, above which a question "
    "counts as unanswered",
    source=_SOURCE,
    printed_by=("qa",),
    aliases="best_exact best_f1",
    details="""
Best score over no-answer thresholds, for what the best threshold would give:

    Best = max over the thresholds t of the mean score, with no answer where the number is above t
"""
    + _EXAMPLE.format(function="best_threshold", name="value", value="1.0"),
)
add_figure(
    "BestThreshold",
    "the threshold with the highest mean; the lowest if several are equally good",
    better="neither",
    source=_SOURCE,
    printed_by=("qa",),
    aliases="best_exact_thresh best_f1_thresh",
    details="""
Best no-answer threshold, for setting the threshold of a reader:

    BestThreshold = the lowest t that reaches Best
"""
    + _EXAMPLE.format(function="best_threshold", name="threshold", value="0.2"),
)
add_figure(
    "AnswerAP",
    "the sum over thresholds of precision × increase in recall, with the most confident "
    "answers first",
    source=_SOURCE,
    printed_by=("qa",),
    aliases="pr_exact_ap pr_f1_ap pr_oracle_ap",
    details="""
Average precision over no-answer thresholds, for whether a reader knows when it is right:

    AnswerAP = Σ(thresholds) P · (R - R at the threshold before)
"""
    + _EXAMPLE.format(function="precision_recall", name="average_precision", value="1.0"),
)
