/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_kernels_avx512.c: see cascade_kernels.h. Remainders are read a vector at once; the rest
 * is what the compiler makes of the loops. */
#include "cascade_kernels.h"

#include "../common/bit_fields_avx512.h"
#include "../common/bit_stream_lsb.h"

/* Widths as soft_bits has them, for 16 codes. */
static inline __m512i
soft_widths32(__m512i codes, unsigned fraction)
{
    const __m512i length =
        _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(_mm512_abs_epi32(codes)));
    const __m512i most = _mm512_set1_epi32((int)fraction + 1);
    const __mmask16 is_below = _mm512_cmplt_epu32_mask(length, most);
    const __m512i widths = _mm512_maskz_sub_epi32(is_below, most, length);
    return _mm512_mask_mov_epi32(widths, _mm512_testn_epi32_mask(codes, codes),
                                 _mm512_set1_epi32(1));
}

static inline __m512i
soft_widths64(__m512i codes, unsigned fraction)
{
    const __m512i length =
        _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_lzcnt_epi64(_mm512_abs_epi64(codes)));
    const __m512i most = _mm512_set1_epi64((long long)fraction + 1);
    const __mmask8 is_below = _mm512_cmplt_epu64_mask(length, most);
    const __m512i widths = _mm512_maskz_sub_epi64(is_below, most, length);
    return _mm512_mask_mov_epi64(widths, _mm512_testn_epi64_mask(codes, codes),
                                 _mm512_set1_epi64(1));
}

/* The remainders of whole vectors of codes; returns how many those are. */
static inline size_t
read_fields32(uint32_t *remainders, const uint32_t *codes, size_t count, unsigned fraction,
              struct h5twin_lsb_reader *reader)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m512i widths = soft_widths32(_mm512_loadu_si512(codes + i), fraction);
        _mm512_storeu_si512(
            remainders + i,
            h5twin_bit_fields32_avx512(reader->src, reader->src_size, &reader->bit, widths));
    }
    return i;
}

static inline size_t
read_fields64(uint64_t *remainders, const uint64_t *codes, size_t count, unsigned fraction,
              struct h5twin_lsb_reader *reader)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m512i widths = soft_widths64(_mm512_loadu_si512(codes + i), fraction);
        _mm512_storeu_si512(
            remainders + i,
            h5twin_bit_fields64_avx512(reader->src, reader->src_size, &reader->bit, widths));
    }
    return i;
}

#define CASCADE_READ_FIELDS_32 read_fields32
#define CASCADE_READ_FIELDS_64 read_fields64
#include "cascade_kernels_impl.h"

const struct h5twin_cascade_kernels h5twin_cascade_kernels_avx512 = CASCADE_KERNELS_IN_C;
