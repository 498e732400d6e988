/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_levels_template.h: interpolation for integers of BITS bits; FORMAT.md section 5.
 *
 * Level l holds the points whose active coordinates are multiples of 2^l, as an array of its own,
 * so that in every level the step is 1: even coordinates come from level l + 1, the others are what
 * the level's passes predict. Rows along an active axis 3 are split: all even columns, then all odd
 * ones. So every pass reads and writes contiguous runs, whose neighbours along any axis are
 * contiguous runs too. The weights along axis 3 change near the ends of a row only.
 *
 * One thread takes the passes of a level slab by slab along the slowest active axis, so that what a
 * slab needs of its neighbours is still in a cache; several take pass by pass. */
#include "lattice_rows_template.h"

/* ---- passes of a level ---- */

/* All passes of a level, in the order of the stream. */
struct NAME(passes) {
    unsigned count;
    struct NAME(pass) pass[15];
};

/* Returns where the codes of the next level begin. */
static UNSIGNED *
NAME(set_passes)(struct NAME(passes) * passes, const struct lattice_array *array,
                 const struct NAME(level) * level, UNSIGNED *codes, bool decoding, INTEGER cap)
{
    const unsigned active = array->choice.arg;
    passes->count = 0;
    for (unsigned group = 1; group <= LATTICE_AXES; group++) {
        for (unsigned odd = 1; odd < 16; odd++) {
            if ((odd & ~active) != 0 || h5twin_popcount32(odd) != group) {
                continue;
            }
            const size_t points = NAME(set_pass)(&passes->pass[passes->count], array, level, odd,
                                                 codes, decoding, cap);
            passes->count += points > 0;
            codes += points;
        }
    }
    return codes;
}

/* Rows begin..end of the coarse level, as the even points of the level below it. They are split
 * unless they are anchors. */
static void
NAME(copy_evens)(const struct NAME(level) * level, const struct NAME(level) * coarse,
                 unsigned active, bool is_split, size_t begin, size_t end)
{
    const size_t extent = coarse->extent[3], half = (extent + 1) / 2;
    for (size_t row = begin; row < end; row++) {
        const size_t c0 = row / (coarse->extent[1] * coarse->extent[2]);
        const size_t c1 = row / coarse->extent[2] % coarse->extent[1];
        const size_t c2 = row % coarse->extent[2];
        const INTEGER *restrict const from = coarse->values + row * extent;
        INTEGER *restrict const to = level->values + (c0 << (active & 1u)) * level->stride[0] +
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

/* A level cut into slabs. */
struct NAME(slabs) {
    unsigned axis; /* along which: the slowest active one; 3: a slab is a row */
    size_t outer;  /* arrays of slabs, by the axes before that one */
    size_t extent; /* slabs of an array */
    size_t rows;   /* of the coarse level in a slab */
};

/* Passes of one parity of a slab: `number` counts the slabs that have it. */
static void
NAME(code_slab)(const struct NAME(passes) * passes, const struct NAME(slabs) * slabs, size_t array,
                size_t number, bool odd)
{
    for (unsigned i = 0; i < passes->count; i++) {
        const struct NAME(pass) *const pass = &passes->pass[i];
        const unsigned axis = slabs->axis;
        if ((axis < 3 && (pass->odd >> axis & 1u) != 0) != odd) {
            continue;
        }
        const size_t count = axis < 3 ? pass->rows[axis] : 1;
        const size_t rows = pass->row_count / (slabs->outer * count);
        const size_t begin = (array * count + number) * rows;
        NAME(code_whole_rows)(pass, begin, begin + rows);
    }
}

/* Even slabs first as far as the next odd one needs them: three further on. */
static void
NAME(code_by_slabs)(const struct NAME(passes) * passes, const struct NAME(level) * level,
                    const struct NAME(level) * coarse, unsigned active, bool copies_split)
{
    struct NAME(slabs) slabs = {.outer = 1, .extent = 1, .rows = 1};
    while (slabs.axis < 3 && (active >> slabs.axis & 1u) == 0) {
        slabs.outer *= level->extent[slabs.axis++];
    }
    for (unsigned axis = slabs.axis; axis < 3; axis++) {
        slabs.rows *= axis > slabs.axis ? coarse->extent[axis] : 1;
    }
    slabs.extent = slabs.axis < 3 ? level->extent[slabs.axis] : 1;
    const size_t evens = (slabs.extent + 1) / 2, odds = slabs.extent / 2;
    for (size_t array = 0; array < slabs.outer; array++) {
        size_t next_odd = 0;
        for (size_t even = 0; even < evens; even++) {
            const size_t row = (array * evens + even) * slabs.rows;
            NAME(copy_evens)(level, coarse, active, copies_split, row, row + slabs.rows);
            NAME(code_slab)(passes, &slabs, array, even, false);
            if (even >= 2) {
                NAME(code_slab)(passes, &slabs, array, next_odd++, true);
            }
        }
        for (; next_odd < odds; next_odd++) {
            NAME(code_slab)(passes, &slabs, array, next_odd, true);
        }
    }
}

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
    const size_t begin = all / work->pieces * piece + all % work->pieces * piece / work->pieces;
    if (begin < end) {
        NAME(code_pieces)(pass, runs, begin, end);
    }
}

static void
NAME(code_by_passes)(const struct NAME(passes) * passes, unsigned threads)
{
    for (unsigned i = 0; i < passes->count; i++) {
        const struct NAME(pass) *const pass = &passes->pass[i];
        struct NAME(pass_work) work = {.pass = pass, .pieces = 1};
        if (pass->row_count * pass->length >= LATTICE_POINTS_PER_THREAD) {
            work.pieces = threads;
        }
        h5twin_parallel_for(threads, work.pieces, NAME(code_piece), &work);
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
        const struct NAME(level) *const level = &levels[i], *const coarse = &levels[i + 1];
        const bool copies_split = i + 1 < count && (active >> 3 & 1u) != 0;
        struct NAME(passes) passes;
        codes = NAME(set_passes)(&passes, &steps, level, codes, decoding, cap);
        if (array->threads <= 1) {
            NAME(code_by_slabs)(&passes, level, coarse, active, copies_split);
        } else {
            const size_t rows = coarse->extent[0] * coarse->extent[1] * coarse->extent[2];
            NAME(copy_evens)(level, coarse, active, copies_split, 0, rows);
            NAME(code_by_passes)(&passes, array->threads);
        }
    }
}

/* Bins are not in array->integers: they are made here, in place of the codes that are not yet
 * there, and moved to the room behind the levels. */
static void
NAME(encode_levels)(const struct lattice_array *array)
{
    if (array->choice.predictor == LATTICE_INTERPOLATE || array->is_binned) {
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
