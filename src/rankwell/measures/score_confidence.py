"""Figures of whether the scores of a run show how good its lists are; `evaluation/bounds.py`
computes them.
"""

from collections.abc import Mapping
from typing import Any

from rankwell.data.catalogue import result_kinds
from rankwell.data.registry import add_figure

_WORDS = {
    "measure": "M",
    "by": "by a confidence of each query (M: the measure)",
    "highest": "the highest value",
    "area": "average precision, or trapezoids",
}
_EXAMPLE = """
>>> import numpy as np
>>> from rankwell.stats.abstention import {name}
>>> {name}(np.array([{values}]), np.array([0.9, 0.4, 0.6, 0.2]){further}).value
{value}
"""


def _add(
    name: str,
    formula: str,
    definition: str,
    values: str,
    value: str,
    *,
    function: str = "",
    words: Mapping[str, str] = _WORDS,
    **keywords: Any,
) -> None:
    """Adds a figure with an example. formula: with its full name. values: of the queries there.
    function: in `stats/abstention`, by default of the figure's name and with resamples.
    """
    details = formula + _EXAMPLE.format(
        name=function or name.lower(),
        values=values,
        further="" if function else ", resamples=0",
        value=value,
    )
    commands = sorted(kind.confidence for kind in result_kinds().values() if kind.confidence)
    printed_by = tuple(f"{command} --confidence" for command in commands)
    add_figure(name, definition, printed_by=printed_by, words=words, details=details, **keywords)


_add(
    "nAUC",
    """
Normalised area under the abstention curve, for what abstaining by confidence gains:

    nAUC = (A - A of a random order) / (A of the best order - A of a random order)
    A: the area under the mean score of the queries that are kept
""",
    "Normalised area under the curve of mean {measure} over rates of abstention 0, 0.1, …, "
    "0.9 {by}.",
    "1.0, 0.5, 0.5, 0.0",
    "1.0",
    source="Gisserot-Boukhlef and others 2024, Towards trustworthy reranking; MTEB 2.26.24, nauc",
)
_add(
    "AURC",
    """
Area under the risk-coverage curve, for the loss if you answer the most confident queries first:

    AURC = mean over the queries q of the mean loss of the queries at least as confident as q
""",
    "Area under the risk-coverage curve of the loss {highest} - {measure} {by}.",
    "0.0, 0.5, 0.5, 1.0",
    "0.2708333333333333",
    better="lower",
    source="Geifman, Uziel and El-Yaniv 2019, Bias-reduced uncertainty estimation for deep neural "
    "classifiers",
)
_add(
    "AUROC",
    """
Area under the ROC curve, for whether confidence separates solved from failed queries:

    AUROC = (pairs with the solved query more confident + ties / 2) / pairs
    pairs: of a solved and a failed query
""",
    "Probability that a query with {measure} 1 is more confident than one with 0, ties counting "
    "half, {by}.",
    "1.0, 1.0, 0.0, 0.0",
    "0.75",
    source="Fawcett 2006, An introduction to ROC analysis",
)
_add(
    "AUPRC",
    """
Area under the precision-recall curve, for whether confident queries are the solved ones:

    AUPRC = Σ(thresholds) P · (R - R at the threshold before)
""",
    "Area under the precision-recall curve of the queries with {measure} 1 ({area}) {by}.",
    "1.0, 0.0, 0.0, 1.0",
    "0.75",
    source="Davis and Goadrich 2006, The relationship between precision-recall and ROC curves",
)
_add(
    "EP",
    """
Extended precision, for confidence in place recognition:

    EP = (precision at the lowest recall + highest recall at precision 1) / 2
""",
    "Extended precision {by}: mean of the precision at the lowest recall and the highest "
    "recall at precision 1.",
    "1.0, 1.0, 0.0, 0.0",
    "0.75",
    function="extended_precision",
    source="Ferrarini and others 2020, Exploring performance bounds of visual place recognition "
    "using extended precision",
    words={"by": "by a confidence of each query"},
)
