/* SPDX-License-Identifier: BSD-3-Clause
 * lanes_with_avx2.h: lanes.h with AVX2. There are no gathers in it: where microcode guards against
 * leaks by them they take several times as long as loads one by one. */
#ifndef H5TWIN_COMMON_LANES_WITH_AVX2_H
#define H5TWIN_COMMON_LANES_WITH_AVX2_H

#include "lanes_avx2.h"

typedef v32 m32;
typedef v64 m64;

#define RAW(v) ((__m256i)(v))

H5TWIN_LANES_INLINE v32
v_up32(v32 v, v32 shift)
{
    return (v32)_mm256_sllv_epi32(RAW(v), RAW(shift));
}

H5TWIN_LANES_INLINE v64
v_up64(v64 v, v64 shift)
{
    return (v64)_mm256_sllv_epi64(RAW(v), RAW(shift));
}

H5TWIN_LANES_INLINE v32
v_down32(v32 v, v32 shift)
{
    return (v32)_mm256_srlv_epi32(RAW(v), RAW(shift));
}

H5TWIN_LANES_INLINE v64
v_down64(v64 v, v64 shift)
{
    return (v64)_mm256_srlv_epi64(RAW(v), RAW(shift));
}

#define WORD_BITS 32
#include "lanes_narrow_template.h"
#undef WORD_BITS
#define WORD_BITS 64
#include "lanes_narrow_template.h"
#undef WORD_BITS

/* ---- masks ---- */

H5TWIN_LANES_INLINE unsigned
m_bits32(m32 m)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(RAW(m)));
}

H5TWIN_LANES_INLINE unsigned
m_bits64(m64 m)
{
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(RAW(m)));
}

H5TWIN_LANES_INLINE unsigned
m_count32(m32 m)
{
    return (unsigned)_mm_popcnt_u32(m_bits32(m));
}

H5TWIN_LANES_INLINE unsigned
m_count64(m64 m)
{
    return (unsigned)_mm_popcnt_u32(m_bits64(m));
}

H5TWIN_LANES_INLINE int
m_is_none32(m32 m)
{
    return _mm256_testz_si256(RAW(m), RAW(m));
}

H5TWIN_LANES_INLINE int
m_is_none64(m64 m)
{
    return _mm256_testz_si256(RAW(m), RAW(m));
}

H5TWIN_LANES_INLINE v32
v_select32(m32 m, v32 a, v32 b)
{
    return (v32)_mm256_blendv_epi8(RAW(b), RAW(a), RAW(m));
}

H5TWIN_LANES_INLINE v64
v_select64(m64 m, v64 a, v64 b)
{
    return (v64)_mm256_blendv_epi8(RAW(b), RAW(a), RAW(m));
}

/* ---- narrow loads and stores ---- */

H5TWIN_LANES_INLINE v32
v_load_bytes32(const void *at)
{
    return (v32)_mm256_cvtepu8_epi32(_mm_loadl_epi64(at));
}

H5TWIN_LANES_INLINE v64
v_load_bytes64(const void *at)
{
    int four;
    memcpy(&four, at, sizeof four);
    return (v64)_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
}

H5TWIN_LANES_INLINE void
v_store_bytes32(void *at, v32 v)
{
    const __m256i first =
        _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12,
                         -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i bytes = _mm256_shuffle_epi8(RAW(v), first);
    _mm_storel_epi64(
        at, _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1)));
}

H5TWIN_LANES_INLINE void
v_store_bytes64(void *at, v64 v)
{
    const __m256i first =
        _mm256_setr_epi8(0, 8, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 8,
                         -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i bytes = _mm256_shuffle_epi8(RAW(v), first);
    const int four = _mm_cvtsi128_si32(
        _mm_or_si128(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1)));
    memcpy(at, &four, sizeof four);
}

H5TWIN_LANES_INLINE v32
v_load_halves32(const void *at)
{
    return (v32)_mm256_cvtepu16_epi32(_mm_loadu_si128(at));
}

H5TWIN_LANES_INLINE void
v_store_halves32(void *at, v32 v)
{
    const __m256i low = RAW(v & 0xFFFF);
    _mm_storeu_si128(
        at, _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
}

/* ---- places ---- */

H5TWIN_LANES_INLINE v32
v_permute32(v32 v, v32 lane)
{
    return (v32)_mm256_permutevar8x32_epi32(RAW(v), RAW(lane));
}

H5TWIN_LANES_INLINE v64
v_permute64(v64 v, v64 lane)
{
    const v64 halves = (lane << 1) | (lane << 33) | UINT64_C(1) << 32;
    return (v64)_mm256_permutevar8x32_epi32(RAW(v), RAW(halves));
}

H5TWIN_LANES_INLINE v32
v_compress32(m32 m, v32 v)
{
    return (v32)h5twin_compress_lanes_avx2(m_bits32(m), RAW(v));
}

H5TWIN_LANES_INLINE v64
v_compress64(m64 m, v64 v)
{
    return (v64)h5twin_compress_lanes_avx2(m_bits32((m32)m), RAW(v));
}

H5TWIN_LANES_INLINE v32
v_expand32(m32 m, v32 v)
{
    const __m256i lanes = h5twin_widen_lanes_avx2(h5twin_expand_lanes[m_bits32(m)]);
    return (v32)_mm256_permutevar8x32_epi32(RAW(v), lanes);
}

H5TWIN_LANES_INLINE v64
v_expand64(m64 m, v64 v)
{
    return (v64)v_expand32((m32)m, (v32)v);
}

H5TWIN_LANES_INLINE v32
v_shift_in32(v32 v, v32 before)
{
    const __m256i across = _mm256_permute2x128_si256(RAW(before), RAW(v), 0x21);
    return (v32)_mm256_alignr_epi8(RAW(v), across, 12);
}

H5TWIN_LANES_INLINE v64
v_shift_in64(v64 v, v64 before)
{
    const __m256i across = _mm256_permute2x128_si256(RAW(before), RAW(v), 0x21);
    return (v64)_mm256_alignr_epi8(RAW(v), across, 8);
}

H5TWIN_LANES_INLINE v32
v_evens32(v32 a, v32 b)
{
    const __m256 evens =
        _mm256_shuffle_ps(_mm256_castsi256_ps(RAW(a)), _mm256_castsi256_ps(RAW(b)), 0x88);
    return (v32)_mm256_permute4x64_epi64(_mm256_castps_si256(evens), 0xD8);
}

H5TWIN_LANES_INLINE v32
v_odds32(v32 a, v32 b)
{
    const __m256 odds =
        _mm256_shuffle_ps(_mm256_castsi256_ps(RAW(a)), _mm256_castsi256_ps(RAW(b)), 0xDD);
    return (v32)_mm256_permute4x64_epi64(_mm256_castps_si256(odds), 0xD8);
}

H5TWIN_LANES_INLINE v32
v_gather32(const uint32_t *table, v32 index)
{
    const uint64_t a = (uint64_t)_mm256_extract_epi64(RAW(index), 0);
    const uint64_t b = (uint64_t)_mm256_extract_epi64(RAW(index), 1);
    const uint64_t c = (uint64_t)_mm256_extract_epi64(RAW(index), 2);
    const uint64_t d = (uint64_t)_mm256_extract_epi64(RAW(index), 3);
    return (v32){table[(uint32_t)a], table[a >> 32], table[(uint32_t)b], table[b >> 32],
                 table[(uint32_t)c], table[c >> 32], table[(uint32_t)d], table[d >> 32]};
}

H5TWIN_LANES_INLINE v64
v_gather64(const uint64_t *table, v64 index)
{
    return (v64){table[index[0]], table[index[1]], table[index[2]], table[index[3]]};
}

/* ---- arithmetic ---- */

/* By the exponent of a float, with none of the bits that could round it up. */
H5TWIN_LANES_INLINE v32
v_zeros_before32(v32 v)
{
    const __m256i top = _mm256_andnot_si256(RAW(v >> 8), RAW(v));
    const __m256i exponent =
        _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(top)), 23); /* and a sign */
    return (v32)_mm256_min_epi16(_mm256_subs_epu16(_mm256_set1_epi32(158), exponent),
                                 _mm256_set1_epi32(32));
}

/* Of both halves; those of the low one count where the high one is 0. */
H5TWIN_LANES_INLINE v64
v_zeros_before64(v64 v)
{
    const v64 halves = (v64)v_zeros_before32((v32)v), high = halves >> 32;
    return high + (halves & (0 - (high >> 5)) & 63);
}

H5TWIN_LANES_INLINE v32
v_abs32(v32 v)
{
    return (v32)_mm256_abs_epi32(RAW(v));
}

H5TWIN_LANES_INLINE v64
v_abs64(v64 v)
{
    const v64 sign = m_negative64(v);
    return (v ^ sign) - sign;
}

H5TWIN_LANES_INLINE v32
v_max32(v32 a, v32 b)
{
    return (v32)_mm256_max_epi32(RAW(a), RAW(b));
}

H5TWIN_LANES_INLINE v64
v_max64(v64 a, v64 b)
{
    return v_select64(m_greater64(a, b), a, b);
}

H5TWIN_LANES_INLINE v32
v_min32(v32 a, v32 b)
{
    return (v32)_mm256_min_epi32(RAW(a), RAW(b));
}

H5TWIN_LANES_INLINE v64
v_min64(v64 a, v64 b)
{
    return v_select64(m_greater64(a, b), b, a);
}

H5TWIN_LANES_INLINE v32
v_multiply_high32(v32 a, v32 b)
{
    const __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(RAW(a), RAW(b)), 32);
    const __m256i odd =
        _mm256_mul_epu32(_mm256_srli_epi64(RAW(a), 32), _mm256_srli_epi64(RAW(b), 32));
    return (v32)_mm256_blend_epi32(even, odd, 0xAA);
}

H5TWIN_LANES_INLINE v64
v_multiply_halves64(v64 a, v64 b)
{
    return (v64)_mm256_mul_epu32(RAW(a), RAW(b));
}

H5TWIN_LANES_INLINE v32
v_scan32(v32 v)
{
    return (v32)h5twin_sum_lanes32_avx2(RAW(v));
}

H5TWIN_LANES_INLINE v64
v_scan64(v64 v)
{
    return (v64)h5twin_sum_lanes64_avx2(RAW(v));
}

H5TWIN_LANES_INLINE uint32_t
v_last32(v32 v)
{
    return (uint32_t)_mm256_extract_epi32(RAW(v), 7);
}

H5TWIN_LANES_INLINE uint64_t
v_last64(v64 v)
{
    return (uint64_t)_mm256_extract_epi64(RAW(v), 3);
}

H5TWIN_LANES_INLINE v32
v_last_everywhere32(v32 v)
{
    return (v32)h5twin_last_lane32_avx2(RAW(v));
}

H5TWIN_LANES_INLINE v64
v_last_everywhere64(v64 v)
{
    return (v64)h5twin_last_lane64_avx2(RAW(v));
}

H5TWIN_LANES_INLINE uint32_t
v_sum32(v32 v)
{
    __m128i half =
        _mm_add_epi32(_mm256_castsi256_si128(RAW(v)), _mm256_extracti128_si256(RAW(v), 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
    return (uint32_t)_mm_cvtsi128_si32(half);
}

H5TWIN_LANES_INLINE uint64_t
v_sum64(v64 v)
{
    const __m128i half =
        _mm_add_epi64(_mm256_castsi256_si128(RAW(v)), _mm256_extracti128_si256(RAW(v), 1));
    return (uint64_t)_mm_cvtsi128_si64(half) + (uint64_t)_mm_extract_epi64(half, 1);
}

H5TWIN_LANES_INLINE uint64_t
v_any64(v64 v)
{
    const __m128i half =
        _mm_or_si128(_mm256_castsi256_si128(RAW(v)), _mm256_extracti128_si256(RAW(v), 1));
    return (uint64_t)_mm_cvtsi128_si64(half) | (uint64_t)_mm_extract_epi64(half, 1);
}

H5TWIN_LANES_INLINE uint32_t
v_any32(v32 v)
{
    const uint64_t any = v_any64((v64)v);
    return (uint32_t)any | (uint32_t)(any >> 32);
}

H5TWIN_LANES_INLINE f32
v_to_float32(v32 v)
{
    return (f32)_mm256_cvtepi32_ps(RAW(v));
}

H5TWIN_LANES_INLINE v32
v_to_nearest32(f32 f)
{
    return (v32)_mm256_cvtps_epi32((__m256)f);
}

/* Next to 3 * 2^51 the last bit of a double is worth 1. */
H5TWIN_LANES_INLINE f64
v_to_double64(v64 v)
{
    return (f64)(v + UINT64_C(0x4338000000000000)) - 0x3p51;
}

H5TWIN_LANES_INLINE v64
v_to_nearest64(f64 f)
{
    return (v64)(f + 0x3p51) - UINT64_C(0x4338000000000000);
}

/* ---- squares ---- */

H5TWIN_LANES_INLINE void
v_transpose64(v64 rows[4])
{
    __m256i pairs[4];
    for (unsigned i = 0; i < 4; i += 2) {
        pairs[i] = _mm256_unpacklo_epi64(RAW(rows[i]), RAW(rows[i + 1]));
        pairs[i + 1] = _mm256_unpackhi_epi64(RAW(rows[i]), RAW(rows[i + 1]));
    }
    for (unsigned i = 0; i < 2; i++) {
        rows[i] = (v64)_mm256_permute2x128_si256(pairs[i], pairs[i + 2], 0x20);
        rows[i + 2] = (v64)_mm256_permute2x128_si256(pairs[i], pairs[i + 2], 0x31);
    }
}

H5TWIN_LANES_INLINE void
v_transpose32(v32 rows[8])
{
    __m256i pairs[8], fours[8];
    for (unsigned i = 0; i < 8; i += 2) {
        pairs[i] = _mm256_unpacklo_epi32(RAW(rows[i]), RAW(rows[i + 1]));
        pairs[i + 1] = _mm256_unpackhi_epi32(RAW(rows[i]), RAW(rows[i + 1]));
    }
    for (unsigned i = 0; i < 8; i += 4) {
        fours[i] = _mm256_unpacklo_epi64(pairs[i], pairs[i + 2]);
        fours[i + 1] = _mm256_unpackhi_epi64(pairs[i], pairs[i + 2]);
        fours[i + 2] = _mm256_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
        fours[i + 3] = _mm256_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
    }
    for (unsigned i = 0; i < 4; i++) {
        rows[i] = (v32)_mm256_permute2x128_si256(fours[i], fours[i + 4], 0x20);
        rows[i + 4] = (v32)_mm256_permute2x128_si256(fours[i], fours[i + 4], 0x31);
    }
}

#undef RAW
#endif
