/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_bound.c: see sleek_bound.h. */
#include "sleek_bound.h"

#include "../common/bytes.h"
#include "sleek_core.h"

#include <math.h>
#include <stdbool.h>

unsigned
h5twin_sleek_largest_exponent(unsigned word_size)
{
    /* The threshold, m + 1 above, must stay below the exponent field of infinity. */
    return word_size == 4 ? 254u - (SLEEK_MANTISSA32 + 1u) : 2046u - (SLEEK_MANTISSA64 + 1u);
}

/* Field for the power of two 2^log2. */
static unsigned
field_of_log2(int log2, unsigned word_size)
{
    const int field = log2 + (word_size == 4 ? 127 : 1023);
    const unsigned largest = h5twin_sleek_largest_exponent(word_size);
    if (field < 1) {
        return 0;
    }
    return (unsigned)field > largest ? largest : (unsigned)field;
}

unsigned
h5twin_sleek_bound_exponent(double error_bound, unsigned word_size)
{
    return field_of_log2(ilogb(error_bound), word_size);
}

/* Smallest and largest finite value; false if there is none. */
static bool
finite_range(const struct h5twin_sleek_maps *maps, const uint8_t *values, size_t value_count,
             unsigned word_size, double *min, double *max)
{
    if (word_size == 4) {
        int32_t low, high;
        maps->finite_range32(values, value_count, &low, &high);
        *min = (double)h5twin_float_of_bits((uint32_t)h5twin_sleek_key32((uint32_t)low));
        *max = (double)h5twin_float_of_bits((uint32_t)h5twin_sleek_key32((uint32_t)high));
        return low <= high;
    }
    int64_t low, high;
    maps->finite_range64(values, value_count, &low, &high);
    *min = h5twin_double_of_bits((uint64_t)h5twin_sleek_key64((uint64_t)low));
    *max = h5twin_double_of_bits((uint64_t)h5twin_sleek_key64((uint64_t)high));
    return low <= high;
}

/* Whether coding with this exponent leaves every finite value as it is (but for the sign of 0). */
static bool
is_fixed_point(const uint8_t *values, size_t value_count, unsigned word_size, unsigned exponent)
{
    for (size_t i = 0; i < value_count; i++) {
        if (word_size == 4) {
            const uint32_t word = h5twin_load32(values + 4 * i);
            const uint32_t code = h5twin_sleek_lossy_code32(word, exponent);
            if (h5twin_sleek_lossy_word32(code, exponent) != word && word << 1 != 0) {
                return false;
            }
        } else {
            const uint64_t word = h5twin_load64(values + 8 * i);
            const uint64_t code = h5twin_sleek_lossy_code64(word, exponent);
            if (h5twin_sleek_lossy_word64(code, exponent) != word && word << 1 != 0) {
                return false;
            }
        }
    }
    return true;
}

/* floor(log2(factor * (max - min))) in exact arithmetic; false if the range is 0. */
static bool
log2_of_product(double factor, double min, double max, int *log2)
{
    /* Halves, so that the difference of two finite values never overflows. Halving is exact but
     * for odd subnormals, whose range is far below any bound that can be used. */
    const double low = 0.5 * min, high = 0.5 * max;
    double difference = high - low;
    /* The rounding error of the difference, exactly (Knuth's TwoSum). */
    const double part = difference - high;
    const double error = (high - (difference - part)) + (-low - part);
    if (error < 0) {
        difference = nextafter(difference, 0);
    }
    if (!(difference > 0)) {
        return false;
    }
    /* Significands in [0.5, 1), so that their product neither overflows nor underflows. */
    int factor_exponent, difference_exponent;
    const double factor_part = frexp(factor, &factor_exponent);
    const double difference_part = frexp(difference, &difference_exponent);
    double product = factor_part * difference_part;
    if (fma(factor_part, difference_part, -product) < 0) {
        product = nextafter(product, 0);
    }
    *log2 = ilogb(product) + factor_exponent + difference_exponent + 1; /* + 1 for the halves */
    return true;
}

unsigned
h5twin_sleek_noa_exponent(const struct h5twin_sleek_maps *maps, double error_bound,
                          unsigned word_size, const uint8_t *values, size_t value_count)
{
    double min, max;
    int log2;
    /* A bound of the whole range or more makes no sense of its own; 1 keeps the guarantee. */
    const double factor = error_bound < 1 ? error_bound : 1;
    if (!finite_range(maps, values, value_count, word_size, &min, &max) ||
        !log2_of_product(factor, min, max, &log2)) {
        return 0;
    }
    const unsigned exponent = field_of_log2(log2, word_size);
    /* Quantizing moves the extremes by up to the bound, so the range of decoded data may lie just
     * above a power of two where the original's lay just below. Then this exponent is one too
     * large: the data are fixed points one lower. Other data fail this test at their first values.
     */
    if (exponent > 1 && !is_fixed_point(values, value_count, word_size, exponent) &&
        is_fixed_point(values, value_count, word_size, exponent - 1)) {
        return exponent - 1;
    }
    return exponent;
}
