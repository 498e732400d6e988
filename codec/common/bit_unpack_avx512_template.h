/* SPDX-License-Identifier: BSD-3-Clause
 * bit_unpack_avx512_template.h: unpacking, for bit_pack_avx512.c. Include with WORD_BITS, 32 or
 * 64. */

#if WORD_BITS == 32
#    define BITS_LOG2   5
#    define LANE_NUMBER _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#else
#    define BITS_LOG2   6
#    define LANE_NUMBER _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0)
#endif
#define LANES (512u / WORD_BITS)

static void
NAME(unpack)(WORD *restrict dst, size_t count, unsigned width_bits, const uint8_t *restrict src)
{
    const size_t whole = count - count % LANES;
    const unsigned size = LANES / 8 * width_bits;
    const __m512i width = NAME(_mm512_set1_epi)((SIGNED)width_bits);
    const __m512i bit = NAME(_mm512_mullo_epi)(LANE_NUMBER, width);
    const __m512i low_word = NAME(_mm512_srli_epi)(bit, BITS_LOG2);
    const __m512i high_word = NAME(_mm512_add_epi)(low_word, NAME(_mm512_set1_epi)(1));
    const __m512i mask = NAME(_mm512_set1_epi)((SIGNED)NAME(_bzhi_u)((WORD)-1, width_bits));
    const uint8_t *const end = src + whole / 8 * width_bits;
    for (size_t i = 0; i < whole; i += LANES, src += size) {
        const __m512i packed = load_vector(src, end, size);
        const __m512i low = NAME(_mm512_permutexvar_epi)(low_word, packed);
        const __m512i high = NAME(_mm512_permutexvar_epi)(high_word, packed);
        /* The double shift takes its count modulo the width of a word. */
        const __m512i words = NAME(_mm512_shrdv_epi)(low, high, bit);
        _mm512_storeu_si512(dst + i, _mm512_and_si512(words, mask));
    }
    if (whole != count) {
        NAME(h5twin_bit_unpack)(dst + whole, count - whole, width_bits, src);
    }
}

#undef LANES
#undef LANE_NUMBER
#undef BITS_LOG2
#undef WORD_BITS
