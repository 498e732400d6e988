/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_rows_avx512_template.h: rows of any length, for ndzip_rows_avx512.h. Include with
 * WORD_BITS, 32 or 64. */

#define LANES (512u / WORD_BITS)
#if WORD_BITS == 32
#    define MASK __mmask16
#else
#    define MASK __mmask8
#endif

/* The first `count` lanes, or all if there are fewer lanes than that. */
static inline MASK
NAME(mask)(size_t count)
{
    return (MASK)((0xFFFFu >> (16 - LANES)) >> (count < LANES ? LANES - count : 0));
}

/* Each word minus the one before, which for the first lane is the last of the vector before. */
static inline void
NAME(load_vector_row)(WORD *restrict row, const uint8_t *restrict src, size_t count)
{
    __m512i before = _mm512_setzero_si512();
    for (size_t i = 0; i < count; i += LANES) {
        const MASK mask = NAME(mask)(count - i);
        const __m512i words =
            NAME(_mm512_rol_epi)(NAME(_mm512_maskz_loadu_epi)(mask, src + WORD_BYTES * i), 1);
        const __m512i shifted = NAME(_mm512_alignr_epi)(words, before, LANES - 1);
        NAME(_mm512_mask_storeu_epi)(row + i, mask, NAME(_mm512_sub_epi)(words, shifted));
        before = words;
    }
}

/* The last lane carries over to the next ones. */
static inline void
NAME(store_vector_row)(uint8_t *restrict dst, const WORD *restrict row, size_t count)
{
    const __m512i last = NAME(_mm512_set1_epi)(LANES - 1);
    __m512i carry = _mm512_setzero_si512();
    for (size_t i = 0; i < count; i += LANES) {
        const MASK mask = NAME(mask)(count - i);
        const __m512i lanes = NAME_AVX512(h5twin_scan)(NAME(_mm512_maskz_loadu_epi)(mask, row + i));
        const __m512i sum = NAME(_mm512_add_epi)(lanes, carry);
        carry = NAME(_mm512_permutexvar_epi)(last, sum);
        NAME(_mm512_mask_storeu_epi)
        (dst + WORD_BYTES * i, mask, NAME(_mm512_ror_epi)(sum, 1));
    }
}

#undef MASK
#undef LANES
#undef WORD_BITS
