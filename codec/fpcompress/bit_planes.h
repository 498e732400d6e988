/* SPDX-License-Identifier: BSD-3-Clause
 * bit_planes.h: many groups of 32 words as 32 planes of bits, and back.
 *
 * Each group is transposed as in bit_transpose.h; then row r of all groups stands together. Bytes
 * are little-endian words: group g, member j is the word at 4 * (32 * g + j) of words, and plane
 * r of group g the word at 4 * (r * group_count + g) of planes. On the way, as many bytes from
 * next on, which may be any address, are brought to a cache. */
#ifndef H5TWIN_COMMON_BIT_PLANES_H
#define H5TWIN_COMMON_BIT_PLANES_H

#include <stddef.h>
#include <stdint.h>

#define H5TWIN_PLANE_GROUP_BYTES 128u

void h5twin_bit_planes_split(uint8_t *restrict planes, const uint8_t *restrict words,
                             size_t group_count, const uint8_t *next);
void h5twin_bit_planes_join(uint8_t *restrict words, const uint8_t *restrict planes,
                            size_t group_count, const uint8_t *next);

void h5twin_bit_planes_split_avx2(uint8_t *restrict planes, const uint8_t *restrict words,
                                  size_t group_count, const uint8_t *next);
void h5twin_bit_planes_join_avx2(uint8_t *restrict words, const uint8_t *restrict planes,
                                 size_t group_count, const uint8_t *next);
void h5twin_bit_planes_split_avx512(uint8_t *restrict planes, const uint8_t *restrict words,
                                    size_t group_count, const uint8_t *next);
void h5twin_bit_planes_join_avx512(uint8_t *restrict words, const uint8_t *restrict planes,
                                   size_t group_count, const uint8_t *next);

#endif
