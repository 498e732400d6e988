/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_search.c: see lattice_search.h.
 *
 * All candidates code eight small samples, side by side; the cheapest one codes the array, or the
 * two cheapest if samples do not tell clearly, or all of them if the array is small. Costs are
 * integers that depend on nothing but the codes.
 */
#include "lattice_search.h"

#include "../common/kept_memory.h"
#include "../common/parallel.h"
#include "../common/scratch_pool.h"
#include "../residuals/residuals.h"
#include "lattice_cost_core.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct candidates {
    unsigned count;
    struct lattice_choice list[LATTICE_MOST_CANDIDATES];
    uint64_t cost[LATTICE_MOST_CANDIDATES];
};

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

static struct lattice_choice
make_choice(unsigned predictor, unsigned arg, bool cubic)
{
    return (struct lattice_choice){.predictor = predictor, .arg = arg, .cubic = cubic};
}

unsigned
h5twin_lattice_candidates(struct lattice_choice list[LATTICE_MOST_CANDIDATES],
                          const struct lattice_shape *shape, bool stable)
{
    unsigned axes = 0, count = 0;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        axes |= (unsigned)(shape->extent[axis] > 1) << axis;
    }
    for (unsigned mask = 0; mask < 16; mask++) {
        if ((mask & ~axes) != 0) {
            continue;
        }
        list[count++] = make_choice(LATTICE_LORENZO, first_orders(mask), false);
        if (mask != 0 && (mask & (mask - 1)) == 0) {
            list[count++] = make_choice(LATTICE_LORENZO, 2 * first_orders(mask), false);
        }
    }
    const unsigned predictor = stable ? LATTICE_BINS : LATTICE_INTERPOLATE;
    for (unsigned mask = 1; mask < 16; mask++) {
        if ((mask & ~axes) == 0) {
            list[count++] = make_choice(predictor, mask, false);
            list[count++] = make_choice(predictor, mask, true);
        }
    }
    return count;
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

/* The stream goes to the levels, its scratch lies behind both. */
static struct h5twin_residuals
residuals_of(const struct lattice_search *search, const struct lattice_workspace *workspace)
{
    const enum h5twin_residuals_way way = way_of(search->settings->effort);
    const size_t room = stream_room(search->shape->count, search->loops, way);
    return (struct h5twin_residuals){
        .word_bits = 8 * search->loops->integer_size,
        .threads = search->settings->threads,
        .isa = search->isa,
        .scratch = (uint8_t *)workspace->levels + room,
    };
}

size_t
h5twin_lattice_code(const struct lattice_search *search, const struct lattice_workspace *workspace)
{
    const struct h5twin_residuals how = residuals_of(search, workspace);
    return h5twin_residuals_encode(&how, way_of(search->settings->effort), workspace->levels,
                                   workspace->codes, search->shape->count);
}

static void
encode_array(const struct lattice_search *search, const struct lattice_choice *choice,
             const struct lattice_workspace *workspace, unsigned threads)
{
    const bool takes_bins = search->bins != NULL && choice->predictor != LATTICE_INTERPOLATE;
    const struct lattice_array array = {
        .shape = search->shape,
        .choice = *choice,
        .width = search->width,
        .integers = takes_bins ? search->bins : search->integers,
        .specials = search->specials,
        .is_binned = search->is_binned || takes_bins,
        .is_bounded = search->is_bounded,
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

/* Candidates that are tried together: Lorenzo's, or an interpolation's two kinds of weights. */
struct trial {
    unsigned first, count; /* in the list */
};

struct sampling {
    const struct lattice_search *search;
    struct candidates *candidates;
    struct lattice_samples samples; /* but for the room */
    struct h5twin_scratch_pool pool;
    unsigned trial_count;
    struct trial trials[LATTICE_MOST_CANDIDATES];
};

static void
list_trials(struct sampling *sampling)
{
    const struct candidates *const candidates = sampling->candidates;
    sampling->trial_count = 0;
    for (unsigned i = 0; i < candidates->count;) {
        struct trial *const trial = &sampling->trials[sampling->trial_count++];
        *trial = (struct trial){i, 1};
        if (candidates->list[i].predictor != LATTICE_LORENZO) {
            trial->count = 2;
        }
        i += trial->count;
    }
}

static void
try_candidates(void *context, size_t number)
{
    struct sampling *const sampling = context;
    const struct trial *const trial = &sampling->trials[number];
    const struct lattice_choice *const choice = &sampling->candidates->list[trial->first];
    const struct lattice_loops *const loops = sampling->search->loops;
    uint64_t *const cost = &sampling->candidates->cost[trial->first];
    struct lattice_samples samples = sampling->samples;
    samples.room = h5twin_scratch_pool_take(&sampling->pool);
    if (trial->count == 1) {
        *cost = loops->cost_lorenzo(&samples, choice->arg);
    } else {
        loops->cost_levels(&samples, choice->predictor, choice->arg, cost);
    }
    h5twin_scratch_pool_give_back(&sampling->pool, samples.room);
}

/* Costs of all candidates on the samples. */
static enum h5twin_status
cost_by_samples(const struct lattice_search *search, struct candidates *candidates, size_t budget)
{
    struct lattice_shape crop;
    h5twin_lattice_crop(&crop, search->shape, budget);
    const size_t size = search->loops->integer_size, items = crop.count * LATTICE_LANES;
    const size_t laid_size = (items * (2 * size + 1) + 63) / 64 * 64;
    const size_t room = LATTICE_SAMPLE_ROOM * items * size;
    struct sampling sampling = {.search = search, .candidates = candidates};
    list_trials(&sampling);
    const unsigned threads = search->settings->threads < sampling.trial_count
                                 ? search->settings->threads
                                 : sampling.trial_count;
    const size_t memory_size = laid_size + threads * room;
    uint8_t *const laid = h5twin_kept_take("lattice samples", memory_size);
    if (laid == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    uint8_t *const bins = laid + items * size, *const specials = bins + items * size;
    sampling.samples =
        (struct lattice_samples){.shape = &crop,
                                 .width = search->width,
                                 .effort = search->settings->effort,
                                 .integers = laid,
                                 .bins = search->is_binned ? laid : bins,
                                 .specials = search->specials == NULL ? NULL : specials};
    h5twin_scratch_pool_init_in(&sampling.pool, threads, laid + laid_size, room);
    h5twin_lattice_lay_samples(laid, search->integers, size, search->shape, &crop);
    if (search->specials != NULL) {
        h5twin_lattice_lay_samples(specials, search->specials, 1, search->shape, &crop);
    }
    if (!search->is_binned) {
        search->loops->bins(bins, laid, items, search->width);
    }
    h5twin_parallel_for(threads, sampling.trial_count, try_candidates, &sampling);
    h5twin_scratch_pool_destroy(&sampling.pool);
    h5twin_kept_give_back(laid, memory_size);
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

static uint64_t
estimate_stream(const struct lattice_search *search, const struct lattice_workspace *workspace)
{
    const size_t count = search->shape->count;
    const struct h5twin_residuals how = residuals_of(search, workspace);
    return h5twin_residuals_rans_estimate(&how, workspace->codes, count);
}

static void
swap_workspaces(struct lattice_search *search, unsigned a, unsigned b)
{
    const struct lattice_workspace swapped = search->workspaces[a];
    search->workspaces[a] = search->workspaces[b];
    search->workspaces[b] = swapped;
}

unsigned
h5twin_lattice_workspace_count(const struct lattice_settings *settings, size_t count)
{
    return settings->effort == LATTICE_FAST && count > (size_t)1 << 16      ? 1
           : settings->effort == LATTICE_BALANCED && count <= LATTICE_SHORT ? 3
                                                                            : 2;
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
        const unsigned next = spaces[2].codes != NULL ? 2 : 1;
        unsigned second = UINT_MAX;
        for (unsigned i = 0; i < candidates->count; i++) {
            uint64_t *const cost = candidates->cost;
            cost[i] = cost_of(search, &candidates->list[i], &spaces[i > 0 ? next : 0], threads);
            if (i > 0 && cost[i] < cost[best]) {
                second = best;
                best = i;
                swap_workspaces(search, 0, next);
                swap_workspaces(search, 1, next);
            } else if (i > 0 && (second == UINT_MAX || cost[i] < cost[second])) {
                second = i;
                swap_workspaces(search, 1, next);
            }
        }
        return best;
    }
    swap_workspaces(search, 0, 1);
    return best;
}

/* The two cheapest candidates again, by what their streams would take, about. The codes of the
 * first are in workspaces[0]; has_both: those of the second in workspaces[1]. */
static unsigned
smaller_stream(struct lattice_search *search, const struct candidates *candidates, bool has_both)
{
    struct lattice_workspace *const spaces = search->workspaces;
    if (!has_both) {
        encode_array(search, &candidates->list[1], &spaces[1], search->settings->threads);
    }
    if (estimate_stream(search, &spaces[0]) <= estimate_stream(search, &spaces[1])) {
        return 0;
    }
    swap_workspaces(search, 0, 1);
    return 1;
}

/* Bins of all integers of a short array, for the many candidates that take them: differences, and
 * interpolation of bins. False if memory is short. */
static bool
make_bins(const struct lattice_search *search, void **bins, size_t *size)
{
    *bins = NULL;
    *size = search->shape->count * search->loops->integer_size;
    if (search->is_binned || search->width == 1 || search->shape->count > LATTICE_SHORT) {
        return true;
    }
    *bins = h5twin_kept_take("lattice bins", *size);
    if (*bins != NULL) {
        search->loops->bins(*bins, search->integers, search->shape->count, search->width);
    }
    return *bins != NULL;
}

/* Of a short array's interpolations only those go on that would be cheapest. */
static bool
drop_interpolations(const struct lattice_search *search, struct candidates *candidates)
{
    const bool is_fast = search->settings->effort == LATTICE_FAST;
    const size_t count = search->shape->count;
    struct candidates some = {.count = 0};
    unsigned first = 0;
    while (candidates->list[first].predictor == LATTICE_LORENZO) {
        first++;
    }
    if (!lattice_is_screened(is_fast, count, candidates->count - first)) {
        return true;
    }
    const size_t room_size = LATTICE_SCREEN_ROOM * count * search->loops->integer_size;
    void *const room = h5twin_kept_take("lattice screen", room_size);
    if (room == NULL) {
        return false;
    }
    const bool is_of_bins = search->stable;
    const void *const bins = search->bins != NULL ? search->bins : search->integers;
    const struct lattice_screen screen = {.shape = search->shape,
                                          .width = is_of_bins ? 1 : search->width,
                                          .integers = is_of_bins ? bins : search->integers,
                                          .bins = bins,
                                          .specials = search->specials,
                                          .room = room};
    uint64_t cost[LATTICE_SETS][2];
    search->loops->screen(&screen, cost);
    h5twin_kept_give_back(room, room_size);
    for (unsigned i = first; i < candidates->count; i++) {
        some.list[some.count] = candidates->list[i];
        some.cost[some.count++] = cost[candidates->list[i].arg][candidates->list[i].cubic];
    }
    keep_cheapest(&some, LATTICE_MANY_TRIES);
    while (!lattice_is_promising(is_fast, count, some.count - 1, some.cost[0],
                                 some.cost[some.count - 1])) {
        some.count--;
    }
    memcpy(candidates->list + first, some.list, some.count * sizeof *some.list);
    candidates->count = first + some.count;
    return true;
}

/* The best of candidates that code the array. */
static struct lattice_choice
choose_by_coding(struct lattice_search *search, struct candidates *candidates)
{
    const bool has_both = candidates->count == 2 || search->workspaces[2].codes != NULL;
    unsigned best = cheapest_on_all(search, candidates);
    if (search->settings->effort == LATTICE_BALANCED && candidates->count > 1) {
        keep_cheapest(candidates, 2);
        best = 0;
        if (lattice_is_close(candidates->cost[0], candidates->cost[1], search->shape->count)) {
            best = smaller_stream(search, candidates, has_both);
        }
    }
    return candidates->list[best];
}

enum h5twin_status
h5twin_lattice_search(struct lattice_search *search, struct lattice_choice *choice)
{
    struct candidates candidates;
    const enum lattice_effort effort = search->settings->effort;
    const size_t budget = effort == LATTICE_FAST ? LATTICE_FAST_BUDGET : LATTICE_BALANCED_BUDGET;
    candidates.count = h5twin_lattice_candidates(candidates.list, search->shape, search->stable);
    if (effort != LATTICE_MAX && search->shape->count > LATTICE_SAMPLES * budget) {
        const enum h5twin_status status = cost_by_samples(search, &candidates, budget);
        if (status != H5TWIN_OK) {
            return status;
        }
        keep_cheapest(&candidates, lattice_finalists(effort == LATTICE_FAST, search->shape->count));
        if (candidates.count == 1 ||
            lattice_is_clear(candidates.cost[0], candidates.cost[1], search->specials != NULL)) {
            *choice = candidates.list[0];
            h5twin_lattice_apply(search, choice);
            return H5TWIN_OK;
        }
    }
    void *bins = NULL;
    size_t bins_size = 0;
    bool is_ready = true;
    if (candidates.count > 2) {
        is_ready = make_bins(search, &bins, &bins_size);
        search->bins = bins;
        is_ready = is_ready && (effort == LATTICE_MAX || drop_interpolations(search, &candidates));
    }
    if (is_ready) {
        *choice = choose_by_coding(search, &candidates);
    }
    search->bins = NULL;
    h5twin_kept_give_back(bins, bins_size);
    if (is_ready && effort == LATTICE_MAX) {
        h5twin_lattice_apply(search, choice);
    }
    return is_ready ? H5TWIN_OK : H5TWIN_ERR_MEMORY;
}
