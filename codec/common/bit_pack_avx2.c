/* SPDX-License-Identifier: BSD-3-Clause
 * bit_pack_avx2.c: 32-bit words unpacked with AVX2; the rest of bit_pack.h is as fast in plain C.
 *
 * Eight words of w bits are w bytes. A permutation fetches for each word the 32-bit stream words
 * that it begins in, a second one those behind, and shifts align the two. Lanes that have all their
 * bits from the first one get some of no use above them, which a mask removes. */
#include "bit_pack.h"

#include "lanes_avx2.h"

#include <string.h>

#define VECTOR_BYTES 32

static void
unpack32(uint32_t *restrict dst, size_t count, unsigned width_bits, const uint8_t *restrict src)
{
    const size_t whole = count - count % 8;
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i bit = _mm256_mullo_epi32(lane, _mm256_set1_epi32((int)width_bits));
    const __m256i low_word = _mm256_srli_epi32(bit, 5);
    const __m256i high_word = _mm256_add_epi32(low_word, _mm256_set1_epi32(1));
    const __m256i down = _mm256_and_si256(bit, _mm256_set1_epi32(31));
    const __m256i up = _mm256_sub_epi32(_mm256_set1_epi32(32), down); /* 32 shifts all out */
    const __m256i mask = _mm256_set1_epi32((int)((UINT64_C(1) << width_bits) - 1));
    const uint8_t *const rest = src + whole / 8 * width_bits;
    const uint8_t *end = rest;
    uint8_t last[2 * VECTOR_BYTES] = {0};
    for (size_t i = 0; i < whole; i += 8, src += width_bits) {
        if (end - src < VECTOR_BYTES) {
            /* Only bytes that may be read, then zeros. */
            memcpy(last, src, (size_t)(end - src));
            src = last;
            end = last + sizeof last;
        }
        const __m256i packed = h5twin_load_avx2(src);
        const __m256i low = _mm256_permutevar8x32_epi32(packed, low_word);
        const __m256i high = _mm256_permutevar8x32_epi32(packed, high_word);
        const __m256i words =
            _mm256_or_si256(_mm256_srlv_epi32(low, down), _mm256_sllv_epi32(high, up));
        h5twin_store_avx2(dst + i, _mm256_and_si256(words, mask));
    }
    if (whole != count) {
        h5twin_bit_unpack32(dst + whole, count - whole, width_bits, rest);
    }
}

const struct h5twin_bit_pack_kernels h5twin_bit_pack_kernels_avx2 = {
    .pack32 = h5twin_bit_pack32_within,
    .pack64 = h5twin_bit_pack64_within,
    .unpack32 = unpack32,
    .unpack64 = h5twin_bit_unpack64,
};
