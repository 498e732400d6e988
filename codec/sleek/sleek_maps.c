/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_maps.c: the loops of sleek_maps.h, for the compiler to vectorize, once for each
 * instruction set. Those that are alike for both sizes of words are in sleek_maps_template.h.
 *
 * The lossy maps below are those of sleek_core.h, done by floating-point instructions where these
 * vectorize and variable shifts or bit lengths do not; test_sleek_maps compares the two. Words of
 * no use (Inf, NaN, verbatim or tiny values) are masked to 0 before they meet an instruction that
 * could raise a floating-point exception but "inexact": programs that trap those must survive.
 * Every product is exact, so the rounding mode does not matter either. */
#include "sleek_maps.h"

#include "../common/bytes.h"
#include "../common/word_names.h"
#include "sleek_core.h"

#include <stdbool.h>

#ifdef __AVX2__
#    define VARIABLE_SHIFTS /* of vectors: the formula of sleek_core.h is the fastest */
#endif

#ifndef VARIABLE_SHIFTS
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
    return ignored->marks[0] != SLEEK_NO_WORD || ignored->extreme != SLEEK_NO_WORD ||
           ignored->padding != SLEEK_NO_WORD;
}

#define WORD_BITS 32
#include "sleek_maps_template.h"

#define WORD_BITS 64
#include "sleek_maps_template.h"

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
