"""Sums of products as tensor cores make them, in exact arithmetic: blocks of terms aligned to the
largest, and truncated.

Source: Fasi, Higham, Mikaitis and Pranesh 2021, Numerical behavior of NVIDIA tensor cores; Khattak
and Mikaitis 2025, Accurate models of NVIDIA tensor cores: V100 adds 4 products a step and keeps 23
fraction bits, A100 8 and 24, H100 16 and 25.
"""

from fractions import Fraction

MODELS = {"V100": (4, 23), "A100": (8, 24), "H100": (16, 25)}
SMALLEST = -14


def exponent(value: Fraction) -> int:
    """The largest e with 2^e not above the magnitude of a value other than zero."""
    value = abs(value)
    found = value.numerator.bit_length() - value.denominator.bit_length()
    return found if Fraction(2) ** found <= value else found - 1


def truncated(value: Fraction, place: int) -> Fraction:
    """A value without what is below 2^place, towards zero."""
    unit = Fraction(2) ** place
    whole = int(abs(value) / unit) * unit
    return whole if value >= 0 else -whole


def half_exponent(value: Fraction) -> int:
    """The exponent that float16 has for a value: that of the smallest normal number for a subnormal
    one.
    """
    return max(exponent(value), SMALLEST)


def dot(left: list[Fraction], right: list[Fraction], block: int, bits: int) -> Fraction:
    """The product of two vectors of float16 numbers, accumulated in float32 `block` products at a
    time.
    """
    total = Fraction(0)
    for start in range(0, len(left), block):
        pairs = [
            (a, b)
            for a, b in zip(left[start : start + block], right[start : start + block], strict=True)
            if a and b
        ]
        exponents = [half_exponent(a) + half_exponent(b) for a, b in pairs]
        if total:
            exponents.append(exponent(total))
        if not exponents:
            continue
        place = max(exponents) - bits
        total = sum((truncated(a * b, place) for a, b in pairs), truncated(total, place))
        if total:
            total = truncated(total, exponent(total) - 23)
    return total
