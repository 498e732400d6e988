/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_histogram16_avx512.h: the parts of e2mc_histogram16.h that pay in vectors of 64 bytes. */
#ifndef H5TWIN_E2MC_HISTOGRAM16_AVX512_H
#define H5TWIN_E2MC_HISTOGRAM16_AVX512_H

#include "e2mc_histogram.h"

#include <immintrin.h>

/* Pack the symbols at symbols, symbols + word_size, ... of size bytes that are not `left_out`, up
 * to where a vector would read beyond the words. Returns how many; *at is where they end. Packed in
 * a register: Zen 4 takes 100 times as long to do it while storing. */
static inline size_t
h5twin_e2mc_pack_others_avx512(uint8_t *packed, const uint8_t *symbols, size_t size,
                               size_t word_size, uint32_t left_out, size_t *at)
{
    const __m512i left_out_all = _mm512_set1_epi16((short)left_out);
    size_t i = 0, packed_count = 0;
    for (; i + 64 + word_size - 2 <= size; i += 64) {
        const __m512i words = _mm512_loadu_si512(symbols + i);
        uint8_t *const next = packed + 2 * packed_count;
        if (word_size == 2) {
            const __mmask32 kept = _mm512_cmpneq_epi16_mask(words, left_out_all);
            _mm512_storeu_si512(next, _mm512_maskz_compress_epi16(kept, words));
            packed_count += (unsigned)_mm_popcnt_u32(kept);
        } else if (word_size == 4) {
            const __m256i v = _mm512_cvtepi32_epi16(words);
            const __mmask16 kept =
                _mm256_cmpneq_epi16_mask(v, _mm512_castsi512_si256(left_out_all));
            _mm256_storeu_si256((__m256i *)(void *)next, _mm256_maskz_compress_epi16(kept, v));
            packed_count += (unsigned)_mm_popcnt_u32(kept);
        } else {
            const __m128i v = _mm512_cvtepi64_epi16(words);
            const __mmask8 kept = _mm_cmpneq_epi16_mask(v, _mm512_castsi512_si128(left_out_all));
            _mm_storeu_si128((__m128i *)(void *)next, _mm_maskz_compress_epi16(kept, v));
            packed_count += (unsigned)_mm_popcnt_u32(kept);
        }
    }
    *at = i;
    return packed_count;
}

/* How many symbols have each count, from the table: those of 1 and 2, which most have in noise, by
 * comparing, the others one by one. */
static inline void
h5twin_e2mc_count_counts_avx512(uint32_t small[H5TWIN_E2MC_SMALL_COUNTS], const uint8_t *low)
{
    enum { PART = 4096 }; /* few enough vectors for counters of a byte */
    const __m512i one = _mm512_set1_epi8(1), two = _mm512_set1_epi8(2);
    uint32_t parts[2][256] = {{0}};
    uint8_t large[PART + 64];
    uint64_t ones = 0, twos = 0;
    for (size_t begin = 0; begin < H5TWIN_E2MC_LOW_COUNTS; begin += PART) {
        __m512i one_counts = _mm512_setzero_si512(), two_counts = _mm512_setzero_si512();
        size_t large_count = 0;
        for (size_t i = begin; i < begin + PART; i += 64) {
            const __m512i counts = _mm512_loadu_si512(low + i);
            if (_mm512_test_epi8_mask(counts, counts) == 0) {
                continue;
            }
            one_counts = _mm512_mask_add_epi8(one_counts, _mm512_cmpeq_epi8_mask(counts, one),
                                              one_counts, one);
            two_counts = _mm512_mask_add_epi8(two_counts, _mm512_cmpeq_epi8_mask(counts, two),
                                              two_counts, one);
            const __mmask64 is_large = _mm512_cmpgt_epu8_mask(counts, two);
            _mm512_storeu_si512(large + large_count, _mm512_maskz_compress_epi8(is_large, counts));
            large_count += (size_t)_mm_popcnt_u64(is_large);
        }
        const __m512i zero = _mm512_setzero_si512();
        ones += (uint64_t)_mm512_reduce_add_epi64(_mm512_sad_epu8(one_counts, zero));
        twos += (uint64_t)_mm512_reduce_add_epi64(_mm512_sad_epu8(two_counts, zero));
        for (size_t i = 0; i < large_count; i++) {
            parts[i % 2][large[i]]++;
        }
    }
    parts[0][1] = (uint32_t)ones;
    parts[0][2] = (uint32_t)twos;
    for (unsigned count = 1; count < H5TWIN_E2MC_SMALL_COUNTS; count++) {
        small[count] = parts[0][count] + parts[1][count];
    }
}

#endif
