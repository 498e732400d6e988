/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_search.c: see lattice_search.h.
 *
 * All candidates code eight small samples; the cheapest ones code the array, unless the array is
 * small: then all of them do. Costs are integers that depend on nothing but the codes. */
#include "lattice_search.h"

#include "../common/parallel.h"
#include "../common/residuals.h"
#include "../common/scratch_pool.h"

#include <string.h>

#define CROPS           8u
#define BALANCED_BUDGET 2048u /* values of a sample */
#define FAST_BUDGET     1024u
#define FINALISTS       2u /* balanced */

/* 16 sets of first differences, 4 second ones, 15 sets of axes linear and cubic */
#define MOST_CANDIDATES (16u + 4u + 2u * 15u)

struct candidates {
    unsigned count;
    struct lattice_choice list[MOST_CANDIDATES];
    uint64_t cost[MOST_CANDIDATES];
};

static void
add_candidate(struct candidates *candidates, unsigned predictor, unsigned arg, bool cubic)
{
    candidates->list[candidates->count++] =
        (struct lattice_choice){.predictor = predictor, .arg = arg, .cubic = cubic};
}

/* Order 1 on each axis of a mask, as LATTICE_LORENZO's arg. */
static unsigned
first_orders(unsigned mask)
{
    unsigned orders = 0;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        orders |= (mask >> axis & 1u) << 2 * axis;
    }
    return orders;
}

static void
list_candidates(struct candidates *candidates, const struct lattice_shape *shape, bool stable)
{
    unsigned axes = 0;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        axes |= (unsigned)(shape->extent[axis] > 1) << axis;
    }
    candidates->count = 0;
    for (unsigned mask = 0; mask < 16; mask++) {
        if ((mask & ~axes) != 0) {
            continue;
        }
        add_candidate(candidates, LATTICE_LORENZO, first_orders(mask), false);
        if (mask != 0 && (mask & (mask - 1)) == 0) {
            add_candidate(candidates, LATTICE_LORENZO, 2 * first_orders(mask), false);
        }
    }
    const unsigned predictor = stable ? LATTICE_BINS : LATTICE_INTERPOLATE;
    for (unsigned mask = 1; mask < 16; mask++) {
        if ((mask & ~axes) == 0) {
            add_candidate(candidates, predictor, mask, false);
            add_candidate(candidates, predictor, mask, true);
        }
    }
}

size_t
h5twin_lattice_most_levels(const struct lattice_shape *shape, bool stable)
{
    size_t most = 0;
    for (unsigned mask = 1; mask < 16; mask++) {
        const size_t count = h5twin_lattice_level_count(shape, mask);
        most = count > most ? count : most;
    }
    return most + (stable ? shape->count : 0); /* bins stand behind the levels */
}

/* ---- coding ---- */

static enum h5twin_residuals_way
way_of(enum lattice_effort effort)
{
    return effort == LATTICE_FAST ? H5TWIN_RESIDUALS_PACKED : H5TWIN_RESIDUALS_RANS;
}

static size_t
stream_room(size_t count, const struct lattice_loops *loops, enum h5twin_residuals_way way)
{
    const size_t size = h5twin_residuals_bound(way, count, 8 * loops->integer_size);
    return (size + 63) / 64 * 64;
}

size_t
h5twin_lattice_coding_room(size_t count, const struct lattice_loops *loops,
                           const struct lattice_settings *settings)
{
    const enum h5twin_residuals_way way = way_of(settings->effort);
    return stream_room(count, loops, way) +
           h5twin_residuals_encode_scratch(way, count, settings->threads);
}

size_t
h5twin_lattice_code(const struct lattice_search *search, const struct lattice_workspace *workspace)
{
    const enum h5twin_residuals_way way = way_of(search->settings->effort);
    const size_t count = search->shape->count;
    uint8_t *const stream = workspace->levels;
    const struct h5twin_residuals how = {
        .word_bits = 8 * search->loops->integer_size,
        .threads = search->settings->threads,
        .isa = search->isa,
        .scratch = stream + stream_room(count, search->loops, way),
    };
    return h5twin_residuals_encode(&how, way, stream, workspace->codes, count);
}

static void
encode_array(const struct lattice_search *search, const struct lattice_choice *choice,
             const struct lattice_workspace *workspace, unsigned threads)
{
    const struct lattice_array array = {
        .shape = search->shape,
        .choice = *choice,
        .width = search->width,
        .integers = search->integers,
        .specials = search->specials,
        .codes = workspace->codes,
        .levels = workspace->levels,
        .threads = threads,
    };
    search->loops->encode(&array);
}

void
h5twin_lattice_apply(struct lattice_search *search, const struct lattice_choice *choice)
{
    encode_array(search, choice, &search->workspaces[0], search->settings->threads);
}

/* ---- samples ---- */

struct sampling {
    const struct lattice_search *search;
    const struct candidates *candidates;
    struct lattice_shape crop;
    struct h5twin_scratch_pool pool;
    uint64_t costs[CROPS][MOST_CANDIDATES];
};

/* Parts of a piece of scratch, in bytes. */
static size_t
crop_integers_size(const struct sampling *sampling)
{
    return sampling->crop.count * sampling->search->loops->integer_size;
}

static void
sample_crop(void *context, size_t number)
{
    struct sampling *const sampling = context;
    const struct lattice_search *const search = sampling->search;
    const struct lattice_shape *const crop = &sampling->crop;
    uint8_t *const piece = h5twin_scratch_pool_take(&sampling->pool);
    const size_t size = crop_integers_size(sampling);
    uint8_t *const specials = piece + 2 * size;
    size_t start[LATTICE_AXES];
    h5twin_lattice_crop_start(start, search->shape, crop, (unsigned)number);
    h5twin_lattice_copy_crop(piece, search->integers, search->loops->integer_size, search->shape,
                             crop, start);
    if (search->specials != NULL) {
        h5twin_lattice_copy_crop(specials, search->specials, 1, search->shape, crop, start);
    }
    struct lattice_array array = {
        .shape = crop,
        .width = search->width,
        .integers = piece,
        .specials = search->specials == NULL ? NULL : specials,
        .codes = piece + size,
        .levels = piece + 2 * size + (crop->count + 63) / 64 * 64,
        .threads = 1,
    };
    for (unsigned i = 0; i < sampling->candidates->count; i++) {
        array.choice = sampling->candidates->list[i];
        search->loops->encode(&array);
        sampling->costs[number][i] =
            search->loops->cost(array.codes, crop->count, search->settings->effort);
    }
    h5twin_scratch_pool_give_back(&sampling->pool, piece);
}

/* Costs of all candidates on the samples. */
static enum h5twin_status
cost_by_samples(const struct lattice_search *search, struct candidates *candidates, size_t budget)
{
    struct sampling sampling = {.search = search, .candidates = candidates};
    h5twin_lattice_crop(&sampling.crop, search->shape, budget);
    const unsigned threads = search->settings->threads < CROPS ? search->settings->threads : CROPS;
    const size_t levels = h5twin_lattice_most_levels(&sampling.crop, search->stable);
    const enum h5twin_status status = h5twin_scratch_pool_init(
        &sampling.pool, threads,
        2 * crop_integers_size(&sampling) + (sampling.crop.count + 63) / 64 * 64 +
            levels * search->loops->integer_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    h5twin_parallel_for(threads, CROPS, sample_crop, &sampling);
    h5twin_scratch_pool_destroy(&sampling.pool);
    for (unsigned i = 0; i < candidates->count; i++) {
        candidates->cost[i] = 0;
        for (unsigned crop = 0; crop < CROPS; crop++) {
            candidates->cost[i] += sampling.costs[crop][i];
        }
    }
    return H5TWIN_OK;
}

/* Keep the cheapest `count`, cheapest first, the earlier one where costs are equal. */
static void
keep_cheapest(struct candidates *candidates, unsigned count)
{
    for (unsigned place = 0; place < count && place < candidates->count; place++) {
        unsigned best = place;
        for (unsigned i = place + 1; i < candidates->count; i++) {
            best = candidates->cost[i] < candidates->cost[best] ? i : best;
        }
        const struct lattice_choice choice = candidates->list[best];
        const uint64_t cost = candidates->cost[best];
        for (unsigned i = best; i > place; i--) { /* the others keep their order */
            candidates->list[i] = candidates->list[i - 1];
            candidates->cost[i] = candidates->cost[i - 1];
        }
        candidates->list[place] = choice;
        candidates->cost[place] = cost;
    }
    candidates->count = candidates->count < count ? candidates->count : count;
}

/* ---- the whole array ---- */

static uint64_t
cost_of(const struct lattice_search *search, const struct lattice_choice *choice,
        const struct lattice_workspace *workspace, unsigned threads)
{
    encode_array(search, choice, workspace, threads);
    if (search->settings->effort == LATTICE_MAX) {
        return h5twin_lattice_code(search, workspace);
    }
    return search->loops->cost(workspace->codes, search->shape->count, search->settings->effort);
}

/* Two candidates, a thread each. */
struct duel {
    const struct lattice_search *search;
    struct candidates *candidates;
};

static void
cost_finalist(void *context, size_t i)
{
    const struct duel *const duel = context;
    duel->candidates->cost[i] =
        cost_of(duel->search, &duel->candidates->list[i], &duel->search->workspaces[i], 1);
}

/* The codes of the cheapest candidate end in workspaces[0]. Its levels hold a stream instead of
 * values if the effort is max. */
static unsigned
cheapest_on_all(struct lattice_search *search, struct candidates *candidates)
{
    struct lattice_workspace *const spaces = search->workspaces;
    const unsigned threads = search->settings->threads;
    unsigned best = 0;
    if (candidates->count == 2 && (threads == 2 || threads == 3) &&
        search->settings->effort != LATTICE_MAX) {
        struct duel duel = {.search = search, .candidates = candidates};
        h5twin_parallel_for(2, 2, cost_finalist, &duel);
        best = candidates->cost[1] < candidates->cost[0];
        if (best == 0) {
            return best;
        }
    } else {
        for (unsigned i = 0; i < candidates->count; i++) {
            candidates->cost[i] = cost_of(search, &candidates->list[i], &spaces[i > 0], threads);
            if (i > 0 && candidates->cost[i] < candidates->cost[best]) {
                best = i;
                const struct lattice_workspace swapped = spaces[0];
                spaces[0] = spaces[1];
                spaces[1] = swapped;
            }
        }
        return best;
    }
    const struct lattice_workspace swapped = spaces[0];
    spaces[0] = spaces[1];
    spaces[1] = swapped;
    return best;
}

enum h5twin_status
h5twin_lattice_search(struct lattice_search *search, struct lattice_choice *choice)
{
    struct candidates candidates;
    const enum lattice_effort effort = search->settings->effort;
    const size_t budget = effort == LATTICE_FAST ? FAST_BUDGET : BALANCED_BUDGET;
    list_candidates(&candidates, search->shape, search->stable);
    if (effort != LATTICE_MAX && search->shape->count > CROPS * budget) {
        const enum h5twin_status status = cost_by_samples(search, &candidates, budget);
        if (status != H5TWIN_OK) {
            return status;
        }
        keep_cheapest(&candidates, effort == LATTICE_FAST ? 1 : FINALISTS);
        if (effort == LATTICE_FAST) {
            *choice = candidates.list[0];
            h5twin_lattice_apply(search, choice);
            return H5TWIN_OK;
        }
    }
    *choice = candidates.list[cheapest_on_all(search, &candidates)];
    if (effort == LATTICE_MAX) {
        h5twin_lattice_apply(search, choice);
    }
    return H5TWIN_OK;
}
