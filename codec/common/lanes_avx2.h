/* SPDX-License-Identifier: BSD-3-Clause
 * lanes_avx2.h: vectors of 32 bytes at any address, and what AVX2 has no single instruction for;
 * for files built with it. */
#ifndef H5TWIN_COMMON_LANES_AVX2_H
#define H5TWIN_COMMON_LANES_AVX2_H

#include "lane_tables.h"

#include <immintrin.h>

static inline __m256i
h5twin_load_avx2(const void *src)
{
    return _mm256_loadu_si256((const __m256i *)src);
}

static inline void
h5twin_store_avx2(void *dst, __m256i v)
{
    _mm256_storeu_si256((__m256i *)dst, v);
}

/* Running sums of eight lanes in three steps, of four in two. */
static inline __m256i
h5twin_sum_lanes32_avx2(__m256i words)
{
    words = _mm256_add_epi32(words, _mm256_slli_si256(words, 4));
    words = _mm256_add_epi32(words, _mm256_slli_si256(words, 8));
    const __m256i last = _mm256_shuffle_epi32(words, 0xFF);
    return _mm256_add_epi32(words, _mm256_permute2x128_si256(last, last, 0x08));
}

static inline __m256i
h5twin_sum_lanes64_avx2(__m256i words)
{
    words = _mm256_add_epi64(words, _mm256_slli_si256(words, 8));
    const __m256i last = _mm256_permute4x64_epi64(words, 0x55);
    return _mm256_add_epi64(words, _mm256_blend_epi32(_mm256_setzero_si256(), last, 0xF0));
}

/* The last lane in all of them. */
static inline __m256i
h5twin_last_lane32_avx2(__m256i words)
{
    return _mm256_permutevar8x32_epi32(words, _mm256_set1_epi32(7));
}

static inline __m256i
h5twin_last_lane64_avx2(__m256i words)
{
    return _mm256_permute4x64_epi64(words, 0xFF);
}

/* An entry of lane_tables.h, a lane number for each 32-bit lane; negative if there is none. */
static inline __m256i
h5twin_widen_lanes_avx2(uint64_t lanes)
{
    return _mm256_cvtepi8_epi32(_mm_cvtsi64_si128((long long)lanes));
}

/* Which of four 64-bit lanes are 0, as a mask of eight 32-bit lanes; of eight 32-bit lanes. */
static inline unsigned
h5twin_zero_lanes64_avx2(__m256i words)
{
    const __m256i is_zero = _mm256_cmpeq_epi64(words, _mm256_setzero_si256());
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(is_zero));
}

static inline unsigned
h5twin_zero_lanes32_avx2(__m256i words)
{
    const __m256i is_zero = _mm256_cmpeq_epi32(words, _mm256_setzero_si256());
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(is_zero));
}

/* The 32-bit lanes that mask names, to the front. */
static inline __m256i
h5twin_compress_lanes_avx2(unsigned mask, __m256i words)
{
    const __m256i lanes = h5twin_widen_lanes_avx2(h5twin_compress_lanes[mask]);
    return _mm256_permutevar8x32_epi32(words, lanes);
}

/* The first lanes to where mask says, and 0 elsewhere. */
static inline __m256i
h5twin_expand_lanes_avx2(unsigned mask, __m256i words)
{
    const __m256i lanes = h5twin_widen_lanes_avx2(h5twin_expand_lanes[mask]);
    const __m256i absent = _mm256_srai_epi32(lanes, 31);
    return _mm256_andnot_si256(absent, _mm256_permutevar8x32_epi32(words, lanes));
}

/* Each of four bits twice: a mask of 64-bit lanes as one of 32-bit lanes. */
static inline unsigned
h5twin_double_bits(unsigned bits)
{
    static const uint8_t doubled[16] = {0x00, 0x03, 0x0C, 0x0F, 0x30, 0x33, 0x3C, 0x3F,
                                        0xC0, 0xC3, 0xCC, 0xCF, 0xF0, 0xF3, 0xFC, 0xFF};
    return doubled[bits];
}

#endif
