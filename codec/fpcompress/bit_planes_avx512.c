/* SPDX-License-Identifier: BSD-3-Clause
 * bit_planes_avx512.c: bit_planes.h with AVX-512 VBMI, two groups at a time: their 64 words as four
 * vectors of bytes of one significance; a plane of both is the mask of the top bits of one. */
#include "bit_planes.h"

#include "../common/bytes.h"
#include "../common/hd.h"
#include "../common/prefetch.h"

#include <immintrin.h>

#define FULL_GROUPS 128u /* of a block of 16 KiB */
#define PAIR_BYTES  (2 * (size_t)H5TWIN_PLANE_GROUP_BYTES)

/* Of 16 words in a vector, the last first: byte 0 of all, then byte 1 of all, ... */
static inline __m512i
bytes_apart(void)
{
    uint8_t index[64];
    for (unsigned byte = 0; byte < 4; byte++) {
        for (unsigned word = 0; word < 16; word++) {
            index[16 * byte + word] = (uint8_t)(4 * (15 - word) + byte);
        }
    }
    return _mm512_loadu_si512(index);
}

/* The inverse. */
static inline __m512i
bytes_together(void)
{
    uint8_t index[64];
    for (unsigned word = 0; word < 16; word++) {
        for (unsigned byte = 0; byte < 4; byte++) {
            index[4 * word + byte] = (uint8_t)(16 * byte + 15 - word);
        }
    }
    return _mm512_loadu_si512(index);
}

/* Transpose four vectors of four 16-byte lanes. Its own inverse. */
static inline void
transpose_lanes(__m512i v[4])
{
    const __m512i a = _mm512_shuffle_i32x4(v[0], v[1], 0x44);
    const __m512i b = _mm512_shuffle_i32x4(v[0], v[1], 0xEE);
    const __m512i c = _mm512_shuffle_i32x4(v[2], v[3], 0x44);
    const __m512i d = _mm512_shuffle_i32x4(v[2], v[3], 0xEE);
    v[0] = _mm512_shuffle_i32x4(a, c, 0x88);
    v[1] = _mm512_shuffle_i32x4(a, c, 0xDD);
    v[2] = _mm512_shuffle_i32x4(b, d, 0x88);
    v[3] = _mm512_shuffle_i32x4(b, d, 0xDD);
}

/* Sixteenth words of a pair of groups, in the order of the bits of a mask: the last words of the
 * first group, its first words, the same of the second group. */
static const unsigned quarter_offsets[4] = {64, 0, 192, 128};

H5TWIN_FORCE_INLINE void
split_planes(uint8_t *restrict planes, const uint8_t *restrict words, size_t group_count,
             const uint8_t *next)
{
    const __m512i apart = bytes_apart();
    const size_t plane_bytes = 4 * group_count;
    size_t group = 0;
    for (; group + 2 <= group_count; group += 2, words += PAIR_BYTES) {
        h5twin_prefetch_bytes_l2(next + group * H5TWIN_PLANE_GROUP_BYTES, PAIR_BYTES);
        __m512i v[4];
        for (unsigned i = 0; i < 4; i++) {
            v[i] = _mm512_permutexvar_epi8(apart, _mm512_loadu_si512(words + quarter_offsets[i]));
        }
        transpose_lanes(v);
        uint8_t *dst = planes + 4 * group;
        for (int byte = 3; byte >= 0; byte--) {
            for (unsigned bit = 0; bit < 8; bit++, dst += plane_bytes) {
                h5twin_store64(dst, _mm512_movepi8_mask(v[byte]));
                v[byte] = _mm512_add_epi8(v[byte], v[byte]);
            }
        }
    }
    if (group < group_count) {
        uint8_t last[32 * 4];
        h5twin_bit_planes_split(last, words, 1, next);
        for (size_t r = 0; r < 32; r++) {
            memcpy(planes + r * plane_bytes + 4 * group, last + 4 * r, 4);
        }
    }
}

void
h5twin_bit_planes_split_avx512(uint8_t *restrict planes, const uint8_t *restrict words,
                               size_t group_count, const uint8_t *next)
{
    if (group_count == FULL_GROUPS) { /* with constant strides, which need no registers */
        split_planes(planes, words, FULL_GROUPS, next);
    } else {
        split_planes(planes, words, group_count, next);
    }
}

H5TWIN_FORCE_INLINE void
join_planes(uint8_t *restrict words, const uint8_t *restrict planes, size_t group_count,
            const uint8_t *next)
{
    const __m512i together = bytes_together();
    const __m512i minus_one = _mm512_set1_epi8(-1);
    const size_t plane_bytes = 4 * group_count;
    size_t group = 0;
    for (; group + 2 <= group_count; group += 2, words += PAIR_BYTES) {
        h5twin_prefetch_bytes_l2(next + group * H5TWIN_PLANE_GROUP_BYTES, PAIR_BYTES);
        const uint8_t *src = planes + 4 * group;
        __m512i v[4];
        for (int byte = 3; byte >= 0; byte--) {
            __m512i sum = _mm512_setzero_si512();
            for (unsigned bit = 0; bit < 8; bit++, src += plane_bytes) {
                sum = _mm512_add_epi8(sum, sum);
                sum = _mm512_mask_sub_epi8(sum, h5twin_load64(src), sum, minus_one);
            }
            v[byte] = sum;
        }
        transpose_lanes(v);
        for (unsigned i = 0; i < 4; i++) {
            _mm512_storeu_si512(words + quarter_offsets[i],
                                _mm512_permutexvar_epi8(together, v[i]));
        }
    }
    if (group < group_count) {
        uint8_t last[32 * 4];
        for (size_t r = 0; r < 32; r++) {
            memcpy(last + 4 * r, planes + r * plane_bytes + 4 * group, 4);
        }
        h5twin_bit_planes_join(words, last, 1, next);
    }
}

void
h5twin_bit_planes_join_avx512(uint8_t *restrict words, const uint8_t *restrict planes,
                              size_t group_count, const uint8_t *next)
{
    if (group_count == FULL_GROUPS) { /* with constant strides, which need no registers */
        join_planes(words, planes, FULL_GROUPS, next);
    } else {
        join_planes(words, planes, group_count, next);
    }
}
