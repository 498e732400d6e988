/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_group.cuh: a warp codes one group of ndzip: words of either width, heads, columns.
 *
 * Lane l holds code l of a group, and code 32 + l too where words have 64 bits. Bits are counted
 * from the top, as in FORMAT.md: a group is a square of bits, and columns are its rows transposed.
 * A square of 64 is four of 32. */
#ifndef H5TWIN_NDZIP_GROUP_CUH
#define H5TWIN_NDZIP_GROUP_CUH

#include "../common/gpu.cuh"
#include "ndzip_core.h"

/* Of a word: its bits, how many words of a group a lane holds, and groups in a whole block. */
#define WORD_BITS(word)    (8u * (uint32_t)sizeof(word))
#define HALVES(word)       ((uint32_t)sizeof(word) / 4u)
#define BLOCK_GROUPS(word) (NDZIP_BLOCK_ELEMENTS / WORD_BITS(word))

/* ---- words of either width ---- */

static __device__ __forceinline__ uint32_t
rotate_left(uint32_t value, unsigned count)
{
    return h5twin_rotate_left32(value, count);
}

static __device__ __forceinline__ uint64_t
rotate_left(uint64_t value, unsigned count)
{
    return h5twin_rotate_left64(value, count);
}

static __device__ __forceinline__ uint32_t
map(uint32_t residual, enum h5twin_ndzip_mapping mapping)
{
    return h5twin_ndzip_map32(residual, mapping);
}

static __device__ __forceinline__ uint64_t
map(uint64_t residual, enum h5twin_ndzip_mapping mapping)
{
    return h5twin_ndzip_map64(residual, mapping);
}

static __device__ __forceinline__ uint32_t
unmap(uint32_t code, enum h5twin_ndzip_mapping mapping)
{
    return h5twin_ndzip_unmap32(code, mapping);
}

static __device__ __forceinline__ uint64_t
unmap(uint64_t code, enum h5twin_ndzip_mapping mapping)
{
    return h5twin_ndzip_unmap64(code, mapping);
}

static __device__ __forceinline__ uint32_t
count_bits(uint32_t value)
{
    return h5twin_popcount32(value);
}

static __device__ __forceinline__ uint32_t
count_bits(uint64_t value)
{
    return h5twin_popcount64(value);
}

static __device__ __forceinline__ uint64_t
join(uint32_t high, uint32_t low)
{
    return ((uint64_t)high << 32) | low;
}

/* The OR of all lanes' words. */
static __device__ __forceinline__ uint32_t
warp_or(uint32_t value)
{
    return __reduce_or_sync(H5TWIN_ALL_LANES, value);
}

static __device__ __forceinline__ uint64_t
warp_or(uint64_t value)
{
    const uint32_t high = __reduce_or_sync(H5TWIN_ALL_LANES, (uint32_t)(value >> 32));
    return join(high, __reduce_or_sync(H5TWIN_ALL_LANES, (uint32_t)value));
}

/* ---- transposition ---- */

/* 32 x 32 bits, a row per lane: five steps swap squares of 16, 8, 4, 2 and 1 bits off the
 * diagonal. Its own inverse. */
static __device__ __forceinline__ uint32_t
transpose(uint32_t row)
{
    const uint32_t lane = threadIdx.x % 32u;
    uint32_t other = __shfl_xor_sync(H5TWIN_ALL_LANES, row, 16);
    row = __byte_perm(row, other, (lane & 16u) == 0 ? 0x3276u : 0x5410u);
    other = __shfl_xor_sync(H5TWIN_ALL_LANES, row, 8);
    row = __byte_perm(row, other, (lane & 8u) == 0 ? 0x3715u : 0x6240u);
    H5TWIN_UNROLL
    for (uint32_t step = 4; step > 0; step /= 2) {
        /* The upper bits of each pair of squares, which a row of the upper squares keeps. */
        const uint32_t upper = 0xFFFFFFFFu / ((1u << step) + 1u) << step;
        const bool is_upper = (lane & step) == 0;
        const uint32_t kept = is_upper ? upper : ~upper;
        other = __shfl_xor_sync(H5TWIN_ALL_LANES, row, (int)step);
        other = __funnelshift_r(other, other, is_upper ? step : 32u - step);
        row = (row & kept) | (other & ~kept);
    }
    return row;
}

/* ---- columns ---- */

/* Whether the head has this column, and how many it has before it. */
template <typename word>
static __device__ __forceinline__ bool
find_column(word head, uint32_t column, uint32_t *before)
{
    const word from_top = head >> (WORD_BITS(word) - 1u - column);
    *before = count_bits((word)(from_top >> 1));
    return (from_top & 1u) != 0;
}

/* Write the nonzero columns of a group at dst. */
static __device__ __forceinline__ void
store_columns(uint32_t *dst, const uint32_t codes[1], uint32_t head)
{
    const uint32_t column = transpose(codes[0]);
    uint32_t before;
    if (find_column(head, threadIdx.x % 32u, &before)) {
        dst[before] = column;
    }
}

static __device__ __forceinline__ void
store_columns(uint64_t *dst, const uint64_t codes[2], uint64_t head)
{
    const uint32_t lane = threadIdx.x % 32u;
    uint32_t before;
    if ((head >> 32) != 0) {
        const uint32_t high = transpose((uint32_t)(codes[0] >> 32));
        const uint32_t low = transpose((uint32_t)(codes[1] >> 32));
        if (find_column(head, lane, &before)) {
            dst[before] = join(high, low);
        }
    }
    if ((uint32_t)head != 0) {
        const uint32_t high = transpose((uint32_t)codes[0]);
        const uint32_t low = transpose((uint32_t)codes[1]);
        if (find_column(head, 32u + lane, &before)) {
            dst[before] = join(high, low);
        }
    }
}

/* Read a group's columns, of those not there 0. False in lanes that met a stored 0. */
template <typename word>
static __device__ __forceinline__ bool
load_columns(word columns[HALVES(word)], const word *src, word head)
{
    bool good = true;
    H5TWIN_UNROLL
    for (uint32_t half = 0; half < HALVES(word); half++) {
        uint32_t before;
        columns[half] = 0;
        if (find_column(head, 32u * half + threadIdx.x % 32u, &before)) {
            columns[half] = src[before];
            good = good && columns[half] != 0;
        }
    }
    return good;
}

/* The bits of a column that belong to codes 32 half .. 32 half + 31. */
static __device__ __forceinline__ uint32_t
half_of(uint32_t column, uint32_t)
{
    return column;
}

static __device__ __forceinline__ uint32_t
half_of(uint64_t column, uint32_t half)
{
    return half == 0 ? (uint32_t)(column >> 32) : (uint32_t)column;
}

/* One of those codes per lane. head tells which columns are not 0. */
static __device__ __forceinline__ uint32_t
code_of(const uint32_t halves[1], uint32_t head)
{
    return head == 0 ? 0u : transpose(halves[0]);
}

static __device__ __forceinline__ uint64_t
code_of(const uint32_t halves[2], uint64_t head)
{
    const uint32_t high = (head >> 32) == 0 ? 0u : transpose(halves[0]);
    const uint32_t low = (uint32_t)head == 0 ? 0u : transpose(halves[1]);
    return join(high, low);
}

#endif
