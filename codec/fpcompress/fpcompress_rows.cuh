/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress_rows.cuh: what all four coders do on a GPU: claim a block, read it by rows, take
 * DIFFMS back by sums over the block.
 *
 * One thread block of 256 threads per block of 16 KiB: a thread has four rows' 16 bytes, so that
 * their loads are under way together and what a thread does once is done for 64 bytes. With 20 to
 * 39 KiB of shared memory two thread blocks fit on the small multiprocessors (100 KiB: sm_86,
 * sm_89), four or five on the others, where registers (40 to 60 by nvcc 13.0 for sm_90) allow that.
 * Spilled are three at most, around an encoder's checksum, on sm_90; none on sm_86. */
#ifndef H5TWIN_FPCOMPRESS_ROWS_CUH
#define H5TWIN_FPCOMPRESS_ROWS_CUH

#include "../common/bit_pack.cuh"
#include "../common/block_rows.cuh"
#include "../common/blocks.cuh"
#include "fpcompress_core.h"

#define FPC_THREADS  256u
#define FPC_WARPS    (FPC_THREADS / 32u)
#define FPC_PER_WARP (H5TWIN_ROWS / FPC_WARPS) /* rows */

/* A lane's words of its warp's rows. */
template <typename word> struct fpc_rows {
    word at[FPC_PER_WARP][16 / sizeof(word)];
};

/* Where in the block a lane's 16 bytes of its warp's row number i lie. */
static __device__ __forceinline__ uint32_t
fpc_row_at(uint32_t i)
{
    const uint32_t lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    return (warp * FPC_PER_WARP + i) * H5TWIN_ROW_BYTES + 16 * lane;
}

/* ---- stored blocks ---- */

/* Called by all threads with the same `good`, which it returns. */
static __device__ __forceinline__ bool
fpc_check(const struct h5twin_block_tiles *tiles, const struct h5twin_block_tile *tile, bool good)
{
    if (!good && threadIdx.x == 0) {
        h5twin_gpu_fail(&tiles->batch.d_status[tile->chunk], H5TWIN_ERR_CORRUPT);
    }
    return good;
}

/* ---- DIFFMS ---- */

static __device__ __forceinline__ uint32_t
fpc_residual(uint32_t word, uint32_t previous)
{
    return h5twin_fpc_residual32(word, previous);
}

static __device__ __forceinline__ uint64_t
fpc_residual(uint64_t word, uint64_t previous)
{
    return h5twin_fpc_residual64(word, previous);
}

static __device__ __forceinline__ uint32_t
fpc_word(uint32_t residual, uint32_t previous)
{
    return h5twin_fpc_word32(residual, previous);
}

static __device__ __forceinline__ uint64_t
fpc_word(uint64_t residual, uint64_t previous)
{
    return h5twin_fpc_word64(residual, previous);
}

/* Residuals to words, in place; called by all threads. */
template <typename word>
static __device__ __forceinline__ void
fpc_sum_rows(struct fpc_rows<word> *rows)
{
    H5TWIN_SHARED(word, totals, H5TWIN_ROWS);
    const uint32_t lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    const uint32_t count = 16 / sizeof(word);
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        word sum = 0;
        H5TWIN_UNROLL
        for (uint32_t j = 0; j < count; j++) {
            sum = fpc_word(rows->at[i][j], sum);
            rows->at[i][j] = sum;
        }
        const word below = h5twin_warp_exclusive_sum(sum);
        H5TWIN_UNROLL
        for (uint32_t j = 0; j < count; j++) {
            rows->at[i][j] += below;
        }
        if (lane == 31) {
            totals[warp * FPC_PER_WARP + i] = below + sum;
        }
    }
    __syncthreads();
    const word before = h5twin_warp_exclusive_sum(totals[lane]); /* a lane per row */
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        const word rows_before =
            __shfl_sync(H5TWIN_ALL_LANES, before, (int)(warp * FPC_PER_WARP + i));
        H5TWIN_UNROLL
        for (uint32_t j = 0; j < count; j++) {
            rows->at[i][j] += rows_before;
        }
    }
}

/* ---- rows of words from and to memory ---- */

/* The block's input to shared memory, zeros behind its end. */
static __device__ __forceinline__ void
fpc_load_block(uint8_t *block, const uint8_t *src, uint32_t block_size)
{
    uint4 rows[FPC_PER_WARP];
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        rows[i] = h5twin_row_load(src, fpc_row_at(i), block_size);
    }
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        h5twin_gpu_store128(block + fpc_row_at(i), rows[i]);
    }
}

/* A raw block, staged. */
template <typename word>
static __device__ __forceinline__ void
fpc_read_raw(struct fpc_rows<word> *rows, const uint32_t *staged, uint32_t skip)
{
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        H5TWIN_UNROLL
        for (uint32_t j = 0; j < 16 / sizeof(word); j++) {
            const uint32_t bit = 8 * (skip + fpc_row_at(i) + j * (uint32_t)sizeof(word));
            rows->at[i][j] = h5twin_staged_field(staged, bit, 8 * sizeof(word), (word)0);
        }
    }
}

/* Those bytes of the rows that lie before `end`. */
template <typename word>
static __device__ __forceinline__ void
fpc_store_rows(uint8_t *dst, const struct fpc_rows<word> *rows, uint32_t end)
{
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < FPC_PER_WARP; i++) {
        h5twin_row_store(dst, fpc_row_at(i), end, h5twin_row_join(rows->at[i]));
    }
}

/* Find this thread block's stored block and stage it in `lines`, from byte *skip on. Raw ones are
 * written and summed at once: false if there is no more to do; others are summed by the caller.
 * rows: the caller's registers. states: as h5twin_block_sum's. */
template <typename word>
static __device__ __forceinline__ bool
fpc_open_block(const struct h5twin_block_tiles *tiles, const struct h5twin_block_tile *tile,
               struct h5twin_stored_block *stored, uint4 *lines, uint32_t *skip,
               struct fpc_rows<word> *rows, uint4 *states)
{
    if (!h5twin_block_find(tiles, tile, stored)) {
        return false;
    }
    *skip = h5twin_stage(lines, stored->src, stored->size);
    __syncthreads();
    if (stored->size != tile->block_size) {
        return true;
    }
    fpc_read_raw(rows, reinterpret_cast<const uint32_t *>(lines), *skip);
    fpc_store_rows(h5twin_block_dst(tiles, tile), rows, tile->block_size);
    h5twin_block_sum(tiles, tile, stored, lines, *skip, states);
    return false;
}

#endif
