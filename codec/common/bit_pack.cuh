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

#endif
