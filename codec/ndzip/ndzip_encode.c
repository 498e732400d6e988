/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_encode.c: blocks in parallel, then table, border and tail. */
#include "../common/bytes.h"
#include "../common/ordered.h"
#include "ndzip.h"
#include "ndzip_block.h"

#include <string.h>

struct ndzip_encoder {
    struct h5twin_ndzip_grid grid;
    h5twin_ndzip_encode_block *encode;
    const uint8_t *src;
    uint8_t *table;
};

static size_t
encode_item(void *context, size_t index, uint8_t *dst, size_t writable)
{
    const struct ndzip_encoder *const encoder = context;
    uint32_t entry;
    const size_t size = encoder->encode(&encoder->grid, index, dst, writable, encoder->src, &entry);
    if (encoder->grid.layout == H5TWIN_NDZIP_REFERENCE) {
        h5twin_store32(encoder->table + 4 * index, entry);
    } else {
        h5twin_store16(encoder->table + 2 * index, (uint16_t)entry);
    }
    return size;
}

/* Lengths become the ends of the blocks; the table's padding becomes zero. */
static void
finish_table(const struct h5twin_ndzip_grid *grid, uint8_t *table)
{
    const bool is_reference = grid->layout == H5TWIN_NDZIP_REFERENCE;
    const size_t used = grid->block_count * (is_reference ? 4 : 2);
    uint32_t end = 0;
    for (size_t index = 0; is_reference && index < grid->block_count; index++) {
        end += h5twin_load32(table + 4 * index);
        h5twin_store32(table + 4 * index, end);
    }
    memset(table + used, 0, grid->table_size - used);
}

enum h5twin_status
h5twin_ndzip_encode(struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
                    size_t *dst_size)
{
    const struct h5twin_ndzip_kernels *const kernels = h5twin_ndzip_kernels_for(job->isa);
    struct ndzip_encoder encoder = {
        .grid = h5twin_ndzip_grid_of(job),
        .encode = job->word_size == 4 ? kernels->encode32 : kernels->encode64,
        .src = src,
        .table = dst,
    };
    const struct h5twin_ndzip_grid *const grid = &encoder.grid;
    const struct h5twin_ordered work = {
        .item_count = grid->block_count,
        .item_bound = grid->block_capacity * grid->word_size,
        .total_bound = (size_t)h5twin_ndzip_stream_bound(grid) - grid->table_size,
        .context = &encoder,
        .encode = encode_item,
        .crc = job->crc,
        .crc_begin = grid->table_size,
    };
    size_t size = grid->table_size;
    size += h5twin_ordered_encode(&work, job->threads, dst + size);
    finish_table(grid, dst);
    size += h5twin_ndzip_copy_border(grid, dst + size, src, false, job->threads, job->crc, size);
    const size_t tail_size = h5twin_ndzip_tail_size(job);
    if (tail_size != 0) {
        memcpy(dst + size, src + job->raw_size - tail_size, tail_size);
    }
    size += tail_size;
    if (grid->layout == H5TWIN_NDZIP_EXTENDED && size >= job->raw_size) {
        size = job->raw_size;
        if (size != 0) {
            memcpy(dst, src, size);
        }
        if (job->crc != NULL) {
            job->crc->size = 0; /* what it covered has been overwritten */
        }
    }
    *dst_size = size;
    return H5TWIN_OK;
}
