/* SPDX-License-Identifier: BSD-3-Clause
 * copy.cuh: bytes to any address, by all threads of a block. */
#ifndef H5TWIN_COMMON_COPY_CUH
#define H5TWIN_COMMON_COPY_CUH

#include "gpu.cuh"

/* src lies on 4 bytes and can be read to the next multiple of 4; byte_count is an integer. */
template <typename byte_count>
static __device__ __forceinline__ void
h5twin_gpu_copy(uint8_t *dst, const uint8_t *src, byte_count size)
{
    /* Words of dst's 4-byte grid; the grid begins `skip` bytes before dst. */
    const uint32_t skip = (uint32_t)(reinterpret_cast<uintptr_t>(dst) & 3u);
    for (byte_count at = 4 * threadIdx.x; at < size + skip; at += 4 * blockDim.x) {
        if (at >= skip && at + 4 - skip <= size) {
            const uint32_t low = at >= 4 && skip != 0 ? h5twin_gpu_load32(src + at - 4) : 0u;
            const uint32_t high = h5twin_gpu_load32(src + at);
            h5twin_gpu_store32(dst + at - skip,
                               skip == 0 ? high : __funnelshift_r(low, high, 8 * (4 - skip)));
        } else {
            for (byte_count i = at < skip ? skip : at; i < at + 4 && i - skip < size; i++) {
                dst[i - skip] = src[i - skip];
            }
        }
    }
}

#endif
