/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_plan.cuh: how a slab is coded, and what it costs. The twin of cascade_plan.c. */
#ifndef H5TWIN_CASCADE_ENCODE_PLAN_CUH
#define H5TWIN_CASCADE_ENCODE_PLAN_CUH

#include "cascade_encode_dictionary.cuh"

/* The plain map of words that are not masked and whose OR is `all`. */
template <typename lane>
static __device__ __forceinline__ void
cascade_begin_map(struct cascade_encode_work<lane> *work, uint64_t all)
{
    const bool has_mask = work->mask != nullptr || work->holds_rows;
    work->map.map = work->is_float ? CASCADE_MONOTONE : CASCADE_IDENTITY;
    work->map.word_bits = work->word_bits;
    work->map.trailing = cascade_common_trailing(all, work->word_bits, work->is_float);
    work->map.exponent = 0;
    work->ranks = nullptr;
    work->key_count = 0;
    work->top_order = has_mask ? CASCADE_MASKED_TOP_ORDER : CASCADE_TOP_ORDER;
}

/* Map and orders, for words that are not masked and whose OR is `all`; returns the cost of all
 * values. Tiles are noted. */
template <typename lane>
static __device__ uint64_t
cascade_plan_values(struct cascade_encode_work<lane> *work, uint64_t all)
{
    cascade_begin_map(work, all);
    uint64_t best_cost = cascade_search_orders(work, &work->orders);
    if (work->is_float && h5twin_cascade_mantissa_bits(work->word_bits) != 0) {
        cascade_try_soft(work, &best_cost);
    }
    return cascade_scaled_cost(best_cost, work->tile_values, work->value_count);
}

/* Decide about a slab, whose words are not all the same; returns what it costs. */
template <typename lane>
static __device__ uint64_t
cascade_make_plan(struct cascade_encode_work<lane> *work, const struct cascade_survey *survey,
                  struct cascade_tile_note *tiles, uint32_t wanted_tiles)
{
    const uint64_t mask_cost = cascade_make_mask(work, survey);
    const bool has_fill = work->mask == nullptr && survey->fill_count != 0;
    cascade_note_tiles(work, tiles, wanted_tiles);
    uint64_t cost = cascade_plan_values(work, survey->others | (has_fill ? survey->fill : 0));
    if (cascade_repeats(work, survey)) {
        cascade_try_dictionary(work, &cost);
    }
    return mask_cost + cost + CASCADE_SLAB_BITS;
}

/* ---- trials ---- */

template <typename lane> struct cascade_bit_union {
    uint64_t all;
    __device__ __forceinline__ void
    at(lane word)
    {
        all |= word;
    }
};

/* Whether all words are the same. */
template <typename lane>
static __device__ bool
cascade_is_constant(const struct cascade_encode_work<lane> *work)
{
    const uint64_t step = (uint64_t)CASCADE_STEP_WORDS * blockDim.x;
    const lane word = cascade_word_at(work, 0);
    bool differs = false;
    for (uint64_t base = 0; base < work->value_count && !differs; base += step) {
        const uint64_t end = base + step < work->value_count ? base + step : work->value_count;
        for (uint64_t i = base + threadIdx.x; i < end; i += blockDim.x) {
            differs = differs || cascade_word_at(work, i) != word;
        }
        differs = __syncthreads_or(differs) != 0;
    }
    return !differs;
}

/* What a slab costs by few tiles, with fill word and trailing zeros by samples. */
template <typename lane>
static __device__ uint64_t
cascade_trial_cost(struct cascade_encode_work<lane> *work, struct cascade_tile_note *tiles,
                   uint32_t wanted_tiles)
{
    uint32_t found_count;
    struct cascade_bit_union<lane> bits = {
        0
    };
    if (cascade_is_constant(work)) {
        return work->word_bits;
    }
    work->fill = cascade_frequent_word(work, &found_count);
    work->holds_rows = cascade_mask_pays(found_count, work->fill_samples);
    cascade_note_tiles(work, tiles, wanted_tiles);
    cascade_each_sample(work, &bits);
    return cascade_plan_values(work, cascade_block_or(bits.all)) + CASCADE_SLAB_BITS;
}

#endif
