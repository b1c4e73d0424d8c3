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


add_figure(
    "TP/PRED",
    "share of queries whose best reference has the query's label, among those whose best "
    "reference has any label",
    printed_by=("images",),
)
