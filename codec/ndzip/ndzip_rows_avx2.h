/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_rows_avx2.h: running sums along a row, in registers of 32 bytes. */
#ifndef H5TWIN_NDZIP_ROWS_AVX2_H
#define H5TWIN_NDZIP_ROWS_AVX2_H

#include "../common/bytes.h"
#include "ndzip_core.h"

#include <immintrin.h>

/* Running sums of eight lanes in three steps, of four in two. */
static inline __m256i
sum_lanes32(__m256i words)
{
    words = _mm256_add_epi32(words, _mm256_slli_si256(words, 4));
    words = _mm256_add_epi32(words, _mm256_slli_si256(words, 8));
    const __m256i last = _mm256_shuffle_epi32(words, 0xFF);
    return _mm256_add_epi32(words, _mm256_permute2x128_si256(last, last, 0x08));
}

static inline __m256i
sum_lanes64(__m256i words)
{
    words = _mm256_add_epi64(words, _mm256_slli_si256(words, 8));
    const __m256i last = _mm256_permute4x64_epi64(words, 0x55);
    return _mm256_add_epi64(words, _mm256_blend_epi32(_mm256_setzero_si256(), last, 0xF0));
}

/* The last lane carries over to the next ones. */
static inline void
store_vector_row32(uint8_t *restrict dst, const uint32_t *restrict row, size_t count)
{
    const __m256i last = _mm256_set1_epi32(7);
    __m256i carry = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256i words = _mm256_loadu_si256((const __m256i *)(const void *)(row + i));
        const __m256i sums = _mm256_add_epi32(sum_lanes32(words), carry);
        const __m256i turned =
            _mm256_or_si256(_mm256_srli_epi32(sums, 1), _mm256_slli_epi32(sums, 31));
        _mm256_storeu_si256((__m256i *)(void *)(dst + 4 * i), turned);
        carry = _mm256_permutevar8x32_epi32(sums, last);
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
        const __m256i words = _mm256_loadu_si256((const __m256i *)(const void *)(row + i));
        const __m256i sums = _mm256_add_epi64(sum_lanes64(words), carry);
        const __m256i turned =
            _mm256_or_si256(_mm256_srli_epi64(sums, 1), _mm256_slli_epi64(sums, 63));
        _mm256_storeu_si256((__m256i *)(void *)(dst + 8 * i), turned);
        carry = _mm256_permute4x64_epi64(sums, 0xFF);
    }
    uint64_t sum = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(carry));
    for (; i < count; i++) {
        sum += row[i];
        h5twin_store64(dst + 8 * i, h5twin_rotate_left64(sum, 63));
    }
}

#endif
