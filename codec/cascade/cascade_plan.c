/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_plan.c: see cascade_plan.h. */
#include "cascade_plan.h"

#include "../common/bytes.h"
#include "cascade_arena.h"
#include "cascade_dictionary.h"
#include "cascade_mask.h"
#include "cascade_search.h"
#include "cascade_survey.h"

#include <stdlib.h>
#include <string.h>

#define SLAB_BITS   1200 /* what a slab costs beside its values */
#define NIBBLE_BITS 6u   /* of a mask's nibble that is not 0 */

const struct h5twin_cascade_effort_plan h5twin_cascade_efforts[3] = {
    [CASCADE_FAST] = {.packed = true,
                      .tiles = 64,
                      .least_tiles = 16,
                      .grid = 2,
                      .exponents = 1,
                      .slab_bytes = UINT64_C(1) << 20},
    [CASCADE_BALANCED] = {.chooses_slabs = true,
                          .references = true,
                          .tiles = 64,
                          .least_tiles = 8,
                          .grid = 3,
                          .exponents = 1,
                          .slab_bytes = UINT64_C(1) << 22},
    [CASCADE_MOST] = {.chooses_slabs = true,
                      .tries_slabs = true,
                      .references = true,
                      .all_references = true,
                      .tiles = 256,
                      .least_tiles = 256,
                      .grid = 3,
                      .exponents = 8,
                      .slab_bytes = UINT64_MAX},
};

struct planner {
    const struct h5twin_cascade_effort_plan *effort;
    const struct h5twin_cascade_kernels *kernels;
    struct h5twin_cascade_shape shape;
    size_t value_count, unmasked;
    unsigned word_size;
    bool is_float; /* of a size that maps know */
    const uint8_t *words;
    uint8_t *mask;  /* NULL: none */
    uint32_t *held; /* NULL: no mask */
    struct h5twin_cascade_survey survey;
    struct h5twin_cascade_tiles tiles;
    struct h5twin_cascade_search search;
    uint8_t *samples; /* words of the tiles that are not masked */
    size_t sample_count;
    struct h5twin_cascade_plan *plan;
};

static bool
is_constant(const struct planner *planner)
{
    const size_t size = planner->value_count * planner->word_size;
    return memcmp(planner->words, planner->words + planner->word_size, size - planner->word_size) ==
           0;
}

/* ---- mask ---- */

static enum h5twin_status
plan_mask(struct planner *planner)
{
    struct h5twin_cascade_plan *const plan = planner->plan;
    const size_t value_count = planner->value_count;
    const unsigned word_size = planner->word_size;
    plan->fill = h5twin_cascade_frequent_word(planner->words, value_count, word_size);
    const enum h5twin_status status = h5twin_cascade_survey_make(
        &planner->survey, planner->kernels, planner->words, value_count, word_size, plan->fill,
        planner->held, value_count * sizeof *planner->held);
    if (status != H5TWIN_OK) {
        return status;
    }
    const size_t masked = planner->survey.counts.fill_count;
    plan->has_mask = cascade_mask_pays(masked, value_count);
    if (!plan->has_mask) {
        planner->mask = NULL;
        planner->held = NULL;
        return H5TWIN_OK;
    }
    planner->kernels->mark[cascade_wide(word_size)](planner->mask, planner->words, value_count,
                                                    word_size, plan->fill);
    size_t nibbles;
    plan->mask_axis = h5twin_cascade_mask_axis(planner->mask, &planner->shape, &nibbles);
    plan->cost += NIBBLE_BITS * (uint64_t)nibbles + value_count / 256;
    planner->unmasked = value_count - masked;
    uint32_t last = CASCADE_NONE_HELD;
    for (size_t i = 0; i < value_count; i++) {
        last = planner->mask[i] ? last : (uint32_t)i;
        planner->held[i] = last;
    }
    return H5TWIN_OK;
}

/* ---- map and orders ---- */

static void
take_samples(struct planner *planner)
{
    planner->sample_count = 0;
    for (unsigned tile = 0; tile < planner->tiles.count; tile++) {
        planner->sample_count += h5twin_cascade_tile_words(
            planner->samples + planner->sample_count * planner->word_size, planner->words,
            planner->word_size, planner->mask, &planner->tiles, tile);
    }
}

/* The largest exponent after the highest few. */
static unsigned
common_exponent(const struct planner *planner)
{
    const unsigned word_bits = 8 * planner->word_size;
    const unsigned most = h5twin_cascade_exponents(word_bits) - 1; /* Inf and NaN: not counted */
    uint32_t counts[CASCADE_MOST_EXPONENTS] = {0};
    size_t finite = 0;
    for (size_t i = 0; i < planner->sample_count; i++) {
        const uint64_t word =
            h5twin_load_word(planner->samples + i * planner->word_size, planner->word_size);
        const unsigned exponent =
            (unsigned)(word >> h5twin_cascade_mantissa_bits(word_bits)) & most;
        counts[exponent] += exponent != most;
        finite += exponent != most;
    }
    if (finite == 0) {
        return 0;
    }
    size_t above = finite / CASCADE_RARE;
    unsigned exponent = most - 1;
    while (counts[exponent] <= above) {
        above -= counts[exponent];
        exponent--;
    }
    return exponent;
}

/* Bits that the samples leave to remainders with a soft map. */
static uint64_t
remainder_cost(const struct planner *planner, const struct h5twin_cascade_map *map)
{
    const unsigned word_size = planner->word_size, wide = cascade_wide(word_size);
    uint64_t codes[CASCADE_TILE_VALUES], cost = 0;
    for (size_t begin = 0; begin < planner->sample_count; begin += CASCADE_TILE_VALUES) {
        const size_t left = planner->sample_count - begin;
        const size_t count = left < CASCADE_TILE_VALUES ? left : CASCADE_TILE_VALUES;
        const uint8_t *const words = planner->samples + begin * word_size;
        planner->kernels->codes[wide](codes, words, count, map);
        cost += planner->kernels->soft_bits[wide](codes, count, h5twin_cascade_fraction(map));
        for (size_t i = 0; i < count; i++) {
            const bool is_zero = wide ? codes[i] == 0 : ((const uint32_t *)codes)[i] == 0;
            if (is_zero && h5twin_load_word(words + i * word_size, word_size) >> map->trailing) {
                cost += 8 * word_size;
            }
        }
    }
    return cost;
}

static uint64_t
search_orders(struct planner *planner, const struct h5twin_cascade_map *map, const uint32_t *ranks,
              unsigned order[CASCADE_MAX_RANK])
{
    const struct h5twin_cascade_source source = {
        .kernels = planner->kernels,
        .words = planner->words,
        .word_size = planner->word_size,
        .held = planner->held,
        .ranks = ranks,
        .map = *map,
    };
    return h5twin_cascade_search_orders(&planner->search, &source, order);
}

/* Soft maps, if one of them is better than *best_cost. */
static void
plan_soft(struct planner *planner, uint64_t *best_cost)
{
    static const int changes[8] = {0, -4, 3, -8, 1, -1, -2, 5};
    struct h5twin_cascade_plan *const plan = planner->plan;
    const int common = (int)common_exponent(planner);
    struct h5twin_cascade_map map = plan->map;
    map.map = CASCADE_SOFT;
    for (unsigned i = 0; i < planner->effort->exponents; i++) {
        const int exponent = common + changes[i];
        if (exponent < 0 ||
            !h5twin_cascade_soft_fits(map.word_bits, map.trailing, (unsigned)exponent)) {
            continue;
        }
        if (i != 0 && plan->map.map != CASCADE_SOFT) {
            break;
        }
        map.exponent = (unsigned)exponent;
        uint64_t cost = remainder_cost(planner, &map);
        unsigned order[CASCADE_MAX_RANK];
        if (cost < *best_cost) {
            cost += search_orders(planner, &map, NULL, order);
        }
        if (cost < *best_cost) {
            *best_cost = cost;
            plan->map = map;
            memcpy(plan->order, order, sizeof order);
        }
    }
}

/* From the tiles to the slab. */
static uint64_t
scale(const struct planner *planner, uint64_t cost)
{
    return cascade_scaled_cost(cost, planner->tiles.value_count, planner->value_count);
}

/* ---- dictionary ---- */

static uint64_t
gap_cost(const uint64_t *gaps, size_t count, unsigned word_bits)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t gap = h5twin_cascade_sign_extend64(gaps[i], word_bits);
        cost += h5twin_bit_length64(h5twin_cascade_magnitude64(gap)) + CASCADE_GAP_BITS;
    }
    return cost;
}

static void
judge_dictionary(struct planner *planner, struct h5twin_cascade_dictionary *dictionary,
                 const struct h5twin_cascade_map *map, uint64_t *best_cost)
{
    struct h5twin_cascade_plan *const plan = planner->plan;
    uint64_t *const keys = dictionary->keys;
    unsigned order[CASCADE_MAX_RANK];
    h5twin_cascade_dictionary_gaps(keys, dictionary->key_count, 1);
    const uint64_t first = gap_cost(keys, dictionary->key_count, map->word_bits);
    for (size_t i = dictionary->key_count; i-- > 2;) { /* the second pass */
        keys[i] -= keys[i - 1];
    }
    const uint64_t second = gap_cost(keys, dictionary->key_count, map->word_bits);
    const uint64_t cost = (first <= second ? first : second) +
                          scale(planner, search_orders(planner, map, dictionary->ranks, order));
    if (cost < *best_cost) {
        *best_cost = cost;
        plan->map = *map;
        memcpy(plan->order, order, sizeof order);
        plan->has_dictionary = true;
        plan->dictionary_order = first <= second ? 1 : 2;
    }
}

static enum h5twin_status
plan_dictionary(struct planner *planner, uint64_t *best_cost)
{
    struct h5twin_cascade_map map = planner->plan->map;
    map.map = planner->is_float ? CASCADE_MONOTONE : CASCADE_IDENTITY;
    map.exponent = 0;
    bool pays;
    if (!cascade_survey_repeats(&planner->survey, planner->plan->has_mask)) {
        return H5TWIN_OK;
    }
    struct h5twin_cascade_dictionary dictionary;
    const enum h5twin_status status =
        h5twin_cascade_dictionary_make(&dictionary, planner->words, planner->value_count, &map,
                                       planner->mask, planner->unmasked, &pays);
    if (status == H5TWIN_OK && pays) {
        judge_dictionary(planner, &dictionary, &map, best_cost);
        h5twin_cascade_dictionary_free(&dictionary);
    }
    return status;
}

/* ---- all together ---- */

static enum h5twin_status
plan_values(struct planner *planner, unsigned tiles)
{
    struct h5twin_cascade_plan *const plan = planner->plan;
    const unsigned word_bits = 8 * planner->word_size;
    plan->map = (struct h5twin_cascade_map){
        .map = planner->is_float ? CASCADE_MONOTONE : CASCADE_IDENTITY,
        .word_bits = word_bits,
        .trailing = cascade_common_trailing(cascade_survey_all(&planner->survey, plan->has_mask),
                                            word_bits, planner->is_float),
    };
    h5twin_cascade_tiles_make(&planner->tiles, &planner->shape, tiles);
    planner->search.tiles = &planner->tiles;
    planner->search.grid = planner->effort->grid;
    planner->search.top = planner->mask != NULL ? CASCADE_MASKED_TOP_ORDER : CASCADE_TOP_ORDER;
    planner->search.in_groups = planner->effort->packed;
    uint64_t best_cost = search_orders(planner, &plan->map, NULL, plan->order);
    take_samples(planner);
    if (planner->is_float && h5twin_cascade_mantissa_bits(word_bits) != 0 &&
        planner->sample_count != 0) {
        plan_soft(planner, &best_cost);
    }
    best_cost = scale(planner, best_cost);
    const enum h5twin_status status = plan_dictionary(planner, &best_cost);
    plan->cost += best_cost + SLAB_BITS;
    return status;
}

enum h5twin_status
h5twin_cascade_plan_make(struct h5twin_cascade_plan *plan,
                         const struct h5twin_cascade_effort_plan *effort, unsigned tiles,
                         const struct h5twin_cascade_shape *shape, enum h5twin_kind kind,
                         unsigned word_size, h5twin_isa isa, bool keeps_memory,
                         const uint8_t *words)
{
    const size_t value_count = cascade_count(shape);
    const size_t box_size = CASCADE_BOX_VALUES * cascade_lane_size(word_size);
    const size_t samples_size = (size_t)CASCADE_MOST_TILES * CASCADE_TILE_VALUES * word_size;
    struct cascade_arena arena;
    if (!cascade_arena_open(&arena,
                            cascade_arena_need(sizeof(struct planner)) +
                                cascade_arena_need(value_count) +
                                cascade_arena_need(4 * value_count) +
                                (CASCADE_MAX_RANK + 2) * cascade_arena_need(box_size) +
                                cascade_arena_need(samples_size),
                            keeps_memory)) {
        return H5TWIN_ERR_MEMORY;
    }
    struct planner *const planner = cascade_arena_cut(&arena, sizeof *planner);
    planner->effort = effort;
    planner->kernels = h5twin_cascade_kernels_for(isa);
    planner->shape = *shape;
    planner->value_count = value_count;
    planner->unmasked = value_count;
    planner->word_size = word_size;
    planner->is_float = kind == H5TWIN_FLOAT;
    planner->words = words;
    planner->plan = plan;
    planner->mask = cascade_arena_cut(&arena, value_count);
    planner->held = cascade_arena_cut(&arena, 4 * value_count);
    planner->search.words = cascade_arena_cut(&arena, box_size);
    for (unsigned level = 0; level <= CASCADE_MAX_RANK; level++) {
        planner->search.level[level] = cascade_arena_cut(&arena, box_size);
    }
    planner->samples = cascade_arena_cut(&arena, samples_size);

    enum h5twin_status status = H5TWIN_OK;
    *plan = (struct h5twin_cascade_plan){.is_constant = is_constant(planner)};
    if (plan->is_constant) {
        plan->cost = 8 * word_size;
    } else {
        status = plan_mask(planner);
        status = status == H5TWIN_OK ? plan_values(planner, tiles) : status;
    }
    cascade_arena_close(&arena);
    return status;
}
