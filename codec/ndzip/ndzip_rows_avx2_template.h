/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_rows_avx2_template.h: rows of any length, for ndzip_rows_avx2.h. Include with WORD_BITS, 32
 * or 64. */

#if WORD_BITS == 32
#    define FIRST_LANE(v) _mm_cvtsi128_si32(_mm256_castsi256_si128(v))
#else
#    define FIRST_LANE(v) _mm_cvtsi128_si64(_mm256_castsi256_si128(v))
#endif
#define LANES (256u / WORD_BITS)

/* The last lane carries over to the next ones. */
static inline void
NAME(store_vector_row)(uint8_t *restrict dst, const WORD *restrict row, size_t count)
{
    __m256i carry = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const __m256i lanes = NAME_AVX2(h5twin_sum_lanes)(h5twin_load_avx2(row + i));
        const __m256i sums = NAME(_mm256_add_epi)(lanes, carry);
        const __m256i turned = _mm256_or_si256(NAME(_mm256_srli_epi)(sums, 1),
                                               NAME(_mm256_slli_epi)(sums, WORD_BITS - 1));
        h5twin_store_avx2(dst + WORD_BYTES * i, turned);
        carry = NAME_AVX2(h5twin_last_lane)(sums);
    }
    WORD sum = (WORD)FIRST_LANE(carry);
    for (; i < count; i++) {
        sum += row[i];
        NAME(h5twin_store)(dst + WORD_BYTES * i, NAME(h5twin_rotate_left)(sum, WORD_BITS - 1));
    }
}

#undef LANES
#undef FIRST_LANE
#undef WORD_BITS
