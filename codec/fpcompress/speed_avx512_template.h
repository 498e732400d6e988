/* SPDX-License-Identifier: BSD-3-Clause
 * speed_avx512_template.h: planning a full subchunk with AVX-512, for speed_avx512.c. Include with
 * WORD_BITS, 32 or 64. */

#define VECTORS 8u /* of a full subchunk */
#define LANES   (512u / WORD_BITS)
#if WORD_BITS == 32
#    define MASK __mmask16
#else
#    define MASK __mmask8
#endif

/* Map a subchunk's words a second time if that makes the largest smaller. Returns their width. */
static unsigned
NAME(map_twice)(WORD *words, bool *is_signed)
{
    __m512i largest = _mm512_setzero_si512(), largest_mapped = largest;
    for (unsigned i = 0; i < VECTORS; i++) {
        const __m512i v = _mm512_loadu_si512(words + LANES * i);
        largest = NAME(_mm512_max_epu)(largest, v);
        largest_mapped = NAME(_mm512_max_epu)(largest_mapped, NAME_AVX512(h5twin_zigzag)(v));
    }
    const WORD all = NAME(_mm512_reduce_max_epu)(largest);
    const WORD all_mapped = NAME(_mm512_reduce_max_epu)(largest_mapped);
    *is_signed = h5twin_fpc_is_signed(all, all_mapped);
    for (unsigned i = 0; i < VECTORS && *is_signed; i++) {
        const __m512i v = _mm512_loadu_si512(words + LANES * i);
        _mm512_storeu_si512(words + LANES * i, NAME_AVX512(h5twin_zigzag)(v));
    }
    return NAME(h5twin_bit_length)(*is_signed ? all_mapped : all);
}

static inline unsigned
NAME(plan_vectors)(WORD *restrict words, const uint8_t *restrict src, bool is_first,
                   bool *is_signed)
{
    __m512i any = _mm512_setzero_si512();
    for (unsigned i = 0; i < VECTORS; i++) {
        const MASK present = (MASK)(i == 0 && is_first ? ~1u : ~0u);
        const __m512i before = NAME(_mm512_maskz_loadu_epi)(present, src + 64 * i - sizeof(WORD));
        const __m512i now = _mm512_loadu_si512(src + 64 * i);
        const __m512i v = NAME_AVX512(h5twin_zigzag)(NAME(_mm512_sub_epi)(now, before));
        _mm512_storeu_si512(words + LANES * i, v);
        any = _mm512_or_si512(any, v);
    }
    *is_signed = false;
    const WORD all = (WORD)NAME(_mm512_reduce_or_epi)(any);
    /* Otherwise the second mapping would double the largest one. */
    return all >> (WORD_BITS - 1) != 0 ? NAME(map_twice)(words, is_signed)
                                       : NAME(h5twin_bit_length)(all);
}

#undef MASK
#undef LANES
#undef VECTORS
#undef WORD_BITS
