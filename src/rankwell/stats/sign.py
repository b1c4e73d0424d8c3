"""The sign test: whether one system wins more often than it loses, however far; exact for any number of queries."""

from typing import NamedTuple

import numpy as np

from rankwell.core.tables import Floats
from rankwell.stats import binomial_p


class Sign(NamedTuple):
    """Numbers of differences above, at and below 0, and the two-sided p-value."""

    wins: int
    ties: int
    losses: int
    p: float


def sign_test(differences: Floats) -> Sign:
    """The exact binomial test of wins against losses; differences of 0 are left out. p is 1 where there is no other.

    differences: (n,) finite. Source: Conover 1999, Practical Nonparametric Statistics, 3.4.
    """
    wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    return Sign(wins, len(differences) - wins - losses, losses, binomial_p(wins + losses, wins))
