/* SPDX-License-Identifier: BSD-3-Clause
 * test_fill_value.c: HDF5's padding does not count for a range-relative bound. */
#include "fill_value.h"

#include "common/bytes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define COUNT 6

static struct h5twin_params
exclude(const double *values, double fill, double share, bool wide, bool big_endian)
{
    struct h5twin_params params;
    uint8_t src[COUNT * 8];
    uint64_t fill_bits;
    const size_t size = wide ? 8 : 4;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    h5twin_params_set_array(&params, H5TWIN_FLOAT, (uint32_t)size, 1, (uint64_t[]){COUNT});
    params.mode = H5TWIN_NOA;
    params.error_bound = share;
    params.big_endian = big_endian;
    for (size_t i = 0; i <= COUNT; i++) {
        const double value64 = i == COUNT ? fill : values[i];
        const float value32 = (float)value64;
        uint64_t bits64 = 0;
        uint32_t bits32;
        memcpy(&bits32, &value32, 4);
        memcpy(&bits64, &value64, 8);
        fill_bits = wide ? bits64 : bits32;
        if (i < COUNT && wide) {
            h5twin_store64(src + 8 * i, big_endian ? h5twin_bswap64(bits64) : bits64);
        } else if (i < COUNT) {
            h5twin_store32(src + 4 * i, big_endian ? h5twin_bswap32(bits32) : bits32);
        }
    }
    h5twin_fill_exclude(&params, fill_bits, src, COUNT * size);
    return params;
}

/* mode and bound in all precisions and byte orders */
static void
assert_bound(const double *values, double fill, enum h5twin_mode mode, double largest)
{
    for (unsigned variant = 0; variant < 4; variant++) {
        const struct h5twin_params params =
            exclude(values, fill, 0.25, variant % 2 != 0, variant / 2 != 0);
        assert_int_equal(params.mode, mode);
        if (mode == H5TWIN_ABS) {
            assert_true(params.error_bound <= largest && params.error_bound > 0.99 * largest);
        }
    }
}

static void
test_fill_value_that_widens_the_range_is_left_out(void **state)
{
    (void)state;
    assert_bound((double[]){100, 101, 102, 104, 0, 0}, 0, H5TWIN_ABS, 1.0);
    assert_bound((double[]){-1, -5, -2, 0x1p100, -3, -2}, 0x1p100, H5TWIN_ABS, 1.0);
    assert_bound((double[]){100, NAN, INFINITY, 104, 0, -INFINITY}, 0, H5TWIN_ABS, 1.0);
}

static void
test_nothing_changes_without_the_fill_value(void **state)
{
    (void)state;
    assert_bound((double[]){100, 101, 102, 104, 1, 2}, 0, H5TWIN_NOA, 0);
    assert_bound((double[]){-1, 1, 0, 0, 0, 0}, 0, H5TWIN_NOA, 0);
    assert_bound((double[]){100, 104, NAN, 3, 2, 1}, NAN, H5TWIN_NOA, 0);
    assert_bound((double[]){100, 104, INFINITY, 3, 2, 1}, INFINITY, H5TWIN_NOA, 0);
}

/* A quarter of a range of 1280 is 320, so values would become multiples of 512. Those of the second
 * line are multiples of 256: they were quantized before, when their range was below 1024. */
static void
test_values_already_quantized_keep_their_grid(void **state)
{
    (void)state;
    assert_bound((double[]){1000, 2280, 1256, 1000, 0, 0}, 0, H5TWIN_ABS, 320);
    assert_bound((double[]){1024, 2304, 1280, 1024, 0, 0}, 0, H5TWIN_ABS, 160);
    assert_bound((double[]){1024, 2560, 1536, 1024, 0, 0}, 0, H5TWIN_ABS, 384);
    assert_bound((double[]){1024, 2304, NAN, INFINITY, 7, 7}, 7, H5TWIN_ABS, 160);
}

static void
test_no_range_is_stored_exactly(void **state)
{
    (void)state;
    assert_bound((double[]){7, 7, 7, 7, 7, 7}, 7, H5TWIN_LOSSLESS, 0);
    assert_bound((double[]){7, 3, 3, 7, 3, 3}, 7, H5TWIN_LOSSLESS, 0);
    assert_bound((double[]){NAN, INFINITY, 7, 7, 7, 7}, 7, H5TWIN_LOSSLESS, 0);
}

static void
test_extreme_ranges_do_not_overflow(void **state)
{
    (void)state;
    const double values[COUNT] = {-1.7e308, 1.7e308, 1.79e308, 1.79e308, 0, 1};
    const struct h5twin_params params = exclude(values, 1.79e308, 1.0, true, false);
    assert_int_equal(params.mode, H5TWIN_ABS);
    assert_true(isfinite(params.error_bound) && params.error_bound > 1.7e308);
    const double tiny[COUNT] = {1, 1, 1, 5e-324, 0, 0};
    assert_int_equal(exclude(tiny, 1.0, 0.5, true, false).mode, H5TWIN_LOSSLESS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill_value_that_widens_the_range_is_left_out),
        cmocka_unit_test(test_nothing_changes_without_the_fill_value),
        cmocka_unit_test(test_values_already_quantized_keep_their_grid),
        cmocka_unit_test(test_no_range_is_stored_exactly),
        cmocka_unit_test(test_extreme_ranges_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
