/* SPDX-License-Identifier: BSD-3-Clause
 * bits.h: bit lengths, counts, rotations, zigzag and IEEE fields, for C and CUDA. */
#ifndef H5TWIN_COMMON_BITS_H
#define H5TWIN_COMMON_BITS_H

#include "hd.h"

#include <stdint.h>
#include <string.h>
#ifdef __LZCNT__
#    include <immintrin.h>
#endif

/* Position of the highest set bit plus one; 0 for 0. */
H5TWIN_HD unsigned
h5twin_bit_length32(uint32_t word)
{
#ifdef __CUDA_ARCH__
    return 32u - (unsigned)__clz((int)word);
#else
    return word == 0 ? 0u : 32u - (unsigned)__builtin_clz(word);
#endif
}

H5TWIN_HD unsigned
h5twin_bit_length64(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return 64u - (unsigned)__clzll((long long)word);
#elif defined(__LZCNT__)
    return 64u - (unsigned)_lzcnt_u64(word); /* defined for 0, as bsr is not */
#else
    return word == 0 ? 0u : 64u - (unsigned)__builtin_clzll(word);
#endif
}

/* Zeros above the highest set bit; word must not be 0. Unlike h5twin_bit_length64 in a loop that
 * compilers put into vectors. */
H5TWIN_HD unsigned
h5twin_leading_zeros64(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__clzll((long long)word);
#else
    return (unsigned)__builtin_clzll(word);
#endif
}

H5TWIN_HD unsigned
h5twin_leading_zeros32(uint32_t word)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__clz((int)word);
#else
    return (unsigned)__builtin_clz(word);
#endif
}

/* Index of the lowest set bit; word must not be 0. */
H5TWIN_HD unsigned
h5twin_trailing_zeros64(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__ffsll((long long)word) - 1u;
#else
    return (unsigned)__builtin_ctzll(word);
#endif
}

/* Number of set bits. */
H5TWIN_HD unsigned
h5twin_popcount32(uint32_t word)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__popc(word);
#else
    return (unsigned)__builtin_popcount(word);
#endif
}

H5TWIN_HD unsigned
h5twin_popcount64(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__popcll(word);
#else
    return (unsigned)__builtin_popcountll(word);
#endif
}

/* Bit k of the result is bit 31 - k (63 - k) of the word. */
H5TWIN_HD uint32_t
h5twin_reverse_bits32(uint32_t word)
{
    word = (word >> 1 & 0x55555555u) | (word & 0x55555555u) << 1;
    word = (word >> 2 & 0x33333333u) | (word & 0x33333333u) << 2;
    word = (word >> 4 & 0x0F0F0F0Fu) | (word & 0x0F0F0F0Fu) << 4;
    word = (word >> 8 & 0x00FF00FFu) | (word & 0x00FF00FFu) << 8;
    return word >> 16 | word << 16;
}

H5TWIN_HD uint64_t
h5twin_reverse_bits64(uint64_t word)
{
    return (uint64_t)h5twin_reverse_bits32((uint32_t)word) << 32 |
           h5twin_reverse_bits32((uint32_t)(word >> 32));
}

H5TWIN_HD uint32_t
h5twin_rotate_left32(uint32_t word, unsigned count)
{
    return (word << (count & 31u)) | (word >> (-count & 31u));
}

H5TWIN_HD uint64_t
h5twin_rotate_left64(uint64_t word, unsigned count)
{
    return (word << (count & 63u)) | (word >> (-count & 63u));
}

H5TWIN_HD uint64_t
h5twin_rotate_right64(uint64_t word, unsigned count)
{
    return h5twin_rotate_left64(word, 0u - count);
}

/* The upper half of a 128-bit product, in steps that compilers put into vectors. */
H5TWIN_HD uint64_t
h5twin_multiply_high64(uint64_t a, uint64_t b)
{
    const uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    const uint64_t middle = a_high * b_low + ((a_low * b_low) >> 32);
    const uint64_t other = a_low * b_high + (uint32_t)middle;
    return a_high * b_high + (middle >> 32) + (other >> 32);
}

/* Zigzag of a two's complement number: 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
H5TWIN_HD uint32_t
h5twin_zigzag32(uint32_t word)
{
    return (word << 1) ^ (0u - (word >> 31));
}

H5TWIN_HD uint32_t
h5twin_unzigzag32(uint32_t code)
{
    return (code >> 1) ^ (0u - (code & 1u));
}

H5TWIN_HD uint64_t
h5twin_zigzag64(uint64_t word)
{
    return (word << 1) ^ (UINT64_C(0) - (word >> 63));
}

H5TWIN_HD uint64_t
h5twin_unzigzag64(uint64_t code)
{
    return (code >> 1) ^ (UINT64_C(0) - (code & 1u));
}

/* The bits of an IEEE number and back. */
H5TWIN_HD uint32_t
h5twin_bits_of_float(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

H5TWIN_HD float
h5twin_float_of_bits(uint32_t word)
{
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

H5TWIN_HD uint64_t
h5twin_bits_of_double(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

H5TWIN_HD double
h5twin_double_of_bits(uint64_t word)
{
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* The bits of a float as those of the same double. Integers, as the value conversion obeys a
 * caller's wish to take subnormal numbers as zero. */
H5TWIN_HD uint64_t
h5twin_widen_float_bits(uint32_t word)
{
    const uint64_t sign = (uint64_t)(word >> 31) << 63;
    const uint32_t field = (word >> 23) & 0xFFu, mantissa = word & 0x007FFFFFu;
    if (field == 0) {
        const unsigned length = h5twin_bit_length32(mantissa); /* the number is mantissa 2^-149 */
        return mantissa == 0
                   ? sign
                   : sign | (uint64_t)(length + (1023u - 150u)) << 52 |
                         ((uint64_t)mantissa << (53u - length) & UINT64_C(0x000FFFFFFFFFFFFF));
    }
    const uint64_t wide_field = field == 0xFFu ? 0x7FFu : field + (1023u - 127u);
    return sign | wide_field << 52 | (uint64_t)mantissa << 29;
}

/* The bits of the float nearest to a double, ties to even; a NaN stays one. In any rounding mode.
 */
H5TWIN_HD uint32_t
h5twin_narrow_double_bits(uint64_t word)
{
    const uint32_t sign = (uint32_t)(word >> 63) << 31;
    const uint64_t positive = word & UINT64_C(0x7FFFFFFFFFFFFFFF);
    const uint32_t field = (uint32_t)(positive >> 52);
    if (field == 0x7FFu && positive << 12 != 0) {
        return sign | 0x7FC00000u;
    }
    if (field > 1023u + 127u) {
        return sign | 0x7F800000u;
    }
    /* The significand, cut after what a float of this size keeps: 29 bits less, or more of them
     * below its normal numbers. The float's field is added, so that rounding up carries into it. */
    const uint32_t below = field > 1023u - 127u ? 0u : 1023u - 126u - field;
    const uint64_t significand =
        (positive & UINT64_C(0x000FFFFFFFFFFFFF)) | UINT64_C(0x0010000000000000);
    const unsigned cut = 29u + below;
    if (cut > 54) {
        return sign;
    }
    const uint64_t kept = significand >> cut, rest = significand & ((UINT64_C(1) << cut) - 1);
    const uint64_t half = UINT64_C(1) << (cut - 1);
    const uint32_t up = rest > half || (rest == half && (kept & 1u) != 0) ? 1u : 0u;
    const uint32_t base = below != 0 ? 0u : (field - (1023u - 127u) - 1u) << 23;
    return sign | (base + (uint32_t)kept + up);
}

#endif
