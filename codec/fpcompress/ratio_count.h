/* SPDX-License-Identifier: BSD-3-Clause
 * ratio_count.h: the histogram of ratio_stages.h, which no instruction set does in vectors: each
 * compiles it with its own way to find a bit length. */
#ifndef H5TWIN_FPCOMPRESS_RATIO_COUNT_H
#define H5TWIN_FPCOMPRESS_RATIO_COUNT_H

#include "../common/bits.h"
#include "../common/bytes.h"

#include <stdbool.h>

static void
count_bit_lengths(uint16_t counts[4][65], const uint8_t *restrict src, size_t word_count,
                  bool repeats)
{
    uint64_t previous = 0;
    size_t i = 0;
    for (; i + 4 <= word_count; i += 4) {
        /* Tables in turn, so that equal lengths do not wait for each other. */
        H5TWIN_UNROLL
        for (size_t table = 0; table < 4; table++) {
            const uint64_t word = h5twin_load64(src + 8 * (i + table));
            counts[table][h5twin_bit_length64(repeats ? word ^ previous : word)]++;
            previous = word;
        }
    }
    for (; i < word_count; i++) {
        const uint64_t word = h5twin_load64(src + 8 * i);
        counts[0][h5twin_bit_length64(repeats ? word ^ previous : word)]++;
        previous = word;
    }
}

#endif
