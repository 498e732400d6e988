/* SPDX-License-Identifier: BSD-3-Clause
 * test_coded_ahead.c: io/coded_ahead.h against h5twin_encode. Whoever asks gathers and pads the
 * values element by element; what he gets must be the chunk of just these values. In order, in any
 * other one, with chunks that nobody asks for, that others have changed or that are equal, and
 * with windows of a few chunks. */
#include "support.h"

#include "io/coded_ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANK   3u
#define ROUNDS (60u / TEST_SLOWNESS + 1u)

static uint64_t
below(uint64_t *random, uint64_t limit)
{
    return test_random(random) % limit;
}

struct array {
    struct h5twin_params params;
    uint64_t dims[RANK], chunk[RANK], start[RANK], count[RANK], grid[RANK]; /* grid: of the box */
    ptrdiff_t strides[RANK];                                                /* bytes */
    float *memory, *first; /* some more than the box, and its first element */
    float fill;
    bool is_uniform; /* many chunks are equal but for their padding */
    size_t chunk_values, chunk_count;
};

static void
array_make(struct array *array, uint64_t *random)
{
    static const char *const specs[] = {"sleek", "ndzip", "cascade", "lattice:abs=1e-3", "e2mc"};
    const char *spec;
    do {
        spec = specs[below(random, TEST_LENGTH(specs))];
    } while (!test_spec_is_wanted(spec));
    *array = (struct array){.fill = (float)below(random, 3), .chunk_values = 1, .chunk_count = 1};
    size_t extents[RANK], value_count = 1;
    for (unsigned axis = 0; axis < RANK; axis++) {
        array->chunk[axis] = 1 + below(random, 28);
        const uint64_t first = below(random, 3);
        array->grid[axis] = 1 + below(random, 6);
        const uint64_t end = (first + array->grid[axis]) * array->chunk[axis];
        array->start[axis] = first * array->chunk[axis];
        array->dims[axis] = end + below(random, 3) * array->chunk[axis];
        if (below(random, 2) == 0) { /* the box ends with the array, within a chunk */
            array->dims[axis] = end - below(random, array->chunk[axis]);
        }
        const uint64_t box_end = end < array->dims[axis] ? end : array->dims[axis];
        array->count[axis] = box_end - array->start[axis];
        array->chunk_values *= (size_t)array->chunk[axis];
        array->chunk_count *= (size_t)array->grid[axis];
        extents[axis] = (size_t)array->count[axis] + (size_t)below(random, 3);
    }
    ptrdiff_t stride = (ptrdiff_t)(1 + below(random, 2));
    for (unsigned axis = RANK; axis-- > 0;) {
        array->strides[axis] = stride * (ptrdiff_t)sizeof(float);
        stride *= (ptrdiff_t)extents[axis];
    }
    value_count = (size_t)stride;
    array->memory = array->first = test_alloc(value_count * sizeof(float));
    const unsigned kinds = 1 + (unsigned)below(random, 3);
    array->is_uniform = kinds == 1;
    for (size_t i = 0; i < value_count; i++) {
        array->memory[i] =
            array->is_uniform ? 1.0f : (float)(i / 100) * 0.5f + (float)below(random, kinds);
    }
    if (below(random, 4) == 0) { /* from the other end */
        array->first += (size_t)(array->count[0] - 1) * (size_t)array->strides[0] / sizeof(float);
        array->strides[0] = -array->strides[0];
    }
    h5twin_params_init(&array->params, H5TWIN_SLEEK);
    assert_int_equal(h5twin_params_parse(&array->params, spec, NULL), H5TWIN_OK);
    h5twin_params_set_array(&array->params, H5TWIN_FLOAT, sizeof(float), RANK, array->chunk);
}

/* The values of a chunk of the box. */
static void
gather(const struct array *array, size_t number, float *values)
{
    uint64_t of_chunk[RANK], at[RANK];
    for (unsigned axis = RANK; axis-- > 0;) {
        of_chunk[axis] = number % array->grid[axis];
        number /= (size_t)array->grid[axis];
    }
    for (size_t i = 0; i < array->chunk_values; i++) {
        size_t rest = i;
        const uint8_t *element = (const uint8_t *)array->first;
        bool is_inside = true;
        for (unsigned axis = RANK; axis-- > 0;) {
            at[axis] = of_chunk[axis] * array->chunk[axis] + rest % array->chunk[axis];
            rest /= (size_t)array->chunk[axis];
            is_inside = is_inside && at[axis] < array->count[axis];
        }
        for (unsigned axis = 0; is_inside && axis < RANK; axis++) {
            element += (ptrdiff_t)at[axis] * array->strides[axis];
        }
        memcpy(&values[i], is_inside ? (const void *)element : &array->fill, sizeof(float));
    }
}

/* Whoever asks. */
struct asker {
    const struct array *array;
    uint64_t random;
    size_t *order; /* numbers of chunks */
    size_t asked, found;
    unsigned changes, skips; /* of a hundred chunks */
};

static void
check(const struct array *array, const float *values, const void *chunk, size_t size)
{
    const size_t raw_size = array->chunk_values * sizeof(float);
    const size_t capacity = h5twin_bound(&array->params, raw_size);
    uint8_t *const expected = test_alloc(capacity);
    size_t expected_size;
    assert_int_equal(
        h5twin_encode(&array->params, NULL, expected, capacity, values, raw_size, &expected_size),
        H5TWIN_OK);
    assert_int_equal(size, expected_size);
    assert_memory_equal(chunk, expected, size);
    free(expected);
}

static void
ask(void *context, struct h5twin_coded_ahead *ahead)
{
    struct asker *const asker = context;
    const struct array *const array = asker->array;
    float *const values = test_alloc(array->chunk_values * sizeof(float));
    for (size_t i = 0; i < array->chunk_count; i++) {
        size_t size = 0;
        if (below(&asker->random, 100) < asker->skips) {
            continue;
        }
        gather(array, asker->order[i], values);
        const bool is_changed = below(&asker->random, 100) < asker->changes;
        if (is_changed) {
            values[below(&asker->random, array->chunk_values)] += 0.25f;
        }
        const void *const chunk = h5twin_coded_ahead_take(ahead, values, &size);
        asker->asked++;
        if (chunk != NULL) {
            asker->found++;
            check(array, values, chunk, size);
        }
        assert_false(is_changed && chunk != NULL);
    }
    free(values);
}

static void
shuffle(size_t *order, size_t count, uint64_t *random)
{
    for (size_t i = count; i-- > 1;) {
        const size_t other = (size_t)below(random, i + 1), number = order[i];
        order[i] = order[other];
        order[other] = number;
    }
}

/* Enough for two threads to pay. */
static bool
is_large(const struct array *array)
{
    return array->chunk_count >= 2 &&
           array->chunk_count * array->chunk_values * sizeof(float) >= 1u << 20;
}

/* disorder: 0 asks in order, 1 in another one, 2 also for other values and not for all. True if
 * anything was coded ahead. */
static bool
run_round(const struct array *array, uint64_t *random, unsigned threads, size_t window,
          unsigned disorder)
{
    struct asker asker = {.array = array, .random = *random};
    struct h5twin_coded_ahead_counts counts = {.asked = 0};
    const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = threads};
    const struct h5twin_transfer transfer = {.params = &array->params,
                                             .element_size = sizeof(float),
                                             .rank = RANK,
                                             .dims = array->dims,
                                             .chunk = array->chunk,
                                             .start = array->start,
                                             .count = array->count,
                                             .strides = array->strides,
                                             .fill = &array->fill,
                                             .exec = &exec,
                                             .window = window};
    asker.order = test_alloc(array->chunk_count * sizeof *asker.order);
    for (size_t i = 0; i < array->chunk_count; i++) {
        asker.order[i] = i;
    }
    if (disorder > 0) {
        shuffle(asker.order, array->chunk_count, random);
        asker.changes = disorder > 1 ? 30 : 0;
        asker.skips = disorder > 1 ? 30 : 0;
    }
    const bool has_run = h5twin_coded_ahead_run(&transfer, array->first, ask, &asker, &counts);
    if (has_run) {
        assert_int_equal(counts.asked, asker.asked);
        assert_int_equal(counts.found, asker.found);
        assert_int_equal(counts.chunks, array->chunk_count);
        if (disorder == 0 || (disorder == 1 && window == 0 && !array->is_uniform)) {
            assert_int_equal(counts.found, array->chunk_count);
        }
    } else {
        assert_int_equal(asker.asked, 0);
    }
    free(asker.order);
    return has_run;
}

static void
test_random_boxes(void **state)
{
    (void)state;
    uint64_t random = 30;
    unsigned runs = 0, too_small = 0;
    for (unsigned round = 0; round < ROUNDS;) {
        struct array array;
        array_make(&array, &random);
        if (is_large(&array)) {
            const unsigned threads = 2 + (unsigned)below(&random, 4);
            const size_t chunk_size = array.chunk_values * sizeof(float);
            const size_t few = (3 + threads + (size_t)below(&random, 6)) * 2 * chunk_size;
            runs += run_round(&array, &random, threads, 0, round % 3);
            runs += run_round(&array, &random, threads, few, (round + 1) % 3);
            round++;
        } else {
            assert_false(run_round(&array, &random, 4, 0, 0));
            too_small++;
        }
        free(array.memory);
    }
    assert_in_range(runs, ROUNDS, 2 * ROUNDS);
    assert_true(too_small > 0);
}

/* What is not a box of whole chunks, or not for two threads. */
static void
test_refused_descriptions(void **state)
{
    (void)state;
    uint64_t random = 31;
    struct array array;
    for (;;) {
        array_make(&array, &random);
        if (is_large(&array) && array.chunk[0] > 1 && array.count[0] > 1) {
            break;
        }
        free(array.memory);
    }
    assert_false(run_round(&array, &random, 1, 0, 0));
    assert_false(run_round(&array, &random, 4, array.chunk_values * sizeof(float), 0));
    array.start[0]++;
    array.count[0]--;
    assert_false(run_round(&array, &random, 4, 0, 0));
    free(array.memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_boxes),
        cmocka_unit_test(test_refused_descriptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
