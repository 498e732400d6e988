/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_block_avx512.c: blocks with AVX-512 (F, BW, DQ, VL, VBMI, VBMI2) and GFNI.
 *
 * The stages that are plain loops are those of the template, compiled for this instruction set. */
#include "ndzip_block.h"

#include "../common/bit_transpose_avx512.h"
#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/word_names.h"
#include "ndzip_rows.h"
#include "ndzip_rows_avx512.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

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

static inline size_t
expand32(uint32_t *restrict columns, uint32_t head, const uint8_t *restrict src)
{
    const uint32_t present = h5twin_reverse_bits32(head);
    const __mmask16 low = (__mmask16)present, high = (__mmask16)(present >> 16);
    const size_t low_count = h5twin_popcount32(head >> 16);
    _mm512_storeu_si512(columns, _mm512_maskz_expand_epi32(low, _mm512_loadu_si512(src)));
    _mm512_storeu_si512(columns + 16,
                        _mm512_maskz_expand_epi32(high, _mm512_loadu_si512(src + 4 * low_count)));
    return h5twin_popcount32(head);
}

static inline size_t
expand64(uint64_t *restrict columns, uint64_t head, const uint8_t *restrict src)
{
    const uint64_t present = h5twin_reverse_bits64(head);
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
    return kept == h5twin_reverse_bits32(head);
}

static inline bool
columns_match64(const uint64_t *columns, uint64_t head)
{
    uint64_t kept = 0;
    for (unsigned i = 0; i < 64; i += 8) {
        const __m512i words = _mm512_loadu_si512(columns + i);
        kept |= (uint64_t)_mm512_test_epi64_mask(words, words) << i;
    }
    return kept == h5twin_reverse_bits64(head);
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

#define SPARE 0

#define TRANSPOSE     NAME_AVX512(h5twin_bit_transpose)
#define PACK          NAME(pack)
#define EXPAND        NAME(expand)
#define COLUMNS_MATCH NAME(columns_match)
#define FIND_HEADS    NAME(find_both_heads)
#define TRANSFORM16   NAME(transform16_)
#define INVERSE16     NAME(inverse16_)
#define LOAD_ROW      NAME(load_vector_row)
#define STORE_ROW     NAME(store_vector_row)

#define WORD_BITS 32
#include "ndzip_block_template.h"
#define WORD_BITS 64
#include "ndzip_block_template.h"

const struct h5twin_ndzip_kernels h5twin_ndzip_kernels_avx512 = {
    .encode32 = encode_block32,
    .encode64 = encode_block64,
    .decode32 = decode_block32,
    .decode64 = decode_block64,
};
