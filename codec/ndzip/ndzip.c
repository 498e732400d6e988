/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip.c: ndzip to the rest of the library: options, parameters, sizes.
 *
 * Parameter word of the frame: layout in bits 0..7, rank (1..3) in bits 8..15, others 0. Extents
 * slowest first, the unused leading ones 1.
 * Source  ndzip (DCC 2021, SC 2021); FORMAT.md. */
#include "ndzip.h"

#include <stdio.h>

#define OPTION_LAYOUT 0

static const char *const layout_names[] = {"reference", "extended", NULL};

static const struct h5twin_option_info options[] = {
    [OPTION_LAYOUT] =
        {
            .name = "layout",
            .values = "reference|extended",
            .help = "reference: the authors' stream; extended (default): smaller, any shape",
            .names = layout_names,
            .width_bits = 2,
            .default_value = H5TWIN_NDZIP_EXTENDED,
        },
};

extern const struct h5twin_codec h5twin_ndzip_codec;

static enum h5twin_status
prepare(struct h5twin_job *job)
{
    const uint32_t layout = h5twin_option_get(&h5twin_ndzip_codec, job->options, OPTION_LAYOUT);
    uint64_t extents[3];
    const uint32_t rank =
        h5twin_ndzip_choose_extents(extents, job, (enum h5twin_ndzip_layout)layout);
    for (unsigned axis = 0; axis < 3; axis++) {
        if (extents[axis] > UINT32_MAX) {
            return H5TWIN_ERR_TOO_BIG;
        }
        job->extents[axis] = (uint32_t)extents[axis];
    }
    job->parameter = layout | rank << 8;
    if (!h5twin_ndzip_shape_is_valid(job)) {
        return H5TWIN_ERR_TOO_BIG;
    }
    const struct h5twin_ndzip_grid grid = h5twin_ndzip_grid_of(job);
    const uint64_t largest = h5twin_ndzip_stream_bound(&grid);
    /* The reference layout counts the words of its stream in 32 bits. */
    const bool fits = layout == H5TWIN_NDZIP_EXTENDED || largest / job->word_size <= UINT32_MAX;
    return fits && largest <= SIZE_MAX / 2 ? H5TWIN_OK : H5TWIN_ERR_TOO_BIG;
}

static size_t
bound(const struct h5twin_job *job)
{
    const struct h5twin_ndzip_grid grid = h5twin_ndzip_grid_of(job);
    return (size_t)h5twin_ndzip_stream_bound(&grid) + h5twin_ndzip_tail_size(job);
}

/* The stream does not hold the array's size: the shape gives it. The shortest stream of that shape
 * keeps a caller from allocating for a shape that src_size bytes cannot fill. */
static enum h5twin_status
raw_size(const struct h5twin_job *job, const uint8_t *src, size_t src_size, uint64_t *size)
{
    (void)src;
    if (!h5twin_ndzip_shape_is_valid(job)) {
        return H5TWIN_ERR_CORRUPT;
    }
    const struct h5twin_ndzip_grid grid = h5twin_ndzip_grid_of(job);
    const uint64_t decoded =
        (uint64_t)grid.element_count * job->word_size + h5twin_ndzip_tail_size(job);
    if (h5twin_ndzip_is_too_long(&grid, h5twin_ndzip_tail_size(job), src_size)) {
        return H5TWIN_ERR_CORRUPT;
    }
    const bool is_extended = grid.layout == H5TWIN_NDZIP_EXTENDED;
    const uint64_t words_per_block = is_extended ? 1 : NDZIP_BLOCK_ELEMENTS / (8 * job->word_size);
    const uint64_t words = grid.block_count * words_per_block + grid.border_count;
    const uint64_t shortest =
        grid.table_size + words * job->word_size + h5twin_ndzip_tail_size(job);
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
    if (!h5twin_ndzip_shape_is_valid(job)) {
        return 0;
    }
    const struct h5twin_ndzip_grid grid = h5twin_ndzip_grid_of(job);
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
        const uint32_t entry = h5twin_ndzip_entry_at(&grid, src, index);
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
            H5TWIN_CODEC_AS_LISTED(ndzip, NDZIP),
            .summary = "ndzip: lossless, predicts along one to three axes",
            H5TWIN_CODEC_OPTIONS(options),
        },
    .min_word_size = 4,
    .has_extents = true,
    .prepare = prepare,
    .bound = bound,
    .encode = h5twin_ndzip_encode,
    .decode = h5twin_ndzip_decode,
    .decode_box = h5twin_ndzip_decode_box,
    .raw_size = raw_size,
    .describe = describe,
};
