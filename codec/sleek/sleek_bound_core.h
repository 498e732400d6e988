/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_bound_core.h: exponent fields of bounds, and missing data, for C and CUDA; FORMAT.md
 * sections 1 and 6.
 *
 * Products and logarithms are in integer arithmetic, so that no math library is asked. */
#ifndef H5TWIN_SLEEK_BOUND_CORE_H
#define H5TWIN_SLEEK_BOUND_CORE_H

#include "h5twin.h"

#include "../codec.h"
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
    const uint64_t product = h5twin_multiply_high64(
        h5twin_sleek_significand(h5twin_bits_of_double(factor), &factor_exponent), difference);
    /* The product of the significands is 2^126 or more, or 2^127 or more. */
    *log2 = 126 + (int)(product >> 63) + factor_exponent + difference_exponent;
    return 1;
}

/* A word of either size as the bits of a double. */
H5TWIN_HD uint64_t
h5twin_sleek_number(uint64_t word, uint32_t word_size)
{
    return word_size == 4 ? h5twin_widen_float_bits((uint32_t)word) : word;
}

/* ---- fixed points of the quantizer ---- */

/* The largest usable exponent at which coding gives back this very word; 0 if there is none (-0,
 * subnormal numbers). At all smaller ones it does, too. */
H5TWIN_HD uint32_t
h5twin_sleek_fixed_limit(uint64_t word, uint32_t word_size)
{
    const uint32_t mantissa_bits = word_size == 4 ? SLEEK_MANTISSA32 : SLEEK_MANTISSA64;
    const uint32_t infinite_field = word_size == 4 ? 0xFFu : 0x7FFu;
    const uint64_t implied = UINT64_C(1) << mantissa_bits;
    const uint32_t field = (uint32_t)(word >> mantissa_bits) & infinite_field;
    const uint32_t largest = h5twin_sleek_largest_field(word_size);
    if (word == 0 || field == infinite_field) {
        return largest;
    }
    /* The lowest bit of the significand must be worth twice the bound, or more. */
    const uint64_t significand = (word & (implied - 1)) | implied;
    const uint32_t limit = field + h5twin_trailing_zeros64(significand);
    if (field == 0 || limit <= mantissa_bits + 1u) {
        return 0;
    }
    return limit - (mantissa_bits + 1u) < largest ? limit - (mantissa_bits + 1u) : largest;
}

/* Whether coding a word of data changes it by no more than the sign of 0. */
H5TWIN_HD int
h5twin_sleek_is_fixed(uint64_t word, uint32_t word_size, uint32_t exponent)
{
    return word << (word_size == 4 ? 33 : 1) == 0 ||
           h5twin_sleek_fixed_limit(word, word_size) >= exponent;
}

/* ---- missing data that somebody named or declared ---- */

#define SLEEK_MARKS 2
struct h5twin_sleek_marks {
    uint64_t words[SLEEK_MARKS];
    uint32_t limits[SLEEK_MARKS]; /* fixed_limit of each */
    uint32_t count;
};

H5TWIN_HD struct h5twin_sleek_marks
h5twin_sleek_marks_of(const struct h5twin_job *job)
{
    const uint32_t word_size = (uint32_t)job->word_size;
    struct h5twin_sleek_marks marks;
    marks.words[0] = job->fill_bits;
    marks.words[1] = job->second_fill_bits;
    marks.limits[0] = h5twin_sleek_fixed_limit(job->fill_bits, word_size);
    marks.limits[1] = h5twin_sleek_fixed_limit(job->second_fill_bits, word_size);
    marks.count = (job->has_fill ? 1u : 0u) + (job->has_second_fill ? 1u : 0u);
    return marks;
}

/* The largest exponent up to `most` at which these marks, bit i for number i, come back. */
H5TWIN_HD uint32_t
h5twin_sleek_limit_of(const struct h5twin_sleek_marks *marks, uint32_t found, uint32_t most)
{
    for (uint32_t i = 0; i < marks->count; i++) {
        if ((found >> i & 1u) != 0 && marks->limits[i] < most) {
            most = marks->limits[i];
        }
    }
    return most;
}

/* ---- the choice of a chunk's exponent, FORMAT.md section 6 ---- */

/* Smallest and largest one of some finite words; none has been seen if `any` is 0. */
struct h5twin_sleek_range {
    uint64_t min, max; /* words */
    int any;
};

/* What a chunk's words say. Ignored ones are missing data and padding. */
struct h5twin_sleek_facts {
    uint32_t found_marks; /* bit i: mark number i occurs */
    uint64_t word_count;
    struct h5twin_sleek_range range; /* of the finite words that are not ignored */
    /* If the word of largest magnitude among them may be missing data, too, h5twin_sleek_extreme():
     * how often it occurs, and the range of the rest. Else extreme_count is 0. */
    uint64_t extreme;
    uint64_t extreme_count;
    struct h5twin_sleek_range rest;
};

H5TWIN_HD uint64_t
h5twin_sleek_magnitude(uint64_t word, uint32_t word_size)
{
    return word & (word_size == 4 ? UINT64_C(0x7FFFFFFF) : UINT64_C(0x7FFFFFFFFFFFFFFF));
}

/* The word of largest magnitude in a range that has any. */
H5TWIN_HD uint64_t
h5twin_sleek_extreme(const struct h5twin_sleek_range *range, uint32_t word_size)
{
    return h5twin_sleek_magnitude(range->min, word_size) >
                   h5twin_sleek_magnitude(range->max, word_size)
               ? range->min
               : range->max;
}

/* The magnitude of a word over 2^log2; 0 if that is no normal number. */
H5TWIN_HD uint64_t
h5twin_sleek_part(uint64_t word, uint32_t word_size, uint32_t log2)
{
    const uint64_t one = UINT64_C(1)
                         << (word_size == 4 ? SLEEK_MANTISSA32 : SLEEK_MANTISSA64); /* exponent */
    const uint64_t magnitude = h5twin_sleek_magnitude(word, word_size);
    return magnitude >= (log2 + 1u) * one ? magnitude - log2 * one : 0;
}

/* Words of this magnitude or more, other than the extreme one, say that it is an ordinary value,
 * and cannot have been taken for missing data before decoding moved them by up to the bound, which
 * is at most twice the largest of them. No finite word has it if it is 0. */
H5TWIN_HD uint64_t
h5twin_sleek_ordinary(uint64_t extreme, uint32_t word_size)
{
    return h5twin_sleek_part(extreme, word_size, 2);
}

/* The exponent of factor times the range; 0 if there is no range. */
H5TWIN_HD uint32_t
h5twin_sleek_range_exponent(double factor, const struct h5twin_sleek_range *range,
                            uint32_t word_size)
{
    int log2;
    if (!range->any ||
        !h5twin_sleek_log2_of_product(factor, h5twin_sleek_number(range->min, word_size),
                                      h5twin_sleek_number(range->max, word_size), &log2)) {
        return 0;
    }
    return h5twin_sleek_field_of_log2(log2, word_size);
}

/* The candidates for a chunk's exponent, falling; 0, without loss, can only be the first or the
 * last. The first at which no block changes is to be
 * taken, and the first of all if there is none. */
#define SLEEK_CANDIDATES 4
struct h5twin_sleek_choice {
    uint32_t exponents[SLEEK_CANDIDATES];
    uint32_t count; /* at least 1 */
};

H5TWIN_HD void
h5twin_sleek_add_candidate(struct h5twin_sleek_choice *choice, uint32_t exponent)
{
    if (choice->count == 0 || (exponent != 0 && exponent < choice->exponents[choice->count - 1])) {
        choice->exponents[choice->count++] = exponent;
    }
}

/* An exponent, and the one below: quantizing moves the ends of a range by up to the bound, so that
 * of decoded data may lie just above a power of two where the original's lay just below. */
H5TWIN_HD void
h5twin_sleek_add_candidates(struct h5twin_sleek_choice *choice, uint32_t exponent)
{
    h5twin_sleek_add_candidate(choice, exponent);
    if (exponent > 1) {
        h5twin_sleek_add_candidate(choice, exponent - 1);
    }
}

H5TWIN_HD uint32_t
h5twin_sleek_smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Range-relative. */
H5TWIN_HD struct h5twin_sleek_choice
h5twin_sleek_choose_relative(double error_bound, uint32_t word_size,
                             const struct h5twin_sleek_marks *marks,
                             const struct h5twin_sleek_facts *facts)
{
    struct h5twin_sleek_choice choice = {{0, 0, 0, 0}, 0};
    /* A bound of the whole range or more makes no sense of its own; 1 keeps the guarantee. */
    const double factor =
        h5twin_bits_of_double(error_bound) < h5twin_bits_of_double(1.0) ? error_bound : 1.0;
    const uint32_t most =
        h5twin_sleek_limit_of(marks, facts->found_marks, h5twin_sleek_largest_field(word_size));
    const uint32_t plain =
        h5twin_sleek_smaller(h5twin_sleek_range_exponent(factor, &facts->range, word_size), most);
    const uint64_t others =
        facts->rest.any
            ? h5twin_sleek_magnitude(h5twin_sleek_extreme(&facts->rest, word_size), word_size)
            : UINT64_MAX;
    if (facts->extreme_count <= facts->word_count / 64 ||
        others >= h5twin_sleek_ordinary(facts->extreme, word_size)) {
        h5twin_sleek_add_candidates(&choice, plain);
        return choice;
    }
    const uint32_t without = h5twin_sleek_smaller(
        h5twin_sleek_smaller(h5twin_sleek_range_exponent(factor, &facts->rest, word_size), most),
        h5twin_sleek_fixed_limit(facts->extreme, word_size));
    if (others >= h5twin_sleek_part(facts->extreme, word_size, 4)) { /* but perhaps it was one */
        h5twin_sleek_add_candidates(&choice, plain);
    }
    h5twin_sleek_add_candidates(&choice, without);
    if (choice.exponents[0] != 0 &&
        h5twin_sleek_range_exponent(1.0, &facts->rest, word_size) == 0) {
        choice.exponents[choice.count++] = 0; /* all others may have become this one value */
    }
    return choice;
}

/* The exponent of chunks without marks. Where a mark needs a smaller one, values that were rounded
 * beside it are rounded again once it is overwritten: half the bound then leaves room for all such
 * roundings, as each exponent is smaller than the next, 1/2 + 1/4 + ... < 1. */
H5TWIN_HD uint32_t
h5twin_sleek_exponent_beside(const struct h5twin_sleek_marks *marks, uint32_t exponent)
{
    for (uint32_t i = 0; i < marks->count; i++) {
        if (marks->limits[i] != 0 && marks->limits[i] < exponent) {
            return exponent - 1; /* at least 1 */
        }
    }
    return exponent;
}

/* Absolute: a chunk with missing data takes the grid that it lies on, and values that another chunk
 * left on the grid of other marks keep it. */
H5TWIN_HD struct h5twin_sleek_choice
h5twin_sleek_choose_absolute(uint32_t exponent, const struct h5twin_sleek_marks *marks,
                             uint32_t found_marks)
{
    struct h5twin_sleek_choice choice = {{0, 0, 0, 0}, 0};
    const uint32_t most = h5twin_sleek_exponent_beside(marks, exponent);
    const uint32_t all = h5twin_sleek_limit_of(marks, 3u, most);
    h5twin_sleek_add_candidate(&choice, h5twin_sleek_limit_of(marks, found_marks, most));
    for (uint32_t i = 0; i < marks->count; i++) {
        if (marks->limits[i] != all) { /* the larger one of two comes first */
            h5twin_sleek_add_candidate(&choice, marks->limits[i]);
        }
    }
    h5twin_sleek_add_candidate(&choice, all);
    return choice;
}

#endif
