"""Effect sizes: how large a difference is against the spread of single queries, and how often one system wins."""

import math

import numpy as np

from rankwell.tables import Floats


def cohen_dz(differences: Floats) -> float | None:
    """The mean of paired differences over their standard deviation; None for fewer than two, and where all are the same.

    differences: (n,) finite. Source: Cohen 1988, Statistical Power Analysis, 2.3.5.
    """
    if len(differences) < 2 or differences.min() == differences.max():
        return None
    return float(differences.mean()) / float(differences.std(ddof=1))


def hedges_gz(differences: Floats) -> float | None:
    """Cohen's dz without its bias in small samples; None as for `cohen_dz`. Source: Hedges 1981."""
    size = cohen_dz(differences)
    if size is None:
        return None
    freedom = len(differences) - 1
    if freedom < 2:
        return None
    return size * math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom - 1) / 2)) / math.sqrt(freedom / 2)


def superiority(differences: Floats) -> float | None:
    """The share of queries that are won, a tie counting half; None where there is none. Source: Vargha and Delaney 2000."""
    if not len(differences):
        return None
    return (np.count_nonzero(differences > 0) + np.count_nonzero(differences == 0) / 2) / len(differences)
