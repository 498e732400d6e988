/* SPDX-License-Identifier: BSD-3-Clause
 * test_large.c: arrays beyond 4 GiB, or as large as the format allows and a refusal beyond that.
 * Only with H5TWIN_TEST_LARGE=1, or a codec's name for its cases alone: needs 16 GiB of memory and
 * some minutes. */
#include "exact.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GIB          ((size_t)1 << 30)
#define LARGE_SIZE   (9 * GIB / 2 + 40) /* 4.5 GiB and a tail */
#define STRETCH_SIZE ((size_t)1 << 20)

/* The array repeats one stretch, each time with its number in front, so that it need not be kept
 * to be compared. */
static uint8_t stretch[STRETCH_SIZE];

static const uint8_t *
stretch_at(size_t offset)
{
    const uint64_t number = offset / STRETCH_SIZE;
    memcpy(stretch, &number, sizeof number);
    return stretch;
}

static size_t
stretch_size(size_t offset, size_t array_size)
{
    return array_size - offset < STRETCH_SIZE ? array_size - offset : STRETCH_SIZE;
}

static void
fill(uint8_t *array, size_t array_size)
{
    for (size_t offset = 0; offset < array_size; offset += STRETCH_SIZE) {
        memcpy(array + offset, stretch_at(offset), stretch_size(offset, array_size));
    }
}

static double
value_of(const uint8_t *word, uint32_t element_size)
{
    if (element_size == sizeof(double)) {
        double value;
        memcpy(&value, word, sizeof value);
        return value;
    }
    float value;
    memcpy(&value, word, sizeof value);
    return (double)value;
}

/* Decided without rounding, which takes long. */
static bool
is_just_within(double x, double y, double bound)
{
    if (!isfinite(x) || !isfinite(y)) {
        return false;
    }
    const struct test_exact distance = test_exact_distance(x, y);
    const struct test_exact most = test_exact_distance(bound, 0);
    return test_exact_at_most(&distance, &most);
}

/* Of a coding with an absolute bound; what is behind the last whole value keeps its bits. */
static bool
is_within(const uint8_t *a, const uint8_t *b, size_t size, const struct h5twin_params *params)
{
    const uint32_t element = params->element_size;
    const size_t whole = size / element * element;
    for (size_t at = 0; at < whole; at += element) {
        const double x = value_of(a + at, element), y = value_of(b + at, element);
        if (!(fabs(x - y) < params->error_bound) && !is_just_within(x, y, params->error_bound)) {
            return false;
        }
    }
    return memcmp(a + whole, b + whole, size - whole) == 0;
}

static bool
is_filled(const uint8_t *array, size_t array_size, const struct h5twin_params *params)
{
    for (size_t offset = 0; offset < array_size; offset += STRETCH_SIZE) {
        const uint8_t *const expected = stretch_at(offset);
        const size_t size = stretch_size(offset, array_size);
        if (memcmp(array + offset, expected, size) != 0 &&
            (params->mode == H5TWIN_LOSSLESS ||
             !is_within(array + offset, expected, size, params))) {
            return false;
        }
    }
    return true;
}

static void
check_round_trip(const struct h5twin_params *params, size_t size)
{
    const size_t capacity = h5twin_bound(params, size);
    assert_true(capacity > size);
    uint8_t *const array = test_alloc(size), *const chunk = test_alloc(capacity);
    size_t chunk_size = 0, array_size = 0;
    fill(array, size);
    assert_int_equal(h5twin_encode(params, NULL, chunk, capacity, array, size, &chunk_size),
                     H5TWIN_OK);
    assert_true(chunk_size < size);
    memset(array, 0xEE, size);
    assert_int_equal(h5twin_decode(NULL, array, size, chunk, chunk_size, &array_size), H5TWIN_OK);
    assert_int_equal(array_size, size);
    assert_true(is_filled(array, size, params));
    print_message("%zu bytes became %zu\n", size, chunk_size);
    free(array);
    free(chunk);
}

/* Size of the largest array that the codec takes, by halving. */
static size_t
largest_size(const struct h5twin_params *params, size_t too_large)
{
    size_t low = 0;
    while (too_large - low > 8) {
        const size_t middle = (low + (too_large - low) / 2) / 8 * 8;
        if (h5twin_bound(params, middle) != 0) {
            low = middle;
        } else {
            too_large = middle;
        }
    }
    return low;
}

static void
check_large(const char *spec, const char *type, size_t size)
{
    struct h5twin_params params;
    assert_int_equal(test_params(&params, spec, type, "-"), H5TWIN_OK);
    test_fill(stretch, sizeof stretch, params.element_size, TEST_SMOOTH, 1);
    print_message("%s of %s: ", spec, type);
    if (h5twin_bound(&params, size) == 0) {
        uint8_t unused[1];
        size_t unused_size;
        assert_int_equal(h5twin_encode(&params, NULL, unused, SIZE_MAX, unused, size, &unused_size),
                         H5TWIN_ERR_TOO_BIG);
        size = largest_size(&params, size);
        print_message("at most ");
        assert_true(size > 2 * GIB);
    }
    check_round_trip(&params, size);
}

/* Lossless, or with an absolute bound. */
static const struct {
    const char *spec, *type;
    size_t size;
} cases[] = {
    {"sleek", "f32", LARGE_SIZE},
    {"sleek", "f64", LARGE_SIZE},
    {"fpcompress:mode=speed", "f32", LARGE_SIZE},
    {"fpcompress:mode=speed", "f64", LARGE_SIZE},
    {"fpcompress:mode=ratio", "f32", LARGE_SIZE},
    {"fpcompress:mode=ratio", "f64", 2 * GIB + 40}, /* works in several times its input */
    {"ndzip:layout=extended", "f32", LARGE_SIZE},
    {"ndzip:layout=extended", "f64", LARGE_SIZE},
    {"ndzip:layout=reference", "f64", LARGE_SIZE},
    {"gfc", "f32", LARGE_SIZE},
    {"gfc", "f64", LARGE_SIZE},
    {"e2mc", "f32", LARGE_SIZE},
    {"cascade:effort=fast", "f32", LARGE_SIZE},
    {"cascade", "f64", LARGE_SIZE},
    {"lattice:abs=1e-3,effort=fast", "f32", 4 * GIB + 40}, /* as ratio */
    {"lattice:abs=1e-3", "f64", 2 * GIB + 40},
};

static void
test_arrays_beyond_4_gib_come_back_or_are_refused(void **state)
{
    const char *const wanted = *state;
    size_t checked = 0;
    for (size_t i = 0; i < TEST_LENGTH(cases); i++) {
        if (strcmp(wanted, "1") != 0 && strncmp(cases[i].spec, wanted, strlen(wanted)) != 0) {
            continue;
        }
        check_large(cases[i].spec, cases[i].type, cases[i].size);
        checked++;
    }
    assert_true(checked > 0); /* or no codec here has that name */
}

int
main(void)
{
    char *const wanted = getenv("H5TWIN_TEST_LARGE");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_arrays_beyond_4_gib_come_back_or_are_refused, wanted),
    };
    if (wanted == NULL || wanted[0] == '\0' || strcmp(wanted, "0") == 0) {
        print_message("skipped: set H5TWIN_TEST_LARGE=1\n");
        return TEST_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
