/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_gate.cuh: leave chunks to the CPU that are worth a search for flips or copies,
 * which only its encoder has. The twin of cascade_gate.c: a block of threads for each chunk, some
 * thousand words at random. Source  FORMAT.md section 12. */
#ifndef H5TWIN_CASCADE_ENCODE_GATE_CUH
#define H5TWIN_CASCADE_ENCODE_GATE_CUH

#include "cascade_batch.cuh"
#include "cascade_gate_core.h"

struct cascade_gate_batch {
    struct h5twin_gpu_batch batch;
    struct cascade_gate gate; /* but for the words */
    uint32_t looks_for_copies;
};

/* Whether a candidate for flips promises something. */
static __device__ bool
cascade_promises_flips(const struct cascade_gate *gate)
{
    H5TWIN_SHARED(uint32_t, gains, CASCADE_MOST_FLIPS); /* modulo 2^32 */
    const unsigned positions = cascade_gate_positions(gate);
    for (uint32_t i = threadIdx.x; i < CASCADE_MOST_FLIPS; i += blockDim.x) {
        gains[i] = 0;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < positions; i += blockDim.x) {
        int own[CASCADE_MOST_FLIPS];
        cascade_gate_look(gate, cascade_gate_place(gate, i), own);
        for (unsigned candidate = 0; candidate < CASCADE_MOST_FLIPS; candidate++) {
            if (own[candidate] != 0) {
                atomicAdd(&gains[candidate], (uint32_t)own[candidate]);
            }
        }
    }
    __syncthreads();
    bool promises = false;
    for (uint32_t i = threadIdx.x; i < CASCADE_MOST_FLIPS; i += blockDim.x) {
        promises |= cascade_flip_promises(gate, (int32_t)gains[i]);
    }
    return __syncthreads_or(promises) != 0;
}

/* The most frequent one of some words; of equals the smallest. None if all are different. */
static __device__ uint64_t
cascade_repeats_fill(const struct cascade_gate *gate, unsigned positions, bool *has_fill)
{
    H5TWIN_SHARED(uint64_t, words, CASCADE_REPEATS_FILLS);
    for (uint32_t i = threadIdx.x; i < CASCADE_REPEATS_FILLS; i += blockDim.x) {
        words[i] = cascade_gate_word(
            gate, cascade_repeats_place(gate, i * positions / CASCADE_REPEATS_FILLS));
    }
    __syncthreads();
    unsigned most = 1;
    uint64_t fill = 0;
    for (uint32_t i = 0; i < CASCADE_REPEATS_FILLS; i++) {
        unsigned count = 0;
        for (uint32_t k = 0; k < CASCADE_REPEATS_FILLS; k++) {
            count += words[k] == words[i];
        }
        if (count > most || (count == most && count > 1 && words[i] < fill)) {
            most = count;
            fill = words[i];
        }
    }
    *has_fill = most > 1;
    return fill;
}

static __device__ bool
cascade_promises_copies(const struct cascade_gate *gate)
{
    H5TWIN_SHARED(uint32_t, seen, 1u << (CASCADE_REPEATS_BITS - 5));
    H5TWIN_SHARED(uint32_t, sums, 3); /* positions, of these repeated words, and hashes */
    const unsigned positions = cascade_repeats_positions(gate->value_count);
    bool has_fill = false;
    if (positions == 0) {
        return false;
    }
    for (uint32_t i = threadIdx.x; i < 1u << (CASCADE_REPEATS_BITS - 5); i += blockDim.x) {
        seen[i] = 0;
    }
    for (uint32_t i = threadIdx.x; i < 3; i += blockDim.x) {
        sums[i] = 0;
    }
    const uint64_t fill = cascade_repeats_fill(gate, positions, &has_fill);
    for (uint32_t i = threadIdx.x; i < positions; i += blockDim.x) {
        const uint32_t p = cascade_repeats_place(gate, i);
        const uint64_t word = cascade_gate_word(gate, p);
        if (!has_fill || word != fill) {
            const uint32_t hash = cascade_repeats_hash(word), bit = 1u << hash % 32;
            atomicAdd(&sums[0], 1u);
            atomicAdd(&sums[1], (uint32_t)cascade_is_repeated(gate, p, word));
            atomicAdd(&sums[2], (uint32_t)((atomicOr(&seen[hash / 32], bit) & bit) == 0));
        }
    }
    __syncthreads();
    return cascade_copies_promise(sums[0], sums[1], sums[2]);
}

/* A block for each chunk. */
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_gate_kernel(struct cascade_gate_batch all)
{
    struct cascade_gate gate = all.gate;
    gate.words = all.batch.d_src + (uint64_t)blockIdx.x * all.batch.src_stride;
    const bool flips = cascade_promises_flips(&gate);
    const bool copies = all.looks_for_copies != 0 && cascade_promises_copies(&gate);
    if (threadIdx.x == 0 && (flips || copies)) {
        all.batch.d_status[blockIdx.x] = H5TWIN_ERR_OPTION;
        all.batch.d_dst_sizes[blockIdx.x] = 0;
    }
}

#endif
