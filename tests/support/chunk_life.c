/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_life.c: see chunk_life.h. */
#include "chunk_life.h"

#include "exact.h"
#include "h5twin.h"
#include "specs.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CODINGS 96u
#define MAX_PIECES  3u

/* What one coding of the chunk was given. */
struct coding {
    double low, high; /* finite values that are no mark; none if low > high */
    bool counts;      /* something had changed, so that values may move */
};

/* How the words are handed to the encoder: as chunks of this shape, one behind the other. */
struct shape {
    uint32_t rank;
    uint64_t dims[LIFE_AXES];
    unsigned pieces; /* the slowest dim is cut into so many */
};

struct life {
    struct life_source *source;
    struct chunk_life_report *report;
    struct h5twin_params params;
    bool is_sleek, is_lattice, never_stable, always_stable;
    unsigned word_size;
    struct life_numbers numbers;
    size_t extent[LIFE_AXES], count;
    struct shape shape, last_shape;
    uint64_t initial, fill, declared; /* words; of fill values only if the params have them */
    uint64_t *fields, *wanted;
    unsigned *since; /* the coding that a value was first in; 0: never written */
    uint8_t *raw, *before, *coded;
    size_t capacity;
    struct coding codings[MAX_CODINGS + 1];
    double limit[2];       /* of what is decoded; infinite ones are none */
    unsigned coding_count; /* the first is number 1 */
    bool is_range_growing;
};

struct box {
    size_t begin[LIFE_AXES], step[LIFE_AXES], end[LIFE_AXES];
};

/* ---- reports ---- */

static void
break_promise(struct life *life, const char *promise, const char *format, ...)
{
    static const char *const modes[] = {"lossless", "abs", "noa", "rel"};
    struct chunk_life_report *const report = life->report;
    char spec[160], text[240], declared[48] = "";
    va_list values;
    if (!report->kept) {
        return;
    }
    report->kept = false;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    h5twin_params_format(&life->params, spec, sizeof spec);
    snprintf(report->kind, sizeof report->kind, "%s %s%s%s%s: %s",
             h5twin_codec_by_id(life->params.codec)->name, modes[life->params.mode],
             life->never_stable    ? " stable=no"
             : life->always_stable ? " stable=yes"
                                   : "",
             life->params.has_fill ? " fill" : "",
             life->params.has_declared_fill ? " declared" : "", promise);
    if (life->params.has_declared_fill) {
        snprintf(declared, sizeof declared, ", fill value %.17g", life->params.declared_fill);
    }
    snprintf(report->detail, sizeof report->detail, "%s%s, f%u%s, %zux%zux%zux%zu, coding %u: %s",
             spec, declared, 8 * life->word_size, life->params.big_endian ? " big-endian" : "",
             life->extent[0], life->extent[1], life->extent[2], life->extent[3], life->coding_count,
             text);
}

/* ---- words of the chunk, in the order of bytes that it is kept in ---- */

static uint64_t
load(const struct life *life, const uint8_t *words, size_t i)
{
    uint64_t word = 0;
    for (unsigned byte = 0; byte < life->word_size; byte++) {
        const unsigned from = life->params.big_endian ? byte : life->word_size - 1 - byte;
        word = word << 8 | words[i * life->word_size + from];
    }
    return word;
}

static void
store(const struct life *life, size_t i, uint64_t word)
{
    for (unsigned byte = 0; byte < life->word_size; byte++) {
        const unsigned to = life->params.big_endian ? life->word_size - 1 - byte : byte;
        life->raw[i * life->word_size + to] = (uint8_t)(word >> 8 * byte);
    }
}

static bool
is_mark(const struct life *life, uint64_t word)
{
    return (life->params.has_fill && word == life->fill) ||
           (life->params.has_declared_fill && word == life->declared) ||
           !isfinite(life_value(word, life->word_size));
}

/* ---- coding ---- */

static struct coding
look_at(const struct life *life)
{
    struct coding coding = {INFINITY, -INFINITY, true};
    for (size_t i = 0; i < life->count; i++) {
        const uint64_t word = load(life, life->raw, i);
        if (!is_mark(life, word) && !(life->params.zeros_are_padding && word == 0)) {
            const double value = life_value(word, life->word_size);
            coding.low = value < coding.low ? value : coding.low;
            coding.high = value > coding.high ? value : coding.high;
        }
    }
    return coding;
}

static void
code_piece(struct life *life, struct h5twin_params *params, uint8_t *at, size_t size)
{
    const struct h5twin_exec exec = {.threads = 1};
    size_t coded_size = 0, decoded_size = 0;
    if (h5twin_encode(params, &exec, life->coded, life->capacity, at, size, &coded_size) !=
        H5TWIN_OK) {
        break_promise(life, "encodes", "refused");
        return;
    }
    for (size_t i = 0; i < coded_size; i++) { /* FNV-1a */
        life->report->digest = (life->report->digest ^ life->coded[i]) * 0x100000001B3u;
    }
    if (h5twin_decode(&exec, at, size, life->coded, coded_size, &decoded_size) != H5TWIN_OK ||
        decoded_size != size) {
        break_promise(life, "decodes", "refused");
    }
}

/* All words, as chunks of the shape; they are replaced by what comes back. */
static void
code(struct life *life, const struct shape *shape, bool has_changed)
{
    struct h5twin_params params = life->params;
    struct coding coding = look_at(life);
    const struct coding *const last = &life->codings[life->coding_count];
    coding.counts = has_changed;
    life->is_range_growing &= life->coding_count == 0 || last->low > last->high ||
                              (coding.low <= last->low && coding.high >= last->high);
    life->codings[++life->coding_count] = coding;
    life->report->codings = life->coding_count;
    const size_t rows = (size_t)shape->dims[0], row_size = life->count / rows * life->word_size;
    for (unsigned piece = 0; piece < shape->pieces; piece++) {
        const size_t begin = rows * piece / shape->pieces, end = rows * (piece + 1) / shape->pieces;
        if (begin < end) {
            uint64_t dims[LIFE_AXES];
            memcpy(dims, shape->dims, sizeof dims);
            dims[0] = end - begin;
            h5twin_params_set_array(&params, H5TWIN_FLOAT, life->word_size, shape->rank, dims);
            params.big_endian = life->params.big_endian;
            code_piece(life, &params, life->raw + begin * row_size, (end - begin) * row_size);
        }
    }
    life->last_shape = *shape;
}

/* ---- judging ---- */

/* The bound of one coding as the mode means it, exactly. */
static struct test_exact
exact_bound(const struct life *life, double value, const struct coding *coding)
{
    const double bound = life->params.error_bound;
    const struct test_exact unit = life->params.mode == H5TWIN_ABS ? test_exact_distance(bound, 0)
                                   : life->params.mode == H5TWIN_REL
                                       ? test_exact_distance(value, 0)
                                       : test_exact_distance(coding->high, coding->low);
    return life->params.mode == H5TWIN_ABS ? unit : test_exact_times(&unit, bound);
}

/* And rounded, within 2^-50 of itself or with a result below 1e-290. */
static double
rounded_bound(const struct life *life, double value, const struct coding *coding)
{
    const double bound = life->params.error_bound;
    switch (life->params.mode) {
    case H5TWIN_ABS:
        return bound;
    case H5TWIN_REL:
        return bound * fabs(value);
    default:
        return coding->low < coding->high ? bound * (coding->high - coding->low) : 0;
    }
}

/* Whether a - b is at most the bound. Floating point decides where it is far from its rounding,
 * 2^-50 of either side, as are nearly all; where it is not, integers do. */
static bool
is_within(const struct life *life, double before, double after, const struct coding *coding)
{
    const double error = fabs(before - after);
    const double bound = rounded_bound(life, before, coding);
    if (bound > 1e-290 && bound < 1e300) {
        if (error < bound * (1 - 0x1p-48)) {
            return true;
        }
        if (error > bound * (1 + 0x1p-48)) {
            return false;
        }
    } else if (error == 0) {
        return true;
    }
    if (coding->low > coding->high && life->params.mode == H5TWIN_NOA) {
        return false;
    }
    const struct test_exact distance = test_exact_distance(before, after);
    const struct test_exact allowed = exact_bound(life, before, coding);
    return test_exact_at_most(&distance, &allowed);
}

/* What may have become of a value in several codings. These are sums of bounds, which no value
 * comes near by design, so that they need no exact arithmetic: they are rounded up. */
static double
largest_sum(const struct life *life, double value, unsigned since)
{
    double sum = 0, largest = 0;
    unsigned count = 0;
    for (unsigned number = since; number <= life->coding_count; number++) {
        if (life->codings[number].counts) {
            const double bound = rounded_bound(life, value, &life->codings[number]);
            sum += bound;
            largest = bound > largest ? bound : largest;
            count++;
        }
    }
    if (life->params.mode == H5TWIN_REL) { /* of what the value was each time */
        sum = (pow(1 + life->params.error_bound, count) - 1) * fabs(value);
    } else if (life->is_sleek) {
        /* Grids of powers of two: each coarser one moves values by twice as much as the one before.
         */
        sum = 2 * largest;
    } else if (life->params.mode == H5TWIN_NOA && life->always_stable && life->is_range_growing) {
        sum = largest;
    }
    return sum * (1 + 0x1p-40);
}

static bool
is_kept(const struct life *life, double before, double after, unsigned since)
{
    const bool is_for_life = life->params.mode != H5TWIN_NOA &&
                             (life->is_sleek || (life->is_lattice && !life->never_stable));
    unsigned count = 0, first = 0;
    for (unsigned number = life->coding_count; number >= since; number--) {
        if (life->codings[number].counts) {
            count++;
            first = number;
        }
    }
    return is_for_life || count == 1 ? is_within(life, before, after, &life->codings[first])
                                     : fabs(before - after) <= largest_sum(life, before, since);
}

/* Places where nothing was written read as what HDF5 put there. lattice may take zeros for values
 * of the data if nobody declared them or said that they are padding: with stable=no, or if the
 * bound follows the range. */
static bool
is_unwritten_exact(const struct life *life)
{
    return is_mark(life, life->initial) || life->is_sleek ||
           (life->params.zeros_are_padding && life->initial == 0) ||
           (life->params.mode != H5TWIN_NOA && !life->never_stable);
}

/* What is between the limits stays there; what is beyond them stays as it is. */
static bool
is_limited(const struct life *life, double before, double after)
{
    if (before < life->limit[0] || before > life->limit[1]) {
        return after == before;
    }
    return !(after < life->limit[0]) && !(after > life->limit[1]);
}

/* Every value, against what was written there last. */
static void
judge(struct life *life)
{
    const bool unwritten_is_exact = is_unwritten_exact(life);
    const double smallest = life->word_size == 4 ? (double)FLT_MIN : DBL_MIN;
    for (size_t i = 0; i < life->count && life->report->kept; i++) {
        const uint64_t wanted = life->wanted[i], found = load(life, life->raw, i);
        const double before = life_value(wanted, life->word_size);
        const double after = life_value(found, life->word_size);
        const unsigned since = life->since[i] == 0 ? 1 : life->since[i];
        if (life->since[i] == 0 && unwritten_is_exact) {
            if (found != wanted) {
                break_promise(life, "never written", "value %zu is %.17g, not %.17g", i, after,
                              before);
            }
        } else if (is_mark(life, wanted) ||
                   (life->params.mode == H5TWIN_REL && fabs(before) < smallest)) {
            if (found != wanted) {
                break_promise(life, "exact values", "value %zu: %llx became %llx", i,
                              (unsigned long long)wanted, (unsigned long long)found);
            }
        } else if (!is_limited(life, before, after)) {
            break_promise(life, "limits", "value %zu: %.17g became %.17g", i, before, after);
        } else if (!isfinite(after)) {
            break_promise(life, "finite values", "value %zu: %.17g became %.17g", i, before, after);
        } else if (found != wanted && !is_kept(life, before, after, since)) {
            const struct coding *const coding = &life->codings[life->coding_count];
            const double bound = rounded_bound(life, before, coding);
            break_promise(life, "bound", "value %zu: %.17g became %.17g, %.17g of %.17g", i, before,
                          after, fabs(before - after) / bound, bound);
        }
    }
}

/* ---- writing ---- */

static void
write_box(struct life *life, const struct box *box, const uint64_t *words)
{
    size_t at[LIFE_AXES];
    for (at[0] = box->begin[0]; at[0] < box->end[0]; at[0] += box->step[0]) {
        for (at[1] = box->begin[1]; at[1] < box->end[1]; at[1] += box->step[1]) {
            for (at[2] = box->begin[2]; at[2] < box->end[2]; at[2] += box->step[2]) {
                for (at[3] = box->begin[3]; at[3] < box->end[3]; at[3] += box->step[3]) {
                    const size_t i = ((at[0] * life->extent[1] + at[1]) * life->extent[2] + at[2]) *
                                         life->extent[3] +
                                     at[3];
                    life->wanted[i] = words == NULL ? life->initial : words[i];
                    life->since[i] = life->coding_count + 1;
                    store(life, i, life->wanted[i]);
                }
            }
        }
    }
}

static struct box
whole_box(const struct life *life)
{
    struct box box = {{0}, {1, 1, 1, 1}, {0}};
    memcpy(box.end, life->extent, sizeof box.end);
    return box;
}

static void
choose_box(struct life *life, struct box *box)
{
    struct life_source *const source = life->source;
    *box = whole_box(life);
    const unsigned axis = life_choose(source, LIFE_AXES), way = life_choose(source, 5);
    for (unsigned a = 0; a < LIFE_AXES; a++) {
        const size_t extent = life->extent[a];
        const size_t begin = life_random(source) % extent;
        const size_t length = 1 + life_random(source) % (extent - begin);
        if (way == 0 || ((way == 1 || way == 2) && a == axis)) { /* a box; rows */
            box->begin[a] = begin;
            box->end[a] = begin + (way == 2 ? 1 : length);
        } else if (way == 3) { /* one value */
            box->begin[a] = begin;
            box->end[a] = begin + 1;
        } else if (way == 4 && (a == axis || life_happens(source, 3))) {
            box->begin[a] = begin % 2;
            box->step[a] = 1 + life_choose(source, 4);
        }
    }
}

/* Another field; mostly like the first. */
static const uint64_t *
choose_field(struct life *life)
{
    const unsigned which = life_choose(life->source, 3) == 0;
    uint64_t *const words = life->fields + which * life->count;
    if (life_happens(life->source, 8)) {
        life_fill_field(life->source, &life->numbers, life->extent, words);
    }
    return words;
}

static void
write_something(struct life *life)
{
    struct box box;
    const unsigned what = life_choose(life->source, 10);
    if (what == 0) {
        box = whole_box(life);
    } else {
        choose_box(life, &box);
    }
    write_box(life, &box, what == 1 ? NULL : choose_field(life));
    code(life, &life->shape, true);
    judge(life);
}

/* What was stored exactly may be rounded, for the first time: sleek's blocks that had not become
 * smaller, its FORMAT.md, 6; with an absolute bound values of lattice beside others that have
 * become the frequent one that it takes for missing, its FORMAT.md, 8. */
static bool
may_be_rounded_now(const struct life *life, size_t i, uint64_t before, uint64_t after)
{
    const struct coding *const coding = &life->codings[life->coding_count];
    const double old = life_value(before, life->word_size);
    const double rounded = life_value(after, life->word_size);
    const bool may = life->is_sleek || (life->is_lattice && life->params.mode == H5TWIN_ABS);
    return may && before == life->wanted[i] && !is_mark(life, before) &&
           is_within(life, old, rounded, coding);
}

/* Decoded and coded again: nothing may change but the sign of 0. (lattice does not promise it of
 * more than a quarter of the range, its FORMAT.md.) */
static void
copy(struct life *life)
{
    if (life->is_lattice && life->params.mode == H5TWIN_NOA && life->params.error_bound > 0.25) {
        return;
    }
    memcpy(life->before, life->raw, life->count * life->word_size);
    const struct shape shape = life->last_shape;
    code(life, &shape, false);
    for (size_t i = 0; i < life->count && life->report->kept; i++) {
        const uint64_t before = load(life, life->before, i), after = load(life, life->raw, i);
        const bool are_zeros = life_value(before, life->word_size) == 0 && after == 0;
        if (before != after && !are_zeros && !may_be_rounded_now(life, i, before, after)) {
            break_promise(life, "copies", "value %zu: %.17g (%llx) became %.17g", i,
                          life_value(before, life->word_size), (unsigned long long)before,
                          life_value(after, life->word_size));
        }
    }
}

/* Into chunks of another shape. */
static void
rechunk(struct life *life)
{
    struct shape shape = life->shape;
    switch (life_choose(life->source, 3)) {
    case 0:
        shape = (struct shape){1, {life->count}, 1};
        break;
    case 1:
        shape = (struct shape){
            2, {life->extent[0] * life->extent[1], life->extent[2] * life->extent[3]}, 1};
        break;
    default:
        break;
    }
    shape.pieces = 1 + life_choose(life->source, MAX_PIECES);
    code(life, &shape, true);
    judge(life);
}

/* ---- lives ---- */

static void
choose_shape(struct life *life)
{
    struct life_source *const source = life->source;
    const unsigned kind = life_choose(source, 64);
    const unsigned rank = 1 + life_choose(source, LIFE_AXES);
    static const size_t limits[3][LIFE_AXES] = {{40, 9, 6, 4}, {160, 17, 8, 5}, {700, 40, 14, 7}};
    const unsigned class = kind < 34 ? 0 : kind < 56 ? 1 : 2;
    for (unsigned axis = 0; axis < LIFE_AXES; axis++) {
        life->extent[axis] =
            axis < LIFE_AXES - rank ? 1 : 1 + life_random(source) % limits[class][rank - 1];
    }
    if (kind == 62) {
        memcpy(life->extent, (size_t[]){1, 1, 64, 64}, sizeof life->extent);
    } else if (kind == 63) {
        memcpy(life->extent, (size_t[]){1, 16, 16, 16}, sizeof life->extent);
    }
    life->count = 1;
    life->shape = (struct shape){.pieces = 1};
    for (unsigned axis = 0; axis < LIFE_AXES; axis++) {
        life->count *= life->extent[axis];
        if (axis >= LIFE_AXES - rank || life->extent[axis] > 1) {
            life->shape.dims[life->shape.rank++] = life->extent[axis];
        }
    }
}

/* A codec that takes lossy modes, one of its modes, and a value of each of its options. */
static void
choose_params(struct life *life)
{
    struct life_source *const source = life->source;
    const struct h5twin_codec_info *codec;
    do {
        codec = h5twin_codec_at(life_choose(source, h5twin_codec_count()));
        /* Twice, as most options are there. */
        codec = codec->lossy ? codec : h5twin_codec_at(life_choose(source, h5twin_codec_count()));
    } while (!codec->lossy || !test_spec_is_wanted(codec->name));
    h5twin_params_init(&life->params, codec->id);
    life->params.mode = (enum h5twin_mode)(1 + life_choose(source, codec->relative ? 3 : 2));
    for (unsigned i = 0; i < codec->option_count; i++) {
        const struct h5twin_option_info *const option = &codec->options[i];
        if (option->is_decimal) {
            continue; /* choose_limits */
        }
        const unsigned value = life_choose(source, 2 + option->maximum - option->minimum);
        life->params.options |= (uint64_t)value << option->shift;
    }
    char spec[160];
    h5twin_params_format(&life->params, spec, sizeof spec);
    life->is_sleek = strcmp(codec->name, "sleek") == 0;
    life->is_lattice = strcmp(codec->name, "lattice") == 0;
    life->never_stable = strstr(spec, "stable=no") != NULL;
    life->always_stable = strstr(spec, "stable=yes") != NULL;
}

/* Fill values, and what HDF5 fills a chunk with before anything is written: what the filter makes
 * of a dataset, or now and then what a program may tell the library. */
static void
choose_fill(struct life *life)
{
    struct h5twin_params *const params = &life->params;
    const struct life_numbers *const numbers = &life->numbers;
    const bool is_relative = params->mode == H5TWIN_NOA;
    const bool is_never_filled = life_happens(life->source, 16); /* though one is declared */
    params->has_fill = numbers->is_named && !isnan(numbers->named);
    params->fill = numbers->named;
    params->has_declared_fill = numbers->is_declared;
    params->declared_fill = numbers->declared;
    params->zeros_are_padding =
        is_relative && (numbers->is_declared ? is_never_filled : numbers->is_named);
    if (is_relative && !numbers->is_declared && !params->has_fill && life_choose(life->source, 4)) {
        params->has_declared_fill = true; /* HDF5's default */
        params->declared_fill = 0;
    }
    life->fill = life_word(params->fill, life->word_size);
    life->declared = life_word(params->declared_fill, life->word_size);
    /* A dataset declares a value of its type; a named one is rounded to it, but not to infinity. */
    params->declared_fill = life_value(life->declared, life->word_size);
    if (life->word_size == 4 && fabs(params->fill) > (double)FLT_MAX) {
        params->fill = life_value(life->fill, 4);
    }
    life->initial = params->has_declared_fill && !is_never_filled ? life->declared : 0;
    if (params->has_fill && (life->fill == life->declared || !isfinite(params->declared_fill))) {
        params->has_declared_fill = false;
    }
}

/* Now and then the second half of an axis is the first one, mirrored, in both fields. */
static void
mirror_fields(struct life *life)
{
    const unsigned axis = life_choose(life->source, 4 * LIFE_AXES);
    if (axis >= LIFE_AXES) {
        return;
    }
    const size_t extent = life->extent[axis], offset = life_choose(life->source, 2);
    size_t stride = 1;
    for (unsigned after = axis + 1; after < LIFE_AXES; after++) {
        stride *= life->extent[after];
    }
    for (size_t i = 0; i < 2 * life->count; i++) {
        const size_t p = i / stride % extent, mirror = extent - 1 + offset - p;
        if (p > mirror && life_random(life->source) % 64 != 0) {
            life->fields[i] = life->fields[i - (p - mirror) * stride];
        }
    }
}

/* A number with few digits that is one of the field, or 0; now and then all that is next to it in
 * the fields becomes that number. */
static double
choose_limit(struct life *life)
{
    char text[64];
    const size_t count = 2 * life->count;
    const uint64_t word = life->fields[life_random(life->source) % count];
    const double value = life_choose(life->source, 4) == 0 ? 0 : life_value(word, life->word_size);
    snprintf(text, sizeof text, "%.*e", (int)life_choose(life->source, 5), value);
    const double limit = strtod(text, NULL);
    const double near =
        life->params.error_bound * (life->params.mode == H5TWIN_REL   ? fabs(limit)
                                    : life->params.mode == H5TWIN_NOA ? life->numbers.scale
                                                                      : 1);
    if (life_happens(life->source, 2)) {
        for (size_t i = 0; i < count; i++) {
            const double one = life_value(life->fields[i], life->word_size);
            if (fabs(one - limit) <= 4 * near) {
                life->fields[i] = life_word(limit, life->word_size);
            }
        }
    }
    return limit;
}

/* Limits of what is decoded, of codecs that have them: in every second life none. */
static void
choose_limits(struct life *life)
{
    life->limit[0] = -INFINITY;
    life->limit[1] = INFINITY;
    const unsigned which = life_choose(life->source, 6);
    double limit[2] = {NAN, NAN};
    if (!life->is_lattice || which >= 3) {
        return;
    }
    for (unsigned upper = 0; upper < 2; upper++) {
        if (which == upper || which == 2) {
            limit[upper] = choose_limit(life);
        }
    }
    if (limit[0] > limit[1]) {
        const double swapped = limit[0];
        limit[0] = limit[1];
        limit[1] = swapped;
    }
    for (unsigned upper = 0; upper < 2; upper++) {
        if (h5twin_params_set_number(&life->params, upper != 0 ? "max" : "min", limit[upper]) ==
                H5TWIN_OK &&
            !isnan(limit[upper])) {
            life->limit[upper] = limit[upper];
        }
    }
}

static void *
room(size_t size)
{
    void *const at = calloc(1, size);
    if (at == NULL) {
        abort();
    }
    return at;
}

static void
begin(struct life *life)
{
    life->word_size = life_choose(life->source, 2) == 0 ? 4 : 8;
    choose_params(life);
    choose_shape(life);
    life->numbers = life_choose_numbers(life->source, life->word_size);
    life->params.error_bound = life->params.mode == H5TWIN_ABS
                                   ? life->numbers.bound * life->numbers.scale
                                   : life->numbers.bound;
    choose_fill(life);
    h5twin_params_set_array(&life->params, H5TWIN_FLOAT, life->word_size, life->shape.rank,
                            life->shape.dims);
    life->params.big_endian = life_happens(life->source, 4);
    const size_t size = life->count * life->word_size;
    life->capacity = h5twin_bound(&life->params, size);
    life->fields = room(2 * life->count * sizeof *life->fields);
    life->wanted = room(life->count * sizeof *life->wanted);
    life->since = room(life->count * sizeof *life->since);
    life->raw = room(size);
    life->before = room(size);
    life->coded = room(life->capacity);
    life_fill_field(life->source, &life->numbers, life->extent, life->fields);
    life_fill_field(life->source, &life->numbers, life->extent, life->fields + life->count);
    mirror_fields(life);
    choose_limits(life);
    for (size_t i = 0; i < life->count; i++) {
        life->wanted[i] = life->initial;
        store(life, i, life->initial);
    }
    life->last_shape = life->shape;
    life->is_range_growing = true;
}

static void
end(struct life *life)
{
    free(life->fields);
    free(life->wanted);
    free(life->since);
    free(life->raw);
    free(life->before);
    free(life->coded);
}

/* From one end of an axis to the other, a few indices at a time. */
static void
write_along(struct life *life)
{
    const unsigned axis = life_choose(life->source, LIFE_AXES);
    const bool is_back = life_happens(life->source, 4);
    const bool is_interleaved = life_happens(life->source, 6);
    const size_t extent = life->extent[axis];
    const size_t most = is_interleaved ? 2 : 2 + life_choose(life->source, 8);
    const size_t parts = extent < most ? extent : most;
    for (size_t part = 0; part < parts && life->report->kept; part++) {
        const size_t index = is_back ? parts - 1 - part : part;
        struct box box = whole_box(life);
        if (is_interleaved) {
            box.begin[axis] = index;
            box.step[axis] = parts;
        } else {
            box.begin[axis] = extent * index / parts;
            box.end[axis] = extent * (index + 1) / parts;
        }
        write_box(life, &box, life->fields);
        code(life, &life->shape, true);
        judge(life);
    }
}

struct chunk_life_report
chunk_life_run(struct life_source *source)
{
    struct chunk_life_report report = {.kept = true, .digest = 0xCBF29CE484222325u};
    struct life life = {.source = source, .report = &report};
    begin(&life);
    if (life_choose(source, 2) == 0) {
        write_along(&life);
    }
    unsigned steps = 1 + life_choose(source, 5);
    while (steps-- > 0 && report.kept && life.coding_count < MAX_CODINGS - 1) {
        const unsigned what = life_choose(source, 8);
        if (what == 0 && life.coding_count > 0) {
            copy(&life);
        } else if (what == 1 && life.coding_count > 0) {
            rechunk(&life);
        } else {
            write_something(&life);
        }
    }
    if (report.kept) {
        copy(&life);
    }
    end(&life);
    return report;
}
