/* SPDX-License-Identifier: BSD-3-Clause
 * bit_transpose_avx512.h: bit_transpose.h inline, for files built with AVX-512 VBMI and GFNI.
 *
 * Bits are transposed 8 x 8 at a time by GF2P8AFFINEQB: with the constant below as first operand
 * and the data as matrix, byte m of the result takes bit 7 - m of all eight bytes, the first in
 * its highest bit. Byte shuffles before bring together the bytes of eight words, byte shuffles
 * after the bytes of a column. */
#ifndef H5TWIN_COMMON_BIT_TRANSPOSE_AVX512_H
#define H5TWIN_COMMON_BIT_TRANSPOSE_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#define H5TWIN_BIT_TRANSPOSE_BYTES                                                                 \
    INT64_C(0x0102040810204080) /* bytes 80 40 20 ... 01, lowest first */

/* Byte b of codes 8h .. 8h + 7, of sixteen 32-bit codes, to 64-bit lane 4h + b. */
static const uint8_t h5twin_bit_gather32[64] = {
    0,  4,  8,  12, 16, 20, 24, 28, 1,  5,  9,  13, 17, 21, 25, 29, 2,  6,  10, 14, 18, 22,
    26, 30, 3,  7,  11, 15, 19, 23, 27, 31, 32, 36, 40, 44, 48, 52, 56, 60, 33, 37, 41, 45,
    49, 53, 57, 61, 34, 38, 42, 46, 50, 54, 58, 62, 35, 39, 43, 47, 51, 55, 59, 63,
};

/* From lanes of two such vectors, transposed: columns 0..15 and 16..31. */
static const uint8_t h5twin_bit_columns32_low[64] = {
    120, 88, 56, 24, 121, 89, 57, 25, 122, 90, 58, 26, 123, 91, 59, 27,
    124, 92, 60, 28, 125, 93, 61, 29, 126, 94, 62, 30, 127, 95, 63, 31,
    112, 80, 48, 16, 113, 81, 49, 17, 114, 82, 50, 18, 115, 83, 51, 19,
    116, 84, 52, 20, 117, 85, 53, 21, 118, 86, 54, 22, 119, 87, 55, 23,
};
static const uint8_t h5twin_bit_columns32_high[64] = {
    104, 72, 40,  8,  105, 73, 41,  9,  106, 74, 42, 10, 107, 75, 43, 11, 108, 76, 44, 12, 109, 77,
    45,  13, 110, 78, 46,  14, 111, 79, 47,  15, 96, 64, 32,  0,  97, 65, 33,  1,  98, 66, 34,  2,
    99,  67, 35,  3,  100, 68, 36,  4,  101, 69, 37, 5,  102, 70, 38, 6,  103, 71, 39, 7,
};

/* Byte b of eight 64-bit codes to lane b; from lanes of one byte of all codes to eight columns. */
static const uint8_t h5twin_bit_gather64[64] = {
    0,  8,  16, 24, 32, 40, 48, 56, 1,  9,  17, 25, 33, 41, 49, 57, 2,  10, 18, 26, 34, 42,
    50, 58, 3,  11, 19, 27, 35, 43, 51, 59, 4,  12, 20, 28, 36, 44, 52, 60, 5,  13, 21, 29,
    37, 45, 53, 61, 6,  14, 22, 30, 38, 46, 54, 62, 7,  15, 23, 31, 39, 47, 55, 63,
};
static const uint8_t h5twin_bit_columns64[64] = {
    56, 48, 40, 32, 24, 16, 8,  0,  57, 49, 41, 33, 25, 17, 9,  1,  58, 50, 42, 34, 26, 18,
    10, 2,  59, 51, 43, 35, 27, 19, 11, 3,  60, 52, 44, 36, 28, 20, 12, 4,  61, 53, 45, 37,
    29, 21, 13, 5,  62, 54, 46, 38, 30, 22, 14, 6,  63, 55, 47, 39, 31, 23, 15, 7,
};

static inline void
h5twin_bit_transpose32_avx512(uint32_t words[32])
{
    const __m512i gather = _mm512_loadu_si512(h5twin_bit_gather32);
    const __m512i bits = _mm512_set1_epi64(H5TWIN_BIT_TRANSPOSE_BYTES);
    const __m512i first = _mm512_permutexvar_epi8(gather, _mm512_loadu_si512(words));
    const __m512i second = _mm512_permutexvar_epi8(gather, _mm512_loadu_si512(words + 16));
    const __m512i low = _mm512_gf2p8affine_epi64_epi8(bits, first, 0);
    const __m512i high = _mm512_gf2p8affine_epi64_epi8(bits, second, 0);
    _mm512_storeu_si512(
        words, _mm512_permutex2var_epi8(low, _mm512_loadu_si512(h5twin_bit_columns32_low), high));
    _mm512_storeu_si512(words + 16, _mm512_permutex2var_epi8(
                                        low, _mm512_loadu_si512(h5twin_bit_columns32_high), high));
}

/* Transpose the 8 x 8 lanes of eight vectors. */
static inline void
h5twin_transpose_lanes(__m512i rows[8])
{
    __m512i pairs[8], quads[8];
    for (unsigned i = 0; i < 8; i += 2) {
        pairs[i] = _mm512_unpacklo_epi64(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi64(rows[i], rows[i + 1]);
    }
    for (unsigned i = 0; i < 2; i++) {
        quads[i] = _mm512_shuffle_i64x2(pairs[i], pairs[i + 2], 0x88);
        quads[i + 2] = _mm512_shuffle_i64x2(pairs[i], pairs[i + 2], 0xDD);
        quads[i + 4] = _mm512_shuffle_i64x2(pairs[i + 4], pairs[i + 6], 0x88);
        quads[i + 6] = _mm512_shuffle_i64x2(pairs[i + 4], pairs[i + 6], 0xDD);
    }
    for (unsigned i = 0; i < 4; i++) {
        rows[i] = _mm512_shuffle_i64x2(quads[i], quads[i + 4], 0x88);
        rows[i + 4] = _mm512_shuffle_i64x2(quads[i], quads[i + 4], 0xDD);
    }
}

static inline void
h5twin_bit_transpose64_avx512(uint64_t words[64])
{
    const __m512i gather = _mm512_loadu_si512(h5twin_bit_gather64);
    const __m512i columns = _mm512_loadu_si512(h5twin_bit_columns64);
    const __m512i bits = _mm512_set1_epi64(H5TWIN_BIT_TRANSPOSE_BYTES);
    __m512i rows[8];
    for (unsigned i = 0; i < 8; i++) {
        const __m512i bytes = _mm512_permutexvar_epi8(gather, _mm512_loadu_si512(words + 8 * i));
        rows[i] = _mm512_gf2p8affine_epi64_epi8(bits, bytes, 0);
    }
    h5twin_transpose_lanes(rows); /* now vector b holds byte b of all codes */
    for (unsigned i = 0; i < 8; i++) {
        _mm512_storeu_si512(words + 8 * (7 - i), _mm512_permutexvar_epi8(columns, rows[i]));
    }
}

#endif
