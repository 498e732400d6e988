/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_words.cuh: words to SLEEK's codes and back, by lanes and warps. */
#ifndef H5TWIN_SLEEK_WORDS_CUH
#define H5TWIN_SLEEK_WORDS_CUH

#include "../common/block_rows.cuh"
#include "sleek_core.h"

/* ---- words to codes and back; a bound of 0 is lossless ---- */

static __device__ __forceinline__ uint32_t
code_of(uint32_t word, uint32_t bound)
{
    return bound == 0 ? h5twin_sleek_lossless_code32(word) : h5twin_sleek_lossy_code32(word, bound);
}

static __device__ __forceinline__ uint64_t
code_of(uint64_t word, uint32_t bound)
{
    return bound == 0 ? h5twin_sleek_lossless_code64(word) : h5twin_sleek_lossy_code64(word, bound);
}

static __device__ __forceinline__ uint32_t
word_of(uint32_t code, uint32_t bound)
{
    return bound == 0 ? h5twin_sleek_lossless_word32(code) : h5twin_sleek_lossy_word32(code, bound);
}

static __device__ __forceinline__ uint64_t
word_of(uint64_t code, uint32_t bound)
{
    return bound == 0 ? h5twin_sleek_lossless_word64(code) : h5twin_sleek_lossy_word64(code, bound);
}

/* The lane's four (two) words. The last parameter only says which these are. */
template <typename word>
static __device__ __forceinline__ uint4
codes_of(uint4 v, uint32_t bound, word)
{
    word words[16 / sizeof(word)];
    h5twin_row_split(words, v);
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < 16 / sizeof(word); i++) {
        words[i] = code_of(words[i], bound);
    }
    return h5twin_row_join(words);
}

/* Bit length of the largest code of the warp. */
static __device__ __forceinline__ uint32_t
width_of(uint4 v, uint32_t)
{
    return h5twin_bit_length32(__reduce_or_sync(H5TWIN_ALL_LANES, v.x | v.y | v.z | v.w));
}

static __device__ __forceinline__ uint32_t
width_of(uint4 v, uint64_t)
{
    const uint32_t low = __reduce_or_sync(H5TWIN_ALL_LANES, v.x | v.z);
    const uint32_t high = __reduce_or_sync(H5TWIN_ALL_LANES, v.y | v.w);
    return h5twin_bit_length64(h5twin_join64(low, high));
}

#endif
