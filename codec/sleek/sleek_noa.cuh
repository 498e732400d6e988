/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_noa.cuh: SLEEK's effective bound from a chunk's range, on a GPU: sleek_bound.c's twin.
 *
 * Three passes: the range, the exponent with a test whether the values are fixed points already,
 * and the choice. The second pass over the words ends early in each block of threads once some
 * value has moved, which is at once in data that were never quantized. */
#ifndef H5TWIN_SLEEK_NOA_CUH
#define H5TWIN_SLEEK_NOA_CUH

#include "../common/block_rows.cuh"
#include "../gpu.h"
#include "sleek_bound_core.h"

#define NOA_THREADS     256u
#define NOA_PIECE_BYTES 65536u /* of one block of threads: 16 loads of 16 bytes per thread */

/* Per chunk, in scratch. Keys order numbers of either type as unsigned integers. */
struct sleek_range {
    unsigned long long min_key, max_key; /* min above max: no finite value yet */
    uint32_t exponent;
    uint32_t moved; /* bit 0: some value is no fixed point of exponent; bit 1: of exponent - 1 */
};

static __device__ __forceinline__ unsigned long long
key_of(uint32_t word)
{
    return (word >> 31) != 0 ? ~word : word | 0x80000000u;
}

static __device__ __forceinline__ unsigned long long
key_of(uint64_t word)
{
    return (word >> 63) != 0 ? ~word : word | (UINT64_C(1) << 63);
}

static __device__ __forceinline__ bool
is_finite(uint32_t word)
{
    return (word & 0x7F800000u) != 0x7F800000u;
}

static __device__ __forceinline__ bool
is_finite(uint64_t word)
{
    return (word & UINT64_C(0x7FF0000000000000)) != UINT64_C(0x7FF0000000000000);
}

static __device__ __forceinline__ bool
is_fixed(uint32_t word, uint32_t exponent)
{
    return h5twin_sleek_is_fixed32(word, exponent) != 0;
}

static __device__ __forceinline__ bool
is_fixed(uint64_t word, uint32_t exponent)
{
    return h5twin_sleek_is_fixed64(word, exponent) != 0;
}

/* As the bits of a double. */
static __device__ __forceinline__ uint64_t
number_of_key(unsigned long long key, uint32_t word_size)
{
    if (word_size == 4) {
        const uint32_t key32 = (uint32_t)key;
        return h5twin_widen_float_bits((key32 >> 31) != 0 ? key32 & 0x7FFFFFFFu : ~key32);
    }
    return (key >> 63) != 0 ? key & (UINT64_MAX >> 1) : ~key;
}

static __global__ void
sleek_range_clear_kernel(struct sleek_range *ranges, size_t chunk_count)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < chunk_count) {
        ranges[chunk].min_key = ~0ull;
        ranges[chunk].max_key = 0;
        ranges[chunk].exponent = 0;
        ranges[chunk].moved = 0;
    }
}

/* What one block of threads looks at. */
struct sleek_piece {
    size_t chunk;
    const uint8_t *src;
    uint32_t size; /* bytes, a multiple of the word size */
};

static __device__ __forceinline__ struct sleek_piece
piece_of(const struct h5twin_gpu_batch *batch, uint64_t raw_size)
{
    const uint64_t per_chunk = (raw_size + NOA_PIECE_BYTES - 1) / NOA_PIECE_BYTES;
    struct sleek_piece piece;
    piece.chunk = (size_t)(blockIdx.x / per_chunk);
    const uint64_t at = (blockIdx.x - piece.chunk * per_chunk) * NOA_PIECE_BYTES;
    piece.src = batch->d_src + piece.chunk * batch->src_stride + at;
    piece.size = raw_size - at < NOA_PIECE_BYTES ? (uint32_t)(raw_size - at) : NOA_PIECE_BYTES;
    return piece;
}

static __device__ __forceinline__ unsigned long long
smaller(unsigned long long a, unsigned long long b)
{
    return a < b ? a : b;
}

/* Shared memory: 128 bytes. The largest key is the complement of the smallest complement. */
template <typename word>
static __global__ void
__launch_bounds__(NOA_THREADS)
    sleek_range_kernel(struct h5twin_gpu_batch batch, uint64_t raw_size, struct sleek_range *ranges)
{
    H5TWIN_SHARED(unsigned long long, lows, NOA_THREADS / 32);
    H5TWIN_SHARED(unsigned long long, highs, NOA_THREADS / 32);
    const uint32_t per_vector = 16 / (uint32_t)sizeof(word);
    const struct sleek_piece piece = piece_of(&batch, raw_size);
    unsigned long long low = ~0ull, high = ~0ull;
    for (uint32_t at = 16 * threadIdx.x; at < piece.size; at += 16 * NOA_THREADS) {
        word words[per_vector];
        h5twin_row_split(words, h5twin_gpu_load128(piece.src + at));
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < per_vector; i++) {
            if (at + i * sizeof(word) < piece.size && is_finite(words[i])) {
                const unsigned long long key = key_of(words[i]);
                low = smaller(low, key);
                high = smaller(high, ~key);
            }
        }
    }
    for (int delta = 16; delta > 0; delta /= 2) {
        low = smaller(low, __shfl_xor_sync(H5TWIN_ALL_LANES, low, delta));
        high = smaller(high, __shfl_xor_sync(H5TWIN_ALL_LANES, high, delta));
    }
    if (threadIdx.x % 32u == 0) {
        lows[threadIdx.x / 32u] = low;
        highs[threadIdx.x / 32u] = high;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (uint32_t i = 1; i < NOA_THREADS / 32; i++) {
            low = smaller(low, lows[i]);
            high = smaller(high, highs[i]);
        }
        if (low != ~0ull) {
            atomicMin(&ranges[piece.chunk].min_key, low);
            atomicMax(&ranges[piece.chunk].max_key, ~high);
        }
    }
}

static __global__ void
sleek_exponent_kernel(struct sleek_range *ranges, size_t chunk_count, double factor,
                      uint32_t word_size)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= chunk_count) {
        return;
    }
    struct sleek_range *const range = &ranges[chunk];
    int log2;
    if (range->min_key <= range->max_key &&
        h5twin_sleek_log2_of_product(factor, number_of_key(range->min_key, word_size),
                                     number_of_key(range->max_key, word_size), &log2)) {
        range->exponent = h5twin_sleek_field_of_log2(log2, word_size);
    }
}

template <typename word>
static __global__ void
__launch_bounds__(NOA_THREADS)
    sleek_fixed_kernel(struct h5twin_gpu_batch batch, uint64_t raw_size, struct sleek_range *ranges)
{
    const uint32_t per_vector = 16 / (uint32_t)sizeof(word);
    const struct sleek_piece piece = piece_of(&batch, raw_size);
    struct sleek_range *const range = &ranges[piece.chunk];
    const uint32_t exponent = range->exponent;
    if (exponent <= 1) {
        return;
    }
    uint32_t moved = 0;
    for (uint32_t base = 0; base < piece.size; base += 16 * NOA_THREADS) {
        const uint32_t at = base + 16 * threadIdx.x;
        if (at < piece.size) {
            word words[per_vector];
            h5twin_row_split(words, h5twin_gpu_load128(piece.src + at));
            H5TWIN_UNROLL
            for (uint32_t i = 0; i < per_vector; i++) {
                if (at + i * sizeof(word) < piece.size) {
                    moved |= (is_fixed(words[i], exponent) ? 0u : 1u) |
                             (is_fixed(words[i], exponent - 1) ? 0u : 2u);
                }
            }
        }
        /* Not fixed one lower: the answer is the exponent, whatever else is found. */
        if (__syncthreads_or((moved & 2u) != 0)) {
            break;
        }
    }
    if (moved != 0) {
        atomicOr(&range->moved, moved);
    }
}

static __global__ void
sleek_choose_kernel(struct h5twin_gpu_batch batch, const struct sleek_range *ranges)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk < batch.chunk_count) {
        const uint32_t exponent = ranges[chunk].exponent;
        const uint32_t lower = exponent > 1 && ranges[chunk].moved == 1u ? 1u : 0u;
        batch.d_parameters[chunk] = h5twin_sleek_make_parameter(H5TWIN_NOA, exponent - lower);
    }
}

/* Write the parameter word of each chunk; false if CUDA refused. scratch: a struct sleek_range per
 * chunk. */
static inline bool
sleek_noa_refine(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch,
                 uint8_t *scratch, cudaStream_t stream)
{
    struct sleek_range *const ranges = reinterpret_cast<struct sleek_range *>(scratch);
    const size_t count = batch->chunk_count;
    const uint64_t raw_size = job->raw_size;
    const unsigned groups = (unsigned)((count + 63) / 64);
    const unsigned pieces =
        (unsigned)(count * ((raw_size + NOA_PIECE_BYTES - 1) / NOA_PIECE_BYTES));
    /* A bound of the whole range or more makes no sense of its own; 1 keeps the guarantee. */
    const double factor = job->error_bound < 1 ? job->error_bound : 1;
    H5TWIN_LAUNCH(sleek_range_clear_kernel, groups, 64, 0, stream)(ranges, count);
    if (pieces != 0 && job->word_size == 4) {
        H5TWIN_LAUNCH(sleek_range_kernel<uint32_t>, pieces, NOA_THREADS, 0, stream)
        (*batch, raw_size, ranges);
    } else if (pieces != 0) {
        H5TWIN_LAUNCH(sleek_range_kernel<uint64_t>, pieces, NOA_THREADS, 0, stream)
        (*batch, raw_size, ranges);
    }
    /* If a launch is refused, later ones find a wrong exponent, but stay within their buffers. */
    H5TWIN_LAUNCH(sleek_exponent_kernel, groups, 64, 0, stream)
    (ranges, count, factor, job->word_size);
    if (pieces != 0 && job->word_size == 4) {
        H5TWIN_LAUNCH(sleek_fixed_kernel<uint32_t>, pieces, NOA_THREADS, 0, stream)
        (*batch, raw_size, ranges);
    } else if (pieces != 0) {
        H5TWIN_LAUNCH(sleek_fixed_kernel<uint64_t>, pieces, NOA_THREADS, 0, stream)
        (*batch, raw_size, ranges);
    }
    H5TWIN_LAUNCH(sleek_choose_kernel, groups, 64, 0, stream)(*batch, ranges);
    return h5twin_gpu_accepted();
}

#endif
