/* SPDX-License-Identifier: BSD-3-Clause
 * bit_fields_avx512.h: fields of different widths from a string of bits, a vector of them at once.
 *
 * Bits as in bit_stream_lsb.h. A scan of the widths gives every field its place in the 64 bytes
 * that all of them lie in; two permutes fetch the two words that it lies in, a double shift aligns
 * it. */
#ifndef H5TWIN_COMMON_BIT_FIELDS_AVX512_H
#define H5TWIN_COMMON_BIT_FIELDS_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

/* The 64 bytes from a bit's byte on; zeros beyond src_size. */
static inline __m512i
h5twin_bit_window_avx512(const uint8_t *src, size_t src_size, size_t bit)
{
    const size_t byte = bit / 8;
    if (byte + 64 <= src_size) {
        return _mm512_loadu_si512(src + byte);
    }
    const unsigned left = byte < src_size ? (unsigned)(src_size - byte) : 0;
    return _mm512_maskz_loadu_epi8(_bzhi_u64(~UINT64_C(0), left), src + byte);
}

/* Sixteen fields of up to 30 bits, the first at *bit, which goes on to the end of the last. */
static inline __m512i
h5twin_bit_fields32_avx512(const uint8_t *src, size_t src_size, size_t *bit, __m512i widths)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i window = h5twin_bit_window_avx512(src, src_size, *bit);
    __m512i ends = _mm512_add_epi32(widths, _mm512_alignr_epi32(widths, zero, 15));
    ends = _mm512_add_epi32(ends, _mm512_alignr_epi32(ends, zero, 14));
    ends = _mm512_add_epi32(ends, _mm512_alignr_epi32(ends, zero, 12));
    ends = _mm512_add_epi32(ends, _mm512_alignr_epi32(ends, zero, 8));
    const __m512i begins =
        _mm512_add_epi32(_mm512_sub_epi32(ends, widths), _mm512_set1_epi32((int)(*bit % 8)));
    const __m512i word = _mm512_srli_epi32(begins, 5);
    const __m512i low = _mm512_permutexvar_epi32(word, window);
    const __m512i high =
        _mm512_permutexvar_epi32(_mm512_add_epi32(word, _mm512_set1_epi32(1)), window);
    const __m512i fields = _mm512_shrdv_epi32(low, high, begins);
    *bit += (unsigned)_mm_extract_epi32(_mm512_extracti32x4_epi32(ends, 3), 3);
    return _mm512_andnot_si512(_mm512_sllv_epi32(_mm512_set1_epi32(-1), widths), fields);
}

/* Eight fields of up to 62 bits. */
static inline __m512i
h5twin_bit_fields64_avx512(const uint8_t *src, size_t src_size, size_t *bit, __m512i widths)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i window = h5twin_bit_window_avx512(src, src_size, *bit);
    __m512i ends = _mm512_add_epi64(widths, _mm512_alignr_epi64(widths, zero, 7));
    ends = _mm512_add_epi64(ends, _mm512_alignr_epi64(ends, zero, 6));
    ends = _mm512_add_epi64(ends, _mm512_alignr_epi64(ends, zero, 4));
    const __m512i begins =
        _mm512_add_epi64(_mm512_sub_epi64(ends, widths), _mm512_set1_epi64((long long)(*bit % 8)));
    const __m512i word = _mm512_srli_epi64(begins, 6);
    const __m512i low = _mm512_permutexvar_epi64(word, window);
    const __m512i high =
        _mm512_permutexvar_epi64(_mm512_add_epi64(word, _mm512_set1_epi64(1)), window);
    const __m512i fields = _mm512_shrdv_epi64(low, high, begins);
    *bit += (size_t)_mm_extract_epi64(_mm512_extracti64x2_epi64(ends, 3), 1);
    return _mm512_andnot_si512(_mm512_sllv_epi64(_mm512_set1_epi64(-1), widths), fields);
}

#endif
