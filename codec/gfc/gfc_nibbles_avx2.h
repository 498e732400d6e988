/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_nibbles_avx2.h: the nibbles of a subchunk in a vector, for AVX2 and AVX-512. */
#ifndef H5TWIN_GFC_NIBBLES_AVX2_H
#define H5TWIN_GFC_NIBBLES_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

/* One nibble per byte, in the order of the lanes, and the stored bytes of each lane. */
struct nibbles {
    __m256i nibbles, stored;
};

static inline __m256i
load_nibbles(const uint8_t *src)
{
    const __m256i pairs = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)src));
    return _mm256_and_si256(_mm256_or_si256(pairs, _mm256_slli_epi16(pairs, 4)),
                            _mm256_set1_epi8(0x0F));
}

static inline size_t
sum_bytes(__m256i bytes)
{
    const __m256i sums = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
    const __m128i half =
        _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return (size_t)(_mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1));
}

#endif
