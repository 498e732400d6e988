/* SPDX-License-Identifier: BSD-3-Clause
 * bit_transpose_avx2.h: bit_transpose.h inline, for files built with AVX2.
 *
 * The off-diagonal quarters of ever smaller squares change places, as in bit_transpose.c, in
 * vectors of 32 bytes. Where the rows of a step lie in one vector, the words of two vectors are
 * first exchanged so that they do not. All rows leave in whole vectors: bits collected with
 * VPMOVMSKB take as long, and whoever loads the result would wait for many narrow stores. */
#ifndef H5TWIN_COMMON_BIT_TRANSPOSE_AVX2_H
#define H5TWIN_COMMON_BIT_TRANSPOSE_AVX2_H

#include "lanes_avx2.h"

/* Exchange the bits that mask selects in b with those `half` places higher in a. */
#define H5TWIN_SWAP_AVX2(bits, a, b, half, mask)                                                   \
    do {                                                                                           \
        const __m256i swap =                                                                       \
            _mm256_and_si256(_mm256_xor_si256(a, _mm256_srli_epi##bits(b, half)), mask);           \
        (a) = _mm256_xor_si256(a, swap);                                                           \
        (b) = _mm256_xor_si256(b, _mm256_slli_epi##bits(swap, half));                              \
    } while (0)

/* Lower halves of both vectors, upper halves of both. Its own inverse, as is the next one. */
static inline void
h5twin_exchange_halves(__m256i *a, __m256i *b)
{
    const __m256i low = _mm256_permute2x128_si256(*a, *b, 0x20);
    *b = _mm256_permute2x128_si256(*a, *b, 0x31);
    *a = low;
}

/* The same for each half and its 64-bit words. */
static inline void
h5twin_exchange_words64(__m256i *a, __m256i *b)
{
    const __m256i low = _mm256_unpacklo_epi64(*a, *b);
    *b = _mm256_unpackhi_epi64(*a, *b);
    *a = low;
}

/* Steps 4, 2 and 1 of the sixteen rows in two vectors. */
static inline void
h5twin_finish_rows32_avx2(__m256i *a, __m256i *b)
{
    const __m256i mask4 = _mm256_set1_epi8(0x0F), mask2 = _mm256_set1_epi8(0x33);
    const __m256i mask1 = _mm256_set1_epi8(0x55);
    h5twin_exchange_halves(a, b);
    H5TWIN_SWAP_AVX2(32, *a, *b, 4, mask4);
    h5twin_exchange_words64(a, b);
    H5TWIN_SWAP_AVX2(32, *a, *b, 2, mask2);
    const __m256 a_words = _mm256_castsi256_ps(*a), b_words = _mm256_castsi256_ps(*b);
    __m256i even = _mm256_castps_si256(_mm256_shuffle_ps(a_words, b_words, 0x88));
    __m256i odd = _mm256_castps_si256(_mm256_shuffle_ps(a_words, b_words, 0xDD));
    H5TWIN_SWAP_AVX2(32, even, odd, 1, mask1);
    *a = _mm256_unpacklo_epi32(even, odd);
    *b = _mm256_unpackhi_epi32(even, odd);
    h5twin_exchange_words64(a, b);
    h5twin_exchange_halves(a, b);
}

/* rows[i] holds rows 8i .. 8i + 7. */
static inline void
h5twin_bit_transpose_rows32_avx2(__m256i rows[4])
{
    const __m256i mask16 = _mm256_set1_epi32(0x0000FFFF), mask8 = _mm256_set1_epi16(0x00FF);
    H5TWIN_SWAP_AVX2(32, rows[0], rows[2], 16, mask16);
    H5TWIN_SWAP_AVX2(32, rows[1], rows[3], 16, mask16);
    H5TWIN_SWAP_AVX2(32, rows[0], rows[1], 8, mask8);
    H5TWIN_SWAP_AVX2(32, rows[2], rows[3], 8, mask8);
    h5twin_finish_rows32_avx2(&rows[0], &rows[1]);
    h5twin_finish_rows32_avx2(&rows[2], &rows[3]);
}

static inline void
h5twin_bit_transpose32_avx2(uint32_t words[32])
{
    __m256i rows[4];
    for (unsigned i = 0; i < 4; i++) {
        rows[i] = h5twin_load_avx2(words + 8 * i);
    }
    h5twin_bit_transpose_rows32_avx2(rows);
    for (unsigned i = 0; i < 4; i++) {
        h5twin_store_avx2(words + 8 * i, rows[i]);
    }
}

/* Steps 4, 2 and 1 of the eight rows in two vectors. */
static inline void
h5twin_finish_rows64_avx2(__m256i *a, __m256i *b)
{
    const __m256i mask4 = _mm256_set1_epi8(0x0F), mask2 = _mm256_set1_epi8(0x33);
    const __m256i mask1 = _mm256_set1_epi8(0x55);
    H5TWIN_SWAP_AVX2(64, *a, *b, 4, mask4);
    h5twin_exchange_halves(a, b);
    H5TWIN_SWAP_AVX2(64, *a, *b, 2, mask2);
    h5twin_exchange_words64(a, b);
    H5TWIN_SWAP_AVX2(64, *a, *b, 1, mask1);
    h5twin_exchange_words64(a, b);
    h5twin_exchange_halves(a, b);
}

static inline void
h5twin_bit_transpose64_avx2(uint64_t words[64])
{
    const __m256i mask32 = _mm256_set1_epi64x(0xFFFFFFFF);
    const __m256i mask16 = _mm256_set1_epi32(0x0000FFFF), mask8 = _mm256_set1_epi16(0x00FF);
    /* Steps 32, 16 and 8 join rows of equal number modulo 8: eight vectors at a time. */
    for (unsigned column = 0; column < 8; column += 4) {
        __m256i rows[8]; /* rows 8i + column .. 8i + column + 3 */
        for (unsigned i = 0; i < 8; i++) {
            rows[i] = h5twin_load_avx2(words + 8 * i + column);
        }
        for (unsigned i = 0; i < 4; i++) {
            H5TWIN_SWAP_AVX2(64, rows[i], rows[i + 4], 32, mask32);
        }
        for (unsigned i = 0; i < 8; i += 4) {
            H5TWIN_SWAP_AVX2(64, rows[i], rows[i + 2], 16, mask16);
            H5TWIN_SWAP_AVX2(64, rows[i + 1], rows[i + 3], 16, mask16);
        }
        for (unsigned i = 0; i < 8; i += 2) {
            H5TWIN_SWAP_AVX2(64, rows[i], rows[i + 1], 8, mask8);
        }
        for (unsigned i = 0; i < 8; i++) {
            h5twin_store_avx2(words + 8 * i + column, rows[i]);
        }
    }
    for (unsigned i = 0; i < 64; i += 8) {
        __m256i a = h5twin_load_avx2(words + i), b = h5twin_load_avx2(words + i + 4);
        h5twin_finish_rows64_avx2(&a, &b);
        h5twin_store_avx2(words + i, a);
        h5twin_store_avx2(words + i + 4, b);
    }
}

#endif
