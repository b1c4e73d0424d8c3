"""Figures of whether the scores of a run show how good its lists are; `evaluation/bounds.py`
computes them.
"""

from rankwell.data.registry import add_figure

_PRINTED_BY = ("evaluate --confidence", "instances evaluate --confidence")
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

NAUC = add_figure(
    "nAUC",
    "Normalised area under the curve of mean {measure} over rates of abstention 0, 0.1, …, "
    "0.9 {by}.",
    source="Gisserot-Boukhlef and others 2024, Towards trustworthy reranking; MTEB 2.26.24, nauc",
    printed_by=_PRINTED_BY,
    words=_WORDS,
    example=_EXAMPLE.format(
        name="nauc", values="1.0, 0.5, 0.5, 0.0", further=", resamples=0", value="1.0"
    ),
)
AURC = add_figure(
    "AURC",
    "Area under the risk-coverage curve of the loss {highest} - {measure} {by}.",
    better="lower",
    source="Geifman, Uziel and El-Yaniv 2019, Bias-reduced uncertainty estimation for deep neural "
    "classifiers",
    printed_by=_PRINTED_BY,
    words=_WORDS,
    example=_EXAMPLE.format(
        name="aurc",
        values="0.0, 0.5, 0.5, 1.0",
        further=", resamples=0",
        value="0.2708333333333333",
    ),
)
AUROC = add_figure(
    "AUROC",
    "Chance that a query with {measure} 1 is more confident than one with 0, ties counting "
    "half, {by}.",
    source="Fawcett 2006, An introduction to ROC analysis",
    printed_by=_PRINTED_BY,
    words=_WORDS,
    example=_EXAMPLE.format(
        name="auroc", values="1.0, 1.0, 0.0, 0.0", further=", resamples=0", value="0.75"
    ),
)
AUPRC = add_figure(
    "AUPRC",
    "Area under the precision-recall curve of the queries with {measure} 1 ({area}) {by}.",
    source="Davis and Goadrich 2006, The relationship between precision-recall and ROC curves",
    printed_by=_PRINTED_BY,
    words=_WORDS,
    example=_EXAMPLE.format(
        name="auprc", values="1.0, 0.0, 0.0, 1.0", further=", resamples=0", value="0.75"
    ),
)
EP = add_figure(
    "EP",
    "Extended precision {by}: mean of the precision at the lowest recall and the highest "
    "recall at precision 1.",
    source="Ferrarini and others 2020, Exploring performance bounds of visual place recognition "
    "using extended precision",
    printed_by=_PRINTED_BY,
    words={"by": "by a confidence of each query"},
    example=_EXAMPLE.format(
        name="extended_precision", values="1.0, 1.0, 0.0, 0.0", further="", value="0.75"
    ),
)
