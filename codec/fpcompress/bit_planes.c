/* SPDX-License-Identifier: BSD-3-Clause
 * bit_planes.c: see bit_planes.h. Portable, or with the SSE2 that every x86-64 has: there a row of
 * the result is the top bits of 32 bytes, which one instruction collects for 16 of them. That is
 * some five times faster than swapping squares in general registers. */
#include "bit_planes.h"

#include "../common/bit_transpose.h"
#include "../common/bytes.h"
#include "../common/prefetch.h"

#define ROWS 32u

#ifdef __SSE2__
#    include <emmintrin.h>

/* Bytes 0, 1, 2, 3 of 16 words, each in a vector of its own. In place. */
static inline void
separate_bytes(__m128i v[4])
{
    /* An interleaving of the halves turns the number of every byte, 4 * word + byte, left by one
     * bit; four of them exchange word and byte. */
    for (int round = 0; round < 4; round++) {
        const __m128i v0 = v[0], v1 = v[1];
        v[0] = _mm_unpacklo_epi8(v0, v[2]);
        v[1] = _mm_unpackhi_epi8(v0, v[2]);
        v[2] = _mm_unpacklo_epi8(v1, v[3]);
        v[3] = _mm_unpackhi_epi8(v1, v[3]);
    }
}

/* rows[i] holds rows 4i ... 4i + 3. Row r of the result goes to dst + r * stride. */
static inline void
transpose_rows(uint8_t *restrict dst, size_t stride, const __m128i rows[8])
{
    __m128i low[4], high[4]; /* rows 31 ... 16 and 15 ... 0: the last row is the lowest bit */
    for (int i = 0; i < 4; i++) {
        low[i] = _mm_shuffle_epi32(rows[7 - i], 0x1B);
        high[i] = _mm_shuffle_epi32(rows[3 - i], 0x1B);
    }
    separate_bytes(low);
    separate_bytes(high);
    for (int byte = 3; byte >= 0; byte--) {
        for (unsigned bit = 0; bit < 8; bit++, dst += stride) {
            h5twin_store32(dst, (uint32_t)_mm_movemask_epi8(low[byte]) |
                                    (uint32_t)_mm_movemask_epi8(high[byte]) << 16);
            low[byte] = _mm_add_epi8(low[byte], low[byte]);
            high[byte] = _mm_add_epi8(high[byte], high[byte]);
        }
    }
}

static inline __m128i
load_rows(const uint8_t *src)
{
    return _mm_loadu_si128((const __m128i *)(const void *)src);
}

static void
split_group(uint8_t *restrict planes, size_t plane_bytes, const uint8_t *restrict words)
{
    __m128i rows[8];
    for (size_t i = 0; i < 8; i++) {
        rows[i] = load_rows(words + 16 * i);
    }
    transpose_rows(planes, plane_bytes, rows);
}

/* Four groups, whose rows come from four words side by side in each plane. */
static void
join_four_groups(uint8_t *restrict words, const uint8_t *restrict planes, size_t plane_bytes)
{
    __m128i rows[4][8];
    for (size_t i = 0; i < 8; i++) {
        const uint8_t *const at = planes + 4 * i * plane_bytes;
        const __m128i r0 = load_rows(at), r1 = load_rows(at + plane_bytes);
        const __m128i r2 = load_rows(at + 2 * plane_bytes), r3 = load_rows(at + 3 * plane_bytes);
        const __m128i low01 = _mm_unpacklo_epi32(r0, r1), high01 = _mm_unpackhi_epi32(r0, r1);
        const __m128i low23 = _mm_unpacklo_epi32(r2, r3), high23 = _mm_unpackhi_epi32(r2, r3);
        rows[0][i] = _mm_unpacklo_epi64(low01, low23);
        rows[1][i] = _mm_unpackhi_epi64(low01, low23);
        rows[2][i] = _mm_unpacklo_epi64(high01, high23);
        rows[3][i] = _mm_unpackhi_epi64(high01, high23);
    }
    for (size_t g = 0; g < 4; g++) {
        transpose_rows(words + g * H5TWIN_PLANE_GROUP_BYTES, 4, rows[g]);
    }
}

#else

static void
split_group(uint8_t *restrict planes, size_t plane_bytes, const uint8_t *restrict words)
{
    uint32_t rows[ROWS];
    for (size_t j = 0; j < ROWS; j++) {
        rows[j] = h5twin_load32(words + 4 * j);
    }
    h5twin_bit_transpose32(rows);
    for (size_t r = 0; r < ROWS; r++) {
        h5twin_store32(planes + r * plane_bytes, rows[r]);
    }
}
#endif

static void
join_group(uint8_t *restrict words, const uint8_t *restrict planes, size_t plane_bytes)
{
    uint32_t rows[ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        rows[r] = h5twin_load32(planes + r * plane_bytes);
    }
    h5twin_bit_transpose32(rows);
    for (size_t j = 0; j < ROWS; j++) {
        h5twin_store32(words + 4 * j, rows[j]);
    }
}

void
h5twin_bit_planes_split(uint8_t *restrict planes, const uint8_t *restrict words, size_t group_count,
                        const uint8_t *next)
{
    for (size_t group = 0; group < group_count; group++) {
        h5twin_prefetch_bytes_l2(next + group * H5TWIN_PLANE_GROUP_BYTES, H5TWIN_PLANE_GROUP_BYTES);
        split_group(planes + 4 * group, 4 * group_count, words + group * H5TWIN_PLANE_GROUP_BYTES);
    }
}

void
h5twin_bit_planes_join(uint8_t *restrict words, const uint8_t *restrict planes, size_t group_count,
                       const uint8_t *next)
{
    size_t group = 0;
#ifdef __SSE2__
    for (; group + 4 <= group_count; group += 4) {
        h5twin_prefetch_bytes_l2(next + group * H5TWIN_PLANE_GROUP_BYTES,
                                 4 * H5TWIN_PLANE_GROUP_BYTES);
        join_four_groups(words + group * H5TWIN_PLANE_GROUP_BYTES, planes + 4 * group,
                         4 * group_count);
    }
#endif
    for (; group < group_count; group++) {
        h5twin_prefetch_bytes_l2(next + group * H5TWIN_PLANE_GROUP_BYTES, H5TWIN_PLANE_GROUP_BYTES);
        join_group(words + group * H5TWIN_PLANE_GROUP_BYTES, planes + 4 * group, 4 * group_count);
    }
}
