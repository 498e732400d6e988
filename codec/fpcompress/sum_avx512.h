/* SPDX-License-Identifier: BSD-3-Clause
 * sum_avx512.h: the inverse of DIFFMS with AVX-512: running sums within a vector in log2 steps, so
 * that only one addition and one permutation wait for the vector before. */
#ifndef H5TWIN_FPCOMPRESS_SUM_AVX512_H
#define H5TWIN_FPCOMPRESS_SUM_AVX512_H

#include "../common/bytes.h"
#include "fpcompress_core.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>

static inline __m512i
h5twin_unzigzag32_avx512(__m512i codes)
{
    const __m512i sign = _mm512_and_si512(codes, _mm512_set1_epi32(1));
    return _mm512_xor_si512(_mm512_srli_epi32(codes, 1),
                            _mm512_sub_epi32(_mm512_setzero_si512(), sign));
}

static inline __m512i
h5twin_unzigzag64_avx512(__m512i codes)
{
    const __m512i sign = _mm512_and_si512(codes, _mm512_set1_epi64(1));
    return _mm512_xor_si512(_mm512_srli_epi64(codes, 1),
                            _mm512_sub_epi64(_mm512_setzero_si512(), sign));
}

/* Residuals (doubly mapped if is_signed) to words, starting after `previous`. Returns the last
 * word. dst may be src. */
static inline uint32_t
h5twin_sum32_avx512(uint8_t *dst, const uint8_t *src, size_t word_count, uint32_t previous,
                    bool is_signed)
{
    const __m512i zero = _mm512_setzero_si512(), last = _mm512_set1_epi32(15);
    __m512i carry = _mm512_set1_epi32((int)previous);
    for (size_t i = 0; i < word_count; i += 16) {
        const size_t left = word_count - i;
        const __mmask16 valid = (__mmask16)(left < 16 ? (1u << left) - 1u : 0xFFFFu);
        __m512i v = _mm512_maskz_loadu_epi32(valid, src + 4 * i);
        v = is_signed ? h5twin_unzigzag32_avx512(v) : v;
        v = h5twin_unzigzag32_avx512(v);
        v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 15));
        v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 14));
        v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 12));
        v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 8));
        const __m512i words = _mm512_add_epi32(v, carry);
        _mm512_mask_storeu_epi32(dst + 4 * i, valid, words);
        carry = _mm512_permutexvar_epi32(last, words); /* residuals beyond the end are 0 */
    }
    return (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(carry));
}

static inline uint64_t
h5twin_sum64_avx512(uint8_t *dst, const uint8_t *src, size_t word_count, uint64_t previous,
                    bool is_signed)
{
    const __m512i zero = _mm512_setzero_si512(), last = _mm512_set1_epi64(7);
    __m512i carry = _mm512_set1_epi64((long long)previous);
    for (size_t i = 0; i < word_count; i += 8) {
        const size_t left = word_count - i;
        const __mmask8 valid = (__mmask8)(left < 8 ? (1u << left) - 1u : 0xFFu);
        __m512i v = _mm512_maskz_loadu_epi64(valid, src + 8 * i);
        v = is_signed ? h5twin_unzigzag64_avx512(v) : v;
        v = h5twin_unzigzag64_avx512(v);
        v = _mm512_add_epi64(v, _mm512_alignr_epi64(v, zero, 7));
        v = _mm512_add_epi64(v, _mm512_alignr_epi64(v, zero, 6));
        v = _mm512_add_epi64(v, _mm512_alignr_epi64(v, zero, 4));
        const __m512i words = _mm512_add_epi64(v, carry);
        _mm512_mask_storeu_epi64(dst + 8 * i, valid, words);
        carry = _mm512_permutexvar_epi64(last, words);
    }
    return (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(carry));
}

#endif
