/* SPDX-License-Identifier: BSD-3-Clause
 * store_word.cuh: words of any size of a codec's, from and to 64 bits. */
#ifndef H5TWIN_COMMON_STORE_WORD_CUH
#define H5TWIN_COMMON_STORE_WORD_CUH

#include "gpu.cuh"

/* Word number `index` of an array of words of 1, 2, 4 or 8 bytes that lies on a multiple of them.
 */
static __device__ __forceinline__ void
h5twin_gpu_store_word(uint8_t *words, uint64_t index, uint64_t word, uint32_t word_size)
{
    switch (word_size) {
    case 1:
        words[index] = (uint8_t)word;
        break;
    case 2:
        reinterpret_cast<uint16_t *>(words)[index] = (uint16_t)word;
        break;
    case 4:
        reinterpret_cast<uint32_t *>(words)[index] = (uint32_t)word;
        break;
    default:
        reinterpret_cast<uint64_t *>(words)[index] = word;
        break;
    }
}

static __device__ __forceinline__ uint64_t
h5twin_gpu_load_word(const uint8_t *words, uint64_t index, uint32_t word_size)
{
    switch (word_size) {
    case 1:
        return words[index];
    case 2:
        return reinterpret_cast<const uint16_t *>(words)[index];
    case 4:
        return reinterpret_cast<const uint32_t *>(words)[index];
    default:
        return reinterpret_cast<const uint64_t *>(words)[index];
    }
}

#endif
