/* SPDX-License-Identifier: BSD-3-Clause
 * sums.cuh: sums over the lanes of a warp and over the threads of a block. */
#ifndef H5TWIN_COMMON_SUMS_CUH
#define H5TWIN_COMMON_SUMS_CUH

#include "gpu.cuh"

/* Sum over the lanes below this one; all 32 lanes call. Wraps around, as unsigned numbers do. */
template <typename word>
static __device__ __forceinline__ word
h5twin_warp_exclusive_sum(word value)
{
    const unsigned lane = threadIdx.x % 32u;
    word sum = value;
    for (unsigned delta = 1; delta < 32; delta *= 2) {
        const word below = __shfl_up_sync(H5TWIN_ALL_LANES, sum, delta);
        sum += lane >= delta ? below : 0;
    }
    return sum - value;
}

/* Sum over all lanes, for each of them; all 32 call. */
static __device__ __forceinline__ uint64_t
h5twin_warp_sum(uint64_t value)
{
    for (int delta = 16; delta > 0; delta /= 2) {
        value += __shfl_xor_sync(H5TWIN_ALL_LANES, value, delta);
    }
    return value;
}

/* Sum over the threads below this one, and over all in *total. All threads of the block, which has
 * warp_count whole warps, call; shared memory of 32 words. */
template <typename word>
static __device__ __forceinline__ word
h5twin_block_exclusive_sum(word value, uint32_t warp_count, word *total)
{
    H5TWIN_SHARED(word, sums, 32);
    const uint32_t warp = threadIdx.x / 32u;
    const word below = h5twin_warp_exclusive_sum(value);
    __syncthreads(); /* sums of the last call have been read */
    if (threadIdx.x % 32u == 31) {
        sums[warp] = below + value;
    }
    __syncthreads();
    word before = 0, all = 0;
    for (uint32_t i = 0; i < warp_count; i++) {
        before += i < warp ? sums[i] : 0u;
        all += sums[i];
    }
    *total = all;
    return before + below;
}

#endif
