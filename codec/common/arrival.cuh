/* SPDX-License-Identifier: BSD-3-Clause
 * arrival.cuh: which of several blocks of threads has ended its work last. It goes on with what all
 * of them have written; nobody waits. */
#ifndef H5TWIN_COMMON_ARRIVAL_CUH
#define H5TWIN_COMMON_ARRIVAL_CUH

#include "gpu.cuh"

/* Whether this block of threads is the last of `count` to come here, so that what all have written
 * is there. arrived: 0 before the first one comes. Called by all threads. */
static __device__ __forceinline__ bool
h5twin_last_to_arrive(uint32_t *arrived, uint32_t count)
{
    H5TWIN_SHARED(uint32_t, is_last, 1);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last[0] = atomicAdd(arrived, 1u) == count - 1;
        __threadfence();
    }
    __syncthreads();
    return is_last[0] != 0;
}

#endif
