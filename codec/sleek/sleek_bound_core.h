/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_bound_core.h: exponent fields of bounds, for C and CUDA; FORMAT.md sections 1 and 6.
 *
 * Products and logarithms are in integer arithmetic, so that no math library is asked. */
#ifndef H5TWIN_SLEEK_BOUND_CORE_H
#define H5TWIN_SLEEK_BOUND_CORE_H

#include "h5twin.h"

#include "../common/bits.h"
#include "sleek_core.h"

/* The threshold, m + 1 above, must stay below the exponent field of infinity. */
H5TWIN_HD uint32_t
h5twin_sleek_largest_field(uint32_t word_size)
{
    return word_size == 4 ? 254u - (SLEEK_MANTISSA32 + 1u) : 2046u - (SLEEK_MANTISSA64 + 1u);
}

/* Field for the power of two 2^log2: 0 if it is too small, the largest one if too big. */
H5TWIN_HD uint32_t
h5twin_sleek_field_of_log2(int log2, uint32_t word_size)
{
    const int field = log2 + (word_size == 4 ? 127 : 1023);
    const uint32_t largest = h5twin_sleek_largest_field(word_size);
    if (field < 1) {
        return 0;
    }
    return (uint32_t)field > largest ? largest : (uint32_t)field;
}

H5TWIN_HD uint32_t
h5twin_sleek_make_parameter(uint32_t mode, uint32_t bound_exponent)
{
    return bound_exponent == 0 ? 0u : mode | (bound_exponent << 8);
}

H5TWIN_HD int
h5twin_sleek_parameter_is_valid(uint32_t parameter, uint32_t word_size, uint32_t is_float)
{
    const uint32_t mode = parameter & 0xFFu;
    const uint32_t bound_exponent = parameter >> 8;
    if (mode == H5TWIN_LOSSLESS) {
        return bound_exponent == 0;
    }
    return (mode == H5TWIN_ABS || mode == H5TWIN_NOA) && bound_exponent != 0 &&
           bound_exponent <= h5twin_sleek_largest_field(word_size) && is_float;
}

/* A finite number other than 0 without its sign as significand times 2^*exponent; bit 63 of the
 * significand is set. Takes the bits of a double. */
H5TWIN_HD uint64_t
h5twin_sleek_significand(uint64_t bits, int *exponent)
{
    const uint64_t field = (bits >> 52) & 0x7FFu;
    const uint64_t mantissa = bits & UINT64_C(0x000FFFFFFFFFFFFF);
    const uint64_t significand = field == 0 ? mantissa : mantissa | UINT64_C(0x0010000000000000);
    const unsigned shift = 64u - h5twin_bit_length64(significand);
    *exponent = (field == 0 ? 1 : (int)field) - 1075 - (int)shift;
    return significand << shift;
}

/* floor(log2(number)) of a finite positive number. */
H5TWIN_HD int
h5twin_sleek_log2(double number)
{
    int exponent;
    h5twin_sleek_significand(h5twin_bits_of_double(number), &exponent);
    return exponent + 63;
}

/* The upper half of a 128-bit product. */
H5TWIN_HD uint64_t
h5twin_sleek_multiply_high(uint64_t a, uint64_t b)
{
    const uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    const uint64_t middle = a_high * b_low + ((a_low * b_low) >> 32);
    const uint64_t other = a_low * b_high + (uint32_t)middle;
    return a_high * b_high + (middle >> 32) + (other >> 32);
}

/* max - min of finite numbers min < max, given as the bits of doubles, rounded down to 53 bits:
 * significand times 2^*exponent, bit 63 of the significand is set. 0 if there is no difference. */
H5TWIN_HD uint64_t
h5twin_sleek_difference(uint64_t min, uint64_t max, int *exponent)
{
    const uint64_t positive = UINT64_C(0x7FFFFFFFFFFFFFFF);
    const int same_sign = (min >> 63) == (max >> 63);
    const int max_is_larger = (max & positive) >= (min & positive);
    const uint64_t large = (max_is_larger ? max : min) & positive;
    const uint64_t small = (max_is_larger ? min : max) & positive;
    int large_exponent, small_exponent;
    if (large == 0) {
        return 0;
    }
    uint64_t sum = h5twin_sleek_significand(large, &large_exponent);
    if (small != 0) {
        /* Both with a free bit above, and ten below the 53 of a significand: what is shifted out
         * there is less than one unit, and if it was taken off, one unit is. */
        const uint64_t small_sum = h5twin_sleek_significand(small, &small_exponent) >> 1;
        const int distance = large_exponent - small_exponent;
        const uint64_t aligned = distance < 64 ? small_sum >> distance : 0;
        const uint64_t lost = distance < 64 ? small_sum - (aligned << distance) : 1;
        sum >>= 1;
        large_exponent++;
        sum = same_sign ? sum - aligned - (lost != 0 ? 1u : 0u) : sum + aligned;
    }
    if (sum == 0) {
        return 0;
    }
    const unsigned shift = 64u - h5twin_bit_length64(sum);
    *exponent = large_exponent - (int)shift;
    return sum << shift & ~UINT64_C(0x7FF);
}

/* floor(log2(factor * (max - min))), where the product is never rounded up, for finite numbers
 * min <= max, given as the bits of doubles, and a positive factor; 0 if the range is 0, else 1.
 * In integers: no caller's rounding mode or flushing of subnormals has a say. */
H5TWIN_HD int
h5twin_sleek_log2_of_product(double factor, uint64_t min, uint64_t max, int *log2)
{
    int factor_exponent, difference_exponent;
    const uint64_t difference = h5twin_sleek_difference(min, max, &difference_exponent);
    if (difference == 0) {
        return 0;
    }
    const uint64_t product = h5twin_sleek_multiply_high(
        h5twin_sleek_significand(h5twin_bits_of_double(factor), &factor_exponent), difference);
    /* The product of the significands is 2^126 or more, or 2^127 or more. */
    *log2 = 126 + (int)(product >> 63) + factor_exponent + difference_exponent;
    return 1;
}

/* Whether coding a finite word with this exponent leaves it as it is (but for the sign of 0). */
H5TWIN_HD int
h5twin_sleek_is_fixed32(uint32_t word, uint32_t exponent)
{
    const uint32_t code = h5twin_sleek_lossy_code32(word, exponent);
    return h5twin_sleek_lossy_word32(code, exponent) == word || word << 1 == 0;
}

H5TWIN_HD int
h5twin_sleek_is_fixed64(uint64_t word, uint32_t exponent)
{
    const uint64_t code = h5twin_sleek_lossy_code64(word, exponent);
    return h5twin_sleek_lossy_word64(code, exponent) == word || word << 1 == 0;
}

#endif
