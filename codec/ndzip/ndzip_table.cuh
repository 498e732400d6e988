/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_table.cuh: check the tables of a batch and find where each block starts.
 *
 * A decoder that reads a table from its start stops at the first fault. Here pieces of it are
 * read at the same time, so each fault is noted with its place, and the first place wins. */
#ifndef H5TWIN_NDZIP_TABLE_CUH
#define H5TWIN_NDZIP_TABLE_CUH

#include "../common/lookback.cuh"
#include "ndzip_tile.cuh"

/* Of a piece, which has an entry per thread. Tests take fewer. */
#ifndef TABLE_THREADS
#    define TABLE_THREADS 256u
#endif
#define TABLE_WARPS (TABLE_THREADS / 32u)

/* What may be wrong; lower ones first at the same place. */
enum ndzip_fault {
    FAULT_CORRUPT = 0,
    FAULT_SHORT = 1,
    FAULT_OPTION = 2,
};

/* A chunk's fault is 0 while it has none, and grows as earlier ones are found. */
static __device__ __forceinline__ void
note_fault(uint64_t *chunk_fault, uint64_t index, enum ndzip_fault fault)
{
    const unsigned long long noted = ~(4ULL * index + (unsigned long long)fault);
    atomicMax(reinterpret_cast<unsigned long long *>(chunk_fault), noted);
}

static __device__ __forceinline__ uint32_t
status_of_fault(uint64_t fault)
{
    const uint32_t kind = (uint32_t)~fault & 3u;
    return kind == FAULT_CORRUPT ? H5TWIN_ERR_CORRUPT
           : kind == FAULT_SHORT ? H5TWIN_ERR_SRC_SHORT
                                 : H5TWIN_ERR_OPTION;
}

/* Whether the frame's parameter is the one that this launch is for. */
static __device__ __forceinline__ bool
parameter_matches(const struct ndzip_launch *launch, uint64_t chunk, enum ndzip_fault *fault)
{
    const uint32_t parameter = launch->batch.d_parameters[chunk];
    const bool fits =
        h5twin_ndzip_shape_fits(parameter, launch->grid.word_size, launch->grid.extent);
    *fault = fits ? FAULT_OPTION : FAULT_CORRUPT;
    return parameter == launch->parameter;
}

/* A block's entry; in the reference layout what it adds to the one before. */
static __device__ __forceinline__ uint32_t
load_entry(const struct h5twin_ndzip_grid *grid, const uint8_t *table, uint64_t index)
{
    if (grid->layout == H5TWIN_NDZIP_EXTENDED) {
        return h5twin_gpu_load16(table + 2 * index);
    }
    const uint32_t before = index == 0 ? 0 : h5twin_gpu_load32(table + 4 * (index - 1));
    return h5twin_gpu_load32(table + 4 * index) - before;
}

/* Sum over the threads below this one; *total over all. sums: TABLE_WARPS words. */
static __device__ __forceinline__ uint32_t
block_exclusive_sum(uint32_t *sums, uint32_t value, uint32_t *total)
{
    const uint32_t below = h5twin_warp_exclusive_sum(value);
    if (threadIdx.x % 32u == 31u) {
        sums[threadIdx.x / 32u] = below + value;
    }
    __syncthreads();
    uint32_t before = 0;
    *total = 0;
    for (uint32_t warp = 0; warp < TABLE_WARPS; warp++) {
        before += warp < threadIdx.x / 32u ? sums[warp] : 0u;
        *total += sums[warp];
    }
    return before + below;
}

/* One piece of one chunk's table, an entry per thread. Whether a chunk is looked at at all depends
 * on nothing that is written here, so that no piece waits for one that has gone. */
static __global__ void
__launch_bounds__(TABLE_THREADS) ndzip_table_kernel(struct ndzip_launch launch)
{
    H5TWIN_SHARED(uint32_t, claimed, 1);
    H5TWIN_SHARED(uint32_t, sums, TABLE_WARPS);
    H5TWIN_SHARED(uint64_t, start, 1);
    if (threadIdx.x == 0) {
        claimed[0] = atomicAdd(launch.ticket, 1u);
    }
    __syncthreads();
    const struct h5twin_ndzip_grid *const grid = &launch.grid;
    const uint64_t number = claimed[0], chunk = number / launch.piece_count;
    const uint64_t piece = number - chunk * launch.piece_count;
    uint64_t *const chunk_fault = &launch.faults[chunk];
    enum ndzip_fault fault;
    const bool matches = parameter_matches(&launch, chunk, &fault);
    if (launch.batch.d_status[chunk] != 0 || (matches && is_raw(&launch, chunk))) {
        return;
    }
    size_t blocks_size = 0;
    const uint64_t src_size = launch.batch.d_src_sizes[chunk];
    const bool fits = matches && !h5twin_ndzip_is_too_long(grid, launch.tail_size, src_size);
    const bool readable =
        fits && h5twin_ndzip_blocks_size(grid, launch.tail_size, src_size, &blocks_size);
    if (!readable) {
        fault = fits ? FAULT_SHORT : matches ? FAULT_CORRUPT : fault;
        if (threadIdx.x == 0) {
            note_fault(chunk_fault, 0, fault);
        }
        return;
    }
    const uint8_t *const table = launch.batch.d_src + chunk * launch.batch.src_stride;
    const uint64_t index = piece * TABLE_THREADS + threadIdx.x;
    uint32_t length = 0, total;
    if (index < grid->block_count) {
        const uint32_t entry = load_entry(grid, table, index);
        if (h5twin_ndzip_entry_is_valid(grid, index, entry)) {
            length = h5twin_ndzip_entry_length(grid, entry);
        } else {
            note_fault(chunk_fault, index, FAULT_CORRUPT);
        }
    }
    const uint32_t below = block_exclusive_sum(sums, length, &total);
    if (threadIdx.x < 32u) {
        const uint64_t sum =
            h5twin_lookback_exclusive_sum(launch.states, number, number - piece, total);
        if (threadIdx.x == 0) {
            start[0] = sum;
        }
    }
    __syncthreads();
    const uint64_t offset = start[0] + below;
    if (index < grid->block_count) {
        launch.offsets[chunk * grid->block_count + index] = offset;
        if (offset + length > blocks_size / grid->word_size) {
            note_fault(chunk_fault, index, FAULT_SHORT);
        }
    }
    /* after the table: the padding's bytes (looked at first), and that nothing is left over */
    if (piece == 0 && grid->layout == H5TWIN_NDZIP_EXTENDED) {
        const uint64_t at = 2 * grid->block_count + 2 * threadIdx.x;
        if (at < grid->table_size && h5twin_gpu_load16(table + at) != 0) {
            note_fault(chunk_fault, 0, FAULT_CORRUPT);
        }
    }
    if (piece == launch.piece_count - 1 && threadIdx.x == 0 &&
        (start[0] + total) * grid->word_size != blocks_size) {
        note_fault(chunk_fault, grid->block_count, FAULT_CORRUPT);
    }
}

#endif
