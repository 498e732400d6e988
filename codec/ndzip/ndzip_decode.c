/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_decode.c: check shape and table, then blocks in parallel, each with its own checks. */
#include "../common/bytes.h"
#include "../common/ordered.h"
#include "../common/parallel.h"
#include "../cpu.h"
#include "ndzip.h"
#include "ndzip_block.h"

#include <string.h>

struct ndzip_decoder {
    struct h5twin_ndzip_grid grid;
    h5twin_ndzip_decode_block *decode;
    const uint8_t *table;
    uint8_t *dst;
    size_t run_count;
    const uint8_t *run_src[H5TWIN_MAX_RUNS];
    enum h5twin_status run_status[H5TWIN_MAX_RUNS];
};

static size_t
length_of(const struct h5twin_ndzip_grid *grid, uint32_t entry)
{
    return grid->layout == H5TWIN_NDZIP_EXTENDED ? entry & NDZIP_ENTRY_LENGTH : entry;
}

static bool
entry_is_valid(const struct h5twin_ndzip_grid *grid, size_t index, uint32_t entry)
{
    if (grid->layout == H5TWIN_NDZIP_REFERENCE) {
        /* A falling table gives lengths near 2^32. */
        return entry >= NDZIP_BLOCK_ELEMENTS / (8 * grid->word_size) &&
               entry <= grid->block_capacity;
    }
    const unsigned count = h5twin_ndzip_block_at(grid, index).count;
    const uint32_t length = entry & NDZIP_ENTRY_LENGTH;
    return (entry & NDZIP_ENTRY_RESERVED) == 0 && length >= 1 && (length < count || entry == count);
}

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

/* Check the table against src_size and note where each run of blocks starts. */
static enum h5twin_status
read_table(struct ndzip_decoder *decoder, const uint8_t *src, size_t src_size, size_t tail_size)
{
    const struct h5twin_ndzip_grid *const grid = &decoder->grid;
    const size_t border_size = grid->border_count * grid->word_size;
    if (src_size < tail_size || src_size - tail_size < border_size ||
        src_size - tail_size - border_size < grid->table_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    size_t left = src_size - tail_size - border_size - grid->table_size;
    const uint8_t *at = src + grid->table_size;
    decoder->table = src;
    if (grid->layout == H5TWIN_NDZIP_EXTENDED && !padding_is_zero(grid, src)) {
        return H5TWIN_ERR_CORRUPT;
    }
    for (size_t run = 0; run < decoder->run_count; run++) {
        decoder->run_src[run] = at;
        const size_t end = h5twin_run_begin(grid->block_count, decoder->run_count, run + 1);
        for (size_t index = h5twin_run_begin(grid->block_count, decoder->run_count, run);
             index < end; index++) {
            const uint32_t entry = h5twin_ndzip_entry_at(grid, src, index);
            if (!entry_is_valid(grid, index, entry)) {
                return H5TWIN_ERR_CORRUPT;
            }
            const size_t size = length_of(grid, entry) * grid->word_size;
            if (size > left) {
                return H5TWIN_ERR_SRC_SHORT;
            }
            at += size;
            left -= size;
        }
    }
    return left == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

static void
decode_run(void *context, size_t run)
{
    struct ndzip_decoder *const decoder = context;
    const struct h5twin_ndzip_grid *const grid = &decoder->grid;
    const size_t end = h5twin_run_begin(grid->block_count, decoder->run_count, run + 1);
    const uint8_t *src = decoder->run_src[run];
    enum h5twin_status status = H5TWIN_OK;
    for (size_t index = h5twin_run_begin(grid->block_count, decoder->run_count, run);
         index < end && status == H5TWIN_OK; index++) {
        const uint32_t entry = h5twin_ndzip_entry_at(grid, decoder->table, index);
        const size_t size = length_of(grid, entry) * grid->word_size;
        status = decoder->decode(grid, index, entry, decoder->dst, src, size);
        src += size;
    }
    decoder->run_status[run] = status;
}

enum h5twin_status
h5twin_ndzip_decode(const struct h5twin_job *job, uint8_t *restrict dst,
                    const uint8_t *restrict src, size_t src_size)
{
    const struct h5twin_ndzip_ops *const ops = h5twin_kernels()->ndzip;
    if (!h5twin_ndzip_shape_is_valid(job)) {
        return H5TWIN_ERR_CORRUPT;
    }
    struct ndzip_decoder decoder = {
        .grid = h5twin_ndzip_grid_of(job),
        .decode = job->word_size == 4 ? ops->decode32 : ops->decode64,
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
    decoder.run_count = h5twin_run_count(grid->block_count, job->threads);
    const size_t tail_size = h5twin_ndzip_tail_size(job);
    enum h5twin_status status = read_table(&decoder, src, src_size, tail_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    h5twin_parallel_for(job->threads, decoder.run_count, decode_run, &decoder);
    for (size_t run = 0; run < decoder.run_count; run++) {
        if (decoder.run_status[run] != H5TWIN_OK) {
            return decoder.run_status[run];
        }
    }
    const uint8_t *const rest = src + src_size - tail_size - grid->border_count * grid->word_size;
    h5twin_ndzip_copy_border(grid, dst, rest, true);
    if (tail_size != 0) {
        memcpy(dst + job->raw_size - tail_size, src + src_size - tail_size, tail_size);
    }
    return H5TWIN_OK;
}
