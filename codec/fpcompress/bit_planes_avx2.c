/* SPDX-License-Identifier: BSD-3-Clause
 * bit_planes_avx2.c: bit_planes.h with AVX2, four groups at a time: their words of one plane are
 * half a vector. */
#include "bit_planes.h"

#include "../common/bit_transpose_avx2.h"
#include "../common/prefetch.h"

#include <string.h>

#define GROUPS 4u

/* Vectors of the rows r .. r + 7 of four groups, to vectors of row r + k of all groups, with row
 * r + k + 4 in the upper half. Its own inverse. */
static inline void
exchange_groups_and_rows(__m256i v[GROUPS])
{
    const __m256i low01 = _mm256_unpacklo_epi32(v[0], v[1]);
    const __m256i high01 = _mm256_unpackhi_epi32(v[0], v[1]);
    const __m256i low23 = _mm256_unpacklo_epi32(v[2], v[3]);
    const __m256i high23 = _mm256_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm256_unpacklo_epi64(low01, low23);
    v[1] = _mm256_unpackhi_epi64(low01, low23);
    v[2] = _mm256_unpacklo_epi64(high01, high23);
    v[3] = _mm256_unpackhi_epi64(high01, high23);
}

static void
split_groups(uint8_t *restrict planes, size_t plane_bytes, const uint8_t *restrict words)
{
    __m256i rows[GROUPS][4];
    for (unsigned g = 0; g < GROUPS; g++) {
        for (unsigned i = 0; i < 4; i++) {
            rows[g][i] = h5twin_load_avx2(words + g * H5TWIN_PLANE_GROUP_BYTES + 32 * i);
        }
        h5twin_bit_transpose_rows32_avx2(rows[g]);
    }
    for (unsigned i = 0; i < 4; i++) {
        __m256i v[GROUPS] = {rows[0][i], rows[1][i], rows[2][i], rows[3][i]};
        exchange_groups_and_rows(v);
        for (unsigned k = 0; k < 4; k++, planes += plane_bytes) {
            _mm_storeu_si128((__m128i *)(void *)planes, _mm256_castsi256_si128(v[k]));
            _mm_storeu_si128((__m128i *)(void *)(planes + 4 * plane_bytes),
                             _mm256_extracti128_si256(v[k], 1));
        }
        planes += 4 * plane_bytes;
    }
}

static void
join_groups(uint8_t *restrict words, const uint8_t *restrict planes, size_t plane_bytes)
{
    __m256i rows[GROUPS][4];
    for (unsigned i = 0; i < 4; i++) {
        __m256i v[GROUPS];
        for (unsigned k = 0; k < 4; k++, planes += plane_bytes) {
            v[k] = _mm256_loadu2_m128i((const __m128i *)(const void *)(planes + 4 * plane_bytes),
                                       (const __m128i *)(const void *)planes);
        }
        planes += 4 * plane_bytes;
        exchange_groups_and_rows(v);
        for (unsigned g = 0; g < GROUPS; g++) {
            rows[g][i] = v[g];
        }
    }
    for (unsigned g = 0; g < GROUPS; g++) {
        h5twin_bit_transpose_rows32_avx2(rows[g]);
        for (unsigned i = 0; i < 4; i++) {
            h5twin_store_avx2(words + g * H5TWIN_PLANE_GROUP_BYTES + 32 * i, rows[g][i]);
        }
    }
}

static void
split_group(uint8_t *restrict planes, size_t plane_bytes, const uint8_t *restrict words)
{
    uint32_t rows[32];
    memcpy(rows, words, sizeof rows);
    h5twin_bit_transpose32_avx2(rows);
    for (size_t r = 0; r < 32; r++) {
        memcpy(planes + r * plane_bytes, &rows[r], 4);
    }
}

static void
join_group(uint8_t *restrict words, const uint8_t *restrict planes, size_t plane_bytes)
{
    uint32_t rows[32];
    for (size_t r = 0; r < 32; r++) {
        memcpy(&rows[r], planes + r * plane_bytes, 4);
    }
    h5twin_bit_transpose32_avx2(rows);
    memcpy(words, rows, sizeof rows);
}

void
h5twin_bit_planes_split_avx2(uint8_t *restrict planes, const uint8_t *restrict words,
                             size_t group_count, const uint8_t *next)
{
    size_t group = 0;
    for (; group + GROUPS <= group_count; group += GROUPS) {
        h5twin_prefetch_bytes_l2(next + group * H5TWIN_PLANE_GROUP_BYTES,
                                 GROUPS * H5TWIN_PLANE_GROUP_BYTES);
        split_groups(planes + 4 * group, 4 * group_count, words + group * H5TWIN_PLANE_GROUP_BYTES);
    }
    for (; group < group_count; group++) {
        split_group(planes + 4 * group, 4 * group_count, words + group * H5TWIN_PLANE_GROUP_BYTES);
    }
}

void
h5twin_bit_planes_join_avx2(uint8_t *restrict words, const uint8_t *restrict planes,
                            size_t group_count, const uint8_t *next)
{
    size_t group = 0;
    for (; group + GROUPS <= group_count; group += GROUPS) {
        h5twin_prefetch_bytes_l2(next + group * H5TWIN_PLANE_GROUP_BYTES,
                                 GROUPS * H5TWIN_PLANE_GROUP_BYTES);
        join_groups(words + group * H5TWIN_PLANE_GROUP_BYTES, planes + 4 * group, 4 * group_count);
    }
    for (; group < group_count; group++) {
        join_group(words + group * H5TWIN_PLANE_GROUP_BYTES, planes + 4 * group, 4 * group_count);
    }
}
