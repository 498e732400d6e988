/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_decode_bits.cuh: a string of bits, most significant first, read by one thread:
 * bit_stream_msb.h for a GPU, where a load of 4 aligned bytes costs as little as one of a byte.
 *
 * 96 bits are kept in registers, so that the load of the last 32 has time while the first ones are
 * used. No load touches more than the aligned words that hold the string; behind the end are
 * arbitrary bits. */
#ifndef H5TWIN_E2MC_DECODE_BITS_CUH
#define H5TWIN_E2MC_DECODE_BITS_CUH

#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/gpu.cuh"

struct e2mc_bits {
    const uint8_t *base; /* on 4 bytes; positions in bits count from here */
    uint32_t start;      /* position of the string's first bit: 0..24 */
    uint32_t last;       /* word that holds the string's end */
    uint32_t next;       /* word to load */
    uint32_t offset;     /* bits of first that are used up: 0..31 */
    uint32_t first, second, third;
};

static __device__ __forceinline__ uint32_t
e2mc_bits_load(const struct e2mc_bits *bits, uint32_t word)
{
    const uint32_t inside = word < bits->last ? word : bits->last;
    return __byte_perm(h5twin_gpu_load32(bits->base + 4 * (size_t)inside), 0, 0x0123);
}

/* The string from src to end, not empty. Nothing is loaded before e2mc_bits_seek. */
static __device__ __forceinline__ void
e2mc_bits_open(struct e2mc_bits *bits, const uint8_t *src, const uint8_t *end)
{
    const uint32_t skip = (uint32_t)(reinterpret_cast<uintptr_t>(src) & 3u);
    const uint64_t last = (uint64_t)(end - 1 - (src - skip)) / 4;
    bits->base = src - skip;
    bits->start = 8 * skip;
    bits->last = last < UINT32_MAX ? (uint32_t)last : UINT32_MAX;
    bits->next = bits->offset = bits->first = bits->second = bits->third = 0;
}

static __device__ __forceinline__ void
e2mc_bits_seek(struct e2mc_bits *bits, uint32_t position)
{
    const uint32_t word = position / 32;
    bits->offset = position % 32;
    bits->first = e2mc_bits_load(bits, word);
    bits->second = e2mc_bits_load(bits, word + 1);
    bits->third = e2mc_bits_load(bits, word + 2);
    bits->next = word + 3;
}

static __device__ __forceinline__ uint32_t
e2mc_bits_position(const struct e2mc_bits *bits)
{
    return 32 * (bits->next - 3) + bits->offset;
}

/* The next 32 bits. */
static __device__ __forceinline__ uint32_t
e2mc_bits_peek(const struct e2mc_bits *bits)
{
    return __funnelshift_l(bits->second, bits->first, bits->offset);
}

/* bit_count 0..32. */
static __device__ __forceinline__ void
e2mc_bits_skip(struct e2mc_bits *bits, uint32_t bit_count)
{
    bits->offset += bit_count;
    if (bits->offset >= 32) {
        bits->offset -= 32;
        bits->first = bits->second;
        bits->second = bits->third;
        bits->third = e2mc_bits_load(bits, bits->next++);
    }
}

/* bit_count 0..32. */
static __device__ __forceinline__ uint32_t
e2mc_bits_get(struct e2mc_bits *bits, uint32_t bit_count)
{
    const uint32_t window = e2mc_bits_peek(bits);
    e2mc_bits_skip(bits, bit_count);
    return bit_count == 0 ? 0 : window >> (32u - bit_count);
}

/* As h5twin_exp_golomb_get. */
static __device__ __forceinline__ bool
e2mc_bits_exp_golomb(struct e2mc_bits *bits, uint32_t order, uint64_t *value)
{
    const uint32_t zeros = 32u - h5twin_bit_length32(e2mc_bits_peek(bits));
    e2mc_bits_skip(bits, zeros);
    if (zeros + order > 32 || e2mc_bits_get(bits, 1) == 0) { /* 0: more than 32 zeros */
        return false;
    }
    const uint64_t rest = e2mc_bits_get(bits, zeros + order);
    *value = (UINT64_C(1) << (zeros + order)) + rest - (UINT64_C(1) << order);
    return true;
}

#endif
