"""The figure of labels that the best references give queries; `evaluation.py` of the task
computes it.
"""

from rankwell.data.registry import add_figure

add_figure(
    "TP/PRED",
    "share of the queries whose best reference has their label, among those whose best "
    "reference has any label",
    printed_by=("images",),
)
