/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_fold.c: see lattice_fold.h. Arrays without a mirror pay for some fifty pairs of values an
 * axis. */
#include "lattice_fold.h"

#include "../common/bytes.h"
#include "../common/kept_memory.h"
#include "lattice_fold_core.h"
#include "lattice_quantize_core.h"

#include <string.h>

/* ---- mirrors ---- */

static int64_t
item_at(const struct lattice_search *search, bool wide, size_t index)
{
    return wide ? ((const int64_t *)search->integers)[index]
                : ((const int32_t *)search->integers)[index];
}

/* The integer of a value that is not special, where all that is left are bins. */
static int64_t
integer_of_word(const struct lattice_search *search, size_t index)
{
    const unsigned size = search->map->word_size;
    int64_t integer;
    (void)lattice_quantize_word(search->map, h5twin_load_word(search->words + index * size, size),
                                &integer);
    return integer;
}

/* Whether the integers a and sign * b of an array are more than a width apart. Those of bins that
 * are neighbours may be that far apart or not; those of the same bin never are, those of others
 * always: but for the last bins of all, which are cut off. */
static bool
is_apart(const struct lattice_search *search, size_t a, size_t b, int64_t sign)
{
    const bool wide = search->loops->integer_size == 8;
    const int64_t width = (int64_t)search->width;
    const int64_t first = item_at(search, wide, a), second = sign * item_at(search, wide, b);
    if (search->is_binned && width > 1) {
        const int64_t last =
            wide ? h5twin_lattice_last_bin64(width) : h5twin_lattice_last_bin32((int32_t)width);
        const bool is_last = first == last || first == -last || second == last || second == -last;
        if (first == second && !is_last) {
            return false;
        }
        if ((first - second > 1 || first - second < -1) && !is_last) {
            return true;
        }
        return lattice_is_apart(integer_of_word(search, a), sign * integer_of_word(search, b),
                                search->width);
    }
    return lattice_is_apart(first, second, search->width);
}

static void
look_at_pair(struct lattice_mirrors *mirrors, const struct lattice_search *search, unsigned axis,
             uint32_t number)
{
    const struct lattice_pair pair = lattice_pair_of(search->shape, axis, number);
    const uint8_t *const specials = search->specials;
    if (specials != NULL && (specials[pair.at] | specials[pair.away]) != 0) {
        return;
    }
    const bool is_away[2] = {is_apart(search, pair.at, pair.away, 1),
                             is_apart(search, pair.at, pair.away, -1)};
    for (unsigned kind = 1; kind <= LATTICE_FOLD_KINDS; kind++) {
        const size_t mirror = pair.mirror[kind - 1];
        const int64_t sign = lattice_mirror_sign(kind);
        if (!lattice_is_hopeless(mirrors, kind) && (specials == NULL || specials[mirror] == 0)) {
            lattice_note_pair(mirrors, kind, number, is_apart(search, pair.at, mirror, sign),
                              is_away[sign < 0]);
        }
    }
}

static unsigned
find_mirror(const struct lattice_search *search, unsigned axis)
{
    struct lattice_mirrors mirrors = {.seen = {0}};
    if (search->shape->extent[axis] < LATTICE_MIRROR_AXIS) {
        return 0;
    }
    for (uint32_t pair = 0; pair < LATTICE_MIRROR_PAIRS; pair++) {
        bool is_hopeless = true;
        for (unsigned kind = 1; kind <= LATTICE_FOLD_KINDS; kind++) {
            is_hopeless = is_hopeless && lattice_is_hopeless(&mirrors, kind);
        }
        if (is_hopeless) {
            return 0;
        }
        look_at_pair(&mirrors, search, axis, pair);
    }
    return lattice_mirror_kind(&mirrors);
}

/* ---- trying them ---- */

/* The core of an array, and room to code it. */
struct fold_trial {
    struct lattice_folds folds;
    struct lattice_shape core;
    struct lattice_search search; /* of the core; its codes have room for those of all values */
    uint8_t *memory, *bins;
    size_t memory_size;
};

static size_t
aligned(size_t size)
{
    return (size + 63) / 64 * 64;
}

/* Items of the core, one behind the other. */
static void
gather(uint8_t *core, const uint8_t *items, size_t size, const struct fold_trial *trial,
       const struct lattice_shape *shape)
{
    const size_t *const extent = trial->core.extent;
    const size_t row_size = extent[3] * size, rows = trial->core.count / extent[3];
    for (size_t row = 0; row < rows; row++) {
        const size_t at = row / (extent[1] * extent[2]) * shape->stride[0] +
                          row / extent[2] % extent[1] * shape->stride[1] +
                          row % extent[2] * shape->stride[2];
        memcpy(core + row * row_size, items + at * size, row_size);
    }
}

static enum h5twin_status
trial_begin(struct fold_trial *trial, const struct lattice_search *search,
            const struct lattice_folds *folds)
{
    const size_t count = search->shape->count, size = search->loops->integer_size;
    trial->folds = *folds;
    trial->core = lattice_core_shape(search->shape, folds);
    trial->search = *search;
    trial->search.shape = &trial->core;
    trial->search.stable = true;
    const size_t integers = aligned(count * size);
    const size_t levels = h5twin_lattice_most_levels(&trial->core, !search->is_binned) * size;
    const size_t coding = h5twin_lattice_coding_room(count, search->loops, search->settings);
    const size_t room = aligned(levels > coding ? levels : coding);
    const unsigned spaces = h5twin_lattice_workspace_count(search->settings, trial->core.count);
    trial->memory_size = 2 * integers + aligned(count) + spaces * (integers + room);
    trial->memory = h5twin_kept_take("lattice folds", trial->memory_size);
    if (trial->memory == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    trial->bins = trial->memory + integers;
    uint8_t *const specials = trial->bins + integers;
    uint8_t *at = specials + aligned(count);
    for (unsigned i = 0; i < spaces; i++, at += integers + room) {
        trial->search.workspaces[i] =
            (struct lattice_workspace){.codes = at, .levels = at + integers};
    }
    gather(trial->memory, search->integers, size, trial, search->shape);
    trial->search.integers = trial->memory;
    if (search->specials != NULL) {
        gather(specials, search->specials, 1, trial, search->shape);
        trial->search.specials = specials;
    }
    return H5TWIN_OK;
}

/* Codes of all values behind those of the core: what they mirror is what a decoder has there. With
 * differences those are the bins themselves; specials have some, too. */
static void
fold(struct fold_trial *trial, const struct lattice_search *search,
     const struct lattice_choice *choice)
{
    const struct lattice_loops *const loops = search->loops;
    const struct lattice_workspace *const space = &trial->search.workspaces[0];
    const size_t core_size = trial->core.count * loops->integer_size;
    const struct lattice_array array = {
        .shape = &trial->core, .choice = *choice, .width = search->width, .levels = space->levels};
    if (choice->predictor == LATTICE_LORENZO) {
        loops->bins(trial->bins, search->integers, search->shape->count,
                    search->is_binned ? 1 : search->width);
    } else {
        loops->spread(&array, search->shape, trial->bins);
    }
    loops->fold(search->shape, &trial->folds, search->is_binned ? 1 : search->width, trial->bins,
                search->integers, search->specials, (uint8_t *)space->codes + core_size);
}

static uint64_t
price(const struct lattice_search *search, const struct lattice_workspace *workspace)
{
    return search->settings->effort == LATTICE_MAX
               ? h5twin_lattice_code(search, workspace)
               : search->loops->cost(workspace->codes, search->shape->count,
                                     search->settings->effort);
}

/* One more axis; taken if it costs less than the least so far. */
static enum h5twin_status
try_axis(struct lattice_search *search, struct lattice_choice *choice, struct lattice_folds *folds,
         unsigned axis, unsigned kind, uint64_t *least)
{
    struct fold_trial trial;
    struct lattice_folds more = *folds;
    struct lattice_choice found;
    more.kind[axis] = kind;
    enum h5twin_status status = trial_begin(&trial, search, &more);
    if (status == H5TWIN_OK) {
        status = h5twin_lattice_search(&trial.search, &found);
    }
    if (status == H5TWIN_OK) {
        fold(&trial, search, &found);
        const uint64_t cost = price(search, &trial.search.workspaces[0]);
        if (cost < *least) {
            *least = cost;
            *choice = found;
            *folds = more;
            memcpy(search->workspaces[0].codes, trial.search.workspaces[0].codes,
                   search->shape->count * search->loops->integer_size);
        }
    }
    h5twin_kept_give_back(trial.memory, trial.memory_size);
    return status;
}

enum h5twin_status
h5twin_lattice_try_folds(struct lattice_search *search, struct lattice_choice *choice,
                         struct lattice_folds *folds)
{
    enum h5twin_status status = H5TWIN_OK;
    uint64_t least = 0;
    bool is_priced = false;
    *folds = (struct lattice_folds){{0}};
    for (unsigned axis = 0; axis < LATTICE_AXES && status == H5TWIN_OK; axis++) {
        const unsigned kind = find_mirror(search, axis);
        if (kind == 0) {
            continue;
        }
        if (!is_priced) {
            least = price(search, &search->workspaces[0]);
            is_priced = true;
        }
        status = try_axis(search, choice, folds, axis, kind, &least);
    }
    return status;
}
