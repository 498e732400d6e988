/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c.cuh: CRC-32C of many messages at once on a GPU.
 *
 * A block of threads takes a piece; thread t the words t, t + 256, ... of it, so loads coalesce.
 * One step is register times x^(32 * 256) plus a word; the product comes from four tables of 256
 * entries in shared memory, made anew by each block (40 instructions an entry and thread). The
 * threads' registers, the pieces and the start value are put together by crc32c_core.h's formulas.
 * Sums over GF(2) have no order, so pieces are added to the message's sum by atomicXor. */
#ifndef H5TWIN_COMMON_CRC32C_CUH
#define H5TWIN_COMMON_CRC32C_CUH

#include "crc32c_core.h"
#include "gpu.cuh"

#define H5TWIN_CRC_THREADS     256u
#define H5TWIN_CRC_PIECE_BYTES 131072u /* 128 words a thread: tables are 1/4 of the work */

/* Constants, computed by the host once per launch. */
struct h5twin_crc_powers {
    uint32_t table[4];   /* x^(32 * 256) times x^(24 - 8 * byte) */
    uint32_t low[16];    /* x^(32 * i) */
    uint32_t high[17];   /* x^(32 * 16 * i) */
    uint32_t binary[64]; /* x^(8 * 2^i) */
};

static inline struct h5twin_crc_powers
h5twin_crc_powers_make(void)
{
    struct h5twin_crc_powers powers;
    for (uint32_t byte = 0; byte < 4; byte++) {
        powers.table[byte] = h5twin_crc32c_power(32 * H5TWIN_CRC_THREADS + 24 - 8 * byte);
    }
    for (uint32_t i = 0; i < 16; i++) {
        powers.low[i] = h5twin_crc32c_power(32 * i);
    }
    for (uint32_t i = 0; i < 17; i++) {
        powers.high[i] = h5twin_crc32c_power(32 * 16 * i);
    }
    powers.binary[0] = h5twin_crc32c_power(8);
    for (uint32_t i = 1; i < 64; i++) {
        powers.binary[i] = h5twin_crc32c_multiply(powers.binary[i - 1], powers.binary[i - 1]);
    }
    return powers;
}

/* x^(8 * byte_count). Called by all 32 lanes of a warp with one count; all get the result. */
static __device__ __forceinline__ uint32_t
h5twin_crc_shift(const struct h5twin_crc_powers *powers, uint64_t byte_count)
{
    const uint32_t lane = threadIdx.x % 32u;
    uint32_t product = ((byte_count >> lane) & 1u) != 0 ? powers->binary[lane] : H5TWIN_CRC32C_ONE;
    if (((byte_count >> (lane + 32)) & 1u) != 0) {
        product = h5twin_crc32c_multiply(product, powers->binary[lane + 32]);
    }
    for (int delta = 16; delta > 0; delta /= 2) {
        product =
            h5twin_crc32c_multiply(product, __shfl_xor_sync(H5TWIN_ALL_LANES, product, delta));
    }
    return product;
}

/* Entry `entry` of each table: the byte, at its place in the register, times x^(32 * 256). */
static __device__ __forceinline__ void
h5twin_crc_make_tables(uint32_t (*tables)[256], const struct h5twin_crc_powers *powers,
                       uint32_t entry)
{
    H5TWIN_UNROLL
    for (uint32_t byte = 0; byte < 4; byte++) {
        uint32_t term = powers->table[byte], sum = 0;
        for (uint32_t bit = 0; bit < 8; bit++) {
            sum ^= term & (0u - ((entry >> (7 - bit)) & 1u));
            term = h5twin_crc32c_times_x(term);
        }
        tables[byte][entry] = sum;
    }
}

/* Add the register of a piece, times the shift over what follows it in the message, to *sum. The
 * piece is word_count words: word_at(i) is called once for each, and may do more with it. `after`:
 * bytes of the message behind the piece. Called by 256 threads. Shared memory: 4 KiB + 32 bytes. */
template <typename function>
static __device__ __forceinline__ void
h5twin_crc_add_piece(uint32_t *sum, const struct h5twin_crc_powers *powers, uint32_t word_count,
                     const function &word_at, uint64_t after)
{
    H5TWIN_SHARED(uint32_t, table_words, 4 * 256);
    H5TWIN_SHARED(uint32_t, parts, H5TWIN_CRC_THREADS / 32);
    uint32_t(*const tables)[256] = reinterpret_cast<uint32_t(*)[256]>(table_words);
    const uint32_t thread = threadIdx.x;
    h5twin_crc_make_tables(tables, powers, thread);
    __syncthreads();
    /* The piece as if zeros came before it, which change nothing: whole rows of 256 words. */
    const uint32_t rows = (word_count + H5TWIN_CRC_THREADS - 1) / H5TWIN_CRC_THREADS;
    const uint32_t padding = rows * H5TWIN_CRC_THREADS - word_count;
    uint32_t state = 0;
    for (uint32_t at = thread; at < rows * H5TWIN_CRC_THREADS; at += H5TWIN_CRC_THREADS) {
        const uint32_t word = at >= padding ? word_at(at - padding) : 0u;
        state = tables[0][state & 0xFFu] ^ tables[1][(state >> 8) & 0xFFu] ^
                tables[2][(state >> 16) & 0xFFu] ^ tables[3][state >> 24] ^ word;
    }
    const uint32_t behind = H5TWIN_CRC_THREADS - thread; /* words, this one's x^32 among them */
    state = h5twin_crc32c_multiply(state, powers->low[behind % 16]);
    state = h5twin_crc32c_multiply(state, powers->high[behind / 16]);
    for (int delta = 16; delta > 0; delta /= 2) {
        state ^= __shfl_xor_sync(H5TWIN_ALL_LANES, state, delta);
    }
    if (thread % 32u == 0) {
        parts[thread / 32u] = state;
    }
    __syncthreads();
    if (thread < 32) {
        const uint32_t shift = h5twin_crc_shift(powers, after);
        if (thread == 0) {
            for (uint32_t i = 1; i < H5TWIN_CRC_THREADS / 32; i++) {
                state ^= parts[i];
            }
            atomicXor(sum, h5twin_crc32c_multiply(state, shift));
        }
    }
}

/* The CRC of a message of `size` bytes from the sum over its whole words; tail: its last size % 4
 * bytes. Called by all 32 lanes of a warp; all get the result. */
static __device__ __forceinline__ uint32_t
h5twin_crc_finish(const struct h5twin_crc_powers *powers, uint32_t sum, const uint8_t *tail,
                  uint64_t size)
{
    const uint32_t start = h5twin_crc32c_multiply(0xFFFFFFFFu, h5twin_crc_shift(powers, size));
    uint32_t state = 0;
    for (uint32_t i = 0; i < size % 4; i++) {
        state = h5twin_crc32c_byte(state, tail[i]);
    }
    return ~(sum ^ start ^ state);
}

#endif
