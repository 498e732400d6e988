/* SPDX-License-Identifier: BSD-3-Clause
 * test_ndzip_shape.c: which extents ndzip makes of an array's shape, for whoever asks. */
#include "support.h"

#include "ndzip/ndzip.h"

#include <stdlib.h>
#include <string.h>

#define REFERENCE 1u /* of params.options */
#define EXTENDED  2u

static const struct h5twin_codec *codec;

/* The job for a chunk of such elements. */
static struct h5twin_job
chunk_job(uint64_t layout, uint32_t element_size, uint32_t rank, const uint64_t *dims)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_NDZIP);
    params.options = layout;
    h5twin_params_set_array(&params,
                            element_size < 4    ? H5TWIN_INTEGER
                            : element_size <= 8 ? H5TWIN_FLOAT
                                                : H5TWIN_OTHER,
                            element_size, rank, dims);
    size_t size = element_size;
    for (uint32_t axis = 0; axis < rank; axis++) {
        size *= (size_t)dims[axis];
    }
    struct h5twin_job job;
    assert_int_equal(h5twin_job_from_params(&job, &codec, &params, size), H5TWIN_OK);
    return job;
}

static void
assert_job(const struct h5twin_job *job, uint32_t expected_rank, const uint64_t *expected)
{
    assert_int_equal(job->parameter >> 8, expected_rank);
    for (uint32_t axis = 0; axis < 3; axis++) {
        assert_int_equal(job->extents[axis],
                         axis + expected_rank < 3 ? 1 : expected[axis + expected_rank - 3]);
    }
}

static void
assert_extents(uint64_t layout, uint32_t rank, const uint64_t *dims, uint32_t expected_rank,
               const uint64_t *expected)
{
    const struct h5twin_job job = chunk_job(layout, 4, rank, dims);
    assert_job(&job, expected_rank, expected);
}

#define DIMS(...)                                                                                  \
    (uint64_t[])                                                                                   \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void
test_up_to_three_axes_that_fill_blocks_stay(void **state)
{
    (void)state;
    for (uint64_t layout = 0; layout <= EXTENDED; layout++) {
        assert_extents(layout, 1, DIMS(5000), 1, DIMS(5000));
        assert_extents(layout, 2, DIMS(128, 192), 2, DIMS(128, 192));
        assert_extents(layout, 3, DIMS(32, 64, 48), 3, DIMS(32, 64, 48));
    }
}

static void
test_slowest_axes_of_higher_ranks_are_merged(void **state)
{
    (void)state;
    for (uint64_t layout = 0; layout <= EXTENDED; layout++) {
        assert_extents(layout, 5, DIMS(2, 3, 16, 32, 48), 3, DIMS(96, 32, 48));
    }
}

static void
test_reference_merges_where_blocks_would_leave_much_border(void **state)
{
    (void)state;
    assert_extents(REFERENCE, 3, DIMS(10, 500, 500), 2, DIMS(5000, 500));
    assert_extents(REFERENCE, 3, DIMS(37, 40, 45), 1, DIMS(37 * 40 * 45));
    assert_extents(REFERENCE, 2, DIMS(10, 4096), 1, DIMS(40960));
    assert_extents(REFERENCE, 3, DIMS(100, 100, 100), 3, DIMS(100, 100, 100));
    assert_extents(REFERENCE, 3, DIMS(50, 500, 500), 3, DIMS(50, 500, 500));
}

static void
test_extended_has_no_border_to_avoid(void **state)
{
    (void)state;
    for (uint64_t layout = 0; layout <= EXTENDED; layout += EXTENDED) {
        assert_extents(layout, 3, DIMS(10, 500, 500), 3, DIMS(10, 500, 500));
        assert_extents(layout, 3, DIMS(37, 40, 45), 3, DIMS(37, 40, 45));
    }
}

static void
test_unit_dims_are_dropped(void **state)
{
    (void)state;
    for (uint64_t layout = 0; layout <= EXTENDED; layout++) {
        assert_extents(layout, 2, DIMS(1, 5000), 1, DIMS(5000));
        assert_extents(layout, 2, DIMS(5000, 1), 1, DIMS(5000));
        assert_extents(layout, 3, DIMS(128, 1, 192), 2, DIMS(128, 192));
        assert_extents(layout, 6, DIMS(1, 32, 1, 64, 48, 1), 3, DIMS(32, 64, 48));
        assert_extents(layout, 8, DIMS(1, 1, 1, 1, 1, 1, 1, 1), 1, DIMS(1));
    }
}

/* What was merged once, as the parameters of a dataset may hold it, stays as it is. */
static void
test_the_rule_changes_nothing_the_second_time(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t dims[8], again[3];
        const uint32_t rank = 1 + (uint32_t)(test_random(&random) % 8);
        for (uint32_t axis = 0; axis < rank; axis++) {
            dims[axis] = 1 + test_random(&random) % (rank > 4 ? 7 : rank > 2 ? 80 : 5000);
        }
        const struct h5twin_job job = chunk_job(REFERENCE, 4, rank, dims);
        for (unsigned axis = 0; axis < 3; axis++) {
            again[axis] = job.extents[axis];
        }
        const uint32_t used = job.parameter >> 8;
        assert_extents(REFERENCE, used, again + 3 - used, used, again + 3 - used);
        assert_extents(REFERENCE, 3, again, used, again + 3 - used);
    }
}

static void
test_elements_of_several_words_become_an_axis(void **state)
{
    (void)state;
    const struct h5twin_job job = chunk_job(EXTENDED, 24, 1, DIMS(100));
    assert_int_equal(job.word_size, 8);
    assert_job(&job, 2, DIMS(100, 3));
    const struct h5twin_job full = chunk_job(EXTENDED, 12, 8, DIMS(2, 2, 2, 2, 2, 2, 2, 2));
    assert_int_equal(full.word_size, 4);
    assert_job(&full, 3, DIMS(64, 2, 6));
}

static void
test_elements_smaller_than_a_word_are_one_row(void **state)
{
    (void)state;
    const struct h5twin_job job = chunk_job(EXTENDED, 2, 4, DIMS(3, 4, 5, 6));
    assert_job(&job, 1, DIMS(3 * 4 * 5 * 6 / 2));
}

/* A bare payload does not hold its extents: what decodes it has the array's shape alone, and the
 * authors' program takes that as it is. */
static void
test_bare_payloads_keep_their_dims(void **state)
{
    (void)state;
    struct h5twin_params params;
    assert_int_equal(test_params(&params, "ndzip:layout=reference", "f32", "37x40x45"), H5TWIN_OK);
    const size_t size = (size_t)37 * 40 * 45 * 4, capacity = h5twin_bound(&params, size);
    uint8_t *const src = test_alloc(size), *const dst = test_alloc(capacity);
    uint8_t *const back = test_alloc(size);
    test_fill(src, size, 4, TEST_SMOOTH, 1);
    size_t bare_size, chunk_size, back_size;
    assert_int_equal(h5twin_encode_payload(&params, NULL, dst, capacity, src, size, &bare_size),
                     H5TWIN_OK);
    assert_int_equal(h5twin_decode_payload(&params, NULL, back, size, dst, bare_size), H5TWIN_OK);
    assert_memory_equal(back, src, size);
    uint32_t extents[3] = {37, 40, 45};
    const struct h5twin_ndzip_grid grid =
        h5twin_ndzip_make_grid(H5TWIN_NDZIP_REFERENCE, 3, 4, extents);
    struct h5twin_job job = {.raw_size = size, .word_size = 4, .parameter = 0x300, .is_bare = true};
    memcpy(job.extents, extents, sizeof extents);
    uint64_t raw_size;
    assert_int_equal(codec->raw_size(&job, dst, bare_size, &raw_size), H5TWIN_OK);
    assert_true(bare_size <= h5twin_ndzip_stream_bound(&grid));
    assert_int_equal(codec->decode(&job, back, dst, bare_size), H5TWIN_OK);
    assert_memory_equal(back, src, size);

    assert_int_equal(h5twin_encode(&params, NULL, dst, capacity, src, size, &chunk_size),
                     H5TWIN_OK);
    struct h5twin_info info;
    assert_int_equal(h5twin_inspect(dst, chunk_size, &info), H5TWIN_OK);
    assert_false(info.stored_raw);
    assert_int_equal(info.extents[2], 37 * 40 * 45); /* one row leaves no border */
    assert_int_equal(h5twin_decode(NULL, back, size, dst, chunk_size, &back_size), H5TWIN_OK);
    assert_memory_equal(back, src, size);
    free(src);
    free(dst);
    free(back);
}

static void
test_unknown_shape_is_one_row(void **state)
{
    (void)state;
    struct h5twin_params params;
    struct h5twin_job job;
    h5twin_params_init(&params, H5TWIN_NDZIP);
    assert_int_equal(h5twin_job_from_params(&job, &codec, &params, 403), H5TWIN_OK);
    assert_job(&job, 1, DIMS(100));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_up_to_three_axes_that_fill_blocks_stay),
        cmocka_unit_test(test_slowest_axes_of_higher_ranks_are_merged),
        cmocka_unit_test(test_reference_merges_where_blocks_would_leave_much_border),
        cmocka_unit_test(test_extended_has_no_border_to_avoid),
        cmocka_unit_test(test_unit_dims_are_dropped),
        cmocka_unit_test(test_the_rule_changes_nothing_the_second_time),
        cmocka_unit_test(test_elements_of_several_words_become_an_axis),
        cmocka_unit_test(test_elements_smaller_than_a_word_are_one_row),
        cmocka_unit_test(test_bare_payloads_keep_their_dims),
        cmocka_unit_test(test_unknown_shape_is_one_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
