/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_votes_avx512.h: what the differences of a block vote for, with AVX-512.
 *
 * Votes above the lag's complement make one number, whose largest is elected. */
#ifndef H5TWIN_CASCADE_VOTES_AVX512_H
#define H5TWIN_CASCADE_VOTES_AVX512_H

#include "cascade_kernels.h"

#include <immintrin.h>

#define CASCADE_LAG_BITS 25u /* of lag * 2 + sign: a slab has at most 2^24 values */

/* The lags of 16 differences, 0 where there is none. */
static inline __m512i
cascade_lags_avx512(const uint32_t *slots, __mmask16 valid, const uint32_t *last_places,
                    uint32_t none, uint32_t begin, unsigned first)
{
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i in = _mm512_maskz_loadu_epi32(valid, slots + first);
    const __m512i slot = _mm512_srli_epi32(in, 1);
    const __mmask16 has_key =
        _mm512_mask_cmpneq_epi32_mask(valid, slot, _mm512_set1_epi32((int)none));
    const __m512i last = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), has_key, slot,
                                                     (const int *)last_places, 4);
    const __m512i place = _mm512_add_epi32(_mm512_set1_epi32((int)(begin + first + 1)), lane);
    const __m512i distance = _mm512_sub_epi32(place, _mm512_srli_epi32(last, 1));
    const __mmask16 is_far = _mm512_mask_cmpge_epu32_mask(
        _mm512_test_epi32_mask(last, last), distance, _mm512_set1_epi32(CASCADE_REFERENCE_BLOCK));
    const __mmask16 is_lag =
        _mm512_mask_cmple_epu32_mask(is_far, distance, _mm512_set1_epi32((int)begin));
    const __m512i sign = _mm512_and_si512(_mm512_xor_si512(last, in), _mm512_set1_epi32(1));
    return _mm512_maskz_or_epi32(is_lag, _mm512_slli_epi32(distance, 1), sign);
}

/* How many lanes before each are equal to it. */
static inline __m512i
cascade_count_before_avx512(__m512i lags)
{
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m512i ones_of =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i before = _mm512_conflict_epi32(lags); /* a bit each, 15 at most */
    const __m512i low = _mm512_shuffle_epi8(ones_of, _mm512_and_si512(before, nibble));
    const __m512i high =
        _mm512_shuffle_epi8(ones_of, _mm512_and_si512(_mm512_srli_epi16(before, 4), nibble));
    return _mm512_maddubs_epi16(_mm512_add_epi8(low, high), _mm512_set1_epi8(1));
}

/* How many lanes of b are equal to each of a. */
static inline __m512i
cascade_count_equal_avx512(__m512i a, __m512i b)
{
    const __m512i one = _mm512_set1_epi32(1);
    __m512i counts = _mm512_setzero_si512();
    for (unsigned turn = 0; turn < 16; turn++) {
        counts = _mm512_mask_add_epi32(counts, _mm512_cmpeq_epi32_mask(a, b), counts, one);
        b = _mm512_alignr_epi32(b, b, 1);
    }
    return counts;
}

static inline __m512i
cascade_ballots_avx512(__m512i lags, __m512i counts)
{
    const __m512i most = _mm512_set1_epi32((1 << CASCADE_LAG_BITS) - 1);
    return _mm512_maskz_add_epi32(_mm512_test_epi32_mask(lags, lags),
                                  _mm512_slli_epi32(counts, CASCADE_LAG_BITS),
                                  _mm512_sub_epi32(most, lags));
}

static inline void
h5twin_cascade_votes_avx512(uint32_t lag[CASCADE_VOTES], const uint32_t *restrict slots,
                            unsigned count, const uint32_t *restrict last_places, uint32_t none,
                            uint32_t begin)
{
    const uint32_t most = (UINT32_C(1) << CASCADE_LAG_BITS) - 1;
    const uint32_t valid = _bzhi_u32(~UINT32_C(0), count);
    const __m512i first = cascade_lags_avx512(slots, (__mmask16)valid, last_places, none, begin, 0);
    const __m512i second =
        cascade_lags_avx512(slots, (__mmask16)(valid >> 16), last_places, none, begin, 16);
    /* the last of equal lanes in a half has all of that half's votes; in the first one, all */
    const __m512i others = cascade_count_equal_avx512(first, second);
    __m512i low =
        cascade_ballots_avx512(first, _mm512_add_epi32(cascade_count_before_avx512(first), others));
    __m512i high = cascade_ballots_avx512(second, cascade_count_before_avx512(second));
    for (unsigned i = 0; i < CASCADE_VOTES; i++) {
        const uint32_t best = _mm512_reduce_max_epu32(_mm512_max_epu32(low, high));
        lag[i] = best == 0 ? 0 : most - (best & most);
        const __m512i all = _mm512_set1_epi32((int)lag[i]);
        low = _mm512_maskz_mov_epi32(_mm512_cmpneq_epi32_mask(first, all), low);
        high = _mm512_maskz_mov_epi32(_mm512_cmpneq_epi32_mask(second, all), high);
    }
}

#endif
