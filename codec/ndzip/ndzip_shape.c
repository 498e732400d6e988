/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_shape.c: see ndzip.h.
 *
 * Layout `reference` stores words that lie in no full block as they are (its border), so that a
 * 10 x 500 x 500 chunk would not shrink at all in three dimensions, but does as 5000 x 500. Layout
 * `extended` clips its blocks instead and always takes all the dimensions that it can. */
#include "ndzip.h"

#include "../common/bytes.h"

#define MAX_EXTENTS 3u

/* What a word in a full block costs by number of dimensions, as a share of a raw one: rough, from
 * smooth fields of single precision (ratios 1.6, 2.0 and 2.3). */
static const double block_cost[MAX_EXTENTS + 1] = {0, 0.62, 0.50, 0.44};

/* The last `count` of rank dims, with all the slower ones merged into the first; the unused leading
 * extents are 1. */
static void
merge_slowest(uint64_t extents[MAX_EXTENTS], unsigned count, const uint64_t *dims, unsigned rank)
{
    for (unsigned axis = 0; axis < MAX_EXTENTS; axis++) {
        extents[axis] = 1;
    }
    for (unsigned axis = 0; axis < rank; axis++) {
        const unsigned from_end = rank - axis;
        /* their product is at most the array's size in bytes */
        extents[MAX_EXTENTS - (from_end < count ? from_end : count)] *= dims[axis];
    }
}

/* Expected size of the reference layout, in words. */
static double
expected_size(const uint64_t extents[MAX_EXTENTS], unsigned count)
{
    double all = 1, in_blocks = 1;
    for (unsigned axis = 0; axis < MAX_EXTENTS; axis++) {
        const uint64_t side = h5twin_ndzip_side(count, axis);
        all *= (double)extents[axis];
        in_blocks *= (double)(extents[axis] / side * side);
    }
    return all - in_blocks + in_blocks * block_cost[count];
}

/* How many extents the reference layout should take at most `most` of. */
static unsigned
choose_count(unsigned most, const uint64_t *dims, unsigned rank)
{
    unsigned best = most;
    double best_size = 0;
    for (unsigned count = most; count >= 1; count--) {
        uint64_t extents[MAX_EXTENTS];
        merge_slowest(extents, count, dims, rank);
        const double size = expected_size(extents, count);
        if (count == most || size < best_size) {
            best = count;
            best_size = size;
        }
    }
    return best;
}

unsigned
h5twin_ndzip_choose_extents(uint64_t extents[3], const struct h5twin_job *job,
                            enum h5twin_ndzip_layout layout)
{
    uint64_t dims[H5TWIN_MAX_RANK];
    unsigned rank = 0;
    for (unsigned axis = 0; axis < job->rank; axis++) {
        if (job->dims[axis] != 1 || job->is_bare) {
            dims[rank++] = job->dims[axis];
        }
    }
    if (rank == 0) {
        dims[rank++] = job->raw_size / job->word_size;
    }
    const unsigned most = rank < MAX_EXTENTS ? rank : MAX_EXTENTS;
    const unsigned count =
        layout == H5TWIN_NDZIP_REFERENCE && !job->is_bare ? choose_count(most, dims, rank) : most;
    merge_slowest(extents, count, dims, rank);
    return count;
}

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
