/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_plan_core.h: the decisions of lattice_plan.h, for C and CUDA.
 *
 * Included once by a file of each, which defines before
 *   LATTICE_FUNCTION         what functions are: `static`, or `static __device__`
 *   lattice_survey_largest, .._count_between, .._count_word, .._extremes, .._has_values
 *                            surveys of the words of struct lattice_values; on a GPU by all threads
 *                            of a block, which then decide the same, each for itself
 *   struct lattice_trial, lattice_try_again
 *                            a try to code data that were decoded before, see below
 * Arithmetic is exact or rounded once, to nearest: every device decides the same. */
#ifndef H5TWIN_LATTICE_PLAN_CORE_H
#define H5TWIN_LATTICE_PLAN_CORE_H

#include "lattice_plan.h"
#include "lattice_quantize_core.h"

#include "../common/bytes.h"

#include <float.h>

/* ---- what libraries might do in their own ways ---- */

/* v * 2^exponent, rounded once; exponents from -1022 on. */
H5TWIN_HD double
lattice_scale(double v, int exponent)
{
    if (exponent > 1023) {
        v *= h5twin_lattice_power(1023);
        exponent -= 1023;
    }
    return v * h5twin_lattice_power(exponent);
}

/* v >= 0 lies in [2^(e - 1), 2^e); 0 of 0. */
H5TWIN_HD int
lattice_exponent(double v)
{
    const uint64_t word = h5twin_bits_of_double(v);
    const int field = (int)(word >> 52);
    return word == 0 ? 0 : field == 0 ? (int)h5twin_bit_length64(word) - 1074 : field - 1022;
}

/* The number below v >= 0; 0 below 0. */
H5TWIN_HD double
lattice_next_below(double v)
{
    const uint64_t word = h5twin_bits_of_double(v);
    return h5twin_double_of_bits(word - (word != 0));
}

/* ---- words ---- */

struct word_kind {
    uint64_t sign, infinite; /* words: -0, +infinity */
};

LATTICE_FUNCTION struct word_kind
kind_of(unsigned word_size)
{
    if (word_size == 4) {
        const struct word_kind narrow = {0x80000000u, 0x7F800000u};
        return narrow;
    }
    const struct word_kind wide = {UINT64_C(1) << 63, UINT64_C(0x7FF) << 52};
    return wide;
}

/* The word of a NaN. As the word to be skipped it means that none is: NaN are skipped anyway. */
LATTICE_FUNCTION uint64_t
none_of(unsigned word_size)
{
    return UINT64_MAX >> (64 - 8 * word_size);
}

/* The largest magnitude word of the finite values. */
LATTICE_FUNCTION uint64_t
largest_word(const struct lattice_values *values)
{
    return lattice_survey_largest(values, kind_of(values->word_size).infinite - 1);
}

/* ---- words and numbers ---- */

LATTICE_FUNCTION double
number_of(uint64_t word, unsigned word_size)
{
    return word_size == 4 ? (double)h5twin_float_of_bits((uint32_t)word)
                          : h5twin_double_of_bits(word);
}

LATTICE_FUNCTION double
number_of_key(int64_t key, unsigned word_size)
{
    return key < 0 ? -number_of((uint64_t)-key, word_size) : number_of((uint64_t)key, word_size);
}

/* The largest finite magnitude word whose number is at most `limit` >= 0. */
LATTICE_FUNCTION uint64_t
word_at_most(double limit, unsigned word_size)
{
    const uint64_t largest = kind_of(word_size).infinite - 1;
    if (word_size == 8) {
        return limit <= DBL_MAX ? h5twin_bits_of_double(limit) : largest;
    }
    if (!(limit < (double)FLT_MAX)) {
        return largest;
    }
    const float near = (float)limit;
    return h5twin_bits_of_float(near) - ((double)near > limit ? 1u : 0u);
}

/* The largest magnitude up to the limit; 0 of a negative one. */
LATTICE_FUNCTION double
largest_number(const struct lattice_values *values, double limit)
{
    if (limit >= values->largest) { /* the usual case */
        return values->largest;
    }
    if (limit < 0) {
        return 0;
    }
    return number_of(lattice_survey_largest(values, word_at_most(limit, values->word_size)),
                     values->word_size);
}

/* All may be larger than a negative limit: 0 as well. */
LATTICE_FUNCTION size_t
count_larger(const struct lattice_values *values, double limit)
{
    if (limit < 0) {
        return values->count;
    }
    return limit >= values->largest
               ? 0
               : lattice_survey_count_between(values, word_at_most(limit, values->word_size),
                                              kind_of(values->word_size).infinite);
}

/* ---- range-relative bounds ---- */

/* Rounding to nearest errs by at most half a unit: one unit down is a lower bound. */
LATTICE_FUNCTION double
bound_below(double v)
{
    return v > DBL_MAX ? DBL_MAX : lattice_next_below(v);
}

/* Never larger than share * (high - low) in exact arithmetic; 0 if there is no range. */
LATTICE_FUNCTION double
bound_of_ends(double low, double high, bool has_subnormals, double share, double least)
{
    if (!(high > low)) {
        return 0;
    }
    double range = bound_below(high - low);
    if (has_subnormals) { /* each end may be off by less than this */
        range -= 2 * least;
        range = range > 0 ? bound_below(range) : 0;
    }
    return bound_below(share * range);
}

/* Of all values but those of the skipped words. */
LATTICE_FUNCTION double
bound_of_range(const struct lattice_values *values, double share, double least, bool without_zeros)
{
    struct lattice_values counted = *values;
    counted.skip[2] = without_zeros ? 0 : values->skip[2];
    const struct lattice_extremes found = lattice_survey_extremes(&counted);
    return bound_of_ends(number_of_key(found.low, values->word_size),
                         number_of_key(found.high, values->word_size), found.has_subnormals, share,
                         least);
}

/* ---- missing data ---- */

/* A mark that nobody declared: the finite word of the largest magnitude, if it is frequent and far
 * from all others. */
struct mark {
    uint64_t word;
    double magnitude, others; /* and the largest one of the others */
    bool is_frequent;         /* more than 1/64 of all, and not alone */
    bool is_alone;            /* as frequent, beside nothing but missing data */
};

LATTICE_FUNCTION struct mark
find_mark(const struct lattice_values *values)
{
    const uint64_t largest = largest_word(values);
    struct mark mark = {largest, number_of(largest, values->word_size), 0, false, false};
    size_t count = lattice_survey_count_word(values, largest);
    if (count == 0) {
        mark.word = largest | kind_of(values->word_size).sign;
        count = lattice_survey_count_word(values, mark.word);
    }
    if (count <= values->count / 64) {
        return mark;
    }
    struct lattice_values others = *values;
    others.skip[1] = mark.word; /* skip[0] and skip[3] may be the user's */
    mark.is_frequent = lattice_survey_has_values(&others);
    mark.is_alone = !mark.is_frequent;
    mark.others = number_of(largest_word(&others), values->word_size);
    return mark;
}

/* The bound of a side. If zeros are padding they are special: moved by decoding they would count
 * for the ranges of later codings, though they are no value of the dataset. */
LATTICE_FUNCTION void
set_range_bound(struct lattice_side *side, const struct lattice_settings *settings, double least)
{
    side->bound =
        bound_of_range(&side->values, settings->bound, least, settings->zeros_are_padding);
    if (settings->zeros_are_padding) {
        side->values.skip[2] = 0;
    }
}

/* The other ways in which zeros may have been padding when decoded data were coded first: values
 * next to 0 may have become 0 since, and zeros may have moved. */
LATTICE_FUNCTION void
add_past_zeros(struct lattice_plan *plan, const struct lattice_settings *settings, uint64_t none)
{
    const unsigned decisions = plan->side_count;
    for (unsigned i = 0; i < decisions; i++) {
        for (unsigned way = 0; way < 4; way++) {
            struct lattice_side side = plan->sides[i];
            const uint64_t zero = (way & 1u) != 0 ? 0 : none;
            if ((way & 2u) != 0 && zero == side.values.skip[2]) {
                continue; /* the decision itself */
            }
            side.values.skip[2] = none;
            side.bound =
                bound_of_range(&side.values, settings->bound, plan->least, (way & 2u) != 0);
            side.values.skip[2] = zero;
            plan->sides[plan->side_count++] = side;
        }
    }
}

/* Whether values may have become this word when they were decoded: -0 is no decoded value. */
LATTICE_FUNCTION bool
may_become(const struct lattice_settings *settings, uint64_t word)
{
    const struct word_kind kind = kind_of(settings->word_size);
    return (word & ~kind.sign) < kind.infinite && word != kind.sign;
}

/* The user's fills that they may have become: bit 0 for the first one, bit 1 for the second. */
LATTICE_FUNCTION unsigned
fills_to_become(const struct lattice_settings *settings)
{
    return (settings->has_fill && may_become(settings, settings->fill) ? 1u : 0u) |
           (settings->has_second_fill && may_become(settings, settings->second_fill) ? 2u : 0u);
}

LATTICE_FUNCTION bool
may_become_fill(const struct lattice_settings *settings)
{
    return fills_to_become(settings) != 0;
}

/* The bound that a side then had: its range had these fills, too. */
LATTICE_FUNCTION double
bound_with_fills(const struct lattice_settings *settings, const struct lattice_side *side,
                 double least, unsigned fills)
{
    const uint64_t sign = kind_of(settings->word_size).sign;
    const struct lattice_extremes found = lattice_survey_extremes(&side->values);
    double low = number_of_key(found.low, settings->word_size);
    double high = number_of_key(found.high, settings->word_size);
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t word = i == 0 ? settings->fill : settings->second_fill;
        const double magnitude = number_of(word & ~sign, settings->word_size);
        const double fill = (word & sign) != 0 ? -magnitude : magnitude;
        if ((fills >> i & 1u) != 0) {
            low = fill < low ? fill : low;
            high = fill > high ? fill : high;
        }
    }
    return bound_of_ends(low, high, found.has_subnormals, settings->bound, least);
}

LATTICE_FUNCTION void
add_past_ranges(struct lattice_plan *plan, const struct lattice_settings *settings)
{
    const unsigned decisions = plan->side_count, all = fills_to_become(settings);
    for (unsigned i = 0; i < decisions; i++) {
        for (unsigned fills = 1; fills <= all; fills++) {
            struct lattice_side side = plan->sides[i];
            if ((fills & ~all) != 0) {
                continue;
            }
            side.bound = bound_with_fills(settings, &side, plan->least, fills);
            if (side.bound > plan->sides[i].bound) {
                plan->sides[plan->side_count++] = side;
            }
        }
    }
}

/* The largest bound that a side may have had: what has become missing counted for its range. */
LATTICE_FUNCTION double
past_bound_of(const struct lattice_settings *settings, const struct lattice_side *side,
              double least)
{
    if (may_become_fill(settings)) {
        return bound_with_fills(settings, side, least, fills_to_become(settings));
    }
    if (!settings->zeros_are_padding) {
        return side->bound;
    }
    struct lattice_values all = side->values;
    all.skip[2] = none_of(settings->word_size);
    return bound_of_range(&all, settings->bound, least, false);
}

/* What a number becomes on the lattices of an absolute bound: what is decided by that is decided
 * alike of decoded data. */
LATTICE_FUNCTION double lattice_fixed_number(const struct lattice_side *side, double number);

/* Everything an encoder may try; *values has no largest number yet, and of skip only what the user
 * has declared. */
LATTICE_FUNCTION void
lattice_plan_make(struct lattice_plan *plan, const struct lattice_settings *settings,
                  const struct lattice_values *values)
{
    const bool noa = settings->mode == H5TWIN_NOA;
    const uint64_t none = none_of(settings->word_size);
    plan->least = settings->word_size == 4 ? (double)FLT_MIN : DBL_MIN;
    struct lattice_side without;
    without.values = *values;
    without.values.skip[0] = settings->has_fill ? settings->fill : none;
    without.values.skip[1] = without.values.skip[2] = none;
    without.values.skip[3] = settings->has_second_fill ? settings->second_fill : none;
    without.bound = settings->bound;
    const struct mark mark = find_mark(&without.values);
    without.values.largest = mark.magnitude;
    struct lattice_side with = without;
    with.values.skip[1] = mark.word;
    with.values.largest = mark.others;
    if (noa) {
        set_range_bound(&without, settings, plan->least);
        with.bound = 0;
    }
    if (noa && mark.is_frequent) {
        set_range_bound(&with, settings, plan->least);
    }
    const bool has_past = may_become_fill(settings);
    const double share = mark.magnitude / 16;
    const double past_bound =
        noa && mark.is_frequent ? past_bound_of(settings, &with, plan->least) : with.bound;
    const bool is_fixed = !noa && lattice_is_stable(settings);
    const bool is_mark = mark.is_frequent || (mark.is_alone && is_fixed && has_past);
    const bool far = is_mark && (noa || share > settings->bound);
    const double others =
        far && is_fixed ? lattice_fixed_number(&without, mark.others) : mark.others;
    plan->side_count = 1;
    plan->sides[0] = without;
    if (far && share > others) {
        plan->sides[0] = with;
        plan->sides[1] = without;
        plan->side_count = 2;
    } else if (far && share > mark.others - 2 * past_bound) {
        plan->sides[1] = with;
        plan->side_count = 2;
    }
    if (noa && settings->zeros_are_padding) {
        add_past_zeros(plan, settings, none);
    }
    if (noa && has_past) {
        add_past_ranges(plan, settings);
    } else if (mark.is_alone && share > settings->bound && has_past) {
        plan->sides[plan->side_count++] = with; /* all others have become the fill since */
    }
}

LATTICE_FUNCTION bool
lattice_bound_is_usable(const struct lattice_plan *plan, double bound)
{
    return bound >= plan->least && bound <= DBL_MAX;
}

/* ---- grids ---- */

/* The largest integer that an array begins with: decoding may move it up. */
LATTICE_FUNCTION double
largest_integer(bool wide)
{
    const int bits = wide ? 52 : 24;
    return h5twin_lattice_power(bits) - h5twin_lattice_power(bits - 13);
}

/* Magnitudes that narrow integers hold at full and at least precision; wide ones as well. */
LATTICE_FUNCTION double
narrow_limit(const struct lattice_side *side)
{
    if (side->values.word_size == 4) {
        return lattice_scale(side->bound, 22);
    }
    const double limit = lattice_scale(side->bound, 19);
    const double most = lattice_scale(largest_integer(false), LATTICE_MOST_GRID_F64);
    return limit < most ? limit : most; /* what they hold on the coarsest grid */
}

LATTICE_FUNCTION double
wide_limit(const struct lattice_side *side)
{
    return lattice_scale(side->bound, 46);
}

LATTICE_FUNCTION struct lattice_range
make_range(bool wide, double limit)
{
    struct lattice_range range;
    range.wide = wide;
    range.limit = limit;
    return range;
}

LATTICE_FUNCTION struct lattice_range
lattice_range_for(const struct lattice_side *side)
{
    const struct lattice_values *const values = &side->values;
    const double limit = narrow_limit(side);
    const size_t larger = count_larger(values, limit);
    if (values->word_size == 4) {
        const bool few = larger < values->count / 8 + (values->count % 8 != 0);
        return make_range(false, few ? limit : lattice_scale(side->bound, 26));
    }
    if (larger <= values->count / 64) {
        return make_range(false, limit);
    }
    const double far = wide_limit(side);
    const bool few = count_larger(values, far) < values->count / 8 + (values->count % 8 != 0);
    return make_range(true, few ? far : lattice_scale(side->bound, 54));
}

/* How far a bound may have moved since the first coding: factors for its largest and smallest
 * possible original. */
LATTICE_FUNCTION void
past_factors(const struct lattice_settings *settings, double *up, double *down)
{
    const bool noa = settings->mode == H5TWIN_NOA;
    const double slack = !noa ? 0 : settings->bound < 0.25 ? 2 * settings->bound : 0.5;
    *up = 1 / (1 - slack) * (noa ? 1 + 1e-12 : 1);
    *down = 1 / (1 + slack) * (noa ? 1 - 1e-12 : 1);
}

/* Of decoded data, values may have become the user's fills: those count, too. */
LATTICE_FUNCTION struct lattice_values
with_fill(const struct lattice_settings *settings, const struct lattice_values *values)
{
    struct lattice_values all = *values;
    if (settings->has_fill) {
        all.skip[0] = all.skip[3] = none_of(values->word_size);
        all.largest = number_of(largest_word(&all), values->word_size);
    }
    return all;
}

LATTICE_FUNCTION unsigned
lattice_past_ranges(struct lattice_range ranges[3], const struct lattice_settings *settings,
                    const struct lattice_side *side)
{
    const struct lattice_values all = with_fill(settings, &side->values);
    const size_t count = side->values.count;
    const double near = narrow_limit(side), far = wide_limit(side), slack = 2 * side->bound;
    double up, down;
    past_factors(settings, &up, &down);
    const size_t eighth = count / 8 + (count % 8 != 0);
    unsigned number = 0;
    if (side->values.word_size == 4) {
        if (count_larger(&side->values, near * up + slack) < eighth) {
            ranges[number++] = make_range(false, near);
        }
        if (count_larger(&all, near * down - slack) >= eighth) {
            ranges[number++] = make_range(false, lattice_scale(side->bound, 26));
        }
        return number;
    }
    if (count_larger(&side->values, near * up + slack) <= count / 64) {
        ranges[number++] = make_range(false, near);
    }
    if (count_larger(&all, near * down - slack) > count / 64) {
        if (count_larger(&side->values, far * up + slack) < eighth) {
            ranges[number++] = make_range(true, far);
        }
        if (count_larger(&all, far * down - slack) >= eighth) {
            ranges[number++] = make_range(true, lattice_scale(side->bound, 54));
        }
    }
    return number;
}

/* What the format has of a grid. */
LATTICE_FUNCTION int
grid_within(int grid, unsigned word_size)
{
    const int least = word_size == 4 ? LATTICE_LEAST_GRID_F32 : LATTICE_LEAST_GRID_F64;
    const int most = word_size == 4 ? LATTICE_MOST_GRID_F32 : LATTICE_MOST_GRID_F64;
    return grid < least ? least : grid > most ? most : grid;
}

/* The finest grid that is fine enough for the bound and coarse enough for the largest value. */
LATTICE_FUNCTION int
grid_for(double bound, double largest, bool wide, unsigned word_size)
{
    const int bits = wide ? 52 : 24;
    int grid = lattice_exponent(bound) - 8;
    if (largest > 0) {
        int coarse = lattice_exponent(largest) - bits;
        if ((double)h5twin_lattice_round_f64(lattice_scale(largest, -coarse)) >
            largest_integer(wide)) {
            coarse++;
        }
        grid = coarse > grid ? coarse : grid;
    }
    return grid_within(grid, word_size);
}

LATTICE_FUNCTION int
lattice_grid_for(const struct lattice_side *side, const struct lattice_range *range)
{
    return grid_for(side->bound, largest_number(&side->values, range->limit), range->wide,
                    side->values.word_size);
}

LATTICE_FUNCTION struct lattice_past
lattice_past_of(const struct lattice_plan *plan, const struct lattice_settings *settings,
                const struct lattice_side *side, const struct lattice_range *range)
{
    const struct lattice_values all = with_fill(settings, &side->values);
    const bool noa = settings->mode == H5TWIN_NOA;
    const double bound = side->bound, slack = 2 * bound;
    double up, down;
    past_factors(settings, &up, &down);
    const double small = largest_number(&side->values, range->limit * down - slack) - slack;
    const double larger = largest_number(&all, range->limit * up + slack) + slack;
    const double large = larger < DBL_MAX ? larger : DBL_MAX;
    const double low_bound = noa ? bound * down - 2 * settings->bound * plan->least : bound;
    struct lattice_past past;
    past.least_bound = low_bound > plan->least ? low_bound : plan->least;
    past.least_grid =
        grid_for(past.least_bound, small > 0 ? small : 0, range->wide, side->values.word_size);
    past.most_grid = grid_for(bound * up, large, range->wide, side->values.word_size);
    return past;
}

LATTICE_FUNCTION uint32_t
lattice_width_for(double bound, int grid, bool wide)
{
    const uint32_t most = wide ? LATTICE_MOST_WIDTH64 : LATTICE_MOST_WIDTH32;
    const double steps = lattice_scale(2 * bound, -grid);
    if (!(steps >= 1)) {
        return 1;
    }
    const uint32_t width = steps >= most ? most : (uint32_t)steps;
    return width % 2 != 0 ? width : width - 1;
}

LATTICE_FUNCTION bool
lattice_relative_map(struct lattice_map *map, double bound, unsigned word_size)
{
    const int mantissa = word_size == 4 ? 23 : 52;
    const uint64_t steps =
        (uint64_t)lattice_scale(bound < 0.5 ? bound : 0.5, mantissa); /* of the last bit */
    const uint64_t none = none_of(word_size);
    if (steps == 0) {
        return false;
    }
    const int bits = (int)h5twin_bit_length64(2 * steps) - 9, least = word_size == 4 ? 0 : 11;
    const int shift = bits > least ? bits : least;
    const uint64_t width = shift == 0 ? 2 * steps + 1 : 2 * steps >> shift;
    if (width == 0) {
        return false;
    }
    memset(map, 0, sizeof *map);
    map->word_size = word_size;
    map->wide = map->relative = true;
    map->grid = shift;
    map->width = (uint32_t)(width % 2 != 0 ? width : width - 1);
    map->skip[0] = map->skip[1] = map->skip[2] = map->skip[3] = none;
    return true;
}

/* The largest integer of all. */
LATTICE_FUNCTION int64_t
lattice_last_integer(bool wide)
{
    return wide ? LATTICE_LIMIT64 : LATTICE_LIMIT32;
}

LATTICE_FUNCTION struct lattice_map
lattice_map_of(const struct lattice_side *side, bool wide, int grid)
{
    struct lattice_map map;
    memset(&map, 0, sizeof map);
    map.word_size = side->values.word_size;
    map.wide = wide;
    map.grid = grid;
    map.width = lattice_width_for(side->bound, grid, wide);
    map.room = lattice_scale(side->bound, -grid);
    map.most = (double)lattice_last_integer(wide);
    for (unsigned i = 0; i < 4; i++) {
        map.skip[i] = side->values.skip[i];
    }
    return map;
}

/* ---- lattices that do not depend on the values ---- */

#define LATTICE_FIXED_BITS 5 /* a bin has this many or one more, and the last one is 1 */

/* No value decodes to what stands for missing data but that itself. 0 would have too many; most who
 * declare it mean it. */
LATTICE_FUNCTION void
lattice_avoid_fills(struct lattice_map *map)
{
    struct lattice_map all = *map;
    all.skip[0] = all.skip[1] = all.skip[2] = all.skip[3] = none_of(map->word_size);
    for (unsigned i = 0; i < LATTICE_FILLS; i++) {
        const uint64_t fill = map->skip[i == 0 ? 0 : 3];
        int64_t integer;
        const bool is_met = lattice_quantize_word(&all, fill, &integer) &&
                            integer % (int64_t)map->width == 0 &&
                            lattice_restore_word(map, integer) == fill;
        map->avoided[i] = is_met ? integer : 0;
    }
}

/* One of the two lattices of a bound: of the numbers up to some magnitude, or of those beyond. No
 * bin reaches the last integer, so that narrow and wide ones are the same. */
LATTICE_FUNCTION struct lattice_map
lattice_fixed_map(const struct lattice_side *side, bool wide, bool far)
{
    const unsigned word_size = side->values.word_size;
    const int exponent = lattice_exponent(side->bound);
    const int near = grid_within(exponent - LATTICE_FIXED_BITS, word_size);
    const int grid = far ? grid_within(exponent, word_size) : near;
    const int64_t last = lattice_last_integer(wide);
    struct lattice_map map = lattice_map_of(side, wide, grid);
    map.width = far ? 1 : lattice_width_for(side->bound, grid, word_size == 8);
    map.most = (double)((last / map.width - 1) * map.width + map.width / 2);
    map.least = far ? (last >> (grid - near)) + 1 : 0;
    lattice_avoid_fills(&map);
    return map;
}

LATTICE_FUNCTION double
lattice_fixed_number(const struct lattice_side *side, double number)
{
    const uint64_t word = word_at_most(number, side->values.word_size);
    struct lattice_side plain = *side;
    plain.values.skip[0] = plain.values.skip[3] = none_of(side->values.word_size);
    for (unsigned far = 0; far < 2; far++) {
        const struct lattice_map map =
            lattice_fixed_map(&plain, side->values.word_size == 8, far != 0);
        int64_t integer;
        if (lattice_quantize_word(&map, word, &integer)) {
            integer = (integer + map.width / 2) / map.width * map.width;
            return number_of(lattice_restore_word(&map, integer), map.word_size);
        }
    }
    return number;
}

/* The nested lattices of range-relative bounds, 2^k: whatever the range was before, what lies on a
 * coarser one lies on the finer ones, and all that a value moves by is less than the coarsest 2^k.
 * That is a part of the bound so small that it stays within the bound of the values themselves,
 * though the range is one of decoded values. `up`: so many steps coarser. */
LATTICE_FUNCTION struct lattice_map
lattice_nested_map(const struct lattice_settings *settings, const struct lattice_side *side, int up)
{
    const double part = bound_below(side->bound / (1 + 2 * settings->bound));
    const int grid = grid_within(lattice_exponent(part) - 1 + up, side->values.word_size);
    const double far = lattice_scale((double)LATTICE_LIMIT32, grid);
    const bool wide =
        side->values.word_size == 8 && count_larger(&side->values, far) > side->values.count / 64;
    struct lattice_map map = lattice_map_of(side, wide, grid);
    map.width = 1;
    lattice_avoid_fills(&map);
    return map;
}

/* Whether such a lattice is fine enough. */
LATTICE_FUNCTION bool
lattice_can_nest(const struct lattice_settings *settings, const struct lattice_side *side)
{
    const int least = side->values.word_size == 4 ? LATTICE_LEAST_GRID_F32 : LATTICE_LEAST_GRID_F64;
    return bound_below(side->bound / (1 + 2 * settings->bound)) >= h5twin_lattice_power(least);
}

/* Finite values, with zeros. */
LATTICE_FUNCTION size_t
lattice_count_finite(const struct lattice_values *values)
{
    const struct word_kind kind = kind_of(values->word_size);
    size_t count = lattice_survey_count_between(values, 0, kind.infinite);
    for (unsigned negative = 0; negative < 2; negative++) {
        const uint64_t zero = negative != 0 ? kind.sign : 0;
        bool counts = true;
        for (unsigned i = 0; i < 4; i++) {
            counts = counts && values->skip[i] != zero;
        }
        count += counts ? lattice_survey_count_word(values, zero) : 0;
    }
    return count;
}

/* Up to which magnitude numbers decode to 0. */
LATTICE_FUNCTION double
lattice_zero_bin(const struct lattice_map *map)
{
    const double half = lattice_scale((double)map->width / 2, map->grid);
    return (map->width + 1) / 2 % 2 == 0 ? lattice_next_below(half) : half; /* ties are even */
}

/* Values that a map codes, but for what it leaves out one by one. Those that become 0 count only if
 * 0 does, so that a second coding counts the same. */
LATTICE_FUNCTION size_t
lattice_count_inside(const struct lattice_values *values, const struct lattice_map *map)
{
    const size_t larger = count_larger(values, lattice_scale(map->most, map->grid));
    bool zero_counts = true;
    for (unsigned i = 0; i < 4; i++) {
        zero_counts = zero_counts && values->skip[i] != 0;
    }
    const double above =
        map->least == 0 ? lattice_zero_bin(map) : lattice_scale((double)map->least, map->grid);
    const size_t all =
        map->least == 0 && zero_counts ? lattice_count_finite(values) : count_larger(values, above);
    return all - larger;
}

/* The lattice of a bound that suits the values; *fits: most of them lie on it. */
LATTICE_FUNCTION struct lattice_map
lattice_choose_fixed(const struct lattice_side *side, bool *fits)
{
    const struct lattice_values *const values = &side->values;
    const bool is_double = values->word_size == 8;
    struct lattice_map map = lattice_fixed_map(side, false, false);
    size_t larger = count_larger(values, lattice_scale(map.most, map.grid));
    if (is_double && larger > values->count / 64) {
        map = lattice_fixed_map(side, true, false);
        larger = count_larger(values, lattice_scale(map.most, map.grid));
    }
    *fits = true;
    if (larger > 0) {
        const struct lattice_map far = lattice_fixed_map(side, is_double, true);
        const size_t inside = lattice_count_inside(values, &map);
        const size_t inside_far = lattice_count_inside(values, &far);
        *fits = (inside > inside_far ? inside : inside_far) >= (inside + larger) / 2;
        map = inside_far > inside ? far : map;
    }
    return map;
}

/* ---- data that have been decoded from a payload ---- */

/* lattice_try_again(trial, map, known) looks whether the values are decoded ones of this map, with
 * bins of width `known`, or any if that is 0. True: nothing more is to be tried. */

/* On one grid. A range-relative bound does not know the width, but for 1, which nothing shows: near
 * the smallest normal number the original's may have been 1 where it is more now. */
LATTICE_FUNCTION bool
lattice_try_grid(struct lattice_trial *trial, const struct lattice_settings *settings,
                 const struct lattice_map *map, double least_bound)
{
    const bool is_known = settings->mode != H5TWIN_NOA || map->width == 1;
    if (lattice_try_again(trial, map, is_known ? map->width : 0)) {
        return true;
    }
    if (is_known || lattice_width_for(least_bound, map->grid, map->wide) > 1) {
        return false;
    }
    struct lattice_map narrowest = *map;
    narrowest.width = 1;
    return lattice_try_again(trial, &narrowest, 1);
}

LATTICE_FUNCTION bool
lattice_try_side(struct lattice_trial *trial, const struct lattice_settings *settings,
                 const struct lattice_plan *plan, const struct lattice_side *side)
{
    struct lattice_range ranges[3];
    const unsigned range_count = lattice_past_ranges(ranges, settings, side);
    for (unsigned i = 0; i < range_count; i++) {
        const struct lattice_past past = lattice_past_of(plan, settings, side, &ranges[i]);
        for (int grid = past.least_grid; grid <= past.most_grid; grid++) {
            struct lattice_map map = lattice_map_of(side, ranges[i].wide, grid);
            /* What the first coding left out is left out again: its bound may have been so small.
             */
            map.room = lattice_scale(past.least_bound, -grid);
            if (lattice_try_grid(trial, settings, &map, past.least_bound)) {
                return true;
            }
            /* The fills themselves, if those are all that the values have become. */
            const unsigned all = fills_to_become(settings);
            for (unsigned fills = 1; fills <= all; fills++) {
                map.skip[0] =
                    (fills & 1u) != 0 ? none_of(settings->word_size) : side->values.skip[0];
                map.skip[3] =
                    (fills & 2u) != 0 ? none_of(settings->word_size) : side->values.skip[3];
                if ((fills & ~all) == 0 &&
                    lattice_try_grid(trial, settings, &map, past.least_bound)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* With a lattice that is coarser or finer by 2, as ranges of decoded data may differ a little. */
LATTICE_FUNCTION bool
lattice_try_nested(struct lattice_trial *trial, const struct lattice_settings *settings,
                   const struct lattice_side *side)
{
    for (int up = 1; up >= -1 && lattice_can_nest(settings, side); up--) {
        const struct lattice_map map = lattice_nested_map(settings, side, up);
        if (lattice_try_again(trial, &map, 1)) {
            return true;
        }
    }
    return false;
}

/* Data that the bound's own lattice has coded. */
LATTICE_FUNCTION bool
lattice_try_fixed(struct lattice_trial *trial, const struct lattice_side *side)
{
    bool fits;
    const struct lattice_map map = lattice_choose_fixed(side, &fits);
    return fits && lattice_try_again(trial, &map, map.width);
}

/* Absolute and range-relative bounds, all that the plan has. On the lattices of an absolute bound
 * nothing moves anyway. */
LATTICE_FUNCTION bool
lattice_try_sides(struct lattice_trial *trial, const struct lattice_settings *settings,
                  const struct lattice_plan *plan)
{
    const bool noa = settings->mode == H5TWIN_NOA, stable = lattice_is_stable(settings);
    bool found = false;
    for (unsigned i = 0; i < plan->side_count && !found && (noa || !stable); i++) {
        const struct lattice_side *const side = &plan->sides[i];
        if (lattice_bound_is_usable(plan, side->bound)) {
            found = stable ? lattice_try_nested(trial, settings, side)
                           : ((!noa && lattice_try_fixed(trial, side)) ||
                              lattice_try_side(trial, settings, plan, side));
        }
    }
    return found;
}

/* The map for new data; false: they are to be coded without loss. */
LATTICE_FUNCTION bool
lattice_new_map(struct lattice_map *map, const struct lattice_settings *settings,
                const struct lattice_plan *plan)
{
    const struct lattice_side *const side = &plan->sides[0];
    bool fits = true;
    if (!lattice_is_stable(settings)) {
        const struct lattice_range range = lattice_range_for(side);
        *map = lattice_map_of(side, range.wide, lattice_grid_for(side, &range));
    } else if (settings->mode != H5TWIN_NOA) {
        *map = lattice_choose_fixed(side, &fits);
    } else {
        *map = lattice_nested_map(settings, side, 0);
        const size_t larger = count_larger(&side->values, lattice_scale(map->most, map->grid));
        fits = lattice_can_nest(settings, side) &&
               (larger == 0 || lattice_count_inside(&side->values, map) >= larger);
    }
    return fits;
}

/* Point-wise relative bounds; *map is what lattice_relative_map made. Their lattice never depends
 * on the values: only other predictors are to be found out. */
LATTICE_FUNCTION bool
lattice_try_relative(struct lattice_trial *trial, const struct lattice_settings *settings,
                     struct lattice_map *map)
{
    if (settings->has_fill) {
        map->skip[0] = settings->fill;
    }
    if (settings->has_second_fill) {
        map->skip[1] = map->skip[3] = settings->second_fill; /* no undeclared marks here */
    }
    if (lattice_is_stable(settings)) {
        lattice_avoid_fills(map);
        return false;
    }
    for (unsigned lenient = 0; lenient < 2; lenient++) {
        map->lenient = lenient != 0;
        if (lattice_try_again(trial, map, map->width)) {
            return true;
        }
    }
    map->lenient = false;
    return false;
}

#endif
