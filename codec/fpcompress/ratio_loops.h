/* SPDX-License-Identifier: BSD-3-Clause
 * ratio_loops.h: the stages of ratio_stages.h that are plain loops, for the compiler to make
 * vectors of: included by the file of each instruction set that has nothing better. */
#ifndef H5TWIN_FPCOMPRESS_RATIO_LOOPS_H
#define H5TWIN_FPCOMPRESS_RATIO_LOOPS_H

#include "../common/bytes.h"
#include "fpcompress_core.h"

#include <stdbool.h>

/* From the second word on there is one before, and compilers make vectors of the loop. */
static void
difference32(uint8_t *restrict dst, const uint8_t *restrict src, size_t word_count)
{
    if (word_count != 0) {
        h5twin_store32(dst, h5twin_fpc_residual32(h5twin_load32(src), 0));
    }
    for (size_t i = 1; i < word_count; i++) {
        const uint32_t previous = h5twin_load32(src + 4 * (i - 1));
        h5twin_store32(dst + 4 * i, h5twin_fpc_residual32(h5twin_load32(src + 4 * i), previous));
    }
}

static uint64_t
difference64(uint8_t *restrict dst, const uint8_t *restrict src, size_t word_count)
{
    uint64_t any = 0;
    if (word_count != 0) {
        any = h5twin_fpc_residual64(h5twin_load64(src), 0);
        h5twin_store64(dst, any);
    }
    for (size_t i = 1; i < word_count; i++) {
        const uint64_t previous = h5twin_load64(src + 8 * (i - 1));
        const uint64_t residual = h5twin_fpc_residual64(h5twin_load64(src + 8 * i), previous);
        h5twin_store64(dst + 8 * i, residual);
        any |= residual;
    }
    return any;
}

static void
mask_words(uint8_t *restrict dst, const uint8_t *restrict src, const uint32_t *restrict distances,
           size_t word_count)
{
    for (size_t i = 0; i < word_count; i++) {
        const uint64_t mask = UINT64_C(0) - (distances[i] == 0);
        h5twin_store64(dst + 8 * i, h5twin_load64(src + 8 * i) & mask);
    }
}

#endif
