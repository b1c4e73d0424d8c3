"""The sign test: whether one system wins more often than it loses, however far; exact for any number of queries."""

import math
from typing import NamedTuple

import numpy as np

from rankwell.tables import Floats


class Sign(NamedTuple):
    """How many differences are above, at and below 0, and the two-sided p-value."""

    wins: int
    ties: int
    losses: int
    p: float


def sign_test(differences: Floats) -> Sign:
    """The exact binomial test of wins against losses; differences of 0 say nothing. p is 1 where there is no other.

    differences: (n,) finite. Source: Conover 1999, Practical Nonparametric Statistics, 3.4.
    """
    wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    return Sign(wins, len(differences) - wins - losses, losses, binomial_p(wins, losses))


def binomial_p(wins: int, losses: int) -> float:
    """How probable a split at least as uneven is where either side is as probable; in whole numbers, so to the last digit."""
    n, fewer = wins + losses, min(wins, losses)
    if wins == losses:
        return 1.0
    term = total = 1
    for place in range(1, fewer + 1):
        term = term * (n - place + 1) // place
        total += term
    # Whole numbers of thousands of bits are divided exactly; as floats they would overflow.
    scaled = (total << 1 << 1100) >> n
    return min(1.0, math.ldexp(float(scaled >> max(scaled.bit_length() - 64, 0)), max(scaled.bit_length() - 64, 0) - 1100))
