/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_columns_avx2.h: PACK and EXPAND of ndzip_block_template.h with AVX2: gaps are closed and
 * opened by permutations of eight 32-bit lanes, of which a 64-bit word has two. Vectors are stored
 * and loaded whole, which never reaches beyond BITS columns. */
#ifndef H5TWIN_NDZIP_COLUMNS_AVX2_H
#define H5TWIN_NDZIP_COLUMNS_AVX2_H

#include "../common/bits.h"
#include "../common/lanes_avx2.h"

#include <stddef.h>

#define SPARE 0

static inline size_t
pack32(uint8_t *restrict dst, const uint32_t *restrict columns, uint32_t head)
{
    for (unsigned i = 0; i < 32; i += 8) {
        const __m256i words = h5twin_load_avx2(columns + i);
        const unsigned kept = 0xFFu ^ h5twin_zero_lanes32_avx2(words);
        h5twin_store_avx2(dst, h5twin_compress_lanes_avx2(kept, words));
        dst += 4 * (size_t)h5twin_popcount32(kept);
    }
    return h5twin_popcount32(head);
}

static inline size_t
expand32(uint32_t *restrict columns, uint32_t head, const uint8_t *restrict src)
{
    uint32_t present = h5twin_reverse_bits32(head);
    for (unsigned i = 0; i < 32; i += 8, present >>= 8) {
        const __m256i words = h5twin_load_avx2(src);
        h5twin_store_avx2(columns + i, h5twin_expand_lanes_avx2(present & 0xFFu, words));
        src += 4 * (size_t)h5twin_popcount32(present & 0xFFu);
    }
    return h5twin_popcount32(head);
}

static inline size_t
pack64(uint8_t *restrict dst, const uint64_t *restrict columns, uint64_t head)
{
    for (unsigned i = 0; i < 64; i += 4) {
        const __m256i words = h5twin_load_avx2(columns + i);
        const unsigned kept = 0xFFu ^ h5twin_zero_lanes64_avx2(words);
        h5twin_store_avx2(dst, h5twin_compress_lanes_avx2(kept, words));
        dst += 4 * (size_t)h5twin_popcount32(kept);
    }
    return h5twin_popcount64(head);
}

static inline size_t
expand64(uint64_t *restrict columns, uint64_t head, const uint8_t *restrict src)
{
    uint64_t present = h5twin_reverse_bits64(head);
    for (unsigned i = 0; i < 64; i += 4, present >>= 4) {
        const unsigned lanes = h5twin_double_bits(present & 0xFu);
        h5twin_store_avx2(columns + i, h5twin_expand_lanes_avx2(lanes, h5twin_load_avx2(src)));
        src += 4 * (size_t)h5twin_popcount32(lanes);
    }
    return h5twin_popcount64(head);
}

#endif
