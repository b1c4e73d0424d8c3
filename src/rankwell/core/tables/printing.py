"""Numbers as people read them, in every output alike."""

from math import isfinite


def rounded(value: float) -> float:
    """The value with 10 significant digits, as every figure that comes out of a matrix product is written."""
    return float(f"{value:.10g}")


MISSING = "–"
"""An undefined figure, as people read it; where programs read it is null or empty."""
_DECIMALS = {"percent": 2, "rank": 2, "count": 2, "effect": 2, "ms": 3, "s": 2, "MB": 2, "queries/s": 1}


def figure(value: float | None, unit: str, *, signed: bool = False) -> str:
    """A number as people read it everywhere: 4 decimals, percentages and ranks 2, times 3 or 2, counts none where they are whole.

    It is rounded to the nearest; of two that are equally near the even one is taken, as C and trec_eval do: 78.125 is 78.12. Zero
    has no sign. `report/page/assets/numbers.js` is the same for pages. signed: gains have a plus sign.
    """
    if value is None or not isfinite(value):
        return MISSING
    decimals = 0 if unit == "count" and float(value).is_integer() else _DECIMALS.get(unit, 4)
    text = f"{float(value):z.{decimals}f}"
    return f"+{text}" if signed and float(text) > 0 else text


def p_value(p: float | None) -> str:
    """A p-value as people read it."""
    return "< 0.0001" if p is not None and p < 0.0001 else figure(p, "share")


def p_text(p: float | None) -> str:
    """A p-value in a sentence."""
    return "no p-value" if p is None else f"p {p_value(p)}" if p < 0.0001 else f"p = {p_value(p)}"
