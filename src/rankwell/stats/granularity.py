"""Granularity: whether a printed share can be a count out of n queries at all.

A hit rate of n queries is one of n + 1 numbers. A printed figure between them was measured on other
queries, or is misprinted. Source: Brown and Heathers 2017, The GRIM test, for means of integers.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from rankwell.errors import BadUsage

_FIGURE = re.compile(r"(?P<whole>\d+)(?:\.(?P<decimals>\d+))?\s*(?P<percent>%?)")


@dataclass(frozen=True)
class Granularity:
    """The counts out of n queries that produce a printed figure.

    figure: as it was printed. counts: ascending, none where the figure is impossible. nearest: the
    counts next to the figure with what they would print as, where it is impossible.
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
            counts = (
                f"{self.counts[0]}"
                if len(self.counts) == 1
                else f"{self.counts[0]} to {self.counts[-1]}"
            )
            return f"{self.figure} is possible with n = {self.n}: {counts} of {self.n}"
        around = " and ".join(f"{count} of {self.n} is {text}" for count, text in self.nearest)
        return f"{self.figure} is not possible with n = {self.n}: {around}"


def granularity_of(
    figure: str, n: int, *, unit: Literal["percent", "share"] = "percent"
) -> Granularity:
    """The counts of n queries that round to a figure at its printed decimals; exact halves may
    round either way.

    figure: its text, because trailing zeros count as decimals (`90.30`); with a percent sign it is
    percent in any case.
    n: number of queries, from 1. unit: that of the figure, 0 to 100 or 0 to 1.
    Raises BadUsage for text that is not such a figure and for n below 1.

    >>> print(granularity_of("64.24", 165))
    64.24 is possible with n = 165: 106 of 165
    >>> print(granularity_of("70.08", 165))
    70.08 is not possible with n = 165: 115 of 165 is 69.70 and 116 of 165 is 70.30
    """
    if n < 1:
        raise BadUsage(f"n = {n}; expected at least 1 query.")
    printed = _Printed.read(figure, unit)
    counts = printed.counts(n)
    if counts:
        return Granularity(figure, n, tuple(counts))
    below = math.floor(printed.share * n)
    return Granularity(
        figure, n, (), tuple((count, printed.show(count, n)) for count in (below, below + 1))
    )


def fitting_sizes(
    printed: list[str],
    at_most: int,
    *,
    at_least: int = 1,
    unit: Literal["percent", "share"] = "percent",
) -> list[int]:
    """The numbers of queries, ascending, at which all printed figures are possible.

    Raises BadUsage as `granularity_of` does.

    >>> fitting_sizes(["57.58", "64.24", "90.30"], 200)
    [165]
    """
    if at_least < 1:
        raise BadUsage(f"n = {at_least}; expected at least 1 query.")
    read = [_Printed.read(figure, unit) for figure in printed]
    return [n for n in range(at_least, at_most + 1) if all(figure.counts(n) for figure in read)]


class _Printed(NamedTuple):
    """A figure as a share, the decimals that it is printed with, and what a share of 1 is printed
    as.
    """

    share: Fraction
    decimals: int
    scale: int

    @classmethod
    def read(cls, figure: str, unit: str) -> "_Printed":
        """The figure of a text; a percent sign overrides the unit. Raises BadUsage for text that is
        not a share.
        """
        match = _FIGURE.fullmatch(figure.strip())
        scale = 100 if unit == "percent" or (match is not None and match["percent"]) else 1
        value = None if match is None else Fraction(f"{match['whole']}.{match['decimals'] or 0}")
        if match is None or value is None or value > scale:
            raise BadUsage(
                f"{figure!r} is not a share; expected a figure from 0 to {scale}, as it was "
                "printed."
            )
        return cls(value / scale, len(match["decimals"] or ""), scale)

    def counts(self, n: int) -> range:
        """The counts out of n that are printed as this figure, whichever way halves are rounded."""
        half = Fraction(1, 2 * 10**self.decimals * self.scale)
        return range(
            max(0, math.ceil((self.share - half) * n)),
            min(n, math.floor((self.share + half) * n)) + 1,
        )

    def show(self, count: int, n: int) -> str:
        """A count out of n, printed with as many decimals."""
        return f"{float(Fraction(count * self.scale, n)):.{self.decimals}f}"
