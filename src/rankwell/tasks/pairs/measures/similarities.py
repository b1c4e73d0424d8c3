"""Figures of pairs with two numbers each; `task.py` of the task computes them."""

from rankwell.data.registry import Better, CollectionFigure, add_figure

_SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")
_CORRELATION = """
>>> import numpy as np
>>> from rankwell.stats.correlation import {name}
>>> round({name}(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.9, 0.5])).value, 4)
{value}
"""
_ERROR = """
>>> import numpy as np
>>> targets, similarities = np.array([0.0, 1.0]), np.array([0.5, 0.75])
>>> {call}
{value}
"""
_CALIBRATED = """
>>> import numpy as np
>>> from rankwell.stats.correlation import fit_line
>>> targets, similarities = np.array([0.0, 1.0, 0.5]), np.array([0.5, 0.75, 0.25])
>>> round(float(np.abs(fit_line(targets, similarities).predict(similarities) - targets).mean()), 4)
0.3333
"""
_CLASSES = """
>>> import numpy as np
>>> from rankwell.stats.classification import classify
>>> found = classify(np.array([True, False, True, False]), np.array([0.9, 0.6, 0.4, 0.2]))
>>> round(found.{name}, 4)
{value}
"""


def _add(
    name: str, text: str, source: str, better: Better = "higher", *, example: str, labels: str = ""
) -> CollectionFigure:
    """A figure of pairs. labels: that of sentence-transformers, with `*` for the similarity."""
    aliases = " ".join(labels.replace("*", similarity) for similarity in _SIMILARITIES)
    return add_figure(
        name,
        text,
        source=source,
        better=better,
        printed_by=("pairs",),
        aliases=aliases,
        example=example,
    )


CORRELATIONS = (
    _add(
        "Spearman",
        "correlation of ranks; equal values share the mean of their ranks",
        "Spearman 1904",
        labels="spearman_* spearman_max",
        example=_CORRELATION.format(name="spearman", value="0.5"),
    ),
    _add(
        "Pearson",
        "product-moment correlation",
        "Pearson 1895",
        labels="pearson_* pearson_max",
        example=_CORRELATION.format(name="pearson", value="0.5"),
    ),
    _add(
        "Kendall",
        "tau-b: pairs of pairs in the same order less those in the other, corrected for ties",
        "Kendall 1945",
        example=_CORRELATION.format(name="kendall", value="0.3333"),
    ),
)
ERRORS = (
    _add(
        "MAE",
        "mean of |similarity - target|",
        "rankwell",
        "lower",
        example=_ERROR.format(call="float(np.abs(similarities - targets).mean())", value="0.375"),
    ),
    _add(
        "MSE",
        "mean of (similarity - target)²",
        "rankwell",
        "lower",
        example=_ERROR.format(
            call="float(((similarities - targets) ** 2).mean())", value="0.15625"
        ),
    ),
    _add(
        "MAE(fit='affine')",
        "mean of |slope · similarity + intercept - target|, by the least-squares line",
        "Legendre 1805",
        "lower",
        example=_CALIBRATED,
    ),
)
CLASSES = (
    _add(
        "AP",
        "of targets 0 and 1, the sum of the precision at each similarity times the recall "
        "that it adds",
        "scikit-learn",
        labels="*_ap",
        example=_CLASSES.format(name="ap", value="0.8333"),
    ),
    _add(
        "F1",
        "2 · precision · recall / (precision + recall) at the threshold that makes it largest",
        "van Rijsbergen 1979",
        labels="*_f1",
        example=_CLASSES.format(name="f1", value="0.8"),
    ),
    _add(
        "Threshold",
        "the similarity from which a pair is a 1, midway between two, for that F1",
        "sentence-transformers",
        "neither",
        labels="*_f1_threshold",
        example=_CLASSES.format(name="f1_threshold", value="0.3"),
    ),
    _add(
        "MCC",
        "correlation of the targets with the classes at that threshold",
        "Matthews 1975",
        labels="*_mcc",
        example=_CLASSES.format(name="mcc", value="0.5774"),
    ),
)
"""Figures of targets 0 and 1."""
