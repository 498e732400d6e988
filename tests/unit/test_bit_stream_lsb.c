/* SPDX-License-Identifier: BSD-3-Clause
 * test_bit_stream_lsb.c: fields of every width, at every offset. */
#include "common/bit_stream_lsb.h"
#include "page_guard.h"

static uint64_t
next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t
low_bits(uint64_t word, unsigned width_bits)
{
    return width_bits == 0 ? 0 : word & (UINT64_MAX >> (64 - width_bits));
}

static void
test_bits_lie_lowest_first(void **state)
{
    (void)state;
    uint8_t dst[4] = {0xEE, 0xEE, 0xEE, 0xEE};
    struct h5twin_lsb_writer writer = h5twin_lsb_writer_open(dst);
    h5twin_lsb_put(&writer, 5, 3);
    h5twin_lsb_put(&writer, 0, 0);
    h5twin_lsb_put(&writer, 0x1FF, 9);
    h5twin_lsb_put(&writer, 1, 1);
    assert_ptr_equal(h5twin_lsb_writer_close(&writer), dst + 2);
    assert_int_equal(dst[0], 0xFD);
    assert_int_equal(dst[1], 0x1F);
    assert_int_equal(dst[2], 0xEE);
}

/* Bytes of the string of a round of the test below. */
static size_t
string_size(unsigned round, uint64_t seed)
{
    size_t bits = 0;
    for (unsigned i = 0; i < 200; i++) {
        bits += round < 65 ? round : (unsigned)(next_random(&seed) % 65);
        next_random(&seed);
    }
    return (bits + 7) / 8;
}

static void
test_fields_of_any_width_come_back(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        const uint64_t seed = round * 77 + 1;
        const size_t all_size = string_size(round, seed);
        uint8_t *const bytes = test_page_alloc(all_size);
        size_t bits = 0;
        uint64_t random = seed;
        struct h5twin_lsb_writer writer = h5twin_lsb_writer_open(bytes);
        for (unsigned i = 0; i < 200; i++) {
            const unsigned width = round < 65 ? round : (unsigned)(next_random(&random) % 65);
            h5twin_lsb_put(&writer, low_bits(next_random(&random), width), width);
            bits += width;
        }
        const size_t size = (size_t)(h5twin_lsb_writer_close(&writer) - bytes);
        assert_int_equal(size, (bits + 7) / 8);
        assert_int_equal(size, all_size);
        random = seed;
        struct h5twin_lsb_reader reader = h5twin_lsb_reader_open(bytes, size);
        for (unsigned i = 0; i < 200; i++) {
            const unsigned width = round < 65 ? round : (unsigned)(next_random(&random) % 65);
            const uint64_t field = h5twin_lsb_get(&reader, width);
            assert_true(field == low_bits(next_random(&random), width));
        }
        assert_true(h5twin_lsb_get(&reader, 64) == 0);
        test_page_free(bytes, all_size);
    }
}

static void
test_reading_beyond_the_end_gives_zeros(void **state)
{
    (void)state;
    uint8_t *const byte = test_page_copy((const uint8_t[]){0xFF}, 1);
    struct h5twin_lsb_reader reader = h5twin_lsb_reader_open(byte, 1);
    assert_int_equal(h5twin_lsb_get(&reader, 3), 7);
    assert_int_equal(h5twin_lsb_get(&reader, 60), 0x1F);
    assert_int_equal(h5twin_lsb_get(&reader, 64), 0);
    test_page_free(byte, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_lie_lowest_first),
        cmocka_unit_test(test_fields_of_any_width_come_back),
        cmocka_unit_test(test_reading_beyond_the_end_gives_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
