/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_packed_avx512.h: packed residual streams with AVX-512, a super-block at a time. */
#ifndef H5TWIN_COMMON_RESIDUALS_PACKED_AVX512_H
#define H5TWIN_COMMON_RESIDUALS_PACKED_AVX512_H

#include "bit_fields_avx512.h"
#include "residuals_loops.h"

/* ---- widths: the words of a group are ORed while groups come together in one vector ---- */

static inline __m512i
or_words(__m512i a, __m512i b)
{
    return _mm512_or_si512(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
}

static inline __m512i
or_pairs(__m512i a, __m512i b)
{
    return _mm512_or_si512(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

/* Neighbouring quarters of four, to four quarters. */
static inline __m512i
or_quarters(__m512i a, __m512i b, __m512i c, __m512i d)
{
    const __m512i ab =
        _mm512_or_si512(_mm512_shuffle_i32x4(a, b, 0x44), _mm512_shuffle_i32x4(a, b, 0xEE));
    const __m512i cd =
        _mm512_or_si512(_mm512_shuffle_i32x4(c, d, 0x44), _mm512_shuffle_i32x4(c, d, 0xEE));
    return _mm512_or_si512(_mm512_shuffle_i32x4(ab, cd, 0x88), _mm512_shuffle_i32x4(ab, cd, 0xDD));
}

static inline __m512i
or_four_groups32(const uint32_t *words)
{
    return or_pairs(or_words(_mm512_loadu_si512(words), _mm512_loadu_si512(words + 16)),
                    or_words(_mm512_loadu_si512(words + 32), _mm512_loadu_si512(words + 48)));
}

static void
widths32_avx512(uint8_t *restrict widths, const void *restrict words, size_t word_count)
{
    const uint32_t *at = words;
    size_t left = word_count;
    for (; left >= RESIDUALS_BLOCK; left -= RESIDUALS_BLOCK, at += RESIDUALS_BLOCK) {
        const __m512i all = or_quarters(or_four_groups32(at), or_four_groups32(at + 64),
                                        or_four_groups32(at + 128), or_four_groups32(at + 192));
        const __m512i width = _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(all));
        _mm_storeu_si128((__m128i *)(void *)widths, _mm512_cvtepi32_epi8(width));
        widths += RESIDUALS_GROUPS;
    }
    group_widths(widths, at, left, false);
}

static inline __m512i
or_group64(const uint64_t *words)
{
    return _mm512_or_si512(_mm512_loadu_si512(words), _mm512_loadu_si512(words + 8));
}

static inline __m512i
or_two_groups64(const uint64_t *words)
{
    return or_pairs(or_group64(words), or_group64(words + 16));
}

static void
widths64_avx512(uint8_t *restrict widths, const void *restrict words, size_t word_count)
{
    const uint64_t *at = words;
    const size_t half = RESIDUALS_BLOCK / 2;
    size_t left = word_count;
    for (; left >= half; left -= half, at += half) {
        const __m512i all = or_quarters(or_two_groups64(at), or_two_groups64(at + 32),
                                        or_two_groups64(at + 64), or_two_groups64(at + 96));
        const __m512i width = _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_lzcnt_epi64(all));
        _mm_storel_epi64((__m128i *)(void *)widths, _mm512_cvtepi64_epi8(width));
        widths += RESIDUALS_GROUPS / 2;
    }
    /* group_widths goes on to the end of a super-block */
    const size_t before = word_count % RESIDUALS_BLOCK >= half ? half : 0;
    group_widths(widths - before / RESIDUALS_GROUP, at - before, left + before, true);
}

/* ---- unpack: two permutes fetch for each lane the two words that its bits lie in ---- */

static void
unpack32_avx512(void *restrict words, const uint8_t *restrict widths, const uint8_t *restrict src,
                size_t readable)
{
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i one = _mm512_set1_epi32(1);
    uint32_t *const out = words;
    size_t at = 0;
    for (unsigned group = 0; group < RESIDUALS_GROUPS; group++) {
        const unsigned width = widths[group];
        const __m512i packed = h5twin_bit_window_avx512(src, readable, 8 * at);
        /* below 512: 16-bit products are enough */
        const __m512i bit = _mm512_mullo_epi16(lane, _mm512_set1_epi32((int)width));
        const __m512i word = _mm512_srli_epi32(bit, 5);
        const __m512i low = _mm512_permutexvar_epi32(word, packed);
        const __m512i high = _mm512_permutexvar_epi32(_mm512_add_epi32(word, one), packed);
        const __m512i mask = _mm512_set1_epi32((int)_bzhi_u32(UINT32_MAX, width));
        _mm512_storeu_si512(out + RESIDUALS_GROUP * group,
                            _mm512_and_si512(_mm512_shrdv_epi32(low, high, bit), mask));
        at += 2 * width;
    }
}

static void
unpack64_avx512(void *restrict words, const uint8_t *restrict widths, const uint8_t *restrict src,
                size_t readable)
{
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i one = _mm512_set1_epi64(1);
    uint64_t *const out = words;
    size_t at = 0;
    for (unsigned half = 0; half < 2 * RESIDUALS_GROUPS; half++) {
        const unsigned width = widths[half / 2];
        const __m512i packed = h5twin_bit_window_avx512(src, readable, 8 * at);
        const __m512i bit = _mm512_mullo_epi16(lane, _mm512_set1_epi64(width));
        const __m512i word = _mm512_srli_epi64(bit, 6);
        const __m512i low = _mm512_permutexvar_epi64(word, packed);
        const __m512i high = _mm512_permutexvar_epi64(_mm512_add_epi64(word, one), packed);
        const __m512i mask = _mm512_set1_epi64((long long)_bzhi_u64(UINT64_MAX, width));
        _mm512_storeu_si512(out + 8 * half,
                            _mm512_and_si512(_mm512_shrdv_epi64(low, high, bit), mask));
        at += width;
    }
}

#endif
