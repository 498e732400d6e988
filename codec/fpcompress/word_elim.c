/* SPDX-License-Identifier: BSD-3-Clause
 * word_elim.c: RAZE and RARE, the two last stages of DPratio: leave out the top bits of 64-bit
 * words where they are 0 (RAZE), or those of the word before (RARE). */
#include "../common/bit_pack.h"
#include "../common/bytes.h"
#include "fpcompress.h"
#include "fpcompress_core.h"
#include "zero_elim.h"

#include <stdbool.h>
#include <string.h>

#define MAX_WORDS    (H5TWIN_BLOCK_BYTES / 8)
#define BITMAP_BYTES (MAX_WORDS / 8)
#define ROOM_WORDS   (H5TWIN_STAGE_ROOM / 8)
#define TRAILER      3u /* keep_bits and size */

/* The bits that short words keep, or one of the codes for no such number. */
static unsigned
choose_keep_bits(const struct h5twin_ratio_kernels *stages, const uint8_t *src, size_t word_count,
                 bool repeats)
{
    uint16_t counts[4][65] = {{0}};
    uint32_t histogram[65];
    stages->count_bit_lengths(counts, src, word_count, repeats);
    for (unsigned bits = 0; bits <= 64; bits++) {
        histogram[bits] =
            (uint32_t)counts[0][bits] + counts[1][bits] + counts[2][bits] + counts[3][bits];
    }
    return h5twin_fpc_keep_bits(histogram, (uint32_t)word_count);
}

static size_t
word_elim_encode(const struct h5twin_ratio_kernels *stages, uint8_t *restrict dst,
                 const uint8_t *restrict src, size_t src_size, bool repeats)
{
    const size_t word_count = src_size / 8;
    const size_t tail_size = src_size % 8;
    const unsigned keep_bits = choose_keep_bits(stages, src, word_count, repeats);
    size_t size = 0;
    if (keep_bits == H5TWIN_FPC_KEEP_COPY) {
        memcpy(dst, src, src_size);
        size = src_size;
    } else {
        if (keep_bits != H5TWIN_FPC_KEEP_NONE) {
            uint64_t low_bits[MAX_WORDS + ROOM_WORDS];
            uint8_t bitmap[BITMAP_BYTES] = {0};
            const size_t full_count =
                stages->split_words(dst, low_bits, bitmap, src, word_count, keep_bits, repeats);
            size = 8 * full_count;
            size += stages->bit_packers->pack64(dst + size, H5TWIN_WORD_ELIM_BOUND - size, low_bits,
                                                word_count - full_count, keep_bits);
            size += stages->bitmap_write(dst + size, bitmap, sizeof bitmap);
        }
        memcpy(dst + size, src + 8 * word_count, tail_size);
        size += tail_size;
    }
    dst[size] = (uint8_t)keep_bits;
    h5twin_store16(dst + size + 1, (uint16_t)src_size);
    return size + TRAILER;
}

/* The words of a stream whose keep_bits is below 64: `src` without tail and trailer. */
static enum h5twin_status
decode_words(const struct h5twin_ratio_kernels *stages, uint8_t *restrict dst, size_t word_count,
             const uint8_t *restrict src, size_t src_size, unsigned keep_bits, bool repeats)
{
    uint8_t bitmap[BITMAP_BYTES];
    uint64_t low_bits[MAX_WORDS + ROOM_WORDS];
    const size_t bitmap_size = stages->bitmap_read(bitmap, sizeof bitmap, src, src_size);
    if (bitmap_size == 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    const size_t full_count = h5twin_bitmap_count(bitmap, sizeof bitmap);
    if (full_count > word_count || !h5twin_bitmap_ends(bitmap, sizeof bitmap, word_count)) {
        return H5TWIN_ERR_CORRUPT;
    }
    const size_t short_count = word_count - full_count;
    const size_t low_size = (keep_bits * short_count + 7) / 8;
    if (8 * full_count + low_size + bitmap_size != src_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    stages->bit_packers->unpack64(low_bits, short_count, keep_bits, src + 8 * full_count);
    memset(low_bits + short_count, 0, H5TWIN_STAGE_ROOM);
    /* Behind RARE's stream lies the next block, which will be read from three places at once;
     * RAZE's is a buffer that is in a cache anyway. */
    const uint8_t *const next = src + src_size + TRAILER;
    stages->merge_words(dst, word_count, src, low_bits, bitmap, keep_bits, repeats, next);
    return H5TWIN_OK;
}

static enum h5twin_status
word_elim_decode(const struct h5twin_ratio_kernels *stages, uint8_t *restrict dst,
                 size_t dst_capacity, size_t *dst_size, const uint8_t *restrict src,
                 size_t src_size, bool repeats)
{
    if (src_size < TRAILER) {
        return H5TWIN_ERR_CORRUPT;
    }
    size_t left = src_size - TRAILER;
    const unsigned keep_bits = src[left];
    const size_t size = h5twin_load16(src + left + 1);
    const size_t tail_size = size % 8;
    if (keep_bits > H5TWIN_FPC_KEEP_NONE || size > dst_capacity) {
        return H5TWIN_ERR_CORRUPT;
    }
    *dst_size = size;
    if (keep_bits == H5TWIN_FPC_KEEP_COPY) {
        if (left != size) {
            return H5TWIN_ERR_CORRUPT;
        }
        memcpy(dst, src, size);
        return H5TWIN_OK;
    }
    if (left < tail_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    left -= tail_size;
    memcpy(dst + size - tail_size, src + left, tail_size);
    if (keep_bits == H5TWIN_FPC_KEEP_NONE) {
        memset(dst, 0, size - tail_size);
        return left == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
    }
    return decode_words(stages, dst, size / 8, src, left, keep_bits, repeats);
}

size_t
h5twin_raze_encode(const struct h5twin_ratio_kernels *stages, uint8_t *restrict dst,
                   const uint8_t *restrict src, size_t src_size)
{
    return word_elim_encode(stages, dst, src, src_size, false);
}

size_t
h5twin_rare_encode(const struct h5twin_ratio_kernels *stages, uint8_t *restrict dst,
                   const uint8_t *restrict src, size_t src_size)
{
    return word_elim_encode(stages, dst, src, src_size, true);
}

enum h5twin_status
h5twin_raze_decode(const struct h5twin_ratio_kernels *stages, uint8_t *restrict dst,
                   size_t dst_capacity, size_t *dst_size, const uint8_t *restrict src,
                   size_t src_size)
{
    return word_elim_decode(stages, dst, dst_capacity, dst_size, src, src_size, false);
}

enum h5twin_status
h5twin_rare_decode(const struct h5twin_ratio_kernels *stages, uint8_t *restrict dst,
                   size_t dst_capacity, size_t *dst_size, const uint8_t *restrict src,
                   size_t src_size)
{
    return word_elim_decode(stages, dst, dst_capacity, dst_size, src, src_size, true);
}
