/* SPDX-License-Identifier: BSD-3-Clause
 * test_lattice_loops.c: predictors of every instruction set against those of plain C, over shapes
 * around the lengths of vectors, with and without specials, forth and back. */
#include "support.h"

#include "isa.h"
#include "lattice/lattice_loops.h"

#include <stdlib.h>
#include <string.h>

/* Integers of both widths. */
struct field {
    struct lattice_shape shape;
    uint32_t width;
    int64_t *wide;
    int32_t *narrow;
    uint8_t *specials;
};

static struct field
make_field(const uint64_t dims[4], uint64_t seed)
{
    static const uint32_t widths[] = {1, 3, 255, 401, 2047};
    struct field field = {.width = widths[seed % TEST_LENGTH(widths)]};
    const size_t count = (size_t)(dims[0] * dims[1] * dims[2] * dims[3]);
    h5twin_lattice_shape(&field.shape, dims, 4, count);
    field.wide = test_alloc(count * sizeof *field.wide);
    field.narrow = test_alloc(count * sizeof *field.narrow);
    field.specials = test_alloc(count);
    uint64_t state = seed;
    int64_t walk = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t any = test_random(&state);
        walk += (int64_t)(any % 2001) - 1000;
        int64_t value = any % 16 == 0 ? (int64_t)(any >> 40) - (1 << 23) : walk;
        value = any % 97 == 0 ? LATTICE_LIMIT32 : any % 97 == 1 ? -LATTICE_LIMIT32 : value;
        field.narrow[i] = h5twin_lattice_clamp32((int32_t)value, LATTICE_LIMIT32);
        field.wide[i] = h5twin_lattice_clamp64(value * (1 << 28), LATTICE_LIMIT64);
        field.specials[i] = any >> 60 < seed % 8;
    }
    return field;
}

static void
field_free(struct field *field)
{
    free(field->wide);
    free(field->narrow);
    free(field->specials);
}

/* What one set of loops makes of a field. */
struct outcome {
    size_t size; /* of codes */
    void *codes, *decoded;
};

static struct outcome
code(const struct field *field, const struct lattice_choice *choice,
     const struct lattice_loops *loops, unsigned threads)
{
    const size_t count = field->shape.count;
    const bool leveled = choice->predictor != LATTICE_LORENZO;
    const size_t levels = leveled ? h5twin_lattice_level_count(&field->shape, choice->arg) : 0;
    struct outcome outcome = {.size = count * loops->integer_size};
    outcome.codes = test_alloc(outcome.size);
    outcome.decoded = test_alloc(outcome.size);
    uint8_t *const room = test_alloc((levels + count) * loops->integer_size);
    uint8_t *const codes = test_alloc(outcome.size);
    struct lattice_array array = {
        .shape = &field->shape,
        .choice = *choice,
        .width = field->width < LATTICE_MOST_WIDTH64 ? field->width : LATTICE_MOST_WIDTH64,
        .integers = field->narrow,
        .specials = field->specials,
        .codes = outcome.codes,
        .levels = room,
        .threads = threads};
    if (loops->integer_size == 8) {
        array.integers = field->wide;
    } else {
        array.width = field->width;
    }
    if (memchr(field->specials, 1, count) == NULL) {
        array.specials = NULL;
    }
    loops->encode(&array);
    memcpy(codes, outcome.codes, outcome.size);
    array.codes = codes;
    memset(room, 0x55, (levels + count) * loops->integer_size);
    loops->decode(&array);
    memcpy(outcome.decoded, leveled ? room : codes, outcome.size);
    free(room);
    free(codes);
    return outcome;
}

static void
outcome_free(struct outcome *outcome)
{
    free(outcome->codes);
    free(outcome->decoded);
}

static bool
is_same(const struct outcome *a, const struct outcome *b)
{
    return memcmp(a->codes, b->codes, a->size) == 0 && memcmp(a->decoded, b->decoded, a->size) == 0;
}

static void
compare_choice(const struct field *field, const struct lattice_choice *choice, bool wide)
{
    const struct h5twin_lattice_kernels *const scalar =
        h5twin_lattice_kernels_for(h5twin_isa_level_at(0)->isa);
    struct outcome wanted = code(field, choice, wide ? scalar->wide : scalar->narrow, 1);
    for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
        const struct h5twin_lattice_kernels *const kernels =
            h5twin_lattice_kernels_for(h5twin_isa_level_at(i)->isa);
        struct outcome found =
            code(field, choice, wide ? kernels->wide : kernels->narrow, i == 0 ? 2 : 1);
        if (!is_same(&wanted, &found)) {
            const size_t *const extent = field->shape.extent;
            fail_msg("%s differs: %zu x %zu x %zu x %zu, predictor %u, axes %u, cubic %d, width "
                     "%u, wide %d",
                     h5twin_isa_level_at(i)->name, extent[0], extent[1], extent[2], extent[3],
                     choice->predictor, choice->arg, choice->cubic, (unsigned)field->width, wide);
        }
        outcome_free(&found);
    }
    outcome_free(&wanted);
}

static void
compare_field(const struct field *field)
{
    unsigned axes = 0;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        axes |= (unsigned)(field->shape.extent[axis] > 1) << axis;
    }
    for (unsigned number = 0; number < 2 * 2 * 2 * 16; number++) {
        const unsigned mask = number % 16;
        const struct lattice_choice choice = {.predictor = (number & 64) != 0 ? LATTICE_BINS
                                                                              : LATTICE_INTERPOLATE,
                                              .arg = mask,
                                              .cubic = (number & 32) != 0};
        if (mask != 0 && (mask & ~axes) == 0) {
            compare_choice(field, &choice, (number & 16) != 0);
        }
    }
    for (unsigned number = 0; number < 2 * 81; number++) {
        struct lattice_choice choice = {.predictor = LATTICE_LORENZO};
        for (unsigned axis = 0, rest = number / 2; axis < LATTICE_AXES; axis++, rest /= 3) {
            choice.arg |= rest % 3 << 2 * axis;
        }
        if (number % 7 == 0) {
            compare_choice(field, &choice, number % 2 != 0);
        }
    }
}

static void
test_predictors_equal_those_in_plain_c(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {1,  2,  3,  4,  5,  6,  7,  9,  15, 16, 17, 31, 32,
                                       33, 34, 35, 36, 37, 38, 39, 47, 64, 65, 67, 70, 131};
    uint64_t seed = 0;
    for (size_t i = 0; i < TEST_LENGTH(lengths); i++) {
        const uint64_t dims[][4] = {
            {1, 1, 1, lengths[i]},         {1, 1, 2 + i % 7, lengths[i]},
            {1, 1, lengths[i], 3 + i % 9}, {1, 3 + i % 5, 2 + i % 8, lengths[i]},
            {1, lengths[i], 2, 5},         {2 + i % 3, 3, 4 + i % 3, lengths[i] % 40 + 1},
        };
        for (size_t shape = 0; shape < TEST_LENGTH(dims); shape++) {
            struct field field = make_field(dims[shape], seed++);
            compare_field(&field);
            field_free(&field);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predictors_equal_those_in_plain_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
