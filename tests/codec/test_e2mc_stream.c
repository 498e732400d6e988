/* SPDX-License-Identifier: BSD-3-Clause
 * test_e2mc_stream.c: streams known byte by byte, among them the example of FORMAT.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "h5twin.h"

#include <stdlib.h>
#include <string.h>

static size_t
encode(const char *spec, unsigned word_size, const void *src, size_t size, uint8_t *dst,
       size_t capacity)
{
    struct h5twin_params params;
    size_t dst_size;
    h5twin_params_init(&params, H5TWIN_E2MC);
    assert_int_equal(h5twin_params_parse(&params, spec, NULL), H5TWIN_OK);
    h5twin_params_set_array(&params, word_size < 4 ? H5TWIN_INTEGER : H5TWIN_FLOAT, word_size, 0,
                            NULL);
    assert_int_equal(h5twin_encode_payload(&params, NULL, dst, capacity, src, size, &dst_size),
                     H5TWIN_OK);
    return dst_size;
}

static const char example_spec[] = "e2mc:ways=2,block_log2=7,mfv=2,pre=0";

static void
make_example(uint8_t src[160])
{
    static const uint16_t pattern[8] = {0x3F80, 0x3F80, 0x3F00, 0x3F80,
                                        0x3E80, 0x3F80, 0x3F80, 0x3F00};
    for (size_t i = 0; i < 80; i++) {
        uint16_t word = i < 64 ? pattern[i % 8] : 0x3F80;
        word = i == 5 || i == 50 ? 0x4010 : i == 22 ? 0x3DF0 : word;
        src[2 * i] = (uint8_t)word;
        src[2 * i + 1] = (uint8_t)(word >> 8);
    }
}

static const uint8_t example_stream[] = {
    0xe2, 0x11, 0x14, 0x17, 0x00, 0x00, 0x00, 0x00, 0xa0, 0x00, 0x00, 0x00, 0x0a, 0x00,
    0x00, 0x00, 0x88, 0x45, 0x91, 0x27, 0x00, 0x7b, 0xfc, 0x07, 0xf0, 0x00, 0x37, 0xf8,
    0x1e, 0x4d, 0xf4, 0x70, 0x05, 0x13, 0x7d, 0x04, 0x4d, 0xf4, 0x37, 0xbf, 0x13, 0x7d,
    0x04, 0x26, 0xfa, 0x08, 0x9b, 0xe8, 0x23, 0x80, 0x2d, 0xf4, 0x11, 0x37, 0xd0, 0x40};

static void
example_of_the_format_is_reproduced(void **unused)
{
    (void)unused;
    uint8_t src[160], stream[400];
    make_example(src);
    const size_t size = encode(example_spec, 2, src, sizeof src, stream, sizeof stream);
    assert_int_equal(size, sizeof example_stream);
    assert_memory_equal(stream, example_stream, size);
}

static void
example_decodes_without_its_parameters(void **unused)
{
    (void)unused;
    uint8_t src[160], back[160];
    struct h5twin_params params;
    make_example(src);
    h5twin_params_init(&params, H5TWIN_E2MC);
    assert_int_equal(h5twin_decode_payload(&params, NULL, back, sizeof back, example_stream,
                                           sizeof example_stream),
                     H5TWIN_OK);
    assert_memory_equal(back, src, sizeof src);
}

static void
equal_words_take_one_word(void **unused)
{
    (void)unused;
    uint8_t src[400], stream[1000];
    for (size_t i = 0; i < sizeof src; i++) {
        src[i] = (uint8_t)(i % 4 + 1);
    }
    static const uint8_t expected[] = {0xe2, 0x12, 0x24, 0x2a, 0, 0, 0, 0, 0x90, 1,
                                       0,    0,    0,    0,    0, 0, 1, 2, 3,    4};
    assert_int_equal(encode("e2mc", 4, src, sizeof src, stream, sizeof stream), sizeof expected);
    assert_memory_equal(stream, expected, sizeof expected);
}

static void
nothing_takes_a_header(void **unused)
{
    (void)unused;
    uint8_t stream[100];
    static const uint8_t expected[16] = {0xe2, 0x10, 0x34, 0x2a};
    assert_int_equal(encode("e2mc", 8, NULL, 0, stream, sizeof stream), 16);
    assert_memory_equal(stream, expected, 16);
}

static void
bytes_that_are_no_words_are_kept(void **unused)
{
    (void)unused;
    uint8_t src[1001] = {0}, stream[1200];
    assert_int_equal(encode("e2mc:word_bytes=2", 1, src, sizeof src, stream, sizeof stream), 1017);
    assert_int_equal(stream[1], 0x10);
    assert_memory_equal(stream + 16, src, sizeof src);
}

static void
description_names_both_ratios(void **unused)
{
    (void)unused;
    uint8_t src[160], chunk[400];
    char text[200];
    struct h5twin_params params;
    size_t size;
    make_example(src);
    h5twin_params_init(&params, H5TWIN_E2MC);
    assert_int_equal(h5twin_params_parse(&params, example_spec, NULL), H5TWIN_OK);
    h5twin_params_set_array(&params, H5TWIN_INTEGER, 2, 0, NULL);
    assert_int_equal(h5twin_encode(&params, NULL, chunk, sizeof chunk, src, sizeof src, &size),
                     H5TWIN_OK);
    h5twin_describe(chunk, size, text, sizeof text);
    /* 160 / 28 bytes of payload; 160 / 32 in accesses of 32 bytes */
    assert_string_equal(text, "s16 2 ways, 1 segment (0 delta, 0 constant, 0 raw), raw CR 5.71, "
                              "CR at MAG 32 B 5.00");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_of_the_format_is_reproduced),
        cmocka_unit_test(example_decodes_without_its_parameters),
        cmocka_unit_test(equal_words_take_one_word),
        cmocka_unit_test(nothing_takes_a_header),
        cmocka_unit_test(bytes_that_are_no_words_are_kept),
        cmocka_unit_test(description_names_both_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
