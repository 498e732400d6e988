/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c.cuh: CRC-32C of messages on a GPU, summed from anywhere by whoever has the bytes at hand.
 *
 * A word at byte p of a message counts as word * x^(-8 p), modulo the polynomial: known without the
 * message's size, so encoders add up what they write. Sums over GF(2) have no order: parts are
 * added to the message's sum by atomicXor. The CRC is the sum, with the start value, times x^(8
 * size).
 *
 * A warp takes lines of 16 bytes, and folds them: 1 + x^-1040 + ... (H5TWIN_CRC_FOLDS, in lines) is
 * a multiple of the polynomial, so a line counts as itself added to five later ones, and no product
 * is needed until 256 lines are left. Those are summed as rows of 32 words, from the last row to
 * the first; one step is a word times x^(-32 * 32), plus the next. The product takes seven
 * shuffles: the lanes of a warp hold the products of 32 values of five bits each. */
#ifndef H5TWIN_COMMON_CRC32C_CUH
#define H5TWIN_COMMON_CRC32C_CUH

#include "crc32c_core.h"
#include "gpu.cuh"

#define H5TWIN_CRC_FIELDS      7u  /* of five bits, in a word */
#define H5TWIN_CRC_SIZE_BITS   40u /* messages are shorter than 2^40 bytes */
#define H5TWIN_CRC_TABLE_WORDS ((H5TWIN_CRC_SIZE_BITS + 1u + H5TWIN_CRC_FIELDS) * 32u)
#define H5TWIN_CRC_PERIOD      UINT64_C(0x7FFFFFFF) /* x^period is 1, so is x^(8 * period) */

/* Device memory, filled by h5twin_crc_make_tables. A warp multiplies a word that all its lanes have
 * by a power at once: bit number `lane` of the word, x^(31 - lane), is the lane's. */
struct h5twin_crc_tables {
    uint32_t powers[H5TWIN_CRC_SIZE_BITS][32]; /* x^(31 - lane) * x^(-8 * 2^bit) */
    uint32_t lanes[32];                        /* x^(-32 * lane) */
    uint32_t products[H5TWIN_CRC_FIELDS][32];  /* (value << 5 * field) * x^(-32 * 32) */
};

/* What the tables are made of; computed by the host once per call. */
struct h5twin_crc_seeds {
    uint32_t powers[H5TWIN_CRC_SIZE_BITS]; /* x^(-8 * 2^bit) */
    uint32_t lanes[32];
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

/* Words number first, first + step, ... of the tables. */
static __device__ __forceinline__ void
h5twin_crc_make_tables(struct h5twin_crc_tables *tables, const struct h5twin_crc_seeds *seeds,
                       uint32_t first, uint32_t step)
{
    for (uint32_t at = first; at < H5TWIN_CRC_TABLE_WORDS; at += step) {
        const uint32_t lane = at % 32u, bit = at / 32u;
        if (bit == H5TWIN_CRC_SIZE_BITS) {
            tables->lanes[lane] = seeds->lanes[lane];
        } else if (bit > H5TWIN_CRC_SIZE_BITS) {
            const uint32_t field = bit - H5TWIN_CRC_SIZE_BITS - 1;
            tables->products[field][lane] =
                h5twin_crc32c_multiply(lane << 5 * field, seeds->powers[7]);
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

/* ---- lines ---- */

/* Lines that are left after folding, and those of shared memory that it takes: the first 32 twice,
 * so that a warp's lines lie side by side wherever they begin. */
#define H5TWIN_CRC_ROUND      256u
#define H5TWIN_CRC_RING_LINES (H5TWIN_CRC_ROUND + 32u)
#define H5TWIN_CRC_STEP       64u /* lines that a warp folds at once; none depends on another */
#define H5TWIN_CRC_TERMS      5u
/* x^(-128 d) for each of these add up to 1. All are above H5TWIN_CRC_STEP, and at most a round. */
#define H5TWIN_CRC_FOLDS                                                                           \
    {                                                                                              \
        65u, 155u, 170u, 195u, 209u                                                                \
    }

static __device__ __forceinline__ uint4
h5twin_crc_plus(uint4 a, uint4 b)
{
    return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

/* The bytes of a word at `at` that lie in [begin, end). */
static __device__ __forceinline__ uint32_t
h5twin_crc_mask(uint32_t at, uint32_t begin, uint32_t end)
{
    const uint32_t before = begin > at ? begin - at : 0, within = end > at ? end - at : 0;
    const uint32_t high = within >= 4 ? 0xFFFFFFFFu : (1u << 8 * within) - 1u;
    return before >= 4 ? 0u : high & 0xFFFFFFFFu << 8 * before;
}

/* The line at byte `at`; bytes outside [begin, end) are 0. */
static __device__ __forceinline__ uint4
h5twin_crc_line(const uint8_t *lines, uint32_t at, uint32_t begin, uint32_t end)
{
    if (at >= end) {
        return make_uint4(0, 0, 0, 0);
    }
    uint4 v = h5twin_gpu_load128(lines + at);
    if (at < begin || end - at < 16) {
        v.x &= h5twin_crc_mask(at, begin, end);
        v.y &= h5twin_crc_mask(at + 4, begin, end);
        v.z &= h5twin_crc_mask(at + 8, begin, end);
        v.w &= h5twin_crc_mask(at + 12, begin, end);
    }
    return v;
}

/* Line number `first` + lane of a round, at byte `at`, and the lines before it that are folded into
 * it. In the last round those of its own are not: they are what is left. */
template <bool is_last>
static __device__ __forceinline__ uint4
h5twin_crc_fold(const uint4 *ring, uint32_t first, const uint8_t *lines, uint32_t at,
                uint32_t begin, uint32_t end)
{
    constexpr uint32_t folds[H5TWIN_CRC_TERMS] = H5TWIN_CRC_FOLDS;
    const uint32_t lane = threadIdx.x % 32u;
    uint4 v = h5twin_crc_line(lines, at, begin, end);
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < H5TWIN_CRC_TERMS; i++) {
        const uint32_t fold = folds[i];
        if (!is_last || first + lane < fold) {
            v = h5twin_crc_plus(v, ring[(first - fold) % H5TWIN_CRC_ROUND + lane]);
        }
    }
    return v;
}

template <bool is_last>
static __device__ __forceinline__ void
h5twin_crc_fold_round(uint4 *ring, const uint8_t *lines, uint32_t at, uint32_t begin, uint32_t end)
{
    const uint32_t lane = threadIdx.x % 32u;
    H5TWIN_UNROLL
    for (uint32_t first = 0; first < H5TWIN_CRC_ROUND; first += H5TWIN_CRC_STEP) {
        const uint32_t own = at + 16 * (first + lane);
        const uint4 low = h5twin_crc_fold<is_last>(ring, first, lines, own, begin, end);
        const uint4 high =
            h5twin_crc_fold<is_last>(ring, first + 32, lines, own + 16 * 32, begin, end);
        __syncwarp(); /* what is overwritten has been read */
        ring[first + lane] = low;
        ring[first + 32 + lane] = high;
        if (first == 0 && !is_last) {
            ring[H5TWIN_CRC_ROUND + lane] = low;
        }
        __syncwarp();
    }
}

/* Each lane's word times x^(-32 * 32); all 32 lanes call. Shuffles look at five bits of a lane's
 * number. */
static __device__ __forceinline__ uint32_t
h5twin_crc_times_row(const uint32_t products[H5TWIN_CRC_FIELDS], uint32_t word)
{
    uint32_t sum = 0;
    H5TWIN_UNROLL
    for (uint32_t field = 0; field < H5TWIN_CRC_FIELDS; field++) {
        sum ^= __shfl_sync(H5TWIN_ALL_LANES, products[field], (int)(word >> 5 * field));
    }
    return sum;
}

/* Add bytes [begin, end), at least one, of lines to *sum: shared or device memory on 16 bytes, that
 * is byte `position` of the message; begin is below 16. ring: shared memory. Called by a whole
 * warp, which sees the lines. */
static __device__ __forceinline__ void
h5twin_crc_add(uint32_t *sum, const struct h5twin_crc_tables *tables, uint64_t position,
               const uint8_t *lines, uint32_t begin, uint32_t end, uint4 *ring)
{
    const uint32_t lane = threadIdx.x % 32u, round_bytes = 16 * H5TWIN_CRC_ROUND;
    uint32_t at = 0, rows = (end + 127) / 128;
    __syncwarp(); /* the call before is done with the ring */
    if (end > round_bytes) {
        rows = round_bytes / 128;
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < H5TWIN_CRC_RING_LINES; i += 32) {
            ring[i + lane] = make_uint4(0, 0, 0, 0);
        }
        __syncwarp();
        for (; at + round_bytes < end; at += round_bytes) {
            h5twin_crc_fold_round<false>(ring, lines, at, begin, end);
        }
        h5twin_crc_fold_round<true>(ring, lines, at, begin, end);
    } else {
        for (uint32_t i = lane; i < 8 * rows; i += 32) {
            ring[i] = h5twin_crc_line(lines, 16 * i, begin, end);
        }
        __syncwarp();
    }
    const uint32_t *const words = reinterpret_cast<const uint32_t *>(ring) + lane;
    uint32_t products[H5TWIN_CRC_FIELDS];
    H5TWIN_UNROLL
    for (uint32_t field = 0; field < H5TWIN_CRC_FIELDS; field++) {
        products[field] = tables->products[field][lane];
    }
    uint32_t state = words[32 * (rows - 1)];
    for (uint32_t row = rows - 1; row-- != 0;) {
        state = h5twin_crc_times_row(products, state) ^ words[32 * row];
    }
    state = __reduce_xor_sync(H5TWIN_ALL_LANES, h5twin_crc32c_multiply(state, tables->lanes[lane]));
    state = h5twin_crc_back(tables, state, position + at);
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
