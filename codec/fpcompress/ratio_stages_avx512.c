/* SPDX-License-Identifier: BSD-3-Clause
 * ratio_stages_avx512.c: ratio_stages.h with AVX-512 (F, BW, DQ, VL, VBMI, VBMI2) and BMI2. */
#include "../common/bit_pack.h"
#include "../common/bytes.h"
#include "../common/prefetch.h"
#include "../common/sum_avx512.h"
#include "bit_planes.h"
#include "fpcompress.h"
#include "fpcompress_core.h"
#include "ratio_count.h"
#include "zero_elim.h"

#include <immintrin.h>

static void
difference32(uint8_t *restrict dst, const uint8_t *restrict src, size_t word_count)
{
    uint32_t previous = 0;
    size_t i = 0;
    for (; i < word_count && (i == 0 || word_count - i < 16); i++) {
        const uint32_t word = h5twin_load32(src + 4 * i);
        previous = i == 0 ? 0 : h5twin_load32(src + 4 * (i - 1));
        h5twin_store32(dst + 4 * i, h5twin_fpc_residual32(word, previous));
    }
    for (; i < word_count; i += 16) {
        i = word_count - i < 16 ? word_count - 16 : i; /* the last vector overlaps the one before */
        const __m512i words = _mm512_loadu_si512(src + 4 * i);
        const __m512i before = _mm512_loadu_si512(src + 4 * (i - 1));
        _mm512_storeu_si512(dst + 4 * i, h5twin_zigzag32_avx512(_mm512_sub_epi32(words, before)));
    }
}

static uint64_t
difference64(uint8_t *restrict dst, const uint8_t *restrict src, size_t word_count)
{
    __m512i any = _mm512_setzero_si512();
    uint64_t any_word = 0;
    size_t i = 0;
    for (; i < word_count && (i == 0 || word_count - i < 8); i++) {
        const uint64_t previous = i == 0 ? 0 : h5twin_load64(src + 8 * (i - 1));
        const uint64_t residual = h5twin_fpc_residual64(h5twin_load64(src + 8 * i), previous);
        h5twin_store64(dst + 8 * i, residual);
        any_word |= residual;
    }
    for (; i < word_count; i += 8) {
        i = word_count - i < 8 ? word_count - 8 : i;
        const __m512i words = _mm512_loadu_si512(src + 8 * i);
        const __m512i before = _mm512_loadu_si512(src + 8 * (i - 1));
        const __m512i residuals = h5twin_zigzag64_avx512(_mm512_sub_epi64(words, before));
        _mm512_storeu_si512(dst + 8 * i, residuals);
        any = _mm512_or_si512(any, residuals);
    }
    return any_word | (uint64_t)_mm512_reduce_or_epi64(any);
}

static void
sum32(uint8_t *restrict dst, const uint8_t *restrict src, size_t word_count)
{
    h5twin_sum32_avx512(dst, src, word_count, 0, false);
}

static void
sum64(uint8_t *dst, const uint8_t *src, size_t word_count)
{
    h5twin_sum64_avx512(dst, src, word_count, 0, false);
}

/* Whole vectors take no masks here and below: masked stores are slow on Zen 4. */
static void
mask_words(uint8_t *restrict dst, const uint8_t *restrict src, const uint32_t *restrict distances,
           size_t word_count)
{
    size_t i = 0;
    for (; i + 8 <= word_count; i += 8) {
        const __m256i back = _mm256_loadu_si256((const void *)(distances + i));
        const __mmask8 stays = _mm256_testn_epi32_mask(back, back);
        const __m512i words = _mm512_loadu_si512(src + 8 * i);
        _mm512_storeu_si512(dst + 8 * i, _mm512_maskz_mov_epi64(stays, words));
    }
    for (; i < word_count; i++) {
        h5twin_store64(dst + 8 * i, distances[i] == 0 ? h5twin_load64(src + 8 * i) : 0);
    }
}

static size_t
split_words(uint8_t *restrict dst, uint64_t *restrict low_bits, uint8_t *restrict bitmap,
            const uint8_t *restrict src, size_t word_count, unsigned keep_bits, bool repeats)
{
    const __m512i low_mask = _mm512_set1_epi64((long long)h5twin_fpc_low_mask(keep_bits));
    __m512i previous = _mm512_setzero_si512(); /* its last word is the one before the vector */
    size_t full_count = 0;
    for (size_t i = 0; i < word_count; i += 8) {
        const size_t left = word_count - i;
        const __mmask8 valid = (__mmask8)(left < 8 ? (1u << left) - 1u : 0xFFu);
        const __m512i words = _mm512_maskz_loadu_epi64(valid, src + 8 * i);
        const __m512i before = _mm512_alignr_epi64(words, previous, 7);
        const __m512i difference = repeats ? _mm512_xor_si512(words, before) : words;
        const __mmask8 full = _mm512_mask_cmpgt_epu64_mask(valid, difference, low_mask);
        const __m512i low = _mm512_and_si512(words, low_mask);
        _mm512_storeu_si512(dst + 8 * full_count, _mm512_maskz_compress_epi64(full, words));
        _mm512_storeu_si512(low_bits + i - full_count,
                            _mm512_maskz_compress_epi64((__mmask8)~full, low));
        bitmap[i / 8] = full;
        full_count += (size_t)_mm_popcnt_u32(full);
        previous = words;
    }
    return full_count;
}

static void
merge_words(uint8_t *restrict dst, size_t word_count, const uint8_t *restrict full_words,
            const uint64_t *restrict low_bits, const uint8_t *restrict bitmap, unsigned keep_bits,
            bool repeats, const uint8_t *next)
{
    const uint64_t byte_ones = UINT64_C(0x0101010101010101);
    const uint64_t low_mask = h5twin_fpc_low_mask(keep_bits);
    const __m512i high_mask = _mm512_set1_epi64(repeats ? (long long)~low_mask : 0);
    const __m512i one = _mm512_set1_epi64(1), seven = _mm512_set1_epi64(7);
    __m512i upper = _mm512_setzero_si512(); /* of the last full word, everywhere */
    for (size_t i = 0; i < word_count; i += 8) {
        H5TWIN_PREFETCH_L2(next + 8 * i);
        const size_t left = word_count - i;
        const __mmask8 full = bitmap[i / 8];
        /* Byte j: how many of the words 0..j are full. The latest of them is the one that a short
         * word takes its upper bits from. */
        const uint64_t counts = _pdep_u64(full, byte_ones) * byte_ones;
        const __m512i ranks = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128((long long)counts));
        const __m512i next_full = _mm512_loadu_si512(full_words);
        const __m512i latest = _mm512_permutexvar_epi64(_mm512_sub_epi64(ranks, one), next_full);
        const __mmask8 any_before = _mm512_test_epi64_mask(ranks, ranks);
        const __m512i high = _mm512_mask_and_epi64(upper, any_before, latest, high_mask);
        const __m512i low =
            _mm512_maskz_expand_epi64((__mmask8)~full, _mm512_loadu_si512(low_bits));
        const __m512i words = _mm512_mask_mov_epi64(_mm512_or_si512(high, low), full, latest);
        if (left >= 8) {
            _mm512_storeu_si512(dst + 8 * i, words);
        } else {
            _mm512_mask_storeu_epi64(dst + 8 * i, (__mmask8)((1u << left) - 1u), words);
        }
        upper = _mm512_permutexvar_epi64(seven, high);
        const unsigned full_count = (unsigned)_mm_popcnt_u32(full);
        full_words += 8 * full_count;
        low_bits += 8 - full_count;
    }
}

const struct h5twin_ratio_kernels h5twin_ratio_kernels_avx512 = {
    .bit_packers = &h5twin_bit_pack_kernels_avx512,
    .difference32 = difference32,
    .difference64 = difference64,
    .sum32 = sum32,
    .sum64 = sum64,
    .mask_words = mask_words,
    .split_planes = h5twin_bit_planes_split_avx512,
    .join_planes = h5twin_bit_planes_join_avx512,
    .zero_elim = h5twin_zero_elim_avx512,
    .zero_restore = h5twin_zero_restore_avx512,
    .bitmap_write = h5twin_bitmap_write_avx512,
    .bitmap_read = h5twin_bitmap_read_avx512,
    .count_bit_lengths = count_bit_lengths,
    .split_words = split_words,
    .merge_words = merge_words,
};
