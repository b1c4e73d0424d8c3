"""Granularity: whether a printed share can be a count out of n queries at all.

A hit rate of n queries is one of n + 1 numbers. A printed figure between them was measured on other
queries, or is misprinted. Source: Brown and Heathers 2017, The GRIM test, for means of integers.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from rankwell.errors import BadUsage

_FIGURE = re.compile(r"(\d+(?:\.\d+)?)\s*%?")


@dataclass(frozen=True)
class Granularity:
    """The counts out of n queries that produce a printed figure.

    figure: the figure as it was printed.
    n: number of queries.
    counts: the possible counts, ascending; empty where the figure is impossible.
    nearest: for an impossible figure, the counts next to it with the figures that they would print.
    """

    figure: str
    n: int
    counts: tuple[int, ...]
    nearest: tuple[tuple[int, str], ...] = ()

    @property
    def possible(self) -> bool:
        """Whether some count makes the figure."""
        return bool(self.counts)

    def __str__(self) -> str:
        if self.possible:
            least, most = self.counts[0], self.counts[-1]
            span = f"{least}" if least == most else f"{least} to {most}"
            return f"{self.figure} is possible with n = {self.n}: {span} of {self.n}"
        around = " and ".join(f"{count} of {self.n} is {text}" for count, text in self.nearest)
        return f"{self.figure} is not possible with n = {self.n}: {around}"


def granularity_of(figure: str, n: int) -> Granularity:
    """The counts of n queries that round to a figure at its printed decimals; exact halves may
    round either way.

    figure: its text in per cent, because trailing zeros count as decimals (`90.30`). n: number of
    queries, from 1. Raises BadUsage for text that is not such a figure and for n below 1.

    >>> print(granularity_of("64.24", 165))
    64.24 is possible with n = 165: 106 of 165
    >>> print(granularity_of("70.08", 165))
    70.08 is not possible with n = 165: 115 of 165 is 69.70 and 116 of 165 is 70.30
    """
    if n < 1:
        raise BadUsage(f"n = {n}; expected at least 1 query.")
    match = _FIGURE.fullmatch(figure.strip())
    if match is None or (percent := Fraction(match[1])) > 100:
        raise BadUsage(
            f"{figure!r} is not a share; expected a figure from 0 to 100, as it was printed."
        )
    decimals = len(match[1].partition(".")[2])
    half, share = Fraction(1, 200 * 10**decimals), percent / 100
    least, most = math.ceil((share - half) * n), math.floor((share + half) * n)
    if counts := tuple(range(max(0, least), min(n, most) + 1)):
        return Granularity(figure, n, counts)
    below = math.floor(share * n)
    nearest = [
        (count, f"{float(Fraction(100 * count, n)):.{decimals}f}") for count in (below, below + 1)
    ]
    return Granularity(figure, n, (), tuple(nearest))
