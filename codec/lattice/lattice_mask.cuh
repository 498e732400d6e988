/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_mask.cuh: which values are special, in memory: a byte for each, of which the lowest bit
 * counts, and bits of a *piece* of 16 values, as one thread takes them at once. */
#ifndef H5TWIN_LATTICE_MASK_CUH
#define H5TWIN_LATTICE_MASK_CUH

#include "lattice_batch.cuh"

#define LATTICE_PIECE 16u /* values */

/* Bytes of a mask: whole pieces, so that each mask of a batch begins at a multiple of 16 bytes. */
static __host__ __device__ __forceinline__ uint64_t
lattice_mask_size(uint64_t value_count)
{
    return (value_count + LATTICE_PIECE - 1) / LATTICE_PIECE * LATTICE_PIECE;
}

static __host__ __device__ __forceinline__ uint64_t
lattice_piece_count(uint64_t value_count)
{
    return lattice_mask_size(value_count) / LATTICE_PIECE;
}

static __device__ __forceinline__ uint8_t *
lattice_mask_of(const struct lattice_batch *all, uint64_t chunk)
{
    return all->mask + chunk * all->mask_size;
}

/* The bits of a piece that are values of an array. */
static __device__ __forceinline__ uint32_t
lattice_piece_valid(uint64_t piece, uint64_t value_count)
{
    const uint64_t begin = LATTICE_PIECE * piece;
    const uint64_t left = begin < value_count ? value_count - begin : 0;
    return left < LATTICE_PIECE ? (1u << left) - 1u : 0xFFFFu;
}

/* The bits of four bytes, the lowest one of each: a product brings them side by side. */
static __device__ __forceinline__ uint32_t
lattice_bits_of_four(uint32_t bytes)
{
    return (bytes & 0x01010101u) * 0x10204080u >> 28;
}

static __device__ __forceinline__ uint32_t
lattice_bytes_of_four(uint32_t bits)
{
    return (bits & 15u) * 0x00204081u & 0x01010101u;
}

/* Bits of a piece; the first value's is the lowest one. Those beyond the last value are of no
 * account. */
static __device__ __forceinline__ uint32_t
lattice_load_piece(const uint8_t *mask, uint64_t piece)
{
    const uint4 bytes = h5twin_gpu_load128(mask + LATTICE_PIECE * piece);
    return lattice_bits_of_four(bytes.x) | lattice_bits_of_four(bytes.y) << 4 |
           lattice_bits_of_four(bytes.z) << 8 | lattice_bits_of_four(bytes.w) << 12;
}

static __device__ __forceinline__ void
lattice_store_piece(uint8_t *mask, uint64_t piece, uint32_t bits)
{
    uint4 bytes;
    bytes.x = lattice_bytes_of_four(bits);
    bytes.y = lattice_bytes_of_four(bits >> 4);
    bytes.z = lattice_bytes_of_four(bits >> 8);
    bytes.w = lattice_bytes_of_four(bits >> 12);
    h5twin_gpu_store128(mask + LATTICE_PIECE * piece, bytes);
}

/* Bits of the 17 values that lie `lag` values before those of a piece and the one before it; before
 * the first value of all, they are 0. */
static __device__ __forceinline__ uint32_t
lattice_load_earlier(const uint8_t *mask, uint64_t piece, uint64_t lag)
{
    const uint64_t end = LATTICE_PIECE * (piece + 1);
    if (lag >= end) {
        return 0;
    }
    const uint64_t value = end - 1 - lag, last = value / LATTICE_PIECE; /* of the highest bit */
    const uint32_t low = last != 0 ? lattice_load_piece(mask, last - 1) : 0;
    const uint32_t both = lattice_load_piece(mask, last) << LATTICE_PIECE | low;
    return both >> value % LATTICE_PIECE & 0x1FFFFu;
}

#endif
