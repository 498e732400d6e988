/* SPDX-License-Identifier: BSD-3-Clause
 * ratio_stages.h: the stages of SPratio and DPratio that touch every byte, by instruction set.
 *
 * Each works on one block, at most 16384 bytes, in buffers of the caller. Words are little-endian
 * at any address. "Room" is what may be overwritten, or read without use. */
#ifndef H5TWIN_FPCOMPRESS_RATIO_STAGES_H
#define H5TWIN_FPCOMPRESS_RATIO_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct h5twin_bit_pack_kernels; /* common/bit_pack.h */

#define H5TWIN_STAGE_ROOM 64u /* bytes that must be readable behind a source, where asked for */

struct h5twin_ratio_kernels {
    const struct h5twin_bit_pack_kernels *bit_packers;

    /* DIFFMS. The second returns the bits that any residual uses. dst may not be src, but for
     * sum64. */
    void (*difference32)(uint8_t *restrict dst, const uint8_t *restrict src, size_t word_count);
    uint64_t (*difference64)(uint8_t *restrict dst, const uint8_t *restrict src, size_t word_count);
    void (*sum32)(uint8_t *restrict dst, const uint8_t *restrict src, size_t word_count);
    void (*sum64)(uint8_t *dst, const uint8_t *src, size_t word_count);

    /* FCM: the words whose distance is 0, and 0 for the others. */
    void (*mask_words)(uint8_t *restrict dst, const uint8_t *restrict src,
                       const uint32_t *restrict distances, size_t word_count);

    /* BIT: see fpcompress/bit_planes.h. */
    void (*split_planes)(uint8_t *restrict planes, const uint8_t *restrict words,
                         size_t group_count, const uint8_t *next);
    void (*join_planes)(uint8_t *restrict words, const uint8_t *restrict planes, size_t group_count,
                        const uint8_t *next);

    /* RZE: see fpcompress/zero_elim.h. */
    size_t (*zero_elim)(uint8_t *restrict dst, uint8_t *restrict bitmap,
                        const uint8_t *restrict src, size_t count);
    void (*zero_restore)(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                         const uint8_t *restrict src, size_t src_size);

    /* The bitmaps of all three: see fpcompress/zero_elim.h. */
    size_t (*bitmap_write)(uint8_t *restrict dst, const uint8_t *restrict bitmap,
                           size_t bitmap_size);
    size_t (*bitmap_read)(uint8_t *restrict bitmap, size_t bitmap_size, const uint8_t *restrict src,
                          size_t src_size);

    /* RAZE, or RARE if repeats. counts[table][b], summed over the tables, is the number of words
     * whose difference to the reference has bit length b. */
    void (*count_bit_lengths)(uint16_t counts[4][65], const uint8_t *restrict src,
                              size_t word_count, bool repeats);
    /* Full words to dst, the low keep_bits (0..63) of the others to low_bits; bit i of bitmap (a
     * byte for each eight words begun) is set if word i is full. Returns the number of full words.
     * dst and low_bits have room for word_count words and H5TWIN_STAGE_ROOM. */
    size_t (*split_words)(uint8_t *restrict dst, uint64_t *restrict low_bits,
                          uint8_t *restrict bitmap, const uint8_t *restrict src, size_t word_count,
                          unsigned keep_bits, bool repeats);
    /* The inverse. full_words and low_bits are followed by H5TWIN_STAGE_ROOM. On the way, 8 *
     * word_count bytes from next on are brought to a cache. */
    void (*merge_words)(uint8_t *restrict dst, size_t word_count,
                        const uint8_t *restrict full_words, const uint64_t *restrict low_bits,
                        const uint8_t *restrict bitmap, unsigned keep_bits, bool repeats,
                        const uint8_t *next);
};

extern const struct h5twin_ratio_kernels h5twin_ratio_kernels_scalar;
extern const struct h5twin_ratio_kernels h5twin_ratio_kernels_avx2;
extern const struct h5twin_ratio_kernels h5twin_ratio_kernels_avx512;

#endif
