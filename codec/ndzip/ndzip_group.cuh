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

/* Have the compiler keep a value in a register: it can neither make it anew nor carry what it was
 * made from. */
static __device__ __forceinline__ void
hide(uint32_t &value)
{
#ifndef H5TWIN_SIMT
    asm volatile("" : "+r"(value));
#else
    (void)value;
#endif
}

static __device__ __forceinline__ void
hide(uint64_t &value)
{
#ifndef H5TWIN_SIMT
    asm volatile("" : "+l"(value));
#else
    (void)value;
#endif
}

/* __byte_perm of selectors that are known to be right: it would mask them each time. */
static __device__ __forceinline__ uint32_t
select_bytes(uint32_t low, uint32_t high, uint32_t selectors)
{
#ifndef H5TWIN_SIMT
    uint32_t selected;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(selected) : "r"(low), "r"(high), "r"(selectors));
    return selected;
#else
    return __byte_perm(low, high, selectors);
#endif
}

/* What a lane does in every group, in registers: made anew it would be most of the work. */
struct ndzip_lane {
    /* transpose(): of two rows' bytes in the steps of 16 and 8 bits; in those of 4, 2 and 1 bits
     * how far the other row turns, and which bits stay. */
    uint32_t bytes[2], turns[3], kept[3];
    uint32_t column; /* its bit in a head */
};

static __device__ __forceinline__ struct ndzip_lane
make_lane(void)
{
    const uint32_t number = threadIdx.x % 32u;
    struct ndzip_lane lane;
    lane.bytes[0] = (number & 16u) == 0 ? 0x3276u : 0x5410u;
    lane.bytes[1] = (number & 8u) == 0 ? 0x3715u : 0x6240u;
    hide(lane.bytes[0]);
    hide(lane.bytes[1]);
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < 3; i++) {
        /* The upper bits of each pair of squares, which a row of the upper squares keeps. */
        const uint32_t bits = 4u >> i, upper = 0xFFFFFFFFu / ((1u << bits) + 1u) << bits;
        const bool is_upper = (number & bits) == 0;
        lane.turns[i] = is_upper ? bits : 32u - bits;
        lane.kept[i] = is_upper ? upper : ~upper;
        hide(lane.turns[i]);
        hide(lane.kept[i]);
    }
    lane.column = 0x80000000u >> number;
    hide(lane.column);
    return lane;
}

/* 32 x 32 bits, a row per lane: five steps swap squares of 16, 8, 4, 2 and 1 bits off the
 * diagonal. Its own inverse. */
static __device__ __forceinline__ uint32_t
transpose(uint32_t row, const struct ndzip_lane *lane)
{
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t other = __shfl_xor_sync(H5TWIN_ALL_LANES, row, (int)(16u >> i));
        row = select_bytes(row, other, lane->bytes[i]);
    }
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t other = __shfl_xor_sync(H5TWIN_ALL_LANES, row, (int)(4u >> i));
        other = __funnelshift_r(other, other, lane->turns[i]);
        row = (row & lane->kept[i]) | (other & ~lane->kept[i]);
    }
    return row;
}

/* ---- columns ---- */

/* Half number `half` of a head, or of a column: bits of columns, or codes, 32 half .. 32 half +
 * 31. */
static __device__ __forceinline__ uint32_t
half_of(uint32_t word, uint32_t)
{
    return word;
}

static __device__ __forceinline__ uint32_t
half_of(uint64_t word, uint32_t half)
{
    return half == 0 ? (uint32_t)(word >> 32) : (uint32_t)word;
}

/* Whether a half has the lane's column, and how many of its columns come before. */
static __device__ __forceinline__ bool
find_column(uint32_t half, const struct ndzip_lane *lane, uint32_t *before)
{
    *before = count_bits(half & (0u - 2u * lane->column)); /* bits above the lane's */
    return (half & lane->column) != 0;
}

/* Write the nonzero columns of a group from dst[place] on. */
static __device__ __forceinline__ void
store_columns(uint32_t *dst, uint32_t place, const uint32_t codes[1], uint32_t head,
              const struct ndzip_lane *lane)
{
    const uint32_t column = transpose(codes[0], lane);
    uint32_t before;
    if (find_column(head, lane, &before)) {
        dst[place + before] = column;
    }
}

static __device__ __forceinline__ void
store_columns(uint64_t *dst, uint32_t place, const uint64_t codes[2], uint64_t head,
              const struct ndzip_lane *lane)
{
    const uint32_t high_half = (uint32_t)(head >> 32), low_half = (uint32_t)head;
    uint32_t before;
    if (high_half != 0) {
        const uint32_t high = transpose((uint32_t)(codes[0] >> 32), lane);
        const uint32_t low = transpose((uint32_t)(codes[1] >> 32), lane);
        if (find_column(high_half, lane, &before)) {
            dst[place + before] = join(high, low);
        }
    }
    if (low_half != 0) {
        const uint32_t high = transpose((uint32_t)codes[0], lane);
        const uint32_t low = transpose((uint32_t)codes[1], lane);
        if (find_column(low_half, lane, &before)) {
            dst[place + count_bits(high_half) + before] = join(high, low);
        }
    }
}

static __device__ __forceinline__ uint32_t
any_bits(uint32_t word)
{
    return word;
}

static __device__ __forceinline__ uint32_t
any_bits(uint64_t word)
{
    return (uint32_t)(word >> 32) | (uint32_t)word;
}

/* Read a group's columns from src[place] on, of those not there 0. *least becomes 0 in lanes that
 * met a stored 0. */
template <typename word>
static __device__ __forceinline__ void
load_columns(word columns[HALVES(word)], uint32_t *least, const word *src, uint32_t place,
             word head, const struct ndzip_lane *lane)
{
    H5TWIN_UNROLL
    for (uint32_t half = 0; half < HALVES(word); half++) {
        const uint32_t bits = half_of(head, half);
        uint32_t before;
        columns[half] = 0;
        if (find_column(bits, lane, &before)) {
            columns[half] = src[place + before];
            const uint32_t any = any_bits(columns[half]);
            *least = any < *least ? any : *least;
        }
        place += count_bits(bits);
    }
}

/* A code per lane, from a half of its group's columns each. head tells which columns are not 0. */
static __device__ __forceinline__ uint32_t
code_of(const uint32_t halves[1], uint32_t head, const struct ndzip_lane *lane)
{
    return head == 0 ? 0u : transpose(halves[0], lane);
}

static __device__ __forceinline__ uint64_t
code_of(const uint32_t halves[2], uint64_t head, const struct ndzip_lane *lane)
{
    const uint32_t high = (head >> 32) == 0 ? 0u : transpose(halves[0], lane);
    const uint32_t low = (uint32_t)head == 0 ? 0u : transpose(halves[1], lane);
    return join(high, low);
}

#endif
