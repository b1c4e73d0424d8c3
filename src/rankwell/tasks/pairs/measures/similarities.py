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
    name: str, text: str, source: str, better: Better = "higher", *, details: str, labels: str = ""
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
        details=details,
    )


CORRELATIONS = (
    _add(
        "Spearman",
        "correlation of ranks; equal values share the mean of their ranks",
        "Spearman 1904",
        labels="spearman_* spearman_max",
        details="""
Spearman's rank correlation, for whether similarities order pairs as targets do, as usual in STS:

    Spearman = Pearson correlation of the ranks
"""
        + _CORRELATION.format(name="spearman", value="0.5"),
    ),
    _add(
        "Pearson",
        "product-moment correlation",
        "Pearson 1895",
        labels="pearson_* pearson_max",
        details="""
Pearson correlation, for a linear relation between similarities and targets:

    Pearson = Σ (x - mean) · (y - mean) / √(Σ (x - mean)² · Σ (y - mean)²)
"""
        + _CORRELATION.format(name="pearson", value="0.5"),
    ),
    _add(
        "Kendall",
        "tau-b: concordant minus discordant pairs of pairs, corrected for ties",
        "Kendall 1945",
        details="""
Kendall's tau-b, for whether similarities order pairs as targets do:

    Kendall = (C - D) / √((C + D + T) · (C + D + U))
    C, D: concordant and discordant pairs of pairs
    T, U: ties in only one of the two
"""
        + _CORRELATION.format(name="kendall", value="0.3333"),
    ),
)
ERRORS = (
    _add(
        "MAE",
        "mean of |similarity - target|",
        "rankwell",
        "lower",
        details="""
Mean absolute error, for similarities that should equal their targets:

    MAE = mean of |similarity - target|
"""
        + _ERROR.format(call="float(np.abs(similarities - targets).mean())", value="0.375"),
    ),
    _add(
        "MSE",
        "mean of (similarity - target)²",
        "rankwell",
        "lower",
        details="""
Mean squared error, for similarities where large errors weigh more:

    MSE = mean of (similarity - target)²
"""
        + _ERROR.format(call="float(((similarities - targets) ** 2).mean())", value="0.15625"),
    ),
    _add(
        "MAE(fit='affine')",
        "mean of |slope · similarity + intercept - target|, for the least-squares line",
        "Legendre 1805",
        "lower",
        details="""
Mean absolute error after a linear fit, for similarities on another scale:

    MAE = mean of |a · similarity + b - target|
    a, b: of the least-squares line
"""
        + _CALIBRATED,
    ),
)
CLASSES = (
    _add(
        "AP",
        "the sum over thresholds of precision times the increase in recall, for targets 0 and 1",
        "scikit-learn",
        labels="*_ap",
        details="""
Average precision of pairs, for similarities against labels 0 and 1:

    AP = Σ(thresholds) P · (R - R at the threshold before)
"""
        + _CLASSES.format(name="ap", value="0.8333"),
    ),
    _add(
        "F1",
        "the highest 2 · precision · recall / (precision + recall) over all thresholds",
        "van Rijsbergen 1979",
        labels="*_f1",
        details="""
Best F1 of pairs, for similarities used with the best threshold:

    F1 = max over the thresholds of 2 · P · R / (P + R)
"""
        + _CLASSES.format(name="f1", value="0.8"),
    ),
    _add(
        "Threshold",
        "the threshold of the best F1, midway between two similarities; pairs above it count as 1",
        "sentence-transformers",
        "neither",
        labels="*_f1_threshold",
        details="""
Best threshold of pairs, for deciding whether two texts are alike:

    Threshold = the similarity from which F1 is largest
"""
        + _CLASSES.format(name="f1_threshold", value="0.3"),
    ),
    _add(
        "MCC",
        "correlation between the targets and the classes at the threshold of the best F1",
        "Matthews 1975",
        labels="*_mcc",
        details="""
Matthews correlation coefficient, for classes at the best threshold:

    MCC = (TP · TN - FP · FN) / √((TP + FP) · (TP + FN) · (TN + FP) · (TN + FN))
"""
        + _CLASSES.format(name="mcc", value="0.5774"),
    ),
)
"""Figures of targets 0 and 1."""
