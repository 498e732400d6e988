/* SPDX-License-Identifier: BSD-3-Clause
 * test_ndzip_extents.c: which extents the filter gives the ndzip codec. */
#include "ndzip_extents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define REFERENCE 1u
#define EXTENDED  2u

static struct h5twin_params
fold(uint64_t layout, uint32_t element_size, uint32_t rank, const uint64_t *dims)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_NDZIP);
    params.options = layout;
    h5twin_params_set_array(&params, element_size <= 8 ? H5TWIN_FLOAT : H5TWIN_OTHER, element_size,
                            rank, dims);
    h5twin_ndzip_fold(&params);
    return params;
}

static void
assert_extents(uint64_t layout, uint32_t rank, const uint64_t *dims, uint32_t expected_rank,
               const uint64_t *expected)
{
    const struct h5twin_params params = fold(layout, 4, rank, dims);
    assert_int_equal(params.rank, expected_rank);
    for (uint32_t axis = 0; axis < expected_rank; axis++) {
        assert_true(params.dims[axis] == expected[axis]);
    }
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
test_elements_of_several_words_become_an_axis(void **state)
{
    (void)state;
    const struct h5twin_params params = fold(EXTENDED, 24, 1, DIMS(100));
    assert_int_equal(params.element_size, 8);
    assert_int_equal(params.rank, 2);
    assert_true(params.dims[0] == 100 && params.dims[1] == 3);
    const struct h5twin_params full = fold(EXTENDED, 12, 8, DIMS(2, 2, 2, 2, 2, 2, 2, 2));
    assert_int_equal(full.element_size, 4);
    assert_int_equal(full.rank, 3);
    assert_true(full.dims[0] * full.dims[1] * full.dims[2] == 256 * 3);
}

static void
test_elements_smaller_than_a_word_are_left_alone(void **state)
{
    (void)state;
    struct h5twin_params params, before;
    h5twin_params_init(&params, H5TWIN_NDZIP);
    h5twin_params_set_array(&params, H5TWIN_INTEGER, 2, 4, DIMS(3, 4, 5, 6));
    before = params;
    h5twin_ndzip_fold(&params);
    assert_memory_equal(&params, &before, sizeof params);
}

static void
test_unknown_shape_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(fold(0, 4, 0, NULL).rank, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_up_to_three_axes_that_fill_blocks_stay),
        cmocka_unit_test(test_slowest_axes_of_higher_ranks_are_merged),
        cmocka_unit_test(test_reference_merges_where_blocks_would_leave_much_border),
        cmocka_unit_test(test_extended_has_no_border_to_avoid),
        cmocka_unit_test(test_elements_of_several_words_become_an_axis),
        cmocka_unit_test(test_elements_smaller_than_a_word_are_left_alone),
        cmocka_unit_test(test_unknown_shape_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
