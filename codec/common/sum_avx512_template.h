/* SPDX-License-Identifier: BSD-3-Clause
 * sum_avx512_template.h: for sum_avx512.h; word_names.h says how templates are included. */

#if WORD_BITS == 32
#    define MASK          __mmask16
#    define FIRST_LANE(v) _mm_cvtsi128_si32(_mm512_castsi512_si128(v))
#else
#    define MASK          __mmask8
#    define FIRST_LANE(v) _mm_cvtsi128_si64(_mm512_castsi512_si128(v))
#endif
#define LANES (512u / WORD_BITS)

static inline __m512i
NAME_AVX512(h5twin_zigzag)(__m512i words)
{
    return _mm512_xor_si512(NAME(_mm512_slli_epi)(words, 1),
                            NAME(_mm512_srai_epi)(words, WORD_BITS - 1));
}

static inline __m512i
NAME_AVX512(h5twin_unzigzag)(__m512i codes)
{
    const __m512i sign = _mm512_and_si512(codes, NAME(_mm512_set1_epi)(1));
    return _mm512_xor_si512(NAME(_mm512_srli_epi)(codes, 1),
                            NAME(_mm512_sub_epi)(_mm512_setzero_si512(), sign));
}

/* The sums of the differences 0..j of a vector. */
static inline __m512i
NAME_AVX512(h5twin_prefix_sum)(__m512i v, bool is_signed)
{
    v = is_signed ? NAME_AVX512(h5twin_unzigzag)(v) : v;
    return NAME_AVX512(h5twin_scan)(NAME_AVX512(h5twin_unzigzag)(v));
}

/* Codes of differences (mapped twice if is_signed) to words, starting after `previous`. Returns the
 * last word. dst may be src. Whole vectors without masks: Zen 4 decodes SPspeed a quarter faster.
 */
static inline WORD
NAME_AVX512(h5twin_sum)(uint8_t *dst, const uint8_t *src, size_t word_count, WORD previous,
                        bool is_signed)
{
    const __m512i last = NAME(_mm512_set1_epi)(LANES - 1);
    __m512i carry = NAME(_mm512_set1_epi)((SIGNED)previous);
    size_t i = 0;
    for (; i + LANES <= word_count; i += LANES) {
        const __m512i sums =
            NAME_AVX512(h5twin_prefix_sum)(_mm512_loadu_si512(src + WORD_BYTES * i), is_signed);
        _mm512_storeu_si512(dst + WORD_BYTES * i, NAME(_mm512_add_epi)(sums, carry));
        carry = NAME(_mm512_add_epi)(carry, NAME(_mm512_permutexvar_epi)(last, sums));
    }
    if (i < word_count) {
        const MASK valid = (MASK)((1u << (word_count - i)) - 1u);
        const __m512i words = NAME(_mm512_maskz_loadu_epi)(valid, src + WORD_BYTES * i);
        const __m512i sums = NAME_AVX512(h5twin_prefix_sum)(words, is_signed);
        const __m512i out = NAME(_mm512_add_epi)(sums, carry);
        NAME(_mm512_mask_storeu_epi)(dst + WORD_BYTES * i, valid, out);
        /* Codes beyond the end are 0. */
        carry = NAME(_mm512_add_epi)(carry, NAME(_mm512_permutexvar_epi)(last, sums));
    }
    return (WORD)FIRST_LANE(carry);
}

#undef LANES
#undef FIRST_LANE
#undef MASK
#undef WORD_BITS
