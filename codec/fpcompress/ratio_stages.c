/* SPDX-License-Identifier: BSD-3-Clause
 * ratio_stages.c: see ratio_stages.h. Scalar reference. */
#include "ratio_stages.h"

#include "../common/bit_pack.h"
#include "../common/bytes.h"
#include "../common/prefetch.h"
#include "bit_planes.h"
#include "fpcompress_core.h"
#include "ratio_count.h"
#include "ratio_loops.h"
#include "zero_elim.h"

static void
sum32(uint8_t *restrict dst, const uint8_t *restrict src, size_t word_count)
{
    uint32_t previous = 0;
    for (size_t i = 0; i < word_count; i++) {
        previous = h5twin_fpc_word32(h5twin_load32(src + 4 * i), previous);
        h5twin_store32(dst + 4 * i, previous);
    }
}

static void
sum64(uint8_t *dst, const uint8_t *src, size_t word_count)
{
    uint64_t previous = 0;
    for (size_t i = 0; i < word_count; i++) {
        previous = h5twin_fpc_word64(h5twin_load64(src + 8 * i), previous);
        h5twin_store64(dst + 8 * i, previous);
    }
}

static size_t
split_words(uint8_t *restrict dst, uint64_t *restrict low_bits, uint8_t *restrict bitmap,
            const uint8_t *restrict src, size_t word_count, unsigned keep_bits, bool repeats)
{
    const uint64_t low_mask = h5twin_fpc_low_mask(keep_bits);
    uint64_t previous = 0;
    size_t full_count = 0;
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

static void
merge_words(uint8_t *restrict dst, size_t word_count, const uint8_t *restrict full_words,
            const uint64_t *restrict low_bits, const uint8_t *restrict bitmap, unsigned keep_bits,
            bool repeats, const uint8_t *next)
{
    const uint64_t high_mask = repeats ? ~h5twin_fpc_low_mask(keep_bits) : 0;
    uint64_t upper = 0; /* of the last full word */
    for (size_t begin = 0; begin < word_count; begin += 8) {
        H5TWIN_PREFETCH_L2(next + 8 * begin);
        const size_t count = word_count - begin < 8 ? word_count - begin : 8;
        unsigned flags = bitmap[begin / 8];
        if (flags == 0) {
            for (size_t i = 0; i < count; i++) {
                h5twin_store64(dst + 8 * (begin + i), upper | low_bits[i]);
            }
            low_bits += count;
            continue;
        }
        for (size_t i = 0; i < count; i++, flags >>= 1) {
            const uint64_t full_word = h5twin_load64(full_words);
            const uint64_t short_word = upper | *low_bits;
            const bool is_full = flags & 1u;
            h5twin_store64(dst + 8 * (begin + i), is_full ? full_word : short_word);
            upper = is_full ? full_word & high_mask : upper;
            full_words += 8 * is_full;
            low_bits += !is_full;
        }
    }
}

const struct h5twin_ratio_kernels h5twin_ratio_kernels_scalar = {
    .bit_packers = &h5twin_bit_pack_kernels_scalar,
    .difference32 = difference32,
    .difference64 = difference64,
    .sum32 = sum32,
    .sum64 = sum64,
    .mask_words = mask_words,
    .split_planes = h5twin_bit_planes_split,
    .join_planes = h5twin_bit_planes_join,
    .zero_elim = h5twin_zero_elim,
    .zero_restore = h5twin_zero_restore,
    .bitmap_write = h5twin_bitmap_write,
    .bitmap_read = h5twin_bitmap_read,
    .count_bit_lengths = count_bit_lengths,
    .split_words = split_words,
    .merge_words = merge_words,
};
