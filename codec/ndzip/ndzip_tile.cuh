/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_tile.cuh: what ndzip's kernels are told, and where the elements of a block lie.
 *
 * A block of threads codes one block of elements, 16 per thread. Elements are numbered row by row
 * without gaps, clipped blocks too, so that groups are neighbours in this numbering. Divisions by
 * the sides of a clipped block are multiplications by reciprocals. */
#ifndef H5TWIN_NDZIP_TILE_CUH
#define H5TWIN_NDZIP_TILE_CUH

#include "../common/gpu.cuh"
#include "../gpu.h"
#include "ndzip_core.h"

#define THREADS    256u
#define WARPS      (THREADS / 32u)
#define PER_THREAD (NDZIP_BLOCK_ELEMENTS / THREADS)

struct ndzip_launch {
    struct h5twin_gpu_batch batch;
    struct h5twin_ndzip_grid grid;
    uint64_t raw_size;
    uint32_t tail_size;
    uint32_t parameter;
    uint32_t *ticket; /* next tile */
    uint64_t *states; /* look-back: per block (encode) or piece of a table (decode) */
    /* decode */
    uint64_t piece_count; /* per chunk, at least 1 */
    uint64_t *offsets;    /* words before each block */
    uint64_t *faults;     /* per chunk, see ndzip_table.cuh */
};

/* A block as its threads see it; lengths in elements. */
struct ndzip_tile {
    uint64_t chunk, index; /* of the batch; of the chunk's blocks */
    uint32_t first;        /* in the array */
    uint32_t count;
    uint32_t row, plane;             /* of the block: elements */
    uint32_t rows, planes;           /* rows of a plane; planes */
    uint32_t row_scale, plane_scale; /* reciprocals of row and plane */
    uint32_t row_stride;             /* from a row to the next in the array */
    uint32_t plane_gap; /* rows of the array between one plane of the block and the next */
};

/* ceil(2^24 / divisor). For number < 4096 >= divisor, quotient() is exact: the reciprocal is less
 * than 2^-24 too large for each of at most 4095 times. */
static __device__ __forceinline__ uint32_t
reciprocal(uint32_t divisor)
{
    return ((1u << 24) + divisor - 1u) / divisor;
}

static __device__ __forceinline__ uint32_t
quotient(uint32_t number, uint32_t scale)
{
    return (uint32_t)((uint64_t)number * scale >> 24);
}

/* Called by one thread. */
static __device__ __forceinline__ void
make_tile(struct ndzip_tile *tile, const struct h5twin_ndzip_grid *grid, uint64_t number)
{
    tile->chunk = number / grid->block_count;
    tile->index = number - tile->chunk * grid->block_count;
    const struct h5twin_ndzip_block block = h5twin_ndzip_block_at(grid, tile->index);
    tile->first = (uint32_t)block.first;
    tile->count = block.count;
    tile->row = block.extent[2];
    tile->rows = block.extent[1];
    tile->planes = block.extent[0];
    tile->plane = tile->row * tile->rows;
    tile->row_scale = reciprocal(tile->row);
    tile->plane_scale = reciprocal(tile->plane);
    tile->row_stride = grid->extent[2];
    tile->plane_gap = grid->extent[1] - tile->rows;
}

/* Where an element of the block lies in the array; below 2^32, as is every index. */
static __device__ __forceinline__ uint32_t
place_of(const struct ndzip_tile *tile, uint32_t element)
{
    const uint32_t row_number = quotient(element, tile->row_scale);
    const uint32_t gaps = quotient(element, tile->plane_scale) * tile->plane_gap;
    return tile->first + (row_number + gaps) * tile->row_stride + element - row_number * tile->row;
}

/* Whether a payload is the array itself. */
static __device__ __forceinline__ bool
is_raw(const struct ndzip_launch *launch, uint64_t chunk)
{
    return launch->grid.layout == H5TWIN_NDZIP_EXTENDED &&
           launch->batch.d_src_sizes[chunk] == launch->raw_size;
}

#endif
