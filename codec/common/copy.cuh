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

/* 16 bytes of src, on 16 bytes, from byte 4 * first + shift / 8 of each of `count` lines on, to
 * lines of dst. */
template <uint32_t first>
static __device__ __forceinline__ void
h5twin_gpu_copy_shifted(uint8_t *dst, const uint8_t *src, uint32_t shift, uint32_t count)
{
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        const uint4 a = h5twin_gpu_load128(src + 16 * i), b = h5twin_gpu_load128(src + 16 * i + 16);
        const uint32_t words[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
        uint32_t shifted[4];
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            shifted[k] = __funnelshift_r(words[first + k], words[first + k + 1], shift);
        }
        h5twin_gpu_store128(dst + 16 * i,
                            make_uint4(shifted[0], shifted[1], shifted[2], shifted[3]));
    }
}

/* The same by 16 bytes at a time: src lies on 16 bytes, and can be read to the next multiple.
 * Called by all threads of a block, 32 at least. */
static __device__ __forceinline__ void
h5twin_gpu_copy_lines(uint8_t *dst, const uint8_t *src, uint32_t size)
{
    /* Lines of dst's grid are written whole; before and behind them less than 16 bytes each, by a
     * lane each. */
    const uint32_t before = (0u - (uint32_t) reinterpret_cast<uintptr_t>(dst)) & 15u;
    const uint32_t head = before < size ? before : size;
    const uint32_t count = (size - head) / 16, tail = head + 16 * count;
    if (threadIdx.x < 32) {
        const bool is_head = threadIdx.x < 16;
        const uint32_t at = is_head ? threadIdx.x : tail + threadIdx.x - 16;
        if (at < (is_head ? head : size)) {
            dst[at] = src[at];
        }
    }
    dst += head;
    if (head == 0) {
        for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
            h5twin_gpu_store128(dst + 16 * i, h5twin_gpu_load128(src + 16 * i));
        }
        return;
    }
    switch (head / 4) {
    case 0:
        h5twin_gpu_copy_shifted<0>(dst, src, 8 * head, count);
        break;
    case 1:
        h5twin_gpu_copy_shifted<1>(dst, src, 8 * head, count);
        break;
    case 2:
        h5twin_gpu_copy_shifted<2>(dst, src, 8 * head, count);
        break;
    default:
        h5twin_gpu_copy_shifted<3>(dst, src, 8 * head, count);
        break;
    }
}

#endif
