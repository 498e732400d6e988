/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_rans_work.cuh: how a stream of rANS codes is written on a GPU: its working memory, what
 * is counted of its words, and symbols into states. residuals_rans_encode.cuh tells the steps.
 * Source  RESIDUALS.md section 6. */
#ifndef H5TWIN_COMMON_RESIDUALS_RANS_WORK_CUH
#define H5TWIN_COMMON_RESIDUALS_RANS_WORK_CUH

#include "residuals_stream.cuh"

/* What an encoder looks up for a token; read as 8 bytes at once. */
struct alignas(8) residuals_rans_symbol {
    uint32_t reciprocal;
    uint16_t frequency, start;
};

/* A stream at work, in global memory; its counts are zero at the start. */
struct h5twin_residuals_rans_work {
    uint32_t blocks[RESIDUALS_CLASSES];
    uint32_t tokens[RESIDUALS_CLASSES][RESIDUALS_TOKENS];
    /* groups of neighbouring classes that share a table, named by their first class */
    uint32_t group_tokens[RESIDUALS_CLASSES][RESIDUALS_TOKENS];
    uint32_t group_count;
    uint8_t first_class[RESIDUALS_CLASSES], end_class[RESIDUALS_CLASSES];
    uint64_t cost[RESIDUALS_CLASSES], joined_cost[RESIDUALS_CLASSES];
    uint64_t class_cost[RESIDUALS_CLASSES];
    /* the model */
    struct h5twin_residuals_table tables[RESIDUALS_TABLES + 1]; /* the last one: of kinds */
    struct residuals_rans_symbol symbols[RESIDUALS_TABLES + 1][RESIDUALS_TOKENS];
    uint32_t kind_count, has_shifts;
    uint8_t kind_of_class[RESIDUALS_CLASSES];
    uint8_t table_of[RESIDUALS_KINDS + 1], shift_of[RESIDUALS_KINDS + 1];
    uint32_t block_bits[RESIDUALS_KINDS + 1];
    uint64_t total_bits;
    /* the stream */
    uint32_t lanes, segment_count;
    uint32_t kinds_units, kinds_are_coded;
    uint32_t kinds_states[RESIDUALS_LANES];
    uint64_t size;
};

/* Rooms for each block of 256 words. */
struct h5twin_residuals_rans_memory {
    struct h5twin_residuals_rans_work *work;
    struct h5twin_residuals_notes notes;
    uint8_t *classes;
    uint16_t *extra_bits;
    uint32_t *coded_words, *low_sizes; /* of segments */
    uint32_t *states;                  /* 32 of each segment */
    uint8_t *units;                    /* 512 bytes for each block */
    uint8_t *kinds_room;               /* 2 bytes for each block */
};

/* ---- count ---- */

template <typename word>
static __device__ __forceinline__ uint32_t
residuals_token_at(const word *words, uint64_t index, uint32_t shift)
{
    return h5twin_residual_token((uint64_t)words[index] >> shift);
}

/* Each warp has counters in shared memory. */
template <typename word>
static __device__ void
h5twin_residuals_rans_count(struct h5twin_residuals_rans_memory memory, const word *words,
                            uint64_t word_count, uint32_t part, uint32_t parts)
{
    H5TWIN_SHARED(uint32_t, counters, H5TWIN_RESIDUALS_MOST_WARPS * RESIDUALS_TOKENS);
    const uint32_t lane = threadIdx.x % 32u, warps = parts * residuals_warps();
    uint32_t *const own = counters + threadIdx.x / 32u * RESIDUALS_TOKENS;
    const uint64_t blocks = residuals_block_count(word_count);
    for (uint64_t block = part * residuals_warps() + threadIdx.x / 32u; block < blocks;
         block += warps) {
        const uint32_t count = residuals_block_size(word_count, block);
        const uint64_t begin = block * RESIDUALS_BLOCK;
        uint64_t lengths = 0, extra = 0;
        for (uint32_t i = lane; i < count; i += 32) {
            lengths += h5twin_bit_length64(words[begin + i]);
        }
        const uint32_t class_index = h5twin_residual_class((uint32_t)h5twin_warp_sum(lengths));
        const uint32_t shift = h5twin_residual_class_shift(class_index);
        for (uint32_t i = lane; i < RESIDUALS_TOKENS; i += 32) {
            own[i] = 0;
        }
        __syncwarp();
        for (uint32_t i = lane; class_index != 0 && i < count; i += 32) {
            const uint32_t token = residuals_token_at(words, begin + i, shift);
            atomicAdd(&own[token], 1u);
            extra += h5twin_residual_extra_bits(token);
        }
        extra = h5twin_warp_sum(extra);
        __syncwarp(); /* sums of registers order nothing in memory */
        for (uint32_t i = lane; i < RESIDUALS_TOKENS; i += 32) {
            if (own[i] != 0) {
                atomicAdd(&memory.work->tokens[class_index][i], own[i]);
            }
        }
        __syncwarp();
        if (lane == 0) {
            atomicAdd(&memory.work->blocks[class_index], 1u);
            memory.classes[block] = (uint8_t)class_index;
            memory.extra_bits[block] = (uint16_t)extra;
        }
    }
}

/* ---- put ---- */

/* A symbol in two registers: the reciprocal, and the frequency below the start. */
static __device__ __forceinline__ uint2
residuals_load_symbol(const struct residuals_rans_symbol *symbol)
{
    return *reinterpret_cast<const uint2 *>(symbol);
}

/* Put symbols of active lanes into their states, those of higher lanes first; units go before
 * `end`, of which *used are there already. By a warp. */
static __device__ __forceinline__ void
residuals_put(uint32_t *state, bool is_active, uint2 symbol, uint8_t *end, uint32_t *used)
{
    const uint32_t lane = threadIdx.x % 32u, frequency = symbol.y & 0xFFFFu;
    const bool is_due = is_active && h5twin_residual_rans_is_full(*state, frequency);
    const uint32_t due = __ballot_sync(H5TWIN_ALL_LANES, is_due);
    *used += h5twin_popcount32(due);
    if (is_due) {
        h5twin_gpu_store16(end - 2 * (uint64_t)*used +
                               2 * h5twin_popcount32(due & ((1u << lane) - 1u)),
                           *state & 0xFFFFu);
        *state >>= 16;
    }
    if (is_active) {
        *state = h5twin_residual_rans_put(*state, frequency, symbol.y >> 16, symbol.x);
    }
}

#endif
