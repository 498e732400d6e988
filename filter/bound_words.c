/* SPDX-License-Identifier: BSD-3-Clause
 * bound_words.c: see bound_words.h. */
#include "bound_words.h"

#include "common/bits.h"
#include "common/environment.h"
#include "common/number.h"

#include <float.h>
#include <stdint.h>
#include <stdio.h>

#define SHORT_DIGITS   4
#define LEAST_MEANT    1e-30 /* what people choose as a bound lies between these two */
#define GREATEST_MEANT 1e30

static double
swap_words(double value)
{
    const uint64_t bits = h5twin_bits_of_double(value);
    return h5twin_double_of_bits((bits << 32) | (bits >> 32));
}

static bool
is_short_decimal(double value)
{
    char text[H5TWIN_NUMBER_TEXT];
    h5twin_number_write(text, value); /* the fewest digits */
    unsigned digits = 0;
    for (const char *at = text; *at != '\0' && *at != 'e'; at++) {
        digits += *at != '.' && (*at != '0' || digits > 0) ? 1 : 0;
    }
    return digits <= SHORT_DIGITS;
}

/* NaN and negative numbers are not in the range. */
static bool
may_be_meant(double value)
{
    return value >= LEAST_MEANT && value <= GREATEST_MEANT && is_short_decimal(value);
}

static bool
is_doubtful(double error_bound, char *sentence, size_t capacity)
{
    const double swapped = swap_words(error_bound);
    const bool is_subnormal = error_bound < DBL_MIN;
    const bool is_swapped = may_be_meant(swapped);
    if (!is_subnormal && !is_swapped) {
        return false;
    }
    char read_as[H5TWIN_NUMBER_TEXT], other[H5TWIN_NUMBER_TEXT];
    h5twin_number_write(read_as, error_bound);
    h5twin_number_write(other, swapped);
    if (is_swapped) {
        snprintf(sentence, capacity,
                 "The words of the error bound, values 2 and 3, read as %s, but in the other order "
                 "as %s: give the low word of the double first, then the high word, or a bound of "
                 "at most %d digits if the first was meant.",
                 read_as, other, SHORT_DIGITS);
    } else {
        snprintf(sentence, capacity,
                 "The words of the error bound, values 2 and 3, read as %s, which is too small to "
                 "be meant: give the low word of the double first, then the high word, or no "
                 "bound for lossless.",
                 read_as);
    }
    return true;
}

bool
h5twin_bound_is_doubtful(double error_bound, char *sentence, size_t capacity)
{
    struct h5twin_environment environment; /* comparisons with NaN raise flags, or trap */
    h5twin_environment_hold(&environment);
    const bool doubtful = is_doubtful(error_bound, sentence, capacity);
    h5twin_environment_release(&environment);
    return doubtful;
}
