/* SPDX-License-Identifier: BSD-3-Clause
 * test_gfc_stream.c: what GFC writes is what its FORMAT.md says, and any array comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gfc/gfc_core.h"
#include "gfc_cases.h"

#define MARGIN 3 /* bytes before and after each buffer: nothing is aligned, nothing may change */
#define FILLER 0xA5

static uint8_t *
new_buffer(size_t size)
{
    uint8_t *const buffer = malloc(size + 2 * MARGIN);
    assert_non_null(buffer);
    memset(buffer, FILLER, size + 2 * MARGIN);
    return buffer + MARGIN;
}

static void
free_buffer(uint8_t *buffer, size_t size)
{
    for (size_t i = 1; i <= MARGIN; i++) {
        assert_int_equal(*(buffer - i), FILLER);
        assert_int_equal(buffer[size + i - 1], FILLER);
    }
    free(buffer - MARGIN);
}

/* Encode, compare with the encoder of gfc_cases.h, decode, compare. */
static void
check_array(const uint8_t *src, size_t size, unsigned word_size, unsigned dimensionality)
{
    const struct h5twin_params params = case_params(word_size, dimensionality);
    const size_t capacity = h5twin_bound(&params, size);
    unsigned blocks, warps;
    h5twin_gfc_choose_split(size / word_size, &blocks, &warps);
    uint8_t *const expected = new_buffer(capacity), *const stream = new_buffer(capacity);
    uint8_t *const decoded = new_buffer(size);
    const size_t expected_size =
        case_encode(expected, src, size, word_size, dimensionality, blocks, warps);
    assert_true(expected_size <= capacity);

    size_t stream_size = 0;
    uint64_t raw_size = 0;
    assert_int_equal(
        h5twin_encode_payload(&params, NULL, stream, capacity, src, size, &stream_size), H5TWIN_OK);
    assert_int_equal(stream_size, expected_size);
    assert_memory_equal(stream, expected, expected_size);
    assert_int_equal(h5twin_payload_raw_size(&params, stream, stream_size, &raw_size), H5TWIN_OK);
    assert_int_equal(raw_size, size);
    assert_int_equal(h5twin_decode_payload(&params, NULL, decoded, size, stream, stream_size),
                     H5TWIN_OK);
    if (size != 0) {
        assert_memory_equal(decoded, src, size);
    }
    free_buffer(expected, capacity);
    free_buffer(stream, capacity);
    free_buffer(decoded, size);
}

static void
the_example_of_the_format_page(void **state)
{
    (void)state;
    uint8_t src[33 * 8] = {0};
    for (unsigned i = 0; i < 33; i++) {
        src[8 * i] = (uint8_t)(i < 32 ? i : 0x23);
        src[8 * i + 1] = i < 32 ? 0 : 1;
        src[8 * i + 6] = 0xF0;
        src[8 * i + 7] = 0x3F;
    }
    uint8_t expected[302] = {1, 1, 2, 33, 0, 0, 0, 0x23, 1};
    memset(expected + 11, 0x77, 16);
    memcpy(expected + 27, src, 256);
    expected[283] = 2;
    expected[299] = 5;
    expected[300] = 1;

    const struct h5twin_params params = case_params(8, 2);
    uint8_t stream[1024];
    size_t stream_size = 0;
    assert_int_equal(
        h5twin_encode_payload(&params, NULL, stream, sizeof stream, src, sizeof src, &stream_size),
        H5TWIN_OK);
    assert_int_equal(stream_size, sizeof expected);
    assert_memory_equal(stream, expected, sizeof expected);
}

static void
the_number_of_chunks_follows_the_rule(void **state)
{
    (void)state;
    static const struct {
        size_t value_count;
        unsigned blocks, warps;
    } cases[] = {
        {0, 1, 1},           {1, 1, 1},           {2048, 1, 1},          {2049, 2, 1},
        {522240, 255, 1},    {522241, 128, 2},    {1044480, 255, 2},     {1044481, 171, 3},
        {16711680, 255, 32}, {16711681, 255, 32}, {0x7FFFFFFF, 255, 32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned blocks, warps;
        h5twin_gfc_choose_split(cases[i].value_count, &blocks, &warps);
        assert_int_equal(blocks, cases[i].blocks);
        assert_int_equal(warps, cases[i].warps);
    }
}

static void
every_small_size_in_bytes(void **state)
{
    (void)state;
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        for (size_t size = 0; size <= 130 * word_size; size++) {
            uint8_t *const src = new_buffer(size);
            case_fill(src, size, word_size, size);
            check_array(src, size, word_size, (unsigned)(1 + size % 32));
            free_buffer(src, size);
        }
    }
}

static void
every_dimensionality_with_every_end(void **state)
{
    (void)state;
    /* Ends in the first, the second and a later subchunk, and in a second chunk's first. */
    static const size_t starts[] = {0, 32, 320, 2048};
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        for (unsigned dimensionality = 1; dimensionality <= 32; dimensionality++) {
            for (size_t i = 0; i < 4; i++) {
                for (size_t rest = 1; rest <= 33; rest += 4) {
                    const size_t size = (starts[i] + rest) * word_size;
                    uint8_t *const src = new_buffer(size);
                    case_fill(src, size, word_size, size + dimensionality);
                    check_array(src, size, word_size, dimensionality);
                    free_buffer(src, size);
                }
            }
        }
    }
}

static void
sizes_around_powers_of_two(void **state)
{
    (void)state;
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        for (size_t values = 1024; values <= 65536; values *= 2) {
            for (size_t size = (values - 1) * word_size; size <= (values + 1) * word_size;
                 size += word_size) {
                uint8_t *const src = new_buffer(size);
                case_fill(src, size, word_size, size);
                check_array(src, size, word_size, 3);
                free_buffer(src, size);
            }
        }
    }
}

static void
streams_of_any_number_of_chunks_are_read(void **state)
{
    (void)state;
    static const unsigned splits[][2] = {{1, 1}, {7, 3}, {32, 1}, {28, 18}, {1, 255}, {255, 255}};
    const size_t size = 5000 * 8 + 3;
    uint8_t *const src = new_buffer(size);
    case_fill(src, size, 8, 11);
    for (size_t i = 0; i < sizeof splits / sizeof splits[0]; i++) {
        const struct h5twin_params params = case_params(8, 7);
        uint8_t *const stream = malloc(400000), *const decoded = new_buffer(size);
        const size_t stream_size = case_encode(stream, src, size, 8, 7, splits[i][0], splits[i][1]);
        assert_int_equal(h5twin_decode_payload(&params, NULL, decoded, size, stream, stream_size),
                         H5TWIN_OK);
        assert_memory_equal(decoded, src, size);
        free(stream);
        free_buffer(decoded, size);
    }
    free_buffer(src, size);
}

static uint32_t
chosen_dimensionality(uint32_t rank, const uint64_t *dims, unsigned element_size, unsigned option)
{
    static const uint8_t src[4096];
    struct h5twin_params params;
    uint8_t chunk[8192];
    size_t size = element_size, chunk_size = 0;
    h5twin_params_init(&params, H5TWIN_GFC);
    h5twin_params_set_array(&params, H5TWIN_OTHER, element_size, rank, dims);
    params.options = option;
    for (uint32_t axis = 0; axis < rank; axis++) {
        size *= dims[axis];
    }
    assert_int_equal(
        h5twin_encode_payload(&params, NULL, chunk, sizeof chunk, src, size, &chunk_size),
        H5TWIN_OK);
    return chunk[2];
}

static void
the_default_dimensionality_is_a_short_fastest_axis(void **state)
{
    (void)state;
    assert_int_equal(chosen_dimensionality(2, (uint64_t[]){20, 3}, 8, 0), 3);
    assert_int_equal(chosen_dimensionality(2, (uint64_t[]){4, 32}, 8, 0), 32);
    assert_int_equal(chosen_dimensionality(2, (uint64_t[]){4, 33}, 8, 0), 1);
    assert_int_equal(chosen_dimensionality(1, (uint64_t[]){3}, 8, 0), 1);
    assert_int_equal(chosen_dimensionality(3, (uint64_t[]){20, 3, 1}, 4, 0), 3);
    assert_int_equal(chosen_dimensionality(3, (uint64_t[]){1, 1, 20}, 4, 0), 1);
    assert_int_equal(chosen_dimensionality(1, (uint64_t[]){20}, 16, 0), 2); /* complex doubles */
    assert_int_equal(chosen_dimensionality(2, (uint64_t[]){20, 3}, 8, 5), 5);
}

static void
framed_chunks_of_any_size_come_back_and_describe_themselves(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 3000; size += 1 + size / 16) {
        struct h5twin_params params = case_params(8, 3);
        params.kind = H5TWIN_OTHER;
        uint8_t *const src = calloc(size + 1, 1), *const decoded = new_buffer(size);
        const size_t capacity = h5twin_bound(&params, size);
        uint8_t *const chunk = malloc(capacity);
        size_t chunk_size = 0, decoded_size = 0;
        char text[100];
        assert_int_equal(h5twin_encode(&params, NULL, chunk, capacity, src, size, &chunk_size),
                         H5TWIN_OK);
        assert_int_equal(h5twin_decode(NULL, decoded, size, chunk, chunk_size, &decoded_size),
                         H5TWIN_OK);
        assert_int_equal(decoded_size, size);
        if (size != 0) {
            assert_memory_equal(decoded, src, size);
        }
        if (size > 1000) {
            assert_true(h5twin_describe(chunk, chunk_size, text, sizeof text) > 0);
            assert_non_null(strstr(text, "dimensionality 3"));
        }
        free(src);
        free(chunk);
        free_buffer(decoded, size);
    }
}

static void
arrays_beyond_the_count_field_are_refused(void **state)
{
    (void)state;
    const struct h5twin_params params = case_params(4, 1);
    static const uint8_t src[4];
    uint8_t dst[64];
    size_t dst_size = 77;
    assert_int_equal(h5twin_bound(&params, (size_t)0x80000000u * 4), 0);
    assert_int_not_equal(h5twin_bound(&params, (size_t)0x7FFFFFFFu * 4 + 3), 0);
    assert_int_equal(
        h5twin_encode(&params, NULL, dst, sizeof dst, src, (size_t)0x80000000u * 4, &dst_size),
        H5TWIN_ERR_TOO_BIG);
    assert_int_equal(dst_size, 77);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_format_page),
        cmocka_unit_test(the_number_of_chunks_follows_the_rule),
        cmocka_unit_test(every_small_size_in_bytes),
        cmocka_unit_test(every_dimensionality_with_every_end),
        cmocka_unit_test(sizes_around_powers_of_two),
        cmocka_unit_test(streams_of_any_number_of_chunks_are_read),
        cmocka_unit_test(the_default_dimensionality_is_a_short_fastest_axis),
        cmocka_unit_test(framed_chunks_of_any_size_come_back_and_describe_themselves),
        cmocka_unit_test(arrays_beyond_the_count_field_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
