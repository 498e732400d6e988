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

const struct h5twin_cascade_effort_plan h5twin_cascade_efforts[4] = {
    [CASCADE_FAST] = {.packed = true,
                      .fill_samples = CASCADE_MASK_SAMPLES,
                      .tile_share = 1024,
                      .shared_tiles = 16,
                      .tiles = 32,
                      .least_tiles = 16,
                      .grid = 2,
                      .slab_bytes = UINT64_C(1) << 20},
    [CASCADE_QUICK] = {.jitters = true,
                       .fill_samples = CASCADE_MASK_SAMPLES,
                       .tile_share = 1024,
                       .shared_tiles = 16,
                       .tiles = 32,
                       .least_tiles = 8,
                       .grid = 3,
                       .slab_bytes = UINT64_C(1) << 22},
    [CASCADE_BALANCED] = {.chooses_slabs = true,
                          .references = true,
                          .copies = true,
                          .jitters = true,
                          .fill_samples = CASCADE_MASK_SAMPLES,
                          .tile_share = 1024,
                          .shared_tiles = 16,
                          .tiles = 64,
                          .least_tiles = 8,
                          .grid = 3,
                          .slab_bytes = UINT64_C(1) << 22},
    [CASCADE_MOST] = {.chooses_slabs = true,
                      .tries_slabs = true,
                      .references = true,
                      .all_references = true,
                      .copies = true,
                      .fill_samples = CASCADE_MASK_SAMPLES,
                      .exponents = true,
                      .tiles = 256,
                      .least_tiles = 256,
                      .grid = 3,
                      .slab_bytes = UINT64_MAX},
};

const struct h5twin_cascade_effort_plan h5twin_cascade_trial = {.is_trial = true,
                                                                .jitters = true,
                                                                .fill_samples = 128,
                                                                .tile_share = 1024,
                                                                .shared_tiles = 32,
                                                                .tiles = 64,
                                                                .least_tiles = 4,
                                                                .grid = 2};

struct planner {
    const struct h5twin_cascade_effort_plan *effort;
    const struct h5twin_cascade_kernels *kernels;
    struct h5twin_cascade_shape shape;
    size_t value_count, unmasked;
    unsigned word_size;
    bool is_float; /* of a size that maps know */
    bool keeps_memory;
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

void
h5twin_cascade_plan_mask(uint8_t *mask, const struct h5twin_cascade_plan *plan,
                         const struct h5twin_cascade_kernels *kernels, const uint8_t *words,
                         size_t value_count, unsigned word_size)
{
    if (plan->has_fill) {
        kernels->mark[cascade_wide(word_size)](mask, words, value_count, word_size, plan->fill);
    } else {
        memset(mask, 0, value_count);
    }
    for (size_t i = 0; plan->copies != NULL && i < value_count; i++) {
        mask[i] |= plan->copies->number[i] != 0;
    }
}

static enum h5twin_status
plan_mask(struct planner *planner)
{
    struct h5twin_cascade_plan *const plan = planner->plan;
    const size_t value_count = planner->value_count;
    const unsigned word_size = planner->word_size;
    unsigned found_count;
    plan->fill = h5twin_cascade_frequent_word(planner->words, value_count, word_size,
                                              planner->effort->fill_samples,
                                              planner->effort->jitters, &found_count);
    if (planner->effort->is_trial) {
        plan->has_mask = cascade_mask_pays(found_count, planner->effort->fill_samples);
        planner->mask = NULL;
        planner->held = NULL;
        return H5TWIN_OK;
    }
    const enum h5twin_status status = h5twin_cascade_survey_make(
        &planner->survey, planner->kernels, planner->words, value_count, word_size, plan->fill,
        planner->held, value_count * sizeof *planner->held);
    if (status != H5TWIN_OK) {
        return status;
    }
    plan->has_fill = cascade_mask_pays(planner->survey.counts.fill_count, value_count);
    plan->has_mask = plan->has_fill || plan->copies != NULL;
    if (!plan->has_mask) {
        planner->mask = NULL;
        planner->held = NULL;
        return H5TWIN_OK;
    }
    h5twin_cascade_plan_mask(planner->mask, plan, planner->kernels, planner->words, value_count,
                             word_size);
    planner->unmasked = value_count - h5twin_cascade_mask_count(planner->mask, value_count);
    size_t nibbles;
    plan->mask_axis = h5twin_cascade_mask_axis(planner->mask, &planner->shape, &nibbles);
    plan->cost += cascade_mask_cost(nibbles, value_count);
    h5twin_cascade_hold(planner->held, planner->mask, value_count);
    return H5TWIN_OK;
}

/* ---- map and orders ---- */

/* The OR of the words that are not masked; of the samples, for a trial. */
static uint64_t
all_bits(const struct planner *planner)
{
    uint64_t all = 0;
    if (!planner->effort->is_trial) {
        return cascade_survey_all(&planner->survey, planner->plan->has_fill);
    }
    for (size_t i = 0; i < planner->sample_count; i++) {
        all |= h5twin_load_word(planner->samples + i * planner->word_size, planner->word_size);
    }
    return all;
}

static void
drop_fill(struct planner *planner)
{
    const unsigned word_size = planner->word_size;
    const size_t count = planner->sample_count;
    planner->sample_count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = h5twin_load_word(planner->samples + i * word_size, word_size);
        h5twin_store_word(planner->samples + planner->sample_count * word_size, word, word_size);
        planner->sample_count += word != planner->plan->fill;
    }
}

static void
take_samples(struct planner *planner)
{
    planner->sample_count = 0;
    for (unsigned tile = 0; tile < planner->tiles.count; tile++) {
        planner->sample_count += h5twin_cascade_tile_words(
            planner->samples + planner->sample_count * planner->word_size, planner->words,
            planner->word_size, planner->mask, &planner->tiles, tile);
    }
    if (planner->effort->is_trial && planner->plan->has_mask) {
        drop_fill(planner);
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

static struct h5twin_cascade_source
source_of(const struct planner *planner, const struct h5twin_cascade_map *map,
          const uint32_t *ranks)
{
    return (struct h5twin_cascade_source){
        .kernels = planner->kernels,
        .words = planner->words,
        .word_size = planner->word_size,
        .mask = planner->mask,
        .held = planner->held,
        .holds_in_rows = planner->effort->is_trial && planner->plan->has_mask,
        .fill = planner->plan->fill,
        .ranks = ranks,
        .map = *map,
    };
}

static uint64_t
search_orders(struct planner *planner, const struct h5twin_cascade_map *map, const uint32_t *ranks,
              unsigned order[CASCADE_MAX_RANK])
{
    const struct h5twin_cascade_source source = source_of(planner, map, ranks);
    return h5twin_cascade_search_orders(&planner->search, &source, order);
}

/* The soft map with this exponent, if it is better than *best_cost. */
static void
plan_exponent(struct planner *planner, unsigned exponent, uint64_t *best_cost)
{
    struct h5twin_cascade_plan *const plan = planner->plan;
    struct h5twin_cascade_map map = plan->map;
    map.map = CASCADE_SOFT;
    map.exponent = exponent;
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

/* The exponent whose soft map is best with the orders of the plan, whose map is soft, too. */
static unsigned
best_exponent(struct planner *planner, uint64_t best_cost)
{
    static const int changes[7] = {-4, 3, -8, 1, -1, -2, 5};
    const struct h5twin_cascade_plan *const plan = planner->plan;
    struct h5twin_cascade_map map = plan->map;
    unsigned best = map.exponent;
    for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const int exponent = (int)plan->map.exponent + changes[i];
        if (exponent < 0 ||
            !h5twin_cascade_soft_fits(map.word_bits, map.trailing, (unsigned)exponent)) {
            continue;
        }
        map.exponent = (unsigned)exponent;
        uint64_t cost = remainder_cost(planner, &map);
        if (cost < best_cost) {
            const struct h5twin_cascade_source source = source_of(planner, &map, NULL);
            cost += h5twin_cascade_search_cost(&planner->search, &source, plan->order);
        }
        if (cost < best_cost) {
            best_cost = cost;
            best = map.exponent;
        }
    }
    return best;
}

/* Soft maps, if one of them is better than *best_cost. */
static void
plan_soft(struct planner *planner, uint64_t *best_cost)
{
    const struct h5twin_cascade_map *const map = &planner->plan->map;
    const unsigned common = common_exponent(planner);
    if (!h5twin_cascade_soft_fits(map->word_bits, map->trailing, common)) {
        return;
    }
    plan_exponent(planner, common, best_cost);
    if (planner->effort->exponents && map->map == CASCADE_SOFT) {
        const unsigned exponent = best_exponent(planner, *best_cost);
        if (exponent != common) {
            plan_exponent(planner, exponent, best_cost);
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
gap_cost(uint64_t gap, unsigned word_bits)
{
    const uint64_t size = h5twin_cascade_magnitude64(h5twin_cascade_sign_extend64(gap, word_bits));
    return h5twin_bit_length64(size) + CASCADE_GAP_BITS;
}

/* The order of gaps that costs less. */
static unsigned
judge_gaps(const struct h5twin_cascade_dictionary *dictionary, unsigned word_bits, uint64_t *cost)
{
    uint64_t first = 0, second = 0, key = 0, gap = 0;
    for (size_t i = 0; i < dictionary->key_count; i++) {
        const uint64_t last_gap = gap;
        gap = dictionary->keys[i] - key;
        key = dictionary->keys[i];
        first += gap_cost(gap, word_bits);
        second += gap_cost(i < 2 ? gap : gap - last_gap, word_bits);
    }
    *cost = first <= second ? first : second;
    return first <= second ? 1 : 2;
}

/* Plan with the dictionary, which the plan then has, if that costs less. */
static void
judge_dictionary(struct planner *planner, struct h5twin_cascade_dictionary *dictionary,
                 const struct h5twin_cascade_map *map, uint64_t *best_cost)
{
    struct h5twin_cascade_plan *const plan = planner->plan;
    unsigned order[CASCADE_MAX_RANK];
    uint64_t cost;
    const unsigned dictionary_order = judge_gaps(dictionary, map->word_bits, &cost);
    cost += scale(planner, search_orders(planner, map, dictionary->ranks, order));
    if (cost < *best_cost) {
        *best_cost = cost;
        plan->map = *map;
        memcpy(plan->order, order, sizeof order);
        plan->has_dictionary = true;
        plan->dictionary_order = dictionary_order;
        plan->dictionary = *dictionary;
        *dictionary = (struct h5twin_cascade_dictionary){0};
    }
}

static enum h5twin_status
plan_dictionary(struct planner *planner, uint64_t *best_cost)
{
    struct h5twin_cascade_map map = planner->plan->map;
    map.map = planner->is_float ? CASCADE_MONOTONE : CASCADE_IDENTITY;
    map.exponent = 0;
    bool pays;
    if (planner->effort->is_trial ||
        !cascade_survey_repeats(&planner->survey, planner->plan->has_fill, planner->unmasked)) {
        return H5TWIN_OK;
    }
    struct h5twin_cascade_dictionary dictionary;
    const enum h5twin_status status = h5twin_cascade_dictionary_make(
        &dictionary, planner->words, planner->value_count, &map, planner->mask, planner->unmasked,
        cascade_survey_distinct(&planner->survey), planner->keeps_memory, &pays);
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
    h5twin_cascade_tiles_make(&planner->tiles, &planner->shape, tiles);
    take_samples(planner);
    plan->map = (struct h5twin_cascade_map){
        .map = planner->is_float ? CASCADE_MONOTONE : CASCADE_IDENTITY,
        .word_bits = word_bits,
        .trailing = cascade_common_trailing(all_bits(planner), word_bits, planner->is_float),
    };
    planner->search.tiles = &planner->tiles;
    planner->search.grid = planner->effort->grid;
    planner->search.top = planner->plan->has_mask ? CASCADE_MASKED_TOP_ORDER : CASCADE_TOP_ORDER;
    planner->search.steps = !planner->effort->is_trial;
    planner->search.in_groups = planner->effort->packed;
    uint64_t best_cost = search_orders(planner, &plan->map, NULL, plan->order);
    if (planner->is_float && h5twin_cascade_mantissa_bits(word_bits) != 0 &&
        planner->sample_count != 0) {
        plan_soft(planner, &best_cost);
    }
    best_cost = scale(planner, best_cost);
    const enum h5twin_status status = plan_dictionary(planner, &best_cost);
    plan->cost += best_cost + CASCADE_SLAB_BITS;
    return status;
}

enum h5twin_status
h5twin_cascade_plan_make(struct h5twin_cascade_plan *plan,
                         const struct h5twin_cascade_effort_plan *effort, unsigned tiles,
                         const struct h5twin_cascade_shape *shape, enum h5twin_kind kind,
                         unsigned word_size, h5twin_isa isa, bool keeps_memory,
                         const uint8_t *words, const struct h5twin_cascade_copies *copies)
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
    planner->keeps_memory = keeps_memory;
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
    *plan = (struct h5twin_cascade_plan){.is_constant = is_constant(planner), .copies = copies};
    if (plan->is_constant) {
        plan->cost = 8 * word_size;
    } else {
        status = plan_mask(planner);
        status = status == H5TWIN_OK ? plan_values(planner, tiles) : status;
    }
    cascade_arena_close(&arena);
    return status;
}
