/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_decode.c: check shape and table, then blocks in parallel, each with its own checks. */
#include "../common/bytes.h"
#include "../common/ordered.h"
#include "ndzip.h"
#include "ndzip_block.h"

#include <string.h>

struct ndzip_decoder {
    struct h5twin_ndzip_grid grid;
    h5twin_ndzip_decode_block *decode;
    const uint8_t *table;
    uint8_t *dst;
};

static bool
padding_is_zero(const struct h5twin_ndzip_grid *grid, const uint8_t *table)
{
    for (size_t i = 2 * grid->block_count; i < grid->table_size; i++) {
        if (table[i] != 0) {
            return false;
        }
    }
    return true;
}

/* Check the table, and its sizes against src_size. */
static enum h5twin_status
check_table(const struct h5twin_ndzip_grid *grid, const uint8_t *src, size_t src_size,
            size_t tail_size)
{
    size_t left;
    if (h5twin_ndzip_is_too_long(grid, tail_size, src_size)) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (!h5twin_ndzip_blocks_size(grid, tail_size, src_size, &left)) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (grid->layout == H5TWIN_NDZIP_EXTENDED && !padding_is_zero(grid, src)) {
        return H5TWIN_ERR_CORRUPT;
    }
    for (size_t index = 0; index < grid->block_count; index++) {
        const uint32_t entry = h5twin_ndzip_entry_at(grid, src, index);
        if (!h5twin_ndzip_entry_is_valid(grid, index, entry)) {
            return H5TWIN_ERR_CORRUPT;
        }
        const size_t size = (size_t)h5twin_ndzip_entry_length(grid, entry) * grid->word_size;
        if (size > left) {
            return H5TWIN_ERR_SRC_SHORT;
        }
        left -= size;
    }
    return left == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

static size_t
stored_size_of(const void *context, size_t index)
{
    const struct ndzip_decoder *const decoder = context;
    const struct h5twin_ndzip_grid *const grid = &decoder->grid;
    return (size_t)h5twin_ndzip_entry_length(grid,
                                             h5twin_ndzip_entry_at(grid, decoder->table, index)) *
           grid->word_size;
}

static enum h5twin_status
decode_item(const void *context, size_t index, const uint8_t *src, size_t stored_size)
{
    const struct ndzip_decoder *const decoder = context;
    const uint32_t entry = h5twin_ndzip_entry_at(&decoder->grid, decoder->table, index);
    return decoder->decode(&decoder->grid, index, entry, decoder->dst, src, stored_size);
}

enum h5twin_status
h5twin_ndzip_decode(const struct h5twin_job *job, uint8_t *restrict dst,
                    const uint8_t *restrict src, size_t src_size)
{
    const struct h5twin_ndzip_kernels *const kernels = h5twin_ndzip_kernels_for(job->isa);
    if (!h5twin_ndzip_shape_is_valid(job)) {
        return H5TWIN_ERR_CORRUPT;
    }
    const struct ndzip_decoder decoder = {
        .grid = h5twin_ndzip_grid_of(job),
        .decode = job->word_size == 4 ? kernels->decode32 : kernels->decode64,
        .table = src,
        .dst = dst,
    };
    const struct h5twin_ndzip_grid *const grid = &decoder.grid;
    if (grid->element_count != job->raw_size / job->word_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (grid->layout == H5TWIN_NDZIP_EXTENDED && src_size == job->raw_size) {
        if (src_size != 0) {
            memcpy(dst, src, src_size);
        }
        return H5TWIN_OK;
    }
    const size_t tail_size = h5twin_ndzip_tail_size(job);
    enum h5twin_status status = check_table(grid, src, src_size, tail_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    const struct h5twin_ordered_decoder work = {
        .item_count = grid->block_count,
        .decoded_size = job->raw_size,
        .context = &decoder,
        .stored_size = stored_size_of,
        .decode = decode_item,
        .crc = job->crc,
        .crc_begin = grid->table_size,
    };
    status = h5twin_ordered_decode(&work, job->threads, src + grid->table_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    const uint8_t *const rest = src + src_size - tail_size - grid->border_count * grid->word_size;
    h5twin_ndzip_copy_border(grid, dst, rest, true, job->threads, job->crc, (size_t)(rest - src));
    if (tail_size != 0) {
        memcpy(dst + job->raw_size - tail_size, src + src_size - tail_size, tail_size);
    }
    return H5TWIN_OK;
}
