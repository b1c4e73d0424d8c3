"""Effect sizes: how large a difference is against the spread of single queries."""

from rankwell.core.tables import Floats


def cohen_dz(differences: Floats) -> float | None:
    """The mean of paired differences over their standard deviation; None for fewer than two, and where all are the same.

    differences: (n,) finite. Source: Cohen 1988, Statistical Power Analysis, 2.3.5.
    """
    if len(differences) < 2 or differences.min() == differences.max():
        return None
    return float(differences.mean()) / float(differences.std(ddof=1))
