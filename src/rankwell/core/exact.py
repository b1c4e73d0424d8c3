"""Sums, means and standard deviations whose sums are rounded once, whatever the order, the number
or the size of the values.
"""

import math

import numpy as np

from rankwell.core.tables import Floats

_LARGEST = 2.0**960
"""Above it the extraction could overflow."""
_UNITS = 1 << 1074
"""Units in 1: each float64 is an integer number of them."""


def exact_sum(values: Floats) -> float:
    """Σ values, (n,), rounded once; NaN or infinite where a value is, and infinite above the
    largest float64.
    """
    units = _units(values)
    return float(values.sum()) if units is None else _quotient(units, _UNITS)


def exact_mean(values: Floats, weights: Floats | None = None) -> float:
    """Σ values / n, or Σ values · weights / Σ weights, rounded once; NaN of no values, and where
    all weights are 0.

    Of weighted values, each product is rounded as well.
    """
    return exact_ratio(values if weights is None else values * weights, weights)


def exact_ratio(sums: Floats, sizes: Floats | None = None) -> float:
    """Σ sums / Σ sizes, rounded once; NaN where the sizes add up to 0. sizes: (n,) None where each
    is 1.
    """
    units, total = _units(sums), len(sums) * _UNITS if sizes is None else _units(sizes)
    if total == 0:
        return math.nan
    if units is not None and total is not None:
        return _quotient(units, total)
    return exact_sum(sums) / (len(sums) if sizes is None else exact_sum(sizes))


def exact_means(table: Floats, weights: Floats | None = None) -> Floats:
    """Mean of each column of a table, as `exact_mean`. weights: in the table's shape."""
    column_weights = [None] * table.shape[1] if weights is None else weights.T
    return np.array(
        [
            exact_mean(*column_and_weights)
            for column_and_weights in zip(table.T, column_weights, strict=True)
        ],
        dtype=np.float64,
    )


def exact_sd(values: Floats, *, population: bool = False) -> float:
    """The standard deviation, divided by n - 1 (`population`: by n); 0 of equal values, NaN where
    that divisor is not above 0.

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
    squares, apart = _units(off * off), _units(off)
    if squares is None or apart is None:
        return math.nan
    # What the mean was rounded by is in every deviation.
    variance = _quotient(n * _UNITS * squares - apart**2, n * freedom * _UNITS**2)
    return math.ldexp(math.sqrt(variance), exponent)


def _units(values: Floats) -> int | None:
    """Σ values in `_UNITS`, exactly; None where a value is NaN or infinite.

    The leading bits of all values, so few that no sum of them is rounded, are added up, then the
    next, until nothing is left. Source: Rump, Ogita and Oishi 2008, Accurate floating-point
    summation part I, algorithm 3.2.
    """
    remainder = np.asarray(values, dtype=np.float64)
    largest = float(np.abs(remainder).max(initial=0.0))
    if not math.isfinite(largest):
        return None
    if largest > _LARGEST:
        return sum(map(_units_of, remainder.tolist()))
    # All values are below `2 ** exponent`, n of them below `2 ** (exponent + bits)`.
    units, bits = 0, math.ceil(math.log2(len(remainder) + 2))
    while largest:
        edge = math.ldexp(1.0, math.frexp(largest)[1] + bits)
        leading = (edge + remainder) - edge
        units += _units_of(float(leading.sum()))
        remainder = remainder - leading
        largest = float(np.abs(remainder).max())
    return units


def _units_of(number: float) -> int:
    numerator, denominator = number.as_integer_ratio()
    return numerator * (_UNITS // denominator)


def _quotient(numerator: int, denominator: int) -> float:
    """The nearest float64, infinite above the largest one."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf
