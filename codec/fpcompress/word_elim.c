/* SPDX-License-Identifier: BSD-3-Clause
 * word_elim.c: RAZE and RARE, the two last stages of DPratio: leave out the top bits of 64-bit
 * words where they are 0 (RAZE), or those of the word before (RARE).
 *
 * One text for both: `repeats` is a constant wherever it is passed, and the compiler makes two. */
#include "../common/bit_pack.h"
#include "../common/bytes.h"
#include "../common/zero_elim.h"
#include "fpcompress.h"
#include "fpcompress_core.h"

#include <stdbool.h>
#include <string.h>

#define MAX_WORDS    (H5TWIN_BLOCK_BYTES / 8)
#define BITMAP_BYTES (MAX_WORDS / 8)
#define TRAILER      3u /* keep_bits and size */
#define TABLES       4  /* histograms in turn, so that equal words do not wait for each other */

static void
count_bit_lengths(uint32_t histogram[65], const uint8_t *src, size_t word_count, bool repeats)
{
    uint16_t counts[TABLES][65] = {{0}};
    uint64_t previous = 0;
    for (size_t i = 0; i < word_count; i++) {
        const uint64_t word = h5twin_load64(src + 8 * i);
        counts[i % TABLES][h5twin_bit_length64(repeats ? word ^ previous : word)]++;
        previous = word;
    }
    for (unsigned bits = 0; bits <= 64; bits++) {
        histogram[bits] = 0;
        for (unsigned table = 0; table < TABLES; table++) {
            histogram[bits] += counts[table][bits];
        }
    }
}

/* Full words to dst, low bits of the others to low_bits; bit i of bitmap is set if word i is full.
 * Returns the number of full words. */
static size_t
split_words(uint8_t *restrict dst, uint64_t *restrict low_bits, uint8_t *restrict bitmap,
            const uint8_t *restrict src, size_t word_count, unsigned keep_bits, bool repeats)
{
    const uint64_t low_mask = (UINT64_C(1) << keep_bits) - 1;
    uint64_t previous = 0;
    size_t full_count = 0;
    memset(bitmap, 0, BITMAP_BYTES);
    for (size_t begin = 0; begin < word_count; begin += 8) {
        const size_t end = begin + 8 < word_count ? begin + 8 : word_count;
        unsigned flags = 0;
        for (size_t i = begin; i < end; i++) {
            const uint64_t word = h5twin_load64(src + 8 * i);
            const unsigned is_full = (repeats ? word ^ previous : word) > low_mask;
            previous = word;
            /* Both are written, and only one place moves on: no branch to guess. */
            h5twin_store64(dst + 8 * full_count, word);
            low_bits[i - full_count] = word & low_mask;
            full_count += is_full;
            flags |= is_full << (i - begin);
        }
        bitmap[begin / 8] = (uint8_t)flags;
    }
    return full_count;
}

static inline size_t
word_elim_encode(uint8_t *restrict dst, const uint8_t *restrict src, size_t src_size, bool repeats)
{
    const size_t word_count = src_size / 8;
    const size_t tail_size = src_size % 8;
    uint32_t histogram[65];
    count_bit_lengths(histogram, src, word_count, repeats);
    const unsigned keep_bits = h5twin_fpc_keep_bits(histogram, (uint32_t)word_count);
    size_t size = 0;
    if (keep_bits == H5TWIN_FPC_KEEP_COPY) {
        memcpy(dst, src, src_size);
        size = src_size;
    } else {
        if (keep_bits != H5TWIN_FPC_KEEP_NONE) {
            uint64_t low_bits[MAX_WORDS + 1];
            uint8_t bitmap[BITMAP_BYTES];
            const size_t full_count =
                split_words(dst, low_bits, bitmap, src, word_count, keep_bits, repeats);
            size = 8 * full_count;
            size += h5twin_bit_pack64(dst + size, low_bits, word_count - full_count, keep_bits);
            size += h5twin_bitmap_write(dst + size, bitmap, sizeof bitmap);
        }
        memcpy(dst + size, src + 8 * word_count, tail_size);
        size += tail_size;
    }
    dst[size] = (uint8_t)keep_bits;
    h5twin_store16(dst + size + 1, (uint16_t)src_size);
    return size + TRAILER;
}

static void
merge_words(uint8_t *restrict dst, size_t word_count, const uint8_t *restrict full_words,
            const uint64_t *restrict low_bits, const uint8_t *restrict bitmap, unsigned keep_bits,
            bool repeats)
{
    const uint64_t high_mask = repeats ? ~((UINT64_C(1) << keep_bits) - 1) : 0;
    uint64_t previous = 0;
    size_t full_count = 0;
    for (size_t i = 0; i < word_count; i++) {
        const size_t is_full = ((unsigned)bitmap[i / 8] >> (i % 8)) & 1u;
        const uint64_t full_word = h5twin_load64(full_words + 8 * full_count);
        const uint64_t short_word = (previous & high_mask) | low_bits[i - full_count];
        previous = is_full ? full_word : short_word;
        full_count += is_full;
        h5twin_store64(dst + 8 * i, previous);
    }
}

/* The words of a stream whose keep_bits is below 64: `src` without tail and trailer. */
static enum h5twin_status
decode_words(uint8_t *restrict dst, size_t word_count, const uint8_t *restrict src, size_t src_size,
             unsigned keep_bits, bool repeats)
{
    uint8_t bitmap[BITMAP_BYTES];
    uint64_t low_bits[MAX_WORDS + 1];
    const size_t bitmap_size = h5twin_bitmap_read(bitmap, sizeof bitmap, src, src_size);
    if (bitmap_size == 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    const size_t full_count = h5twin_bitmap_count(bitmap, sizeof bitmap);
    if (full_count > word_count) {
        return H5TWIN_ERR_CORRUPT;
    }
    for (size_t i = word_count; i < MAX_WORDS; i++) {
        if (((unsigned)bitmap[i / 8] >> (i % 8)) & 1u) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    const size_t short_count = word_count - full_count;
    const size_t low_size = (keep_bits * short_count + 7) / 8;
    if (8 * full_count + low_size + bitmap_size != src_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    h5twin_bit_unpack64(low_bits, short_count, keep_bits, src + 8 * full_count);
    low_bits[short_count] = 0; /* read, and not used, if the last word is full */
    merge_words(dst, word_count, src, low_bits, bitmap, keep_bits, repeats);
    return H5TWIN_OK;
}

static inline enum h5twin_status
word_elim_decode(uint8_t *restrict dst, size_t dst_capacity, size_t *dst_size,
                 const uint8_t *restrict src, size_t src_size, bool repeats)
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
    return decode_words(dst, size / 8, src, left, keep_bits, repeats);
}

size_t
h5twin_raze_encode(uint8_t *restrict dst, const uint8_t *restrict src, size_t src_size)
{
    return word_elim_encode(dst, src, src_size, false);
}

size_t
h5twin_rare_encode(uint8_t *restrict dst, const uint8_t *restrict src, size_t src_size)
{
    return word_elim_encode(dst, src, src_size, true);
}

enum h5twin_status
h5twin_raze_decode(uint8_t *restrict dst, size_t dst_capacity, size_t *dst_size,
                   const uint8_t *restrict src, size_t src_size)
{
    return word_elim_decode(dst, dst_capacity, dst_size, src, src_size, false);
}

enum h5twin_status
h5twin_rare_decode(uint8_t *restrict dst, size_t dst_capacity, size_t *dst_size,
                   const uint8_t *restrict src, size_t src_size)
{
    return word_elim_decode(dst, dst_capacity, dst_size, src, src_size, true);
}
