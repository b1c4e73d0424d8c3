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
        const unsigned low =
            (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(some, blank), some));
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

/* Other numbers in every process, the second odd: a file cannot hold ids made to share a hash. No result depends on them. */
extern uint64_t rankwell_seed[2];

/* The two halves of a product of 128 bits, one folded into the other. */
INLINE uint64_t folded(uint64_t one, uint64_t other)
{
#ifdef __SIZEOF_INT128__
    const unsigned __int128 product = (unsigned __int128)one * other;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#elif defined(_M_X64)
    uint64_t high;
    const uint64_t low = _umul128(one, other, &high);
    return low ^ high;
#else
    const uint64_t half = 0xFFFFFFFFu, low = (one & half) * (other & half);
    const uint64_t middle = (one >> 32) * (other & half) + (low >> 32);
    const uint64_t other_middle = (one & half) * (other >> 32) + (middle & half);
    const uint64_t high = (one >> 32) * (other >> 32) + (middle >> 32) + (other_middle >> 32);
    return (other_middle << 32 | (low & half)) ^ high;
#endif
}

/* Two texts of one hash are taken for one only where that does no harm, or once their bytes have been compared. Source of the
   steps: Wang, "wyhash", 2019. */
INLINE uint64_t hash_of(const uint8_t *text, size_t size)
{
    uint64_t hash = rankwell_seed[0] ^ size;
    for (; size > 8; size -= 8, text += 8)
        hash = folded(hash ^ eight(text), rankwell_seed[1]);
    return folded(folded(hash ^ up_to_eight(text, size), rankwell_seed[1]), 0x9E3779B97F4A7C15u);
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
    return size <= 8 ? up_to_eight(one, size) == up_to_eight(other, size)
                     : memcmp(one, other, size) == 0;
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
