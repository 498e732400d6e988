/* SPDX-License-Identifier: BSD-3-Clause
 * test_policy_choose.c: which rule a dataset takes, what no rule touches, and the chunks. */
#include "policy_rules.h"

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNLIMITED H5TWIN_POLICY_UNLIMITED
#define KIB       ((uint64_t)1 << 10)
#define MIB       (KIB * KIB)

static struct h5twin_policy *
parse(const char *text)
{
    char error[H5TWIN_POLICY_SENTENCE] = "";
    struct h5twin_policy *const policy = h5twin_policy_parse("p", text, strlen(text), error);
    if (policy == NULL) {
        fail_msg("%s: %s", text, error);
    }
    return policy;
}

/* A float32 array of fixed dims. */
static struct h5twin_policy_dataset
array(const char *path, uint32_t rank, const uint64_t *dims)
{
    struct h5twin_policy_dataset dataset = {
        .path = path, .type = H5TWIN_POLICY_FLOAT32, .element_size = 4, .rank = rank};
    memcpy(dataset.dims, dims, rank * sizeof dims[0]);
    memcpy(dataset.most_dims, dims, rank * sizeof dims[0]);
    return dataset;
}

static struct h5twin_policy_dataset
cube(const char *path)
{
    return array(path, 3, (uint64_t[]){64, 128, 128});
}

static struct h5twin_policy_outcome
choose(const char *text, const struct h5twin_policy_dataset *dataset)
{
    struct h5twin_policy *const policy = parse(text);
    struct h5twin_policy_outcome outcome;
    h5twin_policy_choose(policy, dataset, &outcome);
    h5twin_policy_free(policy);
    return outcome;
}

/* why NULL: it is coded by this line; else left alone with this in the reason. */
static void
expect(const char *text, const struct h5twin_policy_dataset *dataset, unsigned line,
       const char *why)
{
    const struct h5twin_policy_outcome outcome = choose(text, dataset);
    if (outcome.line != line || outcome.is_coded != (why == NULL) ||
        (why != NULL && strstr(outcome.why, why) == NULL) ||
        outcome.is_coded != (outcome.spec[0] != '\0') ||
        outcome.is_coded != (outcome.why[0] == '\0')) {
        fail_msg("%s on %s: line %u, %s%s", text, outcome.path, outcome.line, outcome.spec,
                 outcome.why);
    }
}

static void
test_the_first_rule_that_fits_decides(void **state)
{
    (void)state;
    const struct h5twin_policy_dataset u = cube("/fields/u");
    expect("/fields/** -> cascade\nu -> sleek", &u, 1, NULL);
    expect("v -> cascade\nu -> sleek", &u, 2, NULL);
    expect("u float64 -> cascade\nu -> sleek", &u, 2, NULL);
    expect("u -> none\n** -> sleek", &u, 1, "none");
    expect("v -> sleek", &u, 0, "no rule has its name");
    expect("", &u, 0, "no rule has its name");
}

static void
test_conditions(void **state)
{
    (void)state;
    const struct h5twin_policy_dataset u = cube("/u"); /* 4 MiB */
    expect("u float32 -> cascade", &u, 1, NULL);
    expect("u float64,int8 -> cascade", &u, 0, "line 1 asks for another type");
    expect("u integer -> cascade", &u, 0, "another type");
    expect("u rank=3 -> cascade", &u, 1, NULL);
    expect("u rank<3 -> cascade", &u, 0, "other dims");
    expect("u dims=64x*x128 -> cascade", &u, 1, NULL);
    expect("u dims=64x*x127 -> cascade", &u, 0, "other dims");
    expect("u dims=64x* -> cascade", &u, 0, "other dims");
    expect("u >=4MiB -> cascade", &u, 1, NULL);
    expect("u >4MiB -> cascade", &u, 0, "a larger size");
    expect("u <4MiB -> cascade", &u, 0, "a smaller size");
    expect("u fixed -> cascade", &u, 1, NULL);
    expect("u extendable -> cascade", &u, 0, "an axis that grows");
    expect("u -> cascade chunks=4x4x4", &u, 1, "below 1 KiB, and the rule");
    expect("u -> cascade chunks=8x8", &u, 0, "other dims");
    /* the first rule that nearly fits is told */
    expect("v -> cascade\nu float64 -> cascade\nu rank=2 -> sleek", &u, 0, "line 2");
    struct h5twin_policy_dataset pair = u;
    pair.type = H5TWIN_POLICY_COMPLEX64;
    expect("u any -> cascade", &pair, 0, "another type");
    expect("u complex -> cascade", &pair, 1, NULL);
}

static void
test_small_datasets_are_left_alone(void **state)
{
    (void)state;
    struct h5twin_policy_dataset row = array("/u", 1, (uint64_t[]){4096});
    expect("u -> cascade", &row, 1, NULL); /* 16 KiB */
    row.dims[0] = row.most_dims[0] = 4095;
    expect("u -> cascade", &row, 0, "a larger size");
    expect("u >=1KiB -> cascade", &row, 1, NULL);
    expect("u <1GiB -> cascade", &row, 1, NULL);
    row.dims[0] = row.most_dims[0] = 100;
    expect("u >=0 -> cascade", &row, 1, "below 1 KiB");
    /* of what grows, a chunk counts */
    row.dims[0] = 1000000;
    row.most_dims[0] = UNLIMITED;
    row.has_chunk = true;
    row.chunk[0] = 1024;
    expect("u -> cascade", &row, 0, "a larger size");
    expect("u -> cascade chunks=auto", &row, 1, NULL);
    expect("u >=4KiB -> cascade", &row, 1, NULL);
}

static void
test_what_no_rule_touches(void **state)
{
    (void)state;
    struct h5twin_policy_dataset dataset = cube("/u");
    dataset.type = H5TWIN_POLICY_OTHER;
    expect("u -> cascade", &dataset, 0, "numbers");
    dataset = cube("/u");
    dataset.path = NULL;
    expect("** -> cascade", &dataset, 1, NULL);
    expect("u -> none\n/** -> cascade", &dataset, 2, NULL);
    expect("** -> none", &dataset, 1, "none");
    expect("u* -> cascade", &dataset, 0, "no name yet");
    expect("* -> lattice:abs=1", &dataset, 1, "no name yet");
    dataset = array("/u", 0, (uint64_t[]){0});
    expect("u >=0 -> cascade", &dataset, 0, "no array");
    dataset = cube("/u");
    dataset.dims[1] = dataset.most_dims[1] = 0;
    expect("u >=0 -> cascade", &dataset, 0, "empty");
    dataset = cube("/u");
    dataset.is_placeholder = true;
    expect("u -> cascade", &dataset, 0, "placeholder");
    dataset = cube("/u");
    dataset.is_parallel = true;
    expect("u -> cascade", &dataset, 1, "MPI-IO");
    expect("u -> cascade collective", &dataset, 1, NULL);
    dataset = array("/u", 2, (uint64_t[]){100000, 100000});
    expect("u -> cascade chunks=100000x100000", &dataset, 1, "4 GiB");
}

static void
test_coordinates_must_be_spelled_out(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        uint32_t rank;
        bool is_coordinate;
    } rows[] = {
        {"/time", 1, true},
        {"/time", 2, false},
        {"/a/b/Time", 1, true},
        {"/x", 1, true},
        {"/x", 3, false},
        {"/lat", 1, true},
        {"/LAT", 2, true},
        {"/nav_lon", 2, true},
        {"/XLAT", 3, true},
        {"/time_bnds", 2, true},
        {"/lat_bounds", 3, true},
        {"/_bnds", 2, false},
        {"/latent_heat", 1, false},
        {"/timer", 1, false},
        {"/temperature", 1, false},
        {"/lat/u", 1, false},
        {"/u", 1, false},
        {"/_nc4_non_coord_time", 1, false},
        {"/_nc4_non_coord_lat", 2, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct h5twin_policy_dataset dataset =
            array(rows[i].path, rows[i].rank, (uint64_t[]){100000, 4, 4});
        const bool left = rows[i].is_coordinate;
        expect("** -> lattice:abs=1", &dataset, 1, left ? "coordinate" : NULL);
        expect("* -> cascade", &dataset, 1, left ? "coordinate" : NULL);
    }
    const struct h5twin_policy_dataset time = array("/g/time", 1, (uint64_t[]){100000});
    expect("time -> cascade", &time, 1, NULL);
    expect("**/time -> cascade", &time, 1, NULL);
    expect("tim? -> cascade", &time, 1, "coordinate");
}

static void
test_netcdfs_prefix_is_no_part_of_a_name(void **state)
{
    (void)state;
    const struct h5twin_policy_dataset dataset =
        array("/g/_nc4_non_coord_time", 2, (uint64_t[]){1000, 1000});
    expect("time -> cascade", &dataset, 1, NULL);
    expect("/g/time -> cascade", &dataset, 1, NULL);
    expect("_nc4_non_coord_* -> cascade", &dataset, 1, NULL);
    expect("/time -> cascade", &dataset, 0, "name");
}

/* ---- chunks ---- */

static void
expect_chunk(const char *action, const struct h5twin_policy_dataset *dataset, bool is_new,
             const uint64_t *chunk)
{
    char text[256];
    snprintf(text, sizeof text, "** >=0 -> cascade %s", action);
    const struct h5twin_policy_outcome outcome = choose(text, dataset);
    if (!outcome.is_coded) {
        fail_msg("%s: %s", dataset->path, outcome.why);
    }
    assert_int_equal(outcome.rank, dataset->rank);
    assert_int_equal(outcome.is_new_chunk, is_new);
    for (uint32_t axis = 0; axis < dataset->rank; axis++) {
        if (outcome.chunk[axis] != chunk[axis]) {
            fail_msg("%s %s: axis %u has %llu", dataset->path, action, axis,
                     (unsigned long long)outcome.chunk[axis]);
        }
    }
}

static void
test_chunks_are_kept_chosen_or_given(void **state)
{
    (void)state;
    struct h5twin_policy_dataset dataset = cube("/u");
    uint64_t advised[3];
    h5twin_chunk_shape(3, dataset.dims, 4, advised);
    expect_chunk("", &dataset, true, advised);
    expect_chunk("chunks=keep", &dataset, true, advised);
    expect_chunk("chunks=auto", &dataset, true, advised);
    expect_chunk("chunks=16x32x200", &dataset, true, (uint64_t[]){16, 32, 128});
    dataset.has_chunk = true;
    memcpy(dataset.chunk, (uint64_t[]){8, 16, 128}, 3 * sizeof(uint64_t));
    expect_chunk("", &dataset, false, dataset.chunk);
    expect_chunk("chunks=keep", &dataset, false, dataset.chunk);
    expect_chunk("chunks=auto", &dataset, true, advised);
    expect_chunk("chunks=16x32x64", &dataset, true, (uint64_t[]){16, 32, 64});
}

/* What is appended one step at a time: whole chunks, or many steps in one. */
static void
test_chunks_of_what_grows(void **state)
{
    (void)state;
    static const struct {
        uint32_t rank;
        uint64_t dims[4], most[4], chunk[4];
    } rows[] = {
        /* a step is 253 KiB: a chunk of its own */
        {3, {0, 180, 360}, {UNLIMITED, 180, 360}, {1, 180, 360}},
        {3, {1, 180, 360}, {UNLIMITED, 180, 360}, {1, 180, 360}},
        /* 4 bytes, 400 bytes, 40 kB a step: about 64 KiB together */
        {1, {0}, {UNLIMITED}, {16384}},
        {2, {0, 100}, {UNLIMITED, 100}, {164, 100}},
        {2, {0, 10000}, {UNLIMITED, 10000}, {2, 10000}},
        {1, {3}, {UNLIMITED}, {16386}},
        /* no further than it can grow */
        {1, {0}, {1000}, {1000}},
        {2, {0, 1000}, {7, 1000}, {7, 1000}},
        {3, {0, 0, 10}, {3, UNLIMITED, 10}, {3, 547, 10}},
        /* both axes by as much */
        {2, {0, 0}, {UNLIMITED, UNLIMITED}, {128, 128}},
        /* what is large from the start is cut as if it did not grow */
        {1, {1u << 20}, {UNLIMITED}, {1u << 18}},
        /* the step itself is too large */
        {3, {0, 1024, 1024}, {UNLIMITED, 1024, 1024}, {1, 512, 512}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct h5twin_policy_dataset dataset = array("/u", rows[i].rank, rows[i].dims);
        memcpy(dataset.most_dims, rows[i].most, sizeof rows[i].most);
        expect_chunk("chunks=auto", &dataset, true, rows[i].chunk);
    }
}

/* Of any dataset: within what it can become, at most 1 MiB, and not tiny where it could be more. */
static void
test_chosen_chunks_fit(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (unsigned round = 0; round < 20000; round++) {
        struct h5twin_policy_dataset dataset = {
            .path = "/u", .type = H5TWIN_POLICY_FLOAT64, .element_size = 8};
        seed = seed * 1664525u + 1013904223u;
        dataset.rank = 1 + (seed >> 24) % 6;
        double could_be = 8;
        for (uint32_t axis = 0; axis < dataset.rank; axis++) {
            seed = seed * 1664525u + 1013904223u;
            const uint64_t most_dims[] = {1, 3, 50, 1000, 100000};
            dataset.dims[axis] = (seed >> 8) % (most_dims[(seed >> 4) % 5] + 1);
            const unsigned kind = seed >> 28;
            dataset.most_dims[axis] = kind < 4   ? UNLIMITED
                                      : kind < 6 ? dataset.dims[axis] + 1 + kind
                                                 : (dataset.dims[axis] + (dataset.dims[axis] == 0));
            could_be *= (double)dataset.most_dims[axis];
        }
        uint64_t chunk[H5TWIN_HDF5_MAX_RANK];
        double size = 8;
        h5twin_policy_shape_choose(&dataset, chunk);
        for (uint32_t axis = 0; axis < dataset.rank; axis++) {
            assert_in_range(chunk[axis], 1, dataset.most_dims[axis]);
            size *= (double)chunk[axis];
        }
        assert_true(size <= (double)MIB);
        assert_true(size >= (could_be < 65536 ? could_be : 65536));
    }
}

/* ---- for people ---- */

static void
test_outcomes_describe_the_array(void **state)
{
    (void)state;
    struct h5twin_policy_dataset dataset = cube("/u");
    assert_string_equal(choose("", &dataset).array, "float32 64x128x128");
    dataset.dims[0] = 0;
    dataset.most_dims[0] = UNLIMITED;
    dataset.most_dims[1] = 200;
    assert_string_equal(choose("", &dataset).array, "float32 0..unlimitedx128..200x128");
    dataset = array("/u", 0, (uint64_t[]){0});
    assert_string_equal(choose("", &dataset).array, "float32");
    char path[3000];
    memset(path, 'a', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    memcpy(path + sizeof path - 5, "/end", 4);
    dataset = cube(path);
    const struct h5twin_policy_outcome outcome = choose("end -> cascade", &dataset);
    assert_true(outcome.is_coded);
    assert_memory_equal(outcome.path, "...a", 4);
    assert_string_equal(outcome.path + strlen(outcome.path) - 4, "/end");
    dataset.rank = 32;
    for (uint32_t axis = 0; axis < 32; axis++) {
        dataset.dims[axis] = dataset.most_dims[axis] = UINT64_C(10000000000000000000);
    }
    assert_true(strlen(choose("", &dataset).array) > 200);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_rule_that_fits_decides),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_small_datasets_are_left_alone),
        cmocka_unit_test(test_what_no_rule_touches),
        cmocka_unit_test(test_coordinates_must_be_spelled_out),
        cmocka_unit_test(test_netcdfs_prefix_is_no_part_of_a_name),
        cmocka_unit_test(test_chunks_are_kept_chosen_or_given),
        cmocka_unit_test(test_chunks_of_what_grows),
        cmocka_unit_test(test_chosen_chunks_fit),
        cmocka_unit_test(test_outcomes_describe_the_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
