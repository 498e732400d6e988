/* SPDX-License-Identifier: BSD-3-Clause
 * scan_avx512.h: running sums within a vector, with AVX-512, in log2 steps: lane j gets the sum of
 * lanes 0..j. */
#ifndef H5TWIN_COMMON_SCAN_AVX512_H
#define H5TWIN_COMMON_SCAN_AVX512_H

#include <immintrin.h>

static inline __m512i
h5twin_scan32_avx512(__m512i v)
{
    const __m512i zero = _mm512_setzero_si512();
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 15));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 14));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 12));
    return _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 8));
}

static inline __m512i
h5twin_scan64_avx512(__m512i v)
{
    const __m512i zero = _mm512_setzero_si512();
    v = _mm512_add_epi64(v, _mm512_alignr_epi64(v, zero, 7));
    v = _mm512_add_epi64(v, _mm512_alignr_epi64(v, zero, 6));
    return _mm512_add_epi64(v, _mm512_alignr_epi64(v, zero, 4));
}

#endif
