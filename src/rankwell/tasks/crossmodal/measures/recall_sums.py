"""Figures made of recalls of captions and videos; `task.py` of the task computes them."""

from rankwell.data.registry import add_figure

_EXAMPLE = """
>>> from rankwell.tasks.crossmodal.task import {function}
>>> round({function}([40.0, 70.0, 80.0]), 2)
{value}
"""

RSUM = add_figure(
    "rsum",
    "The sum of R@1, R@5 and R@10 of both directions, in their own unit: at most 600 percent.",
    source="Lee and others 2018, SCAN",
    printed_by=("crossmodal",),
    details="""
Sum of recalls, for one number per model, as papers on text and images report it:

    rsum = Σ(both directions) (R@1 + R@5 + R@10)
"""
    + _EXAMPLE.format(function="rsum", value="190.0"),
)
GMEAN = add_figure(
    "gmean",
    "The geometric mean of R@1, R@5 and R@10 of one direction; 0 if one of them is 0.",
    source="Liu and others 2019, Use what you have",
    printed_by=("crossmodal",),
    details="""
Geometric mean of recalls, for one number per direction:

    gmean = (R@1 · R@5 · R@10)^(1/3)
"""
    + _EXAMPLE.format(function="geometric_mean", value="60.73"),
)
R_MEAN = add_figure(
    "r_mean",
    "The mean of R@1, R@5 and R@10, of one direction or of both.",
    source="Li and others 2023, LAVIS, itm_eval",
    printed_by=("crossmodal",),
    details="""
Mean of recalls, for one number per model:

    r_mean = (R@1 + R@5 + R@10) / 3
"""
    + _EXAMPLE.format(function="mean_recall", value="63.33"),
)
