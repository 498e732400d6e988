/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_shape.c: see ndzip.h. */
#include "ndzip.h"

#include "../common/bytes.h"

struct h5twin_ndzip_grid
h5twin_ndzip_grid_of(const struct h5twin_job *job)
{
    return h5twin_ndzip_make_grid(h5twin_ndzip_layout_of(job->parameter),
                                  h5twin_ndzip_rank_of(job->parameter), job->word_size,
                                  job->extents);
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
    return h5twin_ndzip_shape_fits(job->parameter, job->word_size, job->extents);
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
