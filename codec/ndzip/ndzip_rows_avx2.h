/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_rows_avx2.h: running sums along a row, in registers of 32 bytes. */
#ifndef H5TWIN_NDZIP_ROWS_AVX2_H
#define H5TWIN_NDZIP_ROWS_AVX2_H

#include "../common/bytes.h"
#include "../common/lanes_avx2.h"
#include "ndzip_core.h"

/* The last lane carries over to the next ones. */
static inline void
store_vector_row32(uint8_t *restrict dst, const uint32_t *restrict row, size_t count)
{
    __m256i carry = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256i words = h5twin_load_avx2(row + i);
        const __m256i sums = _mm256_add_epi32(h5twin_sum_lanes32_avx2(words), carry);
        const __m256i turned =
            _mm256_or_si256(_mm256_srli_epi32(sums, 1), _mm256_slli_epi32(sums, 31));
        h5twin_store_avx2(dst + 4 * i, turned);
        carry = h5twin_last_lane32_avx2(sums);
    }
    uint32_t sum = (uint32_t)_mm256_cvtsi256_si32(carry);
    for (; i < count; i++) {
        sum += row[i];
        h5twin_store32(dst + 4 * i, h5twin_rotate_left32(sum, 31));
    }
}

static inline void
store_vector_row64(uint8_t *restrict dst, const uint64_t *restrict row, size_t count)
{
    __m256i carry = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const __m256i words = h5twin_load_avx2(row + i);
        const __m256i sums = _mm256_add_epi64(h5twin_sum_lanes64_avx2(words), carry);
        const __m256i turned =
            _mm256_or_si256(_mm256_srli_epi64(sums, 1), _mm256_slli_epi64(sums, 63));
        h5twin_store_avx2(dst + 8 * i, turned);
        carry = h5twin_last_lane64_avx2(sums);
    }
    uint64_t sum = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(carry));
    for (; i < count; i++) {
        sum += row[i];
        h5twin_store64(dst + 8 * i, h5twin_rotate_left64(sum, 63));
    }
}

#endif
