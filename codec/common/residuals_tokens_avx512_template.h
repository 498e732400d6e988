/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_tokens_avx512_template.h: a vector of words to tokens, for residuals_encode_avx512.h.
 * Include with WORD_BITS, 32 or 64. */

#if WORD_BITS == 32
#    define MASK __mmask16
#else
#    define MASK __mmask8
#endif
#define LANES (512u / WORD_BITS)

static inline struct words_avx512
NAME_AVX512(load_words)(const WORD *words, unsigned left, __m128i shift)
{
    const __m512i loaded = NAME(_mm512_maskz_loadu_epi)((MASK)first_lanes(left, LANES), words);
    const __m512i shifted = NAME(_mm512_srl_epi)(loaded, shift);
    return (struct words_avx512){shifted, NAME(_mm512_lzcnt_epi)(shifted),
                                 NAME_MASK(_mm512_cmpge_epu)(shifted, NAME(_mm512_set1_epi)(16))};
}

/* The two highest bits, 2 or 3, and 2 for each bit of the length, as h5twin_residual_token. */
static inline __m512i
NAME_AVX512(word_tokens)(const struct words_avx512 *from)
{
    const __m512i highest =
        NAME(_mm512_srli_epi)(NAME(_mm512_sllv_epi)(from->words, from->zeros), WORD_BITS - 2);
    const __m512i lengths = NAME(_mm512_sub_epi)(NAME(_mm512_set1_epi)(6 + 2 * WORD_BITS - 2),
                                                 NAME(_mm512_slli_epi)(from->zeros, 1));
    return NAME(_mm512_mask_add_epi)(from->words, (MASK)from->are_long, lengths, highest);
}

/* Extra bits of each word. */
static inline __m512i
NAME_AVX512(word_widths)(const struct words_avx512 *from)
{
    return NAME(_mm512_maskz_sub_epi)((MASK)from->are_long, NAME(_mm512_set1_epi)(WORD_BITS - 2),
                                      from->zeros);
}

#undef LANES
#undef MASK
#undef WORD_BITS
