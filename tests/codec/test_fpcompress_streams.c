/* SPDX-License-Identifier: BSD-3-Clause
 * test_fpcompress_streams.c: small streams that were worked out by hand, byte for byte; the rules
 * of sizes and options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fpcompress_cases.h"

#include <stdlib.h>

#define MAX_STREAM 256u

static void
check_stream(const char *coder_name, const void *src, size_t src_size, const uint8_t *expected,
             size_t expected_size)
{
    const struct fpcompress_coder *coder = fpcompress_coders;
    while (strcmp(coder->name, coder_name) != 0) {
        coder++;
    }
    const struct h5twin_params params = fpcompress_params(coder);
    const size_t capacity = h5twin_bound(&params, src_size);
    uint8_t *const stream = malloc(capacity);
    uint8_t *const back = malloc(src_size + 1);
    size_t size = 0;
    uint64_t raw_size = 0;
    assert_int_equal(h5twin_encode_payload(&params, NULL, stream, capacity, src, src_size, &size),
                     H5TWIN_OK);
    assert_int_equal(size, expected_size);
    assert_memory_equal(stream, expected, size);
    assert_int_equal(h5twin_payload_raw_size(&params, stream, size, &raw_size), H5TWIN_OK);
    assert_int_equal(raw_size, src_size);
    assert_int_equal(h5twin_decode_payload(&params, NULL, back, src_size, stream, size), H5TWIN_OK);
    assert_memory_equal(back, src, src_size);
    free(stream);
    free(back);
}

/* Fill size bytes with 1.0, word after word. */
static void
fill_ones(uint8_t *dst, size_t size, size_t word_size)
{
    for (size_t i = 0; i < size; i += word_size) {
        memset(dst + i, 0, word_size);
        memcpy(dst + i + word_size - 2, word_size == 4 ? "\x80\x3F" : "\xF0\x3F", 2);
    }
}

static void
test_spspeed_of_sixteen_ones(void **state)
{
    (void)state;
    uint8_t src[64];
    fill_ones(src, sizeof src, 4);
    uint8_t expected[40] = {0x40, 0, 0, 0, 34, 0, 0, 0, 0, 0, 0x40, 0, 0xC0, 0x07};
    expected[39] = 0x7F; /* 31 bits of 0x7F000000 at the end */
    check_stream("SPspeed", src, sizeof src, expected, sizeof expected);
}

static void
test_spratio_of_thirty_two_ones(void **state)
{
    (void)state;
    uint8_t src[128];
    fill_ones(src, sizeof src, 4);
    const uint8_t expected[] = {0x80, 0,    0,    0,    20,   0,    0x80, 0x80, 0x80,
                                0x80, 0x80, 0x80, 0x80, 0x80, 0x88, 0,    0x13, 0,
                                3,    0,    3,    0,    0,    0,    0x80, 0};
    check_stream("SPratio", src, sizeof src, expected, sizeof expected);
}

static void
test_spratio_of_zeros_is_sizes_alone(void **state)
{
    (void)state;
    static const uint8_t src[20000];
    const uint8_t expected[] = {0x20, 0x4E, 0, 0, 2, 0, 2, 0, 0, 0x40, 0x20, 0x0E};
    check_stream("SPratio", src, sizeof src, expected, sizeof expected);
}

static void
test_dpspeed_of_eight_ones(void **state)
{
    (void)state;
    uint8_t src[64];
    fill_ones(src, sizeof src, 8);
    uint8_t expected[52] = {0x40, 0, 0, 0, 0,    0, 0, 0, 42,   0,
                            0,    0, 0, 0, 0x40, 0, 0, 0, 0xE0, 0x07};
    expected[50] = 0xE0;
    expected[51] = 0x7F;
    check_stream("DPspeed", src, sizeof src, expected, sizeof expected);
}

static void
test_dpratio_of_two_values(void **state)
{
    (void)state;
    const uint8_t src[16] = {0,    0,    0,    0,    0,    0,    0,    0,
                             0x15, 0xA8, 0x65, 0xD9, 0x54, 0xD4, 0x20, 0x40};
    const uint8_t expected[] = {0x20, 0,    0,    0,    0, 0, 0, 0, 0x1F, 0, 0x2A, 0x50, 0xCB, 0xB2,
                                0xA9, 0xA8, 0x41, 0x80, 6, 0, 3, 0, 3,    0, 0,    0,    1,    5,
                                0,    3,    0,    3,    0, 0, 0, 0, 0x20, 0, 2,    0x1B, 0};
    check_stream("DPratio", src, sizeof src, expected, sizeof expected);
}

static void
test_an_empty_array_is_a_header_alone(void **state)
{
    (void)state;
    const uint8_t zeros[8] = {0};
    check_stream("SPspeed", "", 0, zeros, 4);
    check_stream("SPratio", "", 0, zeros, 4);
    check_stream("DPspeed", "", 0, zeros, 8);
    check_stream("DPratio", "", 0, zeros, 8);
}

static void
test_part_of_a_word_makes_dpratio_dpspeed(void **state)
{
    (void)state;
    const uint8_t src[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const uint8_t expected[] = {9, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    check_stream("DPspeed", src, sizeof src, expected, sizeof expected);
    check_stream("DPratio", src, sizeof src, expected, sizeof expected);
}

static void
test_ratio_is_the_default(void **state)
{
    (void)state;
    struct h5twin_params params;
    char text[64];
    assert_int_equal(h5twin_params_parse(&params, "fpcompress", NULL), H5TWIN_OK);
    assert_int_equal(params.options, 0);
    assert_int_equal(h5twin_params_parse(&params, "fpcompress:mode=speed", NULL), H5TWIN_OK);
    assert_int_equal(params.options, 1);
    assert_int_equal(h5twin_params_parse(&params, "fpcompress:mode=ratio", NULL), H5TWIN_OK);
    assert_int_equal(params.options, 2);
    h5twin_params_format(&params, text, sizeof text);
    assert_string_equal(text, "fpcompress:mode=ratio");
    assert_int_equal(h5twin_params_parse(&params, "fpcompress:mode=fast", NULL), H5TWIN_ERR_OPTION);
    assert_int_equal(h5twin_params_parse(&params, "fpcompress:abs=1", NULL), H5TWIN_ERR_MODE);
}

static void
test_sizes_beyond_the_fields_are_refused(void **state)
{
    (void)state;
    const struct h5twin_params sp = fpcompress_params(&fpcompress_coders[0]);
    const struct h5twin_params dp_speed = fpcompress_params(&fpcompress_coders[2]);
    const struct h5twin_params dp_ratio = fpcompress_params(&fpcompress_coders[3]);
    const size_t values = UINT32_MAX / 2;
    size_t size;
    uint8_t byte = 0;
    assert_true(h5twin_bound(&sp, UINT32_MAX) > UINT32_MAX);
    assert_int_equal(h5twin_bound(&sp, (size_t)UINT32_MAX + 1), 0);
    assert_int_equal(h5twin_encode(&sp, NULL, &byte, 1, &byte, (size_t)UINT32_MAX + 1, &size),
                     H5TWIN_ERR_TOO_BIG);
    assert_true(h5twin_bound(&dp_ratio, 8 * values) > 16 * values);
    assert_int_equal(h5twin_bound(&dp_ratio, 8 * values + 8), 0);
    assert_true(h5twin_bound(&dp_speed, 8 * values + 8) > 8 * values + 8);
}

static void
test_describe_names_the_coder(void **state)
{
    (void)state;
    static uint8_t src[4096], chunk[16384];
    for (size_t i = 0; i < FPCOMPRESS_CODERS; i++) {
        const struct h5twin_params params = fpcompress_params(&fpcompress_coders[i]);
        size_t size = 0;
        char text[64];
        assert_int_equal(h5twin_encode(&params, NULL, chunk, sizeof chunk, src, sizeof src, &size),
                         H5TWIN_OK);
        assert_true(h5twin_describe(chunk, size, text, sizeof text) > 0);
        assert_non_null(strstr(text, fpcompress_coders[i].name));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spspeed_of_sixteen_ones),
        cmocka_unit_test(test_spratio_of_thirty_two_ones),
        cmocka_unit_test(test_spratio_of_zeros_is_sizes_alone),
        cmocka_unit_test(test_dpspeed_of_eight_ones),
        cmocka_unit_test(test_dpratio_of_two_values),
        cmocka_unit_test(test_an_empty_array_is_a_header_alone),
        cmocka_unit_test(test_part_of_a_word_makes_dpratio_dpspeed),
        cmocka_unit_test(test_ratio_is_the_default),
        cmocka_unit_test(test_sizes_beyond_the_fields_are_refused),
        cmocka_unit_test(test_describe_names_the_coder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
