/* SPDX-License-Identifier: BSD-3-Clause
 * zero_elim_avx2.c: zero_elim.h with byte shuffles of 8 bytes and comparisons of 32. */
#include "zero_elim.h"

#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/lanes_avx2.h"
#include "zero_elim_core.h"

/* Store the bytes of a word that mask names at dst, and undefined ones up to 8 bytes; returns their
 * number. */
static inline size_t
keep_bytes(uint8_t *dst, const uint8_t *word, unsigned mask)
{
    const __m128i lanes = _mm_cvtsi64_si128((long long)h5twin_compress_lanes[mask]);
    const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)word);
    _mm_storel_epi64((__m128i *)(void *)dst, _mm_shuffle_epi8(bytes, lanes));
    return h5twin_popcount32(mask);
}

static inline size_t
keep_bytes_of_vector(uint8_t *dst, const uint8_t *src, uint32_t mask)
{
    size_t kept = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        kept += keep_bytes(dst + kept, src + i, mask >> i & 0xFFu);
    }
    return kept;
}

size_t
h5twin_zero_elim_avx2(uint8_t *restrict dst, uint8_t *restrict bitmap, const uint8_t *restrict src,
                      size_t count)
{
    size_t kept = 0, i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m256i bytes = h5twin_load_avx2(src + i);
        const __m256i is_zero = _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256());
        const uint32_t mask = ~(uint32_t)_mm256_movemask_epi8(is_zero);
        h5twin_store32(bitmap + i / 8, mask);
        kept += keep_bytes_of_vector(dst + kept, src + i, mask);
    }
    return kept + h5twin_zero_elim(dst + kept, bitmap + i / 8, src + i, count - i);
}

void
h5twin_zero_restore_avx2(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                         const uint8_t *restrict src, size_t src_size)
{
    size_t used = 0, i = 0;
    for (; i < count && src_size - used >= 8; i += 8) {
        const unsigned mask = bitmap[i / 8];
        const __m128i lanes = _mm_cvtsi64_si128((long long)h5twin_expand_lanes[mask]);
        const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)(src + used));
        _mm_storel_epi64((__m128i *)(void *)(dst + i), _mm_shuffle_epi8(bytes, lanes));
        used += h5twin_popcount32(mask);
    }
    h5twin_zero_restore(dst + i, count - i, bitmap + i / 8, src + used, src_size - used);
}

size_t
h5twin_repeat_elim_avx2(uint8_t *restrict dst, uint8_t *restrict bitmap,
                        const uint8_t *restrict src, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i += 8) {
        if (i != 0 && count - i >= 32) {
            const __m256i before = h5twin_load_avx2(src + i - 1);
            const __m256i is_same = _mm256_cmpeq_epi8(h5twin_load_avx2(src + i), before);
            const uint32_t mask = ~(uint32_t)_mm256_movemask_epi8(is_same);
            h5twin_store32(bitmap + i / 8, mask);
            kept += keep_bytes_of_vector(dst + kept, src + i, mask);
            i += 24;
        } else {
            const uint64_t before = i == 0 ? 0 : src[i - 1];
            const unsigned mask = h5twin_new_bytes(h5twin_load64(src + i), before);
            bitmap[i / 8] = (uint8_t)mask;
            kept += keep_bytes(dst + kept, src + i, mask);
        }
    }
    return kept;
}

/* Byte j: how many of the bits 0..j of mask are set. */
static inline uint64_t
count_up(unsigned mask)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t bits = mask * ones & UINT64_C(0x8040201008040201); /* bit j in byte j */
    return ((bits + 0x7F * ones) >> 7 & ones) * ones;
}

void
h5twin_repeat_restore_avx2(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                           const uint8_t *restrict src, size_t src_size)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i += 8) {
        const unsigned mask = bitmap[i / 8];
        uint64_t fresh = 0;
        if (src_size - used >= 8) {
            fresh = h5twin_load64(src + used);
        } else if (used != src_size) {
            memcpy(&fresh, src + used, src_size - used);
        }
        /* Byte 0 is the one before, byte k the k-th of those to come. */
        const __m128i bytes =
            _mm_insert_epi8(_mm_slli_si128(_mm_cvtsi64_si128((long long)fresh), 1),
                            used == 0 ? 0 : src[used - 1], 0);
        const __m128i ranks = _mm_cvtsi64_si128((long long)count_up(mask));
        _mm_storel_epi64((__m128i *)(void *)(dst + i), _mm_shuffle_epi8(bytes, ranks));
        used += h5twin_popcount32(mask);
    }
}

static const struct h5twin_repeat_coder coder_avx2 = {h5twin_repeat_elim_avx2,
                                                      h5twin_repeat_restore_avx2};

size_t
h5twin_bitmap_write_avx2(uint8_t *restrict dst, const uint8_t *restrict bitmap, size_t bitmap_size)
{
    return h5twin_bitmap_write_with(&coder_avx2, dst, bitmap, bitmap_size);
}

size_t
h5twin_bitmap_read_avx2(uint8_t *restrict bitmap, size_t bitmap_size, const uint8_t *restrict src,
                        size_t src_size)
{
    return h5twin_bitmap_read_with(&coder_avx2, bitmap, bitmap_size, src, src_size);
}
