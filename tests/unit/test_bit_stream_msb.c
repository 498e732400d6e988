/* SPDX-License-Identifier: BSD-3-Clause
 * test_bit_stream_msb.c: strings of bits, most significant first, and exponential Golomb codes. */
#include "e2mc/bit_stream_msb.h"
#include "page_guard.h"

#include <stdlib.h>
#include <string.h>

static uint64_t
next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void
first_bit_of_the_string_is_bit_7_of_the_first_byte(void **unused)
{
    (void)unused;
    uint8_t bytes[16];
    struct h5twin_bit_writer_msb writer = {.at = bytes};
    h5twin_bit_put_msb(&writer, 1, 1);
    h5twin_bit_put_msb(&writer, 0, 0);
    h5twin_bit_put_msb(&writer, 2, 5);
    h5twin_bit_put_msb(&writer, 0x155, 9);
    uint8_t *const end = h5twin_bit_finish_msb(&writer);
    assert_int_equal(end - bytes, 2);
    assert_int_equal(bytes[0], 0x8A);
    assert_int_equal(bytes[1], 0xAA);
}

static void
fields_of_every_width_come_back(void **unused)
{
    (void)unused;
    uint64_t state = 42;
    for (unsigned shift = 0; shift < 8; shift++) {
        uint64_t fields[600];
        unsigned widths[600];
        uint8_t bytes[600 * 7 + 16];
        struct h5twin_bit_writer_msb writer = {.at = bytes};
        uint64_t total_bits = shift;
        h5twin_bit_put_msb(&writer, 0, shift);
        for (unsigned i = 0; i < 600; i++) {
            widths[i] = i % (H5TWIN_BITS_AT_ONCE + 1);
            fields[i] = widths[i] == 0 ? 0 : next_random(&state) >> (64 - widths[i]);
            h5twin_bit_put_msb(&writer, fields[i], widths[i]);
            total_bits += widths[i];
        }
        const size_t size = (size_t)(h5twin_bit_finish_msb(&writer) - bytes);
        assert_int_equal(size, (total_bits + 7) / 8);
        uint8_t *const exact = test_page_copy(bytes, size);
        struct h5twin_bit_reader_msb reader = {.src = exact, .src_size = size, .position = shift};
        for (unsigned i = 0; i < 600; i++) {
            assert_true(h5twin_bit_get_msb(&reader, widths[i]) == fields[i]);
        }
        assert_true(reader.position == total_bits);
        test_page_free(exact, size);
    }
}

static void
reader_gives_zeros_beyond_the_end_and_says_so(void **unused)
{
    (void)unused;
    const uint8_t bytes[3] = {0xFF, 0xFF, 0xFF};
    for (unsigned size = 0; size <= 3; size++) {
        struct h5twin_bit_reader_msb reader = {.src = bytes, .src_size = size};
        assert_true(h5twin_bit_get_msb(&reader, 24) ==
                    (UINT64_C(0xFFFFFF) & ~(UINT64_C(0xFFFFFF) >> (8 * size))));
        assert_true(h5twin_bit_reader_is_inside_msb(&reader) == (size == 3));
        assert_true(h5twin_bit_get_msb(&reader, 56) == 0);
        assert_false(h5twin_bit_reader_is_inside_msb(&reader));
    }
}

static void
exponential_golomb_codes_have_the_length_told_and_come_back(void **unused)
{
    (void)unused;
    static const uint64_t values[] = {
        0, 1, 2, 3, 7, 8, 255, 1000, 65535, UINT32_C(0x7FFFFFFF), UINT32_MAX};
    for (unsigned order = 0; order < 32; order++) {
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            uint8_t bytes[32] = {0};
            struct h5twin_bit_writer_msb writer = {.at = bytes};
            h5twin_exp_golomb_put(&writer, values[i], order);
            h5twin_bit_finish_msb(&writer);
            struct h5twin_bit_reader_msb reader = {.src = bytes, .src_size = 24};
            uint64_t value;
            if (h5twin_bit_length64(values[i] + (UINT64_C(1) << order)) > 33) {
                continue; /* beyond what the decoder takes */
            }
            assert_true(h5twin_exp_golomb_get(&reader, order, &value));
            assert_true(value == values[i]);
            assert_true(reader.position == h5twin_exp_golomb_bits(values[i], order));
        }
    }
}

static void
too_many_leading_zeros_are_refused(void **unused)
{
    (void)unused;
    uint8_t bytes[16] = {0};
    bytes[4] = 0x40; /* 33 zeros, then a one */
    uint64_t value;
    struct h5twin_bit_reader_msb reader = {.src = bytes, .src_size = sizeof bytes};
    assert_false(h5twin_exp_golomb_get(&reader, 0, &value));
    reader.position = 1;
    assert_false(h5twin_exp_golomb_get(&reader, 1, &value));
    assert_true(h5twin_exp_golomb_get(&reader, 0, &value));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_bit_of_the_string_is_bit_7_of_the_first_byte),
        cmocka_unit_test(fields_of_every_width_come_back),
        cmocka_unit_test(reader_gives_zeros_beyond_the_end_and_says_so),
        cmocka_unit_test(exponential_golomb_codes_have_the_length_told_and_come_back),
        cmocka_unit_test(too_many_leading_zeros_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
