/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_mask.h: one frequent word, set apart from the others by a bitmap.
 *
 * While a slab is coded, its mask is a byte for each value: 1 for the fill word.
 * Source  FORMAT.md sections 3 and 10. */
#ifndef H5TWIN_CASCADE_MASK_H
#define H5TWIN_CASCADE_MASK_H

#include "cascade_decide_core.h"

/* The most frequent of the sampled words, the smallest of equals, and how often it is among them.
 * Samples lie at even distances, or are spread with a jitter. */
uint64_t h5twin_cascade_frequent_word(const uint8_t *src, size_t value_count, unsigned word_size,
                                      unsigned most_samples, bool jitters, unsigned *found_count);

/* How many values are masked. */
size_t h5twin_cascade_mask_count(const uint8_t *mask, size_t value_count);

/* The axis (0: none, else + 1) along which the mask's XOR has the fewest groups of four bits that
 * are not zero, and their number. */
unsigned h5twin_cascade_mask_axis(const uint8_t *mask, const struct h5twin_cascade_shape *shape,
                                  size_t *nibble_count);

/* The words of the mask's residual stream. */
void h5twin_cascade_mask_nibbles(uint32_t *restrict nibbles, const uint8_t *restrict mask,
                                 const struct h5twin_cascade_shape *shape, unsigned mask_axis);

/* Undo the XOR along an axis. */
void h5twin_cascade_mask_back(uint8_t *mask, const struct h5twin_cascade_shape *shape,
                              unsigned mask_axis);

#endif
