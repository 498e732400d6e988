/* SPDX-License-Identifier: BSD-3-Clause
 * sum_avx2_template.h: for sum_avx2.h; word_names.h says how templates are included. */

#if WORD_BITS == 32
#    define SET           _mm256_set1_epi32
#    define FIRST_LANE(v) _mm_cvtsi128_si32(_mm256_castsi256_si128(v))
#else
#    define SET           _mm256_set1_epi64x
#    define FIRST_LANE(v) _mm_cvtsi128_si64(_mm256_castsi256_si128(v))
#endif
#define LANES (256u / WORD_BITS)

static inline __m256i
NAME_AVX2(h5twin_unzigzag)(__m256i codes)
{
    const __m256i sign = _mm256_and_si256(codes, SET(1));
    return _mm256_xor_si256(NAME(_mm256_srli_epi)(codes, 1),
                            NAME(_mm256_sub_epi)(_mm256_setzero_si256(), sign));
}

/* Codes of differences (mapped twice if is_signed) to words, starting after `previous`. Returns the
 * last word. dst may be src. */
static inline WORD
NAME_AVX2(h5twin_sum)(uint8_t *dst, const uint8_t *src, size_t word_count, WORD previous,
                      bool is_signed)
{
    __m256i carry = SET((SIGNED)previous);
    size_t i = 0;
    for (; i + LANES <= word_count; i += LANES) {
        __m256i v = h5twin_load_avx2(src + WORD_BYTES * i);
        v = is_signed ? NAME_AVX2(h5twin_unzigzag)(v) : v;
        const __m256i sums = NAME_AVX2(h5twin_sum_lanes)(NAME_AVX2(h5twin_unzigzag)(v));
        h5twin_store_avx2(dst + WORD_BYTES * i, NAME(_mm256_add_epi)(sums, carry));
        carry = NAME(_mm256_add_epi)(carry, NAME_AVX2(h5twin_last_lane)(sums));
    }
    previous = (WORD)FIRST_LANE(carry);
    for (; i < word_count; i++) {
        const WORD word = NAME(h5twin_load)(src + WORD_BYTES * i);
        previous += NAME(h5twin_unzigzag)(is_signed ? NAME(h5twin_unzigzag)(word) : word);
        NAME(h5twin_store)(dst + WORD_BYTES * i, previous);
    }
    return previous;
}

#undef LANES
#undef FIRST_LANE
#undef SET
#undef WORD_BITS
