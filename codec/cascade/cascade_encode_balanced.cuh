/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_balanced.cuh: the encoder of the effort `balanced`.
 *
 * Up to four numbers of slabs are tried, a launch each:
 *
 *     trial     what the slabs cost by few tiles; nothing is written
 *     plan      how each slab is coded, of chunks for which the number promises enough
 *     encode    the slabs of chunks that take the number; look-back tells where bodies go
 *
 * If there is only one number there are no trials. A block of threads takes one slab after the
 * other. Passes of a slab of n values beside those of cascade_encode_fast.cuh, and bytes of global
 * memory that each reads + writes, with lanes of l = 4 or 8 bytes and words of w:
 *
 *     trial         up to w n, to see that not all words are the same
 *     plan          survey, mask, tiles, dictionary
 *     encode        mask and dictionary once more; codes, each axis
 *     promises      up to 3 times codes, each axis, and references, of n / 8 or 65536 values
 *     references    2 l n for keys, l n and l n for each of 4 to 13 lags (in caches), as much for
 *                   each of up to 16 entries; one warp alone goes from block to block; 2 l n + l n.
 *                   Once, or twice, and only for slabs that promise enough
 *     streams       each 3 words and 2 + 2 bytes of units for each of its words
 *     body          its bytes, read and written once more
 *
 * Source  FORMAT.md sections 1, 2, 10 and 11. */
#ifndef H5TWIN_CASCADE_ENCODE_BALANCED_CUH
#define H5TWIN_CASCADE_ENCODE_BALANCED_CUH

#include "cascade_encode_assemble.cuh"
#include "cascade_encode_slab.cuh"

/* What is decided about a slab. */
struct cascade_slab_plan {
    struct h5twin_cascade_map map;
    struct cascade_orders orders;
    uint64_t fill;
    uint32_t is_constant, has_mask, mask_axis;
    uint32_t key_order; /* 0: no dictionary */
    uint64_t unmasked;
};

/* What all slabs of a chunk cost together, by each number of slabs. Zeros at the start. */
struct cascade_chunk_costs {
    unsigned long long trial[CASCADE_SLAB_CHOICES], plan[CASCADE_SLAB_CHOICES];
};

/* One of the numbers of slabs at work: that is the one of `all`. */
struct cascade_balanced_batch {
    struct cascade_encode_batch all;
    uint32_t choice, choice_count;
    uint64_t counts[CASCADE_SLAB_CHOICES]; /* of slabs */
    struct cascade_chunk_costs *costs;     /* of each chunk */
    struct cascade_slab_plan *plans;       /* of each slab */
};

/* ---- memory ---- */

static __device__ __forceinline__ struct cascade_finder_memory
cascade_finder_memory_of(const struct cascade_finder_memory *all, uint64_t block, uint32_t keys)
{
    struct cascade_finder_memory own = *all;
    own.last_places += block * all->parts * keys;
    own.votes += block * all->blocks;
    own.first += block * all->blocks;
    own.lags += block * all->lag_slots;
    own.lag_bits += block * all->lag_slots;
    own.lag_blocks += block * all->lag_slots;
    own.depth += block * all->blocks;
    for (uint32_t i = 0; i < 2; i++) {
        own.keys[i] += block * all->blocks;
        own.index[i] += block * all->blocks;
        own.entries[i] += block;
    }
    return own;
}

/* The memory of one of the blocks of threads. */
template <typename lane>
static __device__ __forceinline__ struct cascade_encode_memory
cascade_balanced_memory_of(const struct cascade_encode_memory *all, uint64_t block)
{
    const uint64_t streams = block * all->notes_capacity;
    struct cascade_encode_memory own = cascade_memory_of(all, block, (uint32_t)sizeof(lane));
    own.lanes[3] += block * all->values * sizeof(lane);
    own.body += block * all->body_capacity;
    own.rans.work += block;
    own.rans.notes = own.notes;
    own.rans.classes += streams;
    own.rans.extra_bits += streams;
    own.rans.coded_words += streams;
    own.rans.low_sizes += streams;
    own.rans.states += streams * RESIDUALS_LANES;
    own.rans.units += streams * 2 * RESIDUALS_BLOCK;
    own.rans.kinds_room += streams * 2;
    own.finder =
        cascade_finder_memory_of(&all->finder, block, cascade_key_slots(sizeof(lane) == 8));
    return own;
}

/* ---- numbers of slabs ---- */

/* Whether a number of slabs is planned: the least one is, and those that promise enough. */
static __device__ __forceinline__ bool
cascade_is_planned(const struct cascade_balanced_batch *batch, uint64_t chunk, uint32_t choice)
{
    const struct cascade_chunk_costs *const costs = &batch->costs[chunk];
    uint32_t found = 0;
    if (choice == 0) {
        return true;
    }
    for (uint32_t i = 1; i < batch->choice_count; i++) {
        if (!cascade_choice_is_tried(i, batch->counts[i], found)) {
            break;
        }
        found |=
            cascade_saves(costs->trial[i], costs->trial[0], CASCADE_TRIAL_SAVING) ? 1u << i : 0;
    }
    return (found >> choice & 1u) != 0;
}

/* The number of slabs that a chunk takes. */
static __device__ __forceinline__ uint32_t
cascade_chosen(const struct cascade_balanced_batch *batch, uint64_t chunk)
{
    const struct cascade_chunk_costs *const costs = &batch->costs[chunk];
    uint32_t best = 0;
    for (uint32_t i = 1; i < batch->choice_count; i++) {
        const bool saves = cascade_saves(costs->plan[i], costs->plan[best], CASCADE_COST_SAVING);
        best = cascade_is_planned(batch, chunk, i) && saves ? i : best;
    }
    return best;
}

/* ---- trials ---- */

/* Shared memory: 16 KiB of room, 2 KiB of tiles. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_trial_kernel(struct cascade_balanced_batch batch)
{
    H5TWIN_SHARED(uint64_t, room, CASCADE_ROOM);
    H5TWIN_SHARED(struct cascade_tile_note, tiles, CASCADE_SLAB_TILES);
    const struct cascade_encode_batch *const all = &batch.all;
    const uint64_t total = all->batch.chunk_count * all->slab_count;
    for (uint64_t number = blockIdx.x; number < total; number += gridDim.x) {
        const uint64_t chunk = number / all->slab_count;
        struct cascade_encode_work<lane> work = {
        };
        work.room = room;
        work.room_size = CASCADE_ROOM;
        work.is_trial = true;
        cascade_open_slab(&work, all, &all->memory, chunk, number % all->slab_count);
        const uint64_t cost = cascade_trial_cost(&work, tiles, all->tiles);
        if (threadIdx.x == 0) {
            atomicAdd(&batch.costs[chunk].trial[batch.choice], cost);
        }
        __syncthreads();
    }
}

/* ---- plans ---- */

/* Plan a slab; returns what it costs. */
template <typename lane>
static __device__ uint64_t
cascade_plan_slab(struct cascade_encode_work<lane> *work, struct cascade_slab_plan *plan,
                  struct cascade_tile_note *tiles, uint32_t wanted_tiles)
{
    const struct cascade_survey survey = cascade_survey_words(work);
    const bool is_constant = survey.fill_count == work->value_count;
    const uint64_t cost =
        is_constant ? work->word_bits : cascade_make_plan(work, &survey, tiles, wanted_tiles);
    if (threadIdx.x == 0) {
        plan->map = work->map;
        plan->orders = work->orders;
        plan->fill = work->fill;
        plan->is_constant = is_constant;
        plan->has_mask = work->mask != nullptr;
        plan->mask_axis = work->mask_axis;
        plan->key_order = work->key_count != 0 ? work->key_order : 0;
        plan->unmasked = work->unmasked;
    }
    return cost;
}

/* Shared memory: 35 KiB of room, which holds a box of four axes, 2 KiB of tiles. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_plan_kernel(struct cascade_balanced_batch batch)
{
    H5TWIN_SHARED(uint64_t, room, CASCADE_PLAN_ROOM);
    H5TWIN_SHARED(struct cascade_tile_note, tiles, CASCADE_SLAB_TILES);
    const struct cascade_encode_batch *const all = &batch.all;
    const struct cascade_encode_memory memory =
        cascade_balanced_memory_of<lane>(&all->memory, blockIdx.x);
    const uint64_t total = all->batch.chunk_count * all->slab_count;
    for (uint64_t number = blockIdx.x; number < total; number += gridDim.x) {
        const uint64_t chunk = number / all->slab_count;
        if (!cascade_is_planned(&batch, chunk, batch.choice)) {
            continue;
        }
        struct cascade_encode_work<lane> work = {
        };
        work.room = room;
        work.room_size = CASCADE_PLAN_ROOM;
        cascade_open_slab(&work, all, &memory, chunk, number % all->slab_count);
        const uint64_t cost = cascade_plan_slab(&work, &batch.plans[number], tiles, all->tiles);
        if (threadIdx.x == 0) {
            atomicAdd(&batch.costs[chunk].plan[batch.choice], cost);
        }
        __syncthreads();
    }
}

/* ---- bodies ---- */

/* Mask and dictionary of a plan, once more. */
template <typename lane>
static __device__ void
cascade_take_plan(struct cascade_encode_work<lane> *work, const struct cascade_slab_plan *plan)
{
    work->map = plan->map;
    work->orders = plan->orders;
    work->fill = plan->fill;
    work->mask_axis = plan->mask_axis;
    work->key_order = plan->key_order;
    work->unmasked = plan->unmasked;
    if (plan->has_mask != 0) {
        work->mask = work->memory->mask;
        work->held = work->memory->held;
        cascade_mark(work, 0, work->value_count, 0);
    }
    if (plan->key_order != 0) {
        cascade_make_dictionary(work);
    }
}

/* Copy a body to where it goes; both begin at an even address. */
static __device__ __forceinline__ void
cascade_copy_body(uint8_t *dst, const uint8_t *src, uint64_t size)
{
    for (uint64_t i = 2 * (uint64_t)threadIdx.x; i < size; i += 2 * (uint64_t)blockDim.x) {
        h5twin_gpu_store16(dst + i, h5twin_gpu_load16(src + i));
    }
}

/* Shared memory: 16 KiB of room, 7 KiB of the residual coder. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_balanced_kernel(struct cascade_balanced_batch batch)
{
    H5TWIN_SHARED(uint64_t, room, CASCADE_ROOM);
    H5TWIN_SHARED(uint64_t, told, 1); /* to all threads */
    const struct cascade_encode_batch *const all = &batch.all;
    const struct cascade_encode_memory memory =
        cascade_balanced_memory_of<lane>(&all->memory, blockIdx.x);
    const uint64_t total = all->batch.chunk_count * all->slab_count;
    for (;;) {
        const uint64_t number = cascade_take_slab(all, told), chunk = number / all->slab_count;
        if (number >= total) {
            return;
        }
        if (cascade_chosen(&batch, chunk) != batch.choice) {
            continue;
        }
        const struct cascade_slab_plan *const plan = &batch.plans[number];
        struct cascade_encode_work<lane> work = {
        };
        struct cascade_body<lane> body = {
        };
        work.room = room;
        work.room_size = CASCADE_ROOM;
        cascade_open_slab(&work, all, &memory, chunk, number % all->slab_count);
        if (plan->is_constant != 0) {
            cascade_body_of_words(&body, CASCADE_CONSTANT, all->word_size);
        } else {
            cascade_take_plan(&work, plan);
            body.kind = CASCADE_CODED;
            body.size = cascade_assemble(&work, reinterpret_cast<lane *>(memory.lanes[3]));
            if (body.size == 0) {
                cascade_body_of_words(&body, CASCADE_RAW, work.value_count * all->word_size);
            }
        }
        const uint64_t place = cascade_tell_place(all, number, body.size, told);
        uint8_t *const dst = all->batch.d_dst + chunk * all->batch.dst_stride + place;
        if (body.kind == CASCADE_CODED) {
            cascade_copy_body(dst, memory.body, body.size);
        } else {
            cascade_write_body(&work, &body, dst);
        }
    }
}

#endif
