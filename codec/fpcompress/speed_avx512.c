/* SPDX-License-Identifier: BSD-3-Clause
 * speed_avx512.c: mode speed with AVX-512: the text of speed_template.h with packers, running sums
 * and planning of this instruction set. A full subchunk is eight vectors. */
#include "../common/bit_pack.h"
#include "../common/bit_stream_lsb.h"
#include "../common/prefetch.h"
#include "../common/sum_avx512.h"
#include "fpcompress.h"
#include "fpcompress_core.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#define SUM_WORDS32(dst, words, count, is_signed, previous)                                        \
    h5twin_sum32_avx512(dst, (const uint8_t *)(words), count, previous, is_signed)
#define SUM_WORDS64(dst, words, count, is_signed, previous)                                        \
    h5twin_sum64_avx512(dst, (const uint8_t *)(words), count, previous, is_signed)
#define VECTORS 8u /* of a full subchunk */

/* Map a subchunk's words a second time if that makes the largest smaller. Returns their width. */
static unsigned
map_twice32(uint32_t *words, bool *is_signed)
{
    __m512i largest = _mm512_setzero_si512(), largest_mapped = largest;
    for (unsigned i = 0; i < VECTORS; i++) {
        const __m512i v = _mm512_loadu_si512(words + 16 * i);
        largest = _mm512_max_epu32(largest, v);
        largest_mapped = _mm512_max_epu32(largest_mapped, h5twin_zigzag32_avx512(v));
    }
    const uint32_t all = _mm512_reduce_max_epu32(largest);
    const uint32_t all_mapped = _mm512_reduce_max_epu32(largest_mapped);
    *is_signed = h5twin_fpc_is_signed(all, all_mapped);
    for (unsigned i = 0; i < VECTORS && *is_signed; i++) {
        const __m512i v = _mm512_loadu_si512(words + 16 * i);
        _mm512_storeu_si512(words + 16 * i, h5twin_zigzag32_avx512(v));
    }
    return h5twin_bit_length32(*is_signed ? all_mapped : all);
}

static inline unsigned
plan_vectors32(uint32_t *restrict words, const uint8_t *restrict src, bool is_first,
               bool *is_signed)
{
    __m512i any = _mm512_setzero_si512();
    for (unsigned i = 0; i < VECTORS; i++) {
        const __mmask16 present = (__mmask16)(i == 0 && is_first ? ~1u : ~0u);
        const __m512i before = _mm512_maskz_loadu_epi32(present, src + 64 * i - 4);
        const __m512i now = _mm512_loadu_si512(src + 64 * i);
        const __m512i v = h5twin_zigzag32_avx512(_mm512_sub_epi32(now, before));
        _mm512_storeu_si512(words + 16 * i, v);
        any = _mm512_or_si512(any, v);
    }
    *is_signed = false;
    const uint32_t all = (uint32_t)_mm512_reduce_or_epi32(any);
    /* Otherwise the second mapping would double the largest one. */
    return all >> 31 != 0 ? map_twice32(words, is_signed) : h5twin_bit_length32(all);
}

/* Map a subchunk's words a second time if that makes the largest smaller. Returns their width. */
static unsigned
map_twice64(uint64_t *words, bool *is_signed)
{
    __m512i largest = _mm512_setzero_si512(), largest_mapped = largest;
    for (unsigned i = 0; i < VECTORS; i++) {
        const __m512i v = _mm512_loadu_si512(words + 8 * i);
        largest = _mm512_max_epu64(largest, v);
        largest_mapped = _mm512_max_epu64(largest_mapped, h5twin_zigzag64_avx512(v));
    }
    const uint64_t all = _mm512_reduce_max_epu64(largest);
    const uint64_t all_mapped = _mm512_reduce_max_epu64(largest_mapped);
    *is_signed = h5twin_fpc_is_signed(all, all_mapped);
    for (unsigned i = 0; i < VECTORS && *is_signed; i++) {
        const __m512i v = _mm512_loadu_si512(words + 8 * i);
        _mm512_storeu_si512(words + 8 * i, h5twin_zigzag64_avx512(v));
    }
    return h5twin_bit_length64(*is_signed ? all_mapped : all);
}

static inline unsigned
plan_vectors64(uint64_t *restrict words, const uint8_t *restrict src, bool is_first,
               bool *is_signed)
{
    __m512i any = _mm512_setzero_si512();
    for (unsigned i = 0; i < VECTORS; i++) {
        const __mmask8 present = (__mmask8)(i == 0 && is_first ? ~1u : ~0u);
        const __m512i before = _mm512_maskz_loadu_epi64(present, src + 64 * i - 8);
        const __m512i now = _mm512_loadu_si512(src + 64 * i);
        const __m512i v = h5twin_zigzag64_avx512(_mm512_sub_epi64(now, before));
        _mm512_storeu_si512(words + 8 * i, v);
        any = _mm512_or_si512(any, v);
    }
    *is_signed = false;
    const uint64_t all = (uint64_t)_mm512_reduce_or_epi64(any);
    /* Otherwise the second mapping would double the largest one. */
    return all >> 63 != 0 ? map_twice64(words, is_signed) : h5twin_bit_length64(all);
}

#define PLAN_VECTORS32 plan_vectors32
#define PLAN_VECTORS64 plan_vectors64
#define PACKERS        h5twin_bit_pack_kernels_avx512

#define WORD_BITS  32
#define COUNT_BITS H5TWIN_FPC_COUNT32
#include "speed_template.h"

#define WORD_BITS  64
#define COUNT_BITS H5TWIN_FPC_COUNT64
#include "speed_template.h"

const struct h5twin_block_codec h5twin_spspeed_blocks_avx512 = {
    .header_size = H5TWIN_FPC_HEADER_BYTES(4),
    .encode = encode_block32,
    .decode = decode_block32,
};

const struct h5twin_block_codec h5twin_dpspeed_blocks_avx512 = {
    .header_size = H5TWIN_FPC_HEADER_BYTES(8),
    .encode = encode_block64,
    .decode = decode_block64,
};

const struct h5twin_fpcompress_kernels h5twin_fpcompress_kernels_avx512 = {
    .spspeed = &h5twin_spspeed_blocks_avx512,
    .dpspeed = &h5twin_dpspeed_blocks_avx512,
    .ratio_stages = &h5twin_ratio_kernels_avx512,
};
