/* SPDX-License-Identifier: BSD-3-Clause
 * lanes_with_avx512.h: lanes.h with AVX-512: a mask is a mask register. */
#ifndef H5TWIN_COMMON_LANES_WITH_AVX512_H
#define H5TWIN_COMMON_LANES_WITH_AVX512_H

#include <immintrin.h>

typedef __mmask16 m32;
typedef __mmask8 m64;

#define H5TWIN_LANES_OP(name)   H5TWIN_LANES_JOIN(_mm512_##name##_epi, WORD_BITS)
#define H5TWIN_LANES_TEST(name) H5TWIN_LANES_JOIN(H5TWIN_LANES_OP(name), _mask)
#define H5TWIN_LANES_RAW(v)     ((__m512i)(v))

#define WORD_BITS 32
#include "lanes_with_avx512_template.h"
#undef WORD_BITS
#define WORD_BITS 64
#include "lanes_with_avx512_template.h"
#undef WORD_BITS

#undef H5TWIN_LANES_OP
#undef H5TWIN_LANES_TEST

#define RAW H5TWIN_LANES_RAW

H5TWIN_LANES_INLINE m32
m_negative32(v32 v)
{
    return _mm512_movepi32_mask(RAW(v));
}

H5TWIN_LANES_INLINE m64
m_negative64(v64 v)
{
    return _mm512_movepi64_mask(RAW(v));
}

H5TWIN_LANES_INLINE v32
v_load_bytes32(const void *at)
{
    return (v32)_mm512_cvtepu8_epi32(_mm_loadu_si128(at));
}

H5TWIN_LANES_INLINE v64
v_load_bytes64(const void *at)
{
    return (v64)_mm512_cvtepu8_epi64(_mm_loadl_epi64(at));
}

H5TWIN_LANES_INLINE void
v_store_bytes32(void *at, v32 v)
{
    _mm_storeu_si128(at, _mm512_cvtepi32_epi8(RAW(v)));
}

H5TWIN_LANES_INLINE void
v_store_bytes64(void *at, v64 v)
{
    _mm_storel_epi64(at, _mm512_cvtepi64_epi8(RAW(v)));
}

H5TWIN_LANES_INLINE v32
v_load_halves32(const void *at)
{
    return (v32)_mm512_cvtepu16_epi32(_mm256_loadu_si256(at));
}

H5TWIN_LANES_INLINE void
v_store_halves32(void *at, v32 v)
{
    _mm256_storeu_si256(at, _mm512_cvtepi32_epi16(RAW(v)));
}

H5TWIN_LANES_INLINE v32
v_evens32(v32 a, v32 b)
{
    const __m512i lanes =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return (v32)_mm512_permutex2var_epi32(RAW(a), lanes, RAW(b));
}

H5TWIN_LANES_INLINE v32
v_odds32(v32 a, v32 b)
{
    const __m512i lanes =
        _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return (v32)_mm512_permutex2var_epi32(RAW(a), lanes, RAW(b));
}

H5TWIN_LANES_INLINE v32
v_gather32(const uint32_t *table, v32 index)
{
    return (v32)_mm512_i32gather_epi32(RAW(index), (const int *)table, 4);
}

H5TWIN_LANES_INLINE v64
v_gather64(const uint64_t *table, v64 index)
{
    return (v64)_mm512_i64gather_epi64(RAW(index), (const long long *)table, 8);
}

H5TWIN_LANES_INLINE v32
v_multiply_high32(v32 a, v32 b)
{
    const __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(RAW(a), RAW(b)), 32);
    const __m512i odd =
        _mm512_mul_epu32(_mm512_srli_epi64(RAW(a), 32), _mm512_srli_epi64(RAW(b), 32));
    return (v32)_mm512_mask_mov_epi32(even, 0xAAAA, odd);
}

H5TWIN_LANES_INLINE v32
v_scan32(v32 v)
{
    const __m512i zero = _mm512_setzero_si512();
    v += (v32)_mm512_alignr_epi32(RAW(v), zero, 15);
    v += (v32)_mm512_alignr_epi32(RAW(v), zero, 14);
    v += (v32)_mm512_alignr_epi32(RAW(v), zero, 12);
    return v + (v32)_mm512_alignr_epi32(RAW(v), zero, 8);
}

H5TWIN_LANES_INLINE v64
v_scan64(v64 v)
{
    const __m512i zero = _mm512_setzero_si512();
    v += (v64)_mm512_alignr_epi64(RAW(v), zero, 7);
    v += (v64)_mm512_alignr_epi64(RAW(v), zero, 6);
    return v + (v64)_mm512_alignr_epi64(RAW(v), zero, 4);
}

H5TWIN_LANES_INLINE uint32_t
v_last32(v32 v)
{
    return (uint32_t)_mm_extract_epi32(_mm512_extracti32x4_epi32(RAW(v), 3), 3);
}

H5TWIN_LANES_INLINE uint64_t
v_last64(v64 v)
{
    return (uint64_t)_mm_extract_epi64(_mm512_extracti64x2_epi64(RAW(v), 3), 1);
}

H5TWIN_LANES_INLINE v64
v_multiply_halves64(v64 a, v64 b)
{
    return (v64)_mm512_mul_epu32(RAW(a), RAW(b));
}

H5TWIN_LANES_INLINE f32
v_to_float32(v32 v)
{
    return (f32)_mm512_cvt_roundepi32_ps(RAW(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

H5TWIN_LANES_INLINE v32
v_to_nearest32(f32 f)
{
    return (v32)_mm512_cvt_roundps_epi32((__m512)f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

H5TWIN_LANES_INLINE f64
v_to_double64(v64 v)
{
    return (f64)_mm512_cvt_roundepi64_pd(RAW(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

H5TWIN_LANES_INLINE v64
v_to_nearest64(f64 f)
{
    return (v64)_mm512_cvt_roundpd_epi64((__m512d)f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Quarter j of each of four vectors, quarter by quarter. */
H5TWIN_LANES_INLINE void
h5twin_transpose_quarters(__m512i out[4], __m512i a, __m512i b, __m512i c, __m512i d)
{
    const __m512i even_ab = _mm512_shuffle_i32x4(a, b, 0x88);
    const __m512i odd_ab = _mm512_shuffle_i32x4(a, b, 0xDD);
    const __m512i even_cd = _mm512_shuffle_i32x4(c, d, 0x88);
    const __m512i odd_cd = _mm512_shuffle_i32x4(c, d, 0xDD);
    out[0] = _mm512_shuffle_i32x4(even_ab, even_cd, 0x88);
    out[1] = _mm512_shuffle_i32x4(odd_ab, odd_cd, 0x88);
    out[2] = _mm512_shuffle_i32x4(even_ab, even_cd, 0xDD);
    out[3] = _mm512_shuffle_i32x4(odd_ab, odd_cd, 0xDD);
}

H5TWIN_LANES_INLINE void
v_transpose64(v64 rows[8])
{
    __m512i pairs[8], out[4];
    for (unsigned i = 0; i < 8; i += 2) {
        pairs[i] = _mm512_unpacklo_epi64(RAW(rows[i]), RAW(rows[i + 1]));
        pairs[i + 1] = _mm512_unpackhi_epi64(RAW(rows[i]), RAW(rows[i + 1]));
    }
    for (unsigned c = 0; c < 2; c++) {
        h5twin_transpose_quarters(out, pairs[c], pairs[2 + c], pairs[4 + c], pairs[6 + c]);
        for (unsigned q = 0; q < 4; q++) {
            rows[2 * q + c] = (v64)out[q];
        }
    }
}

H5TWIN_LANES_INLINE void
v_transpose32(v32 rows[16])
{
    __m512i pairs[16], fours[16], out[4];
    for (unsigned i = 0; i < 16; i += 2) {
        pairs[i] = _mm512_unpacklo_epi32(RAW(rows[i]), RAW(rows[i + 1]));
        pairs[i + 1] = _mm512_unpackhi_epi32(RAW(rows[i]), RAW(rows[i + 1]));
    }
    for (unsigned i = 0; i < 16; i += 4) {
        fours[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
        fours[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
        fours[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
        fours[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
    }
    for (unsigned c = 0; c < 4; c++) {
        h5twin_transpose_quarters(out, fours[c], fours[4 + c], fours[8 + c], fours[12 + c]);
        for (unsigned q = 0; q < 4; q++) {
            rows[4 * q + c] = (v32)out[q];
        }
    }
}

#undef RAW
#endif
