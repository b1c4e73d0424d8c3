"""Figures of clusters of images, and of the labels that the best references give queries;
`task.py` of the task computes them.
"""

from rankwell.data.registry import add_figure

_SOURCE = (
    "Vinh, Epps and Bailey 2010, Information theoretic measures for clusterings comparison; "
    "scikit-learn"
)
_EXAMPLE = """
>>> from rankwell.stats.partitions import partition_agreement
>>> agreement = partition_agreement(["a", "a", "a", "b", "b", "b"], ["1", "1", "2", "2", "2", "2"])
>>> round(agreement.{name}, 4)
{value}
"""

NMI = add_figure(
    "NMI",
    "Mutual information of clusters and labels, divided by the mean of their entropies.",
    source=_SOURCE,
    printed_by=("images --clusters",),
    details="""
Normalised mutual information, for clusters against labels:

    NMI = MI / (mean of both entropies)
    MI: mutual information
"""
    + _EXAMPLE.format(name="nmi", value="0.4787"),
)
AMI = add_figure(
    "AMI",
    "Mutual information of clusters and labels, adjusted for chance: near 0 for random "
    "clusters, 1 if both agree.",
    source=_SOURCE,
    printed_by=("images --clusters",),
    details="""
Adjusted mutual information, for clusters against labels, adjusted for chance:

    AMI = (MI - E) / (mean of both entropies - E)
    MI: mutual information
    E: its mean over random clusterings
"""
    + _EXAMPLE.format(name="ami", value="0.3552"),
)
TP_PRED = add_figure(
    "TP/PRED",
    "share of queries whose best reference has the query's label, among those whose best "
    "reference has any label",
    source="evaluation chapter on instance search on CLICIDE and GaRoFou, 2018",
    printed_by=("images",),
    per_query=True,
    details="""
Share of right names, for a program that shows the name of the best picture only:

    TP/PRED = TP / PRED
    PRED: the queries whose best reference has a label
    TP: those of them whose own label it is

A best reference without a label names nothing, so that its query counts in neither. Where several
references share the first place and no rule orders them, each counts in equal parts. The example is
in percent, the default of `rankwell images`.

>>> import rankwell as rw
>>> images = [
...     {"image": "1", "instance": "vase", "split": "reference"},
...     {"image": "2", "instance": "lamp", "split": "reference"},
...     {"image": "3", "instance": "vase", "split": "query"},
...     {"image": "4", "instance": "vase", "split": "query"},
... ]
>>> vectors = {"1": [1.0, 0.0], "2": [0.0, 1.0], "3": [0.9, 0.1], "4": [0.1, 0.9]}
>>> rw.evaluate_images(images, item_vectors=vectors, measures="P@1 TP/PRED")["TP/PRED"]
50.0
""",
)
