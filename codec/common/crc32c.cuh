/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c.cuh: CRC-32C of messages on a GPU, summed from anywhere by whoever has the bytes at hand.
 *
 * A word at byte p of a message counts as word * x^(-8 p), modulo the polynomial: known without the
 * message's size, so encoders add up what they write. Sums over GF(2) have no order: parts are
 * added to the message's sum by atomicXor. The CRC is the sum, with the start value, times x^(8
 * size).
 *
 * A block of threads takes rows of 32 words, each warp every eighth, from the last to the first;
 * one step is a word times x^(-32 * 32 * 8), plus the next. The product takes seven shuffles: the
 * lanes of a warp hold the products of 32 values of five bits each. One warp puts the eight states
 * of each lane together in the same way, and then those of the lanes. What depends on a position
 * is a product of powers for digits of four bits, all of which are loaded at once. */
#ifndef H5TWIN_COMMON_CRC32C_CUH
#define H5TWIN_COMMON_CRC32C_CUH

#include "crc32c_core.h"
#include "gpu.cuh"

#define H5TWIN_CRC_THREADS     256u /* of a block that sums */
#define H5TWIN_CRC_WARPS       (H5TWIN_CRC_THREADS / 32u)
#define H5TWIN_CRC_STATE_LINES (H5TWIN_CRC_THREADS / 4u) /* shared memory: a word per thread */
#define H5TWIN_CRC_ROW         128u                      /* bytes */
#define H5TWIN_CRC_FIELDS      7u                        /* of five bits, in a word */
#define H5TWIN_CRC_DIGITS      10u /* of four bits: messages are shorter than 2^40 bytes */
#define H5TWIN_CRC_LOW_DIGITS  6u
#define H5TWIN_CRC_VALUES      16u
#define H5TWIN_CRC_POWERS      (H5TWIN_CRC_DIGITS * H5TWIN_CRC_VALUES)
#define H5TWIN_CRC_TABLE_ROWS  (H5TWIN_CRC_POWERS + 2u + 2u * H5TWIN_CRC_FIELDS)
#define H5TWIN_CRC_TABLE_WORDS (H5TWIN_CRC_TABLE_ROWS * 32u)
#define H5TWIN_CRC_PERIOD      UINT64_C(0x7FFFFFFF) /* x^period is 1, so is x^(8 * period) */

/* Device memory, filled by h5twin_crc_make_tables. A warp multiplies a word that all its lanes have
 * by a power at once: bit number `lane` of the word, x^(31 - lane), is the lane's. */
struct h5twin_crc_tables {
    uint32_t powers[H5TWIN_CRC_POWERS][32]; /* x^(31 - lane) * x^(-8 * value * 16^digit) */
    uint32_t above[32];                     /* x^(31 - lane) * x^32 */
    uint32_t lanes[32];                     /* x^(-32 * lane) */
    uint32_t rows[H5TWIN_CRC_FIELDS][32];   /* (lane << 5 * field) * x^(-32 * 32) */
    uint32_t rounds[H5TWIN_CRC_FIELDS][32]; /* the same, times x^(-32 * 32 * 8) */
};

/* What the tables are made of. */
struct h5twin_crc_seeds {
    uint32_t powers[H5TWIN_CRC_POWERS]; /* x^(-8 * value * 16^digit) */
    uint32_t above;
    uint32_t lanes[32];
};

static constexpr struct h5twin_crc_seeds
h5twin_crc_seeds_make(void)
{
    struct h5twin_crc_seeds seeds = {};
    uint32_t base = H5TWIN_CRC32C_ONE;
    for (unsigned bit = 0; bit < 8; bit++) {
        base = h5twin_crc32c_over_x(base);
    }
    for (unsigned digit = 0; digit < H5TWIN_CRC_DIGITS; digit++) {
        uint32_t power = H5TWIN_CRC32C_ONE;
        for (unsigned value = 0; value < H5TWIN_CRC_VALUES; value++) {
            seeds.powers[digit * H5TWIN_CRC_VALUES + value] = power;
            power = h5twin_crc32c_multiply(power, base);
        }
        base = power;
    }
    seeds.above = h5twin_crc32c_power(32);
    seeds.lanes[0] = H5TWIN_CRC32C_ONE;
    for (unsigned lane = 1; lane < 32; lane++) {
        seeds.lanes[lane] = h5twin_crc32c_multiply(seeds.lanes[lane - 1], seeds.powers[4]);
    }
    return seeds;
}

/* Found by the compiler. */
static constexpr struct h5twin_crc_seeds h5twin_crc_seeds = h5twin_crc_seeds_make();

/* x^(-8 * bytes), for one digit of bytes alone. */
static __device__ __forceinline__ uint32_t
h5twin_crc_seed(const struct h5twin_crc_seeds *seeds, uint32_t digit, uint32_t value)
{
    return seeds->powers[digit * H5TWIN_CRC_VALUES + value];
}

/* Words number first, first + step, ... of the tables. */
static __device__ __forceinline__ void
h5twin_crc_make_tables(struct h5twin_crc_tables *tables, const struct h5twin_crc_seeds *seeds,
                       uint32_t first, uint32_t step)
{
    uint32_t *const words = reinterpret_cast<uint32_t *>(tables);
    for (uint32_t at = first; at < H5TWIN_CRC_TABLE_WORDS; at += step) {
        const uint32_t lane = at % 32u, row = at / 32u;
        uint32_t word = 1u << lane, seed;
        if (row < H5TWIN_CRC_POWERS) {
            seed = seeds->powers[row];
        } else if (row == H5TWIN_CRC_POWERS) {
            seed = seeds->above;
        } else if (row == H5TWIN_CRC_POWERS + 1) {
            word = H5TWIN_CRC32C_ONE;
            seed = seeds->lanes[lane];
        } else {
            const uint32_t field = row - H5TWIN_CRC_POWERS - 2;
            const bool is_row = field < H5TWIN_CRC_FIELDS;
            word = lane << 5 * (is_row ? field : field - H5TWIN_CRC_FIELDS);
            seed = is_row ? h5twin_crc_seed(seeds, 1, H5TWIN_CRC_ROW / 16)
                          : h5twin_crc_seed(seeds, 2, H5TWIN_CRC_ROW * H5TWIN_CRC_WARPS / 256);
        }
        words[at] = h5twin_crc32c_multiply(word, seed);
    }
}

/* ---- words that all lanes of a warp have ---- */

/* The powers for the low digits of a number of bytes. */
struct h5twin_crc_way {
    uint32_t powers[H5TWIN_CRC_LOW_DIGITS];
};

static __device__ __forceinline__ struct h5twin_crc_way
h5twin_crc_find_way(const struct h5twin_crc_tables *tables, uint64_t bytes)
{
    struct h5twin_crc_way way;
    H5TWIN_UNROLL
    for (uint32_t digit = 0; digit < H5TWIN_CRC_LOW_DIGITS; digit++) {
        const uint32_t value = (uint32_t)bytes >> 4 * digit & (H5TWIN_CRC_VALUES - 1);
        way.powers[digit] = tables->powers[digit * H5TWIN_CRC_VALUES + value][threadIdx.x % 32u];
    }
    return way;
}

/* A word times another one, of which the lane has the products with its bit. */
static __device__ __forceinline__ uint32_t
h5twin_crc_times(uint32_t word, uint32_t product)
{
    const uint32_t bit = word >> (threadIdx.x % 32u) & 1u;
    return __reduce_xor_sync(H5TWIN_ALL_LANES, product & (0u - bit));
}

/* word times x^(-8 * bytes), bytes below 2^40, of which the way has the low digits. */
static __device__ __forceinline__ uint32_t
h5twin_crc_go(const struct h5twin_crc_tables *tables, const struct h5twin_crc_way *way,
              uint32_t word, uint64_t bytes)
{
    H5TWIN_UNROLL
    for (uint32_t digit = 0; digit < H5TWIN_CRC_LOW_DIGITS; digit++) {
        word = h5twin_crc_times(word, way->powers[digit]);
    }
    uint32_t row = H5TWIN_CRC_LOW_DIGITS * H5TWIN_CRC_VALUES;
    for (uint64_t rest = bytes >> 4 * H5TWIN_CRC_LOW_DIGITS; rest != 0; rest >>= 4) {
        const uint32_t value = (uint32_t)rest & (H5TWIN_CRC_VALUES - 1);
        word = h5twin_crc_times(word, tables->powers[row + value][threadIdx.x % 32u]);
        row += H5TWIN_CRC_VALUES;
    }
    return word;
}

/* Both. Called by a whole warp; its lanes have the same. */
static __device__ __forceinline__ uint32_t
h5twin_crc_back(const struct h5twin_crc_tables *tables, uint32_t word, uint64_t bytes)
{
    const struct h5twin_crc_way way = h5twin_crc_find_way(tables, bytes);
    return h5twin_crc_go(tables, &way, word, bytes);
}

/* The CRC of a message of `size` bytes from its sum. Called by a whole warp, whose lanes have the
 * same. */
static __device__ __forceinline__ uint32_t
h5twin_crc_finish(const struct h5twin_crc_tables *tables, uint32_t sum, uint64_t size)
{
    const uint64_t back = H5TWIN_CRC_PERIOD - size % H5TWIN_CRC_PERIOD;
    return ~h5twin_crc_back(tables, sum ^ 0xFFFFFFFFu, back);
}

/* ---- rows ---- */

/* The bytes of a word at `at` that lie in [begin, end). */
static __device__ __forceinline__ uint32_t
h5twin_crc_mask(uint32_t at, uint32_t begin, uint32_t end)
{
    const uint32_t before = begin > at ? begin - at : 0, within = end > at ? end - at : 0;
    const uint32_t high = within >= 4 ? 0xFFFFFFFFu : (1u << 8 * within) - 1u;
    return before >= 4 ? 0u : high & 0xFFFFFFFFu << 8 * before;
}

/* The word at byte `at`; bytes outside [begin, end) are 0. */
static __device__ __forceinline__ uint32_t
h5twin_crc_edge_word(const uint8_t *bytes, uint32_t at, uint32_t begin, uint32_t end)
{
    return at < end ? h5twin_gpu_load32(bytes + at) & h5twin_crc_mask(at, begin, end) : 0u;
}

static __device__ __forceinline__ void
h5twin_crc_load_products(uint32_t products[H5TWIN_CRC_FIELDS],
                         const uint32_t table[H5TWIN_CRC_FIELDS][32])
{
    H5TWIN_UNROLL
    for (uint32_t field = 0; field < H5TWIN_CRC_FIELDS; field++) {
        products[field] = table[field][threadIdx.x % 32u];
    }
}

/* Each lane's word times what the products are of; all 32 lanes call. Shuffles look at five bits of
 * a lane's number. */
static __device__ __forceinline__ uint32_t
h5twin_crc_times_fixed(const uint32_t products[H5TWIN_CRC_FIELDS], uint32_t word)
{
    uint32_t sum = 0;
    H5TWIN_UNROLL
    for (uint32_t field = 0; field < H5TWIN_CRC_FIELDS; field++) {
        sum ^= __shfl_sync(H5TWIN_ALL_LANES, products[field], (int)(word >> 5 * field));
    }
    return sum;
}

/* The state of this lane of a warp's rows. */
static __device__ __forceinline__ uint32_t
h5twin_crc_rows(const struct h5twin_crc_tables *tables, const uint8_t *bytes, uint32_t begin,
                uint32_t end, uint32_t row_count)
{
    constexpr uint32_t round = H5TWIN_CRC_ROW * H5TWIN_CRC_WARPS, together = 4;
    const uint32_t warp = threadIdx.x / 32u, at = 4 * threadIdx.x;
    if (row_count <= warp) {
        return 0;
    }
    uint32_t i = (row_count - 1 - warp) / H5TWIN_CRC_WARPS; /* the warp's last row */
    uint32_t state = h5twin_crc_edge_word(bytes, at + i * round, begin, end);
    if (i == 0) {
        return state;
    }
    uint32_t products[H5TWIN_CRC_FIELDS];
    h5twin_crc_load_products(products, tables->rounds);
    for (; i > together; i -= together) { /* rows that are whole; loads are under way together */
        uint32_t words[together];
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < together; k++) {
            words[k] = h5twin_gpu_load32(bytes + at + (i - 1 - k) * round);
        }
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < together; k++) {
            state = h5twin_crc_times_fixed(products, state) ^ words[k];
        }
    }
    for (; i > 1; i--) {
        state = h5twin_crc_times_fixed(products, state) ^
                h5twin_gpu_load32(bytes + at + (i - 1) * round);
    }
    return h5twin_crc_times_fixed(products, state) ^ h5twin_crc_edge_word(bytes, at, begin, end);
}

/* Bytes [begin, end), at least one, of shared or device memory on 16 bytes that is byte `position`
 * of the message; begin is below 16. Called by all H5TWIN_CRC_THREADS threads of a block, which see
 * the bytes; the last warp has what counts for the message's sum. states: a word of shared memory
 * per thread, which others may write again when that warp has met another barrier. */
static __device__ __forceinline__ uint32_t
h5twin_crc_sum(const struct h5twin_crc_tables *tables, uint64_t position, const uint8_t *bytes,
               uint32_t begin, uint32_t end, uint32_t *states)
{
    const uint32_t lane = threadIdx.x % 32u;
    const uint32_t row_count = (end + H5TWIN_CRC_ROW - 1) / H5TWIN_CRC_ROW;
    states[threadIdx.x] = h5twin_crc_rows(tables, bytes, begin, end, row_count);
    __syncthreads();
    if (threadIdx.x < H5TWIN_CRC_THREADS - 32) {
        return 0;
    }
    const struct h5twin_crc_way way = h5twin_crc_find_way(tables, position);
    const uint32_t own_power = tables->lanes[lane], above = tables->above[lane];
    uint32_t products[H5TWIN_CRC_FIELDS];
    h5twin_crc_load_products(products, tables->rows);
    uint32_t row = row_count < H5TWIN_CRC_WARPS ? row_count - 1 : H5TWIN_CRC_WARPS - 1;
    uint32_t state = states[32 * row + lane];
    while (row-- != 0) {
        state = h5twin_crc_times_fixed(products, state) ^ states[32 * row + lane];
    }
    const uint64_t product = h5twin_crc32c_product(state, own_power);
    const uint32_t low = __reduce_xor_sync(H5TWIN_ALL_LANES, (uint32_t)(product >> 31));
    const uint32_t high = __reduce_xor_sync(H5TWIN_ALL_LANES, (uint32_t)product << 1);
    return h5twin_crc_go(tables, &way, low ^ h5twin_crc_times(high, above), position);
}

/* Add that to *sum. */
static __device__ __forceinline__ void
h5twin_crc_add(uint32_t *sum, const struct h5twin_crc_tables *tables, uint64_t position,
               const uint8_t *bytes, uint32_t begin, uint32_t end, uint32_t *states)
{
    const uint32_t own = h5twin_crc_sum(tables, position, bytes, begin, end, states);
    if (threadIdx.x == H5TWIN_CRC_THREADS - 32) {
        atomicXor(sum, own);
    }
}

#endif
