/* Bytes eight and sixty-four at a time, and arrays that grow. Everything here may read SLACK bytes past the end of its input. */

#ifndef RANKWELL_BYTES_H
#define RANKWELL_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define WITH_SSE2 1
#endif
#ifdef _MSC_VER
#include <intrin.h>
#define INLINE static __forceinline
#else
#define INLINE static inline __attribute__((always_inline))
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define UNROLLED _Pragma("GCC unroll 8")
#elif defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll_count(8)")
#else
#define UNROLLED
#endif

enum { SLACK = 64 };

INLINE unsigned lowest_bit(uint64_t word)
{
#ifdef _MSC_VER
    unsigned long place;
    _BitScanForward64(&place, word);
    return place;
#else
    return (unsigned)__builtin_ctzll(word);
#endif
}

/* The next eight bytes, the first of them lowest. */
INLINE uint64_t eight(const uint8_t *text)
{
    uint64_t word;
    memcpy(&word, text, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The first `size` of the next eight bytes, zeros behind them. */
INLINE uint64_t up_to_eight(const uint8_t *text, size_t size)
{
    return size >= 8 ? eight(text) : eight(text) & (((uint64_t)1 << 8 * size) - 1);
}

/* A bit for each of 64 bytes that is a blank or below it: all white space, and control characters. */
INLINE uint64_t blank_or_below(const uint8_t *text)
{
    uint64_t found = 0;
#ifdef WITH_SSE2
    const __m128i blank = _mm_set1_epi8(' ');
    for (int part = 0; part < 4; part++) {
        const __m128i some = _mm_loadu_si128((const __m128i *)(text + 16 * part));
        const unsigned low = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(some, blank), some));
        found |= (uint64_t)low << 16 * part;
    }
#else
    const uint64_t tops = 0x8080808080808080u;
    for (int part = 0; part < 8; part++) {
        const uint64_t some = eight(text + 8 * part);
        const uint64_t low = ~(((some & ~tops) + 0x5F5F5F5F5F5F5F5Fu) | some) & tops;
        found |= ((low >> 7) * 0x0102040810204080u >> 56) << 8 * part;
    }
#endif
    return found;
}

/* White space as in C's isspace, in any locale. */
INLINE int is_white(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Two texts of one hash are taken for one only where that does no harm, or once their bytes have been compared. */
INLINE uint64_t hash_of(const uint8_t *text, size_t size)
{
    uint64_t hash = size * 0x9E3779B97F4A7C15u;
    for (; size > 8; size -= 8, text += 8) {
        hash = (hash ^ eight(text)) * 0xC2B2AE3D27D4EB4Fu;
        hash ^= hash >> 32;
    }
    hash = (hash ^ up_to_eight(text, size)) * 0xC2B2AE3D27D4EB4Fu;
    hash ^= hash >> 32;
    hash *= 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

/* Below, at or above zero as the bytes of one text come before, are, or come after those of the other. */
INLINE int order_of(const uint8_t *one, size_t one_size, const uint8_t *other, size_t other_size)
{
    const size_t shared = one_size < other_size ? one_size : other_size;
    const int difference = shared ? memcmp(one, other, shared) : 0;
    return difference ? difference : (one_size > other_size) - (one_size < other_size);
}

INLINE int same_bytes(const uint8_t *one, const uint8_t *other, size_t size)
{
    return size <= 8 ? up_to_eight(one, size) == up_to_eight(other, size) : memcmp(one, other, size) == 0;
}

/* Makes room for `wanted` elements of a size; 0 where there is no memory, and then nothing has changed. */
static inline int make_room(void *room, size_t *has, size_t wanted, size_t each)
{
    void *old, *larger;
    size_t size = *has ? *has : 256;
    if (wanted <= *has)
        return 1;
    while (size < wanted)
        size *= 2;
    memcpy(&old, room, sizeof old);
    if (size > SIZE_MAX / 2 / each || !(larger = realloc(old, size * each)))
        return 0;
    memcpy(room, &larger, sizeof larger);
    *has = size;
    return 1;
}

#endif
