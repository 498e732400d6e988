/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_steps_avx512.h: how many steps of a width make a difference, for sixteen narrow integers
 * at a time. */
#ifndef H5TWIN_LATTICE_STEPS_AVX512_H
#define H5TWIN_LATTICE_STEPS_AVX512_H

#include "lattice_core.h"

#include <immintrin.h>

#define LATTICE_TO_NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

/* A width and what divides by it. */
struct width512 {
    __m512i width, half, factor;
    __m128i shift;
    __m512 inverse;
};

static inline struct width512
make_width512(int32_t width, struct lattice_divisor32 divisor)
{
    return (struct width512){.width = _mm512_set1_epi32(width),
                             .half = _mm512_set1_epi32(width / 2),
                             .factor = _mm512_set1_epi64((long long)divisor.factor),
                             .shift = _mm_cvtsi32_si128((int)divisor.shift),
                             .inverse = _mm512_set1_ps(1 / (float)width)};
}

/* h5twin_lattice_steps32 of any difference. */
static inline __m512i
far_steps512(const struct width512 *width, __m512i difference)
{
    const __m512i dividend = _mm512_add_epi32(_mm512_abs_epi32(difference), width->half);
    const __m512i even = _mm512_srl_epi64(_mm512_mul_epu32(dividend, width->factor), width->shift);
    const __m512i odd = _mm512_srl_epi64(
        _mm512_mul_epu32(_mm512_srli_epi64(dividend, 32), width->factor), width->shift);
    const __m512i steps = _mm512_mask_shuffle_epi32(even, 0xAAAA, odd, _MM_PERM_CCAA);
    return _mm512_mask_sub_epi32(steps, _mm512_movepi32_mask(difference), _mm512_setzero_si512(),
                                 steps);
}

/* The same, nearly always by floats: quotients by an odd width are at least 1 / (2 width) away from
 * a tie, and are rounded by less than that if the dividend is below 2^22. */
static inline __m512i
steps512(const struct width512 *width, __m512i difference)
{
    const __m512i most = _mm512_set1_epi32(1 << 21);
    const __m512i moved = _mm512_add_epi32(difference, most);
    if (_mm512_cmpge_epu32_mask(moved, _mm512_slli_epi32(most, 1)) != 0) {
        return far_steps512(width, difference);
    }
    const __m512 quotient =
        _mm512_mul_round_ps(_mm512_cvt_roundepi32_ps(difference, LATTICE_TO_NEAREST),
                            width->inverse, LATTICE_TO_NEAREST);
    return _mm512_cvt_roundps_epi32(quotient, LATTICE_TO_NEAREST);
}

static inline __m512i
zigzag512(__m512i steps)
{
    return _mm512_xor_si512(_mm512_slli_epi32(steps, 1), _mm512_srai_epi32(steps, 31));
}

/* h5twin_lattice_bin32; width > 1. */
static inline __m512i
bin512(const struct width512 *width, __m512i last, __m512i integer)
{
    const __m512i limit = _mm512_set1_epi32(LATTICE_LIMIT32);
    const __m512i bin = steps512(width, integer);
    const __mmask16 is_most = _mm512_cmpeq_epi32_mask(integer, limit);
    const __mmask16 is_least =
        _mm512_cmpeq_epi32_mask(integer, _mm512_sub_epi32(_mm512_setzero_si512(), limit));
    return _mm512_mask_sub_epi32(_mm512_mask_mov_epi32(bin, is_most, last), is_least,
                                 _mm512_setzero_si512(), last);
}

static void
bins512(int32_t *restrict bins, const int32_t *restrict integers, size_t count, uint32_t width)
{
    const struct width512 by = make_width512((int32_t)width, h5twin_lattice_divisor32(width));
    const __m512i last = _mm512_set1_epi32(h5twin_lattice_last_bin32((int32_t)width));
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        _mm512_storeu_si512(bins + i, bin512(&by, last, _mm512_loadu_si512(integers + i)));
    }
    if (i < count) {
        const __mmask16 lanes = (__mmask16)((1u << (count - i)) - 1);
        const __m512i integer = _mm512_maskz_loadu_epi32(lanes, integers + i);
        _mm512_mask_storeu_epi32(bins + i, lanes, bin512(&by, last, integer));
    }
}

#endif
