/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_expand_avx512_template.h: tokens and extra bits to words, for
 * residuals_kernels_avx512.c. Include with WORD_BITS, 32 or 64. */

#if WORD_BITS == 32
#    define MASK                __mmask16
#    define LOAD_TOKENS(tokens) _mm_loadu_si128((const __m128i *)(const void *)(tokens))
#else
#    define MASK                __mmask8
#    define LOAD_TOKENS(tokens) _mm_loadl_epi64((const __m128i *)(const void *)(tokens))
#endif
#define LANES (512u / WORD_BITS)

static void
NAME_AVX512(expand)(void *restrict words, const uint8_t *restrict tokens, unsigned word_count,
                    struct h5twin_lsb_reader *restrict reader)
{
    const __m512i one = NAME(_mm512_set1_epi)(1), two = NAME(_mm512_set1_epi)(2);
    const unsigned whole = word_count - word_count % LANES;
    WORD *const out = words;
    for (unsigned i = 0; i < whole; i += LANES) {
        const __m512i token = NAME(_mm512_cvtepu8_epi)(LOAD_TOKENS(tokens + i));
        const MASK is_long = NAME_MASK(_mm512_cmpge_epu)(token, NAME(_mm512_set1_epi)(16));
        const __m512i widths = NAME(_mm512_maskz_sub_epi)(is_long, NAME(_mm512_srli_epi)(token, 1),
                                                          NAME(_mm512_set1_epi)(5));
        const __m512i extra =
            NAME_AVX512(h5twin_bit_fields)(reader->src, reader->src_size, &reader->bit, widths);
        const __m512i top = _mm512_or_si512(two, _mm512_and_si512(token, one));
        const __m512i word = _mm512_or_si512(NAME(_mm512_sllv_epi)(top, widths), extra);
        _mm512_storeu_si512(out + i, NAME(_mm512_mask_mov_epi)(token, is_long, word));
    }
    NAME(expand)(out + whole, tokens + whole, word_count - whole, reader);
}

#undef LANES
#undef LOAD_TOKENS
#undef MASK
#undef WORD_BITS
