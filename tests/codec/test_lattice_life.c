/* SPDX-License-Identifier: BSD-3-Clause
 * test_lattice_life.c: the life of a chunk: written in parts, decoded, changed in part, coded
 * again, in any order. However often, no value may be further than the bound from what was written.
 * And why that is so: what a value decodes to depends on nothing around it.
 *
 * Judged by what was written, in exact arithmetic. H5TWIN_LATTICE_LIVES=N lives N of each. */
#include "exact.h"
#include "support.h"

#include "common/bytes.h"
#include "common/values.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AXES 3u

/* Environment variable H5TWIN_LATTICE_LIVES, else `few`. */
static uint64_t
life_count(uint64_t few)
{
    const char *const text = getenv("H5TWIN_LATTICE_LIVES");
    return text == NULL ? few / TEST_SLOWNESS : strtoull(text, NULL, 10);
}

static double
uniform(uint64_t *state)
{
    return (double)(test_random(state) >> 11) * 0x1p-53;
}

static unsigned
below(uint64_t *state, unsigned count)
{
    return (unsigned)(test_random(state) % count);
}

/* ---- a chunk ---- */

struct chunk {
    struct h5twin_params params;
    char spec[120];
    size_t extent[AXES], count;
    unsigned word_size;
    uint8_t *words, *written; /* as they come back; as they were given */
    uint8_t *coded;
    size_t capacity;
    double range; /* the largest that what was written ever had */
};

static void
store(uint8_t *words, size_t i, double value, unsigned word_size)
{
    if (word_size == 4) {
        h5twin_store32(words + 4 * i, h5twin_bits_of_float((float)value));
    } else {
        h5twin_store64(words + 8 * i, h5twin_bits_of_double(value));
    }
}

/* Not written yet: full of `padding`. */
static void
chunk_new(struct chunk *chunk, unsigned word_size, const size_t extent[AXES], double padding)
{
    char dims[80];
    snprintf(dims, sizeof dims, "%zux%zux%zu", extent[0], extent[1], extent[2]);
    assert_int_equal(test_params(&chunk->params, chunk->spec, word_size == 4 ? "f32" : "f64", dims),
                     H5TWIN_OK);
    memcpy(chunk->extent, extent, sizeof chunk->extent);
    chunk->count = extent[0] * extent[1] * extent[2];
    chunk->word_size = word_size;
    const size_t size = chunk->count * word_size;
    chunk->words = test_alloc(size);
    chunk->written = test_alloc(size);
    chunk->capacity = h5twin_bound(&chunk->params, size);
    assert_true(chunk->capacity > 0);
    chunk->coded = test_alloc(chunk->capacity);
    chunk->range = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        store(chunk->words, i, padding, word_size);
        store(chunk->written, i, padding, word_size);
    }
}

static void
chunk_free(struct chunk *chunk)
{
    free(chunk->words);
    free(chunk->written);
    free(chunk->coded);
}

/* As HDF5 does when a chunk leaves its cache and comes back. */
static void
store_and_load(struct chunk *chunk)
{
    const size_t size = chunk->count * chunk->word_size;
    const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = 1};
    size_t coded_size = 0, decoded_size = 0;
    assert_int_equal(h5twin_encode(&chunk->params, &exec, chunk->coded, chunk->capacity,
                                   chunk->words, size, &coded_size),
                     H5TWIN_OK);
    assert_int_equal(
        h5twin_decode(&exec, chunk->words, size, chunk->coded, coded_size, &decoded_size),
        H5TWIN_OK);
    assert_int_equal(decoded_size, size);
}

static void
note_range(struct chunk *chunk)
{
    double low = DBL_MAX, high = -DBL_MAX;
    for (size_t i = 0; i < chunk->count; i++) {
        const double value = h5twin_value_at(chunk->written, i, chunk->word_size);
        if (isfinite(value)) {
            low = fmin(low, value);
            high = fmax(high, value);
        }
    }
    chunk->range = fmax(chunk->range, high - low);
}

/* Whether |before - after| <= share * |whole|, exactly. */
static bool
is_within(double before, double after, double whole, double share)
{
    if (fabs(before - after) < fabs(whole) * share * (1 - 1e-6)) {
        return true; /* by far more than these few operations round */
    }
    const struct test_exact error = test_exact_distance(before, after);
    const struct test_exact one = test_exact_distance(whole, 0);
    const struct test_exact allowed = test_exact_times(&one, share);
    return test_exact_at_most(&error, &allowed);
}

static bool
is_kept(const struct chunk *chunk, size_t i)
{
    const unsigned size = chunk->word_size;
    const uint64_t given = h5twin_load_word(chunk->written + i * size, size);
    const uint64_t found = h5twin_load_word(chunk->words + i * size, size);
    const double before = h5twin_value_at(chunk->written, i, size);
    const double after = h5twin_value_at(chunk->words, i, size);
    if (given == found) {
        return true;
    }
    const struct h5twin_params *const params = &chunk->params;
    if (!isfinite(before) || !isfinite(after) ||
        (params->has_fill && (before == params->fill || after == params->fill)) ||
        (params->has_declared_fill &&
         (before == params->declared_fill || after == params->declared_fill))) {
        return false; /* such words come back as they are, and none becomes the fill value */
    }
    switch (chunk->params.mode) {
    case H5TWIN_ABS:
        return is_within(before, after, chunk->params.error_bound, 1);
    case H5TWIN_REL:
        return is_within(before, after, before, chunk->params.error_bound);
    default:
        return is_within(before, after, chunk->range, chunk->params.error_bound);
    }
}

/* ---- fields ---- */

enum style {
    PLUME,  /* a small one on a constant background */
    STEPS,  /* a few constants */
    NOISE,  /* of all sizes up to many bounds */
    SPARSE, /* mostly 0 */
    WEAK,   /* smooth, of less than a bound on an offset */
    SMOOTH, /* with a little noise */
    SIZES,  /* from far below the bound to beyond all lattices */
    STYLES
};

struct field {
    enum style style;
    double bound; /* absolute; relative ones: what is small */
    double background, amplitude, phase[AXES], centre[AXES], width, level[4];
    bool has_nans;
};

static struct field
field_new(uint64_t *state, double bound)
{
    struct field field = {.style = (enum style)below(state, STYLES), .bound = bound};
    field.background = (below(state, 3) == 0 ? 0 : 1) * bound * pow(10, 7 * uniform(state));
    field.amplitude = bound * pow(10, 5 * uniform(state) - (field.style == WEAK ? 5 : 1));
    field.width = 1 + 12 * uniform(state);
    field.has_nans = below(state, 8) == 0;
    for (unsigned i = 0; i < AXES; i++) {
        field.phase[i] = 0.3 * uniform(state);
        field.centre[i] = 40 * uniform(state);
    }
    for (unsigned i = 0; i < 4; i++) {
        field.level[i] = field.amplitude * (uniform(state) - 0.5);
    }
    return field;
}

static double
field_at(const struct field *field, const size_t place[AXES], uint64_t *state)
{
    double waves = 0, distance = 0;
    for (unsigned i = 0; i < AXES; i++) {
        const double x = (double)place[i] - field->centre[i];
        waves += sin(field->phase[i] * x);
        distance += x * x;
    }
    const double plume = field->amplitude * exp(-distance / (field->width * field->width));
    if (field->has_nans && below(state, 16) == 0) {
        return (double)NAN;
    }
    switch (field->style) {
    case PLUME:
        return field->background + (plume > field->bound / 8 ? plume : 0);
    case STEPS:
        return field->background + field->level[waves > 1 ? 3 : waves > 0 ? 2 : waves > -1];
    case NOISE:
        return field->background + field->amplitude * (uniform(state) - 0.5);
    case SPARSE:
        return below(state, 20) == 0 ? field->amplitude * uniform(state) : 0;
    case SIZES:
        return (uniform(state) - 0.5) * field->bound * ldexp(1, (int)below(state, 70) - 8);
    default:
        return field->background + field->amplitude * (waves + 0.01 * uniform(state));
    }
}

/* ---- lives ---- */

struct box {
    size_t begin[AXES], step[AXES], end[AXES];
};

enum order { ROWS, COLUMNS, BOXES, POINTS, STRIDES, ALL, ORDERS };

/* Part `part` of so many; the last one is what the others leave. */
static struct box
part_of(const size_t extent[AXES], enum order order, size_t part, size_t parts, uint64_t *state)
{
    const unsigned slow = extent[0] > 1 ? 0 : extent[1] > 1 ? 1 : 2;
    struct box box;
    for (unsigned axis = 0; axis < AXES; axis++) {
        const unsigned cut = order == ROWS ? slow : 2;
        box.begin[axis] = 0;
        box.step[axis] = 1;
        box.end[axis] = extent[axis];
        if (order == BOXES) {
            box.begin[axis] = below(state, (unsigned)extent[axis]);
            box.end[axis] = box.begin[axis] + 1 + below(state, (unsigned)extent[axis]);
        } else if (order == POINTS) {
            box.begin[axis] = below(state, (unsigned)extent[axis]);
            box.end[axis] = box.begin[axis] + 1;
        } else if (order == STRIDES && axis == slow) {
            box.begin[axis] = part < extent[axis] ? part : extent[axis];
            box.step[axis] = parts;
        } else if ((order == ROWS || order == COLUMNS) && axis == cut) {
            box.begin[axis] = extent[axis] * part / parts;
            box.end[axis] = extent[axis] * (part + 1) / parts;
        }
        box.end[axis] = box.end[axis] < extent[axis] ? box.end[axis] : extent[axis];
    }
    return box;
}

static void
write_box(struct chunk *chunk, const struct box *box, const struct field *field, uint64_t *state)
{
    for (size_t x = box->begin[0]; x < box->end[0]; x += box->step[0]) {
        for (size_t y = box->begin[1]; y < box->end[1]; y += box->step[1]) {
            for (size_t z = box->begin[2]; z < box->end[2]; z += box->step[2]) {
                const size_t place[AXES] = {x, y, z};
                const size_t i = (x * chunk->extent[1] + y) * chunk->extent[2] + z;
                const double value = field_at(field, place, state);
                store(chunk->words, i, value, chunk->word_size);
                store(chunk->written, i, value, chunk->word_size);
            }
        }
    }
}

static const size_t shapes[][AXES] = {{1, 64, 64}, {1, 64, 64}, {1, 1, 1000}, {6, 12, 30},
                                      {1, 37, 53}, {7, 3, 50},  {1, 2, 3}};

/* How a chunk lives. */
struct life {
    struct chunk chunk;
    struct field field;
    unsigned writes;
    size_t moved; /* a value that was not kept, or the number of values */
};

/* One life; its bound and options are in the spec, `bound` is about what they come to. */
static void
live(struct life *life, uint64_t *state, double bound)
{
    const size_t *const extent = shapes[below(state, TEST_LENGTH(shapes))];
    struct chunk *const chunk = &life->chunk;
    struct h5twin_params params;
    assert_int_equal(test_params(&params, chunk->spec, "f32", "-"), H5TWIN_OK);
    /* What HDF5 fills with may be another value than the one that is named. */
    const bool declares = params.has_fill && below(state, 2) == 0;
    const double declared = 2.25;
    chunk_new(chunk, below(state, 2) == 0 ? 4 : 8, extent,
              declares          ? declared
              : params.has_fill ? params.fill
                                : 0);
    chunk->params.has_declared_fill = declares;
    chunk->params.declared_fill = declared;
    const unsigned rounds = 1 + below(state, 3);
    life->writes = 0;
    life->moved = chunk->count;
    for (unsigned round = 0; round < rounds; round++) {
        life->field = field_new(state, bound);
        const enum order order = (enum order)below(state, ORDERS);
        const size_t parts = order == ALL ? 1 : 1 + below(state, 9), each = 1 + below(state, 3);
        for (size_t part = 0; part < parts; part++) {
            const struct box box = part_of(extent, order, part, parts, state);
            write_box(chunk, &box, &life->field, state);
            life->writes++;
            if ((part + 1) % each == 0 || part + 1 == parts) {
                note_range(chunk);
                store_and_load(chunk);
            }
        }
    }
    for (size_t i = 0; i < chunk->count && life->moved == chunk->count; i++) {
        life->moved = is_kept(chunk, i) ? chunk->count : i;
    }
}

/* So many lives; `options` go behind the bound. */
static void
live_all(const char *mode, const char *const options[], unsigned option_count, double least,
         double most, uint64_t lives)
{
    unsigned failed = 0;
    for (uint64_t number = 0; number < lives; number++) {
        uint64_t state = number * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)mode[0];
        struct life life;
        const double bound = least * pow(most / least, uniform(&state));
        snprintf(life.chunk.spec, sizeof life.chunk.spec, "lattice:%s=%.17g%s", mode, bound,
                 options[number % option_count]);
        live(&life, &state, mode[0] == 'a' ? bound : 1e-3);
        if (life.moved < life.chunk.count && failed++ < 6) {
            const struct chunk *const chunk = &life.chunk;
            print_error("life %llu: %s, f%u, %zux%zux%zu, style %d, %u writes: %.17g became "
                        "%.17g\n",
                        (unsigned long long)number, chunk->spec, 8 * chunk->word_size,
                        chunk->extent[0], chunk->extent[1], chunk->extent[2], life.field.style,
                        life.writes, h5twin_value_at(chunk->written, life.moved, chunk->word_size),
                        h5twin_value_at(chunk->words, life.moved, chunk->word_size));
        }
        chunk_free(&life.chunk);
    }
    print_message("%s: %u of %llu chunks left the bound\n", mode, failed,
                  (unsigned long long)lives);
    assert_int_equal(failed, 0);
}

static void
test_absolute_bounds_hold_for_life(void **state)
{
    (void)state;
    static const char *const options[] = {"",       ",effort=fast",     ",stable=yes",
                                          "",       ",fill=-9999",      ",effort=max",
                                          ",min=0", ",min=-0.7,max=0.9"};
    live_all("abs", options, TEST_LENGTH(options), 1e-6, 1e6, life_count(2500));
}

static void
test_relative_bounds_hold_for_life(void **state)
{
    (void)state;
    static const char *const options[] = {"", ",effort=fast", ",stable=yes", ",fill=0.5",
                                          ",min=-0.3,max=0.7"};
    live_all("rel", options, TEST_LENGTH(options), 1e-6, 0.3, life_count(1000));
}

/* With stable=yes: the bound is that of the largest range. */
static void
test_range_relative_bounds_hold_for_life(void **state)
{
    (void)state;
    static const char *const options[] = {",stable=yes", ",stable=yes,effort=fast",
                                          ",stable=yes,min=-0.5,max=0.5"};
    live_all("noa", options, TEST_LENGTH(options), 1e-6, 0.5, life_count(1000));
}

/* ---- a value alone ---- */

/* The words of both chunks agree where they hold the same value, or one of them holds it exactly.
 */
static bool
agrees(const struct chunk *a, size_t i, const struct chunk *b, size_t j)
{
    const unsigned size = a->word_size;
    const uint64_t given = h5twin_load_word(a->written + i * size, size);
    const uint64_t first = h5twin_load_word(a->words + i * size, size);
    const uint64_t second = h5twin_load_word(b->words + j * size, size);
    return first == second || first == given || second == given;
}

static void
copy_value(struct chunk *to, size_t j, const struct chunk *from, size_t i)
{
    const unsigned size = from->word_size;
    memcpy(to->written + j * size, from->written + i * size, size);
    memcpy(to->words + j * size, from->written + i * size, size);
}

static void
test_a_value_decodes_alike_in_any_chunk(void **state)
{
    (void)state;
    static const char *const modes[] = {"abs", "abs", "rel"};
    static const char *const options[] = {
        "", ",effort=fast", ",fill=-9999", ",stable=yes", ",min=-0.01,max=0.3", ",fill=1,max=1"};
    const uint64_t cases = life_count(400);
    uint64_t coded = 0;
    for (uint64_t number = 0; number < cases; number++) {
        uint64_t random = number * 77 + 5;
        const char *const mode = modes[number % TEST_LENGTH(modes)];
        const unsigned word_size = below(&random, 2) == 0 ? 4 : 8;
        const double share = pow(10, -6 * uniform(&random));
        const double bound = mode[0] == 'r'           ? share / 4
                             : below(&random, 4) != 0 ? share
                             : word_size == 4
                                 ? ldexp(1 + uniform(&random), (int)below(&random, 252) - 126)
                                 : ldexp(1 + uniform(&random), (int)below(&random, 2044) - 1022);
        struct chunk all, other, again;
        snprintf(all.spec, sizeof all.spec, "lattice:%s=%.17g%s", mode, bound,
                 options[below(&random, TEST_LENGTH(options))]);
        memcpy(other.spec, all.spec, sizeof all.spec);
        memcpy(again.spec, all.spec, sizeof all.spec);
        const size_t *const extent = shapes[below(&random, TEST_LENGTH(shapes))];
        const struct field field = field_new(&random, mode[0] == 'r' ? 1e-3 : bound);
        const struct box box = part_of(extent, ALL, 0, 1, &random);
        chunk_new(&all, word_size, extent, 0);
        write_box(&all, &box, &field, &random);
        store_and_load(&all);
        /* what was decoded, coded again: nothing moves */
        chunk_new(&again, word_size, extent, 0);
        memcpy(again.words, all.words, all.count * word_size);
        store_and_load(&again);
        assert_memory_equal(again.words, all.words, all.count * word_size);
        /* some of its values among others, in another shape */
        const size_t *const place = shapes[below(&random, TEST_LENGTH(shapes))];
        const struct field noise = field_new(&random, mode[0] == 'r' ? 1e-3 : bound);
        const struct box everywhere = part_of(place, ALL, 0, 1, &random);
        chunk_new(&other, word_size, place, 0);
        write_box(&other, &everywhere, &noise, &random);
        const unsigned rarity = 1 + below(&random, 20);
        size_t *const from = test_alloc(other.count * sizeof *from);
        for (size_t j = 0; j < other.count; j++) {
            from[j] = below(&random, rarity) == 0 ? test_random(&random) % all.count : all.count;
            if (from[j] < all.count) {
                copy_value(&other, j, &all, from[j]);
            }
        }
        store_and_load(&other);
        for (size_t j = 0; j < other.count; j++) {
            if (from[j] < all.count && !agrees(&all, from[j], &other, j)) {
                fail_msg("%s, f%u: %.17g became %.17g and %.17g", all.spec, 8 * word_size,
                         h5twin_value_at(all.written, from[j], word_size),
                         h5twin_value_at(all.words, from[j], word_size),
                         h5twin_value_at(other.words, j, word_size));
            }
            coded += from[j] < all.count && memcmp(other.words + j * word_size,
                                                   other.written + j * word_size, word_size) != 0;
        }
        free(from);
        chunk_free(&all);
        chunk_free(&again);
        chunk_free(&other);
    }
    assert_true(coded > 100 * cases); /* or nothing was seen */
}

/* Values next to powers of two times the bound: where lattices end, one of them does. */
static void
test_values_decode_alike_where_lattices_end(void **state)
{
    (void)state;
    enum { FEW = 200 };
    static const int sizes[] = {4, 22, 30, 48, 60}; /* of the others: log2, in bounds */
    const size_t extent[AXES] = {1, 1, 1000};
    const uint64_t cases = life_count(300);
    uint64_t coded = 0;
    for (uint64_t number = 0; number < cases; number++) {
        uint64_t random = number + 1;
        const unsigned word_size = below(&random, 2) == 0 ? 4 : 8;
        const int exponent = (int)below(&random, 120) - 60, top = word_size == 4 ? 28 : 60;
        const double bound = ldexp(1 + uniform(&random), exponent - 1);
        const double end = ldexp(1, exponent + 14 + (int)below(&random, (unsigned)(top - 14)));
        struct chunk chunks[TEST_LENGTH(sizes)];
        for (size_t c = 0; c < TEST_LENGTH(sizes); c++) {
            snprintf(chunks[c].spec, sizeof chunks[c].spec, "lattice:abs=%.17g", bound);
            chunk_new(&chunks[c], word_size, extent, 0);
            uint64_t same = number + 7;
            for (size_t i = 0; i < extent[2]; i++) {
                const double at = 2 * uniform(&same) - 1;
                const double value = i % 5 == 0 ? (at < 0 ? -end : end) + 200 * bound * at * at * at
                                                : bound * ldexp(1 + uniform(&random), sizes[c]);
                store(chunks[c].words, i, value, word_size);
                store(chunks[c].written, i, value, word_size);
            }
            store_and_load(&chunks[c]);
            for (size_t i = 0; i < extent[2]; i++) {
                assert_true(is_kept(&chunks[c], i));
            }
        }
        for (size_t i = 0; i < extent[2]; i += 5) {
            for (size_t pair = 1; pair < TEST_LENGTH(sizes) * TEST_LENGTH(sizes); pair++) {
                const struct chunk *const a = &chunks[pair / TEST_LENGTH(sizes)];
                const struct chunk *const b = &chunks[pair % TEST_LENGTH(sizes)];
                if (!agrees(a, i, b, i)) {
                    fail_msg("%s, f%u: %.17g became %.17g and %.17g", a->spec, 8 * word_size,
                             h5twin_value_at(a->written, i, word_size),
                             h5twin_value_at(a->words, i, word_size),
                             h5twin_value_at(b->words, i, word_size));
                }
                coded +=
                    memcmp(a->words + i * word_size, a->written + i * word_size, word_size) != 0;
            }
        }
        for (size_t c = 0; c < TEST_LENGTH(sizes); c++) {
            chunk_free(&chunks[c]);
        }
    }
    assert_true(coded > FEW * cases);
}

/* ---- a chunk that is copied ---- */

static bool
changes_when_copied(struct chunk *chunk)
{
    const size_t size = chunk->count * chunk->word_size;
    store_and_load(chunk);
    uint8_t *const once = test_alloc(size);
    memcpy(once, chunk->words, size);
    store_and_load(chunk);
    const bool changes = memcmp(once, chunk->words, size) != 0;
    free(once);
    return changes;
}

/* A frequent value far from all others, which is taken for missing data; the others end about where
 * that is decided. */
static void
test_marks_stay_when_a_chunk_is_copied(void **state)
{
    (void)state;
    const size_t extent[AXES] = {1, 1, 300};
    unsigned marks = 0;
    for (uint64_t number = 0; number < 400; number++) {
        uint64_t random = number + 1;
        struct chunk chunk;
        snprintf(chunk.spec, sizeof chunk.spec, "lattice:abs=%.17g%s", 0.5 + uniform(&random),
                 number % 4 == 3 ? ",fill=0" : "");
        chunk_new(&chunk, number % 2 == 0 ? 4 : 8, extent, 0);
        const double most = number % 4 == 3 ? 1 : 9999.37 / 16 + 4 * (uniform(&random) - 0.5);
        for (size_t i = 0; i < chunk.count; i++) {
            const double value = i % 7 == 0 ? -9999.37 : i == 5 ? most : most * uniform(&random);
            store(chunk.words, i, value, chunk.word_size);
        }
        uint8_t before[8];
        memcpy(before, chunk.words, chunk.word_size);
        assert_false(changes_when_copied(&chunk));
        marks += memcmp(before, chunk.words, chunk.word_size) == 0;
        chunk_free(&chunk);
    }
    assert_in_range(marks, 100, 399); /* both happen */
}

/* ---- which values a chunk rounds ---- */

/* With a bound of 1, by FORMAT.md 8: what the near lattice holds becomes a multiple of 31 / 16, up
 * to 1048574 in narrow integers; the far one has multiples of 2 from 1048578 on. A chunk takes one
 * of them, and keeps what lies on the other as it is. None of these values is on its lattice. */
enum part { ZEROS, TINY, WITHIN, BEYOND, TOO_LARGE, PARTS };
static const double parts[PARTS] = {0, 0.25, 100.25, 2097152.5, 1e9};

struct mixture {
    unsigned word_size;
    const char *options;
    unsigned counts[PARTS];   /* of 4096 */
    char expected[PARTS + 1]; /* '0' for 0, 'r' rounded, '=' as it was, '-' there is none */
};

static const struct mixture mixtures[] = {
    /* f32: the lattice that codes more values */
    {4, "", {0, 0, 4096, 0, 0}, "--r--"},
    {4, "", {0, 0, 2048, 2048, 0}, "--r=-"},
    {4, "", {0, 0, 2047, 2049, 0}, "--=r-"},
    /* what is or becomes 0 lies on the near one */
    {4, "", {2048, 0, 0, 2048, 0}, "0--=-"},
    {4, "", {2047, 0, 0, 2049, 0}, "0--r-"},
    {4, "", {0, 2048, 0, 2048, 0}, "-0-=-"},
    {4, "", {1000, 1000, 48, 2048, 0}, "00r=-"},
    {4, "", {0, 2047, 0, 2049, 0}, "-=-r-"},
    /* but does not count where 0 is missing data, which it would be in the next coding */
    {4, ",fill=0", {2500, 0, 0, 1596, 0}, "0--r-"},
    {4, ",fill=0", {0, 2500, 0, 1596, 0}, "-=-r-"},
    {4, ",fill=0", {1000, 1000, 1048, 1048, 0}, "00r=-"},
    {4, ",fill=0", {1000, 1000, 1047, 1049, 0}, "0==r-"},
    {4, ",fill=-9999", {2500, 0, 0, 1596, 0}, "0--=-"},
    /* one must code half of what lies within the near one or beyond */
    {4, "", {0, 0, 2048, 0, 2048}, "--r-="},
    {4, "", {0, 0, 2047, 0, 2049}, "--=-="},
    {4, "", {0, 0, 1000, 2048, 1048}, "--=r="},
    {4, "", {0, 0, 1000, 2047, 1049}, "--==="},
    /* f64: narrow integers if at most a 64th lies beyond them, else wide ones, which hold all */
    {8, "", {0, 0, 4032, 64, 0}, "--r=-"},
    {8, "", {0, 0, 4031, 65, 0}, "--rr-"},
    {8, "", {0, 0, 4032, 32, 32}, "--r=="},
    {8, "", {0, 0, 4031, 32, 33}, "--rrr"},
    {8, "", {4032, 0, 0, 64, 0}, "0--=-"},
    {8, "", {4031, 0, 0, 65, 0}, "0--r-"},
    {8, ",fill=0", {4031, 0, 0, 65, 0}, "0--r-"},
};

static void
test_the_lattice_is_the_one_that_suits_more_values(void **state)
{
    (void)state;
    const size_t extent[AXES] = {1, 64, 64};
    for (size_t number = 0; number < TEST_LENGTH(mixtures); number++) {
        const struct mixture *const mixture = &mixtures[number];
        struct chunk chunk;
        snprintf(chunk.spec, sizeof chunk.spec, "lattice:abs=1%s", mixture->options);
        chunk_new(&chunk, mixture->word_size, extent, 0);
        size_t i = 0;
        for (unsigned part = 0; part < PARTS; part++) {
            for (unsigned k = 0; k < mixture->counts[part]; k++, i++) {
                /* no two of the large ones are the same, as that may be missing data */
                const double step = part == TOO_LARGE ? 1984 : part >= WITHIN ? 31 : 0;
                store(chunk.words, i, parts[part] + step * k, mixture->word_size);
                store(chunk.written, i, parts[part] + step * k, mixture->word_size);
            }
        }
        assert_int_equal(i, chunk.count);
        assert_false(changes_when_copied(&chunk));
        i = 0;
        for (unsigned part = 0; part < PARTS; part++) {
            for (unsigned k = 0; k < mixture->counts[part]; k++, i++) {
                const double before = h5twin_value_at(chunk.written, i, mixture->word_size);
                const double after = h5twin_value_at(chunk.words, i, mixture->word_size);
                const char found = after == 0 ? '0' : after == before ? '=' : 'r';
                if (found != mixture->expected[part] || fabs(after - before) > 1) {
                    fail_msg("mixture %zu: %.17g became %.17g", number, before, after);
                }
            }
        }
        chunk_free(&chunk);
    }
}

/* Ranges whose part, the step, is about a power of two: that of decoded values lies on the other
 * side. */
static void
test_ranges_next_to_a_power_of_two_are_copied(void **state)
{
    (void)state;
    const size_t extent[AXES] = {1, 1, 200};
    for (uint64_t number = 0; number < 2000; number++) {
        uint64_t random = number + 1;
        struct chunk chunk;
        const double share = number % 3 == 0   ? 0x1p-24 * (0.985 + 0.01 * uniform(&random))
                             : number % 3 == 1 ? 1e-3
                                               : 0.05 + 0.2 * uniform(&random);
        snprintf(chunk.spec, sizeof chunk.spec, "lattice:noa=%.17g,stable=yes", share);
        chunk_new(&chunk, number % 2 == 0 ? 4 : 8, extent, 0);
        const double step = ldexp(1, (int)below(&random, 40) - 20);
        const double range =
            step * (1 + 2 * share) / share * (1 + share * (uniform(&random) - 0.5));
        const double low = range * (number % 3 == 0          ? 0
                                    : below(&random, 2) == 0 ? uniform(&random) - 2
                                                             : 100);
        for (size_t i = 0; i < chunk.count; i++) {
            const double at = i == 7 ? 0 : i == 30 ? 1 : uniform(&random);
            store(chunk.words, i, low + range * at, chunk.word_size);
        }
        if (changes_when_copied(&chunk)) {
            fail_msg("%s: range %.17g from %.17g", chunk.spec, range, low);
        }
        chunk_free(&chunk);
    }
}

/* The fill value is what one of the values would become. */
static void
test_no_value_becomes_the_fill_value(void **state)
{
    (void)state;
    const size_t extent[AXES] = {1, 1, 500};
    for (uint64_t number = 0; number < 300; number++) {
        uint64_t random = number + 1;
        const unsigned word_size = number % 2 == 0 ? 4 : 8;
        const char *const bound = number % 3 == 0 ? "rel=0.01" : "abs=0.01";
        struct chunk chunk = {.spec = ""};
        for (unsigned named = 0; named < 2; named++) {
            const double fill = named == 0 ? 0 : h5twin_value_at(chunk.words, 5, word_size);
            if (named == 1) {
                chunk_free(&chunk);
            }
            const int length = snprintf(chunk.spec, sizeof chunk.spec, "lattice:%s", bound);
            if (named == 1) {
                snprintf(chunk.spec + length, sizeof chunk.spec - (size_t)length, ",fill=%.17g",
                         fill);
            }
            chunk_new(&chunk, word_size, extent, fill);
            random = number + 1;
            const double sign = number % 4 < 2 ? 1 : -1;
            for (size_t i = 0; i < chunk.count; i++) {
                store(chunk.words, i, sign * (100 + uniform(&random)), word_size);
                store(chunk.written, i, h5twin_value_at(chunk.words, i, word_size), word_size);
            }
            store_and_load(&chunk);
        }
        for (size_t i = 0; i < chunk.count; i++) {
            assert_true(is_kept(&chunk, i));
        }
        chunk_free(&chunk);
    }
}

/* ---- what the default protects from ---- */

static void
test_without_it_parts_add_error(void **state)
{
    (void)state;
    struct chunk chunk = {.spec = "lattice:abs=1e-3,stable=no"};
    const size_t extent[AXES] = {24, 12, 30};
    uint64_t random = 3;
    struct field field = field_new(&random, 1e-3);
    field.style = SMOOTH;
    field.amplitude = 1;
    unsigned moved = 0;
    chunk_new(&chunk, 4, extent, 0);
    for (size_t part = 0; part < 24; part++) {
        const struct box box = part_of(extent, ROWS, part, 24, &random);
        write_box(&chunk, &box, &field, &random);
        store_and_load(&chunk);
    }
    for (size_t i = 0; i < chunk.count; i++) {
        moved += !is_kept(&chunk, i);
    }
    assert_true(moved > 0);
    chunk_free(&chunk);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absolute_bounds_hold_for_life),
        cmocka_unit_test(test_relative_bounds_hold_for_life),
        cmocka_unit_test(test_range_relative_bounds_hold_for_life),
        cmocka_unit_test(test_a_value_decodes_alike_in_any_chunk),
        cmocka_unit_test(test_values_decode_alike_where_lattices_end),
        cmocka_unit_test(test_marks_stay_when_a_chunk_is_copied),
        cmocka_unit_test(test_the_lattice_is_the_one_that_suits_more_values),
        cmocka_unit_test(test_ranges_next_to_a_power_of_two_are_copied),
        cmocka_unit_test(test_no_value_becomes_the_fill_value),
        cmocka_unit_test(test_without_it_parts_add_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
