/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_packing.h: what a packed block consists of, and the widths of its codes. */
#ifndef H5TWIN_SLEEK_PACKING_H
#define H5TWIN_SLEEK_PACKING_H

#include "../common/bits.h"
#include "sleek_maps.h"

/* The codes of a subchunk. */
union h5twin_sleek_codes {
    _Alignas(64) uint32_t codes32[SLEEK_CODES32];
    uint64_t codes64[SLEEK_CODES64];
};

/* Returns the width. bound_exponent 0: lossless. */
static inline unsigned
h5twin_sleek_map(const struct h5twin_sleek_kernels *maps, union h5twin_sleek_codes *codes,
                 const uint8_t *words, unsigned word_size, uint32_t bound_exponent)
{
    if (word_size == 4) {
        return h5twin_bit_length32(
            bound_exponent == 0 ? maps->lossless_codes32(codes->codes32, words)
                                : maps->lossy_codes32(codes->codes32, words, bound_exponent));
    }
    return h5twin_bit_length64(bound_exponent == 0
                                   ? maps->lossless_codes64(codes->codes64, words)
                                   : maps->lossy_codes64(codes->codes64, words, bound_exponent));
}

#endif
