/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_columns_avx2.h: PACK and EXPAND of ndzip_block_template.h with AVX2: gaps are closed and
 * opened by permutations of eight 32-bit lanes. Vectors are stored and loaded whole, which never
 * reaches beyond BITS columns. */
#ifndef H5TWIN_NDZIP_COLUMNS_AVX2_H
#define H5TWIN_NDZIP_COLUMNS_AVX2_H

#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/lane_tables.h"

#include <immintrin.h>
#include <stddef.h>

#define SPARE 0

static inline __m256i
load_vector(const void *src)
{
    return _mm256_loadu_si256((const __m256i *)src);
}

static inline void
store_vector(void *dst, __m256i v)
{
    _mm256_storeu_si256((__m256i *)dst, v);
}

/* An entry of lane_tables.h, one lane number for each 32-bit lane; negative if there is none. */
static inline __m256i
widen_lanes(uint64_t lanes)
{
    return _mm256_cvtepi8_epi32(_mm_cvtsi64_si128((long long)lanes));
}

static inline size_t
pack32(uint8_t *restrict dst, const uint32_t *restrict columns, uint32_t head)
{
    for (unsigned i = 0; i < 32; i += 8) {
        const __m256i words = load_vector(columns + i);
        const __m256i is_zero = _mm256_cmpeq_epi32(words, _mm256_setzero_si256());
        const unsigned kept = ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(is_zero)) & 0xFFu;
        const __m256i lanes = widen_lanes(h5twin_compress_lanes[kept]);
        store_vector(dst, _mm256_permutevar8x32_epi32(words, lanes));
        dst += 4 * (size_t)h5twin_popcount32(kept);
    }
    return h5twin_popcount32(head);
}

static inline size_t
expand32(uint32_t *restrict columns, uint32_t head, const uint8_t *restrict src)
{
    uint32_t present = h5twin_reverse_bits32(head);
    for (unsigned i = 0; i < 32; i += 8, present >>= 8) {
        const __m256i lanes = widen_lanes(h5twin_expand_lanes[present & 0xFFu]);
        const __m256i words = _mm256_permutevar8x32_epi32(load_vector(src), lanes);
        store_vector(columns + i, _mm256_andnot_si256(_mm256_srai_epi32(lanes, 31), words));
        src += 4 * (size_t)h5twin_popcount32(present & 0xFFu);
    }
    return h5twin_popcount32(head);
}

/* A 64-bit word is a pair of lanes. */
static inline size_t
pack64(uint8_t *restrict dst, const uint64_t *restrict columns, uint64_t head)
{
    for (unsigned i = 0; i < 64; i += 4) {
        const __m256i words = load_vector(columns + i);
        const __m256i is_zero = _mm256_cmpeq_epi64(words, _mm256_setzero_si256());
        const unsigned kept = ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(is_zero)) & 0xFFu;
        const __m256i lanes = widen_lanes(h5twin_compress_lanes[kept]);
        store_vector(dst, _mm256_permutevar8x32_epi32(words, lanes));
        dst += 4 * (size_t)h5twin_popcount32(kept);
    }
    return h5twin_popcount64(head);
}

static inline size_t
expand64(uint64_t *restrict columns, uint64_t head, const uint8_t *restrict src)
{
    static const uint8_t doubled[16] = {0x00, 0x03, 0x0C, 0x0F, 0x30, 0x33, 0x3C, 0x3F,
                                        0xC0, 0xC3, 0xCC, 0xCF, 0xF0, 0xF3, 0xFC, 0xFF};
    uint64_t present = h5twin_reverse_bits64(head);
    for (unsigned i = 0; i < 64; i += 4, present >>= 4) {
        const unsigned pairs = doubled[present & 0xFu];
        const __m256i lanes = widen_lanes(h5twin_expand_lanes[pairs]);
        const __m256i words = _mm256_permutevar8x32_epi32(load_vector(src), lanes);
        store_vector(columns + i, _mm256_andnot_si256(_mm256_srai_epi32(lanes, 31), words));
        src += 4 * (size_t)h5twin_popcount32(pairs);
    }
    return h5twin_popcount64(head);
}

#endif
