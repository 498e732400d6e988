/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_maps.h: SLEEK's value maps over one subchunk, 512 bytes of words, and the range of
 * an array; one table per instruction set.
 *
 * Word pointers may have any alignment; codes are 128 (or 64) words. The codes functions return
 * the OR of all codes, whose bit length is the subchunk's width. bound_exponent as in sleek_core.h,
 * never 0. */
#ifndef H5TWIN_SLEEK_MAPS_H
#define H5TWIN_SLEEK_MAPS_H

#include <stddef.h>
#include <stdint.h>

#define SLEEK_SUBCHUNK_BYTES 512u
#define SLEEK_CODES32        (SLEEK_SUBCHUNK_BYTES / 4)
#define SLEEK_CODES64        (SLEEK_SUBCHUNK_BYTES / 8)

struct h5twin_sleek_maps {
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
    /* Smallest and largest finite one of word_count words of a whole array, as keys: see
     * sleek_core.h. Without any, *min is the largest key and *max the smallest. */
    void (*finite_range32)(const uint8_t *words, size_t word_count, int32_t *min, int32_t *max);
    void (*finite_range64)(const uint8_t *words, size_t word_count, int64_t *min, int64_t *max);
};

extern const struct h5twin_sleek_maps h5twin_sleek_maps_scalar;
extern const struct h5twin_sleek_maps h5twin_sleek_maps_avx2;
extern const struct h5twin_sleek_maps h5twin_sleek_maps_avx512;

#endif
