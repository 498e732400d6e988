/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_block_avx512.c: blocks with AVX-512 (F, BW, DQ, VL, VBMI, VBMI2) and GFNI.
 *
 * Bits are transposed 8 x 8 at a time by GF2P8AFFINEQB: with the constant below as first operand
 * and the data as matrix, byte m of the result takes bit 7 - m of all eight bytes, the first in
 * its highest bit. Byte shuffles before bring together the bytes of eight codes, byte shuffles
 * after the bytes of a column. The stages that are plain loops are those of the template, compiled
 * for this instruction set. */
#include "ndzip_block.h"

#include "../common/bits.h"
#include "../common/bytes.h"
#include "ndzip_rows.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#define TRANSPOSE_BYTES INT64_C(0x0102040810204080) /* bytes 80 40 20 ... 01, lowest first */

/* Byte b of codes 8h .. 8h + 7, of sixteen 32-bit codes, to 64-bit lane 4h + b. */
static const uint8_t gather32[64] = {
    0,  4,  8,  12, 16, 20, 24, 28, 1,  5,  9,  13, 17, 21, 25, 29, 2,  6,  10, 14, 18, 22,
    26, 30, 3,  7,  11, 15, 19, 23, 27, 31, 32, 36, 40, 44, 48, 52, 56, 60, 33, 37, 41, 45,
    49, 53, 57, 61, 34, 38, 42, 46, 50, 54, 58, 62, 35, 39, 43, 47, 51, 55, 59, 63,
};

/* From lanes of two such vectors, transposed: columns 0..15 and 16..31. */
static const uint8_t columns32_low[64] = {
    120, 88, 56, 24, 121, 89, 57, 25, 122, 90, 58, 26, 123, 91, 59, 27,
    124, 92, 60, 28, 125, 93, 61, 29, 126, 94, 62, 30, 127, 95, 63, 31,
    112, 80, 48, 16, 113, 81, 49, 17, 114, 82, 50, 18, 115, 83, 51, 19,
    116, 84, 52, 20, 117, 85, 53, 21, 118, 86, 54, 22, 119, 87, 55, 23,
};
static const uint8_t columns32_high[64] = {
    104, 72, 40,  8,  105, 73, 41,  9,  106, 74, 42, 10, 107, 75, 43, 11, 108, 76, 44, 12, 109, 77,
    45,  13, 110, 78, 46,  14, 111, 79, 47,  15, 96, 64, 32,  0,  97, 65, 33,  1,  98, 66, 34,  2,
    99,  67, 35,  3,  100, 68, 36,  4,  101, 69, 37, 5,  102, 70, 38, 6,  103, 71, 39, 7,
};

/* Byte b of eight 64-bit codes to lane b; from lanes of one byte of all codes to eight columns. */
static const uint8_t gather64[64] = {
    0,  8,  16, 24, 32, 40, 48, 56, 1,  9,  17, 25, 33, 41, 49, 57, 2,  10, 18, 26, 34, 42,
    50, 58, 3,  11, 19, 27, 35, 43, 51, 59, 4,  12, 20, 28, 36, 44, 52, 60, 5,  13, 21, 29,
    37, 45, 53, 61, 6,  14, 22, 30, 38, 46, 54, 62, 7,  15, 23, 31, 39, 47, 55, 63,
};
static const uint8_t columns64[64] = {
    56, 48, 40, 32, 24, 16, 8,  0,  57, 49, 41, 33, 25, 17, 9,  1,  58, 50, 42, 34, 26, 18,
    10, 2,  59, 51, 43, 35, 27, 19, 11, 3,  60, 52, 44, 36, 28, 20, 12, 4,  61, 53, 45, 37,
    29, 21, 13, 5,  62, 54, 46, 38, 30, 22, 14, 6,  63, 55, 47, 39, 31, 23, 15, 7,
};

static inline void
transpose32(uint32_t words[32])
{
    const __m512i gather = _mm512_loadu_si512(gather32);
    const __m512i bits = _mm512_set1_epi64(TRANSPOSE_BYTES);
    const __m512i first = _mm512_permutexvar_epi8(gather, _mm512_loadu_si512(words));
    const __m512i second = _mm512_permutexvar_epi8(gather, _mm512_loadu_si512(words + 16));
    const __m512i low = _mm512_gf2p8affine_epi64_epi8(bits, first, 0);
    const __m512i high = _mm512_gf2p8affine_epi64_epi8(bits, second, 0);
    _mm512_storeu_si512(words,
                        _mm512_permutex2var_epi8(low, _mm512_loadu_si512(columns32_low), high));
    _mm512_storeu_si512(words + 16,
                        _mm512_permutex2var_epi8(low, _mm512_loadu_si512(columns32_high), high));
}

/* Transpose the 8 x 8 lanes of eight vectors. */
static inline void
transpose_lanes(__m512i rows[8])
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
transpose64(uint64_t words[64])
{
    const __m512i gather = _mm512_loadu_si512(gather64);
    const __m512i columns = _mm512_loadu_si512(columns64);
    const __m512i bits = _mm512_set1_epi64(TRANSPOSE_BYTES);
    __m512i rows[8];
    for (unsigned i = 0; i < 8; i++) {
        const __m512i bytes = _mm512_permutexvar_epi8(gather, _mm512_loadu_si512(words + 8 * i));
        rows[i] = _mm512_gf2p8affine_epi64_epi8(bits, bytes, 0);
    }
    transpose_lanes(rows); /* now vector b holds byte b of all codes */
    for (unsigned i = 0; i < 8; i++) {
        _mm512_storeu_si512(words + 8 * (7 - i), _mm512_permutexvar_epi8(columns, rows[i]));
    }
}

/* Places follow from the head, so that no store waits for the columns before. Compressing to a
 * register and storing it whole is faster than compressing to memory. */
static inline size_t
pack32(uint8_t *restrict dst, const uint32_t *restrict columns, uint32_t head)
{
    const __m512i low = _mm512_loadu_si512(columns);
    const __m512i high = _mm512_loadu_si512(columns + 16);
    const __mmask16 low_kept = _mm512_test_epi32_mask(low, low);
    const __mmask16 high_kept = _mm512_test_epi32_mask(high, high);
    _mm512_storeu_si512(dst, _mm512_maskz_compress_epi32(low_kept, low));
    _mm512_storeu_si512(dst + (size_t)4 * h5twin_popcount32(head >> 16),
                        _mm512_maskz_compress_epi32(high_kept, high));
    return h5twin_popcount32(head);
}

static inline size_t
pack64(uint8_t *restrict dst, const uint64_t *restrict columns, uint64_t head)
{
    for (unsigned i = 0; i < 64; i += 8) {
        const __m512i words = _mm512_loadu_si512(columns + i);
        const __mmask8 kept = _mm512_test_epi64_mask(words, words);
        _mm512_storeu_si512(dst, _mm512_maskz_compress_epi64(kept, words));
        dst += (size_t)8 * h5twin_popcount32((uint32_t)(head >> (56 - i)) & 0xFFu);
    }
    return h5twin_popcount64(head);
}

/* Bit k of the result is bit 31 - k of the word. */
static inline uint32_t
reverse32(uint32_t word)
{
    word = (word >> 1 & 0x55555555u) | (word & 0x55555555u) << 1;
    word = (word >> 2 & 0x33333333u) | (word & 0x33333333u) << 2;
    word = (word >> 4 & 0x0F0F0F0Fu) | (word & 0x0F0F0F0Fu) << 4;
    return h5twin_bswap32(word);
}

static inline size_t
expand32(uint32_t *restrict columns, uint32_t head, const uint8_t *restrict src)
{
    const uint32_t present = reverse32(head);
    const __mmask16 low = (__mmask16)present, high = (__mmask16)(present >> 16);
    const size_t low_count = h5twin_popcount32(head >> 16);
    _mm512_storeu_si512(columns, _mm512_maskz_expand_epi32(low, _mm512_loadu_si512(src)));
    _mm512_storeu_si512(columns + 16,
                        _mm512_maskz_expand_epi32(high, _mm512_loadu_si512(src + 4 * low_count)));
    return h5twin_popcount32(head);
}

static inline uint64_t
reverse64(uint64_t word)
{
    return (uint64_t)reverse32((uint32_t)word) << 32 | reverse32((uint32_t)(word >> 32));
}

static inline size_t
expand64(uint64_t *restrict columns, uint64_t head, const uint8_t *restrict src)
{
    const uint64_t present = reverse64(head);
    for (unsigned i = 0; i < 64; i += 8) {
        const __mmask8 mask = (__mmask8)(present >> i);
        const __m512i words = _mm512_loadu_si512(src);
        _mm512_storeu_si512(columns + i, _mm512_maskz_expand_epi64(mask, words));
        src += (size_t)8 * h5twin_popcount32((uint32_t)(present >> i) & 0xFFu);
    }
    return h5twin_popcount64(head);
}

static inline bool
columns_match32(const uint32_t *columns, uint32_t head)
{
    const __m512i low = _mm512_loadu_si512(columns);
    const __m512i high = _mm512_loadu_si512(columns + 16);
    const uint32_t kept = (uint32_t)_mm512_test_epi32_mask(low, low) |
                          (uint32_t)_mm512_test_epi32_mask(high, high) << 16;
    return kept == reverse32(head);
}

static inline bool
columns_match64(const uint64_t *columns, uint64_t head)
{
    uint64_t kept = 0;
    for (unsigned i = 0; i < 64; i += 8) {
        const __m512i words = _mm512_loadu_si512(columns + i);
        kept |= (uint64_t)_mm512_test_epi64_mask(words, words) << i;
    }
    return kept == reverse64(head);
}

/* The first `count` lanes, or all if there are fewer lanes than that. */
static inline __mmask16
mask16(size_t count)
{
    return (__mmask16)(0xFFFFu >> (count < 16 ? 16 - count : 0));
}

static inline __mmask8
mask8(size_t count)
{
    return (__mmask8)(0xFFu >> (count < 8 ? 8 - count : 0));
}

/* Each word minus the one before, which for the first lane is the last of the 16 words before. */
static inline void
load_row32(uint32_t *restrict row, const uint8_t *restrict src, size_t count)
{
    __m512i before = _mm512_setzero_si512();
    for (size_t i = 0; i < count; i += 16) {
        const __mmask16 mask = mask16(count - i);
        const __m512i words = _mm512_rol_epi32(_mm512_maskz_loadu_epi32(mask, src + 4 * i), 1);
        const __m512i shifted = _mm512_alignr_epi32(words, before, 15);
        _mm512_mask_storeu_epi32(row + i, mask, _mm512_sub_epi32(words, shifted));
        before = words;
    }
}

static inline void
load_row64(uint64_t *restrict row, const uint8_t *restrict src, size_t count)
{
    __m512i before = _mm512_setzero_si512();
    for (size_t i = 0; i < count; i += 8) {
        const __mmask8 mask = mask8(count - i);
        const __m512i words = _mm512_rol_epi64(_mm512_maskz_loadu_epi64(mask, src + 8 * i), 1);
        const __m512i shifted = _mm512_alignr_epi64(words, before, 7);
        _mm512_mask_storeu_epi64(row + i, mask, _mm512_sub_epi64(words, shifted));
        before = words;
    }
}

/* Running sums of 16 lanes in four steps, of 8 in three. */
static inline __m512i
sum_lanes32(__m512i words)
{
    const __m512i zero = _mm512_setzero_si512();
    words = _mm512_add_epi32(words, _mm512_alignr_epi32(words, zero, 15));
    words = _mm512_add_epi32(words, _mm512_alignr_epi32(words, zero, 14));
    words = _mm512_add_epi32(words, _mm512_alignr_epi32(words, zero, 12));
    return _mm512_add_epi32(words, _mm512_alignr_epi32(words, zero, 8));
}

static inline __m512i
sum_lanes64(__m512i words)
{
    const __m512i zero = _mm512_setzero_si512();
    words = _mm512_add_epi64(words, _mm512_alignr_epi64(words, zero, 7));
    words = _mm512_add_epi64(words, _mm512_alignr_epi64(words, zero, 6));
    return _mm512_add_epi64(words, _mm512_alignr_epi64(words, zero, 4));
}

/* The last lane carries over to the next ones. */
static inline void
store_row32(uint8_t *restrict dst, const uint32_t *restrict row, size_t count)
{
    const __m512i last = _mm512_set1_epi32(15);
    __m512i carry = _mm512_setzero_si512();
    for (size_t i = 0; i < count; i += 16) {
        const __mmask16 mask = mask16(count - i);
        __m512i sum = _mm512_maskz_loadu_epi32(mask, row + i);
        sum = sum_lanes32(sum);
        sum = _mm512_add_epi32(sum, carry);
        carry = _mm512_permutexvar_epi32(last, sum);
        _mm512_mask_storeu_epi32(dst + 4 * i, mask, _mm512_ror_epi32(sum, 1));
    }
}

static inline void
store_row64(uint8_t *restrict dst, const uint64_t *restrict row, size_t count)
{
    const __m512i last = _mm512_set1_epi64(7);
    __m512i carry = _mm512_setzero_si512();
    for (size_t i = 0; i < count; i += 8) {
        const __mmask8 mask = mask8(count - i);
        __m512i sum = _mm512_maskz_loadu_epi64(mask, row + i);
        sum = sum_lanes64(sum);
        sum = _mm512_add_epi64(sum, carry);
        carry = _mm512_permutexvar_epi64(last, sum);
        _mm512_mask_storeu_epi64(dst + 8 * i, mask, _mm512_ror_epi64(sum, 1));
    }
}

/* Blocks with rows of 16: the row before stays in a register, the plane before in 16 of memory. */
static inline void
transform16_32(uint32_t *restrict cube, const uint8_t *restrict src, size_t row_stride,
               size_t plane_stride, const unsigned extent[3])
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i plane[16];
    for (size_t y = 0; y < 16; y++) {
        plane[y] = zero;
    }
    for (size_t z = 0; z < extent[0]; z++) {
        __m512i before = zero;
        for (size_t y = 0; y < extent[1]; y++, cube += 16) {
            const uint8_t *const at = src + z * plane_stride + y * row_stride;
            const __m512i words = _mm512_rol_epi32(_mm512_loadu_si512(at), 1);
            const __m512i along_x = _mm512_sub_epi32(words, _mm512_alignr_epi32(words, zero, 15));
            const __m512i along_y = _mm512_sub_epi32(along_x, before);
            _mm512_storeu_si512(cube, _mm512_sub_epi32(along_y, plane[y]));
            before = along_x;
            plane[y] = along_y;
        }
    }
}

static inline void
inverse16_32(uint8_t *restrict dst, const uint32_t *restrict cube, size_t row_stride,
             size_t plane_stride, const unsigned extent[3])
{
    __m512i plane[16];
    for (size_t y = 0; y < 16; y++) {
        plane[y] = _mm512_setzero_si512();
    }
    for (size_t z = 0; z < extent[0]; z++) {
        __m512i before = _mm512_setzero_si512();
        for (size_t y = 0; y < extent[1]; y++, cube += 16) {
            plane[y] = _mm512_add_epi32(plane[y], _mm512_loadu_si512(cube));
            before = _mm512_add_epi32(before, plane[y]);
            const __m512i words = sum_lanes32(before);
            _mm512_storeu_si512(dst + z * plane_stride + y * row_stride,
                                _mm512_ror_epi32(words, 1));
        }
    }
}

static inline void
transform16_64(uint64_t *restrict cube, const uint8_t *restrict src, size_t row_stride,
               size_t plane_stride, const unsigned extent[3])
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i plane[16][2];
    for (size_t y = 0; y < 16; y++) {
        plane[y][0] = plane[y][1] = zero;
    }
    for (size_t z = 0; z < extent[0]; z++) {
        __m512i before[2] = {zero, zero};
        for (size_t y = 0; y < extent[1]; y++) {
            const uint8_t *const at = src + z * plane_stride + y * row_stride;
            __m512i left = zero;
            for (unsigned half = 0; half < 2; half++, cube += 8) {
                const __m512i words = _mm512_rol_epi64(_mm512_loadu_si512(at + 64 * half), 1);
                const __m512i along_x =
                    _mm512_sub_epi64(words, _mm512_alignr_epi64(words, left, 7));
                const __m512i along_y = _mm512_sub_epi64(along_x, before[half]);
                _mm512_storeu_si512(cube, _mm512_sub_epi64(along_y, plane[y][half]));
                left = words;
                before[half] = along_x;
                plane[y][half] = along_y;
            }
        }
    }
}

static inline void
inverse16_64(uint8_t *restrict dst, const uint64_t *restrict cube, size_t row_stride,
             size_t plane_stride, const unsigned extent[3])
{
    const __m512i zero = _mm512_setzero_si512(), last = _mm512_set1_epi64(7);
    __m512i plane[16][2];
    for (size_t y = 0; y < 16; y++) {
        plane[y][0] = plane[y][1] = zero;
    }
    for (size_t z = 0; z < extent[0]; z++) {
        __m512i before[2] = {zero, zero};
        for (size_t y = 0; y < extent[1]; y++) {
            uint8_t *const at = dst + z * plane_stride + y * row_stride;
            __m512i carry = zero;
            for (unsigned half = 0; half < 2; half++, cube += 8) {
                plane[y][half] = _mm512_add_epi64(plane[y][half], _mm512_loadu_si512(cube));
                before[half] = _mm512_add_epi64(before[half], plane[y][half]);
                const __m512i words = _mm512_add_epi64(sum_lanes64(before[half]), carry);
                carry = _mm512_permutexvar_epi64(last, words);
                _mm512_storeu_si512(at + 64 * half, _mm512_ror_epi64(words, 1));
            }
        }
    }
}

/* OR of the upper and lower halves of a, and of b, side by side. */
static inline __m512i
fold(__m512i a, __m512i b)
{
    return _mm512_or_si512(_mm512_shuffle_i64x2(a, b, 0x44), _mm512_shuffle_i64x2(a, b, 0xEE));
}

/* Both heads of a group from the OR of its codes in 64 bytes: fold to 32, 16 and 8 bytes. */
static inline __m512i
fold_to_lanes(__m512i twos, __m512i negabinary)
{
    __m512i both = fold(twos, negabinary);
    both = _mm512_or_si512(both, _mm512_shuffle_i64x2(both, both, 0xB1));
    return _mm512_or_si512(both, _mm512_permutex_epi64(both, 0xB1));
}

static inline void
find_both_heads32(uint32_t *restrict twos, uint32_t *restrict negabinary,
                  const uint32_t *restrict cube, size_t group_count)
{
    const __m512i sign = _mm512_set1_epi32(INT32_MIN);
    const __m512i mask = _mm512_set1_epi64((long long)NDZIP_NEGABINARY_MASK);
    for (size_t group = 0; group < group_count; group++) {
        __m512i any_twos = _mm512_setzero_si512(), any_negabinary = any_twos;
        for (size_t i = 0; i < 32; i += 16) {
            const __m512i residuals = _mm512_loadu_si512(cube + group * 32 + i);
            const __m512i signs = _mm512_and_si512(residuals, sign);
            any_twos =
                _mm512_or_si512(any_twos, _mm512_or_si512(_mm512_abs_epi32(residuals), signs));
            any_negabinary = _mm512_or_si512(
                any_negabinary, _mm512_xor_si512(_mm512_add_epi32(residuals, mask), mask));
        }
        const __m512i both = fold_to_lanes(any_twos, any_negabinary);
        const uint64_t first = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(both));
        const uint64_t second = (uint64_t)_mm_cvtsi128_si64(_mm512_extracti64x2_epi64(both, 2));
        twos[group] = (uint32_t)(first | first >> 32);
        negabinary[group] = (uint32_t)(second | second >> 32);
    }
}

static inline void
find_both_heads64(uint64_t *restrict twos, uint64_t *restrict negabinary,
                  const uint64_t *restrict cube, size_t group_count)
{
    const __m512i sign = _mm512_set1_epi64(INT64_MIN);
    const __m512i mask = _mm512_set1_epi64((long long)NDZIP_NEGABINARY_MASK);
    for (size_t group = 0; group < group_count; group++) {
        __m512i any_twos = _mm512_setzero_si512(), any_negabinary = any_twos;
        for (size_t i = 0; i < 64; i += 8) {
            const __m512i residuals = _mm512_loadu_si512(cube + group * 64 + i);
            const __m512i signs = _mm512_and_si512(residuals, sign);
            any_twos =
                _mm512_or_si512(any_twos, _mm512_or_si512(_mm512_abs_epi64(residuals), signs));
            any_negabinary = _mm512_or_si512(
                any_negabinary, _mm512_xor_si512(_mm512_add_epi64(residuals, mask), mask));
        }
        const __m512i both = fold_to_lanes(any_twos, any_negabinary);
        twos[group] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(both));
        negabinary[group] = (uint64_t)_mm_cvtsi128_si64(_mm512_extracti64x2_epi64(both, 2));
    }
}

#define BITS             32u
#define WORD             uint32_t
#define NAME(x)          x##32
#define TRANSPOSE(words) transpose32(words)
#define PACK             pack32
#define EXPAND           expand32
#define COLUMNS_MATCH    columns_match32
#define FIND_HEADS       find_both_heads32
#define TRANSFORM16      transform16_32
#define INVERSE16        inverse16_32
#define LOAD_ROW         load_row32
#define STORE_ROW        store_row32
#include "ndzip_block_template.h"

#define BITS             64u
#define WORD             uint64_t
#define NAME(x)          x##64
#define TRANSPOSE(words) transpose64(words)
#define PACK             pack64
#define EXPAND           expand64
#define COLUMNS_MATCH    columns_match64
#define FIND_HEADS       find_both_heads64
#define TRANSFORM16      transform16_64
#define INVERSE16        inverse16_64
#define LOAD_ROW         load_row64
#define STORE_ROW        store_row64
#include "ndzip_block_template.h"

const struct h5twin_ndzip_ops h5twin_ndzip_ops_avx512 = {
    .encode32 = encode_block32,
    .encode64 = encode_block64,
    .decode32 = decode_block32,
    .decode64 = decode_block64,
};
