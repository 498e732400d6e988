/* SPDX-License-Identifier: BSD-3-Clause
 * test_lattice_partial.c: chunks that are written in parts, as HDF5 does it: the chunk is decoded,
 * some of its values are replaced, all of it is coded again. However often, and in whatever order,
 * no value may be further than the bound from what was written. */
#include "exact.h"
#include "support.h"

#include "common/bytes.h"
#include "common/values.h"
#include "lattice/lattice_partial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AXES 3u

/* A chunk, what was written to it, and how large errors may be. */
struct chunk {
    struct h5twin_params params;
    size_t extent[AXES], count;
    unsigned word_size;
    uint8_t *words, *written; /* as they come back; as they were given */
    bool *is_written;
    uint8_t *coded;
    size_t capacity;
};

struct box {
    size_t begin[AXES], step[AXES], end[AXES];
};

static void
store(uint8_t *words, size_t i, double value, unsigned word_size)
{
    if (word_size == 4) {
        const float narrow = (float)value;
        memcpy(words + 4 * i, &narrow, 4);
    } else {
        memcpy(words + 8 * i, &value, 8);
    }
}

/* Of one spec and type; not written yet: full of `padding`. */
static struct chunk
chunk_new(const char *spec, const char *type, const size_t extent[AXES], double padding)
{
    struct chunk chunk = {.word_size = type[1] == '3' ? 4 : 8};
    char dims[80];
    snprintf(dims, sizeof dims, "%zux%zux%zu", extent[0], extent[1], extent[2]);
    assert_int_equal(test_params(&chunk.params, spec, type, dims), H5TWIN_OK);
    memcpy(chunk.extent, extent, sizeof chunk.extent);
    chunk.count = extent[0] * extent[1] * extent[2];
    const size_t size = chunk.count * chunk.word_size;
    chunk.words = test_alloc(size);
    chunk.written = test_alloc(size);
    chunk.is_written = test_alloc(chunk.count * sizeof *chunk.is_written);
    memset(chunk.is_written, 0, chunk.count * sizeof *chunk.is_written);
    chunk.capacity = h5twin_bound(&chunk.params, size);
    assert_true(chunk.capacity > 0);
    chunk.coded = test_alloc(chunk.capacity);
    for (size_t i = 0; i < chunk.count; i++) {
        store(chunk.words, i, padding, chunk.word_size);
    }
    return chunk;
}

static void
chunk_free(struct chunk *chunk)
{
    free(chunk->words);
    free(chunk->written);
    free(chunk->is_written);
    free(chunk->coded);
}

/* A smooth field of magnitudes up to 11 with a little noise. */
static double
field(size_t x, size_t y, size_t z, uint64_t seed)
{
    uint64_t state = seed * 0x9E3779B97F4A7C15u + x * 8191 + y * 131 + z + 1;
    const double noise = (double)(test_random(&state) >> 11) * 0x1p-53;
    return 5 * sin((double)x / 7 + (double)seed) + 4 * cos((double)y / 9) * sin((double)z / 11) +
           0.02 * noise + 1;
}

/* Replaces the values of a box, and has the chunk coded and decoded. */
static void
write_box(struct chunk *chunk, const struct box *box, uint64_t seed)
{
    const size_t size = chunk->count * chunk->word_size;
    for (size_t x = box->begin[0]; x < box->end[0]; x += box->step[0]) {
        for (size_t y = box->begin[1]; y < box->end[1]; y += box->step[1]) {
            for (size_t z = box->begin[2]; z < box->end[2]; z += box->step[2]) {
                const size_t i = (x * chunk->extent[1] + y) * chunk->extent[2] + z;
                store(chunk->words, i, field(x, y, z, seed), chunk->word_size);
                memcpy(chunk->written + i * chunk->word_size, chunk->words + i * chunk->word_size,
                       chunk->word_size);
                chunk->is_written[i] = true;
            }
        }
    }
    size_t coded_size = 0, decoded_size = 0;
    assert_int_equal(h5twin_encode(&chunk->params, NULL, chunk->coded, chunk->capacity,
                                   chunk->words, size, &coded_size),
                     H5TWIN_OK);
    assert_int_equal(
        h5twin_decode(NULL, chunk->words, size, chunk->coded, coded_size, &decoded_size),
        H5TWIN_OK);
    assert_int_equal(decoded_size, size);
}

/* No error above `times` bounds. */
static void
check(const struct chunk *chunk, double times)
{
    const double bound = chunk->params.error_bound;
    for (size_t i = 0; i < chunk->count; i++) {
        if (!chunk->is_written[i]) {
            continue;
        }
        const double before = h5twin_value_at(chunk->written, i, chunk->word_size);
        const double after = h5twin_value_at(chunk->words, i, chunk->word_size);
        const struct test_exact one =
            test_exact_distance(chunk->params.mode == H5TWIN_REL ? before : bound, 0);
        const struct test_exact allowed =
            test_exact_times(&one, chunk->params.mode == H5TWIN_REL ? times * bound : times);
        const struct test_exact error = test_exact_distance(before, after);
        if (!test_exact_at_most(&error, &allowed)) {
            fail_msg("value %zu of %zux%zux%zu: %.17g became %.17g, bound %g", i, chunk->extent[0],
                     chunk->extent[1], chunk->extent[2], before, after, bound);
        }
    }
}

static const char *const specs[] = {
    "lattice:abs=1e-3",
    "lattice:abs=1e-3,effort=fast",
    "lattice:abs=0.7",
    "lattice:abs=1e-3,fill=-9999.9",
    "lattice:rel=1e-3",
    "lattice:rel=1e-3,effort=fast",
    "lattice:abs=1e-3,stable=yes",
};

static const size_t shapes[][AXES] = {{24, 12, 30}, {1, 40, 33}, {1, 1, 1000}, {7, 3, 50}};

/* The box of part `part` of `parts` in one of several orders of writing. */
enum order { ROWS, ROWS_BACK, COLUMNS, EVEN_THEN_ODD, FEW_THEN_REST, QUARTERS, ORDER_COUNT };

static bool
part_of(struct box *box, const size_t extent[AXES], enum order order, size_t part)
{
    const unsigned slow = extent[0] > 1 ? 0 : extent[1] > 1 ? 1 : 2;
    const size_t each = extent[slow] > 100 ? 40 : 1; /* indices a write */
    const size_t parts = (extent[slow] + each - 1) / each;
    for (unsigned axis = 0; axis < AXES; axis++) {
        box->begin[axis] = 0;
        box->step[axis] = 1;
        box->end[axis] = extent[axis];
    }
    switch (order) {
    case ROWS:
    case ROWS_BACK:
        box->begin[slow] = (order == ROWS ? part : parts - 1 - part) * each;
        box->end[slow] = box->begin[slow] + each;
        box->end[slow] = box->end[slow] < extent[slow] ? box->end[slow] : extent[slow];
        return part < parts;
    case COLUMNS: /* whole tens of the fastest axis */
        box->begin[2] = 10 * part;
        box->end[2] = 10 * part + 10 < extent[2] ? 10 * part + 10 : extent[2];
        return 10 * part < extent[2];
    case EVEN_THEN_ODD:
        box->begin[slow] = part;
        box->step[slow] = 2;
        return part < 2;
    case FEW_THEN_REST: /* too few to show on the grid, so the lattice must tell */
        box->begin[slow] = part == 0 ? 0 : (extent[slow] + 11) / 12;
        box->end[slow] = part == 0 ? (extent[slow] + 11) / 12 : extent[slow];
        return part < 2;
    default:
        for (unsigned axis = 0; axis < AXES; axis++) {
            const size_t half = extent[axis] / 2;
            const bool second = (part >> axis & 1u) != 0;
            if (extent[axis] == 1) {
                box->end[axis] = second ? 0 : 1;
            } else {
                box->begin[axis] = second ? half : 0;
                box->end[axis] = second ? extent[axis] : half;
            }
        }
        return part < 8;
    }
}

static double
padding_of(const struct h5twin_params *params)
{
    return params->has_fill ? params->fill : 0;
}

/* Every other value of a row shows no gap: those may move once more. */
static double
most_bounds(const struct chunk *chunk, enum order order)
{
    return order == EVEN_THEN_ODD && chunk->extent[0] * chunk->extent[1] == 1 ? 2 : 1;
}

static void
test_parts_never_add_error(void **state)
{
    (void)state;
    for (unsigned s = 0; s < TEST_LENGTH(specs); s++) {
        for (unsigned shape = 0; shape < TEST_LENGTH(shapes); shape++) {
            for (unsigned order = 0; order < 2 * ORDER_COUNT; order++) {
                if ((s + shape + order) % TEST_SLOWNESS != 0) {
                    continue;
                }
                const char *const type = order < ORDER_COUNT ? "f32" : "f64";
                struct h5twin_params params;
                assert_int_equal(test_params(&params, specs[s], type, "-"), H5TWIN_OK);
                struct chunk chunk = chunk_new(specs[s], type, shapes[shape], padding_of(&params));
                struct box box;
                for (size_t part = 0;
                     part_of(&box, chunk.extent, (enum order)(order % ORDER_COUNT), part); part++) {
                    write_box(&chunk, &box, 1);
                    check(&chunk, most_bounds(&chunk, (enum order)(order % ORDER_COUNT)));
                }
                chunk_free(&chunk);
            }
        }
    }
}

/* Values of a whole chunk may move once more when a part is replaced, but never again. */
static void
test_updates_move_the_others_once(void **state)
{
    (void)state;
    for (unsigned s = 0; s < TEST_LENGTH(specs); s++) {
        for (unsigned type = 0; type < 2; type++) {
            struct chunk chunk = chunk_new(specs[s], type == 0 ? "f32" : "f64", shapes[0], 0);
            const struct box all = {{0, 0, 0}, {1, 1, 1}, {24, 12, 30}};
            write_box(&chunk, &all, 2);
            check(&chunk, 1);
            struct box box;
            for (size_t round = 0; round < 2; round++) {
                for (size_t part = 0; part_of(&box, chunk.extent, ROWS_BACK, part); part++) {
                    write_box(&chunk, &box, 3 + round);
                    check(&chunk, strstr(specs[s], "stable=yes") != NULL ? 1 : 2);
                }
            }
            check(&chunk, 1); /* all were written anew */
            chunk_free(&chunk);
        }
    }
}

/* ---- gaps ---- */

/* Values, neither 0 nor NaN, at an index of an axis. */
static size_t
values_at(const float *field, const struct lattice_shape *shape, unsigned axis, size_t index)
{
    size_t found = 0;
    for (size_t i = 0; i < shape->count; i++) {
        found += i / shape->stride[axis] % shape->extent[axis] == index && field[i] != 0;
    }
    return found;
}

/* By the words of FORMAT.md: every gap is looked at whole. */
static bool
has_gap_plainly(const float *field, const struct lattice_shape *shape)
{
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        const size_t extent = shape->extent[axis], each = shape->count / extent;
        size_t length = (16 + each - 1) / each, begin = 0;
        length = length < extent ? length : extent - 1;
        while (begin < extent) {
            size_t end = begin;
            while (end < extent && values_at(field, shape, axis, end) == 0) {
                end++;
            }
            for (unsigned side = 0; side < 2 && end > begin && end - begin >= length; side++) {
                const bool up = side == 1;
                if (up ? end == extent : begin == 0) {
                    continue;
                }
                const size_t near = up ? end : begin - 1;
                size_t far = near;
                for (unsigned i = 0; i < 4 && (up ? far + 1 < extent : far > 0) &&
                                     values_at(field, shape, axis, up ? far + 1 : far - 1) > 0;
                     i++) {
                    far = up ? far + 1 : far - 1;
                }
                const size_t here = values_at(field, shape, axis, near);
                const size_t there = values_at(field, shape, axis, far);
                if (4 * here >= 3 * there && 4 * there >= 3 * here) {
                    return true;
                }
            }
            begin = end + 1;
        }
    }
    return false;
}

static void
test_gaps_are_those_of_the_words(void **state)
{
    (void)state;
    const struct lattice_settings settings = {.word_size = 4};
    uint64_t random = 1;
    unsigned found = 0, cases = 4000;
    for (unsigned number = 0; number < cases; number++) {
        const uint64_t dims[3] = {1 + test_random(&random) % 9, 1 + test_random(&random) % 9,
                                  1 + test_random(&random) % (number % 3 == 0 ? 60 : 9)};
        struct lattice_shape shape;
        float field[9 * 9 * 60];
        const size_t count = (size_t)(dims[0] * dims[1] * dims[2]);
        h5twin_lattice_shape(&shape, dims, 3, count);
        const uint64_t kind = test_random(&random);
        for (size_t i = 0; i < count; i++) { /* rows and columns of zeros, and single ones */
            const bool is_zero = (kind >> i / shape.stride[2] % 23 & 1u) != 0 ||
                                 (kind >> (24 + i % shape.extent[3] % 19) & 3u) == 3 ||
                                 test_random(&random) % 8 < (kind >> 60 & 3u);
            field[i] = is_zero ? 0 : 1;
        }
        const bool wanted = has_gap_plainly(field, &shape);
        found += wanted;
        assert_int_equal(h5twin_lattice_has_gap(&settings, &shape, (const uint8_t *)field), wanted);
    }
    assert_in_range(found, cases / 20, cases - cases / 20); /* both happen */
}

/* The setting that this protects from is still there for who wants it. */
static void
test_without_it_parts_add_error(void **state)
{
    (void)state;
    struct chunk chunk = chunk_new("lattice:abs=1e-3,stable=no", "f32", shapes[0], 0);
    struct box box;
    double worst = 0;
    for (size_t part = 0; part_of(&box, chunk.extent, ROWS, part); part++) {
        write_box(&chunk, &box, 1);
    }
    for (size_t i = 0; i < chunk.count; i++) {
        const double error = fabs(h5twin_value_at(chunk.written, i, chunk.word_size) -
                                  h5twin_value_at(chunk.words, i, chunk.word_size));
        worst = error > worst ? error : worst;
    }
    assert_true(worst > 1e-3);
    chunk_free(&chunk);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_never_add_error),
        cmocka_unit_test(test_updates_move_the_others_once),
        cmocka_unit_test(test_without_it_parts_add_error),
        cmocka_unit_test(test_gaps_are_those_of_the_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
