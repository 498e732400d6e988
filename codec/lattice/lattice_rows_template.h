/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_rows_template.h: rows of a pass of interpolation, for integers of BITS bits; FORMAT.md
 * section 5, and lattice_levels_template.h.
 *
 * A row is cut where its weights change: along axis 3 at its ends, along the others never. An
 * instruction set may have a function of its own for most rows: lattice_rows_avx512.h. */

/* A level at work: an array of its own. */
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

/* Neighbours of a point along one axis, relative to it, and their weights. */
struct NAME(neighbours) {
    ptrdiff_t offset[4];
    int weights[4];
};

/* A row at work, or several along axis 2 that have the same weights. */
struct NAME(row) {
    size_t count;
    INTEGER *values;       /* of the level: its points in this pass */
    const INTEGER *evens;  /* of the level: its even columns */
    UNSIGNED *codes;       /* of its points */
    size_t origin, stride; /* place of its points in the array, and the distance between them */
    size_t value_step, origin_step; /* from a row to the next one */
    unsigned both_count, one_count; /* axes before 3 with both neighbours, and with one */
    struct NAME(neighbours) both[3], one[3];
};

/* Neighbours of a run along one axis, and their weights. */
struct NAME(taps) {
    const INTEGER *at[4];
    INTEGER weights[4];
};

/* Gathered integers of a run, and which are special. */
struct NAME(source) {
    const INTEGER *integers;
    const uint8_t *specials; /* NULL: none */
};

#if H5TWIN_VECTOR_BYTES != 0
#    include "lattice_rows_lanes.h"
#else

/* ---- prediction: what the neighbours of a run say ---- */

/* Where all axes have the same weights: -1, 9, 9, -1 if cubic, else 0, 8, 8, 0. */
H5TWIN_FORCE_INLINE void
NAME(predict_alike)(INTEGER *restrict guesses, const struct NAME(taps) * taps, size_t count,
                    unsigned axes, bool cubic)
{
    struct NAME(taps) local[LATTICE_AXES]; /* compilers keep it in registers */
    memcpy(local, taps, axes * sizeof local[0]);
    for (size_t i = 0; i < count; i++) {
        UNSIGNED sum = 0;
        H5TWIN_UNROLL
        for (unsigned axis = 0; axis < axes; axis++) {
            const UNSIGNED far_before = (UNSIGNED)local[axis].at[0][i];
            const UNSIGNED before = (UNSIGNED)local[axis].at[1][i];
            const UNSIGNED behind = (UNSIGNED)local[axis].at[2][i];
            const UNSIGNED far_behind = (UNSIGNED)local[axis].at[3][i];
            sum +=
                cubic ? 9u * (before + behind) - (far_before + far_behind) : 8u * (before + behind);
        }
        guesses[i] = NAME(h5twin_lattice_mean)(sum, axes);
    }
}

/* Where they have any weights. */
H5TWIN_FORCE_INLINE void
NAME(predict_unlike)(INTEGER *restrict guesses, const struct NAME(taps) * taps, size_t count,
                     unsigned axes)
{
    UNSIGNED sums[LATTICE_RUN];
    memset(sums, 0, count * sizeof *sums);
    for (unsigned axis = 0; axis < axes; axis++) {
        const struct NAME(taps) local = taps[axis];
        for (size_t i = 0; i < count; i++) {
            UNSIGNED sum = sums[i];
            H5TWIN_UNROLL
            for (unsigned tap = 0; tap < 4; tap++) {
                sum += (UNSIGNED)local.weights[tap] * (UNSIGNED)local.at[tap][i];
            }
            sums[i] = sum;
        }
    }
    for (size_t i = 0; i < count; i++) {
        guesses[i] = NAME(h5twin_lattice_mean)(sums[i], axes);
    }
}

static void
NAME(predict)(INTEGER *guesses, const struct NAME(taps) * taps, size_t count, unsigned axes)
{
    bool cubic = true, linear = true;
    for (unsigned axis = 0; axis < axes; axis++) {
        const INTEGER *const weights = taps[axis].weights;
        cubic = cubic && weights[0] == -1 && weights[1] == 9;
        linear = linear && weights[0] == 0 && weights[1] == 8 && weights[3] == 0;
    }
#    define PREDICT(axes)                                                                          \
    case axes:                                                                                     \
        if (cubic) {                                                                               \
            NAME(predict_alike)(guesses, taps, count, axes, true);                                 \
        } else if (linear) {                                                                       \
            NAME(predict_alike)(guesses, taps, count, axes, false);                                \
        } else {                                                                                   \
            NAME(predict_unlike)(guesses, taps, count, axes);                                      \
        }                                                                                          \
        break
    switch (axes) {
        PREDICT(1);
        PREDICT(2);
        PREDICT(3);
        PREDICT(4);
    }
#    undef PREDICT
}

/* ---- codes: from predictions to values, and back ---- */

static void
NAME(decode_run)(const struct NAME(pass) * pass, INTEGER *restrict values,
                 const UNSIGNED *restrict codes, const INTEGER *restrict guesses, size_t count)
{
    const INTEGER cap = pass->cap;
    const UNSIGNED width = (UNSIGNED)pass->width;
    for (size_t i = 0; i < count; i++) {
        const INTEGER guess = NAME(h5twin_lattice_clamp)(guesses[i], cap);
        const UNSIGNED steps = NAME(h5twin_unzigzag)(codes[i]);
        values[i] = NAME(h5twin_lattice_clamp)((INTEGER)((UNSIGNED)guess + steps * width), cap);
    }
}

/* width 1: no division, and what is not special is met exactly. */
H5TWIN_FORCE_INLINE void
NAME(encode_kind)(const struct NAME(pass) * pass, INTEGER *restrict values,
                  UNSIGNED *restrict codes, const INTEGER *restrict guesses,
                  const INTEGER *restrict integers, const uint8_t *restrict specials, size_t count,
                  bool has_width)
{
    const INTEGER cap = pass->cap, width = pass->width;
    const NAME(struct lattice_divisor) divisor = pass->divisor;
    for (size_t i = 0; i < count; i++) {
        const INTEGER guess = NAME(h5twin_lattice_clamp)(guesses[i], cap);
        const INTEGER integer = integers[i];
        INTEGER steps = has_width
                            ? NAME(h5twin_lattice_steps_to)(integer, guess, width, divisor, cap)
                            : integer - guess;
        steps = specials != NULL && specials[i] != 0 ? 0 : steps;
        codes[i] = NAME(h5twin_zigzag)((UNSIGNED)steps);
        values[i] = NAME(h5twin_lattice_clamp)(guess + steps * width, cap);
    }
}

static void
NAME(encode_run)(const struct NAME(pass) * pass, INTEGER *values, UNSIGNED *codes,
                 const INTEGER *guesses, const struct NAME(source) * source, size_t count)
{
    const INTEGER *const integers = source->integers;
    const uint8_t *const specials = source->specials;
    if (specials == NULL && pass->width == 1) {
        NAME(encode_kind)(pass, values, codes, guesses, integers, NULL, count, false);
    } else if (specials == NULL) {
        NAME(encode_kind)(pass, values, codes, guesses, integers, NULL, count, true);
    } else if (pass->width == 1) {
        NAME(encode_kind)(pass, values, codes, guesses, integers, specials, count, false);
    } else {
        NAME(encode_kind)(pass, values, codes, guesses, integers, specials, count, true);
    }
}

#endif

/* At most LATTICE_RUN points whose neighbours have the same weights. */
static void
NAME(code_run)(const struct NAME(pass) * pass, INTEGER *values, UNSIGNED *codes,
               const struct NAME(source) * source, size_t count, const struct NAME(taps) * taps,
               unsigned axes)
{
    INTEGER guesses[LATTICE_RUN];
    NAME(predict)(guesses, taps, count, axes);
    if (pass->decoding) {
        NAME(decode_run)(pass, values, codes, guesses, count);
    } else {
        NAME(encode_run)(pass, values, codes, guesses, source, count);
    }
}

#if H5TWIN_VECTOR_BYTES == 64 && BITS == 32
#    include "lattice_rows_avx512.h"
#endif

/* ---- rows ---- */

static struct NAME(taps) NAME(make_taps)(const INTEGER *at, const struct NAME(neighbours) * from)
{
    struct NAME(taps) taps;
    for (unsigned i = 0; i < 4; i++) {
        taps.at[i] = at + from->offset[i];
        taps.weights[i] = (INTEGER)from->weights[i];
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

/* The integers of the columns from `begin` on, where they are or gathered. */
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

/* Columns begin..end of a row, at most LATTICE_RUN of them. */
static void
NAME(code_columns)(const struct NAME(pass) * pass, const struct NAME(row) * row, size_t begin,
                   size_t end)
{
    const bool odd3 = (pass->odd >> 3 & 1u) != 0;
    INTEGER integers[LATTICE_RUN];
    uint8_t specials[LATTICE_RUN];
    struct NAME(source) source = {.integers = NULL};
    if (!pass->decoding) {
        NAME(gather)
        (&source, integers, specials, pass->array, row->origin + begin * row->stride, row->stride,
         end - begin);
    }
    for (unsigned i = 0; i < pass->segment_count; i++) {
        const struct NAME(segment) *const segment = &pass->segments[i];
        const size_t from = segment->begin > begin ? segment->begin : begin;
        const size_t to = segment->end < end ? segment->end : end;
        if (from >= to) {
            continue;
        }
        /* The axes that predict here: those with both neighbours, if there are any. */
        struct NAME(taps) taps[LATTICE_AXES];
        unsigned axes = 0;
        const bool both = row->both_count > 0 || (odd3 && segment->both);
        const struct NAME(neighbours) *const from_axes = both ? row->both : row->one;
        for (; axes < (both ? row->both_count : row->one_count); axes++) {
            taps[axes] = NAME(make_taps)(row->values + from, &from_axes[axes]);
        }
        if (odd3 && segment->both == both) {
            taps[axes++] = NAME(make_row_taps)(row->evens + from, segment->weights);
        }
        const struct NAME(source) part = {
            .integers = pass->decoding ? NULL : source.integers + (from - begin),
            .specials = source.specials == NULL ? NULL : source.specials + (from - begin),
        };
        NAME(code_run)
        (pass, row->values + from, row->codes + from, &part, to - from, taps, axes);
    }
}

/* Columns begin..end of the rows. */
static void
NAME(code_rows)(const struct NAME(pass) * pass, const struct NAME(row) * rows, size_t begin,
                size_t end)
{
#if H5TWIN_VECTOR_BYTES == 64 && BITS == 32
    begin = code_rows512(pass, rows, begin, end);
#endif
    if (begin == end) {
        return;
    }
    struct NAME(row) row = *rows;
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t at = begin; at < end; at += LATTICE_RUN) {
            NAME(code_columns)
            (pass, &row, at, end - at < LATTICE_RUN ? end : at + LATTICE_RUN);
        }
        row.values += row.value_step;
        row.evens += row.value_step;
        row.codes += pass->length;
        row.origin += row.origin_step;
    }
}

/* ---- all rows of a pass ---- */

/* Where a row is, axis by axis. */
struct NAME(cursor) {
    size_t place[3];           /* of pass->rows */
    size_t base[3], origin[3]; /* its part of the row's place in the level, and in the array */
    bool both[3];
    struct NAME(neighbours) neighbours[3]; /* of odd axes */
};

static void
NAME(move_to)(struct NAME(cursor) * cursor, const struct NAME(pass) * pass, unsigned axis,
              size_t place)
{
    static const int steps[4] = {-3, -1, 1, 3};
    const struct NAME(level) *const level = pass->level;
    const size_t coordinate = pass->first[axis] + place * pass->step[axis];
    const unsigned shift = (pass->array->choice.arg >> axis & 1u) != 0 ? level->shift : 0;
    cursor->place[axis] = place;
    cursor->base[axis] = coordinate * level->stride[axis];
    cursor->origin[axis] = (coordinate << shift) * pass->array->shape->stride[axis];
    if ((pass->odd >> axis & 1u) == 0) {
        return;
    }
    struct NAME(neighbours) *const neighbours = &cursor->neighbours[axis];
    cursor->both[axis] = h5twin_lattice_weights(coordinate, level->extent[axis],
                                                pass->array->choice.cubic, neighbours->weights);
    for (unsigned i = 0; i < 4; i++) { /* where the weight is 0, any that exists */
        neighbours->offset[i] =
            (neighbours->weights[i] != 0 ? steps[i] : -1) * (ptrdiff_t)level->stride[axis];
    }
}

static void
NAME(open_row)(struct NAME(row) * row, const struct NAME(pass) * pass,
               const struct NAME(cursor) * cursor, size_t number)
{
    const unsigned shift = pass->level->shift;
    const bool active3 = (pass->array->choice.arg >> 3 & 1u) != 0;
    row->stride = active3 ? (size_t)2 << shift : 1;
    row->origin = cursor->origin[0] + cursor->origin[1] + cursor->origin[2] +
                  ((pass->odd >> 3 & 1u) != 0 ? row->stride / 2 : 0);
    INTEGER *const values =
        pass->level->values + cursor->base[0] + cursor->base[1] + cursor->base[2];
    row->evens = values;
    row->values = values + pass->offset;
    row->codes = pass->codes + number * pass->length;
    row->count = 1;
    row->value_step = pass->step[2] * pass->level->stride[2];
    row->origin_step = (pass->step[2] << ((pass->array->choice.arg >> 2 & 1u) != 0 ? shift : 0)) *
                       pass->array->shape->stride[2];
    row->both_count = row->one_count = 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        if ((pass->odd >> axis & 1u) == 0) {
            continue;
        }
        if (cursor->both[axis]) {
            row->both[row->both_count++] = cursor->neighbours[axis];
        } else {
            row->one[row->one_count++] = cursor->neighbours[axis];
        }
    }
}

/* How many rows from this one on have its weights, at most so many. */
static size_t
NAME(count_alike)(const struct NAME(cursor) * cursor, const struct NAME(pass) * pass, size_t most)
{
    const size_t place = cursor->place[2], left = pass->rows[2] - place;
    size_t alike = left;
    if ((pass->odd >> 2 & 1u) != 0) {
        const size_t coordinate = pass->first[2] + place * pass->step[2];
        const size_t extent = pass->level->extent[2];
        const bool inside = coordinate >= 3 && coordinate + 3 < extent;
        alike = inside ? (extent - 4 - coordinate) / 2 + 1 : 1;
    }
    return alike < most ? alike : most;
}

/* Go on by a number of rows that stays within the row's plane. */
static void
NAME(advance)(struct NAME(cursor) * cursor, const struct NAME(pass) * pass, size_t count)
{
    size_t place = cursor->place[2] + count;
    if (place == pass->rows[2]) {
        place = 0;
        unsigned axis = 1;
        if (cursor->place[1] + 1 == pass->rows[1]) {
            NAME(move_to)(cursor, pass, 1, 0);
            axis = 0;
        }
        NAME(move_to)(cursor, pass, axis, cursor->place[axis] + 1);
    }
    NAME(move_to)(cursor, pass, 2, place);
}

static void
NAME(open_cursor)(struct NAME(cursor) * cursor, const struct NAME(pass) * pass, size_t number)
{
    NAME(move_to)(cursor, pass, 0, number / (pass->rows[1] * pass->rows[2]));
    NAME(move_to)(cursor, pass, 1, number / pass->rows[2] % pass->rows[1]);
    NAME(move_to)(cursor, pass, 2, number % pass->rows[2]);
}

/* Rows begin..end of a pass. */
static void
NAME(code_whole_rows)(const struct NAME(pass) * pass, size_t begin, size_t end)
{
    struct NAME(cursor) cursor;
    struct NAME(row) row;
    NAME(open_cursor)(&cursor, pass, begin);
    while (begin < end) {
        NAME(open_row)(&row, pass, &cursor, begin);
        row.count = NAME(count_alike)(&cursor, pass, end - begin);
        NAME(code_rows)(pass, &row, 0, pass->length);
        begin += row.count;
        if (begin < end) {
            NAME(advance)(&cursor, pass, row.count);
        }
    }
}

/* Pieces begin..end of a pass: a row is `runs` of them, each of at most LATTICE_RUN points. */
static void
NAME(code_pieces)(const struct NAME(pass) * pass, size_t runs, size_t begin, size_t end)
{
    struct NAME(cursor) cursor;
    struct NAME(row) row;
    for (size_t at = begin; at < end; at++) {
        const size_t from = at % runs * LATTICE_RUN, left = pass->length - from;
        NAME(open_cursor)(&cursor, pass, at / runs);
        NAME(open_row)(&row, pass, &cursor, at / runs);
        NAME(code_rows)(pass, &row, from, from + (left < LATTICE_RUN ? left : LATTICE_RUN));
    }
}

/* ---- a pass ---- */

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

/* Sets up a pass whose codes are there; returns its number of points. */
static size_t
NAME(set_pass)(struct NAME(pass) * pass, const struct lattice_array *array,
               const struct NAME(level) * level, unsigned odd, UNSIGNED *codes, bool decoding,
               INTEGER cap)
{
    *pass = (struct NAME(pass)){
        .array = array,
        .level = level,
        .odd = odd,
        .row_count = 1,
        .decoding = decoding,
        .codes = codes,
        .width = (INTEGER)array->width,
        .cap = cap,
        .divisor = NAME(h5twin_lattice_divisor)(array->width),
    };
    const unsigned active = array->choice.arg;
    for (unsigned axis = 0; axis < 3; axis++) {
        const bool is_active = (active >> axis & 1u) != 0, is_odd = (odd >> axis & 1u) != 0;
        pass->first[axis] = is_odd;
        pass->step[axis] = is_active ? 2 : 1;
        pass->rows[axis] = is_active ? (level->extent[axis] + !is_odd) / 2 : level->extent[axis];
        pass->row_count *= pass->rows[axis];
    }
    const size_t extent = level->extent[3];
    const bool odd3 = (odd >> 3 & 1u) != 0;
    pass->length = (active >> 3 & 1u) == 0 ? extent : odd3 ? extent / 2 : (extent + 1) / 2;
    pass->offset = odd3 ? (extent + 1) / 2 : 0;
    NAME(set_segments)(pass, odd3, extent);
    return pass->row_count * pass->length;
}
