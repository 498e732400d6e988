/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_shape.c: which chunks suit an array. */
#include "chunk_shape.h"

#include "h5twin.h"

#define MOST_PADDING  32                /* a 32nd of an axis */
#define LARGEST_CHUNK ((size_t)1 << 20) /* HDF5's own cache of chunks, by default, holds one */

/* The sides of ndzip's blocks, by rank, which suit the tiles of the other codecs too. */
static uint64_t
block_side(uint32_t rank, const uint64_t *dims)
{
    uint32_t long_axes = 0;
    for (uint32_t axis = 0; axis < rank; axis++) {
        long_axes += dims[axis] > 1;
    }
    return long_axes <= 1 ? 4096 : long_axes == 2 ? 64 : 16;
}

static uint64_t
round_up(uint64_t extent, uint64_t side)
{
    return (extent / side + (extent % side != 0)) * side;
}

/* Whether the chunk has at most this many elements. */
static bool
fits(uint32_t rank, const uint64_t *chunk, uint64_t most)
{
    for (uint32_t axis = 0; axis < rank; axis++) {
        most /= chunk[axis];
    }
    return most > 0;
}

/* What chunks of this extent have beyond the end of the axis. */
static uint64_t
padding(uint64_t dim, uint64_t extent)
{
    return dim % extent == 0 ? 0 : extent - dim % extent;
}

/* An axis in so many equal parts, or fewer, below an extent that is too large: a multiple of the
 * side, or of a half, a quarter ... of it where that would leave more than a MOST_PADDING of the
 * axis empty. HDF5 stores the last chunk whole, and blocks at its edge are cut, so evenness is
 * worth more than whole blocks. */
static uint64_t
part_of(uint64_t dim, uint64_t parts, uint64_t side, uint64_t below)
{
    const uint64_t even = dim / parts + (dim % parts != 0);
    for (uint64_t unit = side; unit > 1; unit /= 2) {
        const uint64_t extent = round_up(even, unit);
        if (extent >= even && extent < below && padding(dim, extent) <= dim / MOST_PADDING) {
            return extent;
        }
    }
    return even;
}

void
h5twin_chunk_shape_within(uint32_t rank, const uint64_t *dims, uint64_t most, uint64_t *chunk)
{
    const uint64_t side = block_side(rank, dims);
    for (uint32_t axis = 0; axis < rank; axis++) {
        chunk[axis] = dims[axis] == 0 ? 1 : dims[axis];
    }
    /* Halve the longest axis, the slowest of several. */
    for (uint64_t longest_extent = 2; longest_extent > 1 && !fits(rank, chunk, most);) {
        uint32_t longest = 0;
        for (uint32_t axis = 1; axis < rank; axis++) {
            longest = chunk[axis] > chunk[longest] ? axis : longest;
        }
        longest_extent = chunk[longest];
        const uint64_t dim = dims[longest];
        uint64_t parts = dim / longest_extent + (dim % longest_extent != 0);
        while (chunk[longest] == longest_extent && longest_extent > 1) {
            parts = parts > dim / 2 ? dim : 2 * parts;
            chunk[longest] = part_of(dim, parts, side, longest_extent);
        }
    }
}

void
h5twin_chunk_shape(uint32_t rank, const uint64_t *dims, size_t element_size, uint64_t *chunk)
{
    h5twin_chunk_shape_within(rank, dims, LARGEST_CHUNK / (element_size == 0 ? 1 : element_size),
                              chunk);
}
