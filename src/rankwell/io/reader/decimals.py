"""Numbers in decimal notation to doubles, many at a time and each correctly rounded.

Plain fixed notation is read eight digits to a step; exponents and whatever else Python's `float` understands go through it.
Source of the digit steps: Lemire, "Number parsing at a gigabyte per second", 2021.
"""

import math

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints
from rankwell.io.reader.spans import Spans, Text, Words

_EIGHT = 0x0101010101010101
_ZEROS, _DOTS, _TOPS = (np.uint64(each * _EIGHT) for each in (0x30, 0x2E, 0x80))
_ONES = np.uint64(_EIGHT)
_TOO_MUCH = np.uint64(0x76 * _EIGHT)
# The most that _short reads: eight digits, a dot, seven digits. Where numbers are longer on the whole, it is not tried.
_SHORT = 16
# _FIRST[n] and _LAST[n] keep the first and the last n of the eight bytes of a word.
_FIRST = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
_LAST = np.array([(1 << 64) - (1 << 8 * (8 - n)) for n in range(9)], dtype=np.uint64)
_POWERS = np.array([float(10**n) for n in range(20)])
_WHOLE_POWERS = np.array([10**n for n in range(20)], dtype=np.uint64)
_EXACT = np.uint64(1 << 53)


def parse(spans: Spans) -> tuple[Floats, Ints]:
    """(spans,) the numbers, and the rows that are none: no number at all, NaN, infinite, hexadecimal or with underscores."""
    length = spans.stop - spans.start
    if len(length) and int(length.sum()) > _SHORT * len(length):
        values, good = _long(spans)
    else:
        values, good = _short(spans)
        rows = np.flatnonzero(~good)
        if len(rows):
            values[rows], good[rows] = _long(spans.take(rows))
    bad = list[int]()
    for row in np.flatnonzero(~good).tolist():
        values[row] = _by_python(spans.bytes_of(row))
        if not math.isfinite(values[row]):
            bad.append(row)
    return values, np.array(bad, dtype=np.int64)


def _by_python(text: bytes) -> float:
    try:
        return math.nan if b"_" in text else float(text)
    except ValueError:
        return math.nan


def _number_of(digits: Words) -> Words:
    """The number that eight bytes from 0 to 9 spell, the first of them in the lowest byte."""
    pairs = digits * np.uint64(10) + (digits >> np.uint64(8))
    low = (pairs & np.uint64(0x000000FF000000FF)) * np.uint64(0x000F424000000064)
    pairs >>= np.uint64(16)
    pairs &= np.uint64(0x000000FF000000FF)
    pairs *= np.uint64(0x0000271000000001)
    pairs += low
    pairs >>= np.uint64(32)
    return pairs


def _not_digits(digits: Words) -> Words:
    """Not zero where one of the eight bytes is above 9."""
    return ((digits + _TOO_MUCH) | digits) & _TOPS


def _dot(words: Words) -> Words:
    """The top bit of the byte that is a dot; more bits where more is wrong than that, none without a dot."""
    marks = words ^ _DOTS
    found = marks - _ONES
    np.invert(marks, out=marks)
    found &= marks
    found &= _TOPS
    return found


def _short(spans: Spans) -> tuple[Floats, Bools]:
    """Numbers such as 36.841715: up to eight digits, a dot, up to seven digits. Also whether each row is one."""
    text, start, stop = spans
    length = stop - start
    words = text.words[stop - 8]
    if len(length) and int(length.min()) < 8:
        words &= _LAST.take(length, mode="clip")
    dot = _dot(words)
    decimals = 7 - (np.bitwise_count(dot - np.uint64(1)) >> np.uint8(3)).astype(np.int64)
    whole = length - decimals - 1
    good = (np.bitwise_count(dot) == 1) & (decimals > 0) & (whole > 0) & (whole <= 8)
    words ^= _ZEROS
    words &= np.uint64(0) - (dot << np.uint64(1))
    front = text.words[start + whole - 8]
    front ^= _ZEROS
    front &= _LAST.take(whole, mode="clip")
    good &= (_not_digits(words) | _not_digits(front)) == 0
    mantissa = _number_of(front) * _WHOLE_POWERS.take(decimals, mode="clip") + _number_of(words)
    return mantissa.astype(np.float64) / _POWERS.take(decimals, mode="clip"), good


def _long(spans: Spans) -> tuple[Floats, Bools]:
    """Numbers of up to nineteen digits with or without sign and dot. Also whether each row is one and correctly rounded."""
    text, start, stop = spans
    first = text.words[start] & np.uint64(0xFF)
    negative = first == ord("-")
    start = start + (negative | (first == ord("+")))
    dot = _dot_places(Spans(text, start, stop))
    whole, good = _digits(text, start, dot)
    has_dot = dot < stop
    fraction, fine = _digits(text, np.minimum(dot + 1, stop), stop)
    decimals = stop - dot - has_dot
    count = dot - start + decimals
    good &= fine & (count > 0) & (count <= 19)
    mantissa = whole * _WHOLE_POWERS.take(decimals, mode="clip") + fraction
    values, sure = _divide(mantissa, _POWERS.take(decimals, mode="clip"))
    return np.where(negative, -values, values), good & sure


def _dot_places(spans: Spans) -> Ints:
    """(spans,) the place of a dot in the first eight or the last 24 bytes of each span; its end where there is none."""
    text, start, stop = spans
    dot = _dot(text.words[start] & _FIRST.take(stop - start, mode="clip"))
    places = np.where(dot != 0, start + _byte_of(dot), stop)
    rows = np.flatnonzero((dot == 0) & (stop - start > 8))
    for step in range(3):
        end = stop[rows] - 8 * step
        dot = _dot(text.words[end - 8] & _LAST.take(end - start[rows], mode="clip"))
        places[rows] = np.where(dot != 0, end - 8 + _byte_of(dot), places[rows])
    return places


def _byte_of(dot: Words) -> Ints:
    """Which of eight bytes is the dot; where more are marked, a byte for which what stands before it has a dot and is refused."""
    return (np.bitwise_count(dot - np.uint64(1)) >> np.uint8(3)).astype(np.int64)


def _digits(text: Text, start: Ints, stop: Ints) -> tuple[Words, Bools]:
    """The numbers that spans of up to 24 digits spell, modulo 2**64, and whether all of a span are digits."""
    length = stop - start
    good = length <= 24
    total = np.zeros(len(start), dtype=np.uint64)
    for step in range(min(3, -(-int(length.max(initial=0)) // 8))):
        words = text.words[stop - 8 * step - 8] ^ _ZEROS
        words &= _LAST.take(length - 8 * step, mode="clip")
        good &= _not_digits(words) == 0
        total += _number_of(words) * np.uint64(10 ** (8 * step))
    return total, good


def _divide(mantissa: Words, power: Floats) -> tuple[Floats, Bools]:
    """mantissa / power, both at most 10**19, as doubles, and whether each is known to be the nearest one."""
    high = mantissa.astype(np.float64)
    quotient = high / power
    if not (mantissa > _EXACT).any():
        return quotient, np.ones(len(mantissa), dtype=np.bool_)
    # The rest of the division, exact in two doubles: what the mantissa lost, and what the quotient times the power differs by.
    lost = (mantissa - high.astype(np.uint64)).view(np.int64).astype(np.float64)
    product, error = _multiply(quotient, power)
    rest = ((high - product) - error + lost) / power
    nearest = quotient + rest * (1 + 2.0**-40)
    sure = (nearest == quotient + rest * (1 - 2.0**-40)) | (mantissa <= _EXACT)
    return np.where(mantissa > _EXACT, nearest, quotient), sure


def _multiply(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """The rounded product of doubles and what rounding took from it. Source: Dekker 1971."""
    product = one * other
    one_high, one_low = _halves(one)
    other_high, other_low = _halves(other)
    error = ((product - one_high * other_high) - one_low * other_high) - one_high * other_low
    return product, one_low * other_low - error


def _halves(values: Floats) -> tuple[Floats, Floats]:
    scaled = values * 134217729.0
    high = scaled - (scaled - values)
    return high, values - high
