"""Oracle of the paired randomisation test: all ways to swap, one after the other, in whole
numbers.
"""

from fractions import Fraction
from itertools import product
from math import lcm


def randomisation_p(first: list[float], other: list[float]) -> float:
    """The share of all ways to swap the two values of each query in which the sums differ at least
    as much.
    """
    exact = [Fraction(str(b)) - Fraction(str(a)) for a, b in zip(first, other, strict=True)]
    common = lcm(*(each.denominator for each in exact))
    differences = [int(each * common) for each in exact]
    seen = abs(sum(differences))
    ways = [abs(sum(chosen)) for chosen in product(*((each, -each) for each in differences))]
    return sum(way >= seen for way in ways) / len(ways)
