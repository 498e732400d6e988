/* SPDX-License-Identifier: BSD-3-Clause
 * block_rows.cuh: a block of 16 KiB as 32 rows of 512 bytes, 16 bytes for each lane of a warp; and
 * stored blocks, which begin at any byte, in shared memory. */
#ifndef H5TWIN_COMMON_BLOCK_ROWS_CUH
#define H5TWIN_COMMON_BLOCK_ROWS_CUH

#include "blocks_core.h"
#include "gpu.cuh"

/* 16-byte lines for a staged block: 15 bytes before it, 12 behind that are read, not used. */
#define H5TWIN_STAGED_LINES (H5TWIN_BLOCK_BYTES / 16u + 2u)

static __device__ __forceinline__ uint64_t
h5twin_join64(uint32_t low, uint32_t high)
{
    return ((uint64_t)high << 32) | low;
}

/* ---- rows ---- */

/* 16 bytes of a block from `at` on, a multiple of 16; behind its end are zeros. */
static __device__ __forceinline__ uint4
h5twin_row_load(const uint8_t *src, uint32_t at, uint32_t block_size)
{
    if (at >= block_size) {
        return make_uint4(0, 0, 0, 0);
    }
    const uint4 v = h5twin_gpu_load128(src + at);
    const uint32_t valid = block_size - at;
    if (valid >= 16) {
        return v;
    }
    uint32_t words[4] = {v.x, v.y, v.z, v.w};
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t bytes = valid > 4 * i ? valid - 4 * i : 0;
        words[i] &= bytes >= 4 ? 0xFFFFFFFFu : (1u << 8 * bytes) - 1u;
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/* Store those of 16 bytes at `at` that lie before `end`. */
static __device__ __forceinline__ void
h5twin_row_store(uint8_t *dst, uint32_t at, uint32_t end, uint4 v)
{
    if (at + 16 <= end) {
        h5twin_gpu_store128(dst + at, v);
        return;
    }
    const uint32_t words[4] = {v.x, v.y, v.z, v.w};
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < 16; i++) {
        if (at + i < end) {
            dst[at + i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
        }
    }
}

/* A lane's words of a row. */
static __device__ __forceinline__ void
h5twin_row_split(uint32_t words[4], uint4 v)
{
    words[0] = v.x;
    words[1] = v.y;
    words[2] = v.z;
    words[3] = v.w;
}

static __device__ __forceinline__ void
h5twin_row_split(uint64_t words[2], uint4 v)
{
    words[0] = h5twin_join64(v.x, v.y);
    words[1] = h5twin_join64(v.z, v.w);
}

static __device__ __forceinline__ uint4
h5twin_row_join(const uint32_t words[4])
{
    return make_uint4(words[0], words[1], words[2], words[3]);
}

static __device__ __forceinline__ uint4
h5twin_row_join(const uint64_t words[2])
{
    return make_uint4((uint32_t)words[0], (uint32_t)(words[0] >> 32), (uint32_t)words[1],
                      (uint32_t)(words[1] >> 32));
}

/* ---- stored blocks ---- */

/* Copy a stored block to shared memory by whole lines; returns how far into the first line it
 * begins. Called by all threads; the caller synchronizes. */
static __device__ __forceinline__ uint32_t
h5twin_stage(uint4 *staged, const uint8_t *src, uint32_t stored_size)
{
    const uint32_t skip = (uint32_t)(reinterpret_cast<uintptr_t>(src) & 15u);
    for (uint32_t i = threadIdx.x; 16 * i < skip + stored_size; i += blockDim.x) {
        staged[i] = h5twin_gpu_load128(src - skip + 16 * i);
    }
    return skip;
}

/* The 32 or 64 bits from a bit of staged words on; reads up to 4 bytes behind them. */
static __device__ __forceinline__ uint32_t
h5twin_staged32(const uint32_t *staged, uint32_t bit)
{
    return __funnelshift_r(staged[bit / 32], staged[bit / 32 + 1], bit % 32);
}

static __device__ __forceinline__ uint64_t
h5twin_staged64(const uint32_t *staged, uint32_t bit)
{
    const uint32_t *const at = staged + bit / 32;
    return h5twin_join64(__funnelshift_r(at[0], at[1], bit % 32),
                         __funnelshift_r(at[1], at[2], bit % 32));
}

/* A field of 0..32, or 0..64, bits; the last parameter only says which. */
static __device__ __forceinline__ uint32_t
h5twin_staged_field(const uint32_t *staged, uint32_t bit, uint32_t width_bits, uint32_t)
{
    return h5twin_staged32(staged, bit) & (uint32_t)((UINT64_C(1) << width_bits) - 1);
}

static __device__ __forceinline__ uint64_t
h5twin_staged_field(const uint32_t *staged, uint32_t bit, uint32_t width_bits, uint64_t)
{
    return width_bits == 0 ? 0 : h5twin_staged64(staged, bit) & (UINT64_MAX >> (64 - width_bits));
}

#endif
