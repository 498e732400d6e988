/* SPDX-License-Identifier: BSD-3-Clause
 * words128.cuh: 16 bytes of a thread's words at once, where their place allows it. */
#ifndef H5TWIN_COMMON_WORDS128_CUH
#define H5TWIN_COMMON_WORDS128_CUH

#include "gpu.cuh"

/* Whether words at this place can be loaded and stored so. */
static __device__ __forceinline__ bool
h5twin_gpu_is_aligned128(const void *words)
{
    return (reinterpret_cast<uintptr_t>(words) & 15u) == 0;
}

static __device__ __forceinline__ void
h5twin_gpu_load_words(uint32_t words[4], const uint32_t *src)
{
    const uint4 all = *reinterpret_cast<const uint4 *>(src);
    words[0] = all.x;
    words[1] = all.y;
    words[2] = all.z;
    words[3] = all.w;
}

static __device__ __forceinline__ void
h5twin_gpu_store_words(uint32_t *dst, const uint32_t words[4])
{
    uint4 all;
    all.x = words[0];
    all.y = words[1];
    all.z = words[2];
    all.w = words[3];
    *reinterpret_cast<uint4 *>(dst) = all;
}

static __device__ __forceinline__ void
h5twin_gpu_load_words(uint64_t words[2], const uint64_t *src)
{
    const uint4 all = *reinterpret_cast<const uint4 *>(src);
    words[0] = (uint64_t)all.y << 32 | all.x;
    words[1] = (uint64_t)all.w << 32 | all.z;
}

static __device__ __forceinline__ void
h5twin_gpu_store_words(uint64_t *dst, const uint64_t words[2])
{
    uint4 all;
    all.x = (uint32_t)words[0];
    all.y = (uint32_t)(words[0] >> 32);
    all.z = (uint32_t)words[1];
    all.w = (uint32_t)(words[1] >> 32);
    *reinterpret_cast<uint4 *>(dst) = all;
}

/* Four neighbours from number i on; zeros behind `count`. is_aligned: whether number 0 is. */
template <typename word>
static __device__ __forceinline__ void
h5twin_gpu_load_four(word four[4], const word *all, uint64_t i, uint64_t count, bool is_aligned)
{
    constexpr uint32_t loaded = 16 / sizeof(word);
    if (is_aligned && i % loaded == 0 && i + 4 <= count) {
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < 4; k += loaded) {
            h5twin_gpu_load_words(four + k, all + i + k);
        }
        return;
    }
    H5TWIN_UNROLL
    for (uint32_t k = 0; k < 4; k++) {
        four[k] = i + k < count ? all[i + k] : (word)0;
    }
}

template <typename word>
static __device__ __forceinline__ void
h5twin_gpu_store_four(word *all, const word four[4], uint64_t i, uint64_t count, bool is_aligned)
{
    constexpr uint32_t stored = 16 / sizeof(word);
    if (is_aligned && i % stored == 0 && i + 4 <= count) {
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < 4; k += stored) {
            h5twin_gpu_store_words(all + i + k, four + k);
        }
        return;
    }
    H5TWIN_UNROLL
    for (uint32_t k = 0; k < 4; k++) {
        if (i + k < count) {
            all[i + k] = four[k];
        }
    }
}

#endif
