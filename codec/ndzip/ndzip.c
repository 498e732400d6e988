/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip.c: ndzip on the CPU: geometry, table of blocks, border, checks; blocks: ndzip_block.h.
 *
 * Parameter word of the frame: layout in bits 0..7, rank (1..3) in bits 8..15, others 0. Extents
 * slowest first, the unused leading ones 1.
 * Source  ndzip (DCC 2021, SC 2021); FORMAT.md. */
#include "../codec.h"
#include "../common/bytes.h"
#include "../common/ordered.h"
#include "../common/parallel.h"
#include "../cpu.h"
#include "ndzip_block.h"
#include "ndzip_core.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define OPTION_LAYOUT 0

static const char *const layout_names[] = {"reference", "extended", NULL};

static const struct h5twin_option options[] = {
    [OPTION_LAYOUT] =
        {
            .shift = 0,
            .width_bits = 2,
            .names = layout_names,
            .default_value = H5TWIN_NDZIP_EXTENDED,
        },
};

static const struct h5twin_option_info option_infos[] = {
    [OPTION_LAYOUT] =
        {
            .name = "layout",
            .values = "reference|extended",
            .help = "reference: the authors' stream; extended (default): smaller, any shape",
        },
};

extern const struct h5twin_codec h5twin_ndzip_codec;

/* ---- the shape ---- */

static enum h5twin_ndzip_layout
layout_of(uint32_t parameter)
{
    return (enum h5twin_ndzip_layout)(parameter & 0xFFu);
}

static struct h5twin_ndzip_grid
grid_of(const struct h5twin_job *job)
{
    return h5twin_ndzip_make_grid(layout_of(job->parameter), job->parameter >> 8, job->word_size,
                                  job->extents);
}

/* Bytes after the last whole word of the array; they travel at the end of the stream. */
static size_t
tail_size_of(const struct h5twin_job *job)
{
    return job->raw_size % job->word_size;
}

/* Largest stream in bytes. In 64 bits: fewer than 2^32 words of at most 8 bytes cannot overflow.
 * An extended stream may grow to the table and all words before it is given up for the raw one. */
static uint64_t
stream_bound(const struct h5twin_ndzip_grid *grid)
{
    uint64_t words = grid->element_count;
    if (grid->layout == H5TWIN_NDZIP_REFERENCE) {
        words = (uint64_t)grid->block_count * grid->block_capacity + grid->border_count;
    }
    return grid->table_size + words * grid->word_size;
}

/* Whether the parameter and extents are ones that prepare could have set. */
static bool
shape_is_valid(const struct h5twin_job *job)
{
    const uint32_t rank = job->parameter >> 8;
    if (layout_of(job->parameter) > H5TWIN_NDZIP_EXTENDED || rank < 1 || rank > 3) {
        return false;
    }
    uint64_t count = 1;
    for (unsigned axis = 0; axis < 3; axis++) {
        if (axis + rank < 3 && job->extents[axis] != 1) {
            return false;
        }
        count *= job->extents[axis];
        if (count > UINT32_MAX) {
            return false;
        }
    }
    return count <= SIZE_MAX / job->word_size;
}

/* Rank 0 is one row; above 3, the slowest axes are taken as one. */
static enum h5twin_status
prepare(struct h5twin_job *job)
{
    const uint32_t layout = h5twin_option_get(&h5twin_ndzip_codec, job->options, OPTION_LAYOUT);
    const uint32_t rank = job->rank == 0 ? 1 : job->rank > 3 ? 3 : job->rank;
    uint64_t extents[3] = {1, 1, 1};
    if (job->rank == 0) {
        extents[2] = job->raw_size / job->word_size;
    }
    for (unsigned axis = 0; axis < job->rank; axis++) {
        const unsigned place = axis + 3 < job->rank ? 0 : axis + 3 - job->rank;
        extents[place] *= job->dims[axis]; /* their product is at most raw_size */
    }
    for (unsigned axis = 0; axis < 3; axis++) {
        if (extents[axis] > UINT32_MAX) {
            return H5TWIN_ERR_TOO_BIG;
        }
        job->extents[axis] = (uint32_t)extents[axis];
    }
    job->parameter = layout | rank << 8;
    if (!shape_is_valid(job)) {
        return H5TWIN_ERR_TOO_BIG;
    }
    const struct h5twin_ndzip_grid grid = grid_of(job);
    const uint64_t largest = stream_bound(&grid);
    /* The reference layout counts the words of its stream in 32 bits. */
    const bool fits = layout == H5TWIN_NDZIP_EXTENDED || largest / job->word_size <= UINT32_MAX;
    return fits && largest <= SIZE_MAX / 2 ? H5TWIN_OK : H5TWIN_ERR_TOO_BIG;
}

static size_t
bound(const struct h5twin_job *job)
{
    const struct h5twin_ndzip_grid grid = grid_of(job);
    return (size_t)stream_bound(&grid) + tail_size_of(job);
}

/* ---- border: the reference layout's elements in no block, in order ---- */

/* Copies between the array and the border's bytes, row by row; returns the border's size. */
static size_t
copy_border(const struct h5twin_ndzip_grid *grid, uint8_t *restrict dst,
            const uint8_t *restrict src, bool to_array)
{
    const size_t row_size = (size_t)grid->extent[2] * grid->word_size;
    const size_t covered_size = (size_t)grid->covered[2] * grid->word_size;
    size_t size = 0;
    if (grid->border_count == 0) {
        return 0;
    }
    for (size_t z = 0; z < grid->extent[0]; z++) {
        for (size_t y = 0; y < grid->extent[1]; y++) {
            const bool is_cut = z < grid->covered[0] && y < grid->covered[1];
            const size_t skipped = is_cut ? covered_size : 0;
            const size_t at = (z * grid->extent[1] + y) * row_size + skipped;
            memcpy(dst + (to_array ? at : size), src + (to_array ? size : at), row_size - skipped);
            size += row_size - skipped;
        }
    }
    return size;
}

/* ---- encode ---- */

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

/* Where a block starts if none before it shrinks. */
static size_t
place_item(void *context, size_t index)
{
    const struct h5twin_ndzip_grid *const grid = &((struct ndzip_encoder *)context)->grid;
    const size_t words = grid->layout == H5TWIN_NDZIP_REFERENCE
                             ? index * grid->block_capacity
                             : h5twin_ndzip_block_at(grid, index).before;
    return words * grid->word_size;
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

static enum h5twin_status
encode(struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src, size_t *dst_size)
{
    const struct h5twin_ndzip_ops *const ops = h5twin_kernels()->ndzip;
    struct ndzip_encoder encoder = {
        .grid = grid_of(job),
        .encode = job->word_size == 4 ? ops->encode32 : ops->encode64,
        .src = src,
        .table = dst,
    };
    const struct h5twin_ndzip_grid *const grid = &encoder.grid;
    const struct h5twin_ordered work = {
        .item_count = grid->block_count,
        .item_bound = grid->block_capacity * grid->word_size,
        .total_bound = (size_t)stream_bound(grid) - grid->table_size,
        .context = &encoder,
        .encode = encode_item,
        .place = place_item,
    };
    size_t size = grid->table_size;
    size += h5twin_ordered_encode(&work, job->threads, dst + size);
    finish_table(grid, dst);
    size += copy_border(grid, dst + size, src, false);
    const size_t tail_size = tail_size_of(job);
    if (tail_size != 0) {
        memcpy(dst + size, src + job->raw_size - tail_size, tail_size);
    }
    size += tail_size;
    if (grid->layout == H5TWIN_NDZIP_EXTENDED && size >= job->raw_size) {
        size = job->raw_size;
        if (size != 0) {
            memcpy(dst, src, size);
        }
    }
    *dst_size = size;
    return H5TWIN_OK;
}

/* ---- decode ---- */

struct ndzip_decoder {
    struct h5twin_ndzip_grid grid;
    h5twin_ndzip_decode_block *decode;
    const uint8_t *table;
    uint8_t *dst;
    size_t run_count;
    const uint8_t *run_src[H5TWIN_MAX_RUNS];
    enum h5twin_status run_status[H5TWIN_MAX_RUNS];
};

/* Length in words of a block, and in the extended layout its flags; unchecked. */
static uint32_t
entry_at(const struct h5twin_ndzip_grid *grid, const uint8_t *table, size_t index)
{
    if (grid->layout == H5TWIN_NDZIP_EXTENDED) {
        return h5twin_load16(table + 2 * index);
    }
    const uint32_t begin = index == 0 ? 0 : h5twin_load32(table + 4 * (index - 1));
    return h5twin_load32(table + 4 * index) - begin;
}

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
            const uint32_t entry = entry_at(grid, src, index);
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
        const uint32_t entry = entry_at(grid, decoder->table, index);
        const size_t size = length_of(grid, entry) * grid->word_size;
        status = decoder->decode(grid, index, entry, decoder->dst, src, size);
        src += size;
    }
    decoder->run_status[run] = status;
}

static enum h5twin_status
decode(const struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
       size_t src_size)
{
    const struct h5twin_ndzip_ops *const ops = h5twin_kernels()->ndzip;
    if (!shape_is_valid(job)) {
        return H5TWIN_ERR_CORRUPT;
    }
    struct ndzip_decoder decoder = {
        .grid = grid_of(job),
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
    const size_t tail_size = tail_size_of(job);
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
    copy_border(grid, dst, rest, true);
    if (tail_size != 0) {
        memcpy(dst + job->raw_size - tail_size, src + src_size - tail_size, tail_size);
    }
    return H5TWIN_OK;
}

/* The stream does not hold the array's size: the shape gives it. The shortest stream of that shape
 * keeps a caller from allocating for a shape that src_size bytes cannot fill. */
static enum h5twin_status
raw_size(const struct h5twin_job *job, const uint8_t *src, size_t src_size, uint64_t *size)
{
    (void)src;
    if (!shape_is_valid(job)) {
        return H5TWIN_ERR_CORRUPT;
    }
    const struct h5twin_ndzip_grid grid = grid_of(job);
    const uint64_t decoded = (uint64_t)grid.element_count * job->word_size + tail_size_of(job);
    const bool is_extended = grid.layout == H5TWIN_NDZIP_EXTENDED;
    const uint64_t words_per_block = is_extended ? 1 : NDZIP_BLOCK_ELEMENTS / (8 * job->word_size);
    const uint64_t words = grid.block_count * words_per_block + grid.border_count;
    const uint64_t shortest = grid.table_size + words * job->word_size + tail_size_of(job);
    if (src_size < shortest && !(is_extended && src_size == decoded)) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    *size = decoded;
    return H5TWIN_OK;
}

/* ---- for people ---- */

static size_t
describe(const struct h5twin_job *job, const uint8_t *src, size_t src_size, char *text,
         size_t capacity)
{
    if (!shape_is_valid(job)) {
        return 0;
    }
    const struct h5twin_ndzip_grid grid = grid_of(job);
    const char *const name = layout_names[grid.layout];
    const unsigned rank = job->parameter >> 8;
    if (grid.layout == H5TWIN_NDZIP_REFERENCE) {
        return (size_t)snprintf(text, capacity, "%s layout, %u-D, %zu blocks, %zu border values",
                                name, rank, grid.block_count, grid.border_count);
    }
    if (src_size == job->raw_size || src_size < grid.table_size) {
        return (size_t)snprintf(text, capacity, "%s layout, %u-D, stored raw", name, rank);
    }
    size_t raw = 0, negabinary = 0, packed = 0;
    for (size_t index = 0; index < grid.block_count; index++) {
        const uint32_t entry = entry_at(&grid, src, index);
        raw += entry == h5twin_ndzip_block_at(&grid, index).count;
        negabinary += (entry & NDZIP_ENTRY_NEGABINARY) != 0;
        packed += (entry & NDZIP_ENTRY_PACKED) != 0;
    }
    return (size_t)snprintf(text, capacity,
                            "%s layout, %u-D, %zu blocks: %zu raw, %zu negabinary, "
                            "%zu with packed heads",
                            name, rank, grid.block_count, raw, negabinary, packed);
}

const struct h5twin_codec h5twin_ndzip_codec = {
    .info =
        {
            .name = "ndzip",
            .id = H5TWIN_NDZIP,
            .filter_id = H5TWIN_FILTER_NDZIP,
            .summary = "ndzip: lossless, predicts along one to three axes",
            .option_count = sizeof options / sizeof options[0],
            .options = option_infos,
        },
    .options = options,
    .min_word_size = 4,
    .has_extents = true,
    .prepare = prepare,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .raw_size = raw_size,
    .describe = describe,
};
