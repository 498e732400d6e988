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

#endif
