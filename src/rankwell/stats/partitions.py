"""Partitions of things: clusters by k-means, and the agreement of two partitions by mutual
information.
"""

import warnings
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.tables import Floats, Ints, positions_by_id


class PartitionAgreement(NamedTuple):
    """Agreement of two partitions; 1 for equal ones.

    nmi: normalised mutual information, from 0 to 1.
    ami: adjusted mutual information, 0 on average for random groups.
    nmi_chance: the mean NMI over random assignments to groups of the same sizes; the mean AMI is 0.
    """

    nmi: float
    ami: float
    nmi_chance: float


def partition_agreement(
    first: Sequence[Hashable], second: Sequence[Hashable]
) -> PartitionAgreement:
    """Normalised and adjusted mutual information: NMI = I / m and AMI = (I - E) / (m - E), m the
    mean of both entropies.

    E is the mean mutual information of random partitions with the same group sizes. Both are 1 for
    equal partitions, also where all things are in one group of both. first, second: the group of
    each thing, of equal length, 1 or more.
    Source: Vinh, Epps and Bailey 2010, Information theoretic measures for clusterings comparison;
    scikit-learn, with arithmetic averages.
    """
    codes = [_codes(side) for side in (first, second)]
    rows, columns = (np.bincount(group_codes) for group_codes in codes)
    n, mean = len(first), (_entropy(rows) + _entropy(columns)) / 2
    if mean == 0:
        return PartitionAgreement(1.0, 1.0, 1.0)
    pairs, cells = np.unique(codes[0] * len(columns) + codes[1], return_counts=True)
    row, column = np.divmod(pairs, len(columns))
    ratios = cells * n / (rows[row].astype(np.float64) * columns[column])
    mutual = max(0.0, float((cells / n * np.log(ratios)).sum()))
    expected = _expected_information(rows, columns)
    # Two trivial partitions, such as all things alone, agree by chance as well as they can.
    ami = float(mutual >= mean * (1 - 1e-12))
    if abs(mean - expected) > 1e-12 * mean:
        ami = (mutual - expected) / (mean - expected)
    return PartitionAgreement(min(1.0, mutual / mean), min(1.0, ami), expected / mean)


def _codes(groups: Sequence[Hashable]) -> Ints:
    """The number of each thing's group, in the order of first sight."""
    code_of = positions_by_id(dict.fromkeys(groups))
    return np.array([code_of[group] for group in groups], dtype=np.int64)


def _entropy(sizes: Ints) -> float:
    shares = sizes / sizes.sum()
    return float(-(shares * np.log(shares)).sum())


def _expected_information(rows: Ints, columns: Ints) -> float:
    """The mean mutual information of partitions with these group sizes, of which each is as
    probable.
    """
    from scipy.special import gammaln

    n = int(rows.sum())
    total = 0.0
    # Pairs of groups of the same sizes have the same term.
    for a, a_times in zip(*np.unique(rows, return_counts=True), strict=True):
        for b, b_times in zip(*np.unique(columns, return_counts=True), strict=True):
            common: Floats = np.arange(max(1, a + b - n), min(a, b) + 1, dtype=np.float64)
            above = gammaln(a + 1) + gammaln(b + 1) + gammaln(n - a + 1) + gammaln(n - b + 1)
            below = (
                gammaln(n + 1)
                + gammaln(common + 1)
                + gammaln(a - common + 1)
                + gammaln(b - common + 1)
            )
            log_chance = above - below - gammaln(n - a - b + common + 1)
            information = common / n * np.log(n * common / (float(a) * float(b)))
            total += float(a_times * b_times) * float((information * np.exp(log_chance)).sum())
    return total


def k_means(points: Floats, n_clusters: int, *, seed: int) -> Ints:
    """Cluster of each point after 100 iterations of Lloyd's algorithm from k-means++ seeds; a
    cluster may be empty.

    points: (n, d) finite, n at least n_clusters. Source: Arthur and Vassilvitskii 2007, k-means++.
    """
    from scipy.cluster.vq import kmeans2
    from threadpoolctl import threadpool_limits

    # SciPy 1.14 has no other name for it.
    draw: Any = {"seed": np.random.default_rng(seed)}
    # Sums of several threads differ in their last bits; an empty cluster is not an error.
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kmeans2(points, n_clusters, iter=100, minit="++", **draw)[1].astype(np.int64)
