/* SPDX-License-Identifier: BSD-3-Clause
 * spratio.c: mode ratio for 32-bit words: DIFFMS, bit planes (BIT), zero bytes left out (RZE). */
#include "../common/bytes.h"
#include "bit_planes.h"
#include "fpcompress.h"
#include "fpcompress_core.h"
#include "zero_elim.h"

#include <string.h>

#define TRAILER 2u /* bytes of the block size at the end */

/* BIT: bytes after the last whole group stay. The next block is fetched on the way: memory would
 * idle while a block goes through its stages. */
static void
split_planes(const struct h5twin_ratio_kernels *stages, uint8_t *restrict planes,
             const uint8_t *restrict residuals, size_t block_size, const uint8_t *next)
{
    const size_t group_count = block_size / H5TWIN_PLANE_GROUP_BYTES;
    const size_t grouped_size = group_count * H5TWIN_PLANE_GROUP_BYTES;
    stages->split_planes(planes, residuals, group_count, next);
    memcpy(planes + grouped_size, residuals + grouped_size, block_size - grouped_size);
}

static void
join_planes(const struct h5twin_ratio_kernels *stages, uint8_t *restrict residuals,
            const uint8_t *restrict planes, size_t block_size, const uint8_t *next)
{
    const size_t group_count = block_size / H5TWIN_PLANE_GROUP_BYTES;
    const size_t grouped_size = group_count * H5TWIN_PLANE_GROUP_BYTES;
    stages->join_planes(residuals, planes, group_count, next);
    memcpy(residuals + grouped_size, planes + grouped_size, block_size - grouped_size);
}

static size_t
round_up8(size_t size)
{
    return (size + 7) / 8 * 8;
}

static size_t
encode_block(const void *context, uint8_t *restrict dst, size_t writable,
             const uint8_t *restrict src, size_t block_size)
{
    const struct h5twin_ratio_kernels *const stages = context;
    const size_t words_size = block_size / 4 * 4;
    uint8_t residuals[H5TWIN_BLOCK_BYTES], planes[H5TWIN_BLOCK_BYTES],
        kept_bytes[H5TWIN_BLOCK_BYTES];
    uint8_t bitmap[H5TWIN_BITMAP_MAX];
    uint8_t bitmap_coded[H5TWIN_BITMAP_BOUND(H5TWIN_BITMAP_MAX)];
    const size_t padded_size = round_up8(block_size);
    uint8_t *const coded = writable >= padded_size ? dst : kept_bytes;
    stages->difference32(residuals, src, block_size / 4);
    memcpy(residuals + words_size, src + words_size, block_size - words_size);
    split_planes(stages, planes, residuals, block_size, src + block_size);
    memset(planes + block_size, 0, padded_size - block_size);
    memset(bitmap + padded_size / 8, 0, sizeof bitmap - padded_size / 8);
    const size_t kept = stages->zero_elim(coded, bitmap, planes, padded_size);
    size_t bitmap_size = 0;
    if (kept != 0) {
        bitmap_size = stages->bitmap_write(bitmap_coded, bitmap, sizeof bitmap);
    }
    const size_t stored_size = kept + bitmap_size + TRAILER;
    if (stored_size >= block_size) {
        return block_size;
    }
    if (coded != dst) {
        memcpy(dst, coded, kept);
    }
    memcpy(dst + kept, bitmap_coded, bitmap_size);
    h5twin_store16(dst + kept + bitmap_size, (uint16_t)block_size);
    return stored_size;
}

static enum h5twin_status
decode_block(const void *context, uint8_t *restrict dst, size_t block_size,
             const uint8_t *restrict src, size_t stored_size)
{
    const struct h5twin_ratio_kernels *const stages = context;
    const size_t words_size = block_size / 4 * 4;
    uint8_t residuals[H5TWIN_BLOCK_BYTES], planes[H5TWIN_BLOCK_BYTES];
    uint8_t bitmap[H5TWIN_BITMAP_MAX];
    if (stored_size < TRAILER ||
        h5twin_load16(src + stored_size - TRAILER) != (uint16_t)block_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (stored_size == TRAILER) {
        memset(dst, 0, block_size);
        return H5TWIN_OK;
    }
    const size_t bitmap_size =
        stages->bitmap_read(bitmap, sizeof bitmap, src, stored_size - TRAILER);
    const size_t kept = stored_size - TRAILER - bitmap_size;
    if (bitmap_size == 0 || h5twin_bitmap_count(bitmap, sizeof bitmap) != kept ||
        !h5twin_bitmap_ends(bitmap, sizeof bitmap, block_size)) {
        return H5TWIN_ERR_CORRUPT;
    }
    stages->zero_restore(planes, round_up8(block_size), bitmap, src, kept);
    join_planes(stages, residuals, planes, block_size, src + stored_size);
    stages->sum32(dst, residuals, block_size / 4);
    memcpy(dst + words_size, residuals + words_size, block_size - words_size);
    return H5TWIN_OK;
}

const struct h5twin_block_codec h5twin_spratio_blocks = {
    .header_size = H5TWIN_FPC_HEADER_BYTES(4),
    .encode = encode_block,
    .decode = decode_block,
};
