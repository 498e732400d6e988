/* SPDX-License-Identifier: BSD-3-Clause
 * dpratio.c: the blocks of DPratio: DIFFMS, RAZE, RARE, over the words and distances of FCM.
 *
 * The coded array is value_count words (0 where a distance stands for the word), then value_count
 * distances as 64-bit words. Both are made and taken apart block by block. */
#include "../common/bytes.h"
#include "fpcompress.h"
#include "fpcompress_core.h"

#include <stdbool.h>
#include <string.h>

/* ---- between the coded array and the words and distances ---- */

/* How many of a block's words are FCM's words, not distances. */
static size_t
count_of_words(size_t offset, size_t block_size, size_t words_size)
{
    if (offset >= words_size) {
        return 0;
    }
    return (words_size - offset < block_size ? words_size - offset : block_size) / 8;
}

static void
fetch_block(const void *context, uint8_t *restrict block, size_t offset, size_t block_size)
{
    const struct h5twin_dpratio *const array = context;
    const size_t words_size = 8 * array->value_count;
    const size_t block_words = count_of_words(offset, block_size, words_size);
    if (block_words != 0) {
        array->stages->mask_words(block, array->src + offset, array->distances + offset / 8,
                                  block_words);
    }
    const size_t first = offset / 8 + block_words - array->value_count;
    for (size_t i = 0; i < block_size / 8 - block_words; i++) {
        h5twin_store64(block + 8 * (block_words + i), array->distances[first + i]);
    }
}

/* Of a decoded block, the part that is distances. */
static enum h5twin_status
store_distances(const struct h5twin_dpratio *array, size_t offset, const uint8_t *restrict block,
                size_t block_size)
{
    const size_t words_size = 8 * array->value_count;
    const size_t first = offset < words_size ? words_size - offset : 0; /* bytes */
    uint64_t any = 0;
    for (size_t at = first; at < block_size; at += 8) {
        any |= h5twin_load64(block + at);
    }
    if (any == 0) {
        return H5TWIN_OK;
    }
    if (any > H5TWIN_FPC_MAX_VALUES) { /* one less than a power of two: so is one of them */
        return H5TWIN_ERR_CORRUPT;
    }
    array->is_present[offset / H5TWIN_BLOCK_BYTES] = 1;
    const size_t first_index = (offset + first - words_size) / 8;
    const size_t count = (block_size - first) / 8;
    uint32_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        const int32_t distance = (int32_t)h5twin_load64(block + first + 8 * i);
        bad |= distance > (int32_t)(first_index + i);
        array->distances[first_index + i] = (uint32_t)distance;
    }
    return bad == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

size_t
h5twin_dpratio_block_count(size_t value_count)
{
    return (16 * value_count + H5TWIN_BLOCK_BYTES - 1) / H5TWIN_BLOCK_BYTES;
}

void
h5twin_dpratio_restore(const struct h5twin_dpratio *array)
{
    const size_t words_size = 8 * array->value_count;
    const size_t block_count = h5twin_dpratio_block_count(array->value_count);
    for (size_t block = words_size / H5TWIN_BLOCK_BYTES; block < block_count; block++) {
        const size_t offset = block * H5TWIN_BLOCK_BYTES;
        const size_t begin = offset < words_size ? 0 : (offset - words_size) / 8;
        const size_t end = (offset + H5TWIN_BLOCK_BYTES - words_size) / 8;
        if (array->is_present[block] != 0) {
            h5twin_fcm_restore(array->dst, array->distances, begin,
                               end < array->value_count ? end : array->value_count);
        }
    }
}

/* ---- the stages ---- */

static bool
is_zeros(const uint8_t *src, size_t block_size, size_t stored_size)
{
    uint8_t zeros[H5TWIN_FPC_ZERO_BLOCK];
    h5twin_fpc_write_zeros(zeros, block_size);
    return stored_size == H5TWIN_FPC_ZERO_BLOCK && memcmp(src, zeros, H5TWIN_FPC_ZERO_BLOCK) == 0;
}

static size_t
encode_block(const void *context, uint8_t *restrict dst, size_t writable,
             const uint8_t *restrict src, size_t block_size)
{
    const struct h5twin_ratio_kernels *const stages =
        ((const struct h5twin_dpratio *)context)->stages;
    uint8_t residuals[H5TWIN_BLOCK_BYTES], shortened[H5TWIN_WORD_ELIM_BOUND],
        coded[H5TWIN_WORD_ELIM_BOUND];
    (void)writable;
    if (stages->difference64(residuals, src, block_size / 8) == 0) {
        if (block_size > H5TWIN_FPC_ZERO_BLOCK) {
            h5twin_fpc_write_zeros(dst, block_size);
        }
        return H5TWIN_FPC_ZERO_BLOCK;
    }
    const size_t shortened_size = h5twin_raze_encode(stages, shortened, residuals, block_size);
    if (shortened_size >= H5TWIN_FPC_PART_LIMIT) {
        return block_size;
    }
    const size_t stored_size = h5twin_rare_encode(stages, coded, shortened, shortened_size);
    if (stored_size >= block_size) {
        return block_size;
    }
    memcpy(dst, coded, stored_size);
    return stored_size;
}

/* A block that was neither stored raw nor is all zeros. */
static enum h5twin_status
decode_stages(const struct h5twin_dpratio *array, uint8_t *restrict dst, size_t block_size,
              const uint8_t *restrict src, size_t stored_size)
{
    uint8_t coded[H5TWIN_BLOCK_BYTES + H5TWIN_STAGE_ROOM];
    uint8_t shortened[H5TWIN_BLOCK_BYTES + H5TWIN_STAGE_ROOM];
    size_t shortened_size, size;
    if ((size_t)(array->src_end - src) - stored_size < H5TWIN_STAGE_ROOM) {
        memcpy(coded, src, stored_size);
        memset(coded + stored_size, 0, H5TWIN_STAGE_ROOM);
        src = coded;
    }
    enum h5twin_status status = h5twin_rare_decode(
        array->stages, shortened, H5TWIN_FPC_PART_LIMIT - 1, &shortened_size, src, stored_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    memset(shortened + shortened_size, 0, H5TWIN_STAGE_ROOM);
    status = h5twin_raze_decode(array->stages, dst, block_size, &size, shortened, shortened_size);
    if (status != H5TWIN_OK || size != block_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    array->stages->sum64(dst, dst, block_size / 8);
    return H5TWIN_OK;
}

static enum h5twin_status
decode_at(const void *context, size_t offset, size_t block_size, const uint8_t *restrict src,
          size_t stored_size)
{
    const struct h5twin_dpratio *const array = context;
    const size_t words_size = 8 * count_of_words(offset, block_size, 8 * array->value_count);
    if (is_zeros(src, block_size, stored_size)) {
        if (words_size != 0) {
            memset(array->dst + offset, 0, words_size);
        }
        return H5TWIN_OK;
    }
    uint8_t made[H5TWIN_BLOCK_BYTES];
    uint8_t *const dst = words_size == block_size ? array->dst + offset : made;
    if (stored_size == block_size) {
        memcpy(dst, src, block_size);
    } else {
        const enum h5twin_status status = decode_stages(array, dst, block_size, src, stored_size);
        if (status != H5TWIN_OK) {
            return status;
        }
    }
    if (words_size == block_size) {
        return H5TWIN_OK;
    }
    if (words_size != 0) {
        memcpy(array->dst + offset, made, words_size);
    }
    return store_distances(array, offset, made, block_size);
}

const struct h5twin_block_codec h5twin_dpratio_blocks = {
    .header_size = H5TWIN_FPC_HEADER_BYTES(8),
    .encode = encode_block,
    .fetch = fetch_block,
    .decode_at = decode_at,
};
