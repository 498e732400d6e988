/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_shape.c: see ndzip.h. */
#include "ndzip.h"

#include "../common/bytes.h"

#include <string.h>

enum h5twin_ndzip_layout
h5twin_ndzip_layout_of(uint32_t parameter)
{
    return (enum h5twin_ndzip_layout)(parameter & 0xFFu);
}

struct h5twin_ndzip_grid
h5twin_ndzip_grid_of(const struct h5twin_job *job)
{
    return h5twin_ndzip_make_grid(h5twin_ndzip_layout_of(job->parameter), job->parameter >> 8,
                                  job->word_size, job->extents);
}

/* Bytes after the last whole word of the array; they travel at the end of the stream. */
size_t
h5twin_ndzip_tail_size(const struct h5twin_job *job)
{
    return job->raw_size % job->word_size;
}

/* Largest stream in bytes. In 64 bits: fewer than 2^32 words of at most 8 bytes cannot overflow.
 * An extended stream may grow to the table and all words before it is given up for the raw one. */
uint64_t
h5twin_ndzip_stream_bound(const struct h5twin_ndzip_grid *grid)
{
    uint64_t words = grid->element_count;
    if (grid->layout == H5TWIN_NDZIP_REFERENCE) {
        words = (uint64_t)grid->block_count * grid->block_capacity + grid->border_count;
    }
    return grid->table_size + words * grid->word_size;
}

/* Whether the parameter and extents are ones that prepare could have set. */
bool
h5twin_ndzip_shape_is_valid(const struct h5twin_job *job)
{
    const uint32_t rank = job->parameter >> 8;
    if (h5twin_ndzip_layout_of(job->parameter) > H5TWIN_NDZIP_EXTENDED || rank < 1 || rank > 3) {
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

/* Length in words of a block, and in the extended layout its flags; unchecked. */
uint32_t
h5twin_ndzip_entry_at(const struct h5twin_ndzip_grid *grid, const uint8_t *table, size_t index)
{
    if (grid->layout == H5TWIN_NDZIP_EXTENDED) {
        return h5twin_load16(table + 2 * index);
    }
    const uint32_t begin = index == 0 ? 0 : h5twin_load32(table + 4 * (index - 1));
    return h5twin_load32(table + 4 * index) - begin;
}

/* Copies between the array and the border's bytes, row by row; returns the border's size. */
size_t
h5twin_ndzip_copy_border(const struct h5twin_ndzip_grid *grid, uint8_t *restrict dst,
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
