/* SPDX-License-Identifier: BSD-3-Clause
 * test_bits.c: codec/common/bits.h and values.h against the definitions. */
#include "common/bits.h"
#include "common/values.h"

#include "page_guard.h"

#include <math.h>

static void
test_bit_length_is_the_position_of_the_highest_bit(void **state)
{
    (void)state;
    assert_int_equal(h5twin_bit_length32(0), 0);
    assert_int_equal(h5twin_bit_length64(0), 0);
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t power = UINT64_C(1) << bit;
        assert_int_equal(h5twin_bit_length64(power), bit + 1);
        assert_int_equal(h5twin_bit_length64(power | (power - 1)), bit + 1);
        assert_int_equal(h5twin_trailing_zeros64(power | (power << 1)), bit);
        assert_int_equal(h5twin_leading_zeros64(power | (power - 1)), 63 - bit);
        if (bit < 32) {
            assert_int_equal(h5twin_bit_length32((uint32_t)power), bit + 1);
            assert_int_equal(h5twin_bit_length32((uint32_t)(power | (power - 1))), bit + 1);
        }
    }
}

static void
test_popcount_counts_bits(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned i = 0; i < 1000; i++) {
        const uint64_t word = test_random(&seed) & test_random(&seed);
        unsigned low = 0, high = 0;
        for (unsigned bit = 0; bit < 32; bit++) {
            low += (unsigned)(word >> bit & 1u);
            high += (unsigned)(word >> (bit + 32) & 1u);
        }
        assert_int_equal(h5twin_popcount32((uint32_t)word), low);
        assert_int_equal(h5twin_popcount64(word), low + high);
    }
}

static void
test_rotation_moves_every_bit(void **state)
{
    (void)state;
    for (unsigned count = 0; count < 64; count++) {
        for (unsigned bit = 0; bit < 64; bit++) {
            assert_int_equal(h5twin_rotate_left64(UINT64_C(1) << bit, count),
                             UINT64_C(1) << ((bit + count) % 64));
            if (bit < 32 && count < 32) {
                assert_int_equal(h5twin_rotate_left32(1u << bit, count),
                                 1u << ((bit + count) % 32));
            }
        }
    }
}

static void
test_zigzag_orders_numbers_by_magnitude(void **state)
{
    (void)state;
    static const int32_t order[] = {0, -1, 1, -2, 2, -3, 3};
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(h5twin_zigzag32((uint32_t)order[i]), i);
        assert_int_equal(h5twin_zigzag64((uint64_t)(int64_t)order[i]), i);
    }
    assert_int_equal(h5twin_zigzag32(0x80000000u), UINT32_MAX);
    assert_true(h5twin_zigzag64(UINT64_C(1) << 63) == UINT64_MAX);
    uint64_t seed = 2;
    for (unsigned i = 0; i < 10000; i++) {
        const uint64_t word = test_random(&seed);
        assert_true(h5twin_unzigzag64(h5twin_zigzag64(word)) == word);
        assert_int_equal(h5twin_unzigzag32(h5twin_zigzag32((uint32_t)word)), (uint32_t)word);
    }
}

static void
test_float_bits_are_ieee(void **state)
{
    (void)state;
    assert_int_equal(h5twin_bits_of_float(-1.5f), 0xBFC00000u);
    assert_true(h5twin_bits_of_double(2.0) == UINT64_C(0x4000000000000000));
    assert_true(h5twin_float_of_bits(0x3F800000u) == 1.0f);
    assert_true(h5twin_double_of_bits(UINT64_C(0x3FF0000000000000)) == 1.0);
}

static void
check_float_bits(uint32_t word)
{
    const float value = h5twin_float_of_bits(word);
    if (isnan(value)) { /* the processor makes signalling ones quiet */
        assert_true(isnan(h5twin_double_of_bits(h5twin_widen_float_bits(word))));
        assert_true(
            isnan(h5twin_float_of_bits(h5twin_narrow_double_bits(h5twin_widen_float_bits(word)))));
        return;
    }
    assert_true(h5twin_widen_float_bits(word) == h5twin_bits_of_double((double)value));
    assert_true(h5twin_narrow_double_bits(h5twin_widen_float_bits(word)) == word);
}

static void
check_double_bits(uint64_t word)
{
    const double value = h5twin_double_of_bits(word);
    if (!isnan(value)) {
        assert_int_equal(h5twin_narrow_double_bits(word), h5twin_bits_of_float((float)value));
    }
}

/* As the processor converts, which rounds to nearest here. */
static void
test_conversions_in_integers_are_those_of_the_processor(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (uint32_t top = 0; top < 0x10000; top++) {
        check_float_bits(top << 16);
        check_float_bits(top << 16 | 1);
        check_float_bits(top << 16 | 0xFFFF);
    }
    for (uint32_t i = 0; i < 2000000; i++) {
        const uint64_t random = test_random(&seed);
        const uint64_t field = 1023 - 160 + random % 300; /* all of a float's, and some beyond */
        const uint64_t kept = test_random(&seed) >> 12;
        /* ties and their neighbours among them: short mantissas */
        const uint64_t mantissa =
            i % 2 == 0 ? kept : kept & ~UINT64_C(0) << (23 + random / 300 % 29);
        check_double_bits((random & UINT64_C(1) << 63) | field << 52 | mantissa);
        check_double_bits((field << 52 | mantissa) + 1);
        check_double_bits((field << 52 | mantissa) - 1);
    }
    check_double_bits(0);
    check_double_bits(1);
    check_double_bits(UINT64_C(0x7FF0000000000000));
    check_double_bits(UINT64_C(0xFFEFFFFFFFFFFFFF));
    check_float_bits(h5twin_narrow_double_bits(UINT64_C(0x7FF0000000000001)));
}

static void
test_values_are_little_endian_at_any_address(void **state)
{
    (void)state;
    const uint8_t floats[] = {0xFF, 0, 0, 0, 0, 0, 0, 0xC0, 0xBF}; /* 0, -1.5 */
    const uint8_t doubles[] = {0xFF, 0, 0, 0, 0, 0, 0, 0, 0x40};   /* 2 */
    assert_true(h5twin_value_at(floats + 1, 0, 4) == 0);
    assert_true(h5twin_value_at(floats + 1, 1, 4) == -1.5);
    assert_true(h5twin_value_at(doubles + 1, 0, 8) == 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bit_length_is_the_position_of_the_highest_bit),
        cmocka_unit_test(test_popcount_counts_bits),
        cmocka_unit_test(test_rotation_moves_every_bit),
        cmocka_unit_test(test_zigzag_orders_numbers_by_magnitude),
        cmocka_unit_test(test_float_bits_are_ieee),
        cmocka_unit_test(test_conversions_in_integers_are_those_of_the_processor),
        cmocka_unit_test(test_values_are_little_endian_at_any_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
