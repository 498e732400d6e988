/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_decide.cuh: how a chunk is to be coded, by one block of threads: bound, missing data,
 * grid, and whether the values have been decoded from a payload before. lattice_plan_core.h
 * decides, by all threads alike, by surveys of the words (lattice_decide_surveys.cuh).
 * Source  FORMAT.md sections 7 and 8. */
#ifndef H5TWIN_LATTICE_DECIDE_CUH
#define H5TWIN_LATTICE_DECIDE_CUH

#include "lattice_decide_surveys.cuh"

/* ---- data that have been decoded from a payload ---- */

/* A chunk, and what is found out of it; the same for all threads. */
struct lattice_trial {
    const struct lattice_encoding *all;
    uint64_t chunk;
    struct lattice_header header; /* map and shape */
    bool searches, stable;
};

/* The integers of the chunk under the trial's map; returns the number of specials. */
template <typename integer>
static __device__ uint64_t
lattice_quantize_chunk(const struct lattice_trial *trial)
{
    const struct lattice_encoding *const all = trial->all;
    integer *const integers = lattice_integers_of<integer>(all, trial->chunk);
    uint8_t *const mask = lattice_mask_of(all, trial->chunk);
    const uint8_t *const words = lattice_source(all, trial->chunk);
    uint64_t specials = 0;
    for (uint64_t i = threadIdx.x; i < all->value_count; i += blockDim.x) {
        int64_t found;
        const bool regular = lattice_quantize_word(
            &trial->header.map, lattice_word_at(words, i, all->settings.word_size), &found);
        integers[i] = (integer)found;
        mask[i] = !regular;
        specials += !regular;
    }
    return residuals_block_sum(specials);
}

static __device__ bool
lattice_chunk_is_on_grid(const struct lattice_trial *trial, const struct lattice_map *map)
{
    const struct lattice_encoding *const all = trial->all;
    const uint8_t *const words = lattice_source(all, trial->chunk);
    for (uint64_t base = 0; base < all->value_count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const bool off = i < all->value_count &&
                         !lattice_is_on_grid(map, lattice_word_at(words, i, map->word_size));
        if (__syncthreads_or(off) != 0) { /* of other data, at once */
            return false;
        }
    }
    return true;
}

/* What a width must divide. */
struct lattice_differences {
    uint64_t known; /* the width; 0: to be found */
    uint64_t divisor;
    bool bad;
};

static __device__ __forceinline__ void
lattice_take_difference(struct lattice_differences *differences, uint64_t difference)
{
    if (differences->known != 0) {
        differences->bad |= difference % differences->known != 0;
    } else if (difference != 0) {
        differences->divisor = lattice_common_divisor(
            difference >> h5twin_trailing_zeros64(difference), differences->divisor);
    }
}

template <typename integer>
static __device__ __forceinline__ void
lattice_take_guess(struct lattice_differences *differences, integer value, integer guess)
{
    const integer limit = lattice_limit((integer)0);
    if (value != limit && value != -limit) {
        const int64_t difference = (int64_t)value - (int64_t)guess;
        lattice_take_difference(differences, difference < 0 ? UINT64_C(0) - (uint64_t)difference
                                                            : (uint64_t)difference);
    }
}

/* Whether some width is left for all threads' differences. */
static __device__ bool
lattice_differences_fit(struct lattice_differences *differences, uint64_t least)
{
    if (differences->known != 0) {
        return __syncthreads_or(differences->bad) == 0;
    }
    differences->divisor = lattice_reduce(differences->divisor, LATTICE_DIVISOR);
    return differences->divisor == 0 || differences->divisor >= least;
}

/* Anchors must be whole numbers of steps; values get what a decoder sees. */
template <typename integer>
static __device__ void
lattice_check_anchors(const struct lattice_field<integer> *field, uint32_t levels, integer *values,
                      struct lattice_differences *differences)
{
    struct lattice_shape grid;
    uint32_t last = 0;
    lattice_anchor_shape(&grid, field->header, levels);
    for (uint64_t base = 0; base < grid.count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        uint32_t coordinate[LATTICE_AXES] = {0, 0, 0, 0}, all;
        if (i < grid.count) {
            lattice_anchor(coordinate, i, &grid, field->header->choice.arg, levels);
        }
        const uint64_t at = lattice_place(field, coordinate);
        const bool is_regular = i < grid.count && field->mask[at] == 0;
        const uint32_t found = lattice_largest_so_far(is_regular ? (uint32_t)i + 1 : 0, &all);
        const uint32_t regular = found > last ? found : last;
        last = all > last ? all : last;
        if (is_regular) {
            lattice_take_guess(differences, field->integers[at], (integer)0);
        }
        if (i < grid.count) {
            uint32_t from[LATTICE_AXES];
            lattice_anchor(from, regular == 0 ? 0 : regular - 1, &grid, field->header->choice.arg,
                           levels);
            values[at] = regular == 0 ? 0 : field->integers[lattice_place(field, from)];
        }
    }
    __syncthreads();
}

template <typename integer, typename word>
static __device__ void
lattice_check_pass(const struct lattice_field<integer> *field, uint32_t level, uint32_t odd,
                   integer *values, struct lattice_differences *differences)
{
    struct lattice_points points;
    lattice_points_open(&points, field->header, level, odd);
    for (uint64_t i = threadIdx.x; i < points.count; i += blockDim.x) {
        uint32_t coordinate[LATTICE_AXES], steps[LATTICE_AXES];
        const uint64_t at = lattice_point(&points, i, coordinate, steps);
        const integer guess = lattice_clamp(
            lattice_predict<integer, word>(values + at, field->header, level, odd, steps),
            lattice_limit((integer)0));
        const bool is_regular = field->mask[at] == 0;
        if (is_regular) {
            lattice_take_guess(differences, field->integers[at], guess);
        }
        values[at] = is_regular ? field->integers[at] : guess;
    }
}

/* Whether interpolation by the header's choice comes to these integers, all in whole steps. */
template <typename integer, typename word>
static __device__ bool
lattice_levels_fit(const struct lattice_field<integer> *field, integer *values,
                   struct lattice_differences *differences, uint64_t least)
{
    const uint32_t active = field->header->choice.arg;
    const uint32_t levels = lattice_level_number(&field->header->shape, active);
    lattice_check_anchors(field, levels, values, differences);
    if (!lattice_differences_fit(differences, least)) {
        return false;
    }
    for (uint32_t level = levels; level-- > 0;) {
        for (uint32_t group = 1; group <= LATTICE_AXES; group++) {
            for (uint32_t odd = 1; odd < 1u << LATTICE_AXES; odd++) {
                if ((odd & ~active) == 0 && h5twin_popcount32(odd) == group) {
                    lattice_check_pass<integer, word>(field, level, odd, values, differences);
                }
            }
            __syncthreads();
            if (!lattice_differences_fit(differences, least)) {
                return false;
            }
        }
    }
    return true;
}

/* The width that the differences allow: 0 if any does; false if none does. */
static __device__ bool
lattice_width_of(const struct lattice_differences *differences, uint64_t least, bool wide,
                 uint32_t *width)
{
    const uint32_t most = wide ? LATTICE_MOST_WIDTH64 : LATTICE_MOST_WIDTH32;
    *width = (uint32_t)differences->known;
    if (differences->known != 0) {
        return true;
    }
    if (differences->divisor <= most) {
        *width = (uint32_t)differences->divisor;
        return true;
    }
    for (*width = most; *width >= least && *width > 1; *width -= 2) {
        if (differences->divisor % *width == 0) {
            return true;
        }
    }
    return false;
}

static __device__ __forceinline__ struct lattice_differences
lattice_differences_open(uint32_t known)
{
    struct lattice_differences differences = {};
    differences.known = known;
    return differences;
}

template <typename integer>
static __device__ bool
lattice_integers_fit(const struct lattice_field<integer> *field,
                     struct lattice_differences *differences, uint64_t least)
{
    for (uint64_t i = threadIdx.x; i < field->header->shape.count; i += blockDim.x) {
        if (field->mask[i] == 0) {
            lattice_take_guess(differences, field->integers[i], (integer)0);
        }
    }
    return lattice_differences_fit(differences, least);
}

static __device__ __forceinline__ bool
lattice_has_flat_axis(const struct lattice_shape *shape, uint32_t axes)
{
    bool flat = false;
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        flat = flat || ((axes >> axis & 1u) != 0 && shape->extent[axis] == 1);
    }
    return flat;
}

/* Whether a value would be missing in the coding after this one, though all are on the map's grid:
 * interpolation could not predict the others as before. */
static __device__ bool
lattice_has_lost_zero(const struct lattice_trial *trial)
{
    const struct lattice_map *const map = &trial->header.map;
    const struct lattice_values values = lattice_values_of_chunk(trial->all, trial->chunk);
    const uint64_t negative_zero = UINT64_C(1) << (8 * map->word_size - 1);
    return lattice_loses_negative_zero(map) &&
           lattice_survey_count_word(&values, negative_zero) > 0;
}

/* Which predictor reproduces the integers of the chunk: any on bins (then it is searched), or an
 * interpolation. On success the header has width and choice. */
template <typename integer, typename word>
static __device__ bool
lattice_find_predictor(struct lattice_trial *trial, uint32_t known)
{
    struct lattice_header *const header = &trial->header;
    const uint32_t planned = header->map.width;
    const uint64_t least = planned / 4 > 3 ? planned / 4 : 3;
    integer *const values = lattice_values_of<integer>(trial->all, trial->chunk, 0);
    struct lattice_field<integer> field = {
        header, lattice_integers_of<integer>(trial->all, trial->chunk),
            lattice_mask_of(trial->all, trial->chunk),
        {
        }
    };
    uint32_t width;
    for (uint32_t axis = 0; axis < LATTICE_AXES; axis++) {
        field.stride[axis] = header->shape.stride[axis];
    }
    struct lattice_differences differences = lattice_differences_open(known);
    if (lattice_integers_fit(&field, &differences, least) &&
        lattice_width_of(&differences, least, header->map.wide, &width)) {
        header->map.width = width != 0 ? width : planned;
        trial->searches = trial->stable = true;
        return true;
    }
    if (lattice_has_lost_zero(trial)) {
        return false;
    }
    for (uint32_t choice = 2; choice < 32; choice++) {
        header->choice.predictor = LATTICE_INTERPOLATE;
        header->choice.arg = choice / 2;
        header->choice.cubic = choice % 2 != 0;
        differences = lattice_differences_open(known);
        __syncthreads();
        if (!lattice_has_flat_axis(&header->shape, choice / 2) &&
            lattice_levels_fit<integer, word>(&field, values, &differences, least) &&
            lattice_width_of(&differences, least, header->map.wide, &width)) {
            header->map.width = width != 0 ? width : planned;
            trial->searches = false;
            return true;
        }
    }
    return false;
}

/* What lattice_plan_core.h asks for. */
static __device__ bool
lattice_try_again(struct lattice_trial *trial, const struct lattice_map *map, uint32_t known)
{
    if (!lattice_chunk_is_on_grid(trial, map)) {
        return false;
    }
    trial->header.map = *map;
    __syncthreads();
    const uint64_t specials =
        map->wide ? lattice_quantize_chunk<int64_t>(trial) : lattice_quantize_chunk<int32_t>(trial);
    __syncthreads();
    if (specials == trial->all->value_count) {
        return false;
    }
    if (known == 1) { /* bins are integers: anything reproduces them */
        trial->searches = true;
        trial->stable = lattice_is_stable(&trial->all->settings);
        return true;
    }
    return map->wide ? lattice_find_predictor<int64_t, uint64_t>(trial, known)
                     : lattice_find_predictor<int32_t, uint32_t>(trial, known);
}

#define LATTICE_FUNCTION static __device__
#include "lattice_plan_core.h"

/* ---- a chunk ---- */

static __device__ bool
lattice_chunk_is_constant(const struct lattice_encoding *all, uint64_t chunk)
{
    const uint8_t *const words = lattice_source(all, chunk);
    const uint32_t size = all->settings.word_size;
    if (all->surveys != nullptr) {
        return all->surveys[chunk].differs == 0;
    }
    for (uint64_t base = 0; base < all->value_count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const bool differs = i < all->value_count &&
                             lattice_word_at(words, i, size) != lattice_word_at(words, 0, size);
        if (__syncthreads_or(differs) != 0) {
            return false;
        }
    }
    return true;
}

/* Absolute and range-relative bounds; false: not to be coded. */
static __device__ bool
lattice_decide_bounded(struct lattice_trial *trial)
{
    const struct lattice_settings *const settings = &trial->all->settings;
    const struct lattice_values values = lattice_values_of_chunk(trial->all, trial->chunk);
    struct lattice_plan plan;
    lattice_plan_make(&plan, settings, &values);
    if (!lattice_bound_is_usable(&plan, plan.sides[0].bound)) {
        return false;
    }
    if (lattice_try_sides(trial, settings, &plan)) {
        return true;
    }
    trial->searches = true;
    trial->stable = lattice_is_stable(settings);
    const bool fits = lattice_new_map(&trial->header.map, settings, &plan);
    lattice_set_limits(&trial->header.map, settings);
    return fits;
}

static __device__ bool
lattice_decide_relative(struct lattice_trial *trial)
{
    const struct lattice_settings *const settings = &trial->all->settings;
    struct lattice_map map;
    if (!lattice_relative_map(&map, settings->bound, settings->word_size)) {
        return false;
    }
    if (!lattice_try_relative(trial, settings, &map)) {
        trial->header.map = map;
        lattice_set_limits(&trial->header.map, settings);
        trial->searches = true;
        trial->stable = lattice_is_stable(settings);
    }
    return true;
}

/* How the chunk is coded, as far as it can be known before predictors are tried. */
static __device__ uint32_t
lattice_decide(struct lattice_trial *trial)
{
    const struct lattice_encoding *const all = trial->all;
    if (all->value_count == 0 || all->settings.word_size < 4) {
        return LATTICE_VERBATIM;
    }
    if (lattice_chunk_is_constant(all, trial->chunk)) {
        return LATTICE_CONSTANT;
    }
    if (all->settings.mode == H5TWIN_LOSSLESS) {
        return LATTICE_VERBATIM;
    }
    if (lattice_is_left(&all->settings)) {
        return LATTICE_LEFT;
    }
    return (all->settings.mode == H5TWIN_REL ? lattice_decide_relative(trial)
                                             : lattice_decide_bounded(trial))
               ? LATTICE_CODED
               : LATTICE_VERBATIM;
}

#endif
