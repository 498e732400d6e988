/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_streams_avx512.h: what cascade_streams_avx512_template.h needs for either width. */
#ifndef H5TWIN_CASCADE_STREAMS_AVX512_H
#define H5TWIN_CASCADE_STREAMS_AVX512_H

#include "../common/bit_fields_avx512.h"

/* The intrinsic of this name for lanes of so many bits. */
#define CASCADE_VECTOR_32(name) _mm512_##name##_epi32
#define CASCADE_VECTOR_64(name) _mm512_##name##_epi64
#define CASCADE_MASK_32(name)   _mm512_##name##_epi32_mask
#define CASCADE_MASK_64(name)   _mm512_##name##_epi64_mask

/* The first `count` of the lanes of a vector, at most all. */
static inline __mmask16
cascade_first_lanes(size_t count, unsigned lanes)
{
    return (__mmask16)_bzhi_u32((1u << lanes) - 1, count < lanes ? (unsigned)count : lanes);
}

/* The lanes of a vector of mask bytes, of which there are `count` more, that are not masked. */
static inline __mmask16
cascade_unmasked_lanes(const uint8_t *mask, size_t count, unsigned lanes)
{
    const __mmask16 valid = cascade_first_lanes(count, lanes);
    return _mm_mask_testn_epi8_mask(valid, _mm_maskz_loadu_epi8(valid, mask), _mm_set1_epi8(-1));
}

/* Quarter j of each of four vectors, quarter by quarter. */
static inline void
cascade_transpose_quarters(__m512i out[4], __m512i a, __m512i b, __m512i c, __m512i d)
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

/* A square of as many vectors as they have lanes, rows and columns swapped. */
static inline void
cascade_transpose64(__m512i square[8])
{
    __m512i pairs[8], out[4];
    for (unsigned i = 0; i < 8; i += 2) {
        pairs[i] = _mm512_unpacklo_epi64(square[i], square[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi64(square[i], square[i + 1]);
    }
    for (unsigned c = 0; c < 2; c++) {
        cascade_transpose_quarters(out, pairs[c], pairs[2 + c], pairs[4 + c], pairs[6 + c]);
        for (unsigned q = 0; q < 4; q++) {
            square[2 * q + c] = out[q];
        }
    }
}

static inline void
cascade_transpose32(__m512i square[16])
{
    __m512i pairs[16], fours[16], out[4];
    for (unsigned i = 0; i < 16; i += 2) {
        pairs[i] = _mm512_unpacklo_epi32(square[i], square[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi32(square[i], square[i + 1]);
    }
    for (unsigned i = 0; i < 16; i += 4) {
        fours[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
        fours[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
        fours[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
        fours[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
    }
    for (unsigned c = 0; c < 4; c++) {
        cascade_transpose_quarters(out, fours[c], fours[4 + c], fours[8 + c], fours[12 + c]);
        for (unsigned q = 0; q < 4; q++) {
            square[4 * q + c] = out[q];
        }
    }
}

#endif
