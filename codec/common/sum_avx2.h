/* SPDX-License-Identifier: BSD-3-Clause
 * sum_avx2.h: from zigzag codes of differences between neighbours back to words, with AVX2: running
 * sums within a vector take log2 steps, so that only one addition waits for the vector before. */
#ifndef H5TWIN_COMMON_SUM_AVX2_H
#define H5TWIN_COMMON_SUM_AVX2_H

#include "bits.h"
#include "bytes.h"
#include "lanes_avx2.h"

#include <stdbool.h>
#include <stddef.h>

static inline __m256i
h5twin_unzigzag32_avx2(__m256i codes)
{
    const __m256i sign = _mm256_and_si256(codes, _mm256_set1_epi32(1));
    return _mm256_xor_si256(_mm256_srli_epi32(codes, 1),
                            _mm256_sub_epi32(_mm256_setzero_si256(), sign));
}

static inline __m256i
h5twin_unzigzag64_avx2(__m256i codes)
{
    const __m256i sign = _mm256_and_si256(codes, _mm256_set1_epi64x(1));
    return _mm256_xor_si256(_mm256_srli_epi64(codes, 1),
                            _mm256_sub_epi64(_mm256_setzero_si256(), sign));
}

/* Codes of differences (mapped twice if is_signed) to words, starting after `previous`. Returns the
 * last word. dst may be src. */
static inline uint32_t
h5twin_sum32_avx2(uint8_t *dst, const uint8_t *src, size_t word_count, uint32_t previous,
                  bool is_signed)
{
    __m256i carry = _mm256_set1_epi32((int)previous);
    size_t i = 0;
    for (; i + 8 <= word_count; i += 8) {
        __m256i v = h5twin_load_avx2(src + 4 * i);
        v = is_signed ? h5twin_unzigzag32_avx2(v) : v;
        const __m256i sums = h5twin_sum_lanes32_avx2(h5twin_unzigzag32_avx2(v));
        h5twin_store_avx2(dst + 4 * i, _mm256_add_epi32(sums, carry));
        carry = _mm256_add_epi32(carry, h5twin_last_lane32_avx2(sums));
    }
    previous = (uint32_t)_mm256_cvtsi256_si32(carry);
    for (; i < word_count; i++) {
        const uint32_t word = h5twin_load32(src + 4 * i);
        previous += h5twin_unzigzag32(is_signed ? h5twin_unzigzag32(word) : word);
        h5twin_store32(dst + 4 * i, previous);
    }
    return previous;
}

static inline uint64_t
h5twin_sum64_avx2(uint8_t *dst, const uint8_t *src, size_t word_count, uint64_t previous,
                  bool is_signed)
{
    __m256i carry = _mm256_set1_epi64x((long long)previous);
    size_t i = 0;
    for (; i + 4 <= word_count; i += 4) {
        __m256i v = h5twin_load_avx2(src + 8 * i);
        v = is_signed ? h5twin_unzigzag64_avx2(v) : v;
        const __m256i sums = h5twin_sum_lanes64_avx2(h5twin_unzigzag64_avx2(v));
        h5twin_store_avx2(dst + 8 * i, _mm256_add_epi64(sums, carry));
        carry = _mm256_add_epi64(carry, h5twin_last_lane64_avx2(sums));
    }
    previous = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(carry));
    for (; i < word_count; i++) {
        const uint64_t word = h5twin_load64(src + 8 * i);
        previous += h5twin_unzigzag64(is_signed ? h5twin_unzigzag64(word) : word);
        h5twin_store64(dst + 8 * i, previous);
    }
    return previous;
}

#endif
