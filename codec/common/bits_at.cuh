/* SPDX-License-Identifier: BSD-3-Clause
 * bits_at.cuh: fields at any bit of a source that begins at any byte: bit_stream_lsb.h for many
 * threads at once.
 *
 * Loads are whole words of the 4-byte grid that hold a byte of the source at least. */
#ifndef H5TWIN_COMMON_BITS_AT_CUH
#define H5TWIN_COMMON_BITS_AT_CUH

#include "gpu.cuh"

/* The field of 0..64 bits from `bit` on, its lowest bit first; bits beyond src_size bytes are 0. */
static __device__ __forceinline__ uint64_t
h5twin_bits_at(const uint8_t *src, uint64_t src_size, uint64_t bit, uint32_t width_bits)
{
    const uint64_t end = 8 * src_size;
    if (width_bits == 0 || bit >= end) {
        return 0;
    }
    const uint32_t valid = end - bit < width_bits ? (uint32_t)(end - bit) : width_bits;
    const uint8_t *const byte = src + bit / 8;
    const uint32_t skip = (uint32_t)(reinterpret_cast<uintptr_t>(byte) & 3u);
    const uint8_t *const words = byte - skip;
    const uint32_t shift = 8 * skip + (uint32_t)(bit % 8);
    const uint32_t last = (shift + valid - 1) / 32; /* word that holds the last bit, 0..2 */
    uint64_t field = h5twin_gpu_load32(words) >> shift;
    if (last >= 1) {
        field |= (uint64_t)h5twin_gpu_load32(words + 4) << (32 - shift);
    }
    if (last >= 2) {
        field |= (uint64_t)h5twin_gpu_load32(words + 8) << 1 << (63 - shift);
    }
    return field & (UINT64_MAX >> (64 - valid));
}

#endif
