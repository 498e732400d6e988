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

#define ZERO_BLOCK_BYTES 6u /* a block of zeros after both stages */

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

static enum h5twin_status
store_block(const void *context, size_t offset, const uint8_t *restrict block, size_t block_size)
{
    const struct h5twin_dpratio *const array = context;
    const size_t words_size = 8 * array->value_count;
    const size_t block_words = 8 * count_of_words(offset, block_size, words_size);
    if (block_words != 0) {
        memcpy(array->dst + offset, block, block_words);
    }
    uint64_t any = 0;
    for (size_t at = block_words; at < block_size; at += 8) {
        any |= h5twin_load64(block + at);
    }
    size_t index = (offset + block_words - words_size) / 8;
    for (size_t at = block_words; any != 0 && at < block_size; at += 8, index++) {
        const uint64_t distance = h5twin_load64(block + at);
        if (distance > index || distance > H5TWIN_FPC_MAX_VALUES) {
            return H5TWIN_ERR_CORRUPT;
        }
        if (distance != 0) { /* they come in as 0, in pages that need not be touched */
            array->distances[index] = (uint32_t)distance;
        }
    }
    return H5TWIN_OK;
}

/* ---- the stages ---- */

/* A block of zeros: RAZE leaves out all words and writes its trailer, which is all that RARE sees
 * and has as its tail. Most blocks of distances are such. */
static void
write_zeros(uint8_t zeros[ZERO_BLOCK_BYTES], size_t block_size)
{
    zeros[0] = zeros[3] = H5TWIN_FPC_KEEP_NONE;
    h5twin_store16(zeros + 1, (uint16_t)block_size);
    h5twin_store16(zeros + 4, 3);
}

static bool
is_zeros(const uint8_t *src, size_t block_size, size_t stored_size)
{
    uint8_t zeros[ZERO_BLOCK_BYTES];
    write_zeros(zeros, block_size);
    return stored_size == ZERO_BLOCK_BYTES && memcmp(src, zeros, ZERO_BLOCK_BYTES) == 0;
}

static size_t
encode_block(const void *context, uint8_t *restrict dst, size_t writable,
             const uint8_t *restrict src, size_t block_size)
{
    const struct h5twin_ratio_stages *const stages =
        ((const struct h5twin_dpratio *)context)->stages;
    uint8_t residuals[H5TWIN_BLOCK_BYTES], shortened[H5TWIN_WORD_ELIM_BOUND],
        coded[H5TWIN_WORD_ELIM_BOUND];
    (void)writable;
    if (stages->difference64(residuals, src, block_size / 8) == 0) {
        if (block_size > ZERO_BLOCK_BYTES) {
            write_zeros(dst, block_size);
        }
        return ZERO_BLOCK_BYTES;
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

static enum h5twin_status
decode_block(const void *context, uint8_t *restrict dst, size_t block_size,
             const uint8_t *restrict src, size_t stored_size)
{
    const struct h5twin_ratio_stages *const stages =
        ((const struct h5twin_dpratio *)context)->stages;
    uint8_t coded[H5TWIN_BLOCK_BYTES + H5TWIN_STAGE_ROOM];
    uint8_t shortened[H5TWIN_BLOCK_BYTES + H5TWIN_STAGE_ROOM];
    size_t shortened_size, size;
    if (is_zeros(src, block_size, stored_size)) {
        memset(dst, 0, block_size);
        return H5TWIN_OK;
    }
    memcpy(coded, src, stored_size);
    memset(coded + stored_size, 0, H5TWIN_STAGE_ROOM);
    enum h5twin_status status = h5twin_rare_decode(stages, shortened, H5TWIN_FPC_PART_LIMIT - 1,
                                                   &shortened_size, coded, stored_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    memset(shortened + shortened_size, 0, H5TWIN_STAGE_ROOM);
    status = h5twin_raze_decode(stages, dst, block_size, &size, shortened, shortened_size);
    if (status != H5TWIN_OK || size != block_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    stages->sum64(dst, dst, block_size / 8);
    return H5TWIN_OK;
}

const struct h5twin_block_codec h5twin_dpratio_blocks = {
    .header_size = 8,
    .encode = encode_block,
    .decode = decode_block,
    .fetch = fetch_block,
    .store = store_block,
};
