/* SPDX-License-Identifier: BSD-3-Clause
 * test_sleek_format.c: the examples of codec/sleek/FORMAT.md and codec/FORMAT.md, and the smallest
 * streams. */
#include "codec.h"

#include "page_guard.h"

#include <string.h>

static struct h5twin_params
float_params(enum h5twin_mode mode, double error_bound)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    h5twin_params_set_array(&params, H5TWIN_FLOAT, 4, 0, NULL);
    params.mode = mode;
    params.error_bound = error_bound;
    return params;
}

static void
test_the_worked_example_has_these_bytes(void **state)
{
    (void)state;
    static const float src[40] = {0.25f, -0.25f, 1.0f, -1.5f, 0.2f, 3.3f, -0.1f, 10.0f};
    static const float expected[40] = {0.5f, -0.5f, 1.0f, -1.5f, 0.0f, 3.5f, 0.0f, 10.0f};
    uint8_t stream[140] = {[0] = 0xA0,  [8] = 0x82,  [10] = 6,    [42] = 0x42, [43] = 0x40,
                           [44] = 0x14, [45] = 0x80, [46] = 0x03, [47] = 0xA0, [138] = 0xA0};
    const struct h5twin_params params = float_params(H5TWIN_ABS, 0.3);
    uint8_t dst[300];
    size_t size;
    assert_int_equal(h5twin_encode_payload(&params, NULL, dst, sizeof dst, src, sizeof src, &size),
                     H5TWIN_OK);
    assert_int_equal(size, sizeof stream);
    assert_memory_equal(dst, stream, sizeof stream);
    float decoded[40];
    assert_int_equal(
        h5twin_decode_payload(&params, NULL, decoded, sizeof decoded, stream, sizeof stream),
        H5TWIN_OK);
    assert_memory_equal(decoded, expected, sizeof expected);
}

static void
test_empty_and_tiny_payloads(void **state)
{
    (void)state;
    const struct h5twin_params params = float_params(H5TWIN_LOSSLESS, 0);
    static const uint8_t nothing[8] = {0};
    static const uint8_t src[35] = {9, 8, 7};
    uint8_t dst[200], decoded[35];
    size_t size;
    assert_int_equal(h5twin_encode_payload(&params, NULL, dst, sizeof dst, src, 0, &size),
                     H5TWIN_OK);
    assert_int_equal(size, 8);
    assert_memory_equal(dst, nothing, 8);
    assert_int_equal(h5twin_decode_payload(&params, NULL, decoded, 0, dst, 8), H5TWIN_OK);
    for (size_t src_size = 1; src_size <= 34; src_size++) { /* also cut words */
        assert_int_equal(
            h5twin_encode_payload(&params, NULL, dst, sizeof dst, src, src_size, &size), H5TWIN_OK);
        assert_int_equal(size, 10 + src_size);
        assert_memory_equal(dst + 10, src, src_size);
        assert_int_equal(h5twin_decode_payload(&params, NULL, decoded, src_size, dst, size),
                         H5TWIN_OK);
        assert_memory_equal(decoded, src, src_size);
    }
}

/* Of the bound alone: the public calls ask for more than that, so that a frame fits. */
static void
test_the_bound_is_room_enough_for_tiny_payloads(void **state)
{
    (void)state;
    static const uint8_t src[35] = {9, 8, 7};
    const struct h5twin_params params = float_params(H5TWIN_LOSSLESS, 0);
    for (size_t src_size = 0; src_size <= sizeof src; src_size++) {
        struct h5twin_job job;
        const struct h5twin_codec *codec;
        size_t size;
        assert_int_equal(h5twin_job_from_params(&job, &codec, &params, src_size), H5TWIN_OK);
        const size_t bound = codec->bound(&job);
        uint8_t *const dst = test_page_alloc(bound);
        assert_int_equal(codec->encode(&job, dst, src, &size), H5TWIN_OK);
        assert_in_range(size, 0, bound);
        test_page_free(dst, bound);
    }
}

static void
test_a_raw_chunk_is_frame_and_array(void **state)
{
    (void)state;
    static const float src[2] = {1.0f, 2.0f};
    static const uint8_t expected[32] = {0x48, 0x35, 0x54, 0x57, 1,    1,    1, 2, 8, 0,    0,
                                         0,    0,    0,    0,    0,    0,    0, 0, 0, 0x18, 0xC7,
                                         0x2D, 0x21, 0,    0,    0x80, 0x3F, 0, 0, 0, 0x40};
    const struct h5twin_params params = float_params(H5TWIN_LOSSLESS, 0);
    uint8_t dst[200];
    size_t size;
    assert_int_equal(h5twin_encode(&params, NULL, dst, sizeof dst, src, sizeof src, &size),
                     H5TWIN_OK);
    assert_int_equal(size, sizeof expected);
    assert_memory_equal(dst, expected, sizeof expected);
}

/* Section 6: b is floor(log2(factor * 1000)) + 127, as the frame's parameter has it above the mode.
 */
static void
test_a_factor_above_1_counts_as_1(void **state)
{
    (void)state;
    static const struct {
        double factor;
        uint32_t bound_exponent;
    } cases[] = {{0.25, 134}, {0.5, 135}, {0.999, 136}, {1, 136},
                 {1.5, 136},  {3.9, 136}, {4, 136},     {1e300, 136}};
    float src[4096];
    static uint8_t dst[20000];
    for (size_t i = 0; i < sizeof src / sizeof src[0]; i++) {
        src[i] = (float)(i % 1001);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct h5twin_params params = float_params(H5TWIN_NOA, cases[i].factor);
        struct h5twin_info info;
        size_t size;
        assert_int_equal(h5twin_encode(&params, NULL, dst, sizeof dst, src, sizeof src, &size),
                         H5TWIN_OK);
        assert_int_equal(h5twin_inspect(dst, size, &info), H5TWIN_OK);
        assert_int_equal(info.parameter, H5TWIN_NOA | cases[i].bound_exponent << 8);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_worked_example_has_these_bytes),
        cmocka_unit_test(test_empty_and_tiny_payloads),
        cmocka_unit_test(test_the_bound_is_room_enough_for_tiny_payloads),
        cmocka_unit_test(test_a_raw_chunk_is_frame_and_array),
        cmocka_unit_test(test_a_factor_above_1_counts_as_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
