/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_plan.c: see lattice_plan.h. */
#include "lattice_plan.h"

#include "../common/bytes.h"

#include <float.h>
#include <math.h>

/* ---- words ---- */

struct word_kind {
    uint64_t sign, infinite; /* words: -0, +infinity */
};

static struct word_kind
kind_of(unsigned word_size)
{
    if (word_size == 4) {
        return (struct word_kind){0x80000000u, 0x7F800000u};
    }
    return (struct word_kind){UINT64_C(1) << 63, UINT64_C(0x7FF) << 52};
}

/* The largest magnitude word of the finite values. */
static uint64_t
largest_word(const struct lattice_values *values)
{
    return values->loops->largest(values->words, values->count,
                                  kind_of(values->word_size).infinite - 1, values->skip);
}

/* Whether there is a finite value that is not skipped. */
static bool
has_values(const struct lattice_values *values)
{
    const struct word_kind kind = kind_of(values->word_size);
    for (size_t i = 0; i < values->count; i++) {
        const uint64_t word =
            h5twin_load_word(values->words + i * values->word_size, values->word_size);
        if ((word & ~kind.sign) < kind.infinite && word != values->skip[0] &&
            word != values->skip[1] && word != values->skip[2]) {
            return true;
        }
    }
    return false;
}

/* ---- words and numbers ---- */

static double
number_of(uint64_t word, unsigned word_size)
{
    return word_size == 4 ? (double)h5twin_float_of_bits((uint32_t)word)
                          : h5twin_double_of_bits(word);
}

static double
number_of_key(int64_t key, unsigned word_size)
{
    return key < 0 ? -number_of((uint64_t)-key, word_size) : number_of((uint64_t)key, word_size);
}

/* The largest finite magnitude word whose number is at most `limit` >= 0. */
static uint64_t
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

/* The largest magnitude up to the limit. */
static double
largest_number(const struct lattice_values *values, double limit)
{
    if (limit >= values->largest) { /* the usual case */
        return values->largest;
    }
    return number_of(values->loops->largest(values->words, values->count,
                                            word_at_most(limit, values->word_size), values->skip),
                     values->word_size);
}

static size_t
count_larger(const struct lattice_values *values, double limit)
{
    return limit >= values->largest
               ? 0
               : values->loops->count_between(values->words, values->count,
                                              word_at_most(limit, values->word_size),
                                              kind_of(values->word_size).infinite, values->skip);
}

/* v lies in [2^(e - 1), 2^e). */
static int
exponent_of(double v)
{
    int e;
    (void)frexp(v, &e);
    return e;
}

/* ---- range-relative bounds ---- */

/* Rounding to nearest errs by at most half a unit: one unit down is a lower bound. */
static double
below(double v)
{
    return v > DBL_MAX ? DBL_MAX : nextafter(v, 0);
}

/* A range-relative bound, and whether 0 lies in the range or next to it: at most half the bound
 * away. */
struct range_bound {
    double bound;
    bool has_zero;
};

/* Never larger than share * (largest - smallest) in exact arithmetic; 0 if there is no range. */
static struct range_bound
bound_of_range(const struct lattice_values *values, double share, double least, bool without_zeros)
{
    const uint64_t skip[3] = {values->skip[0], values->skip[1],
                              without_zeros ? 0 : values->skip[2]};
    const struct lattice_extremes found =
        values->loops->extremes(values->words, values->count, skip);
    const double low = number_of_key(found.low, values->word_size);
    const double high = number_of_key(found.high, values->word_size);
    if (found.low > found.high || !(high > low)) {
        return (struct range_bound){.bound = 0};
    }
    double range = below(high - low);
    if (found.has_subnormals) { /* each end may be off by less than this */
        range -= 2 * least;
        range = range > 0 ? below(range) : 0;
    }
    const double bound = below(share * range);
    return (struct range_bound){.bound = bound, .has_zero = low <= bound / 2 && high >= -bound / 2};
}

/* ---- missing data ---- */

/* A mark that nobody declared: the finite word of the largest magnitude, if it is frequent and far
 * from all others. */
struct mark {
    uint64_t word;
    double magnitude, others; /* and the largest one of the others */
    bool is_frequent;         /* more than 1/64 of all, and not alone */
};

static struct mark
find_mark(const struct lattice_values *values)
{
    const struct lattice_loops *const loops = values->loops;
    const uint64_t largest = largest_word(values);
    struct mark mark = {.word = largest, .magnitude = number_of(largest, values->word_size)};
    size_t count = loops->count_word(values->words, values->count, largest);
    if (count == 0) {
        mark.word = largest | kind_of(values->word_size).sign;
        count = loops->count_word(values->words, values->count, mark.word);
    }
    if (count <= values->count / 64) {
        return mark;
    }
    struct lattice_values others = *values;
    others.skip[1] = mark.word; /* skip[0] may be the user's */
    mark.is_frequent = has_values(&others);
    mark.others = number_of(largest_word(&others), values->word_size);
    return mark;
}

/* The bound of a side, and, if zeros are padding, whether they are special: they must be where they
 * lie apart from all values, or decoding would move them into the range. */
static void
set_range_bound(struct lattice_side *side, const struct lattice_settings *settings, double least)
{
    const struct range_bound found =
        bound_of_range(&side->values, settings->bound, least, settings->zeros_are_padding);
    side->bound = found.bound;
    if (settings->zeros_are_padding && !found.has_zero) {
        side->values.skip[2] = 0;
    }
}

/* The other ways in which zeros may have been padding when decoded data were coded first: values
 * next to 0 may have become 0 since, and zeros may have moved. */
static void
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
                bound_of_range(&side.values, settings->bound, plan->least, (way & 2u) != 0).bound;
            side.values.skip[2] = zero;
            plan->sides[plan->side_count++] = side;
        }
    }
}

void
h5twin_lattice_plan(struct lattice_plan *plan, const struct lattice_settings *settings,
                    const struct lattice_loops *loops, const uint8_t *words, size_t count)
{
    const bool noa = settings->mode == H5TWIN_NOA;
    const uint64_t none = UINT64_MAX >> (64 - 8 * settings->word_size); /* a NaN */
    plan->least = settings->word_size == 4 ? (double)FLT_MIN : DBL_MIN;
    struct lattice_side without = {
        .values = {.loops = loops,
                   .words = words,
                   .count = count,
                   .word_size = settings->word_size,
                   .skip = {settings->has_fill ? settings->fill : none, none, none}},
        .bound = settings->bound,
    };
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
    const double share = mark.magnitude / 16;
    const bool far = mark.is_frequent && (noa || share > settings->bound);
    plan->side_count = 1;
    plan->sides[0] = without;
    if (far && share > mark.others) {
        plan->sides[0] = with;
        plan->sides[1] = without;
        plan->side_count = 2;
    } else if (far && share > mark.others - 2 * with.bound) {
        plan->sides[1] = with;
        plan->side_count = 2;
    }
    if (noa && settings->zeros_are_padding) {
        add_past_zeros(plan, settings, none);
    }
}

bool
h5twin_lattice_bound_is_usable(const struct lattice_plan *plan, double bound)
{
    return bound >= plan->least && bound <= DBL_MAX;
}

/* ---- grids ---- */

/* Magnitudes that narrow integers hold at full and at least precision; wide ones as well. */
static double
narrow_limit(const struct lattice_side *side)
{
    return ldexp(side->bound, side->values.word_size == 4 ? 22 : 19);
}

static double
wide_limit(const struct lattice_side *side)
{
    return ldexp(side->bound, 46);
}

struct lattice_range
h5twin_lattice_range(const struct lattice_side *side)
{
    const struct lattice_values *const values = &side->values;
    const double limit = narrow_limit(side);
    const size_t larger = count_larger(values, limit);
    if (values->word_size == 4) {
        const bool few = larger < values->count / 8 + (values->count % 8 != 0);
        return (struct lattice_range){.limit = few ? limit : ldexp(side->bound, 26)};
    }
    if (larger <= values->count / 64) {
        return (struct lattice_range){.limit = limit};
    }
    const double far = wide_limit(side);
    const bool few = count_larger(values, far) < values->count / 8 + (values->count % 8 != 0);
    return (struct lattice_range){.wide = true, .limit = few ? far : ldexp(side->bound, 54)};
}

/* How far a bound may have moved since the first coding: factors for its largest and smallest
 * possible original. */
static void
past_factors(const struct lattice_settings *settings, double *up, double *down)
{
    const bool noa = settings->mode == H5TWIN_NOA;
    const double slack = noa ? 2 * fmin(settings->bound, 0.25) : 0;
    *up = 1 / (1 - slack) * (noa ? 1 + 1e-12 : 1);
    *down = 1 / (1 + slack);
}

/* Of decoded data, values may have become the user's fill: those count, too. */
static struct lattice_values
with_fill(const struct lattice_settings *settings, const struct lattice_values *values)
{
    struct lattice_values all = *values;
    if (settings->has_fill) {
        all.skip[0] = UINT64_MAX >> (64 - 8 * values->word_size);
        all.largest = number_of(largest_word(&all), values->word_size);
    }
    return all;
}

unsigned
h5twin_lattice_past_ranges(struct lattice_range ranges[3], const struct lattice_settings *settings,
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
            ranges[number++] = (struct lattice_range){.limit = near};
        }
        if (count_larger(&all, near * down - slack) >= eighth) {
            ranges[number++] = (struct lattice_range){.limit = ldexp(side->bound, 26)};
        }
        return number;
    }
    if (count_larger(&side->values, near * up + slack) <= count / 64) {
        ranges[number++] = (struct lattice_range){.limit = near};
    }
    if (count_larger(&all, near * down - slack) > count / 64) {
        if (count_larger(&side->values, far * up + slack) < eighth) {
            ranges[number++] = (struct lattice_range){.wide = true, .limit = far};
        }
        if (count_larger(&all, far * down - slack) >= eighth) {
            ranges[number++] =
                (struct lattice_range){.wide = true, .limit = ldexp(side->bound, 54)};
        }
    }
    return number;
}

/* The finest grid that is fine enough for the bound and coarse enough for the largest value. */
static int
grid_for(double bound, double largest, bool wide, unsigned word_size)
{
    const int bits = wide ? 52 : 24;
    const double limit = ldexp(1, bits) - ldexp(1, bits - 13); /* room for what decoding moves */
    int grid = exponent_of(bound) - 8;
    if (largest > 0) {
        int coarse = exponent_of(largest) - bits;
        if (rint(ldexp(largest, -coarse)) > limit) {
            coarse++;
        }
        grid = coarse > grid ? coarse : grid;
    }
    const int least = word_size == 4 ? LATTICE_LEAST_GRID_F32 : LATTICE_LEAST_GRID_F64;
    const int most = word_size == 4 ? LATTICE_MOST_GRID_F32 : LATTICE_MOST_GRID_F64;
    return grid < least ? least : grid > most ? most : grid;
}

int
h5twin_lattice_grid(const struct lattice_side *side, const struct lattice_range *range)
{
    return grid_for(side->bound, largest_number(&side->values, range->limit), range->wide,
                    side->values.word_size);
}

struct lattice_past
h5twin_lattice_past(const struct lattice_plan *plan, const struct lattice_settings *settings,
                    const struct lattice_side *side, const struct lattice_range *range)
{
    const struct lattice_values all = with_fill(settings, &side->values);
    const bool noa = settings->mode == H5TWIN_NOA;
    const double bound = side->bound, slack = 2 * bound;
    double up, down;
    past_factors(settings, &up, &down);
    const double small = largest_number(&side->values, range->limit * down - slack) - slack;
    const double large = fmin(largest_number(&all, range->limit * up + slack) + slack, DBL_MAX);
    const double low_bound = noa ? bound * down - 2 * settings->bound * plan->least : bound;
    struct lattice_past past = {.least_bound = fmax(plan->least, low_bound)};
    past.least_grid =
        grid_for(past.least_bound, fmax(0, small), range->wide, side->values.word_size);
    past.most_grid = grid_for(bound * up, large, range->wide, side->values.word_size);
    return past;
}

uint32_t
h5twin_lattice_width(double bound, int grid, bool wide)
{
    const uint32_t most = wide ? LATTICE_MOST_WIDTH64 : LATTICE_MOST_WIDTH32;
    const double steps = ldexp(2 * bound, -grid);
    if (!(steps >= 1)) {
        return 1;
    }
    const uint32_t width = steps >= most ? most : (uint32_t)steps;
    return width % 2 != 0 ? width : width - 1;
}

bool
h5twin_lattice_relative_map(struct lattice_map *map, double bound, unsigned word_size)
{
    const int mantissa = word_size == 4 ? 23 : 52;
    const uint64_t steps = (uint64_t)ldexp(fmin(bound, 0.5), mantissa); /* of the last bit */
    const uint64_t none = UINT64_MAX >> (64 - 8 * word_size);
    if (steps == 0) {
        return false;
    }
    const int bits = (int)h5twin_bit_length64(2 * steps) - 9, least = word_size == 4 ? 0 : 11;
    const int shift = bits > least ? bits : least;
    const uint64_t width = shift == 0 ? 2 * steps + 1 : 2 * steps >> shift;
    if (width == 0) {
        return false;
    }
    *map = (struct lattice_map){.word_size = word_size,
                                .wide = true,
                                .relative = true,
                                .grid = shift,
                                .width = (uint32_t)(width % 2 != 0 ? width : width - 1),
                                .skip = {none, none, none}};
    return true;
}
