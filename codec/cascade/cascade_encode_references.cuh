/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_references.cuh: the list of entries that references have, and one for each block.
 * The twin of the second half of cascade_references_find.c.
 *
 * What a block's best lag and the first entries save does not depend on other blocks: warps find
 * that side by side. The entries that others took last do: one warp goes from block to block, and
 * only tries those beyond the first ones. */
#ifndef H5TWIN_CASCADE_ENCODE_REFERENCES_CUH
#define H5TWIN_CASCADE_ENCODE_REFERENCES_CUH

#include "cascade_encode_dictionary.cuh"
#include "cascade_encode_votes.cuh"

template <typename lane>
static __device__ __forceinline__ struct cascade_finder<lane>
cascade_finder_of(const struct cascade_encode_work<lane> *work,
                  const struct h5twin_cascade_shape *shape, const lane *lanes,
                  const uint8_t *mask) {
    struct cascade_finder<lane> finder = {
    };
    finder.memory = work->memory->finder;
    finder.lanes = lanes;
    finder.mask = mask;
    finder.value_count = cascade_count(shape);
    finder.block_count =
        (finder.value_count + CASCADE_REFERENCE_BLOCK - 1) / CASCADE_REFERENCE_BLOCK;
    finder.word_bits = work->word_bits;
    finder.stride_count = cascade_list_strides(finder.strides, shape);
    finder.sample = cascade_sample_of(finder.block_count, SIZE_MAX);
    finder.room = work->room;
    return finder;
}

/* ---- list of entries ---- */

/* Lags that save enough, as keys to be sorted: those that save most first, of equals the smaller
 * ones. Returns how many. */
template <typename lane>
static __device__ uint32_t
cascade_list_lags(const struct cascade_finder<lane> *finder)
{
    const struct cascade_finder_memory *const memory = &finder->memory;
    uint32_t total = 0;
    for (uint64_t base = 0; base < memory->lag_slots; base += blockDim.x) {
        const uint64_t slot = base + threadIdx.x;
        const uint32_t bits = slot < memory->lag_slots ? memory->lag_bits[slot] : 0;
        const uint32_t counts = bits > CASCADE_LEAST_BENEFIT;
        uint32_t step;
        const uint32_t before = h5twin_block_exclusive_sum(counts, CASCADE_WARPS, &step);
        if (counts != 0) {
            memory->keys[0][total + before] = (uint64_t)~bits << 32 | memory->lags[slot];
        }
        total += step;
    }
    __syncthreads();
    return total;
}

/* The lags that save most, together; from then on the table has their indices for bits. */
template <typename lane>
static __device__ __noinline__ void
cascade_make_entries(const struct cascade_finder<lane> *finder)
{
    const struct cascade_finder_memory *const memory = &finder->memory;
    struct cascade_entries *const entries = memory->entries[finder->list];
    const uint32_t most = (uint32_t)cascade_most_entries(finder->sample.count, finder->slab_blocks);
    const uint32_t lag_count = cascade_list_lags(finder);
    const uint64_t *const sorted =
        cascade_sort_keys(memory->keys[0], memory->keys[1], lag_count, 64, finder->room);
    const uint32_t count = lag_count < most ? lag_count : most;
    for (uint64_t slot = threadIdx.x; slot < memory->lag_slots; slot += blockDim.x) {
        memory->lag_bits[slot] = 0;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        const uint32_t lag = (uint32_t)sorted[i], slot = cascade_lag_slot(finder, lag, false);
        entries->entry[i] = lag;
        entries->fee[i + 1] =
            (uint8_t)cascade_entry_fee(finder->sample.count, memory->lag_blocks[slot]);
        memory->lag_bits[slot] = i + 1;
    }
    if (threadIdx.x == 0) {
        entries->count = count;
        entries->fee[0] = 0;
    }
    __syncthreads();
}

/* ---- an entry for each block ---- */

/* Entries that every block tries. */
static __device__ __forceinline__ uint32_t
cascade_tried_entries(const struct cascade_entries *entries)
{
    return entries->count < CASCADE_FIRST_ENTRIES ? entries->count : CASCADE_FIRST_ENTRIES;
}

/* Bits that the block saves with an entry, less its fee; 0 if that is none. By a warp. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_gain_of(const struct cascade_finder<lane> *finder, const struct cascade_entries *entries,
                uint64_t block, const struct cascade_block_lane<lane> *own, uint32_t bits,
                uint32_t index)
{
    const uint32_t lag = entries->entry[index - 1];
    if (!cascade_reaches(block, lag)) {
        return 0;
    }
    const uint32_t taken = cascade_bits_with(finder, own, lag) + entries->fee[index];
    return bits > taken ? bits - taken : 0;
}

/* Of each block, what does not depend on others, by warps. */
template <typename lane>
static __device__ void
cascade_choose_first(const struct cascade_finder<lane> *finder,
                     const struct cascade_entries *entries)
{
    const uint32_t tried = cascade_tried_entries(entries);
    for (uint64_t number = threadIdx.x / 32u; number < finder->sample.count;
         number += CASCADE_WARPS) {
        const uint64_t block = cascade_sampled_block(&finder->sample, number);
        const struct cascade_vote vote = finder->memory.votes[number];
        const struct cascade_block_lane<lane> own = cascade_lane_of_block(finder, block);
        struct cascade_first_choice first = {0, 0, CASCADE_LEAST_GAIN};
        if (vote.best != 0 && tried < entries->count) {
            first.own =
                (uint8_t)finder->memory.lag_bits[cascade_lag_slot(finder, vote.best, false)];
        }
        for (uint32_t index = 1; index <= tried && vote.bits > first.gain; index++) {
            const uint32_t gain = index == first.own ? 0
                                                     : cascade_gain_of(finder, entries, block, &own,
                                                                       vote.bits, index);
            if (gain > first.gain) {
                first.index = (uint8_t)index;
                first.gain = (uint16_t)gain;
            }
        }
        if (threadIdx.x % 32u == 0) {
            finder->memory.first[number] = first;
        }
    }
    __syncthreads();
}

/* What one block takes. */
struct cascade_block_choice {
    uint32_t index, gain;
};

/* The choice of a block that was told of, after those of all before it. By a warp. */
template <typename lane>
static __device__ struct cascade_block_choice
cascade_choose_one(const struct cascade_finder<lane> *finder, const struct cascade_entries *entries,
                   const uint32_t recent[CASCADE_RECENT], uint64_t number, struct cascade_vote vote,
                   struct cascade_first_choice first)
{
    const uint64_t block = cascade_sampled_block(&finder->sample, number);
    const uint32_t tried = cascade_tried_entries(entries);
    struct cascade_block_choice choice = {0, CASCADE_LEAST_GAIN};
    bool is_read = false;
    struct cascade_block_lane<lane> own = {
    };
    if (first.own != 0 && vote.gain > entries->fee[first.own] + choice.gain) {
        choice.index = first.own;
        choice.gain = vote.gain - entries->fee[first.own];
    }
    for (uint32_t i = 0; i < CASCADE_RECENT && vote.bits > choice.gain; i++) {
        if (recent[i] <= tried || recent[i] == first.own) {
            continue;
        }
        if (!is_read) {
            own = cascade_lane_of_block(finder, block);
            is_read = true;
        }
        const uint32_t gain = cascade_gain_of(finder, entries, block, &own, vote.bits, recent[i]);
        if (gain > choice.gain) {
            choice.index = recent[i];
            choice.gain = gain;
        }
    }
    if (first.gain > choice.gain) {
        choice.index = first.index;
        choice.gain = first.gain;
    }
    return choice;
}

/* Block after block, by the first warp; returns what they save together. */
template <typename lane>
static __device__ uint64_t
cascade_choose_in_turn(const struct cascade_finder<lane> *finder,
                       const struct cascade_entries *entries)
{
    uint32_t recent[CASCADE_RECENT] = {};
    uint64_t saved = 0;
    for (uint64_t base = 0; base < finder->sample.count; base += 32) {
        const uint64_t left = finder->sample.count - base;
        const uint32_t count = left < 32 ? (uint32_t)left : 32;
        const uint64_t mine = base + (threadIdx.x < count ? threadIdx.x : 0);
        const struct cascade_vote vote = finder->memory.votes[mine];
        const struct cascade_first_choice first = finder->memory.first[mine];
        uint32_t index = 0;
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t sizes = (uint32_t)vote.bits << 16 | vote.gain;
            const uint32_t firsts =
                (uint32_t)first.own << 24 | (uint32_t)first.index << 16 | first.gain;
            const uint32_t size = __shfl_sync(H5TWIN_ALL_LANES, sizes, (int)k);
            const uint32_t told = __shfl_sync(H5TWIN_ALL_LANES, firsts, (int)k);
            const struct cascade_vote its_vote = {0, (uint16_t)(size >> 16), (uint16_t)size};
            const struct cascade_first_choice its_first = {(uint8_t)(told >> 24),
                                                           (uint8_t)(told >> 16), (uint16_t)told};
            const struct cascade_block_choice choice =
                cascade_choose_one(finder, entries, recent, base + k, its_vote, its_first);
            if (choice.index != 0) {
                cascade_remember(recent, choice.index);
                saved += choice.gain;
            }
            index = threadIdx.x == k ? choice.index : index;
        }
        if (threadIdx.x < count) {
            finder->memory.index[finder->list][base + threadIdx.x] = index;
        }
    }
    return saved;
}

/* Choose for the blocks of the sample; returns the bits that they save together. */
template <typename lane>
static __device__ __noinline__ uint64_t
cascade_choose_entries(const struct cascade_finder<lane> *finder)
{
    const struct cascade_entries *const entries = finder->memory.entries[finder->list];
    uint64_t saved = 0;
    cascade_choose_first(finder, entries);
    if (entries->count <= CASCADE_FIRST_ENTRIES) {
        for (uint64_t i = threadIdx.x; i < finder->sample.count; i += blockDim.x) {
            const struct cascade_first_choice first = finder->memory.first[i];
            finder->memory.index[finder->list][i] = first.index;
            saved += first.index != 0 ? first.gain : 0;
        }
    } else if (threadIdx.x < 32) {
        saved = cascade_choose_in_turn(finder, entries);
        saved = threadIdx.x == 0 ? saved : 0;
    }
    return residuals_block_sum(saved); /* a barrier, too */
}

/* ---- all of a slab ---- */

/* The rounds of pointer doubling that the deepest chain needs. Blocks as many as the least lag
 * spans do not need each other. */
template <typename lane>
static __device__ uint32_t
cascade_count_rounds(const struct cascade_finder<lane> *finder)
{
    H5TWIN_SHARED(uint32_t, deepest, 1);
    const struct cascade_entries *const entries = finder->memory.entries[finder->list];
    const uint32_t *const index = finder->memory.index[finder->list];
    uint32_t *const depth = finder->memory.depth;
    uint32_t least_lag = UINT32_MAX, own = 0;
    for (uint32_t i = 0; i < entries->count; i++) {
        const uint32_t lag = entries->entry[i] >> 1;
        least_lag = lag < least_lag ? lag : least_lag;
    }
    if (threadIdx.x == 0) {
        deepest[0] = 0;
    }
    const uint32_t span = least_lag / CASCADE_REFERENCE_BLOCK;
    for (uint64_t base = 0; base < finder->block_count; base += span) {
        const uint64_t left = finder->block_count - base;
        for (uint64_t i = threadIdx.x; i < (left < span ? left : span); i += blockDim.x) {
            const uint64_t begin = (base + i) * CASCADE_REFERENCE_BLOCK;
            const uint64_t end = begin + CASCADE_REFERENCE_BLOCK < finder->value_count
                                     ? begin + CASCADE_REFERENCE_BLOCK
                                     : finder->value_count;
            uint32_t steps = 0;
            if (index[base + i] != 0) {
                const uint32_t lag = entries->entry[index[base + i] - 1] >> 1;
                const uint32_t first = depth[(begin - lag) / CASCADE_REFERENCE_BLOCK];
                const uint32_t last = depth[(end - 1 - lag) / CASCADE_REFERENCE_BLOCK];
                steps = 1 + (first > last ? first : last);
            }
            depth[base + i] = steps;
            own = steps > own ? steps : own;
        }
        __syncthreads();
    }
    atomicMax(deepest, own);
    __syncthreads();
    const uint32_t rounds = h5twin_bit_length32(deepest[0]);
    __syncthreads();
    return rounds < 1 ? 1 : rounds;
}

/* What the references leave of the differences. */
template <typename lane>
static __device__ void
cascade_take_off(const struct cascade_finder<lane> *finder, lane *rests)
{
    const struct cascade_entries *const entries = finder->memory.entries[finder->list];
    const uint32_t *const indices = finder->memory.index[finder->list];
    for (uint64_t i = threadIdx.x; i < finder->value_count; i += blockDim.x) {
        const uint32_t index = indices[i / CASCADE_REFERENCE_BLOCK];
        const lane value = finder->lanes[i];
        if (index == 0 || cascade_masked(finder->mask, i)) {
            rests[i] = value;
        } else {
            const uint32_t entry = entries->entry[index - 1];
            rests[i] = cascade_rest_of(value, finder->lanes[i - (entry >> 1)], entry);
        }
    }
    __syncthreads();
}

/* Find references in a slab's differences; the list's count is 0 if there are none that pay.
 * Returns the bits that the slab is then taken to have; other_bits: beside its differences. */
template <typename lane>
static __device__ uint64_t
cascade_find_references(struct cascade_finder<lane> *finder, uint64_t other_bits)
{
    struct cascade_entries *const entries = finder->memory.entries[finder->list];
    cascade_poll(finder);
    cascade_make_entries(finder);
    const uint64_t saved = cascade_choose_entries(finder);
    const uint64_t bits = finder->all_bits + other_bits;
    const uint32_t count = entries->count;
    __syncthreads();
    if (!cascade_references_pay(saved, bits, CASCADE_LEAST_SAVING, count)) {
        if (threadIdx.x == 0) {
            entries->count = 0;
        }
        __syncthreads();
        return bits;
    }
    const uint32_t rounds = cascade_count_rounds(finder);
    if (threadIdx.x == 0) {
        entries->rounds = rounds;
    }
    __syncthreads();
    return bits - saved + CASCADE_ENTRY_BITS * (uint64_t)count;
}

/* What a sample of blocks promises: bits that references would take off. */
template <typename lane>
static __device__ uint64_t
cascade_promise(struct cascade_finder<lane> *finder)
{
    finder->sample =
        cascade_sample_of(finder->block_count, cascade_promise_blocks(finder->block_count, false));
    cascade_poll(finder);
    cascade_make_entries(finder);
    return cascade_choose_entries(finder);
}

#endif
