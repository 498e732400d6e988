/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_fast.cuh: the encoder of the effort `fast`. Blocks of threads share each slab; a
 * round has all slabs for which there is memory. Launches of a round:
 *
 *     open       a block for each slab: the frequent word
 *     survey     counts of words; where there is a mask, and what tiles promise of a soft map
 *     mark       the mask; tables are cleared
 *     judge      sampled words are counted, tiles judged
 *     step * 2   orders that may be better; then map and orders are chosen
 *     list       words for a dictionary, if one may pay
 *     split, scatter, sort    their keys, a bucket for each block
 *     slots, ranks    the numbers of keys, in their order, and those of all values
 *     judge, choose    tiles of ranks are judged, which may be better
 *     codes, differences    one axis after the other
 *     measure    widths and remainders; the last block places the body
 *     write      the body
 *
 * Passes of a slab of n values, and bytes of global memory that each reads + writes, with lanes of
 * l = 4 or 8 bytes and words of w:
 *
 *     survey        w n; 4 n to clear tables
 *     mask          w n + 5 n; n for each axis that is looked at
 *     tiles         up to 2048 values, with those before them, once for each map
 *     dictionary    w n + 8 n at random; l D for each 8 bits of a key; 8 n
 *     codes         w n + l n
 *     each axis     l n + l n; with a mask all at once
 *     residuals     l n for widths; l n + the stream; with a mask l n + l n more
 *     soft          w n for sizes, w n + remainders
 *
 * Source  FORMAT.md sections 1, 2 and 10. */
#ifndef H5TWIN_CASCADE_ENCODE_FAST_CUH
#define H5TWIN_CASCADE_ENCODE_FAST_CUH

#include "cascade_encode_plan.cuh"
#include "cascade_encode_team.cuh"

/* Slabs that are encoded at the same time. */
struct cascade_fast_batch {
    struct cascade_encode_batch all;
    uint64_t first, count; /* of all */
    uint32_t parts;        /* blocks of a slab */
    uint8_t *slabs;        /* struct cascade_team_slab */
};

template <typename lane>
static __device__ __forceinline__ struct cascade_team_slab<lane> *
cascade_team_slab_at(const struct cascade_fast_batch *batch, uint64_t place) {
    return reinterpret_cast<struct cascade_team_slab<lane> *>(batch->slabs) + place;
}

/* ---- open ---- */

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_open_kernel(struct cascade_fast_batch batch)
{
    H5TWIN_SHARED(uint64_t, room, CASCADE_ROOM);
    const uint64_t place = blockIdx.x, number = batch.first + place;
    struct cascade_team_slab<lane> *const slab = cascade_team_slab_at<lane>(&batch, place);
    const struct cascade_encode_memory memory =
        cascade_memory_of(&batch.all.memory, place, (uint32_t)sizeof(lane));
    struct cascade_encode_work<lane> work = {
    };
    uint32_t found_count;
    uint32_t *const counts = reinterpret_cast<uint32_t *>(&slab->counts);
    for (uint32_t i = threadIdx.x; i < sizeof slab->counts / sizeof(uint32_t); i += blockDim.x) {
        counts[i] = 0;
    }
    work.room = room;
    cascade_open_slab(&work, &batch.all, &memory, number / batch.all.slab_count,
                      number % batch.all.slab_count);
    work.fill = cascade_frequent_word(&work, &found_count);
    cascade_leave_work(slab, &work);
    if (threadIdx.x == 0) {
        slab->memory = memory;
        slab->repeats = 0;
        slab->lists = 0;
    }
}

/* ---- survey ---- */

/* Count the words of a block. */
template <typename lane>
static __device__ void
cascade_survey_range(const struct cascade_encode_work<lane> *work,
                     struct cascade_team_slab<lane> *slab)
{
    H5TWIN_SHARED(uint32_t, last, 1);
    H5TWIN_SHARED(uint32_t, sampled, 1);
    const struct cascade_range range = cascade_range_of(work);
    const lane fill = (lane)work->fill;
    uint32_t others = 0, own_last = 0;
    lane bits = 0;
    if (threadIdx.x == 0) {
        last[0] = 0;
        sampled[0] = 0;
    }
    __syncthreads();
    for (uint64_t i = range.begin + 4 * threadIdx.x; i < range.end; i += 4 * blockDim.x) {
        lane four[4];
        cascade_load_words(four, work, i);
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            if (i + k < range.end && four[k] != fill) {
                others++;
                bits |= four[k];
                own_last = (uint32_t)(i + k) + 1;
                if (h5twin_cascade_is_sampled(four[k])) { /* one of 64 */
                    work->memory->listed[range.begin + atomicAdd(sampled, 1u)] = own_last - 1;
                }
            }
        }
    }
    own_last = __reduce_max_sync(H5TWIN_ALL_LANES, own_last);
    if (threadIdx.x % 32u == 0) {
        atomicMax(last, own_last);
    }
    const uint64_t all_bits = cascade_block_or(bits); /* a barrier, too */
    const uint64_t other_count = residuals_block_sum((uint64_t)others);
    if (threadIdx.x == 0) {
        slab->parts[work->part].sampled = sampled[0];
        slab->parts[work->part].last = last[0];
        slab->parts[work->part].others = (uint32_t)other_count;
        atomicAdd(&slab->counts.fill_count,
                  (unsigned long long)(range.end - range.begin - other_count));
        atomicAdd(&slab->counts.sampled, (unsigned long long)sampled[0]);
        atomicOr(&slab->counts.others, (unsigned long long)all_bits);
    }
}

template <typename lane>
static __device__ __forceinline__ struct cascade_survey
cascade_survey_of(const struct cascade_team_slab<lane> *slab, uint64_t fill)
{
    struct cascade_survey survey;
    survey.fill = fill;
    survey.fill_count = cascade_counted(&slab->counts.fill_count);
    survey.others = cascade_counted(&slab->counts.others);
    survey.sampled = cascade_counted(&slab->counts.sampled);
    return survey;
}

/* What is judged, by one block, when all words are counted. */
template <typename lane>
static __device__ void
cascade_prepare_tiles(struct cascade_encode_work<lane> *own, struct cascade_team_slab<lane> *slab,
                      uint32_t wanted_tiles)
{
    struct cascade_encode_work<lane> work = *own;
    const struct cascade_survey survey = cascade_survey_of(slab, work.fill);
    struct cascade_remainder_count<lane> count = {
    };
    uint64_t soft_bits = 0;
    uint32_t exponent = 0;
    const bool has_mask = cascade_mask_pays(survey.fill_count, work.value_count);
    work.unmasked = work.value_count - (has_mask ? survey.fill_count : 0);
    work.mask = has_mask ? work.memory->mask : nullptr;
    work.held = has_mask ? work.memory->held : nullptr;
    cascade_begin_map(&work,
                      survey.others | (!has_mask && survey.fill_count != 0 ? survey.fill : 0));
    cascade_note_tiles(&work, slab->tiles, wanted_tiles);
    if (work.is_float && h5twin_cascade_mantissa_bits(work.word_bits) != 0) {
        exponent = cascade_common_exponent(&work);
        if (h5twin_cascade_soft_fits(work.word_bits, work.map.trailing, exponent)) {
            count.map = work.map;
            count.map.map = CASCADE_SOFT;
            count.map.exponent = exponent;
            cascade_each_sample(&work, &count);
            soft_bits = residuals_block_sum(count.bits);
        } else {
            exponent = 0;
        }
    }
    if (threadIdx.x == 0) {
        slab->is_constant = survey.fill_count == work.value_count;
        slab->soft_exponent = exponent;
        slab->soft_bits = soft_bits;
    }
    cascade_leave_work(slab, &work);
}

/* What each kernel begins with: blocks go to slabs of which this is to be done. */
#define CASCADE_TEAM_KERNEL_BEGIN(room_words, is_to_be_done)                                       \
    H5TWIN_SHARED(uint64_t, room, room_words);                                                     \
    H5TWIN_SHARED(struct cascade_team_shared<lane>, shared, 1);                                    \
    const uint64_t place = blockIdx.x / batch.parts;                                               \
    struct cascade_team_slab<lane> *const slab = cascade_team_slab_at<lane>(&batch, place);        \
    struct cascade_encode_work<lane> *const work = &shared->work;                                  \
    if (!(is_to_be_done)) {                                                                        \
        return;                                                                                    \
    }                                                                                              \
    cascade_join_team(shared, room, room_words, slab,                                              \
                      (uint32_t)(blockIdx.x - place * batch.parts), batch.parts)

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_survey_kernel(struct cascade_fast_batch batch)
{
    CASCADE_TEAM_KERNEL_BEGIN(CASCADE_ROOM, true);
    cascade_survey_range(work, slab);
    if (h5twin_last_to_arrive(&slab->counts.arrived[CASCADE_SURVEYED], batch.parts)) {
        cascade_prepare_tiles(work, slab, batch.all.tiles);
    }
}

/* ---- mark ---- */

template <typename lane>
static __device__ __forceinline__ struct cascade_table
cascade_whole_table(const struct cascade_encode_work<lane> *work)
{
    const struct cascade_table table = {reinterpret_cast<uint32_t *>(work->c),
                                        (uint32_t)work->value_count};
    return table;
}

template <typename lane>
static __device__ void
cascade_clear_table(const struct cascade_encode_work<lane> *work, const struct cascade_table *table)
{
    for (uint64_t i = cascade_first_item(work); i < table->slot_count;
         i += cascade_item_step(work)) {
        table->slots[i] = 0;
    }
}

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_mark_kernel(struct cascade_fast_batch batch)
{
    CASCADE_TEAM_KERNEL_BEGIN(1, slab->is_constant == 0);
    const struct cascade_table sample = cascade_sample_table(work, slab->counts.sampled, work->b);
    const struct cascade_table whole = cascade_whole_table(work);
    cascade_clear_table(work, &sample);
    cascade_clear_table(work, &whole);
    if (work->mask != nullptr) {
        const struct cascade_range range = cascade_range_of(work);
        uint32_t held = 0;
        for (uint32_t i = 0; i < work->part; i++) {
            held = slab->parts[i].last != 0 ? slab->parts[i].last : held;
        }
        cascade_mark(work, range.begin, range.end, held);
    }
}

/* ---- judge ---- */

/* The codes of a candidate are the work's: map, or ranks. */
template <typename lane>
static __device__ __forceinline__ void
cascade_take_candidate(struct cascade_encode_work<lane> *work,
                       const struct cascade_team_slab<lane> *slab, uint32_t candidate)
{
    if (candidate == CASCADE_OF_SOFT) {
        work->map.map = CASCADE_SOFT;
        work->map.exponent = slab->soft_exponent;
    } else if (candidate == CASCADE_OF_RANKS) {
        cascade_begin_keys(work);
        work->ranks = work->memory->ranks;
    }
}

/* Add what the tiles of a block cost to `all`: by the grid, or by orders that may be better. */
template <typename lane>
static __device__ void
cascade_judge_tiles(struct cascade_encode_work<lane> *work, struct cascade_team_slab<lane> *slab,
                    uint32_t candidate, const struct cascade_candidates *next, uint32_t *all)
{
    uint32_t *const costs = reinterpret_cast<uint32_t *>(work->room);
    const uint32_t tile_count = work->tile_count, pairs = (tile_count + 1) / 2; /* for a warp */
    const uint32_t begin = 2 * (pairs * work->part / work->parts);
    const uint32_t last = 2 * (pairs * (work->part + 1) / work->parts);
    const uint32_t stop = last < tile_count ? last : tile_count;
    const struct h5twin_cascade_map map = work->map;
    if (begin == stop) {
        return;
    }
    __syncthreads(); /* the room is free, and all know the work */
    if (threadIdx.x == 0) {
        work->tiles += begin;
        work->tile_count = stop - begin;
        cascade_take_candidate(work, slab, candidate);
    }
    __syncthreads();
    uint32_t set_count;
    if (next == nullptr) {
        const struct cascade_orders end =
            cascade_grid_end(&work->shape, work->grid, work->top_order);
        set_count = cascade_grid_costs(work, costs, &end);
    } else {
        set_count = next->count;
        cascade_set_costs(work, costs, next->orders, set_count);
    }
    for (uint32_t set = threadIdx.x; set < set_count; set += blockDim.x) {
        atomicAdd(&all[set], costs[set]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        work->tiles -= begin;
        work->tile_count = tile_count;
        work->map = map;
    }
    __syncthreads();
}

/* What all blocks have added, in shared memory. */
template <typename lane>
static __device__ uint32_t *
cascade_take_costs(const struct cascade_encode_work<lane> *work, const uint32_t *all,
                   uint32_t set_count)
{
    uint32_t *const costs = reinterpret_cast<uint32_t *>(work->room);
    __syncthreads(); /* the room is free */
    for (uint32_t set = threadIdx.x; set < set_count; set += blockDim.x) {
        costs[set] = h5twin_gpu_flag_load(&all[set]);
    }
    __syncthreads();
    return costs;
}

/* Begin the search of a candidate that was judged by the grid. By one block. */
template <typename lane>
static __device__ void
cascade_begin_candidate(const struct cascade_encode_work<lane> *work,
                        struct cascade_team_slab<lane> *slab, uint32_t candidate)
{
    const struct cascade_orders end = cascade_grid_end(&work->shape, work->grid, work->top_order);
    const uint32_t set_count = cascade_set_count(&work->shape, &end);
    struct cascade_search search;
    cascade_begin_search(&search, work,
                         cascade_take_costs(work, slab->counts.costs[candidate], set_count),
                         set_count);
    if (threadIdx.x == 0) {
        slab->search[candidate] = search;
    }
}

/* Choose what does not depend on maps, by one block. */
template <typename lane>
static __device__ void
cascade_end_judging(struct cascade_encode_work<lane> *own, struct cascade_team_slab<lane> *slab)
{
    struct cascade_encode_work<lane> work = *own;
    const struct cascade_survey survey = cascade_survey_of(slab, work.fill);
    uint32_t least = UINT32_MAX;
    cascade_begin_candidate(&work, slab, CASCADE_OF_PLAIN);
    if (slab->soft_exponent != 0) {
        cascade_begin_candidate(&work, slab, CASCADE_OF_SOFT);
    }
    for (uint32_t axis = 0; work.mask != nullptr && axis < work.shape.rank; axis++) {
        const uint32_t nibbles = h5twin_gpu_flag_load(&slab->counts.nibbles[axis]);
        if (cascade_masks_along(work.shape.rank, axis) && nibbles < least) {
            work.mask_axis = axis;
            least = nibbles;
        }
    }
    if (threadIdx.x == 0) {
        slab->repeats =
            cascade_sample_repeats(&work, &survey, h5twin_gpu_flag_load(&slab->counts.distinct));
    }
    cascade_leave_work(slab, &work);
}

/* Tiles to shared memory. */
template <typename lane>
static __device__ void
cascade_take_tiles(struct cascade_team_shared<lane> *shared,
                   const struct cascade_team_slab<lane> *slab)
{
    for (uint32_t i = threadIdx.x; i < shared->work.tile_count; i += blockDim.x) {
        shared->tiles[i] = slab->tiles[i];
    }
    if (threadIdx.x == 0) {
        shared->work.tiles = shared->tiles;
    }
    __syncthreads();
}

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_judge_kernel(struct cascade_fast_batch batch)
{
    CASCADE_TEAM_KERNEL_BEGIN(CASCADE_PLAN_ROOM, slab->is_constant == 0);
    const struct cascade_table sample = cascade_sample_table(work, slab->counts.sampled, work->b);
    const uint32_t *const listed = work->memory->listed + cascade_range_of(work).begin;
    uint64_t distinct = 0;
    for (uint32_t i = threadIdx.x; i < slab->parts[work->part].sampled; i += blockDim.x) {
        uint32_t slot;
        distinct +=
            cascade_take_slot(work, &sample, listed[i], cascade_word_at(work, listed[i]), &slot);
    }
    distinct = residuals_block_sum(distinct);
    if (threadIdx.x == 0) {
        atomicAdd(&slab->counts.distinct, (uint32_t)distinct);
    }
    for (uint32_t axis = 0; work->mask != nullptr && axis < work->shape.rank; axis++) {
        const uint32_t nibbles = cascade_masks_along(work->shape.rank, axis)
                                     ? (uint32_t)cascade_count_nibbles(work, axis)
                                     : 0;
        if (threadIdx.x == 0) {
            atomicAdd(&slab->counts.nibbles[axis], nibbles);
        }
    }
    cascade_take_tiles(shared, slab);
    for (uint32_t i = CASCADE_OF_PLAIN; i < CASCADE_OF_RANKS; i++) {
        if (i == CASCADE_OF_PLAIN || slab->soft_exponent != 0) {
            cascade_judge_tiles(work, slab, i, nullptr, slab->counts.costs[i]);
        }
    }
    if (h5twin_last_to_arrive(&slab->counts.arrived[CASCADE_JUDGED], batch.parts)) {
        cascade_end_judging(work, slab);
    }
}

/* ---- steps ---- */

/* Whether a candidate's search goes on. */
template <typename lane>
static __device__ __forceinline__ bool
cascade_goes_on(const struct cascade_team_slab<lane> *slab, uint32_t candidate)
{
    const bool is_there = candidate != CASCADE_OF_SOFT || slab->soft_exponent != 0;
    return is_there && slab->search[candidate].steps < CASCADE_MOST_STEPS;
}

/* A step of a candidate's search, by what all blocks have added; of the last one also those that
 * come after it. By one block. */
template <typename lane>
static __device__ void
cascade_step_candidate(struct cascade_encode_work<lane> *own, struct cascade_team_slab<lane> *slab,
                       uint32_t candidate, uint32_t step, bool is_last)
{
    struct cascade_encode_work<lane> work = *own;
    struct cascade_search search = slab->search[candidate];
    struct cascade_candidates next;
    cascade_find_candidates(&next, &search, &work);
    cascade_take_step(&search, &next,
                      cascade_take_costs(&work, slab->counts.steps[step][candidate], next.count));
    __syncthreads(); /* costs have been read */
    if (is_last) {
        cascade_take_candidate(&work, slab, candidate);
        cascade_end_search(&search, &work);
    }
    if (threadIdx.x == 0) {
        slab->search[candidate] = search;
    }
    __syncthreads();
}

/* Choose map and orders, when searches have ended. By one thread. */
template <typename lane>
static __device__ void
cascade_choose_map(struct cascade_team_slab<lane> *slab)
{
    struct cascade_encode_work<lane> *const work = &slab->work;
    const struct cascade_search *search = &slab->search[CASCADE_OF_PLAIN];
    uint64_t cost = search->cost;
    if (slab->soft_exponent != 0) {
        const struct cascade_search *const soft = &slab->search[CASCADE_OF_SOFT];
        if (slab->soft_bits + soft->cost < cost) {
            cascade_take_candidate(work, slab, CASCADE_OF_SOFT);
            cost = slab->soft_bits + soft->cost;
            search = soft;
        }
    }
    work->orders = search->best;
    slab->cost = cascade_scaled_cost(cost, work->tile_values, work->value_count);
}

template <typename lane>
static __device__ __forceinline__ bool
cascade_steps_maps(const struct cascade_team_slab<lane> *slab, bool is_last)
{
    return slab->is_constant == 0 && (is_last || cascade_goes_on(slab, CASCADE_OF_PLAIN) ||
                                      cascade_goes_on(slab, CASCADE_OF_SOFT));
}

/* One step more of the orders of both maps; with the last one all others, and the choice. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS)
    cascade_step_kernel(struct cascade_fast_batch batch, uint32_t step)
{
    const bool is_last = step + 1 == CASCADE_TEAM_STEPS;
    CASCADE_TEAM_KERNEL_BEGIN(CASCADE_PLAN_ROOM, cascade_steps_maps(slab, is_last));
    cascade_take_tiles(shared, slab);
    for (uint32_t i = CASCADE_OF_PLAIN; i < CASCADE_OF_RANKS; i++) {
        if (cascade_goes_on(slab, i)) {
            struct cascade_candidates next;
            cascade_find_candidates(&next, &slab->search[i], work);
            cascade_judge_tiles(work, slab, i, &next, slab->counts.steps[step][i]);
        }
    }
    if (h5twin_last_to_arrive(&slab->counts.arrived[CASCADE_STEPPED + step], batch.parts)) {
        for (uint32_t i = CASCADE_OF_PLAIN; i < CASCADE_OF_RANKS; i++) {
            if (cascade_goes_on(slab, i)) {
                cascade_step_candidate(work, slab, i, step, is_last);
            }
        }
        if (is_last && threadIdx.x == 0) {
            cascade_choose_map(slab);
        }
    }
}

/* ---- dictionary ---- */

/* Of an item of the list: the place of a word, below 2^24, and its bucket. */
#define CASCADE_BUCKET_SHIFT 24u
#define CASCADE_LISTED_PLACE ((1u << CASCADE_BUCKET_SHIFT) - 1)

/* Put words into the table until there are too many, and list the places of the new ones. */
template <typename lane>
static __device__ void
cascade_list_words(const struct cascade_encode_work<lane> *work,
                   struct cascade_team_slab<lane> *slab)
{
    const struct cascade_table table = cascade_whole_table(work);
    const uint64_t most = cascade_most_of(work->unmasked), step = cascade_item_step(work);
    const uint32_t below = (1u << threadIdx.x % 32u) - 1u;
    uint64_t base = 0;
    bool is_over = false;
    while (base < work->value_count && !is_over) {
        for (uint32_t k = 0; k < CASCADE_STEP_WORDS && base < work->value_count; k++) {
            const uint64_t i = base + cascade_first_item(work);
            const bool is_new =
                i < work->value_count && cascade_note_word(work, &table, work->memory->ranks, i);
            const uint32_t all = __ballot_sync(H5TWIN_ALL_LANES, is_new);
            uint32_t first = 0;
            if (all != 0 && threadIdx.x % 32u == 0) {
                first = atomicAdd(&slab->counts.keys, h5twin_popcount32(all));
                is_over = first + h5twin_popcount32(all) > most;
            }
            first = __shfl_sync(H5TWIN_ALL_LANES, first, 0);
            if (is_new) {
                work->memory->listed[first + h5twin_popcount32(all & below)] = (uint32_t)i;
            }
            base += step;
        }
        is_over = __syncthreads_or(is_over) != 0;
    }
}

/* The key of a word of the list. */
template <typename lane>
static __device__ __forceinline__ lane
cascade_listed_key(const struct cascade_encode_work<lane> *work, uint32_t number)
{
    const uint32_t place = work->memory->listed[number] & CASCADE_LISTED_PLACE;
    return cascade_key_of(cascade_word_at(work, place), &work->map);
}

/* Choose keys between which there are about as many for each block. By one block. */
template <typename lane>
static __device__ void
cascade_choose_splitters(const struct cascade_encode_work<lane> *work,
                         struct cascade_team_slab<lane> *slab)
{
    const uint32_t key_count = h5twin_gpu_flag_load(&slab->counts.keys);
    lane *const sample = reinterpret_cast<lane *>(work->room);
    if (!cascade_is_few(work, key_count)) {
        return;
    }
    __syncthreads(); /* the room is free */
    for (uint32_t i = threadIdx.x; i < CASCADE_SPLIT_SAMPLES; i += blockDim.x) {
        sample[i] =
            cascade_listed_key(work, (uint32_t)((uint64_t)i * key_count / CASCADE_SPLIT_SAMPLES));
    }
    __syncthreads();
    cascade_sort_shared(sample, CASCADE_SPLIT_SAMPLES);
    for (uint32_t i = threadIdx.x; i + 1 < work->parts; i += blockDim.x) {
        slab->splitters[i] = sample[(i + 1) * CASCADE_SPLIT_SAMPLES / work->parts];
    }
    if (threadIdx.x == 0) {
        slab->lists = 1;
    }
}

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_list_kernel(struct cascade_fast_batch batch)
{
    CASCADE_TEAM_KERNEL_BEGIN(CASCADE_ROOM, slab->repeats != 0);
    cascade_list_words(work, slab);
    if (h5twin_last_to_arrive(&slab->counts.arrived[CASCADE_LISTED], batch.parts)) {
        cascade_take_keys_map(work);
        cascade_choose_splitters(work, slab);
    }
}

/* Of the list, what falls to a block. */
template <typename lane>
static __device__ __forceinline__ struct cascade_range
cascade_listed_range(const struct cascade_encode_work<lane> *work,
                     const struct cascade_team_slab<lane> *slab)
{
    const uint64_t count = slab->counts.keys;
    const struct cascade_range range = {count * work->part / work->parts,
                                        count * (work->part + 1) / work->parts};
    return range;
}

/* Note the bucket of each key: which block sorts it. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_split_kernel(struct cascade_fast_batch batch)
{
    H5TWIN_SHARED(lane, splitters, CASCADE_MOST_TEAM);
    H5TWIN_SHARED(uint32_t, counts, CASCADE_MOST_TEAM);
    CASCADE_TEAM_KERNEL_BEGIN(1, slab->lists != 0);
    const struct cascade_range range = cascade_listed_range(work, slab);
    cascade_take_keys_map(work);
    for (uint32_t i = threadIdx.x; i < work->parts; i += blockDim.x) {
        splitters[i] = slab->splitters[i];
        counts[i] = 0;
    }
    __syncthreads();
    for (uint64_t i = range.begin + threadIdx.x; i < range.end; i += blockDim.x) {
        const lane key = cascade_listed_key(work, (uint32_t)i);
        const uint32_t bucket = cascade_rank_of(splitters, work->parts - 1, key);
        work->memory->listed[i] |= bucket << CASCADE_BUCKET_SHIFT;
        atomicAdd(&counts[bucket], 1u);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < work->parts; i += blockDim.x) {
        atomicAdd(&slab->counts.buckets[i], counts[i]);
    }
}

/* Move keys to where their buckets lie, in work->a. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_scatter_kernel(struct cascade_fast_batch batch)
{
    H5TWIN_SHARED(uint32_t, places, CASCADE_MOST_TEAM);
    CASCADE_TEAM_KERNEL_BEGIN(1, slab->lists != 0);
    const struct cascade_range range = cascade_listed_range(work, slab);
    const uint32_t *const listed = work->memory->listed;
    cascade_take_keys_map(work);
    for (uint32_t i = threadIdx.x; i < work->parts; i += blockDim.x) {
        places[i] = 0;
    }
    __syncthreads();
    for (uint64_t i = range.begin + threadIdx.x; i < range.end; i += blockDim.x) {
        atomicAdd(&places[listed[i] >> CASCADE_BUCKET_SHIFT], 1u);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < work->parts; i += blockDim.x) {
        places[i] = cascade_bucket_begin(slab, i) + atomicAdd(&slab->counts.taken[i], places[i]);
    }
    __syncthreads();
    for (uint64_t i = range.begin + threadIdx.x; i < range.end; i += blockDim.x) {
        work->a[atomicAdd(&places[listed[i] >> CASCADE_BUCKET_SHIFT], 1u)] =
            cascade_listed_key(work, (uint32_t)i);
    }
}

/* Sort a bucket, where it is. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_sort_kernel(struct cascade_fast_batch batch)
{
    CASCADE_TEAM_KERNEL_BEGIN(CASCADE_ROOM, slab->lists != 0);
    const uint32_t begin = cascade_bucket_begin(slab, work->part);
    const uint32_t count = slab->counts.buckets[work->part];
    lane *const keys = work->a + begin;
    const lane *const sorted = cascade_sort_keys(keys, work->b + begin, count,
                                                 work->map.word_bits - work->map.trailing, room);
    for (uint32_t i = threadIdx.x; sorted != keys && i < count; i += blockDim.x) {
        keys[i] = sorted[i];
    }
}

/* Slots of the table become ranks; what gaps cost. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_slots_kernel(struct cascade_fast_batch batch)
{
    H5TWIN_SHARED(uint32_t, begins, CASCADE_MOST_TEAM + 1);
    CASCADE_TEAM_KERNEL_BEGIN(1, slab->lists != 0);
    cascade_take_keys_map(work);
    const struct cascade_table table = cascade_whole_table(work);
    const uint32_t key_count = slab->counts.keys;
    const struct cascade_range range = cascade_listed_range(work, slab);
    for (uint32_t i = threadIdx.x; i <= work->parts; i += blockDim.x) {
        begins[i] = cascade_bucket_begin(slab, i);
    }
    __syncthreads();
    for (uint64_t i = range.begin + threadIdx.x; i < range.end; i += blockDim.x) {
        const uint32_t listed = work->memory->listed[i], bucket = listed >> CASCADE_BUCKET_SHIFT;
        const uint32_t begin = begins[bucket];
        table.slots[work->memory->ranks[listed & CASCADE_LISTED_PLACE]] =
            begin + cascade_rank_of(work->a + begin, begins[bucket + 1] - begin,
                                    cascade_listed_key(work, (uint32_t)i));
    }
    const uint64_t first = cascade_gap_cost(work, work->a, key_count, 1);
    const uint64_t second = cascade_gap_cost(work, work->a, key_count, 2);
    if (threadIdx.x == 0) {
        atomicAdd(&slab->counts.gaps[0], (unsigned long long)first);
        atomicAdd(&slab->counts.gaps[1], (unsigned long long)second);
    }
}

/* Whether ranks are looked at: not if gaps alone cost as much. */
template <typename lane>
static __device__ __forceinline__ bool
cascade_looks_at_ranks(const struct cascade_team_slab<lane> *slab)
{
    return slab->lists != 0 && cascade_least_gaps(slab) < slab->cost;
}

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_ranks_kernel(struct cascade_fast_batch batch)
{
    CASCADE_TEAM_KERNEL_BEGIN(1, cascade_looks_at_ranks(slab));
    const struct cascade_table table = cascade_whole_table(work);
    cascade_rank_values(work, &table);
}

/* Judge the tiles of ranks. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_judge_ranks_kernel(struct cascade_fast_batch batch)
{
    CASCADE_TEAM_KERNEL_BEGIN(CASCADE_PLAN_ROOM, cascade_looks_at_ranks(slab));
    cascade_take_tiles(shared, slab);
    cascade_judge_tiles(work, slab, CASCADE_OF_RANKS, nullptr,
                        slab->counts.costs[CASCADE_OF_RANKS]);
    if (h5twin_last_to_arrive(&slab->counts.arrived[CASCADE_RANKED], batch.parts)) {
        cascade_begin_candidate(work, slab, CASCADE_OF_RANKS);
    }
}

/* Take the dictionary, if it is better. By one thread. */
template <typename lane>
static __device__ void
cascade_choose_dictionary(struct cascade_team_slab<lane> *slab)
{
    struct cascade_encode_work<lane> *const work = &slab->work;
    const struct cascade_search *const search = &slab->search[CASCADE_OF_RANKS];
    const uint64_t cost = cascade_least_gaps(slab) +
                          cascade_scaled_cost(search->cost, work->tile_values, work->value_count);
    if (cost < slab->cost) {
        cascade_begin_keys(work);
        work->ranks = slab->memory.ranks;
        work->orders = search->best;
        work->key_count = slab->counts.keys;
        work->key_order = slab->counts.gaps[0] <= slab->counts.gaps[1] ? 1 : 2;
    }
}

/* The steps of ranks, and the choice. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_choose_kernel(struct cascade_fast_batch batch)
{
    CASCADE_TEAM_KERNEL_BEGIN(CASCADE_PLAN_ROOM, cascade_looks_at_ranks(slab));
    cascade_take_tiles(shared, slab);
    if (cascade_goes_on(slab, CASCADE_OF_RANKS)) {
        struct cascade_candidates next;
        cascade_find_candidates(&next, &slab->search[CASCADE_OF_RANKS], work);
        cascade_judge_tiles(work, slab, CASCADE_OF_RANKS, &next,
                            slab->counts.steps[0][CASCADE_OF_RANKS]);
    }
    if (h5twin_last_to_arrive(&slab->counts.arrived[CASCADE_CHOSEN], batch.parts)) {
        if (cascade_goes_on(slab, CASCADE_OF_RANKS)) {
            cascade_step_candidate(work, slab, CASCADE_OF_RANKS, 0, true);
        }
        if (threadIdx.x == 0) {
            cascade_choose_dictionary(slab);
        }
    }
}

/* ---- differences ---- */

/* The words of the residual stream that fall to a block next to each other, in work->a; with
 * `words`, those of the array in `kept`. */
template <typename lane>
static __device__ void
cascade_pick_unmasked(const struct cascade_encode_work<lane> *work,
                      const struct cascade_team_slab<lane> *slab, lane *kept)
{
    const struct cascade_range range = cascade_range_of(work);
    uint64_t rank = 0;
    for (uint32_t i = 0; i < work->part; i++) {
        rank += slab->parts[i].others;
    }
    for (uint64_t base = range.begin; base < range.end; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const bool counts = i < range.end && work->mask[i] == 0;
        uint32_t step;
        const uint32_t before = h5twin_block_exclusive_sum((uint32_t)counts, CASCADE_WARPS, &step);
        if (counts) {
            work->a[rank + before] = cascade_zigzag_of(work->b[i], work->word_bits);
            if (kept != nullptr) {
                kept[rank + before] = cascade_word_at(work, i);
            }
        }
        rank += step;
    }
}

/* Launches: of a dictionary's gaps, of codes, and of axes, or with a mask of all axes, and to pick
 * those not masked. */
static __host__ __device__ __forceinline__ uint32_t
cascade_difference_steps(uint32_t rank)
{
    return 2 + (rank < 2 ? 2 : rank);
}

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS)
    cascade_difference_kernel(struct cascade_fast_batch batch, uint32_t step)
{
    CASCADE_TEAM_KERNEL_BEGIN(CASCADE_MOST_TAPS * CASCADE_WARPS, slab->is_constant == 0);
    if (step == 0 && work->key_count != 0) {
        cascade_keep_gaps(work, work->a);
    } else if (step == 1) {
        cascade_make_codes(work, work->a);
    } else if (work->mask == nullptr) {
        if (step != 0 && step - 2 < cascade_difference_passes(work)) {
            cascade_difference_pass(work, step - 2, true);
        }
    } else if (step == 2) {
        const bool are_apart = cascade_rows_are_apart(work);
        __syncthreads(); /* all know the former parts */
        if (!are_apart && threadIdx.x == 0) {
            work->parts = 1; /* rows that wait for others */
        }
        __syncthreads();
        if (are_apart || work->part == 0) {
            cascade_difference_masked(work);
        }
    } else if (step == 3) {
        cascade_pick_unmasked(work, slab, work->map.map == CASCADE_SOFT ? work->c : nullptr);
        cascade_make_nibbles(work);
    }
}

/* ---- measure and write ---- */

/* Find how large the body is and where it goes. By one block. */
template <typename lane>
static __device__ void
cascade_place_slab(const struct cascade_encode_batch *all,
                   const struct cascade_encode_work<lane> *work,
                   struct cascade_team_slab<lane> *slab, struct cascade_body<lane> *body,
                   uint64_t number)
{
    H5TWIN_SHARED(uint64_t, told, 1);
    if (slab->is_constant != 0) {
        cascade_body_of_words(body, CASCADE_CONSTANT, all->word_size);
    } else {
        cascade_size_body(work, body);
    }
    const uint64_t at = cascade_tell_place(all, number, body->size, told);
    if (threadIdx.x == 0) {
        slab->body = *body;
        slab->dst = all->batch.d_dst + number / all->slab_count * all->batch.dst_stride + at;
    }
}

/* Blocks take their numbers from a counter: so those of slabs before run, or have ended. */
template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_measure_kernel(struct cascade_fast_batch batch)
{
    H5TWIN_SHARED(uint64_t, room, CASCADE_ROOM);
    H5TWIN_SHARED(struct cascade_team_shared<lane>, shared, 1);
    H5TWIN_SHARED(uint64_t, told, 1);
    const uint64_t block = cascade_take_slab(&batch.all, told) - batch.first * batch.parts;
    const uint64_t place = block / batch.parts;
    struct cascade_team_slab<lane> *const slab = cascade_team_slab_at<lane>(&batch, place);
    struct cascade_encode_work<lane> *const work = &shared->work;
    cascade_join_team(shared, room, CASCADE_ROOM, slab, (uint32_t)(block - place * batch.parts),
                      batch.parts);
    struct cascade_body<lane> body = {
    };
    if (slab->is_constant == 0) {
        const bool is_odd = work->mask == nullptr && cascade_difference_passes(work) % 2 != 0;
        if (work->mask != nullptr && threadIdx.x == 0) {
            work->kept = work->c;
        }
        __syncthreads();
        cascade_open_body(work, &body, slab->plans, is_odd ? work->b : work->a);
        cascade_measure_body(work, &body);
    }
    if (h5twin_last_to_arrive(&slab->counts.arrived[CASCADE_MEASURED], batch.parts)) {
        cascade_place_slab(&batch.all, work, slab, &body, batch.first + place);
    }
}

template <typename lane>
static __global__ void
__launch_bounds__(CASCADE_THREADS) cascade_write_kernel(struct cascade_fast_batch batch)
{
    CASCADE_TEAM_KERNEL_BEGIN(CASCADE_BIT_WORDS * CASCADE_WARPS / 2, true);
    const struct cascade_body<lane> body = slab->body;
    if (threadIdx.x == 0) {
        work->kept = work->c;
    }
    __syncthreads();
    cascade_write_body(work, &body, slab->dst);
}

#endif
