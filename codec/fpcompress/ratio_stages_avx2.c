/* SPDX-License-Identifier: BSD-3-Clause
 * ratio_stages_avx2.c: ratio_stages.h with AVX2. */
#include "../common/bit_pack.h"
#include "../common/bits.h"
#include "../common/prefetch.h"
#include "../common/sum_avx2.h"
#include "bit_planes.h"
#include "fpcompress.h"
#include "ratio_count.h"
#include "ratio_loops.h"
#include "zero_elim.h"

#include <string.h>

static void
sum32(uint8_t *restrict dst, const uint8_t *restrict src, size_t word_count)
{
    h5twin_sum32_avx2(dst, src, word_count, 0, false);
}

static void
sum64(uint8_t *dst, const uint8_t *src, size_t word_count)
{
    h5twin_sum64_avx2(dst, src, word_count, 0, false);
}

/* Four words, each with the one before it. */
struct four_words {
    __m256i words, before;
};

static inline struct four_words
load_four(const uint8_t *src, __m256i previous)
{
    const __m256i words = h5twin_load_avx2(src);
    const __m256i turned = _mm256_permute4x64_epi64(words, 0x93); /* 3, 0, 1, 2 */
    const __m256i last = h5twin_last_lane64_avx2(previous);
    return (struct four_words){words, _mm256_blend_epi32(turned, last, 0x03)};
}

static size_t
split_words(uint8_t *restrict dst, uint64_t *restrict low_bits, uint8_t *restrict bitmap,
            const uint8_t *restrict src, size_t word_count, unsigned keep_bits, bool repeats)
{
    const __m256i low_mask = _mm256_set1_epi64x((long long)h5twin_fpc_low_mask(keep_bits));
    __m256i previous = _mm256_setzero_si256();
    uint8_t tail[8 * 8] = {0};
    size_t full_count = 0;
    for (size_t i = 0; i < word_count; i += 8, src += 64) {
        unsigned valid = 0xFF, flags = 0;
        if (word_count - i < 8) {
            memcpy(tail, src, 8 * (word_count - i));
            src = tail;
            valid = 0xFFu >> (8 - (word_count - i));
        }
        uint64_t *low_dst = low_bits + i - full_count;
        for (unsigned half = 0; half < 2; half++) {
            const struct four_words four = load_four(src + 32 * half, previous);
            const __m256i difference =
                repeats ? _mm256_xor_si256(four.words, four.before) : four.words;
            const __m256i is_short = _mm256_cmpeq_epi64(_mm256_andnot_si256(low_mask, difference),
                                                        _mm256_setzero_si256());
            const unsigned shorts = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(is_short));
            const unsigned fulls = ~shorts & valid >> 4 * half & 0xFu;
            const __m256i low = _mm256_and_si256(four.words, low_mask);
            h5twin_store_avx2(dst + 8 * full_count,
                              h5twin_compress_lanes_avx2(h5twin_double_bits(fulls), four.words));
            h5twin_store_avx2(low_dst,
                              h5twin_compress_lanes_avx2(h5twin_double_bits(fulls ^ 0xFu), low));
            full_count += h5twin_popcount32(fulls);
            low_dst += h5twin_popcount32(fulls ^ 0xFu);
            flags |= fulls << 4 * half;
            previous = four.words;
        }
        bitmap[i / 8] = (uint8_t)flags;
    }
    return full_count;
}

/* For each of four words, by a mask of those that are full: the number of the latest full one up to
 * it among the full ones, for both its 32-bit lanes; 0x80 if there is none. */
#define RANK(m, j)                                                                                 \
    (((m)&1u) + ((j) > 0 ? ((m) >> 1 & 1u) : 0u) + ((j) > 1 ? ((m) >> 2 & 1u) : 0u) +              \
     ((j) > 2 ? ((m) >> 3 & 1u) : 0u))
#define LATEST_BYTES(m, j)                                                                         \
    ((uint64_t)(RANK(m, j) == 0 ? 0x8080u : 0x0202u * (RANK(m, j) - 1) + 0x0100u) << 16 * (j))
#define LATEST(m)                                                                                  \
    (LATEST_BYTES(m, 0) | LATEST_BYTES(m, 1) | LATEST_BYTES(m, 2) | LATEST_BYTES(m, 3))
static const uint64_t latest_lanes[16] = {LATEST(0u),  LATEST(1u),  LATEST(2u),  LATEST(3u),
                                          LATEST(4u),  LATEST(5u),  LATEST(6u),  LATEST(7u),
                                          LATEST(8u),  LATEST(9u),  LATEST(10u), LATEST(11u),
                                          LATEST(12u), LATEST(13u), LATEST(14u), LATEST(15u)};

/* Four words from the next full ones and the next low bits. *upper has the upper bits of the last
 * full word in all lanes. */
static inline __m256i
merge_four(unsigned fulls, const uint8_t *full_words, const uint64_t *low_bits, __m256i high_mask,
           __m256i *upper)
{
    const unsigned full_lanes = h5twin_double_bits(fulls);
    const __m256i lanes = h5twin_widen_lanes_avx2(latest_lanes[fulls]);
    const __m256i latest = _mm256_permutevar8x32_epi32(h5twin_load_avx2(full_words), lanes);
    const __m256i none_before = _mm256_srai_epi32(lanes, 31);
    const __m256i high =
        _mm256_blendv_epi8(_mm256_and_si256(latest, high_mask), *upper, none_before);
    const __m256i low = h5twin_expand_lanes_avx2(full_lanes ^ 0xFFu, h5twin_load_avx2(low_bits));
    const __m256i is_short =
        _mm256_srai_epi32(h5twin_widen_lanes_avx2(h5twin_expand_lanes[full_lanes]), 31);
    *upper = h5twin_last_lane64_avx2(high);
    return _mm256_blendv_epi8(latest, _mm256_or_si256(high, low), is_short);
}

static void
merge_words(uint8_t *restrict dst, size_t word_count, const uint8_t *restrict full_words,
            const uint64_t *restrict low_bits, const uint8_t *restrict bitmap, unsigned keep_bits,
            bool repeats, const uint8_t *next)
{
    const uint64_t high_bits = repeats ? ~h5twin_fpc_low_mask(keep_bits) : 0;
    const __m256i high_mask = _mm256_set1_epi64x((long long)high_bits);
    __m256i upper = _mm256_setzero_si256();
    for (size_t i = 0; i < word_count; i += 4) {
        H5TWIN_PREFETCH_L2(next + 8 * i);
        const unsigned fulls = (unsigned)bitmap[i / 8] >> i % 8 & 0xFu;
        const __m256i words = merge_four(fulls, full_words, low_bits, high_mask, &upper);
        if (word_count - i >= 4) {
            h5twin_store_avx2(dst + 8 * i, words);
        } else {
            uint8_t last[32];
            h5twin_store_avx2(last, words);
            memcpy(dst + 8 * i, last, 8 * (word_count - i));
        }
        const unsigned full_count = h5twin_popcount32(fulls);
        full_words += 8 * full_count;
        low_bits += 4 - full_count;
    }
}

const struct h5twin_ratio_kernels h5twin_ratio_kernels_avx2 = {
    .bit_packers = &h5twin_bit_pack_kernels_avx2,
    .difference32 = difference32,
    .difference64 = difference64,
    .sum32 = sum32,
    .sum64 = sum64,
    .mask_words = mask_words,
    .split_planes = h5twin_bit_planes_split_avx2,
    .join_planes = h5twin_bit_planes_join_avx2,
    .zero_elim = h5twin_zero_elim_avx2,
    .zero_restore = h5twin_zero_restore_avx2,
    .bitmap_write = h5twin_bitmap_write_avx2,
    .bitmap_read = h5twin_bitmap_read_avx2,
    .count_bit_lengths = count_bit_lengths,
    .split_words = split_words,
    .merge_words = merge_words,
};
