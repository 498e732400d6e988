/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_shape.c: which chunks suit an array. */
#include "chunk_shape.h"

#include "h5twin.h"

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

/* Halve the longest axis, the slowest of several, to a multiple of the side where there is one. */
static bool
cut_longest(uint32_t rank, uint64_t *chunk, uint64_t side)
{
    uint32_t longest = 0;
    for (uint32_t axis = 1; axis < rank; axis++) {
        longest = chunk[axis] > chunk[longest] ? axis : longest;
    }
    const uint64_t whole = chunk[longest], half = whole / 2 + whole % 2;
    const uint64_t cut = half > side ? round_up(half, side) : side;
    chunk[longest] = cut < whole ? cut : half;
    return whole > 1;
}

void
h5twin_chunk_shape_within(uint32_t rank, const uint64_t *dims, uint64_t most, uint64_t *chunk)
{
    const uint64_t side = block_side(rank, dims);
    for (uint32_t axis = 0; axis < rank; axis++) {
        chunk[axis] = dims[axis] == 0 ? 1 : dims[axis];
    }
    while (!fits(rank, chunk, most) && cut_longest(rank, chunk, side)) {
    }
    /* As many pieces along each axis, but as equal as multiples of the side can be. */
    for (uint32_t axis = 0; axis < rank; axis++) {
        const uint64_t pieces = round_up(dims[axis], chunk[axis]) / chunk[axis];
        if (pieces > 1) {
            const uint64_t even = round_up(dims[axis], pieces) / pieces;
            chunk[axis] = round_up(even, side) < chunk[axis] ? round_up(even, side) : chunk[axis];
        }
    }
}

void
h5twin_chunk_shape(uint32_t rank, const uint64_t *dims, size_t element_size, uint64_t *chunk)
{
    h5twin_chunk_shape_within(rank, dims, LARGEST_CHUNK / (element_size == 0 ? 1 : element_size),
                              chunk);
}
