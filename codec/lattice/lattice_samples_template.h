/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_samples_template.h: what predictors cost on samples of an array, for integers of BITS
 * bits; lattice_loops.h.
 *
 * Samples are small, and their rows short. So all of them are coded side by side, one to a lane:
 * eight samples by linear weights, and the same eight by cubic ones. No lane ever differs from
 * another in anything but its numbers. Arrays are in C order of the points, without levels; the
 * codes are not kept, only what they cost. */

/* ---- costs ---- */

/* Codes of all lanes, as they come. */
struct NAME(sink) {
    enum lattice_effort effort;
    unsigned points;               /* of the block */
    UNSIGNED sum[LATTICE_LANES];   /* balanced: of a few codes; fast: their union in a group */
    uint64_t block[LATTICE_LANES]; /* balanced: sum in the block */
    uint64_t cost[LATTICE_LANES];
    uint8_t width[LATTICE_COST_BLOCK / LATTICE_COST_GROUP][LATTICE_LANES];
};

#define SUMMANDS 4u /* of 30 bits at most */

static void
NAME(close_group)(struct NAME(sink) * sink)
{
    const unsigned group = (sink->points - 1) / LATTICE_COST_GROUP;
    for (unsigned lane = 0; lane < LATTICE_LANES; lane++) {
        sink->width[group][lane] = (uint8_t)h5twin_bit_length64(sink->sum[lane]);
        sink->sum[lane] = 0;
    }
}

static void
NAME(close_sum)(struct NAME(sink) * sink)
{
    for (unsigned lane = 0; lane < LATTICE_LANES; lane++) {
        sink->block[lane] += sink->sum[lane];
        sink->sum[lane] = 0;
    }
}

static void
NAME(close_block)(struct NAME(sink) * sink)
{
    if (sink->effort == LATTICE_FAST) {
        NAME(close_group)(sink);
        const unsigned groups = (sink->points + LATTICE_COST_GROUP - 1) / LATTICE_COST_GROUP;
        for (unsigned lane = 0; lane < LATTICE_LANES; lane++) {
            unsigned width[LATTICE_COST_BLOCK / LATTICE_COST_GROUP];
            for (unsigned group = 0; group < groups; group++) {
                width[group] = sink->width[group][lane];
            }
            sink->cost[lane] += lattice_packed_cost(width, groups);
        }
    } else {
        NAME(close_sum)(sink);
        lattice_geometric_costs(sink->cost, sink->points, sink->block);
        memset(sink->block, 0, sizeof sink->block);
    }
    sink->points = 0;
}

/* After the codes of one point, or of SUMMANDS ones, have gone to sink->sum. */
H5TWIN_FORCE_INLINE void
NAME(count_points)(struct NAME(sink) * sink, unsigned count)
{
    const unsigned points = sink->points += count;
    if (points == LATTICE_COST_BLOCK) {
        NAME(close_block)(sink);
    } else if (sink->effort == LATTICE_FAST) {
        if (points % LATTICE_COST_GROUP == 0) {
            NAME(close_group)(sink);
        }
    } else if (points % SUMMANDS == 0) {
        NAME(close_sum)(sink);
    }
}

/* A code as it is counted. */
H5TWIN_FORCE_INLINE UNSIGNED
NAME(capped)(UNSIGNED code, bool fast)
{
    const UNSIGNED most =
        (UNSIGNED)-1 > LATTICE_COST_CAP ? (UNSIGNED)LATTICE_COST_CAP : (UNSIGNED)-1;
    return fast || code < most ? code : most;
}

H5TWIN_FORCE_INLINE UNSIGNED
NAME(add_code)(UNSIGNED sum, UNSIGNED code, bool fast)
{
    return fast ? sum | code : sum + NAME(capped)(code, false);
}

/* The codes of SUMMANDS points, side by side in `lanes` lanes: a sum that goes through memory is
 * slower than all else. */
H5TWIN_FORCE_INLINE void
NAME(take_few)(struct NAME(sink) * sink, const UNSIGNED *residuals, unsigned lanes, bool fast)
{
    H5TWIN_INDEPENDENT
    for (unsigned lane = 0; lane < lanes; lane++) {
        const UNSIGNED a = NAME(h5twin_zigzag)(residuals[lane]);
        const UNSIGNED b = NAME(h5twin_zigzag)(residuals[lane + lanes]);
        const UNSIGNED c = NAME(h5twin_zigzag)(residuals[lane + 2 * lanes]);
        const UNSIGNED d = NAME(h5twin_zigzag)(residuals[lane + 3 * lanes]);
        const UNSIGNED all = NAME(add_code)(
            NAME(add_code)(NAME(add_code)(NAME(capped)(a, fast), b, fast), c, fast), d, fast);
        sink->sum[lane] = fast ? sink->sum[lane] | all : sink->sum[lane] + all;
    }
    NAME(count_points)(sink, SUMMANDS);
}

H5TWIN_FORCE_INLINE void
NAME(take_any)(struct NAME(sink) * sink, const UNSIGNED *residuals, size_t count, unsigned lanes,
               bool fast)
{
    size_t i = 0;
    for (; sink->points % SUMMANDS == 0 && i + SUMMANDS <= count; i += SUMMANDS) {
        NAME(take_few)(sink, residuals + i * lanes, lanes, fast);
    }
    for (; i < count; i++) {
        for (unsigned lane = 0; lane < lanes; lane++) {
            sink->sum[lane] = NAME(add_code)(
                sink->sum[lane], NAME(h5twin_zigzag)(residuals[i * lanes + lane]), fast);
        }
        NAME(count_points)(sink, 1);
    }
}

/* Residuals of points one after the other, not zigzagged, in all lanes or the first half of them.
 */
static void
NAME(take_residuals)(struct NAME(sink) * sink, const UNSIGNED *residuals, size_t count,
                     unsigned lanes)
{
    const bool fast = sink->effort == LATTICE_FAST;
    if (lanes == LATTICE_LANES) {
        NAME(take_any)(sink, residuals, count, LATTICE_LANES, fast);
    } else if (fast) {
        NAME(take_any)(sink, residuals, count, LATTICE_SAMPLES, true);
    } else {
        NAME(take_any)(sink, residuals, count, LATTICE_SAMPLES, false);
    }
}

static void
NAME(close_sink)(struct NAME(sink) * sink)
{
    if (sink->points > 0) {
        NAME(close_block)(sink);
    }
}

/* ---- differences ---- */

/* Along one axis of points that have `lanes` items each. */
static void
NAME(subtract_to)(UNSIGNED *restrict to, const UNSIGNED *restrict from,
                  const struct lattice_shape *shape, unsigned axis, unsigned lanes)
{
    const size_t stride = shape->stride[axis] * lanes, line = stride * shape->extent[axis];
    for (size_t begin = 0; begin < shape->count * lanes; begin += line) {
        memcpy(to + begin, from + begin, stride * sizeof *to);
        for (size_t i = begin + stride; i < begin + line; i++) {
            to[i] = from[i] - from[i - stride];
        }
    }
}

/* Along the axes of a mask, from *values; room is as large. What was room may be *values then. */
static void
NAME(subtract_lanes)(const struct lattice_shape *shape, unsigned axes, UNSIGNED **values,
                     UNSIGNED **room, unsigned lanes)
{
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        if ((axes >> axis & 1u) != 0) {
            UNSIGNED *const swapped = *values;
            NAME(subtract_to)(*room, *values, shape, axis, lanes);
            *values = *room;
            *room = swapped;
        }
    }
}

/* ---- points ---- */

/* Weights of the neighbours at -3, -1, 1, 3 steps, in all lanes. */
struct NAME(lane_weights) {
    signed char step[4]; /* -1 where the weight is 0: it exists */
    INTEGER weight[4][LATTICE_LANES];
};

#define EIGHT(x) x, x, x, x, x, x, x, x
#define LINEAR_AND(x, y)                                                                           \
    {                                                                                              \
        EIGHT(x), EIGHT(y)                                                                         \
    }

/* By what there is: the next one behind, the third before, the third behind. */
static const struct NAME(lane_weights) NAME(lane_weights)[2][2][2] = {
    {{{{-1, -1, -1, -1},
       {LINEAR_AND(0, 0), LINEAR_AND(16, 16), LINEAR_AND(0, 0), LINEAR_AND(0, 0)}}},
     {{{-3, -1, -1, -1},
       {LINEAR_AND(-8, -8), LINEAR_AND(24, 24), LINEAR_AND(0, 0), LINEAR_AND(0, 0)}}}},
    {{{{-1, -1, 1, -1}, {LINEAR_AND(0, 0), LINEAR_AND(8, 8), LINEAR_AND(8, 8), LINEAR_AND(0, 0)}},
      {{-1, -1, 1, 3}, {LINEAR_AND(0, 0), LINEAR_AND(8, 6), LINEAR_AND(8, 12), LINEAR_AND(0, -2)}}},
     {{{-3, -1, 1, -1}, {LINEAR_AND(0, -2), LINEAR_AND(8, 12), LINEAR_AND(8, 6), LINEAR_AND(0, 0)}},
      {{-3, -1, 1, 3},
       {LINEAR_AND(0, -1), LINEAR_AND(8, 9), LINEAR_AND(8, 9), LINEAR_AND(0, -1)}}}},
};

/* An axis of a point. */
struct NAME(lane_taps) {
    bool both;
    ptrdiff_t offset[4];
    const INTEGER (*weight)[LATTICE_LANES];
};

static void
NAME(set_lane_taps)(struct NAME(lane_taps) * taps, size_t place, size_t step, size_t extent,
                    size_t stride)
{
    taps->both = place + step < extent;
    const struct NAME(lane_weights) *const weights =
        &NAME(lane_weights)[taps->both][place >= 3 * step][place + 3 * step < extent];
    for (unsigned i = 0; i < 4; i++) {
        taps->offset[i] = weights->step[i] * (ptrdiff_t)(step * stride * LATTICE_LANES);
    }
    taps->weight = weights->weight;
}

/* What all points of an array have in common. */
struct NAME(lanes) {
    const struct lattice_samples *samples;
    unsigned active;
    INTEGER width, cap;
    NAME(struct lattice_divisor) divisor;
    const INTEGER *integers;
    const uint8_t *specials;
    INTEGER *values;
    struct NAME(sink) sink;
};

#if H5TWIN_VECTOR_BYTES == 0

/* Points `by` apart, all with the same weights. */
H5TWIN_FORCE_INLINE void
NAME(code_lanes)(struct NAME(lanes) * lanes, size_t point, size_t by, size_t count,
                 const struct NAME(lane_taps) * taps, unsigned axes, bool has_width)
{
    static const uint8_t none[LATTICE_LANES] = {0};
    const bool fast = lanes->sink.effort == LATTICE_FAST;
    const UNSIGNED sums_up = (UNSIGNED)0 - !fast; /* a union is a sum without carries */
    const UNSIGNED most = NAME(capped)((UNSIGNED)-1, fast);
    const INTEGER cap = lanes->cap, width = lanes->width;
    const NAME(struct lattice_divisor) divisor = lanes->divisor;
    UNSIGNED *restrict const sums = lanes->sink.sum;
    const INTEGER(*weight[LATTICE_AXES])[LATTICE_LANES];
    for (unsigned axis = 0; axis < axes; axis++) {
        weight[axis] = taps[axis].weight;
    }
    for (; count > 0; count--, point += by) {
        const INTEGER *restrict const integers = lanes->integers + point * LATTICE_LANES;
        const uint8_t *restrict const specials =
            lanes->specials != NULL ? lanes->specials + point * LATTICE_LANES : none;
        INTEGER *restrict const values = lanes->values + point * LATTICE_LANES;
        const INTEGER *at[LATTICE_AXES][4];
        for (unsigned axis = 0; axis < axes; axis++) {
            for (unsigned i = 0; i < 4; i++) {
                at[axis][i] = lanes->values + point * LATTICE_LANES + taps[axis].offset[i];
            }
        }
        H5TWIN_INDEPENDENT
        for (unsigned lane = 0; lane < LATTICE_LANES; lane++) {
            UNSIGNED sum = 0;
            H5TWIN_UNROLL
            for (unsigned axis = 0; axis < axes; axis++) {
                sum += (UNSIGNED)at[axis][0][lane] * (UNSIGNED)weight[axis][0][lane] +
                       (UNSIGNED)at[axis][1][lane] * (UNSIGNED)weight[axis][1][lane] +
                       (UNSIGNED)at[axis][2][lane] * (UNSIGNED)weight[axis][2][lane] +
                       (UNSIGNED)at[axis][3][lane] * (UNSIGNED)weight[axis][3][lane];
            }
            const INTEGER guess =
                NAME(h5twin_lattice_clamp)(NAME(h5twin_lattice_mean)(sum, axes), cap);
            const INTEGER integer = integers[lane];
            INTEGER steps = has_width
                                ? NAME(h5twin_lattice_steps_to)(integer, guess, width, divisor, cap)
                                : integer - guess;
            steps &= (INTEGER)specials[lane] - 1;
            values[lane] = NAME(h5twin_lattice_clamp)(guess + steps * width, cap);
            const UNSIGNED code = NAME(h5twin_zigzag)((UNSIGNED)steps);
            const UNSIGNED counted = code < most ? code : most;
            sums[lane] = (sums[lane] | counted) + (sums[lane] & counted & sums_up);
        }
        NAME(count_points)(&lanes->sink, 1);
    }
}

#else
#    include "lattice_samples_lanes.h"
#endif

static void
NAME(code_points)(struct NAME(lanes) * lanes, size_t point, size_t by, size_t count,
                  const struct NAME(lane_taps) * taps, unsigned axes)
{
#if H5TWIN_VECTOR_BYTES != 0
#    define LANES_OF(number)                                                                       \
    case number:                                                                                   \
        if (lanes->width != 1) {                                                                   \
            NAME(code_vectors)(lanes, point, by, count, taps, number, true);                       \
        } else {                                                                                   \
            NAME(code_vectors)(lanes, point, by, count, taps, number, false);                      \
        }                                                                                          \
        break
#else
#    define LANES_OF(number)                                                                       \
    case number:                                                                                   \
        if (lanes->width != 1) {                                                                   \
            NAME(code_lanes)(lanes, point, by, count, taps, number, true);                         \
        } else {                                                                                   \
            NAME(code_lanes)(lanes, point, by, count, taps, number, false);                        \
        }                                                                                          \
        break
#endif
    switch (axes) {
        LANES_OF(1);
        LANES_OF(2);
        LANES_OF(3);
        LANES_OF(4);
    }
#undef LANES_OF
}

/* ---- passes ---- */

/* How many points of a row, `by` apart, have the same weights from this place on: all of them, or,
 * on an axis where they lie between others, those with all neighbours. */
static size_t
NAME(count_alike_lanes)(size_t extent, size_t place, size_t by, size_t step, bool is_odd)
{
    if (!is_odd) {
        return (extent - place + by - 1) / by;
    }
    const bool has_all = place >= 3 * step && place + 3 * step < extent;
    return has_all ? (extent - 3 * step - place + by - 1) / by : 1;
}

/* All points whose odd coordinates are those of this mask, at this step. */
static void
NAME(code_lane_pass)(struct NAME(lanes) * lanes, unsigned odd, size_t step)
{
    const struct lattice_shape *const shape = lanes->samples->shape;
    size_t first[LATTICE_AXES], by[LATTICE_AXES], c[LATTICE_AXES];
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        const bool is_active = (lanes->active >> axis & 1u) != 0;
        first[axis] = (odd >> axis & 1u) != 0 ? step : 0;
        by[axis] = is_active ? 2 * step : 1;
        if (first[axis] >= shape->extent[axis]) {
            return;
        }
    }
    for (c[0] = first[0]; c[0] < shape->extent[0]; c[0] += by[0]) {
        for (c[1] = first[1]; c[1] < shape->extent[1]; c[1] += by[1]) {
            for (c[2] = first[2]; c[2] < shape->extent[2]; c[2] += by[2]) {
                struct NAME(lane_taps) both[LATTICE_AXES], one[LATTICE_AXES];
                unsigned both_count = 0, one_count = 0;
                for (unsigned axis = 0; axis < 3; axis++) {
                    struct NAME(lane_taps) taps;
                    if ((odd >> axis & 1u) == 0) {
                        continue;
                    }
                    NAME(set_lane_taps)
                    (&taps, c[axis], step, shape->extent[axis], shape->stride[axis]);
                    if (taps.both) {
                        both[both_count++] = taps;
                    } else {
                        one[one_count++] = taps;
                    }
                }
                const size_t row =
                    c[0] * shape->stride[0] + c[1] * shape->stride[1] + c[2] * shape->stride[2];
                size_t run;
                for (c[3] = first[3]; c[3] < shape->extent[3]; c[3] += run * by[3]) {
                    struct NAME(lane_taps) *taps = both;
                    unsigned axes = both_count;
                    run = NAME(count_alike_lanes)(shape->extent[3], c[3], by[3], step,
                                                  (odd >> 3 & 1u) != 0);
                    if ((odd >> 3 & 1u) != 0) {
                        struct NAME(lane_taps) along;
                        NAME(set_lane_taps)(&along, c[3], step, shape->extent[3], 1);
                        taps = along.both || both_count > 0 ? both : one;
                        axes = taps == both ? both_count : one_count;
                        if (along.both == (taps == both)) {
                            taps[axes++] = along;
                        }
                    } else if (both_count == 0) {
                        taps = one;
                        axes = one_count;
                    }
                    NAME(code_points)(lanes, row + c[3], by[3], run, taps, axes);
                }
            }
        }
    }
}

/* ---- anchors ---- */

static void
NAME(code_lane_anchors)(struct NAME(lanes) * lanes, size_t step, UNSIGNED *residuals)
{
    const struct lattice_shape *const shape = lanes->samples->shape;
    struct lattice_shape grid = {.axes = LATTICE_AXES};
    size_t by[LATTICE_AXES], c[LATTICE_AXES];
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        by[axis] = (lanes->active >> axis & 1u) != 0 ? step : 1;
        grid.extent[axis] = (shape->extent[axis] - 1) / by[axis] + 1;
    }
    h5twin_lattice_shape_finish(&grid);
    INTEGER last[LATTICE_LANES] = {0};
    UNSIGNED *to = residuals;
    for (c[0] = 0; c[0] < shape->extent[0]; c[0] += by[0]) {
        for (c[1] = 0; c[1] < shape->extent[1]; c[1] += by[1]) {
            for (c[2] = 0; c[2] < shape->extent[2]; c[2] += by[2]) {
                for (c[3] = 0; c[3] < shape->extent[3]; c[3] += by[3], to += LATTICE_LANES) {
                    const size_t at =
                        LATTICE_LANES * (c[0] * shape->stride[0] + c[1] * shape->stride[1] +
                                         c[2] * shape->stride[2] + c[3]);
                    for (unsigned lane = 0; lane < LATTICE_LANES; lane++) {
                        const INTEGER integer = lanes->integers[at + lane];
                        if (lanes->specials == NULL || lanes->specials[at + lane] == 0) {
                            last[lane] = lanes->width == 1
                                             ? integer
                                             : NAME(h5twin_lattice_bin)(integer, lanes->width,
                                                                        lanes->divisor);
                        }
                        to[lane] = (UNSIGNED)last[lane];
                        lanes->values[at + lane] =
                            NAME(h5twin_lattice_clamp)(last[lane] * lanes->width, lanes->cap);
                    }
                }
            }
        }
    }
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        struct lattice_shape items = grid;
        items.stride[axis] *= LATTICE_LANES;
        items.count *= LATTICE_LANES;
        if ((lanes->active >> axis & 1u) != 0) {
            NAME(along)(&items, axis, residuals, false);
        }
    }
    size_t corners[LATTICE_AXES]; /* differences of the points at 0 of all active axes */
    UNSIGNED before[LATTICE_LANES] = {0};
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        corners[axis] = (lanes->active >> axis & 1u) != 0 ? 1 : grid.extent[axis];
    }
    for (c[0] = 0; c[0] < corners[0]; c[0]++) {
        for (c[1] = 0; c[1] < corners[1]; c[1]++) {
            for (c[2] = 0; c[2] < corners[2]; c[2]++) {
                for (c[3] = 0; c[3] < corners[3]; c[3]++) {
                    UNSIGNED *const at =
                        residuals + LATTICE_LANES * (c[0] * grid.stride[0] + c[1] * grid.stride[1] +
                                                     c[2] * grid.stride[2] + c[3]);
                    for (unsigned lane = 0; lane < LATTICE_LANES; lane++) {
                        const UNSIGNED value = at[lane];
                        at[lane] = value - before[lane];
                        before[lane] = value;
                    }
                }
            }
        }
    }
    NAME(take_residuals)(&lanes->sink, residuals, grid.count, LATTICE_LANES);
}

/* ---- predictors ---- */

static void
NAME(sum_lanes)(const struct NAME(sink) * sink, uint64_t cost[2])
{
    cost[0] = cost[1] = 0;
    for (unsigned lane = 0; lane < LATTICE_LANES; lane++) {
        cost[lane / LATTICE_SAMPLES] += sink->cost[lane];
    }
}

static void
NAME(cost_levels)(const struct lattice_samples *samples, unsigned predictor, unsigned active,
                  uint64_t cost[2])
{
    const size_t items = samples->shape->count * LATTICE_LANES;
    INTEGER *const room = samples->room;
    struct NAME(lanes) lanes = {
        .samples = samples,
        .active = active,
        .width = (INTEGER)samples->width,
        .cap = LIMIT,
        .divisor = NAME(h5twin_lattice_divisor)(samples->width),
        .integers = samples->integers,
        .specials = samples->specials,
        .values = room,
        .sink = {.effort = samples->effort},
    };
    if (predictor == LATTICE_BINS) {
        lanes.cap = NAME(h5twin_lattice_last_bin)(lanes.width);
        lanes.integers = samples->bins;
        lanes.width = 1;
    }
    size_t step = (size_t)1 << h5twin_lattice_level_number(samples->shape, active);
    NAME(code_lane_anchors)(&lanes, step, (UNSIGNED *)room + items);
    while (step > 1) {
        step /= 2;
        for (unsigned group = 1; group <= LATTICE_AXES; group++) {
            for (unsigned odd = 1; odd < 16; odd++) {
                if ((odd & ~active) == 0 && h5twin_popcount32(odd) == group) {
                    NAME(code_lane_pass)(&lanes, odd, step);
                }
            }
        }
    }
    NAME(close_sink)(&lanes.sink);
    NAME(sum_lanes)(&lanes.sink, cost);
}

/* The lanes hold all samples twice: the first half of them will do. */
static uint64_t
NAME(cost_lorenzo)(const struct lattice_samples *samples, unsigned orders)
{
    const size_t count = samples->shape->count;
    const INTEGER *const bins = samples->bins;
    UNSIGNED *values = samples->room, *other = values + count * LATTICE_SAMPLES;
    struct NAME(sink) sink = {.effort = samples->effort};
    uint64_t cost[2];
    for (size_t i = 0; i < count; i++) {
        memcpy(values + i * LATTICE_SAMPLES, bins + i * LATTICE_LANES,
               LATTICE_SAMPLES * sizeof *values);
    }
    for (unsigned round = 0; round < 2; round++) {
        unsigned axes = 0;
        for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
            axes |= (unsigned)((orders >> 2 * axis & 3u) > round) << axis;
        }
        NAME(subtract_lanes)(samples->shape, axes, &values, &other, LATTICE_SAMPLES);
    }
    NAME(take_residuals)(&sink, values, count, LATTICE_SAMPLES);
    NAME(close_sink)(&sink);
    NAME(sum_lanes)(&sink, cost);
    return cost[0];
}

#undef SUMMANDS
#undef EIGHT
#undef LINEAR_AND
