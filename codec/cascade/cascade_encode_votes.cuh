/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_votes.cuh: lags that the blocks of a slab's differences vote for, and what these
 * save. The twin of the first half of cascade_references_find.c.
 *
 * Where a key was last is known from a table, which a warp fills as it goes from block to block. So
 * that all warps have work, each has a part of the blocks and a table of its own: first they note
 * where the keys of their parts are last, then they begin with what the parts before them noted. */
#ifndef H5TWIN_CASCADE_ENCODE_VOTES_CUH
#define H5TWIN_CASCADE_ENCODE_VOTES_CUH

#include "cascade_encode_work.cuh"

/* Where references are looked for. All threads have the same here. */
template <typename lane> struct cascade_finder {
    struct cascade_finder_memory memory;
    const lane *lanes;   /* differences of a slab, or of a part of it */
    const uint8_t *mask; /* nullptr: none */
    uint64_t value_count, block_count;
    uint32_t word_bits;
    uint32_t strides[CASCADE_MOST_STRIDES], stride_count; /* lag * 2 */
    struct cascade_sample sample;
    uint64_t slab_blocks; /* of the whole slab, if this is a part; else 0 */
    uint32_t list;        /* 0 or 1: where entries and indices go */
    uint64_t all_bits;    /* of the sample's blocks */
    uint64_t *room;       /* shared memory */
};

/* ---- a block, by a warp ---- */

/* One of a block's differences, for each lane. */
template <typename lane> struct cascade_block_lane {
    uint64_t index;
    lane value;
    bool counts; /* it is inside, and not masked */
};

template <typename lane>
static __device__ __forceinline__ struct cascade_block_lane<lane>
cascade_lane_of_block(const struct cascade_finder<lane> *finder, uint64_t block) {
    struct cascade_block_lane<lane> own = {
        block *CASCADE_REFERENCE_BLOCK + threadIdx.x % 32u, 0, false
    };
    own.counts = own.index < finder->value_count && !cascade_masked(finder->mask, own.index);
    own.value = own.counts ? finder->lanes[own.index] : (lane)0;
    return own;
}

/* Bits that the block takes with this lag * 2 + sign; 0: without. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_bits_with(const struct cascade_finder<lane> *finder,
                  const struct cascade_block_lane<lane> *own, uint32_t entry)
{
    const lane source = own->counts ? finder->lanes[own->index - (entry >> 1)] : (lane)0;
    const lane rest = cascade_rest_of(own->value, source, entry);
    const lane size = own->counts ? cascade_magnitude_of(rest, finder->word_bits) : (lane)0;
    return cascade_warp_sum(h5twin_bit_length64(size));
}

/* The four lags that most lanes vote for, of equals the smaller ones; 0 votes for nothing. */
static __device__ __forceinline__ void
cascade_elect_lags(uint32_t lag[CASCADE_VOTES], uint32_t own)
{
    const uint32_t below = (1u << threadIdx.x % 32u) - 1u;
    const uint32_t same = __match_any_sync(H5TWIN_ALL_LANES, own);
    const bool leads = own != 0 && (same & below) == 0;
    uint64_t key = leads ? (uint64_t)h5twin_popcount32(same) << 32 | (uint32_t)~own : 0;
    for (uint32_t i = 0; i < CASCADE_VOTES; i++) {
        const uint64_t most = cascade_warp_most(key);
        lag[i] = most == 0 ? 0 : ~(uint32_t)most;
        key = key == most ? 0 : key;
    }
}

/* ---- what lags save ---- */

/* The slot of a lag, which may be new: then it becomes its own. */
template <typename lane>
static __device__ uint32_t
cascade_lag_slot(const struct cascade_finder<lane> *finder, uint32_t lag, bool adds)
{
    const uint32_t most = (uint32_t)finder->memory.lag_slots - 1;
    uint32_t *const lags = finder->memory.lags;
    uint32_t slot = (uint32_t)(lag * CASCADE_JITTER >> (32 - h5twin_bit_length32(most)));
    for (;; slot = (slot + 1) & most) {
        uint32_t found = h5twin_gpu_flag_load(&lags[slot]);
        if (found == 0 && adds) {
            found = atomicCAS(&lags[slot], 0u, lag);
        }
        if (found == 0 || found == lag) {
            return slot;
        }
    }
}

/* Let a block vote, by a warp, and note the best of its lags, if that saves enough; returns its
 * bits. */
template <typename lane>
static __device__ uint32_t
cascade_note_vote(const struct cascade_finder<lane> *finder, uint64_t block, uint64_t number,
                  const struct cascade_block_lane<lane> *own, uint32_t lag_of_lane)
{
    uint32_t lags[CASCADE_VOTES], best = 0, gain = CASCADE_LEAST_VOTE_GAIN;
    const uint32_t bits = cascade_bits_with(finder, own, 0);
    cascade_elect_lags(lags, lag_of_lane);
    for (uint32_t i = 0; i < CASCADE_VOTES + finder->stride_count && bits > gain; i++) {
        const uint32_t lag = i < CASCADE_VOTES ? lags[i] : finder->strides[i - CASCADE_VOTES];
        if (!cascade_reaches(block, lag)) {
            continue;
        }
        const uint32_t left = cascade_bits_with(finder, own, lag);
        if (bits > left + gain) {
            gain = bits - left;
            best = lag;
        }
    }
    if (threadIdx.x % 32u == 0) {
        finder->memory.votes[number].best = best;
        finder->memory.votes[number].bits = (uint16_t)bits;
        finder->memory.votes[number].gain = (uint16_t)gain;
        if (best != 0) {
            const uint32_t slot = cascade_lag_slot(finder, best, true);
            atomicAdd(&finder->memory.lag_bits[slot], gain);
            atomicAdd(&finder->memory.lag_blocks[slot], 1u);
        }
    }
    return bits;
}

/* ---- all blocks ---- */

/* Go through the blocks of a part, by a warp, and note where keys are; with `votes`, those of the
 * sample vote before. Returns their bits. */
template <typename lane>
static __device__ uint64_t
cascade_poll_part(const struct cascade_finder<lane> *finder, uint32_t part, bool votes)
{
    const uint32_t thread = threadIdx.x % 32u, none = cascade_key_slots(sizeof(lane) == 8);
    const uint64_t begin = finder->block_count * part / finder->memory.parts;
    const uint64_t end = finder->block_count * (part + 1) / finder->memory.parts;
    uint32_t *const last_places = finder->memory.last_places + (uint64_t)part * none;
    uint64_t bits = 0;
    for (uint64_t block = begin; block < end; block++) {
        const struct cascade_block_lane<lane> own = cascade_lane_of_block(finder, block);
        const uint32_t slot =
            own.counts ? cascade_key_slot_of(own.value, finder->word_bits) : 2 * none;
        const uint64_t number = block / finder->sample.stride;
        if (votes && number < finder->sample.count &&
            cascade_sampled_block(&finder->sample, number) == block) {
            const uint32_t last = slot >> 1 != none ? last_places[slot >> 1] : 0;
            const uint32_t first = (uint32_t)block * CASCADE_REFERENCE_BLOCK;
            const uint32_t lag = cascade_vote_of(slot, last, none, first, thread);
            bits += cascade_note_vote(finder, block, number, &own, lag);
        }
        const uint32_t same = __match_any_sync(H5TWIN_ALL_LANES, slot >> 1);
        __syncwarp();                                   /* all have read */
        if (slot >> 1 != none && same >> thread == 1) { /* the last one of its key */
            last_places[slot >> 1] = (uint32_t)(own.index + 1) << 1 | (slot & 1);
        }
        __syncwarp();
    }
    return bits;
}

/* Where each key was last before a part begins. */
template <typename lane>
static __device__ void
cascade_join_parts(const struct cascade_finder<lane> *finder)
{
    const uint32_t slots = cascade_key_slots(sizeof(lane) == 8);
    for (uint32_t slot = threadIdx.x; slot < slots; slot += blockDim.x) {
        uint32_t last = 0;
        for (uint32_t part = 0; part < finder->memory.parts; part++) {
            uint32_t *const place = &finder->memory.last_places[(uint64_t)part * slots + slot];
            const uint32_t own = *place;
            *place = last;
            last = own != 0 ? own : last;
        }
    }
    __syncthreads();
}

/* Let the blocks of the sample vote, and sum what their best lags save. */
template <typename lane>
static __device__ __noinline__ void
cascade_poll(struct cascade_finder<lane> *finder)
{
    const uint32_t warp = threadIdx.x / 32u, parts = finder->memory.parts;
    const uint64_t slots = (uint64_t)parts * cascade_key_slots(sizeof(lane) == 8);
    for (uint64_t i = threadIdx.x; i < slots; i += blockDim.x) {
        finder->memory.last_places[i] = 0;
    }
    for (uint64_t i = threadIdx.x; i < finder->memory.lag_slots; i += blockDim.x) {
        finder->memory.lags[i] = 0;
        finder->memory.lag_bits[i] = 0;
        finder->memory.lag_blocks[i] = 0;
    }
    __syncthreads();
    if (warp + 1 < parts) {
        (void)cascade_poll_part(finder, warp, false);
    }
    __syncthreads();
    cascade_join_parts(finder);
    const uint64_t bits = warp < parts ? cascade_poll_part(finder, warp, true) : 0;
    finder->all_bits = residuals_block_sum(threadIdx.x % 32u == 0 ? bits : 0);
    __syncthreads();
}

#endif
