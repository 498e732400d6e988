/* SPDX-License-Identifier: BSD-3-Clause
 * zero_elim.c: see zero_elim.h. Scalar reference, eight bytes at a time. */
#include "zero_elim.h"

#include "../common/bytes.h"
#include "zero_elim_core.h"

#define LOW_BITS UINT64_C(0x0101010101010101)

/* Store the bytes of word that mask names at dst, at most 8 bytes; returns their number. */
static size_t
keep_bytes(uint8_t *restrict dst, uint64_t word, unsigned mask)
{
    size_t kept = 0;
    for (unsigned j = 0; j < 8; j++) {
        dst[kept] = (uint8_t)(word >> (8 * j));
        kept += (mask >> j) & 1u;
    }
    return kept;
}

size_t
h5twin_zero_elim(uint8_t *restrict dst, uint8_t *restrict bitmap, const uint8_t *restrict src,
                 size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i += 8) {
        const uint64_t word = h5twin_load64(src + i);
        const unsigned mask = h5twin_nonzero_bytes(word);
        bitmap[i / 8] = (uint8_t)mask;
        if (mask == 0xFF) {
            h5twin_store64(dst + kept, word);
            kept += 8;
        } else if (mask != 0) {
            kept += keep_bytes(dst + kept, word, mask);
        }
    }
    return kept;
}

size_t
h5twin_repeat_elim(uint8_t *restrict dst, uint8_t *restrict bitmap, const uint8_t *restrict src,
                   size_t count)
{
    size_t kept = 0;
    uint64_t before = 0; /* the last byte of the word before, as the lowest */
    for (size_t i = 0; i < count; i += 8) {
        const uint64_t word = h5twin_load64(src + i);
        const unsigned mask = h5twin_new_bytes(word, before);
        before = word >> 56;
        bitmap[i / 8] = (uint8_t)mask;
        if (mask != 0) {
            kept += keep_bytes(dst + kept, word, mask);
        }
    }
    return kept;
}

void
h5twin_zero_restore(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                    const uint8_t *restrict src, size_t src_size)
{
    const uint8_t *const end = src + src_size;
    for (size_t i = 0; i < count; i += 8) {
        const unsigned mask = bitmap[i / 8];
        uint64_t word = 0;
        if (mask == 0xFF) {
            word = h5twin_load64(src);
            src += 8;
        } else if (mask != 0 && end - src >= 8) {
            uint64_t next = h5twin_load64(src);
            for (unsigned j = 0; j < 8; j++) {
                const unsigned present = (mask >> j) & 1u;
                word |= ((next & 0xFFu) & (0u - (uint64_t)present)) << (8 * j);
                next >>= 8 * present;
                src += present;
            }
        } else if (mask != 0) {
            for (unsigned j = 0; j < 8; j++) {
                if ((mask >> j) & 1u) {
                    word |= (uint64_t)*src++ << (8 * j);
                }
            }
        }
        h5twin_store64(dst + i, word);
    }
}

void
h5twin_repeat_restore(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                      const uint8_t *restrict src, size_t src_size)
{
    (void)src_size;
    uint64_t before = 0;
    for (size_t i = 0; i < count; i += 8) {
        const unsigned mask = bitmap[i / 8];
        uint64_t word = before * LOW_BITS;
        if (mask != 0) {
            for (unsigned j = 0; j < 8; j++) {
                before = (mask >> j) & 1u ? *src++ : before;
                word = (word & ~(UINT64_C(0xFF) << (8 * j))) | before << (8 * j);
            }
        }
        h5twin_store64(dst + i, word);
    }
}

bool
h5twin_bitmap_ends(const uint8_t *bitmap, size_t size, size_t item_count)
{
    unsigned beyond = item_count % 8 == 0 ? 0u : (unsigned)bitmap[item_count / 8] >> item_count % 8;
    for (size_t i = (item_count + 7) / 8; i < size; i++) {
        beyond |= bitmap[i];
    }
    return beyond == 0;
}

size_t
h5twin_bitmap_count(const uint8_t *bitmap, size_t size)
{
    /* Not the processor's instruction, which a portable build does not use: this vectorizes. */
    size_t count = 0;
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word = h5twin_load32(bitmap + i);
        word -= (word >> 1) & 0x55555555u;
        word = (word & 0x33333333u) + ((word >> 2) & 0x33333333u);
        word = (word + (word >> 4)) & 0x0F0F0F0Fu;
        word += word >> 8;
        count += (word + (word >> 16)) & 0x3Fu;
    }
    return count;
}

size_t
h5twin_bitmap_write_with(const struct h5twin_repeat_coder *coder, uint8_t *restrict dst,
                         const uint8_t *restrict bitmap, size_t bitmap_size)
{
    uint8_t levels[2][H5TWIN_BITMAP_MAX / 8]; /* each bitmap is shortened into the next */
    unsigned level = 0;
    size_t written = 0;
    for (; bitmap_size > H5TWIN_BITMAP_FINAL; bitmap_size /= 8, level ^= 1) {
        written += coder->elim(dst + written, levels[level], bitmap, bitmap_size);
        bitmap = levels[level];
    }
    memcpy(dst + written, bitmap, H5TWIN_BITMAP_FINAL);
    return written + H5TWIN_BITMAP_FINAL;
}

size_t
h5twin_bitmap_read_with(const struct h5twin_repeat_coder *coder, uint8_t *restrict bitmap,
                        size_t bitmap_size, const uint8_t *restrict src, size_t src_size)
{
    uint8_t levels[2][H5TWIN_BITMAP_MAX / 8];
    if (src_size < H5TWIN_BITMAP_FINAL) {
        return 0;
    }
    size_t left = src_size - H5TWIN_BITMAP_FINAL;
    const uint8_t *upper = src + left; /* the bitmap of the one that is restored */
    unsigned level = 0;
    for (size_t size = H5TWIN_BITMAP_FINAL; size < bitmap_size; level ^= 1) {
        const size_t kept = h5twin_bitmap_count(upper, size);
        if (kept > left) {
            return 0;
        }
        left -= kept;
        size *= 8;
        uint8_t *const lower = size == bitmap_size ? bitmap : levels[level];
        coder->restore(lower, size, upper, src + left, kept);
        upper = lower;
    }
    return src_size - left;
}

static const struct h5twin_repeat_coder coder_scalar = {h5twin_repeat_elim, h5twin_repeat_restore};

size_t
h5twin_bitmap_write(uint8_t *restrict dst, const uint8_t *restrict bitmap, size_t bitmap_size)
{
    return h5twin_bitmap_write_with(&coder_scalar, dst, bitmap, bitmap_size);
}

size_t
h5twin_bitmap_read(uint8_t *restrict bitmap, size_t bitmap_size, const uint8_t *restrict src,
                   size_t src_size)
{
    return h5twin_bitmap_read_with(&coder_scalar, bitmap, bitmap_size, src, src_size);
}
