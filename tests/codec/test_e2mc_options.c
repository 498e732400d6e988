/* SPDX-License-Identifier: BSD-3-Clause
 * test_e2mc_options.c: what may be asked of e2mc, and what profile=paper stands for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "h5twin.h"

#include <stdlib.h>
#include <string.h>

static enum h5twin_status
parse(const char *spec)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_E2MC);
    return h5twin_params_parse(&params, spec, NULL);
}

/* Encode 3000 f32 values and compare the streams of two specs. */
static bool
give_the_same_bytes(const char *spec_a, const char *spec_b)
{
    static uint8_t src[12000], a[13000], b[13000];
    const char *const specs[2] = {spec_a, spec_b};
    uint8_t *const streams[2] = {a, b};
    size_t sizes[2];
    for (size_t i = 0; i < sizeof src; i++) {
        src[i] = (uint8_t)(i % 4 == 0 ? i * i >> 6 : i / (i % 4 * 997));
    }
    for (int i = 0; i < 2; i++) {
        struct h5twin_params params;
        h5twin_params_init(&params, H5TWIN_E2MC);
        assert_int_equal(h5twin_params_parse(&params, specs[i], NULL), H5TWIN_OK);
        h5twin_params_set_array(&params, H5TWIN_FLOAT, 4, 0, NULL);
        assert_true(h5twin_bound(&params, sizeof src) <= sizeof a);
        assert_int_equal(
            h5twin_encode_payload(&params, NULL, streams[i], sizeof a, src, sizeof src, &sizes[i]),
            H5TWIN_OK);
    }
    return sizes[0] == sizes[1] && memcmp(a, b, sizes[0]) == 0;
}

static void
every_option_of_the_codec_is_described(void **unused)
{
    (void)unused;
    const struct h5twin_codec_info *const info = h5twin_codec_by_name("e2mc");
    assert_non_null(info);
    assert_int_equal(info->option_count, 14);
    for (uint32_t i = 0; i < info->option_count; i++) {
        assert_non_null(info->options[i].name);
        assert_non_null(info->options[i].values);
        assert_non_null(info->options[i].help);
    }
    assert_string_equal(info->options[13].name, "profile");
}

static void
values_out_of_range_are_refused(void **unused)
{
    (void)unused;
    static const char *const refused[] = {
        "e2mc:symbol_bits=64",
        "e2mc:symbol_bits=12",
        "e2mc:ways=3",
        "e2mc:ways=16",
        "e2mc:word_bytes=3",
        "e2mc:block_log2=6",
        "e2mc:block_log2=13",
        "e2mc:gran_log2=12",
        "e2mc:gran_log2=10",
        "e2mc:block_log2=7,gran_log2=7",
        "e2mc:sampling=3",
        "e2mc:sample_log2=32",
        "e2mc:max_len=21",
        "e2mc:max_len=8",
        "e2mc:symbol_bits=4,max_len=4",
        "e2mc:mfv=0",
        "e2mc:mfv=4097",
        "e2mc:policy=2",
        "e2mc:pre=3",
        "e2mc:stride=0",
        "e2mc:stride=256",
        "e2mc:seg_log2=13",
        "e2mc:seg_log2=31",
        "e2mc:seg_log2=1",
        "e2mc:block_log2=7,word_bytes=8,stride=17",
        "e2mc:profile=none",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_int_equal(parse(refused[i]), H5TWIN_ERR_OPTION);
    }
    assert_int_equal(parse("e2mc:abs=1"), H5TWIN_ERR_MODE);
    assert_int_equal(parse("e2mc:block_log2=11,gran_log2=10"), H5TWIN_OK);
    assert_int_equal(parse("e2mc:block_log2=7,word_bytes=8,stride=16"), H5TWIN_OK);
    assert_int_equal(parse("e2mc:symbol_bits=4,max_len=5,seg_log2=0,mfv=4096,stride=255"),
                     H5TWIN_OK);
}

static void
stride_beyond_the_block_is_refused_once_the_element_is_known(void **unused)
{
    (void)unused;
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_E2MC);
    assert_int_equal(h5twin_params_parse(&params, "e2mc:stride=129", NULL), H5TWIN_OK);
    uint8_t chunk[9000];
    size_t size;
    const uint8_t zeros[64] = {0};
    h5twin_params_set_array(&params, H5TWIN_FLOAT, 8, 0, NULL);
    assert_int_equal(h5twin_encode(&params, NULL, chunk, sizeof chunk, zeros, 64, &size),
                     H5TWIN_ERR_OPTION);
    h5twin_params_set_array(&params, H5TWIN_FLOAT, 4, 0, NULL);
    assert_int_equal(h5twin_encode(&params, NULL, chunk, sizeof chunk, zeros, 64, &size),
                     H5TWIN_OK);
}

static void
profile_paper_means_the_same_in_any_order(void **unused)
{
    (void)unused;
    assert_true(give_the_same_bytes("e2mc:profile=paper",
                                    "e2mc:block_log2=7,gran_log2=5,max_len=20,policy=1,seg_log2=0,"
                                    "word_bytes=2,pre=0"));
    assert_true(give_the_same_bytes("e2mc:profile=paper,symbol_bits=8",
                                    "e2mc:symbol_bits=8,profile=paper"));
    assert_true(give_the_same_bytes(
        "e2mc:profile=paper,symbol_bits=8",
        "e2mc:symbol_bits=8,block_log2=7,gran_log2=5,max_len=16,policy=1,seg_log2=0,pre=0"));
    assert_true(give_the_same_bytes(
        "e2mc:symbol_bits=4,profile=paper",
        "e2mc:symbol_bits=4,block_log2=7,gran_log2=5,max_len=8,policy=1,seg_log2=0,pre=0"));
    assert_false(give_the_same_bytes("e2mc:profile=paper", "e2mc"));
}

static void
explicit_fields_override_the_profile(void **unused)
{
    (void)unused;
    assert_true(give_the_same_bytes(
        "e2mc:pre=2,block_log2=10,gran_log2=0,profile=paper,max_len=0,policy=0,seg_log2=16,"
        "word_bytes=0",
        "e2mc"));
    assert_true(give_the_same_bytes("e2mc:profile=tuned", "e2mc"));
}

static void
printed_options_read_back(void **unused)
{
    (void)unused;
    struct h5twin_params params, again;
    const char *const spec = "e2mc:symbol_bits=32,ways=8,word_bytes=0,block_log2=12,gran_log2=11,"
                             "sampling=2,sample_log2=31,max_len=20,mfv=4096,policy=1,pre=1,"
                             "stride=255,seg_log2=30,profile=paper";
    char text[300];
    h5twin_params_init(&params, H5TWIN_E2MC);
    assert_int_equal(h5twin_params_parse(&params, spec, NULL), H5TWIN_OK);
    h5twin_params_format(&params, text, sizeof text);
    assert_string_equal(text, spec);
    h5twin_params_init(&again, H5TWIN_E2MC);
    assert_int_equal(h5twin_params_parse(&again, text, NULL), H5TWIN_OK);
    assert_true(again.options == params.options);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_of_the_codec_is_described),
        cmocka_unit_test(values_out_of_range_are_refused),
        cmocka_unit_test(stride_beyond_the_block_is_refused_once_the_element_is_known),
        cmocka_unit_test(profile_paper_means_the_same_in_any_order),
        cmocka_unit_test(explicit_fields_override_the_profile),
        cmocka_unit_test(printed_options_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
