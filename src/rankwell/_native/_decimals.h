/* Decimal notation to the nearest double, ties to even, as Python's float reads it.

   Numbers that take more than 64 bits to decide are left to the caller, and so is all other text. Source of the digit steps:
   Lemire, "Number parsing at a gigabyte per second", 2021. */

#ifndef RANKWELL_DECIMALS_H
#define RANKWELL_DECIMALS_H

#include "_bytes.h"

static const double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static const uint64_t WHOLE_TENS[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};

/* 5**n; ten to the power of n is this times 2**n. clang-format would give every number a line of its own. */
/* clang-format off */
static const uint64_t FIVES[] = {
    1u, 5u, 25u, 125u, 625u, 3125u, 15625u, 78125u, 390625u, 1953125u, 9765625u, 48828125u, 244140625u, 1220703125u,
    6103515625u, 30517578125u, 152587890625u, 762939453125u, 3814697265625u, 19073486328125u, 95367431640625u,
    476837158203125u, 2384185791015625u, 11920928955078125u, 59604644775390625u, 298023223876953125u,
    1490116119384765625u, 7450580596923828125u
};
/* clang-format on */

/* The number that eight bytes from 0 to 9 spell, the first of them lowest. */
INLINE uint64_t number_of(uint64_t digits)
{
    digits = digits * 10 + (digits >> 8);
    return ((digits & 0x000000FF000000FFu) * 0x000F424000000064u
            + (digits >> 16 & 0x000000FF000000FFu) * 0x0000271000000001u)
           >> 32;
}

/* Not zero where one of eight bytes is above 9. */
INLINE uint64_t no_digits(uint64_t digits)
{
    return ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
}

/* The `size` digits from here on, 1 to 8, as bytes from 0 to 9, the last of them highest and zeros below. */
INLINE uint64_t digits_at(const uint8_t *text, size_t size)
{
    return (eight(text) ^ 0x3030303030303030u) << (64 - 8 * size);
}

/* whole / 10**tens, correctly rounded, for tens up to 27; 0 where this machine lacks the numbers for it. */
static inline int divide(uint64_t whole, int tens, double *value)
{
#ifdef __SIZEOF_INT128__
    const uint64_t power = FIVES[tens];
    uint64_t bits;
    const int up = __builtin_clzll(whole), high = __builtin_clzll(power);
    const unsigned __int128 dividend = (unsigned __int128)(whole << up) << 63;
    uint64_t quotient = (uint64_t)(dividend / (power << high));
    const int rest = dividend != (unsigned __int128)quotient * (power << high);
    int exponent = high - up - 63 - tens;
    /* 63 or 64 bits; 53 stay, and what falls away says which way to round. */
    const int away = quotient >> 63 ? 11 : 10;
    const uint64_t half = (uint64_t)1 << (away - 1), lost = quotient & (2 * half - 1);
    quotient >>= away;
    exponent += away;
    quotient += lost > half || (lost == half && (rest || (quotient & 1)));
    /* 2**53, where rounding carried that far, adds one to the exponent by itself. */
    bits = ((uint64_t)(exponent + 1023 + 52) << 52) + (quotient - ((uint64_t)1 << 52));
    memcpy(value, &bits, 8);
    return 1;
#else
    (void)whole, (void)tens, (void)value;
    return 0;
#endif
}

/* whole * 10**tens; 0 where that cannot be decided here. */
static inline int scale(uint64_t whole, int64_t tens, double *value)
{
    if (whole == 0)
        *value = 0.0;
    else if (whole <= (uint64_t)1 << 53 && tens >= -22 && tens <= 22)
        *value = tens < 0 ? (double)whole / TENS[-tens] : (double)whole * TENS[tens];
    else
        return tens < 0 && tens >= -27 && divide(whole, (int)-tens, value);
    return 1;
}

/* Digits with or without a dot and an exponent, nineteen of them from the first that is not 0; 0 for anything else. */
static inline int read_any_number(const uint8_t *text, const uint8_t *stop, double *value)
{
    uint64_t whole = 0;
    int64_t tens = 0, exponent = 0;
    int digits = 0, kept = 0, dot = 0;
    for (; text < stop && (*text == '.' || (*text >= '0' && *text <= '9')); text++) {
        if (*text == '.') {
            if (dot++)
                return 0;
            continue;
        }
        digits = 1;
        tens -= dot;
        if (kept == 0 && *text == '0')
            continue;
        if (++kept > 19)
            return 0;
        whole = whole * 10 + (uint64_t)(*text - '0');
    }
    if (text < stop && (*text == 'e' || *text == 'E')) {
        const int negative = ++text < stop && *text == '-';
        if (text < stop && (*text == '-' || *text == '+'))
            text++;
        if (text == stop)
            return 0;
        for (; text < stop && *text >= '0' && *text <= '9'; text++)
            exponent = exponent > 100000 ? exponent : exponent * 10 + (*text - '0');
        exponent = negative ? -exponent : exponent;
    }
    return digits && text == stop && scale(whole, tens + exponent, value);
}

/* The number that these bytes spell; 0 where it is not one of those that are read here. */
INLINE int read_number(const uint8_t *text, size_t size, double *value)
{
    const uint8_t *const stop = text + size;
    const int negative = size && *text == '-';
    text += negative || (size && *text == '+');
    size = (size_t)(stop - text);
    /* The first dot of the next eight bytes. */
    const uint64_t marks = eight(text) ^ 0x2E2E2E2E2E2E2E2Eu;
    const uint64_t dots = (marks - 0x0101010101010101u) & ~marks & 0x8080808080808080u;
    const size_t whole = dots ? lowest_bit(dots) >> 3 : 8, decimals = size - whole - 1;
    if (whole > 0 && whole < size && decimals > 0 && decimals <= 8 && dots) {
        const uint64_t front = digits_at(text, whole), back = digits_at(text + whole + 1, decimals);
        if (!(no_digits(front) | no_digits(back))) {
            *value = (double)(int64_t)(number_of(front) * WHOLE_TENS[decimals] + number_of(back))
                     / TENS[decimals];
            *value = negative ? -*value : *value;
            return 1;
        }
    } else if (whole > 0 && whole < size && decimals > 8 && decimals <= 16 && whole + decimals <= 19
               && dots) {
        const uint64_t front = digits_at(text, whole), middle = digits_at(text + whole + 1, 8);
        const uint64_t back = digits_at(text + whole + 9, decimals - 8);
        if (!(no_digits(front) | no_digits(middle) | no_digits(back))) {
            const uint64_t high = number_of(front) * WHOLE_TENS[8] + number_of(middle);
            if (!scale(high * WHOLE_TENS[decimals - 8] + number_of(back), -(int64_t)decimals,
                       value))
                return 0;
            *value = negative ? -*value : *value;
            return 1;
        }
    }
    if (!read_any_number(text, stop, value))
        return 0;
    *value = negative ? -*value : *value;
    return 1;
}

#endif
