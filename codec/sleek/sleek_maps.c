/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_maps.c: the loops of sleek_maps.h, for the compiler to vectorize, once for each
 * instruction set.
 *
 * The lossy maps below are those of sleek_core.h, done by floating-point instructions where these
 * vectorize and variable shifts or bit lengths do not; test_sleek_maps compares the two. Words of
 * no use (Inf, NaN, verbatim or tiny values) are masked to 0 before they meet an instruction that
 * could raise a floating-point exception but "inexact": programs that trap those must survive.
 * Every product is exact, so the rounding mode does not matter either. */
#include "sleek_maps.h"

#include "../common/bytes.h"
#include "sleek_core.h"

#include <stdbool.h>

#ifdef __AVX2__
#    define VARIABLE_SHIFTS /* of vectors: the formula of sleek_core.h is the fastest */
#endif

static uint32_t
lossless_codes32(uint32_t *restrict codes, const uint8_t *restrict words)
{
    uint32_t any = 0;
    for (unsigned i = 0; i < SLEEK_CODES32; i++) {
        codes[i] = h5twin_sleek_lossless_code32(h5twin_load32(words + 4 * i));
        any |= codes[i];
    }
    return any;
}

static uint64_t
lossless_codes64(uint64_t *restrict codes, const uint8_t *restrict words)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < SLEEK_CODES64; i++) {
        codes[i] = h5twin_sleek_lossless_code64(h5twin_load64(words + 8 * i));
        any |= codes[i];
    }
    return any;
}

static void
lossless_words32(uint8_t *restrict words, const uint32_t *restrict codes)
{
    for (unsigned i = 0; i < SLEEK_CODES32; i++) {
        h5twin_store32(words + 4 * i, h5twin_sleek_lossless_word32(codes[i]));
    }
}

static void
lossless_words64(uint8_t *restrict words, const uint64_t *restrict codes)
{
    for (unsigned i = 0; i < SLEEK_CODES64; i++) {
        h5twin_store64(words + 8 * i, h5twin_sleek_lossless_word64(codes[i]));
    }
}

#ifdef VARIABLE_SHIFTS
static uint32_t
lossy_codes32(uint32_t *restrict codes, const uint8_t *restrict words, uint32_t bound_exponent)
{
    uint32_t any = 0;
    for (unsigned i = 0; i < SLEEK_CODES32; i++) {
        codes[i] = h5twin_sleek_lossy_code32(h5twin_load32(words + 4 * i), bound_exponent);
        any |= codes[i];
    }
    return any;
}
#else
static uint32_t
lossy_codes32(uint32_t *restrict codes, const uint8_t *restrict words, uint32_t bound_exponent)
{
    const int32_t smallest = (int32_t)(bound_exponent << 23);
    const int32_t threshold = (int32_t)((bound_exponent + SLEEK_MANTISSA32 + 1u) << 23);
    const uint32_t offset = (uint32_t)threshold - 0x00800000u;
    const float scale = h5twin_float_of_bits((253u - bound_exponent) << 23); /* 1 / (2 bound) */
    uint32_t any = 0;
    for (unsigned i = 0; i < SLEEK_CODES32; i++) {
        const uint32_t word = h5twin_load32(words + 4 * i);
        const int32_t positive = (int32_t)(word & 0x7FFFFFFFu);
        const uint32_t is_verbatim = 0u - (uint32_t)(positive >= threshold);
        const uint32_t is_tiny = 0u - (uint32_t)(positive < smallest);
        const float quotient =
            h5twin_float_of_bits((uint32_t)positive & ~(is_verbatim | is_tiny)) * scale;
        const int32_t whole = (int32_t)quotient;
        const uint32_t rounded = (uint32_t)whole + (uint32_t)(quotient - (float)whole >= 0.5f);
        const uint32_t verbatim = ((uint32_t)positive - offset) & is_verbatim;
        const uint32_t magnitude = rounded | verbatim;
        codes[i] = 2u * magnitude - ((word >> 31) & (0u - (uint32_t)(magnitude != 0)));
        any |= codes[i];
    }
    return any;
}
#endif

static uint64_t
lossy_codes64(uint64_t *restrict codes, const uint8_t *restrict words, uint32_t bound_exponent)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < SLEEK_CODES64; i++) {
        codes[i] = h5twin_sleek_lossy_code64(h5twin_load64(words + 8 * i), bound_exponent);
        any |= codes[i];
    }
    return any;
}

/* Magnitudes up to 2^23 times twice the bound, as a product: exact, and normal. */
static void
lossy_words32(uint8_t *restrict words, const uint32_t *restrict codes, uint32_t bound_exponent)
{
    const uint32_t offset = ((bound_exponent + SLEEK_MANTISSA32 + 1u) << 23) - 0x00800000u;
    const float scale = h5twin_float_of_bits((bound_exponent + 1u) << 23);
    for (unsigned i = 0; i < SLEEK_CODES32; i++) {
        const uint32_t code = codes[i];
        const uint32_t magnitude = (code >> 1) + (code & 1u);
        const uint32_t is_verbatim = 0u - (uint32_t)((int32_t)(code >> 1) >= 0x00800000);
        const float value = (float)(int32_t)(magnitude & ~is_verbatim) * scale;
        const uint32_t verbatim = (magnitude + offset) & 0x7FFFFFFFu & is_verbatim;
        h5twin_store32(words + 4 * i, h5twin_bits_of_float(value) | verbatim | (code << 31));
    }
}

/* A magnitude up to 2^52 as a double, exactly. Added to the bits of 2^52 it is the mantissa of
 * 2^52 + magnitude; instructions that convert 64-bit integers are scalar before AVX-512. The
 * difference may be -0 when rounding downwards: the caller sets the sign. */
static double
double_of_magnitude(uint64_t magnitude)
{
#ifdef __AVX512DQ__
    return (double)(int64_t)magnitude;
#else
    return h5twin_double_of_bits(magnitude + UINT64_C(0x4330000000000000)) - 0x1p52;
#endif
}

static void
lossy_words64(uint8_t *restrict words, const uint64_t *restrict codes, uint32_t bound_exponent)
{
    const uint64_t offset =
        ((uint64_t)(bound_exponent + SLEEK_MANTISSA64 + 1u) << 52) - UINT64_C(0x0010000000000000);
    const double scale = h5twin_double_of_bits((uint64_t)(bound_exponent + 1u) << 52);
    for (unsigned i = 0; i < SLEEK_CODES64; i++) {
        const uint64_t code = codes[i];
        const uint64_t magnitude = (code >> 1) + (code & 1u);
        /* All ones if any of the 11 highest bits is set; SSE2 cannot compare 64-bit words. */
        const uint64_t is_verbatim = 0u - ((0u - (code >> 53)) >> 63);
        const double value = double_of_magnitude(magnitude & ~is_verbatim) * scale;
        const uint64_t verbatim = (magnitude + offset) & is_verbatim;
        const uint64_t positive =
            (h5twin_bits_of_double(value) | verbatim) & UINT64_C(0x7FFFFFFFFFFFFFFF);
        h5twin_store64(words + 8 * i, positive | (code << 63));
    }
}

static bool
ignores_any(const struct h5twin_sleek_ignored *ignored)
{
    return ignored->mark != SLEEK_NO_WORD || ignored->extreme != SLEEK_NO_WORD ||
           ignored->padding != SLEEK_NO_WORD;
}

/* Masks, as compilers turn conditions into branches here and then do not vectorize. ignores is a
 * constant: without ignored words the loop is the shorter one. */
static inline void
find_span32(const uint8_t *words, size_t word_count, const struct h5twin_sleek_ignored *ignored,
            struct h5twin_sleek_span *span, const bool ignores)
{
    const uint32_t mark = (uint32_t)ignored->mark, extreme = (uint32_t)ignored->extreme,
                   padding = (uint32_t)ignored->padding;
    int32_t smallest = INT32_MAX, largest = INT32_MIN;
    uint32_t marks = 0, extremes = 0;
    for (size_t i = 0; i < word_count; i++) {
        const uint32_t word = h5twin_load32(words + 4 * i);
        const uint32_t is_mark = 0u - (uint32_t)(ignores && word == mark);
        const uint32_t is_extreme = 0u - (uint32_t)(ignores && word == extreme);
        const uint32_t is_padding = 0u - (uint32_t)(ignores && word == padding);
        const uint32_t other = (0u - (uint32_t)((int32_t)(word & 0x7FFFFFFFu) >= 0x7F800000)) |
                               is_mark | is_extreme | is_padding;
        const uint32_t key = (uint32_t)h5twin_sleek_key32(word) & ~other;
        const int32_t for_min = (int32_t)(key | (other & (uint32_t)INT32_MAX));
        const int32_t for_max = (int32_t)(key | (other & (uint32_t)INT32_MIN));
        smallest = for_min < smallest ? for_min : smallest;
        largest = for_max > largest ? for_max : largest;
        marks -= is_mark;
        extremes -= is_extreme;
    }
    *span = (struct h5twin_sleek_span){smallest, largest, marks, extremes};
}

static void
span32(const uint8_t *words, size_t word_count, const struct h5twin_sleek_ignored *ignored,
       struct h5twin_sleek_span *span)
{
    if (ignores_any(ignored)) {
        find_span32(words, word_count, ignored, span, true);
    } else {
        find_span32(words, word_count, ignored, span, false);
    }
}

static inline void
find_span64(const uint8_t *words, size_t word_count, const struct h5twin_sleek_ignored *ignored,
            struct h5twin_sleek_span *span, const bool ignores)
{
    const uint64_t mark = ignored->mark, extreme = ignored->extreme, padding = ignored->padding;
    int64_t smallest = INT64_MAX, largest = INT64_MIN;
    uint64_t marks = 0, extremes = 0;
    for (size_t i = 0; i < word_count; i++) {
        const uint64_t word = h5twin_load64(words + 8 * i);
        const uint64_t is_mark = UINT64_C(0) - (uint64_t)(ignores && word == mark);
        const uint64_t is_extreme = UINT64_C(0) - (uint64_t)(ignores && word == extreme);
        const uint64_t is_padding = UINT64_C(0) - (uint64_t)(ignores && word == padding);
        const uint64_t other =
            (UINT64_C(0) - (uint64_t)((int64_t)(word & UINT64_C(0x7FFFFFFFFFFFFFFF)) >=
                                      INT64_C(0x7FF0000000000000))) |
            is_mark | is_extreme | is_padding;
        const uint64_t key = (uint64_t)h5twin_sleek_key64(word) & ~other;
        const int64_t for_min = (int64_t)(key | (other & (uint64_t)INT64_MAX));
        const int64_t for_max = (int64_t)(key | (other & (uint64_t)INT64_MIN));
        smallest = for_min < smallest ? for_min : smallest;
        largest = for_max > largest ? for_max : largest;
        marks -= is_mark;
        extremes -= is_extreme;
    }
    *span = (struct h5twin_sleek_span){smallest, largest, marks, extremes};
}

static void
span64(const uint8_t *words, size_t word_count, const struct h5twin_sleek_ignored *ignored,
       struct h5twin_sleek_span *span)
{
    if (ignores_any(ignored)) {
        find_span64(words, word_count, ignored, span, true);
    } else {
        find_span64(words, word_count, ignored, span, false);
    }
}

const struct h5twin_sleek_kernels H5TWIN_ISA_NAME(h5twin_sleek_kernels) = {
    .lossless_codes32 = lossless_codes32,
    .lossless_codes64 = lossless_codes64,
    .lossy_codes32 = lossy_codes32,
    .lossy_codes64 = lossy_codes64,
    .lossless_words32 = lossless_words32,
    .lossless_words64 = lossless_words64,
    .lossy_words32 = lossy_words32,
    .lossy_words64 = lossy_words64,
    .span32 = span32,
    .span64 = span64,
};
