/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_tile.cuh: what ndzip's kernels are told, and where the elements of a block lie.
 *
 * A block of threads codes one block of elements, 16 per thread. Elements are numbered row by row
 * without gaps, clipped blocks too, so that groups are neighbours in this numbering. One thread
 * finds the block while the others wait, so it divides by multiplication with what the host has
 * made; places of elements, too, are found by reciprocals. */
#ifndef H5TWIN_NDZIP_TILE_CUH
#define H5TWIN_NDZIP_TILE_CUH

#include "../common/gpu.cuh"
#include "../gpu.h"
#include "ndzip_core.h"

#define THREADS    256u
#define WARPS      (THREADS / 32u)
#define PER_THREAD (NDZIP_BLOCK_ELEMENTS / THREADS)
#define PLANE      256u /* of a whole 3-D block; an element for each thread */

/* Division of numbers below 2^31 by the same divisor: number * multiplier >> shift. */
struct ndzip_divisor {
    uint32_t divisor, multiplier, shift;
};

/* With 2^s >= divisor the multiplier, below 2^32, is ceil(2^(31 + s) / divisor); so the quotient of
 * a number below 2^31 is too large by less than 1 / divisor, which is no whole number more. A
 * divisor of 0, by which nothing is divided, becomes 1. */
static inline struct ndzip_divisor
ndzip_divisor_make(uint32_t divisor)
{
    struct ndzip_divisor made = {divisor == 0 ? 1 : divisor, 0, 31};
    while (((uint64_t)1 << (made.shift - 31)) < made.divisor) {
        made.shift++;
    }
    made.multiplier = (uint32_t)((((uint64_t)1 << made.shift) + made.divisor - 1) / made.divisor);
    return made;
}

static __device__ __forceinline__ uint32_t
ndzip_divide(uint32_t number, const struct ndzip_divisor *by)
{
    return (uint32_t)((uint64_t)number * by->multiplier >> by->shift);
}

struct ndzip_launch {
    struct h5twin_gpu_batch batch;
    struct h5twin_ndzip_grid grid;
    uint64_t raw_size;
    uint32_t tail_size;
    uint32_t parameter;
    struct ndzip_divisor per_chunk, per_row, per_column; /* blocks: of a chunk, on axes 2 and 1 */
    uint32_t row_scale, plane_scale; /* of blocks that are not clipped, see ndzip_tile */
    uint32_t *ticket;                /* next tile */
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
    uint32_t step;      /* in the array from an element to the one 256 on, if the block is whole */
};

/* Whether a block is not clipped: then rows are 16, 64 or 4096 elements, planes 256 or 4096, and
 * what a thread has of it lies in equal steps. */
static __device__ __forceinline__ bool
is_whole(const struct ndzip_tile *tile)
{
    return tile->count == NDZIP_BLOCK_ELEMENTS;
}

/* ceil(2^24 / divisor). For number < 4096 >= divisor, quotient() is exact: the reciprocal is less
 * than 2^-24 too large for each of at most 4095 times. 256 times the number, so that it is the
 * product's upper half. */
H5TWIN_HD uint32_t
reciprocal(uint32_t divisor)
{
    return ((1u << 24) + divisor - 1u) / divisor;
}

static __device__ __forceinline__ uint32_t
quotient(uint32_t number, uint32_t scale)
{
    return (uint32_t)((uint64_t)(number << 8) * scale >> 32);
}

/* Called by one thread. */
static __device__ __forceinline__ void
make_tile(struct ndzip_tile *tile, const struct ndzip_launch *launch, uint32_t number)
{
    const struct h5twin_ndzip_grid *const grid = &launch->grid;
    const uint32_t chunk = ndzip_divide(number, &launch->per_chunk);
    const uint32_t index = number - chunk * launch->per_chunk.divisor;
    const uint32_t rows = ndzip_divide(index, &launch->per_row);
    const uint32_t layers = ndzip_divide(rows, &launch->per_column);
    const uint32_t at[3] = {layers, rows - layers * launch->per_column.divisor,
                            index - rows * launch->per_row.divisor};
    const struct h5twin_ndzip_block block = h5twin_ndzip_block_of(grid, at);
    tile->chunk = chunk;
    tile->index = index;
    tile->first = (uint32_t)block.first;
    tile->count = block.count;
    tile->row = block.extent[2];
    tile->rows = block.extent[1];
    tile->planes = block.extent[0];
    tile->plane = tile->row * tile->rows;
    tile->row_scale = tile->row == grid->side[2] ? launch->row_scale : reciprocal(tile->row);
    tile->plane_scale = tile->plane == grid->side[2] * grid->side[1] ? launch->plane_scale
                                                                     : reciprocal(tile->plane);
    tile->row_stride = grid->extent[2];
    tile->plane_gap = grid->extent[1] - tile->rows;
    tile->step = tile->planes > 1 ? tile->row_stride * grid->extent[1]
                 : tile->rows > 1 ? tile->row_stride * (PLANE / tile->row)
                                  : PLANE;
}

/* Where an element of the block lies in the array; below 2^32, as is every index. */
static __device__ __forceinline__ uint32_t
place_of(const struct ndzip_tile *tile, uint32_t element)
{
    const uint32_t row_number = quotient(element, tile->row_scale);
    const uint32_t gaps = quotient(element, tile->plane_scale) * tile->plane_gap;
    return tile->first + (row_number + gaps) * tile->row_stride + element - row_number * tile->row;
}

/* The same of this thread's element number i of a block, threadIdx.x + 256 i. */
template <bool whole>
static __device__ __forceinline__ uint32_t
place_of_own(const struct ndzip_tile *tile, uint32_t i)
{
    return whole ? place_of(tile, threadIdx.x) + i * tile->step
                 : place_of(tile, threadIdx.x + i * THREADS);
}

/* Whether a payload is the array itself. */
static __device__ __forceinline__ bool
is_raw(const struct ndzip_launch *launch, uint64_t chunk)
{
    return launch->grid.layout == H5TWIN_NDZIP_EXTENDED &&
           launch->batch.d_src_sizes[chunk] == launch->raw_size;
}

#endif
