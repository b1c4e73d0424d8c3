"""Sums, means and standard deviations whose sums are rounded once, whatever the order, the number or the size of the values."""

import math
from fractions import Fraction

import numpy as np

from rankwell.core.tables import Floats

_LARGEST = 2.0**960
"""Above it the extraction could overflow."""


def exact_sum(values: Floats) -> float:
    """Σ values, (n,), rounded once; NaN or infinite where a value is, and infinite above the largest float64."""
    return _rounded(_whole(values))


def exact_mean(values: Floats, weights: Floats | None = None) -> float:
    """Σ values / n, or Σ values · weights / Σ weights, rounded once; NaN of no values, and where all weights are 0.

    Of weighted values, each product is rounded as well.
    """
    return exact_ratio(values if weights is None else values * weights, weights)


def exact_ratio(sums: Floats, sizes: Floats | None = None) -> float:
    """Σ sums / Σ sizes, rounded once; NaN where the sizes add up to 0. sizes: (n,) None where each is 1."""
    whole, total = _whole(sums), Fraction(len(sums)) if sizes is None else _whole(sizes)
    if isinstance(whole, Fraction) and isinstance(total, Fraction):
        return _rounded(whole / total) if total else math.nan
    return _rounded(whole) / _rounded(total) if total else math.nan


def exact_means(table: Floats, weights: Floats | None = None) -> Floats:
    """(columns,) the mean of each column of (n, columns), as `exact_mean`. weights: (n, columns)."""
    own = [None] * table.shape[1] if weights is None else weights.T
    return np.array([exact_mean(*each) for each in zip(table.T, own, strict=True)], dtype=np.float64)


def exact_sd(values: Floats, *, population: bool = False) -> float:
    """The standard deviation, divided by n - 1 (`population`: by n); 0 of equal values, NaN where that divisor is not above 0.

    The sum of squared deviations from the mean is rounded once.
    """
    n = len(values)
    freedom = n if population else n - 1
    if freedom < 1:
        return math.nan
    off = values - exact_mean(values)
    exponent = math.frexp(float(np.abs(off).max()))[1]
    # Squares of very large or small deviations stay in range.
    off = np.ldexp(off, -exponent)
    squares, apart = _whole(off * off), _whole(off)
    if not isinstance(squares, Fraction) or not isinstance(apart, Fraction):
        return math.nan
    # What the mean was rounded by is in every deviation.
    return math.ldexp(math.sqrt(_rounded((squares - apart * apart / n) / freedom)), exponent)


def _whole(values: Floats) -> Fraction | float:
    """Σ values, exactly; a float where a value is NaN or infinite.

    The leading bits of all values, so few that no sum of them is rounded, are added up, then the next, until nothing is left.
    Source: Rump, Ogita and Oishi 2008, Accurate floating-point summation part I, algorithm 3.2.
    """
    rest = np.asarray(values, dtype=np.float64)
    largest = float(np.abs(rest).max(initial=0.0))
    if not math.isfinite(largest):
        return float(rest.sum())
    if largest > _LARGEST:
        return sum(map(Fraction, rest.tolist()), Fraction())
    # All values are below `2 ** exponent`, n of them below `2 ** (exponent + bits)`.
    whole, bits = Fraction(), math.ceil(math.log2(len(rest) + 2))
    while largest:
        edge = math.ldexp(1.0, math.frexp(largest)[1] + bits)
        leading = (edge + rest) - edge
        whole += Fraction(float(leading.sum()))
        rest = rest - leading
        largest = float(np.abs(rest).max())
    return whole


def _rounded(number: Fraction | float) -> float:
    if not isinstance(number, Fraction):
        return number
    try:
        return number.numerator / number.denominator
    except OverflowError:
        return math.inf if number > 0 else -math.inf
