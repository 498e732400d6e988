/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c.cuh: CRC-32C of messages on a GPU, summed from anywhere by whoever has the bytes at hand.
 *
 * A word at byte p of a message counts as word * x^(-8 p), modulo the polynomial: known without the
 * message's size, so encoders add up what they write. Sums over GF(2) have no order: parts are
 * added to the message's sum by atomicXor. The CRC is the sum, with the start value, times x^(8
 * size).
 *
 * A block of 256 threads takes rows of as many words, from the last row to the first; one step is a
 * register times x^(-32 * 256), plus a word. The product takes seven shuffles: the
 * lanes of a warp hold the products of 32 values of five bits each. So there is no shared memory
 * whose banks random lookups would contend for. The products are made of what a kernel's parameters
 * have, one or two by each thread, and handed to all warps. */
#ifndef H5TWIN_COMMON_CRC32C_CUH
#define H5TWIN_COMMON_CRC32C_CUH

#include "crc32c_core.h"
#include "gpu.cuh"

#define H5TWIN_CRC_FIELDS      7u   /* of five bits, in a word */
#define H5TWIN_CRC_THREADS     256u /* of a block that adds up words */
#define H5TWIN_CRC_FACTORS     2u   /* x^(-32 * 32), x^(-32 * H5TWIN_CRC_THREADS) */
#define H5TWIN_CRC_SIZE_BITS   40u  /* messages are shorter than 2^40 bytes */
#define H5TWIN_CRC_TABLE_WORDS ((H5TWIN_CRC_SIZE_BITS + 1u) * 32u)
#define H5TWIN_CRC_PERIOD      UINT64_C(0x7FFFFFFF) /* x^period is 1, so is x^(8 * period) */

/* Device memory, filled by h5twin_crc_make_tables. A warp multiplies a word that all its lanes have
 * by a power at once: bit number `lane` of the word, x^(31 - lane), is the lane's. */
struct h5twin_crc_tables {
    uint32_t powers[H5TWIN_CRC_SIZE_BITS][32]; /* x^(31 - lane) * x^(-8 * 2^bit) */
    uint32_t lanes[32];                        /* x^(-32 * lane) */
};

/* What the tables are made of; computed by the host once per call. */
struct h5twin_crc_seeds {
    uint32_t powers[H5TWIN_CRC_SIZE_BITS]; /* x^(-8 * 2^bit) */
    uint32_t lanes[32];
};

/* Each bit of a word times each factor, by fields, 0 for the bits that the last one lacks; a
 * kernel's parameter. */
struct h5twin_crc_factors {
    uint32_t bits[H5TWIN_CRC_FACTORS * H5TWIN_CRC_FIELDS][5];
};

static inline struct h5twin_crc_seeds
h5twin_crc_seeds_make(void)
{
    struct h5twin_crc_seeds seeds;
    uint32_t power = H5TWIN_CRC32C_ONE;
    for (unsigned bit = 0; bit < 8; bit++) {
        power = h5twin_crc32c_over_x(power);
    }
    for (unsigned bit = 0; bit < H5TWIN_CRC_SIZE_BITS; bit++) {
        seeds.powers[bit] = power;
        power = h5twin_crc32c_multiply(power, power);
    }
    seeds.lanes[0] = H5TWIN_CRC32C_ONE;
    for (unsigned lane = 1; lane < 32; lane++) {
        seeds.lanes[lane] = h5twin_crc32c_multiply(seeds.lanes[lane - 1], seeds.powers[2]);
    }
    return seeds;
}

static inline struct h5twin_crc_factors
h5twin_crc_factors_make(void)
{
    struct h5twin_crc_factors factors = {};
    uint32_t power = H5TWIN_CRC32C_ONE;
    for (unsigned bit = 0; bit < 32; bit++) {
        power = h5twin_crc32c_over_x(power);
    }
    for (unsigned exponent = 32, i = 0; i < H5TWIN_CRC_FACTORS; exponent *= 2) {
        if (exponent == 32 * 32 || exponent == 32 * H5TWIN_CRC_THREADS) {
            uint32_t product = power; /* x^0 is bit 31 */
            for (unsigned bit = 32; bit-- != 0; product = h5twin_crc32c_times_x(product)) {
                factors.bits[H5TWIN_CRC_FIELDS * i + bit / 5][bit % 5] = product;
            }
            i++;
        }
        power = h5twin_crc32c_multiply(power, power);
    }
    return factors;
}

/* Words number first, first + step, ... of the tables. */
static __device__ __forceinline__ void
h5twin_crc_make_tables(struct h5twin_crc_tables *tables, const struct h5twin_crc_seeds *seeds,
                       uint32_t first, uint32_t step)
{
    for (uint32_t at = first; at < H5TWIN_CRC_TABLE_WORDS; at += step) {
        const uint32_t lane = at % 32u, bit = at / 32u;
        if (bit == H5TWIN_CRC_SIZE_BITS) {
            tables->lanes[lane] = seeds->lanes[lane];
        } else {
            tables->powers[bit][lane] = h5twin_crc32c_multiply(1u << lane, seeds->powers[bit]);
        }
    }
}

/* word times x^(-8 * bytes), bytes below 2^40. Called by a whole warp; its lanes have the same. */
static __device__ __forceinline__ uint32_t
h5twin_crc_back(const struct h5twin_crc_tables *tables, uint32_t word, uint64_t bytes)
{
    const uint32_t lane = threadIdx.x % 32u;
    H5TWIN_UNROLL
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t rest = (uint32_t)(bytes >> 32 * half); rest != 0; rest &= rest - 1) {
            const uint32_t bit = 32 * half + (uint32_t)__ffs((int)rest) - 1;
            const uint32_t own = tables->powers[bit][lane] & (0u - ((word >> lane) & 1u));
            word = __reduce_xor_sync(H5TWIN_ALL_LANES, own);
        }
    }
    return word;
}

/* The products of a factor that a lane holds. */
struct h5twin_crc_products {
    uint32_t of[H5TWIN_CRC_FIELDS];
};

/* The product of a field that has this value. */
static __device__ __forceinline__ uint32_t
h5twin_crc_product(const uint32_t bits[5], uint32_t value)
{
    uint32_t product = 0;
    H5TWIN_UNROLL
    for (uint32_t bit = 0; bit < 5; bit++) {
        product ^= bits[bit] & (0u - ((value >> bit) & 1u));
    }
    return product;
}

/* The lane's, of a factor whose products lie in shared memory, those of a field together. */
static __device__ __forceinline__ struct h5twin_crc_products
h5twin_crc_take_products(const uint32_t *shared)
{
    struct h5twin_crc_products products;
    H5TWIN_UNROLL
    for (uint32_t field = 0; field < H5TWIN_CRC_FIELDS; field++) {
        products.of[field] = shared[32 * field + threadIdx.x % 32u];
    }
    return products;
}

/* Each lane's word times the factor; all 32 lanes call. Shuffles look at five bits of a lane's
 * number. */
static __device__ __forceinline__ uint32_t
h5twin_crc_times(const struct h5twin_crc_products *products, uint32_t word)
{
    uint32_t sum = 0;
    H5TWIN_UNROLL
    for (uint32_t field = 0; field < H5TWIN_CRC_FIELDS; field++) {
        sum ^= __shfl_sync(H5TWIN_ALL_LANES, products->of[field], (int)(word >> 5 * field));
    }
    return sum;
}

/* Whole words, at least one, that hold a part of a message, and what the first and the last one
 * hold beside it. */
struct h5twin_crc_words {
    uint32_t count, before, behind;
};

/* Add words that follow each other from byte `position` of the message on to *sum. word_at(i) is
 * called once for each, and may do more with it. `together`: calls before the first result is
 * needed. Called by all of 256 threads; the last warp puts the threads' sums together, so the
 * others go on. A second call needs a barrier before it. Shared memory: 2.8 KiB. */
template <uint32_t together, typename function>
static __device__ __forceinline__ void
h5twin_crc_add(uint32_t *sum, const struct h5twin_crc_factors *factors,
               const struct h5twin_crc_tables *tables, uint64_t position,
               const struct h5twin_crc_words *part, const function &word_at)
{
    const uint32_t threads = H5TWIN_CRC_THREADS, lane = threadIdx.x % 32u;
    const uint32_t factor_products = 32 * H5TWIN_CRC_FIELDS;
    H5TWIN_SHARED(uint32_t, parts, threads);
    H5TWIN_SHARED(uint32_t, shared, H5TWIN_CRC_FACTORS * factor_products);
    for (uint32_t i = threadIdx.x / 32u; i < H5TWIN_CRC_FACTORS * H5TWIN_CRC_FIELDS;
         i += threads / 32u) {
        shared[32 * i + lane] = h5twin_crc_product(factors->bits[i], lane);
    }
    __syncthreads();
    struct h5twin_crc_products products = h5twin_crc_take_products(shared + factor_products);
    const uint32_t rows = (part->count + threads - 1) / threads;
    uint32_t row = (rows + together - 1) / together * together, words[together], state = 0;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < together; i++) { /* only these rows may lack words */
        const uint32_t at = (row - 1 - i) * threads + threadIdx.x;
        words[i] = at < part->count ? word_at(at) : 0u;
        words[i] ^= at == part->count - 1 ? part->behind : 0u;
    }
    const auto add_words = [&] {
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < together; i++) {
            state = h5twin_crc_times(&products, state) ^ words[i];
        }
    };
    while (row != together) {
        add_words();
        row -= together;
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < together; i++) {
            words[i] = word_at((row - 1 - i) * threads + threadIdx.x);
        }
    }
    add_words();
    state ^= threadIdx.x == 0 ? part->before : 0u;
    parts[threadIdx.x] = state;
    __syncthreads();
    if (threadIdx.x < threads - 32u) {
        return;
    }
    products = h5twin_crc_take_products(shared);
    for (uint32_t warp = threads / 32u - 1; warp-- != 0;) {
        state = h5twin_crc_times(&products, state) ^ parts[32u * warp + lane];
    }
    state = __reduce_xor_sync(H5TWIN_ALL_LANES, h5twin_crc32c_multiply(state, tables->lanes[lane]));
    state = h5twin_crc_back(tables, state, position);
    if (lane == 0) {
        atomicXor(sum, state);
    }
}

/* The CRC of a message of `size` bytes from its sum. Called by a whole warp, whose lanes have the
 * same. */
static __device__ __forceinline__ uint32_t
h5twin_crc_finish(const struct h5twin_crc_tables *tables, uint32_t sum, uint64_t size)
{
    const uint64_t back = H5TWIN_CRC_PERIOD - size % H5TWIN_CRC_PERIOD;
    return ~h5twin_crc_back(tables, sum ^ 0xFFFFFFFFu, back);
}

#endif
