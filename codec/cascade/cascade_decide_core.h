/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_decide_core.h: numbers and formulas by which an encoder decides, for C and CUDA.
 * Source  FORMAT.md section 10. */
#ifndef H5TWIN_CASCADE_DECIDE_CORE_H
#define H5TWIN_CASCADE_DECIDE_CORE_H

#include "cascade_map_core.h"
#include "cascade_shape.h"

#include <stdbool.h>

#define CASCADE_TOP_ORDER        6u
#define CASCADE_MASKED_TOP_ORDER 3u    /* masked values are held there, not extrapolated as later */
#define CASCADE_MOST_STEPS       8u    /* of orders beyond the grid */
#define CASCADE_RARE             1000u /* one of so many exponents may lie above the common one */
#define CASCADE_MOST_EXPONENTS   2048u
#define CASCADE_GAP_BITS         2u /* of a dictionary's gap beside its length */

#define CASCADE_MASK_SAMPLES     2048u /* words that are looked at for a frequent one, */
#define CASCADE_MASK_FEW         512u  /* or so many */
#define CASCADE_MASK_SHARE       16u   /* one of so many */
#define CASCADE_SAMPLE_ERROR     16u   /* distinct words more or less */
#define CASCADE_DICTIONARY_LIMIT (UINT32_C(1) << 24) /* keys, not reached */

#define CASCADE_SLAB_BITS   1200u /* what a slab costs beside its values */
#define CASCADE_NIBBLE_BITS 6u    /* of a mask's nibble that is not 0 */

/* ---- mask ---- */

/* Where sample `number` of `count` lies for a frequent word: at even distances, or with a jitter
 * in the place of a stride, which could beat with rows. */
H5TWIN_HD size_t
cascade_sample_place(size_t value_count, size_t count, size_t number, bool jitters)
{
    const uint64_t product = (uint64_t)value_count * number;
    const size_t begin =
        (size_t)(count == CASCADE_MASK_SAMPLES ? product / CASCADE_MASK_SAMPLES : product / count);
    const uint32_t jitter = UINT32_C(2654435769) * (uint32_t)number;
    return begin + (jitters ? (size_t)((uint64_t)jitter * (value_count / count) >> 32) : 0);
}

/* Words of so many values that are looked at for a frequent one: at most `most`. */
H5TWIN_HD uint32_t
cascade_mask_samples(uint64_t value_count, uint32_t most)
{
    const uint64_t share = value_count / CASCADE_MASK_SHARE;
    const uint64_t wanted = share < CASCADE_MASK_FEW ? CASCADE_MASK_FEW : share;
    const uint64_t count = wanted < most ? wanted : most;
    return (uint32_t)(value_count < count ? value_count : count);
}

/* Whether so many masked values are worth a bitmap. */
H5TWIN_HD bool
cascade_mask_pays(size_t masked, size_t value_count)
{
    return masked > value_count / 64 && masked > 7;
}

/* Bits of a mask of which so many nibbles are not 0. */
H5TWIN_HD uint64_t
cascade_mask_cost(uint64_t nibbles, uint64_t value_count)
{
    return CASCADE_NIBBLE_BITS * nibbles + value_count / 256;
}

/* ---- words ---- */

/* At most three quarters of the words, distinct, are worth a dictionary. */
H5TWIN_HD bool
cascade_are_few(uint64_t distinct, uint64_t all)
{
    return 4 * distinct <= 3 * all;
}

/* As many distinct ones of the words at most. */
H5TWIN_HD uint64_t
cascade_most_of(uint64_t all)
{
    return 3 * all / 4;
}

/* Whether a sample by hash, one of 64 distinct words, says that the slab's are few: of the sampled
 * ones, `all` with their repetitions; and so many times 64 of those that are not masked, but for
 * the sample's error. Frequent words, which are in it or not, spoil the first; the second is worth
 * the time only if it leaves some room. */
H5TWIN_HD bool
cascade_sample_is_few(uint64_t distinct, uint64_t all, uint64_t unmasked)
{
    return cascade_are_few(distinct, all) &&
           distinct <= CASCADE_SAMPLE_ERROR + 23 * unmasked / (32 * 64);
}

/* Zero bits at the end of words whose OR is `all`, as far as a map may take them away. */
H5TWIN_HD unsigned
cascade_common_trailing(uint64_t all, unsigned word_bits, bool is_float)
{
    const unsigned stored = is_float ? h5twin_cascade_mantissa_bits(word_bits) : 0;
    const unsigned most = stored != 0 ? stored - 2 : word_bits - 1;
    const unsigned trailing = all == 0 ? 0 : h5twin_trailing_zeros64(all);
    return trailing < most ? trailing : most;
}

/* A cost of so many values, for more of them. */
H5TWIN_HD uint64_t
cascade_scaled_cost(uint64_t cost, uint64_t from_count, uint64_t to_count)
{
    return cost / from_count * to_count + cost % from_count * to_count / from_count;
}

/* What the value k before one counts in its difference of this order. */
H5TWIN_HD int32_t
cascade_signed_binomial(unsigned order, unsigned k)
{
    int32_t binomial = 1;
    for (unsigned i = 1; i <= k; i++) {
        binomial = binomial * (int32_t)(order - i + 1) / (int32_t)i;
    }
    return k % 2 != 0 ? -binomial : binomial;
}

/* ---- numbers of slabs ---- */

#define CASCADE_SLAB_CHOICES 4u   /* numbers of slabs that are tried at most */
#define CASCADE_COST_SAVING  64u  /* of the cost, one of so many, is worth more slabs */
#define CASCADE_TRIAL_SAVING 128u /* by few tiles, is worth a plan */
#define CASCADE_FIRST_TRIED  16u  /* slabs at most, which must cost less for others to be tried */

/* Whether a cost is less than the best one by one of so many. */
H5TWIN_HD bool
cascade_saves(uint64_t cost, uint64_t best_cost, unsigned least_saving)
{
    return cost < best_cost - best_cost / least_saving;
}

/* Whether choice number `choice`, after the first one, is tried when those before it were found to
 * promise something, a bit for each. */
H5TWIN_HD bool
cascade_choice_is_tried(unsigned choice, size_t slab_count, unsigned found)
{
    return choice == 1 || slab_count <= CASCADE_FIRST_TRIED || found != 0;
}

/* ---- tiles ---- */

struct h5twin_cascade_tile {
    size_t begin[CASCADE_MAX_RANK];
    size_t extent[CASCADE_MAX_RANK];
};

/* Extents of a tile: from the fastest axis outwards, until 64 values are reached. Returns how many
 * those are. */
H5TWIN_HD size_t
cascade_tile_extents(size_t extent[CASCADE_MAX_RANK], const struct h5twin_cascade_shape *shape)
{
    size_t left = CASCADE_TILE_VALUES, value_count = 1;
    for (unsigned axis = shape->rank; axis-- > 0;) {
        extent[axis] = shape->extent[axis] < left ? shape->extent[axis] : left;
        left = extent[axis] < shape->extent[axis] ? 1 : left / extent[axis];
        left = left == 0 ? 1 : left;
        value_count *= extent[axis];
    }
    return value_count;
}

/* As many tiles as wanted, or as fit. */
H5TWIN_HD unsigned
cascade_tile_count(size_t value_count, size_t tile_values, unsigned wanted)
{
    const size_t most = value_count / tile_values;
    return most == 0 ? 1 : most < wanted ? (unsigned)most : wanted;
}

/* Tile i of tile_count of these extents, cut at the slab's end. Returns its values. A jitter takes
 * the place of a stride, which could beat with rows. */
H5TWIN_HD size_t
cascade_tile_at(struct h5twin_cascade_tile *tile, const struct h5twin_cascade_shape *shape,
                const size_t extent[CASCADE_MAX_RANK], unsigned i, unsigned tile_count)
{
    const uint64_t count = cascade_count(shape);
    const uint64_t begin = count * i / tile_count, end = count * (i + 1) / tile_count;
    uint64_t place = begin + ((end - begin) * (uint32_t)(UINT32_C(2654435769) * i) >> 32);
    size_t value_count = 1;
    for (unsigned axis = shape->rank; axis-- > 0;) {
        const size_t index = (size_t)(place % shape->extent[axis]);
        place /= shape->extent[axis];
        tile->begin[axis] = index / extent[axis] * extent[axis];
        const size_t left = shape->extent[axis] - tile->begin[axis];
        tile->extent[axis] = left < extent[axis] ? left : extent[axis];
        value_count *= tile->extent[axis];
    }
    return value_count;
}

/* ---- orders ---- */

struct cascade_orders {
    unsigned axis[CASCADE_MAX_RANK];
};

/* The last set of the grid: each axis goes up to `grid`, or to the top if it is the only long one.
 */
H5TWIN_HD struct cascade_orders
cascade_grid_end(const struct h5twin_cascade_shape *shape, unsigned grid, unsigned top)
{
    struct cascade_orders end = {{0}};
    unsigned long_axes = 0;
    for (unsigned axis = 0; axis < shape->rank; axis++) {
        long_axes += shape->extent[axis] > 1;
    }
    const unsigned most = long_axes == 1 ? top : grid;
    for (unsigned axis = 0; axis < shape->rank; axis++) {
        end.axis[axis] = shape->extent[axis] > most ? most : (unsigned)shape->extent[axis] - 1;
    }
    return end;
}

H5TWIN_HD bool
cascade_orders_allowed(const struct h5twin_cascade_shape *shape,
                       const struct cascade_orders *orders, unsigned top)
{
    for (unsigned axis = 0; axis < shape->rank; axis++) {
        if (orders->axis[axis] > top ||
            (orders->axis[axis] != 0 && orders->axis[axis] >= shape->extent[axis])) {
            return false;
        }
    }
    return true;
}

#define CASCADE_MOST_CANDIDATES 6u /* of a step: axes, or pairs of them */

/* Sets of orders a step further than `from`: each axis that is at the grid's end once more, or each
 * pair of axes. Only those that are allowed; returns how many. */
H5TWIN_HD unsigned
cascade_single_steps(struct cascade_orders candidates[CASCADE_MOST_CANDIDATES],
                     const struct h5twin_cascade_shape *shape, const struct cascade_orders *from,
                     const struct cascade_orders *end, unsigned top)
{
    unsigned count = 0;
    for (unsigned axis = 0; axis < shape->rank; axis++) {
        if (from->axis[axis] >= end->axis[axis]) {
            candidates[count] = *from;
            candidates[count].axis[axis]++;
            count += cascade_orders_allowed(shape, &candidates[count], top);
        }
    }
    return count;
}

H5TWIN_HD unsigned
cascade_double_steps(struct cascade_orders candidates[CASCADE_MOST_CANDIDATES],
                     const struct h5twin_cascade_shape *shape, const struct cascade_orders *from,
                     unsigned top)
{
    unsigned count = 0;
    for (unsigned axis = 0; axis < shape->rank; axis++) {
        for (unsigned other = axis + 1; other < shape->rank; other++) {
            candidates[count] = *from;
            candidates[count].axis[axis]++;
            candidates[count].axis[other]++;
            count += cascade_orders_allowed(shape, &candidates[count], top);
        }
    }
    return count;
}

#endif
