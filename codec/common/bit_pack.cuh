/* SPDX-License-Identifier: BSD-3-Clause
 * bit_pack.cuh: strings of bits of bit_pack.h on a GPU: each lane makes whole words of one, so that
 * nothing is combined by atomics. */
#ifndef H5TWIN_COMMON_BIT_PACK_CUH
#define H5TWIN_COMMON_BIT_PACK_CUH

#include "gpu.cuh"

#include <stdint.h>

/* For positions below 4096 in a string of fields of width (1..64) bits: position / width is
 * position * reciprocal >> 18, exactly. */
static __device__ __forceinline__ uint32_t
h5twin_gpu_width_reciprocal(uint32_t width)
{
    return ((1u << 18) + width - 1) / width;
}

static __device__ __forceinline__ uint32_t
h5twin_gpu_field_at(uint32_t position, uint32_t reciprocal)
{
    return (position * reciprocal) >> 18;
}

/* 32 bits of the string of `count` fields, each below 2^width, from bit `skip` of field `at` on;
 * behind the last field is 0. */
template <typename word>
static __device__ __forceinline__ uint32_t
h5twin_gpu_collect_bits(const word *fields, uint32_t count, uint32_t width, uint32_t at,
                        uint32_t skip)
{
    uint32_t bits = (uint32_t)(fields[at] >> skip);
    for (uint32_t have = width - skip; have < 32 && ++at < count; have += width) {
        bits |= (uint32_t)fields[at] << have;
    }
    return bits;
}

/* The lane's strings of `count` codes of width bits, 128 / count at most, each code below 2^width,
 * as one of 128 bits. */
static __device__ __forceinline__ void
h5twin_gpu_join_codes(uint64_t joined[2], const uint32_t codes[4], uint32_t width)
{
    const uint64_t low = codes[0] | (uint64_t)codes[1] << width;
    const uint64_t high = codes[2] | (uint64_t)codes[3] << width;
    joined[0] = low | (high << width) << width;
    joined[1] = high >> (64 - 2 * width);
}

static __device__ __forceinline__ void
h5twin_gpu_join_codes(uint64_t joined[2], const uint64_t codes[2], uint32_t width)
{
    joined[0] = codes[0] | (codes[1] << width / 2) << (width - width / 2);
    joined[1] = codes[1] >> (64 - width);
}

/* Strings of `bits` (32..128) bits, one of each lane, one behind the other from bit `offset`
 * (0..31) of dst on: all words that hold nothing else. Each is made of two strings at most, in the
 * lane of the later one. Called by a warp. */
static __device__ __forceinline__ void
h5twin_gpu_pack_strings(uint32_t *dst, uint32_t offset, const uint64_t string[2], uint32_t bits)
{
    const uint32_t begin = offset + bits * (threadIdx.x % 32u), skip = begin % 32;
    const uint32_t from = bits - 32; /* the last 32 bits of the string */
    const uint64_t last = from >= 64  ? string[1] >> (from - 64)
                          : from == 0 ? string[0]
                                      : string[0] >> from | string[1] << 1 << (63 - from);
    const uint32_t words[5] = {__shfl_up_sync(H5TWIN_ALL_LANES, (uint32_t)last, 1),
                               (uint32_t)string[0], (uint32_t)(string[0] >> 32),
                               (uint32_t)string[1], (uint32_t)(string[1] >> 32)};
    const uint32_t count = (skip + bits) / 32; /* 1..4; the next lane has the rest */
    dst += begin / 32;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        if (i < count && (i != 0 || begin >= 32 || begin == 0)) {
            dst[i] = __funnelshift_l(words[i], words[i + 1], skip);
        }
    }
}

#endif
