/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_levels_template.h: interpolation for integers of BITS bits; FORMAT.md section 5.
 *
 * Level l holds the points whose active coordinates are multiples of 2^l, as an array of its own,
 * so that in every level the step is 1: even coordinates come from level l + 1, the others are what
 * the level's passes predict. Rows along an active axis 3 are split: all even columns, then all odd
 * ones. So every pass reads and writes contiguous runs, whose neighbours along any axis are
 * contiguous runs too. The weights along axis 3 change near the ends of a row only. */

/* A level at work. */
struct NAME(level) {
    size_t extent[LATTICE_AXES];
    size_t stride[LATTICE_AXES];
    INTEGER *values;
    unsigned shift; /* log2 of the step in coordinates of the array */
};

/* Columns of a row of a pass that have the same weights along axis 3. */
struct NAME(segment) {
    size_t begin, end;
    int weights[4];
    bool both;
};

/* A pass: all points with these odd axes. */
struct NAME(pass) {
    const struct lattice_array *array;
    const struct NAME(level) * level;
    unsigned odd;              /* mask */
    size_t rows[3], row_count; /* rows along axes 0..2, and their product */
    size_t first[3], step[3];  /* their coordinates */
    size_t length, offset;     /* points of a row, and where they begin in it */
    bool decoding;
    UNSIGNED *codes; /* row by row */
    unsigned segment_count;
    struct NAME(segment) segments[4];
    INTEGER width, cap;
    NAME(struct lattice_divisor) divisor;
};

/* Neighbours of a run along one axis, and their weights. */
struct NAME(taps) {
    const INTEGER *at[4];
    INTEGER weights[4];
};

enum { NAME(CUBIC), NAME(LINEAR), NAME(OTHER) };

H5TWIN_FORCE_INLINE INTEGER
NAME(predict)(const struct NAME(taps) * taps, unsigned axes, unsigned style, size_t i)
{
    UNSIGNED sum = 0;
    H5TWIN_UNROLL
    for (unsigned axis = 0; axis < axes; axis++) {
        const UNSIGNED far_before = (UNSIGNED)taps[axis].at[0][i];
        const UNSIGNED before = (UNSIGNED)taps[axis].at[1][i];
        const UNSIGNED behind = (UNSIGNED)taps[axis].at[2][i];
        const UNSIGNED far_behind = (UNSIGNED)taps[axis].at[3][i];
        const INTEGER *const weights = taps[axis].weights;
        sum += style == NAME(CUBIC) ? 9u * (before + behind) - (far_before + far_behind)
               : style == NAME(LINEAR)
                   ? 8u * (before + behind)
                   : (UNSIGNED)weights[0] * far_before + (UNSIGNED)weights[1] * before +
                         (UNSIGNED)weights[2] * behind + (UNSIGNED)weights[3] * far_behind;
    }
    return NAME(h5twin_lattice_mean)(sum, axes);
}

/* taps as locals: the compiler then keeps them in registers. */
#define LOCAL_TAPS                                                                                 \
    struct NAME(taps) local[LATTICE_AXES];                                                         \
    memcpy(local, taps, axes * sizeof local[0])

H5TWIN_FORCE_INLINE void
NAME(decode_run)(const struct NAME(pass) * pass, INTEGER *restrict values,
                 const UNSIGNED *restrict codes, size_t count, const struct NAME(taps) * taps,
                 unsigned axes, unsigned style)
{
    const INTEGER cap = pass->cap;
    const UNSIGNED width = (UNSIGNED)pass->width;
    LOCAL_TAPS;
    for (size_t i = 0; i < count; i++) {
        const INTEGER guess = NAME(h5twin_lattice_clamp)(NAME(predict)(local, axes, style, i), cap);
        const UNSIGNED steps = NAME(h5twin_unzigzag)(codes[i]);
        values[i] = NAME(h5twin_lattice_clamp)((INTEGER)((UNSIGNED)guess + steps * width), cap);
    }
}

/* width 1: no division, and what is not special is met exactly. */
H5TWIN_FORCE_INLINE void
NAME(encode_run)(const struct NAME(pass) * pass, INTEGER *restrict values, UNSIGNED *restrict codes,
                 const INTEGER *restrict integers, const uint8_t *restrict specials, size_t count,
                 const struct NAME(taps) * taps, unsigned axes, unsigned style, bool has_width)
{
    const INTEGER cap = pass->cap, width = pass->width;
    const NAME(struct lattice_divisor) divisor = pass->divisor;
    LOCAL_TAPS;
    for (size_t i = 0; i < count; i++) {
        const INTEGER guess = NAME(h5twin_lattice_clamp)(NAME(predict)(local, axes, style, i), cap);
        const INTEGER integer = integers[i];
        INTEGER steps = integer - guess;
        if (has_width) {
            steps = NAME(h5twin_lattice_steps)(steps, width, divisor);
            /* The last integers of all are met by the clamp, from one step further if need be. */
            const INTEGER reached = guess + steps * width;
            steps += (INTEGER)((integer == cap) & (reached < cap)) -
                     (INTEGER)((integer == -cap) & (reached > -cap));
        }
        steps = specials != NULL && specials[i] != 0 ? 0 : steps;
        codes[i] = NAME(h5twin_zigzag)((UNSIGNED)steps);
        values[i] = NAME(h5twin_lattice_clamp)(guess + steps * width, cap);
    }
}

/* Gathered integers of a run, and which are special. */
struct NAME(source) {
    const INTEGER *integers;
    const uint8_t *specials; /* NULL: none */
};

H5TWIN_FORCE_INLINE void
NAME(code_run)(const struct NAME(pass) * pass, INTEGER *values, UNSIGNED *codes,
               const struct NAME(source) * source, size_t count, const struct NAME(taps) * taps,
               unsigned axes, unsigned style)
{
    if (pass->decoding) {
        NAME(decode_run)(pass, values, codes, count, taps, axes, style);
    } else if (source->specials == NULL) {
        if (pass->width == 1) {
            NAME(encode_run)
            (pass, values, codes, source->integers, NULL, count, taps, axes, style, false);
        } else {
            NAME(encode_run)
            (pass, values, codes, source->integers, NULL, count, taps, axes, style, true);
        }
    } else if (pass->width == 1) {
        NAME(encode_run)
        (pass, values, codes, source->integers, source->specials, count, taps, axes, style, false);
    } else {
        NAME(encode_run)
        (pass, values, codes, source->integers, source->specials, count, taps, axes, style, true);
    }
}

static void
NAME(code_any_run)(const struct NAME(pass) * pass, INTEGER *values, UNSIGNED *codes,
                   const struct NAME(source) * source, size_t count, const struct NAME(taps) * taps,
                   unsigned axes)
{
    bool cubic = true, linear = true;
    for (unsigned axis = 0; axis < axes; axis++) {
        const INTEGER *const weights = taps[axis].weights;
        cubic = cubic && weights[0] == -1 && weights[1] == 9;
        linear = linear && weights[0] == 0 && weights[1] == 8 && weights[3] == 0;
    }
#define RUNS_OF(axes)                                                                              \
    case axes:                                                                                     \
        if (cubic) {                                                                               \
            NAME(code_run)(pass, values, codes, source, count, taps, axes, NAME(CUBIC));           \
        } else if (linear) {                                                                       \
            NAME(code_run)(pass, values, codes, source, count, taps, axes, NAME(LINEAR));          \
        } else {                                                                                   \
            NAME(code_run)(pass, values, codes, source, count, taps, axes, NAME(OTHER));           \
        }                                                                                          \
        break
    switch (axes) {
        RUNS_OF(1);
        RUNS_OF(2);
        RUNS_OF(3);
        RUNS_OF(4);
    }
#undef RUNS_OF
}

/* ---- rows ---- */

/* Neighbours at -3, -1, 1, 3 times `distance`; where the weight is 0, any that exists. */
static struct NAME(taps) NAME(make_taps)(const INTEGER *at, size_t distance, const int weights[4])
{
    struct NAME(taps) taps;
    static const int steps[4] = {-3, -1, 1, 3};
    for (unsigned i = 0; i < 4; i++) {
        const ptrdiff_t offset = (weights[i] != 0 ? steps[i] : -1) * (ptrdiff_t)distance;
        taps.at[i] = at + offset;
        taps.weights[i] = (INTEGER)weights[i];
    }
    return taps;
}

/* Columns along axis 3 of an odd column: even ones, of which 2 j + 1 has j before and j + 1 behind.
 */
static struct NAME(taps) NAME(make_row_taps)(const INTEGER *evens, const int weights[4])
{
    struct NAME(taps) taps;
    static const int columns[4] = {-1, 0, 1, 2};
    for (unsigned i = 0; i < 4; i++) {
        taps.at[i] = evens + (weights[i] != 0 ? columns[i] : 0);
        taps.weights[i] = (INTEGER)weights[i];
    }
    return taps;
}

static void
NAME(gather)(struct NAME(source) * source, INTEGER *restrict integers, uint8_t *restrict specials,
             const struct lattice_array *array, size_t begin, size_t stride, size_t count)
{
    const INTEGER *const from = (const INTEGER *)array->integers + begin;
    source->specials = array->specials == NULL ? NULL : specials;
    source->integers = integers;
    if (stride == 1) {
        source->integers = from;
        source->specials = array->specials == NULL ? NULL : array->specials + begin;
        return;
    }
    if (stride == 2) {
        for (size_t i = 0; i < count; i++) {
            integers[i] = from[2 * i];
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            integers[i] = from[stride * i];
        }
    }
    for (size_t i = 0; array->specials != NULL && i < count; i++) {
        specials[i] = array->specials[begin + stride * i];
    }
}

/* Points begin..end of row number `row` of a pass. */
static void
NAME(code_row)(const struct NAME(pass) * pass, size_t row, size_t begin, size_t end)
{
    const struct NAME(level) *const level = pass->level;
    const size_t place[3] = {row / (pass->rows[1] * pass->rows[2]),
                             row / pass->rows[2] % pass->rows[1], row % pass->rows[2]};
    struct NAME(taps) taps[LATTICE_AXES + LATTICE_AXES]; /* those with both neighbours come first */
    struct NAME(taps) one_sided[LATTICE_AXES];
    unsigned both_count = 0, one_count = 0;
    size_t coordinate[3], base = 0, origin = 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        coordinate[axis] = pass->first[axis] + place[axis] * pass->step[axis];
        base += coordinate[axis] * level->stride[axis];
        const bool active = (pass->array->choice.arg >> axis & 1u) != 0;
        origin +=
            (coordinate[axis] << (active ? level->shift : 0)) * pass->array->shape->stride[axis];
    }
    INTEGER *const values = level->values + base + pass->offset;
    for (unsigned axis = 0; axis < 3; axis++) {
        int weights[4];
        if ((pass->odd >> axis & 1u) == 0) {
            continue;
        }
        if (h5twin_lattice_weights(coordinate[axis], level->extent[axis], pass->array->choice.cubic,
                                   weights)) {
            taps[both_count++] = NAME(make_taps)(values, level->stride[axis], weights);
        } else {
            one_sided[one_count++] = NAME(make_taps)(values, level->stride[axis], weights);
        }
    }
    const bool active3 = (pass->array->choice.arg >> 3 & 1u) != 0;
    const bool odd3 = (pass->odd >> 3 & 1u) != 0;
    const size_t stride = active3 ? (size_t)2 << level->shift : 1;
    INTEGER integers[LATTICE_RUN];
    uint8_t specials[LATTICE_RUN];
    struct NAME(source) source = {.integers = NULL};
    if (!pass->decoding) {
        NAME(gather)
        (&source, integers, specials, pass->array,
         origin + begin * stride + (odd3 ? stride / 2 : 0), stride, end - begin);
    }
    UNSIGNED *const codes = pass->codes + row * pass->length;
    for (unsigned i = 0; i < pass->segment_count; i++) {
        const struct NAME(segment) *const segment = &pass->segments[i];
        const size_t from = segment->begin > begin ? segment->begin : begin;
        const size_t to = segment->end < end ? segment->end : end;
        if (from >= to) {
            continue;
        }
        /* The axes that predict here, shifted to column `from`. */
        struct NAME(taps) here[LATTICE_AXES];
        unsigned axes = both_count;
        memcpy(here, taps, both_count * sizeof here[0]);
        if (both_count == 0 && !(odd3 && segment->both)) {
            memcpy(here, one_sided, one_count * sizeof here[0]);
            axes = one_count;
        }
        for (unsigned axis = 0; axis < axes; axis++) {
            for (unsigned tap = 0; tap < 4; tap++) {
                here[axis].at[tap] += from;
            }
        }
        if (odd3 && (segment->both || both_count == 0)) {
            here[axes++] = NAME(make_row_taps)(values - pass->offset + from, segment->weights);
        }
        const struct NAME(source) part = {
            .integers = pass->decoding ? NULL : source.integers + (from - begin),
            .specials = source.specials == NULL ? NULL : source.specials + (from - begin),
        };
        NAME(code_any_run)(pass, values + from, codes + from, &part, to - from, here, axes);
    }
}

/* ---- passes ---- */

/* Work for threads: runs of rows. */
struct NAME(pass_work) {
    const struct NAME(pass) * pass;
    size_t pieces;
};

static void
NAME(code_piece)(void *context, size_t piece)
{
    const struct NAME(pass_work) *const work = context;
    const struct NAME(pass) *const pass = work->pass;
    const size_t runs = (pass->length + LATTICE_RUN - 1) / LATTICE_RUN; /* of a row */
    const size_t all = pass->row_count * runs;
    const size_t end =
        all / work->pieces * (piece + 1) + all % work->pieces * (piece + 1) / work->pieces;
    size_t at = all / work->pieces * piece + all % work->pieces * piece / work->pieces;
    for (; at < end; at++) {
        const size_t begin = at % runs * LATTICE_RUN, left = pass->length - begin;
        NAME(code_row)(pass, at / runs, begin, begin + (left < LATTICE_RUN ? left : LATTICE_RUN));
    }
}

static void
NAME(set_segments)(struct NAME(pass) * pass, bool odd3, size_t extent)
{
    pass->segment_count = 0;
    const size_t length = pass->length;
    const size_t cuts[5] = {0, 1, length > 2 ? length - 2 : 1, length > 1 ? length - 1 : 1, length};
    for (unsigned i = 0; i < 4; i++) {
        struct NAME(segment) segment = {.begin = cuts[i], .end = cuts[i + 1]};
        if (!odd3) {
            segment.end = length;
        } else {
            segment.both = h5twin_lattice_weights(2 * segment.begin + 1, extent,
                                                  pass->array->choice.cubic, segment.weights);
        }
        if (segment.begin < segment.end && segment.begin < length) {
            struct NAME(segment) *const last =
                pass->segment_count > 0 ? &pass->segments[pass->segment_count - 1] : NULL;
            if (last != NULL && last->both == segment.both &&
                memcmp(last->weights, segment.weights, sizeof segment.weights) == 0) {
                last->end = segment.end;
            } else {
                pass->segments[pass->segment_count++] = segment;
            }
        }
        if (!odd3) {
            return;
        }
    }
}

/* One pass; returns its number of points. */
static size_t
NAME(code_pass)(const struct lattice_array *array, const struct NAME(level) * level, unsigned odd,
                UNSIGNED *codes, bool decoding, INTEGER cap)
{
    struct NAME(pass) pass = {
        .array = array,
        .level = level,
        .odd = odd,
        .decoding = decoding,
        .codes = codes,
        .width = (INTEGER)array->width,
        .cap = cap,
        .divisor = NAME(h5twin_lattice_divisor)(array->width),
    };
    const unsigned active = array->choice.arg;
    pass.row_count = 1;
    for (unsigned axis = 0; axis < 3; axis++) {
        const bool is_active = (active >> axis & 1u) != 0, is_odd = (odd >> axis & 1u) != 0;
        pass.first[axis] = is_odd;
        pass.step[axis] = is_active ? 2 : 1;
        pass.rows[axis] = is_active ? (level->extent[axis] + !is_odd) / 2 : level->extent[axis];
        pass.row_count *= pass.rows[axis];
    }
    const size_t extent = level->extent[3];
    const bool odd3 = (odd >> 3 & 1u) != 0;
    pass.length = (active >> 3 & 1u) == 0 ? extent : odd3 ? extent / 2 : (extent + 1) / 2;
    pass.offset = odd3 ? (extent + 1) / 2 : 0;
    const size_t points = pass.row_count * pass.length;
    if (points == 0) {
        return 0;
    }
    NAME(set_segments)(&pass, odd3, extent);
    struct NAME(pass_work) work = {.pass = &pass, .pieces = 1};
    if (array->threads > 1 && points >= LATTICE_POINTS_PER_THREAD) {
        work.pieces = array->threads;
    }
    h5twin_parallel_for(array->threads, work.pieces, NAME(code_piece), &work);
    return points;
}

/* The even points of a level are the points of the next one, whose rows are split unless it is the
 * last. */
static void
NAME(copy_evens)(const struct NAME(level) * level, const struct NAME(level) * coarse,
                 unsigned active, bool is_split)
{
    const size_t extent = coarse->extent[3], half = (extent + 1) / 2;
    for (size_t c0 = 0; c0 < coarse->extent[0]; c0++) {
        for (size_t c1 = 0; c1 < coarse->extent[1]; c1++) {
            for (size_t c2 = 0; c2 < coarse->extent[2]; c2++) {
                const INTEGER *restrict const from = coarse->values + c0 * coarse->stride[0] +
                                                     c1 * coarse->stride[1] +
                                                     c2 * coarse->stride[2];
                INTEGER *restrict const to = level->values +
                                             (c0 << (active & 1u)) * level->stride[0] +
                                             (c1 << (active >> 1 & 1u)) * level->stride[1] +
                                             (c2 << (active >> 2 & 1u)) * level->stride[2];
                if (!is_split) {
                    memcpy(to, from, extent * sizeof *to);
                    continue;
                }
                for (size_t i = 0; i < extent / 2; i++) {
                    to[2 * i] = from[i];
                    to[2 * i + 1] = from[half + i];
                }
                if (extent % 2 != 0) {
                    to[extent - 1] = from[half - 1];
                }
            }
        }
    }
}

/* ---- anchors ---- */

/* Running sums over the anchors whose active coordinates are 0, in C order, or their differences.
 */
static void
NAME(sum_corners)(const struct lattice_shape *grid, unsigned active, UNSIGNED *values, bool inverse)
{
    size_t extent[LATTICE_AXES];
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        extent[axis] = (active >> axis & 1u) != 0 ? 1 : grid->extent[axis];
    }
    UNSIGNED last = 0;
    for (size_t c0 = 0; c0 < extent[0]; c0++) {
        for (size_t c1 = 0; c1 < extent[1]; c1++) {
            for (size_t c2 = 0; c2 < extent[2]; c2++) {
                for (size_t c3 = 0; c3 < extent[3]; c3++) {
                    UNSIGNED *const at = values + c0 * grid->stride[0] + c1 * grid->stride[1] +
                                         c2 * grid->stride[2] + c3;
                    const UNSIGNED value = *at;
                    *at = inverse ? value + last : value - last;
                    last = inverse ? *at : value;
                }
            }
        }
    }
}

static void
NAME(decode_anchors)(const struct lattice_array *array, const struct lattice_shape *grid,
                     INTEGER *restrict values, INTEGER cap)
{
    UNSIGNED *const codes = array->codes;
    for (size_t i = 0; i < grid->count; i++) {
        codes[i] = NAME(h5twin_unzigzag)(codes[i]);
    }
    NAME(sum_corners)(grid, array->choice.arg, codes, true);
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        if ((array->choice.arg >> axis & 1u) != 0) {
            NAME(along)(grid, axis, codes, true);
        }
    }
    for (size_t i = 0; i < grid->count; i++) {
        values[i] = NAME(h5twin_lattice_clamp)((INTEGER)(codes[i] * (UNSIGNED)array->width), cap);
    }
}

/* A special anchor takes the bin of the last one before it that is none: the choice of section 9,
 * where all that is known of the others is what they decode to. */
static void
NAME(encode_anchors)(const struct lattice_array *array, const struct lattice_shape *grid,
                     unsigned levels, INTEGER *restrict values, INTEGER cap)
{
    const struct lattice_shape *const shape = array->shape;
    const INTEGER width = (INTEGER)array->width;
    const NAME(struct lattice_divisor) divisor = NAME(h5twin_lattice_divisor)(array->width);
    const INTEGER *const integers = array->integers;
    UNSIGNED *const codes = array->codes;
    unsigned shift[LATTICE_AXES];
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        shift[axis] = (array->choice.arg >> axis & 1u) != 0 ? levels : 0;
    }
    INTEGER last = 0;
    size_t i = 0;
    for (size_t c0 = 0; c0 < grid->extent[0]; c0++) {
        for (size_t c1 = 0; c1 < grid->extent[1]; c1++) {
            for (size_t c2 = 0; c2 < grid->extent[2]; c2++) {
                const size_t row = (c0 << shift[0]) * shape->stride[0] +
                                   (c1 << shift[1]) * shape->stride[1] +
                                   (c2 << shift[2]) * shape->stride[2];
                for (size_t c3 = 0; c3 < grid->extent[3]; c3++, i++) {
                    const size_t at = row + (c3 << shift[3]);
                    if (array->specials == NULL || array->specials[at] == 0) {
                        last = width == 1 ? integers[at]
                                          : NAME(h5twin_lattice_bin)(integers[at], width, divisor);
                    }
                    codes[i] = (UNSIGNED)last;
                    values[i] = NAME(h5twin_lattice_clamp)(last * width, cap);
                }
            }
        }
    }
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        if ((array->choice.arg >> axis & 1u) != 0) {
            NAME(along)(grid, axis, codes, false);
        }
    }
    NAME(sum_corners)(grid, array->choice.arg, codes, false);
    for (i = 0; i < grid->count; i++) {
        codes[i] = NAME(h5twin_zigzag)(codes[i]);
    }
}

/* ---- both directions ---- */

/* Extents and places of the levels 0..*count; the last are the anchors. */
static unsigned
NAME(set_levels)(struct NAME(level) levels[LATTICE_MOST_LEVELS + 1],
                 const struct lattice_array *array)
{
    const struct lattice_shape *const shape = array->shape;
    const unsigned active = array->choice.arg;
    const unsigned count = h5twin_lattice_level_number(shape, active);
    INTEGER *values = array->levels;
    for (unsigned i = 0; i <= count; i++) {
        struct NAME(level) *const level = &levels[i];
        size_t stride = 1;
        for (unsigned axis = LATTICE_AXES; axis-- > 0;) {
            const unsigned shift = (active >> axis & 1u) != 0 ? i : 0;
            level->extent[axis] = ((shape->extent[axis] - 1) >> shift) + 1;
            level->stride[axis] = stride;
            stride *= level->extent[axis];
        }
        level->shift = i;
        level->values = values;
        values += stride;
    }
    return count;
}

static void
NAME(code_levels)(const struct lattice_array *array, bool decoding)
{
    const unsigned active = array->choice.arg;
    const INTEGER cap = array->choice.predictor == LATTICE_INTERPOLATE
                            ? LIMIT
                            : NAME(h5twin_lattice_last_bin)((INTEGER)array->width);
    struct lattice_array steps = *array; /* bins are predicted in steps of 1 */
    if (array->choice.predictor == LATTICE_BINS) {
        steps.width = 1;
    }
    struct NAME(level) levels[LATTICE_MOST_LEVELS + 1];
    const unsigned count = NAME(set_levels)(levels, array);
    struct lattice_shape grid = {.axes = LATTICE_AXES};
    memcpy(grid.extent, levels[count].extent, sizeof grid.extent);
    h5twin_lattice_shape_finish(&grid);
    if (decoding) {
        NAME(decode_anchors)(&steps, &grid, levels[count].values, cap);
    } else {
        NAME(encode_anchors)(&steps, &grid, count, levels[count].values, cap);
    }
    UNSIGNED *codes = (UNSIGNED *)array->codes + grid.count;
    for (unsigned i = count; i-- > 0;) {
        NAME(copy_evens)
        (&levels[i], &levels[i + 1], active, i + 1 < count && (active >> 3 & 1u) != 0);
        for (unsigned group = 1; group <= LATTICE_AXES; group++) {
            for (unsigned odd = 1; odd < 16; odd++) {
                if ((odd & ~active) == 0 && h5twin_popcount32(odd) == group) {
                    codes += NAME(code_pass)(&steps, &levels[i], odd, codes, decoding, cap);
                }
            }
        }
    }
}

/* Bins are not in array->integers: they are made here, in place of the codes that are not yet
 * there, and moved to the room behind the levels. */
static void
NAME(encode_levels)(const struct lattice_array *array)
{
    if (array->choice.predictor == LATTICE_INTERPOLATE) {
        NAME(code_levels)(array, false);
        return;
    }
    struct lattice_array bins = *array;
    INTEGER *const room =
        (INTEGER *)array->levels + h5twin_lattice_level_count(array->shape, array->choice.arg);
    NAME(bins)(room, array->integers, array->shape->count, array->width);
    bins.integers = room;
    NAME(code_levels)(&bins, false);
}

static void
NAME(decode_levels)(const struct lattice_array *array)
{
    NAME(code_levels)(array, true);
}
