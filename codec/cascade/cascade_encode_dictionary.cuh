/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_dictionary.cuh: the distinct words of a slab. The twin of cascade_survey.c's set
 * and of cascade_dictionary.c.
 *
 * A table has one value for each distinct word, by its index + 1; which one it is depends on who
 * comes first, and so does the word's slot. Keys are sorted afterwards, so that neither shows. */
#ifndef H5TWIN_CASCADE_ENCODE_DICTIONARY_CUH
#define H5TWIN_CASCADE_ENCODE_DICTIONARY_CUH

#include "cascade_encode_soft.cuh"
#include "cascade_encode_survey.cuh"

#define CASCADE_STEP_WORDS 16u /* of a thread before the table's count is looked at */
#define CASCADE_RADIX_BITS 8u
#define CASCADE_RADIX      (1u << CASCADE_RADIX_BITS)
#define CASCADE_ROUND_KEYS 4u /* of a thread that are moved together */

/* ---- table ---- */

struct cascade_table {
    uint32_t *slots; /* index of a value + 1, or 0 */
    uint32_t slot_count;
};

/* The slot of the value's word; true if the word is new. There are more slots than words. */
template <typename lane>
static __device__ bool
cascade_take_slot(const struct cascade_encode_work<lane> *work, const struct cascade_table *table,
                  uint64_t index, lane word, uint32_t *slot)
{
    /* not by the bits that the sample was chosen by */
    const uint64_t hash = (uint64_t)word * CASCADE_MULTIPLIER << (64 - CASCADE_SAMPLE_SHIFT) >> 32;
    uint32_t at = (uint32_t)(hash * table->slot_count >> 32);
    for (;;) {
        uint32_t found = h5twin_gpu_flag_load(&table->slots[at]);
        if (found == 0) {
            found = atomicCAS(&table->slots[at], 0u, (uint32_t)index + 1);
        }
        if (found == 0 || cascade_word_at(work, found - 1) == word) {
            *slot = at;
            return found == 0;
        }
        at = at + 1 == table->slot_count ? 0 : at + 1;
    }
}

/* Put a word into the table if it is sampled and not the fill, or, with `numbers`, which get slots,
 * if it is not masked. Whether it is new. */
template <typename lane>
static __device__ __forceinline__ bool
cascade_note_word(const struct cascade_encode_work<lane> *work, const struct cascade_table *table,
                  uint32_t *numbers, uint64_t i)
{
    const lane word = cascade_word_at(work, i);
    const bool wanted = numbers != nullptr
                            ? !cascade_masked(work->mask, i)
                            : word != (lane)work->fill && h5twin_cascade_is_sampled(word);
    uint32_t slot = 0;
    const bool is_new = wanted && cascade_take_slot(work, table, i, word, &slot);
    if (numbers != nullptr) {
        numbers[i] = slot;
    }
    return is_new;
}

/* Put those words into an empty table that are sampled and not the fill, or all that are not
 * masked. numbers: nullptr, or their slots. Returns how many there are; more than `most` if that
 * is known to be so. */
template <typename lane>
static __device__ uint64_t
cascade_fill_table(const struct cascade_encode_work<lane> *work, const struct cascade_table *table,
                   uint32_t *numbers, uint64_t most)
{
    const uint64_t step = (uint64_t)CASCADE_STEP_WORDS * blockDim.x;
    uint64_t count = 0;
    for (uint32_t i = threadIdx.x; i < table->slot_count; i += blockDim.x) {
        table->slots[i] = 0;
    }
    __syncthreads();
    for (uint64_t base = 0; base < work->value_count && count <= most; base += step) {
        const uint64_t end = base + step < work->value_count ? base + step : work->value_count;
        uint64_t own = 0;
        for (uint64_t i = base + threadIdx.x; i < end; i += blockDim.x) {
            own += cascade_note_word(work, table, numbers, i);
        }
        count += residuals_block_sum(own);
    }
    return count;
}

/* The table of sampled words. */
template <typename lane>
static __device__ __forceinline__ struct cascade_table
cascade_sample_table(const struct cascade_encode_work<lane> *work, uint64_t sampled, lane *memory)
{
    const uint64_t room = 2 * sampled + 1;
    const struct cascade_table table = {
        reinterpret_cast<uint32_t *>(memory),
        (uint32_t)(room < work->value_count ? room : work->value_count)};
    return table;
}

/* Whether so many distinct ones among the sampled words say that a dictionary may pay. */
template <typename lane>
static __device__ __forceinline__ bool
cascade_sample_repeats(const struct cascade_encode_work<lane> *work,
                       const struct cascade_survey *survey, uint64_t distinct)
{
    const bool has_fill = work->mask == nullptr && h5twin_cascade_is_sampled(survey->fill);
    const uint64_t all = survey->sampled + (has_fill ? survey->fill_count : 0);
    return cascade_sample_is_few(distinct + has_fill, all, work->unmasked);
}

/* Whether the sample of the words says that a dictionary may pay. */
template <typename lane>
static __device__ bool
cascade_repeats(const struct cascade_encode_work<lane> *work, const struct cascade_survey *survey)
{
    const struct cascade_table table = cascade_sample_table(work, survey->sampled, work->c);
    const uint64_t distinct = cascade_fill_table(work, &table, nullptr, survey->sampled);
    return cascade_sample_repeats(work, survey, distinct);
}

/* ---- sort ---- */

/* The first place of each digit, from the digits' counts. */
static __device__ void
cascade_digit_begins(uint32_t *counts)
{
    uint32_t total = 0;
    for (uint32_t base = 0; base < CASCADE_RADIX; base += blockDim.x) {
        const uint32_t digit = base + threadIdx.x;
        const uint32_t own = digit < CASCADE_RADIX ? counts[digit] : 0;
        uint32_t step;
        const uint32_t before = total + h5twin_block_exclusive_sum(own, CASCADE_WARPS, &step);
        if (digit < CASCADE_RADIX) {
            counts[digit] = before;
        }
        total += step;
    }
    __syncthreads();
}

/* The number of a key's digit among those of its warp up to now; `counts` of these go on. All lanes
 * of a warp call; those outside have no digit. */
static __device__ __forceinline__ uint32_t
cascade_count_digit(uint32_t *counts, uint32_t digit)
{
    const uint32_t same = __match_any_sync(H5TWIN_ALL_LANES, digit);
    const uint32_t rank = h5twin_popcount32(same & ((1u << threadIdx.x % 32u) - 1u));
    const uint32_t before = digit < CASCADE_RADIX ? counts[digit] : 0;
    __syncwarp(); /* all have read */
    if (digit < CASCADE_RADIX && rank == 0) {
        counts[digit] = before + h5twin_popcount32(same);
    }
    __syncwarp();
    return before + rank;
}

/* Move keys to where their digits belong, equal ones in their order. warps: CASCADE_RADIX counts
 * for each warp. */
template <typename lane>
static __device__ void
cascade_scatter_keys(lane *to, const lane *from, uint64_t count, uint32_t shift, uint32_t *begins,
                     uint32_t *warps)
{
    uint32_t *const own_warp = warps + threadIdx.x / 32u * CASCADE_RADIX;
    for (uint64_t base = 0; base < count; base += CASCADE_ROUND_KEYS * blockDim.x) {
        const uint64_t first =
            base + CASCADE_ROUND_KEYS * (threadIdx.x / 32u * 32u) + threadIdx.x % 32u;
        lane key[CASCADE_ROUND_KEYS];
        uint32_t digit[CASCADE_ROUND_KEYS], rank[CASCADE_ROUND_KEYS];
        for (uint32_t k = threadIdx.x; k < CASCADE_WARPS * CASCADE_RADIX; k += blockDim.x) {
            warps[k] = 0;
        }
        __syncthreads();
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < CASCADE_ROUND_KEYS; k++) {
            const bool inside = first + 32 * k < count;
            key[k] = inside ? from[first + 32 * k] : (lane)0;
            digit[k] = inside ? (uint32_t)(key[k] >> shift) & (CASCADE_RADIX - 1) : CASCADE_RADIX;
            rank[k] = cascade_count_digit(own_warp, digit[k]);
        }
        __syncthreads();
        for (uint32_t k = threadIdx.x; k < CASCADE_RADIX; k += blockDim.x) {
            uint32_t begin = begins[k];
            for (uint32_t other = 0; other < CASCADE_WARPS; other++) {
                const uint32_t own = warps[other * CASCADE_RADIX + k];
                warps[other * CASCADE_RADIX + k] = begin;
                begin += own;
            }
            begins[k] = begin;
        }
        __syncthreads();
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < CASCADE_ROUND_KEYS; k++) {
            if (digit[k] < CASCADE_RADIX) {
                to[own_warp[digit[k]] + rank[k]] = key[k];
            }
        }
        __syncthreads();
    }
}

/* Sort keys of so many bits, from one array to the other and back; returns where they are. */
template <typename lane>
static __device__ lane *
cascade_sort_keys(lane *from, lane *to, uint64_t count, uint32_t key_bits, uint64_t *room)
{
    uint32_t *const begins = reinterpret_cast<uint32_t *>(room);
    uint32_t *const warps = begins + CASCADE_RADIX;
    for (uint32_t shift = 0; shift < key_bits; shift += CASCADE_RADIX_BITS) {
        for (uint32_t k = threadIdx.x; k < CASCADE_RADIX; k += blockDim.x) {
            begins[k] = 0;
        }
        __syncthreads();
        for (uint64_t i = threadIdx.x; i < count; i += blockDim.x) {
            atomicAdd(&begins[(uint32_t)(from[i] >> shift) & (CASCADE_RADIX - 1)], 1u);
        }
        __syncthreads();
        bool is_same = false; /* the digit of all keys: they are in order */
        for (uint32_t k = threadIdx.x; k < CASCADE_RADIX; k += blockDim.x) {
            is_same = is_same || begins[k] == count;
        }
        if (__syncthreads_or(is_same) != 0) {
            continue;
        }
        cascade_digit_begins(begins);
        cascade_scatter_keys(to, from, count, shift, begins, warps);
        lane *const swapped = from;
        from = to;
        to = swapped;
    }
    return from;
}

/* ---- keys and ranks ---- */

/* The number of keys below this one. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_rank_of(const lane *keys, uint64_t count, lane key)
{
    uint32_t low = 0, high = (uint32_t)count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The keys of the words in the table, sorted. */
template <typename lane>
static __device__ const lane *
cascade_sorted_keys(const struct cascade_encode_work<lane> *work, const struct cascade_table *table,
                    const struct h5twin_cascade_map *map, uint64_t key_count)
{
    uint32_t total = 0;
    for (uint32_t base = 0; base < table->slot_count; base += blockDim.x) {
        const uint32_t slot = base + threadIdx.x;
        const uint32_t value = slot < table->slot_count ? table->slots[slot] : 0;
        uint32_t step;
        const uint32_t before =
            h5twin_block_exclusive_sum((uint32_t)(value != 0), CASCADE_WARPS, &step);
        if (value != 0) {
            work->a[total + before] = cascade_key_of(cascade_word_at(work, value - 1), map);
        }
        total += step;
    }
    __syncthreads();
    return cascade_sort_keys(work->a, work->b, key_count, map->word_bits - map->trailing,
                             work->room);
}

/* Whether so many keys are worth a dictionary. */
template <typename lane>
static __device__ __forceinline__ bool
cascade_is_few(const struct cascade_encode_work<lane> *work, uint64_t key_count)
{
    return key_count < CASCADE_DICTIONARY_LIMIT && cascade_are_few(key_count, work->unmasked);
}

/* The map of a dictionary's keys. */
template <typename lane>
static __device__ __forceinline__ void
cascade_begin_keys(struct cascade_encode_work<lane> *work)
{
    work->map.map = work->is_float ? CASCADE_MONOTONE : CASCADE_IDENTITY;
    work->map.exponent = 0;
}

/* Slots of the table become ranks. */
template <typename lane>
static __device__ void
cascade_rank_slots(const struct cascade_encode_work<lane> *work, const struct cascade_table *table,
                   const struct h5twin_cascade_map *map, const lane *keys, uint64_t key_count)
{
    for (uint32_t slot = threadIdx.x; slot < table->slot_count; slot += blockDim.x) {
        const uint32_t value = table->slots[slot];
        if (value != 0) {
            table->slots[slot] = cascade_rank_of(
                keys, key_count, cascade_key_of(cascade_word_at(work, value - 1), map));
        }
    }
    __syncthreads();
}

/* And so do those of values. */
template <typename lane>
static __device__ void
cascade_rank_values(const struct cascade_encode_work<lane> *work, const struct cascade_table *table)
{
    uint32_t *const ranks = work->memory->ranks;
    for (uint64_t i = cascade_first_item(work); i < work->value_count;
         i += cascade_item_step(work)) {
        ranks[i] = cascade_masked(work->mask, i) ? 0 : table->slots[ranks[i]];
    }
    __syncthreads();
}

/* Gap i of this order, 1 or 2, between keys. */
template <typename lane>
static __device__ __forceinline__ lane
cascade_gap(const lane *keys, uint64_t i, uint32_t order)
{
    const lane first = i == 0 ? keys[0] : keys[i] - keys[i - 1];
    return order == 1 || i < 2 ? first : first - (keys[i - 1] - keys[i - 2]);
}

template <typename lane>
static __device__ uint64_t
cascade_gap_cost(const struct cascade_encode_work<lane> *work, const lane *keys, uint64_t key_count,
                 uint32_t order)
{
    uint64_t own = 0;
    for (uint64_t i = cascade_first_item(work); i < key_count; i += cascade_item_step(work)) {
        const lane gap = cascade_gap(keys, i, order);
        own += h5twin_bit_length64(cascade_magnitude_of(gap, work->word_bits)) + CASCADE_GAP_BITS;
    }
    return residuals_block_sum(own);
}

/* The words of the dictionary's stream, where the table was. */
template <typename lane>
static __device__ void
cascade_keep_gaps(const struct cascade_encode_work<lane> *work, const lane *keys)
{
    for (uint64_t i = cascade_first_item(work); i < work->key_count; i += cascade_item_step(work)) {
        work->c[i] = cascade_zigzag_of(cascade_gap(keys, i, work->key_order), work->word_bits);
    }
    __syncthreads();
}

/* That of a dictionary which is the work's from now on. */
template <typename lane>
static __device__ void
cascade_keep_keys(struct cascade_encode_work<lane> *work, const lane *keys, uint64_t key_count,
                  uint32_t order)
{
    work->key_count = key_count;
    work->key_order = order;
    cascade_keep_gaps(work, keys);
}

/* A dictionary, if it is better than *best_cost: then map, orders and ranks are the work's, and the
 * words of its stream in work->c. */
template <typename lane>
static __device__ void
cascade_try_dictionary(struct cascade_encode_work<lane> *work, uint64_t *best_cost)
{
    const struct h5twin_cascade_map planned = work->map;
    struct h5twin_cascade_map map = planned;
    const struct cascade_table table = {reinterpret_cast<uint32_t *>(work->c),
                                        (uint32_t)work->value_count};
    map.map = work->is_float ? CASCADE_MONOTONE : CASCADE_IDENTITY;
    map.exponent = 0;
    const uint64_t key_count =
        cascade_fill_table(work, &table, work->memory->ranks, cascade_most_of(work->unmasked));
    if (!cascade_is_few(work, key_count)) {
        return;
    }
    const lane *const keys = cascade_sorted_keys(work, &table, &map, key_count);
    const uint64_t first = cascade_gap_cost(work, keys, key_count, 1);
    const uint64_t second = cascade_gap_cost(work, keys, key_count, 2);
    const uint64_t gaps = first <= second ? first : second;
    if (gaps >= *best_cost) {
        return; /* whatever the ranks cost */
    }
    struct cascade_orders orders;
    cascade_rank_slots(work, &table, &map, keys, key_count);
    cascade_rank_values(work, &table);
    work->map = map;
    work->ranks = work->memory->ranks;
    const uint64_t cost = gaps + cascade_scaled_cost(cascade_search_orders(work, &orders),
                                                     work->tile_values, work->value_count);
    if (cost >= *best_cost) {
        work->map = planned;
        work->ranks = nullptr;
        return;
    }
    *best_cost = cost;
    work->orders = orders;
    cascade_keep_keys(work, keys, key_count, first <= second ? 1 : 2);
}

/* The dictionary of a plan once more, whose map and order of gaps are the work's. */
template <typename lane>
static __device__ void
cascade_make_dictionary(struct cascade_encode_work<lane> *work)
{
    const struct cascade_table table = {reinterpret_cast<uint32_t *>(work->c),
                                        (uint32_t)work->value_count};
    const uint64_t key_count =
        cascade_fill_table(work, &table, work->memory->ranks, cascade_most_of(work->unmasked));
    const lane *const keys = cascade_sorted_keys(work, &table, &work->map, key_count);
    cascade_rank_slots(work, &table, &work->map, keys, key_count);
    cascade_rank_values(work, &table);
    work->ranks = work->memory->ranks;
    cascade_keep_keys(work, keys, key_count, work->key_order);
}

#endif
