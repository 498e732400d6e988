/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_steps_avx512.h: how many steps of a width make a difference, for sixteen narrow integers
 * at a time; for lattice_rows_avx512.h. */
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

#endif
