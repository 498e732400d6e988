/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_maps.h: SLEEK's value maps over one subchunk, 512 bytes of words, and the range of
 * an array; one table per instruction set.
 *
 * Word pointers may have any alignment; codes are 128 (or 64) words. The codes functions return
 * the OR of all codes, whose bit length is the subchunk's width. bound_exponent as in sleek_core.h,
 * never 0. */
#ifndef H5TWIN_SLEEK_MAPS_H
#define H5TWIN_SLEEK_MAPS_H

#include "../isa.h"
#include "sleek_core.h"

#include <stddef.h>
#include <stdint.h>

#define SLEEK_CODES32 (SLEEK_SUBCHUNK_BYTES / 4)
#define SLEEK_CODES64 (SLEEK_SUBCHUNK_BYTES / 8)

/* Words that are left out of a span, by their bits; SLEEK_NO_WORD where there is none. */
#define SLEEK_NO_WORD UINT64_MAX /* a NaN, in either size: left out anyway */
struct h5twin_sleek_ignored {
    uint64_t marks[2], extreme, padding; /* a second mark only beside the first */
};

/* Smallest and largest finite word that is not ignored, as keys: see sleek_core.h. Without any, low
 * is the largest key and high the smallest. The counts are those of ignored words. */
struct h5twin_sleek_span {
    int64_t low, high;
    uint64_t mark_counts[2], extreme_count;
};

struct h5twin_sleek_kernels {
    uint32_t (*lossless_codes32)(uint32_t *restrict codes, const uint8_t *restrict words);
    uint64_t (*lossless_codes64)(uint64_t *restrict codes, const uint8_t *restrict words);
    uint32_t (*lossy_codes32)(uint32_t *restrict codes, const uint8_t *restrict words,
                              uint32_t bound_exponent);
    uint64_t (*lossy_codes64)(uint64_t *restrict codes, const uint8_t *restrict words,
                              uint32_t bound_exponent);
    void (*lossless_words32)(uint8_t *restrict words, const uint32_t *restrict codes);
    void (*lossless_words64)(uint8_t *restrict words, const uint64_t *restrict codes);
    void (*lossy_words32)(uint8_t *restrict words, const uint32_t *restrict codes,
                          uint32_t bound_exponent);
    void (*lossy_words64)(uint8_t *restrict words, const uint64_t *restrict codes,
                          uint32_t bound_exponent);
    /* Of word_count (below 2^31) words of a whole array; written to *span. */
    void (*span32)(const uint8_t *words, size_t word_count,
                   const struct h5twin_sleek_ignored *ignored, struct h5twin_sleek_span *span);
    void (*span64)(const uint8_t *words, size_t word_count,
                   const struct h5twin_sleek_ignored *ignored, struct h5twin_sleek_span *span);
};

H5TWIN_DECLARE_VARIANTS(h5twin_sleek_kernels);

const struct h5twin_sleek_kernels *h5twin_sleek_kernels_for(h5twin_isa isa);

#endif
